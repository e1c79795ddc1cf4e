/* Paints the timeline's rows on a canvas. `pen` holds the context, the colours, the visible stretch
 * of time, and its width in CSS pixels. */
'use strict';

function xOf(pen, time) {
    return (time - pen.begin) * pen.scale;
}

/* Cuts text to a width. Each text is measured once. */
function fitText(pen, text, width) {
    let full = pen.widths.get(text);
    if (full === undefined)
        pen.widths.set(text, full = pen.context.measureText(text).width);
    if (full <= width)
        return text;
    const fits = Math.floor(text.length * width / full) - 1;
    return fits < 2 ? '' : text.slice(0, fits) + '\u2026';
}

function paintLabel(pen, text, fill, x, end, y) {
    const left = Math.max(x, 0) + 4;
    const room = Math.min(end, pen.width) - left - 3;
    const shown = fitText(pen, visibleText(cutText(text, 200)), room);
    if (!shown)
        return;
    pen.context.fillStyle = inkOn(fill);
    pen.context.fillText(shown, left, y);
}

/* Paints an event that is at least a pixel wide. */
function paintEvent(pen, track, line, i, y, height) {
    const {context} = pen;
    const x = Math.max(-2, xOf(pen, line.begin[i]));
    const end = Math.min(pen.width + 2, xOf(pen, line.end[i]));
    const event = line.index[i];
    const isHit = line.hits && line.hits[i + 1] > line.hits[i];
    context.globalAlpha = !line.hits || isHit ? 1 : 0.18;
    const fill = isHit ? hitFill : eventColor(pen.trace, track, event);
    context.fillStyle = fill;
    context.fillRect(x, y, Math.max(1, end - x - (end - x > 3 ? 1 : 0)), height);
    if (end - x > 26 && height > 12)
        paintLabel(pen, eventName(pen.trace, track, event), fill, x, end, y + height / 2);
}

/* Columns of events narrower than a pixel. Neighbours of the same colour and nearly the same
 * opacity become one rectangle, because each rectangle costs the browser as much as a long event. */
class MergedColumns {
    constructor(context, y, height) {
        Object.assign(this, {context, y, height, x: 0, width: 0, fill: '', alpha: 0});
    }

    add(column, fill, alpha) {
        if (this.width && fill === this.fill && alpha === this.alpha &&
            column === this.x + this.width) {
            this.width++;
            return;
        }
        this.flush();
        Object.assign(this, {x: column, width: 1, fill, alpha});
    }

    flush() {
        if (!this.width)
            return;
        this.context.globalAlpha = this.alpha;
        this.context.fillStyle = this.fill;
        this.context.fillRect(this.x, this.y, this.width, this.height);
        this.width = 0;
    }
}

/* Adds events [from, to), each narrower than a pixel, as one column. Its opacity is the share that
 * they cover, its colour that of the longest event, or of matches of a search. */
function mergeEvents(pen, track, line, from, to, column, merged) {
    const share = Math.min(1, (line.sum[to] - line.sum[from]) * pen.scale);
    const isHit = line.hits && line.hits[to] > line.hits[from];
    const longest = line.index[line.longest.best(from, to)];
    merged.add(column, isHit ? hitFill : eventColor(pen.trace, track, longest), isHit ? 1 :
        (0.45 + 0.55 * Math.round(share * 16) / 16) * (line.hits ? 0.18 : 1));
}

function paintLine(pen, track, line, y, height) {
    const {begin, end} = line;
    const pixel = 1 / pen.scale;
    const last = lowerBound(begin, pen.end);
    const merged = new MergedColumns(pen.context, y, height);
    for (let i = lowerBound(end, pen.begin); i < last;) {
        if (end[i] - begin[i] >= pixel) {
            merged.flush();
            paintEvent(pen, track, line, i++, y, height);
            continue;
        }
        const column = Math.floor(xOf(pen, begin[i]));
        let next = lowerBound(begin, pen.begin + (column + 1) * pixel, i + 1);
        if (next - 1 > i && end[next - 1] - begin[next - 1] >= pixel)
            next--; /* it begins in this column but extends beyond it */
        mergeEvents(pen, track, line, i, next, column, merged);
        i = next;
    }
    merged.flush();
    pen.context.globalAlpha = 1;
}

function paintMarks(pen, row, y) {
    const {context} = pen;
    context.fillStyle = pen.colors.accent;
    let before = -Infinity;
    for (const mark of row.marks) {
        const x = xOf(pen, pen.trace.marks.time[mark]);
        if (x < 0 || x > pen.width || x - before < 2)
            continue;
        const isDense = x - before < 10;
        before = x;
        if (isDense) {
            context.fillRect(x, y - 4, 1, 3);
            continue;
        }
        context.beginPath();
        context.moveTo(x - 4, y - 4);
        context.lineTo(x + 4, y - 4);
        context.lineTo(x, y + 3);
        context.fill();
    }
}

function paintTrack(pen, row, y) {
    const lines = linesOf(row.track);
    const shown = row.isOpen ? lines.length : 1;
    for (let i = 0; i < shown; i++) {
        const top = y + i * lineHeight;
        if (top > -lineHeight && top < pen.height)
            paintLine(pen, row.track, lines[i], top, lineHeight - 2);
    }
    paintMarks(pen, row, y);
}

/* Paints a curve from the call that launched an activity to the activity. */
function paintArrow(pen, from, to) {
    const {context} = pen;
    const bend = Math.max(20, Math.min(120, Math.abs(to.x - from.x) / 2));
    context.strokeStyle = context.fillStyle = pen.colors.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
    context.stroke();
    context.beginPath();
    context.moveTo(to.x + 1, to.y);
    context.lineTo(to.x - 6, to.y - 4);
    context.lineTo(to.x - 6, to.y + 4);
    context.fill();
    context.lineWidth = 1;
}

/* Returns the distance between ticks: at least 110 pixels, or less on a narrow canvas. */
function tickStep(pen) {
    const least = Math.max(70, Math.min(110, pen.width / 4));
    return Math.max(1, niceStep(least / pen.scale));
}

/* Calls f(time, x) for each tick. Times count from the begin of the recording. */
function eachTick(pen, f) {
    const step = tickStep(pen);
    const origin = pen.trace.begin;
    for (let n = Math.ceil((pen.begin - origin) / step); n * step + origin <= pen.end; n++)
        f(n * step, xOf(pen, n * step + origin));
}

/* Calls f(step, x, end) for each visible recorded step. */
function eachStep(pen, f) {
    const {begin, duration, count} = pen.trace.steps;
    let i = Math.max(0, lowerBound(begin, pen.begin) - 1);
    for (; i < count && begin[i] < pen.end; i++)
        f(i, xOf(pen, begin[i]), xOf(pen, begin[i] + duration[i]));
}

/* Paints vertical lines behind everything: ticks, and the boundaries of steps unless these are
 * dense. */
function paintGrid(pen) {
    const {context} = pen;
    context.fillStyle = pen.colors.line;
    eachTick(pen, (time, x) => context.fillRect(Math.round(x), 0, 1, pen.height));
    const shown = lowerBound(pen.trace.steps.begin, pen.end) -
        lowerBound(pen.trace.steps.begin, pen.begin);
    if (shown * 16 > pen.width)
        return;
    context.globalAlpha = 0.3;
    context.fillStyle = pen.colors.accent;
    eachStep(pen, (step, x) => context.fillRect(Math.round(x), 0, 1, pen.height));
    context.globalAlpha = 1;
}

function paintTicks(pen) {
    const {context} = pen;
    const step = tickStep(pen);
    const base = tickBase(pen.begin - pen.trace.begin, step);
    context.fillStyle = pen.colors.muted;
    eachTick(pen, (time, x) => {
        context.fillRect(Math.round(x), 16, 1, 6);
        context.fillText(base ? `+${tickText(time - base, step)}` : tickText(time, step), x + 4, 10);
    });
}

/* Every other step is darker. Steps narrower than two pixels form one band. */
function paintSteps(pen) {
    const {context, colors} = pen;
    const {number} = pen.trace.steps;
    let free = 0, painted = -1;
    eachStep(pen, (index, x, end) => {
        const isNarrow = end - x < 2;
        if (isNarrow && Math.floor(end) <= painted)
            return;
        context.globalAlpha = !isNarrow && number[index] % 2 ? 0.28 : 0.14;
        context.fillStyle = colors.accent;
        if (isNarrow)
            context.fillRect(Math.floor(x), 24, (painted = Math.floor(end)) - Math.floor(x), 16);
        else
            context.fillRect(x, 24, end - x, 16);
        context.globalAlpha = 1;
        const left = Math.max(x, 0) + 4;
        const text = end - left > 60 ? `step ${number[index]}` : String(number[index]);
        if (left < free || end - left < 8 + 6.5 * text.length)
            return;
        context.fillStyle = colors.ink;
        context.fillText(text, left, 32);
        free = left + 6.5 * text.length;
    });
}

/* Paints the ruler: time above, steps below. */
function paintRuler(pen) {
    paintTicks(pen);
    paintSteps(pen);
}
