#!/usr/bin/env python3
"""Lets every public struct that may grow do so, by 64 bytes, and the list of losses by one, in a copy
of the headers; builds libtakt.so from it, and runs programs in C and C++ that were compiled with
today's headers on that library, and programs of the grown headers on today's library. Both must
print what they print on their own library.

A struct may grow unless its comment says that it is frozen, or macros compile it into programs. One
that grows must be used in use.c, and so must each function that passes a size."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("TAKT_ROOT") or Path(__file__).resolve().parents[2])
BUILD = Path(os.environ.get("TAKT_BUILD") or ROOT / "build")
LIB = Path(os.environ.get("TAKT_LIB") or ROOT / "lib")

# What macros and inline functions have on a program's stack or in its data.
INLINE = """takt_site takt_record takt_frame takt_open takt_thread_v1 takt_switch_v1 takt_stream_mark
    takt_timer takt_timed_loop takt_samples""".split()

STRUCT = re.compile(r"(?P<comment>/\*(?:(?!\*/).)*\*/\n)?typedef struct (?P<name>\w+) \{"
                    r"(?P<fields>.*?)\n\} (?P=name);", re.S)
LOSSES = re.compile(r"(#define TAKT_LOSS_LIST\(X\)(?:.*\\\n)+.*\))\n")
ONE_MORE = ' \\\n    X(TAKT_LOSS_GROWN, "grown", "losses of a later release")\n'
# Functions of the library that are told the size of a struct of the caller's.
SIZED = re.compile(r"TAKT_PASS_SIZE\((takt_\w+),|TAKT_API[^;(]* (takt_\w+)_v1\([^;]*size_t size\);")


class Failure(Exception):
    """Something is wrong with the interface."""


def run(*command, **how):
    """What it writes to standard output and error; a failure is the test's."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **how)
    if done.returncode:
        what = " ".join(map(str, command))
        raise Failure(f"{what} ended with {done.returncode}:\n{done.stdout[-500:]}\n"
                      f"{done.stderr[-3000:]}")
    return done.stdout, done.stderr


def grow_headers(scratch):
    """Writes the grown headers to scratch/include; returns the structs and functions to be used."""
    grown, sized, frozen = set(), set(), set()
    folder = scratch / "include/takt"

    def grow(match):
        name = match["name"]
        if name in INLINE or "Frozen." in (match["comment"] or ""):
            frozen.add(name)
            return match[0]
        grown.add(name)
        return match[0].replace("\n} " + name, "\n    uint64_t takt_growth[8];\n} " + name)

    for header in sorted((ROOT / "include/takt").rglob("*.h*")):
        text = header.read_text()
        sized |= {one or other for one, other in SIZED.findall(text)} - {"name"}
        text = LOSSES.sub(lambda match: match[1] + ONE_MORE, STRUCT.sub(grow, text))
        copy = folder / header.relative_to(ROOT / "include/takt")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
    return grown, sized, frozen


def build_library(scratch):
    """libtakt.so of the grown headers: scratch/lib. In one file it compiles ten times faster."""
    for name in ("Makefile", "src", "include/takt/device.cuh"):
        (scratch / name).symlink_to(ROOT / name)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("MAKE") and name != "MFLAGS"}
    run("make", "-s", "amalgamation", "INTO=one", cwd=scratch, env=environment)
    library = scratch / "lib/libtakt.so.0"
    library.parent.mkdir()
    run(*os.environ.get("CC", "cc").split(), "-O0", "-shared", "-fPIC", "-fvisibility=hidden",
        "-Wl,-soname,libtakt.so.0", f"-Wl,--version-script={ROOT}/src/takt.map", "-o", library,
        scratch / "one/takt.c", "-pthread", "-lyaml", "-lz", "-lm", "-ldl")
    (scratch / "lib/libtakt.so").symlink_to(library.name)
    return scratch / "lib"


def compile_program(scratch, name, language, headers, options=()):
    """use.c with the headers in that folder; all arrays are guarded, those of inline functions too."""
    compiler, *flags = {"c": [os.environ.get("CC", "cc"), "-std=gnu11"],
                        "c++": [os.environ.get("CXX", "c++"), "-std=c++11", "-x", "c++"]}[language]
    program = scratch / name
    run(*compiler.split(), *flags, "-O0", "-Wall", "-Wextra", "-Werror", "-fstack-protector-all",
        *options, "-I", headers, ROOT / "test/abi/use.c", "-x", "none", "-L", LIB, "-ltakt", "-o",
        program)
    return program


def write_traces(scratch):
    """A trace with something of everything takes two."""
    traces = []
    for what in ("whole", "random 1"):
        traces.append(scratch / (what.split()[0] + ".pftrace"))
        subprocess.run([BUILD / "test/cli/prog_trace", traces[-1]], input=what + "\n", text=True,
                       check=True)
    return traces


def use(program, library, traces, scratch):
    """The values that it prints, the structs that it has used, and how many losses there are."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("TAKT_", "CUDA_"))}
    environment["LD_LIBRARY_PATH"] = f"{library}:{BUILD / 'simgpu/13'}"
    values, words = run(program, *traces, cwd=scratch, env=environment)
    losses = max(int(number) for number in re.findall(r"^(\d+) losses$", words, re.M))
    return values, set(re.findall(r"^takt_\w+$", words, re.M)), losses


def compare(what, expected, values):
    """Shows the first difference."""
    for line, other in zip(expected.splitlines(), values.splitlines()):
        if line != other:
            raise Failure(f"{what}:\n    {line}\nbecomes\n    {other}")
    if expected != values:
        raise Failure(f"{what}: prints more or less than on its own library")


def check_uses(program, used, grown, sized):
    """Nothing may be forgotten."""
    called = set(re.findall(r" U (takt_\w+)_v1\b", run("nm", "-D", program)[0]))
    for name in sorted(grown - used):
        raise Failure(f"struct {name} may grow and is not used in test/abi/use.c: use it there, or "
                      "say \"Frozen.\" in its comment and never change it")
    for name in sorted(sized - called):
        raise Failure(f"{name}() passes a size and is not called in test/abi/use.c")


def check(scratch):
    """All of it."""
    grown, sized, frozen = grow_headers(scratch)
    traces = write_traces(scratch)
    programs = {language: compile_program(scratch, "today_" + language, language, ROOT / "include")
                for language in ("c", "c++")}
    check_uses(programs["c"], use(programs["c"], LIB, traces, scratch)[1], grown, sized)
    later = build_library(scratch)
    for language, today in programs.items():
        values, _, losses = use(today, LIB, traces, scratch)
        on_later, _, later_losses = use(today, later, traces, scratch)
        if later_losses != losses + 1:
            raise Failure(f"{later_losses} losses of the grown library, not {losses + 1}")
        compare(f"{language}, on a library whose structs have grown", values, on_later)
        newer = compile_program(scratch, "newer", language, scratch / "include", ["-DGROWN"])
        compare(f"{language}, compiled with headers whose structs have grown", values,
                use(newer, LIB, traces, scratch)[0])
    print(f"{len(grown)} structs grow, {len(frozen)} are frozen, {len(sized)} functions pass a size, "
          f"{len(values.splitlines())} lines are the same")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        try:
            check(Path(scratch))
        except Failure as failure:
            sys.exit(str(failure))


main()
