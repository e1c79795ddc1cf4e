"""The books that prog_truth keeps of what it makes the devices do."""
import collections
import glob
import os

FREE = -1000000000
CYCLES = {0: (2, 3), 1: (6, 7)}


class Work:
    """A kernel, copy or set, or a whole launch of a graph."""

    def __init__(self, step, thread, path, fields):
        device, stream, begin, ns, self.name, size, launch, self.call, graph = fields
        self.step, self.thread, self.path = step, thread, path
        self.device, self.stream = f"cuda:{device}", int(stream)
        self.begin = None if int(begin) == FREE else int(begin)
        self.ns, self.bytes = int(ns), int(size)
        self.launch, self.graph = (thread, int(launch)), int(graph)
        self.took = self.ns  # as Takt's files have it, where there are any
        self.event = None

    def end(self):
        return self.begin + self.ns

    def kind(self):
        return self.name.split()[0]


def whole_graphs(works):
    """Nodes of one launch as one piece of work, from the first begin to the last end."""
    joined = []
    for work in works:
        last = joined[-1] if joined else None
        if work.graph and last and last.launch == work.launch:
            last.ns = last.took = work.end() - last.begin
            continue
        if work.graph:
            work.name, work.bytes = f"graph {work.graph}" + os.environ.get("TEST_GRAPHS", ""), 0
        joined.append(work)
    return joined


# An allocation, or a free with bytes below zero. `order` is across threads, `first_ns` and
# `last_ns` are the time of day around the call.
Change = collections.namedtuple("Change", "step thread path device bytes order first_ns last_ns")


class Books:
    def __init__(self, folder, graph, drift):
        self.drift = drift
        self.tids, self.works, self.calls, self.scopes = {}, [], [], []
        self.changes, self.listed, self.boundaries = [], [], []
        self.declared, self.failed, self.arguments = [], [], {}
        self.waits, self.flows = [], []
        for path in sorted(glob.glob(folder + "/books.*")):
            with open(path) as file:
                for line in file:
                    self.enter(*line.rstrip("\n").split("\t"))
        self.changes.sort(key=lambda change: change.order)
        if graph == "launch":
            self.works = whole_graphs(self.works)

    def enter(self, what, step, thread, path, *fields):
        step, thread, path = int(step), int(thread), tuple(filter(None, path.split("/")))
        if what == "thread":
            self.tids[int(fields[0])] = thread
        elif what == "work":
            self.works.append(Work(step, thread, path, fields))
        elif what == "call":
            self.calls.append((step, path, fields[0], thread))
        elif what == "scope":
            self.scopes.append((step, path, thread))
        elif what == "declared":
            self.declared.append((step, path, float(fields[0]), float(fields[1])))
        elif what == "argument":
            self.arguments[path[-1], thread] = fields[0]
        elif what == "failed":
            self.failed.append((step, fields[0], int(fields[1])))
        elif what == "wait":
            self.waits.append((step, thread, path, fields[0], *map(int, fields[1:])))
        elif what == "flow":
            self.flows.append((step, thread, path, *map(int, fields)))
        elif what == "memory":
            self.changes.append(Change(step, thread, path, f"cuda:{fields[0]}",
                                       *map(int, fields[1:])))
        elif what == "boundary":
            self.boundaries.append((int(fields[0]), int(fields[1])))
        elif what == "listed":
            timer, device, name, ns = fields
            self.listed.append((step, timer, device, name, int(ns)))

    def ns(self, device, ns):
        return ns + ns * self.drift[int(device[-1])] / 1e9

    def slack(self):
        """A device whose clock drifts rounds each duration by itself."""
        return 1 if any(self.drift) else 0


class Cycle:
    """What the books say of the steps of one cycle."""

    def __init__(self, books, number, mode):
        steps = CYCLES[number]
        self.books, self.number, self.mode = books, number, mode
        self.has_spans = mode != "summary"
        self.works = [work for work in books.works if work.step in steps]
        self.calls = [call[1:] for call in books.calls if call[0] in steps]
        self.paths = collections.Counter(path for step, path, _ in books.scopes if step in steps)
        self.of_threads = collections.Counter((thread, path) for step, path, thread in books.scopes
                                              if step in steps)
        self.of_threads.update((call[3], call[1] + (call[2],)) for call in books.calls
                               if call[0] in steps)
        self.changes = [change for change in books.changes if change.step in steps]
        self.declared = [work[1:] for work in books.declared if work[0] in steps]
        self.failed = [call[1:] for call in books.failed if call[0] in steps]
        self.names = {name for path in self.paths for name in path}
        self.wall_ns = None  # of the recording, from its file
        self.places = []     # truth_host.Place

    def by(self, key):
        groups = collections.defaultdict(list)
        for work in self.works:
            groups[key(work)].append(work)
        return groups


def took(works):
    return sum(work.took for work in works)
