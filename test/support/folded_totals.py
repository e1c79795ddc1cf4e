#!/usr/bin/env python3
"""Prints what the frames of folded stacks add up to, a line each, sorted by name:

    NAME<TAB>SELF_NS<TAB>TOTAL_NS

    folded_totals.py FILE...

The total of a frame counts a path once, however often the frame is in it. Fails on lines that are
not folded stacks, and on paths that occur twice or are out of order.
"""
import gzip
import re
import sys
from collections import defaultdict


def read(path):
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        return file.read().decode("utf-8")


def main(arguments):
    if not arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    selfs, totals = defaultdict(int), defaultdict(int)
    for path in arguments:
        seen = set()
        for number, line in enumerate(read(path).split("\n")[:-1], 1):
            match = re.fullmatch(r"([^\s;]+(?:;[^\s;]+)*) ([1-9]\d*)", line)
            if not match or match[1] in seen:
                print(f"{path}:{number}: not a folded stack of its own: {line}", file=sys.stderr)
                return 1
            seen.add(match[1])
            frames = match[1].split(";")
            selfs[frames[-1]] += int(match[2])
            for frame in set(frames):
                totals[frame] += int(match[2])
    for name in sorted(totals):
        print(name, selfs[name], totals[name], sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
