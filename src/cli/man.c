/* The manual page, made of the verbs' help so that the two cannot disagree. */
#include "cli/verbs.h"

#include <string.h>

/* Text for troff: a dash is to stay one that can be copied, and a line that begins with a dot or an
 * apostrophe is no request. */
static void put(const char *text)
{
    for (bool is_begin = true; *text; text++) {
        if (is_begin && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        is_begin = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void put_option(const cli_option *option)
{
    puts(".TP");
    printf("\\fB");
    if (option->letter)
        printf("\\-%c\\fR, \\fB", option->letter);
    put("--");
    put(option->name);
    printf("\\fR");
    if (option->value) {
        printf(" \\fI");
        put(option->value);
        printf("\\fR");
    }
    putchar('\n');
    put(option->help);
    putchar('\n');
}

static void put_verb(const cli_syntax *syntax)
{
    printf(".SS takt %s ", syntax->verb);
    put(syntax->usage);
    puts("\n.nf");
    put(syntax->text);
    puts("\n.fi");
    for (size_t i = 0; i < syntax->option_count; i++)
        put_option(&syntax->options[i]);
}

static const char head[] =
    ".SH NAME\n"
    "takt \\- look into traces that programs have written with Takt\n"
    ".SH SYNOPSIS\n"
    ".B takt\n"
    ".I VERB\n"
    ".RI [ OPTIONS ]\n"
    ".RI [ FILE ...]\n"
    ".SH DESCRIPTION\n"
    "A program that is linked with Takt records what its steps do, and writes traces\n"
    ".RI ( .pftrace ,\n"
    ".IR .pftrace.gz ).\n"
    ".B takt\n"
    "reads them; ui.perfetto.dev opens the same files. Options and files may be mixed;\n"
    ".B \\-\\-\n"
    "ends the options, and every verb tells its own with\n"
    ".BR \\-\\-help .\n"
    ".SH VERBS\n";

static const char tail[] =
    ".SH EXIT STATUS\n"
    "0 if all went well, 1 if the work failed (a file that is no trace, a full disk, a trace that\n"
    "became slower, a problem that the doctor found), 2 if the question was wrong (an unknown\n"
    "option, a missing file name) or\n.B takt check\ncannot answer it, 3 if it needs more runs\n"
    "to answer it, 4 if all went well but a trace lacks its end. Several files are all tried; one "
    "that fails makes the status 1.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".B NO_COLOR\n"
    "If it is not empty, what is printed on a terminal has no colour.\n"
    ".TP\n"
    ".BR TAKT_CONFIG ,\\  TAKT_OPTIONS\n"
    "are the configuration of programs;\n"
    ".B takt config check\n"
    "heeds the latter as they do, and\n"
    ".B takt doctor\n"
    "looks at both.\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "takt report \\-\\-scopes \\-\\-rows 10 run.pftrace\n"
    "takt report \\-\\-steps \\-\\-json run.pftrace\n"
    "takt export \\-\\-chrome \\-o run.json.gz run.pftrace\n"
    "takt view run.pftrace\n"
    "takt config check profile.yaml\n"
    "takt completion bash >~/.local/share/bash\\-completion/completions/takt\n"
    ".fi\n"
    ".SH SEE ALSO\n"
    "The pages in\n"
    ".I docs\n"
    "of Takt's source: getting\\-started, reports, viewing, troubleshooting.\n";

int cli_print_manual(void)
{
    printf(".TH TAKT 1 \"\" \"Takt %s\" \"User commands\"\n%s", takt_version(), head);
    int result = cli_each_syntax(put_verb);
    fputs(tail, stdout);
    return result;
}
