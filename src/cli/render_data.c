/* The command's tables as CSV (RFC 4180), JSON (RFC 8259, in the shape of the library's reports)
 * and Markdown (GitHub's). */
#include "cli/cli.h"
#include "cli/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest digits that read back as the same number. */
void cli_put_number(double number, const char *none)
{
    char digits[32];
    int precision = 15;

    do
        snprintf(digits, sizeof digits, "%.*g", precision++, number);
    while (precision <= 17 && strtod(digits, NULL) != number);
    fputs(isfinite(number) ? digits : none, stdout);
}

static bool is_data(const cli_column *column)
{
    return column->rank < CLI_SHOWN_ONLY || column->rank == CLI_HIDDEN;
}

/* ---- CSV ---- */

/* Line breaks and other control characters become harmless, so only these need quotes. */
static void put_csv_text(const char *text, char *clean, size_t size)
{
    bool is_quoted = strpbrk(text, "\",") != NULL;

    cli_clean(clean, size, text);
    fputs(is_quoted ? "\"" : "", stdout);
    for (const char *c = clean; *c; c++)
        printf(*c == '"' ? "\"%c" : "%c", *c);
    fputs(is_quoted ? "\"" : "", stdout);
}

static void put_csv(const cli_table *table, char *text, size_t size)
{
    const char *between = "";
    for (size_t i = 0; i < table->column_count; i++)
        if (is_data(&table->columns[i])) {
            printf("%s%s", between, table->columns[i].key);
            between = ",";
        }
    for (size_t row = 0; row < table->shown; row++) {
        const cli_cell *cells = cli_table_row(table, row);
        between = "\r\n";
        for (size_t i = 0; i < table->column_count; i++) {
            if (!is_data(&table->columns[i]))
                continue;
            fputs(between, stdout);
            between = ",";
            if (table->columns[i].type == CLI_CELL_TEXT)
                put_csv_text(cells[i].text ? cells[i].text : "", text, size);
            else
                cli_put_number(cells[i].number, "");
        }
    }
    fputs("\r\n", stdout);
}

void cli_render_csv(const cli_document *document, char *text, size_t size)
{
    put_csv(&document->main, text, size);
}

/* ---- JSON ---- */

static void put_json_character(const char *text, size_t length, uint32_t code)
{
    if (length == 0) /* bytes that are not UTF-8 have no place in JSON */
        fputs("\\ufffd", stdout);
    else if (cli_is_control(code))
        printf("\\u%04" PRIx32, code);
    else
        printf(code == '"' || code == '\\' ? "\\%.*s" : "%.*s", (int)length, text);
}

void cli_put_json_text(const char *text)
{
    if (!text) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    while (*text) {
        uint32_t code = 0;
        size_t length = cli_character(text, &code);
        put_json_character(text, length, code);
        text += length ? length : 1;
    }
    putchar('"');
}

static void put_json_row(const cli_table *table, const cli_cell *cells)
{
    const char *between = "{";
    for (size_t i = 0; i < table->column_count; i++) {
        if (!is_data(&table->columns[i]))
            continue;
        printf("%s\"%s\": ", between, table->columns[i].key);
        between = ", ";
        if (cells[i].data && *cells[i].data)
            fputs(cells[i].data, stdout);
        else if (table->columns[i].type == CLI_CELL_TEXT)
            cli_put_json_text(cells[i].text);
        else
            cli_put_number(cells[i].number, "null");
    }
    putchar('}');
}

static void put_json_table(const cli_table *table)
{
    const char *between = "";
    fputs("\"columns\": [", stdout);
    for (size_t i = 0; i < table->column_count; i++)
        if (is_data(&table->columns[i])) {
            printf("%s\"%s\"", between, table->columns[i].key);
            between = ", ";
        }
    fputs("],\n \"rows\": [", stdout);
    for (size_t i = 0; i < table->shown; i++) {
        fputs(i ? ",\n  " : "\n  ", stdout);
        put_json_row(table, cli_table_row(table, i));
    }
    printf("],\n \"row_count\": %zu", table->row_count);
}

void cli_render_json(const cli_document *document)
{
    printf("{\"report\": \"%s\",\n ", document->name);
    put_json_table(&document->main);
    printf(",\n \"tables\": {\"%s\": {", document->above.key);
    put_json_table(&document->above);
    fputs("}},\n \"notes\": [", stdout);
    for (size_t i = 0; document->notes[i]; i++) {
        fputs(i ? ", " : "", stdout);
        cli_put_json_text(document->notes[i]);
    }
    fputs("]}\n", stdout);
}

/* ---- Markdown ---- */

static bool is_shown(const cli_column *column)
{
    return column->rank != CLI_HIDDEN;
}

/* Characters with a meaning are escaped; control characters do not reach the page. */
static void put_markdown_text(const char *text, char *clean, size_t size)
{
    for (const char *c = cli_clean(clean, size, text); *c; c++)
        printf(strchr("|\\`*<>[]&~_", *c) ? "\\%c" : "%c", *c);
}

static void put_markdown(const cli_table *table, char *text, size_t size)
{
    char number[48];

    for (size_t i = 0; i < table->column_count; i++)
        if (is_shown(&table->columns[i]))
            printf("| %s ", table->columns[i].title);
    fputs("|\n", stdout);
    for (size_t i = 0; i < table->column_count; i++)
        if (is_shown(&table->columns[i]))
            fputs(table->columns[i].type == CLI_CELL_TEXT ? "| :-- " : "| --: ", stdout);
    fputs("|\n", stdout);
    for (size_t row = 0; row < table->shown; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            const cli_cell *cell = &cli_table_row(table, row)[i];
            if (!is_shown(&table->columns[i]))
                continue;
            fputs("| ", stdout);
            put_markdown_text(
                table->columns[i].type != CLI_CELL_TEXT
                    ? cli_cell_shown(number, sizeof number, table->columns[i].type, cell->number)
                : cell->text ? cell->text
                             : "",
                text, size);
            putchar(' ');
        }
        fputs("|\n", stdout);
    }
    putchar('\n');
    if (table->shown < table->row_count)
        printf("%zu of %zu rows shown\n\n", table->shown, table->row_count);
}

void cli_render_markdown(const cli_document *document, char *text, size_t size)
{
    put_markdown(&document->above, text, size);
    put_markdown(&document->main, text, size);
    for (size_t i = 0; document->notes[i]; i++) {
        fputs("- ", stdout);
        put_markdown_text(document->notes[i], text, size);
        putchar('\n');
    }
}
