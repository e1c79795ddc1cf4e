"""Takt's files of a run, each read by itself: Perfetto's through protoc, Chrome's as JSON."""
import bisect
import collections
import json
import os
import re
import sys
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import perfetto_totals  # noqa: E402

# An activity. `launch` tells launches apart, `event` is what the file has more of it.
Row = collections.namedtuple("Row", "begin ns device stream name launch thread path bytes event")
Call = collections.namedtuple("Call", "begin end name thread")


class PerfettoFile:
    """Activities with the path of the call at the other end of their flow; facts, and the tree."""

    def __init__(self, path):
        self.sequences = collections.defaultdict(perfetto_totals.Sequence)
        self.about, self.keys = {}, collections.defaultdict(dict)
        self.calls, self.activities = {}, []
        self.facts, self.run, self.sites, self.nodes, self.steps = None, None, {}, [], []
        self.threads = []
        self.earlier = {}  # by device: until when it worked for earlier launches
        self.twice = 0
        totals = perfetto_totals.Totals()
        for packet in perfetto_totals.read_messages(perfetto_totals.decode(path)):
            number = packet["trusted_packet_sequence_id"]
            number = number[0] if number else 0
            sequence = self.sequences[number]
            totals.describe(sequence, packet)
            self.describe(number, packet)
            for event in packet["track_event"]:
                self.place(number, sequence, event, sequence.time(packet))

    def describe(self, number, packet):
        for interned in packet["interned_data"]:
            for name in interned["debug_annotation_names"]:
                self.keys[number][name["iid"][0]] = name["name"][0]
        for takt in packet["takt"]:
            for track in takt["track"]:
                self.about[number] = track
            for facts in takt["facts"]:
                self.facts = facts
            for run in takt["run"]:
                self.run = run
            for device in takt["devices"]:
                if device["earlier_until_ns"]:
                    self.earlier[device["label"][0].decode()] = device["earlier_until_ns"][0]
            for site in takt["sites"]:
                self.sites[site["iid"][0]] = site
            self.nodes += takt["nodes"]
            self.threads += takt["threads"]

    def place(self, number, sequence, event, time):
        kind = event["type"][0] if event["type"] else None
        about = self.about.get(number)
        if not about or about["kind"][0] not in ("THREAD", "STREAM", "STEPS"):
            return
        stack = sequence.open[0]
        if about["kind"][0] == "STEPS":
            self.place_step(kind, time)
        elif kind == "TYPE_SLICE_BEGIN":
            name = sequence.names[event["name_iid"][0]].decode()
            stack.append((name, time, event))
            self.begin_call(about, stack, event)
        elif kind == "TYPE_SLICE_END" and stack:
            name, begin, event = stack.pop()
            if about["kind"][0] == "STREAM":
                self.activities.append((about, name, begin, time - begin,
                                        self.annotations(number, event), event))

    def place_step(self, kind, time):
        if kind == "TYPE_SLICE_BEGIN":
            self.steps.append((time, None))
        else:
            self.steps[-1] = self.steps[-1][0], time

    def begin_call(self, about, stack, event):
        if about["kind"][0] != "THREAD" or not event["flow_ids"]:
            return
        self.twice += event["flow_ids"][0] in self.calls
        self.calls[event["flow_ids"][0]] = (about["thread_id"][0], stack[-1][0],
                                            tuple(name for name, _, _ in stack[:-1]))

    def annotations(self, number, event):
        values = {}
        for note in event["debug_annotations"]:
            if note["uint_value"]:
                values[self.keys[number][note["name_iid"][0]].decode()] = note["uint_value"][0]
        return values

    def rows(self):
        for about, name, begin, ns, notes, event in self.activities:
            flow = (event["flow_ids"] or event["terminating_flow_ids"] or [None])[0]
            thread, call, path = self.calls.get(flow, (None, None, ()))
            yield Row(begin - self.fact("begin_ns"), ns, about["name"][0].decode(),
                      about["stream"][0], name, (notes.get("correlation"), call), thread, path,
                      notes.get("bytes"), None)

    def fact(self, name):
        value = self.facts[name][0] if self.facts[name] else 0
        return value.decode() if isinstance(value, bytes) else value


def ns_of(value):
    return round(Decimal(value) * 1000)


class ChromeFile:
    """Times are nanoseconds from the begin of the recording, whose time of day Perfetto's file has:
    Chrome's begins with the first event, and by a device's clock that may be earlier."""

    NAMES = {"gpu_memset": lambda name: "memset",
             "gpu_memcpy": lambda name: "memcpy " + name.split()[1],
             "kernel": lambda name: name if name.startswith("graph ") else
             "kernel " + re.sub(r"\(.*", "", name)}

    def __init__(self, path, time_of_day_ns):
        with open(path) as file:
            whole = json.load(file, parse_float=Decimal)
        self.events = whole["traceEvents"]
        self.zero = time_of_day_ns - whole["baseTimeNanoseconds"]
        self.begin_ns, self.end_ns = (next(self.at(event) for event in self.events
                                           if event["name"] == name)
                                      for name in ("Iteration Start: Takt", "Record Window End"))
        slices = [event for event in self.events if event["ph"] == "X"]
        self.threads = collections.defaultdict(list)
        for event in slices:
            if event["cat"] == "cpu_op":
                begin, end = self.times(event)
                self.threads[event["tid"]].append((begin, -end, event["name"]))
        for row in self.threads.values():
            row.sort()
        self.calls = {event["args"]["correlation"]: event for event in slices
                      if event["cat"] in ("cuda_driver", "cuda_runtime")}
        self.work = [event for event in slices if event["cat"] in self.NAMES]
        self.steps = [self.times(event) for event in slices
                      if event["name"].startswith("ProfilerStep#")]

    def at(self, event):
        return ns_of(event["ts"]) - self.zero

    def times(self, event):
        return self.at(event), self.at(event) + ns_of(event["dur"])

    def call(self, number):
        event = self.calls.get(number)
        return event and Call(*self.times(event), event["name"], event["tid"])

    def path_of(self, call):
        row = self.threads[call.thread]
        around = row[:bisect.bisect_right(row, (call.begin, 0, ""))]
        return tuple(name for at, minus_end, name in around
                     if at <= call.begin and -minus_end >= call.end)

    def rows(self):
        for event in self.work:
            number = event["args"]["correlation"]
            call = self.call(number)
            begin, end = self.times(event)
            yield Row(begin, end - begin, f"cuda:{event['pid']}", event["args"]["stream"],
                      self.NAMES[event["cat"]](event["name"]), (number, call and call.name),
                      call and call.thread, self.path_of(call) if call else (),
                      event["args"].get("bytes"), event)

    def check_arrows(self, equal, where):
        """The lower half of an arrow's id is the correlation of its call. It ends a nanosecond
        inside of the activity, where that is longer."""
        begins, ends = (sorted((event for event in self.events
                                if event["ph"] == phase and event["cat"] == "ac2g"),
                               key=lambda event: event["id"]) for phase in "sf")
        ids = [event["id"] for event in begins]
        equal(where, "ids of arrows", ids, sorted(set(ids)))
        equal(where, "ids of arrows' ends", [event["id"] for event in ends], ids)
        equal(where, "arrows from calls", [(event["tid"], event["ts"]) for event in begins],
              [(call["tid"], call["ts"]) for call in (self.calls[id % 2**32] for id in ids)])
        equal(where, "arrows to activities", collections.Counter(
            (event["id"] % 2**32, event["pid"], event["tid"], self.at(event)) for event in ends),
            collections.Counter((event["args"]["correlation"], event["pid"], event["tid"],
                                 self.at(event) + (ns_of(event["dur"]) > 1))
                                for event in self.work))
