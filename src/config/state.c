/* Making, copying and changing the values of a configuration. */
#include "config/state.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

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
