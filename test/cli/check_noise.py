#!/usr/bin/env python3
"""takt diff says of two traces what their durations say, by definition: totals from the events, U
from all pairs, exact chances by dealing all hands, intervals from all differences; of several runs,
by dealing all of them to the sides anew."""

import bisect
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
from lib_traces import Row, Trace, rows_of

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


def welch(a, b):
    """p, low, high; of so few calls nothing."""
    if min(len(a), len(b)) < 30:
        return None, None, None
    error = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    change = statistics.fmean(b) - statistics.fmean(a)
    half = error * statistics.NormalDist().inv_cdf(0.975)
    p = math.erfc(abs(change) / error / math.sqrt(2)) if error else float(change == 0)
    return p, change - half, change + half


def holm(chances):
    """Of a list with None for what is no test."""
    tests = sorted((p, i) for i, p in enumerate(chances) if p is not None)
    out, least = list(chances), 0
    for rank, (p, i) in enumerate(tests):
        least = out[i] = max(least, min(1, p * (len(tests) - rank)))
    return out


def suffice(n, m):
    return min(n, m) >= 3 and 2 / math.comb(n + m, n) < 0.05


def trimmed(values):
    less = len(values) // 5
    return statistics.fmean(sorted(values)[less:len(values) - less])


def blocks_of(a, b):
    """Indices into a + b of runs that change sides with each other. Runs are (value, time)."""
    times = [time for _, time in a + b]
    order = sorted(range(len(times)), key=times.__getitem__)
    blocks = [order[i:i + 4] for i in range(0, len(order), 4)]
    if len(blocks) > 1 and len(blocks[-1]) < 4:
        blocks[-2:] = [blocks[-2] + blocks[-1]]
    by_turns = (len(a) == len(b) >= 6 and len(set(times)) == len(times) and
                all(2 * sum(i < len(a) for i in block) == len(block) for block in blocks))
    return blocks if by_turns else [list(range(len(times)))]


class Runs:
    """The permutation test of two sides, by trying all ways."""

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.blocks = blocks_of(a, b)

    def values(self, shift):
        values = [value for value, _ in self.a] + [value - shift for value, _ in self.b]
        if len(self.blocks) > 1:
            for block in self.blocks:
                middle = statistics.median(values[i] for i in block)
                for i in block:
                    values[i] -= middle
        return values

    @staticmethod
    def score(values, of_a):
        a = [value for i, value in enumerate(values) if i in of_a]
        b = [value for i, value in enumerate(values) if i not in of_a]
        return trimmed(b) - trimmed(a), statistics.fmean(b) - statistics.fmean(a)

    def change(self):
        return self.score(self.values(0), range(len(self.a)))[0]

    def chances(self, shift):
        """That B lies so high, and so low, if it is longer by `shift`."""
        values = self.values(shift)
        rounding = 1e-9 * (max(values) - min(values))
        seen = self.score(values, range(len(self.a)))
        ways = [itertools.combinations(block, sum(i < len(self.a) for i in block))
                for block in self.blocks]
        up = down = count = 0
        for way in itertools.product(*ways):
            score = self.score(values, set(itertools.chain(*way)))
            by = score[0] - seen[0] if abs(score[0] - seen[0]) > rounding else score[1] - seen[1]
            up += by >= -rounding
            down += by <= rounding
            count += 1
        return up / count, down / count

    def p(self):
        return min(1, 2 * min(self.chances(0)))

    def has_band(self, low, high):
        """Shifts within it are not refused, and shifts beyond it are."""
        a, b = ([value for value, _ in side] for side in (self.a, self.b))
        little = 1e-6 * (max(a + b) - min(a + b)) + 1e-6
        return (self.chances(low + little)[0] >= 0.025 > self.chances(low - little)[0] and
                self.chances(high - little)[1] >= 0.025 > self.chances(high + little)[1])


def mean(row):
    """Of its whole calls; where runs are compared, over them. None: it has no whole call."""
    if row.runs:
        return trimmed([value for value, _ in row.means()])
    if row.samples:
        return statistics.fmean(row.samples)
    return row.total / row.calls if row.is_folded else None


class Side(Row):
    """A row of all runs of a side."""

    def __init__(self, rows, is_by_run):
        super().__init__()
        rows = [row for row in rows if row.calls]
        self.calls = sum(row.calls for row in rows)
        self.total = sum(row.total for row in rows)
        self.self = sum(row.self for row in rows)
        self.samples = [ns for row in rows for ns in row.samples]
        self.is_by_run = is_by_run
        self.is_folded = any(row.is_folded for row in rows)
        self.runs = [row for row in rows if is_by_run and (row.samples or row.is_folded)]

    def means(self):
        return [(statistics.fmean(run.samples) if run.samples else run.total / run.calls, run.began)
                for run in self.runs]

    def medians(self):
        return [(statistics.median(run.samples), run.began) for run in self.runs]


class Expected:
    """Of one row."""

    def __init__(self, a, b, scales, has_means=True, are_unequal=False, per_run=(1, 1)):
        self.a, self.b, self.are_unequal, self.per_run = a, b, are_unequal, per_run
        self.of_means = None
        self.self_change = b.self * scales[1] - a.self * scales[0]
        self.p = self.mean_p = self.low = self.high = self.change = self.base = None
        self.mean_change = self.mean_low = self.mean_high = self.test = None
        if a.is_by_run:
            if a.runs and b.runs:
                self.compare_runs()
        elif a.samples and b.samples:
            differences = sorted(y - x for x in a.samples for y in b.samples)
            first = first_inside(len(a.samples), len(b.samples))
            self.change = statistics.median(differences)
            self.base = statistics.median(a.samples)
            self.p = rank_p(a.samples, b.samples)
            self.mean_change = mean(b) - mean(a)
            self.mean_p, self.mean_low, self.mean_high = welch(a.samples, b.samples)
            if first:
                self.low, self.high = differences[first - 1], differences[-first]
        elif a.calls and b.calls and mean(a) is not None and mean(b) is not None:
            self.change = self.mean_change = mean(b) - mean(a)
        if not has_means:
            self.mean_p = self.mean_low = self.mean_high = None
            if self.test and self.test is self.of_means:
                self.test = self.p = None

    def compare_runs(self):
        has_medians = all(run.samples for run in self.a.runs + self.b.runs)
        self.of_means = Runs(self.a.means(), self.b.means())
        self.test = Runs(self.a.medians(), self.b.medians()) if has_medians else self.of_means
        self.base = trimmed([value for value, _ in self.test.a])
        self.change, self.mean_change = self.test.change(), self.of_means.change()
        if suffice(len(self.a.runs), len(self.b.runs)):
            self.p, self.mean_p = self.test.p(), self.of_means.p()

    def take_band(self, got):
        """Of runs: it is what the test does not refuse."""
        if self.p is not None and self.test is not None:
            self.low, self.high = got["change_low_ns"], got["change_high_ns"]
            assert self.test.has_band(self.low, self.high), (got, self.test.a, self.test.b)
        if self.mean_p is not None and self.of_means is not None:
            self.mean_low, self.mean_high = got["mean_low_ns"], got["mean_high_ns"]
            assert self.of_means.has_band(self.mean_low, self.mean_high), (got, self.of_means.a)

    def verdict(self, limit, absolute, scales, kind):
        def is_above(change, base):
            return abs(change) > limit * base and abs(change) > absolute

        def answer(p, low, high, change, base):
            """-1, 1: proved and above the limits; 0: the same."""
            if low is None:
                return "unknown"
            proved = p < 0.05 and low * high > 0
            if proved and is_above(change, base):
                return 1 if change > 0 else -1
            within = not is_above(low, base) and not is_above(high, base)
            return "same" if within else "noise"

        a, b = self.a, self.b
        if not a.calls or not b.calls:
            return "gone" if a.calls else "new"
        typical = answer(self.p, self.low, self.high, self.change, self.base)
        average = answer(self.mean_p, self.mean_low, self.mean_high, self.mean_change, mean(a))
        tail = average in (1, -1) and average
        if typical in (1, -1):
            name = "slower" if typical == 1 else "faster"
            return name + (f", tail {'slower' if tail == 1 else 'faster'}"
                           if tail == -typical else "")
        if tail:
            return "tail slower" if tail == 1 else "tail faster"
        more = b.calls * scales[1] - a.calls * scales[0]
        more_a_run = b.calls / self.per_run[1] - a.calls / self.per_run[0]
        if (kind != "step" and abs(more) > limit * a.calls * scales[0]
                and more * self.self_change > 0
                and is_above(self.self_change, a.self * scales[0])):
            if self.are_unequal and more * more_a_run <= 0:
                return "unknown"
            return "more calls" if more > 0 else "fewer calls"
        if typical == "same" and average == "noise":
            return "noise"
        if typical == "same" and average == "unknown" and is_above(self.mean_change, mean(a)):
            return "unknown"
        return typical


def rows_of_run(trace, **options):
    rows = rows_of(trace, **options)
    for (kind, _), row in rows.items():
        row.is_folded = "summary" in trace.facts and kind not in ("step", "run")
        row.began = next((int(fact.split()[1]) for fact in trace.facts if "began" in fact), 0)
        if row.is_folded:
            row.samples = []
    return rows


def common_steps(a, b, limit):
    """How many steps the row of steps has of each run, and if the sides have unequal ones."""
    counts = [[len(trace.steps) for trace in side] for side in (a, b)]
    if not all(counts[0] + counts[1]):
        return None, False
    means = [statistics.fmean(side) for side in counts]
    fewest = min(counts[0] + counts[1])
    return (fewest if 2 * fewest >= min(means) else None,
            abs(means[0] - means[1]) > limit * max(means))


def expected(a, b, limit=0.01, **options):
    """Of sides, which are lists of traces."""
    fewest, are_unequal = common_steps(a, b, limit)
    is_by_run = suffice(len(a), len(b))
    runs = [[rows_of_run(trace, **options) for trace in side] for side in (a, b)]
    steps = [sum(len(trace.steps) for trace in side) for side in (a, b)]
    scales = 1 / len(a), 1 / len(b)
    if all(steps):
        scales = 1 / steps[0], 1 / steps[1]
    for run in runs[0] + runs[1]:
        if ("step", "step") in run and fewest:
            run["step", "step"].samples = run["step", "step"].samples[:fewest]
    rows = {key: Expected(*(Side([run.get(key, Row()) for run in side], is_by_run)
                            for side in runs), scales,
                          not are_unequal or key[0] == "run" or (key[0] == "step" and fewest),
                          are_unequal, (len(a), len(b)))
            for key in {key for side in runs for run in side for key in run}}
    return rows, scales


def adjust(rows):
    tested = [row for row in rows if row.low is not None]
    for row, p in zip(tested, holm([row.p for row in tested])):
        row.p = p
    for row, p in zip(rows, holm([row.mean_p for row in rows])):
        row.mean_p = p


def judge(rows, *options):
    """Steps and the whole recording first: if they changed, the others are not adjusted."""
    asked = {key: row for key, row in rows.items() if key[0] in ("step", "run")}
    below = {key: row for key, row in rows.items() if key not in asked}
    adjust(list(asked.values()))
    verdicts = {key: row.verdict(*options, key[0]) for key, row in asked.items()}
    if not any("slower" in verdict or "faster" in verdict for verdict in verdicts.values()):
        adjust(list(below.values()))
    return verdicts | {key: row.verdict(*options, key[0]) for key, row in below.items()}


def close(got, want, tolerance):
    if got is None or want is None:
        return got is want
    return math.isclose(got, want, rel_tol=tolerance, abs_tol=tolerance)


def diff(folder, a, b, *arguments):
    a, b = ([trace.write(os.path.join(folder, f"{name}{i}")) for i, trace in enumerate(side)]
            for side, name in ((a, "a"), (b, "b")))
    between = ["--to"] if len(a) + len(b) > 2 else []
    done = subprocess.run([TAKT, "diff", "--json", "--rows", "all", *arguments, *a, *between, *b],
                          capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return json.loads(done.stdout)["rows"]


def only(rows):
    """The one row besides that of the whole recording."""
    [row] = [row for row in rows if row["kind"] != "run"]
    return row


def compare(folder, a, b, *arguments, limit=0.01, absolute=0, **options):
    """Returns the verdicts that there were. Either side is a trace, or a list of runs."""
    a, b = (side if isinstance(side, list) else [side] for side in (a, b))
    rows, scales = expected(a, b, limit, **options)
    got = diff(folder, a, b, *arguments)
    assert {(row["kind"], row["name"]) for row in got} == set(rows), (list(rows), got)
    damage = [(row["kind"] not in ("step", "run"), row["self_change_ns"] <= 0,
               -abs(row["self_change_ns"])) for row in got]
    assert damage == sorted(damage)
    for row in got:
        rows[row["kind"], row["name"]].take_band(row)
    verdicts = judge(rows, limit, absolute, scales)
    for row in got:
        key = row["kind"], row["name"]
        want = rows[key]
        for field, value in {
                "calls_a": want.a.calls, "calls_b": want.b.calls,
                "total_a_ns": want.a.total * scales[0], "total_b_ns": want.b.total * scales[1],
                "self_a_ns": want.a.self * scales[0], "self_b_ns": want.b.self * scales[1],
                "self_change_ns": want.self_change, "change_ns": want.change,
                "change_low_ns": want.low, "change_high_ns": want.high, "p": want.p,
                "mean_change_ns": want.mean_change, "mean_p": want.mean_p,
                "mean_low_ns": want.mean_low, "mean_high_ns": want.mean_high}.items():
            assert close(row[field], value, 1e-9), (key, field, row[field], value)
        assert row["verdict"] == verdicts[key], (key, row, verdicts[key])
    return {row["verdict"] for row in got if row["kind"] != "run"}


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
        for _ in range(chance.choice((0, 0, 1, 2))):
            trace.launch(f"kernel {chance.randrange(3)}", int(chance.randrange(3000) * speed), span)
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
    row = only(diff(folder, [Trace().thread().calls("one", y)],
                    [Trace().thread().calls("one", x)]))
    assert round(row["p"] / 2, 4) == 0.1272 and row["change_ns"] == 305, row


def many_samples(folder):
    """So many that not all pairs can be looked at: then they are counted."""
    chance = random.Random(5)
    a = sorted(chance.randrange(1000, 1600) for _ in range(30000))
    b = sorted(chance.randrange(1003, 1603) for _ in range(20000))
    row = only(diff(folder, [Trace().thread().calls("one", a)],
                    [Trace().thread().calls("one", b)]))

    def pairs_up_to(most):
        return sum(bisect.bisect_right(b, x + most) for x in a)

    n, m = len(a), len(b)
    u = sum((bisect.bisect_left(a, y) + bisect.bisect_right(a, y)) / 2 for y in b)
    ties = sum(t**3 - t for t in collections.Counter(a + b).values())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    assert close(row["p"], math.erfc((abs(u - n * m / 2) - 0.5) / math.sqrt(2 * variance)), 1e-9)
    first = first_inside(n, m)
    for field, number in ("low", first), ("high", n * m + 1 - first), ("", n * m // 2):
        change = row[f"change_{field}_ns" if field else "change_ns"]
        assert pairs_up_to(change - 1) < number <= pairs_up_to(change), (field, row)


def several_runs(folder):
    chance = random.Random(11)
    for seed in range(4):
        sides = [[random_trace(100 * seed + 10 * i + side, 1 + side * seed / 8,
                               seed % 3 * (2 + (seed > 3) * side)) for i in range(4 + seed % 2)]
                 for side in range(2)]
        compare(folder, *sides)
        compare(folder, sides[0][:2], sides[1])
        if seed == 1:
            compare(folder, *sides, "--by-path", by_path=True)
            compare(folder, sides[0][0], sides[1][:2])

    def runs(count, mean, *facts, tail=0, clock=None):
        made = []
        for _ in range(count):
            run = round(chance.gauss(mean, 20))
            durations = [run + chance.randrange(300) for _ in range(50)]
            when = [f"began {next(clock)}"] if clock else []
            made.append(Trace(*facts, *when).thread().calls("one", durations + [90 * run] * tail))
        return made

    def verdict(a, b, *arguments):
        [found] = compare(folder, a, b, *arguments)
        return found

    assert verdict(runs(4, 10000), runs(4, 11000)) == "slower"
    assert verdict(runs(5, 11000), runs(4, 10000)) == "faster"
    assert verdict(runs(5, 10000), runs(5, 10000), "--limit", "1%") == "same"
    assert verdict(runs(4, 10000), runs(5, 10000, tail=2)) == "tail slower"
    assert verdict(runs(4, 10000), runs(5, 9000, tail=2)) == "faster, tail slower"
    assert verdict(runs(5, 9000, tail=2), runs(5, 10000)) == "slower, tail faster"
    # Counted out, and not too few: 3 and 5.
    compare(folder, runs(3, 10000), runs(5, 11000))
    # Without single calls runs still have mean ones.
    assert verdict(runs(4, 10000, "summary"), runs(4, 11000, "summary")) == "slower"
    assert verdict(runs(4, 10000), runs(3, 11000, "summary") + runs(1, 11000)) == "slower"
    assert verdict(runs(1, 10000, "summary"), runs(4, 11000, "summary")) == "unknown"
    # All calls of B are slower than all of A; but which runs they were explains it.
    a, b = ([Trace().thread().calls("one", [ns] * 40) for ns in side]
            for side in ((10000, 11900, 10400, 10300), (11000, 10350, 12400, 10800)))
    assert verdict(a, b) == "noise"
    assert verdict(a[:3], b[:3]) == "slower"  # three and three: their calls
    # One stray run of five does not hide what became slower, on either side.
    for stray in (0, 1):
        sides = runs(5, 10000), runs(5, 11000)
        sides[stray][2:3] = runs(1, 30000)
        assert verdict(*sides) == "slower", stray
    # Runs that agree wholly; and a row that too few of them have.
    same = [Trace().thread().calls("one", [1000]) for _ in range(4)]
    assert verdict(same, same[:3] + [Trace().thread().calls("one", [1000])]) == "same"
    assert verdict(same, [Trace().thread().calls("one", [1100])] * 4) == "slower"
    assert compare(folder, same + [Trace().thread().calls("two", [5])],
                   same + [Trace().thread().calls("two", [9])]) == {"same", "unknown"}
    by_turns(folder, runs)
    drawn(folder, runs)


def by_turns(folder, runs):
    """The machine slows down by 2 % a run: by turns that is no obstacle, otherwise it is one."""
    def recorded(order):
        sides = {"A": [], "B": []}
        for time, side in enumerate(order):
            ns = (10000 if side == "A" else 10600) * (1 + time / 50)
            sides[side] += runs(1, ns, clock=iter([time]))
        return sides.values()

    [found] = compare(folder, *recorded("ABBA" * 3))
    assert found == "slower", found
    assert compare(folder, *recorded("ABABBABAABBABA")) == {"slower"}
    # Not so evenly by turns, or not six of each.
    assert compare(folder, *recorded("AABABBABABBA")) == {"noise"}
    assert compare(folder, *recorded("ABBAABBAAB")) == {"noise"}


def drawn(folder, runs):
    """So many ways that some are drawn: as close as drawing gets to all of them."""
    a, b = runs(9, 10000), runs(9, 10010)
    row = only(diff(folder, a, b))
    again = only(diff(folder, a, b))
    assert row == again
    sides = ([(statistics.median(span.ns for span in trace.tracks[0][2]), 0) for trace in side]
             for side in (a, b))
    exact = Runs(*sides).p()
    assert abs(row["p"] - exact) < 4 * 2 * math.sqrt(exact / 2 / 8000), (row, exact)


def device_rows(folder):
    """What devices did for scopes: a fixed example, whose numbers anybody can check."""
    def trace(*kernels):
        trace = Trace().thread()
        for ns in kernels:
            step = trace.span("step")
            forces = trace.span("forces", parent=step)
            trace.launch("kernel pairs", ns, forces).launch("kernel pairs", 100, forces)
            trace.now += 50
            trace.close(forces)
            trace.launch("kernel clear", 10, step)
            trace.close(step)
        idle = trace.span("forces")  # launches nothing
        trace.close(idle)
        trace.launch("kernel lonely", 7, None)
        return trace

    rows = {(row["kind"], row["name"]): row
            for row in diff(folder, [trace(1000, 1200, 1400)], [trace(2000, 2200, 2400)])}
    forces, step = rows["cuda", "forces"], rows["cuda", "step"]
    assert forces["calls_a"] == 4 and forces["total_a_ns"] == forces["self_a_ns"] == 3900, forces
    assert forces["call_a_ns"] == (1100 + 1300) / 2 and forces["mean_a_ns"] == 3900 / 4, forces
    assert step["self_a_ns"] == 30 and step["total_a_ns"] == 3930, step
    assert step["call_b_ns"] == 2310 and step["change_ns"] == 1000, step
    assert ("cuda", "kernel lonely") not in rows and len(rows) == 8, rows
    # A run in which nothing was launched says nothing of it, another's idle calls do.
    idle = Trace().thread().calls("forces", [30, 40, 50])
    compare(folder, [idle, trace(1000)], [trace(2000), idle])
    compare(folder, [trace(1000), idle, trace(1100), idle], [idle, trace(2000), trace(2100)])
    # Nothing was launched in A: the row is new, not one of no time.
    rows = {(row["kind"], row["name"]): row["verdict"] for row in diff(
        folder, [Trace().thread().calls("step", [5, 5])], [trace(1, 2)])}
    assert rows["cuda", "step"] == "new", rows
    rows = {(row["kind"], row["name"]): row["verdict"] for row in diff(
        folder, [trace(1, 2)], [Trace().thread().calls("step", [5, 5])])}
    assert rows["cuda", "step"] == "gone", rows


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

    def verdict(a, b, steps=(0, 0), *arguments, **limits):
        traces = []
        for calls, count in ((a, steps[0]), (b, steps[1])):
            trace = Trace().thread().calls("one", calls)
            for _ in range(count):
                trace.step(100)
            traces.append(trace)
        compare(folder, *traces, *arguments, **limits)
        return next(row["verdict"] for row in diff(folder, traces[:1], traces[1:], *arguments)
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
    assert verdict(base, calls(400, 10000), (10, 5)) == "more calls"
    assert verdict(base, base[:100], (10, 10)) == "fewer calls"
    # Twice as many a step, but as many a run, which was half as long: it may be called once a run.
    assert verdict(base, calls(200, 10000), (10, 5)) == "unknown"
    assert verdict(base, calls(200, 10000), (5, 10)) == "unknown"
    # Proved, but the band reaches beyond the limit: 0.5 % more, 0.3 to 0.7.
    assert verdict(calls(2000, 10000, 300), calls(2000, 10060, 300), (0, 0), "--limit", "0.65%",
                   limit=0.0065) == "noise"
    # The typical call is as it was; two of 40 strayed, which chance may do: the mean's band is wide.
    strays = [100000 if i % 20 == 10 else 10000 + i % 7 for i in range(40)]
    assert verdict([10000 + i % 7 for i in range(40)], strays) == "noise"
    # With too few for a band of the mean nothing excludes that it changed.
    assert verdict([10000 + i % 7 for i in range(20)], strays[:20]) == "unknown"


def main():
    for (n, m), u in CRITICAL.items():
        assert first_inside(n, m) == u + 1, (n, m)
    with tempfile.TemporaryDirectory() as folder:
        known_samples(folder)
        many_samples(folder)
        verdicts(folder)
        device_rows(folder)
        several_runs(folder)
        many_paths(folder)
        random_traces(folder)
    print("as the durations say")


main()
