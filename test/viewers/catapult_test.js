// Catapult's trace viewer reads Takt's Chrome JSON without a warning, and as Takt's tables have it.
//
//     node catapult_test.js PACKAGE FOLDER NAME...
//
// PACKAGE is the folder of npm's "traceviewer". FOLDER has NAME.json and NAME/, its tables.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {loadCatapult, importTrace} = require('./catapult.js');
const {byKey} = require('./tables.js');
const {capital, compareSlices, readTrace, rowsOfTables, titleOf} = require('./timeline.js');

const [root, folder, ...names] = process.argv.slice(2);
const tr = loadCatapult(root);

// A name that every object of JavaScript has ends the import: Android's auditor looks it up.
const withoutPrototype = (text) => text.replaceAll('__proto__', 'proto');

// ---- What the tables say ----------------------------------------------------------------------

// Name of a counter -> [time, value]. Memory is a counter of what is held.
function countersOfTables(trace) {
    const held = new Map();
    const ofMemory = trace.memory.filter(({device}) => device !== '').map((event) => {
        const name = `${event.device} ${capital(event.kind)} memory`;
        held.set(name, (held.get(name) ?? 0) + Number(event.bytes));
        return {name, time_ns: event.time_ns, value: held.get(name)};
    });
    const sample = ({time_ns: time, value}) => [trace.since(time), Number(value)];
    return new Map([...byKey([...trace.counters, ...ofMemory], ({name}) => name)].map(
        ([name, rows]) => [name, rows.map(sample)]));
}

// ---- What the viewer says ---------------------------------------------------------------------

const stepsOf = (threads) => threads.find((thread) => thread.name === 'steps').sliceGroup.slices;

// The viewer has milliseconds.
const nanoseconds = (ms) => Math.round(ms * 1e6);

function modelOf(model, trace) {
    const threads = model.getAllThreads();
    const zero = Math.min(...stepsOf(threads).map((slice) => slice.start));
    return {model, threads, since: (ms) => nanoseconds(ms - zero)};
}

// Marks and allocations; the viewer has them among the slices of their thread.
const isInstant = (slice) => slice.category === 'cpu_instant_event';

// The viewer nests by whole microseconds: what ends in the one in which its neighbour ends is drawn
// inside of it, though it ends later.
function around(slice) {
    let above = slice.parentSlice;
    while (above && nanoseconds(above.end) < nanoseconds(slice.end))
        above = above.parentSlice;
    return above;
}

const isKnown = (row, rows) => rows.has(row) ? row : row.replace(/ \(\d+\)$/, '');

function rowsOfModel({threads, since}, known) {
    const pairs = threads.flatMap((thread) => {
        const row = isKnown(`${thread.parent.labels[0]}/${thread.name}`, known);
        return thread.sliceGroup.slices.filter((slice) => !isInstant(slice)).map((slice) => [row,
            [since(slice.start), nanoseconds(slice.duration), slice.title, around(slice)?.title]]);
    });
    return new Map([...byKey(pairs, ([row]) => row)].map(
        ([row, slices]) => [row, slices.map(([, slice]) => slice).sort(compareSlices)]));
}

function countersOfModel({model, since}) {
    return new Map(model.getAllProcesses().flatMap(({counters}) => Object.values(counters)).map(
        (counter) => [counter.name, counter.series[0].samples.map(
            ({timestamp, value}) => [since(timestamp), value])]));
}

// ---- The comparison ---------------------------------------------------------------------------

const sorted = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

function compareRows(model, trace, name) {
    const expected = rowsOfTables(trace);
    const found = rowsOfModel(model, expected);
    for (const [row, slices] of expected)
        assert.deepStrictEqual(found.get(row), slices, `${name}: ${row}`);
    const others = [...found.keys()].filter((row) => !expected.has(row));
    assert.deepStrictEqual(others.filter((row) => !/(waits for the device|CUPTI overhead)$/.test(row)),
        [], `${name}: rows that nobody knows`);
    const waits = others.filter((row) => /waits/.test(row)).flatMap((row) => found.get(row));
    assert.deepStrictEqual(waits.map(([begin, duration]) => [begin, duration]).sort(compareSlices),
        trace.waits.map((wait) => trace.slice(wait).slice(0, 2)).sort(compareSlices),
        `${name}: waits`);
}

function compareInstants({threads, since}, trace, name) {
    const found = threads.flatMap((thread) => thread.sliceGroup.slices.filter(isInstant).map(
        (slice) => [since(slice.start), slice.duration, slice.title]));
    const allocations = trace.memory.map((event) => ({...event, name: '[memory]'}));
    const expected = [...trace.marks, ...allocations];
    assert.deepStrictEqual(found.sort(compareSlices), expected.map(
        (mark) => [trace.since(mark.time_ns), 0, mark.name]).sort(compareSlices), `${name}: marks`);
}

// Processes from top to bottom, the host first, and its row of steps before all others.
function compareOrder({model}, trace, name) {
    const processes = model.getAllProcesses().sort(tr.model.Process.compare);
    const devices = new Set(trace.onDevices.map(({device}) => device.replace('cuda:', 'GPU ')));
    assert.deepStrictEqual(processes.map(({labels}) => labels), [['CPU'],
        ...[...devices].sort().map((device) => [device])]);
    for (const process of processes)
        assert.strictEqual(process.name, trace.facts.name);
    const rows = Object.values(processes[0].threads).sort(tr.model.Thread.compare);
    assert.strictEqual(rows[0].name, 'steps', name);
}

// Where an arrow begins on a thread is compared, not in which slice the viewer nested it there.
const arrowOf = (flow, since) => [flow.startSlice.parentContainer.name, since(flow.start),
    flow.endSlice.title, since(flow.endSlice.start)];

function compareArrows({model, since}, trace, name) {
    const found = model.flowEvents.filter(({category}) => category === 'ac2g');
    const expected = trace.onDevices.filter((activity) => activity.launch_span !== '').map(
        (activity) => [`thread ${activity.thread}`, trace.since(activity.launch_begin_ns),
            titleOf(activity), trace.since(activity.begin_ns)]);
    const text = (arrow) => JSON.stringify(arrow);
    assert.deepStrictEqual(found.map((flow) => text(arrowOf(flow, since))).sort(),
        expected.map(text).sort(), `${name}: arrows from calls`);
    return found.length;
}

// prog_pipeline hands item after item from "prepare {item}" to "consume".
function compareFlows({model}) {
    const flows = model.flowEvents.filter(({category}) => category === 'flow');
    const consumer = model.getAllThreads().find(({name}) => /consumer/.test(name));
    const consumed = consumer.sliceGroup.slices;
    assert.strictEqual(flows.length, 6);
    flows.sort((a, b) => a.start - b.start).forEach(({startSlice, endSlice}, i) => {
        assert.strictEqual(startSlice.title, 'prepare {item}');
        assert.strictEqual(startSlice.args.item, i + 1);
        assert.strictEqual(endSlice, consumed[i]);
    });
}

function compare(name) {
    const text = withoutPrototype(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'));
    const trace = readTrace(path.join(folder, name), withoutPrototype);
    const model = modelOf(importTrace(tr, text), trace);
    assert.deepStrictEqual(model.model.importWarnings, [], name);
    compareRows(model, trace, name);
    compareInstants(model, trace, name);
    compareOrder(model, trace, name);
    assert.deepStrictEqual(sorted(countersOfModel(model)), sorted(countersOfTables(trace)),
        `${name}: counters`);
    if (name === 'pipeline')
        compareFlows(model);
    return compareArrows(model, trace, name);
}

const arrows = names.reduce((count, name) => count + compare(name), 0);
assert.ok(arrows > 100, `${arrows} arrows only`);
console.log(`Catapult reads ${names.length} traces as the tables have them, with ${arrows} arrows`);
