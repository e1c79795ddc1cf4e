/* Reads the trace from the page's inert blocks, which FORMAT.md describes. Columns become typed
 * arrays, with one object per track and none per event. */
'use strict';

/* Feeds base64 to a stream, in pieces to keep the strings small. */
async function writePacked(packed, writer) {
    const piece = 1 << 20;
    for (let at = 0; at < packed.length; at += piece)
        await writer.write(
            Uint8Array.from(atob(packed.slice(at, at + piece)), (c) => c.charCodeAt(0)));
    await writer.close();
}

/* Decodes a block (base64 of gzip) to bytes, and removes the block from the page. */
async function inflate(id) {
    const block = byId(id);
    const stream = new DecompressionStream('gzip');
    const inflated = new Response(stream.readable).arrayBuffer();
    try {
        const [bytes] = await Promise.all([inflated,
            writePacked(block.textContent.trim(), stream.writable.getWriter())]);
        block.remove();
        return new Uint8Array(bytes);
    } catch (error) {
        throw new Error('they are damaged, or end too early', {cause: error});
    }
}

/* Reads columns. Each begins with its size. */
class Columns {
    constructor(bytes) {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        this.position = 0;
    }

    /* Returns the end of the next column, and moves to its first value. */
    open() {
        if (this.position + 4 > this.bytes.length)
            throw new Error('the data end too early');
        const end = this.position + 4 + this.view.getUint32(this.position, true);
        this.position += 4;
        return end;
    }

    close(end) {
        if (this.position !== end || end > this.bytes.length)
            throw new Error('a column has not the size that it should have');
    }

    /* Reads `count` varints into an array of the given type. Bit operations would cut numbers to 32
     * bits; this arithmetic is exact up to 2^53. */
    varints(count, Type = Int32Array) {
        const end = this.open();
        const values = new Type(count);
        const bytes = this.bytes;
        let at = this.position;
        for (let i = 0; i < count; i++) {
            let byte = bytes[at++];
            let value = byte & 127;
            for (let scale = 128; byte > 127; scale *= 128) {
                byte = bytes[at++];
                value += (byte & 127) * scale;
            }
            values[i] = value;
        }
        this.position = at;
        this.close(end);
        return values;
    }

    /* Reads deltas and returns their running sums, such as begin times. */
    sums(count) {
        const values = this.varints(count, Float64Array);
        for (let i = 1; i < count; i++)
            values[i] += values[i - 1];
        return values;
    }

    /* Reads varints that may be negative. */
    zigzags(count) {
        const values = this.varints(count, Float64Array);
        for (let i = 0; i < count; i++)
            values[i] = values[i] % 2 ? -(values[i] + 1) / 2 : values[i] / 2;
        return values;
    }

    doubles(count) {
        const end = this.open();
        const values = new Float64Array(count);
        for (let i = 0; i < count; i++, this.position += 8)
            values[i] = this.view.getFloat64(this.position, true);
        this.close(end);
        return values;
    }
}

function readSpans(columns, count) {
    return {
        begin: columns.sums(count),
        duration: columns.varints(count, Float64Array),
        what: columns.varints(count), /* index into trace.sites */
        depth: columns.varints(count),
        flags: columns.varints(count, Uint8Array),
        args: columns.varints(count),
        stack: columns.varints(count),
    };
}

function readActivities(columns, count) {
    const events = {
        begin: columns.sums(count),
        duration: columns.varints(count, Float64Array),
        what: columns.varints(count), /* index into trace.shapes */
        depth: columns.varints(count),
        track: columns.varints(count),
        launch: columns.varints(count),
        scope: columns.varints(count),
        scopeName: columns.varints(count),
        correlation: columns.zigzags(count),
    };
    for (let i = 1; i < count; i++)
        events.correlation[i] += events.correlation[i - 1];
    return events;
}

/* Converts changes of memory to the bytes allocated after each event. */
function readMemory(columns, info) {
    const time = columns.sums(info.count);
    const value = columns.zigzags(info.count);
    for (let i = 1; i < info.count; i++)
        value[i] += value[i - 1];
    return {...info, time, value};
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
        begin: columns.sums(count),
        duration: columns.varints(count, Float64Array),
        what: columns.varints(count), /* takt_wait_kind */
        context: columns.varints(count),
        stream: columns.varints(count, Float64Array),
    };
    events.depth = firstFreeRows(events.begin, events.duration);
    const rows = events.depth.reduce((most, depth) => Math.max(most, depth + 1), 0);
    return {kind: 'wait', name: 'waits for devices', group: 'host', count, hidden: 0, rows, events};
}

/* Shows progress and lets the browser paint. Limited to ten times a second, because each call costs
 * some milliseconds. */
let lastBreath = -Infinity;

async function breathe(progress, text) {
    if (performance.now() - lastBreath < 100)
        return;
    progress(text);
    await new Promise((resolve) => setTimeout(resolve));
    lastBreath = performance.now();
}

async function readTrace(progress) {
    const trace = JSON.parse(byId('facts').textContent);
    if (trace.format !== 1)
        throw new Error(`the data are of format ${trace.format}, which this page does not know`);
    await breathe(progress, 'Unpacking\u2026');
    Object.assign(trace, JSON.parse(new TextDecoder().decode(await inflate('lists'))));
    const columns = new Columns(await inflate('data'));

    for (const [i, track] of trace.tracks.entries()) {
        await breathe(progress, `Reading track ${i + 1} of ${trace.tracks.length}\u2026`);
        track.id = i;
        track.events = (track.kind === 'stream' ? readActivities : readSpans)(columns, track.count);
    }
    trace.counters = trace.counters.map((info) => (
        {...info, time: columns.sums(info.count), value: columns.doubles(info.count)}));
    trace.memory = trace.memory.map((info) => readMemory(columns, info));
    const {marks, waits, steps} = trace;
    trace.marks = {count: marks.count, time: columns.sums(marks.count),
        name: columns.varints(marks.count), track: columns.varints(marks.count)};
    trace.waits = {...readWaits(columns, waits.count), id: trace.tracks.length};
    trace.steps = {count: steps.count, begin: columns.sums(steps.count),
        duration: columns.varints(steps.count, Float64Array), number: columns.sums(steps.count)};
    trace.begin = trace.facts.begin_ns;
    trace.end = Math.max(trace.facts.end_ns, trace.begin + 1);
    return trace;
}
