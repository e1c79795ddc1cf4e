/* takt report FOLDER: scopes added up by name, how evenly they are spread over the ranks of a job,
 * and how long the steps of each rank's run took. */
#include "cli/ranks.h"

#include "report/table.h"
#include "summary/scopes.h"

#include <stdio.h>
#include <string.h>

/* ======== Reading ======== */

/* The row of a name, added if it is new. NULL without memory. */
static cli_rank_row *row_of(cli_ranks *ranks, const char *name)
{
    uint32_t id = tkt_strtab_intern_text(&ranks->names, name);
    while (id != TKT_STRTAB_FULL && ranks->count <= id) {
        cli_rank_row *row = TKT_ARRAY_ADD(ranks);
        if (!row)
            return NULL;
        *row = (cli_rank_row){0};
    }
    if (id == TKT_STRTAB_FULL)
        return NULL;
    cli_rank_row *row = &ranks->items[id];
    if (!row->parts)
        row->parts = tkt_alloc_zeroed(ranks->files->count * sizeof *row->parts);
    return row->parts ? row : NULL;
}

static takt_status add_sums(cli_ranks *ranks, size_t part, const tkt_scopes *scopes)
{
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        cli_rank_row *row = row_of(ranks, scope->name);
        if (!row)
            return TAKT_NO_MEMORY;
        row->calls += scope->calls;
        row->self_ns += scope->self_ns;
        row->device_ns += scope->device_total_ns;
        row->parts[part].ns += scope->total_ns;
        row->parts[part].is_there = true;
    }
    ranks->self_ns += scopes->self_ns;
    ranks->has_device |= scopes->has_device;
    return TAKT_OK;
}

takt_status cli_ranks_add_scopes(cli_ranks *ranks, size_t part, const takt_trace *trace)
{
    tkt_scopes scopes = {0};
    takt_status status = tkt_scopes_sums(trace, &scopes);
    if (status == TAKT_OK)
        status = add_sums(ranks, part, &scopes);
    tkt_scopes_fini(&scopes);
    return status;
}

/* ======== Showing ======== */

enum {
    NAME,
    PARTS,
    CALLS,
    SELF,
    TOTAL,
    LEAST,
    MEAN,
    MOST,
    IMBALANCE,
    MOST_IN,
    HOST_COLUMNS,
    DEVICE_TOTAL = HOST_COLUMNS,
    COLUMNS
};

static const tkt_column all_columns[COLUMNS] = {
    [NAME] = {"Name", "name", TKT_CELL_TEXT, 0, false, 1},
    [PARTS] = {"Ranks", "ranks", TKT_CELL_COUNT, 4, false, 1},
    [CALLS] = {"# of Calls", "calls", TKT_CELL_COUNT, 5, false, 1},
    [SELF] = {"Self CPU", "self_cpu_ns", TKT_CELL_TIME, 7, false, 1},
    [TOTAL] = {"CPU total", "cpu_total_ns", TKT_CELL_TIME, 1, false, 1},
    [LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 3, false, 1},
    [MEAN] = {"Mean", "mean_ns", TKT_CELL_TIME, 2, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_TIME, 2, false, 1},
    [IMBALANCE] = {"Max/mean", "imbalance", TKT_CELL_NUMBER, 1, false, 1},
    [MOST_IN] = {"Max in", "max_in", TKT_CELL_TEXT, 3, true, 1},
    [DEVICE_TOTAL] = {"CUDA total", "cuda_total_ns", TKT_CELL_TIME, 6, false, 1},
};

static void add_row(tkt_document *document, const cli_ranks *ranks, size_t index)
{
    const cli_rank_row *row = &ranks->items[index];
    cli_rank_spread spread = cli_rank_spread_of(ranks, row->parts);
    tkt_cell *cells = tkt_table_add_row(&document->tables[0]);
    cells[NAME].text = tkt_strtab_text(&ranks->names, (uint32_t)index);
    cells[PARTS].u = spread.count;
    cells[CALLS].u = row->calls;
    cells[SELF].u = row->self_ns;
    cells[TOTAL].u = spread.total_ns;
    cells[LEAST].u = spread.least_ns;
    cells[MEAN].u = tkt_mean(spread.total_ns, spread.count);
    cells[MOST].u = spread.most_ns;
    cells[IMBALANCE].d = tkt_imbalance(spread.most_ns, spread.total_ns, spread.count);
    cells[MOST_IN].text = cli_rank_name(document, &ranks->parts[spread.most]);
    if (ranks->has_device)
        cells[DEVICE_TOTAL].u = row->device_ns;
}

static bool add_table(tkt_document *document, const cli_ranks *ranks)
{
    tkt_column columns[COLUMNS];
    size_t rows = 0;

    for (size_t i = 0; i < ranks->count; i++)
        rows += ranks->items[i].parts != NULL;
    cli_ranks_copy_columns(ranks, all_columns, COLUMNS, PARTS, columns);
    tkt_table *table = tkt_document_add_table(document, "ranks", columns,
                                              ranks->has_device ? COLUMNS : HOST_COLUMNS, rows);
    if (!table)
        return false;
    table->weight = table->sort = TOTAL;
    table->default_rows = 100;
    for (size_t i = 0; i < ranks->count; i++) {
        if (ranks->items[i].parts)
            add_row(document, ranks, i);
    }
    return true;
}

enum {
    PART,
    STEPS,
    RUN,
    STEP_MEAN,
    STEP_MEDIAN,
    STEP_MOST,
    SLOWEST,
    STEP_COLUMNS
};

static const tkt_column step_columns[STEP_COLUMNS] = {
    [PART] = {"Rank", "rank", TKT_CELL_TEXT, 0, true, 1},
    [STEPS] = {"Steps", "steps", TKT_CELL_COUNT, 0, false, 1},
    [RUN] = {"Total", "total_ns", TKT_CELL_TIME, 2, false, 1},
    [STEP_MEAN] = {"Mean", "mean_ns", TKT_CELL_TIME, 0, false, 1},
    [STEP_MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 3, false, 1},
    [STEP_MOST] = {"Max", "max_ns", TKT_CELL_TIME, 1, false, 1},
    [SLOWEST] = {"Slowest step", "slowest_step", TKT_CELL_COUNT, 1, false, 1},
};

/* Adds a table of the steps of each rank, if there are any. False without memory. */
static bool add_steps(tkt_document *document, const cli_ranks *ranks)
{
    tkt_column columns[STEP_COLUMNS];
    size_t rows = 0;

    for (size_t i = 0; i < ranks->part_count; i++)
        rows += ranks->parts[i].run.count > 0;
    if (rows == 0)
        return true;
    cli_ranks_copy_columns(ranks, step_columns, STEP_COLUMNS, PART, columns);
    tkt_table *table = tkt_document_add_table(document, "steps", columns, STEP_COLUMNS, rows);
    if (!table)
        return false;
    table->heading = "Steps of the run, recorded or not:";
    table->sort = RUN;
    table->default_rows = 10;
    for (size_t i = 0; i < ranks->part_count; i++) {
        const cli_rank_part *part = &ranks->parts[i];
        if (part->run.count == 0)
            continue;
        tkt_cell *row = tkt_table_add_row(table);
        row[PART].text = cli_rank_name(document, part);
        row[STEPS].u = part->run.count;
        row[RUN].u = part->run_ns;
        row[STEP_MEAN].u = part->run.mean_ns;
        row[STEP_MEDIAN].u = part->run.median_ns;
        row[STEP_MOST].u = part->run.max_ns;
        row[SLOWEST].u = part->slowest;
    }
    return true;
}

/* Names the part with the slowest steps, and how long those of the others took. */
static void set_headline(tkt_document *document, const cli_ranks *ranks)
{
    char most[TKT_VALUE_SIZE], least[TKT_VALUE_SIZE], next[TKT_VALUE_SIZE], others[48];
    uint64_t least_ns = UINT64_MAX, next_ns = 0;
    const cli_rank_part *slowest = NULL;
    size_t count = 0; /* of the others */

    for (size_t i = 0; i < ranks->part_count; i++) {
        const cli_rank_part *part = &ranks->parts[i];
        if (part->run.count > 0 && (!slowest || part->run.mean_ns > slowest->run.mean_ns))
            slowest = part;
    }
    for (size_t i = 0; i < ranks->part_count; i++) {
        const cli_rank_part *part = &ranks->parts[i];
        if (part->run.count == 0 || part == slowest)
            continue;
        count++;
        least_ns = part->run.mean_ns < least_ns ? part->run.mean_ns : least_ns;
        next_ns = part->run.mean_ns > next_ns ? part->run.mean_ns : next_ns;
    }
    if (count == 0)
        return;
    tkt_value_time(most, slowest->run.mean_ns);
    tkt_value_time(least, least_ns);
    tkt_value_time(next, next_ns);
    snprintf(others, sizeof others, count == 1 ? "other has" : "%zu others have", count);
    bool is_range = strcmp(least, next) != 0;
    tkt_document_set_headline(document,
                              "The slowest steps are those of %s: mean %s. The %s %s%s%s.",
                              cli_rank_name(document, slowest), most, others, least,
                              is_range ? " to " : "", is_range ? next : "");
}

bool cli_ranks_show_scopes(tkt_document *document, const cli_ranks *ranks)
{
    bool has_memory = add_table(document, ranks) && add_steps(document, ranks);
    set_headline(document, ranks);
    tkt_document_add_fact(document, "self_cpu_total_ns", "Self CPU time total", TKT_CELL_TIME,
                          (tkt_cell){.u = ranks->self_ns});
    tkt_document_add_note(document,
                          "Min, mean and max are of one %s's CPU total, over those that entered "
                          "the scope.",
                          cli_ranks_word(ranks));
    if (document->table_count > 1)
        tkt_document_add_note(document, "The median of a run's steps is within 3.2 %%.");
    return has_memory;
}
