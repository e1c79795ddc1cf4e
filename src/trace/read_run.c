/* Reads the steps of the whole run. */
#include "trace/read.h"

#include <string.h>

/* A part's minimum and maximum, if it is one step, are not in the file. */
typedef struct counts {
    size_t totals;
    size_t minima;
    size_t maxima;
} counts;

/* Reads packed numbers, at most TKT_RUN_PARTS; sets *count. */
static bool read_numbers(tkt_read *read, const tkt_pb_field *from, uint64_t *out, size_t *count)
{
    const uint8_t *at = from->bytes;
    const uint8_t *end = at + from->value;
    for (*count = 0; at && at < end && *count < TKT_RUN_PARTS; ++*count)
        at = tkt_pb_get_varint(at, end, &out[*count]);
    return at == end || tkt_read_bad(read, from->bytes, "the durations of steps are malformed");
}

/* A later version may write more steps and windows than this one keeps. */
static bool read_slow_step(tkt_read *read, const tkt_pb_field *from, tkt_run_steps *run)
{
    if (run->slowest_count == TKT_RUN_SLOWEST)
        return true;
    tkt_run_step *step = &run->slowest[run->slowest_count++];
    *step = (tkt_run_step){0};
    return tkt_read_fields(read, from, tkt_pf_run_step_fields, step);
}

static bool read_window(tkt_read *read, const tkt_pb_field *from, tkt_run_steps *run)
{
    if (run->window_count == TKT_RUN_WINDOWS)
        return true;
    tkt_run_window *window = &run->windows[run->window_count++];
    *window = (tkt_run_window){0};
    return tkt_read_fields(read, from, tkt_pf_run_window_fields, window);
}

static bool read_field(tkt_read *read, const tkt_pb_field *field, tkt_run_steps *run, counts *have)
{
    if (field->number == TKT_PF_RUN_STEP_COUNT)
        run->step_count = field->value;
    if (field->number == TKT_PF_RUN_SHIFT)
        run->shift = field->value;
    if (field->wire != TKT_PB_BYTES)
        return true;
    switch (field->number) {
    case TKT_PF_RUN_TOTAL_NS:
        return read_numbers(read, field, run->total_ns, &have->totals);
    case TKT_PF_RUN_MIN_NS:
        return read_numbers(read, field, run->min_ns, &have->minima);
    case TKT_PF_RUN_MAX_NS:
        return read_numbers(read, field, run->max_ns, &have->maxima);
    case TKT_PF_RUN_SLOWEST:
        return read_slow_step(read, field, run);
    case TKT_PF_RUN_WINDOWS:
        return read_window(read, field, run);
    default:
        return true;
    }
}

static bool has_all_parts(const tkt_run_steps *run, const counts *have)
{
    if (run->shift >= 64 || have->totals != tkt_run_part_count(run))
        return false;
    return run->shift == 0 || (have->minima == have->totals && have->maxima == have->totals);
}

bool tkt_read_run(tkt_read *read, const tkt_pb_field *from)
{
    takt_trace *trace = read->trace;
    if (!trace->run && !(trace->run = tkt_alloc_zeroed(sizeof *trace->run)))
        return tkt_read_no_memory(read);
    tkt_run_clear(trace->run);
    counts have = {0};
    tkt_pb_reader message = tkt_pb_inside(from);
    tkt_pb_field field;
    while (tkt_pb_next(&message, &field)) {
        if (!read_field(read, &field, trace->run, &have))
            return false;
    }
    if (!tkt_read_done(read, &message))
        return false;
    return has_all_parts(trace->run, &have) ||
           tkt_read_bad(read, from->bytes, "the number of steps and their durations differ");
}

/* A stream may end between a step and the facts that count it. */
void tkt_read_complete_run(takt_trace *trace)
{
    if (!trace->run)
        return;
    uint64_t before = trace->run->step_count;
    tkt_trace_complete_run(trace, (trace->stream & TKT_PF_STREAMED) != 0);
    tkt_run_add_window(trace->run, before, trace->run->step_count - before);
}
