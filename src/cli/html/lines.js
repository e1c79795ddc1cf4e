/* Level of detail. A line is a set of events that do not overlap, in order of begin: one depth of a
 * thread, or one row of a stream. Prefix sums of durations give the covered share of a pixel column
 * with one subtraction. A pyramid finds the longest event in it in logarithmic time. So the cost of
 * a frame depends on the pixels of the screen and hardly on the number of events. Lines are made
 * when they are first needed. */
'use strict';

/* Finds the index of the greatest value in any range. Level k stores the best index of every 2^k
 * values. */
class Pyramid {
    constructor(values, sign = 1) {
        this.values = values;
        this.sign = sign;
        this.levels = [];
        for (let count = values.length; count > 1;) {
            const below = this.levels.at(-1);
            const half = new Int32Array((count + 1) >> 1);
            for (let i = 0; i < half.length; i++) {
                const left = below ? below[2 * i] : 2 * i;
                const right = 2 * i + 1 < count ? (below ? below[2 * i + 1] : 2 * i + 1) : left;
                half[i] = this.better(left, right);
            }
            this.levels.push(half);
            count = half.length;
        }
    }

    better(a, b) {
        return this.sign * (this.values[b] - this.values[a]) > 0 ? b : a;
    }

    /* Returns the best index in [from, to), which must not be empty. */
    best(from, to) {
        let best = from;
        for (let level = -1; from < to; level++, from >>= 1, to >>= 1) {
            const at = (i) => (level < 0 ? i : this.levels[level][i]);
            if (from & 1)
                best = this.better(best, at(from++));
            if (to & 1)
                best = this.better(best, at(--to));
        }
        return best;
    }
}

/* Returns the first index in [from, length) whose value is not less than `limit`. */
function lowerBound(values, limit, from = 0) {
    let to = values.length;
    while (from < to) {
        const middle = (from + to) >> 1;
        if (values[middle] < limit)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

class Line {
    /* `index` lists events of the track in order of begin. */
    constructor(events, index) {
        const count = index.length;
        this.index = index;
        this.begin = new Float64Array(count);
        this.end = new Float64Array(count);
        this.sum = new Float64Array(count + 1);
        const duration = new Float64Array(count);
        for (let i = 0; i < count; i++) {
            const event = index[i];
            duration[i] = events.duration[event];
            this.begin[i] = events.begin[event];
            this.end[i] = this.begin[i] + duration[i];
            this.sum[i + 1] = this.sum[i] + duration[i];
        }
        this.longest = new Pyramid(duration);
        this.hits = null; /* the number of matches of the search before each event */
    }

    /* Returns the event at a time, else the longest within `slack` of it, else -1. */
    at(time, slack) {
        const here = lowerBound(this.end, time);
        for (let i = here; i < this.end.length && this.begin[i] <= time; i++)
            if (time < this.end[i])
                return i;
        const first = lowerBound(this.end, time - slack);
        const last = lowerBound(this.begin, time + slack, first);
        return first < last ? this.longest.best(first, last) : -1;
    }
}

/* Returns a track's lines, by depth. */
function linesOf(track) {
    if (track.lines)
        return track.lines;
    const {depth} = track.events;
    const counts = new Int32Array(track.rows || 1);
    for (let i = 0; i < track.count; i++)
        counts[depth[i]]++;
    const indexes = Array.from(counts, (count) => new Int32Array(count));
    counts.fill(0);
    for (let i = 0; i < track.count; i++)
        indexes[depth[i]][counts[depth[i]]++] = i;
    track.lines = indexes.map((index) => new Line(track.events, index));
    return track.lines;
}

/* Returns an event's index in its line. */
function placeOnLine(track, event) {
    const line = linesOf(track)[track.events.depth[event]];
    let place = lowerBound(line.begin, track.events.begin[event]);
    while (line.index[place] !== event)
        place++;
    return place;
}

/* Prepares a series to find the extremes of any range. */
function extremesOf(series) {
    series.most ??= new Pyramid(series.value);
    series.least ??= new Pyramid(series.value, -1);
    return series;
}
