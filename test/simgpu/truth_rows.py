"""Activities of a run of prog_truth one by one, as each of Takt's files has them, and what else it
prints: lists of timers, and reports as text and CSV."""
import collections
import csv
import glob
import re


def check_begins(near, where, cycle, works):
    """Everything behind a gate begins when the script says, counted from the gate's end."""
    uncertainty = 1 + 4 * min(cycle.uncertainty_ns, 500) if any(cycle.books.drift) else 0
    gates = {(work.thread, work.step): work.at + work.took for work in cycle.works
             if work.name == "kernel gate"}
    for work in works:
        if work.begin is not None and work.name != "kernel gate":
            near(where, f"begin of {work.name} of {work.path} in step {work.step}",
                 work.at - gates[work.thread, work.step], cycle.books.ns(work.device, work.begin),
                 uncertainty)
    for before, work in zip(works, works[1:]):
        if (before.stream, before.device, before.step) == (work.stream, work.device, work.step) \
                and None not in (before.begin, work.begin):
            near(where, f"gap before {work.name} of {work.path}",
                 work.at - before.at - before.took, work.begin - before.end(), uncertainty)


def check_row(checks, where, cycle, row, work):
    work.at, work.took, work.event = row.begin, row.ns, row.event
    here = f"{where}: {work.name} of step {work.step}"
    checks.near(here, "duration", row.ns, cycle.books.ns(work.device, work.ns), cycle.books.slack())
    checks.equal(here, "name", row.name, work.name)
    checks.equal(here, "path", row.path, work.path)
    checks.equal(here, "thread", cycle.books.tids.get(row.thread), work.thread)
    checks.equal(here, "call", row.launch[1], work.call)
    checks.equal(here, "bytes", row.bytes or 0, work.bytes)


def check_rows(checks, where, cycle, rows):
    """Rows in the order of each stream against the books of the one thread that fills it. From here
    on works know when the file says that they were."""
    streams = collections.defaultdict(list)
    groups = cycle.by(lambda work: (work.device, work.stream))
    for row in sorted(rows, key=lambda row: row.begin):
        streams[row.device, row.stream].append(row)
    checks.equal(where, "streams", sorted(streams), sorted(groups))
    launches = collections.defaultdict(set)
    for key, works in groups.items():
        checks.equal(where, f"activities of {key}", len(streams[key]), len(works))
        for row, work in zip(streams[key], works):
            check_row(checks, f"{where}: {key}", cycle, row, work)
            launches[row.launch].add(work.launch)
    if all(len(streams[key]) == len(works) for key, works in groups.items()):
        for works in groups.values():
            check_begins(checks.near, where, cycle, works)
    checks.equal(where, "activities whose launch is that of others",
                 sum(len(found) != 1 for found in launches.values()), 0)
    checks.equal(where, "launches", len(launches), len({work.launch for work in cycle.works}))


def check_timers(checks, folder, books):
    """Lists of timers: what each thread's timer was to see, of all threads."""
    lists = collections.defaultdict(list), collections.defaultdict(list)
    with open(folder + "/timers") as file:
        for line in file:
            _, step, timer, device, name, ns = line.rstrip("\n").split("\t")
            lists[0][timer, step].append((device, name, int(ns)))
    for step, timer, device, name, ns in books.listed:
        lists[1][timer, str(step)].append((device, name, ns))
    checks.equal("timers", "names", sorted(lists[0]), sorted(lists[1]))
    for key, truth in lists[1].items():
        got = sorted(lists[0][key])
        checks.equal(f"timer {key}", "activities", [row[:2] for row in got],
                     [row[:2] for row in sorted(truth)])
        for row, known in zip(got, sorted(truth)):
            checks.near(f"timer {key}", row[1], row[2], books.ns(known[0], known[2]),
                        books.slack())


PROVENANCE = {
    "backend": r"backend CUPTI 1[23]\.\d \(\d+\)",
    "resolution": r"device times: resolution ([\d.]+ ns|unknown)",
    "uncertainty": r"device times: resolution ([\d.]+ ns|unknown), uncertainty (at least )?[\d.]+ [num]?s",
    "losses": r"^(?!.*(dropped|incomplete|unattributed)).*; Takt's cost ",  # there are none
    "cost": r"Takt's cost up to [\d.]+(us|ms|s) \([\d.]+% of wall time\)",
}


def check_texts(equal, folder):
    for path in glob.glob(folder + "/[01].*"):
        with open(path, newline="") as file:
            text = file.read()
        if path.endswith((".txt", ".md")):
            last = re.sub(r"\s+", " ", text[text.rindex("backend "):])
            for name, pattern in PROVENANCE.items():
                equal(path, f"{name} in '{last}'", bool(re.search(pattern, last)), True)
        elif path.endswith(".csv"):
            widths = {len(row) for table in text.split("\r\n\r\n" if "\r" in text else "\n\n")
                      for row in list(csv.reader(table.splitlines()))[:1]}
            equal(path, "has columns", 0 not in widths, True)


def check_csv(equal, folder, number, reports):
    """The first table's numbers are those of JSON."""
    for name in "scopes", "tree", "kernels", "activities", "devices", "api":
        with open(f"{folder}/{number}.{name}.csv", newline="") as file:
            rows = list(csv.DictReader(file))[:len(reports[name]["rows"])]
        same = [{key: "" if value is None else str(value) for key, value in row.items()}
                for row in reports[name]["rows"]]
        floats = {key for row in reports[name]["rows"] for key, value in row.items()
                  if isinstance(value, float)}
        for got, truth in zip(rows, same):
            equal(f"{name}.csv", "row", {key: got.get(key) for key in truth if key not in floats},
                  {key: value for key, value in truth.items() if key not in floats})
        equal(f"{name}.csv", "rows", len(rows), len(same))
