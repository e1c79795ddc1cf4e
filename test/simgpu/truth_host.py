"""What a run of prog_truth did on the host, computed anew from Chrome's file: scopes, paths, calls,
steps, memory and the columns that put host and devices together. Chrome's file itself is held
against the books by compare_truth.py; what is the host's own time is known from nowhere else. For
mode trace: tables of the others are folded while recording, and rounded once for each span.

check(equal, near, cycle, chrome, ns_of, reports, zero, devices) takes compare_truth.py's ways to
compare, and of truth_gaps.py when the recording begins and each device's row."""
import collections
import math
import statistics

CAPACITY, MIB, BUFFERS = 24 << 30, 1 << 20, 4 * 65536  # two workers' own and remote ones


class Span:
    def __init__(self, path, begin, end):
        self.path, self.begin, self.ns = path, begin, end - begin
        self.self_ns = self.ns


def nest(events):
    """Spans of (begin, end, name, kind) of one thread, with the path of names around each."""
    open_now, spans = [], []
    for begin, end, name, kind in sorted(events, key=lambda event: (event[0], -event[1])):
        while open_now and open_now[-1].begin + open_now[-1].ns <= begin:
            open_now.pop()
        path = open_now[-1].path if open_now else ()
        spans.append(Span(path + ((name, kind),), begin, end))
        if open_now:
            open_now[-1].self_ns -= end - begin
        open_now.append(spans[-1])
    return spans


def spans_of(chrome, ns_of, has_calls):
    threads = {tid: [(begin, -minus_end, name, "scope") for begin, minus_end, name in row]
               for tid, row in chrome.threads.items()}
    for call in chrome.calls.values() if has_calls else ():
        begin = ns_of(call["ts"])
        threads[call["tid"]].append((begin, begin + ns_of(call["dur"]), call["name"], "call"))
    return [span for row in threads.values() for span in nest(row)]


def quantile(times, share):
    return sorted(times)[max(0, math.ceil(share * len(times)) - 1)]


def check_times(equal, near, where, row, names, times):
    """names: of the columns for average, least and most, median and 99th percentile."""
    average, least, most, median, p99 = names
    near(where, average, row[average], sum(times) / len(times), 0.5)
    equal(where, "least and most", (row[least], row[most]), (min(times), max(times)))
    for name, share in (median, 0.5), (p99, 0.99):
        if name:
            truth = quantile(times, share)
            near(where, name, row[name], truth, truth / 31 + 1)


def check_percent(near, where, row, part, whole, name):
    near(where, name, row[name], 100 * part / whole, 1e-9)


def check_beside(equal, row, where, whole):
    """Scopes' columns of devices are the same with calls and activities beside them."""
    other = whole.get(row["name"]) if row.get("kind") == "scope" else None
    for name in other or ():
        if "cuda" in name:
            equal(where, name, row[name], other[name])


def check_scopes(equal, near, report, spans, whole):
    groups = collections.defaultdict(list)
    for span in spans:
        groups[span.path[-1]].append(span)
    everything = sum(span.self_ns for span in spans)
    equal(report["report"], "self", report["facts"]["self_cpu_total_ns"], everything)
    cuda = report["facts"]["self_cuda_total_ns"]
    for row in report["rows"]:
        kind = row["kind"] if "kind" in row else "scope"
        where = f"{report['report']}: {kind} {row['name']}"
        check_percent(near, where, row, row["self_cuda_ns"], cuda, "self_cuda_percent")
        check_beside(equal, row, where, whole)
        if kind == "activity":
            continue
        mine = groups[row["name"], kind]
        own = sum(span.self_ns for span in mine)
        total = sum(span.ns for span in mine if span.path[-1] not in span.path[:-1])
        equal(where, "times", (row["calls"], row["self_cpu_ns"], row["cpu_total_ns"]),
              (len(mine), own, total))
        near(where, "average", row["cpu_time_avg_ns"], total / len(mine), 0.5)
        times = [span.ns for span in mine]
        equal(where, "least and most", (row["cpu_time_min_ns"], row["cpu_time_max_ns"]),
              (min(times), max(times)))
        check_percent(near, where, row, own, everything, "self_cpu_percent")
        check_percent(near, where, row, total, everything, "cpu_total_percent")
        equal(where, "host's memory", (row["cpu_memory_bytes"], row["self_cpu_memory_bytes"]),
              (0, 0))


def check_tree(equal, near, report, spans):
    groups, path = collections.defaultdict(list), []
    for span in spans:
        groups[tuple(name for name, _ in span.path)].append(span)
    everything = sum(span.self_ns for span in spans)
    facts = report["facts"]
    equal("tree", "self", facts["self_cpu_total_ns"], everything)
    for row in report["rows"]:
        path[row["depth"]:] = [row["name"]]
        where, mine = f"tree: {path}", groups[tuple(path)]
        own, total = sum(span.self_ns for span in mine), sum(span.ns for span in mine)
        equal(where, "times", (row["self_cpu_ns"], row["cpu_total_ns"]), (own, total))
        check_times(equal, near, where, row, [f"cpu_time_{what}_ns" for what in
                                              ("avg", "min", "max", "median", "p99")],
                    [span.ns for span in mine])
        check_percent(near, where, row, own, everything, "self_cpu_percent")
        check_percent(near, where, row, total, everything, "cpu_total_percent")
        check_percent(near, where, row, row["cuda_total_ns"], facts["self_cuda_total_ns"],
                      "cuda_total_percent")


def check_api(equal, near, chrome, ns_of, report):
    calls = collections.defaultdict(list)
    for call in chrome.calls.values():
        calls[call["name"]].append(ns_of(call["dur"]))
    for row in report["rows"]:
        where, times = f"api: {row['name']}", calls[row["name"]]
        equal(where, "total", row["total_ns"], sum(times))
        check_times(equal, near, where, row, ["avg_ns", "min_ns", "max_ns", "median_ns", "p99_ns"],
                    times)
        near(where, "deviation", row["stddev_ns"],
             statistics.stdev(times) if len(times) > 1 else 0, 0.5 + 1e-6 * sum(times))


class Window:
    """The recording, its steps, and for how much of them each device ran anything."""

    def __init__(self, chrome, ns_of, zero):
        end = next(event for event in chrome.events if event["name"] == "Record Window End")
        self.zero, self.wall = zero, ns_of(end["ts"]) - zero
        self.steps = [(ns_of(event["ts"]), ns_of(event["dur"])) for event in chrome.events
                      if event["name"].startswith("ProfilerStep#")]
        self.works = collections.defaultdict(list)
        for event in chrome.work:
            begin = ns_of(event["ts"])
            self.works[event["pid"]].append((begin, begin + ns_of(event["dur"])))

    def busy_in_steps(self):
        busy = 0
        for works in self.works.values():
            for first, ns in self.steps:
                until = first
                for begin, end in sorted(works):
                    end = min(end, first + ns)
                    busy += max(0, end - max(begin, until))
                    until = max(end, until)
        return busy


def check_steps(equal, near, window, report):
    row = next(row for row in report["rows"] if row["steps"] == "recorded")
    times = [ns for _, ns in window.steps]
    equal("steps", "least and most", (row["count"], row["min_ns"], row["max_ns"], row["p99_ns"]),
          (len(times), min(times), max(times), max(times)))
    near("steps", "mean", row["mean_ns"], statistics.fmean(times), 0.5)
    near("steps", "median", row["median_ns"], statistics.median(times), 0.5)
    near("steps", "rate", row["steps_per_second"], 1e9 * len(times) / sum(times), 1e-9)
    near("steps", "busy", row["cuda_busy_percent"],
         100 * window.busy_in_steps() / (sum(times) * len(window.works)), 1e-9)


def check_summary(equal, near, cycle, chrome, window, reports, devices):
    """Its tables are parts of other reports, which have been compared."""
    report, facts = reports["summary"], reports["summary"]["facts"]
    for rows, others, key in ((report["rows"], reports["scopes"]["rows"], "name"),
                              (report["tables"]["steps"]["rows"], reports["steps"]["rows"],
                               "steps")):
        whole = {row[key]: row for row in others}
        for row in rows:
            equal("summary", row[key], {name: row[name] for name in row},
                  {name: whole[row[key]][name] for name in row})
    for row in report["tables"]["activities"]["rows"]:
        works = [work for work in cycle.works if work.name == row["activity"]]
        where = f"summary: {row['activity']}"
        equal(where, "count", row["count"], len(works))
        cycle.time(where, "time", row["total_time_ns"], works)
        near(where, "average", row["time_avg_ns"], row["total_time_ns"] / row["count"], 0.5)
    for row in report["tables"]["devices"]["rows"]:
        device = devices[row["device"]]
        equal("summary", row["device"], (row["busy_ns"], row["idle_ns"], row["idle_host_ns"],
                                         row["late"]),
              (device.busy, window.wall - device.busy, device.idle["host_late"], device.late))
        check_percent(near, "summary", row, device.busy, window.wall, "busy_percent")
    everything = sum(row["self_cpu_ns"] for row in reports["scopes"]["rows"])
    every_step = reports["steps"]["rows"][-1]
    for key, truth in {"name": "truth", "cycle": cycle.number, "wall_ns": window.wall,
                       "self_cpu_total_ns": everything, "calls": sum(cycle.paths.values()),
                       "first_step": 4 * cycle.number + 2,
                       "steps_per_second": every_step["steps_per_second"],
                       "step_median_ns": every_step["median_ns"],
                       "step_p99_ns": every_step["p99_ns"],
                       "copied_bytes": sum(work.bytes for work in cycle.works
                                           if work.name.startswith("memcpy "))}.items():
        equal("summary", key, facts[key], truth)
    near("summary", "cores", facts["self_cpu_per_wall"], everything / window.wall, 1e-9)


class Allocations:
    """Changes of one device's memory, with their times from Chrome's file."""

    def __init__(self, chrome, ns_of, zero, device, before):
        events = sorted(((ns_of(event["ts"]) - zero, event["args"]["Bytes"])
                         for event in chrome.events if event["name"] == "[memory]" and
                         f"cuda:{event['args']['Device Id']}" == device), key=lambda row: row[0])
        self.sizes, self.now, self.peak, self.peak_at = collections.defaultdict(list), before, 0, 0
        for at, size in events:
            self.now += size
            if size > 0:
                self.sizes[size].append(at)
            if self.now > self.peak:
                self.peak, self.peak_at = self.now, at


def check_memory(equal, near, cycle, chrome, ns_of, window, report):
    jumps = {}
    for row in report["rows"]:
        device, where = row["device"], f"memory: {row['device']}, {row['period']}"
        is_recording = row["period"] == "recording"
        earlier = [size for step, _, on, size in cycle.books.memory
                   if on == device and 0 < step < 4 * cycle.number + 2]
        before = sum(earlier)
        if cycle.number > 0:  # collection stops at some time between the cycles
            changes = Allocations(chrome, ns_of, window.zero, device, 0).now
            before = row["current_bytes"] - changes
        truth = Allocations(chrome, ns_of, window.zero, device, before)
        equal(where, "now", row["current_bytes"], truth.now)
        if is_recording:
            equal(where, "peak", (row["peak_bytes"], row["peak_at_ns"]),
                  (truth.peak, truth.peak_at))
        else:  # it may have been before
            equal(where, "peak", row["peak_bytes"] >= truth.peak, True)
        equal(where, "pools", (row["pool_bytes"], row["fragmentation_percent"]), (None, None))
        equal(where, "frees of what nobody allocated", row["unmatched_frees"],
              None if is_recording else 0)
        equal(where, "size", row["capacity_bytes"], CAPACITY if is_recording else None)
        if is_recording:  # the program may already be at its next step
            in_all = BUFFERS + (3 if device == "cuda:0" else 7) * MIB * (2 + cycle.number)
            near(where, "free", row["free_bytes"], CAPACITY - in_all, 32 * MIB)
        else:
            equal(where, "free", row["free_bytes"], None)
        jumps.update({(device, size, "memory", ""): (len(times), times[0])
                      for size, times in truth.sizes.items()})
    equal("memory", "jumps", {(row["device"], row["bytes"], row["scope"], row["thread"]):
                              (row["times"], row["first_at_ns"])
                              for row in report["tables"]["jumps"]["rows"]}, jumps)
    for row in report["tables"]["scopes"]["rows"]:
        mine = [(path, size) for path, _, size in cycle.memory if row["scope"] in path]
        equal("memory", row["scope"], [row[f"{what}_memory_bytes"] for what in
                                       ("cpu", "self_cpu", "cuda", "self_cuda")],
              [0, 0, sum(size for _, size in mine),
               sum(size for path, size in mine if path[-1] == row["scope"])])


def check(equal, near, cycle, chrome, ns_of, reports, zero, devices):
    spans, window = spans_of(chrome, ns_of, False), Window(chrome, ns_of, zero)
    check_scopes(equal, near, reports["scopes"], spans, {})
    check_scopes(equal, near, reports["scopes.all"], spans_of(chrome, ns_of, True),
                 {row["name"]: row for row in reports["scopes"]["rows"]})
    check_tree(equal, near, reports["tree"], spans)
    check_api(equal, near, chrome, ns_of, reports["api"])
    check_steps(equal, near, window, reports["steps"])
    check_summary(equal, near, cycle, chrome, window, reports, devices)
    check_memory(equal, near, cycle, chrome, ns_of, window, reports["memory"])
