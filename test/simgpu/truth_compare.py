"""How what Takt says is compared with the truth.

A report's truth is a Report: what each cell, fact, note and figure of the last line is. A plain
value is meant exactly; doubles but for the last digits of another order of operations. What cannot
be known exactly is a Near, which names its reason in TOLERANCES."""
import collections

DOUBLE = 1e-12  # of the value

TOLERANCES = {
    "call clock": "when memory was allocated outside of the recording is in no file: within the "
                  "program's own readings of the clock around the call",
    "squares": "a deviation comes from a sum of squares in doubles, most of which may cancel out",
}


class Near:
    def __init__(self, value, slack, why):
        self.value, self.slack, self.why = value, slack, why
        assert why in TOLERANCES

    def __repr__(self):
        return f"{self.value} within {self.slack}"


class OneOf:
    """Any of several values that the definition allows."""

    def __init__(self, values):
        self.values = values

    def __repr__(self):
        return f"one of {self.values}"


class Table:
    """Rows by what identifies them. `order` gives of a true row what must not decrease from row to
    row; rows for which it is equal may stand either way."""

    def __init__(self, key, rows, order=None, is_tree=False):
        self.key = key if callable(key) else lambda rows: [tuple(row.get(name) for name in key)
                                                           for row in rows]
        self.rows = dict(zip(self.key(rows), rows))
        self.order = order
        self.is_tree = is_tree
        assert len(self.rows) == len(rows), "rows that nothing tells apart"


class Report:
    """`notes` are those that say something of the run; sentences before them that explain columns
    are held by golden files."""

    def __init__(self, table, tables=None, facts=None, notes=(), provenance=None, headline=None):
        self.tables = {"rows": table, **(tables or {})}
        self.facts, self.notes, self.provenance = facts or {}, list(notes), provenance
        self.headline = headline


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def holds(got, truth):
    if isinstance(truth, Near):
        return is_number(got) and abs(got - truth.value) <= truth.slack
    if isinstance(truth, OneOf):
        return got in truth.values
    if isinstance(truth, float):
        return is_number(got) and abs(got - truth) <= DOUBLE * abs(truth)
    return type(got) is type(truth) and got == truth


def mismatches(where, got, truth):
    """Of the values of two dictionaries."""
    if got.keys() != truth.keys():
        yield f"{where}: {sorted(got.keys() ^ truth.keys())} on one side alone"
    for name in truth.keys() & got.keys():
        if not holds(got[name], truth[name]):
            yield f"{where}: {name}: {got[name]!r}, and not {truth[name]!r}"


def table_objections(where, got, truth):
    rows, keys = got["rows"], truth.key(got["rows"])
    found, known = collections.Counter(keys), collections.Counter(truth.rows.keys())
    if found != known:
        yield f"{where}: rows: {dict(found - known)} too many, {dict(known - found)} missing"
    if got["row_count"] != len(truth.rows):
        yield f"{where}: row_count: {got['row_count']}, and not {len(truth.rows)}"
    begins = {}
    for number, key in enumerate(keys if truth.is_tree else []):
        for i in range(1, len(key) + 1):
            begins.setdefault(key[:i], number)
    last = None
    for row, key in zip(rows, keys):
        if list(row) != got["columns"]:
            yield f"{where}: columns: {got['columns']}, and a row has {list(row)}"
        if key not in truth.rows:
            continue
        yield from mismatches(f"{where}: {key}", row, truth.rows[key])
        place = truth.order and truth.order(truth.rows[key])
        if truth.is_tree:  # equal siblings may stand in any order, each with what is below it
            place = tuple(zip(place, (begins[key[:i]] for i in range(1, len(key) + 1))))
        if last is not None and place < last:
            yield f"{where}: {key}, {place}, stands behind {last}"
        last = place


def objections(name, report, truth):
    """Everything in which a report is not what it should be."""
    tables = {"rows": report, **report.get("tables", {})}
    if report["report"] != name or tables.keys() != truth.tables.keys():
        yield f"{name}: {report['report']} with {sorted(tables)}, and not {sorted(truth.tables)}"
    for key in tables.keys() & truth.tables.keys():
        yield from table_objections(f"{name}, {key}", tables[key], truth.tables[key])
    if report.get("headline") != truth.headline:
        yield f"{name}: headline: {report.get('headline')}, and not {truth.headline}"
    yield from mismatches(f"{name}, facts", report["facts"], truth.facts)
    explaining = max(0, len(report["notes"]) - len(truth.notes))
    if report["notes"][explaining:] != truth.notes or \
            set(report["notes"][:explaining]) & set(truth.notes) or \
            (name == "summary" and explaining):
        yield f"{name}, notes: {report['notes']}, and not {truth.notes}"
    last, known = report["provenance"], truth.provenance
    yield from mismatches(f"{name}, losses", last["losses"], known["losses"])
    yield from mismatches(f"{name}, last line", {**last, "losses": None}, {**known, "losses": None})


class Comparisons:
    """Of single values, for what is no report."""

    def __init__(self):
        self.failures, self.count = [], 0

    def equal(self, where, what, got, truth):
        self.count += 1
        if got != truth:
            self.failures.append(f"{where}: {what}: {got}, and not {truth}")

    def near(self, where, what, got, truth, slack):
        self.count += 1
        if got is None or abs(got - truth) > slack:
            self.failures.append(f"{where}: {what}: {got}, in truth {truth} within {slack}")
