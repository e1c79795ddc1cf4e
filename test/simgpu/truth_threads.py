"""What each thread of a run of prog_truth did, from the spans in Chrome's file, or from the sums of
a summary, which the books confirm: the report of threads, and how scopes and calls are spread over
threads. There are no tasks and counters."""
import collections

from truth_compare import Report, Table
from truth_paths import paths_of_nodes
from truth_stats import mean, percent

NO_SPREAD = dict.fromkeys(("thread_min_ns", "thread_mean_ns", "thread_max_ns", "thread_imbalance"))


def outermost(spans):
    """Those of (begin, end, ...) that lie in none before them."""
    until = None
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if until is None or span[0] >= until:
            until = span[1]
            yield span


def time_of(spans):
    return sum(span[1] - span[0] for span in spans)


class Spread:
    """How scopes are spread over threads."""

    def spread(self, name, kind):
        """The columns of a scope, which one thread alone has not."""
        times = list(self.times_of(name, kind))
        if len(times) < 2:
            return {"threads": len(times) or None, **NO_SPREAD}
        return {"threads": len(times), "thread_min_ns": min(times),
                "thread_mean_ns": mean(sum(times), len(times)), "thread_max_ns": max(times),
                "thread_imbalance": max(times) * len(times) / sum(times)}

    def add_spread(self, rows):
        """To rows of scopes, unless no scope ran on several threads."""
        spreads = [self.spread(row["name"], row.get("kind", "scope")) for row in rows]
        if any((spread["threads"] or 0) > 1 for spread in spreads):
            for row, spread in zip(rows, spreads):
                row.update(spread)


def is_wait(name):
    return "Synchronize" in name or "wait" in name


class Threads(Spread):
    """Scopes and calls of each thread, as (begin, end, name)."""

    def __init__(self, chrome):
        self.scopes = {tid: [(begin, -minus_end, name) for begin, minus_end, name in row]
                       for tid, row in chrome.threads.items()}
        self.calls = {tid: [] for tid in self.scopes}
        for number in chrome.calls:
            call = chrome.call(number)
            self.calls[call.thread].append((call.begin, call.end, call.name))
        self.ids = list(self.scopes)

    def times_of(self, name, kind):
        rows = (self.calls if kind == "call" else self.scopes).values()
        mine = [[span for span in row if span[2] == name] for row in rows]
        return [time_of(outermost(spans)) for spans in mine if spans]

    def count(self, tid):
        return len(self.scopes[tid]) + len(self.calls[tid])

    def scope_ns(self, tid):
        return time_of(outermost(self.scopes[tid]))

    def waits(self, tid):
        return [(name, end - begin) for begin, end, name in
                outermost(span for span in self.calls[tid] + self.scopes[tid] if is_wait(span[2]))]


class FoldedThreads(Spread):
    """Of a summary, where the file has what each thread ran of the nodes."""

    def __init__(self, perfetto):
        paths = paths_of_nodes(perfetto)
        self.parts = {}
        for thread in perfetto.threads:
            numbers = thread["parts"]
            self.parts[thread["thread_id"][0]] = [
                (paths[node], count, ns)
                for node, count, ns in zip(numbers[::3], numbers[1::3], numbers[2::3])]
        self.ids = list(self.parts)

    def check(self, checks, cycle):
        """Together they are the tree; each ran what the program says that it ran."""
        sums, counts = collections.defaultdict(lambda: (0, 0)), collections.Counter()
        for tid, parts in self.parts.items():
            for path, count, ns in parts:
                sums[path] = sums[path][0] + count, sums[path][1] + ns
                counts[cycle.books.tids[tid], tuple(name for name, _, _ in path)] += count
        where = f"cycle {cycle.number}"
        checks.equal(where, "sums of threads", dict(sums),
                     {place.path: (place.stats.count, place.stats.total)
                      for place in cycle.places})
        checks.equal(where, "what each thread ran", dict(counts), dict(cycle.of_threads))

    def times_of(self, name, kind):
        scope = (name, kind, "")
        for parts in self.parts.values():
            mine = [ns for path, _, ns in parts if path[-1] == scope and scope not in path[:-1]]
            if mine:
                yield sum(mine)

    def count(self, tid):
        return sum(count for _, count, _ in self.parts[tid])

    def scope_ns(self, tid):
        return sum(ns for path, _, ns in self.parts[tid] if len(path) == 1 and path[0][1] == "scope")

    def waits(self, tid):
        return [(path[-1][0], ns) for path, _, ns in self.parts[tid]
                if is_wait(path[-1][0]) and not any(is_wait(name) for name, _, _ in path[:-1])]


def thread_row(threads, tid, wall_ns):
    by_name, scope_ns = collections.Counter(), threads.scope_ns(tid)
    for name, ns in threads.waits(tid):
        by_name[name] += ns
    waited_ns = sum(by_name.values())
    return {"thread": f"thread {tid}", "thread_id": tid, "spans": threads.count(tid),
            "scope_time_ns": scope_ns, "scope_time_percent": percent(scope_ns, wall_ns),
            "waited_ns": waited_ns, "waited_percent": percent(waited_ns, wall_ns),
            "waited_in": max(by_name, key=by_name.get, default=None)}


def threads(cycle, spans):
    """The thread that steps has no scopes, so there are no regions."""
    rows = [thread_row(spans, tid, cycle.wall_ns) for tid in spans.ids]
    return Report(Table(["thread"], rows, lambda row: row["thread_id"]),
                  tables={"regions": Table(["region", "name"], [])},
                  facts={"wall_ns": cycle.wall_ns})
