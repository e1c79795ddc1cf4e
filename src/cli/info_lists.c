/* Counts for takt info. The sums of a summary are those that its tables show. */
#include "cli/info_lists.h"

#include "cli/cli.h"
#include "report/table.h"
#include "summary/scopes.h"
#include "summary/tasks.h"
#include "summary/threads.h"
#include "trace/model.h"

static bool add_track(cli_tracks *out, const cli_track *track)
{
    cli_track *added = TKT_ARRAY_ADD(out);
    if (added)
        *added = *track;
    return added != NULL;
}

static bool add_listed(const takt_trace *trace, cli_tracks *out)
{
    takt_track_info track;
    bool has_memory = true;
    for (size_t i = 0; has_memory && takt_trace_track(trace, i, &track) == TAKT_OK; i++)
        has_memory = add_track(out, &(cli_track){.name = track.name,
                                                 .is_thread = track.kind == TAKT_TRACK_THREAD,
                                                 .thread_id = track.thread_id,
                                                 .spans = track.span_count});
    return has_memory;
}

static bool add_threads(const takt_trace *trace, cli_tracks *out)
{
    tkt_threads threads = {0};
    takt_status status = tkt_threads_of(trace, &threads);
    bool has_memory = status == TAKT_OK || status == TAKT_NO_SPANS;
    for (size_t i = 0; has_memory && i < threads.count; i++) {
        const tkt_thread_time *thread = &threads.items[i];
        bool is_rest = thread->number == TKT_NO_TRACK;
        const char *name = is_rest           ? "(more threads)"
                           : thread->name    ? tkt_trace_text(trace, thread->name)
                           : thread->is_main ? "main"
                                             : "";
        has_memory = add_track(out, &(cli_track){.name = name,
                                                 .is_thread = true,
                                                 .thread_id = is_rest ? 0 : thread->thread_id,
                                                 .spans = thread->spans});
    }
    tkt_threads_fini(&threads);
    return has_memory;
}

/* Adds the tasks of a track to its row, which is one of those from number `first` on. */
static bool add_task(cli_tracks *out, size_t first, const char *track, uint64_t count)
{
    size_t at = first;
    while (at < out->count && out->items[at].name != track)
        at++;
    if (at == out->count && !add_track(out, &(cli_track){.name = track}))
        return false;
    out->items[at].spans += count;
    return true;
}

static bool add_tasks(const takt_trace *trace, cli_tracks *out)
{
    tkt_task_list tasks = {0};
    takt_status status = tkt_tasks_of(trace, &tasks);
    bool has_memory = status == TAKT_OK || status == TAKT_NO_SPANS;
    size_t first = out->count;
    for (size_t i = 0; has_memory && i < tasks.times.count; i++)
        has_memory = add_task(out, first, tkt_trace_text(trace, tasks.times.items[i].shape),
                              tasks.times.items[i].stats.count);
    tkt_tasks_fini(&tasks);
    return has_memory;
}

bool cli_tracks_read(const takt_trace *trace, cli_tracks *out)
{
    bool has_memory = trace->facts.has_spans ? add_listed(trace, out)
                                             : add_threads(trace, out) && add_tasks(trace, out);
    if (!has_memory)
        cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    return has_memory;
}

uint64_t cli_span_count(const takt_trace *trace)
{
    uint64_t count = trace->facts.span_count;
    if (trace->facts.has_spans)
        return count;
    for (size_t i = 1; i < trace->fold.count; i++)
        count += trace->fold.items[i].stats.count;
    for (size_t i = 0; i < trace->fold.tasks.count; i++)
        count += trace->fold.tasks.items[i].stats.count;
    return count;
}

uint64_t cli_activity_count(const takt_trace *trace)
{
    uint64_t count = trace->facts.activity_count;
    if (trace->facts.has_spans)
        return count;
    for (size_t i = 0; i < trace->node_activities.count; i++)
        count += trace->node_activities.items[i].stats.count;
    for (size_t i = 1; i < trace->fold.count; i++)
        if (trace->sites.items[trace->fold.items[i].site].kind == TAKT_SITE_ACTIVITY)
            count += trace->fold.items[i].stats.count;
    return count;
}

static uint64_t count_samples(const takt_trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < trace->fold.counters.count; i++)
        count += trace->fold.counters.items[i].samples;
    return trace->fold.has_lists ? count : TKT_NO_VALUE;
}

static uint64_t count_calls(const takt_trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 1; i < trace->fold.count; i++)
        if (tkt_site_is_call(trace, trace->fold.items[i].site))
            count += trace->fold.items[i].stats.count;
    return count;
}

uint64_t cli_content_count(const takt_trace *trace, takt_trace_list list)
{
    if (trace->facts.has_spans)
        return takt_trace_count(trace, list);
    if (list == TAKT_TRACE_COUNTERS)
        return count_samples(trace);
    return list == TAKT_TRACE_CALLS ? count_calls(trace) : TKT_NO_VALUE;
}
