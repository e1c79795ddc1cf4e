/* Colours. A name has the same colour everywhere, and usually in other traces too. It gets another
 * colour only if a name with more time already uses that one. The fills are Paul Tol's scheme
 * "light" (personal.sron.nl/~pault) without olive, plus darker versions of the same hues.
 * Colour-blind readers can distinguish the hues. Dark text has a contrast of at least 4.8 on each
 * fill, so they suit light and dark pages. */
'use strict';

const fills = ['#77aadd', '#ee8866', '#44bb99', '#eedd88', '#99ddff', '#ffaabb', '#bbcc33',
    '#5588bb', '#cc6f4d', '#26a07d', '#ccb34d', '#4da3cc', '#dd8899', '#8f9f22'];
const fillInk = '#14171b';
const neutralFill = '#c3c9d1'; /* for calls into CUDA and waits, which are not the program's own
                                * work */

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

/* Gives the names with the most time different colours: the colour of the name's hash or, if that
 * is used, the next free one. */
function chooseColors(trace) {
    for (const site of trace.sites)
        if (givenColor(site))
            givenFills.set(trace.strings[site[0]], givenColor(site));
    const scopes = [...trace.tables.scopes?.rows ?? []]
        .sort((a, b) => b.cpu_total_ns - a.cpu_total_ns).slice(0, 8).map((row) => row.name);
    const activities = (trace.tables.summary?.tables?.activities?.rows ?? []).slice(0, 6)
        .map((row) => row.activity);
    const used = new Set();
    for (const name of [...scopes, ...activities]) {
        if (chosenFills.has(name))
            continue;
        let fill = hashText(name) % fills.length;
        while (used.has(fill))
            fill = (fill + 1) % fills.length;
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
    const linear = (at) => {
        const share = parseInt(fill.slice(at, at + 2), 16) / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5) > 0.18 ? fillInk : '#ffffff';
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
