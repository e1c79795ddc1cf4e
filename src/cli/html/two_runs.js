/* The first tab of a page of two runs: by how much B is slower, how long calls took in both, what
 * changed most, and the table of `takt diff`. */
'use strict';

/* Columns that the terminal shows; JSON has more, but not the band. */
const comparedColumns = ['name', 'kind', 'calls_a', 'calls_b', 'self_a_ns', 'self_b_ns',
    'self_change_ns', 'self_change_percent', 'change_ns', 'change_percent', 'band', 'p', 'verdict'];

/* Returns 'slower' or 'faster' for a verdict that says so, as the terminal's colours do. */
function verdictClass({verdict}) {
    if (/slower|more calls/.test(verdict))
        return 'slower';
    return /faster|fewer calls/.test(verdict) ? 'faster' : null;
}

/* Returns a confidence interval in percent of A's call. */
function bandOf(base, low, high) {
    const text = (ns) => valueText('growth', 100 * ns / base);
    return base > 0 && low !== null ? `${text(low)} .. ${text(high)}` : '';
}

function bandText(row) {
    return bandOf(row.call_a_ns, row.change_low_ns, row.change_high_ns);
}

/* Returns the table as the terminal shows it. */
function seenTable(comparison) {
    const titleOf = (key) => comparison.titles[comparison.columns.indexOf(key)] ?? '95 % band';
    return {...comparison, columns: comparedColumns, titles: comparedColumns.map(titleOf),
        rows: comparison.rows.map((row) => ({...row, band: bandText(row)}))};
}

/* ---- Distributions ---- */

const trackKinds = {scope: 'thread', call: 'thread', task: 'async', activity: 'stream'};

/* Returns how long the calls of a row took in a run, sorted: those that the recording has from
 * begin to end. */
function callsOf(trace, {name, kind}) {
    if (kind === 'step')
        return trace.steps.duration.slice().sort();
    const durations = [];
    eachOfName(tracksOfName(trace, name), (track, event) => {
        const {flags, duration} = track.events;
        if (track.kind === trackKinds[kind] && (kind === 'call') === isCall(track, event) &&
            !(flags?.[event] & (SPAN_BEGUN_BEFORE | SPAN_UNFINISHED)))
            durations.push(duration[event]);
    });
    return Float64Array.from(durations).sort();
}

/* Returns the axis that two sets of sorted durations share: {at(duration), from, to, bins, isLog}.
 * It is logarithmic if the longest is many times the shortest. */
function sharedAxis(sets) {
    const ends = sets.flatMap((set) => (set.length ? [set[0], set.at(-1)] : []));
    const low = Math.max(1, Math.min(...ends)), high = Math.max(low, ...ends);
    const isLog = high > 5 * low;
    const at = isLog ? (duration) => Math.log10(Math.max(1, duration)) : (duration) => duration;
    const spare = (at(high) - at(low) || at(high) * 0.1) * 0.04;
    const most = Math.max(...sets.map((set) => set.length));
    return {at, from: at(low) - spare, to: at(high) + spare, isLog,
        bins: Math.min(60, Math.max(12, Math.ceil(2 * Math.sqrt(most))))};
}

/* Returns for each bin the percentage of the durations in it. */
function binShares(durations, {at, from, to, bins}) {
    const shares = new Float64Array(bins);
    for (const duration of durations)
        shares[Math.min(bins - 1, Math.max(0, Math.floor((at(duration) - from) / (to - from)
            * bins)))] += 100 / durations.length;
    return shares;
}

/* Plots two distributions over each other, with the typical call of each run. */
function makeDistribution(row, sets) {
    const axis = sharedAxis(sets);
    const {at, from, to, bins} = axis;
    const shares = sets.map((set) => binShares(set, axis));
    const width = (to - from) / bins;
    const timeAt = (x) => (axis.isLog ? 10 ** x : x);
    const sides = ['a', 'b'];
    return makePlot({
        label: `Durations of ${visibleText(row.name)} in A and in B: `
            + sides.map((side, i) => `${pluralText(sets[i].length, 'call')} in `
                + side.toUpperCase()).join(', '),
        height: 260, margin: 30, x: [from, to],
        y: Math.max(...shares.map((one) => Math.max(...one))) * 1.15,
        xTicks: axis.isLog ? logTicks(from, to) : undefined, xText: tickText,
        yText: (percent) => `${percent}%`,
        draw: (pen) => sides.forEach((side, k) => {
            let path = `M${pen.x(from)} ${pen.bottom}`;
            shares[k].forEach((share, i) =>
                path += `V${pen.y(share)}H${pen.x(from + (i + 1) * width)}`);
            if (sets[k].length)
                pen.add('path', {d: `${path}V${pen.bottom}Z`, class: `outline side-${side}`});
            const typical = row[`call_${side}_ns`];
            if (typical === null)
                return;
            const x = pen.x(at(typical));
            pen.add('line', {x1: x, x2: x, y1: plotMargin.top, y2: pen.bottom,
                class: `median side-${side}`});
            pen.add('text', {x: x + (k ? 4 : -4), y: plotMargin.top + 8,
                class: k ? 'tick strong' : 'tick strong end'}, side.toUpperCase());
        }),
        tip: (x) => {
            const i = Math.min(bins - 1, Math.max(0, Math.floor((x - from) / width)));
            return `${timeText(timeAt(from + i * width))} to ${timeText(timeAt(from + (i + 1)
                * width))}: ${percentText(shares[0][i])} of A, ${percentText(shares[1][i])} of B`;
        },
    });
}

function sideChip(side) {
    return [make('span', {class: `chip fill-${side}`, 'aria-hidden': 'true'}),
        side.toUpperCase()];
}

/* Returns what the comparison says about a row's calls. */
function callFields(row) {
    return makeList([
        [sideChip('a'), valueText('time', row.call_a_ns), exactText('time', row.call_a_ns)],
        [sideChip('b'), valueText('time', row.call_b_ns), exactText('time', row.call_b_ns)],
        measured('Change', 'shift', row.change_ns),
        measured('Change %', 'growth', row.change_percent),
        ['95 % band', bandText(row)], ['p', valueText('chance', row.p)],
        measured('Mean change %', 'growth', row.mean_change_percent),
        ['Its band', bandOf(row.mean_a_ns, row.mean_low_ns, row.mean_high_ns)],
        ['Calls are', row.verdict],
    ], 'fields');
}

/* Fills the card with the durations of a row. */
function fillDistribution(page, card, row) {
    const sets = [page.a, page.b].map((trace) => callsOf(trace, row));
    card.replaceChildren(...[callFields(row),
        sets.some((set) => set.length) ? makeDistribution(row, sets) :
            make('p', {class: 'note'}, 'Single calls are not known.'),
        make('p', {class: 'note'}, 'The share of calls that took so long; the lines are the '
            + 'typical call.', page.runsText)]);
}

/* Makes the card of distributions, with a list of the rows to choose from. */
function makeDistributionCard(page) {
    const rows = page.comparison.rows.filter(({kind, name}) => kind === 'step' ||
        (kind in trackKinds && page.hasName(name))).slice(0, 300);
    if (!rows.length)
        return null;
    const body = make('div', {class: 'names'});
    const select = make('select', {'aria-label': 'Calls of', onchange: () =>
        fillDistribution(page, body, rows[select.selectedIndex])}, rows.map((row) =>
        make('option', {}, visibleText(cutText(row.name, 80))
            + (['scope', 'step'].includes(row.kind) ? '' : ` (${row.kind})`))));
    page.showCalls = (name) => {
        select.selectedIndex = Math.max(0, rows.findIndex((row) => row.name === name));
        fillDistribution(page, body, rows[select.selectedIndex]);
        select.focus();
        select.scrollIntoView({block: 'nearest'});
    };
    fillDistribution(page, body, rows[0]);
    return make('section', {class: 'card'}, make('div', {class: 'tools'},
        make('h2', {}, 'How long calls took'), select), body);
}

/* ---- Bars ---- */

/* Returns the rows that changed most, in the order of the table, without those of less than a
 * hundredth of the largest change. A row of kind cuda has the time of activities, which have rows
 * of their own. */
function largestChanges(rows, most) {
    const changed = rows.filter(({verdict, kind, self_change_ns: change}) => change &&
        kind !== 'cuda' && !['same', 'noise'].includes(verdict));
    const sizes = changed.map((row) => Math.abs(row.self_change_ns)).sort((a, b) => b - a);
    const least = Math.max(sizes[0] / 100, sizes[most - 1] ?? 0);
    return changed.filter((row) => Math.abs(row.self_change_ns) >= least).slice(0, most);
}

function makeSideBar(side, value, most) {
    const bar = make('span', {class: `bar fill-${side}`, 'aria-hidden': 'true'});
    bar.style.setProperty('width', `${100 * Math.max(0, value) / most}%`);
    return [make('span', {class: 'side'}, side.toUpperCase()), make('span', {class: 'track'}, bar),
        make('span', {class: 'value', title: exactText('time', value)}, timeText(value))];
}

function makeChangeBars(page) {
    const rows = largestChanges(page.comparison.rows, 10);
    const most = Math.max(1, ...rows.flatMap((row) => [row.self_a_ns, row.self_b_ns]));
    return make('section', {class: 'card'}, make('h2', {}, 'What changed'),
        rows.length ? null : make('p', {class: 'note'}, 'Nothing beyond the noise.'),
        make('ol', {class: 'bars changes'}, rows.map((row) => make('li', {},
            make('span', {class: 'title'}, makeName(row.name, 120),
                make('span', {class: row.self_change_ns > 0 ? 'value slower' : 'value faster',
                    title: exactText('shift', row.self_change_ns)},
                valueText('shift', row.self_change_ns),
                ` ${valueText('growth', row.self_change_percent)}`)),
            makeSideBar('a', row.self_a_ns, most), makeSideBar('b', row.self_b_ns, most)))),
        make('p', {class: 'note'}, `${page.timeOf}.`));
}

/* ---- Tables ---- */

/* Makes the table of facts about both sides; times in it are in ns. */
function makeSides(facts) {
    const text = (name, value) => (name === 'wall time' && typeof value === 'number' ?
        timeText(value) : valueText('plain', value));
    const rows = facts.rows.map((row) => ({name: row.name, a: text(row.name, row.a),
        b: text(row.name, row.b), differs: row.differs ? 'differs' : ''}));
    return makeTable({columns: ['name', 'a', 'b', 'differs'], titles: ['', 'A', 'B', ''], rows,
        row_count: rows.length}, {title: 'The runs', label: 'The runs'});
}

function makeNotes(notes, properties) {
    return notes.map((note) => make('p', properties, visibleText(note)));
}

function makeComparison(page) {
    const {comparison} = page;
    const warnings = comparison.notes.filter((note) => note.startsWith('Careful: '));
    const notes = comparison.notes.filter((note) => !note.startsWith('Careful: '));
    return [
        make('p', {class: 'headline'}, visibleText(comparison.headline)),
        warnings.length ? make('div', {class: 'warnings'}, makeNotes(warnings)) : null,
        make('div', {class: 'pair'}, makeDistributionCard(page), makeChangeBars(page)),
        make('section', {}, makeTable(seenTable(comparison), {...page.options, heading: 'h2',
            title: page.timeOf, label: 'Comparison', rowClass: verdictClass,
            report: 'reading the table' /* the section of docs/comparing.md */}),
        makeNotes(notes, {class: 'note'})),
        makeSides(comparison.tables.traces),
    ];
}
