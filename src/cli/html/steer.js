/* Mouse and keyboard control of the timeline. */
'use strict';

function timeAt(timeline, x) {
    return timeline.begin + x / timeline.width * (timeline.end - timeline.begin);
}

/* Returns the target at a position on the canvas: {row, track, event}, {row}, or null. */
function targetAt(timeline, x, y) {
    const inContent = y + timeline.scroller.scrollTop;
    for (const group of timeline.groups) {
        for (const row of group.rows) {
            if (!row.isShown || inContent < row.y || inContent >= row.y + row.height)
                continue;
            if (row.kind === 'curve')
                return {row};
            const line = linesOf(row.track)[Math.floor((inContent - row.y) / lineHeight)];
            const slack = 2 * (timeline.end - timeline.begin) / timeline.width;
            const place = line ? line.at(timeAt(timeline, x), slack) : -1;
            return place < 0 ? {row} : {row, track: row.track, event: line.index[place]};
        }
    }
    return null;
}

function tipOf(timeline, target, time) {
    const {trace} = timeline;
    if (target.track) {
        const {track, event} = target;
        return [make('b', {}, makeName(eventName(trace, track, event), 160)),
            make('span', {}, timeText(track.events.duration[event])),
            make('small', {}, `${eventKind(trace, track, event)} at `
                + timeText(track.events.begin[event] - trace.begin))];
    }
    if (target.row.kind !== 'curve')
        return null;
    const {title, type, valueAt} = target.row;
    const value = valueAt(time, (timeline.end - timeline.begin) / timeline.width);
    return [make('b', {}, makeName(title)), make('span', {},
        value === undefined ? 'no value yet' : valueText(type, value)),
    make('small', {}, `at ${timeText(time - trace.begin)}`)];
}

function showTip(timeline, target, event) {
    const bounds = timeline.canvas.getBoundingClientRect();
    const parts = target && tipOf(timeline, target, timeAt(timeline, event.clientX - bounds.left));
    timeline.tip.hidden = !parts;
    if (!parts)
        return;
    timeline.tip.replaceChildren(...parts);
    const outer = timeline.element.getBoundingClientRect();
    const {offsetWidth, offsetHeight} = timeline.tip;
    const x = Math.min(event.clientX - outer.left + 14, outer.width - offsetWidth - 8);
    const y = Math.min(event.clientY - outer.top + 16, outer.height - offsetHeight - 8);
    timeline.tip.style.setProperty('transform', `translate(${Math.max(0, x)}px, ${y}px)`);
}

function hover(timeline, event) {
    const bounds = timeline.canvas.getBoundingClientRect();
    const target = targetAt(timeline, event.clientX - bounds.left, event.clientY - bounds.top);
    timeline.hovered = target && target.track ? target : null;
    showTip(timeline, target, event);
    timeline.redraw();
}

/* Follows the pointer from press to release: onmove(dx, dy, x), ondone(hasMoved, event). */
function drag(element, press, onmove, ondone) {
    const bounds = element.getBoundingClientRect();
    let hasMoved = false;
    const move = (event) => {
        const dx = event.clientX - press.clientX, dy = event.clientY - press.clientY;
        hasMoved ||= Math.abs(dx) + Math.abs(dy) > 3;
        if (hasMoved)
            onmove(dx, dy, event.clientX - bounds.left);
    };
    const done = (event) => {
        element.removeEventListener('pointermove', move);
        element.removeEventListener('pointerup', done);
        element.removeEventListener('pointercancel', done);
        ondone(hasMoved, event);
    };
    element.setPointerCapture(press.pointerId);
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', done);
    element.addEventListener('pointercancel', done);
}

function dragRange(timeline, element, press) {
    const left = element.getBoundingClientRect().left;
    const from = timeAt(timeline, press.clientX - left);
    drag(element, press, (dx, dy, x) => timeline.selectRange(from, timeAt(timeline, x)),
        (hasMoved) => (hasMoved ? showRange(timeline) : timeline.clear()));
}

function dragView(timeline, press) {
    const {begin, end} = timeline;
    const top = timeline.scroller.scrollTop;
    const pixel = (end - begin) / timeline.width;
    timeline.tip.hidden = true;
    drag(timeline.canvas, press, (dx, dy) => {
        timeline.show(begin - dx * pixel, end - dx * pixel);
        timeline.scroller.scrollTop = top - dy;
    }, (hasMoved, event) => {
        if (hasMoved)
            return;
        const bounds = timeline.canvas.getBoundingClientRect();
        const target = targetAt(timeline, event.clientX - bounds.left, event.clientY - bounds.top);
        timeline.select(target && target.track ? target : null);
    });
}

function turnWheel(timeline, event) {
    if (event.altKey)
        return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 20 : 1; /* 1: deltas are in lines, otherwise in pixels */
    const across = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (event.shiftKey || Math.abs(across) > Math.abs(event.deltaY)) {
        timeline.move(across * unit / timeline.width);
        return;
    }
    const left = timeline.canvas.getBoundingClientRect().left;
    timeline.pointerTime = timeAt(timeline, event.clientX - left);
    timeline.zoom(1.0022 ** (event.deltaY * unit), timeline.pointerTime);
}

/* Selects the next or previous event on the selected event's line. Without a selection, the first
 * visible one. */
function selectNeighbour(timeline, step) {
    const chosen = timeline.selected;
    if (!chosen) {
        const row = timeline.groups.flatMap((g) => g.rows).find((r) => r.isShown && r.track);
        const line = row && linesOf(row.track)[0];
        const place = line ? lowerBound(line.end, timeline.begin) : 0;
        if (line && place < line.index.length)
            timeline.select({track: row.track, event: line.index[place]});
        return;
    }
    const line = linesOf(chosen.track)[chosen.track.events.depth[chosen.event]];
    const place = placeOnLine(chosen.track, chosen.event) + step;
    if (place >= 0 && place < line.index.length)
        timeline.select({track: chosen.track, event: line.index[place]});
}

/* Selects the enclosing span, or the first span inside. */
function selectDeeper(timeline, step) {
    if (!timeline.selected)
        return;
    const {track, event} = timeline.selected;
    const {depth} = track.events;
    if (track.kind !== 'thread')
        return;
    const next = step < 0 ? parentOf(track, event) : event + 1;
    if (next >= 0 && next < track.count && depth[next] === depth[event] + step)
        timeline.select({track, event: next});
}

const timelineKeys = {
    w: (timeline) => timeline.zoom(0.75, timeline.pointerTime),
    s: (timeline) => timeline.zoom(1 / 0.75, timeline.pointerTime),
    '+': (timeline) => timeline.zoom(0.75),
    '-': (timeline) => timeline.zoom(1 / 0.75),
    a: (timeline) => timeline.move(-0.15),
    d: (timeline) => timeline.move(0.15),
    arrowleft: (timeline) => timeline.move(-0.15),
    arrowright: (timeline) => timeline.move(0.15),
    arrowup: (timeline) => timeline.scroller.scrollBy(0, -40),
    arrowdown: (timeline) => timeline.scroller.scrollBy(0, 40),
    0: (timeline) => timeline.fit(),
    home: (timeline) => timeline.fit(),
    f: (timeline) => (timeline.selected ? timeline.zoomTo(timeline.selected) : timeline.fit()),
    enter: (timeline) => timeline.selected && timeline.zoomTo(timeline.selected),
    escape: (timeline) => (timeline.keys.open ? timeline.showKeys(false) : timeline.clear()),
    '?': (timeline) => timeline.showKeys(!timeline.keys.open),
    ',': (timeline) => selectNeighbour(timeline, -1),
    '.': (timeline) => selectNeighbour(timeline, 1),
    '[': (timeline) => selectDeeper(timeline, -1),
    ']': (timeline) => selectDeeper(timeline, 1),
    r: (timeline) => (timeline.selectRange(timeline.begin, timeline.end), showRange(timeline)),
    n: (timeline) => nextHit(timeline, 1),
    p: (timeline) => nextHit(timeline, -1),
};

/* True if the key has a meaning here. Keys typed into a field or pressing a button are ignored. */
function pressKey(timeline, event) {
    if (event.ctrlKey || event.metaKey || event.altKey)
        return false;
    const key = event.key.toLowerCase();
    const isForButtons = key.length > 1 && key !== 'escape';
    const mine = isForButtons ? 'input, button, summary, .drawer' : 'input';
    if (event.target.closest(mine))
        return false;
    const act = Object.hasOwn(timelineKeys, key) && timelineKeys[key];
    if (act)
        act(timeline);
    return Boolean(act);
}

function steer(timeline) {
    const {canvas, ruler} = timeline;
    canvas.addEventListener('pointerdown', (event) => {
        if (event.button !== 0)
            return;
        if (event.shiftKey)
            dragRange(timeline, canvas, event);
        else
            dragView(timeline, event);
    });
    canvas.addEventListener('pointermove', (event) => {
        const left = canvas.getBoundingClientRect().left;
        timeline.pointerTime = timeAt(timeline, event.clientX - left);
        if (!event.buttons)
            hover(timeline, event);
    });
    canvas.addEventListener('pointerleave', () => {
        timeline.hovered = null;
        timeline.pointerTime = undefined;
        timeline.tip.hidden = true;
        timeline.redraw();
    });
    canvas.addEventListener('dblclick', () => timeline.selected &&
        timeline.zoomTo(timeline.selected));
    canvas.addEventListener('wheel', (event) => turnWheel(timeline, event), {passive: false});
    ruler.addEventListener('wheel', (event) => turnWheel(timeline, event), {passive: false});
    ruler.addEventListener('pointerdown', (event) => dragRange(timeline, ruler, event));
    ruler.addEventListener('dblclick', (event) => {
        const left = ruler.getBoundingClientRect().left;
        const step = stepAt(timeline.trace, timeAt(timeline, event.clientX - left));
        if (step >= 0)
            showStep(timeline, step);
    });
}

function showStep(timeline, step) {
    const {begin, duration} = timeline.trace.steps;
    timeline.show(begin[step] - duration[step] * 0.05, begin[step] + duration[step] * 1.05);
}
