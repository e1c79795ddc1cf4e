"""Which columns and facts of the reports nobody has compared with anything: rows note what is read
of them by name, as compare_truth.py and its parts do to compare. New columns fail until then."""


class Row(dict):
    def __init__(self, values, where, used):
        super().__init__(values)
        self.where, self.used = where, used

    def __getitem__(self, name):
        self.used.add((*self.where, name))
        return super().__getitem__(name)

    def get(self, name, default=None):
        return self[name] if name in self else default


class Columns:
    def __init__(self):
        self.there, self.used = set(), set()

    def watch(self, name, report):
        """The report with rows and facts that note what is read."""
        for key, table in (("rows", report), *report.get("tables", {}).items()):
            self.there.update((name, key, column) for column in table["columns"])
            table["rows"] = [Row(row, (name, key), self.used) for row in table["rows"]]
        self.there.update((name, "facts", key) for key in report["facts"])
        report["facts"] = Row(report["facts"], (name, "facts"), self.used)
        return report

    def unused(self):
        return sorted(self.there - self.used)
