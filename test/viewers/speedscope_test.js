// Speedscope opens what Takt writes for it, and shows the numbers that Takt's tables have.
//
//     node speedscope_test.js APPLICATION FOLDER NAME...
//
// APPLICATION is speedscope's index.html. FOLDER has NAME.speedscope.json and NAME/, its tables.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {patience, startBrowser, drawn} = require('../html/browser.js');
const {readTable, byKey} = require('./tables.js');

const [application, folder, ...names] = process.argv.slice(2);
const pictures = path.join(process.env.TAKT_BUILD, 'viewers/pictures');
const tallWindow = {width: 1400, height: 12000}; // a table of hundreds of rows is drawn as a whole

// ---- What the tables say ----------------------------------------------------------------------

// As speedscope prints nanoseconds; by its own arithmetic, since halves are rounded.
function time(ns) {
    const seconds = ns * 1e-9;
    const [unit, size] = [['s', 1], ['ms', 1e-3], ['µs', 1e-6]].find(
        ([, size]) => seconds / size >= 1) ?? ['ns', 1e-9];
    return `${(seconds / size).toFixed(2)}${unit}`;
}

const frameOf = (span) => JSON.stringify([span.name, span.file, span.line]);

// Time of what is called while it runs is counted once.
function isInsideItsLike(span, spans) {
    for (let above = spans.get(span.parent); above; above = spans.get(above.parent))
        if (frameOf(above) === frameOf(span))
            return true;
    return false;
}

// Rows of the sandwich view, "total self name", one for each frame.
function sandwichOf(slices) {
    const spans = new Map(slices.map((slice) => [slice.id, slice]));
    const frames = new Map();
    for (const slice of slices) {
        const frame = frames.get(frameOf(slice)) ?? {name: slice.name, total: 0, self: 0};
        const duration = Number(slice.duration_ns);
        const above = spans.get(slice.parent);
        frame.total += isInsideItsLike(slice, spans) ? 0 : duration;
        frame.self += duration;
        frames.set(frameOf(slice), frame);
        if (above)
            frames.get(frameOf(above)).self -= duration;
    }
    return [...frames.values()].map(
        ({name, total, self}) => `${time(total)} ${time(self)} ${name}`).sort();
}

// Name of a thread, stream or track -> its slices.
function rowsOf(name) {
    const tables = path.join(folder, name);
    const tracks = new Map(readTable(tables, 'tracks').map((track) => [track.id, track]));
    const nameOf = ({kind, thread, name}) =>
        kind === 'async' ? name : `thread ${thread}${name && ` (${name})`}`;
    const onStreams = readTable(tables, 'activities').filter((activity) => activity.stream !== '');
    return new Map([
        ...byKey(readTable(tables, 'spans'), (span) => nameOf(tracks.get(span.track))),
        ...byKey(onStreams.map((activity) => ({...activity, file: '', line: ''})),
            ({device, stream}) => `${device} stream ${stream}`)]);
}

// ---- What speedscope says ---------------------------------------------------------------------

async function openSpeedscope(browser, file) {
    const page = await (await browser.newContext({acceptDownloads: true})).newPage();
    page.setDefaultTimeout(patience);
    page.problems = [];
    page.on('console', (message) => ['error', 'assert'].includes(message.type()) && // the GPU warns
        page.problems.push(message.text()));
    page.on('pageerror', (error) => page.problems.push(error.stack));
    page.on('dialog', (dialog) => (page.problems.push(dialog.message()), dialog.dismiss()));
    await page.setViewportSize({width: 1400, height: 900});
    await page.goto(`file://${path.resolve(application)}`);
    await page.setInputFiles('input[type=file]', file);
    await page.waitForSelector('text=Time Order');
    return page;
}

async function screenshot(page, name) {
    await drawn(page);
    await page.screenshot({path: path.join(pictures, `speedscope-${name}.png`)});
}

// The rows of the table that is shown, as sandwichOf() has them.
async function readSandwich(page) {
    await drawn(page);
    const rows = await page.$$eval('tr', (all) => all.filter((row) => row.checkVisibility(
        {visibilityProperty: true, opacityProperty: true})).map(
        (row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
    return rows.filter((cells) => cells.length === 3).map(
        ([total, self, name]) => `${total.split(' ')[0]} ${self.split(' ')[0]} ${name}`);
}

// What speedscope makes of the file, written by itself.
async function saveAgain(page) {
    const [download] = await Promise.all(
        [page.waitForEvent('download'), page.keyboard.press('Control+s')]);
    return JSON.parse(fs.readFileSync(await download.path(), 'utf8'));
}

// ---- The comparison ---------------------------------------------------------------------------

// Speedscope draws nothing of no duration, and forgets it.
function withoutEmpty(events) {
    const kept = [];
    for (const event of events) {
        const last = kept.at(-1);
        if (event.type === 'C' && last.type === 'O' && last.at === event.at)
            kept.pop();
        else
            kept.push(event);
    }
    return kept;
}

// Frames by what they are, since speedscope gives them numbers of its own.
function contentOf(file) {
    return file.profiles.map(({events, ...profile}) => ({...profile,
        events: withoutEmpty(events).map(
            (event) => ({...event, frame: file.shared.frames[event.frame]}))}));
}

// Lanes of one row are numbered from 2 on, behind its name.
const rowOf = (profile, rows) =>
    rows.has(profile.name) ? profile.name : profile.name.replace(/ \(\d+\)$/, '');

async function compareSandwich(page, name, file) {
    const rows = rowsOf(name);
    const lanes = byKey(file.profiles, (profile) => rowOf(profile, rows));
    assert.deepStrictEqual([...lanes.keys()].sort(), [...rows.keys()].sort(), `${name}: rows`);
    await page.setViewportSize(tallWindow);
    for (const {name: row} of file.profiles) {
        if (lanes.get(row)?.length === 1)
            assert.deepStrictEqual((await readSandwich(page)).sort(), sandwichOf(rows.get(row)),
                `${name}: ${row}`);
        await page.keyboard.press('n');
    }
    await page.setViewportSize({width: 1400, height: 900});
}

async function compare(browser, name) {
    const path_ = path.join(folder, `${name}.speedscope.json`);
    const file = JSON.parse(fs.readFileSync(path_, 'utf8'));
    const page = await openSpeedscope(browser, path_);
    assert.strictEqual(await page.title(), `${file.name} - speedscope`);
    assert.match(file.profiles[0].name, /^thread /); // what it opens at
    await screenshot(page, `${name}-time-order`);
    await page.keyboard.press('3');
    await screenshot(page, `${name}-sandwich`);
    assert.deepStrictEqual(contentOf(await saveAgain(page)), contentOf(file), `${name}: events`);
    await compareSandwich(page, name, file);
    assert.deepStrictEqual(page.problems, [], name);
    await page.context().close();
    return file.profiles.length;
}

(async () => {
    const browser = await startBrowser();
    let profiles = 0;
    for (const name of names)
        profiles += await compare(browser, name);
    await browser.close();
    console.log(`speedscope shows ${profiles} profiles of ${names.length} traces as the tables do`);
})().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
