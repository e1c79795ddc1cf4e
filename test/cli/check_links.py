#!/usr/bin/env python3
"""Every link of the project's pages leads to a file of the project, and to a heading that is there."""
import os
import re
import sys

ROOT = os.path.abspath(os.environ.get("TAKT_ROOT", "."))
NOT_OURS = {".git", "bin", "build", "lib", "node_modules"}


def pages():
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        yield from (os.path.join(folder, name) for name in files if name.endswith(".md"))


def prose(path):
    """The text without blocks of code, which may hold what looks like a link or a heading."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
    return re.sub(r"^ {4}.*$", "", text, flags=re.M)


def anchors(path):
    """As GitHub makes them of headings: small letters, blanks to hyphens, no punctuation."""
    headings = re.findall(r"^#+ +(.*)$", prose(path), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def problem(page, target):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
    if not os.path.exists(path):
        return "there is no such file"
    if anchor and anchor not in anchors(path):
        return "there is no such heading"
    return None


def main():
    count, failures = 0, 0
    for page in sorted(pages()):
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            count += 1
            wrong = problem(page, target)
            if wrong:
                failures += 1
                print(f"{os.path.relpath(page, ROOT)}: {target}: {wrong}")
    print(f"{count} links, {failures} failures")
    sys.exit(failures > 0 or count < 30)


main()
