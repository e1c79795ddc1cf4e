#!/usr/bin/env python3
"""Every kind of file that Takt reads, copied into every form that can be read back: the copies say the
same. What does not come back is in a table in docs/importing.md, which this test holds against what it
saw. Databases and folders of tables are not read back; their views and tables have the same rows."""
import json
import os
import subprocess
import sys
import tempfile

import nsys_file
import run_model
import torch_file
from lib_reports import fail, finish, run, takt

ROOT = os.environ["TAKT_ROOT"]
REPORTS = "scopes", "tree", "kernels", "launches", "gaps", "steps"
COMPARE = ROOT + "/test/support/compare_tables.py"
compared = 0

AMD = [{"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 9, "tid": 9, "ts": 0, "dur": 50, "args": {"External id": 3}}]
AMD += [{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 9, "tid": 9, "ts": 5 + 5 * i, "dur": 2,
         "args": {"External id": 3}} for i in range(4)]
AMD += [{"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": stream, "ts": 20 + 10 * i, "dur": 15,
         "args": {"device": 0, "stream": stream, "External id": 3}} for i, stream in enumerate((0, 7, 0, 94234234880))]
RANKS = [{**event, "pid": f"[{rank}] {event['pid']}"} for rank in ("TP00", "TP01") for event in (
    {"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 9, "tid": 9, "ts": 0, "dur": 50},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 5, "dur": 2,
     "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 15,
     "args": {"device": 0, "stream": 7, "correlation": 3}},
    {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#3", "pid": 0, "tid": 7, "ts": 20, "dur": 15},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 9, "tid": 9, "ts": 0, "dur": 60})]
JAX = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:1"}},
       {"ph": "M", "pid": 1, "tid": 15, "name": "thread_name", "args": {"name": "Stream #15"}},
       {"ph": "X", "pid": 701, "tid": 1, "ts": 100.5, "dur": 50.25, "name": "PjitFunction(f)"},
       {"ph": "X", "pid": 1, "tid": 15, "ts": 130.1, "dur": 20, "name": "fusion_3"},
       {"ph": "X", "pid": 1, "tid": 15, "ts": 151, "dur": 2.5, "name": "MemcpyH2D"}]


def by_hand(events):
    def write(path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
    return "json", write


def by_torch(dialect):
    return "json", lambda path: torch_file.Writer(run_model.Run(1, 1000 if dialect == "2021" else 1),
                                                  dialect).write(path)


def by_nsys(old):
    return "sqlite", lambda path: nsys_file.write(run_model.Run(1), path, old)


OWN = """run own
device cuda:0
thread main
step 0 9000
span -1 0 0 9000 iterate
span 0 0 100 4000 forces
launch 1 300 1500 kernel pairs
launch 1 1600 1900 kernel pairs
launch 0 5000 6000 kernel sum
step 9000 18000
span -1 0 9100 18000 iterate
launch 5 9500 12000 kernel pairs
ran 9000
ran 9000
"""


def by_takt(chrome):
    def write(path):
        trace = path + ".own.pftrace" if chrome else path
        subprocess.run([os.environ["TAKT_BUILD"] + "/test/cli/prog_trace", trace], input=OWN, text=True,
                       check=True)
        if chrome:
            run("export", "--chrome", "-o", path, trace)
    return "json" if chrome else "pftrace", write


# As the table names them: the ending of a file, and what writes it.
KINDS = {"torch.profiler since 2022": by_torch("2025"), "torch.profiler in 2021": by_torch("2021"),
         "torch.profiler with ROCm": by_torch("rocm"), "AMD's devices, without contexts": by_hand(AMD),
         "several ranks in one file": by_hand(RANKS), "JAX": by_hand(JAX), "JSON with faults": by_torch("wild"),
         "Nsight Systems": by_nsys(False), "Nsight Systems, older": by_nsys(True),
         "Takt's `.pftrace`": by_takt(False), "Takt's Chrome file": by_takt(True)}


def reports(path):
    global compared
    text = run("report", "--json", "--rows", "all", "--full-names", *("--" + name for name in REPORTS), path)
    found = {table["report"]: [table.get("rows"), table.get("facts"), table.get("tables")] for table in json.loads(text)}
    compared += sum(len(rows) for rows, _, _ in found.values())
    return found


def differences(path, form, ending):
    """The reports that a copy does not give back."""
    copy = f"{path}.copy.{ending}"
    run("export", "--" + form, "-o", copy, path)
    wanted, found = reports(path), reports(copy)
    return [name for name in REPORTS if wanted.get(name) != found.get(name)]


def table_differences(path):
    """The reports that the tables of the file do not have."""
    run("export", "--sqlite", "-o", path + ".db", path)
    os.mkdir(path + ".csv")
    run("export", "--csv", "-o", path + ".csv", path)
    done = [(name, subprocess.run([sys.executable, COMPARE, takt, path, path + ".db", path + ".csv", name],
                                  capture_output=True, text=True)) for name in REPORTS]
    return [name for name, result in done if result.returncode]


def cell(lost):
    return "all but " + ", ".join(f"`{name}`" for name in lost) if lost else "all"


def line_of(kind, folder):
    ending, write = KINDS[kind]
    path = f"{folder}/{list(KINDS).index(kind)}.{ending}"
    write(path)
    lost = [differences(path, "perfetto", "pftrace"), differences(path, "chrome", "trace.json"), table_differences(path)]
    return f"| {kind} | " + " | ".join(map(cell, lost)) + " |"


with tempfile.TemporaryDirectory() as scratch:
    seen = [line_of(kind, scratch) for kind in KINDS]
with open(ROOT + "/docs/importing.md", encoding="utf-8") as page:
    told = page.read().split("\n## Copies\n")[-1].split("\n## ")[0]
told = [line for line in told.splitlines() if line.startswith("| ")][1:]
for line in seen:
    if line not in told:
        fail(f"docs/importing.md lacks the line {line}")
for line in told:
    if line not in seen:
        fail(f"docs/importing.md has the line {line}, which is not so")
if compared < 500:
    fail(f"only {compared} rows compared")
finish(0)
