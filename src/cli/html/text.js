/* Formats numbers like the text reports, with the rules of src/report/value.c. */
'use strict';

/* Rounds halves away from zero, as the reports do. toFixed() would round the binary fraction. */
function fixedText(value, decimals) {
    if (!Number.isFinite(value))
        return String(value);
    const digits = Math.floor(Math.abs(value) * 10 ** decimals + 0.5);
    const sign = value < 0 && digits > 0 ? '-' : '';
    return sign + (digits / 10 ** decimals).toFixed(decimals);
}

/* us below 1 ms, ms below 1 s, three decimals. */
function timeText(ns) {
    const size = Math.abs(ns);
    if (size < 1e6)
        return fixedText(ns / 1e3, 3) + 'us';
    return size < 1e9 ? fixedText(ns / 1e6, 3) + 'ms' : fixedText(ns / 1e9, 3) + 's';
}

function bytesText(bytes) {
    if (bytes < 0)
        return '-' + bytesText(-bytes);
    if (bytes < 1024)
        return fixedText(bytes, 0) + ' B';
    const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    let unit = 0;
    for (bytes /= 1024; bytes >= 1024 && unit < 5; unit++)
        bytes /= 1024;
    return fixedText(bytes, 2) + ' ' + units[unit];
}

function numberText(value) {
    const size = Math.abs(value);
    if (size >= 0.1 || size === 0)
        return fixedText(value, size >= 1000 ? 1 : 3);
    return size >= 0.001 ? fixedText(value, 6) : String(Number(value.toPrecision(3)));
}

function percentText(percent) {
    return fixedText(percent, 2) + '%';
}

/* Formats a change: with a plus if it is positive. */
function changeText(value, text) {
    return (value > 0 ? '+' : '') + text(value);
}

/* Formats a p-value. */
function chanceText(p) {
    return p < 0.0001 ? '<0.0001' : fixedText(p, 4);
}

/* Formats counts for prose: 1,234,567. */
function countText(count) {
    return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

function pluralText(count, singular, plural = singular + 's') {
    return `${countText(count)} ${count === 1 ? singular : plural}`;
}

/* The end of a column's key determines its type. */
function columnType(key) {
    if (/change(_low|_high)?_ns$/.test(key))
        return 'shift';
    if (key.endsWith('change_percent'))
        return 'growth';
    if (/^(mean_)?p$/.test(key))
        return 'chance';
    if (key.endsWith('_ns'))
        return 'time';
    if (key === 'bytes' || key.endsWith('_bytes'))
        return 'bytes';
    if (key.endsWith('_percent'))
        return 'percent';
    if (key === 'flops')
        return 'flops';
    if (/(bytes|flops)_per_second$/.test(key))
        return 'giga';
    return /_per_second$|_factor$|^intensity|_per_wall$|^avg_cycles$|^spread$/.test(key) ? 'number' : 'plain';
}

function valueText(type, value) {
    if (value === null || value === undefined)
        return '';
    if (typeof value !== 'number')
        return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
    switch (type) {
    case 'time':
        return timeText(value);
    case 'shift':
        return changeText(value, timeText);
    case 'growth':
        return changeText(value, percentText);
    case 'chance':
        return chanceText(value);
    case 'bytes':
        return bytesText(value);
    case 'percent':
        return percentText(value);
    case 'giga':
        return numberText(value / 1e9);
    case 'number':
        return numberText(value);
    default:
        return Number.isInteger(value) ? String(value) : numberText(value);
    }
}

/* Returns the unit of a title's numbers: 1e6 for 'Total MFLOPs'. */
function titleUnit(title) {
    return 1000 ** ' KMGTP'.indexOf(/([KMGTP])FLOPs/.exec(title)?.[1] ?? ' ');
}

/* Returns the exact value for tooltips; '' if the text is exact already. */
function exactText(type, value) {
    if (typeof value !== 'number')
        return '';
    const units = {time: ' ns', shift: ' ns', bytes: ' B', percent: ' %', growth: ' %',
        flops: ' FLOPs'};
    return type in units ? countText(value).replace(/\.(.*)$/, (all) => all.replace(/,/g, ''))
        + units[type] : '';
}

const columnWords = {
    cpu: 'CPU', cuda: 'CUDA', api: 'API', gb: 'GB', flops: 'FLOPs', ns: '', bytes: '', percent: '%',
};
/* 'self_cpu_ns' -> 'Self CPU'. For keys without a title in any report. */
function keyTitle(key) {
    const text = key.split('_').map((word) => columnWords[word] ?? word).join(' ').trim();
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/* Escapes characters that are invisible or that would reorder their surroundings. */
function visibleText(text) {
    return text.replace(
        /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
        (character) => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'));
}

function cutText(text, most) {
    return text.length > most ? text.slice(0, most - 1) + '\u2026' : text;
}

/* Returns 1, 2 or 5 times a power of ten that is at least `least`. */
function niceStep(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * 0.9999);
}

/* Returns the unit of ticks at this distance. */
function tickUnit(step) {
    return step >= 5e8 ? ['s', 1e9] : step >= 5e5 ? ['ms', 1e6] : step >= 5e2 ? ['us', 1e3] :
        ['ns', 1];
}

/* Returns the time from which ticks count, if the first one is at `ns`. Late in a recording, this is
 * a round time shortly before, since nobody reads twelve digits at each tick. */
function tickBase(ns, step) {
    const [, size] = tickUnit(step);
    return ns < 1e5 * size ? 0 : Math.floor(ns / (1e3 * size)) * 1e3 * size;
}

/* Formats the time from which ticks count: in seconds, exactly. */
function baseText(base, step) {
    return (base / 1e9).toFixed(Math.max(0, 6 - Math.log10(tickUnit(step)[1]))) + 's';
}

/* Formats ticks of a time axis with as many digits as their distance needs. */
function tickText(ns, step) {
    const [unit, size] = tickUnit(step);
    const [whole, part] = (ns / size).toFixed(step < size ? 1 : 0).split('.');
    return countText(whole) + (part ? `.${part}` : '') + unit;
}
