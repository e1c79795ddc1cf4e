#!/usr/bin/env python3
"""A training loop of PyTorch's, under its own profiler and under Takt: do both see the same?

    torch_loop.py                 three runs of each in turn, and how they compare (quick: one)
    torch_loop.py torch|takt|bare FILE   one run; counts and milliseconds by name, as JSON

A small transformer is trained for some steps with one fixed seed, so that each run launches the same
kernels. Counts of each kernel have to be equal; the totals have to be as near as the runs of one
profiler are to each other. A run that fails is told of, and the others go on. Exit status: 77 where
there is no PyTorch or no GPU.
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

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, WARMUP = 50, 5
LONGEST_S = 60  # of a run; importing PyTorch alone takes up to ten


def make_step():
    """One step of training, as a function without arguments."""
    import torch

    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = torch.randn(16, 128, 256, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        (model(data) - data).square().mean().backward()
        optimizer.step()

    return step


def train(step, count):
    """Returns the seconds that the steps took."""
    import torch

    begin = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def run_torch(path):
    from torch.profiler import ProfilerActivity, profile

    step = make_step()
    train(step, WARMUP)
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        seconds = train(step, STEPS)
    profiler.export_chrome_trace(path)
    activities = {}
    for event in read(path)["traceEvents"]:
        if event.get("cat") == "kernel":
            count, ms = activities.get(event["name"], (0, 0.0))
            activities[event["name"]] = (count + 1, ms + event["dur"] / 1e3)
    return {"backend": "torch.profiler", "losses": {}, "activities": activities,
            "seconds": seconds}


def run_takt(path):
    library = ctypes.CDLL(os.environ.get("TORCH_TAKT", os.path.join(HERE, "lib", "libtorch_takt.so")))
    step = make_step()
    train(step, WARMUP)
    status = library.torch_takt_begin()
    if status != 0:
        sys.exit(f"Takt cannot begin: {status}")
    seconds = train(step, STEPS)
    if library.torch_takt_end(path.encode()) != 0:
        sys.exit("Takt has no trace")
    return {**read(path), "seconds": seconds}


def run_bare(_):
    step = make_step()
    train(step, WARMUP)
    return {"activities": {}, "seconds": train(step, STEPS)}


def run(mode, path):
    """One run, in a process of its own."""
    import torch

    faulthandler.enable()
    if not torch.cuda.is_available():
        print("PyTorch has no GPU here")
        return 77
    result = {"torch": run_torch, "takt": run_takt, "bare": run_bare}[mode](path)
    result["versions"] = f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file)
    return 0


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return json.load(file)


def child(mode, folder, number):
    """The result of a run, or its exit status."""
    path = os.path.join(folder, f"{mode}.{number}.json")
    command = [sys.executable, os.path.abspath(__file__), mode, path]
    try:
        status = subprocess.run(command, check=False, timeout=LONGEST_S).returncode
        return status or read(path)
    except subprocess.TimeoutExpired:
        print(f"torch.{mode}.{number}: does not end in {LONGEST_S} s")
    except (OSError, ValueError) as error:
        print(f"torch.{mode}.{number}: no result: {error}")
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


def compare(runs):
    """How many kernels' counts and totals differ, by more than the runs of each differ."""
    ours, theirs = [kernels(r) for r in runs["takt"]], [kernels(r) for r in runs["torch"]]
    names = sorted(set().union(*ours, *theirs))
    odd_counts, odd_totals, worst = [], [], 0.0
    for name in names:
        a = [r.get(name, (0, 0.0)) for r in ours]
        b = [r.get(name, (0, 0.0)) for r in theirs]
        if len({count for count, _ in a + b}) > 1:
            odd_counts.append((name, [c for c, _ in a], [c for c, _ in b]))
            continue
        apart = max(min(ms for _, ms in a) - max(ms for _, ms in b),
                    min(ms for _, ms in b) - max(ms for _, ms in a), 0.0)
        largest = max(ms for _, ms in a + b)
        worst = max(worst, apart / largest if largest else 0.0)
        if apart > 0.0:
            odd_totals.append((name, [ms for _, ms in a], [ms for _, ms in b]))
    for name, a, b in odd_counts[:10]:
        print(f"count differs: {name[:400]}: takt {a}, torch {b}")
    for name, a, b in odd_totals[:10]:
        print(f"totals apart: {name[:160]}: takt {a}, torch {b} ms")
    print(f"torch.names {len(names)} kernels")
    print(f"* torch.counts_that_differ {len(odd_counts)} kernels")
    print(f"* torch.totals_apart {len(odd_totals)} kernels")
    print(f"* torch.largest_distance {100 * worst:.3f} %")
    return bool(names) and not odd_counts


def tell(mode, number, result):
    print(f"* torch.{mode}.{number}.seconds {result['seconds']:.4f} s")
    if mode == "bare":
        return
    count, ms = sums(result)
    print(f"* torch.{mode}.{number}.kernels {count} kernels")
    print(f"* torch.{mode}.{number}.total {ms:.3f} ms")
    if mode == "takt":
        lost = {k: v for k, v in result["losses"].items() if v}
        print(f"torch.takt.{number}: {result['backend']}, losses {lost}")


def run_all(rounds):
    runs = {"torch": [], "takt": [], "bare": []}
    versions, failed = None, False
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for mode, results in runs.items():
                result = child(mode, folder, number)
                if result == 77:
                    return 77
                if isinstance(result, int):
                    print(f"torch.{mode}.{number}: ends with {result}")
                    failed = True
                    continue
                if not versions:
                    print(versions := result["versions"])
                results.append(result)
                tell(mode, number, result)
    is_equal = bool(runs["takt"] and runs["torch"]) and compare(runs)
    return 0 if is_equal and not failed else 1


def main():
    sys.stdout.reconfigure(line_buffering=True)  # lines of runs stand between ours
    if len(sys.argv) == 3:
        return run(sys.argv[1], sys.argv[2])
    if not importlib.util.find_spec("torch"):
        print("no PyTorch here")
        return 77
    return run_all(1 if os.environ.get("GPU_QUICK") else 3)


if __name__ == "__main__":
    sys.exit(main())
