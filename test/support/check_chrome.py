#!/usr/bin/env python3
"""Checks Chrome JSON files for everything that its readers expect.

    check_chrome.py FILE...
    check_chrome.py --list      prints the checks and which reader needs them
    check_chrome.py             checks itself: each check must find what is made to break it

Each rule is a check of its own, named in the output. Exits 1 if one fails. Written apart from the
exporter: it knows the format from Kineto's, TensorBoard's and Holistic Trace Analysis' sources.
"""
import gzip
import json
import math
import os
import re
import sys
from collections import defaultdict

CHECKS = []

# What TensorBoard's PyTorch plugin and Holistic Trace Analysis know; others are ignored by them.
DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset"}
CALL_CATEGORIES = {"cuda_runtime", "cuda_driver"}
KNOWN_X_CATEGORIES = DEVICE_CATEGORIES | CALL_CATEGORIES | {
    "cpu_op", "user_annotation", "gpu_user_annotation", "cuda_sync", "overhead"}
PHASES = {"X", "M", "i", "C", "s", "f"}
WEEK_NS = 7 * 24 * 3600 * 1000000000


class Number(str):
    """A JSON number with a point or an exponent, as it is written."""


class Problem(Exception):
    pass


def check(description):
    def add(function):
        CHECKS.append((function.__name__, description, function))
        return function

    return add


def need(condition, *what):
    if not condition:
        raise Problem(" ".join(str(word) for word in what))


def pairs_without_duplicates(pairs):
    keys = [key for key, _ in pairs]
    need(len(keys) == len(set(keys)), "a key occurs twice:", keys)
    return dict(pairs)


def refuse_constant(name):
    raise Problem(f"{name} is not JSON")


def read(path):
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        return file.read()


class Trace:
    def __init__(self, path, data):
        self.path = path
        self.bytes = data
        self.text = self.bytes.decode("utf-8", "strict")
        self.json = json.loads(
            self.text,
            parse_float=Number,
            parse_constant=refuse_constant,
            object_pairs_hook=pairs_without_duplicates,
        )
        self.events = self.json["traceEvents"]

    def phase(self, *phases):
        return [event for event in self.events if event.get("ph") in phases]


def ns(number):
    """Microseconds with three decimals or more as whole nanoseconds, rounded without a double."""
    whole, decimals = str(number).split(".")
    unit = 10 ** len(decimals)
    return int(whole) * 1000 + (int(decimals) * 2000 + unit) // (2 * unit)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def strings_of(value):
    if isinstance(value, Number):
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)


@check("no surrogate is left alone, so that every string is Unicode (Perfetto)")
def unicode_strings(trace):
    for string in strings_of(trace.json):
        string.encode("utf-8")


@check("no control character stands in the file but line feeds (Perfetto refuses them)")
def no_raw_control_characters(trace):
    found = re.search(rb"[\x00-\x09\x0b-\x1f]", trace.bytes)
    need(not found, "at byte", found and found.start())


@check("the keys of Kineto's header, in its order")
def header_keys(trace):
    keys = list(trace.json)
    wanted = ["schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
              "traceEvents", "traceName"]
    need([key for key in keys if key in wanted] == wanted, "keys are", keys)


@check("the values of Kineto's header; of another unit chrome://tracing would warn")
def header_values(trace):
    need(trace.json["schemaVersion"] == 1, "schemaVersion", trace.json["schemaVersion"])
    need(isinstance(trace.json["deviceProperties"], list), "deviceProperties is no list")
    need(trace.json["displayTimeUnit"] == "ms", "displayTimeUnit")
    need(isinstance(trace.json["traceName"], str), "traceName")


@check("times count from the begin of a week, so that traces line up")
def base_time(trace):
    base = trace.json["baseTimeNanoseconds"]
    need(is_integer(base) and base % WEEK_NS == 0, "baseTimeNanoseconds", base)


@check('"rank": N with a blank, alone found by a search line by line (Holistic Trace Analysis)')
def rank_line(trace):
    lines = [line for line in trace.text.split("\n") if re.search(r'"rank":\s+(\d+)', line)]
    need(len(lines) == 1, len(lines), "lines have a rank")
    need(is_integer(trace.json["distributedInfo"]["rank"]), "distributedInfo.rank")


@check("the rank stands beside the process' name, and in distributedInfo as itself, or as the number "
       "of a device's own file (Holistic Trace Analysis takes one file a rank)")
def rank_label(trace):
    takt, shown = trace.json["takt"], trace.json["distributedInfo"]
    rank, size = takt["process_rank"], takt["processes"]
    labels = [label for label in metadata(trace, "process_labels", "labels").values()
              if label.startswith("CPU")]
    text = f", rank {rank}" + (f" of {size}" if size > 1 else "")
    wanted = text if size > 1 or rank else "rank"
    need(all((wanted in label) == (wanted == text) for label in labels), labels)
    devices = max(1, len(trace.json["deviceProperties"]))
    need(shown["rank"] == rank or shown["rank"] // devices == rank, shown)
    need(shown["rank"] < shown["world_size"], shown)


@check("Takt's own header names version, run, backend, clock and every cause of loss")
def provenance(trace):
    takt = trace.json["takt"]
    for key in ("version", "run", "backend", "clock"):
        need(isinstance(takt[key], str), key)
    need(is_integer(takt["part"]) and takt["part"] >= 1, "part")
    need(takt["losses"] and all(is_integer(n) for n in takt["losses"].values()), "losses")


@check("every event has a phase that is known, and a name (TensorBoard reads all names)")
def phases_and_names(trace):
    for event in trace.events:
        need(event.get("ph") in PHASES, "phase of", event)
        need(isinstance(event.get("name"), str), "name of", event)


@check("every event has an integer pid and tid (TensorBoard, Holistic Trace Analysis)")
def integer_places(trace):
    for event in trace.events:
        need(is_integer(event.get("pid")) and is_integer(event.get("tid")), event)
        need(0 <= event["tid"] < 2**31, "tid of", event)


@check("every slice has a category that readers know (TensorBoard crashes without)")
def slice_categories(trace):
    for event in trace.phase("X"):
        need(event.get("cat") in KNOWN_X_CATEGORIES, event)


@check("times are microseconds with three decimals, durations may have more, and none is negative "
       "(Perfetto drops those)")
def times(trace):
    for event in trace.phase("X", "i", "C", "s", "f"):
        for key in ("ts", "dur") if event["ph"] == "X" else ("ts",):
            value = event.get(key)
            decimals = "{3}" if key == "ts" else "{3,17}"
            need(isinstance(value, Number) and
                 re.fullmatch(rf"(0|[1-9]\d*)\.\d{decimals}", value),
                 key, value, "of", event)


@check("a double holds each time to the nanosecond, as all readers parse it")
def times_as_doubles(trace):
    for event in trace.phase("X", "i", "C", "s", "f"):
        need(round(float(event["ts"]) * 1000) == ns(event["ts"]), event)
        if event["ph"] == "X":
            need(round(float(event["dur"]) * 1000) == ns(event["dur"]), event)


@check("slices of one row nest (Perfetto drops those that overlap partly)")
def nesting(trace):
    rows = defaultdict(list)
    for event in trace.phase("X"):
        begin = ns(event["ts"])
        rows[event["pid"], event["tid"]].append((begin, -(begin + ns(event["dur"])), event))
    for row in rows.values():
        row.sort(key=lambda slice: slice[:2])
        ends = []
        for begin, end, event in row:
            while ends and ends[-1] <= begin:
                ends.pop()
            need(not ends or -end <= ends[-1], event, "overlaps")
            ends.append(-end)


@check("slices nest as doubles as they do in nanoseconds: no sum of ts and dur passes the next begin "
       "or the end of the slice around it (torch_tb_profiler, OpTreeBuilder._build_tree_internal, "
       "drops a slice that does: 'ranges on the same thread should not intersect')")
def nesting_as_doubles(trace):
    rows = defaultdict(list)
    for event in trace.phase("X"):
        begin, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
        rows[event["pid"], event["tid"]].append(
            (begin, -end, float(event["ts"]), float(event["ts"]) + float(event["dur"]), event))
    for row in rows.values():
        row.sort(key=lambda slice: slice[:2])
        open_ends = []
        for begin, end, begin_us, end_us, event in row:
            while open_ends and open_ends[-1][0] <= begin:
                need(open_ends.pop()[1] <= begin_us, event, "begins before the one before it ends")
            need(not open_ends or end_us <= open_ends[-1][1], event, "passes the one around it")
            open_ends.append((-end, end_us))


@check("parents stand before their children where they begin together (chrome://tracing)")
def parents_first(trace):
    last = {}
    for event in trace.phase("X"):
        row = event["pid"], event["tid"]
        begin, duration = ns(event["ts"]), ns(event["dur"])
        if row in last and begin == last[row][0] and last[row][1] > 0:
            need(duration <= last[row][1], event, "stands behind its child")
        last[row] = begin, duration


def metadata(trace, name, key):
    found = {}
    for event in trace.phase("M"):
        if event["name"] == name:
            row = event["pid"], event["tid"]
            need(row not in found, name, "occurs twice for", row)
            found[row] = event["args"][key]
    return found


def device_pids(trace):
    """Processes that stand for devices."""
    labels = metadata(trace, "process_labels", "labels")
    return {row[0] for row, label in labels.items() if label.startswith("GPU ")}


@check("one process, and one for each device below 64, with name, labels and sort index")
def process_rows(trace):
    rows = [set(metadata(trace, name, key)) for name, key in (
        ("process_name", "name"), ("process_labels", "labels"),
        ("process_sort_index", "sort_index"))]
    need(rows[0] == rows[1] == rows[2], "rows differ:", rows)
    devices = device_pids(trace)
    need(all(0 <= pid < 64 for pid in devices), "devices", devices)
    pids = {row[0] for row in rows[0]}
    need({event["pid"] for event in trace.events} <= pids, "pids without a row")
    need(len(pids - devices) == 1, "processes", pids - devices)
    labels = metadata(trace, "process_labels", "labels")
    for (pid, _), label in labels.items():
        need(label == f"GPU {pid}" if pid in devices else label.startswith("CPU"), label)
    orders = metadata(trace, "process_sort_index", "sort_index")
    of_cpu = max((n for (pid, _), n in orders.items() if pid not in devices), default=0)
    need(all(n >= 5000000 or n > of_cpu for (pid, _), n in orders.items() if pid in devices),
         "devices stand above the process")


@check("what devices did stands in their process, and has integer stream and correlation (HTA)")
def device_slices(trace):
    devices = device_pids(trace)
    names = metadata(trace, "thread_name", "name")
    for event in trace.phase("X"):
        args = event.get("args", {})
        on_device = event["cat"] in DEVICE_CATEGORIES
        need(event["pid"] in devices
             if on_device or event["cat"] in ("cuda_sync", "gpu_user_annotation")
             else event["pid"] not in devices, event)
        if not on_device:
            continue
        need(args["device"] == event["pid"], event)
        need(is_integer(args["stream"]) and args["stream"] > 0, "stream of", event)
        need(is_integer(args["correlation"]) and is_integer(args["context"]), event)
        name = names[event["pid"], event["tid"]]
        need(re.fullmatch(rf"stream {args['stream']}( \(\d+\))?", name), name, event)


@check("kernels, copies and sets have Kineto's arguments (TensorBoard's kernel view)")
def device_arguments(trace):
    for event in trace.phase("X"):
        args = event.get("args", {})
        if event["cat"] == "kernel" and "grid" in args:
            for key in ("registers per thread", "shared memory"):
                need(is_integer(args[key]), key, "of", event)
            for key in ("grid", "block"):
                need(len(args[key]) == 3 and all(is_integer(n) and n > 0 for n in args[key]), event)
            percent = args.get("est. achieved occupancy %", 0)
            need(is_integer(percent) and 0 <= percent <= 100, event)
        if event["cat"] in ("gpu_memcpy", "gpu_memset") and "bytes" in args:
            need(is_integer(args["bytes"]), event)
            duration = ns(event["dur"])
            if duration:
                rate = float(args["memory bandwidth (GB/s)"])
                need(math.isclose(rate, args["bytes"] / duration, rel_tol=1e-9), event)
            pattern = (r"Memcpy \w+ \([\w ]+ -> [\w ]+\)" if event["cat"] == "gpu_memcpy"
                       else r"Memset \([\w ]+\)")
            need(re.fullmatch(pattern, event["name"]) or ">" not in event["name"], event)


@check("devices are described, with the fields that TensorBoard's overview needs")
def device_properties(trace):
    found = trace.json["deviceProperties"]
    for device in found:
        need(isinstance(device["name"], str), device)
        for key in ("id", "totalGlobalMem", "computeMajor", "computeMinor", "maxThreadsPerBlock",
                    "maxThreadsPerMultiprocessor", "regsPerBlock", "warpSize", "sharedMemPerBlock",
                    "numSms", "regsPerMultiprocessor", "sharedMemPerBlockOptin",
                    "sharedMemPerMultiprocessor"):
            need(is_integer(device[key]), key, "of", device)
    ids = [device["id"] for device in found]
    need(len(ids) == len(set(ids)), "two devices have one id:", ids)


@check("arrows lead from calls to what they launched: the low half of an id, which is of one arrow, "
       "is the correlation (Kineto's ac2g; chrome://tracing ends an id's arrow once, and at the one "
       "before where two meet)")
def arrows(trace):
    starts, ends = {}, set()
    for event in trace.phase("s"):
        if event["cat"] == "ac2g":
            need(event["id"] not in starts, "two arrows begin as", event["id"])
            starts[event["id"]] = event
    calls = {(e["pid"], e["tid"], e["ts"], e["args"].get("correlation")) for e in trace.phase("X")
             if e["cat"] in CALL_CATEGORIES and "args" in e}
    works = {(e["pid"], e["tid"], ns(e["ts"]) + (ns(e["dur"]) > 1), e["args"]["correlation"])
             for e in trace.phase("X") if e["cat"] in DEVICE_CATEGORIES}
    for event in starts.values():
        need((event["pid"], event["tid"], event["ts"], event["id"] % 2**32) in calls or
             trace.json["takt"]["part"] > 1, event, "leads from no call")
    for event in trace.phase("f"):
        if event["cat"] == "ac2g":
            need((event["pid"], event["tid"], ns(event["ts"]), event["id"] % 2**32) in works, event)
            need(event.get("bp") == "e", event)
            need(event["id"] not in ends, "two arrows end as", event["id"])
            ends.add(event["id"])
    need(starts.keys() == ends, "arrows without a begin or an end:", starts.keys() ^ ends)


@check("waits are synchronisations as Kineto calls them")
def waits(trace):
    for event in trace.phase("X"):
        if event["cat"] == "cuda_sync":
            need(event["args"]["cuda_sync_kind"] == event["name"], event)
            stream = event["args"]["stream"]
            need(is_integer(stream) and stream != 0, event)


EVENT_FIELDS = ("wait_on_stream", "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_id")
RECORDS = {"cudaEventRecord", "cudaEventRecordWithFlags", "cuEventRecord",
           "cuEventRecordWithFlags"}


@check("waits for an event name it and the call that recorded it, before the waiting call and on one "
       "stream (Holistic Trace Analysis, CriticalPathAnalysis._get_cuda_event_to_stream_df merges "
       "one to one; torch.profiler._trace_validator, _check_stream_wait_corr_id_in_past)")
def event_waits(trace):
    calls = {e["args"]["correlation"]: e for e in trace.phase("X")
             if e["cat"] in CALL_CATEGORIES and "correlation" in e.get("args", {})}
    streams = {}
    for event in trace.phase("X"):
        args = event.get("args", {})
        if event["cat"] != "cuda_sync" or event["name"] not in ("Stream Wait Event", "Event Sync"):
            need(not set(EVENT_FIELDS) & set(args), event, "has fields of a wait for an event")
            continue
        stream, record, number = (args.get(key) for key in EVENT_FIELDS)
        need(is_integer(stream) and is_integer(record) and is_integer(number), event)
        need((stream > 0 and record > 0 and number > 0) or (stream, record) == (-1, -1), event)
        if record == -1:
            continue
        need(streams.setdefault(record, (stream, number)) == (stream, number),
             "two streams or events of record", record)
        call, waiting = calls.get(record), calls.get(args["correlation"])
        need(call is None or call["name"] in RECORDS, event, "is for", call)
        need(not call or not waiting or ns(call["ts"]) <= ns(waiting["ts"]) + ns(waiting["dur"]),
             event, "is for a later record")


def parents(trace):
    """Pairs of a slice of a thread and the innermost operator around it, or None."""
    rows = defaultdict(list)
    for event in trace.phase("X"):
        if event["cat"] in CALL_CATEGORIES | {"cpu_op"}:
            begin = ns(event["ts"])
            rows[event["pid"], event["tid"]].append((begin, -begin - ns(event["dur"]), event))
    for row in rows.values():
        row.sort(key=lambda slice: slice[:2])
        around = []
        for begin, end, event in row:
            while around and (around[-1][0] <= begin or around[-1][0] < -end):
                around.pop()
            yield event, next((e for _, e in reversed(around) if e["cat"] == "cpu_op"), None)
            around.append((-end, event))


@check("External id links a scope, the calls directly in it and their work, and is 0 outside of "
       "scopes (torch_tb_profiler, NodeParserMixin.parse_nodes gives calls to the operator with "
       "their id, those without one to any operator without, and warns where work has another)")
def external_ids(trace):
    owners, calls, is_first = {}, {}, trace.json["takt"]["part"] == 1
    for event in trace.phase("X"):
        number = event.get("args", {}).get("External id")
        if event["cat"] == "cpu_op" and number is not None:
            need(is_integer(number) and number > 0 and number not in owners, event)
            owners[number] = event
        elif event["cat"] in CALL_CATEGORIES and "correlation" in event["args"]:
            calls[event["args"]["correlation"]] = number
    for event, parent in parents(trace):
        if event["cat"] in CALL_CATEGORIES:
            number = event["args"].get("External id")
            need(is_integer(number) and number >= 0, event)
            need(parent is not None or number == 0 or not is_first, event, "is in no scope")
            need(parent is None or parent.get("args", {}).get("External id") == number,
                 event, "has another id than", parent)
    for event in trace.phase("X"):
        if event["cat"] in DEVICE_CATEGORIES:
            number = event["args"].get("External id")
            need(is_integer(number), event)
            need(calls.get(event["args"]["correlation"], number) == number, event)


@check("every row has a name and a sort index of its own, in this very file")
def thread_rows(trace):
    names = metadata(trace, "thread_name", "name")
    orders = metadata(trace, "thread_sort_index", "sort_index")
    used = {(event["pid"], event["tid"]) for event in trace.phase("X", "i", "s", "f")}
    need(used <= set(names), "no name for", used - set(names))
    need(set(names) == set(orders), "names and sort indices differ")
    need(all(names.values()), "an empty name")
    need(len(set(orders.values())) == len(orders), "sort indices are not unique")


@check("steps are annotations ProfilerStep#N on one row, one after the other")
def steps(trace):
    found = [e for e in trace.phase("X") if e["name"].startswith("ProfilerStep")]
    end, number = 0, -1
    for step in found:
        match = re.fullmatch(r"ProfilerStep#(\d+)", step["name"])
        need(match and step["cat"] == "user_annotation", step)
        need(int(match[1]) > number and ns(step["ts"]) >= end, step, "is out of order")
        end, number = ns(step["ts"]) + ns(step["dur"]), int(match[1])
    need(len({step["tid"] for step in found}) <= 1, "steps are on several rows")


@check("threads' slices are operators, those of other rows are not (TensorBoard's tables)")
def operators(trace):
    names = metadata(trace, "thread_name", "name")
    for event in trace.phase("X"):
        is_thread = re.match(r"thread \d+", names[event["pid"], event["tid"]]) is not None
        need((event["cat"] in CALL_CATEGORIES | {"cpu_op"}) == is_thread, event)


@check("timers inside kernels: blocks on rows of SMs, with the phases inside, and their numbers")
def kernel_phases(trace):
    names = metadata(trace, "thread_name", "name")
    ends = {}
    for event in trace.phase("X"):
        row = event["pid"], event["tid"]
        if not re.fullmatch(r"SM \d+( \(\d+\))?", names[row]):
            need(event["cat"] != "gpu_user_annotation", event)
            continue
        need(event["cat"] in ("gpu_user_annotation", "user_annotation"), event)
        args = event["args"]
        is_block = "cycles" not in args
        for key in ("block", "lane", "lost") if is_block else ("block", "lane", "iteration"):
            need(is_integer(args.get(key)), key, "of", event)
        begin = ns(event["ts"])
        end = begin + ns(event["dur"])
        need(begin >= ends.get(row, 0) if is_block else end <= ends.get(row, end), event)
        if is_block:
            ends[row] = end


@check("counters have one finite number each")
def counters(trace):
    for event in trace.phase("C"):
        values = list(event["args"].values())
        need(len(values) == 1, event)
        need(is_integer(values[0]) or
             isinstance(values[0], Number) and math.isfinite(float(values[0])), event)


@check("instants have a scope")
def instants(trace):
    for event in trace.phase("i"):
        need(event.get("s") in ("g", "p", "t"), event)


@check("reported memory is torch's [memory] instant and a counter (TensorBoard's memory view)")
def memory(trace):
    found = [event for event in trace.phase("i") if event["name"] == "[memory]"]
    for event in found:
        for key in ("Addr", "Bytes", "Total Allocated", "Total Reserved", "Device Type",
                    "Device Id"):
            need(is_integer(event["args"].get(key)), key, "of", event)
        kind, number = event["args"]["Device Type"], event["args"]["Device Id"]
        need((kind, number) == (0, -1) or kind == 1 and 0 <= number < 64, event)
    totals = [e["args"]["Total Allocated"] for e in found if e["args"]["Device Type"] == 0]
    counted = [e["args"]["bytes"] for e in trace.phase("C") if e["name"] == "host memory"]
    pinned = any(e["name"].endswith(" Pinned memory") for e in trace.phase("C"))
    need(pinned or totals == counted, "instants and counters differ")


@check("flows have category, name and a hexadecimal id, and end at the slice around them")
def flows(trace):
    for event in trace.phase("s", "f"):
        if event["cat"] == "ac2g":
            continue
        need(re.fullmatch(r"0x[0-9a-f]{1,16}", event.get("id", "")), event)
        need(event["cat"] == "flow" and event["name"] == "flow", event)
        need(event.get("bp") == ("e" if event["ph"] == "f" else None), event)


@check("nothing of the CPU has a stream or correlation but calls, or it were a GPU's (HTA)")
def no_device_arguments(trace):
    for event in trace.phase("X"):
        args = event.get("args", {})
        need(isinstance(args, dict), event)
        if event["cat"] in DEVICE_CATEGORIES | {"cuda_sync"}:
            continue
        if event["cat"] in CALL_CATEGORIES:
            need("correlation" not in args or is_integer(args["correlation"]), event)
        else:
            need("correlation" not in args, event)
        need("stream" not in args, event)


@check("the recorded window is marked; its end is the last event (Kineto)")
def window(trace):
    starts = [e for e in trace.phase("i") if e["name"].startswith("Iteration Start:")]
    need(len(starts) == 1, len(starts), "starts")
    last = trace.events[-1]
    need(last["ph"] == "i" and last["name"] == "Record Window End", last)
    need(ns(starts[0]["ts"]) <= ns(last["ts"]), "the window ends before it starts")


@check("a .pt.trace.json file has a name from which worker and time can be told (TensorBoard)")
def torch_file_name(trace):
    name = os.path.basename(trace.path)
    if ".pt.trace.json" in name:
        match = re.fullmatch(r"(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?", name)
        need(match and match[2] and re.fullmatch(r".*_\d+", match[1]), name)


def check_trace(path, data):
    try:
        trace = Trace(path, data)
    except (ValueError, KeyError, Problem) as error:
        return [("json", f"{type(error).__name__}: {error}")]
    failures = []
    for name, _, function in CHECKS:
        try:
            function(trace)
        except (Problem, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            failures.append((name, f"{type(error).__name__}: {error}"[:400]))
    return failures


GOOD = """{
"schemaVersion": 1,
"deviceProperties": [{"id": 0, "name": "d", "totalGlobalMem": 1, "computeMajor": 9,
"computeMinor": 0, "maxThreadsPerBlock": 1, "maxThreadsPerMultiprocessor": 1, "regsPerBlock": 1,
"warpSize": 32, "sharedMemPerBlock": 1, "numSms": 1, "regsPerMultiprocessor": 1,
"sharedMemPerBlockOptin": 1, "sharedMemPerMultiprocessor": 1}],
"distributedInfo": {"backend": "none", "rank": 0, "world_size": 1},
"takt": {"version": "1", "run": "r", "backend": "none", "clock": "tsc", "part": 1,
"process_rank": 0, "processes": 1, "losses": {"dropped": 0}},
"displayTimeUnit": "ms",
"baseTimeNanoseconds": 604800000000000,
"traceEvents": [
{"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"r"}},
{"ph":"M","name":"process_labels","pid":9,"tid":0,"args":{"labels":"CPU"}},
{"ph":"M","name":"process_sort_index","pid":9,"tid":0,"args":{"sort_index":9}},
{"ph":"M","name":"thread_name","pid":9,"tid":1000,"args":{"name":"steps"}},
{"ph":"M","name":"thread_sort_index","pid":9,"tid":1000,"args":{"sort_index":-1}},
{"ph":"M","name":"thread_name","pid":9,"tid":9,"args":{"name":"thread 9"}},
{"ph":"M","name":"thread_sort_index","pid":9,"tid":9,"args":{"sort_index":0}},
{"ph":"i","s":"g","name":"Iteration Start: r","pid":9,"tid":1000,"ts":1.000},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":9,"tid":1000,"ts":1.000,
 "dur":9.000},
{"ph":"X","cat":"cpu_op","name":"outer","pid":9,"tid":9,"ts":1.000,"dur":5.000},
{"ph":"X","cat":"cpu_op","name":"inner","pid":9,"tid":9,"ts":1.000,"dur":4.000,"args":{"n":1}},
{"ph":"C","name":"c","pid":9,"tid":9,"ts":2.000,"args":{"value":1.5}},
{"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":2.000,"args":{"Device Type":0,
 "Device Id":-1,"Addr":1,"Bytes":8,"Total Allocated":8,"Total Reserved":0}},
{"ph":"C","name":"host memory","pid":9,"tid":9,"ts":2.000,"args":{"bytes":8}},
{"ph":"s","cat":"flow","name":"flow","id":"0x1","pid":9,"tid":9,"ts":2.000},
{"ph":"f","bp":"e","cat":"flow","name":"flow","id":"0x1","pid":9,"tid":9,"ts":3.000},
{"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"r"}},
{"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}},
{"ph":"M","name":"process_sort_index","pid":0,"tid":0,"args":{"sort_index":5000000}},
{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}},
{"ph":"M","name":"thread_sort_index","pid":0,"tid":7,"args":{"sort_index":1}},
{"ph":"M","name":"thread_name","pid":0,"tid":1002,"args":{"name":"waits"}},
{"ph":"M","name":"thread_sort_index","pid":0,"tid":1002,"args":{"sort_index":2}},
{"ph":"X","cat":"cpu_op","name":"launcher","pid":9,"tid":9,"ts":6.900,"dur":1.000,
 "args":{"External id":5}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":7.000,"dur":0.500,
 "args":{"External id":5,"correlation":3}},
{"ph":"X","cat":"cuda_runtime","name":"cudaEventRecord","pid":9,"tid":9,"ts":7.950,"dur":0.010,
 "args":{"External id":0,"correlation":6}},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamWaitEvent","pid":9,"tid":9,"ts":7.970,"dur":0.010,
 "args":{"External id":0,"correlation":7}},
{"ph":"s","cat":"ac2g","name":"ac2g","id":3,"pid":9,"tid":9,"ts":7.000},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":8.000,"dur":0.250,"args":{
 "External id":5,"device":0,"context":1,"stream":7,"correlation":3,"registers per thread":32,"shared memory":0,
 "grid":[1,2,3],"block":[4,1,1],"est. achieved occupancy %":50}},
{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":3,"pid":0,"tid":7,"ts":8.001},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,
 "ts":8.500,"dur":0.010,"args":{"External id":0,"device":0,"context":1,"stream":7,
 "correlation":4,"bytes":20,
 "memory bandwidth (GB/s)":2.0}},
{"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":1002,"ts":8.100,"dur":0.100,
 "args":{"cuda_sync_kind":"Stream Sync","stream":7,"correlation":5}},
{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":1002,"ts":8.300,"dur":0.000,
 "args":{"cuda_sync_kind":"Stream Wait Event","stream":13,"correlation":7,"wait_on_stream":7,
 "wait_on_cuda_event_record_corr_id":6,"wait_on_cuda_event_id":1}},
{"ph":"M","name":"thread_name","pid":0,"tid":1003,"args":{"name":"SM 4 (2)"}},
{"ph":"M","name":"thread_sort_index","pid":0,"tid":1003,"args":{"sort_index":3}},
{"ph":"X","cat":"gpu_user_annotation","name":"k","pid":0,"tid":1003,"ts":8.000,"dur":0.200,
 "args":{"block":6,"lane":0,"lost":0}},
{"ph":"X","cat":"gpu_user_annotation","name":"search","pid":0,"tid":1003,"ts":8.000,"dur":0.150,
 "args":{"block":6,"lane":0,"iteration":2,"cycles":300}},
{"ph":"i","s":"g","name":"Record Window End","pid":9,"tid":1000,"ts":9.000}
],
"traceName": "r.0"
}
"""

# A check, and edits that each must make it fail.
BREAKS = [
    ("json", ('"tsc"', '"tsc"x'), ('"n":1', '"n":NaN'), ('"n":1', '"n":1,"n":2'), ("tsc", "\xff")),
    ("unicode_strings", ("outer", "\\ud800")),
    ("no_raw_control_characters", ("{\n", "{\t\n")),
    ("header_keys", ('"schemaVersion": 1,', ""), ('"traceName"', '"tracename"')),
    ("header_values", ('"schemaVersion": 1', '"schemaVersion": 2'), ('"ms"', '"ns"')),
    ("base_time", ("604800000000000", "604800000000001")),
    ("rank_line", ('"rank": 0', '"rank":0'), ('"rank": 0', '"rang": 0')),
    ("rank_label", ('_rank": 0, "processes": 1', '_rank": 3, "processes": 8'),
     ('"labels":"CPU"', '"labels":"CPU, rank 1"'), ('"processes": 1, ', ''),
     ('"rank": 0, "world_size": 1}', '"rank": 1, "world_size": 1}')),
    ("provenance", ('"dropped": 0', '"dropped": "0"'), ('"clock": "tsc"', '"clock": 1')),
    ("phases_and_names", ('"ph":"C"', '"ph":"Q"'), ('"name":"inner"', '"nom":"inner"')),
    ("integer_places", ('"tid":9,"ts":3', '"tid":"9","ts":3'), ('"tid":9,"ts":3', '"ts":3')),
    ("slice_categories", ('"cat":"cpu_op","name":"inner"', '"name":"inner"'), ("cpu_op", "op")),
    ("times", ("4.000", "4.00"), ("4.000", "4"), ('"ts":3.000', '"ts":-3.000')),
    ("times_as_doubles", ('"ts":3.000', '"ts":9007199254740993.001')),
    ("nesting", ('"ts":1.000,"dur":4.000', '"ts":2.001,"dur":4.000')),
    ("nesting_as_doubles", ('"ts":8.000,"dur":0.250', '"ts":8.000,"dur":0.500000000000001'),
     ('"dur":4.000', '"dur":5.000000000000001')),
    ("parents_first", ('"dur":5.000', '"dur":3.000')),
    ("process_rows", ('"process_labels"', '"process_label"'), ('"labels":"CPU"', '"labels":""')),
    ("thread_rows", ('"tid":9,"args":{"name"', '"tid":8,"args":{"name"'),
     ('"sort_index":0', '"sort_index":-1')),
    ("steps", ("ProfilerStep#4", "ProfilerStep"), ("ProfilerStep#4", "ProfilerStep#x")),
    ("operators", ("thread 9", "nine"), ('"cpu_op","name":"inner"', '"kernel","name":"inner"')),
    ("kernel_phases", ("SM 4 (2)", "phases"), ('"dur":0.150', '"dur":0.250'),
     ('"lost":0', '"lost":"0"'), ('"iteration":2,', ""),
     ('"gpu_user_annotation","name":"k"', '"overhead","name":"k"')),
    ("counters", ("1.5", '"1.5"'), ('{"value":1.5}', "{}")),
    ("instants", ('"s":"t",', "")),
    ("memory", ('"Addr":1', '"Addr":"1"'), ('"bytes":8', '"bytes":9'),
     ('"Device Id":-1', '"Device Id":0')),
    ("flows", ('"0x1","pid":9,"tid":9,"ts":3', '1,"pid":9,"tid":9,"ts":3'), ('"bp":"e",', "")),
    ("no_device_arguments", ('"n":1', '"stream":7'), ('"n":1', '"correlation":7')),
    ("device_slices", ('"stream":7,"correlation":3', '"stream":0,"correlation":3'),
     ('"correlation":3,"reg', '"correlation":"3","reg'), ('"device":0', '"device":1'),
     ('"stream 7"', '"stream 8"'), ('"kernel","name":"k","pid":0', '"kernel","name":"k","pid":9')),
    ("device_arguments", ('"block":[4,1,1]', '"block":[4,1]'), ("2.0", "3.0"),
     ('%":50', '%":101'), ("Memcpy HtoD (Pageable", "Memcpy HtoD Pageable")),
    ("device_properties", ('"numSms": 1,', ""), ('"id": 0', '"id": "0"')),
    ("arrows", ('"id":3,"pid":9', '"id":4,"pid":9'), ('"id":3,"pid":0', '"id":4,"pid":0'),
     ('"bp":"e","cat":"ac2g"', '"cat":"ac2g"'), ("8.001", "8.000")),
    ("waits", ('"Stream Sync","pid"', '"Sync","pid"'), ('"Stream Sync","stream":7',
     '"Stream Sync","stream":0')),
    ("event_waits", ('_event_id":1', '_event_id":0'), ('"wait_on_stream":7,', ""),
     ('"wait_on_stream":7', '"wait_on_stream":-1'), ('"tid":9,"ts":7.950', '"tid":9,"ts":8.150'),
     ('_corr_id":6', '_corr_id":3'), ('"correlation":5', '"correlation":5,"wait_on_stream":7')),
    ("external_ids", ('"args":{"External id":5}', '"args":{}'),
     ('"External id":5,"c', '"External id":4,"c'), ('"External id":5,"c', '"c'),
     ('"External id":0,"correlation":6', '"External id":5,"correlation":6'),
     ('"External id":5,"device"', '"External id":4,"device"'),
     ('"External id":5,"device"', '"device"')),
    ("window", ("Record Window End", "Record Window"), ("Iteration Start", "Iteration")),
]


def check_self():
    """Says what does not find what it should."""
    good = GOOD.encode()
    wrong = [f"the good trace: {name}: {what}" for name, what in check_trace("r.json", good)]
    for name, *edits in BREAKS:
        for old, new in edits:
            broken = GOOD.replace(old, new)
            found = {failure[0] for failure in check_trace("r.json", broken.encode("latin-1"))}
            if broken == GOOD or name not in found:
                wrong.append(f"{name} does not find {new!r} in the place of {old!r}, only {found}")
    for file_name in ("a.pt.trace.json", "a.1.pt.trace.json", "a_1.2.3x.pt.trace.json.gz"):
        if not check_trace(file_name, good):
            wrong.append(f"torch_file_name does not refuse {file_name}")
    for file_name in ("h_1.2.pt.trace.json", "h.x_1.2.pt.trace.json.gz"):
        if check_trace(file_name, good):
            wrong.append(f"torch_file_name refuses {file_name}")
    untested = {name for name, _, _ in CHECKS} - {name for name, *_ in BREAKS} - {"torch_file_name"}
    wrong += [f"{name} is not tested" for name in untested]
    print("\n".join(wrong) or f"{len(CHECKS) + 1} checks find what they should")
    return 1 if wrong else 0


def main(arguments):
    if not arguments:
        return check_self()
    if arguments == ["--list"]:
        print("json: strict JSON, UTF-8, no key twice, no NaN")
        for name, description, _ in CHECKS:
            print(f"{name}: {description}")
        return 0
    count = 0
    for path in arguments:
        for name, what in check_trace(path, read(path)):
            print(f"FAILED {name}: {path}: {what}")
            count += 1
    print(f"{len(CHECKS) + 1} checks, {len(arguments)} files, {count} failures")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
