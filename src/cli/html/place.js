/* Where one is, as the address' fragment, so that a place can be sent to somebody who has the page,
 * and Back leads from the timeline to the table again: "#scopes", "#timeline/BEGIN:END" in ns since
 * the begin of the recording, and behind it "/TRACK.EVENT", which is selected. */
'use strict';

function placeText(page) {
    const {timeline, trace, current} = page;
    const {begin, end, selected} = timeline;
    if (current !== 'timeline' || (!selected && timeline.isWhole()))
        return `#${current}`;
    const chosen = selected ? `/${selected.track.id}.${selected.event}` : '';
    return `#timeline/${Math.round(begin - trace.begin)}:${Math.round(end - trace.begin)}${chosen}`;
}

/* The event with those numbers, or null: a fragment is anybody's text. */
function eventAt(trace, id, event) {
    const track = [...trace.tracks, trace.waits][id];
    return track && event < track.count ? {track, event: Number(event)} : null;
}

/* False where the page has no such place. */
function goToPlace(page, fragment) {
    const place = /^#(\w+)(?:\/(-?\d+):(-?\d+))?(?:\/(\d+)\.(\d+))?$/.exec(fragment);
    if (!place || !page.pages.some(([id]) => id === place[1]))
        return false;
    const [, id, begin, end, track, event] = place;
    const {timeline, trace} = page;
    page.open(id, false);
    if (end !== undefined && trace.facts.has_spans) {
        timeline.show(trace.begin + Number(begin), trace.begin + Number(end));
        timeline.select(track === undefined ? null : eventAt(trace, track, event));
    }
    return true;
}

/* Keeps the fragment true, some time after the last change: browsers bound how often it may. */
function followPlace(page) {
    let timer = 0;
    const note = () => page.current === 'timeline' &&
        history.replaceState(null, '', placeText(page));
    page.timeline.onpaint = () => {
        clearTimeout(timer);
        timer = setTimeout(note, 300);
    };
    window.addEventListener('popstate', () => goToPlace(page, location.hash || '#overview'));
}
