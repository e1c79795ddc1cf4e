/* Fits a table into a line: selects columns, sets their widths, and finds where to cut names. */
#include "base/alloc.h"
#include "base/containers.h"
#include "report/text.h"

#include <string.h>

/* ======== Fitting ======== */

/* Texts shrink first, down to a width at which they are still useful. Then columns are dropped by
 * rank, all columns of one rank together, and the texts may grow again. */

#define TEXT_WIDTH  55 /* maximal width of a text, as in torch */
#define TEXT_ENOUGH 24 /* texts shrink to this width before columns are dropped */
#define TEXT_LEAST  8
#define INDENT      2 /* for one level of a tree */

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

/* Narrows the widest text column by column until the table fits. False if all texts have shrunk to
 * `least` and it still does not fit. */
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

/* Drops the columns with the greatest rank. False if only columns of rank 0 are left. */
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
        if (natural[i] > 0) /* a column without title and values has width 0 */
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

/* ======== Names that begin alike ======== */

/* C++ names often differ only at the end: cut there,
 * "physics::solver::ContactConstraint::warmStart" and "...::solve" would both become
 * "physics::solver::Contac...". */

#define DOTS        3
#define LEAST_WIDTH 20 /* a narrower column has no space for two pieces */

/* Width of the first piece. */
static size_t head_of(size_t width)
{
    return (width - DOTS) / 3;
}

/* Approximate bytes that are shown if the text is cut at its end. A character may have more
 * bytes. */
static size_t seen_of(size_t width)
{
    return width - DOTS;
}

static size_t common_bytes(const char *a, const char *b)
{
    size_t count = 0;
    while (a[count] && a[count] == b[count])
        count++;
    return count;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c > 127;
}

static bool is_inside_word(const char *at)
{
    return is_word(at[0]) && is_word(at[-1]);
}

/* Returns where the second piece starts: at the begin of the word in which the texts first differ,
 * but at most half the space before the difference. It starts earlier if the rest would not fill
 * the width, and never inside a character. 0 if it would overlap the first piece. */
static uint32_t place_of(const char *text, const char *other, size_t width)
{
    size_t size = strlen(text), room = width - DOTS - head_of(width);
    size_t from = common_bytes(text, other);
    for (size_t back = 0; back < room / 2 && from > 1 && is_inside_word(text + from); back++)
        from--;
    if (from + room > size)
        from = size > room ? size - room : 0;
    while (from > 0 && ((unsigned char)text[from] & 0xC0) == 0x80)
        from--;
    return from > head_of(width) + DOTS ? (uint32_t)from : 0;
}

typedef struct column {
    const tkt_table *table;
    size_t number;
    size_t width;
} column;

/* Returns the text of a row if it is too long, otherwise NULL. Sets *width to the row's width. */
static const char *long_text(const column *c, size_t shown, size_t *width)
{
    const char *text = tkt_table_row(c->table, shown)[c->number].text;
    size_t indent = c->number == 0 ? tkt_fit_indent(c->table, shown, c->width) : 0;
    *width = c->width - indent;
    return text && *width >= LEAST_WIDTH && tkt_text_width(text, *width) > *width ? text : NULL;
}

/* Compares row `shown` with the first row that has the same beginning, and notes for both where
 * they differ. True if it noted any. */
static bool part_row(const column *c, size_t shown, tkt_map *firsts, uint32_t *places)
{
    size_t width, first_width;
    const char *text = long_text(c, shown, &width);
    if (!text)
        return false;
    uint64_t *first = tkt_map_put(firsts, tkt_hash_bytes(text, seen_of(width)));
    if (!first)
        return false;
    if (*first == 0) {
        *first = shown + 1;
        return false;
    }
    const char *other = long_text(c, *first - 1, &first_width);
    if (!other || width != first_width || strcmp(text, other) == 0)
        return false;
    places[shown] = place_of(text, other, width);
    if (places[*first - 1] == 0)
        places[*first - 1] = place_of(other, text, width);
    return true;
}

uint32_t *tkt_apart(const tkt_table *table, const tkt_fit *fit, size_t column_number)
{
    column c = {table, column_number, fit->widths[column_number]};
    if (table->columns[column_number].type != TKT_CELL_TEXT || table->shown < 2)
        return NULL;
    tkt_map firsts = {0};
    uint32_t *places = tkt_alloc_zeroed(table->shown * sizeof *places);
    bool is_any = false;
    for (size_t i = 0; places && i < table->shown; i++)
        is_any |= part_row(&c, i, &firsts, places);
    tkt_map_fini(&firsts);
    if (is_any)
        return places;
    tkt_free(places);
    return NULL;
}

void tkt_put_apart(tkt_writer *writer, const char *text, uint32_t from, size_t width)
{
    size_t used = tkt_put_columns(writer, text, head_of(width));
    tkt_put_repeated(writer, '.', DOTS);
    tkt_put_cut(writer, text + from, width - DOTS - used);
}
