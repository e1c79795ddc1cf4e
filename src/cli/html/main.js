/* The page of one run, and the begin: reads the data and makes the page of one run or of two. */
'use strict';

/* Formats a number of ns; null is unknown, as in imported traces. */
function nsText(ns, decimals) {
    if (ns === null)
        return 'unknown';
    return Math.abs(ns) < 1000 ? `${fixedText(ns, decimals)} ns` : timeText(ns);
}

function deviceUncertaintyText(facts) {
    if (facts.device_uncertainty_ns === null)
        return 'unknown';
    const least = facts.device_uncertainty_is_least ? 'at least ' : '';
    const moved = facts.device_shift_ns ?
        `, moved by ${nsText(facts.device_shift_ns, 0)}` : '';
    return `${least}${nsText(facts.device_uncertainty_ns, 1)}${moved}`;
}

/* True if the recording was not written to its end. */
function isBrokenOff(facts) {
    return facts.ending === 'killed' || facts.ending === 'stopped';
}

/* Returns what is missing at the recording's end, in one sentence; '' for a whole recording. */
function endingText(trace) {
    return trace.facts.ending === 'whole' ? '' : trace.tables.summary?.provenance?.incomplete
        ?? 'INCOMPLETE: the end of this recording is missing.';
}

/* Returns [label, text] of each thing that everybody who reads the page must know. */
function bannersOf(trace) {
    const ending = endingText(trace).replace('INCOMPLETE: ', '');
    const losses = [...trace.losses].sort((a, b) => b.count - a.count)
        .map((loss) => `${countText(loss.count)}: ${loss.text}`);
    const more = losses.splice(3).length;
    const text = losses.join('; ') + (more ? `; and losses of ${more} further kinds` : '');
    return [[trace.facts.ending === 'cut' ? 'CUT' : 'INCOMPLETE', ending],
        ['LOST', text && `${text}.`]].filter(([, sentence]) => sentence);
}

class Page extends BasePage {
    constructor(trace) {
        super();
        this.trace = trace;
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
        this.ontime = canShow && ((time) => this.onrange(time, time));
        this.build();
    }

    /* Completes the page after the columns were read. */
    complete() {
        this.hasTimeline = this.trace.facts.has_spans;
        this.isComplete = true;
        byId('tabs').inert = byId('pages').inert = false;
        this.plots?.append(...makeOverviewPlots(this));
        this.begin('overview');
    }

    /* The timeline is made when it is first needed. */
    get timeline() {
        if (!this.timelines.length) {
            this.timelines = [new Timeline(this.trace)];
            this.timelines[0].page = this;
            followPlace(this, this.timelines[0]);
        }
        return this.timelines[0];
    }

    activeTimeline() {
        return this.timeline;
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
        byId('banners').replaceChildren(...bannersOf(this.trace).map(([label, text]) =>
            make('p', {class: 'banner', role: 'alert'}, make('b', {}, label), `${text} `,
                makeButton('What is missing', () => this.open('notes'), {class: 'link'}))));
        byId('provenance').textContent = this.trace.facts.provenance;
        this.makeTabs(pagesOf(this));
        byId('tabs').inert = byId('pages').inert = true;
        if (!location.hash)
            this.open('overview', false);
    }

    /* Goes to an event on the timeline. */
    onevent(target) {
        this.open('timeline');
        this.timeline.select(target);
        this.timeline.zoomTo(target);
    }

    /* Returns the id of the tab with a row for a name, or undefined. */
    tableOf(name, kind) {
        return tableOfName(this.trace, name, kind);
    }

    /* Shows everything about a name. */
    showName(name, isNoted = this.current !== 'name' || name !== this.name) {
        if (!this.names.has(name))
            return;
        this.name = name;
        this.fillName?.();
        this.open('name', isNoted);
    }

    address() {
        return placeText(this);
    }

    goTo(fragment) {
        return goToPlace(this, fragment);
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

/* Lets the browser draw, and react to keys and pointer. */
function pause() {
    return new Promise((resolve) => setTimeout(resolve, 20));
}

/* Prepares the timelines and their tracks one by one, so that they open at once and nothing waits
 * for them. */
async function prepareTimelines(page, traces) {
    await pause();
    if (page.hasTimeline)
        page.activeTimeline();
    for (const track of traces.flatMap((trace) => trace?.tracks ?? [])) {
        await pause();
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
        const a = await readTrace('');
        const b = byId('facts-b') && await readTrace('-b');
        chooseColors(...[a, b].filter(Boolean));
        if (b) {
            await Promise.all([readColumns(a, ''), readColumns(b, '-b')]);
            page = new ComparisonPage(a, b, await readJson('comparison'));
        } else {
            page = new Page(a);
            performance.mark('first view');
            await pause();
            await readColumns(a, '');
            page.complete();
        }
        byId('progress').remove();
        document.body.dataset.state = 'ready';
        performance.mark('ready');
        prepareTimelines(page, [a, b]);
    } catch (error) {
        fail(`The data of this page cannot be read: ${error.message}`);
        throw error;
    }
}

queueMicrotask(main); /* after the files that follow this one */
