/* TAKT_OPTIONS: "profiling.wait=3 output.directory='my runs/{time}'". Blanks separate, quotes keep
 * them, as a shell would have it; there are no escapes. */
#include "config/state.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define BLANKS " \t\r\n"

/* Cuts the next word out of *rest, in place, and takes the quotes off. NULL at the end; a quote
 * that is not closed is told by *is_open. */
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

static takt_status refuse(takt_error *error, const char *what, const char *word)
{
    char quoted[TKT_CONFIG_QUOTED];
    return tkt_error_set(error, TAKT_BAD_CONFIG, "TAKT_OPTIONS: %s %s", what,
                         tkt_config_quote(quoted, word));
}

static takt_status unknown_key(const char *name, takt_error *error)
{
    char quoted[TKT_CONFIG_QUOTED];
    const tkt_config_key *near = tkt_config_suggest(name);
    return tkt_error_set(error, TAKT_BAD_CONFIG, "TAKT_OPTIONS: unknown key %s%s%s%s",
                         tkt_config_quote(quoted, name), near ? "; did you mean '" : "",
                         near ? near->name : "", near ? "'?" : "");
}

static takt_status set_word(tkt_config_state *state, char *word, takt_error *error)
{
    tkt_config_problem problem;
    char *equals = strchr(word, '=');
    if (!equals)
        return refuse(error, "expected key=value, got", word);
    *equals = '\0';
    const tkt_config_key *key = tkt_config_find(word);
    if (!key)
        return unknown_key(word, error);
    if (tkt_config_state_set(state, key, equals + 1, &problem))
        return TAKT_OK;
    return tkt_error_set(error, problem.status, "TAKT_OPTIONS: %s: %s", key->name, problem.text);
}

takt_status tkt_config_read_options(tkt_config_state *state, const char *text, takt_error *error)
{
    bool is_open = false;
    char *rest = tkt_arena_copy(&state->memory, text, strlen(text));
    if (!rest)
        return TAKT_NO_MEMORY;
    for (char *word = cut_word(&rest, &is_open); word; word = cut_word(&rest, &is_open)) {
        if (is_open)
            return refuse(error, "a quote is not closed in", word);
        takt_status status = set_word(state, word, error);
        if (status != TAKT_OK)
            return status;
        state->is_asked = true;
    }
    return TAKT_OK;
}
