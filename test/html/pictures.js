// The pictures of the README: what a terminal shows, as SVG, and a page in Chromium.
//
//     node pictures.js TERMINAL PAGE FOLDER
//
// TERMINAL holds what was printed, with the escape sequences of colours. Writes terminal.svg and
// page.png into FOLDER.
'use strict';
const fs = require('fs');
const path = require('path');
const {startBrowser, openPage, closePage, drawn} = require('./browser.js');

const [terminal, pageFile, folder] = process.argv.slice(2);
const cell = {width: 8, height: 18}; // pixels of a character
const edge = 16;
const colors = {'1;31': 'r', 33: 'y'};

const escapeXml = (text) => text.replace(/[&<>]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[c]);

// A line as spans: [class, text].
function spansOf(line) {
    const spans = [];
    let color = '';
    for (const part of line.split(/(\u001b\[[0-9;]*m)/)) {
        const code = /^\u001b\[([0-9;]*)m$/.exec(part)?.[1];
        if (code === undefined && part)
            spans.push([color, part]);
        else if (code !== undefined && code !== '0' && !colors[code])
            throw new Error(`no colour for ESC[${code}m`);
        else if (code !== undefined)
            color = colors[code] ?? '';
    }
    return spans;
}

// Each line is stretched to its columns, whatever font the reader has.
function lineOf(line, row) {
    const spans = spansOf(line);
    const length = spans.reduce((sum, [, text]) => sum + text.length, 0);
    const texts = spans.map(([color, text]) =>
        (color ? `<tspan class="${color}">${escapeXml(text)}</tspan>` : escapeXml(text)));
    return `<text x="${edge}" y="${edge + cell.height * (row + 0.75)}" `
        + `textLength="${length * cell.width}">${texts.join('')}</text>`;
}

function terminalPicture(text) {
    const lines = text.trimEnd().split('\n');
    const columns = Math.max(...lines.map((line) => line.replace(/\u001b\[[0-9;]*m/g, '').length));
    const width = columns * cell.width + 2 * edge, height = lines.length * cell.height + 2 * edge;
    const shown = lines.map(lineOf).filter((line) => !line.includes('textLength="0"'));
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" `
        + `viewBox="0 0 ${width} ${height}">
<style>text { font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d6dbe1;
white-space: pre } .r { fill: #ff7b72; font-weight: 700 } .y { fill: #e3b341 }</style>
<rect width="100%" height="100%" rx="8" fill="#14171b"/>
${shown.join('\n')}
</svg>
`;
}

// The timeline, with the scope in the middle of its second row selected.
async function takePage(file) {
    const browser = await startBrowser();
    const page = await openPage(browser, pageFile, {viewport: {width: 1160, height: 500}});
    await page.click('#tab-timeline');
    await drawn(page);
    const {x, y, width} = await page.locator('canvas.rows').boundingBox();
    await page.mouse.click(x + width / 2, y + 55);
    await page.mouse.move(0, 0);
    await drawn(page);
    await page.screenshot({path: file});
    await closePage(page);
    await browser.close();
}

fs.writeFileSync(path.join(folder, 'terminal.svg'), terminalPicture(fs.readFileSync(terminal, 'utf8')));
takePage(path.join(folder, 'page.png')).catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
