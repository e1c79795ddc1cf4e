#!/usr/bin/env python3
"""Runs that are made up (run_model.py) and written as torch.profiler and Nsight Systems do: the
reports of what Takt imports say what was planned, to the nanosecond."""
import bz2
import csv
import gzip
import io
import itertools
import json
import lzma
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections import Counter

import nsys_file
import run_model
import torch_file
from lib_reports import compare, exported, fail, finish, run, table, takt


def check(what, path, truth, has_waits=True):
    compare(what + ": scopes", truth["scopes"], table(path, "scopes", "name", "--all"))
    compare(what + ": activities", truth["activities"], table(path, "activities", "activity"))
    compare(what + ": launches", truth["launches"], table(path, "launches", "name"))
    compare(what + ": gaps", truth["gaps"], table(path, "gaps", "device"))
    steps = table(path, "steps", "steps")
    steps.pop("all", None)
    compare(what + ": steps", truth["steps"], steps)
    info = json.loads(run("info", "--json", path))
    info = info[0] if isinstance(info, list) else info
    losses = {name: count for name, count in info["losses"].items() if count}
    wanted = {name: count for name, count in truth["losses"].items() if count}
    if losses != wanted:
        fail(f"{what}: losses {losses} instead of {wanted}")
    if has_waits and info["waits"] != truth["waits"]:
        fail(f"{what}: {info['waits']} waits instead of {truth['waits']}")


def split_rows(path, report, *columns):
    """How often each set of these columns occurs in the rows of launches or arguments."""
    text = run("report", "--" + report, "--by-arguments", "--csv", "--rows", "all", path)
    counts = Counter()
    for row in csv.DictReader(io.StringIO(text.split("\n\n")[0].replace("\r", ""))):
        counts[tuple(row[column] for column in columns[1:])] += int(row[columns[0]])
    return counts


def check_split(what, path, made, is_known=lambda work: True):
    """Shapes of inputs and of launches. `is_known`: the file tells which launch a kernel is of."""
    grids = Counter((work.name, ",".join(map(str, work.grid)) if is_known(work) else "")
                    for work in made.works if work.grid)
    if split_rows(path, "kernels", "count", "full_name", "grid") != grids:
        fail(f"{what}: other grids than {grids}")
    shapes = Counter(f"shapes={span.args['Input Dims']}" for thread in made.threads
                     for span in thread.spans() if span.args)
    found = split_rows(path, "scopes", "calls", "name", "arguments")
    if {text: count for (name, text), count in found.items() if name == "aten::mm"} != shapes:
        fail(f"{what}: other arguments than {shapes}")


def check_two(path, seed):
    """Two processes that each count their calls from 1."""
    two = run_model.Run(seed, processes=2)
    truth = run_model.truth(two, names_process=False)
    launched = Counter(work.correlation for work in two.works if work.grid)
    for dialect in "2025", "rocm":
        torch_file.Writer(two, dialect).write(path + "two.json")
        check(f"torch {dialect}, two processes, seed {seed}", path + "two.json", truth)
    check_split(f"two processes, seed {seed}", path + "two.json", two,
                lambda work: launched[work.correlation] == 1)
    nsys_file.write(two, path + "two.sqlite")
    check(f"nsys, two processes, seed {seed}", path + "two.sqlite", run_model.truth(two))
    found = Counter((row["name"], row["category"]) for row in exported(path + "two.sqlite", "spans"))
    for process in {thread.process for thread in two.threads}:
        wanted = sum(span.name == "optimizer" for thread in two.threads for span in thread.spans()
                     if thread.process == process)
        if found["optimizer", f"lib {process}"] != wanted:
            fail(f"nsys, two processes, seed {seed}: domains {found}, not {wanted} of {process}")
    nsys_file.write(two, path + "two.sqlite", machines=True)
    check(f"nsys, two machines, seed {seed}", path + "two.sqlite", run_model.truth(two))


def main(folder):
    path = folder + "/"
    for seed in range(int(os.environ.get("TEST_SEEDS", "1" if os.environ.get("SAN") else "3"))):
        for dialect in "2025", "2021", "wild", "rocm":
            made = run_model.Run(seed, grain=1000 if dialect == "2021" else 1)
            truth = run_model.truth(made)
            name = f"{path}{dialect}.json"
            torch_file.Writer(made, dialect).write(name)
            check(f"torch {dialect}, seed {seed}", name, truth, dialect != "2021")
            if seed == 0:
                check_split(f"torch {dialect}", name, made)
            if seed == 0 and dialect != "wild" and "cuda:0 NVIDIA A100" not in run("info", name):
                fail(f"torch {dialect}: the device has no name")
        torch_file.Writer(made, "wild").write(path + "list.json")
        check(f"torch list, seed {seed}", path + "list.json", truth)
        with open(name, "rb") as plain, gzip.open(name + ".gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
        check(f"torch packed, seed {seed}", name + ".gz", truth)
        nsys_file.write(made, path + "a.sqlite")
        check(f"nsys, seed {seed}", path + "a.sqlite", truth)
        nsys_file.write(made, path + "old.sqlite", old=True)
        check(f"nsys old, seed {seed}", path + "old.sqlite", truth, False)
        check_two(path, seed)


ODD = """{"traceEvents": [
{"ph": "X", "cat": "python_function", "name": "model/train.py(120): forward", "pid": 9, "tid": 9,
 "ts": 100, "dur": 50},
{"ph": "X", "cat": "new_category", "name": "inner", "pid": 9, "tid": 9, "ts": 110, "dur": 10},
{"ph": "X", "cat": "gpu_user_annotation", "name": "optimizer", "pid": 1, "tid": 7, "ts": 120,
 "dur": 5, "args": {"device": 1}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 9, "tid": 9, "ts": 130,
 "args": {"Addr": 4096, "Bytes": 1000, "Total Allocated": 6600001000, "Device Type": 1,
 "Device Id": 0}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 9, "tid": 9, "ts": 131,
 "args": {"Addr": 4096, "Bytes": -1000, "Total Allocated": 6600000000, "Device Type": 1,
 "Device Id": 0}},
{"ph": "X", "cat": "cpu_op", "name": "backwards", "pid": 9, "tid": 9, "ts": 140, "dur": -3},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 112,
 "dur": 1, "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "k(int)", "pid": 0, "tid": 7, "ts": 112.5, "dur": 2.0005,
 "args": {"device": 0, "stream": 7, "correlation": 3, "External id": 77}},
{"ph": "X", "cat": "kernel", "name": "k(int)", "pid": 0, "tid": 7, "ts": 115, "dur": 1,
 "args": {"device": 0, "stream": 7, "correlation": 4294967299}}
]}
"""


def check_odd(path):
    """A file written by hand: frames of Python, memory, unknown categories, the launching scope;
    4294967299 is 3 in 32 bits."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(ODD)
    compare("odd: scopes", {
        "train.py: forward": dict(self_cpu_ns=40000, cpu_total_ns=50000, self_cuda_ns=0, cuda_total_ns=2001),
        "inner": dict(self_cpu_ns=9000, cpu_total_ns=10000, self_cuda_ns=2001, cuda_total_ns=2001),
        "cudaLaunchKernel": dict(calls=1)}, table(path, "scopes", "name", "--all"))
    tasks = table(path, "tasks", "task")
    compare("odd: tasks", {"optimizer": dict(track="cuda:1 annotations", total_ns=5000)}, tasks)
    memory = table(path, "memory", "device")
    compare("odd: memory", {"cuda:0": dict(peak_bytes=6600001000, current_bytes=6600000000,
                                           allocations=1, frees=1)}, memory)
    places = {row["name"]: (row["file"], row["line"]) for row in exported(path, "spans")}
    if places["train.py: forward"] != ("model/train.py", "120"):
        fail(f"odd: the Python function is at {places['train.py: forward']}")
    info = json.loads(run("info", "--json", path))
    info = info[0] if isinstance(info, list) else info
    if {name: n for name, n in info["losses"].items() if n} != {"clock": 1, "unattributed": 1}:
        fail(f"odd: losses {info['losses']}")
    if "unknown" not in run("info", path):
        fail("odd: what the file does not tell is not unknown")


# A record_function() in a file with Python functions: it begins in one of torch's own and ends in
# another one. Torch's marks around the recording have no category.
STACKS = """{"traceEvents": [
{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
 "ts": 0, "dur": 1100},
{"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces",
 "tid": "Trace PyTorch Profiler", "ts": 0},
{"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 9000},
{"ph": "X", "cat": "python_function", "name": "train.py(9): <module>", "pid": 9, "tid": 9,
 "ts": 10, "dur": 1000},
{"ph": "X", "cat": "python_function", "name": "torch/autograd/profiler.py(801): __enter__", "pid": 9,
 "tid": 9, "ts": 100, "dur": 20},
{"ph": "X", "cat": "python_function", "name": "<built-in _enter>", "pid": 9, "tid": 9, "ts": 105,
 "dur": 12},
{"ph": "X", "cat": "user_annotation", "name": "forward", "pid": 9, "tid": 9, "ts": 110, "dur": 390},
{"ph": "X", "cat": "python_function", "name": "<built-in get of x at 0x7fA0>", "pid": 9, "tid": 9, "ts": 111,
 "dur": 3},
{"ph": "X", "cat": "python_function", "name": "C:\\\\net.py(5): forward", "pid": 9, "tid": 9, "ts": 200,
 "dur": 200},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 260,
 "dur": 10, "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "k(int)", "pid": 0, "tid": 7, "ts": 300, "dur": 5,
 "args": {"device": 0, "stream": 7, "correlation": 3}},
{"ph": "X", "cat": "python_function", "name": "torch/autograd/profiler.py(811): __exit__", "pid": 9,
 "tid": 9, "ts": 490, "dur": 20},
{"ph": "X", "cat": "python_function", "name": "<built-in _exit>", "pid": 9, "tid": 9, "ts": 495,
 "dur": 10}
]}
"""


def check_stacks(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(STACKS)
    compare("stacks: scopes", {
        "train.py: <module>": dict(self_cpu_ns=610000, cpu_total_ns=1000000, cuda_total_ns=5000),
        "forward": dict(calls=1, self_cpu_ns=187000, cpu_total_ns=390000, cuda_total_ns=5000),
        "<built-in get of x>": dict(cpu_total_ns=3000),
        "net.py: forward": dict(self_cpu_ns=190000, cpu_total_ns=200000, self_cuda_ns=5000),
        "cudaLaunchKernel": dict(calls=1)}, table(path, "scopes", "name", "--all"))
    compare("stacks: beside", {
        name: dict(track="main (crossing spans)", total_ns=ns)
        for name, ns in (("profiler.py: __enter__", 20000), ("<built-in _enter>", 12000),
                         ("profiler.py: __exit__", 20000), ("<built-in _exit>", 10000))},
            table(path, "tasks", "task"))
    info = json.loads(run("info", "--json", path))
    found = info["wall_ns"], info["marks"], info["losses"]["crossing spans"]
    if found != (1100000, 0, 4):
        fail(f"stacks: wall time, marks, crossing spans: {found}")


# The members of the file's object may come in any order. 128 threads with 168 registers each leave room
# for 3 blocks of 4 warps of 64: 18.75 %.
MEMBERS = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "computeMajor": 9, "computeMinor": 0, "numSms": 132,
                          "warpSize": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
                          "regsPerBlock": 65536, "regsPerMultiprocessor": 65536, "sharedMemPerBlock": 49152,
                          "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}],
    "labels": ["CPU", "CUDA", "memory"],
    "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 3,
                     "args": {"device": 0, "stream": 7, "context": 1, "registers per thread": 168,
                              "grid": [64, 1, 1], "block": [128, 1, 1]}}]}


def check_orders(path):
    for order in itertools.permutations(MEMBERS):
        for indent in None, 1:
            with open(path, "w", encoding="utf-8") as file:
                json.dump({key: MEMBERS[key] for key in order}, file, indent=indent)
            compare(f"order {order}", {"kernel k": dict(occupancy_percent="18.75", limited_by="registers",
                                                        registers=168)}, table(path, "kernels", "name"))


# Takt's own file with its events out of order: declared work. "io" overlaps the end of "step".
WORK = """{"schemaVersion": 1, "takt": {"version": "0.1.0", "run": "a", "backend": "none"}, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "io", "pid": 9, "tid": 9, "ts": 100, "dur": 90,
 "args": {"flops": 7.0, "bytes": 1.0}},
{"ph": "X", "cat": "user_annotation", "name": "request", "pid": 9, "tid": 1000000001, "ts": 100, "dur": 50,
 "args": {"flops": 5.0, "bytes": 1.0}},
{"ph": "X", "cat": "cpu_op", "name": "forces", "pid": 9, "tid": 9, "ts": 80, "dur": 10,
 "args": {"Trace name": "x", "flops": 3.0, "bytes": 16.0}},
{"ph": "X", "cat": "cpu_op", "name": "density", "pid": 9, "tid": 9, "ts": 50, "dur": 20},
{"ph": "X", "cat": "cpu_op", "name": "step", "pid": 9, "tid": 9, "ts": 50, "dur": 100}
]}
"""


def check_own_orders(path):
    """That Takt wrote a file may stand behind its events."""
    whole = json.loads(WORK)
    texts = set()
    for order in itertools.permutations(whole):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({key: whole[key] for key in order}, file)
        texts.add(run("report", "--tasks", "--csv", path) + run("info", path))
    if len(texts) != 1 or "request,track" not in texts.pop():
        fail(f"Takt's file, by order of its members: {texts}")


def check_work(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(WORK)
    found = {row["name"]: row["flops"] for row in exported(path, "spans")}
    wanted = {"step": "", "density": "", "forces": "3", "io": "7", "request": "5"}
    if found != wanted:
        fail(f"work: {found} instead of {wanted}")
    found = {row["name"]: row["arguments"] for row in table(path, "scopes", "name", "--by-arguments").values()}
    if found != {"step": "", "density": "", "forces": "Trace name=x"}:
        fail(f"work: arguments {found}")


# Two processes that are named by texts and share a correlation id, numbers with exponents, an event
# without a time, and one that stands twice.
TEXTS = """{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "a", "pid": "rank 0", "tid": "main", "ts": 1e2, "dur": 5E+1},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": "rank 0", "tid": "main",
 "ts": 110, "dur": 1, "args": {"correlation": 3}},
{"ph": "X", "cat": "cpu_op", "name": "b", "pid": "rank 1", "tid": "main", "ts": 100, "dur": 50},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": "rank 1", "tid": "main",
 "ts": 110, "dur": 1, "args": {"correlation": 3}},
{"ph": "X", "cat": "cpu_op", "name": "c", "pid": -1, "tid": -2, "ts": 100, "dur": 50},
{"ph": "X", "cat": "cpu_op", "name": "c", "pid": -1, "tid": -2, "ts": 100, "dur": 50},
{"ph": "X", "cat": "cpu_op", "name": "d", "pid": -1, "tid": -2, "dur": 50},
{"ph": "X", "cat": "kernel", "name": "k(int)", "pid": 0, "tid": 7, "ts": 112, "dur": 2,
 "args": {"device": 0, "stream": 7, "correlation": 3}}
]}
"""


def check_texts(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(TEXTS)
    compare("texts: scopes", {
        "a": dict(self_cpu_ns=49000, cpu_total_ns=50000, cuda_total_ns=0),
        "b": dict(self_cpu_ns=49000, cpu_total_ns=50000, cuda_total_ns=0),
        "c": dict(calls=2, self_cpu_ns=50000, cpu_total_ns=50000),
        "cudaLaunchKernel": dict(calls=2)}, table(path, "scopes", "name", "--all"))
    info = json.loads(run("info", "--json", path))
    info = info[0] if isinstance(info, list) else info
    if {name: n for name, n in info["losses"].items() if n} != {"unattributed": 1,
                                                                "skipped events": 1}:
        fail(f"texts: losses {info['losses']}")
    text = run("info", path)
    for words in "main, process rank 0: 2 spans", "main, process rank 1: 2", "-2, process -1: 2":
        if words not in text:
            fail(f"texts: no {words!r} in {text}")


# Files that torch.profiler did not write: devices are processes, and events have no categories. What
# is expected: scopes, activities, skipped events.
FOREIGN = {
    "JAX": ("""{"traceEvents": [
{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:3"}},
{"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "/device:TPU:0"}},
{"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/device:CPU:0"}},
{"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
{"ph": "M", "pid": 1, "tid": 15, "name": "thread_name", "args": {"name": "Stream #15(MemcpyH2D,Compute)"}},
{"ph": "M", "pid": 1, "tid": 16, "name": "thread_name", "args": {"name": "XLA Modules"}},
{"ph": "X", "pid": 701, "tid": 1, "ts": 100.5, "dur": 50.25, "name": "PjitFunction(f)"},
{"ph": "X", "pid": 3, "tid": 1, "ts": 110, "dur": 7, "name": "on the host"},
{"ph": "X", "pid": 1, "tid": 15, "ts": 130.1, "dur": 20, "name": "fusion_3", "args": {"hlo_op": "fusion.3"}},
{"ph": "X", "pid": 1, "tid": 15, "ts": 151, "dur": 2.5, "name": "MemcpyH2D"},
{"ph": "X", "pid": 1, "tid": 15, "ts": 154, "dur": 1.5, "name": "Memset"},
{"ph": "X", "pid": 1, "tid": 16, "ts": 130, "dur": 21, "name": "jit_f"},
{"ph": "X", "pid": 2, "tid": 1, "ts": 130, "dur": 21, "name": "dot"}
]}""", {"PjitFunction(f)": 50250, "on the host": 7000},
            [("cuda:3", "kernel fusion_3", 20000), ("cuda:3", "memcpy", 2500), ("cuda:3", "memset", 1500)], 2),
    "torch in 2020": ("""[
{"name": "add", "ph": "X", "ts": 101.524, "dur": 134.49, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "add", "ph": "X", "ts": 102.957, "dur": 134.176, "tid": 1, "pid": "CUDA functions", "args": {}}]
""", {"add": 134490}, [("cuda:1", "kernel add", 134176)], 0),
    "Ascend": ("""[
{"ph": "M", "name": "process_name", "pid": 2, "tid": 0, "args": {"name": "Ascend Hardware"}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": "5.5", "dur": 12.345},
{"ph": "X", "name": "MatMul", "pid": 2, "tid": 5, "ts": "7.001", "dur": 3.002}]
""", {"aten::mm": 12345}, [], 1)}


def check_foreign(path):
    for what, (text, scopes, works, skipped) in FOREIGN.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        compare(f"{what}: scopes", {name: dict(calls=1, self_cpu_ns=ns) for name, ns in scopes.items()},
                table(path, "scopes", "name"))
        found = [(row["device"], row["name"], int(row["duration_ns"]))
                 for row in exported(path, "activities")]
        if found != works:
            fail(f"{what}: activities {found} instead of {works}")
        info = json.loads(run("info", "--json", path))
        losses = {name: count for name, count in info["losses"].items() if count}
        wanted = {"unattributed": len(works), "skipped events": skipped}
        if losses != {name: count for name, count in wanted.items() if count}:
            fail(f"{what}: losses {losses}")
        if info["backend"] != "an unknown profiler (imported)":
            fail(f"{what}: recorded by {info['backend']}")


def damage(folder, name, statement):
    """A file of Nsight Systems' after a statement of SQL."""
    nsys_file.write(run_model.Run(1), f"{folder}/{name}")
    db = sqlite3.connect(f"{folder}/{name}")
    db.execute(statement)
    db.close()


# Rows that a table may have but that are no events: no time, a text, a negative time, an end before
# the begin, a device that cannot be. The other events stay as they are.
ODD_ROWS = """
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (NULL, 5, 1, 9, 1, 0), ('soon', 5, 1, 9, 1, 0),
    (5, NULL, 1, 9, 1, 0), (-5, 5, 1, 9, 1, 0), (9, 5, 1, 9, 1, 0);
INSERT INTO NVTX_EVENTS VALUES (NULL, NULL, 59, 1, 'a', NULL, 0), (-1, NULL, 59, 1, 'b', NULL, 0),
    (-1, NULL, 34, 1, 'mark', NULL, 0), (X'FF', 7, 60, 1, 'free', NULL, 0);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1, 2, -1, 1, 7, 9, NULL, 1, 2),
    (1, 2, NULL, 1, 7, 9, NULL, 1, 2), (1, 2, 4294967296, 1, 7, 9, NULL, 1, 2);
"""


def check_odd_rows(path):
    made = run_model.Run(2)
    truth = run_model.truth(made)
    nsys_file.write(made, path)
    db = sqlite3.connect(path)
    db.executescript(ODD_ROWS)
    db.close()
    truth["losses"]["skipped events"] = 3 + 2 + 3
    truth["losses"]["clock"] = 2 + 2
    check("odd rows", path, truth)
    if " \n" in run("info", path):
        fail("odd rows: devices without a name have a blank behind them")


# Ranges without a name, in the innermost of which a kernel is launched: nested in an "outer" of 8 us.
UNNAMED = [(1000, 9000, "outer"), (2000, 8000, ""), (2500, 7000, None)]


def check_unnamed(path):
    db = sqlite3.connect(path + ".sqlite")
    db.execute("CREATE TABLE StringIds (id INT, value TEXT)")
    db.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, text, textId, domainId)")
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId)")
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, "
               "correlationId, globalPid, bytes, memKind)")
    who = nsys_file.global_id(4, 4)
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL, 0)",
                   [(begin, end, who, name) for begin, end, name in UNNAMED])
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (3000, 3500, ?, 1, NULL)", (who,))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (4000, 8000, 0, 1, 7, 1, ?, 1, 2)",
               (nsys_file.global_id(4),))
    db.commit()
    db.close()
    events = [{"ph": "X", "pid": 4, "tid": 4, "ts": begin / 1000, "dur": (end - begin) / 1000,
               "name": name or ""} for begin, end, name in UNNAMED[:2]]
    events += [{"ph": phase, "pid": 4, "tid": 4, "ts": time} for phase, time in (("B", 2.5), ("E", 7))]
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(events, file)
    for ending, device in (".sqlite", {"self_cuda_ns": 4000}), (".json", {}):
        compare("unnamed" + ending, {
            "outer": dict(calls=1, self_cpu_ns=2000, cpu_total_ns=8000),
            "(unnamed)": dict(calls=2, self_cpu_ns=1500 + 4500, cpu_total_ns=6000, **device)},
                table(path + ending, "scopes", "name"))
        text = run("report", "--tree", path + ending)
        if "other paths" in text:
            fail(f"unnamed{ending}: paths that are left out: {text}")


# Copies and graphs by kind: the columns that a file has for each, and what they are in Takt.
KINDS = [("MEMCPY", {"copyKind": 1, "srcKind": 0, "dstKind": 2}, "HtoD pageable device "),
         ("MEMCPY", {"copyKind": 2, "srcKind": 2, "dstKind": 1}, "DtoH device pinned "),
         ("MEMCPY", {"copyKind": 8, "srcKind": 2, "dstKind": 2}, "DtoD device device "),
         ("MEMCPY", {"copyKind": 11}, "HtoD managed managed "),
         ("MEMCPY", {"copyKind": 12}, "DtoH managed managed "),
         ("MEMCPY", {"copyKind": 13}, "DtoD managed managed "),
         ("GRAPH_TRACE", {"graphExecId": 9, "graphId": 8}, "   9"),
         ("GRAPH_TRACE", {"graphId": 8}, "   8")]


def check_kinds(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE StringIds (id INT, value TEXT)")
    for name, columns in (("MEMCPY", "copyKind, srcKind, dstKind"), ("GRAPH_TRACE", "graphExecId, graphId")):
        db.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_{name} (start, end, deviceId, contextId, streamId, "
                   f"correlationId, globalPid, {columns})")
    for number, (name, values, _) in enumerate(KINDS, 1):
        row = {"start": 1000 * number, "end": 1000 * number + 10 + number, "deviceId": 0, "contextId": 1,
               "streamId": 7, "correlationId": number, "globalPid": nsys_file.global_id(4), **values}
        db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{name} ({','.join(row)}) "
                   f"VALUES ({','.join('?' * len(row))})", list(row.values()))
    db.commit()
    db.close()
    columns = ("copy_kind", "source_memory", "target_memory", "graph")
    found = [(row["duration_ns"], " ".join(row[column] for column in columns))
             for row in exported(path, "activities")]
    wanted = [(str(10 + number), words) for number, (_, _, words) in enumerate(KINDS, 1)]
    if found != wanted:
        fail(f"kinds of copies and graphs: {found} instead of {wanted}")


# 164 KiB of shared memory, 64 warps: 128 threads with 168 registers each leave room for 3 blocks of 4
# warps, 18.75 %. With 27 KiB of shared memory and 1 KiB of the system's there is room for 5: 31.25 %. 1024
# threads are 32 warps: two such blocks fill it.
KERNELS = {"registers": (128, 168, 0, "18.75"), "shared memory": (128, 32, 27 * 1024, "31.25"),
           "warps": (1024, 32, 0, "100")}


def check_occupancy(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE TARGET_INFO_GPU (id, cuDevice, name, computeMajor, computeMinor, smCount, "
               "threadsPerWarp, maxBlocksPerSm, maxWarpsPerSm, maxRegistersPerSm, maxShmemPerSm, "
               "maxThreadsPerBlock)")
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'A100-SXM4-40GB', 8, 0, 108, 32, 32, 64, 65536, "
               "167936, 1024)")
    db.execute("CREATE TABLE StringIds (id INT, value TEXT)")
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
               "correlationId, globalPid, demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, "
               "registersPerThread, staticSharedMemory)")
    for number, (name, (threads, registers, shared, _)) in enumerate(KERNELS.items(), 1):
        db.execute("INSERT INTO StringIds VALUES (?, ?)", (number, name.replace(" ", "_")))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, ?, 64, 1, 1, ?, 1, 1, "
                   "?, ?)", (1000 * number, 1000 * number + 500, number, nsys_file.global_id(4), number,
                             threads, registers, shared))
    db.commit()
    db.close()
    wanted = {"kernel " + name.replace(" ", "_"): dict(occupancy_percent=percent, limited_by=name)
              for name, (_, _, _, percent) in KERNELS.items()}
    compare("occupancy", wanted, table(path, "kernels", "name"))


def check_large(path, large):
    """An event that does not fit is left out, as is told; `large` is packed."""
    event = b'{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 1}'
    with open(path, "wb") as file:
        file.write(gzip.compress(b"[" + event + b',\n{"ph": "X", "name": "') + large +
                   gzip.compress(b'"},\n' + event + b"\n]"))
    done = subprocess.run([takt, "info", "--json", path], capture_output=True, text=True)
    words = f"takt: {path}: byte {len(event) + 3}: left out an event of more than 256 MiB\n"
    info = json.loads(done.stdout)
    losses = {name: count for name, count in info["losses"].items() if count}
    if done.returncode or done.stderr != words or losses != {"skipped events": 1}:
        fail(f"a large event: status {done.returncode}, {losses}: {done.stderr}")
    if info["spans"] != 2:
        fail(f"a large event: {info['spans']} spans around it")


def check_refused(folder):
    """What cannot be read says why, in a line that helps."""
    large = gzip.compress(b"a" * (260 << 20), 1)
    check_large(folder + "/large.json.gz", large)
    db = sqlite3.connect(folder + "/other.sqlite")
    db.execute("CREATE TABLE t (a)")
    db.close()
    damage(folder, "column.sqlite",
           "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN correlationId")
    db = sqlite3.connect(folder + "/none.sqlite")
    db.execute("CREATE TABLE StringIds (id INT, value TEXT)")
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId)")
    db.close()
    with open(folder + "/none.sqlite", "rb") as file:
        empty = file.read()
    with open(folder + "/column.sqlite", "rb") as file:
        database = file.read()
    for name, content, words in (
            ("run.nsys-rep", b"\0\1\2", "nsys export --type sqlite"),
            ("a.json", b'{"samples": [1, 2]}', "traceEvents"),
            ("b.json", b'{"samples" [1, 2]}', "byte 1"),
            ("c.json", b"[1, 2, 3]", "byte 1: JSON without events"),
            ("d.json", b'[{"a": 1}]', "JSON without events"),
            ("empty.json", b" [] ", "there are no events"),
            ("empty2.json", b'{"traceEvents": [\n], "displayTimeUnit": "ms"}', "there are no events"),
            ("empty.json.gz", gzip.compress(b"[]"), "there are no events"),
            ("names.json", b'[{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}}]', "there are no events"),
            ("empty.sqlite", empty, "there are no events of NVTX or CUDA"),
            ("foreign.pftrace", b"\x0a\x10\x08\x01" + bytes(40), "not a trace that Takt wrote"),
            ("other.sqlite", None, "nsys export"),
            ("column.sqlite", None, "CUPTI_ACTIVITY_KIND_KERNEL has no column correlationId"),
            ("cut.sqlite", database[:len(database) // 2], "damaged or cut off"),
            ("packed.sqlite", gzip.compress(database), "unpack it first"),
            ("a.json.xz", lzma.compress(b"[]"), "unpack it first"),
            ("a.json.bz2", bz2.compress(b"[]"), "unpack it first"),
            ("a.json.zst", b"\x28\xb5\x2f\xfd\x24\x02\x11\x00\x00[]", "unpack it first"),
            ("a.zip", b"PK\x03\x04\x14" + bytes(60), "unpack it first"),
            ("long.json.gz", gzip.compress(b'{"a": "') + large, "256 MiB"),
            ("utf16.json", "[]".encode("utf-16"), "save it as UTF-8")):
        if content is not None:
            with open(f"{folder}/{name}", "wb") as file:
                file.write(content)
        done = subprocess.run([takt, "info", f"{folder}/{name}"], capture_output=True, text=True)
        if done.returncode != 1 or words not in done.stderr or done.stderr.count("\n") != 1:
            fail(f"{name}: status {done.returncode}: {done.stderr}")


# A run of Takt's own with a scope that the imported ones have, too.
OWN = """run own
thread main
step 0 9000
span -1 0 0 900 aten::mm
"""


def check_against_own(folder):
    """Names in common are compared; what stands in the way of a verdict is told."""
    own = folder + "/own.pftrace"
    subprocess.run([os.environ["TAKT_BUILD"] + "/test/cli/prog_trace", own], input=OWN, text=True,
                   check=True)
    made = run_model.Run(1)
    torch_file.Writer(made, "2025").write(folder + "/torch.json")
    nsys_file.write(made, folder + "/nsys.sqlite")
    for name, backend in ("torch.json", "torch.profiler"), ("nsys.sqlite", "Nsight Systems"):
        other = f"{folder}/{name}"
        rows = json.loads(run("diff", "--json", "--rows", "all", own, other))["rows"]
        calls = {row["name"]: (row["calls_a"], row["calls_b"]) for row in rows
                 if row["kind"] == "scope"}
        wanted = run_model.truth(made)["scopes"]["aten::mm"]["calls"]
        if calls["aten::mm"] != (1, wanted):
            fail(f"own and {name}: aten::mm is called {calls['aten::mm']}, not {(1, wanted)}")
        done = subprocess.run([takt, "check", "--against", own, other], capture_output=True, text=True)
        for words in (f"backends differ: none in A, {backend} (imported) in B",
                      "devices differ: none in A, cuda:0"):
            if done.returncode != 2 or f"not comparable: {words}" not in done.stdout:
                fail(f"own and {name}: {done.returncode}: no {words!r} in {done.stdout}")
        done = subprocess.run([takt, "check", "--allow-different", "--against", own, other],
                              capture_output=True, text=True)
        if done.returncode == 2 or not re.search("^(passed|FAILED|UNDECIDED):", done.stdout, re.M):
            fail(f"own and {name}, allowed: {done.returncode}: {done.stdout}")


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
    check_against_own(scratch)
    check_odd(scratch + "/odd.json")
    check_texts(scratch + "/texts.json")
    check_stacks(scratch + "/stacks.json")
    check_foreign(scratch + "/foreign.json")
    check_work(scratch + "/work.json")
    check_orders(scratch + "/orders.json")
    check_own_orders(scratch + "/own.json")
    check_odd_rows(scratch + "/rows.sqlite")
    check_kinds(scratch + "/kinds.sqlite")
    check_occupancy(scratch + "/occupancy.sqlite")
    check_unnamed(scratch + "/unnamed")
    check_refused(scratch)
finish(1000)
