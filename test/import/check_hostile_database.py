#!/usr/bin/env python3
"""SQLite files that only look like Nsight Systems': nothing that they define is run, and a small one
cannot ask for much work or memory. What is odd but no program is read."""
import json
import os
import resource
import sqlite3
import struct
import subprocess
import sys
import tempfile

takt = os.environ["TAKT_BIN"] + "/takt"
# Sanitizers have memory of their own. Processor time: they take some 0.05 s, and took 2 to 60 before.
MOST_MIB, MOST_S = 1000 if os.environ.get("SAN") else 100, 10

TABLES = """CREATE TABLE StringIds (id INT, value TEXT);
INSERT INTO StringIds VALUES (1, 'k'), (2, 'cudaLaunchKernel_v7000');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 5, 4294967296, 1, 2);
"""
COLUMNS = "start, end, eventType, globalTid, text, textId, domainId"
RANGES = f"CREATE TABLE NVTX_EVENTS ({COLUMNS}); INSERT INTO NVTX_EVENTS VALUES (1, 9, 59, 16777217, %s, NULL, 0);"


def view(start, text="'a'", source=""):
    return (f"CREATE VIEW NVTX_EVENTS AS SELECT {start} AS start, 99 AS end, 59 AS eventType, "
            f"16777217 AS globalTid, {text} AS text, NULL AS textId, 0 AS domainId {source}")


COUNT = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
REFUSED = {  # by a sentence about the view
    "calls Takt's function": view("takt_take(1)"),
    "calls it without arguments": view("takt_take()", source="FROM (SELECT 1 UNION SELECT 2)"),
    "a function as a name": "CREATE VIEW ThreadNames AS SELECT takt_take() AS nameId, 1 AS priority, "
                            "16777217 AS globalTid FROM (SELECT 1)",
    "endless": view("x", source="FROM n").replace("SELECT", COUNT + "SELECT", 1),
    "one large value": view("1", "hex(zeroblob(490000000))"),
    "itself": "CREATE VIEW NVTX_EVENTS AS SELECT * FROM NVTX_EVENTS",
    "strings": "DROP TABLE StringIds; CREATE VIEW StringIds AS SELECT 1 AS id, 'a' AS value",
    "virtual": "CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(start, end, eventType, globalTid, text)",
}
READ = {  # with a call and a range
    "a generated value": (RANGES % "'a'").replace(
        "domainId);", "domainId, g TEXT GENERATED ALWAYS AS (hex(zeroblob(490000000))) VIRTUAL);", 1).replace(
        "INTO NVTX_EVENTS", f"INTO NVTX_EVENTS ({COLUMNS})", 1),
    "a trigger": RANGES % "'a'" + "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN SELECT takt_take(); END;",
    "a value of 20 MB": RANGES % "hex(zeroblob(10000000))",
}


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))


def ask(path):
    """Status, what was said and printed, and the most memory in MiB."""
    with subprocess.Popen([takt, "info", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, preexec_fn=limit) as process:
        out, said = process.communicate()
    return process.returncode, said, out, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


def make(path, statements):
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.executescript(TABLES + statements)
    db.commit()
    db.close()


def many_from_few(path):
    """A table whose pages have all the same child: 500 * 500 * 200 rows in five pages."""
    make(path, f"CREATE TABLE NVTX_EVENTS ({COLUMNS})")
    db = sqlite3.connect(path)
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (1, 9, 59, 16777217, 'a', NULL, 0)", [()] * 100)
    db.commit()
    root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'NVTX_EVENTS'").fetchone()[0]
    db.close()
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        size, pages = 4096, len(data) // 4096
        assert struct.unpack_from(">H", data, 16)[0] == size
        leaf = data[(root - 1) * size:root * size]
        assert leaf[0] == 13  # all rows are on this page
        cells, middle = 500, pages + 1

        def inner(child):
            page = bytearray(size)
            struct.pack_into(">BHHHBI", page, 0, 5, 0, cells, size - 5 * cells, 0, child)
            for i in range(cells):
                at = size - 5 * (i + 1)
                struct.pack_into(">H", page, 12 + 2 * i, at)
                struct.pack_into(">IB", page, at, child, 1)
            return page

        data[(root - 1) * size:root * size] = inner(middle)
        data += inner(middle + 1) + leaf
        struct.pack_into(">I", data, 28, pages + 2)
        file.seek(0)
        file.write(data)


def main(folder):
    path, problems = folder + "/a.sqlite", []
    for what, statement in REFUSED.items():
        try:
            make(path, statement)
        except sqlite3.OperationalError:
            if what != "virtual":
                raise
            print("left out: a virtual table: this Python's SQLite has no fts5")
            continue
        status, said, _, mib = ask(path)
        if status != 1 or "is a view or a virtual table" not in said or said.count("\n") != 1 or mib > MOST_MIB:
            problems.append(f"{what}: status {status}, {mib} MiB: {said}")
    many_from_few(path)
    status, said, _, mib = ask(path)
    if status != 1 or "more work than its size explains" not in said or mib > MOST_MIB:
        problems.append(f"many rows from few pages: status {status}, {mib} MiB: {said}")
    for what, statements in READ.items():
        make(path, statements)
        status, said, out, mib = ask(path)
        if status or json.loads(out)["spans"] != 2 or mib > MOST_MIB:
            problems.append(f"{what}: status {status}, {mib} MiB: {said}")
    if problems:
        sys.exit("\n".join(problems))


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
