#!/usr/bin/env python3
"""What docs/overhead.md tells of GPUs is what docs/measurements has: each row of these tables is
computed from there once more, a column for each run of the kit."""
import os
import re
import statistics
import sys

ROOT = os.path.abspath(os.environ.get("TAKT_ROOT", "."))
KITS = [  # file, and when the kit began; the one of 11:29 ran no bench
    ("NVIDIA-H200-2026-11-26.txt", "2026-11-26 09:14"),
    ("NVIDIA-H200-2026-11-26.txt", "2026-11-26 16:43"),
    ("NVIDIA-H200-2026-11-27.txt", "2026-11-27 11:09"),
    ("NVIDIA-H200-2026-11-27.txt", "2026-11-27 11:29"),
    ("NVIDIA-H100-2026-11-28.txt", "2026-11-28 01:37"),
]
MODES = {
    "nothing": "bare",
    "CUPTI's records, thrown away": "cupti",
    "the same with empty callbacks: the floor": "callbacks",
    "**Takt, recording**": "takt",
    "Takt, before its first window": "wait",
    "Takt, after a window": "after",
    "Takt without CUPTI, each launch marked": "marks",
}
WORKLOADS = {"PyTorch": "torch", "CUDA graph of PyTorch's": "torch-graph", "JAX": "jax", "CuPy": "cupy"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def figures(file, begun):
    """All that the kit that began then told, by name."""
    kits = re.split(r"^# Takt's kit for a GPU.*: (.*) UTC$", read(f"docs/measurements/{file}"), flags=re.M)
    told = "".join(text for begin, text in zip(kits[1::2], kits[2::2]) if begin == begun)
    return {m[1]: float(m[2]) for m in re.finditer(r"^[* ]*(\S+) +([\d.]+) \S", told, re.M)}


def in_us(ns):
    return f"{ns / 1000:.2f}"


def launches(benches):
    for name, mode in MODES.items():
        key = f"bench.empty.{mode}.host"
        yield [name] + [in_us(of[key]) + (f" ({in_us(of[key + '.least'])})" if key + ".least" in of else "")
                        for of in benches]
    yield ["**Takt's to the floor's**"] + [
        f"{of['bench.empty.takt.host'] / of['bench.empty.callbacks.host']:.2f}" for of in benches]


def kernels(benches):
    for name, mode in MODES.items():
        yield [name] + [in_us(of[f"bench.busy.{mode}.whole"]) for of in benches]


def frameworks(kits):
    for name, workload in WORKLOADS.items():
        for (file, begun), of in zip(KITS, kits):
            def median_s(*who):
                runs = [value for key, value in of.items()
                        if re.fullmatch(rf"{workload}\.({'|'.join(who)})\.\d\.seconds", key)]
                return statistics.median(runs) if runs else None
            bare, takt, own = median_s("bare"), median_s("takt"), median_s("own", "torch")
            if bare:
                yield [name, f"{file[7:11]}, {begun[8:]}", f"{bare * 1000:.0f}", f"{takt / bare:.2f}",
                       f"{own / bare:.2f}" if own else "none"]


def main():
    kits = [figures(*kit) for kit in KITS]
    benches = [kit for kit in kits if "bench.empty.bare.host" in kit]
    page = read("docs/overhead.md")
    rows = ["| " + " | ".join(cells) + " |"
            for cells in [*launches(benches), *kernels(benches), *frameworks(kits)]]
    if len(benches) != 4 or (missing := [row for row in rows if row not in page]):
        sys.exit(f"{len(benches)} benches; docs/overhead.md lacks:\n" + "\n".join(missing))


main()
