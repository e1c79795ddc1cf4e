#!/usr/bin/env python3
"""Adds up the scopes of Chrome JSON files, without Takt.

    chrome_totals.py [--tracks | --steps | --devices | --counters] FILE...

prints NAME, COUNT and TOTAL_NS, separated by tabs, sorted by name. COUNT is of all calls, TOTAL_NS
of those that do not run inside one of the same name, as in the report "scopes". Files may be
packed; the parts of a divided trace are given together. Control characters of names become '?'.
Spans of tracks that are no threads, steps, what devices did, and counters, whose total is the sum
of their values, are left out unless they are asked for.
"""
import gzip
import json
import re
import sys
from collections import defaultdict
from decimal import Decimal

IS_WANTED = {
    "--scopes": lambda category, name: category == "cpu_op",
    "--tracks": lambda category, name: category == "user_annotation" and not is_step(name),
    "--steps": lambda category, name: category == "user_annotation" and is_step(name),
    "--devices": lambda category, name: category in ("kernel", "gpu_memcpy", "gpu_memset"),
}


def is_step(name):
    return re.fullmatch(r"ProfilerStep#\d+", name)


def read(path):
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        return json.loads(file.read().decode("utf-8"), parse_float=Decimal)["traceEvents"]


def slices(events, what):
    """Per row, (begin, end, name) in whole nanoseconds, parents before children."""
    rows = defaultdict(list)
    for event in events:
        if event["ph"] == "X" and IS_WANTED[what](event["cat"], event["name"]):
            begin = int(event["ts"] * 1000)
            end = begin + round(event["dur"] * 1000)
            rows[event["pid"], event["tid"]].append((begin, end, event["name"]))
    for row in rows.values():
        row.sort(key=lambda slice: (slice[0], -slice[1]))
        yield row


def add_slices(events, what, totals):
    for row in slices(events, what):
        open_slices = []
        for begin, end, name in row:
            while open_slices and open_slices[-1][0] <= begin:
                open_slices.pop()
            totals[name][0] += 1
            if all(other != name for _, other in open_slices):
                totals[name][1] += end - begin
            open_slices.append((end, name))


def add_counters(events, totals):
    for event in events:
        if event["ph"] == "C":
            for value in event["args"].values():
                totals[event["name"]][0] += 1
                totals[event["name"]][1] += value


def main(arguments):
    what = "--scopes"
    if arguments and arguments[0].startswith("--"):
        what = arguments.pop(0)
    if not arguments or what not in IS_WANTED and what != "--counters":
        print(__doc__.strip(), file=sys.stderr)
        return 2
    events = [event for path in arguments for event in read(path)]
    totals = defaultdict(lambda: [0, 0])
    if what == "--counters":
        add_counters(events, totals)
    else:
        add_slices(events, what, totals)
    for name in sorted(totals):
        print(re.sub(r"[\x00-\x1f\x7f]", "?", name), *totals[name], sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
