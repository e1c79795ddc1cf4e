#!/usr/bin/env python3
"""Runs that are made up (run_model.py) and written as torch.profiler and Nsight Systems do: the
reports of what Takt imports say what was planned, to the nanosecond."""
import csv
import gzip
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import nsys_file
import run_model
import torch_file

takt = os.environ["TAKT_BIN"] + "/takt"
failures = compared = 0


def fail(text):
    global failures
    failures += 1
    if failures <= 20:
        print(text)


def run(*arguments):
    done = subprocess.run([takt, *arguments], capture_output=True, text=True)
    if done.returncode or done.stderr:
        fail(f"takt {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def table(path, report, key, *options):
    text = run("report", "--" + report, "--csv", "--rows", "all", *options, path)
    rows = csv.DictReader(io.StringIO(text.split("\n\n")[0].replace("\r", "")))
    return {row[key]: row for row in rows
            if not row.get("stream") and row.get("kind") in (None, "scope", "call")}


def compare(what, wanted, rows):
    global compared
    for name, values in wanted.items():
        row = rows.pop(name, None)
        if row is None:
            fail(f"{what}: no row {name!r}")
            continue
        for column, value in values.items():
            compared += 1
            if row[column] != str(value):
                fail(f"{what}: {name!r}: {column} is {row[column]} instead of {value}")
    for name in rows:
        fail(f"{what}: a row {name!r} too many")


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


def main(folder):
    path = folder + "/"
    for seed in range(int(os.environ.get("TEST_SEEDS", "3"))):
        for dialect in "2025", "2021", "wild", "rocm":
            made = run_model.Run(seed, grain=1000 if dialect == "2021" else 1)
            truth = run_model.truth(made)
            name = f"{path}{dialect}.json"
            torch_file.Writer(made, dialect).write(name)
            check(f"torch {dialect}, seed {seed}", name, truth, dialect != "2021")
        torch_file.Writer(made, "wild").write(path + "list.json")
        check(f"torch list, seed {seed}", path + "list.json", truth)
        with open(name, "rb") as plain, gzip.open(name + ".gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
        check(f"torch packed, seed {seed}", name + ".gz", truth)
        nsys_file.write(made, path + "a.sqlite")
        check(f"nsys, seed {seed}", path + "a.sqlite", truth)
        nsys_file.write(made, path + "old.sqlite", old=True)
        check(f"nsys old, seed {seed}", path + "old.sqlite", truth, False)
        two = run_model.Run(seed, processes=2)
        torch_file.Writer(two, "2025").write(path + "two.json")
        check(f"torch, two processes, seed {seed}", path + "two.json",
              run_model.truth(two, names_process=False))
        nsys_file.write(two, path + "two.sqlite")
        check(f"nsys, two processes, seed {seed}", path + "two.sqlite", run_model.truth(two))


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
 "args": {"device": 0, "stream": 7, "correlation": 3, "External id": 77}}
]}
"""


def check_odd(path):
    """A file written by hand: frames of Python, memory, unknown categories, the launching scope."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(ODD)
    compare("odd: scopes", {
        "forward": dict(self_cpu_ns=40000, cpu_total_ns=50000, self_cuda_ns=0, cuda_total_ns=2001),
        "inner": dict(self_cpu_ns=9000, cpu_total_ns=10000, self_cuda_ns=2001, cuda_total_ns=2001),
        "cudaLaunchKernel": dict(calls=1)}, table(path, "scopes", "name", "--all"))
    memory = table(path, "memory", "device")
    compare("odd: memory", {"cuda:0": dict(peak_bytes=6600001000, current_bytes=6600000000,
                                           allocations=1, frees=1)}, memory)
    folder = os.path.dirname(path) + "/csv"
    os.mkdir(folder)
    run("export", "--csv", "-o", folder, path)
    with open(folder + "/spans.csv", encoding="utf-8", newline="") as file:
        places = {row["name"]: (row["file"], row["line"]) for row in csv.DictReader(file)}
    if places["forward"] != ("model/train.py", "120"):
        fail(f"odd: the Python function is at {places['forward']}")
    info = json.loads(run("info", "--json", path))
    info = info[0] if isinstance(info, list) else info
    if {name: n for name, n in info["losses"].items() if n} != {"clock": 1}:
        fail(f"odd: losses {info['losses']}")
    if "unknown" not in run("info", path):
        fail("odd: what the file does not tell is not unknown")


def check_refused(folder):
    """What cannot be read says why, in a line that helps."""
    db = sqlite3.connect(folder + "/other.sqlite")
    db.execute("CREATE TABLE t (a)")
    db.close()
    made = run_model.Run(1)
    nsys_file.write(made, folder + "/column.sqlite")
    db = sqlite3.connect(folder + "/column.sqlite")
    db.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN correlationId")
    db.close()
    for name, content, words in (
            ("run.nsys-rep", b"\0\1\2", "nsys export --type sqlite"),
            ("a.json", b'{"samples": [1, 2]}', "traceEvents"),
            ("b.json", b'{"samples" [1, 2]}', "byte 1"),
            ("foreign.pftrace", b"\x0a\x10\x08\x01" + bytes(40), "not a trace that Takt wrote"),
            ("other.sqlite", None, "nsys export"),
            ("column.sqlite", None, "CUPTI_ACTIVITY_KIND_KERNEL has no column correlationId")):
        if content is not None:
            with open(f"{folder}/{name}", "wb") as file:
                file.write(content)
        done = subprocess.run([takt, "info", f"{folder}/{name}"], capture_output=True, text=True)
        if done.returncode != 1 or words not in done.stderr or done.stderr.count("\n") != 1:
            fail(f"{name}: status {done.returncode}: {done.stderr}")


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
    check_odd(scratch + "/odd.json")
    check_refused(scratch)
if failures:
    sys.exit(f"{failures} failures")
if compared < 1000:
    sys.exit(f"only {compared} figures compared")
print(f"{compared} figures compared")
