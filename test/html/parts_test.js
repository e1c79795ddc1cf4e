// Parts of the page without a browser: its scripts, run here, against the same found in the plainest
// way, and its texts against those of `takt report`.
//
//     parts_test.js FOLDER-OF-THE-SCRIPTS [REPORT.json REPORT.markdown]...
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, ...reports] = process.argv.slice(2);
const scripts = fs.readdirSync(folder).filter((name) => name.endsWith('.js')).sort();
const names = ['lowerBound', 'Pyramid', 'linesOf', 'parentOf', 'selfTime', 'rangeReport',
    'mergeIntervals', 'coveredTime', 'firstFreeRows', 'hitOnLine', 'markTrack', 'columnType',
    'phaseShares', 'chooseColors', 'colorOf', 'eventColor', 'inkOn', 'valueText', 'titleUnit', 'niceStep', 'tickStep', 'tickText', 'visibleText'];
const parts = vm.runInNewContext(scripts.map((name) => fs.readFileSync(path.join(folder, name)))
    .join('\n') + `\n;({${names}})`, {document: {addEventListener() {}}});

// Numbers that look random and are the same each time (a linear congruential generator).
let state = 12345;
function random(below) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
}

// What stands in another context's objects compares unequal to ours; their JSON does not.
function equal(actual, expected, message) {
    assert.strictEqual(JSON.stringify(actual), JSON.stringify(expected), message);
}

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

function checkIntervals() {
    const disjoint = () => {
        const list = [];
        for (let at = random(5); at < 190;)
            list.push(at += random(12), at += 1 + random(9));
        return list;
    };
    for (let i = 0; i < 200; i++) {
        const lists = [disjoint(), disjoint(), disjoint()];
        const isIn = (time) => lists.some((list) =>
            list.some((begin, k) => k % 2 === 0 && begin <= time && time < list[k + 1]));
        const merged = lists.reduce(parts.mergeIntervals, []);
        const from = random(100), to = from + random(120);
        let covered = 0;
        for (let time = from; time < to; time++)
            covered += isIn(time) ? 1 : 0;
        assert.strictEqual(parts.coveredTime(merged, from, to), covered);
    }
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
checkPyramid();
checkPhaseShares();
checkIntervals();
checkSpans();
checkRows();
checkTexts();
checkTicks();
let numbers = 0;
for (let i = 0; i < reports.length; i += 2)
    numbers += checkReport(JSON.parse(fs.readFileSync(reports[i])),
        fs.readFileSync(reports[i + 1], 'utf8'));
assert(numbers > 50 || !reports.length, `only ${numbers} numbers`);
console.log(`the parts are right, and ${numbers} numbers read as in the text`);
