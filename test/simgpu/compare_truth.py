#!/usr/bin/env python3
"""Holds what Takt says of a run of prog_truth against the program's own books, to the nanosecond.

    compare_truth.py TAKT FOLDER MODE GRAPH [DRIFT DRIFT]

FOLDER has books, timers, reports of each cycle, and in out/ the traces. MODE is trace, summary or
both, GRAPH node or launch. DRIFT is by how many nanoseconds in each second a device's clock runs
fast: durations are then the device's own, rounded, and gaps are known within the uncertainty that
Takt states.

First the files of a cycle are held against the books, Perfetto's and Chrome's each by itself. Then
each report is computed anew from the books, and from Chrome's file for when things happened, and
compared with what Takt printed. With TEST_STRICT in the environment truth_strict.py shows at last
that nothing in a report of the last cycle could be wrong without being noticed. What is not known
exactly stands in truth_compare.TOLERANCES."""
import glob
import json
import os
import re
import subprocess
import sys

import truth_devices
import truth_gaps
import truth_host
import truth_memory
import truth_paths
import truth_rows
import truth_strict
import truth_summary
import truth_threads
from truth_books import Books, Cycle, CYCLES
from truth_compare import Comparisons, TOLERANCES, objections
from truth_files import ChromeFile, PerfettoFile

checks = Comparisons()
columns = {}  # (report, table or facts, column): why it is not known exactly, or None


def read_reports(folder, number):
    reports = {}
    for path in glob.glob(f"{folder}/{number}.*.json"):
        with open(path) as file:
            reports[os.path.basename(path)[2:-5]] = json.load(file)
    return reports


def read_again(takt, folder, number, reports):
    """The command, reading the trace, says what the program said, to the byte; and more."""
    def report(name, *options):
        command = [takt, "report", f"--{name}", "--json", "--rows", "all", *options,
                   f"{folder}/out/truth.{number}.pftrace"]
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    for name in reports:
        plain, _, is_all = name.partition(".")
        with open(f"{folder}/{number}.{name}.json", "rb") as file:
            checks.equal(f"takt report --{name}", "output",
                         report(plain, *["--all"] * bool(is_all)) == file.read(), True)
    return {f"{name}.by_arguments": json.loads(report(name, "--by-arguments"))
            for name in ("scopes", "kernels") if "timeline" in reports}


def read_times(cycle, folder):
    """When what happened, from Takt's files, after they have been held against the books."""
    name = f"{folder}/out/truth.{cycle.number}"
    perfetto, chrome = PerfettoFile(f"{name}.pftrace"), None
    begin = perfetto.fact("begin_ns")
    cycle.wall_ns = perfetto.fact("end_ns") - begin
    cycle.time_of_day_ns = begin + perfetto.fact("realtime_offset_ns")
    cycle.uncertainty_ns = float(perfetto.fact("device_uncertainty_ns"))
    cycle.is_least = bool(perfetto.fact("device_uncertainty_is_least"))
    cycle.cost_ns = float(perfetto.fact("cost_ns"))
    if cycle.has_spans:
        checks.equal("perfetto", "calls with the flow of another", perfetto.twice, 0)
        truth_rows.check_rows(checks, f"perfetto {cycle.number}", cycle, perfetto.rows())
        chrome = ChromeFile(f"{name}.trace.json", cycle.time_of_day_ns)
        truth_rows.check_rows(checks, f"chrome {cycle.number}", cycle, chrome.rows())
        chrome.check_arrows(checks.equal, f"chrome {cycle.number}")
        checks.equal("chrome", "window", (chrome.begin_ns, chrome.end_ns),
                     (min([0] + [work.at for work in cycle.works]), cycle.wall_ns))
        for work in cycle.works:
            call = chrome.call(work.event["args"]["correlation"])
            work.call_at, work.tid = call.begin, call.thread
    cycle.earlier = {device: until - begin for device, until in perfetto.earlier.items()}
    for device, until in cycle.earlier.items():
        checks.equal("perfetto", f"{device} worked for launches of this program's",
                     0 <= until <= cycle.wall_ns and
                     any(work.device == device for work in cycle.books.works), True)
    cycle.places = truth_paths.places_of_tree(perfetto)
    if chrome:
        spans = truth_paths.places_of_spans(chrome)
        truth_paths.check_places(checks, "tree", cycle.places or spans, spans)
        cycle.places = cycle.places or spans
    truth_paths.check_sums(checks.equal, f"cycle {cycle.number}", cycle.places)
    truth_paths.check_counts(checks, cycle)
    return perfetto, chrome


def truth_of(cycle, perfetto, chrome, got):
    """Every report of the cycle as it should be."""
    steps = truth_host.all_steps(checks, cycle, perfetto)
    slowest = truth_host.slowest_step(checks, cycle, perfetto, steps)
    begin = perfetto.fact("begin_ns")
    recorded = [(first - begin, last - begin) for first, last in perfetto.steps]
    if chrome:
        checks.equal("chrome", "steps", chrome.steps, recorded)
    changes = truth_memory.check_changes(checks.equal, cycle, chrome) if chrome else {}
    if chrome:
        threads = truth_threads.Threads(chrome)
    else:
        threads = truth_threads.FoldedThreads(perfetto)
        threads.check(checks, cycle)
    reports = {
        "scopes": truth_host.scopes(cycle, threads),
        "scopes.all": truth_host.scopes_all(cycle, threads),
        "tree": truth_host.tree(cycle, False), "tree.all": truth_host.tree(cycle, True),
        "api": truth_host.api(cycle), "steps": truth_host.steps(cycle, recorded, steps, slowest),
        "activities": truth_devices.activities(cycle), "devices": truth_devices.devices(cycle),
        "kernels": truth_devices.kernels(cycle), "ops": truth_devices.ops(cycle),
        "threads": truth_threads.threads(cycle, threads),
        "memory": truth_memory.memory(cycle, got["memory"], changes)}
    rows = {}
    if chrome:
        recording = truth_gaps.Recording(cycle, chrome)
        rows = truth_gaps.rows_of(recording)
        reports["timeline"] = truth_devices.timeline(cycle)
        reports["gaps"] = truth_gaps.gaps(cycle, recording, rows)
        reports["launches"] = truth_gaps.launches(cycle, recording, rows)
        if not any(cycle.books.drift):
            truth_gaps.check_script(checks.equal, cycle, rows, reports["launches"])
    reports["summary"] = truth_summary.summary(cycle, reports, rows, chrome, recorded)
    for name in list(reports):
        reports.setdefault(f"{name.partition('.')[0]}.all", reports[name])
    if chrome:
        reports["scopes.by_arguments"] = truth_host.scopes_by_arguments(cycle, chrome)
        reports["kernels.by_arguments"] = truth_devices.kernels(cycle, True)
    for name in reports:
        reports[name].provenance = truth_summary.provenance(cycle, perfetto,
                                                            os.environ["TEST_CUPTI_VERSION"])
    return reports


def check_empty(cycle, got):
    """prog_truth has no timers inside kernels, tasks and counters, and compiles nothing: removes
    these reports."""
    empty = ("phases", "compile", "tasks", "counters")
    for name in [name for name in got if name.partition(".")[0] in empty]:
        report = got.pop(name)
        rows = [row for table in [report, *report.get("tables", {}).values()]
                for row in table["rows"]]
        checks.equal(f"cycle {cycle.number}", f"rows of {name}", rows, [])


def check_reports(cycle, got, truth):
    check_empty(cycle, got)
    checks.equal(f"cycle {cycle.number}", "reports", sorted(got), sorted(truth))
    for name in sorted(got.keys() & truth.keys()):
        checks.count += 1
        found = list(objections(name.partition(".")[0], got[name], truth[name]))
        checks.failures += [f"cycle {cycle.number}: {text}" for text in found]
        for (table, column), why in truth_strict.columns_of(truth[name]).items():
            columns[name, table, column] = columns.get((name, table, column)) or why


def check_strictness(cycle, got, truth):
    for name in sorted(got.keys() & truth.keys()):
        plain = name.partition(".")[0]
        if name != plain and truth[name] is truth[plain]:
            continue  # --all changes nothing of it
        count, survivors = truth_strict.unnoticed(plain, got[name], truth[name])
        checks.count += count
        checks.failures += [f"cycle {cycle.number}: not noticed: {what}" for what in survivors]


def check_cycle(takt, folder, books, number, mode):
    cycle, got = Cycle(books, number, mode), read_reports(folder, number)
    perfetto, chrome = read_times(cycle, folder)
    truth = truth_of(cycle, perfetto, chrome, got)
    got.update(read_again(takt, folder, number, got))
    check_reports(cycle, got, truth)
    truth_rows.check_csv(checks.equal, folder, number, got)
    if not checks.failures and number == max(CYCLES) and "TEST_STRICT" in os.environ:
        check_strictness(cycle, got, truth)


def tell():
    print("\n".join(checks.failures[:25]) or f"{checks.count} comparisons")
    if len(checks.failures) > 25:
        print(f"... and {len(checks.failures) - 25} more")
    inexact = {key: why for key, why in columns.items() if why}
    print(f"{len(columns) - len(inexact)} columns and facts are known exactly, {len(inexact)} not:")
    for why, text in TOLERANCES.items():
        where = sorted(" ".join(key) for key in inexact if inexact[key] == why)
        print(f"{text}: {', '.join(where) or 'none'}")


def name_graphs(folder, books):
    """All graphs have the same nodes: those put together from them have the number of one."""
    names = {work.name for work in books.works if work.name.endswith(" from nodes")}
    said = json.dumps([read_reports(folder, number) for number in CYCLES])
    found = set(re.findall(r"graph \d+ from nodes", said))
    checks.equal("all cycles", "names of graphs", (len(found), found <= names), (int(bool(names)), True))
    for work in books.works:
        work.name = min(found, default=work.name) if work.name in names else work.name


def main(takt, folder, mode, graph, *drift):
    books = Books(folder, graph, [int(value) for value in drift] or [0, 0])
    name_graphs(folder, books)
    for number in CYCLES:
        check_cycle(takt, folder, books, number, mode)
    truth_rows.check_timers(checks, folder, books)
    truth_rows.check_texts(checks.equal, folder)
    tell()
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
