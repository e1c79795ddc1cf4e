"""What a run of prog_truth did on devices: activities, devices, the timeline, kernels, operations.

Kernels are launched with the same block, and with one grid, but for sweep, of which odd threads
launch more blocks; each name takes its own time."""
import collections

from truth_books import CYCLES, took
from truth_compare import Report, Table
from truth_stats import Stats, mean, percent

GRID, SWEEP_GRID, BLOCK, REGISTERS = "16,1,1", "32,1,1", "64,1,1", 32
FULL_NAMES = {"kernel forces": "forces(float const*, float*, int)",
              "kernel sph::residual": "sph::residual(float*)"}

# The stand-in's device: 128 multiprocessors of capability 8.9, with 128 lanes each, at 2.52 GHz;
# 384 bits at 10.501 GHz.
PEAK_FLOPS = 128 * 128 * 2 * 2.52e9
PEAK_BANDWIDTH = 2 * 10.501e9 * 384 / 8

# Blocks of 2 warps: 24 of them fill the 48 warps of a multiprocessor, and no more than 24 fit.
OCCUPANCY, LIMITED_BY = 100.0, "warps"


class Issue(tuple):
    """When a call issued work, when that began, and the call's thread. Calls that two threads make in
    the same nanosecond may stand in any order."""

    def __lt__(self, other):
        if self[0] != other[0]:
            return self[0] < other[0]
        return self[2] == other[2] and self[1] < other[1]


def issued(works):
    """When the first of them was: in the order of calls, a graph's in the order of their begins."""
    return min((Issue((work.call_at, work.at, work.tid)) for work in works), key=tuple)


def grouped(cycle, column, key):
    """In the order in which they were first seen, which a folded trace does not keep."""
    rows, groups = [], cycle.by(key)
    for name, works in groups.items():
        rows.append({column: name, "count": len(works), "total_time_ns": took(works)})
    order = {name: issued(works) for name, works in groups.items()} if cycle.has_spans else None
    return Report(Table([column], rows, order and (lambda row: order[row[column]])))


def activities(cycle):
    return grouped(cycle, "activity", lambda work: work.name)


def devices(cycle):
    return grouped(cycle, "device", lambda work: work.device)


def timeline(cycle):
    rows, order = [], {}
    for work in cycle.works:
        args = work.event["args"]
        rows.append({"time_ns": work.took, "device": work.device, "activity": work.name,
                     "begin_ns": work.at, "thread": work.tid, "scope": work.path[-1],
                     "stream": work.stream, "correlation": args["correlation"],
                     "launch": work.call, "bytes": work.bytes or None})
        order[id(rows[-1])] = issued([work])
    return Report(Table(["device", "stream", "begin_ns"], rows, lambda row: order[id(row)]))


# ---- Kernels ----------------------------------------------------------------------------------

def grid_of(work):
    return SWEEP_GRID if work.name == "kernel sweep" and work.thread % 2 else GRID


def shape_columns(name, grids):
    return {"full_name": FULL_NAMES.get(name, name[len("kernel "):]),
            "grid": grids.pop() if len(grids) == 1 else "varies", "block": BLOCK,
            "cluster": None, "registers": REGISTERS, "static_shared_bytes": 0,
            "dynamic_shared_bytes": 0, "local_bytes": 0, "tensor_core_by_name": "no",
            "occupancy_percent": OCCUPANCY, "limited_by": LIMITED_BY}


def ncu_command(cycle, name, groups):
    base = name.split()[-1].split("::")[-1]
    launches = sum(len(works) for (other, _), works in groups.items() if other == name)
    steps = CYCLES[cycle.number]
    skipped = round(steps[0] * launches / len(steps))
    return (f"ncu -s {skipped} -k 'regex:^{base}$' -c 5 --set full --import-source yes -f -o {base} "
            "--open-in-ui PROGRAM")


def kernels(cycle, by_arguments=False):
    groups = cycle.by(lambda work: (work.name, grid_of(work) if by_arguments else None))
    groups = {key: works for key, works in groups.items() if key[0].startswith("kernel ")}
    total, rows = sum(map(took, groups.values())), []
    for (name, _), works in groups.items():
        stats = Stats(work.took for work in works)
        rows.append({"name": name, "count": stats.count, "total_ns": stats.total,
                     "total_percent": percent(stats.total, total), **stats.columns(""),
                     "stddev_ns": stats.deviation(),
                     **(shape_columns(name, set(map(grid_of, works))) if cycle.has_spans else {})})
    longest = sorted(groups, key=lambda key: -took(groups[key]))[:3]
    return Report(Table(["name", "grid"], rows, lambda row: -row["total_ns"]),
                  notes=[ncu_command(cycle, name, groups) for name, _ in longest])


# ---- Operations -------------------------------------------------------------------------------

class Op:
    def __init__(self):
        self.count, self.ns, self.bytes, self.flops = 0, 0, 0, 0


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
        owner = owner_of(work.path, declared) if work.kind() not in ("memcpy", "memset") else None
        op = ops[(owner[-1], "scope") if owner else (work.name, work.kind())]
        op.ns += work.took
        if not owner:
            op.count += 1
            op.bytes += work.bytes if cycle.has_spans else 0
    for path, (flops, size) in declared.items():
        op = ops[path[-1], "scope"]
        op.count += cycle.paths[path]
        op.flops += flops
        op.bytes += size
    return ops


def rate_columns(name, kind, op):
    seconds = op.ns / 1e9
    moves = 2 if name == "memcpy DtoD" else 1
    has_peak = kind not in ("memcpy", "memset") or name in ("memset", "memcpy DtoD")
    memory = 100 * moves * op.bytes / seconds / PEAK_BANDWIDTH if has_peak else 0
    compute = 100 * op.flops / seconds / PEAK_FLOPS
    known = {"bytes": op.bytes, "flops": op.flops, "bytes_per_second": op.bytes / seconds,
             "flops_per_second": op.flops / seconds, "memory_peak_uncapped_percent": memory,
             "flops_peak_uncapped_percent": compute, "memory_peak_percent": min(100, memory),
             "flops_peak_percent": min(100, compute)}
    bound = "compute" if compute > memory else "memory"
    return {**{column: value or None for column, value in known.items()},
            "bound_by": bound if memory + compute else None}


def ops(cycle):
    rows, known = [], operations(cycle)
    for (name, kind), op in known.items():
        rows.append({"operation": name, "type": kind, "where": "device", "count": op.count,
                     "self_time_ns": op.ns, "avg_self_time_ns": mean(op.ns, op.count),
                     "device_percent": percent(op.ns, took(cycle.works)), "host_percent": None,
                     **rate_columns(name, kind, op)})
    flops = sum(op.flops for op in known.values())
    share = 100 * flops / (2 * PEAK_FLOPS * cycle.wall_ns / 1e9)
    return Report(Table(["operation", "type"], rows, lambda row: -row["self_time_ns"]),
                  facts={"flops": flops, "device_flops": flops, "device_peak_percent": share,
                         "device_peak_uncapped_percent": share},
                  notes=[f"Declared work of devices is {share:.2f}% of their peak over the "
                         "wall time."])
