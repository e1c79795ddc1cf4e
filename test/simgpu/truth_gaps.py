"""Launches and gaps of a run of prog_truth, computed anew from Chrome's file, one interval at a time
and by the definitions of docs/reports.md, and held against Takt's reports. What follows from the
script alone is held against that: what stands behind a gate was launched in time."""
import collections
import statistics

SHORT_NS = 5000
OUTSIDE = "(outside of scopes)"
CAUSES = "host_late", "waited", "short", "graph", "edge", "other"

Work = collections.namedtuple("Work", "begin end name device context stream call graph correlation")
Call = collections.namedtuple("Call", "begin end name thread")


class Recording:
    """Chrome's events as whole nanoseconds from the begin of the recording."""

    def __init__(self, chrome, ns_of, zero, facts):
        def times(event):
            begin = ns_of(event["ts"]) - zero
            return begin, begin + ns_of(event["dur"])

        self.wall = facts["wall_ns"]
        self.uncertainty = int(facts["device_uncertainty_ns"] + 0.5)
        self.calls = {number: Call(*times(event), event["name"], event["tid"])
                      for number, event in chrome.calls.items()}
        self.works, self.waits, self.spans = [], [], collections.defaultdict(list)
        for event in chrome.work:
            args = event["args"]
            self.works.append(Work(*times(event), chrome.NAMES[event["cat"]](event["name"]),
                                   f"cuda:{event['pid']}", args["context"], args["stream"],
                                   self.calls.get(args["correlation"]), args.get("graph id", 0),
                                   args["correlation"]))
        self.works.sort(key=lambda work: (work.begin, work.call.begin))
        for event in chrome.events:
            if event.get("cat") == "cuda_sync" and event["name"] == "Stream Wait Event":
                args = event["args"]
                self.waits.append((args["context"], args["stream"], args["correlation"]))
        for thread, row in chrome.threads.items():
            self.spans[thread] = [(begin - zero, -minus_end - zero, name, False)
                                  for begin, minus_end, name in row]
        for call in self.calls.values():
            self.spans[call.thread].append((call.begin, call.end, None, True))


class Row:
    """A stream, or a device where `stream` is None."""

    def __init__(self, recording, works):
        self.recording = recording
        self.busy = self.count = self.gaps = self.late = 0
        self.idle = dict.fromkeys(CAUSES, 0)
        self.intervals = []  # idle: begin, where the host's part ends, end, whose thread
        self.listed = []  # beside them: cause of the longer part, work before and after
        self.late_works = []
        last = None
        for at, work in enumerate(works):
            self.count += 1
            if not last or work.begin > last.end:
                self.add_gap(last, work, works[:at])
            if not last or work.end > last.end:
                self.busy += self.clip(work.end) - self.clip(max(work.begin, last.end if last else 0))
                last = work
        self.add(last.end, last.end, recording.wall, "edge", last, (last, None))

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

    def add_gap(self, last, work, before):
        if not last:
            self.add(0, 0, work.begin, "edge", work, (None, work))
            return
        middle, cause, is_late = self.cause_of(last, work, before)
        if self.add(last.end, middle, work.begin, cause, work, (last, work)):
            self.gaps += 1
            self.late += is_late
            if is_late:
                self.late_works.append((work, self.clip(middle) - self.clip(last.end)))

    def cause_of(self, last, work, before):
        if work.call is last.call:
            return last.end, "graph", False
        has_returned = work.call.end <= work.begin
        handed = work.call.end if has_returned else work.call.begin
        is_late = handed > last.end + self.recording.uncertainty
        middle = (handed if has_returned else work.begin) if is_late else last.end
        if work.begin - middle >= SHORT_NS:
            return middle, "waited" if self.has_waited(work, before) else "other", is_late
        return (work.begin if is_late else middle), "short", is_late

    def has_waited(self, work, before):
        """For an event that its stream was told to wait for since the work before, or for others."""
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


def check_list(equal, rows, truths, recording):
    """Gaps one by one, the longest first; (device, stream): Row."""
    known = {}
    for on, row in truths.items():
        for (begin, _, end, thread), (cause, before, after) in zip(row.intervals, row.listed):
            known[(*on, begin)] = (end - begin, cause, before and before.name,
                                   after and after.name, thread)
    lengths = sorted((gap[0] for gap in known.values()), reverse=True)
    equal("gaps", "longest", [row["gap_ns"] for row in rows], lengths[:1000])
    for row in rows:
        on = row["device"], row["stream"], row["begin_ns"]
        *truth, thread = known.get(on, (None,) * 5)
        equal("gaps", f"gap {on}", [row["gap_ns"], row["cause"], row["before"], row["after"]],
              truth)
        inside = collections.Counter()
        for first, last, name, _ in stays(recording.spans[thread], on[2], on[2] + row["gap_ns"]):
            inside[name] += last - first
        equal("gaps", f"scope of {on}", inside[row["scope"] or OUTSIDE],
              max(inside.values(), default=None))


def check_shares(near, recording, report, devices):
    for row in report["rows"]:
        near("gaps", "busy", row["busy_percent"], 100 * row["busy_ns"] / recording.wall, 1e-9)
    for row in report["tables"]["scopes"]["rows"]:
        idle = recording.wall - devices[row["device"]].busy
        near("gaps", "share", row["idle_percent"], 100 * row["idle_ns"] / idle, 1e-9)


def check_gaps(equal, near, recording, report):
    groups = collections.defaultdict(list)
    for work in recording.works:
        groups[work.device, None, None].append(work)
        groups[work.device, work.context, work.stream].append(work)
    rows = {(row["device"], row["context"], row["stream"]): row for row in report["rows"]}
    equal("gaps", "rows", set(rows), set(groups))
    devices, streams = {}, {}
    for key in groups.keys() & rows.keys():
        truth, got = Row(recording, groups[key]), rows[key]
        known = {"activities": truth.count, "busy_ns": truth.busy, "gaps": truth.gaps,
                 "idle_ns": recording.wall - truth.busy, "late": truth.late}
        known.update({f"{cause}_ns": ns for cause, ns in truth.idle.items()})
        equal("gaps", f"row of {key}", {name: got[name] for name in known}, known)
        if key[1] is None:
            devices[key[0]] = truth
        else:
            streams[key[0], key[2]] = truth
    truth = {(device, name): times for device, row in devices.items()
             for name, times in scopes_of(row).items()}
    equal("gaps", "scopes", {(row["device"], row["scope"]): (row["idle_ns"], row["host_late_ns"],
                                                              row["in_calls_ns"])
                             for row in report["tables"]["scopes"]["rows"]}, truth)
    lists = report["tables"]
    check_list(equal, lists["longest"]["rows"],
               {(name, None): row for name, row in devices.items()}, recording)
    check_list(equal, lists["stream_gaps"]["rows"], streams, recording)
    check_shares(near, recording, report, devices)
    equal("gaps", "short", report["facts"]["short_gap_ns"], SHORT_NS)
    return devices


def check_deviation(near, row, name, values):
    if len(values) > 1:
        truth = statistics.stdev(values)
        near("launches", f"deviation of {name}", row[f"{name}_stddev_ns"], truth, 1 + truth / 1e6)


def check_launches(equal, near, recording, report, devices):
    launches = collections.defaultdict(list)
    for work in recording.works:
        launches[work.correlation].append(work)
    names, groups = {}, collections.defaultdict(list)
    for number, works in launches.items():
        graph = works[0].graph
        names[number] = f"graph {graph}" if graph else works[0].name
        groups[names[number]].append((works[0].call, min(work.begin for work in works),
                                      max(work.end for work in works)))
    late = [(names[work.correlation], ns) for row in devices.values()
            for work, ns in row.late_works]
    equal("launches", "names", {row["name"] for row in report["rows"]}, set(groups))
    for row in report["rows"]:
        launched = groups[row["name"]]
        times = {"api": [call.end - call.begin for call, _, _ in launched],
                 "queue": [begin - call.end for call, begin, _ in launched if begin >= call.end],
                 "kernel": [end - begin for _, begin, end in launched],
                 "total": [max(0, end - call.begin) for call, _, end in launched]}
        mine = [ns for name, ns in late if name == row["name"]]
        known = {"count": len(launched), "queue_count": len(times["queue"]),
                 "not_hidden": len(mine), "waited_ns": sum(mine)}
        for name, values in times.items():
            known[f"{name}_min_ns"] = min(values, default=None)
            known[f"{name}_max_ns"] = max(values, default=None)
            if values:
                near("launches", f"{name} of {row['name']}", row[f"{name}_avg_ns"],
                     statistics.fmean(values), 0.5)
                check_deviation(near, row, name, values)
                middle = sorted(values)[(len(values) - 1) // 2]
                near("launches", f"median {name} of {row['name']}", row[f"{name}_median_ns"],
                     middle, middle / 31 + 1)
        near("launches", "share", row["not_hidden_percent"], 100 * len(mine) / len(launched), 1e-9)
        calls = {call.name for call, _, _ in launched}
        known["launch"] = calls.pop() if len(calls) == 1 else "varies"
        equal("launches", row["name"], {name: row[name] for name in known}, known)
    facts = report["facts"]
    equal("launches", "facts", (facts["launches"], facts["not_hidden"], facts["waited_ns"]),
          (len(launches), len(late), sum(ns for _, ns in late)))
    near("launches", "share", facts["not_hidden_percent"], 100 * len(late) / len(launches), 1e-9)


def check_script(equal, works, gaps, launches):
    """What the books say: works behind a gate, and the gaps inside graphs, within the recording: a
    device's clock may be ahead of the host's."""
    wall = gaps["provenance"]["wall_ns"]
    free = {work.name for work in works if work.begin is None or work.name == "kernel gate"}
    for row in launches["rows"]:
        if row["name"] not in free:
            equal("script", f"{row['name']} not hidden", row["not_hidden"], 0)
    inside = collections.Counter()
    late_thread = {(work.device, work.stream) for work in works if work.thread == 3}
    for before, work in zip(works, works[1:]):
        if work.launch == before.launch and None not in (work.begin, before.begin):
            begin = min(before.at + before.took, wall)
            inside[work.device, work.stream] += min(begin + work.begin - before.end(), wall) - begin
    for row in gaps["rows"]:
        on = row["device"], row["stream"]
        if row["stream"] is not None and on not in late_thread:  # its last work may be cut off
            equal("script", f"in graphs of {on}", row["graph_ns"], inside[on])


def check(equal, near, cycle, chrome, ns_of, reports, rows):
    """`rows` are those of the report timeline. When the recording begins, and rows of devices."""
    event = min(chrome.work, key=lambda event: (event["args"]["correlation"], ns_of(event["ts"])))
    number = event["args"]["correlation"]
    first = min(row["begin_ns"] for row in rows if row["correlation"] == number)
    zero = ns_of(event["ts"]) - first
    recording = Recording(chrome, ns_of, zero, reports["gaps"]["provenance"])
    devices = check_gaps(equal, near, recording, reports["gaps"])
    check_launches(equal, near, recording, reports["launches"], devices)
    if not any(cycle.books.drift):
        check_script(equal, cycle.works, reports["gaps"], reports["launches"])
    return zero, devices
