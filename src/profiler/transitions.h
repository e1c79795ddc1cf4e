/* Inside of a profiler: what it is, and the way from one step's action to the next one's. */
#ifndef TKT_PROFILER_TRANSITIONS_H
#define TKT_PROFILER_TRANSITIONS_H

#include "nvtx/nvtx.h"
#include "profiler/cycle.h"
#include "profiler/options.h"
#include "trace/run.h"

struct takt_profiler {
    tkt_saved_options options;
    tkt_worker worker;
    tkt_report_place reports;
    bool is_running;
    bool was_started; /* atomic: read before the profiler is entered */
    uint64_t step;
    takt_action action;
    uint64_t step_begin; /* ticks */
    tkt_clock_fit fit;
    bool holds_memory;
    bool must_look_ahead; /* once CUDA's driver is initialised, see tkt_cuda_look_ahead() */
    bool is_captured;     /* another tool was told to record these steps */
    bool has_range;   /* `range` is the NVTX range of the current step */
    tkt_nvtx_open range;
    tkt_window *window;    /* of the warm-up or the recording */
    tkt_cycle *cycle;      /* the cycle being recorded */
    uint32_t cycles_begun; /* in all runs: the number in file names */
    uint32_t cycles_saved;
    uint32_t cycles_missed; /* in this run: not recorded; the log has the reason of the first */
    tkt_all_steps all_steps;
    tkt_run_steps run;
    tkt_new_steps new_steps; /* of the run, since the last cycle that was saved */
    takt_trace *last;
    char *viewable;     /* the latest file that a browser can show; NULL */
    takt_status status; /* first failure since the start; stop returns it */
    uintptr_t user;     /* atomic; the thread inside start, step or stop; 0: none */
    bool is_away;       /* that thread is in on_trace, or waits for the worker */
    bool was_refused;   /* atomic; a second thread's step was refused, and the log says so */
    bool was_early;     /* the same of a step before the first start */
    bool was_started_twice; /* the same of a start while it runs */
    bool is_saved;      /* saved at exit, before stop was called */
    tkt_cycle *delivered; /* on_trace has it; NULL */
    uintptr_t delivered_at; /* on the stack of the thread that calls on_trace */
    tkt_cycle *kept;    /* oldest first; saved at exit, and on_trace not called yet */
};

/* Keeps the first failure since the start. */
void tkt_profiler_note(takt_profiler *profiler, takt_status status);

/* Makes what a profiler that starts will need in its loop: steps then ask nobody for memory. Each call
 * needs one of tkt_windows_keep_no_more(). */
void tkt_profiler_ready_memory(takt_profiler *profiler);

/* Does what lies between the current action and `to`, which begins at `now`, in ticks. */
void tkt_profiler_go_to(takt_profiler *profiler, takt_action to, uint64_t now);

#endif
