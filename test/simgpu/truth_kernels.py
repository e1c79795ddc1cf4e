"""What the reports of kernels, calls and operations say of a run of prog_truth, column by column.

check(equal, near, cycle, reports) takes compare_truth.py's ways to compare, and its books of a
cycle. Every kernel is launched with the same grid and block; each name takes its own time.
"""
import collections
import math
import statistics

GRID, BLOCK, REGISTERS = "16,1,1", "64,1,1", 32
FULL_NAMES = {"kernel forces": "forces(float const*, float*, int)",
              "kernel sph::residual": "sph::residual(float*)"}

# The stand-in's device: 128 multiprocessors of capability 8.9, with 128 lanes each, at 2.52 GHz;
# 384 bits at 10.501 GHz.
PEAK_FLOPS = 128 * 128 * 2 * 2.52e9
PEAK_BANDWIDTH = 2 * 10.501e9 * 384 / 8

# Blocks of 2 warps: 24 of them fill the 48 warps of a multiprocessor, and no more than 24 fit.
OCCUPANCY, LIMITED_BY = 100, "warps"


def durations(cycle, works):
    return [cycle.books.ns(work.device, work.ns) for work in works]


def check_times(equal, near, where, row, times, total, slack):
    """Rounded once each by the device's clock, where that drifts."""
    count = len(times)
    equal(where, "count", row["count"], count)
    near(where, "total", row["total_ns"], sum(times), slack * count)
    near(where, "share", row["total_percent"], 100 * sum(times) / total, 1e-3 if slack else 1e-9)
    near(where, "average", row["avg_ns"], sum(times) / count, 0.5 + slack)
    near(where, "median", row["median_ns"], sorted(times)[(count - 1) // 2],
         slack + max(times) / 32)
    near(where, "p99", row["p99_ns"], sorted(times)[math.ceil(0.99 * count) - 1],
         slack + max(times) / 32)
    near(where, "least", row["min_ns"], min(times), slack)
    near(where, "most", row["max_ns"], max(times), slack)
    if count > 1:
        near(where, "deviation", row["stddev_ns"], statistics.stdev(times), 0.5 + slack)


def check_shape(equal, where, row, name):
    equal(where, "grid", row["grid"], GRID)
    equal(where, "block", row["block"], BLOCK)
    equal(where, "cluster", row["cluster"], None)
    equal(where, "registers", row["registers"], REGISTERS)
    for what in "static_shared_bytes", "dynamic_shared_bytes", "local_bytes":
        equal(where, what, row[what], 0)
    equal(where, "occupancy", (row["occupancy_percent"], row["limited_by"]),
          (OCCUPANCY, LIMITED_BY))
    equal(where, "whole name", row["full_name"], FULL_NAMES.get(name, name[len("kernel "):]))
    equal(where, "tensor cores", row["tensor_core_by_name"], "no")


def check_kernels(equal, near, cycle, report):
    groups = collections.defaultdict(list)
    for work in cycle.works:
        if work.name.startswith("kernel "):
            groups[work.name].append(work)
    times = {name: durations(cycle, works) for name, works in groups.items()}
    total = sum(map(sum, times.values()))
    slack = cycle.books.slack(1)
    for row in report["rows"]:
        where = f"cycle {cycle.number}: kernels: {row['name']}"
        check_times(equal, near, where, row, times[row["name"]], total, slack)
        if cycle.has_spans:
            check_shape(equal, where, row, row["name"])
        else:
            equal(where, "shape", row.get("grid"), None)
    longest = sorted(times, key=lambda name: -sum(times[name]))[:3]
    equal("kernels", "commands for ncu", [note for note in report["notes"] if "ncu " in note],
          [f"ncu -k 'regex:^{name.split()[-1].split('::')[-1]}$' -c 5 PROGRAM"
           for name in longest])


def check_api(equal, near, cycle, report):
    total = sum(row["total_ns"] for row in report["rows"])
    wall = report["provenance"]["wall_ns"]
    failed = collections.Counter(name for name, _ in cycle.failed)
    for row in report["rows"]:
        where = f"cycle {cycle.number}: api: {row['name']}"
        near(where, "share", row["total_percent"], 100 * row["total_ns"] / total, 1e-9)
        near(where, "of wall time", row["wall_percent"], 100 * row["total_ns"] / wall, 1e-9)
        near(where, "average", row["avg_ns"], row["total_ns"] / row["count"], 0.5)
        order = [row[key] for key in ("min_ns", "median_ns", "p99_ns", "max_ns")]
        equal(where, "order", order, sorted(order))
        equal(where, "errors", row["errors"], failed[row["name"]])
        codes = {code for name, code in cycle.failed if name == row["name"]}
        equal(where, "first error", row["first_error"] in (codes or {None}),
              True if cycle.has_spans else not codes)


class Op:
    def __init__(self):
        self.count, self.times, self.bytes, self.flops = 0, [], 0, 0


def owner_of(path, declared):
    """The innermost scope around it that declares work."""
    return next((path[:i] for i in range(len(path), 0, -1) if path[:i] in declared), None)


def operations(cycle):
    ops = collections.defaultdict(Op)
    declared = collections.defaultdict(lambda: [0, 0])
    for path, flops, size in cycle.declared:
        declared[path][0] += flops
        declared[path][1] += size
    for work in cycle.works:
        kind = work.name.split()[0]
        owner = owner_of(work.path, declared) if kind not in ("memcpy", "memset") else None
        op = ops[(owner[-1], "scope") if owner else (work.name, kind)]
        op.times += durations(cycle, [work])
        if not owner:
            op.count += 1
            op.bytes += work.bytes
    for path, (flops, size) in declared.items():
        op = ops[path[-1], "scope"]
        op.count += cycle.paths[path]
        op.flops += flops
        op.bytes += size
    return ops


def check_rates(equal, near, where, cycle, row, op):
    """Against the time that the row says, which check_ops() has compared."""
    seconds = row["self_time_ns"] / 1e9
    is_copy = row["type"] in ("memcpy", "memset")
    size = op.bytes if cycle.has_spans or not is_copy else 0
    moves = 2 if row["operation"] == "memcpy DtoD" else 1
    has_peak = not is_copy or row["operation"] in ("memset", "memcpy DtoD")
    truth = {"bytes": size, "flops": op.flops, "bytes_per_second": size / seconds,
             "flops_per_second": op.flops / seconds,
             "memory_peak_uncapped_percent": 100 * moves * size / seconds / PEAK_BANDWIDTH
             if has_peak else 0,
             "flops_peak_uncapped_percent": 100 * op.flops / seconds / PEAK_FLOPS}
    for what in "memory", "flops":
        truth[f"{what}_peak_percent"] = min(100, truth[f"{what}_peak_uncapped_percent"])
    for key, value in truth.items():
        if value:
            near(where, key, row[key], value, 1e-9 * value)
        else:
            equal(where, key, row[key], None)
    memory, compute = (truth[f"{what}_peak_percent"] for what in ("memory", "flops"))
    equal(where, "bound", row["bound_by"], None if not memory + compute else
          "compute" if compute > memory else "memory")


def check_ops(equal, near, cycle, report):
    ops = operations(cycle)
    where = f"cycle {cycle.number}: ops"
    equal(where, "operations", sorted((row["operation"], row["type"]) for row in report["rows"]),
          sorted(ops))
    total = cycle.books.sum(cycle.works)
    for row in report["rows"]:
        op = ops.get((row["operation"], row["type"]), Op())
        here = f"{where}: {row['type']} {row['operation']}"
        equal(here, "where", row["where"], "device")
        equal(here, "count", row["count"], op.count)
        slack = cycle.books.slack(len(op.times))
        near(here, "self-time", row["self_time_ns"], sum(op.times), slack)
        near(here, "average", row["avg_self_time_ns"], row["self_time_ns"] / row["count"], 0.5)
        near(here, "share", row["device_percent"], 100 * sum(op.times) / total,
             1e-3 if slack else 1e-9)
        equal(here, "host's share", row["host_percent"], None)
        check_rates(equal, near, here, cycle, row, op)
    near(where, "all", sum(row["device_percent"] for row in report["rows"]), 100, 1e-6)
    facts, flops = report["facts"], sum(op.flops for op in ops.values())
    equal(where, "flops", (facts["flops"], facts["device_flops"]), (flops, flops))
    share = 100 * flops / (2 * PEAK_FLOPS * report["provenance"]["wall_ns"] / 1e9)
    for key in "device_peak_percent", "device_peak_uncapped_percent":
        near(where, "of both devices' peak", facts[key], share, 1e-9 * share)


def check(equal, near, cycle, reports):
    check_kernels(equal, near, cycle, reports["kernels"])
    check_api(equal, near, cycle, reports["api"])
    check_ops(equal, near, cycle, reports["ops"])
