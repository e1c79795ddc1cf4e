#!/usr/bin/env python3
"""Makes a seed for fuzz_recover of the file that a crash-safe recording has left.

    recover_seed.py FILE >test/fuzz/corpus/recover/NAME

Takes as much of each part of the file as the target has room for, and of that what is not zero."""

import re
import struct
import sys

HEAD, PARTS = 24, 7  # where the head says where the other parts are, and how many there are
COUNTS = {1: 2, 2: 4, 3: 4, 4: 2, 6: 6, 7: 1}
LOGS, NAMES, CHUNKS, DEVICES = 4, 5, 6, 7
RUN, RUN_AT = 9, 472  # the part, and where the head says where it is
MOST_OF_ITEM = {CHUNKS: 1500, DEVICES: 600}  # bytes
LOG_IS_USED, CHUNK_LOG = 268, 52  # where an item says so
IS_FOLD = 0x80000000


def entries(part, item, data):
    """Of each stretch that is not zero; gaps of a few zeros are part of it."""
    for found in re.finditer(rb"[^\0](?:\0{0,7}[^\0])*", data, re.DOTALL):
        for at in range(found.start(), found.end(), 255):
            piece = data[at:min(at + 255, found.end())]
            yield struct.pack("<BBHB", part, item, at, len(piece)) + piece


def name_entries(data):
    at = used = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0 or used + size > 8192:
            break
        if size <= 255:
            yield struct.pack("<BBHB", NAMES, kind, 0, size - 8) + data[at + 8:at + size]
            used += size
        at += size


def is_wanted(part, item):
    if part == CHUNKS:
        return struct.unpack_from("<I", item, CHUNK_LOG)[0] & ~IS_FOLD in (1, 2)
    if part == LOGS:
        return any(item[LOG_IS_USED:LOG_IS_USED + 4])
    return any(item)


def is_later(chunk):
    """For sorting chunks: pieces of the last fold come first, then the last that were written."""
    log, sequence, depth = struct.unpack_from("<III", chunk, CHUNK_LOG)
    return (0, -depth, sequence) if log & IS_FOLD else (1, -sequence, 0)


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    out = sys.stdout.buffer
    losses_at = 24 + 16 * PARTS
    head = bytes(losses_at) + data[losses_at:RUN_AT] + bytes(16) + data[RUN_AT + 16:8192]
    for entry in entries(0, 0, head):
        out.write(entry)
    for part in range(1, PARTS + 1):
        at, size, count = struct.unpack_from("<QII", data, HEAD + 16 * (part - 1))
        if part == NAMES:
            for entry in name_entries(data[at:at + count]):
                out.write(entry)
            continue
        items = (data[at + i * size:at + (i + 1) * size] for i in range(count))
        wanted = [item for item in items if is_wanted(part, item)]
        if part == CHUNKS:
            wanted.sort(key=is_later)
        wanted = wanted[:COUNTS[part]]
        for number, item in enumerate(wanted):
            for entry in entries(part, number, item[:MOST_OF_ITEM.get(part)]):
                out.write(entry)
    at, size, count = struct.unpack_from("<QII", data, RUN_AT)
    for number in range(count):
        for entry in entries(RUN, number, data[at + number * size:at + (number + 1) * size]):
            out.write(entry)


main()
