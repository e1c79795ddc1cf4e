"""Writes the run of run_model.py as torch.profiler does.

Dialects: "2025" (relative times with three decimals), "2021" (other names, whole microseconds),
"wild" (what writers got wrong: trailing commas, quotes in names, numbers as strings, NaN, the base
behind the events, a list without an object), "rocm" (grids with the calls).
"""
import json
import random

BASE = 1_700_000_000_000_000_000


def us(ns, decimals=3):
    text = f"{ns // 1000}.{ns % 1000:03d}"
    return text if decimals else str(ns // 1000)


class Writer:
    def __init__(self, run, dialect):
        self.run, self.dialect = run, dialect
        self.old, self.wild = dialect == "2021", dialect == "wild"
        self.random = random.Random(7)
        self.events = []

    def string(self, text):
        if self.wild:  # quotes in names as they are, and backslashes of paths
            return '"' + text + '"'
        return json.dumps(text, ensure_ascii=False)

    def number(self, text):
        return f'"{text}"' if self.wild and self.random.random() < 0.3 else text

    def event(self, phase, category, name, pid, tid, ts, dur, args):
        fields = [f'"ph": "{phase}", "cat": "{category}", "name": {self.string(name)}',
                  f'"pid": {self.number(str(pid))}, "tid": {tid}', f'"ts": {self.number(ts)}']
        if dur is not None:
            fields.append(f'"dur": {self.number(dur)}')
        if args:
            inside = ", ".join(f'"{key}": {value}' for key, value in args.items())
            fields.append('"args": {' + inside + ("," if self.wild else "") + "}")
        self.events.append("  {\n    " + ",\n    ".join(fields) + "\n  }")

    def slice(self, category, name, pid, tid, begin, end, args):
        self.event("X", category, name, pid, tid, us(begin, not self.old),
                   us(end - begin, not self.old), args)

    def span(self, thread, span):
        args = {"External id": 12345}  # wrong in many files: it must not be used
        category = {"call": "Runtime" if self.old else "cuda_runtime"}.get(
            span.kind, "Operator" if self.old else "cpu_op")
        if span.kind == "call":
            args["correlation"] = span.correlation
            if self.dialect == "rocm":
                category = "cuda_runtime"
                work = next((w for w in self.run.works if w.call is span), None)
                if work and work.grid:
                    args["grid"], args["block"] = list(work.grid), list(work.block)
        name = span.name
        if name == "ProfilerStep":
            number = next(n for n, begin, _ in self.run.steps if begin == span.begin)
            name, category = f"ProfilerStep#{number}", "user_annotation"
        args.update(span.args)
        if self.wild:
            args["odd"] = "NaN"
        self.slice(category, name, thread.process, thread.number, span.begin, span.written_end,
                   args)

    def work(self, work):
        category, name = {
            "kernel": ("kernel", work.name),
            "memcpy": ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"),
            "memset": ("gpu_memset", "Memset (Device)")}[work.kind]
        if self.old:
            category = {"kernel": "Kernel", "memcpy": "Memcpy", "memset": "Memset"}[work.kind]
        args = {"correlation": work.correlation, "context": 1}
        if not self.old:
            args["device"], args["stream"] = work.device, work.stream
        if work.grid and self.dialect != "rocm":
            args["grid"], args["block"] = list(work.grid), list(work.block)
        if work.bytes:
            args["bytes"] = work.bytes
        tid = f'"stream {work.stream}"' if self.old else work.stream
        self.slice(category, name, work.device, tid, work.begin, work.end, args)

    def write(self, path):
        for thread in self.run.threads:
            if not self.old:
                name = f"thread {thread.number} ({thread.name})"
                self.event("M", "", "thread_name", thread.process, thread.number, "0", None,
                           {"name": f'"{name}"'})
            for span in thread.spans():
                self.span(thread, span)
        for work in self.run.works:
            self.work(work)
        if not self.old:
            for begin, end, correlation, _, _ in self.run.waits:
                self.slice("cuda_sync", "Context Sync", 0, 7, begin, end,
                           {"cuda_sync_kind": '"Context Sync"', "stream": -1, "context": 1,
                            "correlation": correlation})
        self.random.shuffle(self.events)  # no order is promised
        text = ",\n".join(self.events)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            if self.wild and "list" in path:
                file.write("[\n" + text + ",\n]\n")
            elif self.wild:
                file.write('{"schemaVersion": 1,\n"traceEvents": [\n' + text +
                           f',\n],\n"baseTimeNanoseconds": {BASE},\n}}\n')
            else:
                key = "computeProperties" if self.old else "deviceProperties"
                file.write(f'{{\n  "schemaVersion": 1,\n  "{key}": [\n'
                           '    {"id": 0, "name": "NVIDIA A100", "numSms": 108,'
                           ' "computeMajor": 8, "computeMinor": 0}\n  ],\n'
                           f'  "baseTimeNanoseconds": {BASE},\n'
                           '  "traceEvents": [\n' + text + '\n  ],\n  "traceName": "x.json"\n}\n')
