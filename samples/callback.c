/* Callback: the program receives the recorded data and evaluates it itself.
 *
 * It shows three callbacks. A timer passes its list of activities to `print_sweeps`, which adds
 * them up. A profiler passes the sealed trace to `find_longest`, which walks the spans. Another
 * profiler, which keeps no spans, passes its trace to `print_tree`.
 *
 * The simulation is a chain of springs. It runs forwards, then backwards through time (the adjoint
 * method) to get the derivative of the final energy with respect to the initial position. A finite
 * difference checks the derivative.
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

/* Positions and velocities of all masses. Both ends of the chain are fixed at 0. */
typedef struct chain {
    double x[MASSES];
    double v[MASSES];
} chain;

/* Returns the second difference: the pull of the neighbours on mass i. The operator is symmetric,
 * so the backward step uses it too. */
static double pull(const double *values, int i)
{
    double left = i > 0 ? values[i - 1] : 0.0;
    double right = i < MASSES - 1 ? values[i + 1] : 0.0;
    return left - 2.0 * values[i] + right;
}

/* Symplectic Euler: first new velocities, then new positions from these velocities. */
static void step_forward(chain *state)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "forward step");
    for (int i = 0; i < MASSES; i++)
        state->v[i] += time_step * pull(state->x, i);
    for (int i = 0; i < MASSES; i++)
        state->x[i] += time_step * state->v[i];
}

/* The transposed lines of step_forward(), in reverse order, applied to the derivatives. */
static void step_backward(chain *slope)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "backward step");
    for (int i = 0; i < MASSES; i++)
        slope->v[i] += time_step * slope->x[i];
    for (int i = 0; i < MASSES; i++)
        slope->x[i] += time_step * pull(slope->v, i);
}

/* Returns the final kinetic energy of a chain whose middle was displaced by `height`. */
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

/* Returns the derivative of that energy with respect to `height`. `state` is the final state of the
 * chain, and is overwritten with derivatives. */
static double differentiate(chain *state)
{
    TAKT_FUNCTION();
    memset(state->x, 0, sizeof state->x); /* energy depends only on v, and its derivative is v */
    for (int round = 0; round < ROUNDS; round++)
        step_backward(state);
    return state->x[MASSES / 2];
}

/* Called instead of printing the timer's tables. */
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

/* Receives the trace of the recording, borrowed until this function returns. */
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

/* Prints the tree of scopes. A summary has no spans, only this tree; other traces have one as
 * well. */
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
