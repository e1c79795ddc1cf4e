#!/usr/bin/env python3
"""Writes a program whose files share inline functions full of Takt's macros, and differ in all else.

    make_places.py FOLDER SEED FILES FUNCTIONS [COMPILER...]

places.h has the functions: inline, templates, members, lambdas. Each has ten places, whose names tell
the function, its kind and its line. Some exist in debug builds only, on lines of their own or on those
of others. Each file uses other macros before it includes places.h, has NDEBUG or not, a standard, a
level of optimisation and a compiler of its own, and calls each function once.

Prints commands that compile the files, one a line. expected.txt has what is to be found: "name count"
for what each file calls, "name ?" for what exists in debug builds only: of an inline function the
linker keeps one, and which is its choice."""
import random
import sys

STANDARDS = ["11", "14", "17", "20"]
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]

HEAD = """#pragma once
#include <takt/takt.hpp>
#include <takt/compat/tracy.h>
#ifdef NDEBUG
#define DEBUG_ONLY(...)
#else
#define DEBUG_ONLY(...) __VA_ARGS__
#endif
"""


class Function:
    def __init__(self, rng, number, expected, files):
        self.rng, self.name, self.expected, self.files = rng, f"f{number}", expected, files
        self.kind = rng.choice(["inline", "template", "member", "lambda", "switch"])
        self.places = 0

    def place(self, kind, is_debug=False):
        self.places += 1
        name = f"{self.name} {kind} {self.places}"
        self.expected[name] = "?" if is_debug else str(self.files)
        return name

    def line(self):
        """A line of code with one place or two, and what else may stand there."""
        rng = self.rng
        debug = ""
        if rng.random() < 0.3: # of another kind than what follows on the same line
            debug = f'DEBUG_ONLY(TAKT_MARK("{self.name} debug");) '
        if rng.random() < 0.3: # not a lambda: then others would be each other's functions, for any program
            debug += f'DEBUG_ONLY({{ TAKT_SCOPE("{self.place("debug", True)}"); s += 1; }})\n    '
        form = rng.randrange(9)
        if form == 0:
            return debug + f'{{ TAKT_SCOPE("{self.place("scope")}"); s += 1; }}'
        if form == 1: # two on a line
            return debug + (f'{{ TAKT_SCOPE("{self.place("first")}"); TAKT_SCOPE("{self.place("second")}"); s += 1; }}')
        if form == 2:
            return debug + f'TAKT_BEGIN("{(name := self.place("pair"))}"); s += 1; TAKT_END("{name}");'
        if form == 3:
            return debug + f'{{ TAKT_SCOPE_IN("io", TAKT_LEVEL_DETAIL, "{self.place("detail")}"); s += 1; }}'
        if form == 4:
            return debug + f'{{ TAKT_OPEN(open_{self.places}, "{(name := self.place("open"))}"); s += 1; ' \
                           f'TAKT_CLOSE(open_{self.places - 1}); }}'
        if form == 5:
            return debug + f'[&] {{ TAKT_SCOPE("{self.place("lambda")}"); [&] {{ TAKT_SCOPE("{self.place("nested")}"); s += 1; }}(); }}();'
        if form == 6:
            return debug + f'{{ ZoneScopedN("{self.place("zone")}"); s += 1; }}'
        if form == 7:
            return debug + f'if (s >= 0) {{ TAKT_SCOPE_COLOR(0xff00, "{self.place("color")}"); s += 1; }}'
        return debug + f'{{ TAKT_STREAM_SCOPE(nullptr, "{self.place("stream")}"); s += 1; }}'

    def text(self):
        lines = []
        while self.places < 10:
            if self.rng.random() < 0.2:
                lines += ["#ifndef NDEBUG", f'    {{ TAKT_SCOPE("{self.place("debug", True)}"); s += 1; }}', "#endif"]
            lines.append("    " + self.line())
        body = "\n".join(lines)
        # Where a function is inlined, its places are those of the file: no linker chooses for it.
        forced = self.rng.choice(["", "__attribute__((always_inline)) "])
        head = {"inline": f"{forced}inline double {self.name}(double s)\n{{",
                "template": f"template <typename T> {forced}inline T {self.name}_of(T s)\n{{",
                "member": f"struct {self.name}_of {{ {forced}double run(double s)\n{{",
                "lambda": f"{forced}inline double {self.name}(double s)\n{{ auto run = [&]() {{",
                "switch": f"{forced}inline double {self.name}(double s)\n{{ switch (s > 0 ? 1 : 0) {{ case 0: return 0; default: {{"}
        tail = {"inline": "    return s;\n}",
                "template": f"    return s;\n}}\ninline double {self.name}(double s) {{ return {self.name}_of<double>(s); }}",
                "member": f"    return s;\n}} }};\ninline double {self.name}(double s) {{ return {self.name}_of().run(s); }}",
                "lambda": "    }; run(); return s;\n}",
                "switch": "    } } return s;\n}"}
        return head[self.kind] + "\n" + body + "\n" + tail[self.kind] + "\n"


def main():
    folder, seed, files, functions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    compilers = sys.argv[5:] or ["c++"]
    rng = random.Random(seed)
    expected = {}
    texts = [Function(rng, i, expected, files).text() for i in range(functions)]
    with open(f"{folder}/places.h", "w") as out:
        out.write(HEAD + "\n".join(texts))
    for i in range(files):
        with open(f"{folder}/file{i}.cpp", "w") as out:
            out.write("#include <takt/takt.hpp>\n")
            for k in range(rng.randrange(6)):
                out.write(f'static inline void own{k}() {{ TAKT_SCOPE("own {i} {k}"); '
                          f'TAKT_COUNTER("c", {k}); }}\n')
                out.write(f"void use{i}_{k}();\nvoid use{i}_{k}() {{ own{k}(); }}\n")
            out.write('#include "places.h"\n'
                      f"double all{i}(double s);\ndouble all{i}(double s)\n{{\n")
            calls = [f"    s = f{n}(s + 1);\n" for n in range(functions)]
            rng.shuffle(calls)
            out.write("".join(calls) + "    return s;\n}\n")
        print(rng.choice(compilers), "-std=c++" + rng.choice(STANDARDS), rng.choice(LEVELS),
              rng.choice(["-DNDEBUG", ""]), f"-c {folder}/file{i}.cpp -o {folder}/file{i}.o")
    with open(f"{folder}/main.cpp", "w") as out:
        out.write("#include <takt/takt.h>\n")
        out.writelines(f"double all{i}(double);\n" for i in range(files))
        out.write("int main()\n{\n    double s = 1;\n    takt_profiler_start(NULL);\n")
        out.writelines(f"    s = all{i}(s);\n" for i in range(files))
        out.write("    takt_profiler_stop(NULL);\n    return s < 0;\n}\n")
    print(compilers[0], f"-std=c++11 -c {folder}/main.cpp -o {folder}/main.o")
    with open(f"{folder}/expected.txt", "w") as out:
        out.writelines(f"{name}\t{count}\n" for name, count in sorted(expected.items()))


main()
