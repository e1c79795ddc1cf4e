// Parts of the page without a browser: its scripts, run here, against the same found in the plainest
// way, and its texts against those of `takt report`.
//
//     parts_test.js SCRIPT [REPORT.json REPORT.markdown]...
'use strict';
const assert = require('assert');
const fs = require('fs');
const {equal, loadParts, random} = require('./parts.js');

const [script, ...reports] = process.argv.slice(2);
const names = ['lowerBound', 'Pyramid', 'linesOf', 'parentOf', 'selfTime', 'rangeReport',
    'coveredIntervals', 'coveredTime', 'firstFreeRows', 'hitOnLine', 'markTrack', 'columnType',
    'phaseShares', 'chooseColors', 'colorOf', 'chosenFills', 'eventColor', 'inkOn', 'valueText',
    'titleUnit', 'niceStep', 'tickStep', 'tickText', 'tickBase', 'baseText', 'visibleText',
    'columnText', 'byThread', 'neighboursOf', 'fills', 'busyColumns', 'busyShares', 'memoryCurves',
    'curveRange', 'linksOf', 'longestGaps', 'nextHit', 'pluralText', 'launchPairs', 'layOutFlame',
    'makeNode', 'childOf', 'quantileOf', 'stepsIn', 'timelineKeys', 'compareValues'];
const parts = loadParts(script, names);

function checkPyramid() {
    for (const count of [1, 2, 3, 7, 64, 1000, 1025]) {
        const values = Float64Array.from({length: count}, () => random(50));
        const most = new parts.Pyramid(values), least = new parts.Pyramid(values, -1);
        for (let i = 0; i < 300; i++) {
            const from = random(count), to = from + 1 + random(count - from);
            const range = values.subarray(from, to);
            assert.strictEqual(values[most.best(from, to)], Math.max(...range));
            assert.strictEqual(values[least.best(from, to)], Math.min(...range));
        }
        const sorted = values.slice().sort();
        for (let limit = -1; limit <= 51; limit++)
            assert.strictEqual(parts.lowerBound(sorted, limit),
                sorted.filter((value) => value < limit).length);
    }
}

// The bar of a kernel has its own phases, without phases inside, and the rest of its time.
function checkPhaseShares() {
    const row = (phase, kernel, device, self) => ({phase, kernel, device, self_percent: self});
    const report = {rows: [row('a', 'k', 'cuda:0', 50), row('a', 'k', 'cuda:1', 7),
        row('b', 'other', 'cuda:0', 9), row('b', 'k', 'cuda:0', 20), row('c', 'k', 'cuda:0', 0),
        row('d', 'k', 'cuda:2', null)]};
    const shares = (device) => parts.phaseShares(report, {kernel: 'k', device});
    equal(shares('cuda:0'), [['a', 50], ['b', 20], [null, 30]]);
    equal(shares('cuda:2'), [[null, 100]]);
    report.rows[0].self_percent = 80;
    equal(shares('cuda:0'), [['a', 80], ['b', 20]]);
}

// A program's first thread has the process' id, and comes first also if a later thread has a lower id.
function checkThreadOrder() {
    const trace = {facts: {process_id: 50}};
    const tracks = [{kind: 'async'}, {kind: 'thread', thread: 53}, {kind: 'thread', thread: 7},
        {kind: 'thread', thread: 50}, {kind: 'thread', thread: 52}, {kind: 'async'}];
    equal(tracks.sort(parts.byThread(trace)).map((track) => track.thread ?? track.kind),
        [50, 7, 52, 53, 'async', 'async']);
}

function checkIntervals() {
    const randomEvents = () => {
        const begin = Float64Array.from({length: random(30)}, () => random(190)).sort();
        return {count: begin.length, events: {begin, duration: begin.map(() => random(9))}};
    };
    for (let i = 0; i < 200; i++) {
        const tracks = Array.from({length: random(9)}, randomEvents);
        const isIn = (time) => tracks.some(({events: {begin, duration}}) =>
            begin.some((first, k) => first <= time && time < first + duration[k]));
        const merged = parts.coveredIntervals(tracks);
        assert(merged.every((time, k) => k === 0 || time > merged[k - 1] ||
            (k % 2 === 1 && time === merged[k - 1])), `${merged} are not disjoint`);
        const from = random(100), to = from + random(120);
        let covered = 0;
        for (let time = from; time < to; time++)
            covered += isIn(time) ? 1 : 0;
        assert.strictEqual(parts.coveredTime(merged, from, to), covered);
    }
}

// The longest gaps between the activities of a device, longest first; of two as long, the earlier one.
function checkGaps() {
    const begin = [10, 30, 45, 70, 80], duration = [10, 10, 5, 5, 5];
    const trace = {busy: [{device: 'cuda:0', since: 10, until: 10}],
        tracks: [{kind: 'stream', group: 'cuda:0', count: 5, events: {begin, duration}}]};
    const gaps = (most) => parts.longestGaps(trace, 'cuda:0', most).map((gap) => [gap.begin, gap.end]);
    equal(gaps(1), [[50, 70]]);
    equal(gaps(3), [[50, 70], [20, 30], [40, 45]]);
    equal(gaps(9), [[50, 70], [20, 30], [40, 45], [75, 80]]);
    trace.busyOf = undefined;
    trace.busy[0].unseen = [20, 30, 52, 70];
    equal(gaps(9), [[40, 45], [75, 80], [50, 70]]);
}

// Arrows lead from a call to what it launched, and not from the call with its number in another thread.
function checkLinks() {
    const thread = (id) => ({id, kind: 'thread', count: 1, events: {flags: [16]}});
    const stream = {id: 2, kind: 'stream', count: 3, events: {launch: [1, 1, 0], track: [1, 2, 1]}};
    const trace = {tracks: [thread(0), thread(1), stream]};
    const ends = (track, event) => parts.linksOf(trace, {track, event})
        .map(({from, to}) => [from.track.id, from.event, to.track.id, to.event]);
    equal(trace.tracks.slice(0, 2).map((track) => ends(track, 0)), [[[0, 0, 2, 0]], [[1, 0, 2, 1]]]);
    equal([0, 1, 2].map((event) => ends(stream, event)), [[[0, 0, 2, 0]], [[1, 0, 2, 1]], []]);
}

// Queue time counts from the call's return, latency from its begin.
function checkLaunchPairs() {
    const thread = {kind: 'thread', events: {begin: [100], duration: [50], what: [0], flags: [16]}};
    const stream = {kind: 'stream', events: {begin: [1200, 120], launch: [1, 1], track: [1, 1]}};
    const trace = {tracks: [thread, stream], sites: [[0]], strings: ['launch']};
    const pairs = (event) => parts.launchPairs({trace}, {track: stream, event})
        .filter(([label]) => ['Call took', 'Queue time', 'Latency'].includes(label));
    equal(pairs(0), [['Call took', '0.050us', '50 ns'], ['Queue time', '1.050us', '1,050 ns'],
        ['Latency', '1.100us', '1,100 ns']]);
    equal(pairs(1).slice(1), [['Queue time', 'none: it began during the call', '0 ns'],
        ['Latency', '0.020us', '20 ns']]);
}

// Frames stand in order of time spent, or of first begin.
function checkFlameOrder() {
    const root = parts.makeNode('all');
    root.total = 10;
    [['first', 2], ['second', 5], ['third', 3]].forEach(([name, total]) =>
        parts.childOf(root, name).total = total);
    const frames = (isByTime) => parts.layOutFlame(root, isByTime, 0)
        .map(({node, x, width}) => [node.name, x, width]);
    equal(frames(true), [['all', 0, 1], ['second', 0, 0.5], ['third', 0.5, 0.3], ['first', 0.8, 0.2]]);
    equal(frames(false), [['all', 0, 1], ['first', 0, 0.2], ['second', 0.2, 0.5], ['third', 0.7, 0.3]]);
}

// The 99 % of 100 values are the 99th, and the 50 % of two the first one.
function checkQuantiles() {
    const hundred = Array.from({length: 100}, (_, i) => i + 1);
    equal([parts.quantileOf(hundred, 0.99), parts.quantileOf(hundred, 0.5),
        parts.quantileOf([...hundred, 101], 0.99), parts.quantileOf([4, 7], 0.5),
        parts.quantileOf([4], 0.99)], [99, 50, 100, 4, 4]);
}

// Whole steps are those that begin and end in the selected time, as it does, too.
function checkWholeSteps() {
    const trace = {steps: {count: 3, begin: [0, 10, 20], duration: [10, 10, 10]}};
    equal([[0, 30], [0, 20], [10, 20], [1, 29], [0, 19], [25, 40]].map(([from, to]) =>
        parts.stepsIn(trace, from, to)), [3, 2, 1, 1, 1, 0]);
}

// Keys move to earlier times by 15 % of what is shown, and to later ones.
function checkKeys() {
    equal(['a', 'arrowleft', 'd', 'arrowright'].map((key) => {
        let moved = null;
        parts.timelineKeys[key]({move: (share) => moved = share});
        return moved;
    }), [-0.15, -0.15, 0.15, 0.15]);
}

// What has no value is last where the greatest comes first.
function checkValueOrder() {
    equal([3, null, 20, '', 100].sort((a, b) => -parts.compareValues(a, b)), [100, 20, 3, null, '']);
    equal(['b', null, 'a'].sort(parts.compareValues), [null, 'a', 'b']);
}

// A thread with spans that nest at random, in preorder.
function randomTrack(siteCount) {
    const rows = [];
    const fill = (from, to, depth) => {
        for (let at = from + random(4); at < to && depth < 6;) {
            const end = Math.min(to, at + random(40));
            rows.push([at, end - at, random(siteCount), depth]);
            fill(at, end, depth + 1);
            at = end + random(6);
        }
    };
    fill(0, 1000, 0);
    const column = (i, Type) => Type.from(rows, (row) => row[i]);
    const events = {begin: column(0, Float64Array), duration: column(1, Float64Array),
        what: column(2, Int32Array), depth: column(3, Int32Array)};
    return {kind: 'thread', group: 'host', name: '', count: rows.length, rows: 6, events};
}

function checkColors() {
    const trace = {strings: ['solve', 'draw'], tables: {},
        sites: [[0, 0, 0, 0, 0xff8800], [0, 0, 0, 0, 0xff], [1, 0, 0, 0, 0]]};
    const track = {kind: 'thread', events: {what: [0, 1, 2], flags: [0, 0, 0]}};
    parts.chooseColors(trace);
    assert.strictEqual(parts.eventColor(trace, track, 0), '#ff8800');
    assert.strictEqual(parts.eventColor(trace, track, 1), '#0000ff');
    assert.strictEqual(parts.colorOf('solve'), '#0000ff', 'as the last of its places');
    const byName = parts.colorOf('draw');
    assert.strictEqual(parts.eventColor(trace, track, 2), byName);
    assert.match(byName, /^#[0-9a-f]{6}$/);
    assert.strictEqual(parts.inkOn(byName), parts.inkOn('#ffffff'), 'dark ink on all of the page');
    assert.strictEqual(parts.inkOn('#ffff00'), parts.inkOn('#ffffff'));
    assert.strictEqual(parts.inkOn('#0000ff'), parts.inkOn('#000000'));
    assert.notStrictEqual(parts.inkOn('#000000'), parts.inkOn('#ffffff'));
}

// How different two colours look, on the plainest scale: the distance of their gamma-corrected bytes.
function byteDistance(a, b) {
    const bytes = (fill) => [1, 3, 5].map((at) => parseInt(fill.slice(at, at + 2), 16));
    const [x, y] = [bytes(a), bytes(b)];
    return Math.hypot(...x.map((value, i) => value - y[i]));
}

// Names above and beside each other differ: parents, grandparents and children, and siblings.
function checkNeighbours() {
    const above = (rows, name) => rows.find((row) => row.name === name)?.parent;
    const isAbove = (rows, a, b) => a.name === b.parent || a.name === above(rows, b.parent);
    const plainNeighbours = (rows, place) => rows.filter((row, i) => i !== place &&
        row.parent === rows[place].parent || isAbove(rows, row, rows[place]) ||
        isAbove(rows, rows[place], row)).map((row) => row.name).sort();
    for (let round = 0; round < 40; round++) {
        const rows = [{name: `root ${round}`, depth: 0, parent: ''}];
        for (let i = 0; i < 4; i++) {
            rows.push({name: `scope ${round} ${i}`, depth: 1, parent: rows[0].name});
            for (let k = random(4); k > 0; k--)
                rows.push({name: `inner ${round} ${i} ${k}`, depth: 2,
                    parent: `scope ${round} ${i}`});
        }
        const neighbours = parts.neighboursOf(rows);
        rows.forEach((row, i) => equal([...neighbours.get(row.name)].sort(),
            plainNeighbours(rows, i), row.name));
        parts.chosenFills.clear();
        parts.chooseColors({sites: [], tables: {tree: {rows}, scopes: {rows: []}}});
        rows.forEach(({name}, i) => plainNeighbours(rows, i).forEach((other) => {
            const distance = byteDistance(parts.colorOf(name), parts.colorOf(other));
            assert(distance >= 45, `${name} and ${other} differ by ${distance}`);
        }));
    }
    const many = Array.from({length: 300}, (_, i) => ({name: `n${i}`, depth: i ? 1 : 0}));
    parts.chooseColors({sites: [], tables: {tree: {rows: many}}});
    assert(many.every(({name}) => parts.fills.includes(parts.colorOf(name))));
}

// The spans around each: those open where it stands in preorder.
function plainParents(track) {
    const open = [];
    return Array.from(track.events.depth, (depth, i) => {
        open[depth] = i;
        return depth ? open[depth - 1] : -1;
    });
}

function checkSpans() {
    const sites = ['a', 'b', 'ab', 'c'];
    for (let round = 0; round < 30; round++) {
        const track = randomTrack(sites.length);
        const trace = {tracks: [track], waits: {count: 0}, shapes: [], strings: sites,
            sites: sites.map((_, i) => [i, 0, 0, 0, 0])};
        const {begin, duration, what} = track.events;
        const parents = plainParents(track);
        const inside = (i, from, to) => Math.max(0,
            Math.min(to, begin[i] + duration[i]) - Math.max(from, begin[i]));
        for (let i = 0; i < track.count; i++) {
            assert.strictEqual(parts.parentOf(track, i), parents[i], 'parent');
            const children = duration.reduce((sum, d, k) => sum + (parents[k] === i ? d : 0), 0);
            assert.strictEqual(parts.selfTime(track, i), duration[i] - children, 'self');
        }
        const from = random(500), to = from + 1 + random(500);
        for (const row of parts.rangeReport(trace, from, to).rows) {
            let count = 0, total = 0, self = 0;
            for (let i = 0; i < track.count; i++) {
                const part = inside(i, from, to);
                const isIn = part > 0 || (!duration[i] && begin[i] >= from && begin[i] < to);
                if (sites[what[i]] === row.name) {
                    count += isIn ? 1 : 0;
                    total += part;
                    self += part;
                }
                if (parents[i] >= 0 && sites[what[parents[i]]] === row.name)
                    self -= part;
            }
            equal([row.count, row.total_ns, row.self_ns], [count, total, self], row.name);
        }
        checkSearch(trace, track, sites);
        checkPointed(track);
    }
}

// Under the pointer is the event at its time, else the longest near it.
function checkPointed(track) {
    for (const line of parts.linesOf(track)) {
        const all = Array.from(line.begin, (begin, i) => i);
        const length = (i) => line.end[i] - line.begin[i];
        for (let i = 0; i < 50; i++) {
            const time = random(2000) / 2, slack = random(40) + 1;
            const near = all.filter((i) => line.end[i] >= time - slack && line.begin[i] < time + slack);
            const here = all.find((i) => line.begin[i] <= time && time < line.end[i]);
            const at = line.at(time, slack);
            if (here !== undefined || !near.length)
                assert.strictEqual(at, here ?? -1, `at ${time}`);
            else
                assert.strictEqual(length(at), Math.max(...near.map(length)), `near ${time}`);
        }
    }
}

// Matches of 'a' on each line, found one after the other, forwards and backwards.
function checkSearch(trace, track, sites) {
    const {what} = track.events;
    const isHit = (event) => sites[what[event]].includes('a');
    const all = Array.from(what, (_, i) => i).filter(isHit);
    assert.strictEqual(parts.markTrack(trace, track, 'a'), all.length);
    for (const line of parts.linesOf(track)) {
        const places = Array.from(line.index, (_, i) => i).filter((i) => isHit(line.index[i]));
        for (const time of [-1, 0, 100, 500, 2000]) {
            const after = places.find((i) => line.begin[i] >= time + 0.5) ?? -1;
            const before = places.filter((i) => line.begin[i] < time).at(-1) ?? -1;
            assert.strictEqual(parts.hitOnLine(line, time, 1), after, 'next');
            assert.strictEqual(parts.hitOnLine(line, time, -1), before, 'previous');
        }
    }
    checkFirstHit(trace, track, all);
}

// The first match that a search goes to is the first in view, also if it begins where the view does.
function checkFirstHit(trace, track, all) {
    const {begin} = track.events;
    for (const hit of all) {
        let found = null;
        const search = {text: 'a', count: all.length, label: '', output: {}};
        const timeline = {trace, search, selected: null, begin: begin[hit], end: begin[hit] + 10,
            select: ({event}) => found = event};
        parts.nextHit(timeline, 1);
        assert.strictEqual(begin[found], begin[hit], 'first');
        const before = all.filter((event) => begin[event] < begin[hit]).length;
        assert.strictEqual(search.output.textContent, `${before + 1} of ${all.length}`);
    }
}

// No two on the same row at a time, and none further below than it must be.
function checkRows() {
    const begin = Float64Array.from({length: 200}, () => random(1000)).sort();
    const duration = begin.map(() => random(30));
    const rows = parts.firstFreeRows(begin, duration);
    for (let i = 0; i < 200; i++) {
        const taken = new Set();
        for (let k = 0; k < i; k++)
            if (begin[k] + duration[k] > begin[i])
                taken.add(rows[k]);
        let free = 0;
        while (taken.has(free))
            free++;
        assert.strictEqual(rows[i], free);
    }
}

function checkTexts() {
    const text = (ns, step) => parts.tickText(ns, step);
    equal([text(2e6, 1e6), text(19.5e6, 5e5), text(3e9, 1e9), text(1234567, 1), text(-2e3, 1e3)],
        ['2ms', '19.5ms', '3s', '1,234,567ns', '-2us']);
    equal([0.7, 1, 1.1, 4, 5.5, 90].map(parts.niceStep), [1, 1, 2, 5, 10, 100]);
    equal([['bytes', 1023], ['bytes', 1024], ['bytes', -3 * 2 ** 30], ['time', 999], ['time', 1e6],
        ['time', 999999500], ['time', -2500000000], ['number', 0.04], ['percent', 12.345]]
        .map(([type, value]) => parts.valueText(type, value)),
    ['1023 B', '1.00 KiB', '-3.00 GiB', '0.999us', '1.000ms', '1000.000ms', '-2.500s', '0.040000',
        '12.35%']);
    equal(['Total FLOPs', 'Total KFLOPs', 'Total PFLOPs', 'Total', 'GB/s'].map(parts.titleUnit),
        [1, 1e3, 1e15, 1, 1]);
    equal([0, 1, 2, 1000].map((count) => parts.pluralText(count, 'match', 'matches')),
        ['0 matches', '1 match', '2 matches', '1,000 matches']);
    assert.strictEqual(parts.visibleText('a\u202eb\u0000c\u001b[31m\u00e4'),
        'a\\u202eb\\u0000c\\u001b[31m\u00e4');
}

// At any zoom two ticks or more can be seen, on a telephone too, and their texts do not meet.
function checkTicks() {
    for (const width of [240, 600, 1200]) {
        for (let length = 1000; length < 1e12; length *= 1.1) {
            const distance = parts.tickStep({width, scale: width / length}) * width / length;
            assert(distance >= 69.9 && distance < width, `${distance} of ${width} pixels`);
        }
    }
}

// Late in a recording ticks have few digits, and count from a time that is told exactly.
function checkTickBase() {
    for (let i = 0; i < 3000; i++) {
        const first = Math.floor(10 ** (random(1400) / 100));
        const step = parts.niceStep(10 ** (random(900) / 100));
        const base = parts.tickBase(first, step);
        assert(base >= 0 && base <= first);
        assert.strictEqual(Math.round(Number(parts.baseText(base, step).slice(0, -1)) * 1e9), base);
        assert(parts.tickText(first - base + step, step).length <= 10,
            `${first} ns: ${parts.tickText(first - base + step, step)}`);
    }
    equal([parts.tickBase(99999, 1), parts.tickBase(12345678901, 5), parts.baseText(12345678000, 5),
        parts.tickText(12345678901 - 12345678000, 5)], [0, 12345678000, '12.345678s', '901ns']);
}

// The busy share of each column is that of its stretch of time; all together, of the recording.
function checkBusyColumns() {
    for (let round = 0; round < 50; round++) {
        const intervals = [];
        for (let at = random(30) - 10; at < 1000;)
            intervals.push(at += random(30), at += 1 + random(20));
        const trace = {begin: 0, end: 990};
        const isBusy = (time) => intervals.some((begin, i) =>
            i % 2 === 0 && begin <= time && time < intervals[i + 1]);
        const busy = (from, to) => {
            let sum = 0;
            for (let time = from; time < to; time++)
                sum += isBusy(time) ? 1 : 0;
            return sum;
        };
        for (const scale of [0.1, 0.25, 1]) {
            const begin = -50, width = Math.ceil(1100 * scale);
            const columns = parts.busyColumns({trace, begin, scale, width}, intervals);
            let sum = 0;
            for (let i = 0; i < columns.length; i += 2) {
                const from = Math.max(0, begin + columns[i] / scale);
                const to = Math.min(990, begin + (columns[i] + 1) / scale);
                assert(Math.abs(columns[i + 1] - busy(from, to) / (to - from)) < 1e-9);
                sum += columns[i + 1] * (to - from);
            }
            assert(Math.abs(sum / 990 - busy(0, 990) / 990) < 1e-9, 'the mean');
        }
        const shares = parts.busyShares(trace, intervals, 90);
        shares.forEach((share, i) =>
            assert(Math.abs(share - busy(11 * i, 11 * i + 11) / 11) < 1e-9));
        checkUnknownBusy(trace, intervals, busy);
    }
}

// Before `since` nothing is drawn, and no share is told; a part that begins before it has the share of
// the rest.
function checkUnknownBusy(trace, intervals, busy) {
    intervals.since = 500; // in the middle of [495, 506)
    const shares = parts.busyShares(trace, intervals, 90);
    shares.forEach((share, i) => assert(i < 45 ? Number.isNaN(share) :
        Math.abs(share - busy(Math.max(500, 11 * i), 11 * i + 11)
            / (11 * i + 11 - Math.max(500, 11 * i))) < 1e-9));
    const columns = parts.busyColumns({trace, begin: -50, scale: 0.25, width: 275}, intervals);
    assert.strictEqual(columns[0], 137, 'the pixel column of 498 to 502');
    assert(Math.abs(columns[1] - busy(500, 502) / 2) < 1e-9);
    assert.strictEqual(columns.length, 2 * (260 - 137));
    checkUnseen(trace, intervals, busy);
}

// Of some idle times it is not known whether they were, and each second of them is not known at all.
function checkUnseen(trace, intervals, busy) {
    const unseen = [];
    for (let i = 1; i + 1 < intervals.length; i += 4)
        unseen.push(intervals[i], (i + 1) % 8 ? (intervals[i] + intervals[i + 1]) >> 1 : intervals[i + 1]);
    const isUnseen = (time) => unseen.some((begin, i) => i % 2 === 0 && begin <= time && time < unseen[i + 1]);
    intervals.unseen = Float64Array.from(unseen);
    parts.busyShares(trace, intervals, 90).forEach((share, i) => {
        let known = 0;
        for (let time = Math.max(500, 11 * i); time < 11 * i + 11; time++)
            known += isUnseen(time) ? 0 : 1;
        assert(known ? Math.abs(share - busy(Math.max(500, 11 * i), 11 * i + 11) / known) < 1e-9 :
            Number.isNaN(share));
    });
}

// The curve of a device adds up all kinds but pools and pinned memory, from what was there before.
function checkMemoryCurves() {
    const kinds = [['cuda:0', 'device', false], ['cuda:0', 'managed', false],
        ['cuda:0', 'pinned', false], ['cuda:0', 'device', true], ['', 'host', false]];
    for (let round = 0; round < 30; round++) {
        const events = [];
        for (let time = 100; events.length < 60; time += random(3))
            events.push({time, series: random(kinds.length), change: random(200) - 60});
        const memory = kinds.map(([device, kind, pool], series) => {
            const own = events.filter((event) => event.series === series);
            let now = 0;
            return {device, kind, pool, count: own.length,
                time: Float64Array.from(own, (event) => event.time),
                value: Float64Array.from(own, (event) => now += event.change)};
        });
        const of = (...which) => events.filter((event) => which.includes(event.series))
            .reduce((sum, event) => sum + event.change, 0);
        const row = (device, change) => ({device, period: 'recording', peak_bytes: 5,
            peak_at_ns: 7, current_bytes: 1000 + change, change_bytes: change});
        const rows = [row('host', of(4)), {...row('host', 9), period: 'since start'},
            row('cuda:0', of(0, 1))];
        const curves = parts.memoryCurves({begin: 90, memory, tables: {memory: {rows}}});
        const titles = curves.map(({device, kind, pool}) => `${device} ${kind} ${pool ?? ''}`);
        equal(titles, ['host  ', 'cuda:0  ', 'cuda:0 device false', 'cuda:0 managed false',
            'cuda:0 pinned false', 'cuda:0 device true']);
        equal(curves[1].peak, {value: 5, time: 97});
        for (const [curve, which] of [[curves[0], [4]], [curves[1], [0, 1]]]) {
            let now = 1000;
            const own = events.filter((event) => which.includes(event.series));
            const value = (time) => 1000 + own.filter((event) => event.time <= time)
                .reduce((sum, event) => sum + event.change, 0);
            assert.strictEqual(curve.value[0], now);
            for (let i = 1; i < curve.time.length; i++)
                if (curve.time[i + 1] !== curve.time[i])
                    assert.strictEqual(curve.value[i], value(curve.time[i]));
            assert.strictEqual(curve.time.length, own.length + 1);
        }
    }
}

// The axis of a curve begins at 0, or at the least value below, and ends above: at the peak, if pixels
// hide that.
function checkCurveRange() {
    const range = (value, peak) => {
        const {low, high} = parts.curveRange({time: value.map((_, i) => i), value, peak});
        return [low, high];
    };
    equal([range([5, 7, 6]), range([-3, 2]), range([-3, -1]), range([0, 0]), range([4, 2], {value: 9})],
        [[0, 7], [-3, 2], [-3, -1], [0, 1], [0, 9]]);
}

function checkColumnTexts() {
    equal([['kernels', 'Regs'], ['kernels', 'Median'], ['memory', 'Median'], ['gaps', 'Idle'],
        ['scopes', 'Total KFLOPs'], ['scopes', 'Total FLOPs'], ['activities', 'Count'],
        ['gaps', 'no such column'], ['page', 'Self'], ['reading the table', 'B'],
        ['reading the table', 'Change %'], ['reading the table', '']].map(([report, title]) =>
        parts.columnText(report, title)).map((text) => text.split(' ')[0]),
    ['registers', 'from', 'from', 'time', 'work', 'work', 'number', '', 'Total', 'self',
        'percent', '']);
}

// Every number of a report reads in the page as in the text.
function checkReport(json, text) {
    const words = new Set(text.split(/\s+/));
    let count = 0;
    const checkTable = (table) => {
        for (const row of table.rows) {
            for (const key of table.columns) {
                const type = parts.columnType(key);
                const shown = parts.valueText(type, row[key]);
                if (typeof row[key] !== 'number' || key === 'depth')
                    continue;
                count++;
                assert(shown.split(' ').every((word) => words.has(word)),
                    `${json.report}: ${key} ${row[key]} is '${shown}', which the text has not`);
            }
        }
    };
    checkTable(json);
    Object.entries(json.tables ?? {}).filter(([name]) => name !== 'advice') // told in sentences
        .forEach(([, table]) => checkTable(table));
    return count;
}

checkColors();
checkNeighbours();
checkColumnTexts();
checkBusyColumns();
checkMemoryCurves();
checkCurveRange();
checkPyramid();
checkPhaseShares();
checkThreadOrder();
checkIntervals();
checkGaps();
checkLinks();
checkLaunchPairs();
checkFlameOrder();
checkQuantiles();
checkWholeSteps();
checkKeys();
checkValueOrder();
checkSpans();
checkRows();
checkTexts();
checkTicks();
checkTickBase();
let numbers = 0;
for (let i = 0; i < reports.length; i += 2)
    numbers += checkReport(JSON.parse(fs.readFileSync(reports[i])),
        fs.readFileSync(reports[i + 1], 'utf8'));
assert(numbers > 50 || !reports.length, `only ${numbers} numbers`);
console.log(`the parts are right, and ${numbers} numbers read as in the text`);
