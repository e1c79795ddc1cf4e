#!/usr/bin/env python3
"""Adds up the scopes of Takt's Perfetto files, by Perfetto's rules and without Takt.

    perfetto_totals.py FILE.pftrace[.gz]

prints NAME, COUNT and TOTAL_NS, separated by tabs, sorted by name. COUNT is of all calls, TOTAL_NS of
those that do not run inside one of the same name, as in the report "scopes". Slices of threads are
meant, not those of steps and of tracks of their own. protoc decodes the file after perfetto.proto
beside this script."""
import codecs
import collections
import gzip
import os
import re
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
DELTA_CLOCK = 64


def varint(data, at):
    """The number at a place, and the place behind it."""
    value = shift = 0
    while data[at] >= 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def unpack(data):
    """The same packets without compressed ones, whose content takes their place."""
    out, at = [], 0
    while at < len(data):
        if data[at] != 0x0A:
            sys.exit("a trace is a sequence of packets")
        size, begin = varint(data, at + 1)
        end = begin + size
        if data[begin : begin + 2] == b"\x92\x03":  # field 50, compressed_packets
            size, begin = varint(data, begin + 2)
            if begin + size != end:
                sys.exit("a compressed packet holds nothing else")
            out.append(zlib.decompress(data[begin:end]))
        else:
            out.append(data[at:end])
        at = end
    return b"".join(out)


def decode(path):
    """The lines of protoc's text form."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    data = unpack(data)
    command = ["protoc", "--decode=Trace", "-I", HERE, os.path.join(HERE, "perfetto.proto")]
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode("ascii").splitlines()


def value_of(text):
    """A scalar of the text form: a string as bytes, a number, true, or the name of an enum."""
    if text.startswith('"'):
        return codecs.escape_decode(text[1:-1].encode("ascii"))[0]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text


def read_messages(lines):
    """Each top-level message as a dictionary of lists."""
    stack = [collections.defaultdict(list)]
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            message = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(message)
            stack.append(message)
        elif line == "}":
            stack.pop()
            if len(stack) == 1:
                yield stack[0]["packet"].pop()
        else:
            name, text = line.split(": ", 1)
            stack[-1][name].append(value_of(text))
    if len(stack) != 1:
        sys.exit("protoc's output ends inside a message")


class Sequence:
    """Packets of one trusted_packet_sequence_id: names by number, a clock, the open slices."""

    def __init__(self):
        self.names = {}
        self.now = 0
        self.is_thread = False
        self.open = collections.defaultdict(list)  # by track

    def time(self, packet):
        stamp = packet["timestamp"][0]
        if packet["timestamp_clock_id"] and packet["timestamp_clock_id"][0] != DELTA_CLOCK:
            return stamp
        self.now += stamp
        return self.now


class Totals:
    def __init__(self):
        self.sequences = collections.defaultdict(Sequence)
        self.counts = collections.Counter()
        self.times = collections.Counter()
        self.end = 0

    def describe(self, sequence, packet):
        for snapshot in packet["clock_snapshot"]:
            for clock in snapshot["clocks"]:
                if clock["clock_id"][0] == DELTA_CLOCK:
                    sequence.now = clock["timestamp"][0]
        for interned in packet["interned_data"]:
            for name in interned["event_names"]:
                sequence.names[name["iid"][0]] = name["name"][0]
        for takt in packet["takt"]:
            for facts in takt["facts"]:
                self.end = max(self.end, *facts["end_ns"], 0)
            for track in takt["track"]:
                sequence.is_thread |= track["kind"] == ["THREAD"]

    def end_slice(self, stack, time):
        name, begin = stack.pop()
        self.counts[name] += 1
        self.times[name] += 0 if any(other == name for other, _ in stack) else time - begin

    def place(self, sequence, event, time):
        self.end = max(self.end, time)
        kind = event["type"][0]
        stack = sequence.open[event["track_uuid"][0] if event["track_uuid"] else 0]
        if kind == "TYPE_SLICE_BEGIN":
            stack.append((sequence.names[event["name_iid"][0]], time))
        elif kind == "TYPE_SLICE_END" and stack:
            self.end_slice(stack, time)

    def add(self, packet):
        number = packet["trusted_packet_sequence_id"]
        sequence = self.sequences[number[0] if number else 0]
        self.describe(sequence, packet)
        for event in packet["track_event"]:
            time = sequence.time(packet)
            if sequence.is_thread:
                self.place(sequence, event, time)

    def finish(self):
        """Slices that never end go on to the end of the recording."""
        for sequence in self.sequences.values():
            for stack in sequence.open.values():
                while stack:
                    self.end_slice(stack, self.end)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    totals = Totals()
    for packet in read_messages(decode(sys.argv[1])):
        totals.add(packet)
    totals.finish()
    for name in sorted(totals.counts):
        text = re.sub(r"[\x00-\x1f\x7f]", "?", name.decode("utf-8"))
        print(f"{text}\t{totals.counts[name]}\t{totals.times[name]}")


if __name__ == "__main__":
    main()
