// The engine of Chrome's DevTools reads Takt's Chrome JSON, as its panel "Performance" would: every
// slice is on its row, as Takt's tables have it. What it makes of their nesting is not compared: it
// adds begin and duration as doubles, and sees an overlap where the sum is past the next one's begin.
//
//     node devtools_test.mjs PACKAGE FOLDER NAME...
//
// PACKAGE is the folder of npm's "@paulirish/trace_engine". FOLDER has NAME.json and NAME/, its
// tables.
import assert from 'assert';
import fs from 'fs';
import path from 'path';
import {byKey} from './tables.js';
import {compareSlices, readTrace, rowsOfTables} from './timeline.js';

const [root, folder, ...names] = process.argv.slice(2);

globalThis.DOMRect = class {}; // the engine asks for it; only traces of web pages need it
const engine = await import(path.join(root, 'models/trace/trace.js'));

async function parse(file) {
    const processor = engine.Processor.TraceProcessor.createWithAllHandlers();
    await processor.parse(JSON.parse(fs.readFileSync(file, 'utf8')).traceEvents,
        {isCPUProfile: false, isFreshRecording: false, metadata: {}});
    return processor.data ?? processor.parsedTrace.data;
}

// The engine has microseconds.
const nanoseconds = (us) => Math.round(us * 1e3);

// Processes that are devices have small numbers, which are no ids of others.
const processOf = (pid, host) => (pid === host ? 'CPU' : `GPU ${pid}`);

function rowsOfEngine(data, trace, known) {
    const host = Number(trace.facts.process_id);
    const threads = [...data.Renderer.processes].flatMap(([pid, {threads}]) =>
        [...threads.values()].map((thread) => [`${processOf(pid, host)}/${thread.name}`, thread]));
    const steps = threads.find(([row]) => row === 'CPU/steps')[1];
    const zero = Math.min(...steps.entries.map(({ts}) => ts));
    const pairs = threads.flatMap(([row, {entries}]) => entries.map((entry) => [
        known.has(row) ? row : row.replace(/ \(\d+\)$/, ''),
        [nanoseconds(entry.ts - zero), nanoseconds(entry.dur), entry.name]]));
    return new Map([...byKey(pairs, ([row]) => row)].map(
        ([row, slices]) => [row, slices.map(([, slice]) => slice).sort(compareSlices)]));
}

let slices = 0;
for (const name of names) {
    const data = await parse(path.join(folder, `${name}.json`));
    const trace = readTrace(path.join(folder, name));
    const expected = rowsOfTables(trace);
    const found = rowsOfEngine(data, trace, expected);
    assert.ok(data.Meta.traceIsGeneric, `${name} is taken for a web page's`);
    for (const [row, wanted] of expected) {
        assert.deepStrictEqual(found.get(row), wanted.map((slice) => slice.slice(0, 3)),
            `${name}: ${row}`);
        slices += wanted.length;
    }
}
console.log(`DevTools' engine reads ${slices} slices of ${names.length} traces as the tables have them`);
