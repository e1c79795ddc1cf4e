// What people do with a page, done by a program: look, zoom, click, search, select, sort.
//
//     node page_test.js FOLDER
//
// FOLDER has sim.html, fluid.html, hostile.html, torch.html, summary.html and empty.html; and
// timeline.json, activities.json and scopes.json, the reports of the trace that sim.html shows.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {startBrowser, openPage, closePage, drawn, until, screenshot} = require('./browser.js');

const folder = process.argv[2];
const inFolder = (name) => path.join(folder, name);
const readReport = (name) => JSON.parse(fs.readFileSync(inFolder(`${name}.json`), 'utf8'));

// Digits of "12,345 ns".
const exact = (title) => Number(title.replace(/[^0-9]/g, ''));

async function openTab(page, id) {
    await page.click(`#tab-${id}`);
    await page.waitForSelector(`#page-${id}:not([hidden])`);
    await drawn(page);
}

// How many colours the timeline has.
function countColors(page) {
    return page.evaluate(() => {
        const canvas = document.querySelector('canvas.rows');
        const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
    });
}

// "12.345ms" as nanoseconds.
async function shownTime(page) {
    await drawn(page);
    const text = await page.textContent('.shown b');
    const [, number, unit] = /^([0-9.]+)(us|ms|s)$/.exec(text);
    return Number(number) * {us: 1e3, ms: 1e6, s: 1e9}[unit];
}

// Label -> {text, title} of the fields in the drawer.
function fieldsOf(page) {
    return page.evaluate(() => Object.fromEntries(
        [...document.querySelectorAll('.drawer dl.fields > div')].map((pair) => [
            pair.querySelector('dt').textContent,
            {text: pair.querySelector('dd').textContent, title: pair.querySelector('dd').title}])));
}

async function everyTabHasSomething(page) {
    const tabs = await page.$$eval('[role=tab]', (all) => all.map((tab) => tab.id.slice(4)));
    assert(tabs.length >= 4, `tabs: ${tabs}`);
    for (const tab of tabs) {
        await openTab(page, tab);
        const text = await page.textContent(`#page-${tab}`);
        assert(text.trim().length > 0, `the tab ${tab} is empty`);
    }
    return tabs;
}

async function timelineIsDrawn(page) {
    await openTab(page, 'timeline');
    await until(page, async () => await countColors(page) > 3, 'the timeline has no colours');
}

async function zoomsAndMoves(page) {
    await openTab(page, 'timeline');
    await page.focus('canvas.rows');
    await page.keyboard.press('0');
    const whole = await shownTime(page);
    const box = await (await page.$('canvas.rows')).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -300);
    await until(page, async () => await shownTime(page) < 0.9 * whole, 'the wheel does not zoom');
    const wheeled = await shownTime(page);
    await page.keyboard.press('w');
    const pressed = await shownTime(page);
    assert(pressed < wheeled, `W zooms from ${wheeled} to ${pressed}`);
    const before = await page.textContent('.shown');
    await page.keyboard.press('d');
    await drawn(page);
    assert.notStrictEqual(await page.textContent('.shown'), before, 'D does not move');
    assert.strictEqual(await shownTime(page), pressed, 'D zooms');
    await page.keyboard.press('s');
    assert(await shownTime(page) > pressed, 'S does not zoom out');
    await page.keyboard.press('0');
    assert.strictEqual(await shownTime(page), whole, '0 does not show everything');
}

// The first activity of a name, found by its name, is what `takt report --timeline` says it is.
async function findsActivity(page) {
    const rows = readReport('timeline').rows.filter((row) => row.activity === 'kernel advance');
    const first = rows.reduce((a, b) => (b.begin_ns < a.begin_ns ? b : a));
    await openTab(page, 'timeline');
    await page.keyboard.press('/');
    await page.keyboard.type('kernel advance');
    assert.strictEqual(await page.textContent('.toolbar output'), `${rows.length} matches`);
    await page.focus('canvas.rows');
    await page.keyboard.press('0');
    await page.focus('.toolbar input');
    await page.keyboard.press('Enter');
    const fields = await fieldsOf(page);
    assert.strictEqual(exact(fields.Duration.title), first.time_ns);
    assert.strictEqual(exact(fields.Begin.title), first.begin_ns);
    assert.strictEqual(Number(fields.Stream.text), first.stream);
    assert.strictEqual(Number(fields.Correlation.text), first.correlation);
    assert.strictEqual(fields.Scope.text, first.scope);
    assert.strictEqual(fields['Launched by'].text, first.launch);
    assert.strictEqual(fields.Device.text, first.device);
    await page.keyboard.press('Enter');
    const second = await fieldsOf(page);
    assert(exact(second.Begin.title) > first.begin_ns, 'Enter does not find the next match');
    await page.fill('.toolbar input', '');
}

// Clicks down the middle of what is shown, which is a kernel's time, until it is hit.
async function clicksActivity(page) {
    await openTab(page, 'timeline');
    await page.focus('canvas.rows');
    await page.keyboard.press('Escape');
    await page.fill('.toolbar input', 'kernel advance');
    await page.press('.toolbar input', 'Enter');
    await page.focus('canvas.rows');
    await page.keyboard.press('f');
    const found = await fieldsOf(page);
    await page.keyboard.press('Escape');
    await drawn(page);
    const box = await (await page.$('canvas.rows')).boundingBox();
    for (let y = 4; y < box.height; y += 8) {
        await page.mouse.click(box.x + box.width / 2, box.y + y);
        const fields = await fieldsOf(page);
        if (fields.Correlation && fields.Correlation.text === found.Correlation.text)
            return;
    }
    assert.fail('no click hits the kernel in the middle of the timeline');
}

// The table of everything that is shown adds up to the reports.
async function selectsTime(page) {
    await openTab(page, 'timeline');
    await page.focus('canvas.rows');
    await page.keyboard.press('Escape');
    await page.keyboard.press('0');
    await page.keyboard.press('r');
    const rows = await page.$$eval('.drawer tbody tr', (all) => all.map((row) => [
        row.querySelector('th').textContent,
        ...[...row.querySelectorAll('td')].map((cell) => cell.title || cell.textContent)]));
    const activities = readReport('activities').rows;
    for (const {activity, count, total_time_ns: total} of activities) {
        const row = rows.find(([name]) => name === activity);
        assert(row, `${activity} is not in the table of the selected time`);
        assert(row.includes(String(count)), `${activity}: ${row}, and not ${count} times`);
        assert.strictEqual(exact(row[3]), total, `${activity}: ${row}`);
    }
    await page.keyboard.press('Escape');
}

async function sortsTable(page) {
    await openTab(page, 'scopes');
    const column = () => page.$$eval('#page-scopes table:first-of-type tbody tr', (rows) =>
        rows.map((row) => row.querySelector('th').textContent));
    const names = readReport('scopes').rows.map((row) => row.name).sort();
    const head = '#page-scopes table thead th:first-child';
    await page.focus(`${head} button`);
    await page.keyboard.press('Enter');
    assert.strictEqual(await page.getAttribute(head, 'aria-sort'), 'ascending');
    assert.deepStrictEqual(await column(), names);
    await page.keyboard.press('Enter');
    assert.strictEqual(await page.getAttribute(head, 'aria-sort'), 'descending');
    assert.deepStrictEqual(await column(), names.reverse());
}

async function movesByKeyboard(page) {
    const open = () => page.$eval('[role=tab][aria-selected=true]', (tab) => tab.id);
    await page.focus('[role=tab][aria-selected=true]');
    await page.keyboard.press('Home');
    assert.strictEqual(await open(), 'tab-overview');
    await page.keyboard.press('ArrowRight');
    assert.strictEqual(await open(), 'tab-timeline');
    for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab');
        const where = await page.evaluate(() => document.activeElement.className);
        if (where === 'rows')
            return;
    }
    assert.fail('Tab does not lead into the timeline');
}

async function changesTheme(page) {
    const color = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await color();
    await page.click('#theme');
    assert.notStrictEqual(await color(), before, 'the theme stays');
    await page.click('#theme');
    assert.strictEqual(await color(), before, 'the theme does not come back');
}

// The overview says what the summary says; its advice leads to the timeline and to the report.
async function advises(page) {
    const summary = readReport('summary');
    const advice = summary.tables.advice.rows;
    assert.strictEqual(await page.textContent('.headline'), summary.headline);
    const items = await page.$$eval('.advice li', (all) => all.map((item) => item.textContent));
    assert.strictEqual(items.length, advice.length);
    items.forEach((item, i) => assert(item.startsWith(advice[i].advice.split(' See takt ')[0]),
        `the page advises ${item}`));
    const placed = advice.findIndex((row) => row.duration_ns > 0);
    assert(placed >= 0, 'no advice has a place');
    await page.click(`.advice li:nth-child(${placed + 1}) button >> text=on the timeline`);
    await page.waitForSelector('#page-timeline:not([hidden])');
    const shown = await shownTime(page), wanted = advice[placed].duration_ns;
    assert(shown >= wanted && shown < 5.01 * wanted, `${shown} ns are shown around ${wanted}`);
    await openTab(page, 'overview');
    await page.click(`.advice li:nth-child(${placed + 1}) button >> nth=-1`);
    assert(await page.$('#page-overview[hidden]'), 'advice does not lead to its report');
    await openTab(page, 'overview');
}

async function checkSimulation(browser) {
    const page = await openPage(browser, inFolder('sim.html'));
    await screenshot(page, 'sim-overview');
    await advises(page);
    await everyTabHasSomething(page);
    await timelineIsDrawn(page);
    await screenshot(page, 'sim-timeline');
    await zoomsAndMoves(page);
    await findsActivity(page);
    await screenshot(page, 'sim-kernel');
    await clicksActivity(page);
    await selectsTime(page);
    await sortsTable(page);
    await movesByKeyboard(page);
    await changesTheme(page);
    await closePage(page);
}

async function checkFluid(browser) {
    const page = await openPage(browser, inFolder('fluid.html'));
    await timelineIsDrawn(page);
    await zoomsAndMoves(page);
    await openTab(page, 'overview');
    await page.setViewportSize({width: 800, height: 900});
    await screenshot(page, 'fluid-overview-narrow');
    const overflow = await page.evaluate(() =>
        document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert(overflow <= 0, `a narrow page is ${overflow} pixels too wide`);
    await closePage(page);
}

// Names are text, whatever they are.
async function checkHostile(browser) {
    const page = await openPage(browser, inFolder('hostile.html'));
    assert.strictEqual(await page.textContent('[aria-selected=true]'), 'Overview',
        'a scope without a name takes the place of all others');
    for (const tab of await everyTabHasSomething(page))
        await openTab(page, tab);
    await screenshot(page, 'hostile');
    await openTab(page, 'scopes');
    const text = await page.textContent('#page-scopes');
    for (const name of ['</script><script>window.pwned=1</script> 3', '<!--<script>window.pwned=1',
        '"><svg/onload=window.pwned=1>', '&lt;b&gt; &amp;#60;', '`${window.pwned=1}`', '__proto__'])
        assert(text.includes(name), `the scopes do not show ${name}`);
    assert(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text),
        'a control or a bidirectional character is shown as it is');
    await openTab(page, 'timeline');
    await page.fill('.toolbar input', '</script>');
    await page.press('.toolbar input', 'Enter');
    assert((await page.textContent('.drawer')).includes('</script><script>window.pwned=1'));
    const found = await page.evaluate(() => ({pwned: String(window.pwned),
        scripts: [...document.scripts].filter((script) => !script.type).length,
        alien: document.querySelectorAll('img, svg[onload], iframe, object, [onerror]').length}));
    assert.deepStrictEqual(found, {pwned: 'undefined', scripts: 1, alien: 0});
    await closePage(page);
}

// Traces with little in them have pages that say so.
async function checkSparse(browser) {
    for (const name of ['summary', 'empty']) {
        const page = await openPage(browser, inFolder(`${name}.html`));
        await everyTabHasSomething(page);
        await openTab(page, 'timeline');
        assert.match(await page.textContent('#page-timeline'), /There is no timeline/);
        await screenshot(page, name);
        await closePage(page);
    }
}

// What another profiler's file does not tell is unknown.
async function checkImported(browser) {
    const page = await openPage(browser, inFolder('torch.html'));
    await everyTabHasSomething(page);
    await timelineIsDrawn(page);
    const text = await page.textContent('#provenance');
    for (const unknown of ['clock unknown', 'device times: resolution and uncertainty unknown',
        'losses unknown', 'cost of the recording unknown'])
        assert(text.includes(unknown), text);
    await openTab(page, 'overview');
    const tiles = await page.textContent('#page-overview .tiles');
    assert(/Losses\s*at least 2/.test(tiles) && !tiles.includes('no event was dropped'), tiles);
    await openTab(page, 'notes');
    const notes = await page.textContent('#page-notes');
    assert(notes.includes('what the recording lost is unknown.'), notes);
    await closePage(page);
}

async function main() {
    const browser = await startBrowser();
    try {
        await checkSimulation(browser);
        await checkFluid(browser);
        await checkHostile(browser);
        await checkImported(browser);
        await checkSparse(browser);
    } finally {
        await browser.close();
    }
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
