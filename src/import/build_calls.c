/* Joins activities and calls: by correlation ids, or by the numbers of their operators. */
#include "import/build.h"

#include "trace/devices.h"

#include <stdlib.h>

void imp_build_call(imp_build *build, const imp_row *row, uint32_t span, const imp_call *what)
{
    if (!row || span == IMP_NOTHING)
        return;
    tkt_call_info *call = TKT_ARRAY_ADD(&build->trace->calls);
    imp_caller *caller = call ? TKT_ARRAY_ADD(&build->callers) : NULL;
    build->is_short |= !caller;
    if (!caller)
        return;
    *call = (tkt_call_info){row->track, span, what->correlation, what->result};
    *caller = (imp_caller){row->process, what->operator_id};
}

/* ---- Operators ------------------------------------------------------------------------------- */

/* Some files of AMD's devices have no correlation ids, but calls and activities have the number of
 * their operator. Its activities ran in the order of its calls that launch such work. */

/* A call or an activity with the number of its operator. */
typedef struct part {
    uint32_t operator_id;
    uint32_t index;
    uint64_t begin_ns;
} part;

typedef TKT_ARRAY_OF(part) parts;

static int compare_parts(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->operator_id != y->operator_id)
        return x->operator_id < y->operator_id ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool add_part(parts *to, part added)
{
    part *at = TKT_ARRAY_ADD(to);
    if (at)
        *at = added;
    return at != NULL;
}

/* The activities that only their operators lead to a call. */
static bool find_works(const takt_trace *trace, parts *out)
{
    bool is_good = true;
    for (uint32_t i = 0; i < trace->activities.count && is_good; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (!activity->correlation && activity->scope != TKT_NO_SPAN)
            is_good = add_part(out, (part){activity->scope, i, activity->begin_ns});
    }
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, compare_parts);
    return is_good;
}

static bool find_calls(const imp_build *build, parts *out)
{
    bool is_good = true;
    for (uint32_t i = 0; i < build->callers.count && is_good; i++) {
        uint32_t id = build->callers.items[i].operator_id;
        if (id)
            is_good = add_part(out, (part){id, i, tkt_call_span(build->trace, i)->begin_ns});
    }
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, compare_parts);
    return is_good;
}

/* The first call of the operator from `from` on that may have launched the activity; `end`: none.
 */
static size_t next_call(const imp_build *build, const parts *calls, size_t from, size_t end,
                        const tkt_activity *activity)
{
    const takt_trace *trace = build->trace;
    for (; from < end; from++) {
        uint32_t call = calls->items[from].index;
        const tkt_trace_site *site = &trace->sites.items[tkt_span_site(tkt_call_span(trace, call))];
        bool is_ours =
            !activity->reserved || build->callers.items[call].process == activity->reserved - 1;
        if (is_ours && tkt_launched_by(tkt_trace_text(trace, site->name)) & activity->filter)
            break;
    }
    return from;
}

static bool are_of_one_process(const imp_build *build, const parts *calls, size_t begin, size_t end)
{
    for (size_t i = begin + 1; i < end; i++)
        if (build->callers.items[calls->items[i].index].process !=
            build->callers.items[calls->items[begin].index].process)
            return false;
    return true;
}

/* Gives an activity the correlation id of a call, which gets one if it has none. */
static void join_with(imp_build *build, tkt_activity *activity, uint32_t call, uint32_t *free_id)
{
    tkt_call_info *info = &build->trace->calls.items[call];
    if (!info->correlation)
        info->correlation = (*free_id)++;
    activity->correlation = info->correlation;
    activity->reserved = build->callers.items[call].process + 1;
}

/* Joins the activities and calls of one operator. */
static void join_operator(imp_build *build, const part *works, size_t count, const parts *calls,
                          size_t begin, size_t end, uint32_t *free_id)
{
    bool is_clear = are_of_one_process(build, calls, begin, end);
    size_t next = begin, last = end;
    for (size_t i = 0; i < count; i++) {
        tkt_activity *activity = &build->trace->activities.items[works[i].index];
        size_t found = next_call(build, calls, next, end, activity);
        if (found == end && last == end)
            found = next_call(build, calls, begin, end, activity);
        else if (found == end)
            found = last;
        if (found == end || (!is_clear && !activity->reserved))
            continue;
        join_with(build, activity, calls->items[found].index, free_id);
        last = found;
        next = found + 1;
    }
}

static uint32_t find_free_id(const takt_trace *trace)
{
    uint32_t most = 0;
    for (size_t i = 0; i < trace->calls.count; i++)
        if (trace->calls.items[i].correlation > most)
            most = trace->calls.items[i].correlation;
    return most + 1;
}

static bool join_by_operators(imp_build *build)
{
    parts works = {0}, calls = {0};
    bool is_good = find_works(build->trace, &works) && (!works.count || find_calls(build, &calls));
    uint32_t free_id = works.count ? find_free_id(build->trace) : 0;
    for (size_t i = 0, begin = 0, end; i < works.count && is_good;) {
        uint32_t id = works.items[i].operator_id;
        size_t first = i;
        while (i < works.count && works.items[i].operator_id == id)
            i++;
        while (begin < calls.count && calls.items[begin].operator_id < id)
            begin++;
        for (end = begin; end < calls.count && calls.items[end].operator_id == id;)
            end++;
        join_operator(build, &works.items[first], i - first, &calls, begin, end, &free_id);
    }
    TKT_ARRAY_FREE(&works);
    TKT_ARRAY_FREE(&calls);
    return is_good;
}

/* ---- Correlation ids ------------------------------------------------------------------------- */

/* Processes count their correlation ids each from 1. So with several processes, the id of a call
 * becomes the call's number; an activity gets it by its process and id. Where the file does not
 * name the activity's process, the id must be that of one process only. */

typedef struct renaming {
    imp_build *build;
    tkt_map exact; /* process + 1, id -> number */
    tkt_map any;   /* id -> number, or AMBIGUOUS */
} renaming;

#define AMBIGUOUS UINT64_MAX

static bool rename_calls(renaming *r)
{
    takt_trace *trace = r->build->trace;
    for (size_t i = 0; i < trace->calls.count; i++) {
        tkt_call_info *call = &trace->calls.items[i];
        uint64_t process = r->build->callers.items[i].process;
        if (call->correlation == 0)
            continue;
        uint64_t *exact = tkt_map_put(&r->exact, (process + 1) << 32 | call->correlation);
        uint64_t *any = exact ? tkt_map_put(&r->any, call->correlation) : NULL;
        if (!any)
            return false;
        bool is_new = *exact == 0;
        *exact = is_new ? i + 1 : *exact;
        if (is_new)
            *any = *any ? AMBIGUOUS : i + 1;
        call->correlation = (uint32_t)*exact;
    }
    return true;
}

static uint32_t renamed(const renaming *r, uint32_t process_number, uint32_t correlation)
{
    uint64_t *number = process_number
                           ? tkt_map_get(&r->exact, (uint64_t)process_number << 32 | correlation)
                           : tkt_map_get(&r->any, correlation);
    return number && *number != AMBIGUOUS ? (uint32_t)*number : 0;
}

static bool have_several_processes(const imp_build *build)
{
    for (size_t i = 1; i < build->callers.count; i++)
        if (build->callers.items[i].process != build->callers.items[0].process)
            return true;
    return false;
}

takt_status imp_finish_calls(imp_build *build)
{
    renaming r = {.build = build};
    takt_trace *trace = build->trace;
    bool is_needed = have_several_processes(build);
    bool is_good = join_by_operators(build) && (!is_needed || rename_calls(&r));
    for (size_t i = 0; i < trace->activities.count && is_good; i++) {
        tkt_activity *activity = &trace->activities.items[i];
        if (is_needed)
            activity->correlation = renamed(&r, activity->reserved, activity->correlation);
        activity->reserved = 0;
        activity->scope = TKT_NO_SPAN;
    }
    for (size_t i = 0; i < trace->waits.count && is_good; i++) {
        tkt_wait *wait = &trace->waits.items[i];
        if (is_needed)
            wait->correlation = renamed(&r, wait->call_number, wait->correlation);
        wait->call_number = 0;
    }
    tkt_map_fini(&r.exact);
    tkt_map_fini(&r.any);
    return is_good ? TAKT_OK : TAKT_NO_MEMORY;
}
