/* The names to the left of the timeline's rows. Rows with content below can be opened and
 * closed. */
'use strict';

/* Opens or closes a row, and gives the focus to its button, which is made anew. */
function toggleRow(timeline, row) {
    const shown = timeline.groups.flatMap((g) => [g, ...g.rows.filter((r) => r.isShown)]);
    row.isOpen = !row.isOpen;
    timeline.place();
    timeline.gutter.children[shown.indexOf(row)].focus();
}

function makeLabel(timeline, row) {
    const parts = [makeName(row.title, 120), row.note ? make('small', {}, row.note) : null];
    const label = row.track?.rows <= 1 ? make('div', {class: row.kind}, parts) :
        makeButton([make('span', {class: 'arrow', 'aria-hidden': 'true'}), ...parts],
            () => toggleRow(timeline, row),
            {class: row.kind, 'aria-expanded': String(row.isOpen)});
    label.style.setProperty('top', `${row.y}px`);
    label.style.setProperty('height', `${row.height}px`);
    return label;
}
