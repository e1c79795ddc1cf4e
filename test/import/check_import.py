#!/usr/bin/env python3
"""Runs that are made up (run_model.py) and written as torch.profiler and Nsight Systems do: the
reports of what Takt imports say what was planned, to the nanosecond."""
import csv
import gzip
import io
import json
import os
import shutil
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


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
if failures:
    sys.exit(f"{failures} failures")
if compared < 1000:
    sys.exit(f"only {compared} figures compared")
print(f"{compared} figures compared")
