#!/usr/bin/env python3
"""When devices were busy is known as the table of docs/reports.md says. Programs on the stand-ins,
a file that is cut and other profilers' files make each of its conditions. How much is known follows
from the exported activities and the table's words. Reports then have numbers where the table says
known, and none where it says unknown: in JSON, CSV, SQLite and text."""

import csv
import io
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile

SET = {key: value for key, value in os.environ.items() if not key.startswith("TAKT_")}
ROOT, BUILD = os.environ["TAKT_ROOT"], os.environ["TAKT_BUILD"]
TAKT, SIM = os.environ["TAKT_BIN"] + "/takt", BUILD + "/simgpu/13"
checks = []


def check(claim, *what):
    checks.append(None if claim else " ".join(map(str, what)))


def takt(*arguments, statuses=(0, 4)):
    """What it prints. 4 is a file that is cut, or whose program was killed."""
    done = subprocess.run([TAKT, *arguments], capture_output=True, text=True)
    if "built without SQLite" in done.stderr:
        print("takt was built without SQLite")
        sys.exit(77)
    check(done.returncode in statuses, arguments, "ends with", done.returncode, done.stderr)
    return done.stdout


def record(name, profiling, *arguments, sim="", output="", program="prog_known",
           file="sim.0.pftrace", **environment):
    with open(name + ".yaml", "w") as config:
        config.write(f"profiling: {{name: sim, {profiling}}}\nreports: []\n"
                     f"output: {{directory: {name}, traces: [perfetto]{output}}}\n")
    done = subprocess.run([f"{BUILD}/test/simgpu/{program}", *arguments], capture_output=True, env={
        **SET, "LD_LIBRARY_PATH": SIM, "TAKT_CUPTI_LIBRARY": SIM + "/libcupti.so.13",
        "TAKT_SIM": sim, "TAKT_CONFIG": name + ".yaml", **environment})
    check(done.returncode in (0, -9), name, "ends with", done.returncode, done.stderr)
    return f"{name}/{file}"


def record_killed(name):
    """Killed when all that it did is in the file."""
    file = "sim.0.partial.pftrace"
    has_all = f"{shlex.quote(TAKT)} info --json {name}/{file} | grep -qE '\"activities\": *36\\b'"
    return record(name, "active: 0", "kill", program="prog_simulation", output=", stream: true",
                  file=file, TEST_AWAIT=has_all)


def record_cut(name):
    path = record(name, ALL, "2", "5000", sim=SHORT)
    while json.loads(takt("info", "--json", path))["activities"] == 2 * 5001:
        os.truncate(path, os.path.getsize(path) * 98 // 100)
    return path


LAUNCHES = (200000, 250000), (500000, 600000)  # begin of the call, and of its kernel of 300 us


def torch(name, calls=True, cut=None):
    event = {"ph": "X", "pid": 1, "tid": 1, "cat": "cuda_runtime", "name": "cudaLaunchKernel"}
    events = []
    for number, (launch, begin) in enumerate(LAUNCHES, 1):
        tie = {"correlation": number, "device": 0, "stream": 7, "context": 1}
        events += [{**event, "ts": launch / 1000, "dur": 10, "args": tie}] * calls
        events += [{**event, "cat": "kernel", "ts": begin / 1000, "dur": 300, "args": tie}]
    with open(name + ".json", "w") as file:
        file.write(json.dumps({"traceEvents": events})[:cut])
    return name + ".json"


def nsight(name, calls=True):
    db = sqlite3.connect(name + ".sqlite")
    db.executescript("""CREATE TABLE StringIds (id, value);
        INSERT INTO StringIds VALUES (1, 'add'), (2, 'cudaLaunchKernel');
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
            start, end, deviceId, contextId, streamId, correlationId, demangledName);""")
    for number, (launch, begin) in enumerate(LAUNCHES, 1):
        db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,16777217,?,2)",
                       [(launch, launch + 10000, number)] * calls)
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,0,1,7,?,1)",
                   (begin, begin + 300000, number))
    db.commit()
    return name + ".sqlite"


ALL, LITTLE, SHORT = "wait: 0, warmup: 0, active: 4", "max_memory: 64KiB", "kernel=1us"
CONDITIONS = {  # by the table's first column, between semicolons
    "CUPTI, all kinds of activities": [
        lambda: record("first", ALL, sim=SHORT),
        lambda: record("ahead", "wait: 1, warmup: 0, active: 3", sim="kernel=5ms"),
        lambda: record("both", ALL + ", mode: both"),
        lambda: record("flight", "active: 0, mode: flight"),
        lambda: record("stream", "active: 0", output=", stream: true")],
    "launches before the recording were seen: after `warmup`": [
        lambda: record("warm", "wait: 0, warmup: 1, active: 3")],
    "after an earlier cycle that ended just before": [  # the first one's last memset ends in it
        lambda: record("cycles", "wait: 0, warmup: 0, active: 2, repeat: 2", "4", "200",
                       file="sim.1.pftrace", sim="kernel=1us; memset=100us")],
    "flight recorder that has overwritten events": [
        lambda: record("over", f"active: 0, mode: flight, {LITTLE}", "2", "20000", sim=SHORT)],
    "activities dropped for lack of memory": [
        lambda: record("dropped", f"{ALL}, {LITTLE}", "4", "10000", sim=SHORT)],
    "program killed, or writing stopped": [lambda: record_killed("killed")],
    "`filter` leaves out kinds": [lambda: record("filter", ALL + ", filter: [memset]")],
    "CUDA events": [lambda: record("events", ALL, TAKT_CUPTI_LIBRARY="none")],
    "more than a quarter *incomplete*": [
        lambda: record("incomplete", ALL + ", device_wait_ms: 1", sim="kernel=3600s")],
    "file cut before its last activity": [lambda: record_cut("cut"), lambda: torch("less", cut=-3)],
    "`mode: summary`": [lambda: record("summary", "active: 0, mode: summary")],
    "imported": [lambda: torch("torch"), lambda: torch("torch_calls", calls=False),
                 lambda: nsight("nsight"), lambda: nsight("nsight_calls", calls=False)],
}


class Recording:
    """A file, by its tables in SQLite."""

    def __init__(self, path):
        takt("export", "--sqlite", "-o", path + ".db", path)
        self.path, self.db = path, sqlite3.connect(path + ".db")
        self.db.row_factory = sqlite3.Row
        facts = dict(map(tuple, self.db.execute("SELECT key, value FROM facts")))
        self.begin, self.end, self.whole_until = (
            int(facts[key]) for key in ("begin_ns", "end_ns", "known_until_ns"))
        self.works = self.db.execute("SELECT * FROM activities ORDER BY begin_ns, id").fetchall()
        self.losses = dict(map(tuple, self.db.execute("SELECT name, count FROM losses")))
        self.last_end = max((work["end_ns"] for work in self.works), default=0)
        self.unsure = float(facts["device_uncertainty_ns"] or 0)


# How the table's second column begins.
EARLIER = "all; of a stream, from the end of that work on, or from the launch of its first activity"
FIRST, LAST = "from the first activity that it has on", "until the last one"
SLICE = "until the last slice; if some are *incomplete*, until the last activity"
NOTHING, SUMS = "nothing", "nothing but sums and counts"
RULES = {EARLIER, FIRST, LAST, SLICE, NOTHING, SUMS, "from the launch of the first activity on",
         "as with CUPTI; with an unknown launch from the activity's begin on"}


def known_ns(r, rule, works, is_device):
    """Of a stream or device with these works. None: when a warm-up's work ended, nobody tells."""
    begin, launch, end = works[0]["begin_ns"], works[0]["launch_begin_ns"], r.end
    begin = max(r.begin, begin if launch is None else launch)
    if rule == NOTHING:
        return 0
    if rule == EARLIER:
        if "warm" in r.path and not is_device:
            return None
        begin = r.begin if is_device else min(begin, max(r.begin, Recording(
            r.path.replace(".1.pftrace", ".0.pftrace")).last_end))
    elif rule == FIRST:
        begin = max(begin, r.works[0]["begin_ns"])
    elif rule == LAST or (rule == SLICE and r.losses["incomplete"]):
        end = min(end, r.last_end)
    end = min(end, r.whole_until) if rule == SLICE else end
    return end - begin - (unseen_ns(works, begin, end) if is_device and rule != EARLIER else 0)


def unseen_ns(works, begin, end):
    """The time in which none of the works ran, and in which some stream's first one was launched
    already: behind it may have been work that nobody saw. But not for the very first."""
    first, unseen, until = {}, 0, works[0]["begin_ns"]
    for work in works:
        first.setdefault(work["stream"], work)
    for work in works:
        awaited = [w["launch_begin_ns"] for w in first.values()
                   if w["launch_begin_ns"] is not None and w["begin_ns"] >= work["begin_ns"]]
        since = max([until, begin] + [min(awaited)] if awaited else [work["begin_ns"]])
        unseen += max(0, min(work["begin_ns"], end) - since)
        until = max(until, work["end_ns"])
    return unseen


def read_table():
    with open(ROOT + "/docs/reports.md") as file:
        table = re.search(r"\n\| recording \| known \|\n\|---\|---\|\n((?:\|.*\n)+)", file.read())
    rows = [line[2:-2].split(" | ") for line in table[1].splitlines()] if table else []
    return [(part, known.split(":")[0]) for parts, known in rows for part in parts.split("; ")]


def report(r, name, unknown, is_known):
    """The rows of a report's first table, which has numbers in the same places in all formats. For
    each row `is_known` says whether the columns `unknown` have some."""
    form = [takt("report", "--" + name, "--rows", "all", option, r.path)
            for option in ("--json", "--csv", "--width=500")]
    found, text = json.loads(form[0]), form[2].split("\n")
    rows, key_of = found["rows"], dict(zip(found["titles"], found["columns"]))
    lines = list(csv.DictReader(io.StringIO(form[1].replace("\r", "").split("\n\n")[0])))
    stored = [dict(row) for row in r.db.execute(f"SELECT * FROM report_{name}")]
    rules = [i for i, line in enumerate(text) if re.fullmatch(r"-+(  -+)*", line)]
    spans = [match.span() for match in re.finditer("-+", text[rules[0]])] if rows else []
    titles = [text[rules[0] + 1][a:b].strip() for a, b in spans]
    check(len(rows) == len(lines) == len(stored), r.path, name, "rows in CSV, in SQLite")
    for i, (row, line, kept) in enumerate(zip(rows, lines, stored)):
        shown = {key_of[title]: text[rules[1] + 1 + i][a:b].strip()
                 for title, (a, b) in zip(titles, spans)}
        for key in key_of.values():
            what = r.path, name, key, row[key]
            check((line[key] == "") == (row[key] is None), *what, "in CSV", line[key])
            check((kept.get(key, row[key]) is None) == (row[key] is None), *what, "in SQLite")
            check((shown.get(key, row[key]) in ("", None)) == (row[key] is None), *what, "in text")
            check(key not in unknown.split() or (row[key] is not None) == is_known(row), *what)
    return rows


def check_known(r, rule):
    known, wall = {}, r.end - r.begin
    for stream in {None, *(work["stream"] for work in r.works)}:  # all on one device
        works = [work for work in r.works if stream in (None, work["stream"])]
        known[stream] = known_ns(r, rule, works, stream is None)
    rows = report(r, "gaps", "busy_ns busy_percent idle_ns gaps host_late_ns waited_ns short_ns "
                  "graph_ns edge_ns other_ns late", lambda row: known[row["stream"]] != 0)
    check({row["stream"] for row in rows} == set(known), r.path, "rows of gaps")
    for row in rows:
        wanted = known[row["stream"]]
        found = wall if row["known_percent"] is None else row["known_percent"] * wall / 100
        unsure = 2 * r.unsure if rule == EARLIER and row["stream"] else 0
        what = r.path, row["stream"], "is known for", found, "ns, not for", wanted, "ns", row
        check(wanted is None or abs(found - wanted) <= 1 + unsure, *what)
        check(not found or abs(row["busy_ns"] + row["idle_ns"] - found) < 1, *what)
    is_known = known[None] != 0
    has_all = not (r.losses["device dropped"] or r.losses["overwritten"])
    report(r, "launches", "not_hidden not_hidden_percent waited_ns", lambda row: is_known)
    report(r, "steps", "cuda_busy_percent",
           lambda row: is_known and has_all and row["steps"] == "recorded")
    check_devices(r, is_known)


def check_devices(r, is_known):
    found = json.loads(takt("report", "--summary", "--json", r.path))
    for row in found["tables"]["devices"]["rows"]:
        check(row["total_time_ns"] and row["count"], r.path, row)
        for key in ("busy_percent", "busy_ns", "idle_ns", "idle_host_ns", "late"):
            check((row[key] is not None) == is_known, r.path, "summary", key, row[key])


def check_sums(r):
    for name in ("gaps", "launches"):
        check(not takt("report", "--" + name, r.path, statuses=(1,)), r.path, name)
    check_devices(r, False)
    row = report(r, "steps", "cuda_time_ns", lambda row: row["steps"] == "recorded")[0]
    check("cuda_busy_percent" not in row, r.path, row)


table = read_table()
if {row[0] for row in table} != set(CONDITIONS) or not {row[1] for row in table} <= RULES:
    sys.exit(f"the table of docs/reports.md is not that of this test: {table}")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for condition, rule in table:
        for recording in (Recording(make()) for make in CONDITIONS[condition]):
            check_sums(recording) if rule == SUMS else check_known(recording, rule)
if any(checks):
    sys.exit("\n".join([text for text in checks if text][:30]))
print(f"{len(checks)} facts about {len(table)} conditions")
