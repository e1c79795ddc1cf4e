// Pages of two runs: every number is one of `takt diff`, timelines move together, and table, flame
// graph and timelines lead to each other.
//
//     comparison_test.js FOLDER
//
// FOLDER has for each pair of runs NAME.html; NAME.json and NAME.md, what `takt diff` prints of them;
// and NAME.paths.json, the same by path.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {startBrowser, openPage, closePage, looks, setLook, drawn, until, forEach,
    screenshot} = require('./browser.js');

const folder = process.argv[2];
const inFolder = (name) => path.join(folder, name);
const read = (name) => fs.readFileSync(inFolder(name), 'utf8');
const exact = (title) => Number(title.replace(/,/g, '').replace(/ ns$/, ''));

async function openTab(page, id) {
    await page.click(`#tab-${id}`);
    await page.waitForSelector(`#page-${id}:not([hidden])`);
    await drawn(page);
}

// Label -> exact value or text of the fields in an element.
function fieldsOf(page, selector) {
    return page.$$eval(`${selector} dl.fields > div`, (all) => Object.fromEntries(all.map((pair) =>
        [pair.querySelector('dt').textContent,
            pair.querySelector('dd').title || pair.querySelector('dd').textContent])));
}

// ---- The comparison ----

// The cells of the table that `takt diff --markdown` prints, without what Markdown needs.
function printedRows(name) {
    const lines = read(`${name}.md`).split('\n');
    const first = lines.findIndex((line) => line.startsWith('| Name '));
    const rows = [];
    for (let i = first; lines[i]?.startsWith('|'); i++)
        rows.push(lines[i].slice(1, -1).split(/(?<!\\)\|/)
            .map((cell) => cell.trim().replace(/\\(.)/g, '$1')));
    rows.splice(1, 1);
    return rows;
}

async function tableIsTheTerminals(page, name) {
    const shown = await page.$$eval('#page-comparison table', ([table]) =>
        [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)));
    const printed = printedRows(name);
    assert.strictEqual(shown.length, printed.length, `${name}: rows`);
    // The page leaves out a column without values, and a name may have a button behind it.
    const places = shown[0].map((title) => printed[0].indexOf(title));
    assert(!places.includes(-1), `${name}: ${shown[0]} and not ${printed[0]}`);
    printed[0].forEach((title, i) => assert(places.includes(i) ||
        printed.slice(1).every((row) => row[i] === ''), `${name}: no column ${title}`));
    shown.forEach((row, i) => assert.deepStrictEqual(row, places.map((place) => printed[i][place]),
        `${name}: row ${i}`));
}

// Each head says what its column means.
async function headsAreExplained(page) {
    const bare = await page.$$eval('#page-comparison table', ([table]) =>
        [...table.tHead.querySelectorAll('button:not([aria-description])')]
            .map((head) => head.textContent));
    assert.deepStrictEqual(bare, []);
}

// Bars: the rows that changed, with self times of both sides.
async function barsAreRows(page, name, {rows}) {
    const bars = await page.$$eval('.changes li', (all) => all.map((item) => ({
        name: item.querySelector('bdi').textContent,
        values: [...item.querySelectorAll('.value')].map((value) => value.title),
        widths: [...item.querySelectorAll('.bar')].map((bar) => parseFloat(bar.style.width))})));
    const changed = rows.filter(({verdict, kind, self_change_ns: change}) => change &&
        kind !== 'cuda' && verdict !== 'same' && verdict !== 'noise');
    assert.strictEqual(bars.length > 0, changed.length > 0, `${name}: bars`);
    const most = Math.max(...bars.flatMap(({values}) => values.slice(1).map(exact)));
    for (const {name: title, values, widths} of bars) {
        const [change, a, b] = values.map(exact);
        assert(changed.some((row) => row.name === title && row.self_change_ns === change &&
            row.self_a_ns === a && row.self_b_ns === b), `${name}: a bar of ${title} ${values}`);
        [a, b].forEach((value, i) => assert(Math.abs(widths[i] - 100 * value / most) < 0.01));
    }
    const largest = Math.max(...changed.map((row) => Math.abs(row.self_change_ns)));
    assert(bars.length === 0 || bars.some(({values}) => Math.abs(exact(values[0])) === largest));
}

// The list of calls: its fields are the row's, and as many calls are drawn as the row has.
async function callsAreRows(page, name, {rows}, isOneRun) {
    const select = '#page-comparison select';
    for (const option of (await page.$$eval(`${select} option`, (all) =>
        all.map((one) => one.textContent))).slice(0, 12)) {
        await page.selectOption(select, {label: option});
        const title = option.replace(/ \((task|activity|call)\)$/, '');
        const fields = await fieldsOf(page, '#page-comparison .card');
        const row = rows.find((one) => one.name === title && one.verdict === fields['Calls are'] &&
            (one.call_a_ns === null || one.call_a_ns === exact(fields.A)));
        assert(row, `${name}: no row of ${option} is ${JSON.stringify(fields)}`);
        if (row.call_b_ns !== null)
            assert.strictEqual(exact(fields.B), row.call_b_ns, `${name}: ${option}`);
        if (row.change_ns !== null)
            assert.strictEqual(exact(fields.Change), row.change_ns, `${name}: ${option}`);
        const label = await page.$eval('#page-comparison .plot svg', (svg) =>
            svg.getAttribute('aria-label'));
        const [, a, b] = / ([\d,]+) calls? in A, ([\d,]+) calls? in B$/.exec(label);
        if (isOneRun)
            assert.deepStrictEqual([exact(a), exact(b)], [row.calls_a, row.calls_b], option);
    }
}

async function checkComparison(page, name) {
    const comparison = JSON.parse(read(`${name}.json`));
    assert.strictEqual(await page.textContent('.headline'), comparison.headline);
    const text = await page.textContent('#page-comparison');
    await tableIsTheTerminals(page, name);
    await headsAreExplained(page);
    await barsAreRows(page, name, comparison);
    if (!['hostile', 'summary', 'mixed', 'neither'].includes(name))
        await callsAreRows(page, name, comparison, name !== 'runs');
    if (name !== 'hostile')
        for (const note of comparison.notes)
            assert(text.includes(note), `${name} does not say: ${note}`);
}

// ---- The flame graph ----

// Frames as {name, left, width, row} of the host.
function framesOf(page) {
    return page.$$eval('#page-flame .frame', (all) => all.map((frame) => ({
        name: frame.title.split('\n')[0], left: frame.offsetLeft, width: frame.offsetWidth,
        row: frame.offsetTop / 20, color: getComputedStyle(frame).backgroundColor})));
}

// Clicks each frame: its times are those of its path, in nanoseconds.
async function framesAreThePaths(page, name) {
    const {rows} = JSON.parse(read(`${name}.paths.json`));
    const known = new Map(rows.filter((row) => row.kind === 'scope').map((row) => [row.name, row]));
    const frames = await framesOf(page);
    const open = [];
    let compared = 0;
    for (const [i, frame] of frames.entries()) {
        open[frame.row] = frame.name;
        const row = known.get(open.slice(1, frame.row + 1).join(' > '));
        if (!row || compared >= 40)
            continue;
        // Not with the mouse: a frame may be narrower than a pixel.
        await page.dispatchEvent(`#page-flame .frame >> nth=${i}`, 'click');
        const fields = await fieldsOf(page, '#page-flame');
        for (const [label, key] of [['Total A', 'total_a_ns'], ['Total B', 'total_b_ns'],
            ['Self A', 'self_a_ns'], ['Self B', 'self_b_ns'], ['Self change', 'self_change_ns'],
            ['Calls A', 'calls_a'], ['Calls B', 'calls_b']])
            assert(Math.abs(exact(fields[label]) - row[key]) <= 1e-6 * Math.abs(row[key]),
                `${name}: ${label} of ${row.name} is ${fields[label]} and not ${row[key]}`);
        compared++;
    }
    return compared;
}

// Widths are shares of B's time, or of A's; colours say what became slower.
async function sidesCanBeChosen(page) {
    const {rows} = JSON.parse(read('steps.paths.json'));
    const path = (name) => rows.find((row) => row.name === name);
    const shareOf = (side) => path('step > forces')[`total_${side}_ns`] / rows.filter((row) =>
        row.kind === 'scope' && !row.name.includes(' > ') && row[`calls_${side}`])
        .reduce((sum, row) => sum + row[`total_${side}_ns`], 0);
    for (const [side, gone] of [['b', '<b>before</b>'], ['a', 'after']]) {
        await page.click(`#page-flame [aria-label="Widths of ${side.toUpperCase()}"]`);
        await drawn(page);
        const frames = await framesOf(page);
        const forces = frames.find((frame) => frame.name === 'forces');
        assert(Math.abs(forces.width - shareOf(side) * frames[0].width) < 1.5,
            `forces has ${forces.width} of ${frames[0].width} pixels in ${side}`);
        assert(!frames.some((frame) => frame.name === gone), `${gone} is shown in ${side}`);
    }
    const color = (name, frames) => frames.find((frame) => frame.name === name).color;
    const red = (text) => text.match(/\d+/g).map(Number);
    const frames = await framesOf(page);
    const [r, , b] = red(color('forces', frames));
    assert(r > b, 'a slower frame is not red');
    const [r2, , b2] = red(color('<b>before</b>', frames));
    assert(b2 > r2, 'a frame that is gone is not blue');
    await page.click('#page-flame [aria-label="Widths of B"]');
}

// Text on each colour of the flame graph, and on both of the page, can be read (WCAG 2.2, 1.4.3).
async function colorsCanBeRead(page) {
    const least = await page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement('span'));
        const light = (color) => {
            probe.style.setProperty('color', color);
            return 0.05 + getComputedStyle(probe).color.match(/[\d.]+/g).map((c) => c / 255)
                .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        };
        const contrast = (a, b) => Math.max(light(a), light(b)) / Math.min(light(a), light(b));
        const pairs = [...changeFills.map((fill) => [inkOn(fill), fill]),
            ...['slower', 'faster'].flatMap((ink) => ['page', 'surface'].map((ground) =>
                [`var(--${ink})`, `var(--${ground})`]))];
        const worst = Math.min(...pairs.map(([a, b]) => contrast(a, b)));
        probe.remove();
        return worst;
    });
    assert(least >= 4.5, `contrast of ${least}`);
}

// ---- The timelines ----

// From where both timelines show time, and how much, in ns; the latter has four digits or more.
function shownTimes(page) {
    return page.$$eval('#page-timeline .shown', (all) => all.map((one) => {
        const [, number, unit] = /([\d.]+)(us|ms|s)/.exec(one.querySelector('b').textContent);
        return {length: Number(number) * {us: 1e3, ms: 1e6, s: 1e9}[unit],
            from: Number(one.title.replace(/[^-\d]/g, ''))};
    }));
}

// Step 4 begins 3 ms after step 1 in both runs: at 4 ms in A and at 6 ms in B. Lengths are those of
// B's step, which is the longer one, and a twentieth of it is shown on both sides.
async function alignsAtSteps(page) {
    await openTab(page, 'timeline');
    await page.fill('#page-timeline input[type=number]', '3');
    await page.press('#page-timeline input[type=number]', 'Enter');
    await page.click('[aria-label="Next step"]');
    await drawn(page);
    assert.strictEqual(await page.inputValue('#page-timeline input[type=number]'), '4');
    assert.match(await page.textContent('[aria-label=Align]'), /Aligned at step 4$/);
    const duration = 600000 + 200000 + 3 * 1000;
    const begin = (first) => first + 3e6 - duration * 0.05;
    const [a, b] = await shownTimes(page);
    for (const [shown, expected] of [[a.from, begin(1e6)], [b.from, begin(3e6)],
        [a.length, duration * 1.1], [b.length, duration * 1.1]])
        assert(Math.abs(shown - expected) <= 600, `${shown} and not ${expected}`);
}

// Whatever moves one moves both, and they stay 2 ms apart.
async function movesTogether(page) {
    const canvas = (i) => page.locator('#page-timeline canvas.rows').nth(i);
    for (const [i, key] of [[0, 'd'], [1, 'w'], [1, 'a'], [0, 's']]) {
        const before = await shownTimes(page);
        await canvas(i).focus();
        await page.keyboard.press(key);
        await drawn(page);
        const [a, b] = await shownTimes(page);
        assert.notDeepStrictEqual([a, b], before, `${key} does nothing`);
        assert(Math.abs(a.length - b.length) <= 1000 && Math.abs(b.from - a.from - 2e6) <= 2000,
            `${key}: ${JSON.stringify([a, b])}`);
    }
    const box = await canvas(1).boundingBox();
    const [before] = await shownTimes(page);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -200);
    await until(page, async () => (await shownTimes(page))[0].length < before.length,
        'the wheel over B does not zoom A');
    await page.click('#page-timeline button >> text="Begin"');
    await drawn(page);
    const [a, b] = await shownTimes(page);
    assert.strictEqual(a.from, 0);
    assert.strictEqual(b.from, 0);
    assert(a.length < b.length || a.length > 1e6, 'Begin does not show everything');
}

// A name of the table is found in both runs; both events can be aligned.
async function leadsOn(page) {
    const head = '#page-comparison tbody th[data-name="pairs"]';
    await openTab(page, 'comparison');
    await page.click(`${head} .about`);
    assert.strictEqual(await page.$eval('#page-comparison select', (select) =>
        select.selectedOptions[0].textContent), 'pairs');
    await page.click(`${head} .link`);
    const titles = await page.$$eval('.drawer h2', (all) => all.map((one) => one.textContent));
    assert.deepStrictEqual(titles, ['pairs scope', 'pairs scope']);
    const outputs = await page.$$eval('#page-timeline .toolbar output', (all) =>
        all.map((output) => output.textContent));
    assert.deepStrictEqual(outputs.slice(0, 2), ['A: 1 of 80', 'B: 1 of 60']);
    await page.click('#page-timeline button >> text="Selected events"');
    await drawn(page);
    assert.match(await page.textContent('[aria-label=Align]'), /Aligned at pairs$/);
    const [a, b] = await shownTimes(page);
    assert(Math.abs(b.from - a.from - 2e6) <= 1000, JSON.stringify([a, b]));
    await screenshot(page, 'comparison-selected');
    await page.click('.drawer >> nth=1 >> text="In the flame graph"');
    assert.match(await page.getAttribute('#page-flame .frame.chosen', 'aria-label'), /^pairs, A /);
    await page.click('#page-flame button >> text="In the table"');
    assert(await page.$eval(head, (cell) => cell === document.activeElement));
    await page.goBack();
    assert.strictEqual(await page.textContent('[aria-selected=true]'), 'Flame graph');
}

// By keyboard: callers of both runs, joined.
async function showsCallers(page) {
    await openTab(page, 'flame');
    await page.focus('#page-flame .frame.chosen');
    await page.keyboard.press('c');
    const rows = async () => (await framesOf(page)).sort((a, b) => a.row - b.row)
        .map((frame) => frame.name).slice(0, 3).join();
    await until(page, async () => await rows() === 'step,forces,pairs',
        'the callers of pairs are not shown');
    const row = JSON.parse(read('steps.json')).rows.find((one) => one.name === 'pairs');
    const fields = await fieldsOf(page, '#page-flame');
    assert.strictEqual(exact(fields['Total A']), row.total_a_ns);
    assert.strictEqual(exact(fields['Total B']), row.total_b_ns);
    assert.strictEqual(fields['Calls of this name are'], row.verdict);
    await page.keyboard.press('c');
}

async function checkSteps(browser) {
    const page = await openPage(browser, inFolder('steps.html'));
    await checkComparison(page, 'steps');
    await alignsAtSteps(page);
    await screenshot(page, 'comparison-step');
    await movesTogether(page);
    await leadsOn(page);
    await showsCallers(page);
    await page.focus('#page-flame .frame.chosen');
    await page.keyboard.press('0');
    assert(await framesAreThePaths(page, 'steps') >= 3);
    await sidesCanBeChosen(page);
    await colorsCanBeRead(page);
    await page.click('#theme');
    await colorsCanBeRead(page);
    await closePage(page);
}

// ---- Every pair of runs ----

async function checkPair(browser, name) {
    const page = await openPage(browser, inFolder(`${name}.html`), {hasWorkers: name !== 'large'});
    await checkComparison(page, name);
    const tabs = await page.$$eval('[role=tab]', (all) => all.map((tab) => tab.id.slice(4)));
    for (const tab of tabs) {
        await openTab(page, tab);
        assert((await page.textContent(`#page-${tab}`)).trim(), `${name}: the tab ${tab} is empty`);
    }
    // Paths are known with spans alone, and the page has one run of several.
    if (tabs.includes('flame') && !['summary', 'mixed', 'runs', 'hostile'].includes(name))
        assert(await framesAreThePaths(page, name) > 0, `${name}: no frame is compared`);
    if (['fluid', 'sim', 'large'].includes(name))
        await takePictures(page, name);
    await closePage(page);
}

async function checkHostile(browser) {
    const page = await openPage(browser, inFolder('hostile.html'));
    for (const tab of ['comparison', 'timeline', 'flame'])
        await openTab(page, tab);
    await openTab(page, 'comparison');
    const text = await page.textContent('#page-comparison');
    for (const name of ['</script><script>window.pwned=1</script> 3', '"><svg/onload=window.pwned=1>'])
        assert(text.includes(name), `the table does not show ${name}`);
    assert(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text),
        'a control or a bidirectional character is shown as it is');
    const found = await page.evaluate(() => ({pwned: String(window.pwned),
        scripts: [...document.scripts].filter((script) => !script.type).length,
        alien: document.querySelectorAll('img, svg[onload], iframe, object, [onerror]').length}));
    assert.deepStrictEqual(found, {pwned: 'undefined', scripts: 1, alien: 0});
    await closePage(page);
}

async function takePictures(page, name) {
    for (const look of looks) {
        await setLook(page, look);
        for (const tab of ['comparison', 'timeline', 'flame']) {
            await openTab(page, tab);
            await screenshot(page, `${name}-two-${tab}-${look}`);
            const excess = await page.evaluate(() =>
                document.documentElement.scrollWidth - innerWidth);
            assert(excess <= 0, `${name}, ${tab} (${look}) is ${excess} pixels too wide`);
        }
    }
}

async function main() {
    const browser = await startBrowser();
    try {
        await checkSteps(browser);
        await forEach(['large', 'fluid', 'sim', 'same', 'whole', 'nothing', 'neither', 'half', 'summary',
            'mixed', 'runs', 'torch'], (name) => checkPair(browser, name));
        await checkHostile(browser);
    } finally {
        await browser.close();
    }
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
