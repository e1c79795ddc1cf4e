#!/usr/bin/env python3
"""Which lines of the library the tests have run: a table by folder, and the lines that they did not.

    coverage.py BUILD

Reads what gcc's counters have left in BUILD and asks gcov, which belongs to gcc. Lines in headers
count once, for their own folder. A line that exists in several objects has run if it did in one."""

import collections
import glob
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile

FAST_PATH = "include/takt/detail/fast.h"
FAST_PATH_END = "struct takt_scope_guard"  # what follows are wrappers, for C++ and for C


def reports(build):
    """What gcov says about each object, as JSON."""
    counters = [os.path.abspath(path) for path in glob.glob(build + "/obj/**/*.gcno", recursive=True)]
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(counters), 50):
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--preserve-paths",
                            "--hash-filenames", *counters[first:first + 50]], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in glob.glob(folder + "/*.gcov.json.gz"):
            with gzip.open(path) as file:
                yield json.load(file)


def branch_counts(branches):
    """Without those of calls in C++: the way on, and that of an exception right behind it."""
    throws = [branch["throw"] for branch in branches] + [False]
    return [branch["count"] for index, branch in enumerate(branches)
            if not throws[index] and not throws[index + 1]]


def read(build):
    """{file: {line: count}} of src and include, and {line: [branches of a copy]} of the fast path."""
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    copies = collections.defaultdict(list)
    for report in reports(build):
        for source in report["files"]:
            name = os.path.join(report["current_working_directory"], source["file"])
            name = os.path.relpath(os.path.normpath(name))
            if not name.startswith(("src/", "include/")):
                continue
            for line in source["lines"]:
                lines[name][line["line_number"]] += line["count"]
                if name == FAST_PATH:
                    copies[line["line_number"]].append(branch_counts(line["branches"]))
    return lines, copies


def branches_never_taken(copies):
    """[(line, number of branches, those never taken)]. Inline functions are copied into each caller,
    and several copies in one function follow one another."""
    found = []
    with open(FAST_PATH, encoding="utf-8") as file:
        end = next(number for number, text in enumerate(file, 1) if text.startswith(FAST_PATH_END))
    for number, lists in sorted(copies.items()):
        if number >= end:
            continue
        period = math.gcd(*[len(taken) for taken in lists])
        if period == 0:
            continue
        sums = [0] * period
        for taken in lists:
            for index, count in enumerate(taken):
                sums[index % period] += count
        found.append((number, period, [index for index, count in enumerate(sums) if count == 0]))
    return found


def ranges(numbers):
    """[3, 4, 5, 9] is "3-5 9"."""
    groups = []
    for number in sorted(numbers):
        if groups and number == groups[-1][1] + 1:
            groups[-1][1] = number
        else:
            groups.append([number, number])
    return " ".join(f"{first}-{last}" if last > first else str(first) for first, last in groups)


def main():
    build = sys.argv[1]
    lines, copies = read(build)
    folders = collections.defaultdict(lambda: [0, 0])
    with open(build + "/uncovered.txt", "w", encoding="utf-8") as out:
        for name in sorted(lines):
            missed = [number for number, count in lines[name].items() if count == 0]
            folders[os.path.dirname(name)][0] += len(lines[name]) - len(missed)
            folders[os.path.dirname(name)][1] += len(lines[name])
            if missed:
                print(f"{name}: {ranges(missed)}", file=out)
    print(f"{'folder':20} {'lines':>7} {'run':>7} {'%':>6}")
    for name in sorted(folders):
        run, all_lines = folders[name]
        print(f"{name:20} {all_lines:7} {run:7} {100 * run / all_lines:6.1f}")
    found = branches_never_taken(copies)
    print(f"branches of {FAST_PATH}: {sum(count for _, count, _ in found)}, never taken:",
          ", ".join(f"line {number}" for number, _, never in found if never) or "none")
    print(f"The lines that did not run: {build}/uncovered.txt")


if __name__ == "__main__":
    main()
