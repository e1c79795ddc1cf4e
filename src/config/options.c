/* From values to the profiler's options, and what of them this version leaves undone. */
#include "config/state.h"

#include "config/config.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* The names in a list; those for which `has` is false are left out. NULL without memory. */
static const char *const *names_of(tkt_config_state *state, tkt_config_id id,
                                   bool (*has)(const char *name), size_t *count)
{
    const tkt_config_value *value = &state->values[id];
    const char **names = tkt_arena_alloc(&state->memory, (value->count + 1) * sizeof *names);
    if (!names)
        return NULL;
    *count = 0;
    for (size_t i = 0; i < value->count; i++) {
        if (!has || has(value->items[i].name))
            names[(*count)++] = value->items[i].name;
    }
    names[*count] = NULL;
    return names;
}

static takt_schedule schedule_of(const tkt_config_value *values)
{
    return (takt_schedule){
        .skip_first = (uint32_t)values[TKT_CONFIG_SKIP_FIRST].number,
        .wait = (uint32_t)values[TKT_CONFIG_WAIT].number,
        .warmup = (uint32_t)values[TKT_CONFIG_WARMUP].number,
        .active = (uint32_t)values[TKT_CONFIG_ACTIVE].number,
        .repeat = (uint32_t)values[TKT_CONFIG_REPEAT].number,
        .skip_first_wait = (uint32_t)values[TKT_CONFIG_SKIP_FIRST_WAIT].number,
        .repeat_mode = (takt_repeat_mode)values[TKT_CONFIG_REPEAT_MODE].number,
    };
}

/* All kinds means those too that a later version knows. */
static uint32_t filter_of(const tkt_config_value *values)
{
    const uint64_t all = TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN | TAKT_TIMING_MEMCPY |
                         TAKT_TIMING_MEMSET | TAKT_TIMING_GRAPH;
    uint64_t filter = values[TKT_CONFIG_FILTER].number;
    return filter == all ? TAKT_TIMING_ALL : (uint32_t)filter;
}

/* A default asks for nothing: it is what a program gets if it is there. */
static bool is_default(tkt_config_id id, const tkt_config_value *value)
{
    tkt_arena memory = {0};
    tkt_config_value initial;
    tkt_config_problem problem;
    const tkt_config_key *key = &tkt_config_keys[id];
    bool is_equal = tkt_config_value_parse(key, key->initial, &memory, &initial, &problem) &&
                    tkt_config_value_equal(key, value, &initial);
    tkt_arena_fini(&memory);
    return is_equal;
}

/* The formats that can hold a summary; the others need spans. */
static bool holds_summaries(const char *name)
{
    return strcmp(name, "perfetto") == 0;
}

/* With `mode: summary` the default means those formats that can hold one. */
static const char *const *traces_of(tkt_config_state *state, size_t *count)
{
    const tkt_config_value *values = state->values;
    bool is_summary = values[TKT_CONFIG_MODE].number == TAKT_MODE_SUMMARY &&
                      is_default(TKT_CONFIG_TRACES, &values[TKT_CONFIG_TRACES]);
    return names_of(state, TKT_CONFIG_TRACES, is_summary ? holds_summaries : NULL, count);
}

static takt_choice choice_of(const tkt_config_value *value)
{
    return value->number ? TAKT_ON : TAKT_OFF;
}

takt_status tkt_config_build_options(tkt_config_state *state)
{
    const tkt_config_value *values = state->values;
    const char *name = values[TKT_CONFIG_NAME].text;
    takt_profiler_options options = {
        .struct_size = sizeof options,
        .schedule = schedule_of(values),
        .mode = (takt_mode)values[TKT_CONFIG_MODE].number,
        .name = *name != '\0' ? name : NULL,
        .max_memory_bytes = values[TKT_CONFIG_MAX_MEMORY].number,
        .level = (uint32_t)values[TKT_CONFIG_LEVEL].number,
        .synchronize = values[TKT_CONFIG_SYNCHRONIZE].number != 0,
        .background = choice_of(&values[TKT_CONFIG_BACKGROUND]),
        .record_shapes = choice_of(&values[TKT_CONFIG_RECORD_SHAPES]),
        .profile_memory = choice_of(&values[TKT_CONFIG_PROFILE_MEMORY]),
        .activities = (uint32_t)values[TKT_CONFIG_ACTIVITIES].number,
        .graph = (takt_graph)values[TKT_CONFIG_GRAPH].number,
        .with_stack = values[TKT_CONFIG_WITH_STACK].number != 0,
        .with_flops = values[TKT_CONFIG_WITH_FLOPS].number != 0,
        .peak_flops = (double)values[TKT_CONFIG_PEAK_FLOPS].number,
        .peak_bandwidth = (double)values[TKT_CONFIG_PEAK_BANDWIDTH].number,
        .host_peak_flops = (double)values[TKT_CONFIG_HOST_PEAK_FLOPS].number,
        .rank = (uint32_t)values[TKT_CONFIG_RANK].number,
        .world_size = (uint32_t)values[TKT_CONFIG_WORLD_SIZE].number,
        .device_wait_ms = (uint32_t)values[TKT_CONFIG_DEVICE_WAIT].number,
        .host_peak_bandwidth = (double)values[TKT_CONFIG_HOST_PEAK_BANDWIDTH].number,
        .filter = filter_of(values),
        .categories = values[TKT_CONFIG_CATEGORIES].items,
        .category_count = values[TKT_CONFIG_CATEGORIES].count,
        .directory = values[TKT_CONFIG_DIRECTORY].text,
        .max_trace_bytes = values[TKT_CONFIG_MAX_TRACE_SIZE].number,
        .stream = values[TKT_CONFIG_STREAM].number != 0,
        .crash_safe = values[TKT_CONFIG_CRASH_SAFE].number != 0,
        .view = values[TKT_CONFIG_VIEW].number != 0,
        .width = (uint32_t)values[TKT_CONFIG_WIDTH].number,
    };
    options.reports =
        names_of(state, TKT_CONFIG_REPORTS, tkt_config_has_report, &options.report_count);
    options.traces = traces_of(state, &options.trace_count);
    options.builtin = names_of(state, TKT_CONFIG_BUILTIN, NULL, &options.builtin_count);
    if (!options.reports || !options.traces || !options.builtin)
        return TAKT_NO_MEMORY;
    state->options = options;
    return TAKT_OK;
}

static bool lacks_a_report(const tkt_config_state *state)
{
    const tkt_config_value *reports = &state->values[TKT_CONFIG_REPORTS];
    for (size_t i = 0; i < reports->count; i++) {
        if (!tkt_config_has_report(reports->items[i].name))
            return true;
    }
    return false;
}

static void warn_of_reports(const tkt_config_state *state)
{
    const tkt_config_value *reports = &state->values[TKT_CONFIG_REPORTS];
    for (size_t i = 0; i < reports->count; i++) {
        const char *name = reports->items[i].name;
        if (!tkt_config_has_report(name))
            tkt_log(TAKT_LOG_WARNING, "reports: this version of Takt has no report '%s'", name);
    }
}

void tkt_config_warn(tkt_config_state *state)
{
    if (!lacks_a_report(state) ||
        is_default(TKT_CONFIG_REPORTS, &state->values[TKT_CONFIG_REPORTS]))
        return;
    /* relaxed: only one of several threads shall log it; nothing else is published */
    if (!atomic_exchange_explicit(&state->is_warned, true, memory_order_relaxed))
        warn_of_reports(state);
}
