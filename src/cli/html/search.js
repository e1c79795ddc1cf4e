/* Finds events by a part of their name. Matches get a colour of their own, other events fade. */
'use strict';

/* Returns for each value of the track's column `what` whether its name matches. */
function matchingNames(trace, track, needle) {
    const matches = (name) => name.toLowerCase().includes(needle);
    const names = namesOf(trace, track).map(matches);
    if (track.kind === 'stream')
        trace.shapes.forEach((shape, i) => names[i] ||= matches(shape.full_name ?? ''));
    return names;
}

/* Marks the matches on a track's lines, and returns their number. */
function markTrack(trace, track, needle) {
    const names = needle ? matchingNames(trace, track, needle) : null;
    let count = 0;
    for (const line of linesOf(track)) {
        line.hits = names && new Int32Array(line.index.length + 1);
        for (let i = 0; names && i < line.index.length; i++)
            line.hits[i + 1] = line.hits[i] + (names[track.events.what[line.index[i]]] ? 1 : 0);
        count += names ? line.hits.at(-1) : 0;
    }
    return count;
}

function updateSearch(timeline, text) {
    const needle = text.trim().toLowerCase();
    const {search, trace} = timeline;
    search.text = needle;
    search.count = 0;
    for (const track of [...trace.tracks, trace.waits])
        if (track.count)
            search.count += markTrack(trace, track, needle);
    search.output.textContent = needle ? search.label
        + pluralText(search.count, 'match', 'matches') : '';
    timeline.redraw();
}

/* Returns how many matches begin before a time, on all lines. */
function hitsBefore(trace, time) {
    let count = 0;
    for (const track of [...trace.tracks, trace.waits])
        for (const line of track.count ? linesOf(track) : [])
            count += line.hits[lowerBound(line.begin, time)];
    return count;
}

/* Returns the first match on a line that begins after `time` or, backwards, the last one before it;
 * -1: none. */
function hitOnLine(line, time, step) {
    const {hits, begin} = line;
    const place = lowerBound(begin, step > 0 ? time + 0.5 : time);
    if (step > 0) {
        const hit = lowerBound(hits, hits[place] + 1);
        return hit < hits.length ? hit - 1 : -1;
    }
    return hits[place] > 0 ? lowerBound(hits, hits[place]) - 1 : -1;
}

/* Selects the next match in time on any line. After the last one it continues with the first. */
function nextHit(timeline, step, isAgain = false) {
    const {search, trace, selected} = timeline;
    if (!search.text || !search.count)
        return;
    const edge = step > 0 ? -Infinity : Infinity;
    const from = isAgain ? edge : selected ? selected.track.events.begin[selected.event] :
        step > 0 ? timeline.begin - 1 : timeline.end;
    let best = null;
    for (const track of [...trace.tracks, trace.waits]) {
        for (const line of track.count ? linesOf(track) : []) {
            const hit = hitOnLine(line, from, step);
            if (hit >= 0 && (!best || step * (best.begin - line.begin[hit]) > 0))
                best = {track, event: line.index[hit], begin: line.begin[hit]};
        }
    }
    if (!best) {
        if (!isAgain)
            nextHit(timeline, step, true);
        return;
    }
    timeline.select(best);
    search.output.textContent = search.label
        + `${countText(hitsBefore(trace, best.begin) + 1)} of ${countText(search.count)}`;
}

/* Searches for a text and goes to its first match. */
function searchFor(timeline, text) {
    timeline.search.input.value = text;
    timeline.linked.forEach((one) => updateSearch(one, text));
    if (!timeline.selected)
        nextHit(timeline, 1);
}

const keyTexts = [
    ['wheel, W, S', 'zoom at the pointer'],
    ['drag, A, D, arrows', 'move'],
    ['click', 'details, and where it was launched'],
    ['double click, Enter, F', 'zoom to the selection'],
    ['0', 'show everything'],
    [',  .', 'previous, next of the row'],
    ['[  ]', 'the span around, the first inside'],
    ['shift-drag, drag the ruler', 'select time: what ran in it'],
    ['R', 'select the time that is shown'],
    ['/', 'search; Enter, N next, P previous'],
    ['Esc', 'select nothing'],
    ['?', 'these keys'],
];

function makeKeys(texts) {
    return make('details', {class: 'keys'}, make('summary', {}, 'Keys'),
        make('div', {class: 'sheet'}, makeList(texts, 'keylist')));
}

/* Makes the toolbar of a timeline, or of several that move together; active() returns the one that
 * the keys steer. */
function makeToolbar(timelines, active) {
    const keys = makeKeys(keyTexts);
    const input = make('input', {type: 'search', placeholder: 'Search names  /',
        'aria-label': 'Search names', spellcheck: 'false',
        oninput: (event) => timelines.forEach((one) => updateSearch(one, event.target.value)),
        onkeydown: (event) => {
            if (event.key === 'Enter')
                nextHit(active(), event.shiftKey ? -1 : 1);
            else if (event.key === 'Escape')
                active().canvas.focus();
            else
                return;
            event.preventDefault();
        }});
    const outputs = timelines.map(() => make('output', {'aria-live': 'polite'}));
    timelines.forEach((timeline, i) => {
        Object.assign(timeline.search, {input, output: outputs[i]});
        timeline.keys = keys;
    });
    return make('div', {class: 'toolbar', role: 'toolbar', 'aria-label': 'Timeline'}, input,
        makeButton('\u2039', () => nextHit(active(), -1), {'aria-label': 'Previous match'}),
        makeButton('\u203a', () => nextHit(active(), 1), {'aria-label': 'Next match'}),
        outputs, make('span', {class: 'space'}),
        makeButton('+', () => active().zoom(0.5), {'aria-label': 'Zoom in', title: 'W'}),
        makeButton('\u2212', () => active().zoom(2), {'aria-label': 'Zoom out', title: 'S'}),
        makeButton('Fit', () => active().fit(), {title: '0'}), keys);
}
