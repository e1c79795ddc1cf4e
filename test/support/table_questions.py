#!/usr/bin/env python3
"""Looks at tables that Takt exported:

    table_questions.py hostile DATABASE FOLDER    names of prog_same are whole in both
    table_questions.py cut DATABASE               the trace was cut, and the database says so
    table_questions.py summary DATABASE FOLDER    nothing but what a summary knows
    table_questions.py events DATABASE TRACE      flows, overheads and counters are those of the file, as
                                                  protoc has it, and steps those of the times
    table_questions.py page DATABASE PAGE         every query of the page runs
    table_questions.py run DATABASE               all steps of the run are there, and a recorded one took
                                                  what its begin and end say
    table_questions.py gaps DATABASE PAGE REPORT  the page's longest gaps are those of the report
"""
import csv
import json
import re
import sqlite3
import sys

import perfetto_totals

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


def summary(database, folder, report):
    """Without events; what the report of scopes says is there."""
    with open(report, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    got = database.execute("SELECT name, calls, cpu_total_ns FROM report_scopes").fetchall()
    assert rows and got == [(row["name"], row["calls"], row["cpu_total_ns"]) for row in rows], got
    for table in EVENTS:
        assert column(database, f"SELECT count(*) FROM {table}") == [0], table
        assert read(folder, table) == [], table
    assert column(database, "SELECT value FROM facts WHERE key = 'has_spans'") == [0]
    assert read(folder, "facts")


STEP_AT = ("(SELECT number FROM steps WHERE steps.begin_ns <= {0} AND {0} < steps.end_ns)")


def steps(database):
    """The step of each row, searched in all steps."""
    for table, time in ("spans", "t.begin_ns"), ("activities", "ifnull(t.launch_begin_ns, t.begin_ns)"):
        sql = f"SELECT t.id, t.step, {STEP_AT.format(time)} FROM {table} t"
        for number, step, wanted in database.execute(sql):
            assert step == wanted, f"{table} {number} is in step {wanted}, and not {step}"


def events_of_file(trace):
    """Flows, counters with their thread, and overheads, from the packets."""
    flows, counters, overheads = [], [], []
    rows, threads, names, now, begun = {}, {}, {}, {}, {}
    for packet in perfetto_totals.read_messages(perfetto_totals.decode(trace)):
        number = (packet["trusted_packet_sequence_id"] or [0])[0]
        for clock in (c for snapshot in packet["clock_snapshot"] for c in snapshot["clocks"]):
            if clock["clock_id"] == [perfetto_totals.DELTA_CLOCK]:
                now[number] = clock["timestamp"][0]
        for half in (half for takt in packet["takt"] for half in takt["track"]):
            if half["kind"][0] == "COUNTER":
                names[(half["index"] or [0])[0]] = (half["name"] or [b""])[0].decode()
            elif half["kind"][0] not in ("MEMORY", "DEVICE_MEMORY"):
                rows[number] = half["kind"][0]
                threads[number] = (half["thread_id"] or [0])[0]
        for event in packet["track_event"]:
            time = packet["timestamp"][0]
            if packet["timestamp_clock_id"] in ([], [perfetto_totals.DELTA_CLOCK]):
                now[number] += time
                time = now[number]
            kind = event["type"][0]
            if event["name"] == [b"flow"]:
                is_end = bool(event["terminating_flow_ids"])
                ids = event["terminating_flow_ids"] or event["flow_ids"]
                flows.append((ids[0], is_end, time, threads[number]))
            elif kind == "TYPE_COUNTER" and event["double_counter_value"]:
                counters.append((names[event["track_uuid"][0]], time, threads[number]))
            elif rows.get(number) == "OVERHEADS" and kind == "TYPE_SLICE_BEGIN":
                begun[number] = (time, event["name"][0].decode())
            elif rows.get(number) == "OVERHEADS" and kind == "TYPE_SLICE_END":
                overheads.append((begun[number][0], time, begun[number][1]))
    return sorted(flows), sorted(counters), sorted(overheads)


def events(database, trace):
    steps(database)
    flows, counters, overheads = events_of_file(trace)
    assert flows and counters, "the trace has too little"
    join = "LEFT JOIN tracks ON tracks.id = t.track"
    got = sorted((int(row[0]), bool(row[1]), row[2], row[3] or 0) for row in database.execute(
        f"SELECT t.id, t.is_end, t.time_ns, tracks.thread FROM flows t {join}"))
    assert got == flows, f"flows are {got[:3]}, and not {flows[:3]}"
    got = sorted((row[0], row[1], row[2] or 0) for row in database.execute(
        f"SELECT t.name, t.time_ns, tracks.thread FROM counters t {join}"))
    assert got == counters, f"counters are {got[:3]}, and not {counters[:3]}"
    got = sorted(database.execute("SELECT begin_ns, end_ns, kind FROM overheads"))
    assert got == overheads, f"overheads are {got[:3]}, and not {overheads[:3]}"
    outside = column(database, "SELECT count(*) FROM flows f JOIN spans s ON s.id = f.span"
                     " WHERE f.track <> s.track OR f.time_ns NOT BETWEEN s.begin_ns AND s.end_ns")
    assert outside == [0], "flows are outside of their spans"


def page(database, path):
    found = queries(path)
    assert len(found) >= 5, "the page has hardly any queries"
    for sql in found:
        database.execute(sql).fetchall()


def run(database):
    facts = dict(database.execute("SELECT key, value FROM facts"))
    durations = dict(database.execute("SELECT first_step, total_ns FROM run_steps"))
    assert list(durations) == list(range(facts["all_steps_count"])), durations
    assert sum(durations.values()) == facts["all_steps_total_ns"], "other times"
    recorded = database.execute("SELECT number, duration_ns FROM steps").fetchall()
    assert len(recorded) > 2 and len(durations) > len(recorded), (len(recorded), len(durations))
    for number, duration in recorded: # the clock was compared again when the recording began
        off = abs(duration - durations[number])
        assert off <= 1 + duration / 10000, f"step {number}: {duration}, {durations[number]}"
    last = database.execute("SELECT * FROM run_windows ORDER BY 1 DESC LIMIT 1").fetchone()
    assert last == (recorded[0][0], recorded[-1][0], len(recorded)), last
    slowest = sorted(durations, key=lambda step: (-durations[step], step))[:10]
    got = column(database, "SELECT step FROM slowest_steps ORDER BY duration_ns DESC, step")
    assert got == slowest, f"{got}, and not {slowest}"


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
    checks = {"hostile": hostile, "cut": cut, "summary": summary, "events": events, "page": page, "gaps": gaps,
              "run": run}
    try:
        checks[what](sqlite3.connect(f"file:{database}?mode=ro", uri=True), *arguments)
    except (AssertionError, sqlite3.Error, KeyError) as error:
        print(f"{what}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
