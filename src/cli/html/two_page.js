/* The page of two runs, A and B, and their comparison. */
'use strict';

/* Returns two paths without the folders that both begin with. */
function shortPaths({a, b}) {
    let same = 0;
    while (same < a.length && a[same] === b[same])
        same++;
    const begin = a.slice(0, same).lastIndexOf('/') + 1;
    return {a: a.slice(begin), b: b.slice(begin)};
}

class ComparisonPage extends BasePage {
    constructor(a, b, comparison) {
        super();
        Object.assign(this, {a, b, comparison});
        this.sides = Object.fromEntries(comparison.tables.traces.rows
            .map((row) => [row.name, row]));
        this.isPerStep = this.sides.steps.a !== 0 && this.sides.steps.b !== 0;
        this.timeOf = `Self time of a ${this.isPerStep ? 'step' : 'run'}`;
        const scaleOf = ({facts}) => (this.isPerStep ? 1 / (facts.step_count || 1) : 1);
        this.scales = {a: scaleOf(a), b: scaleOf(b)};
        this.names = new Set([a, b].flatMap((trace) => [...trace.tracks, trace.waits]
            .filter((track) => track.count).flatMap((track) => namesOf(trace, track))));
        this.hasTimeline = a.facts.has_spans && b.facts.has_spans;
        this.options = {
            hasName: (name) => this.hasName(name),
            onabout: (name) => this.showCalls(name),
            onname: this.hasTimeline && ((name) => {
                this.open('timeline');
                this.timelinePair.showName(name);
            }),
        };
        this.runsText = this.textOnRuns();
        this.build();
    }

    hasName(name) {
        return this.names.has(name);
    }

    /* Returns a sentence on which runs the plots show; '' if each side has one run. */
    textOnRuns() {
        const {runs} = this.sides;
        return runs ? ` They are of one run of each: ${visibleText(this.a.file)} and `
            + `${visibleText(this.b.file)}, those in the middle of ${runs.a} and ${runs.b}.` : '';
    }

    build() {
        const {a, b} = shortPaths(this.sides.file);
        document.title = `${visibleText(a)}, ${visibleText(b)} \u2013 Takt`;
        byId('run').replaceChildren(...[['a', a], ['b', b]].map(([side, path]) =>
            make('span', {}, sideChip(side), ' ', makeName(path, 60))));
        byId('banners').replaceChildren(...[['A', this.a], ['B', this.b]].flatMap(
            ([side, trace]) => bannersOf(trace).map(([label, text]) => make('p',
                {class: 'banner', role: 'alert'}, make('b', {}, label), `${side}: ${text}`))));
        byId('provenance').textContent =
            `A: ${this.a.facts.provenance}. B: ${this.b.facts.provenance}.`;
        this.makeTabs([
            ['comparison', 'Comparison', makeComparison],
            ['timeline', 'Timelines', makePairPage],
            ...joinedTrees(this).length ? [['flame', 'Flame graph', makeComparisonFlame]] : [],
        ]);
        this.begin('comparison');
    }

    /* The timelines are made when they are first needed. */
    get timelinePair() {
        if (!this.timelines.length) {
            this.pair = new TimelinePair(this);
            this.timelines = this.pair.timelines;
            this.timelines.forEach((timeline) => timeline.page = this);
        }
        return this.pair;
    }

    activeTimeline() {
        return this.timelinePair.active;
    }

    /* Returns the row of a name with a kind of the flame graph's nodes, or undefined. */
    rowOf(name, kind) {
        return this.comparison.rows.find((row) => row.name === name && row.kind === kind);
    }

    tableOf(name, kind) {
        return this.rowOf(name, kind) && 'comparison';
    }

    address() {
        return `#${this.current}`;
    }

    goTo(fragment) {
        const id = fragment.slice(1);
        const isPlace = this.pages.some(([name]) => name === id);
        if (isPlace)
            this.open(id, false);
        return isPlace;
    }
}
