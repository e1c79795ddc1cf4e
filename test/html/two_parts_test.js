// Parts of the page of two runs without a browser: its script, run here, against the same found in the
// plainest way.
//
//     two_parts_test.js SCRIPT
'use strict';
const assert = require('assert');
const {equal, loadParts, random} = require('./parts.js');

const names = ['makeNode', 'childOf', 'joinNodes', 'weigh', 'changeClass', 'growthText', 'valueText',
    'sharedAxis', 'binShares', 'bandText', 'pairSteps', 'shortPaths',
    'largestChanges'];
const parts = loadParts(process.argv[2], names);

// Two random trees, joined: each path has the times of both, and what is missing has none.
function checkJoinedTrees() {
    const paths = [], trees = [parts.makeNode('all'), parts.makeNode('all')];
    for (let i = 0; i < 300; i++) {
        const side = random(2), path = Array.from({length: 1 + random(4)}, () => `n${random(4)}`);
        const total = random(1000);
        let node = trees[side];
        for (const name of path)
            node = parts.childOf(node, name);
        node.total += total;
        node.count++;
        paths.push({side, path: path.join('>'), total});
    }
    const joined = parts.joinNodes(...trees, {a: 0.5, b: 0.25});
    const seen = new Set();
    const check = (node, path) => {
        const sum = (side, scale) => paths.filter((one) => one.path === path && one.side === side)
            .reduce((total, one) => total + one.total * scale, 0);
        assert.strictEqual(node.a.total, sum(0, 0.5), path);
        assert.strictEqual(node.b.total, sum(1, 0.25), path);
        seen.add(path);
        for (const child of node.children.values()) {
            assert.strictEqual(child.parent, node);
            check(child, path ? `${path}>${child.name}` : child.name);
        }
    };
    check(joined, '');
    assert(paths.every(({path}) => seen.has(path)));
    for (const side of ['a', 'b'])
        assert.strictEqual(parts.weigh(joined, side).children.get('n0').total,
            joined.children.get('n0')[side].total);
}

// Classes of change are symmetric, and their limits are 1.01, 1.1 and 1.5 times.
function checkChanges() {
    equal([[100, 100.9], [100, 101.1], [100, 109], [100, 111], [100, 149], [100, 151], [0, 5], [0, 0]]
        .map(([a, b]) => parts.changeClass(a, b)), [3, 4, 4, 5, 5, 6, 6, 3]);
    for (let i = 0; i < 100; i++) {
        const a = random(100), b = random(100);
        assert.strictEqual(parts.changeClass(a, b) + parts.changeClass(b, a), 6);
    }
    equal([[2, 3], [4, 3], [0, 3], [3, 0], [0, 0], [3, 3]].map(([a, b]) => parts.growthText(a, b)),
        ['+50.00%', '-25.00%', 'new', 'gone', '', '0.00%']);
    equal([['shift', 1500], ['shift', -1500], ['shift', 0], ['growth', 12.345], ['growth', -3],
        ['chance', 0.00009], ['chance', 0.0123]].map(([type, value]) => parts.valueText(type, value)),
    ['+1.500us', '-1.500us', '0.000us', '+12.35%', '-3.00%', '<0.0001', '0.0123']);
    equal([parts.bandText({call_a_ns: 200, change_low_ns: -1, change_high_ns: 3}),
        parts.bandText({call_a_ns: 200, change_low_ns: null, change_high_ns: null})],
    ['-0.50% .. +1.50%', '']);
}

// Bins of two sets on one axis, which is logarithmic if it must show much.
function checkDistributions() {
    for (const [least, most] of [[1000, 1100], [1000, 1e6], [7, 7]]) {
        const sets = [200, 17].map((count) => Float64Array.from({length: count}, () =>
            least + random(most - least + 1)).sort());
        const axis = parts.sharedAxis(sets);
        assert.strictEqual(axis.isLog, most > 10 * least);
        for (const set of sets) {
            const shares = parts.binShares(set, axis);
            const width = (axis.to - axis.from) / axis.bins;
            shares.forEach((share, i) => {
                const inside = set.filter((duration) => {
                    const at = axis.isLog ? Math.log10(duration) : duration;
                    return at >= axis.from + i * width && at < axis.from + (i + 1) * width;
                }).length;
                assert(Math.abs(share - 100 * inside / set.length) < 1e-9, `bin ${i}`);
            });
        }
    }
    equal(Array.from(parts.binShares([], parts.sharedAxis([[], [5]]))), Array(12).fill(0));
}

// The largest changes stand in the order of the table, and none of less than a hundredth.
function checkLargestChanges() {
    const row = (name, change, verdict = 'slower', kind = 'scope') =>
        ({name, verdict, kind, self_change_ns: change});
    const rows = [row('a', 300), row('b', 200), row('c', 4), row('d', 2.9), row('e', 900, 'noise'),
        row('f', 900, 'slower', 'cuda'), row('g', -250, 'faster')];
    const names = (most) => parts.largestChanges(rows, most).map(({name}) => name);
    equal([1, 2, 3, 9].map(names), [['a'], ['a', 'g'], ['a', 'b', 'g'], ['a', 'b', 'c', 'g']]);
}

// Steps pair by number, else by place; paths are told apart by what differs.
function checkPairs() {
    const steps = (...number) => ({count: number.length, number: Float64Array.from(number)});
    equal(parts.pairSteps(steps(3, 4, 7), steps(4, 5, 7, 8)), [[1, 0], [2, 2]]);
    equal(parts.pairSteps(steps(3, 4, 5), steps(8, 9)), [[0, 0], [1, 1]]);
    equal(parts.pairSteps(steps(), steps(8, 9)), []);
    equal([['runs/base/1', 'runs/new/1'], ['/a', 'b'], ['x/a', 'x/a'], ['base', 'base2']]
        .map(([a, b]) => parts.shortPaths({a, b})), [{a: 'base/1', b: 'new/1'}, {a: '/a', b: 'b'},
        {a: 'a', b: 'a'}, {a: 'base', b: 'base2'}]);
}

checkJoinedTrees();
checkChanges();
checkDistributions();
checkLargestChanges();
checkPairs();
