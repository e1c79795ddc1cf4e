#!/usr/bin/env python3
"""Looks at tables that Takt exported:

    table_questions.py hostile DATABASE FOLDER    names of prog_same are whole in both
    table_questions.py cut DATABASE               the trace was cut, and the database says so
    table_questions.py summary DATABASE FOLDER    nothing but what a summary knows
    table_questions.py page DATABASE PAGE         every query of the page runs
    table_questions.py gaps DATABASE PAGE REPORT  the page's longest gaps are those of the report
"""
import csv
import json
import re
import sqlite3
import sys

# Of prog_same: what makes trouble to quoting, in names and in arguments.
HOSTILE = ('with "quotes", commas; and | pipes', "a\ttab, a\nnewline and \033[31mred\033[0m",
           "Gr\u00fc\u00df" + "e \u732b \U0001f408", "")
EVENTS = ("spans", "paths", "args", "frames", "api", "activities")


def read(folder, table):
    with open(f"{folder}/{table}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def column(database, sql):
    return [row[0] for row in database.execute(sql)]


def queries(page):
    with open(page, encoding="utf-8") as file:
        return re.findall(r"```sql\n(.*?)```", file.read(), re.S)


def hostile(database, folder):
    for table, name in ("spans", "name"), ("args", "value"):
        in_file = {row[name] for row in read(folder, table)}
        in_base = set(map(str, column(database, f"SELECT {name} FROM {table}")))
        for text in HOSTILE:
            assert text in in_base, f"{table} of the database has no {text!r}"
            assert text in in_file, f"{table}.csv has no {text!r}"
    values = column(database, "SELECT value FROM args WHERE kind = 'uint'")
    assert str(2**64 - 1) in values, values[:3]
    assert str(2**64 - 1) in {row["value"] for row in read(folder, "args")}
    kinds = set(column(database, "SELECT kind || ' ' || typeof(value) FROM args"))
    assert {"int integer", "bool integer", "double real", "text text"} <= kinds, kinds


def cut(database):
    lost = column(database, "SELECT count FROM losses WHERE name = 'cut'")
    assert lost and lost[0] > 0, lost
    assert column(database, "SELECT count(*) FROM spans")[0] > 0


def summary(database, folder):
    for table in EVENTS:
        assert column(database, f"SELECT count(*) FROM {table}") == [0], table
        assert read(folder, table) == [], table
    assert column(database, "SELECT value FROM facts WHERE key = 'has_spans'") == [0]
    assert column(database, "SELECT count(*) FROM report_scopes") == [0]
    assert read(folder, "facts")


def page(database, path):
    found = queries(path)
    assert len(found) >= 5, "the page has hardly any queries"
    for sql in found:
        database.execute(sql).fetchall()


def gaps(database, path, report):
    """The report has gaps at the edges of the recording among them."""
    with open(report, encoding="utf-8") as file:
        rows = json.load(file)["tables"]["longest"]["rows"]
    wanted = [(row["device"], round(row["gap_ns"] / 1e3, 3), row["before"], row["after"])
              for row in rows if row["cause"] != "edge"]
    asked = [sql for sql in queries(path) if "FROM gaps" in sql][0]
    got = [(row[0], row[1], row[3], row[4]) for row in database.execute(asked)]
    assert wanted, "the report has no gaps"
    assert got[:len(wanted)] == wanted, f"{got}, and not {wanted}"


def main(what, database, *arguments):
    checks = {"hostile": hostile, "cut": cut, "summary": summary, "page": page, "gaps": gaps}
    try:
        checks[what](sqlite3.connect(f"file:{database}?mode=ro", uri=True), *arguments)
    except (AssertionError, sqlite3.Error, KeyError) as error:
        print(f"{what}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
