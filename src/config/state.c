/* The values of a configuration, and the conversion to the profiler's options. */
#include "config/state.h"

#include "base/alloc.h"
#include "base/error.h"
#include "config/config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ======== Values ======== */

/* Making, copying and changing values. */

bool tkt_config_state_set(tkt_config_state *state, const tkt_config_key *key, const char *text,
                          tkt_config_problem *problem)
{
    return tkt_config_value_parse(key, text, &state->memory, &state->values[tkt_config_id_of(key)],
                                  problem);
}

bool tkt_config_state_skip(tkt_config_state *state, const char *name, size_t size, uint32_t line)
{
    if (state->skipped_count == TKT_CONFIG_SKIPPED_MAX) {
        state->has_skipped_more = true;
        return true;
    }
    const char *copy = tkt_arena_copy(&state->memory, name, size);
    if (!copy)
        return false;
    state->skipped[state->skipped_count++] = (tkt_config_section){copy, line};
    return true;
}

bool tkt_config_hint(const tkt_config_section *skipped, char out[TKT_CONFIG_HINT])
{
    char full[TKT_CONFIG_QUOTED + 16], quoted[TKT_CONFIG_QUOTED];
    for (size_t i = 0; tkt_config_sections[i]; i++) {
        const char *section = tkt_config_sections[i];
        snprintf(full, sizeof full, "%s.%s", section, skipped->name);
        if (tkt_config_find(full)) {
            snprintf(out, TKT_CONFIG_HINT,
                     "%s is a key of %s: write \"%s:\" above it, and indent it", skipped->name,
                     section, section);
            return true;
        }
    }
    if (tkt_config_is_like_profiling(skipped->name))
        snprintf(out, TKT_CONFIG_HINT, "skipped the section %s; did you mean 'profiling'?",
                 tkt_config_quote(quoted, skipped->name));
    return tkt_config_is_like_profiling(skipped->name);
}

static bool set_defaults(tkt_config_state *state)
{
    tkt_config_problem problem = {0};
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        const tkt_config_key *key = &tkt_config_keys[i];
        if (!tkt_config_state_set(state, key, key->initial, &problem)) {
            assert(problem.status == TAKT_NO_MEMORY);
            return false;
        }
    }
    return true;
}

static bool copy_values(tkt_config_state *state, const tkt_config_state *from)
{
    state->is_asked = from->is_asked;
    state->has_skipped_more = from->has_skipped_more;
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        if (!tkt_config_value_copy(&from->values[i], &state->memory, &state->values[i]))
            return false;
    }
    for (size_t i = 0; i < from->skipped_count; i++) {
        const tkt_config_section *section = &from->skipped[i];
        if (!tkt_config_state_skip(state, section->name, strlen(section->name), section->line))
            return false;
    }
    return true;
}

tkt_config_state *tkt_config_state_create(const tkt_config_state *from)
{
    tkt_config_state *state = tkt_alloc_zeroed(sizeof *state);
    if (!state)
        return NULL;
    if (!(from ? copy_values(state, from) : set_defaults(state))) {
        tkt_config_state_destroy(state);
        return NULL;
    }
    return state;
}

void tkt_config_state_destroy(tkt_config_state *state)
{
    if (!state)
        return;
    tkt_arena_fini(&state->memory);
    tkt_free(state);
}

/* ======== The profiler's options ======== */

/* From values to the profiler's options. */

/* Returns the names in a list. NULL without memory. */
static const char *const *names_of(tkt_config_state *state, tkt_config_id id, size_t *count)
{
    const tkt_config_value *value = &state->values[id];
    const char **names = tkt_arena_alloc(&state->memory, (value->count + 1) * sizeof *names);
    if (!names)
        return NULL;
    for (size_t i = 0; i < value->count; i++)
        names[i] = value->items[i].name;
    names[value->count] = NULL;
    *count = value->count;
    return names;
}

/* All kinds includes kinds that a later version may add. */
static uint32_t filter_of(const tkt_config_value *values)
{
    const uint64_t all = TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN | TAKT_TIMING_MEMCPY |
                         TAKT_TIMING_MEMSET | TAKT_TIMING_GRAPH;
    uint64_t filter = values[TKT_CONFIG_FILTER].number;
    return filter == all ? TAKT_TIMING_ALL : (uint32_t)filter;
}

static void put_field(takt_profiler_options *options, const tkt_config_key *key,
                      const tkt_config_value *value)
{
    void *field = (char *)options + key->place;
    switch (key->field) {
    case TKT_CONFIG_BY_CODE:
        break;
    case TKT_CONFIG_INTO_BOOL:
        *(bool *)field = value->number != 0;
        break;
    case TKT_CONFIG_INTO_U32:
        *(uint32_t *)field = (uint32_t)value->number;
        break;
    case TKT_CONFIG_INTO_U64:
        *(uint64_t *)field = value->number;
        break;
    case TKT_CONFIG_INTO_DOUBLE:
        *(double *)field = (double)value->number;
        break;
    case TKT_CONFIG_INTO_TEXT:
        *(const char **)field = value->text;
        break;
    case TKT_CONFIG_INTO_CHOICE:
        *(takt_choice *)field = value->number ? TAKT_ON : TAKT_OFF;
        break;
    }
}

takt_status tkt_config_build_options(tkt_config_state *state)
{
    const tkt_config_value *values = state->values;
    const char *name = values[TKT_CONFIG_NAME].text;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++)
        put_field(&options, &tkt_config_keys[i], &values[i]);
    options.name = *name != '\0' ? name : NULL;
    options.filter = filter_of(values);
    options.categories = values[TKT_CONFIG_CATEGORIES].items;
    options.category_count = values[TKT_CONFIG_CATEGORIES].count;
    options.reports = names_of(state, TKT_CONFIG_REPORTS, &options.report_count);
    options.traces = names_of(state, TKT_CONFIG_TRACES, &options.trace_count);
    options.builtin = names_of(state, TKT_CONFIG_BUILTIN, &options.builtin_count);
    options.compile_traces =
        names_of(state, TKT_CONFIG_COMPILE_TRACES, &options.compile_trace_count);
    if (!options.reports || !options.traces || !options.builtin || !options.compile_traces)
        return TAKT_NO_MEMORY;
    state->options = options;
    return TAKT_OK;
}
