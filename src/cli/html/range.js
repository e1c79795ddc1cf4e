/* The table of a selected stretch of time: all events in it by name, cut at its ends. */
'use strict';

/* Adds a track's events to `sums` by name. A span's self time excludes its direct children. */
function sumTrack(trace, track, from, to, sums) {
    const {begin, duration, depth, what} = track.events;
    const isThread = track.kind === 'thread';
    const names = namesOf(trace, track);
    const where = track.kind === 'stream' ? track.group : track.kind === 'wait' ? 'waits' : 'host';
    const known = []; /* the sum for each value of column `what`; comparing texts would be slow */
    const sumOf = (name) => {
        const key = `${where}\n${name}`;
        if (!sums.has(key))
            sums.set(key, {name, where, count: 0, total_ns: 0, self_ns: isThread ? 0 : null});
        return sums.get(key);
    };
    const open = []; /* by depth: the sum from which a child's time is subtracted */
    for (let i = 0; i < track.count && begin[i] < to; i++) {
        const inside = Math.min(to, begin[i] + duration[i]) - Math.max(from, begin[i]);
        if (inside < 0 || (inside === 0 && duration[i] > 0))
            continue;
        const sum = known[what[i]] ??= sumOf(names[what[i]]);
        sum.count++;
        sum.total_ns += inside;
        if (!isThread)
            continue;
        sum.self_ns += inside;
        open[depth[i]] = sum;
        if (depth[i] > 0 && open[depth[i] - 1])
            open[depth[i] - 1].self_ns -= inside;
    }
}

function rangeReport(trace, from, to) {
    const sums = new Map();
    for (const track of [...trace.tracks, trace.waits])
        if (track.count)
            sumTrack(trace, track, from, to, sums);
    const rows = [...sums.values()].sort((a, b) => b.total_ns - a.total_ns);
    for (const row of rows)
        row.avg_ns = row.total_ns / row.count;
    return {columns: ['name', 'where', 'count', 'total_ns', 'self_ns', 'avg_ns'],
        titles: ['Name', 'Where', 'Count', 'Total', 'Self', 'Mean'], rows, row_count: rows.length};
}

function stepsIn(trace, from, to) {
    const {begin, duration} = trace.steps;
    let count = 0;
    for (let i = lowerBound(begin, from); i < trace.steps.count && begin[i] < to; i++)
        count += begin[i] + duration[i] <= to ? 1 : 0;
    return count;
}

/* NaN: unknown. */
function shareText(share) {
    return Number.isNaN(share) ? 'unknown' : percentText(100 * share);
}

function showRange(timeline) {
    const {trace} = timeline;
    const {begin, end} = timeline.range;
    const report = rangeReport(trace, begin, end);
    const busy = watchedDevices(trace).map((device) => [`${device} busy`,
        shareText(busyShare(busyOf(trace, device), begin, end))]);
    timeline.open(make('div', {class: 'title'}, make('h2', {}, 'Selected time'),
        makeButton('Zoom to it', () => timeline.show(begin, end))),
        makeList([['Length', timeText(end - begin)], ['From', timeText(begin - trace.begin)],
            ['To', timeText(end - trace.begin)],
            ['Whole steps', trace.steps.count ? String(stepsIn(trace, begin, end)) : ''],
            ...busy], 'fields'),
        makeTable(report, {label: 'What ran in the selected time', report: 'page', sort: 'total_ns',
            onname: (name) => searchFor(timeline, name)}),
        make('p', {class: 'note'}, 'Times are those inside the selection. Total adds up what ran '
            + 'at the same time; self is less the spans directly inside. ', hiddenText(trace)));
    announce(`${timeText(end - begin)} selected, ${pluralText(report.rows.length, 'name')}`);
}
