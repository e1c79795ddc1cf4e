#!/usr/bin/env python3
"""Holds a file against speedscope's rules, and adds up its frames.

    speedscope_totals.py [--threads | --devices] FILE...

prints NAME, COUNT and TOTAL_NS of threads' frames, or of devices', separated by tabs, sorted by
name. COUNT is of all openings, TOTAL_NS of those that are not inside one of the same name. Files
may be packed.

The rules are those of https://www.speedscope.app/file-format-schema.json, with what its importer
demands of events: times that do not go back nor leave the profile, and frames that are closed
innermost first, all of them.
"""
import gzip
import json
import re
import sys
from collections import defaultdict

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
UNITS = ("bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds")


def demand(holds, what):
    if not holds:
        raise ValueError(what)


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def members(thing, where, required, optional=()):
    demand(isinstance(thing, dict), f"{where} is no object")
    for name in required:
        demand(name in thing, f"{where} has no {name}")
    for name in thing:
        demand(name in required or name in optional, f"{where} has an unknown {name}")


def check_frame(frame, where):
    members(frame, where, ("name",), ("file", "line", "col"))
    demand(isinstance(frame["name"], str), f"{where}: its name is no text")
    demand(isinstance(frame.get("file", ""), str), f"{where}: its file is no text")
    demand(is_whole(frame.get("line", 0)), f"{where}: its line is no number")


def spans_of(profile, frames, where):
    """Goes through the events; yields (name, duration, is_inside_its_like) of each frame."""
    stack, last = [], profile["startValue"]
    for number, event in enumerate(profile["events"]):
        at = f"{where}, event {number}"
        members(event, at, ("type", "frame", "at"))
        demand(event["type"] in ("O", "C"), f"{at}: of no type")
        demand(is_whole(event["frame"]) and 0 <= event["frame"] < len(frames), f"{at}: no frame")
        demand(is_whole(event["at"]) and event["at"] >= last, f"{at}: time goes back")
        last = event["at"]
        if event["type"] == "O":
            stack.append((event["frame"], last))
            continue
        demand(stack and stack[-1][0] == event["frame"], f"{at}: closes what is not innermost")
        frame, begin = stack.pop()
        name = frames[frame]["name"]
        yield name, last - begin, any(frames[other]["name"] == name for other, _ in stack)
    demand(not stack, f"{where}: is not closed")
    demand(last <= profile["endValue"], f"{where}: events behind its end")


def check_profile(profile, where):
    members(profile, where, ("type", "name", "unit", "startValue", "endValue", "events"))
    demand(profile["type"] == "evented", f"{where} is not evented")
    demand(isinstance(profile["name"], str), f"{where} has no name")
    demand(profile["unit"] in UNITS, f"{where} has an unknown unit")
    for name in "startValue", "endValue":
        demand(is_whole(profile[name]) and 0 <= profile[name] < 2**53, f"{where}: {name}")
    demand(isinstance(profile["events"], list), f"{where} has no events")


def check(file):
    """Returns (profile's name, its spans) of a document that obeys."""
    members(file, "the file", ("$schema", "profiles", "shared"),
            ("name", "exporter", "activeProfileIndex"))
    demand(file["$schema"] == SCHEMA, "the schema is another one")
    members(file["shared"], "shared", ("frames",))
    frames = file["shared"]["frames"]
    for number, frame in enumerate(frames):
        check_frame(frame, f"frame {number}")
    demand(file.get("activeProfileIndex", 0) <= len(file["profiles"]), "no such active profile")
    for profile in file["profiles"]:
        where = f"profile {profile.get('name')!r}"
        check_profile(profile, where)
        yield profile["name"], list(spans_of(profile, frames, where))


def read(path):
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        return json.loads(file.read().decode("utf-8"))


def main(arguments):
    wanted = r"thread \d+"
    if arguments and arguments[0] in ("--threads", "--devices"):
        wanted = wanted if arguments.pop(0) == "--threads" else r"\S+ stream \d+"
    if not arguments or arguments[0].startswith("--"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    totals = defaultdict(lambda: [0, 0])
    for path in arguments:
        try:
            for profile, spans in check(read(path)):
                for name, duration, is_inside in spans if re.match(wanted, profile) else ():
                    totals[name][0] += 1
                    totals[name][1] += 0 if is_inside else duration
        except ValueError as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
    for name in sorted(totals):
        print(re.sub(r"[\x00-\x1f\x7f]", "?", name), *totals[name], sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
