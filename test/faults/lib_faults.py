"""What check_faults.py and check_library.py share: running a program while its calls fail."""

import os
import random
import subprocess

BUILD, TAKT = os.environ["TAKT_BUILD"], os.path.join(os.environ["TAKT_BIN"], "takt")
INJECT = os.path.join(BUILD, "test/faults/libinject.so")


class Hung:
    returncode, stdout, stderr = None, b"", b""


def run(command, folder, **environment):
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=1"
    try:
        return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=600, env={**os.environ, "LD_PRELOAD": INJECT,
                                                "ASAN_OPTIONS": sanitizer, **environment})
    except subprocess.TimeoutExpired:
        return Hung


def death_of(status, err):
    """How a program has ended that should not have; None if it ended by itself."""
    if status is None:
        return "does not end"
    if status < 0:
        return f"is killed by signal {-status}"
    reports = [line for line in err.splitlines() if "Sanitizer" in line or "runtime error" in line]
    return f"is stopped: {reports[0]}" if reports else None


def read_counts(path):
    """Every (kind, N, for good) that there is."""
    with open(path) as file:
        kinds = [line.split() for line in file]
    return [(kind, number + 1, good) for kind, count in kinds for number in range(int(count))
            for good in ("", "+")]


def _of_kind(faults, kind, count):
    found = [fault for fault in faults if fault[0] == kind]
    return random.sample(found, min(count, len(found)))


def some_of(faults, count):
    """As many of each kind."""
    kinds = sorted({kind for kind, _, _ in faults})
    each = -(-count // len(kinds))
    chosen = [f for kind in kinds
              for f in _of_kind(faults, kind, each)]
    return random.sample(chosen, min(count, len(chosen)))


def text_of(fault):
    return f"{fault[0]}:{fault[1]}{fault[2]}"


class Total:
    def __init__(self):
        self.faults = self.wrong = 0

    def judge(self, pool, title, faults, is_long, what_is_wrong):
        wrongs = [(f, w) for f, w in zip(faults, pool.map(what_is_wrong, faults)) if w]
        self.faults += len(faults)
        self.wrong += len(wrongs)
        for fault, text in wrongs[:None if os.environ.get("V") else 5]:
            print(f"{title}: with TAKT_FAULT={text_of(fault)} it {text}")
        if is_long or os.environ.get("V"):
            print(f"{title}: {len(faults)} faults, {len(wrongs)} wrong", flush=True)

    def tell(self, what, count):
        print(f"{count} {what}, {self.faults} faults, {self.wrong} wrong")
        return int(self.wrong > 0)
