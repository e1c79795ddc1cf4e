/* The timeline: what it shows, the selection, the event under the pointer, and the painting of a
 * frame. steer.js handles input; details.js, range.js and search.js make the texts around it. */
'use strict';

const gutterWidth = 200;

class Timeline {
    /* label: "A" or "B" for one of two timelines, which linkTimelines() gives a toolbar. */
    constructor(trace, label = '') {
        this.trace = trace;
        this.label = label;
        this.groups = timelineGroups(trace);
        const padding = (trace.end - trace.begin) * 0.01;
        this.first = trace.begin - padding;
        this.last = trace.end + padding;
        this.begin = this.first;
        this.end = this.last;
        this.selected = null; /* {track, event} */
        this.hovered = null;
        this.range = null;    /* {begin, end} */
        this.linked = [this]; /* the timelines that move together */
        this.shift = 0;       /* from the time that linked timelines have in common to its own */
        this.anchor = null;   /* a time marked with a line */
        this.search = {text: '', count: 0, label: label && `${label}: `};
        this.widths = new Map();
        this.isQueued = false;
        this.build();
        this.place();
    }

    build() {
        this.canvas = make('canvas', {class: 'rows', tabindex: 0, role: 'application',
            'aria-label': `Timeline ${this.label}`.trim() + '. W and S zoom, A and D move, comma '
            + 'and full stop select the neighbours, Enter zooms to the selection.'});
        this.ruler = make('canvas', {class: 'ruler', 'aria-hidden': 'true'});
        this.gutter = make('div', {class: 'gutter'});
        this.content = make('div', {class: 'content'}, this.gutter, this.canvas);
        this.scroller = make('div', {class: 'scroller', tabindex: -1}, this.content);
        this.span = make('div', {class: 'shown'});
        this.tip = make('div', {class: 'tip', hidden: true});
        this.drawer = make('section', {class: 'drawer', hidden: true, 'aria-label': 'Details'});
        this.toolbar = this.label ? null : makeToolbar([this], () => this);
        this.element = make('div', {class: 'timeline'}, this.toolbar,
            make('div', {class: 'head'}, this.span, this.ruler), this.scroller, this.drawer,
            this.tip);
        this.scroller.addEventListener('scroll', () => this.redraw());
        new ResizeObserver(() => this.redraw()).observe(this.scroller);
        steer(this);
    }

    /* Places the rows. Call again after opening or closing one. */
    place() {
        this.height = placeRows(this.groups);
        this.content.style.setProperty('height', `${this.height + 8}px`);
        this.gutter.replaceChildren(...this.groups.flatMap((group) => [makeLabel(this, group),
            ...group.rows.filter((row) => row.isShown).map((row) => makeLabel(this, row))]));
        this.redraw();
    }

    redraw() {
        if (this.isQueued)
            return;
        this.isQueued = true;
        requestAnimationFrame(() => {
            this.isQueued = false;
            if (this.element.isConnected && this.scroller.clientWidth > 0)
                this.paint();
        });
    }

    get width() {
        return Math.max(50, this.scroller.clientWidth - this.gutterWidth());
    }

    gutterWidth() {
        return this.gutter.clientWidth || gutterWidth;
    }

    /* Returns a pen for a cleared canvas, in CSS pixels. */
    pen(canvas, width, height) {
        const ratio = window.devicePixelRatio || 1;
        if (canvas.width !== Math.round(width * ratio) ||
            canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
            canvas.style.setProperty('width', `${width}px`);
            canvas.style.setProperty('height', `${height}px`);
        }
        const context = canvas.getContext('2d');
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        return {context, width, height, begin: this.begin, end: this.end, trace: this.trace,
            scale: width / (this.end - this.begin), colors: this.colors, widths: this.widths};
    }

    paint() {
        this.colors ??= themeColors();
        const width = this.width;
        this.paintHead(this.pen(this.ruler, width, 42));
        const pen = this.pen(this.canvas, width, this.scroller.clientHeight);
        const top = this.scroller.scrollTop;
        paintGrid(pen);
        for (const group of this.groups) {
            for (const row of group.rows) {
                const y = row.y - top;
                if (!row.isShown || y > pen.height || y + row.height < 0)
                    continue;
                if (row.kind === 'curve')
                    row.paint(pen, row, y);
                else
                    paintTrack(pen, row, y);
            }
        }
        this.paintRange(pen);
        this.paintAnchor(pen);
        this.paintOutline(pen, this.hovered, 1);
        this.paintOutline(pen, this.selected, 2);
        this.paintArrows(pen);
        this.onpaint?.();
    }

    /* Shows how much of the recording is visible; the margin around the recording does not
     * count. Below stands where this begins, or from where the ticks count. */
    paintHead(pen) {
        const begin = Math.max(this.begin, this.trace.begin);
        const end = Math.min(this.end, this.trace.end);
        const step = tickStep(pen);
        const base = tickBase(this.begin - this.trace.begin, step);
        this.span.replaceChildren(make('b', {title: 'how much time is shown'},
            this.label && `${this.label}  `, timeText(Math.max(0, end - begin))),
        base ? `+ from ${baseText(base, step)}` : `from ${timeText(begin - this.trace.begin)}`);
        this.span.title = `from ${exactText('time', Math.round(begin - this.trace.begin))}`;
        paintRuler(pen);
        this.paintRange(pen);
        this.paintAnchor(pen);
    }

    paintAnchor(pen) {
        if (this.anchor === null)
            return;
        pen.context.fillStyle = pen.colors.ink;
        pen.context.fillRect(Math.round(xOf(pen, this.anchor)) - 1, 0, 2, pen.height);
    }

    paintRange(pen) {
        if (!this.range)
            return;
        const x = xOf(pen, this.range.begin);
        const width = Math.max(1, xOf(pen, this.range.end) - x);
        pen.context.globalAlpha = 0.16;
        pen.context.fillStyle = pen.colors.accent;
        pen.context.fillRect(x, 0, width, pen.height);
        pen.context.globalAlpha = 1;
        pen.context.fillRect(x, 0, 1, pen.height);
        pen.context.fillRect(x + width - 1, 0, 1, pen.height);
    }

    rowOf(track) {
        for (const group of this.groups)
            for (const row of group.rows)
                if (row.track === track)
                    return row;
        return null;
    }

    /* Returns the position of an event on the canvas; null if its row is not visible. */
    boxOf(pen, {track, event}) {
        const row = this.rowOf(track);
        const {begin, duration, depth} = track.events;
        if (!row || !row.isShown || (!row.isOpen && depth[event] > 0))
            return null;
        return {x: xOf(pen, begin[event]), end: xOf(pen, begin[event] + duration[event]),
            y: row.y - this.scroller.scrollTop + depth[event] * lineHeight};
    }

    paintOutline(pen, target, thickness) {
        const box = target && this.boxOf(pen, target);
        if (!box)
            return;
        const x = Math.max(-4, box.x);
        const width = Math.max(3, Math.min(pen.width + 4, box.end) - x);
        pen.context.strokeStyle = pen.colors.ink;
        pen.context.lineWidth = thickness;
        pen.context.strokeRect(x - thickness / 2, box.y - thickness / 2, width + thickness - 1,
            lineHeight - 2 + thickness);
        pen.context.lineWidth = 1;
    }

    paintArrows(pen) {
        const links = this.links ?? [];
        const hovered = this.hovered && linkOf(this.trace, this.hovered.track,
            this.hovered.event, 'launch');
        for (const {from, to} of hovered ? [...links, {from: hovered, to: this.hovered}] : links) {
            const tail = this.boxOf(pen, from);
            const tip = this.boxOf(pen, to);
            if (tail && tip)
                paintArrow(pen, {x: tail.end, y: tail.y + lineHeight / 2 - 1},
                    {x: tip.x, y: tip.y + lineHeight / 2 - 1});
        }
    }

    /* Shows [begin, end), limited to the recording with its margins and to at least 20 ns. */
    show(begin, end) {
        const whole = this.last - this.first;
        const length = Math.min(whole, Math.max(end - begin, 20));
        begin += (end - begin - length) / 2;
        begin = Math.min(Math.max(begin, this.first), this.last - length) - this.shift;
        for (const one of this.linked) {
            one.begin = begin + one.shift;
            one.end = one.begin + length;
            one.hovered = null;
            one.tip.hidden = true;
            one.redraw();
        }
    }

    zoom(factor, time = (this.begin + this.end) / 2) {
        const whole = this.last - this.first;
        const length = Math.min(whole, Math.max((this.end - this.begin) * factor, 20));
        const share = (time - this.begin) / (this.end - this.begin);
        this.show(time - share * length, time + (1 - share) * length);
    }

    move(share) {
        const distance = (this.end - this.begin) * share;
        this.show(this.begin + distance, this.end + distance);
    }

    fit() {
        this.show(this.first, this.last);
    }

    isWhole() {
        return this.begin <= this.first && this.end >= this.last;
    }

    showKeys(isOpen) {
        this.keys.open = isOpen;
        (isOpen ? this.keys.firstElementChild : this.canvas).focus();
    }

    zoomTo({track, event}) {
        const begin = track.events.begin[event];
        const duration = Math.max(track.events.duration[event], 10);
        this.show(begin - duration * 0.2, begin + duration * 1.2);
        this.reveal(track, event);
    }

    /* Scrolls, opens rows and moves in time until an event is visible. */
    reveal(track, event) {
        const row = this.rowOf(track);
        const group = this.groups.find((g) => g.rows.includes(row));
        if (!row)
            return;
        const {begin, duration, depth} = track.events;
        if (!group.isOpen || (!row.isOpen && depth[event] > 0)) {
            group.isOpen = row.isOpen = true;
            this.place();
        }
        const y = row.y + depth[event] * lineHeight;
        const {scrollTop, clientHeight} = this.scroller;
        if (y < scrollTop || y + lineHeight > scrollTop + clientHeight)
            this.scroller.scrollTop = y - clientHeight / 2;
        const length = this.end - this.begin;
        if (begin[event] + duration[event] < this.begin || begin[event] > this.end) {
            const middle = begin[event] + Math.min(duration[event], length) / 2;
            this.show(middle - length / 2, middle + length / 2);
        }
    }

    /* Selects an event; null: nothing. */
    select(target) {
        this.selected = target;
        this.links = target ? linksOf(this.trace, target) : [];
        if (target) {
            this.range = null;
            showEvent(this, target);
            this.reveal(target.track, target.event);
        } else if (!this.range) {
            this.close();
        }
        this.redraw();
    }

    /* Selects a stretch of time; showRange() then shows its table. */
    selectRange(begin, end) {
        this.range = {begin: Math.min(begin, end), end: Math.max(begin, end)};
        this.selected = null;
        this.links = [];
        this.redraw();
    }

    /* Shows details of an event or of a stretch of time below the timeline. */
    open(...children) {
        const closing = makeButton('\u00d7', () => this.clear(), {class: 'close',
            'aria-label': 'Close the details', title: 'Esc'});
        this.drawer.replaceChildren(closing, ...children.filter(Boolean));
        this.drawer.hidden = false;
        this.drawer.scrollTop = 0;
    }

    close() {
        this.drawer.hidden = true;
        this.drawer.replaceChildren();
    }

    clear() {
        this.range = null;
        this.select(null);
        this.canvas.focus();
    }
}
