#!/usr/bin/env python3
"""takt diff says of two traces what their durations say, by definition: totals from the events, U
from all pairs, exact chances by dealing all hands, intervals from all differences."""

import collections
import itertools
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from lib_traces import Trace, rows_of

TAKT = os.path.join(os.environ["TAKT_BIN"], "takt")
MOST_EXACT = 24
CRITICAL = {(4, 4): 0, (5, 5): 2, (3, 5): 0, (8, 8): 13, (10, 10): 23, (12, 12): 37}  # tables of U


def u_of(a, b):
    return sum((x < y) + 0.5 * (x == y) for x in a for y in b)


def ways(n, m, u, known={}):
    """Mann and Whitney's recurrence: how many orders of n and m things have that U."""
    if u < 0 or n < 0 or m < 0:
        return 0
    if n == 0 or m == 0:
        return int(u == 0)
    if (n, m, u) not in known:
        known[n, m, u] = ways(n - 1, m, u - m) + ways(n, m - 1, u)
    return known[n, m, u]


def hands(ranks, size):
    """How many choices of so many ranks have which sum: by trying all, if there are few."""
    if len(ranks) <= 13:
        return collections.Counter(map(sum, itertools.combinations(ranks, size)))
    tables = [collections.Counter({0: 1})] + [collections.Counter() for _ in range(size)]
    for rank in ranks:
        for i in range(size, 0, -1):
            for total, count in tables[i - 1].items():
                tables[i][total + rank] += count
    return tables[size]


def rank_p(a, b):
    n, m = len(a), len(b)
    far = abs(u_of(a, b) - n * m / 2)
    pool = a + b
    if n + m <= MOST_EXACT:
        ranks = [sum(x < y for x in pool) + sum(x == y for x in pool) / 2 + 0.5 for y in pool]
        middle = min(n, m) * (n + m + 1) / 2
        sums = hands(ranks, min(n, m))
        return sum(c for s, c in sums.items() if abs(s - middle) >= far) / sum(sums.values())
    ties = sum(t**3 - t for t in (pool.count(x) for x in set(pool)))
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    return 1 if variance == 0 else min(1, math.erfc((far - 0.5) / math.sqrt(2 * variance)))


def first_inside(n, m):
    if n + m <= MOST_EXACT:
        k = below = 0
        while (below := below + ways(n, m, k)) <= 0.025 * math.comb(n + m, n):
            k += 1
        return k
    normal = statistics.NormalDist().inv_cdf(0.975)
    return max(0, math.floor(n * m / 2 - normal * math.sqrt(n * m * (n + m + 1) / 12)))


def mean_p(a, b):
    if min(len(a), len(b)) < 30:
        return None
    error = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    change = statistics.fmean(b) - statistics.fmean(a)
    return math.erfc(abs(change) / error / math.sqrt(2)) if error else float(change == 0)


def holm(chances):
    """Of a list with None for what is no test."""
    tests = sorted((p, i) for i, p in enumerate(chances) if p is not None)
    out, least = list(chances), 0
    for rank, (p, i) in enumerate(tests):
        least = out[i] = max(least, min(1, p * (len(tests) - rank)))
    return out


def mean(row):
    """Of its whole calls, where there are any."""
    return statistics.fmean(row.samples) if row.samples else row.total / row.calls


class Expected:
    """Of one row."""

    def __init__(self, a, b, scales):
        self.a, self.b = a, b
        self.self_change = b.self * scales[1] - a.self * scales[0]
        self.p = self.mean_p = self.low = self.high = self.change = self.base = None
        if a.samples and b.samples:
            differences = sorted(y - x for x in a.samples for y in b.samples)
            first = first_inside(len(a.samples), len(b.samples))
            self.change = statistics.median(differences)
            self.base = statistics.median(a.samples)
            self.p = rank_p(a.samples, b.samples)
            self.mean_p = mean_p(a.samples, b.samples)
            if first:
                self.low, self.high = differences[first - 1], differences[-first]
        elif a.calls and b.calls:
            self.change = mean(b) - mean(a)

    def verdict(self, limit, absolute, scales, kind):
        def is_above(change, base):
            return abs(change) > limit * base and abs(change) > absolute

        a, b = self.a, self.b
        if not a.calls or not b.calls:
            return "gone" if a.calls else "new"
        proved = self.low is not None and self.p < 0.05 and self.low * self.high > 0
        if proved and is_above(self.change, self.base):
            return "slower" if self.change > 0 else "faster"
        if self.mean_p is not None and self.mean_p < 0.05:
            means = statistics.fmean(a.samples), statistics.fmean(b.samples)
            if is_above(means[1] - means[0], means[0]):
                return "tail slower" if means[1] > means[0] else "tail faster"
        more = b.calls * scales[1] - a.calls * scales[0]
        if (kind != "step" and abs(more) > limit * a.calls * scales[0]
                and more * self.self_change > 0
                and is_above(self.self_change, a.self * scales[0])):
            return "more calls" if more > 0 else "fewer calls"
        if self.low is None:
            return "unknown"
        within = not is_above(self.low, self.base) and not is_above(self.high, self.base)
        return "same" if proved or within else "noise"


def expected(a, b, **options):
    rows_a, rows_b = rows_of(a, **options), rows_of(b, **options)
    steps = len(a.steps), len(b.steps)
    scales = (1 / steps[0], 1 / steps[1]) if all(steps) and steps[0] != steps[1] else (1, 1)
    nothing = type(next(iter((rows_a | rows_b).values())))()
    rows = {key: Expected(rows_a.get(key, nothing), rows_b.get(key, nothing), scales)
            for key in rows_a | rows_b}
    tested = [row for row in rows.values() if row.low is not None]
    for row, p in zip(tested, holm([row.p for row in tested])):
        row.p = p
    for row, p in zip(rows.values(), holm([row.mean_p for row in rows.values()])):
        row.mean_p = p
    return rows, scales


def close(got, want):
    if got is None or want is None:
        return got is want
    return math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-9)


def diff(folder, a, b, *arguments):
    paths = [trace.write(os.path.join(folder, name)) for trace, name in ((a, "a"), (b, "b"))]
    done = subprocess.run([TAKT, "diff", "--json", "--rows", "all", *arguments, *paths],
                          capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return json.loads(done.stdout)["rows"]


def compare(folder, a, b, *arguments, limit=0.01, absolute=0, **options):
    """Returns the verdicts that there were."""
    rows, scales = expected(a, b, **options)
    got = diff(folder, a, b, *arguments)
    assert {(row["kind"], row["name"]) for row in got} == set(rows), (list(rows), got)
    sizes = [abs(row["self_change_ns"]) for row in got]
    assert sizes == sorted(sizes, reverse=True)
    for row in got:
        key = row["kind"], row["name"]
        want = rows[key]
        for field, value in {
                "calls_a": want.a.calls, "calls_b": want.b.calls,
                "total_a_ns": want.a.total * scales[0], "total_b_ns": want.b.total * scales[1],
                "self_a_ns": want.a.self * scales[0], "self_b_ns": want.b.self * scales[1],
                "self_change_ns": want.self_change, "change_ns": want.change,
                "change_low_ns": want.low, "change_high_ns": want.high, "p": want.p,
                "mean_p": want.mean_p}.items():
            assert close(row[field], value), (key, field, row[field], value)
        verdict = want.verdict(limit, absolute, scales, key[0])
        assert row["verdict"] == verdict, (key, row, verdict)
    return {row["verdict"] for row in got}


# ---- Traces ----

def random_thread(trace, chance, count, speed):
    """Scopes within scopes, recursion, calls, and spans that the recording cut."""
    open_spans = []
    for _ in range(count):
        while open_spans and chance.random() < 0.4:
            trace.close(open_spans.pop())
        span = trace.span(f"scope {chance.randrange(6)}", parent=(open_spans or [None])[-1],
                          flags=chance.choice((0, 0, 0, 0, 0, 1, 2)))
        open_spans.append(span)
        if chance.random() < 0.3:
            trace.span("cudaLaunchKernel", chance.randrange(20), parent=span, is_call=True)
        trace.now += int(chance.choice((0, 1, 5, 100)) * speed)
    while open_spans:
        trace.close(open_spans.pop())


def random_trace(seed, speed, steps):
    chance = random.Random(seed)
    trace = Trace()
    for name in "main", "worker":
        trace.thread(name)
        random_thread(trace, chance, chance.randrange(5, 60), speed)
    trace.thread("requests", "async")
    for _ in range(chance.randrange(40)):
        trace.span("request", chance.randrange(50))
        trace.now -= chance.randrange(10)
    for _ in range(chance.randrange(80)):
        begin = trace.now + chance.randrange(1000)
        name = f"kernel {chance.randrange(3)}"
        trace.activities.append((begin, begin + int(chance.gauss(5000, 50) * speed), name))
    for _ in range(steps):
        trace.step(1000 + chance.randrange(50))
    return trace


def random_traces(folder):
    seen = set()
    for seed in range(12):
        steps = (0, 0) if seed % 3 == 0 else (5, 5) if seed % 3 == 1 else (4, 7)
        a = random_trace(seed, 1, steps[0])
        b = random_trace(seed + 1000, 1 + seed % 4 / 10, steps[1])
        if seed == 5:
            a.thread("lonely").calls("only in A", [5, 6])
            b.thread("lonely").calls("only in B", [7])
        seen |= compare(folder, a, b)
        compare(folder, a, b, "--all", with_calls=True)
        compare(folder, a, b, "--by-path", by_path=True)
        compare(folder, a, b, "--limit", "30%", "--absolute", "2us", limit=0.3, absolute=2000)
    assert {"new", "gone", "slower", "noise", "more calls", "fewer calls"} <= seen, seen


def known_samples(folder):
    """One row each, so that every size, tie and tail is met."""
    chance = random.Random(7)

    def normal(count, mean, deviation):
        return [round(chance.gauss(mean, deviation)) for _ in range(count)]

    sizes = [(1, 1), (2, 3), (3, 3), (3, 5), (4, 4), (5, 5), (8, 8), (2, 9), (1, 15), (24, 1),
             (25, 1), (1, 40), (2, 60), (13, 12), (40, 30), (100, 90)]
    for n, m in sizes:
        for a, b in ((normal(n, 1000, 10), normal(m, 1100, 10)),
                     (normal(n, 1000, 100), normal(m, 1010, 100)),
                     ([chance.randrange(3) for _ in range(n)],
                      [chance.randrange(4) for _ in range(m)]),
                     ([chance.randrange(1 << 40) for _ in range(n)],
                      [1 << chance.randrange(40) for _ in range(m)]),
                     ([7] * n, [7] * m), ([0] * n, [0] * m)):
            compare(folder, Trace().thread().calls("one", a), Trace().thread().calls("one", b))
    # The example of Hollander and Wolfe's section 4.1, whose p is .127 one-sided.
    x = [800, 830, 1890, 1040, 1450, 1380, 1910, 1640, 730, 1460]
    y = [1150, 880, 900, 740, 1210]
    [row] = diff(folder, Trace().thread().calls("one", y), Trace().thread().calls("one", x))
    assert round(row["p"] / 2, 4) == 0.1272 and row["change_ns"] == 305, row


def many_paths(folder):
    """More than are remembered: one scope called from each of them."""
    traces = Trace().thread(), Trace().thread()
    for i in range(1500):
        for trace in traces:
            outer = trace.span(f"scope {i}")
            trace.span("inner", i, parent=outer)
            trace.close(outer)
    compare(folder, *traces, "--by-path", by_path=True)


def verdicts(folder):
    chance = random.Random(3)

    def verdict(a, b, steps=(0, 0), *arguments):
        traces = []
        for calls, count in ((a, steps[0]), (b, steps[1])):
            trace = Trace().thread().calls("one", calls)
            for _ in range(count):
                trace.step(100)
            traces.append(trace)
        compare(folder, *traces, *arguments)
        return next(row["verdict"] for row in diff(folder, *traces, *arguments)
                    if row["kind"] == "scope")

    def calls(count, mean, deviation=20):
        return [round(chance.gauss(mean, deviation)) for _ in range(count)]

    base = calls(200, 10000)
    assert verdict(base, calls(200, 10500)) == "slower"
    assert verdict(base, calls(200, 9500)) == "faster"
    assert verdict(base, calls(200, 10050)) == "same"  # proved, and below the limit
    assert verdict(base, calls(200, 10000)) == "same"
    assert verdict(calls(6, 10000, 3000), calls(6, 10000, 3000)) == "noise"
    assert verdict(base[:3], calls(3, 20000)) == "unknown"
    # The typical call is as it was, but every tenth one is ten times slower.
    tail = [ns * (10 if i % 10 == 0 else 1) for i, ns in enumerate(calls(400, 10000))]
    assert verdict(base, tail) == "tail slower"
    assert verdict(tail, base) == "tail faster"
    # As long as before, but more often: in the recording, or in a step.
    assert verdict(base, calls(300, 10000)) == "more calls"
    assert verdict(calls(300, 10000), base) == "fewer calls"
    assert verdict(base, calls(400, 10000), (10, 20)) == "same"
    assert verdict(base, calls(200, 10000), (10, 5)) == "more calls"


def main():
    for (n, m), u in CRITICAL.items():
        assert first_inside(n, m) == u + 1, (n, m)
    with tempfile.TemporaryDirectory() as folder:
        known_samples(folder)
        verdicts(folder)
        many_paths(folder)
        random_traces(folder)
    print("as the durations say")


main()
