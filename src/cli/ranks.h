/* Scopes, steps, threads and tasks of several traces, over the ranks of a job. */
#ifndef TKT_CLI_RANKS_H
#define TKT_CLI_RANKS_H

#include "cli/cli.h"

#include "base/containers.h"
#include "report/table.h"
#include "summary/named.h"
#include "summary/steps.h"

/* A rank; or a process, of a program without ranks. */
typedef struct cli_rank_part {
    const char *name; /* of its first file, without folder; points into the path */
    uint64_t wall_ns;
    tkt_step_figures run; /* all steps of its run, or of the one with most steps */
    uint64_t run_ns;
    uint64_t slowest; /* number of the run's slowest step, or TKT_NO_VALUE */
    takt_facts facts; /* of its first file, without texts */
    uint64_t steps;   /* recorded */
    uint32_t rank;
    bool has_rank;
    bool has_processes; /* its files are of several processes */
} cli_rank_part;

/* Time of a scope or task in one part. */
typedef struct cli_rank_time {
    uint64_t ns;
    bool is_there; /* the part has it */
} cli_rank_time;

/* A scope. */
typedef struct cli_rank_row {
    uint64_t calls;
    uint64_t self_ns;
    uint64_t device_ns;
    cli_rank_time *parts; /* CPU total; NULL: no scope has this number */
} cli_rank_row;

typedef struct cli_rank_task {
    uint64_t at_once; /* the most in one file; TKT_NO_VALUE: not known */
    cli_rank_time *parts;
} cli_rank_task;

/* A process of a part, which may have several files. */
typedef struct cli_rank_process {
    size_t part;
    uint32_t id;
    bool lacks_time; /* see tkt_trace_lacks_time() */
    uint64_t wall_ns;
} cli_rank_process;

typedef struct cli_rank_thread {
    size_t process;     /* index in `processes` */
    uint32_t thread_id; /* UINT32_MAX: threads that a summary does not list */
    uint32_t name;
    bool is_main;
    uint64_t spans;
    uint64_t scope_ns;
    uint64_t wait_ns;
    uint64_t longest_ns; /* the longest wait_ns of a file */
    uint32_t wait_name;  /* that file's; 0: none */
} cli_rank_thread;

typedef struct cli_ranks {
    TKT_ARRAY(cli_rank_row);                  /* by the name's id */
    tkt_named_list tasks;                     /* the track's name is the `shape` */
    TKT_ARRAY_OF(cli_rank_task) of_task;      /* by the index in `tasks` */
    TKT_ARRAY_OF(cli_rank_process) processes; /* of `threads` */
    TKT_ARRAY_OF(cli_rank_thread) threads;
    tkt_map thread_index; /* hash of process, thread and name -> index in `threads` + 1 */
    tkt_strtab names;
    const cli_files *files;
    cli_rank_part *parts;
    size_t part_count;
    size_t files_read;
    size_t files_with_losses;
    size_t files_without_lists; /* they do not know their threads and tasks */
    TKT_ARRAY_OF(takt_facts) recordings; /* of the files read */
    size_t copies;                       /* files left out, since others have the same */
    size_t overlaps;                     /* files that have a part of another's recording */
    uint64_t self_ns;
    uint32_t world_size; /* 0: unknown */
    bool has_device;
} cli_ranks;

/* True for a report that adds up the files of a folder. */
bool cli_ranks_have(const char *report);

/* Reads what these reports need from all files, which must outlive `out`. Returns CLI_OK, or
 * CLI_FAILED after reporting the files that could not be read. The caller frees `out` in both
 * cases. */
int cli_ranks_read(const cli_files *files, const char *const *reports, size_t count,
                   cli_ranks *out);
void cli_ranks_free(cli_ranks *ranks);

/* Writes a report that was named when reading. TAKT_BAD_ARGUMENT if it has no column
 * `options->sort`. */
takt_status cli_ranks_show(const cli_ranks *ranks, const char *report,
                           const takt_report_options *options, const takt_sink *sink);

/* ---- The reports, in ranks_scopes.c and ranks_lists.c ---------------------------------------- */

/* These add a trace's figures to a part. TAKT_NO_MEMORY. TAKT_NO_SPANS: the trace does not have
 * them. */
takt_status cli_ranks_add_scopes(cli_ranks *ranks, size_t part, const takt_trace *trace);
takt_status cli_ranks_add_threads(cli_ranks *ranks, size_t part, const takt_trace *trace);
takt_status cli_ranks_add_tasks(cli_ranks *ranks, size_t part, const takt_trace *trace);

/* These fill a document. False without memory. */
bool cli_ranks_show_scopes(tkt_document *document, const cli_ranks *ranks);
bool cli_ranks_show_threads(tkt_document *document, const cli_ranks *ranks);
bool cli_ranks_show_tasks(tkt_document *document, const cli_ranks *ranks);

bool cli_ranks_are_known(const cli_ranks *ranks); /* every file says its rank */
const char *cli_ranks_word(const cli_ranks *ranks); /* what a part is: "rank", "process", "file" */

/* Copies `count` columns. Without ranks the title of column `part`, "Rank" or "Ranks", becomes
 * "File", or "Process" if one has several files. */
void cli_ranks_copy_columns(const cli_ranks *ranks, const tkt_column *columns, size_t count,
                            size_t part, tkt_column *out);

/* "rank 3", or the file's name. */
const char *cli_rank_name(tkt_document *document, const cli_rank_part *part);

/* How a time is spread over the parts that have it. */
typedef struct cli_rank_spread {
    size_t count; /* of these parts */
    uint64_t total_ns, least_ns, most_ns;
    size_t most; /* number of the part with the most */
} cli_rank_spread;

cli_rank_spread cli_rank_spread_of(const cli_ranks *ranks, const cli_rank_time *parts);

#endif
