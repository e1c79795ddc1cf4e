// What a viewer of timelines is to show of a trace, from its tables: rows, and the slices on them.
'use strict';
const {readTable, byKey} = require('./tables.js');

const compareSlices = (a, b) => a[0] - b[0] || b[1] - a[1] || (a[2] < b[2] ? -1 : a[2] > b[2] ? 1 : 0);

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Kernels by their whole names, copies and sets as torch's profiler calls them.
function titleOf(activity) {
    const {kind, copy_kind: copy, source_memory: source, target_memory: target} = activity;
    if (kind === 'memcpy')
        return `Memcpy ${copy} (${capital(source)} -> ${capital(target)})`;
    return kind === 'memset' ? `Memset (${capital(target)})` : activity.full_name || activity.name;
}

// The tables in a folder; times count from the first step. `respell` is applied to all texts.
function readTrace(folder, respell = (text) => text) {
    const read = (table) => readTable(folder, table).map((row) =>
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, respell(value)])));
    const steps = read('steps');
    const zero = BigInt(steps[0].begin_ns);
    const since = (time) => Number(BigInt(time) - zero);
    const slice = (row, title, parent) =>
        [since(row.begin_ns), Number(row.duration_ns), title, parent];
    return {
        facts: Object.fromEntries(read('facts').map(({key, value}) => [key, value])),
        tracks: new Map(read('tracks').map((track) => [track.id, track])),
        spans: new Map(read('spans').map((span) => [span.id, span])),
        onDevices: read('activities').filter((activity) => activity.stream !== ''),
        waits: read('waits'), counters: read('counters'), memory: read('memory'),
        marks: read('marks'), steps, since, slice,
    };
}

const rowOfTrack = ({kind, thread, name}) =>
    kind === 'async' ? name : `thread ${thread}${name && ` (${name})`}`;

// "CPU/thread 12 (main)" or "GPU 0/stream 7" -> slices [begin, duration, title, title around it].
function rowsOfTables(trace) {
    const {slice} = trace;
    const slices = [
        ...trace.steps.map((step) => ['CPU/steps', slice(step, `ProfilerStep#${step.number}`)]),
        ...[...trace.spans.values()].map((span) => [
            `CPU/${rowOfTrack(trace.tracks.get(span.track))}`,
            slice(span, span.name, trace.spans.get(span.parent)?.name)]),
        ...trace.onDevices.map((activity) => [
            `GPU ${activity.device.replace('cuda:', '')}/stream ${activity.stream}`,
            slice(activity, titleOf(activity))])];
    return new Map([...byKey(slices, ([row]) => row)].map(
        ([row, pairs]) => [row, pairs.map(([, slice]) => slice).sort(compareSlices)]));
}

module.exports = {capital, compareSlices, readTrace, rowsOfTables, titleOf};
