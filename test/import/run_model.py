"""A made-up run of a program with devices, and what the reports must say of it.

The run is made first and written afterwards (torch_file.py, nsys_file.py), so the figures in
truth() come from the plan and not from a file. All times are whole nanoseconds.
"""
import random
from collections import defaultdict

KERNELS = ["void at::native::vectorized_add<4, float>(int, float*)", "gemm_tiles(float*, int)",
           "ncclDevKernel_AllReduce(int)"]


class Span:
    def __init__(self, name, begin, end, kind="scope"):
        self.name, self.begin, self.end, self.kind = name, begin, end, kind
        self.children, self.works = [], []
        self.correlation = 0
        self.args = {}
        self.written_end = end  # what the file says
        self.is_crossing = False

    def took(self):
        return self.end - self.begin

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


class Work:
    def __init__(self, kind, name, device, stream, begin, end, correlation):
        self.kind, self.name, self.device, self.stream = kind, name, device, stream
        self.begin, self.end, self.correlation = begin, end, correlation
        self.bytes = 0
        self.grid = self.block = None
        self.call = None
        self.process = None


class Thread:
    def __init__(self, process, number, name):
        self.process, self.number, self.name = process, number, name
        self.roots = []

    def spans(self):
        for root in self.roots:
            yield from root.walk()


class Run:
    """`grain` is what all times are multiples of, as files of 2021 have whole microseconds."""

    def __init__(self, seed, grain=1, processes=1, steps=6, crossing=True, begin=10**9):
        self.random = random.Random(seed)
        self.grain = grain
        self.begin = begin
        self.threads, self.works, self.waits, self.steps, self.memory = [], [], [], [], []
        self.next_correlation = 1
        self.crossing = crossing
        for process in range(processes):
            pid = 4000 + 100 * process
            if process:  # every process counts its calls from 1
                self.next_correlation = 1
            main = Thread(pid, pid, "python3")
            worker = Thread(pid, pid + 7, "pt_autograd_0")
            self.free_at = defaultdict(lambda: self.begin)
            self.process = process
            for step in range(steps):
                self.make_step(main, worker, step)
            self.threads += [main, worker]
        self.end = max([span.written_end for thread in self.threads for span in thread.spans()] +
                       [work.end for work in self.works] + [wait[1] for wait in self.waits])
        self.begin = min([span.begin for thread in self.threads for span in thread.spans()])

    def time(self, ns):
        return ns // self.grain * self.grain

    def make_step(self, main, worker, number):
        begin = self.time(self.begin + number * 3_000_000 + 40_000 * self.process)
        step = Span("ProfilerStep", begin, self.time(begin + 2_900_123))
        if self.process == 0:
            self.steps.append((number, step.begin, step.end))
            main.roots.append(step)
            self.fill(main, step, 3)
        else:
            root = Span("peer", begin, self.time(begin + 2_800_011))
            main.roots.append(root)
            self.fill(main, root, 3)
        root = Span("backward", self.time(begin + 5_000), self.time(begin + 2_500_077))
        worker.roots.append(root)
        self.fill(worker, root, 2)
        if self.crossing and number % 3 == 1:
            odd = Span("crosses", self.time(root.end - 30_000), self.time(root.end + 20_000))
            odd.is_crossing = True
            worker.roots.append(odd)

    def fill(self, thread, parent, depth):
        at = parent.begin
        for _ in range(self.random.randint(2, 5)):
            begin = self.time(at + self.random.randint(1_000, 60_000))
            end = self.time(begin + self.random.randint(8_000, 400_000))
            if end >= parent.end - 50_000:
                return
            name = self.random.choice(["aten::add", "aten::mm", "optimizer", 'say "hi", all',
                                       "C:\\Users\\data", "größe"])
            child = Span(name, begin, end)
            if name == "aten::mm":
                child.args["Input Dims"] = self.random.choice(["[[8, 8], [8, 2]]", "[[4], []]"])
            parent.children.append(child)
            if depth > 1 and self.random.random() < 0.7:
                self.fill(thread, child, depth - 1)
            else:
                self.launch(thread, child)
            at = end
        last = parent.children[-1] if parent.children else None
        if last and self.crossing and self.random.random() < 0.3 and not last.children:
            # Ends up to a microsecond after its parent, as torch's clocks have it.
            last.end = parent.end
            last.written_end = self.time(parent.end + self.random.choice([1, 500, 1000]))
            last.written_end = max(last.written_end, last.end)

    def launch(self, thread, scope):
        begin = self.time(scope.begin + 1_000)
        call = Span("cudaLaunchKernel", begin, self.time(begin + self.random.randint(2_000, 5_000)),
                    "call")
        if call.end > scope.end:
            return
        scope.children.append(call)
        call.correlation = self.next_correlation
        self.next_correlation += 1
        device, stream = self.random.randint(0, 1), self.random.choice([7, 13])
        kind = self.random.choice(["kernel", "kernel", "memcpy", "memset"])
        start = max(self.free_at[device, stream], self.time(call.begin + 3_000))
        work = Work(kind, "", device, stream, start,
                    self.time(start + self.random.randint(2_000, 200_000)), call.correlation)
        self.free_at[device, stream] = work.end
        work.call, work.process = call, thread.process
        if kind == "kernel":
            work.name = self.random.choice(KERNELS)
            work.grid = (self.random.randint(1, 4), 1, 1)
            work.block = (128, 1, 1)
        else:
            call.name = {"memcpy": "cudaMemcpyAsync", "memset": "cudaMemsetAsync"}[kind]
            work.bytes = self.random.randint(1, 10**6)
        scope.works.append(work)
        self.works.append(work)
        if self.random.random() < 0.2:
            self.wait(scope, call)

    def wait(self, scope, after):
        begin = self.time(after.end + 1_000)
        end = self.time(begin + self.random.randint(1_000, 20_000))
        if end > scope.end:
            return
        call = Span("cudaDeviceSynchronize", begin, end, "call")
        call.correlation = self.next_correlation
        self.next_correlation += 1
        scope.children.append(call)
        self.waits.append((begin, end, call.correlation, scope, after))


# ---- What the reports must say ---------------------------------------------------------------


def union(intervals):
    total = end = 0
    for begin, until in sorted(intervals):
        total += max(0, until - max(begin, end))
        end = max(end, until)
    return total


def label(work):
    """As docs/reports.md says: no parameters, no template arguments; NCCL is a library."""
    if work.kind == "memcpy":
        return "memcpy HtoD"
    if work.kind == "memset":
        return "memset"
    return {KERNELS[0]: "kernel at::native::vectorized_add<...>", KERNELS[1]: "kernel gemm_tiles",
            KERNELS[2]: "builtin kernel ncclDevKernel_AllReduce"}[work.name]


def scopes(run, is_attributed):
    rows = defaultdict(lambda: dict(calls=0, cpu_total_ns=0, self_cpu_ns=0, self_cuda_ns=0,
                                    cuda_total_ns=0))

    def add(span, above):
        row = rows[span.name]
        row["calls"] += 1
        row["self_cpu_ns"] += span.took() - sum(child.took() for child in span.children)
        works = [work for work in span.works if is_attributed(work)]
        row["self_cuda_ns"] += sum(work.end - work.begin for work in works)
        if span.name not in above:
            row["cpu_total_ns"] += span.took()
            row["cuda_total_ns"] += sum(work.end - work.begin for inner in span.walk()
                                        for work in inner.works if is_attributed(work))
        for child in span.children:
            add(child, above | {span.name})

    for thread in run.threads:
        for root in thread.roots:
            if not root.is_crossing:
                add(root, frozenset())
    return rows


def truth(run, names_process=True):
    """`names_process`: the file tells which process launched an activity."""
    counts = defaultdict(set)
    for work in run.works:
        counts[work.correlation].add(work.process)
    for thread in run.threads:
        for span in thread.spans():
            if span.correlation:
                counts[span.correlation].add(thread.process)

    def is_attributed(work):
        return names_process or len(counts[work.correlation]) == 1

    kernels = defaultdict(list)
    launches = defaultdict(list)
    for work in run.works:
        kernels[label(work)].append(work.end - work.begin)
        if is_attributed(work):
            launches[label(work)].append((work.call.took(), work.end - work.call.begin))
    return dict(
        scopes=scopes(run, is_attributed),
        activities={name: dict(count=len(took), total_time_ns=sum(took))
                    for name, took in kernels.items()},
        launches={name: dict(count=len(rows), api_min_ns=min(a for a, _ in rows),
                             api_max_ns=max(a for a, _ in rows),
                             total_min_ns=min(t for _, t in rows),
                             total_max_ns=max(t for _, t in rows))
                  for name, rows in launches.items()},
        gaps={device: gaps(run, works, is_attributed) for device, works in devices(run).items()},
        steps=dict(recorded=dict(count=len(run.steps), min_ns=min(e - b for _, b, e in run.steps),
                                 max_ns=max(e - b for _, b, e in run.steps))),
        losses={"unattributed": sum(not is_attributed(work) for work in run.works),
                "crossing spans": sum(root.is_crossing for thread in run.threads
                                      for root in thread.roots)},
        waits=len(run.waits))


def devices(run):
    by_device = defaultdict(list)
    for work in run.works:
        by_device[f"cuda:{work.device}"].append(work)
    return by_device


def gaps(run, works, is_attributed):
    """A device is busy from its first launch on; what it did before is unknown, and what its other
    streams do between the launch of their first work and its begin."""
    first = {}
    for work in sorted(works, key=lambda work: work.begin):
        first.setdefault(work.stream, work)  # processes have the same contexts
    waits = [(work.call.begin if is_attributed(work) else work.begin, work.begin)
             for work in first.values()]
    launched = waits[0][0]
    times = [(work.begin, work.end) for work in works] + waits[:1]
    known = [(max(begin, launched), end) for begin, end in times + waits]
    return dict(activities=len(works), busy_ns=union(times),
                idle_ns=run.end - launched - union(known))
