/* The details of one event: its fields, the call and the scope that it came from, its arguments and
 * its call stack. */
'use strict';

/* Makes a button that selects another event. */
function eventLink(timeline, target) {
    const {track, event} = target;
    return makeButton(makeName(eventName(timeline.trace, track, event), 120),
        () => timeline.select(target), {class: 'link',
            title: `${trackTitle(track)}, ${timeText(track.events.duration[event])}`});
}

/* Returns label, value and tooltip of a time or a size. */
function measured(label, type, value) {
    return [label, valueText(type, value), exactText(type, value)];
}

function timePairs(trace, track, event) {
    const {begin, duration} = track.events;
    const step = stepAt(trace, begin[event]);
    return [
        measured('Duration', 'time', duration[event]),
        measured('Begin', 'time', begin[event] - trace.begin),
        measured('End', 'time', begin[event] + duration[event] - trace.begin),
        ['Step', step < 0 ? '' : String(trace.steps.number[step])],
    ];
}

function flagsText(flags) {
    const texts = [];
    if (flags & SPAN_BEGUN_BEFORE)
        texts.push('begun before the recording');
    if (flags & SPAN_UNFINISHED)
        texts.push('unfinished when it ended');
    return texts.join(', ');
}

/* Returns the number and total time of the activities that a span launched, without those of the
 * scopes inside. */
function launchedPairs(timeline, track, event) {
    let count = 0, total = 0, first = null;
    eachActivityOf(timeline.trace, track, event, isCall(track, event) ? 'launch' : 'scope',
        (stream, i) => {
            count++;
            total += stream.events.duration[i];
            first ??= {track: stream, event: i};
        });
    if (!count)
        return [];
    return [['Launched', pluralText(count, 'activity', 'activities')],
        measured('CUDA time', 'time', total), ['First of them', eventLink(timeline, first)]];
}

function spanPairs(timeline, {track, event}) {
    const {trace} = timeline;
    const {events} = track;
    const [, category, file, line] = trace.sites[events.what[event]];
    const parent = parentOf(track, event);
    const place = trace.strings[file];
    return [
        ...timePairs(trace, track, event),
        ...track.kind === 'thread' ? [measured('Self', 'time', selfTime(track, event))] : [],
        [track.kind === 'thread' ? 'Thread' : 'Track', makeName(trackTitle(track)),
            track.thread ? `thread ${track.thread}` : ''],
        ['Inside', parent < 0 ? '' : eventLink(timeline, {track, event: parent})],
        ['Category', trace.strings[category] && makeName(trace.strings[category])],
        ['Place', place && makeName(line ? `${place}:${line}` : place)],
        ['State', flagsText(events.flags[event])],
        ...launchedPairs(timeline, track, event),
        ['Arguments', trace.strings[events.args[event]] &&
            makeName(trace.strings[events.args[event]], 2000)],
    ];
}

function threeText(values) {
    return values ? values.join(' \u00d7 ') : '';
}

function memoryText(shape) {
    const from = memoryNames[shape.source_memory ?? 0] ?? '';
    const to = memoryNames[shape.target_memory ?? 0] ?? '';
    return from && to ? `${from} to ${to}` : from || to;
}

function kernelPairs(shape) {
    return [
        ['Grid', threeText(shape.grid)],
        ['Block', threeText(shape.block)],
        ['Cluster', threeText(shape.cluster)],
        ['Registers', shape.registers && `${shape.registers} per thread`],
        measured('Static shared', 'bytes', shape.static_shared_bytes),
        measured('Dynamic shared', 'bytes', shape.dynamic_shared_bytes),
        measured('Local', 'bytes', shape.local_bytes),
        ['Occupancy', shape.occupancy && percentText(shape.occupancy * 100)],
    ];
}

function copyPairs(shape, duration) {
    return [
        measured('Bytes', 'bytes', shape.bytes),
        ['GB/s', shape.bytes && duration ? numberText(shape.bytes / duration) : ''],
        ['Direction', copyNames[shape.copy_kind ?? 0] ?? ''],
        ['Memory', memoryText(shape)],
    ];
}

/* Returns the call of an activity, and two delays until the device began: from the call's return,
 * as in the report "launches", and from the call's begin. */
function launchPairs(timeline, {track, event}) {
    const call = linkOf(timeline.trace, track, event, 'launch');
    const {begin} = track.events;
    if (!call)
        return [['Launched by', 'not known']];
    const {begin: callBegin, duration: callDuration} = call.track.events;
    const called = callBegin[call.event];
    const queued = begin[event] - called - callDuration[call.event];
    return [
        ['Launched by', eventLink(timeline, call)],
        ['Thread', makeName(trackTitle(call.track))],
        measured('Call took', 'time', callDuration[call.event]),
        ['Queue time', queued < 0 ? 'none: it began during the call' : timeText(queued),
            exactText('time', Math.max(0, queued))],
        measured('Latency', 'time', begin[event] - called),
    ];
}

function graphText({graph, graph_node: node, graph_node_count: count}) {
    if (count)
        return `${graph}, ${count === 1 ? '1 node' : `${count} nodes`}`;
    return `${graph}, ${node ? `node ${node}` : 'as a whole'}`;
}

function activityPairs(timeline, target) {
    const {trace} = timeline;
    const {track, event} = target;
    const {events} = track;
    const shape = trace.shapes[events.what[event]];
    const scope = linkOf(trace, track, event, 'scope');
    const scopeName = trace.strings[events.scopeName[event]];
    return [
        ...timePairs(trace, track, event),
        ['Scope', scope ? eventLink(timeline, scope) : scopeName && makeName(scopeName)],
        ...launchPairs(timeline, target),
        ...kernelPairs(shape),
        ...copyPairs(shape, events.duration[event]),
        ['Device', makeName(track.group)],
        ['Stream', String(track.stream), track.name],
        ['Context', String(track.context)],
        ['Correlation', events.correlation[event] ? String(events.correlation[event]) : ''],
        ['Graph', shape.graph && graphText(shape)],
        ['Full name', shape.full_name && makeName(shape.full_name, 4000)],
    ];
}

function waitPairs(timeline, {track, event}) {
    const {events} = track;
    return [...timePairs(timeline.trace, track, event), ['Context', String(events.context[event])],
        ['Stream', events.stream[event] ? String(events.stream[event] - 1) : 'all']];
}

function stackOf(trace, {track, event}) {
    const call = linkOf(trace, track, event, 'launch') ?? {track, event};
    const stack = call.track.events.stack?.[call.event];
    return stack ? trace.stacks[stack - 1] : null;
}

function makeStack(frames) {
    return make('details', {class: 'stack', open: true}, make('summary', {}, 'Call stack'),
        make('ol', {}, frames.map((frame) => make('li', {}, makeName(frame, 1000)))));
}

/* Returns the id of the tab with a row for a name, or undefined. */
function tableOfName(trace, name, kind) {
    const has = (report) => (trace.tables[report]?.rows ?? []).some((row) =>
        row.name === name || row.operation === name || row.activity === name);
    if (kind === 'call')
        return has('api') ? 'api' : undefined;
    if (has('scopes') && kind !== 'activity')
        return 'scopes';
    return ['kernels', 'ops', 'activities'].some(has) ? 'kernels' : undefined;
}

/* Returns the kind of an event as in the flame graph. */
function nodeKind(track, event) {
    return track.kind === 'stream' ? 'activity' : isCall(track, event) ? 'call' : 'scope';
}

/* Makes buttons that zoom to this event, show its name's row in the tables, and find all events of
 * that name. */
function eventButtons(timeline, target) {
    const {trace} = timeline;
    const name = eventName(trace, target.track, target.event);
    const kind = nodeKind(target.track, target.event);
    const {page} = timeline;
    const id = page.tableOf(name, kind);
    return make('div', {class: 'buttons'},
        id ? makeButton('Show in the table', () => page.showRow(id, name)) : null,
        makeButton('Zoom to it', () => timeline.zoomTo(target), {title: 'Enter, F'}),
        makeButton('Find all of this name', () => searchFor(timeline, name)),
        page.showName ? makeButton('All about this name', () => page.showName(name)) : null,
        ['stream', 'thread'].includes(target.track.kind) ? makeButton('In the flame graph',
            () => page.showFlame(name, kind)) : null);
}

function showEvent(timeline, target) {
    const {trace} = timeline;
    const {track, event} = target;
    const name = eventName(trace, track, event);
    const kind = eventKind(trace, track, event);
    const pairs = track.kind === 'stream' ? activityPairs : track.kind === 'wait' ? waitPairs :
        spanPairs;
    const chip = make('span', {class: 'chip', 'aria-hidden': 'true'});
    chip.style.setProperty('background', eventColor(trace, track, event));
    const stack = stackOf(trace, target);
    const title = make('h2', {}, chip, makeName(name, 400), ' ', make('small', {}, kind));
    timeline.open(make('div', {class: 'title'}, title, eventButtons(timeline, target)),
        makeList(pairs(timeline, target), 'fields'),
        stack ? makeStack(stack) : null);
    announce(`${kind} ${visibleText(name)}, ${timeText(track.events.duration[event])}`);
}
