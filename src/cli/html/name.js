/* Everything about one name: how long its calls took, in which steps, on which threads, and what
 * they launched. All numbers are of the events in the page. */
'use strict';

/* Returns the tracks with events of a name: {track, isOf: true for values of column `what`}. */
function tracksOfName(trace, name) {
    return [...trace.tracks, trace.waits].filter((track) => track.count).map((track) => ({track,
        isOf: namesOf(trace, track).map((text) => text === name)}))
        .filter(({isOf}) => isOf.includes(true));
}

/* Calls f(track, event, isInner) for each event of a name. An inner event is inside another one of
 * the name, so the report's totals do not count its time again. */
function eachOfName(found, f) {
    for (const {track, isOf} of found) {
        const {what, depth} = track.events;
        let outer = -1; /* depth of the outermost open event of the name */
        for (let i = 0; i < track.count; i++) {
            if (track.kind === 'thread' && depth[i] <= outer)
                outer = -1;
            if (!isOf[what[i]])
                continue;
            const isInner = track.kind === 'thread' && outer >= 0;
            if (track.kind === 'thread' && !isInner)
                outer = depth[i];
            f(track, i, isInner);
        }
    }
}

/* Returns the exact quantile of sorted values: the smallest with at least that share up to it. */
function quantileOf(sorted, share) {
    return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

/* True if the recording has cut the event: it does not tell how long one takes. */
function isPiece(track, event) {
    return (track.events.flags?.[event] & (SPAN_BEGUN_BEFORE | SPAN_UNFINISHED)) !== 0;
}

/* Returns {durations (of whole events, sorted), total, slowest: [{track, event}], rows (one per
 * track)}. */
function statsOfName(trace, name) {
    const durations = [], slowest = [], byTrack = new Map();
    let total = 0;
    eachOfName(tracksOfName(trace, name), (track, event, isInner) => {
        const duration = track.events.duration[event];
        total += isInner ? 0 : duration;
        keepSlowest(slowest, {track, event, duration});
        const where = track.kind === 'stream' ? `${track.group} ${trackTitle(track)}` :
            trackTitle(track);
        if (!byTrack.has(track))
            byTrack.set(track, {where, count: 0, total_ns: 0, whole: 0, whole_ns: 0, avg_ns: null,
                min_ns: null, max_ns: null});
        const row = byTrack.get(track);
        row.count++;
        row.total_ns += isInner ? 0 : duration;
        if (isPiece(track, event))
            return;
        durations.push(duration);
        row.whole++;
        row.whole_ns += duration;
        row.avg_ns = row.whole_ns / row.whole;
        row.min_ns = Math.min(row.min_ns ?? Infinity, duration);
        row.max_ns = Math.max(row.max_ns ?? 0, duration);
    });
    const rows = [...byTrack.values()].sort((a, b) => b.total_ns - a.total_ns);
    return {durations: Float64Array.from(durations).sort(), total, slowest, rows};
}

/* Keeps the ten longest events, longest first. */
function keepSlowest(slowest, event) {
    if (slowest.length === 10 && event.duration <= slowest[9].duration)
        return;
    const place = slowest.findIndex((other) => other.duration < event.duration);
    slowest.splice(place < 0 ? slowest.length : place, 0, event);
    slowest.length = Math.min(10, slowest.length);
}

/* Returns the time of a name in each recorded step: of the events that began in the step. */
function stepTimes(trace, name) {
    const times = new Float64Array(trace.steps.count);
    eachOfName(tracksOfName(trace, name), (track, event, isInner) => {
        const step = isInner ? -1 : stepAt(trace, track.events.begin[event]);
        if (step >= 0)
            times[step] += track.events.duration[event];
    });
    return times;
}

/* For each span of a thread: 1 if it is of the name or inside such a span. */
function insideName({track, isOf}) {
    const {what, depth} = track.events;
    const inside = new Uint8Array(track.count);
    const open = [];
    for (let i = 0; i < track.count; i++) {
        open[depth[i]] = i;
        inside[i] = isOf[what[i]] || (depth[i] > 0 && inside[open[depth[i] - 1]]) ? 1 : 0;
    }
    return inside;
}

/* Returns what the spans of a name launched, directly or below, by activity. For a name of
 * activities: which scopes launched them. */
function launchedRows(trace, name) {
    const found = tracksOfName(trace, name);
    const inside = [];
    for (const one of found)
        if (one.track.kind === 'thread')
            inside[one.track.id] = insideName(one);
    const sums = new Map();
    const add = (key, duration) => {
        const row = sums.get(key) ?? {name: key, count: 0, total_ns: 0};
        sums.set(key, row);
        row.count++;
        row.total_ns += duration;
    };
    for (const stream of trace.tracks.filter((track) => track.kind === 'stream')) {
        const {what, duration, track, scope, launch, scopeName} = stream.events;
        const names = namesOf(trace, stream);
        for (let i = 0; i < stream.count; i++) {
            const host = inside[track[i] - 1];
            if (names[what[i]] === name)
                add(trace.strings[scopeName[i]] || '(no scope)', duration[i]);
            else if (host && (host[scope[i] - 1] || host[launch[i] - 1]))
                add(names[what[i]], duration[i]);
        }
    }
    return [...sums.values()].sort((a, b) => b.total_ns - a.total_ns);
}

/* Divides sorted durations, each counted as often as its weight says, into bins of equal width on a
 * logarithmic axis: {from, width (in powers of ten), counts, totals}. */
function logBins(durations, weights) {
    const log = (duration) => Math.log10(Math.max(1, duration));
    const from = Math.floor(log(durations[0]) * 12) / 12;
    const width = Math.max(1, Math.ceil((log(durations.at(-1)) - from) * 12 / 60)) / 12;
    const last = Math.floor((log(durations.at(-1)) - from) / width + 1e-9);
    const counts = new Array(last + 1).fill(0), totals = new Array(last + 1).fill(0);
    durations.forEach((duration, i) => {
        const bin = Math.min(last, Math.max(0,
            Math.floor((log(duration) - from) / width + 1e-9)));
        counts[bin] += weights[i];
        totals[bin] += duration * weights[i];
    });
    return {from, width, counts, totals};
}

/* Returns ticks at 1, 2 and 5 times powers of ten, or at powers alone if the range is long. */
function logTicks(from, to) {
    const factors = to - from > 2.5 ? [1] : [1, 2, 5];
    const ticks = [];
    for (let power = Math.floor(from); power <= to; power++)
        for (const factor of factors) {
            const at = power + Math.log10(factor);
            if (at >= from && at <= to)
                ticks.push([at, tickText(factor * 10 ** power, 1000 ** Math.floor(power / 3))]);
        }
    return ticks;
}
