#!/usr/bin/env python3
"""Holds an SQLite file and a folder of CSV files that Takt exported against its reports.

    compare_tables.py TAKT TRACE DATABASE FOLDER

Every view report_NAME has the rows of `takt report --NAME --json` in the same order, with the same
numbers in the columns that both have; medians and p99 of reports are within 1/32. Every table of
the database is a file of the folder, value by value.
"""
import csv
import json
import math
import os
import re
import sqlite3
import subprocess
import sys

REPORTS = ("scopes", "tree", "steps", "api", "timeline", "activities", "devices", "kernels",
           "copies", "memory", "gaps", "launches")
# What every view must have beside a name or two, so that none is compared by nothing.
LEAST_COLUMNS = 3
ESTIMATES = re.compile(r".*(median|p99)_ns")

failures = []
comparisons = 0


def report_rows(takt, trace, name):
    """The rows of a report, or of the table of another report; [] where it needs spans."""
    report = "memory" if name == "copies" else name
    command = [takt, "report", f"--{report}", "--json", "--rows", "all", trace]
    text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    document = json.loads(text) if text else {"rows": []}
    if name == "copies":
        return document.get("tables", {}).get("copies", {"rows": []})["rows"]
    rows = document["rows"]
    kind = {"memory": ("period", "recording"), "steps": ("steps", "recorded")}.get(name)
    rows = [row for row in rows if row[kind[0]] == kind[1]] if kind else rows
    return [row for row in rows if name != "memory" or row["allocations"] or row["frees"]]


def is_equal(report, column, wanted, got):
    if isinstance(wanted, (int, float)) and isinstance(got, (int, float)):
        if report != "steps" and ESTIMATES.fullmatch(column):
            return abs(wanted - got) <= max(wanted, got) / 32 + 1
        if isinstance(wanted, int) and isinstance(got, int):
            return wanted == got
        return math.isclose(wanted, got, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(wanted, str) and isinstance(got, str): # reports show no control characters
        return wanted == got or wanted == re.sub(r"[\x00-\x1f\x7f]", "?", got)
    return wanted == got


def compare_report(database, takt, trace, report):
    global comparisons
    wanted = report_rows(takt, trace, report)
    got = [dict(row) for row in database.execute(f"SELECT * FROM report_{report}")]
    if report == "memory": # devices come in the order in which their memory was first heard of
        wanted, got = (sorted(rows, key=lambda row: row["device"]) for rows in (wanted, got))
    if len(wanted) != len(got):
        failures.append(f"report_{report}: {len(got)} rows, and not {len(wanted)}")
    for number, (row, view) in enumerate(zip(wanted, got)):
        columns = [column for column in row if column in view]
        if len(columns) < LEAST_COLUMNS:
            failures.append(f"report_{report}: has only {columns}")
        for column in columns:
            comparisons += 1
            if not is_equal(report, column, row[column], view[column]):
                failures.append(f"report_{report} row {number} {column}: {view[column]!r}, and not "
                                f"{row[column]!r}")


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


def main(takt, trace, path, folder):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    for problem in database.execute("PRAGMA foreign_key_check"):
        failures.append(f"foreign key: {tuple(problem)}")
    is_cut = database.execute("SELECT count FROM losses WHERE name = 'cut'").fetchone()[0] > 0
    for report in REPORTS:
        if report == "memory" and is_cut: # its totals stand in the file before the events
            continue
        compare_report(database, takt, trace, report)
    tables = [row[0] for row in database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'")]
    if sorted(name + ".csv" for name in tables) != sorted(os.listdir(folder)):
        failures.append(f"{folder} has other files: {sorted(os.listdir(folder))}")
    for table in tables:
        compare_table(database, folder, table)
    print("\n".join(failures[:30]) or f"{comparisons} comparisons, all equal")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
