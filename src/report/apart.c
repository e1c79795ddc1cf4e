/* Names of C++ differ at their ends: "physics::solver::ContactConstraint::warmStart" and
 * "...::solve" would both be "physics::solver::Contac...". */
#include "report/apart.h"

#include "base/alloc.h"
#include "base/containers.h"

#include <string.h>

#define DOTS        3
#define LEAST_WIDTH 20 /* in less there is no room for two pieces */

/* Columns of the first piece. */
static size_t head_of(size_t width)
{
    return (width - DOTS) / 3;
}

/* Bytes that a cut at the end would show, about: characters may take more, or no column. */
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

/* The begin of the word in which the texts part, if it is near; but so that the end fills the
 * width. Not within a character. */
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

/* The text of a row if it has to be cut, and the columns that it has. */
static const char *long_text(const column *c, size_t shown, size_t *width)
{
    const char *text = tkt_table_row(c->table, shown)[c->number].text;
    size_t indent = c->number == 0 ? tkt_fit_indent(c->table, shown, c->width) : 0;
    *width = c->width - indent;
    return text && *width >= LEAST_WIDTH && tkt_text_width(text, *width) > *width ? text : NULL;
}

/* Notes where row `shown` parts from the first one that begins alike; and that one from it. */
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
