/* Queries about single events. An event is a track and an index into its columns. */
'use strict';

const SPAN_BEGUN_BEFORE = 1, SPAN_UNFINISHED = 2, SPAN_PHASE = 4, SPAN_ACTIVITY = 8, SPAN_CALL = 16;
const waitNames = ['wait', 'wait for an event', 'stream waits for an event', 'wait for a stream',
    'wait for the device'];
const filterNames = {1: 'kernel', 2: 'builtin', 4: 'memcpy', 8: 'memset', 16: 'graph'};
const copyNames = ['', 'HtoD', 'DtoH', 'HtoA', 'AtoH', 'AtoA', 'AtoD', 'DtoA', 'DtoD', 'HtoH',
    'PtoP'];
const memoryNames = ['', 'pageable', 'pinned', 'device', 'array', 'managed', 'static',
    'managed static'];

/* Returns the names for the values in a track's column `what`. */
function namesOf(trace, track) {
    if (track.kind === 'wait')
        return waitNames;
    if (track.kind === 'stream')
        return trace.shapeNames ??= trace.shapes.map((shape) => shape.name);
    return trace.siteNames ??= trace.sites.map(([name]) => trace.strings[name]);
}

function eventName(trace, track, event) {
    return namesOf(trace, track)[track.events.what[event]] ?? '';
}

function isCall(track, event) {
    return track.events.flags !== undefined && (track.events.flags[event] & SPAN_CALL) !== 0;
}

function eventKind(trace, track, event) {
    if (track.kind === 'wait')
        return 'wait';
    if (track.kind === 'stream')
        return filterNames[trace.shapes[track.events.what[event]].filter] ?? 'activity';
    const flags = track.events.flags[event];
    if (flags & SPAN_CALL)
        return 'CUDA call';
    return flags & SPAN_ACTIVITY ? 'activity' : flags & SPAN_PHASE ? 'phase' : 'scope';
}

function trackTitle(track) {
    if (track.name)
        return track.name;
    if (track.kind === 'stream')
        return `stream ${track.stream}`;
    return track.kind === 'thread' ? `thread ${track.thread}` : 'track';
}

/* Returns the span that directly encloses a thread's span; -1: none. Searches backwards on the line
 * one level up. */
function parentOf(track, event) {
    const {depth} = track.events;
    if (track.kind !== 'thread' || depth[event] === 0)
        return -1;
    const line = linesOf(track)[depth[event] - 1];
    const place = lowerBound(line.begin, track.events.begin[event] + 0.5) - 1;
    for (let i = place; i >= 0; i--)
        if (line.index[i] < event)
            return line.index[i];
    return -1;
}

/* Returns the time of a thread's span minus its direct children. */
function selfTime(track, event) {
    const {depth, duration} = track.events;
    let self = duration[event];
    for (let i = event + 1; i < track.count && depth[i] > depth[event]; i++)
        if (depth[i] === depth[event] + 1)
            self -= duration[i];
    return self;
}

/* Calls f(track, event) for each activity whose column `key` ('launch' or 'scope') refers to that
 * span. */
function eachActivityOf(trace, track, event, key, f) {
    for (const stream of trace.tracks) {
        if (stream.kind !== 'stream')
            continue;
        const {[key]: column, track: host} = stream.events;
        for (let i = 0; i < stream.count; i++)
            if (column[i] === event + 1 && host[i] === track.id + 1)
                f(stream, i);
    }
}

/* Returns the span that a column of an activity refers to, or null. */
function linkOf(trace, track, event, key) {
    if (track.kind !== 'stream' || !track.events[key][event] || !track.events.track[event])
        return null;
    const host = trace.tracks[track.events.track[event] - 1];
    return {track: host, event: track.events[key][event] - 1};
}

/* Returns the arrows of a selection: from the launching call to the selected activity, or from the
 * selected call to its activities. Limited to 200, which is more than a screen can show. */
function linksOf(trace, {track, event}) {
    const from = linkOf(trace, track, event, 'launch');
    if (from)
        return [{from, to: {track, event}}];
    const links = [];
    if (isCall(track, event))
        eachActivityOf(trace, track, event, 'launch', (stream, i) => links.length < 200 &&
            links.push({from: {track, event}, to: {track: stream, event: i}}));
    return links;
}

/* Returns the index of the recorded step that contains a time; -1: none. */
function stepAt(trace, time) {
    const {begin, duration} = trace.steps;
    const step = lowerBound(begin, time + 0.5) - 1;
    return step >= 0 && time < begin[step] + duration[step] ? step : -1;
}

/* Moves the first item of a heap down to its place. The earliest one is on top. */
function sinkTop(heap) {
    const top = heap[0];
    let place = 0;
    for (let below = 1; below < heap.length; below = 2 * place + 1) {
        if (below + 1 < heap.length && heap[below + 1].time < heap[below].time)
            below++;
        if (heap[below].time >= top.time)
            break;
        heap[place] = heap[below];
        place = below;
    }
    heap[place] = top;
}

/* Returns the disjoint intervals that the events of tracks cover together, as [begin, end, begin,
 * end, ...]. `heap` has for each track the time of its next event. */
function coveredIntervals(tracks) {
    const count = tracks.reduce((sum, track) => sum + track.count, 0);
    const heap = tracks.map(({events: {begin, duration}}) =>
        ({begin, duration, next: 0, time: begin[0] ?? Infinity})).sort((a, b) => a.time - b.time);
    const intervals = new Float64Array(2 * count);
    let used = 0, last = -Infinity;
    for (let i = 0; i < count; i++) {
        const top = heap[0];
        const begin = top.time, end = begin + top.duration[top.next++];
        if (begin > last) {
            intervals[used] = begin;
            intervals[used + 1] = last = end;
            used += 2;
        } else if (end > last) {
            intervals[used - 1] = last = end;
        }
        top.time = top.next < top.begin.length ? top.begin[top.next] : Infinity;
        sinkTop(heap);
    }
    return intervals.subarray(0, used);
}

/* Returns since when it is known when a device was busy, and until when it was from there on; undefined
 * if that is not known. */
function watchOf(trace, device) {
    return trace.busy.find((row) => row.device === device);
}

/* Returns the intervals in which a device was busy: the union of its activities, and of the time
 * before the first. Their `since` tells from when on all of them are known, but for `unseen`. */
function busyOf(trace, device) {
    trace.busyOf ??= new Map();
    if (!trace.busyOf.has(device)) {
        const {since, until, unseen = []} = watchOf(trace, device);
        const before = {count: 1, events: {begin: [since], duration: [until - since]}};
        const intervals = coveredIntervals([...trace.tracks.filter((track) =>
            track.kind === 'stream' && track.group === device), ...until > since ? [before] : []]);
        intervals.since = since;
        intervals.unseen = Float64Array.from(unseen);
        trace.busyOf.set(device, intervals);
    }
    return trace.busyOf.get(device);
}

/* Returns for how many ns disjoint intervals, in order, cover the time before `time`. */
function coveredBefore(intervals, time) {
    if (!intervals.sums) {
        intervals.sums = new Float64Array(intervals.length / 2 + 1);
        for (let i = 0; i < intervals.length; i += 2)
            intervals.sums[i / 2 + 1] = intervals.sums[i / 2] + intervals[i + 1] - intervals[i];
    }
    const edges = lowerBound(intervals, time);
    return intervals.sums[edges >> 1] + (edges % 2 ? time - intervals[edges - 1] : 0);
}

/* Returns for how many ns they cover [begin, end). */
function coveredTime(intervals, begin, end) {
    return end > begin ? coveredBefore(intervals, end) - coveredBefore(intervals, begin) : 0;
}

/* Returns `begin`, or since when intervals of busyOf() are known if that is later. */
function knownFrom(intervals, begin) {
    return Math.max(begin, intervals.since ?? begin);
}

/* Returns of how many ns of [begin, end) intervals of busyOf() tell whether the device was busy. */
function knownTime(intervals, begin, end) {
    const from = knownFrom(intervals, begin);
    const unseen = intervals.unseen ? coveredTime(intervals.unseen, from, end) : 0;
    return Math.max(0, end - from - unseen);
}

/* Returns the share of that time which they cover; NaN if there is none. */
function busyShare(intervals, begin, end) {
    const known = knownTime(intervals, begin, end);
    return known > 0 ? coveredTime(intervals, knownFrom(intervals, begin), end) / known : NaN;
}

/* Returns the share of the known time, in percent, in which a device was busy. */
function busyPercent(trace, device) {
    const intervals = busyOf(trace, device);
    return 100 * busyShare(intervals, intervals.since, trace.end);
}

/* Returns the devices with activities, in order. */
function deviceNames(trace) {
    return [...new Set(trace.tracks.filter((t) => t.kind === 'stream').map((t) => t.group))];
}

/* Returns those of which it is known when they were busy. */
function watchedDevices(trace) {
    return deviceNames(trace).filter((device) => watchOf(trace, device));
}
