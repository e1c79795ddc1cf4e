/* takt info in its two forms. */
#ifndef TAKT_CLI_INFO_H
#define TAKT_CLI_INFO_H

#include "cli/cli.h"

/* What a trace holds besides spans and activities, each with its number; NULL past the end. */
typedef struct cli_content {
    const char *one;  /* "counter sample" */
    const char *many; /* "counter samples" */
    const char *key;  /* "counter_samples" */
    takt_trace_list list;
} cli_content;
const cli_content *cli_content_at(size_t index);

/* "2026-03-01 12:30:59 UTC", or "" where the time is not known. Returns `out`. */
const char *cli_begin_text(char *out, size_t size, const takt_facts *facts);

/* One object, without an end of line. */
void cli_info_json(const char *path, const takt_trace *trace);

#endif
