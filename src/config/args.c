/* Configuration outside of files: the command line, and TAKT_OPTIONS. */
#include "base/error.h"
#include "base/text.h"
#include "config/state.h"

#include <stdio.h>
#include <string.h>

/* ======== The command line ======== */

/* Takt's arguments on a program's command line. One pass reads them; a second one, which cannot
 * fail, removes them. An error therefore leaves the program's arguments unchanged. Both passes use
 * next_argument(). */

#define NAME_SIZE 64 /* longer than any key */

/* One argument for Takt. */
typedef struct argument {
    char name[NAME_SIZE];      /* "profiling.no_with_stack"; a long name is cut */
    const tkt_config_key *key; /* NULL: no key has this name */
    const char *value;         /* NULL: no value was given */
    bool is_negated;           /* --profiling.no-key */
    int taken;                 /* number of elements of argv */
} argument;

/* True for Takt's arguments: --SECTION.anything, --reports, --profiling and --no-profiling. */
static bool is_ours(const char *text)
{
    static const char *const names[] = {"profiling", "no-profiling", "reports"};
    if (!tkt_begins_with(text, "--"))
        return false;
    text += 2;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *end = text + strlen(names[i]);
        if (tkt_begins_with(text, names[i]) && (*end == '\0' || *end == '='))
            return true;
    }
    return tkt_begins_with(text, "profiling.") || tkt_begins_with(text, "output.");
}

/* Reads the key's name as the file spells it: up to '=', dashes replaced by underscores. */
static void read_name(const char *text, char name[NAME_SIZE])
{
    size_t length = strcspn(text, "=");
    if (length >= NAME_SIZE)
        length = NAME_SIZE - 1;
    for (size_t i = 0; i < length; i++)
        name[i] = text[i];
    name[length] = '\0';
    for (char *dash = strchr(name, '-'); dash; dash = strchr(dash, '-'))
        *dash = '_';
}

/* Returns the key that a name with "no_" after the section negates, or NULL. */
static const tkt_config_key *find_negated(const char *name)
{
    char positive[NAME_SIZE];
    if (strcmp(name, "no_profiling") == 0)
        return tkt_config_find("profiling");
    const char *dot = strchr(name, '.');
    if (!dot || !tkt_begins_with(dot, ".no_"))
        return NULL;
    snprintf(positive, sizeof positive, "%.*s.%s", (int)(dot - name), name, dot + 4);
    return tkt_config_find(positive);
}

static argument read_argument(int argc, char *const *argv, int index)
{
    argument found = {.taken = 1};
    const char *equals = strchr(argv[index], '=');
    read_name(argv[index] + 2, found.name);
    found.key = tkt_config_find(found.name);
    found.value = equals ? equals + 1 : NULL;
    if (!found.key) {
        found.key = find_negated(found.name);
        found.is_negated = found.key != NULL;
    }
    if (!found.key || found.value || found.key->type == TKT_CONFIG_TYPE_SWITCH)
        return found;
    if (found.is_negated || index + 1 >= argc || tkt_begins_with(argv[index + 1], "--"))
        return found;
    found.value = argv[index + 1];
    found.taken = 2;
    return found;
}

/* Finds Takt's next argument from *index on, and moves *index past it. False at the end or at
 * "--". */
static bool next_argument(int argc, char *const *argv, int *index, int *first, argument *out)
{
    for (; *index < argc && argv[*index] && strcmp(argv[*index], "--") != 0; (*index)++) {
        if (!is_ours(argv[*index]))
            continue;
        *out = read_argument(argc, argv, *index);
        *first = *index;
        *index += out->taken;
        return true;
    }
    return false;
}

/* Writes the option for a key: "--profiling.record-shapes". */
static void spell(const char *name, char *out, size_t capacity)
{
    snprintf(out, capacity, "--%s", name);
    for (char *underscore = strchr(out, '_'); underscore; underscore = strchr(underscore, '_'))
        *underscore = '-';
}

static takt_status unknown_argument(const argument *found, takt_error *error)
{
    char given[NAME_SIZE + 2];
    char meant[NAME_SIZE + 2];
    const tkt_config_key *near = tkt_config_suggest(found->name);
    spell(found->name, given, sizeof given);
    if (near)
        spell(near->name, meant, sizeof meant);
    return tkt_config_unknown(error, "unknown option", given, near ? meant : NULL);
}

/* Returns the argument's value for its key; NULL if it does not fit, with the reason in
 * *problem. */
static const char *value_of(const argument *found, tkt_config_problem *problem)
{
    bool is_switch = found->key->type == TKT_CONFIG_TYPE_SWITCH;
    if (found->is_negated && (!is_switch || found->value)) {
        problem->status = TAKT_BAD_CONFIG;
        snprintf(problem->text, sizeof problem->text, "%s",
                 is_switch ? "expected no value"
                           : "'no-' works only with keys that are true or false");
        return NULL;
    }
    if (found->value)
        return found->value;
    if (is_switch)
        return found->is_negated ? "false" : "true";
    tkt_config_refuse(problem, found->key, "nothing");
    return NULL;
}

static takt_status set_argument(tkt_config_state *state, const argument *found, takt_error *error)
{
    char spelled[NAME_SIZE + 2];
    tkt_config_problem problem;
    if (!found->key)
        return unknown_argument(found, error);
    const char *value = value_of(found, &problem);
    if (value && tkt_config_state_set(state, found->key, value, &problem))
        return TAKT_OK;
    spell(found->name, spelled, sizeof spelled);
    return tkt_error_set(error, problem.status, "%s: %s", spelled, problem.text);
}

takt_status tkt_config_read_args(tkt_config_state *state, int argc, char *const *argv,
                                 tkt_config_errors *errors)
{
    argument found;
    int index = 1;
    int first = 0;
    bool is_any = false;
    takt_status status = TAKT_OK;
    while (next_argument(argc, argv, &index, &first, &found)) {
        takt_error error;
        /* Any argument turns profiling on, unless one of them says otherwise. */
        if (!is_any)
            state->values[TKT_CONFIG_ENABLED].number = 1;
        is_any = true;
        takt_status result = set_argument(state, &found, &error);
        if (result == TAKT_NO_MEMORY)
            return result;
        if (result != TAKT_OK)
            tkt_config_errors_add_plain(errors, &error);
        status = result != TAKT_OK ? result : status;
    }
    state->is_asked = state->is_asked || is_any;
    return status;
}

void tkt_config_drop_args(int *argc, char **argv)
{
    argument found;
    int index = 1;
    int first = 0;
    int kept = 1;
    int copied = 1; /* all earlier elements have been moved or removed */
    while (next_argument(*argc, argv, &index, &first, &found)) {
        while (copied < first)
            argv[kept++] = argv[copied++];
        copied = index;
    }
    if (kept == copied)
        return;
    while (copied < *argc)
        argv[kept++] = argv[copied++];
    argv[kept] = NULL;
    *argc = kept;
}

/* ======== TAKT_OPTIONS ======== */

/* TAKT_OPTIONS: "profiling.wait=3 output.directory='my runs/{time}'". Blanks separate options and
 * quotes keep blanks, as in a shell; there are no escapes. */

#define BLANKS " \t\r\n"

/* Cuts the next word out of *rest, in place, and removes the quotes. NULL at the end. *is_open
 * tells whether a quote is not closed. */
static char *cut_word(char **rest, bool *is_open)
{
    char *word = *rest + strspn(*rest, BLANKS);
    char *from = word;
    char *to = word;
    char quote = '\0';
    if (*word == '\0')
        return NULL;
    for (; *from != '\0' && (quote || !strchr(BLANKS, *from)); from++) {
        if (*from == quote)
            quote = '\0';
        else if (!quote && (*from == '\'' || *from == '"'))
            quote = *from;
        else
            *to++ = *from;
    }
    *rest = *from != '\0' ? from + 1 : from;
    *to = '\0';
    *is_open = quote != '\0';
    return word;
}

static takt_status refuse(takt_error *error, const char *problem, const char *word)
{
    char quoted[TKT_CONFIG_QUOTED];
    return tkt_error_set(error, TAKT_BAD_CONFIG, "TAKT_OPTIONS: %s %s", problem,
                         tkt_config_quote(quoted, word));
}

static takt_status unknown_key(const char *name, takt_error *error)
{
    const tkt_config_key *near = tkt_config_suggest(name);
    return tkt_config_unknown(error, "TAKT_OPTIONS: unknown key", name, near ? near->name : NULL);
}

static takt_status set_word(tkt_config_state *state, char *word, takt_error *error)
{
    tkt_config_problem problem;
    char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return refuse(error, "expected key=value without blanks, got", word);
    *equals = '\0';
    const tkt_config_key *key = tkt_config_find(word);
    if (!key)
        return unknown_key(word, error);
    if (tkt_config_state_set(state, key, equals + 1, &problem))
        return TAKT_OK;
    return tkt_error_set(error, problem.status, "TAKT_OPTIONS: %s: %s", key->name, problem.text);
}

takt_status tkt_config_read_options(tkt_config_state *state, const char *text,
                                    tkt_config_errors *errors)
{
    bool is_open = false;
    takt_status status = TAKT_OK;
    char *rest = tkt_arena_copy(&state->memory, text, strlen(text));
    if (!rest)
        return TAKT_NO_MEMORY;
    for (char *word = cut_word(&rest, &is_open); word; word = cut_word(&rest, &is_open)) {
        takt_error error = {0};
        takt_status result = is_open ? refuse(&error, "a quote is not closed in", word)
                                     : set_word(state, word, &error);
        if (result == TAKT_NO_MEMORY)
            return result;
        if (result != TAKT_OK)
            tkt_config_errors_add_plain(errors, &error);
        status = result != TAKT_OK ? result : status;
        state->is_asked = true;
    }
    return status;
}
