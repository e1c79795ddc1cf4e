/* Elements, made one by one. Nothing is ever parsed as HTML, so that whatever a name contains stays
 * text; and no style attribute is written, since the page's policy would not apply it. */
'use strict';

/* make('td', {class: 'number', title: '12 ns'}, 'text', element, ...): null children are left out.
 * Keys that begin with "on" are listeners. */
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

/* A name from the trace: isolated, so that its writing direction stays its own. */
function makeName(name, most = 300) {
    const text = visibleText(name);
    const cut = cutText(text, most);
    return make('bdi', {title: cut === text ? null : cutText(text, 4000)}, cut || '(no name)');
}

function isNone(value) {
    return value === null || value === undefined || value === '';
}

/* Label and value, label and value; pairs without a value are left out. */
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

/* Spoken by screen readers; seen by nobody. */
function announce(text) {
    byId('announce').textContent = text;
}
