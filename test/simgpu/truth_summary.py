"""The summary of a run of prog_truth, its headline and advice, and the last line of every report."""
import collections
import decimal

from truth_books import took
from truth_compare import Report, Table
from truth_stats import mean, percent

LOSSES = ("dropped", "overwritten", "out of memory", "too deep", "too many sites", "too many paths",
          "mismatched", "clock", "unmatched", "cut", "device dropped", "incomplete",
          "unattributed", "bad time", "unknown", "no stack", "no activity", "in signals",
          "more names", "addresses", "phase blocks", "phases", "phase numbers",
          "skipped events", "crossing spans", "more threads",
          "no percentiles", "more steps", "open spans")


def provenance(cycle, perfetto, version):
    """As the facts of Perfetto's file have it; nothing was lost."""
    known = {name: float(perfetto.fact(name)) for name in (
        "clock_resolution_ns", "clock_uncertainty_ns", "device_resolution_ns",
        "device_uncertainty_ns", "device_shift_ns", "cost_ns")}
    known["cost_most_ns"] = 5 * known["cost_ns"]  # docs/overhead.md
    known["cost_longest_ns"] = float(perfetto.fact("cost_longest_ns")) or None
    if known["device_resolution_ns"] != known["device_resolution_ns"]:  # too few durations
        known["device_resolution_ns"] = None
    known["device_uncertainty_is_least"] = bool(perfetto.fact("device_uncertainty_is_least"))
    return {"backend": f"CUPTI {version} ({perfetto.fact('backend').split('(')[-1]}",
            "clock": perfetto.fact("clock"), "wall_ns": cycle.wall_ns, "begun_before": 0,
            "unfinished": 0, "partial": False, "ending": "whole", "rank": 0, "world_size": 0,
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


class Advice:
    """A sentence, and the row of the table behind it."""

    def __init__(self, stake, kind, report, sentence, scope=None, place=(None, None)):
        self.stake, self.row = stake, {
            "kind": kind, "advice": f"{sentence} See takt report --{report}.", "report": report,
            "scope": scope, "step": None, "begin_ns": place[0], "duration_ns": place[1],
            "at_stake_ns": stake}


def waits_of(places):
    """(calls, nanoseconds) by scope."""
    waits = {}
    for place in places:
        if place.kind == "call" and "Synchronize" in place.name:
            count, ns = waits.get(place.path[-2][0], (0, 0))
            waits[place.path[-2][0]] = count + place.stats.count, ns + place.stats.total
    return waits


def hottest(cycle, scopes):
    """Name, working time, share and calls of the scope with the most self time besides waits."""
    waits, everything = waits_of(cycle.places), sum(row["self_cpu_ns"] for row in scopes)
    work = {row["name"]: row["self_cpu_ns"] - waits.get(row["name"], (0, 0))[1] for row in scopes}
    hot = max(work, key=work.get)
    calls = next(row["calls"] for row in scopes if row["name"] == hot)
    return hot, work[hot], work[hot] / everything, calls


def headline(cycle, scopes, devices):
    hot, _, share, _ = hottest(cycle, scopes)
    if not devices:
        return ("When devices were busy is not known; of the host's self CPU time "
                f"{hot} takes most, {share_text(share)}.")
    busiest = max(devices, key=lambda name: devices[name].busy)
    busy = devices[busiest].busy / devices[busiest].known()
    if busy < 0.8:
        more = f", and {hot} takes {share_text(share)} of the self CPU time" if share >= 0.25 else ""
        return (f"The bottleneck is the host: {busiest} was busy for only {share_text(busy)} of the "
                f"wall time{more}.")
    groups = cycle.by(lambda work: (work.device, work.name))
    kernels = {name: works for (device, name), works in groups.items()
               if device == busiest and works[0].kind() not in ("memcpy", "memset")}
    works = [work for work in cycle.works if work.device == busiest]
    top = max(kernels, key=lambda name: took(kernels[name]))
    return (f"The bottleneck is {busiest}, busy for {share_text(busy)} of the wall time: {top} takes "
            f"{share_text(took(kernels[top]) / took(works))}.")


def host_advice(cycle, scopes):
    everything = sum(row["self_cpu_ns"] for row in scopes)
    if everything < 0.8 * cycle.wall_ns:
        missing = cycle.wall_ns - everything
        yield Advice(missing, "outside of scopes", "tree",
                     f"{share_text(missing / cycle.wall_ns)} of the wall time, "
                     f"{time_text(missing)}, is outside of recorded scopes: add scopes, or "
                     "record finer ones, to see what happens there.")
    if cycle.cost_ns > 0.05 * cycle.wall_ns:
        cost = int(cycle.cost_ns)
        yield Advice(cost, "cost of recording", "scopes",
                     f"Recording itself took up to {time_text(round(5 * cycle.cost_ns))} "
                     f"({share_text(5 * cycle.cost_ns / cycle.wall_ns)} of wall time), summed "
                     "over threads: record fewer "
                     "or coarser scopes.")
    if cycle.number == 0:
        yield Advice(0, "few steps", "steps", "Only 2 steps were recorded, too few to tell what is "
                     "usual: record 20 or more (profiling.active).")


def allocation_advice(chrome, steps):
    """Calls that allocate or free, begun in a step, which hold a thread for 5 % of the steps."""
    begins = ("cudaMalloc", "cudaFree", "cudaHostAlloc", "cuMemAlloc", "cuMemFree",
              "cuMemHostAlloc")
    calls = [chrome.call(number) for number in chrome.calls]
    calls = [call for call in calls if call.name.startswith(begins) and "Async" not in call.name
             and any(first <= call.begin < last for first, last in steps)]
    threads, scopes, names = (collections.Counter() for _ in range(3))
    for call in calls:
        ns = call.end - call.begin
        threads[call.thread] += ns
        names[call.name] += ns
        scopes[(chrome.path_of(call) or [None])[-1]] += ns
    held, steps_ns = max(threads.values()), sum(last - first for first, last in steps)
    if len(calls) >= len(steps) and held >= 0.05 * steps_ns:
        scope, name = (max(names, key=names.get) for names in (scopes, names))
        yield Advice(held, "allocation in steps", "api",
                     f"Steps made {len(calls)} calls such as {name}, which held a thread for "
                     f"{time_text(held)}, {share_text(held / steps_ns)} of the steps' time, most in "
                     f"{scope}: allocate once, or from a pool (cudaMallocAsync).", scope)


def thread_advice(cycle, chrome, told):
    """The scope whose slowest thread has most above the mean of those with about as many calls."""
    by_name = collections.defaultdict(dict)
    for tid, spans in chrome.threads.items():
        for at, (begin, minus_end, name) in enumerate(spans):
            around = [span for span in spans[:at] if -span[1] >= -minus_end]
            calls, ns = by_name[name].get(tid, (0, 0))
            is_inner = bool(around) and around[-1][2] == name
            by_name[name][tid] = calls + 1, ns + (0 if is_inner else -minus_end - begin)
    best = None
    for name, threads in by_name.items():
        calls, times = zip(*threads.values())
        mean_ns = sum(times) // len(times)
        if len(times) > 1 and max(calls) <= 2 * min(calls) and \
                (not best or max(times) - mean_ns > best[0]):
            best = max(times) - mean_ns, max(times), mean_ns, name, len(times)
    if best and best[0] >= 0.1 * cycle.wall_ns and best[1] >= 1.25 * best[2] and \
            best[3] not in told:
        waste, most, mean_ns, name, count = best
        yield Advice(waste, "uneven threads", "scopes",
                     f"One thread spent {time_text(most)} in {name}, {rounded(most / mean_ns, 1)} "
                     f"times the mean of {count} threads: if they wait for it, share the work evenly.", name)


def covered(works, wall):
    ns = until = 0
    for work in sorted(works, key=lambda work: work.begin):
        begin, end = max(work.begin, until, 0), min(work.end, wall)
        ns, until = ns + max(0, end - begin), max(until, end)
    return ns


def copy_advice(cycle, devices, copies):
    """A device that runs nothing but copies for a fifth of the time; pageable ones have advice of
    their own."""
    pageable = [row for row in copies if "pageable" in (row["from"], row["to"])]
    ns, size = (sum(row[key] for row in pageable) for key in ("time_ns", "bytes"))
    if size >= 1 << 20 and ns >= 0.05 * took(cycle.works):
        count = sum(row["count"] for row in pageable)
        yield Advice(ns, "pageable copies", "memory",
                     f"{count} copies from or to pageable memory, {rounded(size / 2**20, 2)} MiB, "
                     f"took {time_text(ns)}, {share_text(ns / took(cycle.works))} of the CUDA time: "
                     "pinned memory is faster and lets the host continue.")
    if ns > sum(row["time_ns"] for row in copies) // 2:
        return
    for name, row in devices.items():
        works = [work for work in row.recording.works if work.device == name]
        others = [work for work in works if not work.name.startswith("memcpy")]
        alone = covered(works, cycle.wall_ns) - covered(others, cycle.wall_ns)
        assert alone < 0.2 * cycle.wall_ns, "there is advice on copies that no test words"


def idle_advice(cycle, devices, reports, allocating):
    """`devices` are rows of truth_gaps by name."""
    wall = cycle.wall_ns
    idles = {name: max(0, row.known() - row.busy - allocating) for name, row in devices.items()}
    idlest = max(idles, key=idles.get)
    row, idle = devices[idlest], idles[idlest]
    late = min(row.idle["host_late"], idle)
    assert row.late < 20 or late / row.late >= 50000 or late < 0.1 * wall or late < idle // 2, \
        "there is advice on late launches that no test words"
    if idle < 0.2 * wall:
        return
    gaps = [gap for gap in reports["gaps"].tables["longest"].rows.values()
            if gap["device"] == idlest]
    longest = max(gaps, key=lambda gap: gap["gap_ns"])
    where = max((row for row in reports["gaps"].tables["scopes"].rows.values()
                 if row["device"] == idlest), key=lambda row: row["idle_ns"])
    scope, inside = None, min(where["idle_ns"], idle)
    more = ""
    if where["idle_ns"] >= 0.25 * idle:
        scope = None if where["scope"][0] == "(" else where["scope"]
        more = (f"; for {time_text(inside)} of it the host was " +
                (f"in {scope}: launch kernels before that work, or move it to the device"
                 if scope else "outside of scopes: add scopes to see why"))
    told = max(0, row.known() - row.busy) - idle
    besides = f", besides {time_text(told)} in slow steps and allocations" \
        if told > 0.05 * idle else ""
    yield Advice(idle, "idle device", "gaps",
                 f"{idlest} was idle for {share_text(idle / wall)} of the wall time, "
                 f"{time_text(idle)}{besides}{more}.", scope,
                 (longest["begin_ns"], longest["gap_ns"]))


def all_advice(cycle, scopes, reports, devices, chrome, steps):
    advice = list(host_advice(cycle, scopes))
    if chrome:
        first = list(allocation_advice(chrome, steps))
        told = {each.row["scope"] for each in first}
        advice = first + advice
        advice += idle_advice(cycle, devices, reports, sum(each.stake for each in first))
        advice += copy_advice(cycle, devices, reports["memory"].tables["copies"].rows.values())
        advice += thread_advice(cycle, chrome, told)
        if any("outside of scopes: add scopes to see why" in each.row["advice"] for each in advice):
            advice = [each for each in advice if each.row["kind"] != "outside of scopes"]
    return sorted(advice, key=lambda each: -each.stake)


# ---- The report -------------------------------------------------------------------------------

def activities(cycle):
    rows = [{"activity": name, "total_time_ns": took(works), "count": len(works),
             "time_avg_ns": mean(took(works), len(works))}
            for name, works in cycle.by(lambda work: work.name).items()]
    return Table(["activity"], rows, lambda row: -row["total_time_ns"])


def device_row(cycle, name, works, idle):
    known = dict.fromkeys(("busy_ns", "busy_percent", "known_percent", "idle_ns", "idle_host_ns",
                           "late"))
    if idle:
        known = {"busy_ns": idle.busy, "busy_percent": percent(idle.busy, idle.known()),
                 "known_percent": idle.known_percent(), "idle_ns": idle.known() - idle.busy,
                 "idle_host_ns": idle.idle["host_late"], "late": idle.late}
    return {"device": name, "total_time_ns": took(works), "count": len(works), **known}


COLUMNS = ("name", "self_cpu_percent", "self_cpu_ns", "cpu_total_ns", "cpu_time_avg_ns", "calls",
           "self_cuda_ns", "cuda_total_ns")


def summary(cycle, reports, rows, chrome, steps):
    """`reports` are the true ones so far, `rows` those of truth_gaps by device, context, stream;
    `steps` are begins and ends of the recorded ones."""
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
             "self_cuda_total_ns": took(cycle.works), **reports["steps"].facts}
    if every["p99_ns"] is not None:
        facts["step_p99_ns"] = every["p99_ns"]
    if cycle.has_spans:
        facts["copied_bytes"] = sum(work.bytes for work in cycle.works if work.kind() == "memcpy")
    advice = all_advice(cycle, scopes, reports, devices, chrome, steps)
    told = Table(["kind"], [each.row for each in advice], lambda row: -row["at_stake_ns"])
    return Report(Table(["name"], [{column: row[column] for column in COLUMNS} for row in scopes],
                        lambda row: -row["self_cpu_ns"]),
                  {"activities": activities(cycle), "devices": table,
                   "steps": reports["steps"].tables["rows"], "advice": told}, facts,
                  [each.row["advice"] for each in advice],
                  headline=headline(cycle, scopes, devices))
