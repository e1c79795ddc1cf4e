// Ways through a page: from a table to the timeline and back, by keys, by address; and what people
// see who need contrast, the system's colours, a small screen, paper, or a screen reader.
//
//     node ways_test.js FOLDER
//
// FOLDER has sim.html, fluid.html and kernels.json, the report of the trace that sim.html shows.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {startBrowser, openPage, closePage, drawn, until} = require('./browser.js');

const inFolder = (name) => path.join(process.argv[2], name);
const kernels = JSON.parse(fs.readFileSync(inFolder('kernels.json'), 'utf8'));
const chosenName = (page) => page.textContent('.drawer h2 bdi');
const fragment = (page) => page.evaluate(() => location.hash);
const shown = (page) => page.textContent('.shown');

async function openTab(page, id) {
    await page.click(`#tab-${id}`);
    await page.waitForSelector(`#page-${id}:not([hidden])`);
}

async function titlesAreThoseOfTheText(page) {
    await openTab(page, 'kernels');
    const heads = await page.$$eval('#page-kernels table', (tables) =>
        [...tables[0].querySelectorAll('thead th')].map((head) => head.textContent));
    assert(heads.length > 8 && heads[0] === 'Kernel Name', `${heads}`);
    assert.deepStrictEqual(heads.filter((head) => !kernels.titles.includes(head)), []);
}

// Tables say what they are and what heads them; rows that can be opened look as if they could be.
async function tablesCanBeReadAloud(page) {
    for (const id of ['scopes', 'tree', 'kernels', 'launches']) {
        await openTab(page, id);
        const wrong = await page.$$eval(`#page-${id} table`, (tables) => tables.filter((table) =>
            !table.caption?.textContent || !table.querySelector('thead th[scope=col]') ||
            [...table.tBodies[0].rows].some((row) => !row.querySelector('th[scope=row]'))).length);
        assert.strictEqual(wrong, 0, `tables of ${id} without caption, head or names of rows`);
        const captions = await page.$$eval(`#page-${id} caption`, (all) =>
            all.map((caption) => caption.textContent));
        assert.strictEqual(new Set(captions).size, captions.length, `${captions}`);
    }
    const line = await page.$eval('#page-launches .link', (link) =>
        getComputedStyle(link).textDecorationLine);
    assert.strictEqual(line, 'underline');
}

// From a kernel's row to its slices, from there to the row, and by Back to the timeline.
async function leadsThereAndBack(page) {
    const row = '#page-kernels th[data-name="kernel advance"]';
    await openTab(page, 'kernels');
    await page.click(`${row} .link`);
    assert.strictEqual(await chosenName(page), 'kernel advance');
    assert.match(await page.textContent('.drawer h2'), /^kernel advance kernel$/);
    assert.strictEqual(await page.textContent('.toolbar output'), '1 of 24');
    await page.click('.toolbar [aria-label="Next match"]');
    assert.strictEqual(await page.textContent('.toolbar output'), '2 of 24');
    await page.click('.toolbar [aria-label="Previous match"]');
    assert.strictEqual(await page.textContent('.toolbar output'), '1 of 24');
    await page.click('.drawer .buttons button:first-child');
    assert.strictEqual(await page.textContent('[aria-selected=true]'), 'Kernels');
    assert(await page.$eval(row, (head) => document.activeElement === head &&
        head.parentNode.classList.contains('found')), 'the row is not the one that has the focus');
    await page.goBack();
    assert.strictEqual(await page.textContent('[aria-selected=true]'), 'Timeline');
}

// A copied address shows the same time and the same event; a broken one the overview.
async function addressesArePlaces(browser, page) {
    await page.focus('canvas.rows');
    await page.keyboard.press('f');
    await until(page, async () => /\/\d+:\d+\/\d+\.\d+$/.test(await fragment(page)),
        'the address does not say where the page is');
    const place = await fragment(page);
    const there = await openPage(browser, inFolder('sim.html'), {}, place);
    await drawn(there);
    assert.strictEqual(await chosenName(there), await chosenName(page));
    assert.strictEqual(await shown(there), await shown(page));
    await there.keyboard.press('Escape');
    assert.strictEqual(await there.$eval('.drawer', (drawer) => drawer.hidden), true);
    await closePage(there);
    for (const wrong of ['#none', '#timeline/1:2/99999.1', '#%', '#timeline/x']) {
        const other = await openPage(browser, inFolder('sim.html'), {}, wrong);
        assert.match(await other.textContent('[aria-selected=true]'), /Overview|Timeline/);
        await closePage(other);
    }
}

async function keysAreTold(page) {
    const isOpen = () => page.$eval('details.keys', (keys) => keys.open);
    await page.focus('canvas.rows');
    await page.keyboard.press('?');
    assert(await isOpen(), '? does not open the list of keys');
    await page.keyboard.press('Escape');
    assert(!await isOpen(), 'Esc does not close the list of keys');
    assert.strictEqual(await page.evaluate(() => document.activeElement.className), 'rows');
}

// WCAG 2.2, 1.4.3: the least contrast of each ink on each ground, and of labels on their fills.
function leastContrast(page) {
    return page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement('span'));
        const light = (color) => {
            probe.style.setProperty('color', color);
            const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map((c) => c / 255)
                .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        const contrast = (a, b) => Math.max(light(a), light(b)) / Math.min(light(a), light(b));
        const inks = ['ink', 'muted', 'accent', 'warning'], grounds = ['page', 'surface'];
        const pairs = [
            ...inks.flatMap((ink) => grounds.map((g) => [`var(--${ink})`, `var(--${g})`])),
            ['var(--ink)', 'var(--soft)'], ...[...fills, neutralFill].map((f) => [fillInk, f])];
        const least = Math.min(...pairs.map(([a, b]) => contrast(a, b)));
        probe.remove();
        return least;
    });
}

async function checkColors(browser) {
    for (const colorScheme of ['light', 'dark']) {
        const page = await openPage(browser, inFolder('fluid.html'), {colorScheme});
        const least = await leastContrast(page);
        assert(least >= 4.5, `contrast of ${least} (${colorScheme})`);
        await closePage(page);
    }
    const page = await openPage(browser, inFolder('fluid.html'), {forcedColors: 'active'});
    const style = (selector, key) => page.$eval(selector, (e, k) => getComputedStyle(e)[k], key);
    assert.notStrictEqual(await style('[aria-selected=true]', 'borderBottomColor'),
        await style('[aria-selected=false]', 'borderBottomColor'), 'no tab looks selected');
    assert.notStrictEqual(await style('.bars .bar', 'backgroundColor'),
        await style('body', 'backgroundColor'), 'bars have the colour of the page');
    await closePage(page);
}

// Nothing is wider than a telephone, and paper has all columns.
async function checkSizes(browser) {
    const page = await openPage(browser, inFolder('sim.html'),
        {viewport: {width: 390, height: 844}});
    await openTab(page, 'timeline');
    await drawn(page);
    const excess = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert(await excess() <= 0, 'a small screen scrolls sideways');
    await page.setViewportSize({width: 1040, height: 700});
    await openTab(page, 'launches');
    await page.emulateMedia({media: 'print'});
    assert(await excess() <= 0, 'a table is wider than the paper');
    await closePage(page);
}

async function main() {
    const browser = await startBrowser();
    try {
        const page = await openPage(browser, inFolder('sim.html'));
        await titlesAreThoseOfTheText(page);
        await tablesCanBeReadAloud(page);
        await leadsThereAndBack(page);
        await addressesArePlaces(browser, page);
        await keysAreTold(page);
        await closePage(page);
        await checkColors(browser);
        await checkSizes(browser);
    } finally {
        await browser.close();
    }
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
