/* What the parts of `takt export` share: export.c asks and writes, export_plan.c names the files. */
#ifndef TAKT_CLI_EXPORT_H
#define TAKT_CLI_EXPORT_H

#include "cli/cli.h"

#include <takt/export.h>

#include <stdbool.h>

enum {
    EXPORT_PATH_SIZE = 4096
};

typedef struct export_request {
    cli_choice choice;  /* of formats */
    const char *output; /* NULL: beside each file */
    takt_export_options export_options;
} export_request;

/* One file to write. */
typedef struct export_job {
    const char *file;
    const char *format;
    char output[EXPORT_PATH_SIZE];
} export_job;

/* The format that a file's name tells; NULL: none. */
const char *cli_export_format_of(const char *path);

/* Whether the name ends in ".gz". */
bool cli_export_is_packed(const char *path);

/* Fills the jobs: one for each file and format, of a file one after the other. CLI_OK, or what was
 * wrong with the question has been told. */
int cli_export_plan(const export_request *request, export_job *jobs);

#endif
