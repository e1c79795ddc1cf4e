/* The timelines of two runs, one above the other. They zoom and move together, and are aligned at
 * the begin of the recordings, at a step, or at the events that are selected. */
'use strict';

/* Returns pairs of steps, [index in A, index in B]: those of the same number or, if no number is in
 * both, the first with the first. */
function pairSteps(a, b) {
    const places = new Map(Array.from(b.number, (number, i) => [number, i]));
    const pairs = [];
    for (let i = 0; i < a.count; i++)
        if (places.has(a.number[i]))
            pairs.push([i, places.get(a.number[i])]);
    return pairs.length ? pairs :
        Array.from({length: Math.min(a.count, b.count)}, (_, i) => [i, i]);
}

class TimelinePair {
    constructor({a, b}) {
        this.traces = [a, b];
        this.timelines = [new Timeline(a, 'A'), new Timeline(b, 'B')];
        this.wholes = this.timelines.map(({first, last}) => ({first, last}));
        this.active = this.timelines[0];
        this.pairs = pairSteps(a.steps, b.steps);
        for (const timeline of this.timelines) {
            timeline.linked = this.timelines;
            for (const type of ['pointerenter', 'focusin'])
                timeline.element.addEventListener(type, () => this.active = timeline);
        }
        this.element = make('div', {class: 'pair-of-timelines'},
            makeToolbar(this.timelines, () => this.active), this.makeBar(),
            this.timelines.map(({element}) => element));
        this.align([a.begin, b.begin], 'the begin');
        this.active.fit();
    }

    makeBar() {
        const numbers = this.pairs.map(([i]) => this.traces[0].steps.number[i]);
        const last = numbers.length - 1;
        const go = (pair) => this.alignStep(Math.min(last, Math.max(0, pair)));
        this.pair = -1;
        this.input = make('input', {type: 'number', min: numbers[0], max: numbers[last],
            'aria-label': 'Step of A to align at', placeholder: numbers[0],
            onchange: () => go(lowerBound(numbers, Number(this.input.value)))});
        this.told = make('output', {'aria-live': 'polite'});
        const steps = last < 0 ? [] : [make('span', {}, 'step'), this.input,
            makeButton('\u2039', () => go(this.pair - 1), {'aria-label': 'Previous step'}),
            makeButton('\u203a', () => go(this.pair + 1), {'aria-label': 'Next step'})];
        return make('div', {class: 'toolbar', role: 'toolbar', 'aria-label': 'Align'}, 'Align at',
            ...steps, makeButton('Begin', () => this.alignBegin()),
            makeButton('Selected events', () => this.alignSelected(),
                {title: 'Click an event in A and one in B'}), this.told);
    }

    /* Makes one time of A and one of B the same, marks both, and gives both the same range. */
    align([timeA, timeB], text) {
        const shifts = [0, timeB - timeA];
        const first = Math.min(...this.wholes.map((whole, i) => whole.first - shifts[i]));
        const last = Math.max(...this.wholes.map((whole, i) => whole.last - shifts[i]));
        this.timelines.forEach((timeline, i) => Object.assign(timeline, {shift: shifts[i],
            anchor: [timeA, timeB][i], first: first + shifts[i], last: last + shifts[i]}));
        this.told.textContent = `Aligned at ${text}`;
    }

    alignBegin() {
        this.align(this.traces.map((trace) => trace.begin), 'the begin');
        this.active.fit();
    }

    /* Shows both steps of a pair from their begin on. */
    alignStep(index) {
        const places = this.pairs[index];
        const steps = this.traces.map((trace) => trace.steps);
        const begins = steps.map(({begin}, i) => begin[places[i]]);
        const [numberA, numberB] = steps.map(({number}, i) => number[places[i]]);
        const length = Math.max(...steps.map(({duration}, i) => duration[places[i]]));
        this.pair = index;
        this.input.value = numberA;
        this.align(begins, numberA === numberB ? `step ${numberA}` :
            `step ${numberA} of A and step ${numberB} of B`);
        this.timelines[0].show(begins[0] - length * 0.05, begins[0] + length * 1.05);
    }

    alignSelected() {
        const selected = this.timelines.map((timeline) => timeline.selected);
        if (selected.includes(null)) {
            this.told.textContent = 'Click an event in A and one in B first';
            return;
        }
        const names = selected.map(({track, event}, i) =>
            visibleText(cutText(eventName(this.traces[i], track, event), 60)));
        this.align(selected.map(({track, event}) => track.events.begin[event]),
            names[0] === names[1] ? names[0] : `${names[0]} and ${names[1]}`);
        this.timelines[0].zoomTo(selected[0]);
    }

    /* Finds a name in both runs. */
    showName(name) {
        for (const timeline of this.timelines)
            timeline.select(null);
        searchFor(this.timelines[0], name);
        nextHit(this.timelines[1], 1);
    }
}

function makePairPage({a, b, timelinePair}) {
    const runs = [['A', a], ['B', b]];
    const without = runs.filter(([, trace]) => !trace.tracks.some((track) => track.count));
    if (without.length === 2)
        return make('p', {class: 'empty'}, 'There are no timelines: both runs kept a summary only, '
            + 'or recorded nothing. The table is complete.');
    const banners = [
        ...without.map(([side, {facts}]) => `${side} ` + (facts.has_spans ? 'recorded nothing.' :
            'kept a summary only and has no timeline.')),
        ...runs.filter(([, trace]) => trace.hidden.count).map(([side, trace]) =>
            `${side}: ${hiddenText(trace)}`)];
    return [banners.map((text) => make('p', {class: 'banner'}, text)), timelinePair.element];
}
