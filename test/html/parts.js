// What the tests of the page's parts share: the parts themselves, random numbers, and a comparison.
'use strict';
const assert = require('assert');
const fs = require('fs');
const vm = require('vm');

// Runs the page's script without its begin, and returns the parts with these names. Elements that it
// makes are empty.
function loadParts(script, names) {
    const createElement = () => ({setAttribute() {}, addEventListener() {}, append() {}});
    return vm.runInNewContext(`${fs.readFileSync(script)}\n;({${names}})`,
        {queueMicrotask() {}, document: {createElement}});
}

// Numbers that look random and are the same each time (a linear congruential generator).
let state = 12345;
function random(below) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
}

// What stands in another context's objects compares unequal to ours; their JSON does not.
function equal(actual, expected, message) {
    assert.strictEqual(JSON.stringify(actual), JSON.stringify(expected), message);
}

module.exports = {loadParts, random, equal};
