"""Durations added up as Takt does: exact sums and extremes, other quantiles from a histogram."""
import collections
import math

from truth_compare import Near

SUB_BITS = 4  # sixteen buckets for each power of two


def mean(total, count):
    """Rounded, half up."""
    return (2 * total + count) // (2 * count)


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


def bucket_of(ns):
    shift = max(0, ns.bit_length() - SUB_BITS - 1)
    return shift * (1 << SUB_BITS) + (ns >> shift)


def middle_of(bucket):
    shift = max(0, (bucket >> SUB_BITS) - 1)
    least = (bucket - (shift << SUB_BITS)) << shift
    return least + (1 << shift) // 2


class Stats:
    def __init__(self, times=()):
        self.count, self.total, self.self_ns, self.squares = 0, 0, 0, 0
        self.least, self.most, self.buckets = None, None, collections.Counter()
        for ns in times:
            self.add(Stats.one(ns))

    @staticmethod
    def one(ns):
        stats = Stats()
        stats.count, stats.total, stats.squares = 1, ns, ns * ns
        stats.least = stats.most = ns
        stats.buckets[bucket_of(ns)] = 1
        return stats

    def add(self, other):
        if not other.count:
            return
        self.count += other.count
        self.total += other.total
        self.self_ns += other.self_ns
        self.squares += other.squares
        self.least = other.least if self.least is None else min(self.least, other.least)
        self.most = other.most if self.most is None else max(self.most, other.most)
        self.buckets.update(other.buckets)

    def quantile(self, share):
        """By nearest rank; the least and the most are known exactly."""
        return self.of_rank(max(1, math.ceil(share * self.count)))

    def median(self):
        """Of an even number, the mean of the middle two."""
        lower, upper = self.of_rank((self.count + 1) // 2), self.of_rank(self.count // 2 + 1)
        return (lower + upper + 1) // 2

    def of_rank(self, rank):
        if rank in (1, self.count):
            return self.least if rank == 1 else self.most
        passed = 0
        for bucket in sorted(self.buckets):
            passed += self.buckets[bucket]
            if passed >= rank:
                return min(max(middle_of(bucket), self.least), self.most)

    def p99(self):
        """Fewer than a hundred values have none."""
        return self.quantile(0.99) if self.count >= 100 else None

    def deviation(self):
        """Of the sample: from sums in doubles, which each addition rounds."""
        if self.count < 2:
            return 0
        square = (self.squares - self.total * self.total / self.count) / (self.count - 1)
        error = (self.count + 4) * 2 ** -53 * self.squares / (self.count - 1)
        low, high = (round(math.sqrt(max(0, square + by))) for by in (-error, error))
        return low if low == high else Near((low + high) / 2, (high - low) / 2, "squares")

    def columns(self, prefix, names=("avg", "median", "p99", "min", "max")):
        values = {"avg": mean(self.total, self.count), "median": self.median(),
                  "p99": self.p99(), "min": self.least, "max": self.most}
        return {f"{prefix}{name}_ns": values[name] for name in names}


def stats_of_message(message):
    stats, value = Stats(), lambda name: message[name][0] if message[name] else 0
    stats.count, stats.total, stats.self_ns = value("count"), value("total_ns"), value("self_ns")
    stats.squares = float(value("sum_squares"))
    stats.least, stats.most = value("min_ns"), value("max_ns")
    bucket, pairs = 0, iter(message["histogram"])
    for further, count in zip(pairs, pairs):
        bucket += further
        stats.buckets[bucket] += count
    if not message["histogram"] and stats.count <= 2:  # the extremes tell all
        stats.buckets.update([bucket_of(stats.least), bucket_of(stats.most)][:stats.count])
    return stats
