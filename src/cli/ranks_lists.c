/* takt report --threads --tasks FOLDER: each rank's threads, and tasks added up by name. */
#include "cli/ranks.h"

#include "report/show.h"
#include "summary/tasks.h"
#include "summary/threads.h"

#include <stdlib.h>

/* Returns the number of a text of the trace, or TKT_STRTAB_FULL. */
static uint32_t keep(cli_ranks *ranks, const takt_trace *trace, uint32_t text)
{
    return tkt_strtab_intern_text(&ranks->names, tkt_trace_text(trace, text));
}

/* ======== Threads ======== */

/* Returns the process, added if it is new. NULL without memory. */
static cli_rank_process *process_of(cli_ranks *ranks, size_t part, uint32_t id)
{
    for (size_t i = 0; i < ranks->processes.count; i++) {
        cli_rank_process *known = &ranks->processes.items[i];
        if (known->part == part && known->id == id)
            return known;
    }
    cli_rank_process *added = TKT_ARRAY_ADD(&ranks->processes);
    if (added)
        *added = (cli_rank_process){.part = part, .id = id};
    return added;
}

/* Returns the thread of this name and id, added if it is new. NULL without memory. Threads with the
 * same hash use the next free key. */
static cli_rank_thread *thread_of(cli_ranks *ranks, size_t process, const tkt_thread_time *thread,
                                  uint32_t name)
{
    uint32_t thread_id = thread->number == TKT_NO_TRACK ? UINT32_MAX : thread->thread_id;
    uint64_t hash = tkt_hash_u64((uint64_t)thread_id << 32 | name);
    for (hash = tkt_hash_u64(hash + process);; hash++) {
        uint64_t *number = tkt_map_put(&ranks->thread_index, hash);
        if (!number)
            return NULL;
        cli_rank_thread *known = *number ? &ranks->threads.items[*number - 1] : NULL;
        if (!known) {
            known = TKT_ARRAY_ADD(&ranks->threads);
            if (!known)
                return NULL;
            *known = (cli_rank_thread){.process = process,
                                       .thread_id = thread_id,
                                       .name = name,
                                       .is_main = thread->is_main};
            *number = ranks->threads.count;
            return known;
        }
        if (known->process == process && known->thread_id == thread_id && known->name == name)
            return known;
    }
}

static bool add_thread(cli_ranks *ranks, size_t process, const takt_trace *trace,
                       const tkt_thread_time *thread)
{
    char label[TKT_THREAD_LABEL];
    uint32_t name = tkt_strtab_intern_text(&ranks->names, tkt_thread_label(label, trace, thread));
    uint32_t wait_name = thread->wait_name ? keep(ranks, trace, thread->wait_name) : 0;
    if (name == TKT_STRTAB_FULL || wait_name == TKT_STRTAB_FULL)
        return false;
    cli_rank_thread *sum = thread_of(ranks, process, thread, name);
    if (!sum)
        return false;
    sum->spans += thread->spans;
    sum->scope_ns += thread->scope_ns;
    sum->wait_ns += thread->wait_ns;
    if (thread->wait_ns > sum->longest_ns) {
        sum->longest_ns = thread->wait_ns;
        sum->wait_name = wait_name;
    }
    return true;
}

takt_status cli_ranks_add_threads(cli_ranks *ranks, size_t part, const takt_trace *trace)
{
    cli_rank_process *process = process_of(ranks, part, trace->facts.process_id);
    if (!process)
        return TAKT_NO_MEMORY;
    process->wall_ns += tkt_wall_ns(&trace->facts); /* as the scopes of overlapping files add up */
    process->lacks_time |= tkt_trace_lacks_time(trace);
    size_t index = (size_t)(process - ranks->processes.items);
    tkt_threads threads = {0};
    takt_status status = tkt_threads_of(trace, &threads);
    for (size_t i = 0; status == TAKT_OK && i < threads.count; i++)
        status = add_thread(ranks, index, trace, &threads.items[i]) ? TAKT_OK : TAKT_NO_MEMORY;
    tkt_threads_fini(&threads);
    return status;
}

enum {
    PART,
    THREAD,
    THREAD_ID,
    SPANS,
    IN_SCOPES,
    IN_SCOPES_SHARE,
    WAITED,
    WAITED_SHARE,
    WAITED_IN,
    THREAD_COLUMNS
};

static const tkt_column thread_columns[THREAD_COLUMNS] = {
    [PART] = {"Rank", "rank", TKT_CELL_TEXT, 0, true, 1},
    [THREAD] = {"Thread", "thread", TKT_CELL_TEXT, 0, true, 1},
    [THREAD_ID] = {"Id", "thread_id", TKT_CELL_COUNT, 5, false, 1},
    [SPANS] = {"Spans", "spans", TKT_CELL_COUNT, 4, false, 1},
    [IN_SCOPES] = {"In scopes", "scope_time_ns", TKT_CELL_TIME, 2, false, 1},
    [IN_SCOPES_SHARE] = {"In scopes %", "scope_time_percent", TKT_CELL_SHARE, 0, false, 1},
    [WAITED] = {"Waited", "waited_ns", TKT_CELL_TIME, 3, false, 1},
    [WAITED_SHARE] = {"Waited %", "waited_percent", TKT_CELL_SHARE, 1, false, 1},
    [WAITED_IN] = {"Most of it in", "waited_in", TKT_CELL_TEXT, 3, true, 1},
};

typedef struct listed_thread {
    const cli_rank_thread *thread;
    const cli_rank_process *process;
    const cli_rank_part *part;
} listed_thread;

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By rank and process, main first. */
static int by_part(const void *a, const void *b)
{
    const listed_thread *x = a, *y = b;
    int order = compare(x->part->rank, y->part->rank);
    order = order ? order : compare(x->process->part, y->process->part);
    order = order ? order : compare(x->process->id, y->process->id);
    order = order ? order : compare(y->thread->is_main, x->thread->is_main);
    order = order ? order : compare(x->thread->thread_id, y->thread->thread_id);
    return order ? order : compare((uintptr_t)x->thread, (uintptr_t)y->thread);
}

static void add_thread_row(tkt_document *document, const cli_ranks *ranks, const listed_thread *of)
{
    const cli_rank_thread *thread = of->thread;
    tkt_cell *row = tkt_table_add_row(&document->tables[0]);
    row[PART].text = cli_rank_name(document, of->part);
    row[THREAD].text = tkt_strtab_text(&ranks->names, thread->name);
    row[THREAD_ID].u = thread->thread_id == UINT32_MAX ? TKT_NO_VALUE : thread->thread_id;
    row[SPANS].u = thread->spans;
    row[IN_SCOPES].u = thread->scope_ns;
    uint64_t wall_ns = of->process->lacks_time ? 0 : of->process->wall_ns;
    row[IN_SCOPES_SHARE].d = tkt_share(thread->scope_ns, wall_ns);
    row[WAITED].u = thread->wait_ns;
    row[WAITED_SHARE].d = tkt_share(thread->wait_ns, wall_ns);
    row[WAITED_IN].text =
        thread->wait_name ? tkt_strtab_text(&ranks->names, thread->wait_name) : NULL;
}

bool cli_ranks_show_threads(tkt_document *document, const cli_ranks *ranks)
{
    size_t count = ranks->threads.count;
    tkt_column columns[THREAD_COLUMNS];
    cli_ranks_copy_columns(ranks, thread_columns, THREAD_COLUMNS, PART, columns);
    tkt_table *table = tkt_document_add_table(document, "threads", columns, THREAD_COLUMNS, count);
    listed_thread *all = calloc(count + 1, sizeof *all);
    if (table && all) {
        table->weight = IN_SCOPES;
        table->sort = TKT_NO_COLUMN;
        table->default_rows = 100;
        for (size_t i = 0; i < count; i++) {
            const cli_rank_thread *thread = &ranks->threads.items[i];
            const cli_rank_process *process = &ranks->processes.items[thread->process];
            all[i] = (listed_thread){thread, process, &ranks->parts[process->part]};
            if (process->lacks_time)
                table->columns[IN_SCOPES_SHARE].rank = table->columns[WAITED_SHARE].rank =
                    TKT_HIDDEN;
        }
        qsort(all, count, sizeof *all, by_part);
        for (size_t i = 0; i < count; i++)
            add_thread_row(document, ranks, &all[i]);
        tkt_document_add_note(document, "Percentages are of the wall time of the process. takt "
                                        "report --threads FILE shows what threads ran while main "
                                        "was in a scope.");
    }
    free(all);
    return table && all;
}

/* ======== Tasks ======== */

/* Returns the task's part of an entry of `tasks`, made if it is new. NULL without memory. */
static cli_rank_task *task_of(cli_ranks *ranks, size_t index)
{
    if (index < ranks->of_task.count)
        return &ranks->of_task.items[index];
    cli_rank_task *task = TKT_ARRAY_ADD(&ranks->of_task);
    if (!task)
        return NULL;
    *task =
        (cli_rank_task){TKT_NO_VALUE, tkt_alloc_zeroed(ranks->files->count * sizeof *task->parts)};
    return task->parts ? task : NULL;
}

static bool add_task(cli_ranks *ranks, size_t part, const takt_trace *trace, const tkt_named *task,
                     uint64_t at_once)
{
    uint32_t name = keep(ranks, trace, task->name), track = keep(ranks, trace, task->shape);
    if (name == TKT_STRTAB_FULL || track == TKT_STRTAB_FULL)
        return false;
    tkt_named *sum = tkt_named_find(&ranks->tasks, name, track);
    cli_rank_task *of = sum ? task_of(ranks, (size_t)(sum - ranks->tasks.items)) : NULL;
    if (!of)
        return false;
    sum->shape = track;
    tkt_named_add_stats(&ranks->tasks, sum, &task->stats, task->histogram);
    if (at_once != TKT_NO_VALUE && (of->at_once == TKT_NO_VALUE || at_once > of->at_once))
        of->at_once = at_once;
    of->parts[part].ns += task->stats.total_ns;
    of->parts[part].is_there = true;
    return true;
}

takt_status cli_ranks_add_tasks(cli_ranks *ranks, size_t part, const takt_trace *trace)
{
    tkt_task_list tasks = {0};
    takt_status status = tkt_tasks_of(trace, &tasks);
    for (size_t i = 0; status == TAKT_OK && i < tasks.times.count; i++) {
        uint64_t at_once = tasks.at_once.count > 0 ? tasks.at_once.items[i] : TKT_NO_VALUE;
        bool is_added = add_task(ranks, part, trace, &tasks.times.items[i], at_once);
        status = is_added ? TAKT_OK : TAKT_NO_MEMORY;
    }
    tkt_tasks_fini(&tasks);
    return status;
}

enum {
    TASK,
    TRACK,
    PARTS,
    COUNT,
    TOTAL,
    MEAN,
    MEDIAN,
    P99,
    LEAST,
    MOST,
    AT_ONCE,
    IMBALANCE,
    MOST_IN,
    TASK_COLUMNS
};

static const tkt_column task_columns[TASK_COLUMNS] = {
    [TASK] = {"Task", "task", TKT_CELL_TEXT, 0, true, 1},
    [TRACK] = {"Track", "track", TKT_CELL_TEXT, 1, true, 1},
    [PARTS] = {"Ranks", "ranks", TKT_CELL_COUNT, 4, false, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 1, false, 1},
    [TOTAL] = {"Total", "total_ns", TKT_CELL_TIME, 0, false, 1},
    [MEAN] = {"Mean", "mean_ns", TKT_CELL_TIME, 2, false, 1},
    [MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 5, false, 1},
    [P99] = {"p99", "p99_ns", TKT_CELL_TIME, 6, false, 1},
    [LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 8, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_TIME, 7, false, 1},
    [AT_ONCE] = {"At once", "at_once", TKT_CELL_COUNT, 5, false, 1},
    [IMBALANCE] = {"Max/mean", "imbalance", TKT_CELL_NUMBER, 2, false, 1},
    [MOST_IN] = {"Most in", "most_in", TKT_CELL_TEXT, 3, true, 1},
};

static void add_task_row(tkt_document *document, const cli_ranks *ranks, size_t index)
{
    const tkt_named *task = &ranks->tasks.items[index];
    const cli_rank_task *of = &ranks->of_task.items[index];
    const tkt_stats *stats = &task->stats;
    cli_rank_spread spread = cli_rank_spread_of(ranks, of->parts);
    tkt_cell *row = tkt_table_add_row(&document->tables[0]);
    row[TASK].text = tkt_strtab_text(&ranks->names, task->name);
    row[TRACK].text = tkt_strtab_text(&ranks->names, task->shape);
    row[PARTS].u = spread.count;
    row[COUNT].u = stats->count;
    row[TOTAL].u = stats->total_ns;
    tkt_show_durations(&row[MEAN], stats, task->histogram);
    row[AT_ONCE].u = of->at_once;
    row[IMBALANCE].d = tkt_imbalance(spread.most_ns, spread.total_ns, spread.count);
    row[MOST_IN].text = cli_rank_name(document, &ranks->parts[spread.most]);
}

bool cli_ranks_show_tasks(tkt_document *document, const cli_ranks *ranks)
{
    const char *part = cli_ranks_are_known(ranks) ? "rank" : "file";
    tkt_column columns[TASK_COLUMNS];
    cli_ranks_copy_columns(ranks, task_columns, TASK_COLUMNS, PARTS, columns);
    tkt_table *table =
        tkt_document_add_table(document, "tasks", columns, TASK_COLUMNS, ranks->of_task.count);
    if (!table)
        return false;
    table->weight = table->sort = TOTAL;
    table->default_rows = 100;
    for (size_t i = 0; i < ranks->of_task.count; i++)
        add_task_row(document, ranks, i);
    if (table->row_count == 0)
        return true;
    tkt_table_hide_empty(table, AT_ONCE);
    tkt_document_explain(document, "at_once",
                         "At once is the greatest number that ran at the same time in a file.");
    tkt_document_explain(document, "imbalance",
                         "Max/mean compares the total of the %s with the most with the mean of all "
                         "that have the task.",
                         part);
    tkt_document_explain(document, "median_ns",
                         "Median and p99 are within 3.2 %%; p99 needs %d tasks.", TKT_P99_LEAST);
    tkt_note_more_medians(document, ranks->tasks.count, TKT_NAMED_HISTOGRAMS);
    return true;
}
