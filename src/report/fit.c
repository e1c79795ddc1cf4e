/* Fitting a table to the width.
 *
 * Texts shrink first, down to a width at which they still tell something; then columns go by their
 * rank, those of one rank together, and the texts take what has become free. */
#include "report/fit.h"

#include <string.h>

#define TEXT_WIDTH  55 /* the most that a text takes, as torch has it */
#define TEXT_ENOUGH 24 /* texts shrink to this before columns go */
#define TEXT_LEAST  8
#define INDENT      2 /* of one level of a tree */

size_t tkt_fit_indent(const tkt_table *table, size_t shown, size_t width)
{
    if (!table->places)
        return 0;
    const char *text = tkt_table_row(table, shown)[0].text;
    size_t text_width = text ? tkt_text_width(text, width) : 0;
    size_t most = text_width < width - width / 2 ? width - text_width : width / 2;
    size_t indent = (size_t)table->places[table->order[shown]].depth * INDENT;
    return indent > most ? most : indent;
}

static size_t cell_width(const tkt_table *table, size_t shown, size_t column, size_t most)
{
    const tkt_cell *cell = &tkt_table_row(table, shown)[column];
    char text[TKT_VALUE_SIZE];
    const char *words = tkt_value_words(table->columns[column].type, *cell);
    if (!words)
        return tkt_column_text(text, &table->columns[column], *cell);
    size_t indent = column == 0 ? tkt_fit_indent(table, shown, most) : 0;
    return indent + tkt_text_width(words, most);
}

static size_t natural_width(const tkt_table *table, size_t column, size_t most)
{
    bool is_text = tkt_column_is_text(&table->columns[column]);
    size_t width = strlen(table->columns[column].title);
    for (size_t i = 0; i < table->shown; i++) {
        size_t cell = cell_width(table, i, column, most);
        width = cell > width ? cell : width;
    }
    return is_text && width > most ? most : width;
}

static size_t width_of(const tkt_fit *f)
{
    size_t width = f->count ? TKT_COLUMN_GAP * (f->count - 1) : 0;
    for (size_t i = 0; i < f->count; i++)
        width += f->widths[f->columns[i]];
    return width;
}

/* Shrinks the widest text by one column until all fits or no text is wider than `least`. */
static bool shrink_texts(const tkt_table *table, tkt_fit *f, size_t width, size_t least)
{
    size_t now = width_of(f);
    while (now > width) {
        size_t widest = TKT_NO_COLUMN;
        for (size_t i = 0; i < f->count; i++) {
            size_t column = f->columns[i];
            if (tkt_column_is_text(&table->columns[column]) && f->widths[column] > least &&
                (widest == TKT_NO_COLUMN || f->widths[column] > f->widths[widest]))
                widest = column;
        }
        if (widest == TKT_NO_COLUMN)
            return false;
        f->widths[widest]--;
        now--;
    }
    return true;
}

/* Takes the columns of the greatest rank away; false when all that are left stay. */
static bool drop_columns(const tkt_table *table, tkt_fit *f)
{
    uint8_t worst = 0;
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        uint8_t rank = table->columns[f->columns[i]].rank;
        worst = rank > worst ? rank : worst;
    }
    for (size_t i = 0; worst > 0 && i < f->count; i++) {
        if (table->columns[f->columns[i]].rank != worst)
            f->columns[kept++] = f->columns[i];
    }
    f->count = worst > 0 ? kept : f->count;
    return worst > 0;
}

void tkt_fit_table(const tkt_table *table, const tkt_layout *layout, tkt_fit *f)
{
    size_t natural[TKT_MAX_COLUMNS] = {0};
    size_t most = layout->full_names ? SIZE_MAX / 4 : TEXT_WIDTH;
    *f = (tkt_fit){0};
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].rank == TKT_HIDDEN)
            continue;
        natural[i] = natural_width(table, i, most);
        if (natural[i] > 0) /* without a title, it may have nothing to show */
            f->columns[f->count++] = i;
    }
    memcpy(f->widths, natural, sizeof f->widths);
    if (layout->full_names)
        return;
    shrink_texts(table, f, 0, TEXT_ENOUGH);
    f->needed = width_of(f);
    memcpy(f->widths, natural, sizeof f->widths);
    while (!shrink_texts(table, f, layout->width, TEXT_ENOUGH)) {
        if (!drop_columns(table, f)) {
            shrink_texts(table, f, layout->width, TEXT_LEAST);
            return;
        }
        memcpy(f->widths, natural, sizeof f->widths);
    }
}
