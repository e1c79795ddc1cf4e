#!/usr/bin/env python3
"""The limits in docs/concepts.md are those of the sources: each row has the value of its constant, and
each constant of a header that is named as a limit has a row, or is here as one that nobody meets."""
import os
import re
import sys

ROOT = os.path.abspath(os.environ.get("TAKT_ROOT", "."))

# The begin of a row, and its constants in order. A number of another unit stands with its value.
ROWS = [
    ("events of the process", "record/pool.c MAX_SLABS 32768 32 GiB"),
    ("call sites and run-time names", "record/slot.h TKT_SITE_MAX"),
    ("open scopes of a thread", "record/log.h TKT_MAX_DEPTH"),
    ("scopes that own arguments", "record/slot.h TKT_DEEP"),
    ("open spans of tracks", "record/task.c MOST_OPEN"),
    ("open frames of", "record/tracy.c MOST_FRAMES"),
    ("frames of a call stack", "record/site.h TKT_STACK_FRAMES"),
    ("call stacks", "record/stack.c MAX_BYTES 33554432 32 MiB"),
    ("categories, with", "record/site.h TKT_CATEGORIES"),
    ("scopes whose wrong ends", "record/control.c PLACES"),
    ("windows at once", "record/control.h TKT_PLACES"),
    ("cycles that wait", "profiler/cycle.h TKT_MOST_CYCLES"),
    ("steps that a trace lists", "trace/model.h TKT_MOST_STEPS", "record/mapping.h TKT_MAPPING_STEPS"),
    ("points in the curve", "trace/run.h TKT_RUN_PARTS"),
    ("devices", "cuda/store.h TKT_STORE_DEVICES"),
    ("devices", "trace/model.h TKT_MOST_DEVICES"),
    ("CUDA contexts", "cuda/driver.c MAX_CONTEXTS"),
    ("CUDA graphs", "cuda/store.h TKT_MOST_GRAPHS"),
    ("kernels of a graph", "trace/phases.c MOST_KERNELS"),
    ("phases of a compilation", "profiler/compile.h TKT_COMPILE_SPANS"),
    ("NVTX domains", "nvtx/nvtx.c MOST_DOMAINS 16 15", "nvtx/nvtx.c MOST_CATEGORIES"),
    ("paths of a thread", "record/fold.h TKT_FOLD_MAX_NODES"),
    ("counters; tasks", "record/fold.h TKT_FOLD_MAX_NAMES"),
    ("tasks of `takt_span_at`", "record/fold.h TKT_FOLD_MAX_AHEAD"),
    ("threads and their scopes", "record/fold.h TKT_FOLD_MAX_PARTS"),
    ("launches of a thread", "record/log.h TKT_FOLDED_CALLS"),
    ("medians of `tasks`", "summary/named.h TKT_NAMED_HISTOGRAMS"),
    ("medians of `launches`", "summary/launches.h TKT_LAUNCH_HISTOGRAMS"),
    ("durations in a median", "base/histogram.h TKT_HISTOGRAM_TOP_BITS 46 19.5 hours"),
    ("longest gaps", "summary/gaps.h TKT_MOST_GAPS"),
    ("largest allocations", "report/show_memory.c MOST_JUMPS"),
    ("events on a page", "cli/html/html.h HTML_MOST_EVENTS"),
    ("rows for overlapping events", "cli/html/html.h HTML_MOST_LANES"),
    ("names in a path", "export/folded.c MOST_NAMES", "export/xplane_names.c MOST_PARTS"),
    ("files of one name", "base/file.h TKT_MOST_OF_A_NAME"),
    ("arguments of an event", "import/scan.h IMP_MOST_MEMBERS"),
]

# Nobody meets them, they end nothing, or a message says what is wrong.
OTHERS = """TKT_PF_RUN_MAX_NS TKT_PF_STATS_MAX_NS TKT_MOST_EQUAL_CALLS TKT_CONFIG_ERRORS_MAX
    TKT_CONFIG_ITEMS_MAX TKT_CONFIG_BYTES_MAX TKT_CONFIG_DEPTH_MAX TKT_CONFIG_EVENTS_MAX
    TKT_CONFIG_DIRECTIVES_MAX TKT_CONFIG_SKIPPED_MAX TKT_MAX_COLUMNS TKT_MAX_TABLES TKT_MOST_ADVICE
    TKT_DEFAULT_MAX_BYTES TKT_MOST_EXTREMES TKT_MAX_PLACES TKT_BUFFER_MOST_BYTES TKT_PB_VARINT_MAX
    TABLE_MOST_COLUMNS CLI_MOST_NAMES CLI_MOST_OWN DOCTOR_MOST TKT_CUPTI_MAX_LIMIT_REACHED""".split()


def source(path):
    with open(os.path.join(ROOT, "src", path), encoding="utf-8") as file:
        return file.read()


def value(path, name):
    """Of a #define or an enumerator, or None."""
    text = source(path).replace("\\\n", "")
    found = re.search(rf"^(?:#define {name} |\s+{name} =)(.*)$", text, flags=re.M)
    if not found:
        return None
    text = re.sub(r"/\*.*|,\s*$|\(size_t\)", "", re.sub(r"/\*.*", "", found[1]).strip())
    text = re.sub(r"U?INT\d+_C(\(\d+\))", r"\1", text)
    return eval(re.sub(r"\b(0x[0-9A-Fa-f]+|\d+)[uU]\b", r"\1", text), {})  # our own sources


def rows():
    with open(os.path.join(ROOT, "docs", "concepts.md"), encoding="utf-8") as file:
        table = file.read().split("\n## Limits\n")[1].split("\n## ")[0]
    lines = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| ")][1:]
    return {re.sub(r"^\*.*?\* ", "", name.strip()): shown.strip() for name, shown in lines}


def problems():
    known = rows()
    for begin, *constants in ROWS:
        row = next((name for name in known if name.startswith(begin)), None)
        if row is None:
            yield f"docs/concepts.md has no row '{begin}'"
            continue
        for constant in constants:
            path, name, *other = constant.split(" ", 3)
            now = value(path, name)
            shown = other[1] if other else f"{now:,}" if now is not None else "?"
            if other and now != int(other[0]) or not other and now is None:
                yield f"src/{path}: {name} is {now}"
            elif not re.search(rf"(?<![\d,]){re.escape(shown)}(?![\d,])", known[row]):
                yield f"docs/concepts.md: '{row}' is '{known[row]}', {name} is {shown}"
    named = {constant.split()[1] for row in ROWS for constant in row[1:]} | set(OTHERS)
    for folder, _, files in os.walk(os.path.join(ROOT, "src")):
        for name in (name for name in files if name.endswith(".h")):
            path = os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "src"))
            for constant in re.findall(r"^(?:#define|\s+)\s*([A-Z_]*(?:MOST|MAX)[A-Z_]*)(?:\s*=|\s+[^,(\s])",
                                       source(path), flags=re.M):
                if constant not in named:
                    yield f"src/{path}: {constant} has no row, and is not among those that nobody meets"


found = list(problems())
for line in found:
    print(line)
print(f"{len(ROWS)} rows, {len(found)} failures")
sys.exit(1 if found else 0)
