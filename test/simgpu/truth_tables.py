#!/usr/bin/env python3
"""Holds tables of SQLite that no report shows, and XSpace, against the books of prog_truth.

    truth_tables.py BOOKS DATABASE XPLANE

Waits and flows: on which thread, in which scope and call, of which stream and event, and when they
lie inside of that call. The steps of activities. XSpace: operations, and kernels by name, step and operation, as XProf's
converters add them up."""
import collections
import os
import sqlite3
import sys

import truth_devices
from truth_books import Books, CYCLES, took

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import check_xplane  # noqa: E402

failures = []
comparisons = 0


def equal(what, got, truth):
    global comparisons
    comparisons += len(truth)
    if got == truth:
        return
    wrong = next((pair for pair in zip(got, truth) if pair[0] != pair[1]), None)
    failures.append(f"{what}: {len(got)} rows, and not {len(truth)}" if wrong is None else
                    f"{what}: {wrong[0]}, and not {wrong[1]}")


PATHS = """WITH RECURSIVE place(id, name, path) AS (
    SELECT id, name, CASE WHEN kind = 'call' THEN '' ELSE name END FROM spans WHERE parent IS NULL
    UNION ALL
    SELECT s.id, s.name, CASE WHEN s.kind = 'call' THEN p.path ELSE p.path || '/' || s.name END
    FROM place p JOIN spans s ON s.parent = p.id
) """
WAITS = PATHS + """
SELECT t.thread, w.thread, s.step, place.path, place.name, w.kind, w.context, w.stream,
       w.record_stream, w.event, w.correlation - a.correlation, w.begin_ns - s.begin_ns, s.end_ns - w.end_ns,
       (SELECT r.span FROM api r WHERE r.correlation = w.record_correlation), w.track - s.track
FROM waits w LEFT JOIN spans s ON s.id = w.span LEFT JOIN place ON place.id = w.span
     LEFT JOIN tracks t ON t.id = s.track LEFT JOIN api a ON a.span = w.span ORDER BY w.span"""
RECORDS = "SELECT span FROM api JOIN tracks ON tracks.id = track WHERE thread = ? AND api.name = ?"
FLOWS = PATHS + """
SELECT t.thread, s.step, place.path, f.id, f.is_end, f.time_ns BETWEEN s.begin_ns AND s.end_ns,
       f.track - s.track
FROM flows f LEFT JOIN spans s ON s.id = f.span LEFT JOIN place ON place.id = f.span
     LEFT JOIN tracks t ON t.id = f.track"""
CALLS = {"stream": "cuStreamSynchronize", "stream event": "cuStreamWaitEvent"}


def by_thread(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row[0]].append(row[1:])
    return groups


def check_waits(books, database):
    """In the order of each thread's calls. A thread has one event, and waits twice for it after each
    cuEventRecord. Waits have times by CUPTI's clock, and calls by the host's."""
    slack = database.execute("SELECT 1 + sum(abs(value)) FROM facts WHERE key IN "
                             "('device_uncertainty_ns', 'device_shift_ns')").fetchone()[0]
    got, events = by_thread(database.execute(WAITS)), {}
    for tid, thread in books.tids.items():
        truth = [wait for wait in books.waits if wait[1] == thread and wait[0] in CYCLES[0]]
        rows = got[tid]
        equal(f"waits of thread {thread}",
              [(*row[:8], row[9], row[13]) for row in rows],
              [(tid, step, "/".join(path), CALLS[kind], kind, 1 + thread // 2, stream,
                record or None, 0, 0) for step, _, path, kind, stream, record in truth])
        equal(f"waits of thread {thread} outside of their calls",
              [row for row in rows if min(row[10], row[11]) < -slack], [])
        records = sorted(row[0] for row in database.execute(RECORDS, (tid, "cuEventRecord")))
        equal(f"recording calls of thread {thread}", [row[12] for row in rows if row[7]],
              [span for span in records for _ in range(2)])
        events[thread] = {row[8] for row in rows if row[7]}
    equal("events", [len(one) for one in events.values()], [1] * len(events))
    equal("different events", [len(set.union(*events.values()))], [len(events)])


def check_flows(books, database):
    tids = {thread: tid for tid, thread in books.tids.items()}
    truth = sorted((tids[thread], step, "/".join(path), str(number), is_end, 1, 0)
                   for step, thread, path, number, is_end in books.flows if step in CYCLES[0])
    equal("flows", sorted(tuple(row) for row in database.execute(FLOWS)), truth)


def check_steps(books, database):
    """The step that launched an activity, which may end in a later one."""
    got = database.execute("SELECT step, device, stream, name, count(*), sum(duration_ns)"
                           " FROM activities GROUP BY 1, 2, 3, 4")
    truth = collections.defaultdict(lambda: [0, 0])
    for work in books.works:
        if work.step in CYCLES[0]:
            sums = truth[work.step, work.device, work.stream, work.name]
            sums[0] += 1
            sums[1] += work.ns
    equal("activities by step", sorted(tuple(row) for row in got),
          sorted((*key, *sums) for key, sums in truth.items()))


def totals(pairs):
    """(count, ns) by name."""
    sums = collections.defaultdict(lambda: [0, 0])
    for name, ns in pairs:
        sums[name][0] += 1
        sums[name][1] += ns
    return sorted((name, *both) for name, both in sums.items())


def check_xspace(books, path):
    with open(path, "rb") as opened:
        file = check_xplane.File(path, opened.read())
    kernels = [work for work in books.works
               if work.step in CYCLES[0] and work.kind() == "kernel"]
    names = [truth_devices.FULL_NAMES.get(work.name, work.name[len("kernel "):]) for work in kernels]
    truth = {"--kernels": zip(names, (work.ns for work in kernels)),
             "--steps": ((f"step {work.step}", work.ns) for work in kernels),
             "--device-ops": (("/".join(work.path), work.ns) for work in kernels)}
    for what, pairs in truth.items():
        equal(f"xplane {what}", totals((name, ps // 1000) for name, ps
                                       in check_xplane.TOTALS[what](file)), totals(pairs))
    scopes = [("/".join(path), 0) for step, path, _ in books.scopes if step in CYCLES[0]]
    equal("xplane --ops", totals((name, 0) for name, _ in check_xplane.ops(file)), totals(scopes))
    copies = [work for work in books.works if work.step in CYCLES[0] and work.kind() != "kernel"]
    equal("xplane, copies and sets", [sum(event.duration for plane in file.devices
                                          for _, event in plane.all_events()) // 1000],
          [took(kernels) + took(copies)])


def main(folder, database, xplane):
    books = Books(folder, "node", [0, 0])
    opened = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    check_waits(books, opened)
    check_flows(books, opened)
    check_steps(books, opened)
    check_xspace(books, xplane)
    print("\n".join(failures) or f"{comparisons} rows of waits, flows, steps and XSpace are true")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
