// Every number of a page is that of `takt report`, and each column says what it is.
//
//     node numbers_test.js FOLDER
//
// FOLDER is that of looks_test.js, with NAME-reports/REPORT.json for each page.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {startBrowser, openPage, closePage, drawn, forEach} = require('./browser.js');

const inFolder = (...names) => path.join(process.argv[2], ...names);

function readReports(name) {
    const folder = inFolder(`${name}-reports`);
    return Object.fromEntries(fs.readdirSync(folder).map((file) => [file.replace('.json', ''),
        JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'))]));
}

// What the numbers of a column are divided by.
function unitOf(key, title) {
    if (/(bytes|flops)_per_second$/.test(key))
        return 1e9;
    return key === 'flops' ? 1000 ** ' KMGTP'.indexOf(/([KMGTP])FLOPs/.exec(title)?.[1] ?? ' ') : 1;
}

// True if a cell shows a value: "12,345 ns" exactly, "12.35" up to half of its last digit.
function shows(cell, value, unit) {
    const [, number, rest] = /^(-?[0-9,.]+(?:e[-+]?[0-9]+)?)(| ns| B| %| FLOPs)$/.exec(cell) ?? [];
    const shown = Number(number?.replace(/,/g, ''));
    if (rest)
        return shown === value;
    const digits = number?.split('.')[1]?.length ?? 0;
    return Math.abs(shown * unit - value) <= 0.5001 * 10 ** -digits * unit;
}

// The tables of a tab as {caption, heads: [{title, about}], rows: [[text, ...]]}.
function tablesOf(page, id) {
    return page.$$eval(`#page-${id} table`, (tables) => tables.map((table) => ({
        caption: table.caption.textContent,
        heads: [...table.tHead.rows[0].cells].map((cell) => ({title: cell.textContent,
            about: cell.querySelector('button').getAttribute('aria-description')})),
        rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) =>
            cell.title || cell.querySelector('bdi')?.title || cell.textContent))})));
}

// The cells of a table are the values of the report's row at the same place.
function compareTable(table, report, what) {
    assert.strictEqual(table.rows.length, report.rows.length, `rows of ${what}`);
    let count = 0;
    const used = new Set();
    const places = table.heads.map(({title, about}) => {
        const place = report.titles.findIndex((one, i) => one === title && !used.has(i) &&
            report.rows.some((row) => row[report.columns[i]] !== null));
        assert(place >= 0, `${what} has no column ${title}`);
        assert(about?.startsWith(`${title}: `) && about.length > title.length + 8,
            `nothing says what ${title} of ${what} is`);
        used.add(place);
        return place;
    });
    table.rows.forEach((cells, i) => cells.forEach((cell, k) => {
        const value = report.rows[i][report.columns[places[k]]];
        if (typeof value !== 'number')
            return;
        count++;
        const {title} = table.heads[k];
        assert(shows(cell, value, unitOf(report.columns[places[k]], title)),
            `${what}, ${title}: '${cell}' instead of ${value}`);
    }));
    return count;
}

async function compareTables(page, reports, name) {
    const byCaption = new Map();
    for (const [id, report] of Object.entries(reports)) {
        const title = id.charAt(0).toUpperCase() + id.slice(1);
        byCaption.set(title, report);
        for (const [key, table] of Object.entries(report.tables ?? {}))
            byCaption.set(`${title}: ${table.heading?.replace(/:$/, '') ?? key}`, table);
    }
    let count = 0;
    const ids = await page.$$eval('[role=tab]', (all) => all.map((tab) => tab.id.slice(4)));
    for (const id of ids.filter((one) => !['overview', 'timeline', 'flame', 'name'].includes(one))) {
        await page.click(`#tab-${id}`);
        for (const table of await tablesOf(page, id)) {
            const found = [...byCaption].find(([caption]) =>
                caption.toLowerCase() === table.caption.toLowerCase());
            assert(found, `${name}: no report has the table ${table.caption}`);
            count += compareTable(table, found[1], `${name}, ${table.caption}`);
        }
    }
    return count;
}

// Label -> note of the rows of the timeline.
function rowsOf(page) {
    return page.$$eval('.gutter > *', (all) => all.map((row) => [
        row.querySelector('bdi').textContent, row.querySelector('small')?.textContent ?? '']));
}

// The share of a plot that its area covers, in percent, from the path that is drawn.
function areasOf(page) {
    return page.$$eval('#page-launches .area', (paths) => paths.map((path) => {
        const numbers = path.getAttribute('d').match(/-?[0-9.]+(e-?[0-9]+)?/g).map(Number);
        const [left, bottom] = numbers;
        let area = 0;
        for (let i = 2; i + 2 < numbers.length; i += 3) /* L x y H end */
            area += (numbers[i + 2] - numbers[i]) * (bottom - numbers[i + 1]);
        const right = numbers.at(-2);
        const grid = [...path.ownerSVGElement.querySelectorAll('.grid')].at(-1);
        return [100 * area / ((right - left) * (bottom - grid.getAttribute('y1'))),
            100 * (right - left) / (grid.getAttribute('x2') - grid.getAttribute('x1'))];
    }));
}

// Device -> the share of the recording, in percent, of which it is not known whether it was idle, though
// it was known before.
async function unseenOf(page) {
    const {facts, busy} = JSON.parse(await page.$eval('#facts', (script) => script.textContent));
    const sum = (edges) => edges.reduce((all, edge, i) => all + (i % 2 ? edge : -edge), 0);
    return new Map(busy.map(({device, unseen}) =>
        [device, 100 * sum(unseen) / (facts.end_ns - facts.begin_ns)]));
}

// Each device's row and plot: how busy it was.
async function compareBusy(page, reports) {
    const busy = (reports.gaps?.rows ?? []).filter((row) => row.stream === null);
    const rows = (await rowsOf(page)).filter(([title]) => title === 'busy');
    assert.deepStrictEqual(rows.map(([, note]) => note),
        busy.map((row) => `${row.busy_percent.toFixed(2)}%`));
    if (!busy.length)
        return 0;
    await page.click('#tab-launches');
    await drawn(page);
    const areas = await areasOf(page), unseen = await unseenOf(page);
    assert.strictEqual(areas.length, busy.length, 'plots of devices');
    areas.forEach(([area, known], i) => { // of the known time; before it the plot is empty
        const {device, busy_percent: percent, known_percent: of = 100} = busy[i];
        assert(Math.abs(area - percent) < 0.01, `${device}: the plot covers ${area} % and not ${percent} %`);
        const drawn = (of ?? 100) + unseen.get(device); // later, what is not known is drawn as 0
        assert(Math.abs(known - drawn) < 0.01, `${device}: ${known} % are drawn and not ${drawn} %`);
    });
    return busy.length;
}

// Each row and each plot of memory: the peak, which is the curve's highest point.
async function compareMemory(page, reports) {
    const peaks = (reports.memory?.rows ?? []).filter((row) => row.period === 'recording');
    const texts = await page.evaluate((values) => values.map((value) => bytesText(value)),
        peaks.map((row) => row.peak_bytes));
    const rows = (await rowsOf(page)).filter(([title]) => / memory(, pools)?$/.test(title));
    peaks.forEach(({device}, i) => assert.strictEqual(
        rows.find(([title]) => title === `${device} memory`)[1], `peak ${texts[i]}`));
    if (!peaks.length)
        return 0;
    await page.click('#tab-memory');
    await drawn(page);
    const plots = await page.$$eval('#page-memory .plot', (all) => all.map((plot) => ({
        title: plot.parentNode.querySelector('h2').textContent,
        peak: Number(plot.querySelector('.peak').getAttribute('cy')),
        curve: Math.min(...plot.querySelector('.curve').getAttribute('d').match(/ [0-9.]+/g)
            .map(Number)),
        text: plot.querySelector('.strong').textContent})));
    assert.strictEqual(plots.length, rows.length);
    for (const {title, peak, curve, text} of plots) {
        assert(Math.abs(peak - curve) < 0.01, `${title}: ${curve} is not the peak at ${peak}`);
        assert.strictEqual(text, rows.find(([one]) => one === title)[1]);
    }
    return plots.length;
}

// The explanation is shown at the head that has the focus, until Escape is pressed.
async function headsExplain(page) {
    await page.click('#tab-scopes');
    const button = await page.$('#page-scopes thead th:nth-child(2) button');
    await button.focus();
    const about = await button.getAttribute('aria-description');
    assert.strictEqual(await page.textContent('#hint:not([hidden])'), about);
    await page.keyboard.press('Escape');
    assert(await page.$('#hint[hidden]'), 'Escape does not close the explanation');
    await button.hover();
    assert.strictEqual(await page.textContent('#hint:not([hidden])'), about);
    await page.mouse.move(5, 5);
    assert(await page.$('#hint[hidden]'), 'the explanation stays');
}

// How many pixels of the timeline have the colour of matches.
function countHits(page) {
    return page.evaluate(() => {
        const canvas = document.querySelector('canvas.rows');
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
        copy.drawImage(canvas, 0, 0);
        const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
        const [r, g, b] = [1, 3, 5].map((at) => parseInt(hitFill.slice(at, at + 2), 16));
        let count = 0;
        for (let i = 0; i < data.length; i += 4)
            count += data[i] === r && data[i + 1] === g && data[i + 2] === b ? 1 : 0;
        return count;
    });
}

async function matchesHaveTheirColor(page, name) {
    await page.click('#tab-timeline');
    await drawn(page);
    assert.strictEqual(await countHits(page), 0, 'before the search');
    await page.fill('.toolbar input', name);
    await drawn(page);
    assert(await countHits(page) > 20, `no match of ${name} has its colour`);
    await page.fill('.toolbar input', '');
    await drawn(page);
    assert.strictEqual(await countHits(page), 0, 'after the search');
}

// What a banner says: that the trace is cut, and each loss.
async function bannersSayWhatIsMissing(page, summary) {
    const {provenance} = summary;
    const texts = await page.$$eval('#banners .banner', (all) =>
        all.map((banner) => [banner.querySelector('b').textContent, banner.textContent]));
    const lost = Object.values(provenance.losses).filter((count) => count > 0);
    const labels = [...provenance.ending === 'whole' ? [] : ['CUT'], ...lost.length ? ['LOST'] : []];
    assert.deepStrictEqual(texts.map(([label]) => label), labels);
    if (labels[0] === 'CUT')
        assert(texts[0][1].includes(provenance.incomplete.replace('INCOMPLETE: ', '')));
    const numbers = texts.find(([label]) => label === 'LOST')?.[1].match(/[0-9][0-9,]*/g) ?? [];
    const most = [...lost].sort((a, b) => b - a).slice(0, 3);
    assert.deepStrictEqual(numbers.map((number) => Number(number.replace(/,/g, ''))),
        [...most, ...lost.length > 3 ? [lost.length - 3] : []]);
    if (labels.length) {
        await page.click('#banners .banner:first-child button');
        assert(await page.$('#page-notes:not([hidden])'), 'the banner does not lead to the notes');
    }
}

// Adds up in `counts` what was compared.
async function checkPage(browser, name, counts) {
    const page = await openPage(browser, inFolder(`${name}.html`));
    assert.strictEqual(page.workerCount > 0, name === 'large', `workers of ${name}`);
    const reports = readReports(name);
    await bannersSayWhatIsMissing(page, reports.summary);
    const cells = name === 'large' ? 0 : await compareTables(page, reports, name);
    counts.cells += cells;
    await page.click('#tab-timeline');
    await drawn(page);
    if (name === 'sim' || name === 'large') {
        const busy = await compareBusy(page, reports), memory = await compareMemory(page, reports);
        counts.busy += busy;
        counts.memory += memory;
    }
    if (name === 'sim') {
        await headsExplain(page);
        await matchesHaveTheirColor(page, 'kernel advance');
    }
    await closePage(page);
}

async function main() {
    const browser = await startBrowser();
    const counts = {cells: 0, busy: 0, memory: 0};
    try {
        await forEach(['large', 'random', 'fluid', 'sim', 'cut'],
            (name) => checkPage(browser, name, counts));
    } finally {
        await browser.close();
    }
    assert(counts.cells > 500 && counts.busy === 2 && counts.memory >= 4, JSON.stringify(counts));
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
