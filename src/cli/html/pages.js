/* The content of the tabs, and the choice of tabs for this trace. */
'use strict';

function reportsOf(page, names) {
    return names.filter((name) => page.trace.tables[name])
        .map((name) => makeReport(page.trace.tables[name], page.options));
}

/* Makes a list of durations that lead to their place on the timeline: [duration, where,
 * onclick]. */
function makePlaces(title, places) {
    if (!places.length)
        return null;
    return make('div', {class: 'report'}, make('h3', {}, title), make('ol', {class: 'places'},
        places.map(([duration, where, onclick]) => make('li', {}, makeButton(timeText(duration),
            onclick, {class: 'link', title: 'Show on the timeline'}), ` ${where}`))));
}

function makeGapList(page, device) {
    return makePlaces(`Longest gaps of ${device}`, longestGaps(page.trace, device, 20).map((gap) =>
        [gap.duration, `at ${timeText(gap.begin - page.trace.begin)}`,
            () => page.onrange(gap.begin, gap.end)]));
}

function makeStepList(page) {
    const {duration, number} = page.trace.steps;
    const order = Uint32Array.from(duration, (_, i) => i)
        .sort((a, b) => duration[b] - duration[a]).subarray(0, 10);
    return makePlaces('Longest steps', Array.from(order, (step) =>
        [duration[step], `step ${number[step]}`, () => page.onstep(step)]));
}

function makeLaunchPage(page) {
    const {trace} = page;
    const devices = trace.hidden.count ? [] : watchedDevices(trace);
    const cards = devices.map((device) => make('section', {class: 'card'},
        make('h2', {}, `${device} busy`), make('p', {}, gapSentence(trace, device)),
        makeBusyPlot(trace, device, page.ontime),
        trace.tables.gaps ? null : makeGapList(page, device)));
    return [cards, reportsOf(page, ['launches', 'gaps', 'devices'])];
}

function makeMemoryPage(page) {
    const {trace} = page;
    const plots = memoryCurves(trace).map((series) => make('section',
        {class: 'card'}, make('h2', {}, memoryTitle(series)),
        makeMemoryPlot(trace, series, page.ontime)));
    return [plots, reportsOf(page, ['memory'])];
}

function makeStepsPage(page) {
    const {trace} = page;
    const plots = trace.steps.count ? [make('div', {class: 'pair'},
        makeStepCard(trace, page.onstep), make('section', {class: 'card'},
            make('h2', {}, 'How many took how long'), makeStepHistogram(trace))),
    page.onstep ? makeStepList(page) : null] : [];
    return [makeRunCards(trace, page.onstep), plots, reportsOf(page, ['steps'])];
}

/* Undefined for a single process. */
function rankText(facts) {
    if (facts.world_size > 1)
        return `${facts.rank} of ${facts.world_size}`;
    return facts.rank ? String(facts.rank) : undefined;
}

/* Formats a count; null: the file does not tell it. */
function knownText(count) {
    return count === null ? 'unknown' : countText(count);
}

/* Makes the tab about the origin of the numbers and about missing data. */
function makeNotesPage(page) {
    const {trace} = page;
    const {facts} = trace;
    const losses = trace.losses.map((loss) => [loss.name, countText(loss.count), loss.text]);
    return [
        make('section', {class: 'card'}, make('h2', {}, 'Recording'), makeList([
            ['File', makeName(trace.file)], ['Run', makeName(facts.name)],
            ['Process', String(facts.process_id)], ['Cycle', String(facts.cycle)],
            ['Rank', rankText(facts)],
            ['Complete', endingText(trace) ||
                (facts.is_partial ? 'no, stopped within the cycle' : 'yes')],
            ['Spans', countText(facts.span_count)], ['Activities', countText(facts.activity_count)],
            ['Begun before', knownText(facts.begun_before)],
            ['Unfinished', knownText(facts.unfinished)], ['Written by', `takt ${trace.takt}`],
        ], 'fields')),
        make('section', {class: 'card'}, make('h2', {}, 'Measurement'), makeList([
            ['Devices timed by', makeName(facts.backend)],
            ['Clock resolution', nsText(facts.clock_resolution_ns, 3)],
            ['Clock uncertainty', nsText(facts.clock_uncertainty_ns, 1)],
            ['Device resolution', facts.device_resolution_ns === 0 ? '' :
                nsText(facts.device_resolution_ns, 1)],
            ['Device uncertainty', facts.device_uncertainty_ns === 0 ? '' :
                deviceUncertaintyText(facts)],
            ['Takt\u2019s own cost', facts.cost],
        ], 'fields')),
        make('section', {class: 'card'}, make('h2', {}, 'What is missing'),
            losses.length ? make('ul', {}, losses.map(([name, count, text]) =>
                make('li', {}, make('b', {}, `${name}: ${count}`), ` ${text}`))) :
                make('p', {}, endingText(trace) || (facts.is_known ? 'Nothing: no event was lost.' :
                    'Unknown: the file does not tell what the recording lost.')),
            losses.length && !facts.is_known ? make('p', {},
                'This was counted while the file was read; what the recording lost is unknown.') : null,
            hiddenText(trace) ? make('p', {}, hiddenText(trace)) : null),
        trace.devices.length ? make('section', {class: 'card'}, make('h2', {}, 'Devices'),
            trace.devices.map((device) => makeList([['Device', makeName(device.device)],
                ['Product', device.name && makeName(device.name)],
                ['Compute capability', device.compute],
                ['Multiprocessors', device.multiprocessors],
                measured('Memory', 'bytes', device.memory_bytes || null)], 'fields'))) : null,
        reportsOf(page, ['timeline']),
    ];
}

function hiddenText(trace) {
    const {count, below_ns: below} = trace.hidden;
    return count ? `The timeline leaves out ${pluralText(count, 'event')} of less than about `
        + `${timeText(below)}. The tables have all of them.` : '';
}

function makeTimelinePage(page) {
    const {trace} = page;
    if (!trace.facts.has_spans)
        return make('p', {class: 'empty'}, 'There is no timeline: this run kept a summary only '
            + '(mode: summary). The tables are complete.');
    if (!trace.tracks.some((track) => track.count))
        return make('p', {class: 'empty'}, 'There is no timeline: nothing was recorded.');
    const hidden = hiddenText(trace);
    return [hidden ? make('p', {class: 'banner'}, hidden) : null, page.timeline.element];
}

const knownReports = ['summary', 'scopes', 'tree', 'kernels', 'phases', 'ops', 'activities',
    'launches', 'gaps', 'devices', 'memory', 'steps', 'api', 'timeline'];

/* Returns the tabs with content as [id, title, make, has content]. Reports without a tab of their
 * own are in "More". */
function pagesOf(page) {
    const {trace} = page;
    const has = (...names) => names.some((name) => trace.tables[name]?.rows.length ||
        Object.values(trace.tables[name]?.tables ?? {}).some((table) => table.rows.length));
    const further = Object.keys(trace.tables).filter((name) => !knownReports.includes(name));
    const simple = (...names) => (p) => reportsOf(p, names);
    return [
        ['overview', 'Overview', makeOverview, true],
        ['timeline', 'Timeline', makeTimelinePage, true],
        ['flame', 'Flame graph', makeFlamePage, flameTrees(trace).length > 0],
        ['name', 'One name', makeNamePage, page.names.size > 0],
        ['scopes', 'Scopes', simple('scopes'), has('scopes')],
        ['tree', 'Tree', simple('tree'), has('tree')],
        ['kernels', 'Kernels', simple('kernels', 'ops', 'activities'),
            has('kernels', 'ops', 'activities')],
        ['phases', 'Phases', makePhasesPage, has('phases')],
        ['launches', 'Launches & gaps', makeLaunchPage,
            has('launches', 'gaps') || watchedDevices(trace).length > 0],
        ['memory', 'Memory', makeMemoryPage, has('memory') || trace.memory.length > 0],
        ['steps', 'Steps', makeStepsPage, has('steps') || trace.steps.count > 0],
        ['api', 'API', simple('api'), has('api')],
        ['more', 'More', simple(...further), has(...further)],
        ['notes', 'Notes', makeNotesPage, true],
    ].filter(([, , , isThere]) => isThere);
}
