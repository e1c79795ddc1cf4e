/* Callback: the program gets what was recorded, and does with it what it likes.
 *
 * Three callbacks are shown. A timer hands the activities that it listed to `print_sweeps`, which
 * adds them up as the program sees fit; a profiler hands the sealed trace to `find_longest`, which
 * walks its spans; another one, which keeps no spans, to `print_tree`.
 *
 * The simulation is a chain of springs that is run forwards, and then backwards through time for
 * the derivative of its final energy by its initial position (the adjoint method). The derivative
 * is checked against a difference.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MASSES = 2000,
    ROUNDS = 400
};

static const double time_step = 0.05;

/* One state: positions and velocities. Both ends of the chain are held at 0. */
typedef struct chain {
    double x[MASSES];
    double v[MASSES];
} chain;

/* The second difference: what the neighbours pull at mass i, or, since it is symmetric, push back.
 */
static double pull(const double *values, int i)
{
    double left = i > 0 ? values[i - 1] : 0.0;
    double right = i < MASSES - 1 ? values[i + 1] : 0.0;
    return left - 2.0 * values[i] + right;
}

/* Symplectic Euler: new velocities first, new positions with them. */
static void step_forward(chain *state)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "forward step");
    for (int i = 0; i < MASSES; i++)
        state->v[i] += time_step * pull(state->x, i);
    for (int i = 0; i < MASSES; i++)
        state->x[i] += time_step * state->v[i];
}

/* The same two lines transposed, last first, on the derivatives. */
static void step_backward(chain *slope)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "backward step");
    for (int i = 0; i < MASSES; i++)
        slope->v[i] += time_step * slope->x[i];
    for (int i = 0; i < MASSES; i++)
        slope->x[i] += time_step * pull(slope->v, i);
}

/* The final kinetic energy of a chain that was plucked at its middle by `height`. */
static double simulate(double height, chain *state)
{
    TAKT_FUNCTION();
    memset(state, 0, sizeof *state);
    state->x[MASSES / 2] = height;
    for (int round = 0; round < ROUNDS; round++)
        step_forward(state);
    double energy = 0.0;
    for (int i = 0; i < MASSES; i++)
        energy += 0.5 * state->v[i] * state->v[i];
    return energy;
}

/* The derivative of that energy by `height`; `state` is the final one, and becomes the slope. */
static double differentiate(chain *state)
{
    TAKT_FUNCTION();
    memset(state->x, 0, sizeof state->x); /* energy depends on v alone, and its slope is v */
    for (int round = 0; round < ROUNDS; round++)
        step_backward(state);
    return state->x[MASSES / 2];
}

/* Replaces the tables of the timer below. */
static void print_sweeps(const takt_timing *results, const char *indent, void *user)
{
    double forward_ms = 0.0, backward_ms = 0.0;
    (void)user;
    for (size_t i = 0; i < takt_timing_count(results); i++) {
        const takt_activity *activity = takt_timing_at(results, i);
        if (strcmp(activity->name, "kernel forward step") == 0)
            forward_ms += activity->elapsed_ms;
        else if (strcmp(activity->name, "kernel backward step") == 0)
            backward_ms += activity->elapsed_ms;
    }
    printf("%sForward kernels  : %f ms\n", indent, forward_ms);
    printf("%sBackward kernels : %f ms\n", indent, backward_ms);
}

/* Gets the trace of the recording; it is borrowed until this function returns. */
static void find_longest(const takt_trace *trace, void *user)
{
    uint64_t longest_ns = 0;
    (void)user;
    for (size_t track = 0; track < takt_trace_count(trace, TAKT_TRACE_TRACKS); track++) {
        takt_track_info row;
        if (takt_trace_track(trace, track, &row) != TAKT_OK)
            continue;
        for (size_t i = 0; i < row.span_count; i++) {
            takt_span_info span;
            if (takt_trace_span(trace, track, i, &span) != TAKT_OK)
                continue;
            uint64_t duration_ns = span.end_ns - span.begin_ns;
            if (duration_ns > longest_ns && (span.flags & TAKT_SPAN_ACTIVITY)) {
                longest_ns = duration_ns;
                printf("Longer than all before: %s, %llu ns\n", span.name,
                       (unsigned long long)duration_ns);
            }
        }
    }
}

/* A summary has no spans: its tree of scopes is all there is. Other traces have one, too. */
static void print_tree(const takt_trace *trace, void *user)
{
    takt_node_info node;
    (void)user;
    for (size_t i = 0; takt_trace_node(trace, i, &node) == TAKT_OK; i++)
        printf("%*s%s: %llu calls, %.3f ms, %.3f ms of its own\n", 2 * (int)node.depth, "",
               node.name, (unsigned long long)node.durations.count,
               (double)node.durations.total_ns * 1e-6, (double)node.self_ns * 1e-6);
}

int main(void)
{
    const double height = 1.0, nudge = 1e-3;
    chain *state = malloc(sizeof *state);
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    double slope, difference;
    if (!state)
        return 1;

    options.on_trace = find_longest;
    takt_profiler_create(&options, &profiler);
    takt_profiler_start(profiler);
    {
        TAKT_TIMER("Both sweeps", .filter = TAKT_TIMING_KERNEL, .report = print_sweeps);
        simulate(height, state);
        slope = differentiate(state);
    }
    takt_profiler_stop(profiler); /* calls find_longest */
    takt_profiler_destroy(profiler);

    options.mode = TAKT_MODE_SUMMARY;
    options.on_trace = print_tree;
    takt_profiler_create(&options, &profiler);
    takt_profiler_start(profiler);
    difference =
        (simulate(height + nudge, state) - simulate(height - nudge, state)) / (2.0 * nudge);
    takt_profiler_stop(profiler); /* calls print_tree */
    takt_profiler_destroy(profiler);
    printf("Derivative %.9f, by differences %.9f\n", slope, difference);
    free(state);
    return fabs(slope - difference) < 1e-6 * fabs(difference) ? 0 : 1;
}
