/* What devices did for each scope, while the spans of a trace are walked. */
#ifndef TAKT_CLI_COMPARE_CUDA_H
#define TAKT_CLI_COMPARE_CUDA_H

#include "cli/compare.h"

/* By track and span: how long all took that was launched directly in it. */
typedef struct cli_launched {
    uint64_t **tracks; /* NULL where nothing was launched */
    size_t count;
} cli_launched;

/* Adds an activity of a device, unless nobody knows who launched it. False: no memory. */
bool cli_launched_add(cli_launched *launched, const takt_trace *trace,
                      const takt_activity *activity);
uint64_t cli_launched_ns(const cli_launched *launched, size_t track, size_t span);
void cli_launched_free(cli_launched *launched);

/* After the walk: makes calls of a scope that launched nothing calls of its row of devices, which
 * took 0 ns there. False: no memory. */
bool cli_launched_add_idle_calls(cli_comparison *comparison, int side);

#endif
