/* The current place as the fragment of the address. A place can be sent to anybody with the same
 * page, and Back returns from the timeline to a table. Examples: "#scopes"; "#timeline/BEGIN:END"
 * in ns since the begin of the recording; the same with "/TRACK.EVENT", the selected event;
 * "#name/NAME", where encodeURIComponent() has escaped the name. */
'use strict';

function placeText(page) {
    const {trace, current} = page;
    if (current === 'name' && page.name !== null)
        return `#name/${encodeURIComponent(page.name)}`;
    if (current !== 'timeline')
        return `#${current}`;
    const {begin, end, selected} = page.timeline;
    if (!selected && page.timeline.isWhole())
        return '#timeline';
    const chosen = selected ? `/${selected.track.id}.${selected.event}` : '';
    return `#timeline/${Math.round(begin - trace.begin)}:${Math.round(end - trace.begin)}${chosen}`;
}

/* Returns the event with these numbers, or null: anybody can write a fragment, so the numbers may
 * be wrong. */
function eventAt(trace, id, event) {
    const track = [...trace.tracks, trace.waits][id];
    return track && event < track.count ? {track, event: Number(event)} : null;
}

/* Returns the name in "#name/NAME", or null. */
function nameAt(page, fragment) {
    try {
        const [, escaped] = /^#name\/(.*)$/s.exec(fragment) ?? [];
        const name = escaped === undefined ? null : decodeURIComponent(escaped);
        return page.names.has(name) ? name : null;
    } catch {
        return null; /* not an escaped text */
    }
}

/* False if the page has no such place. */
function goToPlace(page, fragment) {
    const name = nameAt(page, fragment);
    if (name !== null) {
        page.showName(name, false);
        return true;
    }
    const place = /^#(\w+)(?:\/(-?\d+):(-?\d+))?(?:\/(\d+)\.(\d+))?$/.exec(fragment);
    if (!place || !page.pages.some(([id]) => id === place[1]))
        return false;
    const [, id, begin, end, track, event] = place;
    const {trace} = page;
    page.open(id, false);
    if (end !== undefined && trace.facts.has_spans) {
        const {timeline} = page;
        timeline.show(trace.begin + Number(begin), trace.begin + Number(end));
        timeline.select(track === undefined ? null : eventAt(trace, track, event));
    }
    return true;
}

/* Updates the fragment shortly after the last change, because browsers limit how often it may
 * change. */
function followPlace(page, timeline) {
    let timer = 0;
    const note = () => page.current === 'timeline' &&
        history.replaceState(null, '', placeText(page));
    timeline.onpaint = () => {
        clearTimeout(timer);
        timer = setTimeout(note, 300);
    };
}
