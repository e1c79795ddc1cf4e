// What a trace holds, from the folder of tables that `takt export --csv` fills.
'use strict';
const fs = require('fs');
const path = require('path');

// Fields of CSV: quoted where they hold commas, quotes or line ends; quotes are doubled.
function* rowsOf(text) {
    const field = /("(?:[^"]|"")*"|[^,\n]*)(,|\n)/y;
    for (let row = []; field.lastIndex < text.length;) {
        const [, value, end] = field.exec(text);
        const plain = value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value;
        row.push(plain.replace(/^'(?=[=+\-@])/, '')); // what spreadsheets would run has a quote
        if (end === '\n') {
            yield row;
            row = [];
        }
    }
}

function readTable(folder, name) {
    const text = fs.readFileSync(path.join(folder, `${name}.csv`), 'utf8');
    const [columns, ...rows] = rowsOf(text.replaceAll('\r\n', '\n'));
    return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
}

const byKey = (rows, key) => {
    const groups = new Map();
    for (const row of rows)
        groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
    return groups;
};

module.exports = {readTable, byKey};
