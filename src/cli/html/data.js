/* Reads the trace from the page's inert blocks, which FORMAT.md describes. Columns become typed
 * arrays, with one object per track and none per event. */
'use strict';

/* Reads the values of one column, which must use up all of its bytes. */
class Column {
    constructor(bytes, count) {
        this.bytes = bytes;
        this.count = count;
    }

    /* Reads varints into an array of the given type. Bit operations would cut numbers to 32 bits,
     * so they serve for the first four bytes; the other arithmetic is exact up to 2^53. */
    varints(Type = Int32Array) {
        const {bytes, count} = this;
        const values = new Type(count);
        let at = 0;
        for (let i = 0; i < count; i++) {
            let byte = bytes[at++];
            let value = byte & 127;
            for (let shift = 7; byte > 127; shift += 7) {
                byte = bytes[at++];
                if (shift < 28)
                    value |= (byte & 127) << shift;
                else
                    value += (byte & 127) * 2 ** shift;
            }
            values[i] = value;
        }
        return this.complete(at, values);
    }

    /* Reads deltas and returns their running sums, such as begin times. */
    sums() {
        return addUp(this.varints(Float64Array));
    }

    /* Reads varints that may be negative. */
    zigzags() {
        const values = this.varints(Float64Array);
        for (let i = 0; i < values.length; i++) {
            const half = Math.floor(values[i] / 2);
            values[i] = values[i] === 2 * half ? half : -half - 1;
        }
        return values;
    }

    doubles() {
        const {buffer, byteOffset, byteLength} = this.bytes;
        const view = new DataView(buffer, byteOffset, byteLength);
        const values = new Float64Array(Math.min(this.count, byteLength >> 3));
        for (let i = 0; i < values.length; i++)
            values[i] = view.getFloat64(8 * i, true);
        return this.complete(8 * values.length, values);
    }

    complete(size, values) {
        if (size !== this.bytes.length || values.length !== this.count)
            throw new Error('a column has not the size that it should have');
        return values;
    }
}

/* Converts times since the end of the event before to begin times. */
function addGaps(values, duration) {
    for (let i = 1; i < values.length; i++)
        values[i] += values[i - 1] + duration[i - 1];
    return values;
}

/* Replaces each value by the sum of all up to it. */
function addUp(values) {
    for (let i = 1; i < values.length; i++)
        values[i] += values[i - 1];
    return values;
}

/* Cuts blocks into columns. Each begins with its size, and none is in two blocks. */
class Columns {
    constructor(blocks) {
        this.blocks = blocks; /* those after the current one */
        this.take();
    }

    take() {
        this.bytes = this.blocks.shift() ?? new Uint8Array();
        this.view = new DataView(this.bytes.buffer);
        this.position = 0;
    }

    next(count) {
        if (this.position === this.bytes.length)
            this.take();
        const begin = this.position + 4;
        const end = begin <= this.bytes.length ?
            begin + this.view.getUint32(this.position, true) : Infinity;
        if (end > this.bytes.length)
            throw new Error('the data end too early');
        this.position = end;
        return new Column(this.bytes.subarray(begin, end), count);
    }
}

/* Reads the columns of a track: {name: how to read it, perhaps with other columns of the track}. Each
 * is decoded when it is first used, so the page need not wait for those that it does not show. */
function readLater(columns, count, readers) {
    const events = {};
    for (const [name, read] of Object.entries(readers)) {
        const column = columns.next(count);
        Object.defineProperty(events, name, {configurable: true, enumerable: true, get() {
            const values = read(column, events);
            Object.defineProperty(events, name, {value: values});
            return values;
        }});
    }
    return events;
}

const sums = (column) => column.sums();
const varints = (column) => column.varints();
const longs = (column) => column.varints(Float64Array);
const differences = (column) => addUp(column.zigzags());

const spanColumns = {
    begin: (column, {duration}) => addGaps(column.zigzags(), duration),
    duration: longs,
    what: varints, /* index into trace.sites */
    depth: varints,
    flags: (column) => column.varints(Uint8Array),
    args: varints,
    stack: varints,
};
const activityColumns = {
    begin: sums,
    duration: longs,
    what: varints, /* index into trace.shapes */
    depth: varints,
    track: varints,
    launch: differences,
    scope: differences,
    scopeName: varints,
    correlation: differences,
};

/* Converts changes of memory to the bytes allocated after each event. */
function readMemory(columns, info) {
    return {...info, time: columns.next(info.count).sums(),
        value: addUp(columns.next(info.count).zigzags())};
}

/* Returns the first free row for each wait, because waits may overlap. If more than 64 overlap,
 * which no screen could show, the rest share the last row. */
function firstFreeRows(begin, duration) {
    const ends = [];
    return Int32Array.from(begin, (time, i) => {
        let row = ends.findIndex((end) => end <= time);
        if (row < 0)
            row = Math.min(ends.length, 63);
        ends[row] = time + duration[i];
        return row;
    });
}

function readWaits(columns, count) {
    const events = {
        begin: columns.next(count).sums(),
        duration: longs(columns.next(count)),
        what: columns.next(count).varints(), /* takt_wait_kind */
        context: columns.next(count).varints(),
        stream: longs(columns.next(count)),
    };
    events.depth = firstFreeRows(events.begin, events.duration);
    const rows = events.depth.reduce((most, depth) => Math.max(most, depth + 1), 0);
    return {kind: 'wait', name: 'waits for devices', group: 'host', count, hidden: 0, rows, events};
}

/* Reads what is known of a run without its columns; the blocks of the second run have the suffix
 * "-b". */
async function readTrace(suffix) {
    const trace = JSON.parse(byId(`facts${suffix}`).textContent);
    if (trace.format !== 2)
        throw new Error(`the data are of format ${trace.format}, which this page does not know`);
    Object.assign(trace, await readJson(`lists${suffix}`));
    trace.tracks.forEach((track, i) => track.id = i);
    trace.waits.kind = 'wait';
    trace.begin = trace.facts.begin_ns;
    trace.end = Math.max(trace.facts.end_ns, trace.begin + 1);
    return trace;
}

/* Reads the columns of a run, which stand behind the script. */
async function readColumns(trace, suffix) {
    const columns = new Columns(await unpackBlocks(`data${suffix}`));
    for (const track of trace.tracks) {
        track.events = readLater(columns, track.count,
            track.kind === 'stream' ? activityColumns : spanColumns);
    }
    trace.counters = trace.counters.map((info) => ({...info,
        time: columns.next(info.count).sums(), value: columns.next(info.count).doubles()}));
    trace.memory = trace.memory.map((info) => readMemory(columns, info));
    const next = (object) => columns.next(object.count);
    const {marks, waits, steps} = trace;
    trace.marks = {count: marks.count, time: next(marks).sums(), name: next(marks).varints(),
        track: next(marks).varints()};
    trace.waits = {...readWaits(columns, waits.count), id: trace.tracks.length};
    trace.steps = {count: steps.count, begin: next(steps).sums(),
        duration: longs(next(steps)), number: next(steps).sums()};
    trace.run = {...trace.run, total: longs(next(trace.run)), min: longs(next(trace.run)),
        max: longs(next(trace.run))};
}
