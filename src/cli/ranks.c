/* takt report FOLDER: several traces added up, and how evenly their times are spread over the ranks
 * of a job. Files of one rank, such as its cycles, count as one. Traces of programs without ranks
 * are spread over processes. Only one trace is in memory at a time. */
#include "cli/ranks.h"

#include "base/text.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rank_report {
    const char *name;
    takt_status (*add)(cli_ranks *ranks, size_t part, const takt_trace *trace);
    bool (*show)(tkt_document *document, const cli_ranks *ranks);
    const char *key; /* its name in JSON: its columns differ from those of one file's report */
    const char *nothing;
} rank_report;

static const rank_report rank_reports[] = {
    {"scopes", cli_ranks_add_scopes, cli_ranks_show_scopes, "ranks", "No scopes"},
    {"threads", cli_ranks_add_threads, cli_ranks_show_threads, "rank_threads", "No threads"},
    {"tasks", cli_ranks_add_tasks, cli_ranks_show_tasks, "rank_tasks", "No tasks"},
};

/* NULL: the files of a folder are not added up in this report. */
static const rank_report *find_report(const char *name)
{
    for (size_t i = 0; i < sizeof rank_reports / sizeof *rank_reports; i++) {
        if (strcmp(rank_reports[i].name, name) == 0)
            return &rank_reports[i];
    }
    return NULL;
}

bool cli_ranks_have(const char *report)
{
    return find_report(report) != NULL;
}

/* ======== Reading ======== */

static bool is_of_part(const cli_rank_part *part, const takt_facts *facts, bool has_rank)
{
    return part->has_rank == has_rank &&
           (has_rank ? part->rank == facts->rank : cli_is_same_process(&part->facts, facts));
}

/* Returns the number of the file's rank, or of its process, among the parts. */
static size_t part_of(cli_ranks *ranks, const takt_facts *facts, const char *path)
{
    bool has_rank = tkt_has_rank(facts);

    for (size_t i = 0; i < ranks->part_count; i++) {
        cli_rank_part *part = &ranks->parts[i];
        if (!is_of_part(part, facts, has_rank))
            continue;
        part->has_processes |= part->facts.process_id != facts->process_id;
        return i;
    }
    ranks->parts[ranks->part_count] = (cli_rank_part){
        .name = tkt_base_name(path), .facts = *facts, .rank = facts->rank, .has_rank = has_rank};
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

/* The facts of an earlier file of the same recording, or NULL. */
static takt_facts *find_recording(cli_ranks *ranks, const takt_facts *facts)
{
    for (size_t i = 0; i < ranks->recordings.count; i++) {
        takt_facts *known = &ranks->recordings.items[i];
        if (cli_is_same_process(known, facts) && known->begin_ns == facts->begin_ns &&
            known->cycle == facts->cycle && known->rank == facts->rank)
            return known;
    }
    return NULL;
}

static bool is_copy(const takt_facts *a, const takt_facts *b)
{
    return a->end_ns == b->end_ns && a->span_count == b->span_count &&
           a->activity_count == b->activity_count && a->has_spans == b->has_spans;
}

/* Adds wall time and steps to the part. What is recovered of a stream has the begin of the stream's
 * file, and goes on for longer: only the longer one counts. */
static bool add_times(cli_ranks *ranks, cli_rank_part *part, const takt_facts *facts,
                      takt_facts *earlier)
{
    uint64_t wall_ns = tkt_wall_ns(facts), known_ns = earlier ? tkt_wall_ns(earlier) : 0;
    uint64_t steps = facts->step_count, known_steps = earlier ? earlier->step_count : 0;
    part->wall_ns += wall_ns > known_ns ? wall_ns - known_ns : 0;
    part->steps += steps > known_steps ? steps - known_steps : 0;
    ranks->overlaps += earlier != NULL;
    if (!earlier)
        earlier = TKT_ARRAY_ADD(&ranks->recordings);
    if (earlier && wall_ns >= known_ns)
        *earlier = *facts;
    return earlier != NULL;
}

/* What is read from each file. */
typedef struct rank_reading {
    const char *const *reports;
    size_t count;
} rank_reading;

static takt_status add_trace(cli_ranks *ranks, const rank_reading *reading, const takt_trace *trace,
                             const char *path)
{
    const takt_facts *facts = takt_trace_facts(trace);
    takt_facts *earlier = find_recording(ranks, facts);
    if (earlier && is_copy(earlier, facts)) {
        ranks->copies++;
        return TAKT_OK;
    }
    size_t part = part_of(ranks, facts, path);
    takt_status status = TAKT_OK;
    bool has_lists = true;

    if (!add_times(ranks, &ranks->parts[part], facts, earlier))
        return TAKT_NO_MEMORY;
    add_run(&ranks->parts[part], trace);
    ranks->world_size =
        facts->world_size > ranks->world_size ? facts->world_size : ranks->world_size;
    ranks->files_with_losses += has_losses(trace);
    for (size_t i = 0; i < reading->count && status == TAKT_OK; i++) {
        const rank_report *report = find_report(reading->reports[i]);
        status = report ? report->add(ranks, part, trace) : TAKT_OK;
        has_lists &= status != TAKT_NO_SPANS;
        status = status == TAKT_NO_SPANS ? TAKT_OK : status;
    }
    ranks->files_without_lists += !has_lists;
    return status;
}

static int read_file(cli_ranks *ranks, const rank_reading *reading, const char *path)
{
    takt_trace *trace = cli_open_trace(path);
    if (!trace)
        return CLI_FAILED;
    takt_status status = add_trace(ranks, reading, trace, path);
    takt_trace_release(trace);
    ranks->files_read++;
    return status == TAKT_OK ? CLI_OK : cli_error("%s: %s", path, takt_status_text(status));
}

int cli_ranks_read(const cli_files *files, const char *const *reports, size_t count, cli_ranks *out)
{
    rank_reading reading = {reports, count};
    int result = CLI_OK;

    *out = (cli_ranks){.files = files};
    out->parts = calloc(files->count, sizeof *out->parts);
    if (!out->parts || tkt_strtab_init(&out->names) != TAKT_OK)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    for (size_t i = 0; i < files->count; i++) {
        int status = read_file(out, &reading, files->paths[i]);
        result = status > result ? status : result;
    }
    return result;
}

void cli_ranks_free(cli_ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; i++)
        tkt_free(ranks->items[i].parts);
    for (size_t i = 0; i < ranks->of_task.count; i++)
        tkt_free(ranks->of_task.items[i].parts);
    TKT_ARRAY_FREE(ranks);
    TKT_ARRAY_FREE(&ranks->of_task);
    TKT_ARRAY_FREE(&ranks->processes);
    TKT_ARRAY_FREE(&ranks->threads);
    tkt_map_fini(&ranks->thread_index);
    TKT_ARRAY_FREE(&ranks->recordings);
    tkt_named_fini(&ranks->tasks);
    tkt_strtab_fini(&ranks->names);
    free(ranks->parts);
}

/* ======== Showing ======== */

bool cli_ranks_are_known(const cli_ranks *ranks)
{
    for (size_t i = 0; i < ranks->part_count; i++) {
        if (!ranks->parts[i].has_rank)
            return false;
    }
    return true;
}

const char *cli_ranks_word(const cli_ranks *ranks)
{
    return cli_ranks_are_known(ranks)               ? "rank"
           : ranks->part_count == ranks->files_read ? "file"
                                                    : "process";
}

void cli_ranks_copy_columns(const cli_ranks *ranks, const tkt_column *columns, size_t count,
                            size_t part, tkt_column *out)
{
    memcpy(out, columns, count * sizeof *out);
    if (cli_ranks_are_known(ranks))
        return;
    bool is_count = out[part].type == TKT_CELL_COUNT;
    bool is_of_files = ranks->part_count == ranks->files_read;
    out[part].title = is_of_files ? is_count ? "Files" : "File"
                      : is_count  ? "Processes"
                                  : "Process";
    out[part].key = is_of_files ? is_count ? "files" : "file" : is_count ? "processes" : "process";
}

const char *cli_rank_name(tkt_document *document, const cli_rank_part *part)
{
    char text[32];
    if (!part->has_rank)
        return tkt_document_copy(document, part->name, strlen(part->name));
    int size = snprintf(text, sizeof text, "rank %u", part->rank);
    return tkt_document_copy(document, text, (size_t)size);
}

cli_rank_spread cli_rank_spread_of(const cli_ranks *ranks, const cli_rank_time *parts)
{
    cli_rank_spread spread = {.least_ns = UINT64_MAX};
    for (size_t i = 0; i < ranks->part_count; i++) {
        uint64_t ns = parts[i].ns;
        if (!parts[i].is_there)
            continue;
        spread.most = spread.count == 0 || ns > spread.most_ns ? i : spread.most;
        spread.count++;
        spread.total_ns += ns;
        spread.least_ns = ns < spread.least_ns ? ns : spread.least_ns;
        spread.most_ns = ns > spread.most_ns ? ns : spread.most_ns;
    }
    return spread;
}

static void add_facts(tkt_document *document, const cli_ranks *ranks)
{
    bool is_of_ranks = cli_ranks_are_known(ranks);
    uint64_t least_ns = UINT64_MAX, most_ns = 0;

    for (size_t i = 0; i < ranks->part_count; i++) {
        uint64_t ns = ranks->parts[i].wall_ns;
        least_ns = ns < least_ns ? ns : least_ns;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    tkt_document_add_fact(document, "files", "Files", TKT_CELL_COUNT,
                          (tkt_cell){.u = ranks->files_read});
    if (is_of_ranks || ranks->part_count != ranks->files_read)
        tkt_document_add_fact(document, is_of_ranks ? "ranks" : "processes",
                              is_of_ranks ? "Ranks" : "Processes", TKT_CELL_COUNT,
                              (tkt_cell){.u = ranks->part_count});
    tkt_document_add_fact(document, "wall_min_ns", "Wall time, min", TKT_CELL_TIME,
                          (tkt_cell){.u = least_ns});
    tkt_document_add_fact(document, "wall_max_ns", "Wall time, max", TKT_CELL_TIME,
                          (tkt_cell){.u = most_ns});
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

/* Sets the fewest and the most steps that a part recorded. */
static void find_steps(const cli_ranks *ranks, uint64_t *least, uint64_t *most)
{
    *least = ranks->part_count ? ranks->parts[0].steps : 0;
    *most = 0;
    for (size_t i = 0; i < ranks->part_count; i++) {
        *least = ranks->parts[i].steps < *least ? ranks->parts[i].steps : *least;
        *most = ranks->parts[i].steps > *most ? ranks->parts[i].steps : *most;
    }
}

static void note_files(tkt_document *document, size_t count, size_t all, const char *what)
{
    if (count > 0)
        tkt_document_add_note(document, "Careful: %zu of %zu files %s", count, all, what);
}

static void add_notes(tkt_document *document, const cli_ranks *ranks)
{
    bool is_of_ranks = cli_ranks_are_known(ranks);
    uint64_t least, most;

    find_steps(ranks, &least, &most);
    if (least < most)
        tkt_document_add_note(document,
                              "Careful: %" PRIu64 " to %" PRIu64 " steps were recorded of each %s: "
                              "times differ for that, too.",
                              least, most, cli_ranks_word(ranks));
    if (is_of_ranks && ranks->part_count < ranks->world_size)
        tkt_document_add_note(document, "Careful: files of only %zu of %u ranks are here.",
                              ranks->part_count, ranks->world_size);
    if (mixes_processes(ranks))
        tkt_document_add_note(document, "Careful: files of one rank are of several processes: "
                                        "several runs are added up.");
    note_files(document, ranks->files->count - ranks->files_read, ranks->files->count,
               "could not be read.");
    note_files(document, ranks->copies, ranks->files_read,
               "have what others have, too, and were left out.");
    note_files(document, ranks->overlaps, ranks->files_read,
               "have a part of a recording that another file has, too, such as a stream and what "
               "was recovered of it: calls in both count twice.");
    note_files(document, ranks->files_without_lists, ranks->files_read,
               "know only scopes, since they were recovered from summaries.");
    if (ranks->files_with_losses > 0)
        tkt_document_add_note(document,
                              "Careful: events were lost in %zu of %zu files; takt info lists "
                              "them.",
                              ranks->files_with_losses, ranks->files_read);
}

takt_status cli_ranks_show(const cli_ranks *ranks, const char *report,
                           const takt_report_options *options, const takt_sink *sink)
{
    const rank_report *shown = find_report(report);
    tkt_document document;
    tkt_document_init(&document, shown->key, NULL);
    document.nothing = shown->nothing;
    add_facts(&document, ranks);
    takt_status status = shown->show(&document, ranks) ? TAKT_OK : TAKT_NO_MEMORY;
    add_notes(&document, ranks);
    if (status == TAKT_OK)
        status = tkt_document_print(&document, options, sink);
    tkt_document_fini(&document);
    return status;
}
