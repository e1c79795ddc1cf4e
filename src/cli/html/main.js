/* Reads the trace, makes the page, and handles the keys that work on every tab. */
'use strict';

function deviceUncertaintyText(facts) {
    const least = facts.device_uncertainty_is_least ? 'at least ' : '';
    const moved = facts.device_shift_ns ?
        `, moved by ${fixedText(facts.device_shift_ns, 0)} ns` : '';
    return `${least}${fixedText(facts.device_uncertainty_ns, 1)} ns${moved}`;
}

/* Describes the losses if none were counted. */
function lossesText(facts) {
    if (facts.ending === 'whole')
        return 'nothing';
    return facts.is_known && facts.ending === 'cut' ? 'nothing while recording,' : 'unknown what is';
}

function costText(facts) {
    if (!facts.is_known && facts.ending !== 'whole')
        return 'unknown';
    return (facts.ending === 'killed' ? 'at least ' : '') + timeText(facts.cost_ns);
}

function provenanceText(trace) {
    const {facts} = trace;
    const {provenance} = trace.tables.summary ?? {};
    const clock = provenance ? `clock ${provenance.clock}` : 'clock';
    const parts = [`backend ${facts.backend}`,
        `${clock}, resolution ${fixedText(facts.clock_resolution_ns, 3)} ns, `
        + `uncertainty ${fixedText(facts.clock_uncertainty_ns, 1)} ns`];
    if (facts.device_uncertainty_ns)
        parts.push(`device times: resolution ${fixedText(facts.device_resolution_ns, 1)} ns, `
            + `uncertainty ${deviceUncertaintyText(facts)}`);
    parts.push(trace.losses.length ? trace.losses.map((l) => `${l.name} ${l.count}`).join(', ') :
        `${lossesText(facts)} lost`);
    parts.push(`begun before ${facts.begun_before}, unfinished ${facts.unfinished}`,
        `Takt\u2019s cost ${costText(facts)}`);
    return parts.join('; ');
}

class Page {
    constructor(trace) {
        this.trace = trace;
        this.timeline = new Timeline(trace);
        this.names = new Set([...trace.tracks, trace.waits].filter((track) => track.count)
            .flatMap((track) => namesOf(trace, track)));
        this.options = {
            hasName: (name) => this.names.has(name),
            onabout: (name) => this.showName(name),
            onname: (name) => {
                this.open('timeline');
                this.timeline.select(null);
                searchFor(this.timeline, name);
            },
        };
        const canShow = trace.facts.has_spans;
        this.options.ongap = canShow && ((begin, length) =>
            this.onrange(trace.begin + begin, trace.begin + begin + length));
        this.onstep = canShow && ((step) => (this.open('timeline'), showStep(this.timeline, step)));
        this.timeline.page = this;
        this.ontime = canShow && ((time) => this.onrange(time, time));
        this.pages = pagesOf(this);
        this.build();
    }

    /* Shows a stretch of time and its surroundings. A single moment is shown with a fiftieth of the
     * recording. */
    onrange(begin, end) {
        const around = end > begin ? (end - begin) * 2 : (this.trace.end - this.trace.begin) / 100;
        this.open('timeline');
        this.timeline.show(begin - around, end + around);
        if (end > begin) {
            this.timeline.selectRange(begin, end);
            showRange(this.timeline);
        }
    }

    build() {
        const {facts} = this.trace;
        const steps = facts.step_count ? `, ${pluralText(facts.step_count, 'step')}` : '';
        document.title = `${visibleText(facts.name) || 'Takt'} \u2013 Takt`;
        byId('run').replaceChildren(makeName(facts.name || 'unnamed run', 120));
        byId('about').textContent = `${timeText(this.trace.end - this.trace.begin)}${steps}`
            + (facts.ending !== 'whole' ? ', incomplete' : facts.is_partial ? ', partial' : '');
        byId('ending').textContent = this.trace.tables.summary?.provenance?.incomplete
            ?? (facts.ending === 'whole' ? '' : 'INCOMPLETE: the end of this recording is missing.');
        byId('ending').hidden = facts.ending === 'whole';
        byId('provenance').textContent = provenanceText(this.trace);
        this.tabs = this.pages.map(([id, title]) => make('button', {type: 'button', role: 'tab',
            id: `tab-${id}`, 'aria-controls': `page-${id}`,
            onclick: () => this.open(id)}, title));
        this.panels = this.pages.map(([id]) => make('div', {role: 'tabpanel', id: `page-${id}`,
            'aria-labelledby': `tab-${id}`, hidden: true, class: 'page'}));
        byId('tabs').replaceChildren(...this.tabs);
        byId('tabs').addEventListener('keydown', (event) => this.moveTab(event));
        byId('pages').replaceChildren(...this.panels);
        document.addEventListener('keydown', (event) => this.pressKey(event));
        if (!goToPlace(this, location.hash))
            this.open('overview', false);
        followPlace(this);
    }

    /* Opens a tab and makes its content at the first time. `isNoted` adds the place to the history,
     * so that Back returns to the previous one. */
    open(id, isNoted = this.current !== id) {
        this.current = id;
        this.pages.forEach(([name, , makePage], i) => {
            const isOpen = name === id;
            this.tabs[i].setAttribute('aria-selected', String(isOpen));
            this.tabs[i].tabIndex = isOpen ? 0 : -1;
            this.panels[i].hidden = !isOpen;
            if (isOpen && !this.panels[i].hasChildNodes())
                this.panels[i].append(...[makePage(this)].flat(3).filter(Boolean));
        });
        document.body.classList.toggle('full', id === 'timeline');
        this.tabs[this.pages.findIndex(([name]) => name === id)]
            .scrollIntoView({block: 'nearest', inline: 'nearest'});
        this.timeline.redraw();
        if (isNoted)
            history.pushState(null, '', placeText(this));
    }

    /* Goes to the row of a name on another tab. */
    showRow(id, name) {
        this.open(id);
        const heads = byId(`page-${id}`).querySelectorAll('tbody th');
        const head = [...heads].find((cell) => cell.dataset.name === name);
        if (!head)
            return;
        byId('pages').querySelector('.found')?.classList.remove('found');
        head.parentNode.classList.add('found');
        head.tabIndex = -1;
        head.focus();
        head.scrollIntoView({block: 'center', inline: 'nearest'});
    }

    /* Goes to an event on the timeline. */
    onevent(target) {
        this.open('timeline');
        this.timeline.select(target);
        this.timeline.zoomTo(target);
    }

    /* Shows everything about a name. */
    showName(name, isNoted = this.current !== 'name' || name !== this.name) {
        if (!this.names.has(name))
            return;
        this.name = name;
        this.fillName?.();
        this.open('name', isNoted);
    }

    /* Shows a name in the flame graph, with a kind of its nodes. */
    showFlame(name, kind) {
        this.open('flame');
        this.flame.showName(name, kind);
    }

    moveTab(event) {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        const place = this.pages.findIndex(([id]) => id === this.current);
        const count = this.pages.length;
        const next = event.key === 'Home' ? 0 : event.key === 'End' ? count - 1 :
            step ? (place + step + count) % count : -1;
        if (next < 0)
            return;
        event.preventDefault();
        this.open(this.pages[next][0]);
        this.tabs[next].focus();
    }

    pressKey(event) {
        const isField = event.target.closest('input') !== null;
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === '/' && !isField && this.trace.facts.has_spans) {
            this.open('timeline');
            this.timeline.search.input.select();
            event.preventDefault();
        } else if (this.current === 'timeline' && pressKey(this.timeline, event)) {
            event.preventDefault();
        }
    }

    /* Call after a change of theme. */
    recolor() {
        this.timeline.colors = null;
        this.timeline.redraw();
    }
}

/* The theme follows the system until the button is pressed. The choice is not stored. */
function setUpTheme(onchange) {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const root = document.documentElement;
    const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
    const update = () => {
        byId('theme').setAttribute('aria-pressed', String(isDark()));
        onchange();
    };
    byId('theme').addEventListener('click', () => {
        root.dataset.theme = isDark() ? 'light' : 'dark';
        update();
    });
    system.addEventListener('change', update);
    update();
}

function fail(text) {
    document.body.dataset.state = 'failed';
    byId('progress').setAttribute('role', 'alert');
    byId('progress').textContent = text;
}

/* Prepares the timeline's tracks one by one, so that it opens at once and nothing waits for it. */
async function prepareTracks(trace) {
    for (const track of trace.tracks) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        linesOf(track);
    }
}

async function main() {
    if (!('DecompressionStream' in window)) {
        fail('This browser cannot unpack the data (it has no DecompressionStream). Chrome 123, '
            + 'Firefox 120, Safari 17.5 and later show this page.');
        return;
    }
    let page = null;
    setUpTheme(() => page?.recolor());
    try {
        const trace = await readTrace();
        chooseColors(trace);
        page = new Page(trace);
        byId('progress').remove();
        document.body.dataset.state = 'ready';
        performance.mark('ready');
        prepareTracks(trace);
    } catch (error) {
        fail(`The data of this page cannot be read: ${error.message}`);
        throw error;
    }
}

document.addEventListener('DOMContentLoaded', main);
