/* The threads report: what each thread did, and what the other threads ran while the main thread
 * was in a scope. */
#include "report/show.h"

#include "summary/threads.h"

#include <stdio.h>
#include <string.h>

enum {
    THREAD,
    THREAD_ID,
    SPANS,
    IN_SCOPES,
    IN_SCOPES_SHARE,
    WAITED, /* this and the next two: if threads waited */
    WAITED_SHARE,
    WAITED_IN,
    FIRST, /* the last column of a flight recorder's trace: how far back it reaches */
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [THREAD] = {"Thread", "thread", TKT_CELL_TEXT, 0, true, 1},
    [THREAD_ID] = {"Id", "thread_id", TKT_CELL_COUNT, 5, false, 1},
    [SPANS] = {"Spans", "spans", TKT_CELL_COUNT, 4, false, 1},
    [IN_SCOPES] = {"In scopes", "scope_time_ns", TKT_CELL_TIME, 0, false, 1},
    [IN_SCOPES_SHARE] = {"In scopes %", "scope_time_percent", TKT_CELL_SHARE, 1, false, 1},
    [WAITED] = {"Waited", "waited_ns", TKT_CELL_TIME, 2, false, 1},
    [WAITED_SHARE] = {"Waited %", "waited_percent", TKT_CELL_SHARE, 3, false, 1},
    [WAITED_IN] = {"Most of it in", "waited_in", TKT_CELL_TEXT, 3, true, 1},
    [FIRST] = {"First at", "first_at_ns", TKT_CELL_OFFSET, 1, false, 1},
};

enum {
    REGION,
    PART,
    THREADS,
    CALLS,
    TOTAL,
    LEAST,
    MEAN,
    MEAN_SHARE,
    MOST,
    IMBALANCE,
    PART_COLUMNS
};

static const tkt_column part_columns[PART_COLUMNS] = {
    [REGION] = {"Main was in", "region", TKT_CELL_TEXT, 0, true, 1},
    [PART] = {"Threads ran", "name", TKT_CELL_TEXT, 0, true, 1},
    [THREADS] = {"Threads", "threads", TKT_CELL_COUNT, 2, false, 1},
    [CALLS] = {"# of Calls", "calls", TKT_CELL_COUNT, 6, false, 1},
    [TOTAL] = {"Total", "total_ns", TKT_CELL_TIME, 0, false, 1},
    [LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 5, false, 1},
    [MEAN] = {"Mean", "mean_ns", TKT_CELL_TIME, 4, false, 1},
    [MEAN_SHARE] = {"Mean %", "mean_percent", TKT_CELL_SHARE, 3, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_TIME, 4, false, 1},
    [IMBALANCE] = {"Max/mean", "imbalance", TKT_CELL_NUMBER, 1, false, 1},
};

/* A label that is made up needs a copy. */
static const char *name_of(tkt_document *document, const tkt_thread_time *thread)
{
    char label[TKT_THREAD_LABEL];
    const char *name = tkt_thread_label(label, document->trace, thread);
    return name == label ? tkt_document_copy(document, label, strlen(label)) : name;
}

static bool has_waits(const tkt_threads *threads)
{
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->items[i].wait_ns > 0)
            return true;
    }
    return false;
}

static tkt_table *add_threads(tkt_document *document, const tkt_threads *threads)
{
    tkt_column mine[COLUMNS];
    size_t count = has_waits(threads) ? FIRST : WAITED;
    memcpy(mine, columns, count * sizeof *mine);
    if (tkt_trace_is_of_flight(document->trace))
        mine[count++] = columns[FIRST];
    return tkt_document_add_table(document, "threads", mine, count, threads->count);
}

static void add_thread(tkt_document *document, const tkt_thread_time *thread)
{
    const takt_trace *trace = document->trace;
    uint64_t wall_ns = tkt_known_wall_ns(trace);
    size_t count = document->tables[0].column_count;
    tkt_cell *row = tkt_table_add_row(&document->tables[0]);
    row[THREAD].text = name_of(document, thread);
    row[THREAD_ID].u = thread->number == TKT_NO_TRACK ? TKT_NO_VALUE : thread->thread_id;
    row[SPANS].u = thread->spans;
    row[IN_SCOPES].u = thread->scope_ns;
    row[IN_SCOPES_SHARE].d = tkt_share(thread->scope_ns, wall_ns);
    if (tkt_trace_is_of_flight(trace))
        row[--count].i =
            thread->first_ns ? (int64_t)(thread->first_ns - trace->facts.begin_ns) : TKT_NO_SIGNED;
    if (count == WAITED)
        return;
    row[WAITED].u = thread->wait_ns;
    row[WAITED_SHARE].d = tkt_share(thread->wait_ns, wall_ns);
    row[WAITED_IN].text = thread->wait_name ? tkt_trace_text(trace, thread->wait_name) : NULL;
}

/* A thread that waits runs nothing. Which of its waits lie within one region is chance. */
static void add_part(const takt_trace *trace, tkt_table *table, const tkt_thread_part *part)
{
    if (part->is_wait)
        return;
    tkt_cell *row = tkt_table_add_row(table);
    row[REGION].text = tkt_trace_text(trace, part->region);
    row[PART].text = tkt_trace_text(trace, part->name);
    row[THREADS].u = part->threads;
    row[CALLS].u = part->calls;
    row[TOTAL].u = part->total_ns;
    row[LEAST].u = part->min_ns;
    row[MEAN].u = tkt_mean(part->total_ns, part->threads);
    row[MEAN_SHARE].d = tkt_share(part->total_ns, part->region_ns * part->threads);
    row[MOST].u = part->max_ns;
    row[IMBALANCE].d = tkt_imbalance(part->max_ns, part->total_ns, part->threads);
}

static takt_status show(tkt_document *document, const tkt_threads *threads)
{
    tkt_table *table = add_threads(document, threads);
    tkt_table *parts = tkt_document_add_table(document, "regions", part_columns, PART_COLUMNS,
                                              threads->parts.count);
    if (!table || !parts)
        return TAKT_NO_MEMORY;
    table->weight = IN_SCOPES;
    table->sort = TKT_NO_COLUMN;
    table->default_rows = 100;
    for (size_t i = 0; i < threads->count; i++)
        add_thread(document, &threads->items[i]);
    if (tkt_trace_lacks_time(document->trace)) {
        table->columns[IN_SCOPES_SHARE].rank = TKT_HIDDEN;
        if (has_waits(threads))
            table->columns[WAITED_SHARE].rank = TKT_HIDDEN;
    }
    parts->heading = "What threads ran while main was in a scope:";
    parts->is_hidden_empty = true;
    parts->weight = parts->sort = TOTAL;
    parts->default_rows = 20;
    for (size_t i = 0; i < threads->parts.count; i++)
        add_part(document->trace, parts, &threads->parts.items[i]);
    return TAKT_OK;
}

/* The flight recorder keeps the least time of the busiest thread. Writes ": those of NAME begin at
 * TIME ..." of that thread, or nothing. */
static void put_last_begin(char *out, size_t size, const takt_trace *trace)
{
    tkt_thread_time last = {0};
    char label[TKT_THREAD_LABEL], time[TKT_VALUE_SIZE];
    for (uint32_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind == TAKT_TRACK_THREAD && track->spans.count > 0 &&
            track->spans.items[0].begin_ns > last.first_ns)
            last = (tkt_thread_time){.name = track->name,
                                     .thread_id = track->thread_id,
                                     .is_main = i == tkt_main_track(trace),
                                     .first_ns = track->spans.items[0].begin_ns};
    }
    *out = '\0';
    if (!tkt_trace_is_of_flight(trace) || last.first_ns == 0)
        return;
    tkt_value_time(time, last.first_ns - trace->facts.begin_ns);
    snprintf(out, size, ": those of %.80s begin at %s, see takt report --threads",
             tkt_thread_label(label, trace, &last), time);
}

void tkt_note_mixed_times(tkt_document *document)
{
    char last[192];
    if (!tkt_scopes_mix_times(document->trace))
        return;
    put_last_begin(last, sizeof last, document->trace);
    tkt_document_add_note(document,
                          "Careful: scopes are missing, of some threads more than of others, so do "
                          "not compare scopes of different threads%s.",
                          last);
}

void tkt_note_more_threads(tkt_document *document, const char *effect)
{
    uint64_t count = document->trace->losses[TAKT_LOSS_MORE_THREADS];
    if (count > 0)
        tkt_document_add_note(document,
                              "Careful: the summary has no room to list %llu more thread%s: %s. "
                              "Use fewer threads that live longer, or mode: trace.",
                              (unsigned long long)count, count == 1 ? "" : "s", effect);
}

takt_status tkt_show_threads(tkt_document *document, const takt_report_options *options)
{
    if (document->sought) {
        TKT_SEEK(document, columns);
        return TKT_SEEK(document, part_columns);
    }
    tkt_threads threads = {0};
    (void)options;
    document->nothing = "No threads";
    takt_status status = tkt_threads_of(document->trace, &threads);
    if (status == TAKT_OK)
        status = show(document, &threads);
    if (status == TAKT_OK) {
        tkt_document_add_fact(document, "wall_ns", "Wall time", TKT_CELL_TIME,
                              (tkt_cell){.u = tkt_wall_ns(&document->trace->facts)});
        tkt_document_add_note(document, "Percentages of threads are of the wall time.");
        if (tkt_trace_lacks_spans(document->trace))
            tkt_document_add_note(document, "Careful: the time line lacks scopes, see the losses: "
                                            "regions are unknown.");
        tkt_note_more_threads(document, "the last row stands for all of them");
        tkt_document_explain(document, "waited_ns",
                             "Waited is time in calls that wait for devices, and in scopes that "
                             "wait by their category or by a word of their name.");
    }
    if (status == TAKT_OK && document->tables[1].row_count > 0)
        tkt_document_explain(document, "mean_percent",
                             "Min, mean and max are those of a thread's total; mean %% is of the "
                             "time that main spent in the scope.");
    tkt_threads_fini(&threads);
    return status;
}
