#!/usr/bin/env python3
"""Checks XSpace files for everything that XProf's converters expect, and adds them up as they do.

    check_xplane.py FILE...
    check_xplane.py --list        prints the checks
    check_xplane.py               checks itself: each check must find what is made to break it
    check_xplane.py --ops | --kernels | --steps | --device-ops FILE...

prints NAME, COUNT of those that take time, and TOTAL_NS, separated by tabs and sorted by name:
operations of the host, kernels by name, kernels by step, and kernels by the operation that launched
them. Written apart from the exporter. It knows the format from xplane.proto, and the rules from tf_op_utils,
group_events, gpu_event_stats, kernel_stats_utils, xplane_to_op_metrics_db, xplane_to_step_events,
xplane_to_trace_container and op_stack in openxla/xla and openxla/xprof.
"""
import copy
import os
import re
import struct
import sys
from collections import defaultdict

CHECKS = []
DERIVED_LINES = range(0xDEADBEEF, 0xDEADBEEF + 500)

# Names that make an event one of XProf's own.
OWN_EVENTS = {
    "TraceContext", "SessionRun", "FunctionRun", "RunGraph", "EagerExecute", "Iterator", "ForOp",
    "ExecutorState::Process", "MemoryAllocation", "MemoryDeallocation", "KernelLaunch",
    "KernelExecute", "PrefetchProduce", "PrefetchConsume", "ProcessBatch", "WhileOp-EvalCond"}
MEMORY_EVENTS = {"MemoryAllocation", "MemoryDeallocation"}
# The member of XStat that the converters read.
TYPES = {
    "_r": "int", "step_num": "int", "_pt": "int", "_ct": "int", "_p": "uint", "_c": "uint",
    "correlation_id": "uint", "flow": "uint", "tf_op": "text", "kernel_details": "text",
    "memcpy_details": "text", "Memset_details": "text", "source": "text", "source_stack": "text",
    "theoretical_occupancy_pct": "double", "device_id": "int", "context_id": "int",
    "cuda_graph_id": "uint", "cuda_graph_exec_id": "uint", "cuda_graph_node_id": "uint",
    "allocator_name": "text", "bytes_allocated": "int", "bytes_available": "int",
    "peak_bytes_in_use": "int", "requested_bytes": "int", "allocation_bytes": "int",
    "addr": "int", "region_type": "text", "device_vendor": "text", "gpu_device_name": "text",
    "device_type_string": "text", "clock_rate": "uint", "core_count": "uint",
    "memory_size": "uint", "memory_bandwidth": "uint", "compute_cap_major": "uint",
    "compute_cap_minor": "uint", "profile_start_time": "uint", "profile_stop_time": "uint"}
UNSIGNED_AS_INT = {"addr"}  # XProf keeps it as it is


class Problem(Exception):
    pass


def need(condition, *what):
    if not condition:
        raise Problem(" ".join(str(word) for word in what))


def check(description):
    def add(function):
        CHECKS.append((function.__name__, description, function))
        return function

    return add


# ---- Decoding ------------------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, "a varint is cut")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            need(len(value) == size, "a field is cut")
        else:
            raise Problem(f"wire type {wire}")
        yield number, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def text(value):
    return bytes(value).decode("utf-8", "strict")


class Message:
    """Fields by name: KNOWN[number] = (name, convert, is_repeated)."""

    KNOWN = {}

    def __init__(self, data=b""):
        for name, convert, is_repeated in self.KNOWN.values():
            setattr(self, name, [] if is_repeated else "" if convert is text else 0)
        for number, value in fields(data):
            need(number in self.KNOWN, type(self).__name__, "has a field", number)
            name, convert, is_repeated = self.KNOWN[number]
            if is_repeated:
                getattr(self, name).append(convert(value))
            else:
                setattr(self, name, convert(value))


class Stat(Message):
    def __init__(self, data=b""):
        self.id, self.kind, self.value = 0, None, None
        for number, value in fields(data):
            if number == 1:
                self.id = value
            else:
                kinds = {2: "double", 3: "uint", 4: "int", 5: "text", 7: "ref"}
                need(number in kinds, "Stat has a field", number)
                self.kind = kinds[number]
                self.value = {"double": lambda v: struct.unpack("<d", v)[0], "int": signed,
                              "text": text}.get(self.kind, lambda v: v)(value)


class Event(Message):
    KNOWN = {1: ("id", signed, False), 2: ("offset", signed, False), 3: ("duration", signed, False),
             4: ("stats", Stat, True)}


class Line(Message):
    KNOWN = {1: ("id", signed, False), 2: ("name", text, False), 3: ("timestamp", signed, False),
             4: ("events", Event, True)}


class EventName(Message):
    KNOWN = {1: ("id", signed, False), 2: ("name", text, False), 4: ("label", text, False),
             5: ("stats", Stat, True)}


class StatName(Message):
    KNOWN = {1: ("id", signed, False), 2: ("name", text, False)}


def entry(of):
    class Entry(Message):
        KNOWN = {1: ("key", signed, False), 2: ("value", of, False)}

    return Entry


class Plane(Message):
    KNOWN = {1: ("id", signed, False), 2: ("name", text, False), 3: ("lines", Line, True),
             4: ("event_names", entry(EventName), True), 5: ("stat_names", entry(StatName), True),
             6: ("stats", Stat, True)}

    def index(self):
        self.events = {one.key: one.value for one in self.event_names}
        self.stat = {one.key: one.value.name for one in self.stat_names}

    def name_of(self, event):
        return self.events[event.id].name

    def values(self, owner):
        return {self.stat[one.id]: self.stat[one.value] if one.kind == "ref" else one.value
                for one in owner.stats}

    def all_events(self):
        return ((line, event) for line in self.lines for event in line.events)


class Space(Message):
    KNOWN = {1: ("planes", Plane, True), 3: ("warnings", text, True), 4: ("hosts", text, True)}


class File:
    def __init__(self, path, data):
        self.path, self.size = path, len(data)
        self.space = Space(data)
        self.index()

    def index(self):
        for plane in self.space.planes:
            plane.index()
        self.host = next((p for p in self.space.planes if p.name == "/host:CPU"), None)
        self.devices = [p for p in self.space.planes if p.name.startswith("/device:GPU:")]

    def owners(self):
        """Everything that has stats."""
        for plane in self.space.planes:
            yield plane, plane
            for name in plane.event_names:
                yield plane, name.value
            for _, event in plane.all_events():
                yield plane, event


# ---- What the converters make of names -----------------------------------------------------------


def parse_op(full):
    """(category, name, type)"""
    parts = full.split(":", 1)
    if len(parts) == 1:
        copy_name = re.match(r"(?i)memcpy(htod|dtoh|dtod|htoh)", full)
        return ("copy" if copy_name else None), full, copy_name and copy_name.group(1)
    name, kind = parts
    if name == "Iterator":
        return "data", full, "Dataset"
    if re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*", name) and re.fullmatch(r"[A-Z_]\w*", kind):
        return "op", name, kind
    if not kind:
        last = name.split("/")[-1]
        suffix = last.split("_")[-1]
        kind = last[:-len(suffix) - 1] if re.fullmatch(r"[+-]?\d+", suffix) else last
        return "op", name, kind
    if re.fullmatch(r"[a-z_][a-z0-9_]*(\[.*\])?", kind):
        return "op", name, kind
    return None, full, None


def is_op(full):
    return parse_op(full)[0] in ("op", "data")


def is_step_mark(name):
    return re.match("train|test|TraceContext", name) and "/" not in name


def parse_kernel(details):
    found = {}
    for token in re.split("[ \n]", details):
        pair = token.split(":")
        if len(pair) == 2:
            found[pair[0]] = pair[1]
    return found


def parse_bytes(details):
    tokens = re.split("[:\n]", details)
    for i in range(0, len(tokens) - 1, 2):
        if tokens[i] == "num_bytes":
            return int(tokens[i + 1])
    return None


# ---- Checks --------------------------------------------------------------------------------------


@check("the file has less than 2 GiB, the most that Protocol Buffers read")
def size(file):
    need(file.size < 1 << 31, file.size)


@check("there is one plane of the host, and one of the environment, and names differ")
def planes(file):
    names = [plane.name for plane in file.space.planes]
    need(len(set(names)) == len(names), names)
    need(file.host is not None and "Task Environment" in names, names)
    for plane in file.devices:
        need(plane.name == f"/device:GPU:{plane.id}", plane.name, plane.id)
        need(plane.id < 500, "the trace viewer has no such device:", plane.id)


@check("the host is named, as in the file's name")
def hosts(file):
    need(len(file.space.hosts) == 1 and file.space.hosts[0], file.space.hosts)
    if "plugins/profile" in os.path.abspath(file.path):
        need(file.space.hosts[0] in os.path.basename(file.path), file.space.hosts)


@check("ids of names are their keys, above 0, and names differ within a plane")
def names(file):
    for plane in file.space.planes:
        for entries in plane.event_names, plane.stat_names:
            keys = [one.key for one in entries]
            texts = [one.value.name for one in entries]
            need(all(one.key == one.value.id > 0 for one in entries), plane.name, keys)
            need(len(set(keys)) == len(keys), plane.name, keys)
            need(len(set(texts)) == len(texts), plane.name, "a name occurs twice")
            need(all(texts), plane.name, "a name is empty")


@check("all that is referred to is there")
def references(file):
    for plane, owner in file.owners():
        if isinstance(owner, Event):
            need(owner.id in plane.events, plane.name, "event", owner.id)
        for stat in owner.stats:
            need(stat.id in plane.stat, plane.name, "stat", stat.id)
            need(stat.kind != "ref" or stat.value in plane.stat, plane.name, "ref", stat.value)


@check("an owner has each stat once, with the type that is read")
def stats(file):
    for plane, owner in file.owners():
        ids = [stat.id for stat in owner.stats]
        need(len(set(ids)) == len(ids), plane.name, [plane.stat[i] for i in ids])
        for stat in owner.stats:
            wanted = TYPES.get(plane.stat[stat.id])
            kind = "text" if stat.kind == "ref" else stat.kind
            need(wanted in (None, kind), plane.stat[stat.id], "is", stat.kind)
            if wanted == "int" and plane.stat[stat.id] not in UNSIGNED_AS_INT:
                need(stat.value >= 0, plane.stat[stat.id], stat.value)


@check("no plane has group_id, or XProf would not find the steps")
def groups(file):
    for plane in file.space.planes:
        need("group_id" not in plane.stat.values(), plane.name)


@check("times fit into 63 bits of picoseconds, and none is negative")
def times(file):
    for plane in file.space.planes:
        for line, event in plane.all_events():
            need(event.offset >= 0 and event.duration >= 0, plane.name, event.offset)
            end = line.timestamp * 1000 + event.offset + event.duration
            need(0 <= end < 1 << 63, plane.name, line.name, end)


@check("lines have numbers of their own, a name and events")
def lines(file):
    for plane in file.space.planes:
        ids = [line.id for line in plane.lines]
        need(len(set(ids)) == len(ids) and all(0 < one < 1 << 31 for one in ids), plane.name, ids)
        need(not any(one in DERIVED_LINES for one in ids), plane.name, ids)
        need(all(line.name for line in plane.lines), plane.name)
        need(not any(line.name == "Steps" for line in plane.lines), "a line called Steps")


@check("events of a line are sorted by begin, and either nest or do not overlap")
def nesting(file):
    for plane in file.space.planes:
        for line in plane.lines:
            last, ends = 0, []
            for event in line.events:
                end = event.offset + event.duration
                need(event.offset >= last, plane.name, line.name, event.offset, last)
                while ends and ends[-1] <= event.offset and end > ends[-1]:
                    ends.pop()
                need(not ends or end <= ends[-1], plane.name, line.name, "overlap at", end)
                ends.append(end)
                last = event.offset


@check("activities of a stream's line do not overlap at all")
def streams(file):
    for plane in file.devices:
        for line in plane.lines:
            end = 0
            for event in line.events:
                need(event.offset >= end, plane.name, line.name, event.offset, end)
                end = event.offset + event.duration


@check("the host's operations are not lost: none ends with one around it")
def stack(file):
    for line in file.host.lines:
        found = len(list(ops_of_line(file.host, line)))
        wanted = sum(1 for event in line.events
                     if is_op(file.host.name_of(event)) and event.duration > 0)
        need(found >= wanted, line.name, found, "of", wanted)


@check("names are operations, or nothing that XProf knows; none looks like the mark of a step")
def own_names(file):
    for _, event in file.host.all_events():
        name = file.host.name_of(event)
        if name.endswith(":"):
            need(parse_op(name)[0] == "op", name)
            need(name.count(":") == 1, name)
        else:
            need(":" not in name, name)
            need(name not in OWN_EVENTS or name in MEMORY_EVENTS, name)
        need(not is_step_mark(name), name, "looks like the mark of a step")
        need(file.host.events[event.id].label not in ("", None) or not name.endswith(":") or
             "(no name)" in name or name == "...:", name, "has no label")


@check("counters have a finite value, no label, and are not operations")
def counters(file):
    for line in file.host.lines:
        for event in line.events if line.name == "_counters_" else []:
            value = file.host.values(event).get("value")
            need(isinstance(value, float) and abs(value) < float("inf"), value)
            need(not file.host.events[event.id].label, "a label")


@check("memory has the stats of the tool memory_profile")
def memory(file):
    for _, event in file.host.all_events():
        if file.host.name_of(event) in MEMORY_EVENTS:
            values = file.host.values(event)
            for key in ("allocator_name", "bytes_allocated", "peak_bytes_in_use", "addr",
                        "allocation_bytes", "requested_bytes"):
                need(key in values, key)
            need(values["peak_bytes_in_use"] >= values["bytes_allocated"], values)


@check("each step is a root and produces what its spans, which lie inside, consume")
def steps(file):
    produced = {}
    for _, event in file.host.all_events():
        values = file.host.values(event)
        if "_r" in values:
            need("step_num" in values and "_p" in values, values)
            key = values["_pt"], values["_p"]
            need(key not in produced, "two producers of", key)
            produced[key] = event.offset, event.offset + event.duration
    for line, event in file.host.all_events():
        values = file.host.values(event)
        if "_c" in values:
            key = values["_ct"], values["_c"]
            need(key in produced, line.name, "consumes", key)
            begin, end = produced[key]
            need(begin <= event.offset and event.offset + event.duration <= end, line.name, key)


@check("kernels have all of kernel_details, or say that it is not known")
def kernels(file):
    for plane in file.devices:
        for _, event in plane.all_events():
            details = plane.values(event).get("kernel_details")
            if details in (None, "launch:unknown"):
                continue
            found = parse_kernel(details)
            for key in ("regs", "static_shared", "dynamic_shared"):
                need(re.fullmatch(r"\d+", found.get(key, "")), details)
            for key in ("grid", "block"):
                need(re.fullmatch(r"\d+,\d+,\d+", found.get(key, "")), details)
            if "occ_pct" in found:
                need(0 < float(found["occ_pct"]) <= 100, details)


@check("copies tell their bytes, and their direction where XProf knows it")
def copies(file):
    for plane in file.devices:
        for _, event in plane.all_events():
            values = plane.values(event)
            for key in ("memcpy_details", "Memset_details"):
                if key in values:
                    need(parse_bytes(values[key]) is not None, values[key])
            if "memcpy_details" in values:
                need(plane.name_of(event).startswith("Memcpy"), plane.name_of(event))


@check("operations that launched activities are operations of the host")
def launchers(file):
    known = {name.value.name for name in file.host.event_names}
    for plane in file.devices:
        for _, event in plane.all_events():
            op = plane.values(event).get("tf_op")
            if op is not None:
                need(is_op(op) and op in known, op)


@check("an arrow that ends at an activity begins at the call with the same correlation_id")
def arrows(file):
    begun = {}
    for _, event in file.host.all_events():
        values = file.host.values(event)
        if "flow" in values:
            need(values["flow"] & 3 == 2 and values["flow"] >> 58 == 9, values["flow"])
            need(values["flow"] >> 2 & (1 << 56) - 1 == values["correlation_id"], values)
            begun[values["flow"] >> 2] = event
    for plane in file.devices:
        for _, event in plane.all_events():
            values = plane.values(event)
            if "flow" in values:
                need(values["flow"] & 3 == 1, values["flow"])
                need(values["flow"] >> 2 in begun, plane.name_of(event), values)


@check("a device has its vendor, and the number in its name at each activity")
def devices(file):
    for plane in file.devices:
        need(plane.values(plane).get("device_vendor") == "Nvidia", plane.name)
        for _, event in plane.all_events():
            need(plane.values(event).get("device_id") == plane.id, plane.name)


@check("the environment has the begin and the end of the recording")
def environment(file):
    for plane in file.space.planes:
        if plane.name == "Task Environment":
            values = plane.values(plane)
            need(values["profile_start_time"] <= values["profile_stop_time"], values)


# ---- Totals --------------------------------------------------------------------------------------


def ops_of_line(plane, line):
    """Operations as xplane_to_op_metrics_db finds them: (name, ps, self ps). Begins and ends are
    sorted by time, stably; an end pops everything above it, and what is popped so is lost."""
    sorted_events = []
    for number, event in enumerate(line.events):
        name = plane.name_of(event)
        if is_op(name):
            sorted_events.append((event.offset, number, True, name))
            sorted_events.append((event.offset + event.duration, number, False, name))
    sorted_events.sort(key=lambda one: one[0])
    open_ops = []
    for at, number, is_begin, name in sorted_events:
        if is_begin:
            open_ops.append([number, at, 0])
            continue
        found = None
        while open_ops and not found:
            top = open_ops.pop()
            found = top if top[0] == number else None
        if not found:
            continue
        duration = at - found[1]
        if open_ops:
            open_ops[-1][2] += duration
        yield parse_op(name)[1], duration, duration - found[2]


def ops(file):
    for line in file.host.lines:
        for name, ps, _ in ops_of_line(file.host, line):
            yield name, ps


def kernel_events(file):
    for plane in file.devices:
        for line, event in plane.all_events():
            if "kernel_details" in plane.values(event) and event.duration:
                yield plane, event


def kernels_by_name(file):
    for plane, event in kernel_events(file):
        yield plane.name_of(event), event.duration


def kernels_by_op(file):
    for plane, event in kernel_events(file):
        op = plane.values(event).get("tf_op")
        yield (parse_op(op)[1] if op else ""), event.duration


def kernels_by_step(file):
    """group_events: a root's group reaches its children on the line and what consumes, and from a
    call to the activities of its correlation_id."""
    step_of_context, step_of_call = {}, {}
    for _, event in file.host.all_events():
        values = file.host.values(event)
        if "_r" in values:
            step_of_context[values["_pt"], values["_p"]] = f"step {values['step_num']}"
    for line in file.host.lines:
        parents = []
        for event in line.events:
            values = file.host.values(event)
            end = event.offset + event.duration
            while parents and not (parents[-1][0] <= event.offset and end <= parents[-1][1]):
                parents.pop()
            step = step_of_context.get((values.get("_ct"), values.get("_c")))
            step = step or (parents[-1][2] if parents else None)
            parents.append((event.offset, end, step))
            if "correlation_id" in values:
                step_of_call[values["correlation_id"]] = step
    for plane, event in kernel_events(file):
        correlation = plane.values(event).get("correlation_id")
        yield step_of_call.get(correlation) or "", event.duration


TOTALS = {"--ops": ops, "--kernels": kernels_by_name, "--steps": kernels_by_step,
          "--device-ops": kernels_by_op}


def print_totals(what, paths):
    totals = defaultdict(lambda: [0, 0])
    for path in paths:
        with open(path, "rb") as opened:
            for name, ps in TOTALS[what](File(path, opened.read())):
                totals[name][0] += ps > 0
                totals[name][1] += (ps + 999) // 1000  # a span ends some picoseconds early
    for name in sorted(name for name in totals if totals[name][0]):
        print(name, *totals[name], sep="\t")


# ---- The checker itself --------------------------------------------------------------------------


def make(of, **members):
    made = of()
    for name, value in members.items():
        setattr(made, name, value)
    return made


def example():
    """A step with a scope that launches a kernel and a copy."""
    def event_entry(key, name, label=""):
        return make(entry(EventName), key=key, value=make(EventName, id=key, name=name,
                                                          label=label))

    def stat_entries(*texts):
        return [make(entry(StatName), key=i, value=make(StatName, id=i, name=one))
                for i, one in enumerate(texts, 1)]

    def stat(number, kind, value):
        return make(Stat, id=number, kind=kind, value=value)

    def event(number, offset, duration, *stats_of):
        return make(Event, id=number, offset=offset, duration=duration, stats=list(stats_of))

    host = make(Plane, name="/host:CPU", event_names=[
        event_entry(1, "step"), event_entry(2, "sph/density:", "density"),
        event_entry(3, "cudaLaunchKernel"), event_entry(4, "energy"),
        event_entry(5, "MemoryAllocation")])
    host.stat_names = stat_entries("_r", "step_num", "_pt", "_p", "_ct", "_c", "correlation_id",
                                   "flow", "value", "allocator_name", "bytes_allocated",
                                   "peak_bytes_in_use", "addr", "allocation_bytes",
                                   "requested_bytes", "cpu")
    flow = 77 << 2 | 9 << 58
    host.lines = [
        make(Line, id=1, name="steps", events=[event(
            1, 0, 9000, stat(1, "int", 1), stat(2, "int", 5), stat(3, "int", 0),
            stat(4, "uint", 5))]),
        make(Line, id=2, name="thread 1", events=[
            event(2, 1000, 5000, stat(5, "int", 0), stat(6, "uint", 5)), event(2, 2000, 3000),
            event(3, 2000, 500, stat(7, "uint", 77), stat(8, "uint", flow | 2))]),
        make(Line, id=3, name="_counters_", events=[event(4, 0, 0, stat(9, "double", 1.5))]),
        make(Line, id=4, name="memory", events=[event(
            5, 0, 0, stat(10, "ref", 16), *(stat(i, "int", 64) for i in range(11, 16)))])]
    device = make(Plane, id=1, name="/device:GPU:1", event_names=[
        event_entry(1, "density_kernel"), event_entry(2, "MemcpyHtoD")])
    device.stat_names = stat_entries(
        "correlation_id", "flow", "tf_op", "kernel_details", "memcpy_details", "device_id",
        "device_vendor", "sph/density:", "Nvidia", "num_bytes:64\nkind_src:pinned",
        "regs:8 static_shared:0 dynamic_shared:0 grid:1,1,1 block:64,1,1 occ_pct:50.00")
    device.stats = [stat(7, "ref", 9)]
    device.lines = [make(Line, id=1, name="Stream #7(Compute)", events=[
        event(1, 3000, 1000, stat(1, "uint", 77), stat(2, "uint", flow | 1), stat(3, "ref", 8),
              stat(4, "ref", 11), stat(6, "int", 1)),
        event(2, 4000, 1000, stat(5, "ref", 10), stat(6, "int", 1))])]
    environment_plane = make(Plane, name="Task Environment")
    environment_plane.stat_names = stat_entries("profile_start_time", "profile_stop_time")
    environment_plane.stats = [stat(1, "uint", 10), stat(2, "uint", 20)]
    file = File("host.xplane.pb", b"")
    file.space = make(Space, planes=[host, device, environment_plane], hosts=["host"])
    return file


def rename(entries, number, name):
    entries[number - 1].value.name = name


def set_value(event, position, value):
    event.stats[position].value = value


def swap(items):
    items[0], items[1] = items[1], items[0]


# By check: what breaks it.
BREAKS = {
    "size": [lambda f, h, d: setattr(f, "size", 1 << 31)],
    "planes": [lambda f, h, d: setattr(h, "name", "/host:CPU0"),
               lambda f, h, d: setattr(d, "id", 0)],
    "hosts": [lambda f, h, d: setattr(f.space, "hosts", [])],
    "names": [lambda f, h, d: rename(h.event_names, 3, "step"),
              lambda f, h, d: setattr(h.stat_names[0].value, "id", 9)],
    "references": [lambda f, h, d: setattr(h.lines[1].events[0], "id", 99),
                   lambda f, h, d: set_value(d.lines[0].events[0], 2, 99)],
    "stats": [lambda f, h, d: setattr(h.lines[0].events[0].stats[0], "kind", "uint"),
              lambda f, h, d: h.lines[0].events[0].stats.append(h.lines[0].events[0].stats[0])],
    "groups": [lambda f, h, d: rename(h.stat_names, 16, "group_id")],
    "times": [lambda f, h, d: setattr(h.lines[0], "timestamp", 1767261889000000000),
              lambda f, h, d: setattr(h.lines[0].events[0], "offset", -1)],
    "lines": [lambda f, h, d: setattr(h.lines[1], "id", 1),
              lambda f, h, d: setattr(h.lines[0], "name", "Steps")],
    "nesting": [lambda f, h, d: swap(h.lines[1].events),
                lambda f, h, d: setattr(h.lines[1].events[1], "duration", 4500)],
    "streams": [lambda f, h, d: setattr(d.lines[0].events[0], "duration", 1500)],
    "stack": [lambda f, h, d: setattr(h.lines[1].events[1], "duration", 4000)],
    "own_names": [lambda f, h, d: rename(h.event_names, 3, "std::sort"),
                  lambda f, h, d: rename(h.event_names, 2, "testing:"),
                  lambda f, h, d: rename(h.event_names, 3, "SessionRun")],
    "counters": [lambda f, h, d: set_value(h.lines[2].events[0], 0, float("nan")),
                 lambda f, h, d: setattr(h.event_names[3].value, "label", "energy")],
    "memory": [lambda f, h, d: h.lines[3].events[0].stats.pop(),
               lambda f, h, d: set_value(h.lines[3].events[0], 1, 65)],
    "steps": [lambda f, h, d: set_value(h.lines[1].events[0], 1, 6),
              lambda f, h, d: setattr(h.lines[0].events[0], "duration", 3000),
              lambda f, h, d: h.lines[0].events.append(h.lines[0].events[0])],
    "kernels": [lambda f, h, d: rename(d.stat_names, 11, "regs:8 grid:1,1 block:64,1,1")],
    "copies": [lambda f, h, d: rename(d.stat_names, 10, "kind_src:pinned num_bytes:64"),
               lambda f, h, d: rename(d.event_names, 2, "copy")],
    "launchers": [lambda f, h, d: rename(d.stat_names, 8, "sph/density"),
                  lambda f, h, d: rename(d.stat_names, 8, "sph/forces:")],
    "arrows": [lambda f, h, d: set_value(d.lines[0].events[0], 1, 78 << 2 | 9 << 58 | 1),
               lambda f, h, d: set_value(h.lines[1].events[2], 1, 78 << 2 | 9 << 58 | 2)],
    "devices": [lambda f, h, d: d.stats.clear(),
                lambda f, h, d: set_value(d.lines[0].events[0], 4, 0)],
    "environment": [lambda f, h, d: set_value(f.space.planes[2], 0, 21)],
}


def finds(function, file):
    try:
        file.index()
        function(file)
    except Problem:
        return True
    return False


def check_itself():
    failures = 0
    for name, _, function in CHECKS:
        if finds(function, example()):
            print(f"{name}: fails without a fault")
            failures += 1
        for number, damage in enumerate(BREAKS.get(name, [])):
            file = copy.deepcopy(example())
            file.index()
            damage(file, file.host, file.devices[0])
            if not finds(function, file):
                print(f"{name}: does not find fault {number}")
                failures += 1
        if not BREAKS.get(name):
            print(f"{name}: nothing breaks it")
            failures += 1
    print(f"{len(CHECKS)} checks, {failures} failures")
    return failures


def check_files(paths):
    failures = 0
    for path in paths:
        with open(path, "rb") as opened:
            data = opened.read()
        try:
            file = File(path, data)
        except (Problem, UnicodeDecodeError) as problem:
            print(f"{path}: cannot be decoded: {problem}")
            failures += 1
            continue
        for name, _, function in CHECKS:
            try:
                function(file)
            except Problem as problem:
                print(f"{path}: {name}: {problem}")
                failures += 1
    print(f"{len(paths)} files, {len(CHECKS)} checks, {failures} failures")
    return failures


def main():
    arguments = sys.argv[1:]
    if arguments and arguments[0] in TOTALS:
        print_totals(arguments[0], arguments[1:])
        return 0
    if arguments == ["--list"]:
        for name, description, _ in CHECKS:
            print(f"{name:12} {description}")
        return 0
    return 1 if (check_files(arguments) if arguments else check_itself()) else 0


if __name__ == "__main__":
    sys.exit(main())
