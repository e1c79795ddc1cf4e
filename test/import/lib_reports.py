"""What Takt says of a file, as rows, and comparing them with what is planned."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

takt = os.environ["TAKT_BIN"] + "/takt"
failures = compared = 0


def fail(text):
    global failures
    failures += 1
    if failures <= 20:
        print(text)


def run(*arguments, note=""):
    """`note` is what stands in the line on stderr; "": there is none."""
    done = subprocess.run([takt, *arguments], capture_output=True, text=True)
    if done.returncode or note not in done.stderr or done.stderr.count("\n") != bool(note):
        fail(f"takt {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def table(path, report, key, *options, note=""):
    text = run("report", "--" + report, "--csv", "--rows", "all", *options, path, note=note)
    rows = csv.DictReader(io.StringIO(text.split("\n\n")[0].replace("\r", "")))
    return {row[key]: row for row in rows
            if not row.get("stream") and row.get("kind") in (None, "scope", "call")}


def compare(what, wanted, rows):
    global compared
    for name, values in wanted.items():
        row = rows.pop(name, None)
        if row is None:
            fail(f"{what}: no row {name!r}")
            continue
        for column, value in values.items():
            compared += 1
            if row[column] != str(value):
                fail(f"{what}: {name!r}: {column} is {row[column]} instead of {value}")
    for name in rows:
        fail(f"{what}: a row {name!r} too many")


def info(path, note=""):
    """What `takt info` says; losses of 0 are left out."""
    found = json.loads(run("info", "--json", path, note=note))
    found["losses"] = {name: count for name, count in found["losses"].items() if count}
    return found


def exported(path, table):
    """The rows of one of the tables that `takt export --csv` writes."""
    with tempfile.TemporaryDirectory() as folder:
        run("export", "--csv", "-o", folder, path)
        with open(f"{folder}/{table}.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def finish(least):
    """Ends the test; at least so many figures have to have been compared."""
    if failures:
        sys.exit(f"{failures} failures")
    if compared < least:
        sys.exit(f"only {compared} figures compared")
    print(f"{compared} figures compared")
