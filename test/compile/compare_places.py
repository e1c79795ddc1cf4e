#!/usr/bin/env python3
"""Compares the scopes of a report with what make_places.py expects.

    compare_places.py SCOPES.json EXPECTED.txt"""
import json
import sys

with open(sys.argv[1]) as file:
    found = {row["name"]: row["calls"] for row in json.load(file)["rows"]}
wrong = 0
with open(sys.argv[2]) as file:
    expected = dict(line.rstrip("\n").split("\t") for line in file)
for name, count in expected.items():
    if count != "?" and found.get(name, 0) != int(count):
        wrong += 1
        if wrong <= 10:
            print(f"'{name}' ran {count} times and is recorded {found.get(name, 0)} times")
strange = [name for name in found if name.startswith("f") and name not in expected]
if strange:
    print("no such place:", strange[:10])
sys.exit(1 if wrong or strange else 0)
