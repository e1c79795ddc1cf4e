/* The flame graph of the difference between two runs. Frames are as wide as their time in B or in
 * A, and coloured by how much longer or shorter they took in B. If both runs have steps, times are
 * those of a step. */
'use strict';

/* Seven classes of B's time divided by A's. The colours are ColorBrewer's scheme "RdBu", which
 * colour-blind readers can tell apart (colorbrewer2.org). */
const changeFills = ['#2166ac', '#67a9cf', '#d1e5f0', '#d3d8de', '#fddbc7', '#ef8a62', '#b2182b'];
const changeFactors = [1.01, 1.1, 1.5];

/* Returns the class of a change, from 0 (much faster, or gone) to 6 (much slower, or new). */
function changeClass(a, b) {
    const factor = a === b ? 1 : Math.max(a, b) / Math.min(a, b);
    const strength = changeFactors.filter((limit) => factor >= limit).length;
    return 3 + (b > a ? strength : -strength);
}

/* Returns "+12.30%", "new" or "gone". */
function growthText(a, b) {
    if (a === 0 || b === 0)
        return a === b ? '' : a === 0 ? 'new' : 'gone';
    return changeText(100 * (b - a) / a, percentText);
}

function scaledTimes(node, scale) {
    return {total: (node?.total ?? 0) * scale, self: (node?.self ?? 0) * scale,
        count: node?.count ?? 0};
}

/* Joins a node of run A and one of run B, either of which may be missing, and all below them. The
 * times of both become its `a` and `b`, those of one its own. */
function joinNodes(a, b, scales, parent = null) {
    const {name, kind} = a ?? b;
    const node = makeNode(name, kind, parent);
    node.a = scaledTimes(a, scales.a);
    node.b = scaledTimes(b, scales.b);
    for (const key of new Set([...a?.children.keys() ?? [], ...b?.children.keys() ?? []])) {
        const child = joinNodes(a?.children.get(key), b?.children.get(key), scales, node);
        child.order = node.children.size;
        node.children.set(key, child);
    }
    return node;
}

/* Makes the times of side 'a' or 'b' those that count for widths and order. */
function weigh(node, side) {
    Object.assign(node, node[side]);
    node.children.forEach((child) => weigh(child, side));
    return node;
}

/* Returns the joined trees of both runs as [title, make]. Call stacks are left out: their frames
 * have line numbers, which differ between two versions of a program. */
function joinedTrees({a, b, scales}) {
    const ofA = new Map(flameTrees(a)), ofB = new Map(flameTrees(b));
    const titles = [...new Set([...ofA.keys(), ...ofB.keys()])];
    return titles.filter((title) => title !== 'Call stacks').map((title) => [title, () => {
        const sources = {a: ofA.get(title)?.(), b: ofB.get(title)?.()};
        return Object.assign(joinNodes(sources.a, sources.b, scales), {sources});
    }]);
}

class ComparisonFlame extends Flame {
    constructor(page) {
        super(page, joinedTrees(page));
    }

    tools() {
        this.sides = ['a', 'b'].map((side) => makeButton(side.toUpperCase(),
            () => this.turnSide(side), {'aria-label': `Widths of ${side.toUpperCase()}`}));
        return [make('span', {class: 'buttons', role: 'group', 'aria-label': 'Widths of'},
            make('span', {}, 'Widths of'), this.sides)];
    }

    legend() {
        const ranges = changeFactors.map((factor, i) => (i < 2 ?
            `${factor} to ${changeFactors[i + 1]} times` : `over ${factor} times`));
        const texts = [...ranges.map((range) => `${range} faster`).reverse(), 'the same',
            ...ranges.map((range) => `${range} slower`)];
        texts[0] += ', or gone';
        texts[6] += ', or new';
        return make('ul', {class: 'legend', 'aria-label': 'Colours'}, texts.map((text, i) => {
            const chip = make('span', {class: 'chip', 'aria-hidden': 'true'});
            chip.style.setProperty('background', changeFills[i]);
            return make('li', {}, chip, text);
        }), make('li', {}, this.page.isPerStep ? 'Times of a step.' : 'Times of a run.'));
    }

    /* Widths are those of B, unless B has no such tree. */
    openTree(index) {
        if (!this.made.has(index))
            this.made.set(index, this.trees[index][1]());
        const tree = this.made.get(index);
        this.side = this.side === 'a' || tree.b.total === 0 ? 'a' : 'b';
        weigh(tree, this.side);
        this.showSide();
        super.openTree(index);
    }

    turnSide(side) {
        this.side = side;
        weigh(this.tree, side);
        if (this.sandwich)
            Object.values(this.sandwich).forEach((tree) => weigh(tree, side));
        this.showSide();
        this.draw();
    }

    showSide() {
        this.sides.forEach((button, i) =>
            button.setAttribute('aria-pressed', String('ab'[i] === this.side)));
    }

    sandwichAt(node) {
        const of = (tree) => sandwichOf(tree ?? makeNode(''), node);
        const a = of(this.tree.sources.a), b = of(this.tree.sources.b);
        const join = (key) => weigh(joinNodes(a[key], b[key], this.page.scales), this.side);
        return {callees: join('callees'), callers: join('callers')};
    }

    fillOf({a, b}) {
        return changeFills[changeClass(a.total, b.total)];
    }

    timesText({a, b}) {
        const change = growthText(a.total, b.total);
        return `A ${timeText(a.total)}, B ${timeText(b.total)}${change && `, ${change}`}`;
    }

    /* The change in words, so that colours are not all that tells it. */
    noteOf({name, a, b}, width) {
        const text = growthText(a.total, b.total);
        return width > 8 * (name.length + text.length) ? make('small', {}, text) : null;
    }

    shareText(node) {
        return `${super.shareText(node)} of ${this.side.toUpperCase()}`;
    }

    fieldsOf(node) {
        const {a, b} = node;
        const change = (label, key) => measured(label, 'shift', b[key] - a[key]);
        const row = this.page.rowOf(node.name, node.kind);
        return makeList([
            measured('Total A', 'time', a.total), measured('Total B', 'time', b.total),
            change('Change', 'total'), ['Change %', growthText(a.total, b.total)],
            measured('Self A', 'time', a.self), measured('Self B', 'time', b.self),
            change('Self change', 'self'),
            ...a.count || b.count ?
                [['Calls A', countText(a.count)], ['Calls B', countText(b.count)]] : [],
            ['Calls of this name are', row?.verdict],
        ], 'fields');
    }
}

function makeComparisonFlame(page) {
    page.flame = new ComparisonFlame(page);
    return page.flame.element;
}
