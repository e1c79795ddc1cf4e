#!/usr/bin/env python3
"""Compares every report and export with the books that prog_truth kept, within 1 %.

    lib_truth.py TAKT BOOKS DIRECTORY trace|summary

TAKT is the command, BOOKS what the program printed, DIRECTORY where it wrote its traces. A program
that shares two cores with others waits for longer than planned; the books must not be below the
plan, and Takt must lie between the least and the most that the books allow.
"""
import collections
import csv
import glob
import io
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 0.01

failures = []
comparisons = 0


def same(where, what, got, truth):
    global comparisons
    comparisons += 1
    if not (1 - TOLERANCE) * truth.least <= got <= (1 + TOLERANCE) * truth.most:
        failures.append(f"{where}: {what}: {got}, in truth {truth}")


def equal(where, what, got, truth):
    global comparisons
    comparisons += 1
    if got != truth:
        failures.append(f"{where}: {what}: {got}, and not {truth}")


class Range(collections.namedtuple("Range", "least most")):
    def __truediv__(self, number):
        return Range(self.least / number, self.most / number)

    def __str__(self):
        return f"{self.least} to {self.most}"


class Books:
    """Accounts by name, each (count, total_ns, self_ns); times are ranges."""

    def __init__(self, path):
        self.rows = defaultdict(dict)
        self.of_all = {} # by name: the time of all calls, recursive ones included
        with open(path) as file:
            for line in file:
                what, name, *numbers = line.rstrip("\n").split("\t")
                count, *times = map(int, numbers)
                total, own, planned = Range(*times[:2]), Range(*times[2:4]), times[4]
                self.rows[what][name] = (count, total, own)
                self.of_all[name] = Range(*times[5:7])
                if {"scope": own.least, "step": total.least}.get(what, planned) < planned:
                    failures.append(f"books: {name} took less than the {planned} ns planned")
        self.scopes = self.rows["scope"]
        self.activities = self.rows["activity"]
        self.step = self.rows["step"]["recorded"]
        self.timer = self.rows["timer"]


class Run:
    def __init__(self, takt, trace):
        self.takt, self.trace = takt, trace

    def text(self, report, form):
        command = [self.takt, "report", f"--{report}", f"--{form}", "--rows", "all", self.trace]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def rows(self, report, form="json"):
        text = self.text(report, form)
        if form == "json":
            return json.loads(text)["rows"]
        return [row for row in csv.DictReader(io.StringIO(text)) if None not in row.values()]


def check_scopes(where, rows, books):
    rows = {row["name"]: row for row in rows}
    equal(where, "names", sorted(rows), sorted(books.scopes))
    owns = [own for _, _, own in books.scopes.values()]
    least, most = sum(own.least for own in owns), sum(own.most for own in owns)
    for name, (count, total, own) in books.scopes.items():
        row = rows.get(name)
        if not row:
            continue
        equal(where, f"calls of {name}", int(row["calls"]), count)
        same(where, f"total of {name}", float(row["cpu_total_ns"]), total)
        same(where, f"self time of {name}", float(row["self_cpu_ns"]), own)
        same(where, f"average of {name}", float(row["cpu_time_avg_ns"]), books.of_all[name] / count)
        same(where, f"self percentage of {name}", float(row["self_cpu_percent"]),
             Range(100 * own.least / most, 100 * own.most / least))


def check_tree(where, rows, books):
    """Paths add up to the scopes: self times and calls at once, totals of outermost calls."""
    calls, selfs, totals, path = Counter(), Counter(), Counter(), []
    for row in rows:
        name = row["name"]
        del path[int(row["depth"]):]
        calls[name] += int(row["calls"])
        selfs[name] += int(row["self_cpu_ns"])
        totals[name] += 0 if name in path else int(row["cpu_total_ns"])
        path.append(name)
    equal(where, "names", sorted(calls), sorted(books.scopes))
    for name, (count, total, own) in books.scopes.items():
        equal(where, f"calls of {name}", calls[name], count)
        same(where, f"total of {name}", totals[name], total)
        same(where, f"self time of {name}", selfs[name], own)


def check_activities(where, rows, books, key, names):
    rows = {row[key]: row for row in rows}
    equal(where, "names", sorted(rows), sorted(names.values()))
    for name, shown in names.items():
        count, total, _ = books.activities[name]
        equal(where, f"count of {shown}", int(rows[shown]["count"]), count)
        same(where, f"total of {shown}", float(rows[shown]["total_time_ns"]), total)


def check_timeline(where, rows, books):
    counts, totals = Counter(), Counter()
    for row in rows:
        counts[row["activity"]] += 1
        totals[row["activity"]] += int(row["time_ns"])
    for name, (count, total, _) in books.activities.items():
        equal(where, f"count of {name}", counts[name], count)
        same(where, f"total of {name}", totals[name], total)


def check_steps(where, rows, books):
    row = {row["steps"]: row for row in rows}["recorded"]
    equal(where, "count", int(row["count"]), books.step[0])
    same(where, "mean", float(row["mean_ns"]), books.step[1] / books.step[0])


def check_reports(run, books, has_spans):
    alike = {name: name for name in books.activities}
    devices = {"kernel push": "cpu", "memcpy pull": "other"}
    for form in "json", "csv":
        check_scopes(f"scopes --{form}", run.rows("scopes", form), books)
        check_tree(f"tree --{form}", run.rows("tree", form), books)
        check_activities(f"activities --{form}", run.rows("activities", form), books, "activity",
                         alike)
        check_activities(f"devices --{form}", run.rows("devices", form), books, "device", devices)
        check_steps(f"steps --{form}", run.rows("steps", form), books)
        if has_spans:
            check_timeline(f"timeline --{form}", run.rows("timeline", form), books)


def totals(script, *arguments):
    """What an independent script adds up: lines of name and two numbers."""
    command = [sys.executable, os.path.join(HERE, script), *arguments]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: (int(first), int(second))
            for name, first, second in (line.split("\t") for line in output.splitlines())}


def check_counts(where, got, books):
    equal(where, "names", sorted(got), sorted(books.scopes))
    for name, (count, total, _) in books.scopes.items():
        equal(where, f"calls of {name}", got[name][0], count)
        same(where, f"total of {name}", got[name][1], total)


def check_folded(path, books):
    got = totals("folded_totals.py", path)
    equal(path, "names", sorted(got), sorted(name.replace(" ", "_") for name in books.scopes))
    for name, (_, total, own) in books.scopes.items():
        own_got, total_got = got[name.replace(" ", "_")]
        same(path, f"self time of {name}", own_got, own)
        same(path, f"total of {name}", total_got, total)


def check_exports(files, books):
    """Every file of the full trace; returns how many there were of each kind."""
    kinds = Counter()
    for path in files:
        if ".pftrace" in path:
            kinds["perfetto"] += 1
            check_counts(path, totals("perfetto_totals.py", path), books)
        elif "folded" in path:
            kinds["folded"] += 1
            check_folded(path, books)
        elif ".json" in path:
            kinds["chrome"] += 1
            check_counts(path, totals("chrome_totals.py", path), books)
            steps = totals("chrome_totals.py", "--steps", path)
            equal(path, "steps", len(steps), books.step[0])
            same(path, "steps", sum(total for _, total in steps.values()), books.step[1])
    return kinds


def main(takt, books_path, directory, mode):
    books = Books(books_path)
    paths = glob.glob(directory + "/**/*", recursive=True)
    files = [path for path in paths if os.path.isfile(path)]
    traces = [path for path in files if ".pftrace" in path]
    same("timer", "elapsed", books.timer["measured"][1].least, books.timer["timer"][1])
    for trace in traces:
        check_reports(Run(takt, trace), books, mode == "trace")
    if mode == "trace":
        kinds = check_exports(files, books)
        equal("exports", "kinds", dict(kinds), {"perfetto": 2, "folded": 1, "chrome": 3})
    else:
        for path in (path for path in files if "folded" in path):
            check_folded(path, books)
    print("\n".join(failures) or f"{comparisons} comparisons, all within {TOLERANCE:.0%}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
