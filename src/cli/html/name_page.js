/* The tab about one name, which is chosen from a list. */
'use strict';

const shareNote = 'Bars: how many took how long. Line: in which of them the time went, as a share '
    + 'of all of it.';

/* Plots how many calls (or what they are called) took how long, and in which of them the time went.
 * The durations are sorted; each counts as often as its weight says. */
function makeLogHistogram(durations, weights, what, levels) {
    const {from, width, counts, totals} = logBins(durations, weights);
    const to = from + width * counts.length;
    const spare = Math.max(0, 1 - (to - from)) / 2; /* shows a power of ten at least, with ticks */
    const most = Math.max(...counts), mostTime = Math.max(...totals, 1);
    const all = totals.reduce((sum, total) => sum + total, 0) || 1;
    return makePlot({
        label: `Histogram of ${pluralText(weights.reduce((a, b) => a + b, 0), 'duration')} on a logarithmic axis, `
            + `from ${timeText(durations[0])} to ${timeText(durations.at(-1))}`,
        height: 200, x: [from - spare, to + spare], y: most * 1.15,
        xTicks: logTicks(from - spare, to + spare),
        yText: (n) => (Number.isInteger(n) ? countText(n) : ''),
        draw: (pen) => {
            let path = '';
            counts.forEach((count, i) => {
                const x = pen.x(from + i * width), end = pen.x(from + (i + 1) * width);
                pen.add('rect', {x: x + 0.5, y: pen.y(count), width: Math.max(1, end - x - 1),
                    height: pen.bottom - pen.y(count), class: 'bar'});
                const y = pen.y(totals[i] / mostTime * most);
                path += `${i ? 'L' : 'M'}${x} ${y}H${end}`;
            });
            pen.add('path', {d: path, class: 'curve share-curve'});
            for (const [i, [value, name]] of levels.entries()) {
                const x = pen.x(Math.log10(Math.max(1, value)));
                const isLate = x > pen.right - 60;
                pen.add('line', {x1: x, x2: x, y1: plotMargin.top, y2: pen.bottom, class: 'level'});
                pen.add('text', {x: isLate ? x - 4 : x + 4, y: plotMargin.top + 8 + 12 * i,
                    class: isLate ? 'tick strong end' : 'tick strong'}, name);
            }
        },
        tip: (x) => {
            const i = Math.floor((x - from) / width);
            return !(i in counts) ? '' : `${timeText(10 ** (from + i * width))} to `
                + `${timeText(10 ** (from + (i + 1) * width))}: ${pluralText(counts[i], what)}, `
                + `${percentText(100 * totals[i] / all)} of the time`;
        },
    });
}

/* Plots a name's time in each recorded step. */
function makeTimePerStep(page, name) {
    const {trace} = page;
    const values = stepTimes(trace, name);
    const sorted = values.slice().sort();
    const median = quantileOf(sorted, 0.5);
    return plotSteps(trace, values, {what: `Time of ${visibleText(name)}`, onstep: page.onstep,
        levels: [[median, `median ${timeText(median)}`]]});
}

function nameFields(trace, name, {durations, total, rows}) {
    const count = rows.reduce((sum, row) => sum + row.count, 0), whole = durations.length;
    return makeList([
        ['Count', countText(count)],
        ['Cut', whole < count ? countText(count - whole) : ''],
        measured('Total', 'time', total),
        ...whole ? [
            measured('Mean', 'time', durations.reduce((sum, d) => sum + d, 0) / whole),
            measured('Median', 'time', quantileOf(durations, 0.5)),
            whole >= 100 ? measured('p99', 'time', quantileOf(durations, 0.99)) : ['p99', ''],
            measured('Min', 'time', durations[0]),
            measured('Max', 'time', durations.at(-1))] : [],
        trace.steps.count ? ['Per step', numberText(count / trace.steps.count)] : ['', ''],
    ], 'fields');
}

function nameButtons(page, name) {
    const {trace} = page;
    const [found] = tracksOfName(trace, name);
    const kind = nodeKind(found.track,
        found.track.events.what.findIndex((what) => found.isOf[what]));
    const id = tableOfName(trace, name, kind);
    return make('div', {class: 'buttons'},
        makeButton('On the timeline', () => page.options.onname(name)),
        flameTrees(trace).length ? makeButton('In the flame graph',
            () => page.showFlame(name, kind)) : null,
        id ? makeButton('In the table', () => page.showRow(id, name)) : null);
}

function makeLaunched(page, name) {
    const {trace} = page;
    const rows = launchedRows(trace, name);
    const isActivity = tracksOfName(trace, name)[0].track.kind === 'stream';
    const title = isActivity ? 'Scopes that launched it' : 'Launched by it, and below it';
    return makeTable({columns: ['name', 'count', 'total_ns'], rows, row_count: rows.length},
        {title, label: title, report: 'page', sort: 'total_ns', onname: (other) => page.showName(other),
            hasName: page.options.hasName});
}

/* Returns the cards about a name. */
function nameCards(page, name) {
    const {trace} = page;
    const stats = statsOfName(trace, name);
    const {durations} = stats;
    if (!stats.rows.length)
        return [make('p', {class: 'empty'}, 'The page has no event of this name. ',
            hiddenText(trace))];
    const median = quantileOf(durations, 0.5), p99 = quantileOf(durations, 0.99);
    const slowest = makePlaces('The slowest', stats.slowest.map(({track, event, duration}) => {
        const step = stepAt(trace, track.events.begin[event]);
        const at = step < 0 ? `at ${timeText(track.events.begin[event] - trace.begin)}` :
            `step ${trace.steps.number[step]}`;
        return [duration, at, () => page.onevent({track, event})];
    }));
    return [
        make('section', {class: 'card'}, make('div', {class: 'title'},
            make('h2', {}, makeName(name, 300)), nameButtons(page, name)),
        nameFields(trace, name, stats),
        durations.length ? makeLogHistogram(durations, durations.map(() => 1), 'call',
            durations.length >= 100 ? [[median, 'median'], [p99, 'p99']] : [[median, 'median']]) : '',
        make('p', {class: 'note'}, shareNote)),
        make('div', {class: 'pair'}, trace.steps.count ? make('section', {class: 'card'},
            make('h2', {}, 'Time in each step'), makeTimePerStep(page, name)) : null,
        make('section', {class: 'card'}, slowest)),
        make('div', {class: 'pair'}, makeTable({columns: ['where', 'count', 'total_ns', 'avg_ns',
            'min_ns', 'max_ns'], titles: ['Where', 'Count', 'Total', 'Mean', 'Min', 'Max'], rows: stats.rows, row_count: stats.rows.length},
        {title: 'By thread', label: 'By thread', report: 'page', sort: 'total_ns'}), makeLaunched(page, name)),
        hiddenText(trace) ? make('p', {class: 'note'}, 'These numbers are of the events in the '
            + `page. ${hiddenText(trace)}`) : null,
    ].filter(Boolean);
}

/* Returns all names with events, scopes first, by their self time. */
function allNames(page) {
    const scopes = [...page.trace.tables.scopes?.rows ?? []]
        .sort((a, b) => b.self_cpu_ns - a.self_cpu_ns).map((row) => row.name);
    return [...new Set([...scopes, ...page.names])].filter((name) => page.names.has(name));
}

function makeNamePage(page) {
    const body = make('div', {class: 'names'});
    const list = make('datalist', {id: 'names'}, allNames(page).slice(0, 2000)
        .map((name) => make('option', {value: name})));
    const input = make('input', {type: 'search', list: 'names', 'aria-label': 'Name',
        placeholder: 'Name', spellcheck: 'false', onchange: () => page.showName(input.value)});
    page.fillName = () => {
        page.name ??= allNames(page)[0];
        input.value = page.name;
        body.replaceChildren(...nameCards(page, page.name));
    };
    page.fillName();
    return [make('div', {class: 'tools'}, input, list), body];
}
