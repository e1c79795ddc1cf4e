/* Plots as SVG, drawn for the available width and again when it changes. */
'use strict';

const plotMargin = {left: 64, right: 12, top: 10, bottom: 22};

/* Draws the y axis: lines at round values, about 34 pixels apart. */
function drawAxis(pen, {y: top, low = 0, yText: text, isBytes}) {
    const least = (top - low) * 34 / (pen.bottom - plotMargin.top);
    const step = isBytes ? 2 ** Math.ceil(Math.log2(least)) : niceStep(least);
    for (let value = Math.ceil(low / step) * step; value <= top * 1.0001; value += step) {
        const y = pen.y(value);
        pen.add('line', {x1: plotMargin.left, x2: pen.right, y1: y, y2: y, class: 'grid'});
        pen.add('text', {x: plotMargin.left - 6, y: y + 4, class: 'tick end'}, text(value, step));
    }
}

/* Draws the ticks of the x axis that neither leave the plot nor touch the one before. */
function drawTicks(pen, {x: [from, to], xTicks, xText: text}) {
    let free = 0;
    const add = (at, label) => {
        const half = 4 * label.length;
        const x = Math.min(at, pen.right + plotMargin.right - half);
        if (x - half < free || !label)
            return;
        free = x + half + 4;
        pen.add('text', {x, y: pen.bottom + 16, class: 'tick middle'}, label);
    };
    for (const [value, label] of xTicks ?? [])
        add(pen.x(value), label);
    if (xTicks)
        return;
    const step = niceStep((to - from) / Math.max(2, pen.right / 130));
    for (let n = Math.ceil(from / step); n * step <= to; n++)
        add(pen.x(n * step), text(n * step, step));
}

/* Draws a level, such as a median, with its name to the right of the plot. */
function drawLevel(pen, value, text) {
    const y = pen.y(value);
    pen.add('line', {x1: plotMargin.left, x2: pen.right, y1: y, y2: y, class: 'level'});
    pen.add('text', {x: pen.right + 4, y: y + 4, class: 'tick strong'}, text);
}

/* options: label: spoken text; x: [from, to]; y: greatest value; low: least value, 0 unless given;
 * xText, yText: (value, distance of ticks); isBytes: ticks at powers of two; xTicks: [value, text] of each tick, instead of xText; height; margin: space for names of
 * levels on the right; draw(pen); onclick(x): called with the position on the x axis; tip(x): text
 * for a position. */
function makePlot(options) {
    const height = options.height ?? 170;
    const svg = makeSvg('svg', {role: 'img', 'aria-label': options.label, height});
    const tip = make('div', {class: 'tip', hidden: true});
    const figure = make('figure', {class: options.onclick ? 'plot live' : 'plot'}, svg, tip);
    const [from, to] = options.x;
    const low = options.low ?? 0;
    const margin = options.margin ?? plotMargin.right;
    const right = () => Math.max(260, figure.clientWidth) - margin;
    const valueAt = (event) => {
        const x = event.clientX - svg.getBoundingClientRect().left;
        const share = (x - plotMargin.left) / (right() - plotMargin.left);
        return from + Math.min(1, Math.max(0, share)) * (to - from);
    };
    const draw = () => {
        const bottom = height - plotMargin.bottom;
        const pen = {right: right(), bottom,
            x: (value) => plotMargin.left + (value - from) / (to - from || 1)
                * (right() - plotMargin.left),
            y: (value) => bottom - (value - low) / (options.y - low || 1)
                * (bottom - plotMargin.top),
            add: (tag, properties, ...children) => svg.append(
                makeSvg(tag, properties, ...children))};
        svg.setAttribute('width', pen.right + margin);
        svg.setAttribute('viewBox', `0 0 ${pen.right + margin} ${height}`);
        svg.replaceChildren();
        drawAxis(pen, options);
        drawTicks(pen, options);
        options.draw(pen);
    };
    new ResizeObserver(draw).observe(figure);
    if (options.onclick)
        svg.addEventListener('click', (event) => options.onclick(valueAt(event)));
    if (options.tip) {
        svg.addEventListener('pointermove', (event) => {
            const x = event.clientX - svg.getBoundingClientRect().left;
            tip.textContent = options.tip(valueAt(event));
            tip.hidden = !tip.textContent;
            tip.style.setProperty('transform',
                `translate(${Math.min(x + 12, right() - tip.offsetWidth)}px, 8px)`);
        });
        svg.addEventListener('pointerleave', () => tip.hidden = true);
    }
    return figure;
}

/* Returns median and 99th percentile of the recorded steps, as in the report. */
function stepLevels(trace) {
    const rows = trace.tables.steps?.rows ?? trace.tables.summary?.tables?.steps?.rows ?? [];
    const recorded = rows.find((row) => row.steps === 'recorded') ?? {};
    return {median: recorded.median_ns ?? NaN, p99: recorded.p99_ns ?? NaN};
}

/* Plots a time of each recorded step. what: its name; levels: [value, text]. */
function plotSteps(trace, values, {what, levels, onstep}) {
    const {number, count} = trace.steps;
    const longest = new Pyramid(values), least = new Pyramid(values, -1);
    const most = values[longest.best(0, count)];
    const stepOf = (x) => Math.min(count - 1, Math.max(0, Math.round(x)));
    return makePlot({
        label: `${what} in ${pluralText(count, 'recorded step')}: `
            + `${levels.map(([, text]) => text).join(', ')}, longest ${timeText(most)}`,
        x: [0, Math.max(1, count - 1)], y: most * 1.04, margin: 118,
        xText: (i) => (Number.isInteger(i) && i < count ? `step ${number[i]}` : ''),
        yText: tickText,
        draw: (pen) => {
            const columns = Math.min(count, Math.floor(pen.right / 2));
            let path = '';
            for (let i = 0; i < columns; i++) {
                const from = Math.floor(i * count / columns);
                const to = Math.max(from + 1, Math.floor((i + 1) * count / columns));
                const x = pen.x(count === 1 ? 0.5 : from);
                const low = pen.y(values[least.best(from, to)]);
                const high = pen.y(values[longest.best(from, to)]);
                path += `${i ? 'L' : 'M'}${x} ${low}L${x} ${high}`;
                if (count <= 120)
                    pen.add('circle', {cx: x, cy: high, r: 2.5, class: 'dot'});
            }
            pen.add('path', {d: path, class: 'curve'});
            for (const [value, text] of levels)
                drawLevel(pen, value, text);
        },
        onclick: onstep && ((x) => onstep(stepOf(x))),
        tip: (x) => `step ${number[stepOf(x)]}: ${timeText(values[stepOf(x)])}`,
    });
}

/* Plots the duration of each recorded step. */
function makeStepPlot(trace, onstep) {
    const {median, p99} = stepLevels(trace);
    const most = trace.steps.duration.reduce((a, b) => Math.max(a, b), 0);
    const levels = [[median, `median ${timeText(median)}`]];
    if (p99 - median > most * 0.1)
        levels.push([p99, `p99 ${timeText(p99)}`]);
    return plotSteps(trace, trace.steps.duration, {what: 'Durations', onstep,
        levels: levels.filter(([value]) => value > 0)});
}

/* Plots how many recorded steps had which duration. */
function makeStepHistogram(trace) {
    const {median, p99} = stepLevels(trace);
    const durations = trace.steps.duration.slice().sort();
    return makeLogHistogram(durations, durations.map(() => 1), 'step',
        [[median, 'median'], [p99, 'p99']].filter(([value]) => value > 0));
}

/* Divides the recording into `count` equal parts and returns the busy share of each; NaN: unknown. */
function busyShares(trace, intervals, count) {
    const width = (trace.end - trace.begin) / count;
    return Float64Array.from({length: count}, (_, i) => busyShare(intervals,
        trace.begin + i * width, trace.begin + (i + 1) * width));
}

/* Plots the busy share of a device over time. */
function makeBusyPlot(trace, device, ontime) {
    const intervals = busyOf(trace, device);
    const length = trace.end - trace.begin;
    const shares = busyShares(trace, intervals, 240);
    return makePlot({
        label: `${device} was busy ${percentText(busyPercent(trace, device))} of the time; the plot shows when`,
        height: 120, x: [0, length], y: 100, xText: tickText, yText: (n) => `${n}%`,
        draw: (pen) => {
            const first = shares.findIndex((share) => !Number.isNaN(share));
            const since = Math.max(0, intervals.since - trace.begin);
            const left = pen.x(0), right = pen.x(since);
            let path = `M${right} ${pen.bottom}`;
            shares.forEach((share, i) => path += i < first ? '' :
                `L${pen.x(Math.max(since, i / 240 * length))} ${pen.y(100 * (share || 0))}`
                + `H${pen.x((i + 1) / 240 * length)}`);
            pen.add('path', {d: `${path}V${pen.bottom}Z`, class: 'area'});
            if (right > left)
                pen.add('rect', {x: left, y: pen.y(100), width: right - left,
                    height: pen.bottom - pen.y(100), class: 'unknown'});
            if (right - left > 60)
                pen.add('text', {x: left + 6, y: pen.bottom - 6, class: 'tick'}, 'unknown');
        },
        onclick: ontime && ((time) => ontime(trace.begin + time)),
        tip: (time) => {
            const share = shares[Math.min(239, Math.floor(time / length * 240))];
            return Number.isNaN(share) ? `${timeText(time)}: not known whether it was busy` :
                `${timeText(time)}: busy ${percentText(share * 100)}`;
        },
    });
}

/* Plots allocated memory over time. Each pixel column shows its extremes, so that peaks remain
 * visible. */
function makeMemoryPlot(trace, series, ontime) {
    const {value} = series;
    const peak = series.peak.value;
    const length = trace.end - trace.begin;
    return makePlot({
        label: `${memoryTitle(series)}: at most ${bytesText(peak)}`,
        height: 140, x: [0, length], y: Math.max(1, peak) * 1.04, low: curveRange(series).low,
        xText: tickText,
        isBytes: true, yText: (bytes) => bytesText(bytes).replace('.00', ''),
        draw: (pen) => {
            const columns = curveColumns({trace, begin: trace.begin, end: trace.end,
                width: pen.right - plotMargin.left,
                scale: (pen.right - plotMargin.left) / length}, series);
            let path = '';
            for (let i = 0; i < columns.length; i += 4) {
                const x = plotMargin.left + columns[i];
                path += (i ? `L${x} ${pen.y(columns[i - 1])}` : `M${x} ${pen.y(columns[1])}`)
                    + `L${x} ${pen.y(columns[i + 1])}L${x} ${pen.y(columns[i + 2])}`
                    + `L${x} ${pen.y(columns[i + 3])}`;
            }
            pen.add('path', {d: path, class: 'curve'});
            const x = pen.x(Math.min(length, Math.max(0, series.peak.time - trace.begin)));
            const y = pen.y(peak);
            const isLate = x > pen.right - 120;
            pen.add('circle', {cx: x, cy: y, r: 3.5, class: 'peak'});
            pen.add('text', {x: isLate ? x - 8 : x + 8, y: y + 4, class: isLate ?
                'tick strong end' : 'tick strong'}, `peak ${bytesText(peak)}`);
        },
        onclick: ontime && ((time) => ontime(trace.begin + time)),
        tip: (time) => {
            const place = lowerBound(series.time, trace.begin + time) - 1;
            return `${timeText(time)}: ${place < 0 ? 'nothing known' : bytesText(value[place])}`;
        },
    });
}

/* Returns the longest gaps of a device between its first and last activity, longest first. */
function longestGaps(trace, device, most) {
    const busy = busyOf(trace, device);
    const gaps = [];
    for (let i = 1; i + 1 < busy.length; i += 2) {
        const duration = knownTime(busy, busy[i], busy[i + 1]);
        if (!duration || (gaps.length === most && duration <= gaps[most - 1].duration))
            continue;
        const place = gaps.findIndex((gap) => gap.duration < duration);
        gaps.splice(place < 0 ? gaps.length : place, 0,
            {begin: busy[i], end: busy[i + 1], duration});
        gaps.length = Math.min(most, gaps.length);
    }
    return gaps;
}
