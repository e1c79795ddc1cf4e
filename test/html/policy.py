#!/usr/bin/env python3
"""What a page of `takt report --html` or `takt diff --html` is made of.

    policy.py PAGE

Its policy allows exactly its own script and style sheet, by their hashes, which are computed anew
here; nothing in it names another file or place; and it is small.
"""
import base64
import hashlib
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import page_data  # noqa: E402

MOST_BYTES = 250 << 10  # beside the data
ONE_RUN = {"facts", "lists", "data"}
TWO_RUNS = ONE_RUN | {"facts-b", "lists-b", "data-b", "comparison"}
INERT = {"text/plain", "application/json"}
LOADING = {"src", "href", "srcset", "action", "formaction", "data", "poster", "background", "ping"}
failures = []


def check(is_right, text):
    if not is_right:
        failures.append(text)


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def directives(policy):
    return {words[0]: words[1:] for words in (part.split() for part in policy.split(";")) if words}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    page = page_data.Page(sys.argv[1])
    blocks = page.blocks
    scripts, styles = blocks.scripts["script"], blocks.scripts["style"]

    policy = directives(re.search(
        r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page.text)[1])
    check(policy == {"default-src": ["'none'"], "script-src": [hash_of(scripts)],
                     "style-src": [hash_of(styles)], "worker-src": ["blob:"],
                     "img-src": ["data:"],
                     "base-uri": ["'none'"], "form-action": ["'none'"]}, f"policy: {policy}")
    check(page.text.index("Content-Security-Policy") < page.text.index("<style"),
          "the policy comes after what it is for")

    inert = set(blocks.scripts) - {"script", "style"}
    kinds = {re.sub("^(data(-b)?)-[0-9]+$", r"\1", name) for name in inert}
    check(kinds in (ONE_RUN, TWO_RUNS), f"blocks: {inert}")
    count = {tag: blocks.elements.count(tag) for tag in ("script", "style")}
    check(count == {"script": len(inert) + 1, "style": 1}, f"elements: {count}")
    types = [value for name, value in blocks.attributes if name == "type" and "/" in value]
    check(len(types) == len(inert) and set(types) <= INERT, f"types of scripts: {types}")
    for name, value in blocks.attributes:
        check(name != "style" and not name.startswith("on"), f"attribute {name}={value}")
        check(name not in LOADING or value.startswith(("#", "data:")), f"loads {name}={value}")
    for name, text in (("script", scripts), ("style", styles)):
        check("@import" not in text and not re.search(r"url\(\s*['\"]?(?!data:|#)", text),
              f"the {name} names another file")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                 "new Function", "XMLHttpRequest", "WebSocket", "sendBeacon", "importScripts",
                 "localStorage", "sessionStorage", "document.cookie"):
        check(word not in scripts, f"the script has {word}")

    data = sum(len(blocks.scripts[name]) for name in inert)
    size = len(page.text.encode()) - data
    check(size <= MOST_BYTES, f"{size} bytes beside the data")

    print("\n".join(failures))
    print(f"{size} bytes beside {data} of data")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
