/* Options and operands, in any order: --name, --name=value, --name value, -n, -nvalue, -n value.
 * getopt_long would do the same, but prints texts of its own, accepts abbreviations (which break
 * scripts when an option is added) and knows no table from which a help text can be made. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

/* The value of an option that takes one, from the next argument. */
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

/* Takes one letter of -abc, or the rest of -oVALUE. */
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
