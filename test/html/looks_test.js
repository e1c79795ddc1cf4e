// Pictures of each view of a page: light, dark and on a telephone. Nothing is wider than the screen,
// and no text of the page's own is cut.
//
//     node looks_test.js FOLDER
//
// FOLDER has fluid.html, sim.html, large.html, random.html and cut.html.
'use strict';
const assert = require('assert');
const path = require('path');
const {startBrowser, openPage, closePage, looks, setLook, drawn, forEach,
    screenshot} = require('./browser.js');

const views = ['overview', 'timeline', 'flame', 'name', 'scopes', 'launches', 'memory', 'steps', 'more'];
const further = ['memory', 'phases', 'more', 'notes'];
const failures = [];

// What sticks out of the window, or out of a box that cannot be scrolled.
function stickingOut(page) {
    return page.evaluate(() => {
        const width = document.documentElement.clientWidth;
        const isScrolled = (element) => element.closest('.wide, #tabs, .frame, .gutter, header h1');
        const wide = [...document.querySelectorAll('header *, nav, main *, footer')]
            .filter((element) => element.checkVisibility() && !isScrolled(element) &&
                !element.closest('svg') && !element.closest('.spoken'))
            .filter((element) => element.getBoundingClientRect().right > width + 0.5);
        const cut = [...document.querySelectorAll('.tile dd, .tile dt, .value, h2, button, .shown')]
            .filter((element) => element.checkVisibility() && !isScrolled(element) &&
                element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0);
        const texts = [...document.querySelectorAll('svg text')].filter((text) => {
            const box = text.getBoundingClientRect();
            const plot = text.closest('svg').getBoundingClientRect();
            return text.checkVisibility() && (box.right > plot.right + 1 || box.left < plot.left - 1);
        });
        return [...wide, ...cut, ...texts].map((element) =>
            `${element.tagName} ${element.className.baseVal ?? element.className}: `
            + `${element.textContent.slice(0, 60)}`).slice(0, 5);
    });
}

async function lookAt(page, name) {
    await drawn(page);
    await screenshot(page, name);
    failures.push(...(await stickingOut(page)).map((what) => `${name}: ${what}`));
}

// In the timeline: what is below, a search, and the last match as close as can be.
async function lookAtTimeline(page, name) {
    const hasMore = await page.evaluate(() => {
        const scroller = document.querySelector('.scroller');
        scroller.scrollTop = scroller.scrollHeight;
        return scroller.scrollTop > 0;
    });
    if (hasMore)
        await lookAt(page, `${name}-below`);
    await page.fill('.toolbar input', 'e');
    await page.press('.toolbar input', 'Enter');
    await lookAt(page, `${name}-search`);
    await page.click('.toolbar [aria-label="Previous match"]');
    for (const key of ['f', 'Escape', 'w', 'w', 'w', 'w'])
        await page.press('canvas.rows', key);
    await lookAt(page, `${name}-deep`);
    await page.fill('.toolbar input', '');
    await page.press('canvas.rows', '0');
}

// In the flame graph: in order of begin, and what leads to a frame far down, of a device if there is one.
async function lookAtFlame(page, name) {
    await page.press('#page-flame .frame.chosen', 'o');
    await lookAt(page, `${name}-order`);
    await page.press('#page-flame .frame.chosen', 'o');
    await page.click('#page-flame [aria-label="Times of"] button >> nth=-1');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'c'])
        await page.press('#page-flame .frame.chosen', key);
    await lookAt(page, `${name}-callers`);
    await page.press('#page-flame .frame.chosen', 'c');
    await page.click('#page-flame [aria-label="Times of"] button >> nth=0');
}

// Looks at tabs of a page, which is opened once.
async function lookAtPage(browser, name, tabs, worn = looks) {
    const page = await openPage(browser, path.join(process.argv[2], `${name}.html`));
    for (const look of worn) {
        await setLook(page, look);
        for (const tab of tabs) {
            if (!await page.$(`#tab-${tab}`))
                continue;
            await page.click(`#tab-${tab}`);
            await lookAt(page, `${name}-${tab}-${look}`);
            if (tab === 'timeline' && look !== 'dark')
                await lookAtTimeline(page, `${name}-${tab}-${look}`);
            if (tab === 'flame')
                await lookAtFlame(page, `${name}-${tab}-${look}`);
        }
    }
    await closePage(page);
}

async function main() {
    const browser = await startBrowser();
    try {
        await forEach([['large', views], ['fluid', views], ['sim', views],
            ['random', further, ['light', 'phone']], ['cut', ['overview', 'notes'], ['light']]],
        (what) => lookAtPage(browser, ...what));
    } finally {
        await browser.close();
    }
    assert.deepStrictEqual(failures, []);
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
