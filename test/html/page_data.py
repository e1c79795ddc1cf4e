#!/usr/bin/env python3
"""Reads a page of `takt report --html` by src/cli/html/FORMAT.md, and without Takt.

    page_data.py PAGE      prints what it holds, a line for each object
"""
import base64
import gzip
import html.parser
import json
import re
import struct
import sys

COLUMNS = {
    "thread": ["begin~>", "duration", "site", "depth", "flags", "args", "stack"],
    "stream": ["begin+", "duration", "shape", "depth", "track", "launch~+", "scope~+", "scope_name",
               "correlation~+"],
    "counter": ["time+", "value#"],
    "memory": ["time+", "bytes~"],
    "marks": ["time+", "name", "track"],
    "waits": ["begin+", "duration", "kind", "context", "stream"],
    "steps": ["begin+", "duration", "number+"],
    "run": ["total", "min", "max"],
}
COLUMNS["async"] = COLUMNS["thread"]


class Blocks(html.parser.HTMLParser):
    """The elements of a page: how many there are of each, and the text of scripts by their id."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.elements, self.scripts, self.attributes = [], {}, []
        self.inside = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs
        if tag in ("script", "style"):
            self.inside = dict(attrs).get("id", tag)
            self.scripts[self.inside] = ""

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.scripts[self.inside] += data


class Reader:
    """The columns, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def column(self):
        size, = struct.unpack_from("<I", self.data, self.at)
        self.at += 4 + size
        return self.data[self.at - size:self.at]

    def varints(self):
        values, value, shift = [], 0, 0
        for byte in self.column():
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                values.append(value)
                value, shift = 0, 0
        assert shift == 0, "a column ends inside a number"
        return values

    def values(self, how):
        if "#" in how:
            column = self.column()
            return list(struct.unpack(f"<{len(column) // 8}d", column))
        values = self.varints()
        if "~" in how:
            values = [value >> 1 if value % 2 == 0 else -(value + 1) // 2 for value in values]
        if "+" in how:
            for i in range(1, len(values)):
                values[i] += values[i - 1]
        return values

    def rows(self, kind, count):
        names = [name.rstrip("+~#>") for name in COLUMNS[kind]]
        columns = [self.values(how) for how in COLUMNS[kind]]
        if ">" in COLUMNS[kind][0]:
            begin, duration = columns[:2]
            for i in range(1, count):
                begin[i] += begin[i - 1] + duration[i - 1]
        for name, column in zip(names, columns):
            assert len(column) == count, f"{kind}: {name} has {len(column)} values, not {count}"
        return [dict(zip(names, row)) for row in zip(*columns)]


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            self.text = file.read()
        self.blocks = Blocks(self.text)
        self.facts = json.loads(self.blocks.scripts["facts"])
        assert self.facts["format"] == 2
        self.origin = int(self.facts["origin_ns"])
        self.lists = json.loads(self.unpacked("lists"))
        reader = Reader(self.columns(""))
        self.tracks = [reader.rows(track["kind"], track["count"])
                       for track in self.facts["tracks"]]
        self.counters = [reader.rows("counter", one["count"]) for one in self.facts["counters"]]
        self.memory = [reader.rows("memory", one["count"]) for one in self.facts["memory"]]
        self.marks, self.waits, self.steps, self.run = (
            reader.rows(kind, self.facts[kind]["count"])
            for kind in ("marks", "waits", "steps", "run"))
        assert reader.at == len(reader.data), "there are bytes behind the last column"

    def columns(self, suffix):
        """Those of all blocks of a run, one after the other."""
        count = sum(re.fullmatch(f"data{suffix}(-[0-9]+)?", name) is not None
                    for name in self.blocks.scripts)
        return b"".join(self.unpacked(f"data{suffix}" + (f"-{i}" if i > 1 else ""))
                        for i in range(1, count + 1))

    def unpacked(self, block):
        return gzip.decompress(base64.b64decode(self.blocks.scripts[block], validate=True))

    def string(self, index):
        return self.lists["strings"][index]

    def site(self, span):
        name, category, file, line, _ = self.lists["sites"][span["site"]]
        return self.string(name), self.string(category), self.string(file), line

    def shape(self, activity):
        return self.lists["shapes"][activity["shape"]]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    page = Page(sys.argv[1])
    for track, rows in zip(page.facts["tracks"], page.tracks):
        print(track["kind"], track["group"], json.dumps(track["name"]), len(rows))
        for row in rows:
            name = page.shape(row)["name"] if track["kind"] == "stream" else page.site(row)[0]
            print(" ", row["begin"], row["duration"], row["depth"], json.dumps(name))


if __name__ == "__main__":
    main()
