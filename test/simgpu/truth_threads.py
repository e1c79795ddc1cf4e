"""What each thread of a run of prog_truth did, from the spans in Chrome's file: the report of
threads, and how scopes and calls are spread over threads. There are no tasks and counters."""
from truth_compare import Report, Table
from truth_stats import mean, percent

NO_SPREAD = dict.fromkeys(("thread_min_ns", "thread_mean_ns", "thread_max_ns", "thread_imbalance"))


def outermost(spans):
    """Those of (begin, end, ...) that lie in none before them."""
    until = None
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if until is None or span[0] >= until:
            until = span[1]
            yield span


def time_of(spans):
    return sum(span[1] - span[0] for span in spans)


class Threads:
    """Scopes and calls of each thread, as (begin, end, name)."""

    def __init__(self, chrome):
        self.scopes = {tid: [(begin, -minus_end, name) for begin, minus_end, name in row]
                       for tid, row in chrome.threads.items()}
        self.calls = {tid: [] for tid in self.scopes}
        for number in chrome.calls:
            call = chrome.call(number)
            self.calls[call.thread].append((call.begin, call.end, call.name))

    def spread(self, name, kind):
        """The columns of a scope, which one thread alone has not."""
        rows = (self.calls if kind == "call" else self.scopes).values()
        mine = [[span for span in row if span[2] == name] for row in rows]
        times = [time_of(outermost(spans)) for spans in mine if spans]
        if len(times) < 2:
            return {"threads": len(times) or None, **NO_SPREAD}
        return {"threads": len(times), "thread_min_ns": min(times),
                "thread_mean_ns": mean(sum(times), len(times)), "thread_max_ns": max(times),
                "thread_imbalance": max(times) * len(times) / sum(times)}

    def add_spread(self, rows):
        """To rows of scopes, unless no scope ran on several threads."""
        spreads = [self.spread(row["name"], row.get("kind", "scope")) for row in rows]
        if any((spread["threads"] or 0) > 1 for spread in spreads):
            for row, spread in zip(rows, spreads):
                row.update(spread)


def thread_row(threads, tid, wall_ns):
    waits = list(outermost(span for span in threads.calls[tid] + threads.scopes[tid]
                           if "Synchronize" in span[2] or "wait" in span[2]))
    names = {name for _, _, name in waits}
    longest = max(names, key=lambda name: time_of(span for span in waits if span[2] == name),
                  default=None)
    scope_ns = time_of(outermost(threads.scopes[tid]))
    return {"thread": f"thread {tid}", "thread_id": tid,
            "spans": len(threads.scopes[tid]) + len(threads.calls[tid]),
            "scope_time_ns": scope_ns, "scope_time_percent": percent(scope_ns, wall_ns),
            "waited_ns": time_of(waits), "waited_percent": percent(time_of(waits), wall_ns),
            "waited_in": longest}


def threads(cycle, spans):
    """The thread that steps has no scopes, so there are no regions."""
    rows = [thread_row(spans, tid, cycle.wall_ns) for tid in spans.scopes]
    return Report(Table(["thread"], rows, lambda row: row["thread_id"]),
                  tables={"regions": Table(["region", "name"], [])},
                  facts={"wall_ns": cycle.wall_ns})
