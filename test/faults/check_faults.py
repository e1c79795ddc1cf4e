#!/usr/bin/env python3
"""Each verb of the command while an allocation or a system call fails, once or for good. It may end
in an error, then it says why and leaves no file that is not whole; it may go on, then what it prints
and writes is what it always is. It never crashes.

    check_faults.py          a sample, in seconds: part of make check
    check_faults.py all      every allocation and every call: make faults
    check_faults.py VERB...  every one of these verbs, such as diff
"""

import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import lib_faults

PROG_TRACE = os.path.join(lib_faults.BUILD, "test/cli/prog_trace")
SAMPLE = 6  # runs of a verb

VERBS = {
    "report": ["report", "../a.pftrace"],
    "report-tables": ["report", "--scopes", "--tree", "--kernels", "--memory", "--steps", "--gaps",
                      "--launches", "--ops", "--timeline", "--api", "../a.pftrace"],
    "report-json": ["report", "--json", "--scopes", "--tree", "../a.pftrace"],
    "report-html": ["report", "--html", "-o", "a.html", "../a.pftrace"],
    "diff": ["diff", "../a.pftrace", "../b.pftrace"],
    "diff-json": ["diff", "--json", "--all", "--by-path", "../a.pftrace", "../b.pftrace"],
    "diff-html": ["diff", "--html", "-o", "b.html", "../a.pftrace", "../b.pftrace"],
    "check": ["check", "--limit", "50%", "--against", "../a.pftrace", "../b.pftrace"],
    "info": ["info", "../a.pftrace"],
    "info-json": ["info", "--json", "../a.pftrace"],
    "chrome": ["export", "--chrome", "-o", ".", "../a.pftrace"],
    "folded": ["export", "--folded", "-o", ".", "../a.pftrace"],
    "speedscope": ["export", "--speedscope", "-o", ".", "../a.pftrace"],
    "csv": ["export", "--csv", "-o", ".", "../a.pftrace"],
    "sqlite": ["export", "--sqlite", "-o", ".", "../a.pftrace"],
    "config": ["config", "check", "../profile.yaml"],
    "completion": ["completion", "bash"],
    "manual": ["help", "--man"],
}


def without_sizes(out):
    """A size that cannot be read is left out: "wrote a.html (1.20 MiB)"."""
    return re.sub(rb"^(wrote .*) \([^()]*\)$", rb"\1", out, flags=re.MULTILINE)


def make_traces(folder):
    for name, ns in (("a", 60000), ("b", 66000)):
        lines = ["run fluid", "backend CUPTI 13.0 (130001)", "device Imaginary 9000", "thread main"]
        for i in range(12):
            at = i * 1000000
            lines += [f"span -1 0 {at} {at + ns + i * 7} forces",
                      f"activity {at + 1000} {at + ns // 2} kernel density",
                      f"step {at} {at + 800000 + i}"]
        subprocess.run([PROG_TRACE, f"{folder}/{name}.pftrace"], input="\n".join(lines) + "\n",
                       text=True, check=True)
    with open(f"{folder}/profile.yaml", "w") as file:
        file.write("profiling: {wait: 1, active: 2}\nreports: [scopes]\n")


def read_files(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


class Result:
    def __init__(self, root, verb, **environment):
        folder = tempfile.mkdtemp(dir=root)
        done = lib_faults.run([lib_faults.TAKT] + VERBS[verb], folder, **environment)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.files = read_files(folder)
        shutil.rmtree(folder)

    def what_is_wrong(self, right, kind):
        death = lib_faults.death_of(self.status, self.err.decode(errors="replace"))
        if death:
            return death
        if self.status == 0 and self.out not in (right.out, without_sizes(right.out)):
            return "ends with 0 and prints something else"
        if self.status == 0 and self.files != right.files:
            return "ends with 0 and writes something else"
        if self.status != 0 and not self.err:
            return f"ends with {self.status} and does not say why"
        for name, data in self.files.items():
            if name in right.files and data != right.files[name]:
                return f"leaves {name}, which is not whole"
            if name not in right.files and kind not in ("unlink", "open", "stat"):
                return f"leaves {name}"
        return None


def faults_of(root, verb):
    """The right result, and all faults."""
    counts = os.path.join(root, f"{verb}.counts")
    right = Result(root, verb, TAKT_FAULT_COUNT=counts)
    again = Result(root, verb)
    if right.status not in (0, 1) or (again.out, again.files) != (right.out, right.files):
        sys.exit(f"takt {' '.join(VERBS[verb])}: ends with {right.status}, or is not the same twice:\n"
                 + right.err.decode())
    return right, lib_faults.read_counts(counts)


def main():
    is_all = sys.argv[1:2] not in ([], ["some"])
    verbs = [v for v in VERBS if sys.argv[1:] in ([], ["all"], ["some"]) or v in sys.argv[1:]]
    random.seed(20)
    total = lib_faults.Total()
    with tempfile.TemporaryDirectory() as root, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        make_traces(root)
        for verb in verbs:
            right, faults = faults_of(root, verb)
            if not is_all:
                faults = lib_faults.some_of(faults, SAMPLE)
            total.judge(pool, f"takt {' '.join(VERBS[verb])}", faults, is_all, lambda fault:
                        Result(root, verb, TAKT_FAULT=lib_faults.text_of(fault))
                        .what_is_wrong(right, fault[0]))
    return total.tell("verbs", len(verbs))


sys.exit(main())
