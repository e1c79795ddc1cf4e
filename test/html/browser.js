// A page of `takt report --html` in a browser without a window, watched for everything that it must
// not do: scripts that fail or are refused, words on the console, requests.
'use strict';
const assert = require('assert');
const path = require('path');

const patience = 600000; // milliseconds, against a browser that hangs

// Starts the browser, or says why not and ends as a skipped test.
async function startBrowser() {
    const {chromium} = require(path.join(process.env.TAKT_BUILD, 'node/node_modules/playwright-core'));
    const args = ['--disable-gpu', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
    try {
        return await chromium.launch({executablePath: process.env.CHROMIUM, args, timeout: patience,
            env: {...process.env, LC_ALL: 'C.UTF-8'}}); // else it opens no file with an umlaut in its path
    } catch (error) {
        console.log(`chromium does not start: ${String(error.message).split('\n')[0]}`);
        process.exit(77);
    }
}

// Runs in the page, before its scripts.
function listenForViolations() {
    window.violations = [];
    document.addEventListener('securitypolicyviolation',
        (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
}

// Runs in a page, before its scripts: it has no workers then.
function refuseWorkers() {
    window.Worker = function () {
        throw new Error('no workers here');
    };
}

// Opens FILE, at a place if there is a fragment; the page has `problems` then, a list of what went wrong up to now.
async function openPage(browser, file, {hasWorkers = true, ...options} = {}, fragment = '') {
    const context = await browser.newContext(
        {viewport: {width: 1400, height: 900}, reducedMotion: 'reduce', ...options});
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    page.problems = [];
    page.workerCount = 0;
    page.on('worker', () => page.workerCount++);
    page.on('console', (message) => page.problems.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => page.problems.push(`error: ${error.stack}`));
    page.on('dialog', (dialog) => (page.problems.push(`dialog: ${dialog.message()}`),
        dialog.dismiss()));
    page.on('request', (request) => {
        if (!/^(file|data|blob):/.test(request.url()) || (page.isOpen && !/^data:/.test(request.url())))
            page.problems.push(`request: ${request.url()}`);
    });
    await page.addInitScript(listenForViolations);
    if (!hasWorkers)
        await page.addInitScript(refuseWorkers);
    await page.goto(`file://${path.resolve(file)}${fragment}`);
    await page.waitForSelector('body[data-state]', {state: 'attached'});
    assert.strictEqual(await page.getAttribute('body', 'data-state'), 'ready',
        `${file}: ${page.problems.join('; ')}`);
    page.isOpen = true; // its workers, which are blobs, may start after the load event
    return page;
}

// Ends a page, which must have done nothing that it must not do.
async function closePage(page) {
    const violations = await page.evaluate(() => window.violations);
    assert.deepStrictEqual(page.problems.concat(violations), []);
    await page.context().close();
}

const looks = ['light', 'dark', 'phone'];

// Gives an open page another look.
async function setLook(page, look) {
    await page.emulateMedia({colorScheme: look === 'dark' ? 'dark' : 'light'});
    await page.setViewportSize(look === 'phone' ? {width: 390, height: 844} :
        {width: 1400, height: 900});
}

// Two frames: what was changed is drawn then.
async function drawn(page) {
    await page.evaluate(() => new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

// Waits for what comes some frames later, such as what a wheel does.
async function until(page, condition, what) {
    for (let frames = 0; frames < 600; frames++) {
        if (await condition())
            return;
        await drawn(page);
    }
    assert.fail(what);
}

// Calls f for each thing, for two at a time: a page waits for frames much of its time.
async function forEach(things, f) {
    const left = [...things];
    const work = async () => {
        while (left.length)
            await f(left.shift());
    };
    await Promise.all([work(), work()]);
}

// A picture to be looked at, where they are asked for: nothing compares them.
async function screenshot(page, name) {
    await drawn(page);
    if (!process.env.SCREENSHOTS)
        return;
    await page.screenshot({path: path.join(process.env.TAKT_BUILD, 'test/screenshots', `${name}.png`)});
}

module.exports = {patience, startBrowser, openPage, closePage, looks, setLook, drawn, until, forEach, screenshot};
