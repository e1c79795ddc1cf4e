#!/usr/bin/env python3
"""Holds an SQLite file and a folder of CSV files that Takt exported against its reports.

    compare_tables.py TAKT TRACE DATABASE FOLDER [REPORT...]

Every view report_NAME has the rows of `takt report --NAME --json` in the same order, with the same
numbers, and report_NAME_TABLE those of its further tables; only the columns and tables that LEFT_OUT
names are missing. Medians and p99 of reports are within 1/32. Every table of the database is a file
of the folder, value by value. With REPORTs, only those are looked at.
"""
import csv
import json
import math
import os
import re
import sqlite3
import subprocess
import sys

REPORTS = ("scopes", "tree", "threads", "tasks", "counters", "steps", "api", "timeline", "activities", "devices", "kernels", "ops",
           "memory", "gaps", "launches", "phases", "compile", "summary")
OPTIONS = {"scopes": ["--flops"]}
# Columns of reports that no view has, as docs/exports.md lists them.
LEFT_OUT = {
    "counters": {"change_per_step"},
    "threads_regions": None,  # the whole table
    "api": {"stddev_ns"},
    "tree": {"cpu_time_stddev_ns"},
    "kernels": {"stddev_ns", "tensor_core_by_name"},
    "gaps_stream_gaps": {"scope"},
    "phases_slowest": {"slow_in"},
    "launches": {f"{time}_{figure}_ns" for time in ("api", "queue", "kernel", "total")
                 for figure in ("median", "stddev")},
}
# In this order rows of equal length stand as the report met them, which no view knows.
TIES = {"tasks": "total_ns", "ops": "self_time_ns", "gaps_scopes": "idle_ns", "gaps_longest": "gap_ns",
        "gaps_stream_gaps": "gap_ns", "launches_missing": "count",
        "compile": "self_ns", "compile_loading": "total_ns",
        "memory_jumps": "bytes", "memory_scopes": "cuda_memory_bytes"}
ESTIMATES = re.compile(r".*(median|p99)_ns")

failures = []
comparisons = 0


def tables_of(takt, trace, report):
    """The rows of a report, and those of its further tables, by the name of their view."""
    command = [takt, "report", f"--{report}", "--json", "--rows", "all", trace]
    text = subprocess.run(command + OPTIONS.get(report, []), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    document = json.loads(text) if text else {"rows": []} # it needs spans
    tables = {report: document["rows"]}
    for name, table in document.get("tables", {}).items():
        if name != "advice": # no view knows what to do
            tables[f"{report}_{name}"] = table["rows"]
    if report == "summary":
        tables["summary_facts"] = [{"key": key, "value": value}
                                   for key, value in document.get("facts", {}).items()]
    return tables


def is_equal(view, column, wanted, got):
    if isinstance(wanted, (int, float)) and isinstance(got, (int, float)):
        if "steps" not in view and ESTIMATES.fullmatch(column):
            return abs(wanted - got) <= max(wanted, got) / 32 + 1
        if isinstance(wanted, int) and isinstance(got, int):
            return wanted == got
        return math.isclose(wanted, got, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(wanted, str) and isinstance(got, str): # reports show no control characters
        return wanted == got or wanted == re.sub(r"[\x00-\x1f\x7f]", "?", got)
    return wanted == got


def sorted_within_ties(rows, view):
    """Rows of equal length by all that they say."""
    key = TIES.get(view)
    if not key or not rows or key not in rows[0]:
        return rows
    return sorted(rows, key=lambda row: (-row[key], [str(row[name]) for name in sorted(row)]))


def compare_view(database, view, wanted):
    global comparisons
    got = [dict(row) for row in database.execute(f"SELECT * FROM report_{view}")]
    if len(wanted) != len(got):
        failures.append(f"report_{view}: {len(got)} rows, and not {len(wanted)}")
    if not wanted or not got:
        return
    missing = set(wanted[0]) - set(got[0])
    if missing - LEFT_OUT.get(view, set()):
        failures.append(f"report_{view}: lacks {sorted(missing - LEFT_OUT.get(view, set()))}")
    columns = [column for column in wanted[0] if column in got[0]]
    got = [{column: row[column] for column in columns} for row in got]
    wanted = [{column: row[column] for column in columns} for row in wanted]
    rows = zip(sorted_within_ties(wanted, view), sorted_within_ties(got, view))
    for number, (row, seen) in enumerate(rows):
        for column in columns:
            comparisons += 1
            if not is_equal(view, column, row[column], seen[column]):
                failures.append(f"report_{view} row {number} {column}: {seen[column]!r}, and not "
                                f"{row[column]!r}")


def compare_report(database, takt, trace, report):
    for view, rows in tables_of(takt, trace, report).items():
        if LEFT_OUT.get(view, ()) is not None:
            compare_view(database, view, rows)


def as_text(value):
    """What a field of CSV says of a value of SQLite."""
    if value is None:
        return ""
    text = str(value)
    is_formula = isinstance(value, str) and value[:1] in tuple("=+-@\t\r")
    return "'" + text if is_formula else text


def is_field(value, field):
    if isinstance(value, float) and field:
        return float(field) == value
    # SQLite has neither NaN nor integers beyond its own.
    return as_text(value) == field or (value is None and field.lower() in ("nan", "-nan"))


def compare_table(database, folder, table):
    global comparisons
    rows = database.execute(f"SELECT * FROM {table} ORDER BY rowid")
    with open(os.path.join(folder, table + ".csv"), encoding="utf-8", newline="") as file:
        text = file.read()
    if not text.endswith("\r\n"):
        failures.append(f"{table}.csv: does not end in CR LF")
    fields = list(csv.reader(text.splitlines(keepends=True), strict=True))
    if fields[0] != [column[0] for column in rows.description]:
        failures.append(f"{table}.csv: columns are {fields[0]}")
    rows = rows.fetchall()
    if len(rows) != len(fields) - 1:
        failures.append(f"{table}.csv: {len(fields) - 1} rows, and not {len(rows)}")
    for number, (row, line) in enumerate(zip(rows, fields[1:])):
        for column, value, field in zip(fields[0], row, line):
            comparisons += 1
            if not is_field(value, field):
                failures.append(f"{table}.csv row {number} {column}: {field!r}, and not {value!r}")


def main(takt, trace, path, folder, *reports):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    for problem in database.execute("PRAGMA foreign_key_check"):
        failures.append(f"foreign key: {tuple(problem)}")
    for report in reports or REPORTS:
        compare_report(database, takt, trace, report)
    tables = [row[0] for row in database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'report_%'")]
    if sorted(name + ".csv" for name in tables) != sorted(os.listdir(folder)):
        failures.append(f"{folder} has other files: {sorted(os.listdir(folder))}")
    for table in tables:
        compare_table(database, folder, table)
    print("\n".join(failures[:30]) or f"{comparisons} comparisons, all equal")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
