#!/usr/bin/env python3
"""A Python program under the profiler of its framework and under Takt: do both see the same?

    python_loop.py [WORKLOAD]        two runs of each in turn, and how they compare (quick: one)
    python_loop.py WORKLOAD own|takt|bare FILE
                                     one run; counts and milliseconds by name, as JSON

Workloads: torch (the default), torch-graph, jax, cupy, warp; see workloads.py. Each run launches
the same kernels. Counts of each kernel have to be equal; the totals have to be as near as the runs
of one profiler are to each other. Without a profiler of its own, each count has to be a multiple of
the steps. A run that fails is told of, and the others go on. Exit status: 77 where the framework or
a GPU is missing.
"""
import ctypes
import faulthandler
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

from workloads import WORKLOADS, version

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, WARMUP = 500, 5
LONGEST_S = 60  # of a run; importing PyTorch alone takes up to ten


def steps(workload, count):
    """Returns the seconds that the steps took."""
    step, wait = workload
    begin = time.perf_counter()
    for _ in range(count):
        step()
    wait()
    return time.perf_counter() - begin


def run_own(workload, profile, _):
    seconds = []
    activities = {}
    for name, ms in profile(lambda: seconds.append(steps(workload, STEPS))):
        before = activities.get(name, (0, 0.0))
        activities[name] = (before[0] + 1, before[1] + ms)
    return {"backend": "its own", "losses": {}, "activities": activities, "seconds": seconds[0]}


def run_takt(workload, _, path):
    library = ctypes.CDLL(
        os.environ.get("PYTHON_TAKT", os.path.join(HERE, "lib", "libpython_takt.so")))
    status = library.python_takt_begin()
    if status != 0:
        sys.exit(f"Takt cannot begin: {status}")
    seconds = steps(workload, STEPS)
    if library.python_takt_end(path.encode()) != 0:
        sys.exit("Takt has no trace")
    return {**read(path), "seconds": seconds}


def run_bare(workload, *_):
    return {"activities": {}, "seconds": steps(workload, STEPS)}


def run(name, mode, path):
    """One run, in a process of its own."""
    module, make, profile = WORKLOADS[name]
    faulthandler.enable()
    release = version(module)
    if not release:
        print(f"{module} has no GPU here")
        return 77
    workload = make()
    steps(workload, WARMUP)
    result = {"own": run_own, "takt": run_takt, "bare": run_bare}[mode](workload, profile, path)
    result["versions"] = release
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file)
    return 0


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return json.load(file)


def child(name, mode, folder, number):
    """The result of a run, or its exit status."""
    path = os.path.join(folder, f"{mode}.{number}.json")
    command = [sys.executable, os.path.abspath(__file__), name, mode, path]
    try:
        status = subprocess.run(command, check=False, timeout=LONGEST_S).returncode
        return status or read(path)
    except subprocess.TimeoutExpired:
        print(f"{name}.{mode}.{number}: does not end in {LONGEST_S} s")
    except (OSError, ValueError) as error:
        print(f"{name}.{mode}.{number}: no result: {error}")
    return 1


def kernels(result):
    """Counts and milliseconds of kernels by name; two demanglers may differ in blanks."""
    found = {}
    for name, (count, ms) in result["activities"].items():
        if not name.lower().startswith(("memcpy", "memset")):
            name = "".join(name.split())
            before = found.get(name, (0, 0.0))
            found[name] = (before[0] + count, before[1] + ms)
    return found


def sums(result):
    found = kernels(result).values()
    return sum(count for count, _ in found), sum(ms for _, ms in found)


def compare(workload, runs):
    """How many kernels' counts and totals differ, by more than the runs of each differ."""
    ours, theirs = [kernels(r) for r in runs["takt"]], [kernels(r) for r in runs["own"]]
    names = sorted(set().union(*ours, *theirs))
    odd_counts, odd_totals, worst = [], [], 0.0
    for name in names:
        a = [r.get(name, (0, 0.0)) for r in ours]
        b = [r.get(name, (0, 0.0)) for r in theirs]
        if len({count for count, _ in a + b}) > 1:
            odd_counts.append((name, [c for c, _ in a], [c for c, _ in b]))
            continue
        if not b:
            continue
        apart = max(min(ms for _, ms in a) - max(ms for _, ms in b),
                    min(ms for _, ms in b) - max(ms for _, ms in a), 0.0)
        largest = max(ms for _, ms in a + b)
        worst = max(worst, apart / largest if largest else 0.0)
        if apart > 0.0:
            odd_totals.append((name, [ms for _, ms in a], [ms for _, ms in b]))
    if not theirs:  # each step does the same
        odd_counts += [(name, [count], []) for name, (count, _) in ours[0].items() if count % STEPS]
    for name, a, b in odd_counts[:10]:
        print(f"count differs: {name[:400]}: takt {a}, its own {b}")
    for name, a, b in odd_totals[:10]:
        print(f"totals apart: {name[:160]}: takt {a}, its own {b} ms")
    print(f"{workload}.names {len(names)} kernels")
    print(f"* {workload}.counts_that_differ {len(odd_counts)} kernels")
    if theirs:
        print(f"* {workload}.totals_apart {len(odd_totals)} kernels")
        print(f"* {workload}.largest_distance {100 * worst:.3f} %")
    return bool(names) and not odd_counts


def tell(run_name, mode, result):
    print(f"* {run_name}.seconds {result['seconds']:.4f} s")
    if mode == "bare":
        return
    count, ms = sums(result)
    print(f"* {run_name}.kernels {count} kernels")
    print(f"* {run_name}.total {ms:.3f} ms")
    if mode == "takt":
        lost = {k: v for k, v in result["losses"].items() if v}
        print(f"{run_name}: {result['backend']}, losses {lost}")


def tell_cost(workload, runs):
    """How many times as long as without a profiler."""
    bare = min((r["seconds"] for r in runs["bare"]), default=0)
    for mode in ("takt", "own"):
        if runs[mode] and bare:
            times = min(r["seconds"] for r in runs[mode]) / bare
            print(f"* {workload}.{mode}.whole {times:.3f} times_bare, {STEPS} steps")
    print("* decides: Takt costs no more than the framework's own profiler, and sees the same")


def run_all(workload, rounds):
    runs = {mode: [] for mode in ("own", "takt", "bare") if mode != "own" or WORKLOADS[workload][2]}
    versions, failed = None, False
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for mode, results in runs.items():
                result = child(workload, mode, folder, number)
                if result == 77:
                    return 77
                if isinstance(result, int):
                    print(f"{workload}.{mode}.{number}: ends with {result}")
                    failed = True
                    continue
                if not versions:
                    print(versions := result["versions"])
                results.append(result)
                tell(f"{workload}.{mode}.{number}", mode, result)
    runs.setdefault("own", [])
    tell_cost(workload, runs)
    is_complete = runs["takt"] and (runs["own"] or not WORKLOADS[workload][2])
    return 0 if is_complete and compare(workload, runs) and not failed else 1


def main():
    sys.stdout.reconfigure(line_buffering=True)  # lines of runs stand between ours
    name = sys.argv[1] if len(sys.argv) > 1 else "torch"
    if name not in WORKLOADS:
        sys.exit(f"no workload {name}: there are {', '.join(WORKLOADS)}")
    if len(sys.argv) == 4:
        return run(name, *sys.argv[2:])
    if not importlib.util.find_spec(WORKLOADS[name][0]):
        print(f"no {WORKLOADS[name][0]} here")
        return 77
    return run_all(name, 1 if os.environ.get("GPU_QUICK") else 2)


if __name__ == "__main__":
    sys.exit(main())
