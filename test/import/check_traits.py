#!/usr/bin/env python3
"""Small files by hand, each with one trait that files of real profilers have: times that cannot be,
streams and ranks without the usual numbers, launches at the edge of their scopes."""
import json
import os
import sqlite3
import tempfile

import nsys_file
from lib_reports import compare, exported, fail, finish, info, run, table


def torch(path, *events, **members):
    """Writes events of (category, name, process, thread, begin, duration, arguments), in us."""
    keys = "cat", "name", "pid", "tid", "ts", "dur", "args"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**members, "traceEvents": [{"ph": "X", **dict(zip(keys, event))} for event in events]}, file)


def op(name, begin, duration, **args):
    return "cpu_op", name, 9, 9, begin, duration, args


def launch(begin, duration=6, **args):
    return "cuda_runtime", "hipLaunchKernel", 9, 9, begin, duration, args


def kernel(name, begin, duration, stream=7, **args):
    return "kernel", name, args.get("device", 0), stream, begin, duration, {"device": 0, "stream": stream, **args}


NSYS = """CREATE TABLE StringIds (id INT, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'k');
CREATE TABLE {nvtx} (start INT, end INT, eventType INT, globalTid INT, text TEXT, textId INT, domainId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT,
    correlationId INT, globalPid INT, demangledName INT);"""
PUSH_POP, START_END = 59, 60


def nsys(path, ranges, calls, kernels, nvtx="NVTX_EVENTS"):
    """Writes ranges of (begin, end, name, kind), calls of (begin, end, correlation), kernels likewise."""
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.executescript(NSYS.format(nvtx=nvtx))
    thread, process = nsys_file.global_id(4, 4), nsys_file.global_id(4)
    db.executemany(f"INSERT INTO {nvtx} VALUES (?, ?, ?, ?, ?, NULL, 0)",
                   [(begin, end, kind, thread, name) for begin, end, name, kind in ranges])
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 1)",
                   [(begin, end, thread, correlation) for begin, end, correlation in calls])
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, 2)",
                   [(begin, end, correlation, process) for begin, end, correlation in kernels])
    db.commit()
    db.close()


def check_info(what, path, note="", **wanted):
    found = info(path, note)
    for key, value in wanted.items():
        if found[key] != value:
            fail(f"{what}: {key} is {found[key]} instead of {value}")


# ---- Times that cannot be --------------------------------------------------------------------------


def check_no_time(path):
    """0 stands for an unknown time, and no duration for a short one."""
    begin = 1615207264504900
    torch(path, op("op", begin, 200), launch(begin + 100, correlation=1), launch(begin + 120, correlation=2),
          kernel("lost", 0, 0, correlation=1), kernel("endless", 0, begin + 150, correlation=3),
          kernel("kept", begin + 130, 50, correlation=2), kernel("short", begin + 185, 0, correlation=2),
          ("gpu_user_annotation", "lost", 0, 7, 0, 0, {}),
          ("cuda_sync", "Context Sync", 0, 7, 0, 0, {"correlation": 1}))
    check_info("no time", path, wall_ns=200000, losses={"bad time": 4}, waits=0)
    compare("no time", {"kernel kept": dict(count=1, total_ns=50000), "kernel short": dict(count=1, total_ns=0)},
            table(path, "kernels", "name"))
    torch(path, kernel("first", 0, 5), op("op", 3, 4))  # times count from the begin of the recording
    check_info("relative times", path, wall_ns=7000, losses={"unattributed": 1})


def check_no_time_nsys(path):
    hour = 3600 * 10**9
    nsys(path, [(hour + 1000, hour + 20000, "step", PUSH_POP)],
         [(hour + 2000 + 1000 * i, hour + 2300 + 1000 * i, i + 1) for i in range(3)],
         [(hour + 3000, hour + 5000, 1), (0, 0, 2), (hour + 9000, hour + 8000, 3)])
    check_info("no time, nsys", path, wall_ns=19000, activities=1, losses={"bad time": 2})


def check_overflow(path):
    """A kernel cannot go on through the later ones of its stream; other streams and one launch's nodes can."""
    later = [kernel("k", 100 + 20 * i, 10, correlation=10 + i) for i in range(12)]
    torch(path, kernel("long", 50, 10**6, correlation=1), *later)
    note = "left out kernel long of 1.000 s: 12 later activities of its stream begin inside it"
    check_info("overflow", path, note, wall_ns=(320 + 10 - 100) * 1000, activities=12,
               losses={"bad time": 1, "unattributed": 12})
    text = run("report", "--summary", path, note=note)
    if "long" in text:
        fail(f"overflow: {text}")
    for what, odd in (("another stream", kernel("long", 50, 10**6, 8, correlation=1)),
                      ("9 later ones", kernel("long", 155, 10**6, correlation=1))):
        torch(path, odd, *later)
        check_info(what, path, activities=13, losses={"unattributed": 13})
    torch(path, kernel("long", 50, 10**6, correlation=1), *(event[:6] + ({**event[6], "correlation": 1},)
                                                           for event in later))
    check_info("one launch", path, activities=13, losses={"unattributed": 13})


# ---- Streams ---------------------------------------------------------------------------------------


def streams(path):
    """Device time by stream."""
    text = json.loads(run("report", "--gaps", "--json", "--rows", "all", path))
    rows = (text if isinstance(text, dict) else text[0])["rows"]
    return {row["stream"]: row["activities"] for row in rows if row["stream"] is not None}


def check_streams(path):
    """AMD's files have no contexts, streams 0 and 7, and handles of 64 bits."""
    cases = {"0 and 7": ([0, 7, 0], {0: 2, 7: 1}), "0": ([0, 0], {0: 2}),
             "handles": ([94234234880, 94234234880 + 2**32, 94234234880, 3], {1000000: 2, 1000001: 1, 3: 1})}
    for what, (numbers, wanted) in cases.items():
        torch(path, op("op", 0, 90), *(launch(10 + i, 0.5, correlation=i + 1) for i in range(len(numbers))),
              *(kernel("k", 20 + 10 * i, 5, number, correlation=i + 1) for i, number in enumerate(numbers)))
        run("export", "--chrome", "-o", path + ".trace.json", path)
        run("export", "--perfetto", "-o", path + ".pftrace", path)
        for copy in path, path + ".trace.json", path + ".pftrace":
            if streams(copy) != wanted:
                fail(f"streams {what}: {streams(copy)} in {copy}")
        found = {}
        for row in exported(path, "activities"):
            found[int(row["stream"])] = found.get(int(row["stream"]), 0) + 1
        if found != wanted:
            fail(f"streams {what}: {found} in tables")
        os.remove(path + ".trace.json")
        os.remove(path + ".pftrace")


# ---- Launches --------------------------------------------------------------------------------------


def check_late_calls(path):
    """A call that outlives its operator belongs to it: the launch began inside. The call is cut."""
    torch(path, op("inner", 10, 20), op("outer", 0, 100), launch(25, 6.5, correlation=1), op("other", 110, 20),
          launch(125, 50, correlation=2), kernel("k", 40, 7, correlation=1), kernel("k", 200, 9, correlation=2))
    compare("late calls", {
        "outer": dict(self_cuda_ns=0, cuda_total_ns=7000, self_cpu_ns=80000),
        "inner": dict(self_cuda_ns=7000, self_cpu_ns=15000), "other": dict(self_cuda_ns=9000, self_cpu_ns=15000),
        "hipLaunchKernel": dict(calls=2, cpu_total_ns=10000)}, table(path, "scopes", "name", "--all"))
    check_info("late calls", path, losses={"crossing spans": 2})


def check_operators(path):
    """Without correlation ids, activities are those of the launches of the operator with their number, in
    order; where these are missing, or of two processes, they are nobody's."""
    external = {"External id": 131}
    torch(path, op("mm", 0, 30, **external), launch(5, 2, **external), op("add", 40, 40, **{"External id": 132}),
          launch(50, 2, **{"External id": 132}), launch(60, 3, **{"External id": 132}),
          ("cuda_runtime", "hipGetDevice", 9, 9, 45, 1, {"External id": 132}),
          kernel("a", 90, 32, 0, **external), kernel("b", 140, 5, 0, **{"External id": 132}),
          kernel("c", 150, 6, 0, **{"External id": 132}), kernel("d", 160, 7, 0, **{"External id": 132}),
          kernel("e", 170, 8, 0, **{"External id": 133}))
    scopes = {name: row["self_cuda_ns"] for name, row in table(path, "scopes", "name").items()}
    if scopes != {"mm": "32000", "add": str(5000 + 6000 + 7000)}:
        fail(f"operators: {scopes}")
    compare("operators", {"kernel a": dict(api_max_ns=2000, total_max_ns=(122 - 5) * 1000),
                          "kernel b": dict(api_max_ns=2000, total_max_ns=(145 - 50) * 1000),
                          "kernel c": dict(api_max_ns=3000, total_max_ns=(167 - 60) * 1000)},  # and d
            table(path, "launches", "name"))
    check_info("operators", path, losses={"unattributed": 1})
    two = [("cuda_runtime", "hipLaunchKernel", pid, pid, 5, 2, external) for pid in (8, 9)]
    torch(path, *two, kernel("a", 90, 32, 0, **external))
    check_info("operators of two processes", path, losses={"unattributed": 1})


def check_crossing(folder):
    """Of two ranges that cross, the one stays that would leave more launches without a scope."""
    for what, begins, kept, cuda in (("later", [6000], "write", 1000), ("earlier", [1500, 2000, 6000], "read", 2000),
                                     ("none", [], "read", 0)):
        nsys(folder + "/cross.sqlite", [(1000, 5000, "read", PUSH_POP), (3000, 9000, "write", PUSH_POP)],
             [(begin, begin + 300, i) for i, begin in enumerate(begins, 1)],
             [(10000 * i, 10000 * i + 1000, i) for i in range(1, len(begins) + 1)])
        device = dict(self_cuda_ns=cuda) if cuda else {}
        compare("crossing, launches in the " + what, {kept: dict(calls=1, **device)},
                table(folder + "/cross.sqlite", "scopes", "name"))
        check_info("crossing", folder + "/cross.sqlite", losses={"crossing spans": 1})


# ---- Copies ----------------------------------------------------------------------------------------


def check_annotated_steps(path):
    """What a device did for a step is no step, also in copies of copies."""
    step = ("user_annotation", "ProfilerStep#3", 9, 9, 1000, 1000, {})
    torch(path, step, ("gpu_user_annotation", "ProfilerStep#3", 0, 7, 1150, 300, {}), op("mm", 1100, 100),
          launch(1110, correlation=1), kernel("k", 1150, 300, correlation=1))
    copies = [path, path + ".a.trace.json", path + ".b.trace.json"]
    for source, copy in zip(copies, copies[1:]):
        run("export", "--chrome", "-o", copy, source)
    for copy in copies:
        steps = table(copy, "steps", "steps")
        compare("steps", {"recorded": dict(count=1, mean_ns=1000000)},
                {name: row for name, row in steps.items() if name == "recorded"})
        compare("tasks", {"ProfilerStep#3": dict(track="cuda:0 annotations", total_ns=300000)},
                table(copy, "tasks", "task"))
        check_info("steps", copy, backend="torch.profiler (imported)", steps=1)


# ---- What is missing -------------------------------------------------------------------------------


def check_notes(path):
    """Ranges that have no kernels, and ranges in a table that is not known."""
    call, kernel_of_it = [(3000, 3500, 1)], [(4000, 8000, 1)]
    free = (1000, 9000, "train step", START_END)
    nsys(path, [free], call, kernel_of_it)
    check_info("by id", path, "ranges that begin and end by id have no kernels", spans=2)
    nsys(path, [free, (1000, 9000, "step", PUSH_POP)], call, kernel_of_it)
    check_info("both", path, spans=3)
    nsys(path, [(1000, 9000, "step", PUSH_POP)], call, kernel_of_it, "NVTX_EVENTS_V2")
    check_info("other table", path, "left out the table NVTX_EVENTS_V2, which is not known", spans=1)


# ---- Ranks -----------------------------------------------------------------------------------------


def ranked(rank, event):
    """The event in a file of several ranks, where each of its processes is marked."""
    return (*event[:2], f"[{rank}] {event[2]}", *event[3:])


def check_ranks(path):
    """Ranks have devices, threads and correlation ids of the same numbers."""
    one = [ranked("TP00", event) for event in (op("mm", 100, 30), launch(105, correlation=5),
                                               kernel("k", 120, 50, correlation=5), kernel("k", 180, 1, device=1))]
    two = [ranked("TP01", event) for event in (op("bmm", 100, 30), launch(105, correlation=5),
                                               kernel("k", 130, 70, correlation=5))]
    devices = [{"id": 0, "name": "NVIDIA A", "numSms": 3}, {"id": 1, "name": "NVIDIA B", "numSms": 5}]
    torch(path, *one, *two, deviceProperties=devices)
    check_info("ranks", path, losses={"unattributed": 1})
    compare("ranks", {"mm": dict(self_cuda_ns=50000), "bmm": dict(self_cuda_ns=70000)},
            table(path, "scopes", "name"))
    compare("ranks", {"cuda:0": dict(total_time_ns=50000), "cuda:1": dict(total_time_ns=1000),
                      "cuda:2": dict(total_time_ns=70000)}, table(path, "devices", "device"))
    steps = [("user_annotation", f"ProfilerStep#{number}", pid, 9, 100 * number, 50, {})
             for pid, numbers in (("[TP00] 9", (1, 2)), ("[TP01] 9", (2, 3, 4))) for number in numbers]
    torch(path + ".steps.json", *steps)
    compare("steps of ranks", {"ProfilerStep": dict(calls=5)}, table(path + ".steps.json", "scopes", "name"))
    check_info("steps of ranks", path + ".steps.json", steps=2)
    run("export", "--chrome", "-o", path + ".trace.json", path)
    for copy in path, path + ".trace.json":
        text = run("info", copy)
        for words in ("cuda:0 NVIDIA A, rank TP00", "cuda:1 NVIDIA B, rank TP00", "cuda:2 NVIDIA A, rank TP01",
                      "rank TP00, thread 9: 2 spans", "rank TP01, thread 9: 2 spans"):
            if words not in text:
                fail(f"ranks: no {words!r} in {text}")


with tempfile.TemporaryDirectory() as scratch:
    check_no_time(scratch + "/times.json")
    check_no_time_nsys(scratch + "/times.sqlite")
    check_overflow(scratch + "/overflow.json")
    check_streams(scratch + "/streams.json")
    check_late_calls(scratch + "/late.json")
    check_operators(scratch + "/operators.json")
    check_crossing(scratch)
    check_ranks(scratch + "/ranks.json")
    check_notes(scratch + "/notes.sqlite")
    check_annotated_steps(scratch + "/steps.json")
finish(4)
