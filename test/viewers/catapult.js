// Catapult's trace viewer without its pictures: what chrome://tracing makes of a file.
'use strict';
const path = require('path');

// Loads npm's package "traceviewer", whose folder is `root`: HTML imports full of scripts. Its own
// index.js asks a script in Python 2 where they are.
function loadCatapult(root) {
    const log = console.log;
    console.log = () => {}; // the loader tells what it met
    require(path.join(root, 'catapult_build/node_bootstrap.js'));
    const thirdParty = path.join(root, 'tracing/third_party');
    const libraries = ['gl-matrix/dist', 'jszip', 'd3', 'chai', 'mocha'];
    HTMLImportsLoader.addArrayToSourcePath([path.join(root, 'tracing'), thirdParty,
        ...libraries.map((name) => path.join(thirdParty, name))]);
    for (const name of ['importer/import', 'model/model', 'extras/full_config'])
        HTMLImportsLoader.loadHTML(`/tracing/${name}.html`);
    console.log = log;
    return global.tr;
}

// The model of a trace; its importWarnings are what the viewer would complain of.
function importTrace(tr, text) {
    const model = new tr.Model();
    const options = new tr.importer.ImportOptions();
    options.showImportWarnings = false; // on standard error; they are kept all the same
    new tr.importer.Import(model, options).importTraces([text]);
    return model;
}

module.exports = {loadCatapult, importTrace};
