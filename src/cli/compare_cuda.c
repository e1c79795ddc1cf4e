/* What devices did for each scope. An activity belongs to the scope that launched it, whenever it
 * ran, and to all that this one is in: a call's time is the sum of what was launched between its
 * begin and its end. So the time stands at the launching span first, and is handed up as spans
 * close. */
#include "cli/compare_cuda.h"

#include <stdlib.h>

static bool make_room(cli_launched *launched, const takt_trace *trace, size_t track)
{
    takt_track_info info;

    if (!launched->tracks) {
        launched->count = takt_trace_count(trace, TAKT_TRACE_TRACKS);
        launched->tracks = calloc(launched->count + 1, sizeof *launched->tracks);
        if (!launched->tracks)
            return false;
    }
    if (launched->tracks[track])
        return true;
    if (takt_trace_track(trace, track, &info) == TAKT_OK)
        launched->tracks[track] = calloc(info.span_count + 1, sizeof **launched->tracks);
    return launched->tracks[track] != NULL;
}

bool cli_launched_add(cli_launched *launched, const takt_trace *trace,
                      const takt_activity *activity)
{
    if (activity->track == SIZE_MAX || activity->scope_span == SIZE_MAX)
        return true;
    if (!make_room(launched, trace, activity->track))
        return false;
    launched->tracks[activity->track][activity->scope_span] +=
        activity->end_ns - activity->begin_ns;
    return true;
}

uint64_t cli_launched_ns(const cli_launched *launched, size_t track, size_t span)
{
    return launched->tracks && launched->tracks[track] ? launched->tracks[track][span] : 0;
}

void cli_launched_free(cli_launched *launched)
{
    for (size_t i = 0; i < launched->count; i++)
        free(launched->tracks[i]);
    free(launched->tracks);
}

bool cli_launched_add_idle_calls(cli_comparison *comparison, int side)
{
    cli_rows *rows = &comparison->rows;
    for (size_t i = 0; i < rows->count; i++) {
        cli_row *row = &rows->items[i];
        cli_part *part = &row->parts[side];
        if (row->kind != CLI_ROW_CUDA || part->total_ns <= part->noted_ns)
            continue; /* nothing was launched for it in this trace */
        uint32_t of = cli_rows_find(rows, CLI_ROW_SCOPE, row->above, row->name + row->leaf);
        if (of == CLI_NO_ROW)
            return false;
        const cli_part *scope = &rows->items[of].parts[side];
        size_t samples = part->noted_samples + scope->samples.count - scope->noted_samples;
        part->calls += scope->calls - scope->noted_calls;
        while (part->samples.count < samples)
            if (!cli_samples_add(&part->samples, 0))
                return false;
    }
    return true;
}
