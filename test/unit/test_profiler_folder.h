/* For tests of the profiler that write files: each has a folder of its own, and the traces that it
 * got. */
#ifndef TEST_PROFILER_FOLDER_H
#define TEST_PROFILER_FOLDER_H

#include "test_profiler.h"

#include "test_export_folder.h"

static test_traces traces;
static const char *folder;

static inline int set_up(void **state)
{
    folder = make_folder();
    return folder ? begin_test(state) : -1;
}

static inline int tear_down(void **state)
{
    release_traces(&traces);
    remove_folder(folder);
    return end_test(state);
}

#endif
