/* Describes a configuration: the action of each step, the steps needed, the outputs. Cycles are
 * computed from the schedule's numbers, because a schedule may span too many steps to query each; a
 * test compares the result with takt_schedule_action(). */
#include "config/state.h"

#include "config/config.h"

#include "base/error.h"
#include "base/own.h"
#include "base/writer.h"

#include <inttypes.h>
#include <stdio.h>

#define CYCLES_SHOWN 3

/* ---- The schedule ---------------------------------------------------------------------------- */

/* Writes " steps 4-6 " and a description. */
static void put_steps(tkt_writer *writer, uint64_t first, uint64_t count, const char *description)
{
    char range[64];
    if (count == 0)
        return;
    if (count == 1)
        snprintf(range, sizeof range, "step %" PRIu64, first);
    else
        snprintf(range, sizeof range, "steps %" PRIu64 "-%" PRIu64, first, first + count - 1);
    tkt_writer_format(writer, "  %-16s %s\n", range, description);
}

/* Writes one round of warmup and active steps from `first` on; returns the step after it. */
static uint64_t put_round(tkt_writer *writer, const takt_schedule *schedule, uint64_t first)
{
    char description[64];
    uint64_t begin = first + schedule->warmup;
    put_steps(writer, first, schedule->warmup, "warmup");
    snprintf(description, sizeof description, "recorded, saved when step %" PRIu64 " ends",
             begin + schedule->active - 1);
    put_steps(writer, begin, schedule->active, description);
    return begin + schedule->active;
}

/* Returns the number of rounds; 0: endless. */
static uint64_t rounds_of(const takt_schedule *schedule)
{
    return schedule->repeat + (uint64_t)(schedule->repeat_mode == TAKT_REPEAT_ADDITIONAL);
}

static void put_rest(tkt_writer *writer, const takt_schedule *schedule, uint64_t next)
{
    bool is_additional = schedule->repeat_mode == TAKT_REPEAT_ADDITIONAL;
    uint64_t rounds = rounds_of(schedule);
    uint64_t period = (uint64_t)schedule->warmup + schedule->active;
    if (!is_additional)
        period += schedule->wait;
    if (rounds == 0)
        tkt_writer_format(writer, "  and so on for ever, a cycle every %" PRIu64 " steps\n",
                          period);
    else if (rounds > CYCLES_SHOWN)
        tkt_writer_format(writer, "  and so on, %" PRIu64 " more cycles of %" PRIu64 " steps\n",
                          rounds - CYCLES_SHOWN, period);
    else
        tkt_writer_format(writer, "  from step %-6" PRIu64 " nothing\n", next);
}

static void put_cycles(tkt_writer *writer, const takt_schedule *schedule)
{
    uint64_t rounds = rounds_of(schedule);
    uint64_t next = schedule->skip_first;
    put_steps(writer, 0, schedule->skip_first, "skipped");
    for (uint64_t i = 0; i < CYCLES_SHOWN && (rounds == 0 || i < rounds); i++) {
        bool is_first = i == 0;
        bool has_wait =
            is_first ? schedule->skip_first_wait == 0 : schedule->repeat_mode == TAKT_REPEAT_CYCLES;
        if (has_wait) {
            put_steps(writer, next, schedule->wait, "wait");
            next += schedule->wait;
        }
        next = put_round(writer, schedule, next);
    }
    put_rest(writer, schedule, next);
}

static void put_count(tkt_writer *writer, uint64_t needed)
{
    if (needed == 0)
        tkt_writer_text(writer, "none, it goes on for ever");
    else
        tkt_writer_format(writer, "%" PRIu64, needed);
}

static void put_steps_needed(tkt_writer *writer, const takt_schedule *schedule)
{
    takt_schedule other = *schedule;
    bool is_cycles = schedule->repeat_mode == TAKT_REPEAT_CYCLES;
    other.repeat_mode = is_cycles ? TAKT_REPEAT_ADDITIONAL : TAKT_REPEAT_CYCLES;
    tkt_writer_text(writer, "steps needed: ");
    put_count(writer, takt_schedule_steps_needed(schedule));
    tkt_writer_format(writer, "; with repeat_mode %s: ", is_cycles ? "additional" : "cycles");
    put_count(writer, takt_schedule_steps_needed(&other));
    tkt_writer_text(writer, "\n");
    if (schedule->repeat == 0)
        tkt_writer_text(writer, "  repeat 0 is for ever with repeat_mode cycles, "
                                "and one round with repeat_mode additional\n");
}

static void put_schedule(tkt_writer *writer, const takt_schedule *schedule)
{
    if (schedule->active == 0) {
        tkt_writer_text(writer, "schedule: none (active 0): every step from start to stop is "
                                "recorded, as one trace\n");
        return;
    }
    tkt_writer_format(writer, "schedule: wait %u, warmup %u, active %u, repeat %u (%s)\n",
                      schedule->wait, schedule->warmup, schedule->active, schedule->repeat,
                      schedule->repeat_mode == TAKT_REPEAT_CYCLES ? "cycles" : "additional");
    put_cycles(writer, schedule);
    put_steps_needed(writer, schedule);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void put_profiling(tkt_writer *writer, const tkt_config_state *state)
{
    const tkt_config_key *mode = &tkt_config_keys[TKT_CONFIG_MODE];
    bool is_enabled = state->values[TKT_CONFIG_ENABLED].number != 0;
    if (!is_enabled)
        tkt_writer_text(writer, "profiling: off (profiling.enabled is false)\n");
    else if (!state->is_asked)
        tkt_writer_text(writer, "profiling: off (no profiling section, or an empty one)\n");
    else
        tkt_writer_text(writer, "profiling: on\n");
    tkt_writer_format(writer, "mode: %s\n", mode->words[state->values[TKT_CONFIG_MODE].number]);
}

static void put_observed(tkt_writer *writer, const tkt_config_value *values)
{
    const tkt_config_key *key = &tkt_config_keys[TKT_CONFIG_ACTIVITIES];
    uint64_t observed = values[TKT_CONFIG_ACTIVITIES].number;
    tkt_writer_text(writer, "activities: ");
    for (uint32_t i = 0; key->words[i]; i++)
        if (observed >> i & 1)
            tkt_writer_format(writer, "%s%s", observed & ((1u << i) - 1) ? ", " : "",
                              key->words[i]);
    if (observed & TAKT_ACTIVITIES_CUDA)
        tkt_writer_format(writer, ", each %s of a CUDA graph",
                          tkt_config_keys[TKT_CONFIG_GRAPH].words[values[TKT_CONFIG_GRAPH].number]);
    tkt_writer_text(writer, "\n");
}

static void put_names(tkt_writer *writer, const tkt_config_value *value)
{
    for (size_t i = 0; i < value->count; i++)
        tkt_writer_format(writer, "%s%s", i > 0 ? ", " : "", value->items[i].name);
    if (value->count == 0)
        tkt_writer_text(writer, "none");
}

static void put_outputs(tkt_writer *writer, const tkt_config_state *state)
{
    char size[32];
    const tkt_config_value *values = state->values;
    tkt_writer_text(writer, "reports: ");
    put_names(writer, &values[TKT_CONFIG_REPORTS]);
    tkt_writer_text(writer, "\ntraces: ");
    put_names(writer, &values[TKT_CONFIG_TRACES]);
    if (values[TKT_CONFIG_STREAM].number != 0)
        tkt_writer_text(writer, ", and perfetto while recording");
    tkt_config_format_bytes(size, sizeof size, values[TKT_CONFIG_MAX_TRACE_SIZE].number);
    tkt_writer_format(writer, "\n  in %s, at most %s each\n", values[TKT_CONFIG_DIRECTORY].text,
                      size);
    tkt_config_format_bytes(size, sizeof size, values[TKT_CONFIG_MAX_MEMORY].number);
    tkt_writer_format(writer, "memory: at most %s of recorded events\n", size);
}

static void put_categories(tkt_writer *writer, const tkt_config_state *state)
{
    const tkt_config_value *value = &state->values[TKT_CONFIG_CATEGORIES];
    for (size_t i = 0; i < value->count; i++)
        tkt_writer_format(writer, "%s%s %s", i == 0 ? "categories: " : ", ", value->items[i].name,
                          value->items[i].is_on ? "on" : "off");
    if (value->count > 0)
        tkt_writer_text(writer, "\n");
}

static void put_skipped(tkt_writer *writer, const tkt_config_state *state)
{
    char quoted[TKT_CONFIG_QUOTED];
    for (size_t i = 0; i < state->skipped_count; i++)
        tkt_writer_format(writer, "%s%s (line %u)", i == 0 ? "sections skipped: " : ", ",
                          tkt_config_quote(quoted, state->skipped[i].name), state->skipped[i].line);
    if (state->skipped_count > 0)
        tkt_writer_text(writer, state->has_skipped_more ? " and more\n" : "\n");
}

takt_status takt_config_describe(const takt_config *config, const takt_sink *sink)
{
    TKT_OWN_WORK;
    tkt_writer writer;
    if (!config || !sink || !sink->write)
        return TAKT_BAD_ARGUMENT;
    takt_status status = tkt_writer_init(&writer, *sink, 4096);
    if (status != TAKT_OK)
        return status;
    const tkt_config_state *state = config->state;
    put_profiling(&writer, state);
    put_schedule(&writer, &state->options.schedule);
    put_observed(&writer, state->values);
    put_categories(&writer, state);
    put_outputs(&writer, state);
    put_skipped(&writer, state);
    return tkt_writer_fini(&writer);
}
