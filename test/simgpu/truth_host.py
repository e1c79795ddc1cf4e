"""What a run of prog_truth did on the host: the reports of scopes, paths, calls and steps."""
import collections
import math

from truth_books import CYCLES, took
from truth_compare import Report, Table
from truth_paths import places_of_spans, self_of, without_calls
from truth_stats import Stats, mean, percent, stats_of_message
from truth_summary import time_text

DAY_SLACK_NS = 20000  # between the time of day and Takt's clock, within a run


def union(intervals):
    busy, last = 0, -math.inf
    for begin, end in sorted(intervals):
        busy += max(0, end - max(begin, last))
        last = max(end, last)
    return busy


def busy_of(works):
    return union((work.at, work.at + work.took) for work in works)


def cuda_columns(cycle, own, total, calls, of_calls):
    """A recursive call's works are also those of the calls around it."""
    return {"self_cuda_ns": took(own), "self_cuda_percent": percent(took(own), took(cycle.works)),
            "cuda_total_ns": took(total), "cuda_time_avg_ns": mean(of_calls, calls)}


def span_columns(cycle, total, changes, name):
    if not cycle.has_spans:
        return {}
    return {"cuda_busy_ns": busy_of(total),
            "cuda_memory_bytes": sum(change.bytes for change in changes),
            "self_cuda_memory_bytes": sum(change.bytes for change in changes
                                          if change.path[-1] == name)}


def scope_row(cycle, scope, places, everything, arguments_of):
    name, kind, arguments = scope
    mine = [place for place in places if place.path[-1] == scope]
    whole, own = Stats(), self_of(mine)
    for place in mine:
        whole.add(place.stats)
    total_ns = sum(place.stats.total for place in mine if place.is_outermost())

    def is_inside(event):
        return kind == "scope" and name in event.path and \
            arguments_of(name, event.thread) == arguments
    inside = list(filter(is_inside, cycle.works))
    return {"name": name, "calls": whole.count, "self_cpu_ns": own,
            "self_cpu_percent": percent(own, everything), "cpu_total_ns": total_ns,
            "cpu_total_percent": percent(total_ns, everything),
            "cpu_time_avg_ns": mean(whole.total, whole.count),
            "cpu_time_min_ns": whole.least, "cpu_time_max_ns": whole.most,
            **cuda_columns(cycle, [work for work in inside if work.path[-1] == name], inside,
                           whole.count, sum(work.took * work.path.count(name) for work in inside)),
            **span_columns(cycle, inside, list(filter(is_inside, cycle.changes)), name)}


def activity_row(cycle, name, works):
    zero = {"self_cpu_ns": 0, "self_cpu_percent": 0.0, "cpu_total_ns": 0, "cpu_total_percent": 0.0,
            "cpu_time_avg_ns": 0, "cpu_time_min_ns": None, "cpu_time_max_ns": None}
    return {"name": name, "kind": "activity", "calls": len(works), **zero,
            **cuda_columns(cycle, works, works, len(works), took(works)),
            **dict.fromkeys(span_columns(cycle, [], [], name))}


def totals(cycle, everything):
    return {"self_cpu_total_ns": everything, "self_cuda_total_ns": took(cycle.works)}


def scope_rows(cycle, places, arguments_of=lambda name, thread: ""):
    found = list(dict.fromkeys(place.path[-1] for place in places))
    return found, [scope_row(cycle, scope, places, self_of(places), arguments_of)
                   for scope in found]


def scopes(cycle, threads):
    places = without_calls(cycle.places)
    _, rows = scope_rows(cycle, places)
    threads.add_spread(rows)
    return Report(Table(["name"], rows, lambda row: -row["cpu_total_ns"]),
                  facts=totals(cycle, self_of(places)))


def scopes_all(cycle, threads):
    """Calls and activities are rows of their own."""
    found, rows = scope_rows(cycle, cycle.places)
    for row, (_, kind, _) in zip(rows, found):
        row["kind"] = kind
    rows += [activity_row(cycle, *group) for group in cycle.by(lambda work: work.name).items()]
    threads.add_spread(rows)
    return Report(Table(["name", "kind"], rows, lambda row: -row["cuda_total_ns"]),
                  facts=totals(cycle, self_of(cycle.places)))


def scopes_by_arguments(cycle, chrome):
    """From single spans, in a mode that adds paths up as well."""
    books = cycle.books

    def arguments_of(name, thread):
        return books.arguments.get((name, thread), "")
    places = without_calls(places_of_spans(
        chrome, lambda name, tid: arguments_of(name, books.tids[tid])))
    found, rows = scope_rows(cycle, places, arguments_of)
    for row, (_, _, arguments) in zip(rows, found):
        row["arguments"] = arguments
    return Report(Table(["name", "arguments"], rows, lambda row: -row["cpu_total_ns"]),
                  facts=totals(cycle, self_of(places)))


def tree_key(rows):
    path, keys = [], []
    for row in rows:
        path[row["depth"]:] = [row["name"]]
        keys.append(tuple(path))
    return keys


def tree(cycle, has_all):
    places = cycle.places if has_all else without_calls(cycle.places)
    everything, cuda, rows = self_of(places), took(cycle.works), {}
    for place in places:
        path, stats = place.names(), place.stats
        inside = [work for work in cycle.works
                  if place.kind == "scope" and work.path[:len(path)] == path]
        rows[path] = {
            "name": place.name, "depth": len(path) - 1, "calls": stats.count, "pieces": None,
            "cpu_total_ns": stats.total, "cpu_total_percent": percent(stats.total, everything),
            "self_cpu_ns": stats.self_ns, "self_cpu_percent": percent(stats.self_ns, everything),
            **stats.columns("cpu_time_"),
            "cpu_time_stddev_ns": stats.deviation() if stats.count > 1 else None,
            "cuda_total_ns": took(inside),
            "cuda_total_percent": percent(took(inside), cuda),
            "self_cuda_ns": took(work for work in inside if work.path == path)}
    # Parents first, and of siblings the one with the greater total.
    order = {id(rows[path]): tuple(-rows[path[:i]]["cpu_total_ns"]
                                   for i in range(1, len(path) + 1)) for path in rows}
    return Report(Table(tree_key, [rows[path] for path in sorted(rows)],
                        lambda row: order[id(row)], is_tree=True),
                  facts=totals(cycle, everything))


def api(cycle):
    groups, rows = collections.defaultdict(Stats), []
    for place in cycle.places:
        if place.kind == "call":
            groups[place.name].add(place.stats)
    total = sum(stats.total for stats in groups.values())
    for name, stats in groups.items():
        codes = [code for call, code in cycle.failed if call == name]
        rows.append({"name": name, "count": stats.count, "total_ns": stats.total,
                     "total_percent": percent(stats.total, total), **stats.columns(""),
                     "stddev_ns": stats.deviation(), "errors": len(codes),
                     "wall_percent": percent(stats.total, cycle.wall_ns),
                     "first_error": codes[0] if codes and cycle.has_spans else None})
    return Report(Table(["name"], rows, lambda row: -row["total_ns"]))


# ---- Steps ------------------------------------------------------------------------------------

def all_steps(checks, cycle, perfetto):
    """Of the whole run up to the recording's end: sums, of which the single steps are nowhere; the
    program's clock says around each boundary what they can be."""
    stats = stats_of_message(perfetto.facts["all_steps"][0]["stats"][0])
    known = cycle.books.boundaries[:max(CYCLES[cycle.number]) + 2]
    least = [last[0] - first[1] for first, last in zip(known, known[1:])]
    most = [last[1] - first[0] for first, last in zip(known, known[1:])]
    bounds = {"count": (len(least), len(least)), "least": (min(least), min(most)),
              "most": (max(least), max(most)),
              "total": (sum(least), sum(most))}
    for name, (low, high) in bounds.items():
        slack = 0 if name == "count" else DAY_SLACK_NS
        checks.near(f"cycle {cycle.number}", f"{name} of all steps", getattr(stats, name),
                    (low + high) / 2, (high - low) / 2 + slack)
    return stats


def slowest_step(checks, cycle, perfetto, every):
    """The number in the file, if the program's clock agrees that this step took the longest time."""
    slowest = perfetto.run["slowest"][0]
    number = slowest["number"][0] if slowest["number"] else 0
    (first, last), where = cycle.books.boundaries[number:number + 2], f"cycle {cycle.number}"
    least, most = last[0] - first[1], last[1] - first[0]
    checks.equal(where, "time of the slowest step", slowest["duration_ns"][0], every.most)
    checks.near(where, f"step {number}, the slowest", every.most, (least + most) / 2,
                (most - least) / 2 + DAY_SLACK_NS)
    return number


def run_facts(cycle, every, slowest):
    recorded = [step for number, steps in CYCLES.items() if number <= cycle.number
                for step in steps]
    missing = "" if slowest in recorded else ", not recorded"
    line = (f"{every.count} steps, {time_text(every.total)}, "
            f"median {time_text(every.median())}, "
            f"slowest {slowest} ({time_text(every.most)}{missing})")
    return line, {"run_steps": every.count, "run_ns": every.total,
                  "run_recorded_steps": len(recorded), "slowest_step": slowest,
                  "slowest_step_ns": every.most}


def step_row(name, stats, median, p99):
    return {"steps": name, "count": stats.count, "mean_ns": mean(stats.total, stats.count),
            "median_ns": median, "p99_ns": p99, "max_ns": stats.most, "min_ns": stats.least,
            "steps_per_second": 1e9 * stats.count / stats.total, "cuda_time_ns": None}


def busy_in_steps(cycle, steps):
    times = {device: [(work.at, work.at + work.took) for work in works]
             for device, works in cycle.by(lambda work: work.device).items()}
    for device, until in cycle.earlier.items():
        times.setdefault(device, []).append((0, until))
    return sum(union((max(first, begin), min(last, end)) for begin, end in of_device
                     if begin < last and end > first)
               for of_device in times.values() for first, last in steps)


def steps(cycle, recorded, every, slowest):
    """`recorded` are begins and ends, `every` the Stats of all steps up to the recording's end,
    `slowest` is the number of one of them."""
    times = [end - begin for begin, end in recorded]
    rows = [step_row("recorded", Stats(times), mean(sum(times), 2), None),
            step_row("all", every, every.median(), every.p99())]
    rows[0]["cuda_time_ns"] = mean(took(cycle.works), len(times))
    if cycle.has_spans:
        whole = sum(times) * len(cycle.by(lambda work: work.device))
        rows[0]["cuda_busy_percent"] = percent(busy_in_steps(cycle, recorded), whole)
        rows[1]["cuda_busy_percent"] = None
    order = {"recorded": 0, "all": 1}
    line, facts = run_facts(cycle, every, slowest)
    return Report(Table(["steps"], rows, lambda row: order[row["steps"]]), facts=facts,
                  headline=line)
