#!/usr/bin/env python3
"""Tables on terminals of 60, 80 and 120 columns: of `takt report`, `takt diff` and a program that
prints them when it stops. No line is wider than the terminal; each column is in the table, or named
in the line below it with a width at which it is shown; and what goes last goes last. The terminal is
a pseudo-terminal, as a person has it."""

import concurrent.futures
import fcntl
import functools
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata

BIN, BUILD = os.environ["TAKT_BIN"], os.environ["TAKT_BUILD"]
TAKT = os.path.join(BIN, "takt")
WIDTHS = (60, 80, 120)
ENDLESS = 10000

# What stays on a terminal of 60 columns, whatever else goes.
STAYS = {
    "scopes": ["Name", "CPU total", "CUDA total", "# of Calls"],
    "tree": ["Scope", "CPU total", "CUDA total"],
    "kernels": ["Kernel Name", "Occurrences", "Total %", "Total"],
    "api": ["Call", "# of Calls", "Total %", "Total"],
    "launches": ["Launched", "Count", "Not hidden %", "Waited"],
    "gaps": ["Device", "Stream", "Busy %", "Idle", "Gaps"],
    "ops": ["Operation", "Host/Device", "Total Self-Time"],
    "steps": ["Steps", "Count", "Mean", "CUDA busy %"],
    "memory": ["Device", "Period", "Peak"],
    "diff": ["Name", "Change", "Calls are"],
}


ENDED = b"\0ended"


def read_until_ended(leader):
    data = b""
    while ENDED not in data:
        data += os.read(leader, 65536)
    return data.partition(ENDED)[0]


def on_terminal(width, command, **environment):
    """What the command prints to a terminal of that width. This end stays open until all is read: a
    terminal that its last user closes may lose what was not read yet."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "TAKT_OPTIONS")}
    with concurrent.futures.ThreadPoolExecutor(1) as reader:
        printed = reader.submit(read_until_ended, leader)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=follower,
                              stderr=subprocess.PIPE, env={**clean, **environment}, text=True)
        os.write(follower, ENDED)
        text = printed.result().decode().replace("\r\n", "\n")
    os.close(follower)
    os.close(leader)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{command} ends with {done.returncode}: {done.stderr}")
    return re.sub("\033\\[[0-9;]*m", "", text)


def columns_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


def tables_of(text):
    """Of each table its titles, those left out, and the width that the line below it names."""
    lines = text.split("\n")
    rules = [i for i, line in enumerate(lines) if re.fullmatch(r"-+(  -+)*", line)]
    tables = []
    for first, second, third in zip(rules[::3], rules[1::3], rules[2::3]):
        assert second == first + 2, text
        spans = [m.span() for m in re.finditer("-+", lines[first])]
        titles = [lines[first + 1][a:b].strip() for a, b in spans]
        below = "\n".join(lines[third + 1:])
        left_out = re.match(r"not shown:\s+(.*?);\s+(\S+?)[\s=]+(\d+)\n", below, re.S)
        names = re.sub(r"\s+", " ", left_out[1]).split(", ") if left_out else []
        tables.append((titles, names, left_out and left_out[2], left_out and int(left_out[3])))
    assert len(rules) % 3 == 0, text
    return tables


def check(name, key, print_at, repeats=True):
    """`print_at(width)` prints to a terminal of that width; `repeats`: the same numbers each time."""
    print_at = functools.lru_cache(None)(print_at)
    full = tables_of(print_at(ENDLESS))
    assert all(not names for _, names, _, _ in full), f"{name}: columns are left out at {ENDLESS}"
    for width in WIDTHS:
        text = print_at(width)
        for line in text.split("\n"):
            assert columns_of(line) <= width or "regex:" in line, \
                f"{name}: wider than {width}:\n{line}\n{text}"
        tables = tables_of(text)
        assert len(tables) == len(full), f"{name} at {width}: other tables\n{text}"
        for (titles, names, said, needed), (all_titles, _, _, _) in zip(tables, full):
            assert sorted(titles + names) == sorted(all_titles), \
                f"{name} at {width}: {titles} are shown, {names} are named, of {all_titles}"
            if not names:
                continue
            assert said == key, f"{name} at {width}: it says {said}\n{text}"
            if not repeats:
                continue
            index = tables.index((titles, names, said, needed))
            assert not tables_of(print_at(needed))[index][1], f"{name}: {needed} is too little"
            assert tables_of(print_at(needed - 1))[index][1], f"{name}: {needed} is too much"
        if width == 60:
            stays = STAYS.get(name, [])
            assert not [t for t in stays if t not in tables[-1 if name == "diff" else 0][0]], \
                f"{name}: at 60 {stays} should stay\n{text}"


def make_trace(folder):
    with open(f"{folder}/profile.yaml", "w") as file:
        file.write("profiling: {name: truth, wait: 1, warmup: 1, active: 2, repeat: 1}\n"
                   f"reports: []\noutput: {{directory: {folder}, traces: [perfetto]}}\n")
    os.mkdir(f"{folder}/books")
    flavour = f"{BUILD}/simgpu/13"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TAKT_SIM")}
    for gate in ("30", "120", "480", "1500"):  # ends with 3 where the machine was too slow for it
        done = subprocess.run([f"{BUILD}/test/simgpu/prog_truth", "books", "profile.yaml", gate, ""],
                              cwd=folder, capture_output=True, text=True, timeout=600,
                              env={**environment, "LD_LIBRARY_PATH": flavour,
                                   "TAKT_CUPTI_LIBRARY": f"{flavour}/libcupti.so.13"})
        if done.returncode != 3:
            break
    if done.returncode != 0:
        sys.exit(f"prog_truth ends with {done.returncode}: {done.stdout}{done.stderr}")
    return f"{folder}/truth.0.pftrace"


def reports():
    helped = subprocess.run([TAKT, "report", "--help"], capture_output=True, text=True).stdout
    return re.findall(r"^ +--([a-z]+) ", helped.split("--json")[0], re.M)


def need_terminal():
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        print("no pseudo-terminals (/dev/pts)")
        sys.exit(77)


def main():
    need_terminal()
    with tempfile.TemporaryDirectory() as folder:
        trace = make_trace(folder)
        for report in reports():
            check(report, "--width", lambda w: on_terminal(w, [TAKT, "report", f"--{report}", trace]))
        check("kernels by launch", "--width", lambda w: on_terminal(
            w, [TAKT, "report", "--kernels", "--by-arguments", trace]))
        check("diff", "--width", lambda w: on_terminal(w, [TAKT, "diff", trace, trace]))
        hello = [os.path.join(BIN, "samples", "hello")]
        check("a program", "output.width:", lambda w: on_terminal(w, hello), repeats=False)
        # The key that the line names is followed, and so is --width, on any terminal.
        text = on_terminal(60, [TAKT, "report", "--scopes", "--width", "300", trace])
        assert "not shown" not in text and max(map(len, text.split("\n"))) > 160
    print("tables fit terminals of", *WIDTHS, "columns, and name what does not fit")
    return 0


sys.exit(main())
