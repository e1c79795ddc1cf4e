/* Reports as tables. Every column can be sorted, rows can be filtered, and shares have bars. A
 * table with a column `depth` is a tree with foldable rows. */
'use strict';

function compareValues(a, b) {
    if (isNone(a) || isNone(b))
        return isNone(a) === isNone(b) ? 0 : isNone(a) ? -1 : 1;
    if (typeof a === 'number' && typeof b === 'number')
        return a - b;
    return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/* Turns rows into nodes with children. Without a column `depth`, all nodes are roots. */
function nestRows(rows) {
    const roots = [], open = [];
    for (const row of rows) {
        const depth = row.depth ?? 0;
        const node = {row, depth, children: [], isOpen: true};
        (depth > 0 ? open[depth - 1].children : roots).push(node);
        open[depth] = node;
    }
    return roots;
}

/* One table: its sort order, filter and folding, and its elements. */
class Table {
    constructor(report, options) {
        this.options = options;
        this.titles = new Map(report.columns.map((key, i) =>
            [key, report.titles?.[i] ?? keyTitle(key)]));
        this.columns = report.columns.filter((key) => key !== 'depth' &&
            report.rows.some((row) => !isNone(row[key])));
        this.isTree = report.columns.includes('depth');
        this.roots = nestRows(report.rows);
        this.numeric = new Set(this.columns.filter((key) =>
            report.rows.some((row) => typeof row[key] === 'number')));
        this.columns = this.headFirst();
        this.sort = {key: options.sort ?? null, sign: -1};
        this.needle = '';
        this.body = make('tbody');
        this.heads = new Map(this.columns.map((key) => [key, this.makeHead(key)]));
        const caption = make('caption', {class: 'spoken'}, options.label);
        this.element = make('table', {}, caption,
            make('thead', {}, make('tr', {}, [...this.heads.values()])), this.body);
        this.fill();
    }

    /* The first column of text names the rows, so it comes before the numbers. */
    headFirst() {
        const head = this.columns.find((key) => !this.numeric.has(key)) ?? this.columns[0];
        return [head, ...this.columns.filter((key) => key !== head)];
    }

    makeHead(key) {
        const title = this.titles.get(key);
        const text = columnText(this.options.report, title);
        const button = makeButton([make('span', {class: text ? 'told' : null}, title),
            make('span', {class: 'order', 'aria-hidden': 'true'})], () => this.sortBy(key));
        if (text)
            addHint(button, `${title}: ${text}`);
        return make('th', {scope: 'col', class: this.numeric.has(key) ? 'number' : null}, button);
    }

    /* Sorts numbers in descending and texts in ascending order at first; a second click reverses
     * it. */
    sortBy(key) {
        const first = this.numeric.has(key) ? -1 : 1;
        this.sort = {key, sign: this.sort.key === key ? -this.sort.sign : first};
        this.fill();
    }

    sorted(nodes) {
        const {key, sign} = this.sort;
        return key === null ? nodes :
            [...nodes].sort((a, b) => sign * compareValues(a.row[key], b.row[key]));
    }

    /* True if the row or any row below it matches. */
    matches(node) {
        return !this.needle || node.children.some((child) => this.matches(child)) ||
            this.columns.some((key) => typeof node.row[key] === 'string' &&
                node.row[key].toLowerCase().includes(this.needle));
    }

    fill() {
        for (const [key, head] of this.heads) {
            const isSorted = key === this.sort.key;
            head.setAttribute('aria-sort', !isSorted ? 'none' :
                this.sort.sign < 0 ? 'descending' : 'ascending');
        }
        const rows = [];
        const add = (nodes) => {
            for (const node of this.sorted(nodes)) {
                if (!this.matches(node))
                    continue;
                rows.push(this.makeRow(node));
                if (node.isOpen || this.needle)
                    add(node.children);
            }
        };
        add(this.roots);
        this.body.replaceChildren(...rows);
    }

    makeRow(node) {
        return make('tr', {class: this.options.rowClass?.(node.row)},
            this.columns.map((key, i) => this.makeCell(node, key, i === 0)));
    }

    makeCell(node, key, isFirst) {
        const value = node.row[key];
        const type = columnType(key);
        const isNumber = typeof value === 'number';
        const cell = make(isFirst ? 'th' : 'td', {scope: isFirst ? 'row' : null,
            'data-name': isFirst ? value : null,
            class: this.numeric.has(key) ? 'number' : null, title: exactText(type, value) || null});
        const {ongap} = this.options;
        if (key === 'gap_ns' && ongap && typeof node.row.begin_ns === 'number')
            cell.append(makeButton(timeText(value), () => ongap(node.row.begin_ns, value),
                {class: 'link', title: 'Show on the timeline'}));
        else if (isNumber || isNone(value))
            cell.append(valueText(type, type === 'flops' && isNumber ?
                value / titleUnit(this.titles.get(key)) : value));
        else
            cell.append(...isFirst ? this.nameParts(node, String(value)) :
                [makeName(String(value))]);
        if (isNumber && type === 'percent') {
            cell.classList.add('share');
            cell.style.setProperty('--share', `${Math.min(100, Math.max(0, value))}%`);
        }
        return cell;
    }

    nameParts(node, name) {
        const {onname, onabout, hasName} = this.options;
        const hasEvents = !hasName || hasName(name);
        const label = onname && hasEvents ? makeButton(makeName(name), () => onname(name),
            {class: 'link', title: 'Show on the timeline'}) : makeName(name);
        const about = onabout && hasEvents ? makeButton('', () => onabout(name),
            {class: 'about', title: 'All about this name',
                'aria-label': `All about ${cutText(visibleText(name), 80)}`}) : '';
        if (!this.isTree)
            return [label, about];
        const toggle = node.children.length ? makeButton(make('span', {class: 'arrow'}),
            () => this.toggle(node), {class: 'toggle', 'aria-expanded': String(node.isOpen),
                'aria-label': `Below ${cutText(visibleText(name), 80)}`}) :
            make('span', {class: 'toggle'});
        const indent = make('span', {class: 'indent'});
        indent.style.setProperty('width', `${node.depth * 1.1}rem`);
        return [indent, toggle, label, about];
    }

    toggle(node) {
        node.isOpen = !node.isOpen;
        const place = [...this.body.querySelectorAll('.toggle')].indexOf(document.activeElement);
        this.fill();
        this.body.querySelectorAll('.toggle')[place]?.focus();
    }

    /* Opens or closes all rows with children. */
    foldAll(isOpen) {
        const fold = (nodes) => nodes.forEach((node) => {
            node.isOpen = isOpen;
            fold(node.children);
        });
        fold(this.roots);
        this.fill();
    }
}

function makeFilter(table) {
    return make('input', {type: 'search', placeholder: 'Filter', 'aria-label': 'Filter rows',
        spellcheck: 'false', oninput: (event) => {
            table.needle = event.target.value.trim().toLowerCase();
            table.fill();
        }});
}

/* Makes a table with filter, buttons and title. Options: label; title; heading: its tag; report: its
 * name, or 'page' for the page's own tables; sort: a column; onname: called with a clicked row's name; onabout: likewise, for everything about it;
 * hasName: true for names that can be clicked;
 * rowClass: the class of a row;
 * ongap: called with begin (since the begin of the recording) and length of a clicked gap. */
function makeTable(report, options) {
    if (!report.rows.length)
        return null;
    const table = new Table(report, options);
    const tools = [report.rows.length > 8 ? makeFilter(table) : null,
        ...table.isTree ? [makeButton('Open all', () => table.foldAll(true)),
            makeButton('Close all', () => table.foldAll(false))] : []];
    const more = report.row_count > report.rows.length ? make('p', {class: 'note'},
        `${countText(report.rows.length)} of ${countText(report.row_count)} rows shown`) : null;
    const title = options.title ? make(options.heading ?? 'h3', {}, options.title) : null;
    return make('div', {class: 'report'}, make('div', {class: 'tools'}, title, tools),
        make('div', {class: 'wide', tabindex: 0, role: 'region', 'aria-label': options.label},
            table.element), more);
}

/* Makes a whole report: its tables, facts and notes. */
function makeReport(report, given) {
    const title = keyTitle(report.report);
    const options = {...given, report: report.report};
    const facts = Object.entries(report.facts ?? {}).map(([key, value]) => {
        const type = columnType(key);
        const isSecond = type === 'time' && key.slice(0, -3) in report.facts;
        return [keyTitle(key) + (isSecond ? ' time' : ''), typeof value === 'string' ? makeName(value) :
            valueText(type, value), exactText(type, value)];
    });
    const further = Object.entries(report.tables ?? {}).map(([key, table]) => {
        const heading = table.heading?.replace(/:$/, '') ?? keyTitle(key);
        return makeTable(table, {...options, title: heading, label: `${title}: ${heading}`});
    });
    return make('section', {},
        makeTable(report, {...options, title, heading: 'h2', label: title}), makeList(facts),
        further,
        (report.notes ?? []).map((note) => make('p', {class: 'note'}, visibleText(note))));
}
