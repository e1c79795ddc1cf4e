#!/usr/bin/env python3
"""Writes Takt as five files that a program can add to its own: takt.c, takt.h, takt.hpp, device.cuh,
CMakeLists.txt.

    amalgamate.py FOLDER VERSION FILE.c...

takt.c contains the sources in the given order. Each header stands where it is first included. If two
files use the same name for something of their own, such as a static function or a type, the name gets
its file's name as a prefix: `report_json_put_row`. A file's macros are undefined at its end."""

import collections
import os
import re
import sys

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      |(?P<name>[A-Za-z_]\w*)
      |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
      |(?P<space>\s+)
      |(?P<other>->|.)""", re.VERBOSE | re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"].*\n', re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
KEYWORDS = {"_Atomic", "int", "const", "bool", "void", "char", "struct", "enum", "union", "unsigned"}
TYPES = {"struct", "union", "enum"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tokens(text):
    return [(found.lastgroup, found.group()) for found in TOKEN.finditer(text)]


def plain(text):
    """Returns the text without comments and strings, whose words are not names."""
    return "".join(word if kind not in ("comment", "text") else " " for kind, word in tokens(text))


def names_of(text):
    """Returns the names that a source defines for itself: types, constants, static functions and variables."""
    code = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|_Atomic\s*(?:\([\w ]+\))?|\bTKT_ARRAY_OF\([^)]*\)|"
                  r"\bTKT_MAP_OF\([^)]*\)", " int ", plain(text))
    names = set()
    names.update(re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", code))
    names.update(re.findall(r"^\}\s*(?:__attribute__\S*\s*)?(\w+);", code, re.MULTILINE))
    names.update(re.findall(r"^typedef\b[^;{]*?(\w+)\s*(?:\([^;]*)?;", code, re.MULTILINE))
    names.update(re.findall(r"^typedef\b[^;{]*\(\*(\w+)\)", code, re.MULTILINE))
    for found in re.finditer(r"^[ \t]*(?:int[ \t]+)?static\b[^;{=]*?(\w+)\s*(?:\[[^\]]*\]\s*)*[(=;]", code,
                             re.MULTILINE):
        names.add(found[1])
    for body in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", code):
        names.update(re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", body))
    return names - KEYWORDS


def macros_of(text):
    return set(MACRO.findall(plain(text)))


def is_member(before, after, depth):
    """True if a name between these two words is a struct's member: it follows a dot or an arrow, or a
    struct's body declares it."""
    if before in (".", "->"):
        return True
    if after == ")":
        return depth > 0 and before == "*"
    return depth > 0 and after in (";", ",", "[", ":") and before not in TYPES


def rename(text, names, prefix):
    """Returns the text with the prefix added to each of these names."""
    words = tokens(text)
    code_words = [word for kind, word in words if kind not in ("space", "comment")] + [""]
    out, depth, opened, is_type, at = [], 0, [], False, -1
    for kind, word in words:
        at += kind not in ("space", "comment")
        if word in ("struct", "union"):
            is_type = True
        elif word == "{":
            opened.append(is_type)
            depth += is_type
            is_type = False
        elif word == "}" and opened:
            depth -= opened.pop()
        elif word in (";", ")", "=", ",", "("):
            is_type = False
        if kind == "name" and word in names and not is_member(code_words[at - 1], code_words[at + 1], depth):
            word = prefix + word
        out.append(word)
    return "".join(out)


class Source:
    """Expands files one after another, and includes each header once."""

    def __init__(self, folder, skipped=()):
        self.folder, self.skipped, self.seen = folder, skipped, set()

    def expand(self, text):
        """Replaces each #include of a header in the folder by the header's text. A header under a
        condition other than the includer's guard is included again later; its own guard permits that."""
        def replace(found):
            name = found[2]
            if name.startswith(self.skipped):
                return ""
            path = os.path.join(self.folder, name)
            if not os.path.exists(path):
                return found[0]
            if path in self.seen:
                return ""
            seen = set(self.seen)
            self.seen.add(path)
            inside = self.expand(read(path)) + "\n"
            if is_conditional(text[:found.start()]):
                self.seen = seen
            return inside
        return INCLUDE.sub(replace, text)


def is_conditional(text):
    """True if this text ends under an #if other than the header's guard."""
    depth = 0
    for word in re.findall(r"^[ \t]*#[ \t]*(if|endif)", text, re.MULTILINE):
        depth += 1 if word == "if" else -1
    return depth > (re.search(r"^#define \w+_H(PP)?$", text, re.MULTILINE) is not None)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def make_header(folder, name):
    """Writes takt.h with all headers in it, or another header, which includes takt.h."""
    path = os.path.join("include", "takt", name)
    source = Source("include")
    source.seen.add(path)
    text = read(path)
    if name != "takt.h":
        text = text.replace("#include <takt/takt.h>", '#include "takt.h"')
    write(folder, name, source.expand(text))


def make_source(folder, version, files):
    owners = collections.Counter()
    own = {}
    for path in files:
        own[path] = names_of(read(path))
        owners.update(own[path])
    shared = {name for name, count in owners.items() if count > 1}
    source = Source("src", ("takt/",))
    parts = [f'/* Takt {version} in one file: compile it with your program, and include takt.h.\n'
             ' *\n'
             ' *     cc -c takt.c                         needs libyaml and zlib\n'
             ' *     cc -c -DTAKT_NO_YAML -DTAKT_NO_ZLIB takt.c   needs only the C library\n'
             ' *\n'
             ' * Made from the sources of Takt by `make amalgamation`; change those.\n'
             ' *\n'
             ' * SPDX-License-Identifier: Apache-2.0 */\n'
             + read("src/packaging/flags.h") +
             '#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#define TAKT_COLD\n\n#include "takt.h"\n']
    for path in files:
        prefix = "_".join(path[:-len(".c")].split("/")[1:]) + "_"
        text = read(path)
        begin = max((found.end() for found in INCLUDE.finditer(text)), default=0)
        rest = rename(text[begin:], own[path] & shared, prefix)
        parts.append(f"\n/* ==== {path} ==== */\n\n{source.expand(text[:begin])}{rest}")
        parts.extend(f"#undef {name}\n" for name in sorted(macros_of(text)))
    write(folder, "takt.c", "".join(parts))


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    folder, version, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    make_header(folder, "takt.h")
    make_header(folder, "takt.hpp")
    make_header(folder, "device.cuh")
    make_source(folder, version, files)
    write(folder, "CMakeLists.txt", read("src/packaging/CMakeLists.txt.in").replace("@VERSION@", version))


main()
