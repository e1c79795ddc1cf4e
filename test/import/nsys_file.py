"""Writes the run of run_model.py as `nsys export --type sqlite` does. "old" leaves out the columns
and tables that only newer releases have."""
import os
import sqlite3


def global_id(process, thread=0, machine=0):
    return machine << 48 | process << 24 | thread


class Strings:
    def __init__(self):
        self.ids = {}

    def get(self, text):
        return self.ids.setdefault(text, len(self.ids) + 1)


def nvtx_name(span, number, run):
    """As torch's emit_nvtx() has it: each call has a name of its own."""
    if span.name == "ProfilerStep":
        return f"ProfilerStep#{next(n for n, begin, _ in run.steps if begin == span.begin)}"
    if not span.args:
        return span.name
    shapes = span.args["Input Dims"]
    return f"{span.name}, seq = {number}, op_id = {number + 3}, sizes = {shapes}"


def write(run, path, old=False, machines=False):
    """`machines`: each process is one of another machine, and all have the same number."""
    ids = global_id
    if machines:
        def ids(process, thread=0):
            return global_id(4000, thread, process)
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    strings = Strings()
    calls, ranges = [], []
    for thread in run.threads:
        who = ids(thread.process, thread.number)
        for number, span in enumerate(thread.spans()):
            if span.kind == "call":
                calls.append((span.begin, span.end, who, span.correlation,
                              strings.get(span.name + "_v7000"), 0))
            else:
                ranges.append((span.begin, span.written_end, 59, who,
                               None if number % 2 else nvtx_name(span, number, run),
                               strings.get(nvtx_name(span, number, run)) if number % 2 else None,
                               3 if span.name == "optimizer" else 0))
    for process in {thread.process for thread in run.threads}:  # each numbers its own domains
        ranges.append((run.begin, None, 75, ids(process), f"lib {process}", None, 3))
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, "
               "correlationId INT, nameId INT, returnValue INT)")
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?,?)", calls)
    db.execute("CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, globalTid INT, "
               "text TEXT, textId INT, domainId INT)")
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,?,?,?)", ranges)
    write_works(db, run, strings, old, ids)
    if not old:
        db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, "
                   "deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, "
                   "syncType INT, eventId INT)")
        process = {id(span): thread.process for thread in run.threads for span in thread.spans()}
        db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?,?,?,?,?,?,?,?,?)",
                       [(begin, end, 0, 1, 2**32 - 1, correlation, ids(process[id(scope)]),
                         1, 0) for begin, end, correlation, scope, _ in run.waits])
        db.execute("CREATE TABLE ThreadNames (nameId INT, priority INT, globalTid INT)")
        db.executemany("INSERT INTO ThreadNames VALUES (?,0,?)",
                       [(strings.get(thread.name), ids(thread.process, thread.number))
                        for thread in run.threads])
    db.execute("CREATE TABLE StringIds (id INT, value TEXT)")
    db.executemany("INSERT INTO StringIds VALUES (?,?)",
                   [(number, text) for text, number in strings.ids.items()])
    db.commit()
    db.close()


def write_works(db, run, strings, old, ids):
    own = {"kernel": ("KERNEL", "demangledName INT, gridX INT, gridY INT, gridZ INT, blockX INT, "
                      "blockY INT, blockZ INT"),
           "memcpy": ("MEMCPY", "bytes INT, copyKind INT, srcKind INT, dstKind INT"),
           "memset": ("MEMSET", "bytes INT, memKind INT")}
    for kind, (table, columns) in own.items():
        name = "CUPTI_ACTIVITY_KIND_" + table
        rows = [work for work in run.works if work.kind == kind]
        if not rows:
            continue
        pid = "" if old else "globalPid INT, "
        db.execute(f"CREATE TABLE {name} (start INT, end INT, deviceId INT, contextId INT, "
                   f"streamId INT, correlationId INT, {pid}{columns})")
        for work in rows:
            values = [work.begin, work.end, work.device, 1, work.stream, work.correlation]
            values += [] if old else [ids(work.process)]
            values += {"kernel": lambda: [strings.get(work.name), *work.grid, *work.block],
                       "memcpy": lambda: [work.bytes, 1, 0, 2],
                       "memset": lambda: [work.bytes, 2]}[kind]()
            db.execute(f"INSERT INTO {name} VALUES ({','.join('?' * len(values))})", values)
