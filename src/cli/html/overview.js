/* The first tab: speed, where the time went, and whether the device waited. */
'use strict';

function makeTile(label, value, note, isWarning = false) {
    return make('div', {class: isWarning ? 'tile warning' : 'tile'}, make('dt', {}, label),
        make('dd', {}, value), note ? make('dd', {class: 'note'}, note) : null);
}

function stepTile(trace) {
    const steps = trace.tables.summary?.tables?.steps?.rows ?? [];
    const recorded = steps.find((row) => row.steps === 'recorded') ?? steps[0];
    if (!recorded)
        return makeTile('Steps per second', '\u2013', 'no steps were recorded');
    const far = recorded.p99_ns ? `p99 ${timeText(recorded.p99_ns)}`
        : `longest ${timeText(recorded.max_ns)}`;
    return makeTile('Steps per second', numberText(recorded.steps_per_second),
        `${pluralText(recorded.count, 'recorded step')}, median ${timeText(recorded.median_ns)}, `
        + far);
}

function deviceTiles(trace) {
    const rows = (trace.tables.summary?.tables?.devices?.rows ?? [])
        .filter((row) => row.device !== 'cpu')
        .sort((a, b) => compareValues(a.device, b.device));
    if (!rows.length)
        return [makeTile('Devices', 'none', 'no device did anything in this recording')];
    const shown = rows.slice(0, 4).map((row) => {
        const hasBusy = typeof row.busy_percent === 'number';
        return makeTile(hasBusy ? `${row.device} busy` : `${row.device} total`,
            hasBusy ? percentText(row.busy_percent) : valueText('time', row.total_time_ns),
            `${pluralText(row.count, 'activity', 'activities')}, `
            + `${timeText(row.total_time_ns)} in all`);
    });
    return rows.length > 4 ? [...shown, makeTile('More devices', String(rows.length - 4),
        'see Launches & gaps')] : shown;
}

function lossTile(trace) {
    const {facts} = trace;
    const lost = trace.losses.reduce((sum, loss) => sum + loss.count, 0);
    const isWhole = facts.ending === 'whole';
    const least = !facts.is_known || isBrokenOff(facts) ? 'at least ' : '';
    const value = lost ? least + countText(lost) : isWhole && facts.is_known ? 'none' : 'unknown';
    const note = !isWhole ? 'the end of the recording is missing' :
        lost ? trace.losses.map((loss) => `${loss.name} ${countText(loss.count)}`).join(', ') :
            !facts.is_known ? 'the file does not tell' :
                facts.is_partial ? 'the cycle is not complete' : 'no event was dropped';
    return makeTile('Losses', value, note, Boolean(lost || !isWhole || facts.is_partial));
}

function makeTiles(trace) {
    const facts = trace.tables.summary?.facts ?? {};
    const first = trace.facts.first_step, count = trace.facts.step_count;
    const steps = count ? `steps ${first} to ${first + count - 1}` : '';
    const wall = facts.wall_ns ?? trace.facts.end_ns - trace.facts.begin_ns;
    return make('dl', {class: 'tiles'}, stepTile(trace),
        makeTile('Wall time', timeText(wall),
            [`cycle ${trace.facts.cycle}`, steps].filter(Boolean).join(', ')),
        deviceTiles(trace),
        typeof facts.self_cpu_total_ns === 'number' ? makeTile('CPU time in scopes',
            timeText(facts.self_cpu_total_ns),
            `${numberText(facts.self_cpu_per_wall ?? NaN)} of the wall time, `
            + pluralText(facts.calls ?? 0, 'call')) : null,
        typeof facts.memory_peak_bytes === 'number' ? makeTile('Host memory, peak',
            bytesText(facts.memory_peak_bytes),
            `${valueText('bytes', facts.memory_current_bytes)} at the end`) : null,
        lossTile(trace));
}

/* Makes a list of names with bars: duration, and share of the total. */
function makeBars(title, rows, options) {
    if (!rows.length)
        return null;
    const most = Math.max(...rows.map((row) => row.value), 1);
    return make('section', {class: 'card'}, make('h2', {}, title),
        make('ol', {class: 'bars'}, rows.map((row) => {
            const bar = make('span', {class: 'bar', 'aria-hidden': 'true'});
            bar.style.setProperty('width', `${100 * row.value / most}%`);
            bar.style.setProperty('background', colorOf(row.name));
            return make('li', {},
                options.onname && options.hasName(row.name) ? makeButton(makeName(row.name, 120),
                    () => options.onname(row.name), {class: 'link',
                        title: 'Show on the timeline'}) : makeName(row.name, 120),
                make('span', {class: 'value', title: exactText('time', row.value)},
                    timeText(row.value)),
                make('span', {class: 'value'}, percentText(row.percent)),
                make('span', {class: 'track'}, bar));
        })),
        options.note ? make('p', {class: 'note'}, options.note) : null);
}

function scopeBars(trace, options) {
    const rows = [...trace.tables.scopes?.rows ?? trace.tables.summary?.rows ?? []]
        .sort((a, b) => b.self_cpu_ns - a.self_cpu_ns).slice(0, 8)
        .filter((row) => row.self_cpu_ns > 0)
        .map((row) => ({name: row.name, value: row.self_cpu_ns,
            percent: row.self_cpu_percent ?? 0}));
    return makeBars('Where the time went', rows, {...options,
        note: 'Self CPU time of scopes, as a share of all scopes\u2019 self CPU time.'});
}

function activityBars(trace, options) {
    const rows = trace.tables.summary?.tables?.activities?.rows ?? [];
    const facts = trace.tables.summary?.facts ?? {};
    const all = facts.self_cuda_total_ns || rows.reduce((sum, row) => sum + row.total_time_ns, 0);
    return makeBars(facts.self_cuda_total_ns ? 'On the devices' : 'Activities of the host',
        rows.slice(0, 8).map((row) => ({name: row.activity, value: row.total_time_ns,
            percent: 100 * row.total_time_ns / (all || 1)})),
        {...options, note: 'Total time by name, as a share of all of it.'});
}

function gapSentence(trace, device) {
    const {since} = watchOf(trace, device);
    const busy = busyOf(trace, device);
    const wall = knownTime(busy, since, trace.end);
    const idle = wall - coveredTime(busy, since, trace.end);
    const [longest] = longestGaps(trace, device, 1);
    return `${device} was idle for ${timeText(idle)} of ${timeText(wall)}`
        + (longest ? `; the longest gap between two activities took ${timeText(longest.duration)}.`
            : '.');
}

function makeBusyCard(trace, ontime) {
    const devices = trace.hidden.count ? [] : watchedDevices(trace).slice(0, 4);
    if (!devices.length)
        return null;
    return make('section', {class: 'card'}, make('h2', {}, 'Did the devices wait?'),
        devices.flatMap((device) => [make('p', {}, gapSentence(trace, device)),
            makeBusyPlot(trace, device, ontime)]));
}

function makeStepCard(trace, onstep) {
    if (!trace.steps.count)
        return null;
    return make('section', {class: 'card'}, make('h2', {}, 'Steps'), makeStepPlot(trace, onstep));
}

/* The tab with a report as [id, title]; undefined if it has no tab. */
function tabOfReport(page, report) {
    const id = {gaps: 'launches', ops: 'kernels', activities: 'kernels'}[report] ?? report;
    return page.pages.find(([name]) => name === id);
}

/* Links from a piece of advice to its place on the timeline, or its scope, and to its report. */
function adviceLinks(page, row) {
    const {ongap, onname, hasName} = page.options;
    const link = (label, onclick) => [' ', makeButton(label, onclick, {class: 'link'})];
    const tab = tabOfReport(page, row.report);
    const hasPlace = typeof row.duration_ns === 'number';
    const step = typeof row.step === 'number' ? `step ${row.step}` : 'it';
    const links = [hasPlace && ongap ? link(`Show ${step} on the timeline`,
        () => ongap(row.begin_ns, row.duration_ns)) : null,
    !hasPlace && ongap && row.scope && hasName(row.scope) ? link(`Show ${visibleText(row.scope)}`,
        () => onname(row.scope)) : null,
    tab ? link(tab[1], () => page.open(tab[0])) : null];
    return links.flat();
}

function makeAdvice(page) {
    const rows = page.trace.tables.summary?.tables?.advice?.rows ?? [];
    if (!rows.length)
        return null;
    const textOf = (row) => visibleText(row.advice.replace(/ See takt report --\w+\.$/, ''));
    return make('section', {class: 'card'}, make('h2', {}, 'Advice'),
        make('ul', {class: 'advice'}, rows.map((row) =>
            make('li', {}, textOf(row), adviceLinks(page, row)))));
}

function makeHeadline(trace) {
    const text = trace.tables.summary?.headline;
    return text ? make('p', {class: 'headline'}, visibleText(text)) : null;
}

function makeOverviewPlots(page) {
    return [makeStepCard(page.trace, page.onstep), makeBusyCard(page.trace, page.ontime)]
        .filter(Boolean);
}

/* The plots need columns, all else the tables alone. */
function makeOverview(page) {
    const {trace} = page;
    page.plots = make('div', {class: 'pair'}, page.isComplete && makeOverviewPlots(page));
    return [makeHeadline(trace), makeTiles(trace), makeAdvice(page), make('div', {class: 'pair'},
        scopeBars(trace, page.options), activityBars(trace, page.options)), page.plots];
}
