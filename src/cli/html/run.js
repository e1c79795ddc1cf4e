/* The whole run: how long each of its steps took, recorded or not. */
'use strict';

/* Returns the durations of all steps, sorted, and how many steps have each. Those of a long run come
 * from a histogram, within 1/32. */
function runDurations({size, total, buckets}) {
    if (size === 1) {
        const durations = total.slice().sort();
        return {durations, weights: durations.map(() => 1)};
    }
    return {durations: Float64Array.from(buckets, ([ns]) => ns),
        weights: Float64Array.from(buckets, ([, count]) => count)};
}

/* The row of all steps in the report; the summary has it, too. */
function allStepsRow(trace) {
    const rows = trace.tables.steps?.rows ?? trace.tables.summary?.tables?.steps?.rows ?? [];
    return rows.find((row) => row.steps === 'all') ?? {};
}

function runTip({size, steps, total, min, max, windows}, x) {
    const part = Math.min(total.length - 1, Math.max(0, Math.floor(x / size)));
    const first = part * size, last = Math.min(steps, first + size) - 1;
    const isRecorded = windows.some(([from, to]) => from <= last && first <= to);
    const what = last === first ? `step ${first}: ${timeText(total[part])}`
        : `steps ${first} to ${last}: ${timeText(total[part] / (last - first + 1))} on average, `
            + `${timeText(min[part])} to ${timeText(max[part])}`;
    return isRecorded ? `${what}, recorded` : what;
}

/* Draws the windows, each at least two pixels wide. */
function drawWindows(pen, windows) {
    for (const [first, last] of windows) {
        const x = Math.max(plotMargin.left, pen.x(first - 0.5));
        const width = Math.max(2, Math.min(pen.right, pen.x(last + 0.5)) - x);
        pen.add('rect', {x, y: plotMargin.top, width, height: pen.bottom - plotMargin.top,
            class: 'window'});
    }
}

/* Draws for each two pixels the least and the greatest duration. */
function drawRun(pen, {count, size, min, max}, least, longest) {
    const columns = Math.min(count, Math.floor((pen.right - plotMargin.left) / 2));
    let path = '';
    for (let i = 0; i < columns; i++) {
        const from = Math.floor(i * count / columns);
        const to = Math.max(from + 1, Math.floor((i + 1) * count / columns));
        const x = pen.x(count === 1 ? 0.5 : from * size);
        const low = pen.y(min[least.best(from, to)]), high = pen.y(max[longest.best(from, to)]);
        path += `${i ? 'L' : 'M'}${x} ${low}L${x} ${high}`;
        if (count <= 120)
            pen.add('circle', {cx: x, cy: high, r: 2.5, class: 'dot'});
    }
    pen.add('path', {d: path, class: 'curve'});
}

/* Plots the duration of each step of the run. A click leads to a recorded step. */
function makeRunPlot(trace, onstep) {
    const {run} = trace;
    const longest = new Pyramid(run.max), least = new Pyramid(run.min, -1);
    const most = run.max[longest.best(0, run.count)];
    const {median_ns: median} = allStepsRow(trace);
    return makePlot({
        label: `Durations of ${pluralText(run.steps, 'step')} of the run, of which `
            + `${countText(run.windows.reduce((sum, [, , n]) => sum + n, 0))} were recorded: `
            + `median ${timeText(median)}, longest ${timeText(most)}`,
        x: [0, Math.max(1, run.steps - 1)], y: most * 1.04, margin: 118,
        xText: (n) => (Number.isInteger(n) && n < run.steps ? `step ${n}` : ''),
        yText: tickText,
        draw: (pen) => {
            drawWindows(pen, run.windows);
            drawRun(pen, run, least, longest);
            drawLevel(pen, median, `median ${timeText(median)}`);
        },
        onclick: onstep && ((x) => {
            const step = trace.steps.number.indexOf(Math.round(x));
            if (step >= 0)
                onstep(step);
        }),
        tip: (x) => runTip(run, Math.round(x)),
    });
}

/* Makes the cards about the run; null if all of its steps were recorded here, or none is known. */
function makeRunCards(trace, onstep) {
    const {run} = trace;
    if (run.steps <= trace.steps.count)
        return null;
    const {median_ns: median, p99_ns: p99} = allStepsRow(trace);
    const {durations, weights} = runDurations(run);
    return make('div', {class: 'pair'},
        make('section', {class: 'card'}, make('h2', {}, 'The whole run'),
            make('p', {}, trace.tables.steps?.headline ?? ''), makeRunPlot(trace, onstep),
            make('p', {class: 'note'}, 'Shaded: the steps that were recorded.')),
        make('section', {class: 'card'}, make('h2', {}, 'How long the steps of the run took'),
            makeLogHistogram(durations, weights, 'step',
                p99 ? [[median, 'median'], [p99, 'p99']] : [[median, 'median']]),
            make('p', {class: 'note'}, shareNote)));
}
