/* Plots as SVG, drawn for the available width and again when it changes. */
'use strict';

const plotMargin = {left: 64, right: 12, top: 10, bottom: 22};

/* Draws the y axis: lines at round values, about 34 pixels apart. */
function drawAxis(pen, top, text) {
    const least = top * 34 / (pen.bottom - plotMargin.top);
    const step = text === bytesText ? 2 ** Math.ceil(Math.log2(least)) : niceStep(least);
    for (let value = 0; value <= top * 1.0001; value += step) {
        const y = pen.y(value);
        pen.add('line', {x1: plotMargin.left, x2: pen.right, y1: y, y2: y, class: 'grid'});
        pen.add('text', {x: plotMargin.left - 6, y: y + 4, class: 'tick end'}, text(value, step));
    }
}

function drawTicks(pen, {x: [from, to], xTicks, xText: text}) {
    for (const [value, label] of xTicks ?? [])
        pen.add('text', {x: pen.x(value), y: pen.bottom + 16, class: 'tick middle'}, label);
    if (xTicks)
        return;
    const step = niceStep((to - from) / Math.max(2, pen.right / 130));
    for (let n = Math.ceil(from / step); n * step <= to; n++)
        pen.add('text', {x: pen.x(n * step), y: pen.bottom + 16, class: 'tick middle'},
            text(n * step, step));
}

/* Draws a level, such as a median, with its name to the right of the plot. */
function drawLevel(pen, value, text) {
    const y = pen.y(value);
    pen.add('line', {x1: plotMargin.left, x2: pen.right, y1: y, y2: y, class: 'level'});
    pen.add('text', {x: pen.right + 4, y: y + 4, class: 'tick strong'}, text);
}

/* options: label: spoken text; x: [from, to]; y: greatest value; xText, yText: (value, distance of
 * ticks); xTicks: [value, text] of each tick, instead of xText; height; margin: space for names of
 * levels on the right; draw(pen); onclick(x): called with the position on the x axis; tip(x): text
 * for a position. */
function makePlot(options) {
    const height = options.height ?? 170;
    const svg = makeSvg('svg', {role: 'img', 'aria-label': options.label, height});
    const tip = make('div', {class: 'tip', hidden: true});
    const figure = make('figure', {class: options.onclick ? 'plot live' : 'plot'}, svg, tip);
    const [from, to] = options.x;
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
            y: (value) => bottom - value / (options.y || 1) * (bottom - plotMargin.top),
            add: (tag, properties, ...children) => svg.append(
                makeSvg(tag, properties, ...children))};
        svg.setAttribute('width', pen.right + margin);
        svg.setAttribute('viewBox', `0 0 ${pen.right + margin} ${height}`);
        svg.replaceChildren();
        drawAxis(pen, options.y, options.yText);
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
                if (columns <= 120)
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
    const {duration, count} = trace.steps;
    const {median, p99} = stepLevels(trace);
    const low = duration.reduce((a, b) => Math.min(a, b));
    const high = Math.max(low + 1, duration.reduce((a, b) => Math.max(a, b)));
    const bins = new Array(Math.min(48, Math.max(8, Math.ceil(2 * Math.sqrt(count))))).fill(0);
    const width = (high - low) / bins.length;
    for (const value of duration)
        bins[Math.min(bins.length - 1, Math.floor((value - low) / width))]++;
    return makePlot({
        label: `Histogram of ${pluralText(count, 'step duration')} from ${timeText(low)} to `
            + timeText(high),
        x: [low, high], y: Math.max(...bins) * 1.1,
        xText: tickText, yText: (n) => (Number.isInteger(n) ? countText(n) : ''),
        draw: (pen) => {
            bins.forEach((n, i) => pen.add('rect', {x: pen.x(low + i * width) + 0.5, y: pen.y(n),
                width: Math.max(1, pen.x(low + (i + 1) * width) - pen.x(low + i * width) - 1),
                height: pen.bottom - pen.y(n), class: 'bar'}));
            for (const [value, name] of [[median, 'median'], [p99, 'p99']]) {
                if (!(value >= low && value <= high))
                    continue;
                const x = pen.x(value);
                pen.add('line', {x1: x, x2: x, y1: plotMargin.top, y2: pen.bottom, class: 'level'});
                pen.add('text', {x: x > pen.right - 60 ? x - 4 : x + 4, y: plotMargin.top + 8,
                    class: x > pen.right - 60 ? 'tick strong end' : 'tick strong'}, name);
            }
        },
        tip: (x) => {
            const i = Math.min(bins.length - 1, Math.floor((x - low) / width));
            return `${pluralText(bins[i], 'step')} of ${timeText(low + i * width)} to `
                + timeText(low + (i + 1) * width);
        },
    });
}

/* Divides the recording into `count` equal parts and returns the busy share of each. */
function busyShares(trace, intervals, count) {
    const shares = new Float64Array(count);
    const width = (trace.end - trace.begin) / count;
    for (let k = 0; k < intervals.length; k += 2) {
        const begin = Math.max(0, intervals[k] - trace.begin);
        const end = Math.min(trace.end, intervals[k + 1]) - trace.begin;
        for (let i = Math.floor(begin / width); i < count && i * width < end; i++)
            shares[i] += (Math.min(end, (i + 1) * width) - Math.max(begin, i * width)) / width;
    }
    return shares;
}

/* Plots the busy share of a device over time. */
function makeBusyPlot(trace, device, ontime) {
    const intervals = busyOf(trace, device);
    const length = trace.end - trace.begin;
    const shares = busyShares(trace, intervals, 240);
    const all = 100 * coveredTime(intervals, trace.begin, trace.end) / length;
    return makePlot({
        label: `${device} was busy ${percentText(all)} of the time; the plot shows when`,
        height: 120, x: [0, length], y: 100, xText: tickText, yText: (n) => `${n}%`,
        draw: (pen) => {
            let path = `M${pen.x(0)} ${pen.bottom}`;
            shares.forEach((share, i) => path += `L${pen.x(i / 240 * length)} ${pen.y(share * 100)}`
                + `H${pen.x((i + 1) / 240 * length)}`);
            pen.add('path', {d: `${path}V${pen.bottom}Z`, class: 'area'});
        },
        onclick: ontime && ((time) => ontime(trace.begin + time)),
        tip: (time) => {
            const share = shares[Math.min(239, Math.floor(time / length * 240))];
            return `${timeText(time)}: busy ${percentText(share * 100)}`;
        },
    });
}

/* Plots allocated memory over time. Each pixel column shows its extremes, so that peaks remain
 * visible. */
function makeMemoryPlot(trace, series, ontime) {
    const {value, most} = extremesOf(series);
    const peak = value[most.best(0, value.length)];
    const length = trace.end - trace.begin;
    return makePlot({
        label: `${memoryTitle(series)}: at most ${bytesText(peak)}`,
        height: 140, x: [0, length], y: Math.max(1, peak) * 1.04, margin: 118, xText: tickText,
        yText: bytesText,
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
            drawLevel(pen, peak, `peak ${bytesText(peak)}`);
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
        const duration = busy[i + 1] - busy[i];
        if (gaps.length === most && duration <= gaps[most - 1].duration)
            continue;
        const place = gaps.findIndex((gap) => gap.duration < duration);
        gaps.splice(place < 0 ? gaps.length : place, 0,
            {begin: busy[i], end: busy[i + 1], duration});
        gaps.length = Math.min(most, gaps.length);
    }
    return gaps;
}
