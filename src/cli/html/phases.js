/* Plots of timers inside kernels, from the report: each kernel's time by phase, and how long blocks
 * took on each SM. */
'use strict';

/* The share of each phase without phases inside it, and what is left of the kernel: [name,
 * percent]. */
function phaseShares(report, kernel) {
    const shares = report.rows
        .filter((row) => row.kernel === kernel.kernel && row.device === kernel.device)
        .map((row) => [row.phase, row.self_percent ?? 0])
        .filter(([, percent]) => percent > 0);
    const rest = 100 - shares.reduce((sum, [, percent]) => sum + percent, 0);
    return rest > 0.005 ? [...shares, [null, rest]] : shares;
}

function makePhaseBar(shares) {
    const texts = shares.map(([name, percent]) =>
        `${name === null ? 'in no phase' : visibleText(name)} ${percentText(percent)}`);
    const parts = shares.map(([name, percent], i) => {
        const part = make('span', {title: texts[i]});
        part.style.setProperty('width', `${percent}%`);
        if (name !== null)
            part.style.setProperty('background', colorOf(name));
        return part;
    });
    const legend = shares.map(([name, percent]) => {
        const chip = make('span', {class: 'chip', 'aria-hidden': 'true'});
        if (name !== null)
            chip.style.setProperty('background', colorOf(name));
        return make('li', {}, chip, name === null ? 'in no phase' : makeName(name, 120),
            ` ${percentText(percent)}`);
    });
    return [make('div', {class: 'phases', role: 'img', 'aria-label': cutText(texts.join(', '), 4000)},
        parts), make('ul', {class: 'legend'}, legend)];
}

/* Plots the shortest, mean and longest block of each SM. */
function makeSmPlot(kernel, sms) {
    const last = sms.reduce((most, row) => Math.max(most, row.sm), 0);
    const most = sms.reduce((top, row) => Math.max(top, row.max_cycles), 1);
    const bySm = new Map(sms.map((row) => [row.sm, row]));
    return makePlot({
        label: `Cycles of blocks of ${visibleText(kernel.kernel)} on `
            + `${pluralText(sms.length, 'SM')}: at most ${countText(most)}`,
        height: 140, x: [-0.5, last + 0.5], y: most * 1.04,
        xText: (sm) => (Number.isInteger(sm) ? `SM ${sm}` : ''), yText: (n) => countText(n),
        draw: (pen) => {
            const width = Math.max(1, Math.min(14, (pen.x(1) - pen.x(0)) * 0.6));
            for (const row of sms) {
                const x = pen.x(row.sm);
                const top = pen.y(row.max_cycles), mean = pen.y(row.avg_cycles);
                pen.add('rect', {x: x - width / 2, y: top, width,
                    height: Math.max(1, pen.y(row.min_cycles) - top), class: 'bar'});
                pen.add('line', {x1: x - width / 2, x2: x + width / 2, y1: mean, y2: mean,
                    class: 'curve'});
            }
        },
        tip: (x) => {
            const row = bySm.get(Math.round(x));
            return row ? `SM ${row.sm}: ${pluralText(row.blocks, 'block')}, `
                + `${countText(row.min_cycles)} to ${countText(row.max_cycles)} cycles, on average `
                + countText(Math.round(row.avg_cycles)) : '';
        },
    });
}

function makeKernelCard(report, kernel) {
    const sms = (report.tables.sms?.rows ?? []).filter((row) =>
        row.kernel === kernel.kernel && row.device === kernel.device);
    return make('section', {class: 'card'}, make('h2', {}, makeName(kernel.kernel, 120), ' ',
        make('small', {}, kernel.device)),
    make('p', {}, `${pluralText(kernel.launches, 'launch', 'launches')}, `
        + `${pluralText(kernel.blocks, 'block')}`
        + (kernel.spread > 1 ? `; the slowest took ${numberText(kernel.spread)} times the mean.`
            : '.')),
    makePhaseBar(phaseShares(report, kernel)),
    sms.length ? make('p', {class: 'note'}, 'Blocks by SM: from the shortest to the longest, with '
        + 'the mean, in cycles.') : null,
    sms.length ? makeSmPlot(kernel, sms) : null);
}

function makePhasesPage(page) {
    const report = page.trace.tables.phases;
    return [report.tables.kernels.rows.slice(0, 20).map((kernel) => makeKernelCard(report, kernel)),
        reportsOf(page, ['phases'])];
}
