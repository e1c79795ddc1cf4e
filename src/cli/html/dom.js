/* Makes elements one by one. Nothing is ever parsed as HTML, so a name always remains text. Style
 * attributes are not used, because the page's policy blocks them. */
'use strict';

/* make('td', {class: 'number', title: '12 ns'}, 'text', element, ...). Null children are omitted.
 * Keys that begin with "on" add listeners. */
function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
        if (value === null || value === undefined || value === false)
            continue;
        if (key.startsWith('on'))
            element.addEventListener(key.slice(2), value);
        else
            element.setAttribute(key, value === true ? '' : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
}

function makeSvg(tag, properties = {}, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(properties))
        element.setAttribute(key, value);
    element.append(...children);
    return element;
}

/* Makes an element for a name from the trace, isolated so that its writing direction does not
 * affect its surroundings. */
function makeName(name, most = 300) {
    const text = visibleText(name);
    const cut = cutText(text, most);
    return make('bdi', {title: cut === text ? null : cutText(text, 4000)}, cut || '(no name)');
}

function isNone(value) {
    return value === null || value === undefined || value === '';
}

/* Makes a list of label and value; pairs without a value are omitted. */
function makeList(pairs, className = 'facts') {
    const shown = pairs.filter(([, value]) => !isNone(value));
    return make('dl', {class: className}, shown.map(([label, value, title]) =>
        make('div', {}, make('dt', {}, label), make('dd', {title: title ?? null}, value))));
}

function makeButton(label, onclick, properties = {}) {
    return make('button', {type: 'button', ...properties, onclick}, label);
}

function byId(id) {
    return document.getElementById(id);
}

/* Makes screen readers speak a text that is not visible. */
function announce(text) {
    byId('announce').textContent = text;
}
