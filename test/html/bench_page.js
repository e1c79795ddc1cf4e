// What a large page costs in Chromium: until it is ready, and for each frame while panning.
//
//     node bench_page.js PAGE [ROUNDS]
//
// Prints medians: until the "first view", the overview without its plots, can be read; until the
// page is "ready" for all that it can do. The machine decides them, so no test looks at them.
'use strict';
const fs = require('fs');
const {startBrowser, openPage, closePage} = require('./browser.js');

const [file, rounds = 5] = process.argv.slice(2);
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

// Bytes of the page without its three blocks of data.
function sizes() {
    const text = fs.readFileSync(file, 'latin1');
    const bare = text.replace(
        /(<script type="(?:text\/plain|application\/json)" id="[\w-]+">)[^<]*/g, '$1');
    return {all: text.length, beside: bare.length};
}

// Milliseconds from the start of loading to a mark of the page's own.
function readMarks(page) {
    return page.evaluate(() => Object.fromEntries(
        performance.getEntriesByType('mark').map((mark) => [mark.name, mark.startTime])));
}

// Milliseconds from the click on the tab to the frame that shows the timeline.
function openTimeline(page) {
    return page.evaluate(async () => {
        const frame = () => new Promise(requestAnimationFrame);
        const before = performance.now();
        document.getElementById('tab-timeline').click();
        await frame();
        await frame();
        return performance.now() - before;
    });
}

// Zooms in by `factor` and turns the wheel sideways once a frame; returns the frames' distances.
function pan(page, factor) {
    return page.evaluate(async (goal) => {
        const canvas = document.querySelector('canvas.rows');
        const {left, top, width, height} = canvas.getBoundingClientRect();
        const turn = (deltas) => canvas.dispatchEvent(new WheelEvent('wheel', {bubbles: true,
            cancelable: true, clientX: left + width / 2, clientY: top + height / 2, ...deltas}));
        const frame = () => new Promise(requestAnimationFrame);
        turn({deltaY: -Math.log(goal) / Math.log(1.0022)});
        await frame();
        const distances = [];
        for (let i = 0, before = await frame(); i < 90; i++) {
            turn({deltaX: i % 60 < 30 ? 12 : -12, deltaY: 0});
            const now = await frame();
            distances.push(now - before);
            before = now;
        }
        turn({deltaY: Math.log(goal) / Math.log(1.0022)});
        return distances;
    }, factor);
}

async function main() {
    const browser = await startBrowser();
    const marks = {};
    const frames = {};
    const opening = [];
    for (let i = 0; i < rounds; i++) {
        const page = await openPage(browser, file);
        for (const [name, time] of Object.entries(await readMarks(page)))
            (marks[name] ??= []).push(time);
        opening.push(await openTimeline(page));
        await pan(page, 1);
        for (const factor of [1, 10, 100, 1000, 10000])
            (frames[factor] ??= []).push(...await pan(page, factor));
        await closePage(page);
    }
    await browser.close();
    const {all, beside} = sizes();
    console.log(`page            ${all} bytes, ${beside} beside the data`);
    for (const [name, times] of Object.entries(marks))
        console.log(`${name.padEnd(15)} ${median(times).toFixed(0)} ms after the start of loading`);
    console.log(`timeline        ${median(opening).toFixed(0)} ms after a click on its tab`);
    for (const [factor, times] of Object.entries(frames))
        console.log(`${`frame, zoom ${factor}`.padEnd(15)} ${median(times).toFixed(1)} ms`);
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
