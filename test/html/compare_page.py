#!/usr/bin/env python3
"""Holds the data of a page against other files of the same trace, to the nanosecond.

    compare_page.py PAGE CHROME.json PERFETTO.pftrace FOLDER

CHROME.json is what `takt export --chrome` makes, and FOLDER has NAME.json for each report, what
`takt report --NAME --json --rows 1000` prints. Perfetto's file is read by protoc.
"""
import collections
import glob
import json
import math
import os
import re
import sys
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import page_data  # noqa: E402
import perfetto_totals  # noqa: E402

DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
failures = []
comparisons = 0


def equal(what, got, truth):
    """Of collections, the items that only one of them has."""
    global comparisons
    comparisons += 1
    if got == truth:
        return
    if isinstance(got, collections.Counter):
        got, truth = list((got - truth).items())[:3], list((truth - got).items())[:3]
    failures.append(f"{what}: the page has {got}, and not {truth}")


class Chrome:
    """Chrome's events with times as the page has them."""

    def __init__(self, path, page):
        with open(path, encoding="utf-8") as file:
            trace = json.load(file, parse_float=Decimal)
        self.events = trace["traceEvents"]
        self.base = int(trace["baseTimeNanoseconds"])
        self.shift = page.origin + int(page.facts["facts"]["realtime_offset_ns"]) - self.base

    def time(self, event):
        return int(event["ts"] * 1000) - self.shift

    def spans(self, *categories):
        for event in self.events:
            if event["ph"] == "X" and event["cat"] in categories:
                yield event, self.time(event), round(event["dur"] * 1000)

    def of_kind(self, phase, category=None):
        return (event for event in self.events
                if event["ph"] == phase and event.get("cat") == category)


def tracks_of(page, *kinds):
    for number, (track, rows) in enumerate(zip(page.facts["tracks"], page.tracks)):
        if track["kind"] in kinds:
            yield number, track, rows


def number_text(number):
    """A double in as few digits as bring the same one back, as C prints it."""
    texts = ("%.*g" % (digits, number) for digits in range(6, 18))
    return next(text for text in texts if float(text) == number)


def value_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(float(value)) if isinstance(value, Decimal) else str(value)


def chrome_span(event):
    """What stands at a span in Chrome's file: its arguments as the page has them, place, stack."""
    args = dict(event.get("args", {}))
    place = args.pop("file", "")
    stack = args.pop("Call stack", "")
    for taken in ("category", "device", "activity", "correlation", "External id", "begun before",
                  "unfinished"):
        args.pop(taken, None)
    last = [(key, args.pop(key)) for key in ("flops", "bytes", "result")
            if key in args and args[key]]
    pairs = [(re.sub(r"#\d+$", "", key), value) for key, value in args.items()] + last
    return ", ".join(f"{key}={value_text(value)}" for key, value in pairs), place, stack


def page_span(page, row):
    _, _, file, line = page.site(row)
    stack = page.lists["stacks"][row["stack"] - 1] if row["stack"] else []
    return page.string(row["args"]), f"{os.path.basename(file)}:{line}" if file else "", ";".join(stack)


def compare_spans(page, chrome):
    got = collections.Counter(
        (page.site(row)[0], row["begin"], row["duration"], track["thread"], *page_span(page, row))
        for _, track, rows in tracks_of(page, "thread") for row in rows)
    truth = collections.Counter(
        (event["name"], begin, duration, event["tid"], *chrome_span(event))
        for event, begin, duration in chrome.spans("cpu_op", "cuda_runtime", "cuda_driver"))
    if {key[3] for key in truth} != {key[3] for key in got}:
        # ids that occur twice in a trace get rows of their own in Chrome's file
        got = collections.Counter(key[:3] + key[4:] for key in got.elements())
        truth = collections.Counter(key[:3] + key[4:] for key in truth.elements())
    equal("spans of threads", got, truth)
    got = collections.Counter(
        (page.site(row)[0], row["begin"], row["duration"])
        for _, _, rows in tracks_of(page, "async") for row in rows)
    got.update((f"ProfilerStep#{row['number']}", row["begin"], row["duration"])
               for row in page.steps)
    truth = collections.Counter(
        (event["name"], *times) for event, *times in chrome.spans("user_annotation")
        if "block" not in event.get("args", {})) # but no kernels in host form
    equal("spans of tracks, and steps", got, truth)


def compare_nesting(page):
    """A thread's spans lie inside the last one above them; others are in the first row that is free."""
    for _, track, rows in tracks_of(page, "thread", "async", "stream"):
        last = 0
        free = collections.Counter()
        above = {}
        for row in rows:
            end = row["begin"] + row["duration"]
            wrong = row["begin"] < last or row["depth"] >= track["rows"]
            if track["kind"] == "thread":
                wrong |= row["depth"] > 0 and end > above[row["depth"] - 1]
            elif row["depth"] < 63:
                taken = [free[above] > row["begin"] for above in range(row["depth"] + 1)]
                wrong |= taken.pop() or not all(taken)
            if wrong:
                failures.append(f"{track}: {row} is in the wrong place")
            last, free[row["depth"]], above[row["depth"]] = row["begin"], end, end


COPY_FILTERS = (4, 8)


def activity_of(page, track, row):
    shape = page.shape(row)
    stream = track["stream"] or 7  # as torch numbers the default stream
    place = (row["begin"], row["duration"], track["group"], track["context"], stream,
             row["correlation"])
    if shape["filter"] not in COPY_FILTERS:
        return place + (shape.get("full_name", shape["name"]), tuple(shape.get("grid", ())),
                        tuple(shape.get("block", ())), shape.get("registers", 0))
    return place + (shape.get("bytes", 0),)


def chrome_activity(event, begin, duration):
    args = event["args"]
    place = (begin, duration, f"cuda:{args['device']}", args["context"], args["stream"],
             args["correlation"])
    if event["cat"] == "kernel":
        return place + (event["name"], tuple(args.get("grid", ())), tuple(args.get("block", ())),
                        args.get("registers per thread", 0))
    return place + (args.get("bytes", 0),)


def compare_activities(page, chrome):
    got = collections.Counter(activity_of(page, track, row)
                              for _, track, rows in tracks_of(page, "stream") for row in rows)
    truth = collections.Counter(chrome_activity(*one) for one in chrome.spans(*DEVICE_WORK))
    equal("activities", got, truth)


def compare_launches(page, chrome):
    """The call and the scope that each activity leads to."""
    calls = {}
    for event, begin, duration in chrome.spans("cuda_runtime", "cuda_driver"):
        calls.setdefault(event["args"].get("correlation"), (event["name"], begin, duration))
    for _, _, rows in tracks_of(page, "stream"):
        for row in rows:
            call = None
            if row["launch"]:
                span = page.tracks[row["track"] - 1][row["launch"] - 1]
                call = page.site(span)[0], span["begin"], span["duration"]
            equal(f"launch {row['correlation']}", call, calls.get(row["correlation"]))
            if row["scope"]:
                span = page.tracks[row["track"] - 1][row["scope"] - 1]
                equal(f"scope of {row['correlation']}", page.site(span)[0],
                      page.string(row["scope_name"]))


def compare_values(page, chrome):
    names = {counter["name"] for counter in page.facts["counters"]}
    got = collections.Counter(
        (counter["name"], row["time"], row["value"])
        for counter, rows in zip(page.facts["counters"], page.counters) for row in rows
        if math.isfinite(row["value"]))
    truth = collections.Counter(
        (event["name"], chrome.time(event), float(value))
        for event in chrome.of_kind("C") for value in event["args"].values()
        if event["name"] in names)
    equal("counters", got, truth)
    got = collections.Counter((row["time"], row["bytes"])
                              for series, rows in zip(page.facts["memory"], page.memory)
                              for row in rows if not series["pool"])
    truth = collections.Counter(
        (chrome.time(event), event["args"]["Bytes"])
        for event in chrome.of_kind("i", "cpu_instant_event") if event["name"] == "[memory]")
    equal("memory", got, truth)


def compare_moments(page, chrome):
    """Marks; Chrome's file has counters that are no number as marks."""
    got = collections.Counter((page.string(mark["name"]), mark["time"]) for mark in page.marks)
    got.update((counter["name"], row["time"])
               for counter, rows in zip(page.facts["counters"], page.counters) for row in rows
               if not math.isfinite(row["value"]))
    truth = collections.Counter(
        (event["name"], chrome.time(event))
        for event in chrome.of_kind("i", "cpu_instant_event") if event["name"] != "[memory]")
    equal("marks", got, truth)


def compare_waits(page, chrome):
    got = collections.Counter((wait["begin"], wait["duration"], wait["context"])
                              for wait in page.waits)
    truth = collections.Counter((begin, duration, event["args"]["context"])
                                for event, begin, duration in chrome.spans("cuda_sync"))
    equal("waits", got, truth)


def compare_totals(page, path):
    """Count and time of scopes by name, as Perfetto's file has them."""
    totals = perfetto_totals.Totals()
    for packet in perfetto_totals.read_messages(perfetto_totals.decode(path)):
        totals.add(packet)
    totals.finish()
    counts, times = collections.Counter(), collections.Counter()
    for _, _, rows in tracks_of(page, "thread"):
        above = []
        for row in rows:
            name = page.site(row)[0].encode()
            del above[row["depth"]:]
            counts[name] += 1
            times[name] += 0 if name in above else row["duration"]
            above.append(name)
    equal("counts by name", counts, totals.counts)
    equal("times by name", times, totals.times)


def compare_run(page, path):
    """The steps of the whole run, and which were recorded."""
    runs = [run for packet in perfetto_totals.read_messages(perfetto_totals.decode(path))
            for takt in packet["takt"] for run in takt["run"]]
    facts = page.facts["run"]
    if not runs:
        equal("run", (facts["count"], page.run), (0, []))
        return
    run = runs[-1]
    total = run["total_ns"]
    truth = list(zip(total, run["min_ns"] or total, run["max_ns"] or total))
    equal("run", [(row["total"], row["min"], row["max"]) for row in page.run], truth)
    equal("steps of the run", [facts["steps"], facts["size"]],
          [(run["step_count"] or [0])[0], 1 << (run["shift"] or [0])[0]])
    equal("windows", facts["windows"], [[(window[key] or [0])[0] for key in ("first", "last", "recorded")]
                                        for window in run["windows"]])
    equal("durations", sum(count for _, count in facts["buckets"]), facts["steps"])
    for nanoseconds, count in facts["buckets"] if facts["size"] == 1 else []:
        near = sum(abs(ns - nanoseconds) <= nanoseconds / 32 + 1 for ns in total)
        if near < count:
            failures.append(f"{count} steps of about {nanoseconds} ns, and not {near}")


def compare_tables(page, folder):
    files = {os.path.basename(path)[:-len(".json")]: path
             for path in glob.glob(os.path.join(folder, "*.json"))}
    equal("reports", sorted(page.lists["tables"]), sorted(files))
    for name, path in files.items():
        with open(path, encoding="utf-8") as file:
            equal(f"report {name}", page.lists["tables"].get(name), json.load(file))


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    page = page_data.Page(sys.argv[1])
    chrome = Chrome(sys.argv[2], page)
    compare_spans(page, chrome)
    compare_nesting(page)
    compare_activities(page, chrome)
    compare_launches(page, chrome)
    compare_values(page, chrome)
    compare_moments(page, chrome)
    compare_waits(page, chrome)
    compare_totals(page, sys.argv[3])
    compare_run(page, sys.argv[3])
    compare_tables(page, sys.argv[4])
    for failure in failures[:20]:
        print(failure[:1000])
    print(f"{comparisons} comparisons, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
