#!/usr/bin/env python3
"""Holds the reports threads, tasks and counters, and the columns of scopes over threads, against
what they should be by the events of Chrome's file of the same trace.

    compare_threads.py TAKT TRACE CHROME.json

The definitions are those of docs/reports.md, computed by looking at each pair of spans."""
import collections
import json
import math
import re
import subprocess
import sys
from decimal import Decimal

failures = []
comparisons = 0


def equal(what, got, truth):
    global comparisons
    comparisons += 1
    is_close = isinstance(truth, float) and isinstance(got, (int, float)) \
        and math.isclose(got, truth, rel_tol=1e-9, abs_tol=1e-9)
    if got != truth and not is_close:
        failures.append(f"{what}: {got}, and not {truth}")


Span = collections.namedtuple("Span", "begin end name")


def contains(outer, inner):
    return outer.begin <= inner.begin and inner.end <= outer.end


def time_of(spans):
    return sum(span.end - span.begin for span in spans)


def by_row(events):
    rows = collections.defaultdict(list)
    for event in events:
        begin = int(event["ts"] * 1000)
        rows[event["tid"]].append(Span(begin, begin + round(event["dur"] * 1000), event["name"]))
    return rows


class Chrome:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            events = json.load(file, parse_float=Decimal)["traceEvents"]
        slices = [event for event in events if event["ph"] == "X"]
        self.threads = by_row(event for event in slices if event["cat"] == "cpu_op")
        self.tasks = by_row(event for event in slices if event["cat"] == "user_annotation"
                            and not event["name"].startswith("ProfilerStep#"))
        self.steps = sorted(span for row in by_row(
            event for event in slices if event["name"].startswith("ProfilerStep#")).values()
            for span in row)
        self.names = {event["tid"]: event["args"]["name"] for event in events
                      if event["name"] == "thread_name"}
        self.main = next(event["pid"] for event in slices if event["cat"] == "cpu_op")
        self.begin, self.end = (next(int(event["ts"] * 1000) for event in events
                                     if event["name"] == name)
                                for name in ("Iteration Start: Takt", "Record Window End"))
        self.samples = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "C":
                self.samples[event["name"]].append((int(event["ts"] * 1000),
                                                    float(event["args"]["value"])))


def outermost(spans):
    """Those inside no other; of equal ones the first."""
    return [span for i, span in enumerate(spans)
            if not any(contains(other, span) and (other[:2] != span[:2] or k < i)
                       for k, other in enumerate(spans) if k != i)]


def report(takt, trace, name):
    command = [takt, "report", f"--{name}", "--json", "--rows", "all", trace]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def thread_name(chrome, tid):
    """Chrome's rows are called "thread 12 (NAME)"."""
    row = chrome.names.get(tid, "")
    if "(" in row:
        return row[row.index("(") + 1:-1]
    return "main" if tid == chrome.main else f"thread {tid}"


def compare_threads(chrome, got):
    order = sorted(chrome.threads, key=lambda tid: (tid != chrome.main, tid))
    equal("threads", [row["thread_id"] for row in got["rows"]], order)
    for row, tid in zip(got["rows"], order):
        spans = chrome.threads[tid]
        waits = outermost([span for span in spans if "wait" in span.name])
        equal(f"{tid} name", row["thread"], thread_name(chrome, tid))
        equal(f"{tid} spans", row["spans"], len(spans))
        equal(f"{tid} in scopes", row["scope_time_ns"], time_of(outermost(spans)))
        equal(f"{tid} in scopes %", row["scope_time_percent"],
              float(100 * time_of(outermost(spans)) / (chrome.end - chrome.begin)))
        equal(f"{tid} waited", row.get("waited_ns", 0), time_of(waits))
        equal(f"{tid} waited in", row.get("waited_in"), waits[0].name if waits else None)


def region_of(chrome, span, parts):
    """The innermost scope of main around a span that is no part and in no part."""
    main = chrome.threads[chrome.main]
    around = [outer for outer in main if contains(outer, span) and outer is not span]
    around = [outer for outer in around if not any(
        part.name in parts and contains(part, outer) for part in main if part is not span)]
    return min(around, key=lambda outer: outer.end - outer.begin, default=None)


def compare_regions(chrome, got):
    workers = {tid: outermost(spans) for tid, spans in chrome.threads.items() if tid != chrome.main}
    parts = {span.name for spans in workers.values() for span in spans}
    times = collections.defaultdict(lambda: collections.defaultdict(list))
    for tid, spans in workers.items():
        for span in spans:
            region = region_of(chrome, span, parts)
            if region and "wait" not in span.name:
                times[region.name, span.name][tid].append(span)
    main = chrome.threads[chrome.main]
    for span in main:
        region = region_of(chrome, span, parts) if span.name in parts else None
        if region and (region.name, span.name) in times and not any(
                other.name in parts and other is not span and contains(other, span)
                for other in main):
            times[region.name, span.name][chrome.main].append(span)
    rows = {(row["region"], row["name"]): row for row in got["tables"]["regions"]["rows"]}
    equal("regions", sorted(rows), sorted(times))
    for key in rows.keys() & times.keys():
        sums = [time_of(spans) for spans in times[key].values()]
        region = time_of(outermost([span for span in main if span.name == key[0]]))
        truth = {"threads": len(sums), "calls": sum(map(len, times[key].values())),
                 "total_ns": sum(sums), "min_ns": min(sums), "max_ns": max(sums),
                 "mean_percent": 100 * sum(sums) / len(sums) / region,
                 "imbalance": max(sums) * len(sums) / sum(sums)}
        for column, value in truth.items():
            equal(f"{key} {column}", rows[key][column], value)


def compare_scopes(chrome, got):
    rows = {row["name"]: row for row in got["rows"]}
    names = {span.name for spans in chrome.threads.values() for span in spans}
    equal("scopes", sorted(rows), sorted(names))
    for name in rows.keys() & names:
        mine = [[span for span in spans if span.name == name] for spans in chrome.threads.values()]
        sums = [time_of(outermost(spans)) for spans in mine if spans]
        is_shared = len(sums) > 1
        truth = {"threads": len(sums), "thread_min_ns": min(sums) if is_shared else None,
                 "thread_max_ns": max(sums) if is_shared else None,
                 "thread_imbalance": max(sums) * len(sums) / sum(sums) if is_shared else None}
        for column, value in truth.items():
            equal(f"{name} {column}", rows[name][column], value)


def compare_tasks(chrome, got):
    rows = {(row["track"], row["task"]): row for row in got["rows"]}
    tasks = collections.defaultdict(list)
    for tid, spans in chrome.tasks.items():
        for span in spans:
            track = re.sub(r" \(\d+\)$", "", chrome.names[tid]) # spans that overlap have more rows
            tasks[track, span.name].append(span)
    equal("tasks", sorted(rows), sorted(tasks))
    for key in rows.keys() & tasks.keys():
        spans = tasks[key]
        times = [span.end - span.begin for span in spans]
        most = max(sum(other.begin <= span.begin < other.end for other in spans) for span in spans)
        truth = {"count": len(spans), "total_ns": sum(times), "min_ns": min(times),
                 "max_ns": max(times), "p99_ns": None, "at_once": most}
        for column, value in truth.items():
            equal(f"{key} {column}", rows[key][column], value)


def value_before(samples, time):
    return next((value for at, value in reversed(samples) if at < time), None)


def compare_counters(chrome, got):
    equal("counters", sorted(row["counter"] for row in got["rows"]), sorted(chrome.samples))
    for row in got["rows"]:
        samples = chrome.samples[row["counter"]]
        values = [value for _, value in samples]
        until = [at for at, _ in samples[1:]] + [chrome.end]
        held = [end - at for end, (at, _) in zip(until, samples)]
        ends = [(value_before(samples, step.begin), value_before(samples, step.end))
                for step in chrome.steps]
        changes = [after - before for before, after in ends if before is not None]
        truth = {"samples": len(samples), "first": values[0], "last": values[-1],
                 "min": min(values), "max": max(values),
                 "mean": sum(value * ns for value, ns in zip(values, held)) / sum(held),
                 "change_per_step": sum(changes) / len(changes)}
        for column, value in truth.items():
            equal(f"{row['counter']} {column}", row[column], value)


def main(takt, trace, path):
    chrome = Chrome(path)
    threads = report(takt, trace, "threads")
    compare_threads(chrome, threads)
    compare_regions(chrome, threads)
    compare_scopes(chrome, report(takt, trace, "scopes"))
    compare_tasks(chrome, report(takt, trace, "tasks"))
    compare_counters(chrome, report(takt, trace, "counters"))
    print("\n".join(failures[:30]) or f"{comparisons} comparisons, all equal")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
