/* What columns mean. assemble.sh makes `columnTexts` from docs/reports.md and docs/comparing.md: for
 * each section, such as a report or "times", which are in several reports, a list of [titles,
 * meaning]. A meaning with as many parts, separated by semicolons, as there are titles has one for
 * each. */
'use strict';

/* Columns of tables that only the page has. */
columnTexts.page = [['Where, Self', 'thread, stream or device; Total minus the spans directly inside']];

/* Returns what a report's column means; '' if nothing says it. */
function columnText(report, title) {
    const wanted = title.replace(/^Total .FLOPs$|^Total FLOPs$/, 'Total MFLOPs');
    const own = Object.keys(columnTexts).filter((name) => name.split(', ').includes(report));
    for (const [titles, meaning] of [...own, 'times'].flatMap((name) => columnTexts[name])) {
        const names = titles.split(', '), parts = meaning.split('; ');
        const place = names.indexOf(wanted);
        if (place >= 0)
            return parts.length === names.length ? parts[place] : meaning;
    }
    return '';
}

function showHint(element, text) {
    const hint = byId('hint');
    const {left, bottom} = element.getBoundingClientRect();
    hint.textContent = text;
    hint.hidden = false;
    const most = document.documentElement.clientWidth - hint.offsetWidth - 8;
    hint.style.setProperty('transform',
        `translate(${Math.max(8, Math.min(left, most))}px, ${bottom + 4}px)`);
}

/* Explains an element by a text, which is shown while the pointer is over it or it has the focus,
 * until Escape is pressed. */
function addHint(element, text) {
    const hide = () => byId('hint').hidden = true;
    element.setAttribute('aria-description', text);
    for (const event of ['pointerenter', 'focus'])
        element.addEventListener(event, () => showHint(element, text));
    for (const event of ['pointerleave', 'blur'])
        element.addEventListener(event, hide);
    element.addEventListener('keydown', (event) => event.key === 'Escape' && hide());
}
