"""Memory of devices in a run of prog_truth. The program changes it one call at a time, so that the
books know what was allocated at every moment; when that was in a recording, Chrome's file does."""
import collections

from truth_books import took
from truth_compare import Near, Report, Table
from truth_host import DAY_SLACK_NS
from truth_stats import mean

CAPACITY, BUFFERS = 24 << 30, 4 * 65536  # of each device; two workers' own and remote ones
COPY_ENDS = {"HtoD": ("pageable", "device"), "DtoH": ("device", "pageable"),
             "DtoD": ("device", "device"), "PtoP": ("device", "device")}


def kept_before(device):
    """What a device's two workers have allocated before the first step."""
    return (3 if device == "cuda:0" else 7) << 20


class History:
    """Of a device, from the first change that is heard of."""

    def __init__(self, changes):
        self.now = self.peak = self.allocations = self.frees = self.unmatched = 0
        self.peak_at = None
        allocated = collections.Counter()
        for change in changes:
            which = change.thread, abs(change.bytes)
            if change.bytes > 0:
                allocated[which] += 1
                self.allocations += 1
            elif not allocated[which]:
                self.unmatched += 1
                continue
            else:
                allocated[which] -= 1
                self.frees += 1
            self.now += change.bytes
            if self.now > self.peak:
                self.peak, self.peak_at = self.now, change


def heard_since(row, changes):
    """Collection begins at some time during the warm-up: with that change after which a device's
    sums are those of the row, or else the first."""
    warmup = [i for i, change in enumerate(changes) if change.step < 2] + \
        [next((i for i, change in enumerate(changes) if change.step >= 2), len(changes))]
    for i in warmup:
        history = History(changes[i:])
        if (history.allocations, history.frees, history.unmatched) == \
                (row["allocations"], row["frees"], row["unmatched_frees"]):
            return changes[i:]
    return changes


def times_of(chrome, device):
    return sorted((chrome.at(event), event["args"]["Bytes"]) for event in chrome.events
                  if event["name"] == "[memory]" and
                  f"cuda:{event['args']['Device Id']}" == device)


def check_changes(equal, cycle, chrome):
    """Gives each change of the recording its time in Chrome's file."""
    at = {}
    for device in {change.device for change in cycle.changes}:
        mine = [change for change in cycle.changes if change.device == device]
        times = times_of(chrome, device)
        equal(f"memory of {device}", "changes", [size for _, size in times],
              [change.bytes for change in mine])
        at.update((change, time) for change, (time, _) in zip(mine, times))
    return at


def peak_at(cycle, change, at):
    """None before the recording; within it exactly, where there is Chrome's file."""
    if change is None or change in at:
        return at.get(change)
    if change not in cycle.changes:
        return None
    first, last = (ns - cycle.time_of_day_ns for ns in (change.first_ns, change.last_ns))
    return Near((first + last) // 2, (last - first + 1) // 2 + DAY_SLACK_NS, "call clock")


EMPTY = dict.fromkeys(("unmatched_frees", "free_bytes", "capacity_bytes", "pool_bytes",
                       "fragmentation_percent"))


def rows_of(cycle, device, started, at):
    """`started` is what was heard of the device up to the recording's end."""
    mine = [change for change in cycle.changes if change.device == device]
    since, before = History(started), History(started[:len(started) - len(mine)])
    now, most, most_at = before.now, before.now, None
    for change in mine:
        now += change.bytes
        if now > most:
            most, most_at = now, change
    held = sum(change.bytes for change in cycle.books.changes
               if change.device == device and change.order <= mine[-1].order)
    yield {"device": device, "period": "recording", **EMPTY, "peak_bytes": most,
           "peak_at_ns": peak_at(cycle, most_at, at), "current_bytes": now,
           "change_bytes": now - before.now, "allocations": sum(c.bytes > 0 for c in mine),
           "frees": sum(c.bytes < 0 for c in mine), "capacity_bytes": CAPACITY,
           "free_bytes": CAPACITY - BUFFERS - kept_before(device) - held}
    yield {"device": device, "period": "since start", **EMPTY, "peak_bytes": since.peak,
           "peak_at_ns": peak_at(cycle, since.peak_at, at), "current_bytes": since.now,
           "change_bytes": since.now, "allocations": since.allocations, "frees": since.frees,
           "unmatched_frees": since.unmatched}


def jumps(cycle, at):
    groups, rows = collections.defaultdict(list), []
    for change in cycle.changes:
        if change.bytes > 0:
            groups[change.device, change.bytes, change.path[-1]].append(at[change])
    for (device, size, scope), times in groups.items():
        rows.append({"device": device, "bytes": size, "scope": scope, "thread": "",
                     "times": len(times), "first_at_ns": min(times)})
    return Table(["device", "bytes", "scope"], rows, lambda row: -row["bytes"])


def scopes(cycle):
    rows = []
    for name in {name for change in cycle.changes for name in change.path}:
        total = sum(change.bytes for change in cycle.changes if name in change.path)
        own = sum(change.bytes for change in cycle.changes if change.path[-1] == name)
        if total or own:
            rows.append({"scope": name, "cuda_memory_bytes": total,
                         "self_cuda_memory_bytes": own})
    return Table(["scope"], rows, lambda row: -row["cuda_memory_bytes"])


def copies(cycle):
    rows = []
    for name, works in cycle.by(lambda work: work.name).items():
        if not name.startswith("memcpy "):
            continue
        sizes = [work.bytes for work in works]
        source, target = COPY_ENDS[name.split()[1]]
        rows.append({"copy": name, "from": source, "to": target, "count": len(works),
                     "bytes": sum(sizes), "avg_bytes": mean(sum(sizes), len(sizes)),
                     "min_bytes": min(sizes), "max_bytes": max(sizes), "time_ns": took(works),
                     "gb_per_second": sum(sizes) / took(works)})
    return Table(["copy"], rows, lambda row: -row["time_ns"])


def memory(cycle, got, at):
    """`got` tells when collection began, which is no more than a guess to start from."""
    rows, last = [], max(change.order for change in cycle.changes)
    for row in got["rows"]:
        if row["period"] == "since start":
            heard = heard_since(row, [change for change in cycle.books.changes
                                      if change.device == row["device"] and change.step > 0 and
                                      change.order <= last])
            rows += rows_of(cycle, row["device"], heard, at)
    period = {"recording": 0, "since start": 1}
    seen = list(dict.fromkeys(row["device"] for row in rows))
    table = Table(["device", "period"], rows,
                  lambda row: (seen.index(row["device"]), period[row["period"]]))
    if not cycle.has_spans:
        return Report(table)
    return Report(table, {"jumps": jumps(cycle, at), "scopes": scopes(cycle),
                          "copies": copies(cycle)})
