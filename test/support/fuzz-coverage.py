#!/usr/bin/env python3
"""Which functions the fuzz targets have reached, of those that read what others wrote.

    fuzz-coverage.py BUILD TARGET...

Merges the profiles that the targets have left in BUILD, and asks llvm-cov. Fails where less than 90 %
were reached."""

import collections
import fnmatch
import glob
import json
import os
import subprocess
import sys

GOAL = 90
SETS = {
    "readers of traces": ["src/trace/read*.c", "src/base/input.c"],
    "what recovers": ["src/trace/recover*.c"],
    "configuration": ["src/config/*.c"],
    "text and numbers": ["src/base/" + name + ".c" for name in [
        "array", "error", "gzip", "hash", "histogram", "line", "number", "strtab", "text", "writer"]],
}


def reached(build, targets):
    """{file: {function: whether it was reached}}; a static function is known by its name alone."""
    merged = os.path.join(build, "merged.profdata")
    subprocess.run(["llvm-profdata", "merge", "-o", merged, *glob.glob(build + "/*.profraw")],
                   check=True)
    files = collections.defaultdict(dict)
    for target in targets:
        export = subprocess.run(["llvm-cov", "export", "-instr-profile", merged, target], check=True,
                                stdout=subprocess.PIPE)
        for function in json.loads(export.stdout)["data"][0]["functions"]:
            file = os.path.relpath(function["filenames"][0])
            name = function["name"].split(":")[-1]
            files[file][name] = files[file].get(name, False) or function["count"] > 0
    return files


def main():
    files = reached(sys.argv[1], sys.argv[2:])
    is_enough = True
    for title, patterns in SETS.items():
        chosen = {file: functions for file, functions in files.items()
                  if any(fnmatch.fnmatch(file, pattern) for pattern in patterns)}
        count = sum(len(functions) for functions in chosen.values())
        missed = [f"{file}: {name}" for file, functions in sorted(chosen.items())
                  for name, is_reached in functions.items() if not is_reached]
        share = 100 * (count - len(missed)) / count
        is_enough &= share >= GOAL
        print(f"{title}: {count - len(missed)} of {count} functions reached, {share:.1f} %")
        for line in missed:
            print(f"    {line}")
    return 0 if is_enough else 1


if __name__ == "__main__":
    sys.exit(main())
