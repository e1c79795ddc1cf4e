/* The manual page and the shell completions, both generated from the verbs' help. */
#include "cli/cli.h"

#include <string.h>

/* ======== The manual page ======== */

/* Generated, so that the manual page always agrees with the help. */

/* Prints text for troff. A dash remains a plain ASCII dash, which can be copied. A dot or
 * apostrophe at the start of a line is not a troff request. */
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

/* ======== Completion in shells ======== */

/* takt completion: prints a script that makes a shell complete verbs, options and values. It comes
 * from the parser's own tables, so it always matches this command. */

static const cli_syntax syntax = {
    .verb = "completion",
    .usage = "bash | zsh | fish",
    .text =
        "Prints a script that makes the shell complete takt's verbs and options. `make install`\n"
        "puts them where the shells look; by hand:\n\n"
        "  source <(takt completion bash)\n"
        "  takt completion zsh >_takt      in a folder of $fpath\n"
        "  takt completion fish >~/.config/fish/completions/takt.fish",
    .words = "bash zsh fish",
};

/* The kind of an option's value, derived from its placeholder in the help. A stands for a trace. */
typedef enum value_kind {
    VALUE_NONE, /* the option takes no value */
    VALUE_ANY,
    VALUE_FILE,
    VALUE_WHEN
} value_kind;

#define WHENS "auto always never"

static value_kind kind_of(const cli_option *option)
{
    if (!option->value)
        return VALUE_NONE;
    if (strcmp(option->value, "WHEN") == 0)
        return VALUE_WHEN;
    if (strcmp(option->value, "OUT") == 0 || strcmp(option->value, "A") == 0 ||
        strstr(option->value, "FILE"))
        return VALUE_FILE;
    return VALUE_ANY;
}

/* Prints text inside single quotes. A quote in the text closes the string, is escaped, and opens
 * the string again. Characters in `special` get a backslash. */
static void put_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(special, *text))
            putchar('\\');
        putchar(*text);
    }
}

int cli_each_syntax(void (*print)(const cli_syntax *syntax))
{
    char help[] = "--help";
    int result = CLI_OK;
    cli_on_help(print);
    for (size_t i = 0; cli_verb_at(i); i++) {
        char name[32];
        snprintf(name, sizeof name, "%s", cli_verb_at(i)->name);
        char *arguments[] = {name, help, NULL};
        if (strcmp(name, "help") != 0)
            result = cli_verb_at(i)->run(2, arguments);
        if (result != CLI_OK)
            break;
    }
    cli_on_help(NULL);
    return result;
}

static void put_verbs(void)
{
    for (size_t i = 0; cli_verb_at(i); i++)
        printf("%s%s", i ? " " : "", cli_verb_at(i)->name);
}

/* ---- bash ------------------------------------------------------------------------------------ */

/* Prints the options with one kind of value, as a pattern for `case`. */
static void put_bash_options(const cli_syntax *of, value_kind kind)
{
    const char *between = "";
    for (size_t i = 0; i < of->option_count; i++) {
        const cli_option *option = &of->options[i];
        if (kind_of(option) != kind)
            continue;
        if (option->letter)
            printf("%s-%c | --%s", between, option->letter, option->name);
        else
            printf("%s--%s", between, option->name);
        between = " | ";
    }
}

static bool has_kind(const cli_syntax *of, value_kind kind)
{
    for (size_t i = 0; i < of->option_count; i++)
        if (kind_of(&of->options[i]) == kind)
            return true;
    return false;
}

static void put_bash_values(const cli_syntax *of, value_kind kind, const char *then)
{
    if (!has_kind(of, kind))
        return;
    fputs("            ", stdout);
    put_bash_options(of, kind);
    printf(")%s%s return ;;\n", then[0] ? " " : "", then);
}

static void put_bash_verb(const cli_syntax *of)
{
    printf("    %s)\n        case $before in\n", of->verb);
    put_bash_values(of, VALUE_WHEN, "COMPREPLY=($(compgen -W '" WHENS "' -- \"$word\"));");
    put_bash_values(of, VALUE_FILE, "COMPREPLY=($(compgen -f -- \"$word\"));");
    put_bash_values(of, VALUE_ANY, "");
    printf("        esac\n        words='%s' options='--help", of->words ? of->words : "");
    for (size_t i = 0; i < of->option_count; i++)
        printf(" --%s", of->options[i].name);
    puts("' ;;");
}

static int put_bash(void)
{
    fputs("# takt's completion for bash, made by: takt completion bash\n"
          "_takt() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words "
          "options\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    put_verbs();
    fputs(" --help --version' -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    # --color=al is three words\n"
          "    [ \"$before\" = '=' ] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    [ \"$word\" = '=' ] && word=''\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    int result = cli_each_syntax(put_bash_verb);
    fputs("    help) words='", stdout);
    put_verbs();
    fputs("' options=--man ;;\n"
          "    *) return ;;\n"
          "    esac\n"
          "    case $word in\n"
          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
          "    *)\n"
          "        if [ -n \"$words\" ] && [ \"$COMP_CWORD\" = 2 ]; then\n"
          "            COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        else\n"
          "            COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "        fi ;;\n"
          "    esac\n"
          "}\n"
          "complete -o filenames -F _takt takt\n",
          stdout);
    return result;
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void put_zsh_option(const cli_option *option)
{
    static const char *const actions[] = {"", ": ", ":_files", ":(" WHENS ")"};
    value_kind kind = kind_of(option);

    printf(" \\\n            '");
    if (option->letter)
        printf("(-%c --%s)'{-%c,--%s%s}'", option->letter, option->name, option->letter,
               option->name, kind == VALUE_NONE ? "" : "=");
    else
        printf("--%s%s", option->name, kind == VALUE_NONE ? "" : "=");
    putchar('[');
    put_quoted(option->help, "[]:\\");
    putchar(']');
    if (kind != VALUE_NONE) {
        putchar(':');
        put_quoted(option->value, "[]:\\");
        fputs(actions[kind], stdout);
    }
    putchar('\'');
}

static void put_zsh_verb(const cli_syntax *of)
{
    printf("    %s)\n        _arguments '--help[prints the help]'", of->verb);
    for (size_t i = 0; i < of->option_count; i++)
        put_zsh_option(&of->options[i]);
    if (of->words)
        printf(" \\\n            '1:what:(%s)'", of->words);
    puts(" \\\n            '*:file:_files' ;;");
}

static int put_zsh(void)
{
    fputs("#compdef takt\n"
          "# takt's completion for zsh, made by: takt completion zsh\n"
          "local -a verbs=(",
          stdout);
    for (size_t i = 0; cli_verb_at(i); i++) {
        printf("\n    '%s:", cli_verb_at(i)->name);
        put_quoted(cli_verb_at(i)->summary, ":\\");
        putchar('\'');
    }
    fputs(")\n"
          "if ((CURRENT == 2)); then\n"
          "    _describe verb verbs\n"
          "    return\n"
          "fi\n"
          "shift words\n"
          "((CURRENT--))\n"
          "case ${words[1]} in\n",
          stdout);
    int result = cli_each_syntax(put_zsh_verb);
    fputs("    help) _describe verb verbs ;;\nesac\n", stdout);
    return result;
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void put_fish_verb(const cli_syntax *of)
{
    static const char *const values[] = {"", " -x", " -r -F", " -x -a '" WHENS "'"};
    for (size_t i = 0; i < of->option_count; i++) {
        const cli_option *option = &of->options[i];
        printf("complete -c takt -n '__fish_seen_subcommand_from %s' -l %s", of->verb,
               option->name);
        if (option->letter)
            printf(" -s %c", option->letter);
        printf("%s -d '", values[kind_of(option)]);
        put_quoted(option->help, "\\");
        puts("'");
    }
    if (of->words)
        printf("complete -c takt -n '__fish_seen_subcommand_from %s' -a '%s'\n", of->verb,
               of->words);
}

static int put_fish(void)
{
    puts("# takt's completion for fish, made by: takt completion fish\n"
         "complete -c takt -n __fish_use_subcommand -f");
    for (size_t i = 0; cli_verb_at(i); i++) {
        printf("complete -c takt -n __fish_use_subcommand -a %s -d '", cli_verb_at(i)->name);
        put_quoted(cli_verb_at(i)->summary, "\\");
        puts("'");
    }
    int result = cli_each_syntax(put_fish_verb);
    fputs("complete -c takt -n '__fish_seen_subcommand_from help' -f -a '", stdout);
    put_verbs();
    puts("'");
    return result;
}

/* ---- The verb -------------------------------------------------------------------------------- */

int cli_completion(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*put)(void);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    cli_args args = cli_args_of(&syntax, argc, argv);
    const char *shell = NULL, *value = NULL;
    int item;

    while ((item = cli_args_next(&args, &value)) == CLI_OPERAND) {
        if (shell)
            return cli_usage_error(&syntax, "name only one shell");
        shell = value;
    }
    if (item == CLI_HELP)
        return CLI_OK;
    if (item != CLI_NO_ITEM)
        return CLI_USAGE;
    for (size_t i = 0; shell && i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0)
            return shells[i].put();
    return cli_usage_error(&syntax, "name a shell: bash, zsh or fish");
}
