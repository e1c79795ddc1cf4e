#!/usr/bin/env python3
"""The fluid, recorded by Takt, while one of Takt's allocations or system calls fails, once or for
good. The fluid must not notice: it ends with the same status in the same state, to the last bit. No
file is torn and named like a whole one. Whatever is missing is counted in the file or told.

    check_library.py          a sample, in seconds: part of make check
    check_library.py all      every allocation and every call: make faults
    check_library.py FORM...  every one in these forms, such as summary
"""

import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import lib_faults

HOST = os.path.join(lib_faults.BUILD, "test/faults/sph")
SIZE = ["--steps", "7", "--particles", "200", "--device", "cpu", "--quiet"]
SAMPLE = 7  # runs of a form
FORMS = {
    "trace": {"profiling": "", "output": "stream: true, traces: [perfetto, chrome]"},
    "summary": {"profiling": "mode: summary", "output": "stream: true, traces: [perfetto]"},
    "flight": {"profiling": "mode: flight", "output": "traces: [perfetto, chrome]"},
    "crash_safe": {"profiling": "max_memory: 1 MiB",
                   "output": "stream: true, crash_safe: true, traces: [perfetto, chrome]"},
}


def write_profile(root, form):
    keys = FORMS[form]
    with open(f"{root}/{form}.yaml", "w") as file:
        file.write("profiling: {wait: 0, warmup: 1, active: 2, repeat: 2, activities: [cpu], "
                   f"{keys['profiling']}}}\nreports: [summary, scopes]\n"
                   f"output: {{directory: out, {keys['output']}}}\n")


def facts_of(folder, name):
    """What a trace file says of itself; None if it cannot be read."""
    done = subprocess.run([lib_faults.TAKT, "info", "--json", name], cwd=folder,
                          capture_output=True, text=True)
    if done.returncode not in (0, 4):
        return None
    facts = json.loads(done.stdout)
    losses = {name: count for name, count in facts["losses"].items() if count}
    return {"ending": facts["ending"], "steps": facts["steps"], "spans": facts["spans"],
            "losses": losses}


def json_facts(path):
    try:
        with open(path) as file:
            return {"events": len(json.load(file)["traceEvents"])}
    except ValueError:
        return None


def read_file(folder, name):
    if name.endswith(".pftrace"):
        return facts_of(folder, name)
    return json_facts(os.path.join(folder, name)) if name.endswith(".json") else {}


def remove_recordings(folder):
    """Removes what links of crash-safe recordings lead to."""
    for path in glob.glob(os.path.join(folder, "**", "*.crash"), recursive=True):
        if os.path.islink(path) and os.path.exists(path):
            os.unlink(os.path.realpath(path))


class Result:
    def __init__(self, root, form, **environment):
        folder = tempfile.mkdtemp(dir=root)
        done = lib_faults.run([HOST, *SIZE, "--profile", f"../{form}.yaml"], folder,
                              TAKT_FAULT_ONLY="libtakt:libyaml:libz", OMP_NUM_THREADS="1",
                              **environment)
        self.status = done.returncode
        # The line on what was written has the file's size, which differs from run to run.
        self.err = re.sub(r"(?m)^takt: wrote .*\n", "", done.stderr.decode())
        lines = done.stdout.decode().splitlines()
        self.state = [line for line in lines if line.startswith("state ")]
        self.tables = [line.split(":")[0] for line in lines
                       if re.match("Run:|Self CPU time total:", line)]
        out = os.path.join(folder, "out")
        names = sorted(os.listdir(out)) if os.path.isdir(out) else []
        self.files = {re.sub(r"\.\d+\.(crash|tmp)", r".\1", name): read_file(out, name)
                      for name in names}
        remove_recordings(folder)
        shutil.rmtree(folder)

    def is_refused(self):
        """The fluid has not begun, as with any profile that it cannot read."""
        return self.status == 2 and not self.state and self.err.startswith("sph: ")

    def counts_losses(self):
        return any(facts and facts.get("losses") for facts in self.files.values())

    def what_is_wrong(self, right, kind):
        death = lib_faults.death_of(self.status, self.err)
        if death:
            return death
        if self.is_refused() and kind in ("malloc", "open", "read", "stat"):
            return None
        if self.status != right.status or self.state != right.state:
            return f"ends with {self.status} and {self.state or 'no state'}: {self.err}"
        for name, facts in self.files.items():
            if name.endswith(".tmp") and kind not in ("unlink", "stat"):
                return f"leaves {name}"
            if facts is None and not (name.endswith(".partial.pftrace") and self.err):
                return f"leaves {name}, which cannot be read: {self.err}"
        is_same = self.files == right.files and self.tables == right.tables
        if not is_same and not self.err and not self.counts_losses():
            return (f"prints {self.tables} and writes {self.files}, "
                    f"not {right.tables} and {right.files}, and does not say why")
        return None


def faults_of(root, form):
    write_profile(root, form)
    counts = os.path.join(root, f"{form}.counts")
    right = Result(root, form, TAKT_FAULT_COUNT=counts)
    again = Result(root, form)
    if right.status or right.err or vars(again) != vars(right):
        sys.exit(f"{form}: ends with {right.status}, or is not the same twice:\n{right.err}"
                 f"{vars(right)}\n{vars(again)}")
    return right, lib_faults.read_counts(counts)


def main():
    is_all = sys.argv[1:2] not in ([], ["some"])
    forms = [f for f in FORMS if sys.argv[1:] in ([], ["all"], ["some"]) or f in sys.argv[1:]]
    random.seed(20)
    total = lib_faults.Total()
    with tempfile.TemporaryDirectory() as root, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for form in forms:
            right, faults = faults_of(root, form)
            if not is_all:
                faults = lib_faults.some_of(faults, SAMPLE)
            total.judge(pool, form, faults, is_all, lambda fault:
                        Result(root, form, TAKT_FAULT=lib_faults.text_of(fault))
                        .what_is_wrong(right, fault[0]))
    return total.tell("forms", len(forms))


if __name__ == "__main__":
    sys.exit(main())
