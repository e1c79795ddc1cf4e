// The flame graph, the tab about one name and the plot of the run: their numbers are those of the
// reports, and they lead to each other, to the timeline and to the tables.
//
//     node views_test.js FOLDER
//
// FOLDER is that of page_test.js, with tree.json and fluid-tree.json, the trees of both traces.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {startBrowser, openPage, closePage, setLook, drawn, screenshot} = require('./browser.js');

const folder = process.argv[2];
const inFolder = (name) => path.join(folder, name);
const readRows = (name) => JSON.parse(fs.readFileSync(inFolder(`${name}.json`), 'utf8')).rows;
const exact = (title) => Number(title.replace(/[^0-9]/g, ''));

async function openTab(page, id) {
    await page.click(`#tab-${id}`);
    await page.waitForSelector(`#page-${id}:not([hidden])`);
    await drawn(page);
}

const openTree = async (page, title) => {
    await page.click(`#page-flame [aria-label="Times of"] button >> text="${title}"`);
    await drawn(page);
};

// Frames as {name, total, left, width, top}, with places in pixels.
function framesOf(page) {
    return page.$$eval('#page-flame .frame', (all) => all.map((frame) => ({
        name: frame.title.split('\n')[0], total: Number(frame.dataset.total),
        left: frame.offsetLeft, width: frame.offsetWidth, top: frame.offsetTop,
        isCall: frame.title.startsWith('cu'), isDim: frame.classList.contains('dim')})));
}

// Label -> exact value or text of the fields of a tab.
function fieldsOf(page, id) {
    return page.$$eval(`#page-${id} dl.fields > div`, (all) => Object.fromEntries(all.map((pair) =>
        [pair.querySelector('dt').textContent,
            pair.querySelector('dd').title || pair.querySelector('dd').textContent])));
}

const chosen = (page) => page.getAttribute('#page-flame .frame.chosen', 'aria-label');

// The frames of scopes are the rows of the tree, with their totals as widths.
async function framesAreTheTree(page, rows) {
    const frames = await framesOf(page);
    const whole = rows.filter((row) => row.depth === 0)
        .reduce((sum, row) => sum + row.cpu_total_ns, 0);
    const width = frames[0].width;
    assert.strictEqual(frames[0].total, whole, 'the whole');
    const seen = (row) => row.cpu_total_ns / whole * width > 2;
    for (const row of rows.filter(seen)) {
        const frame = frames.find((one) => one.name === row.name &&
            one.total === row.cpu_total_ns && one.top === 20 * (row.depth + 1));
        assert(frame, `no frame of ${row.name} with ${row.cpu_total_ns} ns`);
        assert(Math.abs(frame.width - row.cpu_total_ns / whole * width) <= 1.5,
            `${row.name} is ${frame.width} wide`);
    }
    const others = frames.slice(1).filter((frame) => !frame.isCall);
    assert(others.length >= rows.filter(seen).length && others.length <= rows.length, 'frames');
}

// Siblings begin with the one that took most time.
async function mostTimeIsFirst(page) {
    const row = (await framesOf(page)).filter((frame) => frame.top === 20);
    const totals = row.sort((a, b) => a.left - b.left).map((frame) => frame.total);
    assert.deepStrictEqual(totals, totals.slice().sort((a, b) => b - a));
}

async function checkSimulationFlame(page) {
    const rows = readRows('tree');
    await openTab(page, 'flame');
    await openTree(page, 'Host');
    await framesAreTheTree(page, rows);
    await mostTimeIsFirst(page);

    // On the device, activities are below the scopes that launched them.
    await openTree(page, 'cuda:0');
    await screenshot(page, 'sim-flame-device');
    const frames = await framesOf(page);
    for (const row of rows)
        assert.strictEqual(frames.find((frame) => frame.name === row.name).total,
            row.cuda_total_ns, `${row.name} on the device`);
    for (const {activity, total_time_ns: total} of readRows('activities'))
        assert.strictEqual(frames.filter((frame) => frame.name === activity)
            .reduce((sum, frame) => sum + frame.total, 0), total, activity);
}

// By keyboard: down into the tree, zoom, callers, and back.
async function steersByKeyboard(page) {
    await openTree(page, 'cuda:0');
    await page.focus('#page-flame .frame.chosen');
    assert.match(await chosen(page), /^cuda:0,/);
    await page.keyboard.press('ArrowDown');
    assert.match(await chosen(page), /^forces,/);
    await page.keyboard.press('ArrowRight');
    assert.match(await chosen(page), /^output,/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowDown');
    assert.match(await chosen(page), /^kernel advance,/);
    await page.keyboard.press('Enter');
    let frames = await framesOf(page);
    assert.deepStrictEqual(frames.map((frame) => frame.name),
        ['cuda:0', 'forces', 'kernel advance'], 'Enter does not zoom');
    assert(frames.every((frame) => frame.width === frames[0].width));
    await page.keyboard.press('Escape');
    assert((await framesOf(page)).length > 3, 'Esc does not zoom out');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('c');
    frames = await framesOf(page);
    assert.deepStrictEqual(frames.sort((a, b) => a.top - b.top).map((frame) => frame.name),
        ['forces', 'kernel advance'], 'callers');
    await screenshot(page, 'sim-flame-callers');
    await page.keyboard.press('c');
    await page.keyboard.press('/');
    await page.keyboard.type('advance');
    const dim = (await framesOf(page)).filter((frame) => !frame.isDim).map((frame) => frame.name);
    assert.deepStrictEqual(dim, ['kernel advance']);
    const [row] = readRows('activities').filter(({activity}) => activity === 'kernel advance');
    const all = readRows('activities').reduce((sum, {total_time_ns: ns}) => sum + ns, 0);
    const share = (Math.round(10000 * row.total_time_ns / all) / 100).toFixed(2);
    assert.strictEqual(await page.textContent('#page-flame output'), `1 frame, ${share}%`);
    await page.fill('#page-flame input', '');
}

// Table -> name -> flame graph -> timeline -> name, and what the tab about a name says.
async function namesLeadOn(page) {
    const [kernel] = readRows('kernels');
    await openTab(page, 'kernels');
    await page.click(`#page-kernels th[data-name="${kernel.name}"] .about`);
    await drawn(page);
    assert.strictEqual(await page.textContent('#page-name h2'), kernel.name);
    const fields = await fieldsOf(page, 'name');
    assert.strictEqual(Number(fields.Count), kernel.count);
    for (const [label, key] of [['Total', 'total_ns'], ['Mean', 'avg_ns'], ['Min', 'min_ns'],
        ['Max', 'max_ns'], ['Median', 'median_ns']])
        assert.strictEqual(exact(fields[label]), kernel[key], label);
    assert(!('p99' in fields), 'a p99 of fewer than 100');
    assert.strictEqual(await page.locator('#page-name ol.places li').count(), 10);
    await screenshot(page, 'sim-name');
    await page.click('#page-name button >> text="In the flame graph"');
    assert.match(await chosen(page), /^kernel advance,/);
    await page.click('#page-flame button >> text="On the timeline"');
    await page.click('.drawer button >> text="All about this name"');
    assert.strictEqual(await page.textContent('#page-name h2'), kernel.name);
    await page.click('#page-name ol.places li:first-child .link');
    assert.strictEqual(await page.textContent('[aria-selected=true]'), 'Timeline');
    assert.match(await page.textContent('.drawer h2'), /^kernel advance/);
}

// A scope: times of the report, and the kernels under it.
async function scopeHasItsKernels(page) {
    const scope = readRows('scopes').find((row) => row.name === 'forces');
    await page.goto(`${page.url().split('#')[0]}#name/forces`);
    await page.waitForSelector('#page-name:not([hidden])');
    await drawn(page);
    const fields = await fieldsOf(page, 'name');
    assert.strictEqual(Number(fields.Count), scope.calls);
    assert.strictEqual(exact(fields.Total), scope.cpu_total_ns);
    assert.strictEqual(exact(fields.Min), scope.cpu_time_min_ns);
    assert.strictEqual(exact(fields.Max), scope.cpu_time_max_ns);
    const cells = await page.$$eval('#page-name table:last-of-type', (tables) =>
        [...tables.at(-1).querySelectorAll('tbody tr')].map((row) => [
            row.querySelector('th').textContent, row.querySelectorAll('td')[1].title]));
    const [kernel] = readRows('kernels');
    assert.deepStrictEqual(cells.map(([name, total]) => [name, exact(total)]),
        [[kernel.name, scope.cuda_total_ns]]);
}

// All 17 steps of the run, and the window of steps 12 to 16; a click there leads to the timeline.
async function runHasItsWindow(page) {
    await openTab(page, 'steps');
    const plot = '#page-steps svg[aria-label^="Durations of 17 steps of the run, of which 5 were"]';
    const box = await page.$eval(plot, (svg) => {
        const rect = svg.querySelector('.window').getBoundingClientRect();
        const [curve] = [...svg.querySelectorAll('.curve')].map((path) =>
            path.getBoundingClientRect());
        return {left: rect.left, right: rect.right, y: (rect.top + rect.bottom) / 2,
            from: curve.left, to: curve.right};
    });
    const at = (step) => box.from + step / 16 * (box.to - box.from);
    assert(Math.abs(box.left - at(11.5)) < 2 && Math.abs(box.right - at(16)) < 2,
        JSON.stringify(box));
    assert.match(await page.getAttribute('#page-steps svg[aria-label^="Histogram"]', 'aria-label'),
        /^Histogram of 17 durations on a logarithmic axis/);
    await page.mouse.click(at(3), box.y);
    assert.strictEqual(await page.textContent('[aria-selected=true]'), 'Steps');
    await page.mouse.click(at(14), box.y);
    assert.strictEqual(await page.textContent('[aria-selected=true]'), 'Timeline');
}

async function checkFluid(browser) {
    const page = await openPage(browser, inFolder('fluid.html'));
    await openTab(page, 'flame');
    for (const look of ['phone', 'light']) {
        await setLook(page, look);
        await drawn(page);
        await framesAreTheTree(page, readRows('fluid-tree'));
    }
    await runHasItsWindow(page);
    await closePage(page);
}

async function main() {
    const browser = await startBrowser();
    try {
        const page = await openPage(browser, inFolder('sim.html'));
        await checkSimulationFlame(page);
        await steersByKeyboard(page);
        await namesLeadOn(page);
        await scopeHasItsKernels(page);
        await closePage(page);
        await checkFluid(browser);
    } finally {
        await browser.close();
    }
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
