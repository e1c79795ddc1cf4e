#!/usr/bin/env python3
"""Prints NAME, COUNT and TOTAL_NS of the report "scopes", read from its JSON on standard input, in
the form of perfetto_totals.py and chrome_totals.py: separated by tabs, sorted by name."""
import json
import re
import sys

for row in sorted(json.load(sys.stdin)["rows"], key=lambda row: row["name"]):
    name = re.sub(r"[\x00-\x1f\x7f]", "?", row["name"])
    print(name, row["calls"], row["cpu_total_ns"], sep="\t")
