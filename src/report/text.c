/* Renders tables for terminals: columns between dashed lines, facts and notes below, provenance
 * last. Unless full names are requested, lines stay within the width and a row takes one line. */
#include "report/text.h"

#include "base/alloc.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Writes dashes under each column. */
static void put_rule(const tkt_fit *f, tkt_writer *writer)
{
    for (size_t i = 0; i < f->count; i++) {
        tkt_put_repeated(writer, ' ', i ? TKT_COLUMN_GAP : 0);
        tkt_put_repeated(writer, '-', f->widths[f->columns[i]]);
    }
    tkt_writer_text(writer, "\n");
}

/* A line that writes blanks only if text follows them. */
typedef struct line {
    tkt_writer *writer;
    size_t blanks;
} line;

/* Writes a text that is `columns` wide. `from` is the entry of tkt_apart(). */
static void put_aligned(line *l, const char *text, size_t columns, size_t width, bool is_left,
                        uint32_t from)
{
    size_t pad = columns < width ? width - columns : 0;
    l->blanks += is_left ? 0 : pad;
    if (*text) {
        tkt_put_repeated(l->writer, ' ', l->blanks);
        if (from)
            tkt_put_apart(l->writer, text, from, width);
        else
            tkt_put_cut(l->writer, text, width);
        l->blanks = 0;
    }
    l->blanks += is_left ? pad : 0;
}

static void put_titles(const tkt_table *table, const tkt_fit *f, tkt_writer *writer)
{
    line l = {writer, 0};
    for (size_t i = 0; i < f->count; i++) {
        const tkt_column *column = &table->columns[f->columns[i]];
        put_aligned(&l, column->title, strlen(column->title), f->widths[f->columns[i]],
                    column->is_left, 0);
        l.blanks += TKT_COLUMN_GAP;
    }
    tkt_writer_text(writer, "\n");
}

static void put_cell(const tkt_table *table, const tkt_fit *f, size_t shown, size_t number,
                     uint32_t from, line *l)
{
    size_t width = f->widths[number];
    const tkt_column *column = &table->columns[number];
    const tkt_cell *cell = &tkt_table_row(table, shown)[number];
    char value[TKT_VALUE_SIZE];
    const char *text = tkt_value_words(column->type, *cell);
    if (!text) {
        size_t size = tkt_column_text(value, column, *cell);
        put_aligned(l, value, size, width, column->is_left, 0);
        return;
    }
    size_t indent = number == 0 ? tkt_fit_indent(table, shown, width) : 0;
    l->blanks += indent;
    put_aligned(l, text, tkt_text_width(text, width), width - indent, column->is_left, from);
}

/* `apart`: by shown column, the result of tkt_apart(). */
static void put_row(const tkt_table *table, const tkt_fit *f, size_t shown, uint32_t *const *apart,
                    const char *color, tkt_writer *writer)
{
    line l = {writer, 0};
    tkt_writer_text(writer, color ? color : "");
    for (size_t i = 0; i < f->count; i++) {
        put_cell(table, f, shown, f->columns[i], apart[i] ? apart[i][shown] : 0, &l);
        l.blanks += TKT_COLUMN_GAP;
    }
    tkt_writer_text(writer, color ? TKT_SHADE_END "\n" : "\n");
}

#define COMMAND_INDENT 4

static size_t columns_of_word(const char *word, size_t size)
{
    char piece[256];
    size_t columns = 0;
    while (size > 0) {
        size_t bytes = size < sizeof piece ? size : sizeof piece - 1;
        memcpy(piece, word, bytes);
        piece[bytes] = '\0';
        columns += tkt_text_width(piece, SIZE_MAX);
        word += bytes;
        size -= bytes;
    }
    return columns;
}

/* Writes a sentence or a shell command, broken at blanks to fit the width. A broken command can
 * still be pasted into a shell. */
static void put_note(const char *note, const char *first, bool is_command, size_t width,
                     tkt_writer *writer)
{
    size_t used = strlen(first), indent = used + (is_command ? COMMAND_INDENT : 0);
    bool is_begun = false; /* the line has a word */
    tkt_writer_text(writer, first);
    while (*note) {
        size_t word = strcspn(note, " ");
        size_t columns = columns_of_word(note, word);
        if (is_begun && used + 1 + columns + (is_command ? strlen(" \\") : 0) > width) {
            tkt_writer_text(writer, is_command ? " \\\n" : "\n");
            tkt_put_repeated(writer, ' ', indent);
            used = indent;
        } else if (is_begun) {
            tkt_writer_text(writer, " ");
            used++;
        }
        tkt_put_printable(writer, note, word);
        used += columns;
        is_begun = true;
        note += word;
        note += *note == ' ';
    }
    tkt_writer_text(writer, "\n");
}

/* Lists the columns that did not fit, and the width that shows them all. */
static void put_left_out(const tkt_table *table, const tkt_layout *layout, const tkt_fit *f,
                         tkt_writer *writer)
{
    char text[1024] = "not shown:";
    size_t used = strlen(text), shown = 0, left_out = 0;
    for (size_t i = 0; i < table->column_count && used < sizeof text - 64; i++) {
        bool is_shown = shown < f->count && f->columns[shown] == i;
        shown += is_shown;
        if (!is_shown && table->columns[i].rank != TKT_HIDDEN && *table->columns[i].title)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s",
                                     left_out++ ? "," : "", table->columns[i].title);
    }
    snprintf(text + used, sizeof text - used, "; %s%zu", layout->width_key, f->needed);
    if (left_out > 0)
        put_note(text, "", false, layout->width, writer);
}

static const char *color_of(const tkt_table *table, const tkt_layout *layout,
                            const tkt_shades *shades, size_t shown)
{
    if (table->colors)
        return layout->color ? table->colors[table->order[shown]] : NULL;
    return tkt_shade_of(shades, table, shown);
}

static void put_table(const tkt_table *table, const tkt_layout *layout, tkt_writer *writer)
{
    tkt_fit f;
    tkt_fit_table(table, layout, &f);
    tkt_shades shades = tkt_shades_of(table, layout);
    uint32_t *apart[TKT_MAX_COLUMNS] = {NULL};
    for (size_t i = 0; i < f.count; i++)
        apart[i] = tkt_apart(table, &f, f.columns[i]);
    put_rule(&f, writer);
    put_titles(table, &f, writer);
    put_rule(&f, writer);
    for (size_t i = 0; i < table->shown; i++)
        put_row(table, &f, i, apart, color_of(table, layout, &shades, i), writer);
    put_rule(&f, writer);
    for (size_t i = 0; i < f.count; i++)
        tkt_free(apart[i]);
    put_left_out(table, layout, &f, writer);
}

static void put_heading_and_table(const tkt_table *table, const tkt_layout *layout,
                                  tkt_writer *writer)
{
    if (table->style == TKT_STYLE_WARP) {
        tkt_render_warp(table, layout, writer);
    } else {
        if (table->heading)
            put_note(table->heading, "", false, layout->width, writer);
        put_table(table, layout, writer);
    }
    if (table->shown < table->all_rows)
        tkt_writer_format(writer, "%zu of %zu rows shown\n", table->shown, table->all_rows);
}

/* Head tables come first. */
static void put_tables(const tkt_document *document, const tkt_layout *layout, tkt_writer *writer)
{
    const char *between = "";
    for (size_t i = 0; i < 2 * document->table_count; i++) {
        const tkt_table *table = &document->tables[i % document->table_count];
        if (table->is_head != (i < document->table_count) || table->is_raw ||
            (table->is_hidden_empty && table->all_rows == 0))
            continue;
        tkt_writer_text(writer, between);
        between = "\n";
        put_heading_and_table(table, layout, writer);
    }
}

static void put_fact(const tkt_fact *fact, size_t label_width, size_t width, tkt_writer *writer)
{
    char value[TKT_VALUE_SIZE];
    size_t label = strlen(fact->label);
    tkt_writer_format(writer, "%s: ", fact->label);
    tkt_put_repeated(writer, ' ', label < label_width ? label_width - label : 0);
    size_t used = (label > label_width ? label : label_width) + 2;
    if (fact->type == TKT_CELL_TEXT) {
        tkt_put_cut(writer, fact->value.text, width > used + 8 ? width - used : 8);
    } else {
        tkt_value_text(value, fact->type, fact->value);
        tkt_writer_text(writer, value);
    }
    tkt_writer_text(writer, "\n");
}

static void put_facts(const tkt_document *document, const tkt_layout *layout, tkt_writer *writer)
{
    size_t label_width = 0;
    for (size_t i = 0; document->is_page && i < document->facts.count; i++) {
        const char *label = document->facts.items[i].label;
        size_t size = label ? strlen(label) : 0;
        label_width = size > label_width ? size : label_width;
    }
    for (size_t i = 0; i < document->facts.count; i++) {
        const tkt_fact *fact = &document->facts.items[i];
        if (fact->label)
            put_fact(fact, label_width, layout->full_names ? SIZE_MAX : layout->width, writer);
    }
}

/* True if one of the tables shows the column. */
static bool has_column(const tkt_document *document, const tkt_layout *layout, const char *key)
{
    tkt_fit f;
    for (size_t i = 0; i < document->table_count; i++) {
        const tkt_table *table = &document->tables[i];
        tkt_fit_table(table, layout, &f);
        for (size_t k = 0; k < f.count; k++)
            if (table->columns[f.columns[k]].key &&
                strcmp(table->columns[f.columns[k]].key, key) == 0)
                return true;
    }
    return false;
}

static void put_notes(const tkt_document *document, const tkt_layout *layout, tkt_writer *writer)
{
    if (document->notes_heading && document->notes.count > 0)
        tkt_writer_format(writer, "\n%s\n", document->notes_heading);
    for (size_t i = 0; i < document->notes.count; i++) {
        const tkt_table_note *note = &document->notes.items[i];
        if (!note->column || has_column(document, layout, note->column))
            put_note(note->text, document->notes_heading ? "- " : "", note->is_command,
                     layout->width, writer);
    }
}

static bool is_empty(const tkt_document *document)
{
    for (size_t i = 0; i < document->table_count; i++) {
        if (document->tables[i].all_rows > 0 && !document->tables[i].is_raw)
            return false;
    }
    return true;
}

void tkt_render_text(const tkt_document *document, const tkt_layout *layout, tkt_writer *writer)
{
    char ending[TKT_ENDING_SIZE];
    if (document->trace && *tkt_ending_text(ending, document->trace)) {
        put_note(ending, "", false, layout->width, writer);
        tkt_writer_text(writer, "\n");
    }
    if (document->headline)
        put_note(document->headline, "", false, layout->width, writer);
    if (document->subline)
        put_note(document->subline, "", false, layout->width, writer);
    if (document->headline || document->subline)
        tkt_writer_text(writer, "\n");
    bool is_warp = document->table_count > 0 && document->tables[0].style == TKT_STYLE_WARP;
    if (document->is_page) {
        put_facts(document, layout, writer);
        tkt_writer_text(writer, "\n");
    }
    if (document->nothing && is_empty(document))
        tkt_writer_format(writer, "%s\n", document->nothing);
    else
        put_tables(document, layout, writer);
    if (document->part == TKT_TABLES_ALONE)
        return;
    if (!document->is_page)
        put_facts(document, layout, writer);
    put_notes(document, layout, writer);
    if (document->part == TKT_NO_PROVENANCE)
        return;
    if (is_warp || document->is_page)
        tkt_writer_text(writer, "\n");
    if (document->trace)
        tkt_put_provenance(writer, document->trace, layout->width);
}

/* ======== Colours of rows ======== */

/* Limits are percentiles of the rows' weights. */

#define RED_BOLD "\033[1;31m"
#define YELLOW   "\033[33m"

static size_t shade_column(const tkt_table *table)
{
    return table->shade == TKT_NO_COLUMN ? table->weight : table->shade;
}

static uint64_t weight_of(const tkt_table *table, uint32_t row)
{
    return table->cells[row * table->column_count + shade_column(table)].u;
}

/* Returns the second smallest key, or the smallest if it is the only one. */
static uint64_t second_key(const tkt_heap *heap)
{
    uint64_t key = heap->items[heap->count > 1].key;
    return heap->count > 2 && heap->items[2].key < key ? heap->items[2].key : key;
}

/* Interpolates between the two values around a rank, like numpy. The heap holds `count` weights, or
 * fewer after a call with a smaller share. */
static double percentile(tkt_heap *heap, size_t count, double share)
{
    double rank = share * (double)(count - 1);
    size_t below = (size_t)rank;
    while (count - heap->count < below)
        tkt_heap_take(heap);
    double low = (double)heap->items[0].key, high = (double)second_key(heap);
    return low + (rank - (double)below) * (high - low);
}

tkt_shades tkt_shades_of(const tkt_table *table, const tkt_layout *layout)
{
    tkt_shades none = {INFINITY, INFINITY};
    if (!layout->color || shade_column(table) == TKT_NO_COLUMN || table->row_count == 0)
        return none;
    tkt_heap weights = {0};
    for (uint32_t i = 0; i < table->row_count; i++) {
        if (!tkt_heap_add(&weights, weight_of(table, i), i)) {
            TKT_ARRAY_FREE(&weights);
            return none;
        }
    }
    double yellow = percentile(&weights, table->row_count, 0.75);
    tkt_shades found = {percentile(&weights, table->row_count, 0.9), yellow};
    TKT_ARRAY_FREE(&weights);
    return found;
}

const char *tkt_shade_of(const tkt_shades *shades, const tkt_table *table, size_t shown)
{
    if (isinf(shades->red))
        return NULL;
    double weight = (double)weight_of(table, table->order[shown]);
    if (weight > shades->red)
        return RED_BOLD;
    return weight > shades->yellow ? YELLOW : NULL;
}
