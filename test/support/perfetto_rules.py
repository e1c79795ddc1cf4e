#!/usr/bin/env python3
"""Holds a Perfetto file of Takt's against what Perfetto's importer relies on.

    perfetto_rules.py FILE.pftrace[.gz]

prints a line for each rule that is broken and fails then. Rules are checked on what protoc decodes."""
import collections
import re
import sys

from perfetto_totals import DELTA_CLOCK, decode, read_messages

DEVICE_ROWS = ("STREAM", "WAITS", "OVERHEADS")

EVENT_TABLES = {  # field of an event -> table of interned_data
    "name_iid": "event_names",
    "category_iids": "event_categories",
    "source_location_iid": "source_locations",
}


class Checker:
    def __init__(self):
        self.broken = collections.Counter()
        self.started = set()
        self.tables = collections.defaultdict(set)  # (sequence, table) -> iids
        self.sites = {}
        self.uuids = {}
        self.threads = set()
        self.now = {}
        self.open = collections.defaultdict(list)  # sequence -> begins
        self.kinds = {}
        self.default_track = {}
        self.memory = collections.defaultdict(list)  # uuid -> time, row, size, value
        self.shapes = []
        self.calls = set()  # flows that lead from calls
        self.works = set()  # and to activities
        self.end = 0
        self.labels, self.job = [], None  # of the process; rank and size of the job
        self.devices = {}  # the number in a device's label -> the rank of its tracks

    def check(self, is_kept, rule):
        self.broken[rule] += not is_kept

    def begin_sequence(self, number, packet):
        self.check(packet["sequence_flags"] == [1], "a sequence begins with a cleared state")
        self.check(packet["first_packet_on_sequence"] == ["true"], "first packets say so")
        defaults = packet["trace_packet_defaults"][0]
        self.check(defaults["timestamp_clock_id"] == [DELTA_CLOCK], "the default clock counts on")
        self.default_track[number] = defaults["track_event_defaults"][0]["track_uuid"][0]
        for snapshot in packet["clock_snapshot"]:
            self.check(snapshot["primary_trace_clock"] == [3], "the trace's clock is MONOTONIC")
            clocks = {c["clock_id"][0]: c["timestamp"][0] for c in snapshot["clocks"]}
            self.check(clocks.get(3) == clocks.get(DELTA_CLOCK), "both clocks start together")
            self.now[number] = clocks[DELTA_CLOCK]
        self.started.add(number)

    def describe_track(self, number, packet):
        for track in packet["track_descriptor"]:
            uuid = track["uuid"][0]
            self.check(uuid not in self.uuids, "track ids are unique")
            self.uuids[uuid] = "counter" if track["counter"] else "slices"
            device = re.match(rb"cuda:(\d+)", (track["name"] or [b""])[0])
            if device and not track["counter"]:
                self.devices[int(device[1])] = track["sibling_order_rank"][0]
            for process in track["process"]:
                self.labels += process["process_labels"]
            for parent in track["parent_uuid"]:
                self.check(parent in self.uuids, "parents are described before children")
            for thread in track["thread"]:
                self.check(thread["tid"][0] != 0, "no thread has the idle thread's id")
                self.check(thread["tid"][0] not in self.threads, "thread ids are unique")
                self.check(thread["pid"][0] != 0, "the process is not the idle one")
                self.threads.add(thread["tid"][0])
            for takt in packet["takt"]:
                for half in takt["track"]:
                    if half["kind"][0] in ("THREAD", "ASYNC", "STEPS", "EVENTS", "SM") + DEVICE_ROWS:
                        self.kinds[number] = half["kind"][0]
                        self.check(self.default_track[number] == uuid, "a row's events are its own")

    def intern(self, number, packet):
        for interned in packet["interned_data"]:
            for table, entries in interned.items():
                for entry in entries:
                    iid = entry["iid"][0]
                    known = self.tables[number, table]
                    self.check(iid not in known, "a sequence interns a number once")
                    known.add(iid)
                    for key in ("name", "file_name", "function_name"):
                        for text in entry[key]:
                            text.decode("utf-8")
        for takt in packet["takt"]:
            for facts in takt["facts"]:
                self.end = facts["end_ns"][0]
            for site in takt["sites"]:
                self.sites[site["iid"][0]] = site
            self.shapes += takt["shapes"]

    def resolve(self, number, event):
        for field, table in EVENT_TABLES.items():
            for iid in event[field]:
                self.check(iid in self.tables[number, table], f"{field} are interned")
        for annotation in event["debug_annotations"]:
            known = self.tables[number, "debug_annotation_names"]
            self.check(annotation["name_iid"][0] in known, "annotations' names are interned")
            for iid in annotation["string_value_iid"]:
                texts = self.tables[number, "debug_annotation_string_values"]
                self.check(iid in texts, "annotations' texts are interned")
        if self.kinds.get(number) == "STREAM":
            for iid in event["name_iid"]:
                self.check(iid <= len(self.shapes), "activities have shapes that were described")
            self.works.update(event["flow_ids"])
            return
        if self.kinds.get(number) == "SM":
            return # names of phases, not of sites
        if event["type"] == ["TYPE_SLICE_BEGIN"]:
            self.calls.update(event["flow_ids"])
        for iid in event["name_iid"]:
            site = self.sites.get(iid, {})
            self.check(bool(site.get("category")) == bool(event["category_iids"]),
                       "events have the category of their site")
            self.check(bool(site.get("file")) == bool(event["source_location_iid"]),
                       "events have the source of their site")

    def time_of(self, number, packet):
        clock = packet["timestamp_clock_id"]
        if clock and clock[0] != DELTA_CLOCK:
            self.check(clock == [3], "whole times are MONOTONIC's")
            self.check(packet["timestamp"][0] < self.now[number] or number == 1,
                       "times are told whole only where they go back")
            return packet["timestamp"][0]
        self.now[number] += packet["timestamp"][0]
        return self.now[number]

    def place(self, number, event, time):
        kind = event["type"][0]
        stack = self.open[number]
        if kind == "TYPE_SLICE_BEGIN":
            self.check(not stack or time >= stack[-1], "slices begin inside their parents")
            self.check(not stack or self.kinds[number] in ("THREAD", "SM"),
                       "lanes show one slice at a time")
            stack.append(time)
        elif kind == "TYPE_SLICE_END":
            self.check(bool(stack), "ends have begins")
            self.check(not stack or time >= stack.pop(), "slices end after they begin")
        elif kind == "TYPE_INSTANT" and number == 1:
            self.check(time == self.end, "losses are told at the end")
        elif kind == "TYPE_COUNTER":
            uuid = event["track_uuid"][0]
            self.check(self.uuids.get(uuid) == "counter", "counters are on tracks for counters")
            if event["counter_value"]:
                size = next(a["int_value"][0] for a in event["debug_annotations"] if a["int_value"]
                            and a["name_iid"] == [7])
                self.memory[uuid].append((time, number, size, event["counter_value"][0]))

    def note_job(self, packet):
        for facts in (facts for takt in packet["takt"] for facts in takt["facts"]):
            if facts["world_size"]:
                self.job = b"rank %d of %d" % ((facts["rank"] or [0])[0], facts["world_size"][0])

    def add(self, packet):
        self.note_job(packet)
        number = (packet["trusted_packet_sequence_id"] or [0])[0]
        if number and number not in self.started:
            self.begin_sequence(number, packet)
        self.describe_track(number, packet)
        self.intern(number, packet)
        for event in packet["track_event"]:
            self.resolve(number, event)
            self.place(number, event, self.time_of(number, packet))

    def finish(self):
        for events in self.memory.values():
            events.sort(key=lambda event: event[:2])
            for before, after in zip(events, events[1:]):
                self.check(before[3] + after[2] == after[3], "memory is what was allocated less freed")
        told = [label for label in self.labels if label.startswith(b"rank ")]
        self.check(told == ([self.job] if self.job else []), "the process tells its rank")
        ranks = [self.devices[number] for number in sorted(self.devices)]
        self.check(ranks == sorted(set(ranks)), "devices stand in order of their number")
        self.check(self.works == self.calls, "arrows lead from calls to activities")
        self.check(not any(self.open.values()), "slices end")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    checker = Checker()
    for packet in read_messages(decode(sys.argv[1])):
        checker.add(packet)
    checker.finish()
    broken = {rule: count for rule, count in checker.broken.items() if count}
    for rule, count in sorted(broken.items()):
        print(f"broken {count} times: {rule}")
    print(f"{len(checker.broken)} rules checked")
    sys.exit(1 if broken else 0)


main()
