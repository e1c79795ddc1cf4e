/* What takt info counts of a trace; of a summary, which has no lists, it takes the sums. */
#ifndef TKT_CLI_INFO_LISTS_H
#define TKT_CLI_INFO_LISTS_H

#include "base/containers.h"

#include <takt/trace.h>

#include <stdbool.h>
#include <stdint.h>

/* The number of these records; TKT_NO_VALUE: a summary does not know it. */
uint64_t cli_content_count(const takt_trace *trace, takt_trace_list list);

/* The numbers of spans and activities. */
uint64_t cli_span_count(const takt_trace *trace);
uint64_t cli_activity_count(const takt_trace *trace);

/* A thread, or a track of tasks. */
typedef struct cli_track {
    const char *name; /* the trace's */
    bool        is_thread;
    uint32_t    thread_id;
    uint64_t    spans;
} cli_track;

typedef TKT_ARRAY_OF(cli_track) cli_tracks;

/* Fills `out`, which starts as {0}; the caller calls TKT_ARRAY_FREE(). False: no memory, which is
 * told. */
bool cli_tracks_read(const takt_trace *trace, cli_tracks *out);

#endif
