#!/usr/bin/env python3
"""A file that torch.profiler wrote on a GPU: the reports say what this test computes from its JSON,
and what torch's own table of the same run said."""
import csv
import gzip
import io
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from decimal import Decimal

takt = os.environ["TAKT_BIN"] + "/takt"
path = os.environ["TAKT_ROOT"] + "/test/data/torch/h200.pt.trace.json.gz"
failures = compared = 0

# From key_averages().table(): times in us, memory in bytes.
SELF_CPU, SELF_CUDA = 37322, 3691
OPERATORS = {  # calls, self CPU, CPU total, self CUDA, CUDA total, self CUDA memory in MiB
    "aten::mm": (68, 1514, 2165, 1386, 1386, 136),
    "aten::addmm": (24, 618.823, 759.103, 434.591, 434.591, 64),
    "aten::copy_": (132, 665.471, 1565, 364.635, 364.635, 0),
    "aten::_efficient_attention_backward": (8, 213.068, 1113, 356.509, 448.029, -48.52),
    "aten::sum": (40, 546.378, 940.963, 314.202, 314.202, 312 / 1024),
    "aten::native_layer_norm_backward": (16, 187.999, 550.524, 174.948, 174.948, 0),
    "aten::_efficient_attention_forward": (8, 132.160, 282.981, 138.625, 138.625, 0)}
KERNELS = {  # calls, CUDA total, by the begin of the full name
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt": (32, 516.479),
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_sta": (24, 434.591),
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4"
    "_execute_kernel__5x": (20, 360.893),
    "fmha_cutlassB_f32_aligned_64x64_k64_sm80(PyTorchMemEffAtt": (8, 356.509),
    "void at::native::elementwise_kernel<128, 2, at::native::g": (104, 320.732),
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_s": (8, 271.040),
    "void at::native::reduce_kernel<128, 4, at::native::Reduce": (32, 262.014)}
FORWARD_ON_GPU = 6158  # from its first kernel to its last, summed over the steps


def check(what, found, wanted, within=0):
    global failures, compared
    compared += 1
    if abs(float(found) - float(wanted)) > within:
        failures += 1
        if failures <= 20:
            print(f"{what}: {found} instead of {wanted}")


def check_us(what, found_ns, wanted_us):
    """To the digits that torch prints: 516.479us, 1.386ms."""
    check(what, int(found_ns) / 1000, wanted_us, 0.0006 if wanted_us < 1000 else 0.6)


def run(*arguments):
    done = subprocess.run([takt, *arguments, path], capture_output=True, text=True)
    if done.returncode or done.stderr:
        sys.exit(f"takt {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def report(*options):
    text = run("report", "--csv", "--rows", "all", *options)
    return list(csv.DictReader(io.StringIO(text.split("\n\n")[0].replace("\r", ""))))


def ns(microseconds):
    return int(microseconds * 1000)


class File:
    """The events, and sums of scopes, calls included, as torch counts them."""

    def __init__(self):
        with gzip.open(path) as file:
            self.events = json.load(file, parse_float=Decimal)["traceEvents"]
        self.scopes = defaultdict(Counter)
        self.around_call = {}  # correlation -> names of the call and of the scopes around it
        threads = defaultdict(list)
        for event in self.events:
            if event.get("cat") in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"):
                threads[event["tid"]].append(event)
        for events in threads.values():
            self.add_thread(events)
        self.add_waits([event for events in threads.values() for event in events])
        self.works = [event for event in self.events
                      if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
        for work in self.works:
            names = self.around_call[work["args"]["correlation"]][1:]
            for name in set(names):
                self.scopes[name]["cuda_total_ns"] += ns(work["dur"])
            self.scopes[names[0]]["self_cuda_ns"] += ns(work["dur"])

    def add_thread(self, events):
        open_scopes = []
        for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
            begin, duration = ns(event["ts"]), ns(event["dur"])
            name = event["name"].split("#")[0] if "ProfilerStep" in event["name"] else event["name"]
            while open_scopes and open_scopes[-1][1] <= begin:
                open_scopes.pop()
            row = self.scopes[name]
            row["calls"] += 1
            row["self_cpu_ns"] += duration
            if name not in (of for of, _ in open_scopes):
                row["cpu_total_ns"] += duration
            if open_scopes:
                self.scopes[open_scopes[-1][0]]["self_cpu_ns"] -= duration
            open_scopes.append((name, begin + duration))
            if event["cat"].startswith("cuda") and "correlation" in event["args"]:
                self.around_call[event["args"]["correlation"]] = [of for of, _ in open_scopes[::-1]]

    def add_waits(self, events):
        """The main thread waits in its innermost scope, if that is no operator, while the engine of
        autograd works on another thread."""
        main, engine = [], []
        for event in events:
            begin, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
            if event["tid"] == event["pid"]:
                main.append((begin, end, event["cat"], event["name"].split("#")[0]))
            elif event["name"].startswith("autograd::engine::"):
                engine.append((begin, end))
        wait, last = self.scopes["wait for autograd"], None
        edges = sorted({edge for begin, end, *_ in main + engine for edge in (begin, end)})
        for begin, end in zip(edges, edges[1:]):
            around = [span for span in main if span[0] <= begin and end <= span[1]]
            if not around or not any(b <= begin and end <= e for b, e in engine):
                continue
            _, _, category, name = min(around, key=lambda span: span[1] - span[0])
            if category != "user_annotation":
                continue
            wait["calls"] += last != (begin, name)
            last = end, name
            for sums, duration in (wait, end - begin), (self.scopes[name], begin - end):
                sums["self_cpu_ns"] += duration
            wait["cpu_total_ns"] += end - begin

    def of_category(self, category):
        return [event for event in self.events if event.get("cat") == category]


def check_scopes(file):
    rows = {row["name"]: row for row in report("--scopes", "--all") if row["kind"] != "activity"}
    check("scopes: rows", len(rows), len(file.scopes))
    for name, sums in file.scopes.items():
        row = rows.get(name, Counter())
        for column in "calls", "self_cpu_ns", "cpu_total_ns", "self_cuda_ns", "cuda_total_ns":
            check(f"scopes: {name}: {column}", row[column] or 0, sums[column])
    check_us("self CPU time total", sum(int(row["self_cpu_ns"]) for row in rows.values()), SELF_CPU)
    for name, (calls, self_cpu, cpu, self_cuda, cuda, memory) in OPERATORS.items():
        row = rows[name]
        check(f"torch's table: {name}: calls", row["calls"], calls)
        check_us(f"torch's table: {name}: self CPU", row["self_cpu_ns"], self_cpu)
        check_us(f"torch's table: {name}: CPU total", row["cpu_total_ns"], cpu)
        check_us(f"torch's table: {name}: self CUDA", row["self_cuda_ns"], self_cuda)
        check_us(f"torch's table: {name}: CUDA total", row["cuda_total_ns"], cuda)
        check(f"torch's table: {name}: memory", int(row["self_cuda_memory_bytes"]) / 2**20, memory,
              0.005)


def check_activities(file):
    check("activities in the file", len(file.works), 548)
    for key, wanted in (("count", Counter(work["name"] for work in file.works)),
                        ("total_ns", sum((Counter({work["name"]: ns(work["dur"])})
                                          for work in file.works), Counter()))):
        found = Counter()
        for row in report("--kernels", "--by-arguments"):
            found[row["full_name"]] += int(row[key])
        for name in {work["name"] for work in file.of_category("kernel")} | set(found):
            check(f"kernels: {name}: {key}", found[name], wanted[name])
        for begin, (calls, cuda_us) in KERNELS.items():
            of_torch = [number for name, number in found.items() if name.startswith(begin)]
            if key == "count":
                check(f"torch's table: {begin}: {of_torch} calls", calls in of_torch, True)
            else:
                nearest = min(of_torch, key=lambda number: abs(number - cuda_us * 1000))
                check_us(f"torch's table: {begin}: CUDA total", nearest, cuda_us)
    rows = {row["activity"]: row for row in report("--activities")}
    for category, label in ("gpu_memcpy", "memcpy DtoD"), ("gpu_memset", "memset"):
        works = file.of_category(category)
        check(f"{label}: count", rows[label]["count"], len(works))
        check(f"{label}: time", rows[label]["total_time_ns"],
              sum(ns(work["dur"]) for work in works))
    check("activities", sum(int(row["count"]) for row in rows.values()), 548)
    check_us("self CUDA time total", sum(int(row["total_time_ns"]) for row in rows.values()),
             SELF_CUDA)


def check_shapes(file):
    """Torch has no theoretical occupancy, but how much of the device a launch fills: that is less
    if there are not enough blocks. It says 0 of kernels with more shared memory than they have
    without asking for more, although they ran."""
    known = {}
    for row in report("--kernels", "--by-arguments"):
        shape = row["full_name"], row["grid"], row["block"]
        known[shape + (int(row["registers"]), int(row["dynamic_shared_bytes"]))] = row
    for kernel in file.of_category("kernel"):
        args = kernel["args"]
        triples = [",".join(map(str, args[key])) for key in ("grid", "block")]
        row = known.get((kernel["name"], *triples, args["registers per thread"],
                         args["shared memory"]))
        if not row:
            check(f"a row of {kernel['name']}, {triples}", 0, 1)
            continue
        if args["shared memory"] > 49152:
            check(f"occupancy of {kernel['name']}", row["occupancy_percent"], 12.5)
            check(f"torch's, of {kernel['name']}", args["est. achieved occupancy %"], 0)
            continue
        fills = float(args["warps per SM"]) / 64 * 100
        check(f"occupancy of {kernel['name']}, {triples}",
              min(float(row["occupancy_percent"]), fills), args["est. achieved occupancy %"], 0.51)


def check_rest(file):
    steps = report("--steps")
    spans = [e for e in file.events if e["name"].startswith("ProfilerStep#")]
    check("steps", steps[0]["count"], 4)
    check("longest step", steps[0]["max_ns"], max(ns(span["dur"]) for span in spans))
    memory = {row["device"]: row for row in report("--memory")}
    for device, label in (0, "host"), (1, "cuda:0"):
        events = [e["args"] for e in file.of_category("cpu_instant_event")
                  if e["args"]["Device Type"] == device]
        check(f"{label}: peak", memory[label]["peak_bytes"],
              max(e["Total Allocated"] for e in events))
        check(f"{label}: allocations", memory[label]["allocations"],
              sum(e["Bytes"] > 0 for e in events))
    tasks = {row["task"]: row for row in report("--tasks")}
    check_us("torch's table: forward: CUDA total", tasks["forward"]["total_ns"], FORWARD_ON_GPU)
    info = json.loads(run("info", "--json"))
    recorded = file.of_category("Trace")[0]
    check("length of the recording", info["wall_ns"], ns(recorded["dur"]))
    check("first step", info["first_step"], 4)
    check("marks", info["marks"], 0)
    check("losses", sum(count or 0 for count in info["losses"].values()), 0)


the_file = File()
check_scopes(the_file)
check_activities(the_file)
check_shapes(the_file)
check_rest(the_file)
if failures:
    sys.exit(f"{failures} failures")
if compared < 1000:
    sys.exit(f"only {compared} figures compared")
print(f"{compared} figures compared")
