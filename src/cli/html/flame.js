/* The flame graph: a tree of flame_tree.js as nested frames, each a button. One frame is chosen; it
 * can be zoomed to, and its callers and callees can be shown instead of the whole tree. */
'use strict';

const flameKeys = [
    ['click', 'choose a frame'],
    ['double click, Enter, F', 'zoom to it'],
    ['arrows', 'choose the frame above, below, to the left or right'],
    ['C', 'its callers and callees; again: all'],
    ['O', 'most time first, or in order of begin'],
    ['/', 'search'],
    ['Esc, Backspace, 0', 'zoom out'],
];

class Flame {
    constructor(page, trees = flameTrees(page.trace)) {
        this.page = page;
        this.trees = trees;
        this.made = new Map();
        this.isByTime = true;
        this.needle = '';
        this.build();
        this.openTree(0);
    }

    build() {
        this.picks = this.trees.map(([title], i) => makeButton(makeName(title, 40),
            () => this.openTree(i)));
        this.orderButton = makeButton('In order of begin', () => this.turnOrder(),
            {title: 'O', 'aria-pressed': 'false'});
        this.callersButton = makeButton('Callers', () => this.turnCallers(),
            {title: 'C', 'aria-pressed': 'false'});
        this.input = make('input', {type: 'search', placeholder: 'Search names  /',
            'aria-label': 'Search names', spellcheck: 'false', oninput: () => this.search()});
        this.output = make('output', {'aria-live': 'polite'});
        this.keys = makeKeys(flameKeys);
        this.frames = make('div', {class: 'flame', role: 'group', 'aria-label': 'Flame graph'});
        this.details = make('div', {class: 'report'});
        const picks = make('span', {class: 'buttons', role: 'group', 'aria-label': 'Times of'},
            this.picks);
        const toolbar = make('div', {class: 'toolbar', role: 'toolbar',
            'aria-label': 'Flame graph'}, picks, this.input, this.output,
        make('span', {class: 'space'}), ...this.tools(), this.orderButton, this.callersButton,
        makeButton('Whole', () => this.zoom(null), {title: '0'}), this.keys);
        this.element = make('div', {class: 'report'}, toolbar, this.legend(), this.frames,
            this.details);
        this.element.addEventListener('keydown', (event) => this.press(event));
        this.frames.addEventListener('click', (event) => this.choose(this.nodeAt(event)));
        this.frames.addEventListener('dblclick', (event) => this.zoom(this.nodeAt(event)));
        new ResizeObserver(() => this.draw()).observe(this.frames);
    }

    /* Returns further buttons. */
    tools() {
        return [];
    }

    legend() {
        return null;
    }

    openTree(index) {
        if (!this.made.has(index))
            this.made.set(index, this.trees[index][1]());
        this.tree = this.made.get(index);
        this.index = index;
        this.picks.forEach((pick, i) => pick.setAttribute('aria-pressed', String(i === index)));
        this.sandwich = null;
        this.root = this.chosen = this.tree;
        this.draw();
    }

    turnOrder() {
        this.isByTime = !this.isByTime;
        this.draw();
    }

    /* Shows the callers and callees of the chosen name, or the whole tree again. */
    turnCallers() {
        const {chosen} = this;
        if (this.sandwich) {
            this.sandwich = null;
            this.root = this.tree;
            this.chosen = findNode(this.tree, chosen) ?? this.tree;
        } else if (chosen.parent) {
            this.sandwich = this.sandwichAt(chosen);
            this.root = this.chosen = this.sandwich.callees;
        }
        this.draw();
    }

    sandwichAt(node) {
        return sandwichOf(this.tree, node);
    }

    choose(node) {
        if (!node)
            return;
        this.chosen = node;
        this.draw();
        this.frames.querySelector('[tabindex="0"]')?.focus({preventScroll: true});
    }

    /* Makes a frame as wide as the graph; null: everything. Between callers and callees, shows
     * those of the frame's name. */
    zoom(node) {
        this.sandwich = node && this.sandwich ? this.sandwichAt(node) : null;
        this.root = this.sandwich?.callees ?? node ?? this.tree;
        this.choose(this.root);
    }

    search() {
        this.needle = this.input.value.trim().toLowerCase();
        this.draw();
    }

    matches(node) {
        return this.needle && visibleText(node.name).toLowerCase().includes(this.needle);
    }

    nodeAt(event) {
        return this.shown[event.target.closest('.frame')?.dataset.place]?.node;
    }

    /* Returns the frames to show, with their rows. The frames above a zoomed one are as wide as
     * the graph. */
    layOut() {
        const least = 1 / Math.max(300, this.frames.clientWidth);
        if (this.sandwich) {
            const above = layOutFlame(this.sandwich.callers, this.isByTime, least).slice(1);
            const rows = above.reduce((most, {depth}) => Math.max(most, depth), 0);
            return [...above.map((frame) => ({...frame, row: rows - frame.depth})),
                ...layOutFlame(this.root, this.isByTime, least)
                    .map((frame) => ({...frame, row: rows + frame.depth}))];
        }
        const above = [];
        for (let node = this.root.parent; node; node = node.parent)
            above.unshift({node, x: 0, width: 1});
        return [...above.map((frame, row) => ({...frame, row})),
            ...layOutFlame(this.root, this.isByTime, least)
                .map((frame) => ({...frame, row: above.length + frame.depth}))];
    }

    draw() {
        if (!this.tree)
            return;
        this.shown = this.layOut();
        const rows = this.shown.reduce((most, {row}) => Math.max(most, row + 1), 1);
        const held = this.frames.contains(document.activeElement);
        this.frames.style.setProperty('height', `${rows * lineHeight}px`);
        this.frames.replaceChildren(...this.shown.map((frame, i) => this.makeFrame(frame, i)));
        if (held)
            this.frames.querySelector('[tabindex="0"]')?.focus({preventScroll: true});
        this.orderButton.setAttribute('aria-pressed', String(!this.isByTime));
        this.callersButton.setAttribute('aria-pressed', String(Boolean(this.sandwich)));
        this.callersButton.disabled = !this.sandwich && !this.chosen.parent;
        this.showHits();
        this.details.replaceChildren(...this.describe(this.chosen).filter(Boolean));
    }

    makeFrame({node, x, width, row}, place) {
        const isHit = this.matches(node);
        const isDim = this.needle && !isHit;
        const fill = isHit ? hitFill : this.fillOf(node);
        const isChosen = node === this.chosen;
        const name = visibleText(cutText(node.name, 200)) || '(no name)';
        const frame = make('button', {type: 'button', 'data-place': place,
            class: `frame${isDim ? ' dim' : ''}${isChosen ? ' chosen' : ''}`,
            tabindex: isChosen ? 0 : -1, 'data-total': node.total,
            'aria-label': `${name}, ${this.timesText(node)}`,
            title: `${name}\n${this.timesText(node)}, ${this.shareText(node)}`},
        width * this.frames.clientWidth > 24 ? make('bdi', {}, name) : null,
        this.noteOf(node, width * this.frames.clientWidth));
        frame.style.setProperty('left', `${100 * x}%`);
        frame.style.setProperty('width', `${100 * width}%`);
        frame.style.setProperty('top', `${row * lineHeight}px`);
        frame.style.setProperty('background', fill);
        frame.style.setProperty('color', inkOn(fill));
        return frame;
    }

    fillOf(node) {
        return node.kind === 'call' || node === this.tree ? neutralFill : colorOf(node.name);
    }

    /* Returns more text for a frame of this width. */
    noteOf() {
        return null;
    }

    timesText(node) {
        return timeText(node.total);
    }

    shareText(node) {
        return percentText(100 * node.total / (this.tree.total || 1));
    }

    showHits() {
        let total = 0;
        if (this.needle)
            eachOutermost(this.tree, (node) => {
                const isHit = this.matches(node);
                if (isHit)
                    total += node.total;
                return isHit;
            });
        const count = this.shown.filter(({node}) => this.matches(node)).length;
        this.output.textContent = this.needle ? `${pluralText(count, 'frame')}, `
            + percentText(100 * total / (this.tree.total || 1)) : '';
    }

    /* Returns the times of a frame, and what leads on from it. */
    describe(node) {
        const kinds = {call: 'CUDA call', activity: 'activity', frame: 'function'};
        const isEvent = node.parent || this.sandwich ? node.kind !== 'frame' : false;
        const {page} = this;
        const id = isEvent && page.tableOf(node.name, node.kind);
        return [make('div', {class: 'title'}, make('h2', {}, makeName(node.name, 300), ' ',
            make('small', {}, kinds[node.kind] ?? '')), make('div', {class: 'buttons'},
            this.root !== node ? makeButton('Zoom to it', () => this.zoom(node)) : null,
            isEvent && page.options.onname && page.options.hasName(node.name) ?
                makeButton('On the timeline', () => page.options.onname(node.name)) : null,
            isEvent && page.showName && page.options.hasName(node.name) ?
                makeButton('All about this name', () => page.showName(node.name)) : null,
            id ? makeButton('In the table', () => page.showRow(id, node.name)) : null)),
        this.fieldsOf(node),
        this.sandwich ? make('p', {class: 'note'}, 'Callers are above, callees below. Time of '
            + 'recursive calls counts once.') : null];
    }

    fieldsOf(node) {
        return makeList([measured('Total', 'time', node.total), ['Share', this.shareText(node)],
            measured('Self', 'time', node.self),
            ['Count', node.count ? countText(node.count) : '']], 'fields');
    }

    /* Returns the frame next to the chosen one: a row up or down, or along its row. */
    neighbour(key) {
        const {node, row, x} = this.shown.find((frame) => frame.node === this.chosen) ??
            this.shown[0];
        const step = {ArrowUp: -1, ArrowDown: 1}[key];
        if (step) {
            const near = this.shown.filter((frame) => frame.row === row + step);
            return (near.find((frame) => frame.node.parent === node || frame.node === node.parent)
                ?? near.find((frame) => frame.x + frame.width > x))?.node;
        }
        const line = this.shown.filter((frame) => frame.row === row).sort((a, b) => a.x - b.x);
        const place = line.findIndex((frame) => frame.node === this.chosen);
        return line[place + (key === 'ArrowLeft' ? -1 : 1)]?.node;
    }

    press(event) {
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        const isField = event.target === this.input;
        const act = {
            Escape: () => (isField || this.root === this.tree && !this.sandwich ?
                this.frames.querySelector('[tabindex="0"]')?.focus() : this.zoom(null)),
            '/': () => this.input.select(),
            Enter: () => this.zoom(this.chosen), f: () => this.zoom(this.chosen),
            Backspace: () => this.zoom(this.root.parent), 0: () => this.zoom(null),
            c: () => this.turnCallers(), o: () => this.turnOrder(),
        }[event.key];
        const isInFrames = this.frames.contains(event.target);
        if (isField ? event.key !== 'Escape' : !isInFrames && event.key !== '/')
            return;
        if (act)
            act();
        else if (event.key.startsWith('Arrow'))
            this.choose(this.neighbour(event.key));
        else
            return;
        event.preventDefault();
    }

    /* Opens the tree that has a name, at its frame with the most time. */
    showName(name, kind) {
        const places = this.trees.map((_, i) => i);
        for (const i of [this.index, ...places]) {
            this.openTree(i);
            const node = findNode(this.tree, {name, kind});
            if (node) {
                this.zoom(node);
                return;
            }
        }
    }
}

/* Returns the node of a name with the most time; undefined: none. */
function findNode(root, {name, kind}) {
    let best;
    eachOutermost(root, (node) => {
        if (node.name === name && node.kind === kind && !(best?.total >= node.total))
            best = node;
    });
    return best;
}

function makeFlamePage(page) {
    page.flame ??= new Flame(page);
    return page.flame.element;
}
