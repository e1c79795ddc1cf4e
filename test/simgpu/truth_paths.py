"""Paths of scopes and calls in a run of prog_truth, and the time that the host spent there.

It is known from Takt's files alone, which the books hold to the scopes and calls that there were:
from each span of Chrome's file, or, where paths were added up while recording, from the sums in
Perfetto's. Where there are both, each is held against the other."""
import collections

from truth_stats import Stats, bucket_of, stats_of_message


class Place:
    """A path of scopes, perhaps with a call at its end, and the times spent there. Each step of it
    has a name, a kind, and arguments where rows are made by these."""

    def __init__(self, path, stats):
        self.path, self.stats = path, stats
        self.name, self.kind, _ = path[-1]

    def names(self):
        return tuple(name for name, _, _ in self.path)

    def is_outermost(self):
        return self.path[-1] not in self.path[:-1]


def nest(events):
    """Stats of each span of one thread, from (begin, end, scope), with the scopes around it."""
    open_now = []
    for begin, end, scope in sorted(events, key=lambda event: (event[0], -event[1])):
        while open_now and open_now[-1][0] <= begin:
            open_now.pop()
        path = open_now[-1][1] if open_now else ()
        stats = Stats.one(end - begin)
        stats.self_ns = end - begin
        if open_now:
            open_now[-1][2].self_ns -= end - begin
        open_now.append((end, path + (scope,), stats))
        yield open_now[-1][1:]


def places_of_spans(chrome, arguments_of=lambda name, tid: ""):
    threads = {tid: [(begin, -minus_end, (name, "scope", arguments_of(name, tid)))
                     for begin, minus_end, name in row] for tid, row in chrome.threads.items()}
    for number in chrome.calls:
        call = chrome.call(number)
        threads[call.thread].append((call.begin, call.end, (call.name, "call", "")))
    spans = collections.defaultdict(list)
    for row in threads.values():
        for path, stats in list(nest(row)):
            spans[path].append(stats)
    return places_of(spans)


def places_of(spans):
    places = []
    for path, parts in spans.items():
        whole = Stats()
        for part in parts:
            whole.add(part)
        places.append(Place(path, whole))
    return places


def paths_of_nodes(perfetto):
    """By number, from the root on; sites of the same name are one."""
    paths = [()]
    for node in perfetto.nodes:
        site = perfetto.sites[node["site"][0]]
        kind = "call" if site["kind"] == ["CALL"] else "scope"
        paths.append(paths[node["parent"][0] if node["parent"] else 0] +
                     ((site["name"][0].decode(), kind, ""),))
    return paths


def places_of_tree(perfetto):
    """From the nodes of Perfetto's file, parents first."""
    spans = collections.defaultdict(list)
    for path, node in zip(paths_of_nodes(perfetto)[1:], perfetto.nodes):
        spans[path].append(stats_of_message(node["stats"][0]))
    return places_of(spans)


def check_sums(equal, where, places):
    """A path's time is its own and that of what it calls, and its histogram has every call."""
    inside = collections.Counter()
    for place in places:
        inside[place.path[:-1]] += place.stats.total
    for place in places:
        stats, here = place.stats, f"{where}: {place.path}"
        equal(here, "total", stats.total, stats.self_ns + inside[place.path])
        equal(here, "histogram", sum(stats.buckets.values()), stats.count)
        extremes = {bucket_of(stats.least), bucket_of(stats.most)}
        equal(here, "extremes", extremes, {min(stats.buckets), max(stats.buckets)})


def check_places(checks, where, places, spans):
    """Sums made while recording against the spans: each duration is rounded once more."""
    known = {place.path: place.stats for place in spans}
    checks.equal(where, "paths", sorted(place.path for place in places), sorted(known))
    for place in places:
        stats, truth = place.stats, known[place.path]
        checks.equal(where, f"count of {place.path}", stats.count, truth.count)
        for name, slack in ("total", stats.count), ("least", 1), ("most", 1):
            checks.near(where, f"{name} of {place.path}", getattr(stats, name),
                        getattr(truth, name), slack)


def check_counts(checks, cycle):
    """Scopes and calls are those of the books."""
    paths = collections.Counter(cycle.paths)
    paths.update(path + (name,) for path, name, _ in cycle.calls)
    checks.equal(f"cycle {cycle.number}", "scopes and calls",
                 {place.names(): place.stats.count
                  for place in cycle.places}, dict(paths))


def without_calls(places):
    """Calls are part of the scope that makes them."""
    scopes = {}
    for place in places:
        if place.kind == "scope":
            scopes[place.path] = Place(place.path, Stats())
            scopes[place.path].stats.add(place.stats)
    for place in places:
        if place.kind == "call":
            scopes[place.path[:-1]].stats.self_ns += place.stats.self_ns
    return list(scopes.values())


def self_of(places):
    return sum(place.stats.self_ns for place in places)
