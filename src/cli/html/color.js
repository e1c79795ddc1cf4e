/* Colours. A name has the same colour everywhere, and usually in other traces too. It gets another
 * colour only if a neighbour, or a name with more time, has that one or a similar one. The fills are Paul Tol's scheme
 * "light" (personal.sron.nl/~pault) without olive, plus darker versions of the same hues.
 * Colour-blind readers can distinguish the hues. Dark text has a contrast of at least 4.8 on each
 * fill, so they suit light and dark pages. */
'use strict';

const fills = ['#77aadd', '#ee8866', '#44bb99', '#eedd88', '#99ddff', '#ffaabb', '#bbcc33',
    '#5588bb', '#cc6f4d', '#26a07d', '#ccb34d', '#4da3cc', '#dd8899', '#8f9f22'];
const fillInk = '#14171b';
const neutralFill = '#c3c9d1'; /* for calls into CUDA and waits, which are not the program's own
                                * work */
const hitFill = '#c8006a'; /* for matches of a search */
const leastDifference = 0.12; /* of neighbours; two shades of one hue are nearer */

/* FNV-1a, 32 bits, with the high bits mixed in. */
function hashText(text) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++)
        hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> 0;
}

const givenFills = new Map(); /* colours set by the program: name -> "#rrggbb" */
const chosenFills = new Map(); /* colours of the names with the most time: name -> index */

/* Returns the colour that the program gave a call site, or undefined. */
function givenColor(site) {
    return site[4] ? `#${site[4].toString(16).padStart(6, '0')}` : undefined;
}

/* Returns a channel of a fill as linear light, 0 to 1. */
function linearLight(fill, at) {
    const share = parseInt(fill.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/* Returns how different two fills look: their distance in OKLab (bottosson.github.io/posts/oklab). */
function fillDifference(a, b) {
    const labOf = (fill) => {
        const [red, green, blue] = [1, 3, 5].map((at) => linearLight(fill, at));
        const [l, m, s] = [[0.4122, 0.5363, 0.0515], [0.2119, 0.6807, 0.1074],
            [0.0883, 0.2817, 0.63]].map(([r, g, b]) => Math.cbrt(r * red + g * green + b * blue));
        return [0.2105 * l + 0.7936 * m - 0.0041 * s, 1.978 * l - 2.4286 * m + 0.4506 * s,
            0.0259 * l + 0.7828 * m - 0.8087 * s];
    };
    const other = labOf(b);
    return Math.hypot(...labOf(a).map((value, i) => value - other[i]));
}

/* Returns for each name of a tree, given in preorder, the names beside it and at most two levels
 * above or below. Among many siblings, only the nearest count. */
function neighboursOf(rows) {
    const neighbours = new Map(), levels = [];
    const join = (name, other) => {
        neighbours.get(name).add(other);
        neighbours.get(other).add(name);
    };
    for (const {name, depth} of rows) {
        if (!neighbours.has(name))
            neighbours.set(name, new Set());
        levels.length = Math.min(levels.length, depth + 1);
        const siblings = levels[depth] ??= [];
        [...siblings.slice(-12), levels[depth - 1]?.at(-1), levels[depth - 2]?.at(-1)]
            .forEach((other) => other && other !== name && join(name, other));
        siblings.push(name);
    }
    return neighbours;
}

/* Returns the index of the fill for a name: that of its hash, or the next one that is not used and
 * differs enough from the neighbours' fills, or the one that differs most. */
function chooseFill(name, near, used) {
    const first = hashText(name) % fills.length;
    const free = fills.map((_, i) => (first + i) % fills.length).filter((fill) => !used.has(fill));
    const distances = free.map((fill) =>
        Math.min(1, ...near.map((other) => fillDifference(fills[fill], other))));
    const place = distances.findIndex((distance) => distance >= leastDifference);
    return free[place >= 0 ? place : distances.indexOf(Math.max(...distances))];
}

/* Chooses the colours of names. Those with the most time get different ones. */
function chooseColors(...traces) {
    for (const trace of traces)
        for (const site of trace.sites)
            if (givenColor(site))
                givenFills.set(trace.strings[site[0]], givenColor(site));
    const rowsOf = (tableOf) => traces.flatMap(({tables}) => tableOf(tables)?.rows ?? []);
    const namesBy = (rows, key, time) => [...new Set(rows.sort((a, b) => b[time] - a[time])
        .map((row) => row[key]))];
    const scopes = namesBy(rowsOf(({scopes: table}) => table), 'name', 'cpu_total_ns');
    const activities = namesBy(rowsOf(({summary}) => summary?.tables?.activities), 'activity',
        'total_time_ns');
    const neighbours = neighboursOf([...rowsOf(({tree}) => tree),
        ...activities.map((name) => ({name, depth: 0}))]);
    const first = [...scopes.slice(0, 8), ...activities.slice(0, 6)];
    const used = new Set();
    for (const name of new Set([...first, ...scopes, ...neighbours.keys()])) {
        const isFirst = first.includes(name);
        const near = [...neighbours.get(name) ?? []].map((other) => givenFills.get(other) ??
            fills[chosenFills.get(other)]).filter(Boolean);
        const fill = chooseFill(name, near, isFirst ? used : new Set());
        if (isFirst)
            used.add(fill);
        chosenFills.set(name, fill);
    }
}

function colorOf(name) {
    return givenFills.get(name) ?? fills[chosenFills.get(name) ?? hashText(name) % fills.length];
}

/* Returns an event's colour. Caches the colours of a track's names. */
function eventColor(trace, track, event) {
    if (track.kind === 'wait' || isCall(track, event))
        return neutralFill;
    const names = namesOf(trace, track);
    names.colors ??= track.kind === 'stream' ? names.map(colorOf)
        : names.map((name, site) => givenColor(trace.sites[site]) ?? colorOf(name));
    return names.colors[track.events.what[event]];
}

/* Returns a readable text colour for a fill "#rrggbb": dark if the fill's relative luminance (WCAG
 * 2.1) is above that of a middle grey. */
function inkOn(fill) {
    const light = 0.2126 * linearLight(fill, 1) + 0.7152 * linearLight(fill, 3)
        + 0.0722 * linearLight(fill, 5);
    return light > 0.18 ? fillInk : '#ffffff';
}

/* Reads the style sheet's colours for the current theme, because the canvas needs plain values. */
function themeColors() {
    const probe = document.body.appendChild(make('span', {hidden: true, class: 'probe'}));
    const colors = {};
    for (const name of ['page', 'surface', 'line', 'ink', 'muted', 'accent']) {
        probe.style.setProperty('color', `var(--${name})`);
        colors[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    return colors;
}
