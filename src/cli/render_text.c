/* The command's tables as text: texts shrink first where the width is short, then columns go in the
 * order of their rank, and a line names them. The same rule as in src/report/fit.c. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "report/value.h"

#include <stdlib.h>
#include <string.h>

enum {
    GAP = 2, /* between columns */
    TEXT_MOST = 55,
    TEXT_ENOUGH = 24, /* texts shrink to this before columns go */
    TEXT_LEAST = 8
};

typedef struct fit {
    size_t columns[CLI_MOST_COLUMNS];
    size_t count;
    size_t widths[CLI_MOST_COLUMNS]; /* by column of the table */
    bool is_left_out[CLI_MOST_COLUMNS];
    size_t needed; /* the least width at which no column is left out */
    char *text;    /* room for any cell of the table, the caller's */
    size_t text_size;
} fit;

/* ---- Widths ---- */

/* What a cell shows, in `f->text`. */
static const char *shown(const fit *f, const cli_column *column, const cli_cell *cell)
{
    if (column->type == CLI_CELL_TEXT)
        return cli_clean(f->text, f->text_size, cell->text ? cell->text : "");
    return cli_cell_shown(f->text, f->text_size, column->type, cell->number);
}

static size_t natural_width(const cli_table *table, const fit *f, size_t number)
{
    const cli_column *column = &table->columns[number];
    size_t width = strlen(column->title);
    for (size_t i = 0; i < table->shown; i++) {
        size_t columns = tkt_text_columns(shown(f, column, &cli_table_row(table, i)[number]));
        width = columns > width ? columns : width;
    }
    return width;
}

static size_t width_of(const fit *f)
{
    size_t width = f->count ? GAP * (f->count - 1) : 0;
    for (size_t i = 0; i < f->count; i++)
        width += f->widths[f->columns[i]];
    return width;
}

/* Takes from the widest text until all fits; false when no text is wider than `least`. */
static bool shrink(const cli_table *table, fit *f, size_t width, size_t least)
{
    for (size_t now = width_of(f); now > width; now--) {
        size_t *widest = NULL;
        for (size_t i = 0; i < f->count; i++) {
            size_t *own = &f->widths[f->columns[i]];
            if (table->columns[f->columns[i]].type == CLI_CELL_TEXT && *own > least &&
                (!widest || *own > *widest))
                widest = own;
        }
        if (!widest)
            return false;
        --*widest;
    }
    return true;
}

static unsigned rank_of(const cli_table *table, size_t column)
{
    return table->columns[column].rank % CLI_SHOWN_ONLY;
}

/* Takes the columns of the greatest rank away; false when all that are left stay. */
static bool drop(const cli_table *table, fit *f)
{
    unsigned worst = 0;
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        if (rank_of(table, f->columns[i]) > worst)
            worst = rank_of(table, f->columns[i]);
    if (worst == 0)
        return false;
    for (size_t i = 0; i < f->count; i++)
        if (rank_of(table, f->columns[i]) != worst)
            f->columns[kept++] = f->columns[i];
        else
            f->is_left_out[f->columns[i]] = true;
    f->count = kept;
    return true;
}

static fit fit_table(const cli_table *table, size_t width, bool full_names, char *text, size_t size)
{
    fit f = {.text = text, .text_size = size};
    size_t natural[CLI_MOST_COLUMNS] = {0};

    for (size_t i = 0; i < table->column_count; i++) {
        natural[i] = natural_width(table, &f, i);
        if (table->columns[i].rank == CLI_HIDDEN || natural[i] == 0)
            continue;
        if (natural[i] > TEXT_MOST && !full_names)
            natural[i] = TEXT_MOST;
        f.columns[f.count++] = i;
    }
    memcpy(f.widths, natural, sizeof natural);
    shrink(table, &f, 0, TEXT_ENOUGH);
    f.needed = width_of(&f);
    memcpy(f.widths, natural, sizeof natural);
    while (!full_names && !shrink(table, &f, width, TEXT_ENOUGH)) {
        if (!drop(table, &f)) {
            shrink(table, &f, width, TEXT_LEAST);
            break;
        }
        memcpy(f.widths, natural, sizeof natural);
    }
    return f;
}

/* ---- Lines ---- */

/* As much of the text as fits, with dots where it is cut. */
static void put_cut(const char *text, size_t width)
{
    bool is_cut = tkt_text_columns(text) > width;
    size_t most = is_cut && width > 3 ? width - 3 : width, used = 0;
    while (*text) {
        char one[8] = "";
        size_t length = tkt_text_character(text, strlen(text));
        memcpy(one, text, length < sizeof one ? length : sizeof one - 1);
        size_t columns = tkt_text_columns(one);
        if (used + columns > most)
            break;
        fputs(one, stdout);
        text += length;
        used += columns;
    }
    for (; is_cut && used < width; used++)
        putchar('.');
}

/* Blanks are written only when something follows them; `blanks` is how many wait for that. */
static void put_cell(const char *text, size_t width, bool is_left, size_t *blanks)
{
    size_t columns = tkt_text_columns(text);
    size_t pad = columns < width ? width - columns : 0;

    *blanks += is_left ? 0 : pad;
    if (*text) {
        printf("%*s", (int)*blanks, "");
        *blanks = 0;
        put_cut(text, width);
    }
    *blanks += (is_left ? pad : 0) + GAP;
}

static void put_rule(const fit *f)
{
    for (size_t i = 0; i < f->count; i++) {
        printf("%*s", i ? GAP : 0, "");
        for (size_t dash = 0; dash < f->widths[f->columns[i]]; dash++)
            putchar('-');
    }
    putchar('\n');
}

static bool is_left(const cli_table *table, size_t column)
{
    return table->columns[column].type == CLI_CELL_TEXT;
}

static void put_row(const cli_table *table, const fit *f, size_t row)
{
    size_t blanks = 0;
    for (size_t i = 0; i < f->count; i++) {
        size_t column = f->columns[i];
        const char *text = shown(f, &table->columns[column], &cli_table_row(table, row)[column]);
        put_cell(text, f->widths[column], is_left(table, column), &blanks);
    }
}

/* Breaks a sentence at blanks where it is longer than the line. It may name devices and backends,
 * which are texts of the file's. */
static void put_note(const char *raw, size_t width)
{
    char clean[1024];
    const char *note = cli_clean(clean, sizeof clean, raw);

    for (size_t used = 0; *note;) {
        size_t word = strcspn(note, " ");
        bool breaks = used > 0 && used + 1 + word > width;
        printf("%s%.*s", breaks ? "\n" : used ? " " : "", (int)word, note);
        used = word + (breaks || used == 0 ? 0 : used + 1);
        note += word + strspn(note + word, " ");
    }
    putchar('\n');
}

/* Says which columns there was no room for, and what has room for them. */
static void put_left_out(const cli_table *table, const takt_report_options *options, const fit *f)
{
    char text[1024] = "not shown:";
    size_t used = strlen(text), left_out = 0;

    for (size_t i = 0; i < table->column_count && used < sizeof text - 64; i++)
        if (f->is_left_out[i])
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s",
                                     left_out++ ? "," : "", table->columns[i].title);
    snprintf(text + used, sizeof text - used, "; %s%zu", options->width_key, f->needed);
    if (left_out > 0)
        put_note(text, options->width);
}

static void put_table(const cli_table *table, const takt_report_options *options, char *text,
                      size_t size)
{
    fit f = fit_table(table, options->width, options->full_names, text, size);
    size_t blanks = 0;

    put_rule(&f);
    for (size_t i = 0; i < f.count; i++)
        put_cell(table->columns[f.columns[i]].title, f.widths[f.columns[i]],
                 is_left(table, f.columns[i]), &blanks);
    putchar('\n');
    put_rule(&f);
    for (size_t i = 0; i < table->shown; i++) {
        size_t row = table->order ? table->order[i] : i;
        const char *color = options->color && table->colors ? table->colors[row] : NULL;
        fputs(color ? color : "", stdout);
        put_row(table, &f, i);
        fputs(color ? "\033[0m\n" : "\n", stdout);
    }
    put_rule(&f);
    put_left_out(table, options, &f);
    if (table->shown < table->row_count)
        printf("%zu of %zu rows shown\n", table->shown, table->row_count);
}

void cli_render_text(const cli_document *document, const takt_report_options *options, char *text,
                     size_t size)
{
    put_table(&document->above, options, text, size);
    putchar('\n');
    put_table(&document->main, options, text, size);
    for (size_t i = 0; document->notes[i]; i++)
        put_note(document->notes[i], options->width);
}
