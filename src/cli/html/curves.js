/* Values over time: memory, counters, and how busy a device was. A curve is painted from the
 * extremes of each pixel column, so peaks remain visible at any zoom. */
'use strict';

/* Adds up several series, from a value at the begin of the recording. */
function sumSeries(trace, parts, first) {
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    const times = new Float64Array(count), changes = new Float64Array(count);
    let at = 0;
    for (const {time, value} of parts) {
        times.set(time, at);
        changes.set(value.map((now, i) => now - (i ? value[i - 1] : 0)), at);
        at += time.length;
    }
    const order = Uint32Array.from(times, (_, i) => i);
    if (parts.length > 1)
        order.sort((a, b) => times[a] - times[b] || a - b);
    const time = new Float64Array(count + 1), value = new Float64Array(count + 1);
    time.set(Float64Array.from(order, (i) => times[i]), 1);
    value.set(Float64Array.from(order, (i) => changes[i]), 1);
    time[0] = trace.begin;
    value[0] = first;
    return {time, value: addUp(value)};
}

/* Returns the allocated memory of the host and of each device, as the report counts it: all kinds
 * together, with what was allocated before the recording. */
function memoryTotals(trace) {
    const rows = (trace.tables.memory?.rows ?? []).filter((row) => row.period === 'recording');
    return rows.map((row) => {
        const parts = trace.memory.filter((series) => series.count && isInTotal(series) &&
            (series.device || 'host') === row.device);
        return {...sumSeries(trace, parts, row.current_bytes - row.change_bytes), parts,
            device: row.device, kind: '',
            peak: {value: row.peak_bytes, time: trace.begin + (row.peak_at_ns ?? 0)}};
    }).filter(({parts}) => parts.length);
}

/* False for memory of pools, and for the host's memory that CUDA pinned. */
function isInTotal(series) {
    return !series.pool && series.kind !== 'pinned';
}

/* Returns all curves of memory: totals first, then those of one kind that are no total. */
function memoryCurves(trace) {
    if (trace.memoryCurves)
        return trace.memoryCurves;
    const totals = memoryTotals(trace);
    const isTotal = (series) => totals.some(({parts}) => parts.length === 1 && parts[0] === series);
    const others = trace.memory.filter((series) => series.count && !isTotal(series));
    for (const series of others) {
        const place = extremesOf(series).most.best(0, series.count);
        series.isPart = totals.some(({parts}) => parts.includes(series));
        series.peak = {value: series.value[place], time: series.time[place]};
    }
    return trace.memoryCurves = [...totals, ...others];
}

/* Returns least, greatest and last value for each pixel column, as [x, least, greatest, last,
 * ...]. */
function curveColumns(pen, series) {
    const {time, value, most, least} = extremesOf(series);
    const columns = [];
    let i = lowerBound(time, pen.begin);
    let carried = i > 0 ? value[i - 1] : NaN;
    if (i > 0)
        columns.push(0, carried, carried, carried);
    while (i < time.length && time[i] <= pen.end) {
        const column = Math.floor(xOf(pen, time[i]));
        const next = lowerBound(time, pen.begin + (column + 1) / pen.scale, i + 1);
        const low = value[least.best(i, next)];
        const high = value[most.best(i, next)];
        const isFirst = Number.isNaN(carried);
        columns.push(column, isFirst ? low : Math.min(low, carried),
            isFirst ? high : Math.max(high, carried), carried = value[next - 1]);
        i = next;
    }
    if (columns.length)
        columns.push(Math.min(pen.width, xOf(pen, pen.trace.end)), carried, carried, carried);
    return columns;
}

/* Returns the range of a curve's axis: from 0, or from the least value if that is negative. */
function curveRange(series) {
    const {value, most, least, peak} = extremesOf(series);
    const high = Math.max(value[most.best(0, value.length)], peak?.value ?? -Infinity);
    const low = Math.min(0, value[least.best(0, value.length)]);
    return {low, high: high > low ? high : low + 1};
}

/* Returns the busy share of each pixel column of the known time, as [x, share, ...]. */
function busyColumns(pen, intervals) {
    const columns = [];
    const since = Math.max(pen.trace.begin, intervals.since ?? -Infinity);
    const last = Math.min(pen.width, xOf(pen, pen.trace.end));
    for (let x = Math.max(0, Math.floor(xOf(pen, since))); x < last; x++) {
        const end = Math.min(pen.trace.end, pen.begin + (x + 1) / pen.scale);
        columns.push(x, busyShare(intervals, Math.max(since, pen.begin + x / pen.scale), end));
    }
    return columns;
}

function curveRow(series, title, type) {
    return {kind: 'curve', title, type, isOpen: true,
        note: series.peak ? `peak ${valueText(type, series.peak.value)}` : '',
        paint: (pen, row, y) => paintCurve(pen, row, series, y),
        valueAt: (time) => series.value[lowerBound(series.time, time) - 1]};
}

/* Makes the row with a device's busy share. `width` is that of a pixel column, in ns. */
function busyRow(trace, device) {
    const intervals = busyOf(trace, device);
    return {kind: 'curve', title: 'busy', type: 'percent', isOpen: true,
        note: percentText(busyPercent(trace, device)),
        paint: (pen, row, y) => paintBusy(pen, row, intervals, y),
        valueAt: (time, width) => (time + width > intervals.since ?
            100 * busyShare(intervals, time, time + width) : undefined)};
}

/* Marks the peak of a curve, and names its value beside it. */
function paintPeak(pen, {time}, y, text) {
    const {context, colors} = pen;
    const x = xOf(pen, time);
    if (x < 0 || x > pen.width)
        return;
    const isLate = x > pen.width - 120;
    context.fillStyle = colors.ink;
    context.beginPath();
    context.arc(x, y, 2.5, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = colors.page;
    context.lineWidth = 3;
    context.textAlign = isLate ? 'right' : 'left';
    for (const paint of ['strokeText', 'fillText'])
        context[paint](text, isLate ? x - 6 : x + 6, y + 6);
    context.textAlign = 'left';
    context.lineWidth = 1;
}

function paintCurve(pen, row, series, y) {
    const {context} = pen;
    const {low, high} = curveRange(series);
    const columns = curveColumns(pen, series);
    const top = y + 3, height = row.height - 5;
    const yOf = (value) => top + height - (value - low) / (high - low) * height;
    context.fillStyle = context.strokeStyle = pen.colors.accent;
    context.beginPath();
    for (let i = 0; i < columns.length; i += 4) {
        const x = columns[i] + 0.5;
        if (i > 0)
            context.lineTo(x, yOf(columns[i - 1]));
        else
            context.moveTo(x, yOf(columns[i + 1]));
        context.lineTo(x, yOf(columns[i + 1]));
        context.lineTo(x, yOf(columns[i + 2]));
        context.lineTo(x, yOf(columns[i + 3]));
    }
    context.stroke();
    if (!columns.length)
        return;
    context.lineTo(columns.at(-4), top + height);
    context.lineTo(columns[0], top + height);
    context.globalAlpha = 0.15;
    context.fill();
    context.globalAlpha = 1;
    if (series.peak && row.isOpen)
        paintPeak(pen, series.peak, yOf(series.peak.value), row.note);
}

/* Paints bars from the bottom. Neighbours of the same height become one rectangle. */
function paintBusy(pen, row, intervals, y) {
    const height = row.height - 5, bottom = y + 3 + height;
    const columns = busyColumns(pen, intervals);
    pen.context.fillStyle = pen.colors.accent;
    pen.context.globalAlpha = 0.55;
    for (let i = 0; i < columns.length;) {
        const top = Math.ceil(columns[i + 1] * height);
        let next = i + 2;
        while (next < columns.length && Math.ceil(columns[next + 1] * height) === top)
            next += 2;
        pen.context.fillRect(columns[i], bottom - top, (next - i) / 2, top);
        i = next;
    }
    pen.context.globalAlpha = 1;
    pen.context.fillRect(columns[0] ?? 0, bottom, columns.length / 2, 1);
}
