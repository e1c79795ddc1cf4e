/* Parsing of command lines, and options that several verbs share. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ======== Options and operands ======== */

/* A parser for options and operands in any order: --name, --name=value, --name value, -n, -nvalue,
 * -n value. getopt_long() would do the same, but has three drawbacks. It prints its own messages.
 * It accepts abbreviations, which break scripts when an option is added. And it has no table from
 * which to print the help. */

enum {
    HELP_WIDTH = 80
};

cli_args cli_args_of(const cli_syntax *syntax, int argc, char **argv)
{
    return (cli_args){.syntax = syntax, .argv = argv, .argc = argc, .next = 1};
}

int cli_usage_error(const cli_syntax *syntax, const char *format, ...)
{
    char message[1024], clean[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    fprintf(stderr, "takt %s: %s\nTry: takt %s --help\n", syntax->verb,
            cli_clean(clean, sizeof clean, message), syntax->verb);
    return CLI_USAGE;
}

static int unknown_option(const cli_args *args, const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    cli_nearest nearest = {.word = word};
    cli_nearest_try(&nearest, "help");
    for (size_t i = 0; i < args->syntax->option_count; i++)
        cli_nearest_try(&nearest, args->syntax->options[i].name);
    if (nearest.best)
        cli_usage_error(args->syntax, "unknown option --%s; did you mean --%s?", word,
                        nearest.best);
    else
        cli_usage_error(args->syntax, "unknown option --%s", word);
    return CLI_ERROR;
}

/* Returns the next argument as the value of an option. */
static int next_argument(cli_args *args, int index, const char **value)
{
    if (args->next >= args->argc) {
        const cli_option *option = &args->syntax->options[index];
        cli_usage_error(args->syntax, "--%s needs a value: %s", option->name, option->value);
        return CLI_ERROR;
    }
    *value = args->argv[args->next++];
    return index;
}

static int long_option(cli_args *args, const char *name, const char **value)
{
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);

    for (size_t i = 0; i < args->syntax->option_count; i++) {
        const cli_option *option = &args->syntax->options[i];
        if (strlen(option->name) != length || strncmp(option->name, name, length) != 0)
            continue;
        if (!option->value && equals) {
            cli_usage_error(args->syntax, "--%s takes no value", option->name);
            return CLI_ERROR;
        }
        if (!option->value || equals) {
            *value = equals ? equals + 1 : NULL;
            return (int)i;
        }
        return next_argument(args, (int)i, value);
    }
    if (strcmp(name, "help") == 0) {
        cli_print_help(args->syntax);
        return CLI_HELP;
    }
    return unknown_option(args, name, length);
}

/* Reads one letter of -abc; the value of an option may be the rest, as in -oVALUE. */
static int short_option(cli_args *args, const char **value)
{
    char letter = *args->letters++;
    const char *rest = *args->letters ? args->letters : NULL;
    args->letters = rest;

    for (size_t i = 0; i < args->syntax->option_count; i++) {
        const cli_option *option = &args->syntax->options[i];
        if (option->letter != letter)
            continue;
        *value = NULL;
        if (!option->value)
            return (int)i;
        args->letters = NULL;
        if (!rest)
            return next_argument(args, (int)i, value);
        *value = rest;
        return (int)i;
    }
    if (letter == 'h') {
        cli_print_help(args->syntax);
        return CLI_HELP;
    }
    cli_usage_error(args->syntax, "unknown option -%c", letter);
    return CLI_ERROR;
}

int cli_args_next(cli_args *args, const char **value)
{
    if (args->letters)
        return short_option(args, value);
    if (args->next >= args->argc)
        return CLI_NO_ITEM;
    const char *argument = args->argv[args->next++];
    if (args->only_operands || argument[0] != '-') {
        *value = argument;
        return CLI_OPERAND;
    }
    if (argument[1] == '\0') {
        cli_usage_error(args->syntax, "standard input (-) is not supported: name a file");
        return CLI_ERROR;
    }
    if (argument[1] != '-') {
        args->letters = argument + 1;
        return short_option(args, value);
    }
    if (argument[2] != '\0')
        return long_option(args, argument + 2, value);
    args->only_operands = true;
    return cli_args_next(args, value);
}

void cli_print_wrapped(const char *text, int indent)
{
    int column = indent;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

bool cli_parse_count(const char *text, long most, long *out)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < 1 || number > most)
        return false;
    *out = number;
    return true;
}

static void print_option(const cli_option *option)
{
    char left[64];
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", option->letter ? '-' : ' ',
             option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
             option->value ? " " : "", option->value ? option->value : "");
    printf("  %-22s  ", left);
    cli_print_wrapped(option->help, 26);
}

static void (*other_print)(const cli_syntax *syntax);

void cli_on_help(void (*print)(const cli_syntax *syntax))
{
    other_print = print;
}

void cli_print_help(const cli_syntax *syntax)
{
    static const cli_option help = {'h', "help", NULL, "prints this"};
    if (other_print) {
        other_print(syntax);
        return;
    }
    printf("Usage: takt %s %s\n\n%s\n\nOptions:\n", syntax->verb, syntax->usage, syntax->text);
    for (size_t i = 0; i < syntax->option_count; i++)
        print_option(&syntax->options[i]);
    print_option(&help);
}

/* ======== Mistyped words ======== */

/* Finds the known name with the smallest edit distance (Levenshtein), if that is small enough. */

void cli_nearest_try(cli_nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->word);
    /* A swap of two letters is two edits. A prefix, such as "perf", counts as one. */
    size_t limit = length < 3 ? 1 : length / 3 + 1;
    size_t distance = tkt_edit_distance(nearest->word, candidate, limit);
    if (length >= 2 && strncmp(nearest->word, candidate, length) == 0)
        distance = 1;
    if (distance > limit || (nearest->best && distance >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = distance;
}

/* ======== Verbs with named products ======== */

/* Some verbs make named things out of files: reports, export formats. The library lists the names.
 * Each name becomes an option, in front of the verb's own options. */

void cli_choice_offer(cli_choice *choice, const char *(*name_at)(size_t),
                      const char *(*description_at)(size_t), const cli_option *own,
                      size_t own_count)
{
    const char *name;
    size_t count = 0;

    for (; count < CLI_MOST_NAMES && (name = name_at(count)); count++)
        choice->options[count] = (cli_option){0, name, NULL, description_at(count)};
    choice->name_count = count;
    memcpy(choice->options + count, own, own_count * sizeof *own);
    choice->syntax.options = choice->options;
    choice->syntax.option_count = count + own_count;
}

void cli_choice_want(cli_choice *choice, const char *name)
{
    for (size_t i = 0; i < choice->wanted_count; i++)
        if (strcmp(choice->wanted[i], name) == 0)
            return;
    choice->wanted[choice->wanted_count++] = name;
}

int cli_choice_parse(cli_choice *choice, int argc, char **argv, cli_take_option *take, void *user)
{
    cli_args args = cli_args_of(&choice->syntax, argc, argv);
    const char *value = NULL;
    int item, names = (int)choice->name_count;

    choice->files = calloc((size_t)argc, sizeof *choice->files);
    if (!choice->files)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    while ((item = cli_args_next(&args, &value)) != CLI_NO_ITEM) {
        int status = CLI_OK;
        if (item == CLI_HELP)
            return CLI_OK;
        if (item == CLI_ERROR)
            return CLI_USAGE;
        if (item == CLI_OPERAND)
            choice->files[choice->file_count++] = argv[args.next - 1];
        else if (item < names)
            cli_choice_want(choice, choice->options[item].name);
        else
            status = take(user, item - names, value);
        if (status != CLI_OK)
            return status;
    }
    if (choice->file_count == 0)
        return cli_usage_error(&choice->syntax, "no file given: name one or more traces");
    return CLI_NO_ITEM;
}

/* ======== Options of tables ======== */

/* Format, sort order, size and colour. */

enum {
    WIDEST = 10000,
    USUAL_WIDTH = 160
};

const cli_option cli_show_options[CLI_SHOW_COUNT] = {
    [CLI_SHOW_JSON] = {0, "json", NULL, "as JSON; several tables become one array"},
    [CLI_SHOW_CSV] = {0, "csv", NULL, "as comma-separated values"},
    [CLI_SHOW_MARKDOWN] = {0, "markdown", NULL, "as Markdown"},
    [CLI_SHOW_SORT] = {0, "sort", "COLUMN", "sorts by a column, named as --json names it"},
    [CLI_SHOW_ROWS] = {0, "rows", "N", "at most N rows; \"all\" for all of them"},
    [CLI_SHOW_WIDTH] = {0, "width", "N", "columns of text; else the terminal's, or 160"},
    [CLI_SHOW_FULL_NAMES] = {0, "full-names", NULL, "does not shorten names"},
    [CLI_SHOW_COLOR] = {0, "color", "WHEN", "auto, always or never; auto heeds NO_COLOR"},
};

static int bad_value(const cli_syntax *syntax, int option, const char *value)
{
    static const char *const expected[CLI_SHOW_COUNT] = {
        [CLI_SHOW_SORT] = "the name of a column",
        [CLI_SHOW_ROWS] = "a number from 1 on, or all",
        [CLI_SHOW_WIDTH] = "a number of columns, from 1 to 10000",
        [CLI_SHOW_COLOR] = "auto, always or never",
    };
    return cli_usage_error(syntax, "--%s \"%s\": expected %s", cli_show_options[option].name, value,
                           expected[option]);
}

static bool parse_color(const char *text, cli_color *out)
{
    static const char *const names[] = {"auto", "always", "never"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (cli_color)i;
            return true;
        }
    return false;
}

static bool take_value(cli_show *show, int option, const char *value)
{
    long number = -1;

    switch (option) {
    case CLI_SHOW_SORT:
        show->options.sort = value;
        return value[0] != '\0';
    case CLI_SHOW_ROWS:
        if (strcmp(value, "all") != 0 && !cli_parse_count(value, INT32_MAX, &number))
            return false;
        show->options.rows = number;
        return true;
    case CLI_SHOW_WIDTH:
        if (!cli_parse_count(value, WIDEST, &number))
            return false;
        show->options.width = (uint32_t)number;
        return true;
    case CLI_SHOW_COLOR:
        return parse_color(value, &show->color);
    default:
        return true;
    }
}

/* Chooses a format; two different ones contradict each other. */
static int take_format(cli_show *show, const cli_syntax *syntax, int option, takt_format format)
{
    static const char *const names[] = {[TAKT_FORMAT_CSV] = "csv",
                                        [TAKT_FORMAT_JSON] = "json",
                                        [TAKT_FORMAT_MARKDOWN] = "markdown"};
    takt_format before = show->options.format;
    if (before != TAKT_FORMAT_TEXT && before != format)
        return cli_usage_error(syntax, "--%s and --%s are two formats: name one", names[before],
                               cli_show_options[option].name);
    show->options.format = format;
    return CLI_OK;
}

int cli_show_take(cli_show *show, const cli_syntax *syntax, int option, const char *value)
{
    switch (option) {
    case CLI_SHOW_JSON:
        return take_format(show, syntax, option, TAKT_FORMAT_JSON);
    case CLI_SHOW_CSV:
        return take_format(show, syntax, option, TAKT_FORMAT_CSV);
    case CLI_SHOW_MARKDOWN:
        return take_format(show, syntax, option, TAKT_FORMAT_MARKDOWN);
    case CLI_SHOW_FULL_NAMES:
        show->options.full_names = true;
        return CLI_OK;
    default:
        return take_value(show, option, value) ? CLI_OK : bad_value(syntax, option, value);
    }
}

void cli_show_settle(cli_show *show)
{
    uint32_t width = tkt_terminal_width(STDOUT_FILENO);

    if (show->options.width == 0)
        show->options.width = width ? width : USUAL_WIDTH;
    show->options.width_key = "--width ";
    show->options.color = show->color == CLI_COLOR_ALWAYS ||
                          (show->color == CLI_COLOR_AUTO && tkt_terminal_has_color(STDOUT_FILENO));
}
