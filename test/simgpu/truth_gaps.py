"""When devices of a run of prog_truth were idle and why, computed anew from Chrome's file, one
interval at a time and by the definitions of docs/reports.md: the reports of gaps and launches. What
follows from the script alone is held against that: works behind a gate were launched in time."""
import collections

from truth_compare import OneOf, Report, Table
from truth_stats import Stats, percent

SHORT_NS = 5000
OUTSIDE = "(outside of scopes)"
CAUSES = "host_late", "waited", "short", "graph", "edge", "other"

Work = collections.namedtuple("Work", "begin end name device context stream call graph correlation")


class Recording:
    """Chrome's events, in nanoseconds from the begin of the recording."""

    def __init__(self, cycle, chrome):
        self.wall, self.uncertainty = cycle.wall_ns, min(int(cycle.uncertainty_ns + 0.5), 20000)
        self.works, self.waits, self.spans = [], [], collections.defaultdict(list)
        self.earlier = cycle.earlier
        for event in chrome.work:
            args = event["args"]
            self.works.append(Work(*chrome.times(event), chrome.NAMES[event["cat"]](event["name"]),
                                   f"cuda:{event['pid']}", args["context"], args["stream"],
                                   chrome.call(args["correlation"]), args.get("graph id", 0),
                                   args["correlation"]))
        self.works.sort(key=lambda work: (work.begin, work.call.begin))
        for event in chrome.events:
            if event.get("cat") == "cuda_sync" and event["name"] == "Stream Wait Event":
                args = event["args"]
                self.waits.append((args["context"], args["stream"], args["correlation"]))
        for thread, row in chrome.threads.items():
            self.spans[thread] = [(begin, -minus_end, name, False)
                                  for begin, minus_end, name in row]
        for call in map(chrome.call, chrome.calls):
            self.spans[call.thread].append((call.begin, call.end, None, True))


class Row:
    """A stream, or a device where `stream` is None."""

    def __init__(self, recording, works, earlier, is_device):
        """`earlier`: until when the device worked for earlier launches; None: nobody knows."""
        self.recording = recording
        self.count = self.gaps = self.late = 0
        until = earlier or 0
        self.busy, self.unknown = (until, 0) if is_device else (0, until)
        self.unwatched = (0, 0)  # launched and begun without watching the time before
        launched = self.clip(min(works[0].call.begin, works[0].begin))
        if earlier is None or (not is_device and launched < until):
            self.unknown, until = launched, self.clip(works[0].begin)
            self.busy = until - launched
            self.unwatched = launched, until
        self.idle = dict.fromkeys(CAUSES, 0)
        self.intervals = []  # idle: begin, where the host's part ends, end, whose thread
        self.listed = []  # beside them: cause of the longer part, work before and after
        self.late_works = []
        last = None
        for at, work in enumerate(works):
            self.count += 1
            if work.begin > until:
                self.add_gap(last, until, work, works[:at])
            if not last or work.end > until:
                last, begin = work, max(work.begin, until)
            if work.end > until:
                self.busy += self.clip(work.end) - self.clip(begin)
                until = work.end
        self.add(until, until, recording.wall, "edge", last, (last, None))

    def known(self):
        return self.recording.wall - self.unknown

    def known_percent(self):
        return percent(self.known(), self.recording.wall) if self.unknown else None

    def clip(self, ns):
        return min(max(ns, 0), self.recording.wall)

    def add(self, begin, middle, end, cause, work, sides):
        begin, middle, end = self.clip(begin), self.clip(middle), self.clip(end)
        if begin < end:
            self.idle["host_late"] += middle - begin
            self.idle[cause] += end - middle
            self.intervals.append((begin, middle, end, work.call.thread))
            is_late = middle - begin > end - middle
            self.listed.append(("host late" if is_late else cause, *sides))
        return begin < end

    def add_gap(self, last, until, work, before):
        if not last:
            self.add(until, until, work.begin, "edge", work, (None, work))
            return
        middle, cause, is_late = self.cause_of(last, until, work, before)
        if self.add(until, middle, work.begin, cause, work, (last, work)):
            self.gaps += 1
            self.late += is_late
            if is_late:
                self.late_works.append((work, self.clip(middle) - self.clip(until)))

    def cause_of(self, last, until, work, before):
        if work.correlation == last.correlation:
            return until, "graph", False
        has_returned = work.call.end <= work.begin
        handed = work.call.end if has_returned else work.call.begin
        is_late = handed > until + self.recording.uncertainty
        middle = (handed if has_returned else work.begin) if is_late else until
        if work.begin - middle >= SHORT_NS:
            return middle, "waited" if self.has_waited(work, before) else "other", is_late
        return (work.begin if is_late else middle), "short", is_late

    def has_waited(self, work, before):
        """For an event that its stream was told to wait for since the work before, or others."""
        earlier = [each.correlation for each in self.recording.works
                   if (each.device, each.context, each.stream) ==
                   (work.device, work.context, work.stream) and each.begin <= work.begin
                   and each is not work]
        told = [number for context, stream, number in self.recording.waits
                if (context, stream) == (work.context, work.stream)]
        if any(max(earlier, default=0) < number < work.correlation for number in told):
            return True
        return any(work.begin - SHORT_NS < each.end <= work.begin for each in self.recording.works
                   if each.device == work.device and
                   (each.context, each.stream) != (work.context, work.stream))


def stays(spans, begin, end):
    """Stretches of [begin, end) with the innermost scope and whether the thread was in a call."""
    around = [span for span in spans if span[0] < end and span[1] > begin]
    edges = sorted({begin, end} | {edge for span in around for edge in span[:2]
                                   if begin < edge < end})
    for first, last in zip(edges, edges[1:]):
        open_now = [span for span in around if span[0] <= first and span[1] >= last]
        open_now.sort(key=lambda span: (span[0], -span[1], span[3]))
        names = [span[2] for span in open_now if not span[3]]
        yield first, last, names[-1] if names else OUTSIDE, \
            bool(open_now) and open_now[-1][3]


def scopes_of(row):
    scopes = collections.defaultdict(lambda: [0, 0, 0])
    for begin, middle, end, thread in row.intervals:
        for first, last, name, is_call in stays(row.recording.spans[thread], begin, end):
            scopes[name][0] += last - first
            scopes[name][1] += max(0, min(last, middle) - first)
            scopes[name][2] += (last - first) * is_call
    return {name: tuple(times) for name, times in scopes.items()}


def rows_of(recording):
    """By device, context and stream; a whole device has neither."""
    groups = collections.defaultdict(list)
    for work in recording.works:
        groups[work.device, None, None].append(work)
        groups[work.device, work.context, work.stream].append(work)
    return {key: Row(recording, works, recording.earlier.get(key[0]), key[1] is None)
            for key, works in groups.items()}


def list_of(recording, rows):
    """Gaps one by one, the longest first; in a tie of scopes either may be named."""
    gaps = []
    for (device, _, stream), row in rows.items():
        for (begin, _, end, thread), (cause, before, after) in zip(row.intervals, row.listed):
            inside = collections.Counter()
            for first, last, name, _ in stays(recording.spans[thread], begin, end):
                inside[None if name == OUTSIDE else name] += last - first
            longest = {name for name, ns in inside.items() if ns == max(inside.values())}
            gaps.append({"gap_ns": end - begin, "begin_ns": begin, "device": device,
                         "stream": stream, "cause": cause, "scope": OneOf(longest),
                         "before": before and before.name, "after": after and after.name})
    return Table(["device", "stream", "begin_ns"], gaps, lambda row: -row["gap_ns"])


def scopes_table(recording, devices):
    rows = []
    for device, row in devices.items():
        for name, (idle, late, in_calls) in scopes_of(row).items():
            rows.append({"scope": name, "device": device, "idle_ns": idle,
                         "idle_percent": percent(idle, row.known() - row.busy),
                         "host_late_ns": late, "in_calls_ns": in_calls})
    return Table(["scope", "device"], rows, lambda row: -row["idle_ns"])


def compares(cycle):
    return (f"Times of host and devices are comparable to within {cycle.uncertainty_ns:.1f} ns"
            f"{' or more' if cycle.is_least else ''}.")


def gaps(cycle, recording, rows):
    """Devices, and streams behind each, in the order of their first activities."""
    seen = {}
    for work in sorted(cycle.works, key=lambda work: (work.at, work.call_at)):
        seen.setdefault(work.device, len(seen))
        seen.setdefault((work.device, work.stream), len(seen))
    table = []
    for (device, context, stream), row in rows.items():
        table.append({"device": device, "stream": stream, "context": context,
                      "activities": row.count, "busy_ns": row.busy, "gaps": row.gaps,
                      "busy_percent": percent(row.busy, row.known()),
                      "known_percent": row.known_percent(),
                      "idle_ns": row.known() - row.busy, "late": row.late,
                      **{f"{cause}_ns": ns for cause, ns in row.idle.items()}})
    devices = {key[0]: row for key, row in rows.items() if key[2] is None}
    tables = {"longest": list_of(recording, {key: row for key, row in rows.items()
                                             if key[2] is None}),
              "scopes": scopes_table(recording, devices),
              "stream_gaps": list_of(recording, {key: row for key, row in rows.items()
                                                 if key[2] is not None})}
    return Report(Table(["device", "context", "stream"], table, lambda row: (
        seen[row["device"]], -1 if row["stream"] is None else seen[row["device"], row["stream"]])),
        tables, {"short_gap_ns": SHORT_NS}, [compares(cycle)])


def time_columns(launched):
    times = {"api": [call.end - call.begin for call, _, _ in launched],
             "queue": [begin - call.end for call, begin, _ in launched if begin >= call.end],
             "kernel": [end - begin for _, begin, end in launched],
             "total": [max(0, end - call.begin) for call, _, end in launched]}
    columns = {"queue_count": len(times["queue"])}
    for name, values in times.items():
        stats, keys = Stats(values), ("avg", "median", "min", "max")
        columns.update(stats.columns(f"{name}_", keys) if values else
                       dict.fromkeys(f"{name}_{key}_ns" for key in keys))
        columns[f"{name}_stddev_ns"] = stats.deviation() if len(values) > 1 else None
    return columns


def launches(cycle, recording, rows):
    made, groups = collections.defaultdict(list), collections.defaultdict(list)
    for work in recording.works:
        made[work.correlation].append(work)
    names = {number: f"graph {works[0].graph}" if works[0].graph else works[0].name
             for number, works in made.items()}
    for number, works in made.items():
        groups[names[number]].append((works[0].call, min(work.begin for work in works),
                                      max(work.end for work in works)))
    late = [(names[work.correlation], ns) for key, row in rows.items() if key[2] is None
            for work, ns in row.late_works]
    table = []
    for name, launched in groups.items():
        waited = [ns for other, ns in late if other == name]
        calls = {call.name for call, _, _ in launched}
        table.append({"name": name, "count": len(launched), "not_hidden": len(waited),
                      "not_hidden_percent": percent(len(waited), len(launched)),
                      "waited_ns": sum(waited), **time_columns(launched),
                      "launch": calls.pop() if len(calls) == 1 else "varies"})
    facts = {"launches": len(made), "not_hidden": len(late),
             "not_hidden_percent": percent(len(late), len(made)),
             "waited_ns": sum(ns for _, ns in late)}
    return Report(Table(["name"], table, lambda row: -row["waited_ns"]), facts=facts,
                  notes=[compares(cycle)])


def check_script(equal, cycle, rows, launched):
    """What the books say: works behind a gate, and the gaps inside graphs, within the recording: a
    device's clock may be ahead of the host's."""
    free = {work.name for work in cycle.works if work.begin is None or work.name == "kernel gate"}
    for row in launched.tables["rows"].rows.values():
        if row["name"] not in free:
            equal("script", f"{row['name']} not hidden", row["not_hidden"], 0)
    inside, wall = collections.Counter(), cycle.wall_ns
    late_thread = {(work.device, work.stream) for work in cycle.works if work.thread == 3}
    for before, work in zip(cycle.works, cycle.works[1:]):
        if work.launch == before.launch and None not in (work.begin, before.begin):
            begin = min(before.at + before.took, wall)
            inside[work.device, work.stream] += min(begin + work.begin - before.end(), wall) - begin
    for (device, _, stream), row in rows.items():
        if stream is not None and (device, stream) not in late_thread:  # its last work is cut off
            equal("script", f"in graphs of {device}, {stream}", row.idle["graph"],
                  inside[device, stream])
