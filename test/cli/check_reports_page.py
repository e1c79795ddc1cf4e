#!/usr/bin/env python3
"""docs/reports.md has a section for each report that `takt report` knows. Its examples are what the
golden files say, and each column that those show is explained there."""
import glob
import os
import re
import sys

ROOT = os.environ.get("TAKT_ROOT", ".")
failures = []


def need(is_true, *what):
    if not is_true:
        failures.append(" ".join(what))


def sections(page):
    """The text below each heading of the second level, by heading in small letters."""
    parts = re.split(r"^## (.*)$", page, flags=re.M)
    return {name.lower(): text for name, text in zip(parts[1::2], parts[2::2])}


def examples(text):
    """Blocks of code that hold a table or a part of one; those within lists are indented further."""
    for block in re.findall(r"(?:^    \S.*\n|^    +.*\S.*\n)+", text, flags=re.M):
        lines = [line[4:] for line in block.splitlines()]
        if any(line.startswith("---") for line in lines):
            yield "\n".join(lines) + "\n"


def titles(tables):
    """Of the columns of each table in a golden file: the line below its first ruler."""
    for table in tables.split("\n\n"):
        lines = table.splitlines()
        for ruler, line in zip(lines, lines[1:]):
            if re.fullmatch(r"-+([ +]+-+)*", ruler):
                yield from re.split(r"\s*\|\s*| {2,}", line.strip())
                break


def check_examples(page, golden):
    count = 0
    for name, text in page.items():
        for example in examples(text):
            count += 1
            need(any(example in table for table in golden.values()),
                 f"{name}: no golden file has the example\n{example}")
    return count


def check_columns(page, golden):
    """Each column that a golden file shows is named in bold, or in a table, in its report's section
    or in what is said of all; those of the summary, in another report's."""
    count = 0
    for file, table in golden.items():
        report = re.match(r"report_(?:cuda_)?([a-z]+)_", file)[1]
        text = "".join(text for name, text in page.items() if report in name.split(", "))
        need(text, f"there is no section for {report}")
        text = "".join(page.values()) if report == "summary" else text + page["times"]
        for title in titles(table):
            count += 1
            named = re.escape(title).replace(r"\ ", r"\s+")
            need(re.search(rf"\*\*{named}\*\*|^\|[^|]*\b{named}(?!\w)[^|]*\|", text, flags=re.M),
                 f"{report}: the page does not explain '{title}', which {file} shows")
    return count


def main():
    with open(f"{ROOT}/docs/reports.md", encoding="utf-8") as file:
        page = sections(file.read())
    golden = {}
    for path in sorted(glob.glob(f"{ROOT}/test/golden/report_*.txt")):
        with open(path, encoding="utf-8", errors="replace") as file:
            golden[os.path.basename(path)] = file.read()
    example_count = check_examples(page, golden)
    column_count = check_columns(page, golden)
    need(example_count >= 6 and column_count >= 100, "too little was looked at")
    for failure in sorted(set(failures)):
        print(failure)
    print(f"{example_count} examples, {column_count} columns, {len(failures)} failures")
    sys.exit(bool(failures))


main()
