"""Whether a comparison is strict: each column and fact of a report is made a little wrong, one at a
time, and the comparison has to object. A number is off by the least that its unit shows, or by just
more than what the truth allows; a text by a character; a row is missing, twice, out of order."""
from truth_compare import DOUBLE, Near, is_number, objections

ROWS = 3  # of a table, spread over it


def wrong_values(value, truth):
    if isinstance(truth, Near):
        beyond = truth.slack + 1
        return truth.value - beyond, truth.value + beyond, None
    if isinstance(value, bool):
        return (not value,)
    if value is None:
        return 0, ""
    if isinstance(truth, float):
        step = 10 * DOUBLE * abs(truth) or 1e-9
        return truth - step, truth + step, None
    if is_number(value):
        return value - 1, value + 1, None
    return value + "x", value[:-1] + "?", None


def changed(where, values, truth):
    """Leaves each value of a dictionary wrong while it yields."""
    for name in list(values):
        right = values[name]
        for wrong in wrong_values(right, truth.get(name)):
            values[name] = wrong
            yield f"{where}: {name}: {wrong!r} for {right!r}"
        values[name] = right


def relisted(where, items):
    """A list without an item, with one twice, with two that should not be that way around."""
    right = list(items)
    for i in range(0, len(right), max(1, len(right) // ROWS)):
        for what, wrong in (("missing", right[:i] + right[i + 1:]),
                            ("twice", right[:i + 1] + right[i:])):
            items[:] = wrong
            yield f"{where}: {i} {what}"
    items[:] = right


def swapped(where, items, order):
    right = list(items)
    for i in range(0, len(right) - 1, max(1, len(right) // (2 * ROWS))):
        if order(right[i]) != order(right[i + 1]):
            items[i:i + 2] = reversed(right[i:i + 2])
            yield f"{where}: {i} and {i + 1} swapped"
            items[i:i + 2] = right[i:i + 2]


def changed_table(where, table, truth):
    rows, keys = table["rows"], truth.key(table["rows"])
    for i in range(0, len(rows), max(1, len(rows) // ROWS)):
        yield from changed(f"{where}, row {i}", rows[i], truth.rows[keys[i]])
    count = table["row_count"]
    table["row_count"] = count + 1
    yield f"{where}: row_count: {count + 1} for {count}"
    table["row_count"] = count
    yield from relisted(where, rows)
    if truth.order:
        by_row = {id(row): truth.order(truth.rows[key]) for row, key in zip(rows, keys)}
        yield from swapped(where, rows, lambda row: by_row[id(row)])


def changes(name, report, truth):
    for key, table in (("rows", report), *report.get("tables", {}).items()):
        yield from changed_table(f"{name}, {key}", table, truth.tables[key])
    yield from changed(f"{name}, facts", report["facts"], truth.facts)
    if truth.headline:
        yield from changed_headline(name, report)
    last, losses = report["provenance"], report["provenance"]["losses"]
    known = {key: value for key, value in truth.provenance.items() if key != "losses"}
    yield from changed(f"{name}, losses", losses, truth.provenance["losses"])
    line = {key: value for key, value in last.items() if key != "losses"}
    for what in changed(f"{name}, last line", line, known):
        last.update(line)
        yield what
    last.update(line)
    yield from changed_notes(f"{name}, notes", report, len(truth.notes))


def changed_headline(name, report):
    right = report["headline"]
    for wrong in wrong_values(right, right):
        report["headline"] = wrong
        yield f"{name}: headline: {wrong!r} for {right!r}"
    report["headline"] = right


def changed_notes(where, report, count):
    """Of those at the end that say something of the run."""
    if not count:
        return
    explaining, notes = report["notes"][:-count], report["notes"][-count:]
    texts = dict(enumerate(notes))
    for what in changed(where, texts, texts):
        report["notes"] = explaining + list(texts.values())
        yield what
    for change in relisted(where, notes), swapped(where, notes, lambda note: note):
        for what in change:
            report["notes"] = explaining + notes
            yield what
    report["notes"] = explaining + notes


def unnoticed(name, report, truth):
    """(how many changes, those to which nothing objects)"""
    count, survivors = 0, []
    for what in changes(name, report, truth):
        count += 1
        if next(objections(name, report, truth), None) is None:
            survivors.append(what)
    return count, survivors


def columns_of(truth):
    """(table or facts, column): why it is not known exactly, or None."""
    columns = {}
    for key, table in truth.tables.items():
        for row in table.rows.values():
            for name, value in row.items():
                why = value.why if isinstance(value, Near) else None
                columns[key, name] = columns.get((key, name)) or why
    for name, value in truth.facts.items():
        columns["facts", name] = value.why if isinstance(value, Near) else None
    return columns
