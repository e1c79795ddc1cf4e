#!/usr/bin/env python3
"""Holds what Takt says of a run of prog_truth against the program's own books, to the nanosecond.

    compare_truth.py TAKT FOLDER MODE GRAPH [DRIFT DRIFT]

FOLDER has books, timers, reports of each cycle, and in out/ the traces. MODE is trace, summary or
both, GRAPH node or launch. DRIFT is by how many nanoseconds in each second a device's clock runs
fast: durations are then the device's own, rounded, and gaps are known within the uncertainty that
Takt states. Reports, Perfetto's file (through protoc) and Chrome's are each read by themselves.
"""
import bisect
import collections
import csv
import glob
import json
import os
import re
import subprocess
import sys
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import perfetto_totals  # noqa: E402
import truth_columns  # noqa: E402
import truth_gaps  # noqa: E402
import truth_host  # noqa: E402
import truth_kernels  # noqa: E402

FREE = -1000000000
CYCLES = {0: (2, 3), 1: (6, 7)}
COPY_ENDS = {"HtoD": ("pageable", "device"), "DtoH": ("device", "pageable"),
             "DtoD": ("device", "device"), "PtoP": ("device", "device")}

failures = []
comparisons = 0
columns = truth_columns.Columns()


def equal(where, what, got, truth):
    global comparisons
    comparisons += 1
    if got != truth:
        failures.append(f"{where}: {what}: {got}, and not {truth}")


def near(where, what, got, truth, slack):
    global comparisons
    comparisons += 1
    if got is None or abs(got - truth) > slack:
        failures.append(f"{where}: {what}: {got}, in truth {truth} within {slack}")


# ---- The books --------------------------------------------------------------------------------

class Work:
    """A kernel, copy or set, or a whole launch of a graph."""

    def __init__(self, step, thread, path, fields):
        device, stream, begin, ns, self.name, size, launch, self.call, graph = fields
        self.step, self.thread, self.path = step, thread, path
        self.device, self.stream = f"cuda:{device}", int(stream)
        self.begin = None if int(begin) == FREE else int(begin)
        self.ns, self.bytes = int(ns), int(size)
        self.launch, self.graph = (thread, int(launch)), int(graph)

    def end(self):
        return self.begin + self.ns


def whole_graphs(works):
    """Nodes of one launch as one piece of work, from the first begin to the last end."""
    joined = []
    for work in works:
        last = joined[-1] if joined else None
        if work.graph and last and last.launch == work.launch:
            last.ns = work.end() - last.begin
            continue
        if work.graph:
            work.name, work.bytes = f"graph {work.graph}", 0
        joined.append(work)
    return joined


class Books:
    def __init__(self, folder, graph, drift):
        self.drift = drift
        self.tids, self.works, self.calls, self.scopes = {}, [], [], []
        self.memory, self.listed = [], []
        self.declared, self.failed = [], []
        for path in sorted(glob.glob(folder + "/books.*")):
            with open(path) as file:
                for line in file:
                    self.enter(*line.rstrip("\n").split("\t"))
        if graph == "launch":
            self.works = whole_graphs(self.works)

    def enter(self, what, step, thread, path, *fields):
        step, thread, path = int(step), int(thread), tuple(filter(None, path.split("/")))
        if what == "thread":
            self.tids[int(fields[0])] = thread
        elif what == "work":
            self.works.append(Work(step, thread, path, fields))
        elif what == "call":
            self.calls.append((step, path, fields[0], thread))
        elif what == "scope":
            self.scopes.append((step, path))
        elif what == "declared":
            self.declared.append((step, path, float(fields[0]), float(fields[1])))
        elif what == "failed":
            self.failed.append((step, fields[0], int(fields[1])))
        elif what == "memory":
            self.memory.append((step, path, f"cuda:{fields[0]}", int(fields[1])))
        elif what == "listed":
            timer, device, name, ns = fields
            self.listed.append((step, timer, device, name, int(ns)))

    def ns(self, device, ns):
        return ns + ns * self.drift[int(device[-1])] / 1e9

    def sum(self, works):
        return sum(self.ns(work.device, work.ns) for work in works)

    def slack(self, count):
        return count if any(self.drift) else 0


class Cycle:
    """What the books say of the steps of one cycle."""

    def __init__(self, books, number, has_spans):
        steps = CYCLES[number]
        self.has_spans = has_spans or None
        self.books, self.number = books, number
        self.works = [work for work in books.works if work.step in steps]
        self.calls = [call[1:] for call in books.calls if call[0] in steps]
        self.paths = collections.Counter(path for step, path in books.scopes if step in steps)
        self.memory = [change[1:] for change in books.memory if change[0] in steps]
        self.declared = [work[1:] for work in books.declared if work[0] in steps]
        self.failed = [call[1:] for call in books.failed if call[0] in steps]
        self.names = {name for path in self.paths for name in path}

    def by(self, key):
        groups = collections.defaultdict(list)
        for work in self.works:
            groups[key(work)].append(work)
        return groups

    def time(self, where, what, got, works):
        near(where, what, got, self.books.sum(works), self.books.slack(len(works)))


# ---- Reports ----------------------------------------------------------------------------------

def check_scopes(where, cycle, rows):
    rows = {row["name"]: row for row in rows if row.get("kind", "scope") == "scope"}
    equal(where, "names", sorted(rows), sorted(cycle.names))
    for name in cycle.names & rows.keys():
        row = rows[name]
        own = [work for work in cycle.works if work.path[-1:] == (name,)]
        total = [work for work in cycle.works if name in work.path]
        calls = sum(count for path, count in cycle.paths.items() if path[-1] == name)
        equal(where, f"calls of {name}", row["calls"], calls)
        cycle.time(where, f"self of {name}", row["self_cuda_ns"], own)
        cycle.time(where, f"total of {name}", row["cuda_total_ns"], total)
        near(where, f"average of {name}", row["cuda_time_avg_ns"],
             cycle.books.sum(total) / calls, 0.5 + cycle.books.slack(len(total)))
        equal(where, f"memory of {name}", row.get("cuda_memory_bytes"), cycle.has_spans and
              sum(size for path, _, size in cycle.memory if name in path))
        equal(where, f"own memory of {name}", row.get("self_cuda_memory_bytes"), cycle.has_spans
              and sum(size for path, _, size in cycle.memory if path[-1:] == (name,)))


def check_all_scopes(where, cycle, rows):
    activities = {row["name"]: row for row in rows if row["kind"] == "activity"}
    calls = {row["name"]: row["calls"] for row in rows if row["kind"] == "call"}
    equal(where, "calls", calls, dict(collections.Counter(name for _, name, _ in cycle.calls)))
    groups = cycle.by(lambda work: work.name)
    equal(where, "activities", sorted(activities), sorted(groups))
    for name in groups.keys() & activities.keys():
        equal(where, f"count of {name}", activities[name]["calls"], len(groups[name]))
        cycle.time(where, f"time of {name}", activities[name]["self_cuda_ns"], groups[name])


def check_tree(where, cycle, rows):
    path, seen = [], {}
    for row in rows:
        del path[row["depth"]:]
        path.append(row["name"])
        seen[tuple(path)] = row
    equal(where, "paths", sorted(seen), sorted(cycle.paths))
    for at in seen.keys() & cycle.paths.keys():
        inside = [work for work in cycle.works if work.path[:len(at)] == at]
        equal(where, f"calls of {at}", seen[at]["calls"], cycle.paths[at])
        cycle.time(where, f"total of {at}", seen[at]["cuda_total_ns"], inside)
        cycle.time(where, f"self of {at}", seen[at]["self_cuda_ns"],
                   [work for work in inside if work.path == at])


def check_groups(where, cycle, rows, label, groups, time="total_time_ns", count="count"):
    rows = {row[label]: row for row in rows}
    equal(where, "names", sorted(rows), sorted(groups))
    for name in groups.keys() & rows.keys():
        equal(where, f"count of {name}", rows[name][count], len(groups[name]))
        cycle.time(where, f"time of {name}", rows[name][time], groups[name])


def check_kernels(where, cycle, rows):
    groups = cycle.by(lambda work: work.name if work.name.startswith("kernel ") else None)
    groups.pop(None, None)
    check_groups(where, cycle, rows, "name", groups, "total_ns")
    for row in rows:
        works = groups.get(row["name"], [])
        for column in "avg_ns", "min_ns", "max_ns":
            near(where, f"{column} of {row['name']}", row[column],
                 cycle.books.sum(works) / max(len(works), 1), 0.5 + cycle.books.slack(2) +
                 (max(map(abs, cycle.books.drift)) / 1e9 * works[0].ns if works else 0))


def check_api(where, cycle, rows):
    truth = collections.Counter(name for _, name, _ in cycle.calls)
    equal(where, "calls", {row["name"]: row["count"] for row in rows}, dict(truth))


def check_memory(where, cycle, report):
    for row in report["rows"]:
        changes = [size for _, device, size in cycle.memory if device == row["device"]]
        if row["period"] != "recording":
            continue
        equal(where, f"change of {row['device']}", row["change_bytes"], sum(changes))
        equal(where, f"allocations of {row['device']}", row["allocations"],
              sum(size > 0 for size in changes))
        equal(where, f"frees of {row['device']}", row["frees"], sum(size < 0 for size in changes))
    equal(where, "devices", sorted({row["device"] for row in report["rows"]}),
          sorted({device for _, device, _ in cycle.memory}))
    if "copies" not in report.get("tables", {}):
        return
    rows = report["tables"]["copies"]["rows"]
    groups = cycle.by(lambda work: work.name)
    groups = {name: works for name, works in groups.items() if name.startswith("memcpy ")}
    check_groups(where, cycle, rows, "copy", groups, "time_ns")
    for row in rows:
        size = sum(work.bytes for work in groups[row["copy"]])
        sizes = [work.bytes for work in groups[row["copy"]]]
        equal(where, f"bytes of {row['copy']}", (row["bytes"], row["min_bytes"], row["max_bytes"]),
              (size, min(sizes), max(sizes)))
        near(where, f"bytes of a {row['copy']}", row["avg_bytes"], size / len(sizes), 0.5)
        equal(where, f"ends of {row['copy']}", (row["from"], row["to"]),
              COPY_ENDS[row["copy"].split()[1]])
        near(where, f"GB/s of {row['copy']}", row["gb_per_second"], size / row["time_ns"], 1e-9)


def check_facts(where, cycle, report):
    facts = report["facts"]
    if "self_cuda_total_ns" in facts:
        cycle.time(where, "self CUDA time total", facts["self_cuda_total_ns"], cycle.works)
    if "activities" in facts:
        equal(where, "activities", facts["activities"], len(cycle.works))
    losses = {name: count for name, count in report["provenance"]["losses"].items() if count}
    equal(where, "losses", losses, {})
    for name in "device_resolution_ns", "device_uncertainty_ns", "cost_ns", "wall_ns":
        near(where, name, report["provenance"].get(name), 5e14, 5e14 - 1e-3)
    equal(where, "backend", report["provenance"]["backend"].split(" (")[0],
          "CUPTI " + os.environ["TEST_CUPTI_VERSION"])


def check_reports(cycle, reports):
    groups = {"activities": ("activity", lambda work: work.name),
              "devices": ("device", lambda work: work.device)}
    for name, report in reports.items():
        where, rows = f"cycle {cycle.number}: {name}", report["rows"]
        check_facts(where, cycle, report)
        if name in groups:
            check_groups(where, cycle, rows, groups[name][0], cycle.by(groups[name][1]))
        elif name == "memory":
            check_memory(where, cycle, report)
        elif name == "summary":
            check_groups(where, cycle, report["tables"]["devices"]["rows"], "device",
                         cycle.by(lambda work: work.device))
        elif name == "steps":
            row = next(row for row in rows if row["steps"] == "recorded")
            near(where, "CUDA time", row["cuda_time_ns"], cycle.books.sum(cycle.works) / 2,
                 0.5 + cycle.books.slack(len(cycle.works)))
        elif name in CHECKS:
            CHECKS[name](where, cycle, rows)


CHECKS = {"scopes": check_scopes, "scopes.all": check_all_scopes, "tree": check_tree,
          "kernels": check_kernels, "api": check_api}


def union(intervals):
    busy, last = 0, -float("inf")
    for begin, end in sorted(intervals):
        busy += max(0, end - max(begin, last))
        last = max(end, last)
    return busy


def check_busy(cycle, reports):
    """With begins from the timeline, which check_rows() has compared."""
    def busy(works):
        return union((work.at, work.at + work.took) for work in works)
    for row in reports["scopes"]["rows"]:
        equal("busy", row["name"], row["cuda_busy_ns"],
              busy(work for work in cycle.works if row["name"] in work.path))
    wall = reports["summary"]["provenance"]["wall_ns"]
    for row in reports["summary"]["tables"]["devices"]["rows"]:
        inside = [(max(work.at, 0), min(work.at + work.took, wall)) for work in cycle.works
                  if work.device == row["device"] and work.at < wall]
        equal("busy", row["device"], row["busy_ns"], union(inside))


# ---- Rows of activities, from wherever -----------------------------------------------------------

Row = collections.namedtuple("Row", "begin ns device stream name launch thread path bytes")


def check_begins(where, cycle, works):
    """Everything behind a gate begins when the script says, counted from the gate's end."""
    uncertainty = 1 + 4 * cycle.uncertainty if any(cycle.books.drift) else 0
    gates = {(work.thread, work.step): work.at + work.took for work in cycle.works
             if work.name == "kernel gate"}
    for work in works:
        if work.begin is not None and work.name != "kernel gate":
            near(where, f"begin of {work.name} of {work.path} in step {work.step}",
                 work.at - gates[work.thread, work.step], cycle.books.ns(work.device, work.begin),
                 uncertainty)
    for before, work in zip(works, works[1:]):
        if (before.stream, before.device, before.step) == (work.stream, work.device, work.step) \
                and None not in (before.begin, work.begin):
            near(where, f"gap before {work.name} of {work.path}",
                 work.at - before.at - before.took, work.begin - before.end(), uncertainty)


def check_rows(where, cycle, rows):
    """Rows in the order of each stream against the books of the one thread that fills it."""
    streams = collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: row.begin):
        streams[row.device, row.stream].append(row)
    groups = cycle.by(lambda work: (work.device, work.stream))
    equal(where, "streams", sorted(streams), sorted(groups))
    launches = collections.defaultdict(set)
    for key, works in groups.items():
        equal(where, f"activities of {key}", len(streams[key]), len(works))
        for row, work in zip(streams[key], works):
            work.at, work.took = row.begin, row.ns
            here = f"{where}: {key}: {work.name} of step {work.step}"
            cycle.time(here, "duration", row.ns, [work])
            equal(here, "name", row.name, work.name)
            equal(here, "path", row.path[-len(work.path):] if len(row.path) == 1 else row.path,
                  work.path[-1:] if len(row.path) == 1 else work.path)
            equal(here, "thread", cycle.books.tids.get(row.thread), work.thread)
            equal(here, "bytes", row.bytes or 0, work.bytes)
            launches[row.launch].add(work.launch)
    if all(len(streams[key]) == len(works) for key, works in groups.items()):
        for works in groups.values():
            check_begins(where, cycle, works)
    equal(where, "activities whose launch is that of others",
          sum(len(found) != 1 for found in launches.values()), 0)
    equal(where, "launches", len(launches), len({work.launch for work in cycle.works}))


def timeline_rows(cycle, report):
    for row in report["rows"]:
        yield Row(row["begin_ns"], row["time_ns"], row["device"], row["stream"], row["activity"],
                  (row["correlation"], row["launch"]), row["thread"],
                  (row["scope"],) if row["scope"] else (), row["bytes"])


# ---- Perfetto -----------------------------------------------------------------------------------

class PerfettoFile:
    """Activities with the path of the call at the other end of their flow."""

    def __init__(self, path):
        self.sequences = collections.defaultdict(perfetto_totals.Sequence)
        self.about, self.keys = {}, collections.defaultdict(dict)
        self.calls, self.activities = {}, []
        self.twice = 0
        totals = perfetto_totals.Totals()
        for packet in perfetto_totals.read_messages(perfetto_totals.decode(path)):
            number = packet["trusted_packet_sequence_id"]
            number = number[0] if number else 0
            sequence = self.sequences[number]
            totals.describe(sequence, packet)
            self.describe(number, packet)
            for event in packet["track_event"]:
                self.place(number, sequence, event, sequence.time(packet))

    def describe(self, number, packet):
        for interned in packet["interned_data"]:
            for name in interned["debug_annotation_names"]:
                self.keys[number][name["iid"][0]] = name["name"][0]
        for takt in packet["takt"]:
            for track in takt["track"]:
                self.about[number] = track

    def place(self, number, sequence, event, time):
        kind = event["type"][0] if event["type"] else None
        about = self.about.get(number)
        if not about or about["kind"][0] not in ("THREAD", "STREAM"):
            return
        stack = sequence.open[0]
        if kind == "TYPE_SLICE_BEGIN":
            name = sequence.names[event["name_iid"][0]].decode()
            stack.append((name, time, event))
            self.begin_call(about, stack, event)
        elif kind == "TYPE_SLICE_END" and stack:
            name, begin, event = stack.pop()
            if about["kind"][0] == "STREAM":
                self.activities.append((about, name, begin, time - begin,
                                        self.annotations(number, event), event))

    def begin_call(self, about, stack, event):
        if about["kind"][0] != "THREAD" or not event["flow_ids"]:
            return
        self.twice += event["flow_ids"][0] in self.calls
        self.calls[event["flow_ids"][0]] = (about["thread_id"][0], stack[-1][0],
                                            tuple(name for name, _, _ in stack[:-1]))

    def annotations(self, number, event):
        values = {}
        for note in event["debug_annotations"]:
            if note["uint_value"]:
                values[self.keys[number][note["name_iid"][0]].decode()] = note["uint_value"][0]
        return values

    def rows(self, begin_ns):
        for about, name, begin, ns, notes, event in self.activities:
            flow = (event["flow_ids"] or event["terminating_flow_ids"] or [None])[0]
            thread, call, path = self.calls.get(flow, (None, None, ()))
            yield Row(begin - begin_ns, ns, about["name"][0].decode(), about["stream"][0], name,
                      (notes.get("correlation"), call), thread, path, notes.get("bytes"))


# ---- Chrome -------------------------------------------------------------------------------------

def ns_of(value):
    return int(Decimal(value) * 1000)


class ChromeFile:
    NAMES = {"gpu_memset": lambda name: "memset",
             "gpu_memcpy": lambda name: "memcpy " + name.split()[1],
             "kernel": lambda name: name if name.startswith("graph ") else
             "kernel " + re.sub(r"\(.*", "", name)}

    def __init__(self, path):
        with open(path) as file:
            self.events = json.load(file, parse_float=Decimal)["traceEvents"]
        slices = [event for event in self.events if event["ph"] == "X"]
        self.threads = collections.defaultdict(list)
        for event in slices:
            if event["cat"] == "cpu_op":
                begin = ns_of(event["ts"])
                self.threads[event["tid"]].append(
                    (begin, -begin - ns_of(event["dur"]), event["name"]))
        for row in self.threads.values():
            row.sort()
        self.calls = {event["args"]["correlation"]: event for event in slices
                      if event["cat"] in ("cuda_driver", "cuda_runtime")}
        self.work = [event for event in slices if event["cat"] in self.NAMES]

    def path_of(self, call):
        begin, end = ns_of(call["ts"]), ns_of(call["ts"]) + ns_of(call["dur"])
        row = self.threads[call["tid"]]
        around = row[:bisect.bisect_right(row, (begin, 0, ""))]
        return tuple(name for at, minus_end, name in around if at <= begin and -minus_end >= end)

    def rows(self):
        for event in self.work:
            call = self.calls.get(event["args"]["correlation"])
            yield Row(ns_of(event["ts"]), ns_of(event["dur"]), f"cuda:{event['pid']}",
                      event["args"]["stream"], self.NAMES[event["cat"]](event["name"]),
                      (event["args"]["correlation"], call and call["name"]),
                      call and call["tid"], self.path_of(call) if call else (),
                      event["args"].get("bytes"))

    def check_arrows(self, where):
        begins, ends = (sorted((event for event in self.events
                                if event["ph"] == phase and event["cat"] == "ac2g"),
                               key=lambda event: event["id"]) for phase in "sf")
        ids = [event["id"] for event in begins]
        equal(where, "ids of arrows", ids, sorted(set(ids)))
        equal(where, "ids of arrows' ends", [event["id"] for event in ends], ids)
        equal(where, "arrows from calls", [(event["tid"], event["ts"]) for event in begins],
              [(call["tid"], call["ts"]) for call in (self.calls[id % 2**32] for id in ids)])
        equal(where, "arrows to activities", collections.Counter(
            (event["id"] % 2**32, event["pid"], event["tid"], ns_of(event["ts"])) for event in ends),
            collections.Counter((event["args"]["correlation"], event["pid"], event["tid"],
                                 ns_of(event["ts"]) + (ns_of(event["dur"]) > 1))
                                for event in self.work))


# ---- Timers and texts ---------------------------------------------------------------------------

def check_timers(folder, books):
    """Lists of timers: what each thread's timer was to see, of all threads."""
    lists = collections.defaultdict(list), collections.defaultdict(list)
    with open(folder + "/timers") as file:
        for line in file:
            _, step, timer, device, name, ns = line.rstrip("\n").split("\t")
            lists[0][timer, step].append((device, name, int(ns)))
    for step, timer, device, name, ns in books.listed:
        lists[1][timer, str(step)].append((device, name, ns))
    equal("timers", "names", sorted(lists[0]), sorted(lists[1]))
    for key, truth in lists[1].items():
        got = sorted(lists[0][key])
        equal(f"timer {key}", "activities", [row[:2] for row in got],
              [row[:2] for row in sorted(truth)])
        for row, known in zip(got, sorted(truth)):
            near(f"timer {key}", row[1], row[2], books.ns(known[0], known[2]), books.slack(1))


PROVENANCE = {
    "backend": r"backend CUPTI 1[23]\.\d \(\d+\)",
    "resolution": r"device times: resolution [\d.]+ ns",
    "uncertainty": r"device times: resolution [\d.]+ ns, uncertainty [\d.]+ ns",
    "losses": r"dropped 0; device dropped 0; incomplete 0; unattributed 0",
    "cost": r"Takt's cost [\d.]+ ?(ns|us|ms|s) \([\d.]+% of wall time\)",
}


def check_texts(folder):
    for path in glob.glob(folder + "/[01].*"):
        with open(path, newline="") as file:
            text = file.read()
        if path.endswith((".txt", ".md")):
            last = re.sub(r"\s+", " ", text[text.rindex("backend "):])
            for name, pattern in PROVENANCE.items():
                equal(path, f"{name} in '{last}'", bool(re.search(pattern, last)), True)
        elif path.endswith(".csv"):
            widths = {len(row) for table in text.split("\r\n\r\n" if "\r" in text else "\n\n")
                      for row in list(csv.reader(table.splitlines()))[:1]}
            equal(path, "has columns", 0 not in widths, True)


def check_csv(folder, number, reports):
    """The first table's numbers are those of JSON."""
    for name in "scopes", "tree", "kernels", "activities", "devices", "api":
        with open(f"{folder}/{number}.{name}.csv", newline="") as file:
            rows = list(csv.DictReader(file))[:len(reports[name]["rows"])]
        same = [{key: "" if value is None else str(value) for key, value in row.items()}
                for row in reports[name]["rows"]]
        floats = {key for row in reports[name]["rows"] for key, value in row.items()
                  if isinstance(value, float)}
        for got, truth in zip(rows, same):
            equal(f"{name}.csv", "row", {key: got.get(key) for key in truth if key not in floats},
                  {key: value for key, value in truth.items() if key not in floats})
        equal(f"{name}.csv", "rows", len(rows), len(same))


# ---- A cycle ------------------------------------------------------------------------------------

def read_reports(folder, number):
    reports = {}
    for path in glob.glob(f"{folder}/{number}.*.json"):
        with open(path) as file:
            name = os.path.basename(path)[2:-5]
            reports[name] = json.load(file)
        if name == "scopes.all" or "." not in name:
            columns.watch(name, reports[name])
    return reports


def check_file(takt, folder, number, reports):
    """The command, reading the trace, says what the program said, to the byte."""
    trace = f"{folder}/out/truth.{number}.pftrace"
    for name in reports:
        report, _, is_all = name.partition(".")
        command = [takt, "report", f"--{report}", "--json", "--rows", "all", trace]
        done = subprocess.run(command + ["--all"] * bool(is_all), stdout=subprocess.PIPE,
                              check=True)
        with open(f"{folder}/{number}.{name}.json", "rb") as file:
            equal(f"takt report --{name}", "output", done.stdout == file.read(), True)


def check_cycle(takt, folder, books, number, mode):
    has_spans = mode != "summary"
    cycle = Cycle(books, number, has_spans)
    reports = read_reports(folder, number)
    wanted = {"summary", "scopes", "scopes.all", "tree", "activities", "devices", "kernels", "api",
              "steps", "memory", "ops"} | ({"timeline", "launches", "gaps"} if has_spans else set())
    equal(f"cycle {number}", "reports", {name for name in reports
                                         if "." not in name or name == "scopes.all"}, wanted)
    check_reports(cycle, reports)
    truth_kernels.check(equal, near, cycle, reports)
    check_csv(folder, number, reports)
    check_file(takt, folder, number, reports)
    if not has_spans:
        return
    cycle.uncertainty = reports["timeline"]["provenance"]["device_uncertainty_ns"]
    file = PerfettoFile(f"{folder}/out/truth.{number}.pftrace")
    equal("perfetto", "calls with the flow of another", file.twice, 0)
    check_rows(f"perfetto {number}", cycle, list(file.rows(0)))
    chrome = ChromeFile(f"{folder}/out/truth.{number}.trace.json")
    check_rows(f"chrome {number}", cycle, list(chrome.rows()))
    chrome.check_arrows(f"chrome {number}")
    check_rows(f"timeline {number}", cycle, list(timeline_rows(cycle, reports["timeline"])))
    check_busy(cycle, reports)
    zero, devices = truth_gaps.check(equal, near, cycle, chrome, ns_of, reports,
                                     reports["timeline"]["rows"])
    if mode == "trace":
        truth_host.check(equal, near, cycle, chrome, ns_of, reports, zero, devices)


def main(takt, folder, mode, graph, *drift):
    books = Books(folder, graph, [int(value) for value in drift] or [0, 0])
    for number in CYCLES:
        check_cycle(takt, folder, books, number, mode)
    if mode == "trace":
        equal("columns", "compared with nothing", columns.unused(), [])
    check_timers(folder, books)
    check_texts(folder)
    print("\n".join(failures[:25]) or f"{comparisons} comparisons")
    if len(failures) > 25:
        print(f"... and {len(failures) - 25} more")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
