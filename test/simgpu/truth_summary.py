"""The summary of a run of prog_truth, its advice, and the last line of every report."""
import decimal

from truth_books import took
from truth_compare import Report, Table
from truth_stats import mean, percent

LOSSES = ("dropped", "overwritten", "out of memory", "too deep", "too many sites", "too many paths",
          "mismatched", "clock", "unmatched", "cut", "device dropped", "incomplete",
          "unattributed", "bad time", "unknown", "no stack", "no activity", "in signals",
          "more names", "addresses", "phase blocks", "phases", "phase numbers",
          "skipped events", "crossing spans")


def provenance(cycle, perfetto, version):
    """As the facts of Perfetto's file have it; nothing was lost."""
    known = {name: float(perfetto.fact(name)) for name in (
        "clock_resolution_ns", "clock_uncertainty_ns", "device_resolution_ns",
        "device_uncertainty_ns", "device_shift_ns", "cost_ns")}
    known["device_uncertainty_is_least"] = bool(perfetto.fact("device_uncertainty_is_least"))
    spans = 0 if cycle.has_spans else None
    return {"backend": f"CUPTI {version} ({perfetto.fact('backend').split('(')[-1]}",
            "clock": perfetto.fact("clock"), "wall_ns": cycle.wall_ns, "begun_before": spans,
            "unfinished": spans, "partial": False, "ending": "whole", "rank": 0, "world_size": 0,
            "losses": dict.fromkeys(LOSSES, 0), **known}


# ---- Advice -----------------------------------------------------------------------------------

def rounded(value, digits):
    return str(decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-digits),
                                               decimal.ROUND_HALF_UP))


def time_text(ns):
    for unit, size in ("us", 1000), ("ms", 1000000):
        if ns < 1000 * size:
            return rounded(decimal.Decimal(ns) / size, 3) + unit
    return rounded(decimal.Decimal(ns) / 1000000000, 3) + "s"


def share_text(share):
    return rounded(100 * share, 2) + "%"


def waits_of(places):
    """(calls, nanoseconds) by scope."""
    waits = {}
    for place in places:
        if place.kind == "call" and "Synchronize" in place.name:
            count, ns = waits.get(place.path[-2][0], (0, 0))
            waits[place.path[-2][0]] = count + place.stats.count, ns + place.stats.total
    return waits


def host_advice(cycle, scopes):
    """(what is at stake, sentence)"""
    waits, everything = waits_of(cycle.places), sum(row["self_cpu_ns"] for row in scopes)
    work = {row["name"]: row["self_cpu_ns"] - waits.get(row["name"], (0, 0))[1] for row in scopes}
    calls = {row["name"]: row["calls"] for row in scopes}
    hot = max(work, key=work.get)
    if work[hot] >= 0.25 * everything:
        beside = waits.get(hot, (0, 0))[1]
        waits_too = f", not counting waits for devices of {time_text(beside)}" if beside else ""
        yield work[hot], (f"{hot} takes {share_text(work[hot] / everything)} of the self CPU time: "
                          f"{time_text(work[hot])} in {calls[hot]} calls{waits_too}.")
    count, waited = (sum(numbers) for numbers in zip(*waits.values()))
    if waited >= 0.25 * everything:
        most = max(waits, key=lambda name: waits[name][1])
        yield waited, (f"The host waited for devices for {share_text(waited / everything)} of the "
                       f"self CPU time, {time_text(waited)} in {count} calls, most in {most}: give "
                       "the host other work meanwhile.")
    if everything < 0.8 * cycle.wall_ns:
        missing = cycle.wall_ns - everything
        yield missing, (f"{share_text(missing / cycle.wall_ns)} of the wall time, "
                        f"{time_text(missing)}, is outside of scopes: add scopes to see what "
                        "happens there.")
    if cycle.cost_ns > 0.05 * cycle.wall_ns:
        cost = int(cycle.cost_ns)
        yield cost, (f"Recording itself took about {time_text(cost)}, "
                     f"{share_text(cycle.cost_ns / cycle.wall_ns)} of the wall time: record fewer "
                     "or coarser scopes.")


def device_advice(cycle, devices, idle_in):
    """`devices` are rows of truth_gaps by name, `idle_in` rows of the table of scopes in gaps."""
    wall = cycle.wall_ns
    idlest = min(devices, key=lambda name: devices[name].busy)
    idle = wall - devices[idlest].busy
    if idle >= 0.2 * wall:
        yield idle, (f"{idlest} was idle {share_text(idle / wall)} of the wall time, "
                     f"{time_text(idle)}.")
        where = max((row for row in idle_in if row["device"] == idlest and
                     row["scope"][0] != "("), key=lambda row: row["idle_ns"])
        if where["idle_ns"] >= 0.25 * idle:
            yield where["idle_ns"], (f"{share_text(where['idle_ns'] / idle)} of {idlest}'s idle "
                                     f"time, {time_text(where['idle_ns'])}, the host was in "
                                     f"{where['scope']}.")
    latest = max(devices, key=lambda name: devices[name].idle["host_late"])
    row = devices[latest]
    if row.idle["host_late"] >= 0.05 * wall:
        waited = row.idle["host_late"]
        yield waited, (f"{latest} waited {time_text(waited)}, {share_text(waited / wall)} of the "
                       f"wall time, for {row.late} of {row.count} launches: launch earlier, or use "
                       "larger kernels or a CUDA graph.")


# ---- The report -------------------------------------------------------------------------------

def activities(cycle):
    rows = [{"activity": name, "total_time_ns": took(works), "count": len(works),
             "time_avg_ns": mean(took(works), len(works))}
            for name, works in cycle.by(lambda work: work.name).items()]
    return Table(["activity"], rows, lambda row: -row["total_time_ns"])


def device_row(cycle, name, works, idle):
    known = dict.fromkeys(("busy_ns", "busy_percent", "idle_ns", "idle_host_ns", "late"))
    if idle:
        known = {"busy_ns": idle.busy, "busy_percent": percent(idle.busy, cycle.wall_ns),
                 "idle_ns": cycle.wall_ns - idle.busy, "idle_host_ns": idle.idle["host_late"],
                 "late": idle.late}
    return {"device": name, "total_time_ns": took(works), "count": len(works), **known}


COLUMNS = ("name", "self_cpu_percent", "self_cpu_ns", "cpu_total_ns", "cpu_time_avg_ns", "calls",
           "self_cuda_ns", "cuda_total_ns")


def summary(cycle, reports, rows):
    """`reports` are the true ones so far, `rows` those of truth_gaps by device, context, stream."""
    scopes = list(reports["scopes"].tables["rows"].rows.values())
    every = reports["steps"].tables["rows"].rows["all",]
    devices = {key[0]: row for key, row in rows.items() if key[2] is None}
    groups = cycle.by(lambda work: work.device)
    first = {name: min((work.at, work.call_at) for work in works)
             for name, works in groups.items()} if cycle.has_spans else None
    table = Table(["device"], [device_row(cycle, name, works, devices.get(name))
                               for name, works in groups.items()],
                  first and (lambda row: first[row["device"]]))
    own = sum(row["self_cpu_ns"] for row in scopes)
    facts = {"name": "truth", "cycle": cycle.number, "wall_ns": cycle.wall_ns,
             "steps_per_second": every["steps_per_second"], "step_median_ns": every["median_ns"],
             "self_cpu_total_ns": own,
             "self_cpu_per_wall": own / cycle.wall_ns, "calls": sum(cycle.paths.values()),
             "activities": len(cycle.works), "first_step": 4 * cycle.number + 2,
             "self_cuda_total_ns": took(cycle.works)}
    if every["p99_ns"] is not None:
        facts["step_p99_ns"] = every["p99_ns"]
    advice = list(host_advice(cycle, scopes))
    if cycle.has_spans:
        facts["copied_bytes"] = sum(work.bytes for work in cycle.works if work.kind() == "memcpy")
        idle_in = reports["gaps"].tables["scopes"].rows.values()
        advice += device_advice(cycle, devices, idle_in)
    advice.sort(key=lambda pair: -pair[0])
    return Report(Table(["name"], [{column: row[column] for column in COLUMNS} for row in scopes],
                        lambda row: -row["self_cpu_ns"]),
                  {"activities": activities(cycle), "devices": table,
                   "steps": reports["steps"].tables["rows"]}, facts,
                  [sentence for _, sentence in advice])
