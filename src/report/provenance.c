/* The provenance line. It contains no date, host or path: the running program and the trace file
 * must give the same line. */
#include "report/show.h"

#include "base/file.h"
#include "base/text.h"
#include "report/table.h"
#include "trace/cost.h"
#include "trace/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A line of parts separated by "; ". */
typedef struct line {
    tkt_writer *writer;
    size_t width;
    size_t used;
} line;

static void add_part(line *l, const char *part)
{
    size_t columns = tkt_text_width(part, SIZE_MAX);
    if (l->used > 0) {
        bool fits = l->used + 3 + columns <= l->width; /* with "; " and another ";" */
        tkt_writer_text(l->writer, fits ? "; " : ";\n  ");
        l->used = fits ? l->used + 2 : 2;
    }
    tkt_put_printable(l->writer, part, strlen(part));
    l->used += columns;
}

static void add_clock(line *l, const takt_trace *trace)
{
    char resolution[TKT_VALUE_SIZE];
    char uncertainty[TKT_VALUE_SIZE];
    char part[256];
    if (isnan(trace->facts.clock_resolution_ns)) { /* another tool's file does not tell it */
        add_part(l, "clock unknown");
        return;
    }
    tkt_value_precision(resolution, trace->facts.clock_resolution_ns, 3);
    tkt_value_precision(uncertainty, trace->facts.clock_uncertainty_ns, 1);
    snprintf(part, sizeof part, "clock %s, resolution %s, uncertainty %s",
             tkt_trace_text(trace, trace->clock), resolution, uncertainty);
    add_part(l, part);
}

static bool has_backend(const takt_trace *trace)
{
    const char *backend = tkt_trace_text(trace, trace->backend);
    return *backend && strcmp(backend, "none") != 0;
}

static void add_device_clock(line *l, const takt_facts *facts)
{
    char resolution[TKT_VALUE_SIZE];
    char uncertainty[TKT_VALUE_SIZE];
    char part[160];
    bool is_known = facts->device_uncertainty_ns > 0; /* false: the clocks were never compared */
    bool has_step = !isnan(facts->device_resolution_ns);
    if (!has_step && !is_known) {
        add_part(l, "device times: resolution and uncertainty unknown");
        return;
    }
    if (has_step)
        tkt_value_precision(resolution, facts->device_resolution_ns, 1);
    if (is_known)
        tkt_value_precision(uncertainty, facts->device_uncertainty_ns, 1);
    snprintf(part, sizeof part, "device times: resolution %s, uncertainty %s%s",
             has_step ? resolution : "unknown",
             is_known && facts->device_uncertainty_is_least ? "at least " : "",
             is_known ? uncertainty : "unknown");
    add_part(l, part);
    if (facts->device_shift_ns == 0)
        return;
    tkt_value_precision(uncertainty, facts->device_shift_ns, 0);
    snprintf(part, sizeof part, "device times moved by %s", uncertainty);
    add_part(l, part);
}

static void add_losses(line *l, const takt_trace *trace)
{
    const takt_facts *facts = &trace->facts;
    if (tkt_is_unknown(facts))
        add_part(l, "losses unknown");
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        if (trace->losses[i] == 0)
            continue;
        char part[96];
        snprintf(part, sizeof part, "%s %s%llu", takt_loss_name((takt_loss)i),
                 i != TAKT_LOSS_CUT && tkt_losses_are_least(facts) ? "at least " : "",
                 (unsigned long long)trace->losses[i]);
        add_part(l, part);
    }
}

bool tkt_is_recovered(const takt_trace *trace)
{
    return trace->is_recovered && trace->facts.ending == TAKT_ENDING_KILLED;
}

const char *tkt_over_threads(const takt_trace *trace)
{
    bool is_known = !isnan(tkt_trace_cost(trace).most_ns);
    return is_known && tkt_has_threads(trace) ? ", summed over threads" : "";
}

const char *tkt_cost_text(char out[TKT_COST_SIZE], const takt_trace *trace)
{
    double most_ns = tkt_trace_cost(trace).most_ns;
    double wall_ns = (double)tkt_wall_ns(&trace->facts);
    char time[TKT_VALUE_SIZE], share[TKT_VALUE_SIZE];
    if (isnan(most_ns)) {
        snprintf(out, TKT_COST_SIZE, "unknown");
        return out;
    }
    tkt_value_time(time, (uint64_t)(most_ns + 0.5));
    tkt_value_text(share, TKT_CELL_SHARE, (tkt_cell){.d = wall_ns > 0 ? most_ns / wall_ns : 0});
    snprintf(out, TKT_COST_SIZE, "up to %s (%s of wall time)", time, share);
    return out;
}

const char *tkt_longest_text(char out[TKT_COST_SIZE], const takt_trace *trace)
{
    char time[TKT_VALUE_SIZE];
    double longest_ns = tkt_trace_cost(trace).longest_ns;
    out[0] = '\0';
    if (!isnan(longest_ns)) {
        tkt_value_time(time, (uint64_t)(longest_ns + 0.5));
        snprintf(out, TKT_COST_SIZE, "longest moment %s", time);
    }
    return out;
}

static void add_cost(line *l, const takt_trace *trace)
{
    char text[TKT_COST_SIZE];
    char part[sizeof "Takt's cost " + TKT_COST_SIZE];
    const char *over = tkt_over_threads(trace);
    snprintf(part, sizeof part, "Takt's cost %s", tkt_cost_text(text, trace));
    add_part(l, tkt_is_imported(&trace->facts) ? "cost of the recording unknown" : part);
    if (*over)
        add_part(l, over + 2);
    if (*tkt_longest_text(text, trace))
        add_part(l, text);
    if (strncmp(tkt_trace_text(trace, trace->backend), "CUPTI", 5) == 0)
        add_part(l, "CUPTI's not counted");
}

/* "12.345s, until 2026-01-31 12:00:00 UTC" */
static void put_until(char *out, size_t size, const takt_facts *facts)
{
    char time[TKT_VALUE_SIZE];
    uint64_t until_ns =
        tkt_is_broken_off(facts) && facts->known_until_ns ? facts->known_until_ns : facts->end_ns;
    uint64_t length_ns = until_ns > facts->begin_ns ? until_ns - facts->begin_ns : 0;
    uint64_t real_ns = until_ns + (uint64_t)facts->realtime_offset_ns;
    time_t seconds = (time_t)((int64_t)real_ns / 1000000000);
    struct tm parts;
    tkt_value_time(time, length_ns);
    size_t used = (size_t)snprintf(out, size, "%s", time);
    if (facts->realtime_offset_ns && gmtime_r(&seconds, &parts))
        strftime(out + used, size - used, ", until %Y-%m-%d %H:%M:%S UTC", &parts);
}

const char *tkt_ending_text(char out[TKT_ENDING_SIZE], const takt_trace *trace)
{
    const takt_facts *facts = &trace->facts;
    char until[128], reason[TKT_FILE_REASON_BYTES];
    bool is_stopped = facts->ending == TAKT_ENDING_STOPPED;
    out[0] = '\0';
    put_until(until, sizeof until, facts);
    if (tkt_is_recovered(trace))
        snprintf(out, TKT_ENDING_SIZE,
                 "INCOMPLETE: the program was killed, or it still ran. The recording was recovered "
                 "up to its last event: %s. Losses are at least those shown.",
                 until);
    else if (tkt_is_broken_off(facts))
        snprintf(
            out, TKT_ENDING_SIZE,
            "INCOMPLETE: %s%.100s. The recording is whole for %s; of what came after, all or much "
            "is missing. Losses are at least those shown, and Takt's cost is unknown.",
            is_stopped ? "writing stopped: " : "the program was killed, or it still runs",
            is_stopped ? tkt_file_reason((int)trace->stopped_by, reason) : "", until);
    else if (facts->ending == TAKT_ENDING_CUT && facts->known_until_ns == 0)
        snprintf(out, TKT_ENDING_SIZE,
                 "INCOMPLETE: the file is cut, and does not tell how much is missing.");
    else if (facts->ending == TAKT_ENDING_CUT &&
             facts->missing_spans + facts->missing_activities == 0)
        snprintf(out, TKT_ENDING_SIZE,
                 "INCOMPLETE: the file is damaged: what it says may be wrong.");
    else if (facts->ending == TAKT_ENDING_CUT)
        snprintf(
            out, TKT_ENDING_SIZE,
            "INCOMPLETE: the file is cut. Of a recording of %s, %llu of %llu spans are missing "
            "and %llu of %llu activities.",
            until, (unsigned long long)facts->missing_spans,
            (unsigned long long)(facts->missing_spans + facts->span_count),
            (unsigned long long)facts->missing_activities,
            (unsigned long long)(facts->missing_activities + facts->activity_count));
    return out;
}

/* Adds the counts of incomplete scopes. A scope without an end, or around the last step, is still
 * open when the recording ends. The most frequent one is named with its place, which helps to tell
 * the two apart. */
static void add_unfinished(line *l, const takt_trace *trace)
{
    const takt_facts *facts = &trace->facts;
    const tkt_most_unfinished *most = &trace->most_unfinished;
    char part[400];
    if (facts->begun_before > 0) {
        snprintf(part, sizeof part, "begun before %llu", (unsigned long long)facts->begun_before);
        add_part(l, part);
    }
    if (facts->unfinished == 0)
        return;
    int size =
        snprintf(part, sizeof part, "unfinished %llu", (unsigned long long)facts->unfinished);
    if (most->count > 0) {
        const tkt_trace_site *site = &trace->sites.items[most->site];
        const char *file = tkt_trace_text(trace, site->file);
        size += snprintf(part + size, sizeof part - (size_t)size, " (%llu of '%.100s'",
                         (unsigned long long)most->count, tkt_trace_text(trace, site->name));
        if (*file)
            size += snprintf(part + size, sizeof part - (size_t)size, " at %.100s:%u",
                             tkt_base_name(file), site->line);
        snprintf(part + size, sizeof part - (size_t)size, ")");
    }
    add_part(l, part);
}

void tkt_put_provenance(tkt_writer *writer, const takt_trace *trace, size_t width)
{
    line l = {writer, width, 0};
    const takt_facts *facts = &trace->facts;
    char part[160];
    if (tkt_trace_rank_text(part, sizeof part, facts))
        add_part(&l, part);
    if (facts->cycle > 0) {
        snprintf(part, sizeof part, "cycle %u", facts->cycle);
        add_part(&l, part);
    }
    snprintf(part, sizeof part, "backend %.100s", tkt_trace_text(trace, trace->backend));
    add_part(&l, part);
    add_clock(&l, trace);
    if (has_backend(trace))
        add_device_clock(&l, facts);
    add_losses(&l, trace);
    if (tkt_trace_knows_cuts(trace))
        add_unfinished(&l, trace);
    if (facts->ending != TAKT_ENDING_WHOLE)
        add_part(&l, "incomplete");
    else if (facts->is_partial)
        add_part(&l, "partial cycle");
    add_cost(&l, trace);
    tkt_writer_text(writer, "\n");
}

static void put_number(tkt_writer *writer, const char *key, double value)
{
    char raw[TKT_VALUE_SIZE];
    size_t size = tkt_value_raw(raw, TKT_CELL_NUMBER, (tkt_cell){.d = value});
    tkt_writer_format(writer, ", \"%s\": %s", key, size ? raw : "null");
}

static void put_count(tkt_writer *writer, const char *key, uint64_t value)
{
    tkt_writer_format(writer, ", \"%s\": %llu", key, (unsigned long long)value);
}

void tkt_put_provenance_json(tkt_writer *writer, const takt_trace *trace)
{
    const takt_facts *facts = &trace->facts;
    tkt_writer_text(writer, "{\"backend\": ");
    tkt_put_json(writer, tkt_trace_text(trace, trace->backend));
    tkt_writer_text(writer, ", \"clock\": ");
    tkt_put_json(writer, tkt_trace_text(trace, trace->clock));
    put_number(writer, "clock_resolution_ns", facts->clock_resolution_ns);
    put_number(writer, "clock_uncertainty_ns", facts->clock_uncertainty_ns);
    if (has_backend(trace)) {
        put_number(writer, "device_resolution_ns", facts->device_resolution_ns);
        put_number(writer, "device_uncertainty_ns",
                   facts->device_uncertainty_ns > 0 ? facts->device_uncertainty_ns : NAN);
        tkt_writer_format(writer, ", \"device_uncertainty_is_least\": %s",
                          facts->device_uncertainty_is_least ? "true" : "false");
        put_number(writer, "device_shift_ns", facts->device_shift_ns);
    }
    const tkt_cost cost = tkt_trace_cost(trace);
    put_number(writer, "cost_ns", cost.estimate_ns);
    put_number(writer, "cost_most_ns", cost.most_ns);
    put_number(writer, "cost_longest_ns", cost.longest_ns);
    put_count(writer, "wall_ns", tkt_wall_ns(facts));
    if (tkt_trace_knows_cuts(trace)) {
        put_count(writer, "begun_before", facts->begun_before);
        put_count(writer, "unfinished", facts->unfinished);
    } else {
        tkt_writer_text(writer, ", \"begun_before\": null, \"unfinished\": null");
    }
    put_count(writer, "rank", facts->rank);
    put_count(writer, "world_size", facts->world_size);
    tkt_writer_format(writer, ", \"partial\": %s", facts->is_partial ? "true" : "false");
    tkt_writer_format(writer, ", \"ending\": \"%s\"", tkt_ending_name(facts));
    if (facts->ending != TAKT_ENDING_WHOLE) {
        char text[TKT_ENDING_SIZE];
        tkt_writer_text(writer, ", \"incomplete\": ");
        tkt_put_json(writer, tkt_ending_text(text, trace));
        put_count(writer, "known_until_ns", facts->known_until_ns);
        put_count(writer, "missing_spans", facts->missing_spans);
        put_count(writer, "missing_activities", facts->missing_activities);
    }
    tkt_writer_text(writer, ", \"losses\": {");
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        tkt_writer_text(writer, i ? ", " : "");
        tkt_put_json(writer, takt_loss_name((takt_loss)i));
        if (tkt_loss_is_known(trace, i))
            tkt_writer_format(writer, ": %llu", (unsigned long long)trace->losses[i]);
        else
            tkt_writer_text(writer, ": null");
    }
    tkt_writer_text(writer, "}}");
}
