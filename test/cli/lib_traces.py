"""Traces that tests make up: events in a row, the file that prog_trace makes of them, and what is
to be said of them, computed from the events."""

import collections
import os
import subprocess

PROG = os.path.join(os.environ["TAKT_BUILD"], "test", "cli", "prog_trace")
TRUNCATED = 3  # flags of spans that began before the recording or did not end in it


class Span:
    def __init__(self, name, begin, end, parent=None, flags=0, is_call=False):
        self.name, self.begin, self.end = name, begin, end
        self.parent, self.flags, self.is_call = parent, flags, is_call
        self.kernel = None  # (name, ns) of what a call launched

    @property
    def ns(self):
        return self.end - self.begin


class Trace:
    def __init__(self, *facts):
        self.facts = list(facts)
        self.tracks = []  # (kind, name, spans)
        self.activities = []  # (begin, end, name)
        self.steps = []  # (begin, end)
        self.now = 0

    def thread(self, name="main", kind="thread"):
        self.tracks.append((kind, name, []))
        return self

    def span(self, name, ns=None, parent=None, **more):
        """A span at the present time; with `ns` it ends there, otherwise `close` ends it."""
        span = Span(name, self.now, self.now + (ns or 0), parent, **more)
        self.tracks[-1][2].append(span)
        self.now += ns or 0
        return span

    def launch(self, name, ns, parent):
        """A call that takes no time, and what it launches: it begins at once."""
        self.span("cudaLaunchKernel", 0, parent, is_call=True).kernel = name, ns
        return self

    def close(self, span):
        span.end = self.now

    def calls(self, name, durations):
        for ns in durations:
            self.span(name, ns)
        return self

    def step(self, ns):
        self.steps.append((self.now, self.now + ns))
        self.now += ns

    def write(self, path):
        lines = list(self.facts)
        for kind, name, spans in self.tracks:
            lines.append(f"{kind} {name}")
            number = {id(span): i for i, span in enumerate(spans)}
            for span in spans:
                parent = -1 if span.parent is None else number[id(span.parent)]
                if span.kernel:
                    name, ns = span.kernel
                    lines.append(f"launch {parent} {span.begin} {span.begin + ns} {name}")
                    continue
                head = f"call {parent}" if span.is_call else f"span {parent} {span.flags}"
                lines.append(f"{head} {span.begin} {span.end} {span.name}")
        lines += [f"activity {begin} {end} {name}" for begin, end, name in self.activities]
        lines += [f"step {begin} {end}" for begin, end in self.steps]
        subprocess.run([PROG, path], input="\n".join(lines) + "\n", text=True, check=True)
        return path


class Row:
    def __init__(self):
        self.calls = self.total = self.self = 0
        self.samples = []

    def add(self, ns, is_whole=True):
        self.calls += 1
        self.self += ns
        if is_whole:
            self.samples.append(ns)


def add_cuda(trace, launches, row, name_of):
    """Rows of what devices did for each scope whose calls launched anything."""
    spent = collections.Counter()  # by span
    names = set()
    for launch in launches:
        ns, up = launch.kernel[1], launch.parent
        around = []
        while up is not None:
            around.append(up)
            up = up.parent
        for span in around:
            spent[span] += ns
        for name in {name_of(span) for span in around}:
            row("cuda", name).total += ns
        if around:
            row("cuda", name_of(around[0])).self += ns
        names |= {name_of(span) for span in around}
    for _, _, spans in trace.tracks:
        for span in spans:
            if not span.is_call and name_of(span) in names:
                one = row("cuda", name_of(span))
                one.calls += 1
                if not span.flags & TRUNCATED:
                    one.samples.append(spent[span])


def rows_of(trace, with_calls=False, by_path=False):
    """{(kind, name): Row}, by definition."""
    rows = {}

    def row(kind, name):
        return rows.setdefault((kind, name), Row())

    def above(span):
        """The span that this one is counted in, or that has it as a row of its own below."""
        up = span.parent
        while up is not None and up.is_call and not with_calls:
            up = up.parent
        return up

    def key(span):
        name, up = span.name, above(span)
        while by_path and up is not None:
            name, up = f"{up.name} > {name}", above(up)
        return ("call" if span.is_call else "scope"), name

    for kind, _, spans in trace.tracks:
        for span in spans:
            if kind == "async":
                row("task", span.name).add(span.ns, not span.flags & TRUNCATED)
                row("task", span.name).total += span.ns
                continue
            if span.is_call and not with_calls:
                continue
            row(*key(span)).add(span.ns, not span.flags & TRUNCATED)
            up = above(span)
            if up is not None:
                row(*key(up)).self -= span.ns
            while up is not None and key(up) != key(span):
                up = above(up)
            if up is None:
                row(*key(span)).total += span.ns
    launches = [span for _, _, spans in trace.tracks for span in spans if span.kernel]
    for launch in launches:
        name, ns = launch.kernel
        row("activity", name).add(ns)
        row("activity", name).total += ns
    if any(launch.parent for launch in launches):
        add_cuda(trace, launches, row, lambda span: key(span)[1])
    if not trace.steps:
        whole = row("run", "wall time")
        ends = [span.end for _, _, spans in trace.tracks for span in spans]
        ends += [span.begin + span.kernel[1] for span in launches]
        whole.add(max(ends + [end for _, end, *_ in trace.activities], default=0))
        whole.total = whole.self
    for kind, events in (("activity", trace.activities), ("step", trace.steps)):
        for begin, end, *name in events:
            one = row(kind, name[0] if name else "step")
            one.add(end - begin)
            one.total += end - begin
    return rows
