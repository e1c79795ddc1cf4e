/* The rows of the timeline and their positions. Groups (the host, each device, counters, memory)
 * consist of tracks and curves. A closed track shows only its first line, a closed group nothing.
 * In a group with many rows, all are closed at first. */
'use strict';

const lineHeight = 20, curveHeight = 44, groupHeight = 26, rowGap = 6;
const manyRows = 24;

function trackRow(trace, track) {
    const marks = [];
    for (let i = 0; i < trace.marks.count; i++)
        if (trace.marks.track[i] === track.id)
            marks.push(i);
    const hidden = track.hidden ? `, ${countText(track.hidden)} not shown` : '';
    return {kind: 'track', track, marks, title: trackTitle(track), isOpen: true,
        note: countText(track.count) + hidden};
}

function memoryTitle(series) {
    const device = series.device || 'host';
    const isTold = !series.isPart && ['', 'device', device].includes(series.kind);
    const kind = isTold ? '' : ` ${series.kind}`;
    return `${device}${kind} memory${series.pool ? ', pools' : ''}`;
}

function deviceTitle(trace, name) {
    const device = trace.devices.find((d) => d.device === name);
    return device && device.name ? `${name}  ${device.name}` : name;
}

/* Without all activities, nobody knows how busy a device was. */
function busyRows(trace, device) {
    return trace.hidden.count || !watchOf(trace, device) ? [] : [busyRow(trace, device)];
}

/* The program's first thread comes first, then threads by id, then other tracks. */
function byThread(trace) {
    const place = ({kind, thread}) => kind !== 'thread' ? Infinity :
        thread === trace.facts.process_id ? -1 : thread;
    return (a, b) => place(a) - place(b) || 0;
}

function timelineGroups(trace) {
    const groups = [];
    const add = (title, rows) => {
        if (rows.length > manyRows)
            rows.forEach((row) => row.isOpen = false);
        if (rows.length)
            groups.push({kind: 'group', title, rows, isOpen: true});
    };
    const tracksOf = (name) => trace.tracks.filter((track) => track.group === name && track.count)
        .map((track) => trackRow(trace, track));
    const waits = trace.waits.count ? [trackRow(trace, trace.waits)] : [];
    const order = byThread(trace);
    const host = tracksOf('host').sort((a, b) => order(a.track, b.track));
    add('Host', [...host, ...waits]);
    for (const name of new Set(trace.tracks.map((track) => track.group)))
        if (name !== 'host')
            add(deviceTitle(trace, name), [...busyRows(trace, name), ...tracksOf(name)]);
    add('Memory', memoryCurves(trace).map((m) => curveRow(m, memoryTitle(m), 'bytes')));
    add('Counters', trace.counters.filter((c) => c.count)
        .map((c) => curveRow(c, c.name, 'number')));
    return groups;
}

function rowHeight(row) {
    if (row.kind === 'curve')
        return row.isOpen ? curveHeight : lineHeight;
    return row.isOpen ? lineHeight * Math.max(1, row.track.rows) : lineHeight;
}

/* Places groups and rows below each other, and returns the total height. */
function placeRows(groups) {
    let y = 0;
    for (const group of groups) {
        group.y = y;
        group.height = groupHeight;
        y += groupHeight;
        for (const row of group.rows) {
            row.isShown = group.isOpen;
            row.y = y;
            row.height = rowHeight(row);
            if (row.isShown)
                y += row.height + rowGap;
        }
    }
    return y;
}
