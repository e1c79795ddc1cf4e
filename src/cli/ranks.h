/* Scopes and steps of several traces, over the ranks of a job. */
#ifndef TAKT_CLI_RANKS_H
#define TAKT_CLI_RANKS_H

#include "cli/cli.h"

#include "base/containers.h"
#include "summary/steps.h"

/* A rank; or a file, of a program without ranks. */
typedef struct cli_rank_part {
    const char *name; /* of its first file, without folder; points into the path */
    uint64_t    wall_ns;
    tkt_step_figures run; /* all steps of its run, or of the one with most steps */
    uint64_t    run_ns;
    uint64_t    slowest; /* number of the run's slowest step, or TKT_NO_VALUE */
    uint32_t    process_id;
    uint32_t    rank;
    bool        has_rank;
    bool        has_processes; /* its files are of several processes */
} cli_rank_part;

/* A scope's CPU total in one part. */
typedef struct cli_rank_time {
    uint64_t ns;
    bool     is_there; /* the part entered the scope */
} cli_rank_time;

typedef struct cli_rank_row {
    uint64_t       calls;
    uint64_t       self_ns;
    uint64_t       device_ns;
    cli_rank_time *parts; /* NULL: no scope has this number */
} cli_rank_row;

typedef struct cli_ranks {
    TKT_ARRAY(cli_rank_row); /* by the name's id */
    tkt_strtab       names;
    const cli_files *files;
    cli_rank_part   *parts;
    size_t           part_count;
    size_t           files_read;
    size_t           files_with_losses;
    uint64_t         self_ns;
    uint32_t         world_size; /* 0: unknown */
    bool             has_device;
} cli_ranks;

/* Reads all files, which must outlive `out`. Returns CLI_OK, or CLI_FAILED after reporting the
 * files that could not be read. The caller frees `out` in both cases. */
int cli_ranks_read(const cli_files *files, cli_ranks *out);
void cli_ranks_free(cli_ranks *ranks);

/* Writes the table. TAKT_BAD_ARGUMENT if it has no column `options->sort`. */
takt_status cli_ranks_show(const cli_ranks *ranks, const takt_report_options *options,
                           const takt_sink *sink);

#endif
