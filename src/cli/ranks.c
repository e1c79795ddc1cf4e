/* takt report FOLDER: scopes of several traces added up, how evenly they are spread over the ranks
 * of a job, and how long the steps of each rank's run took. Files of one rank, such as its cycles,
 * count as one. Traces of programs without ranks are spread over files. Only one trace is in memory
 * at a time. */
#include "cli/ranks.h"

#include "base/text.h"
#include "cli/cli.h"
#include "report/show.h"
#include "summary/scopes.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Returns the number of the file's rank, or of the file itself, among the parts. */
static size_t part_of(cli_ranks *ranks, const takt_facts *facts, const char *path)
{
    bool has_rank = tkt_has_rank(facts);

    for (size_t i = 0; has_rank && i < ranks->part_count; i++) {
        cli_rank_part *part = &ranks->parts[i];
        if (!part->has_rank || part->rank != facts->rank)
            continue;
        part->has_processes |= part->process_id != facts->process_id;
        return i;
    }
    ranks->parts[ranks->part_count] = (cli_rank_part){.name = tkt_base_name(path),
                                                      .process_id = facts->process_id,
                                                      .rank = facts->rank,
                                                      .has_rank = has_rank};
    return ranks->part_count++;
}

static bool has_losses(const takt_trace *trace)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        if (takt_trace_loss(trace, (takt_loss)i) > 0)
            return true;
    }
    return false;
}

static takt_status add_scopes(cli_ranks *ranks, size_t part, const tkt_scopes *scopes)
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

/* The last cycle of a run knows all its steps. */
static void add_run(cli_rank_part *part, const takt_trace *trace)
{
    tkt_step_figures all = tkt_steps_all(trace);
    if (all.count <= part->run.count)
        return;
    part->run = all;
    part->run_ns = trace->all_steps.stats.total_ns;
    part->slowest =
        trace->run && trace->run->slowest_count > 0 ? trace->run->slowest[0].number : TKT_NO_VALUE;
}

static takt_status add_trace(cli_ranks *ranks, const takt_trace *trace, const char *path)
{
    const takt_facts *facts = takt_trace_facts(trace);
    tkt_scopes scopes = {0};
    size_t part = part_of(ranks, facts, path);

    ranks->parts[part].wall_ns += tkt_wall_ns(facts);
    add_run(&ranks->parts[part], trace);
    ranks->world_size =
        facts->world_size > ranks->world_size ? facts->world_size : ranks->world_size;
    ranks->files_with_losses += has_losses(trace);
    takt_status status = tkt_scopes_sums(trace, &scopes);
    if (status == TAKT_OK)
        status = add_scopes(ranks, part, &scopes);
    tkt_scopes_fini(&scopes);
    return status;
}

static int read_file(cli_ranks *ranks, const char *path)
{
    takt_trace *trace = cli_open_trace(path);
    if (!trace)
        return CLI_FAILED;
    takt_status status = add_trace(ranks, trace, path);
    takt_trace_release(trace);
    ranks->files_read++;
    return status == TAKT_OK ? CLI_OK : cli_error("%s: %s", path, takt_status_text(status));
}

int cli_ranks_read(const cli_files *files, cli_ranks *out)
{
    int result = CLI_OK;

    *out = (cli_ranks){.files = files};
    out->parts = calloc(files->count, sizeof *out->parts);
    if (!out->parts || tkt_strtab_init(&out->names) != TAKT_OK)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    for (size_t i = 0; i < files->count; i++) {
        int status = read_file(out, files->paths[i]);
        result = status > result ? status : result;
    }
    return result;
}

void cli_ranks_free(cli_ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; i++)
        tkt_free(ranks->items[i].parts);
    TKT_ARRAY_FREE(ranks);
    tkt_strtab_fini(&ranks->names);
    free(ranks->parts);
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

static bool has_only_ranks(const cli_ranks *ranks)
{
    for (size_t i = 0; i < ranks->part_count; i++) {
        if (!ranks->parts[i].has_rank)
            return false;
    }
    return true;
}

/* "rank 3", or the file's name. */
static const char *name_of(tkt_document *document, const cli_rank_part *part)
{
    char text[32];
    if (!part->has_rank)
        return tkt_document_copy(document, part->name, strlen(part->name));
    int size = snprintf(text, sizeof text, "rank %u", part->rank);
    return tkt_document_copy(document, text, (size_t)size);
}

static void add_row(tkt_document *document, const cli_ranks *ranks, size_t index)
{
    const cli_rank_row *row = &ranks->items[index];
    uint64_t count = 0, total_ns = 0, least_ns = UINT64_MAX, most_ns = 0;
    size_t most = 0;

    for (size_t i = 0; i < ranks->part_count; i++) {
        uint64_t ns = row->parts[i].ns;
        if (!row->parts[i].is_there)
            continue;
        most = count == 0 || ns > most_ns ? i : most;
        count++;
        total_ns += ns;
        least_ns = ns < least_ns ? ns : least_ns;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    tkt_cell *cells = tkt_table_add_row(&document->tables[0]);
    cells[NAME].text = tkt_strtab_text(&ranks->names, (uint32_t)index);
    cells[PARTS].u = count;
    cells[CALLS].u = row->calls;
    cells[SELF].u = row->self_ns;
    cells[TOTAL].u = total_ns;
    cells[LEAST].u = least_ns;
    cells[MEAN].u = tkt_mean(total_ns, count);
    cells[MOST].u = most_ns;
    cells[IMBALANCE].d = tkt_imbalance(most_ns, total_ns, count);
    cells[MOST_IN].text = name_of(document, &ranks->parts[most]);
    if (ranks->has_device)
        cells[DEVICE_TOTAL].u = row->device_ns;
}

static bool add_table(tkt_document *document, const cli_ranks *ranks)
{
    tkt_column columns[COLUMNS];
    size_t rows = 0;

    for (size_t i = 0; i < ranks->count; i++)
        rows += ranks->items[i].parts != NULL;
    memcpy(columns, all_columns, sizeof columns);
    if (!has_only_ranks(ranks)) {
        columns[PARTS].title = "Files";
        columns[PARTS].key = "files";
    }
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
    memcpy(columns, step_columns, sizeof columns);
    if (!has_only_ranks(ranks)) {
        columns[PART].title = "File";
        columns[PART].key = "file";
    }
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
        row[PART].text = name_of(document, part);
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
    tkt_value_text(most, TKT_CELL_TIME, (tkt_cell){.u = slowest->run.mean_ns});
    tkt_value_text(least, TKT_CELL_TIME, (tkt_cell){.u = least_ns});
    tkt_value_text(next, TKT_CELL_TIME, (tkt_cell){.u = next_ns});
    snprintf(others, sizeof others, count == 1 ? "other has" : "%zu others have", count);
    bool is_range = strcmp(least, next) != 0;
    tkt_document_set_headline(document,
                              "The slowest steps are those of %s: mean %s. The %s %s%s%s.",
                              name_of(document, slowest), most, others, least,
                              is_range ? " to " : "", is_range ? next : "");
}

static void add_facts(tkt_document *document, const cli_ranks *ranks)
{
    bool is_of_ranks = has_only_ranks(ranks);
    uint64_t least_ns = UINT64_MAX, most_ns = 0;

    for (size_t i = 0; i < ranks->part_count; i++) {
        uint64_t ns = ranks->parts[i].wall_ns;
        least_ns = ns < least_ns ? ns : least_ns;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    tkt_document_add_fact(document, "files", "Files", TKT_CELL_COUNT,
                          (tkt_cell){.u = ranks->files_read});
    if (is_of_ranks)
        tkt_document_add_fact(document, "ranks", "Ranks", TKT_CELL_COUNT,
                              (tkt_cell){.u = ranks->part_count});
    tkt_document_add_fact(document, "wall_min_ns", "Wall time, min", TKT_CELL_TIME,
                          (tkt_cell){.u = least_ns});
    tkt_document_add_fact(document, "wall_max_ns", "Wall time, max", TKT_CELL_TIME,
                          (tkt_cell){.u = most_ns});
    tkt_document_add_fact(document, "self_cpu_total_ns", "Self CPU time total", TKT_CELL_TIME,
                          (tkt_cell){.u = ranks->self_ns});
}

/* True if files of one rank come from several processes: their times are added up. */
static bool mixes_processes(const cli_ranks *ranks)
{
    for (size_t i = 0; i < ranks->part_count; i++) {
        if (ranks->parts[i].has_processes)
            return true;
    }
    return false;
}

static void add_notes(tkt_document *document, const cli_ranks *ranks)
{
    bool is_of_ranks = has_only_ranks(ranks);

    tkt_document_add_note(document,
                          "Min, mean and max are of one %s's CPU total, over those that entered "
                          "the scope.",
                          is_of_ranks ? "rank" : "file");
    if (document->table_count > 1)
        tkt_document_add_note(document, "The median of a run's steps is within 3.2 %%.");
    if (is_of_ranks && ranks->part_count < ranks->world_size)
        tkt_document_add_note(document, "Careful: files of only %zu of %u ranks are here.",
                              ranks->part_count, ranks->world_size);
    if (mixes_processes(ranks))
        tkt_document_add_note(document, "Careful: files of one rank are of several processes: "
                                        "several runs are added up.");
    if (ranks->files_read < ranks->files->count)
        tkt_document_add_note(document, "Careful: %zu of %zu files could not be read.",
                              ranks->files->count - ranks->files_read, ranks->files->count);
    if (ranks->files_with_losses > 0)
        tkt_document_add_note(document,
                              "Careful: events were lost in %zu of %zu files; takt info lists "
                              "them.",
                              ranks->files_with_losses, ranks->files_read);
}

takt_status cli_ranks_show(const cli_ranks *ranks, const takt_report_options *options,
                           const takt_sink *sink)
{
    tkt_document document;
    tkt_document_init(&document, "ranks", NULL);
    document.nothing = "No scopes";
    bool has_memory = add_table(&document, ranks) && add_steps(&document, ranks);
    takt_status status = has_memory ? TAKT_OK : TAKT_NO_MEMORY;
    set_headline(&document, ranks);
    add_facts(&document, ranks);
    add_notes(&document, ranks);
    if (status == TAKT_OK)
        status = tkt_document_print(&document, options, sink);
    tkt_document_fini(&document);
    return status;
}
