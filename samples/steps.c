/* Steps: a simulation that runs in steps, and a profiler that records six of them.
 *
 * The schedule: in eight steps nothing is recorded, one step warms up, three steps are recorded.
 * Then the same cycle runs once more. A long run is profiled after it has settled, and its trace
 * stays small.
 *
 *     steps              prints tables of the second cycle
 *     steps DIRECTORY    also writes each cycle there, for ui.perfetto.dev and for `takt report`
 *
 * The simulation solves the heat equation in an insulated plate; the total heat must stay constant.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WIDTH = 320,
    CELLS = WIDTH * WIDTH
};

typedef struct heated_plate {
    double heat[CELLS];
    double next[CELLS];
} heated_plate;

/* A hot square in a corner of a cold plate. */
static void ignite(heated_plate *plate)
{
    for (int y = 0; y < WIDTH; y++)
        for (int x = 0; x < WIDTH; x++)
            plate->heat[y * WIDTH + x] = x < WIDTH / 4 && y < WIDTH / 4 ? 1.0 : 0.0;
}

/* Returns the heat flow into a cell from its neighbour at (x, y). Walls are insulated: 0. */
static double flow(const heated_plate *plate, int x, int y, int to)
{
    bool is_inside = x >= 0 && x < WIDTH && y >= 0 && y < WIDTH;
    return is_inside ? plate->heat[y * WIDTH + x] - plate->heat[to] : 0.0;
}

static void diffuse(heated_plate *plate)
{
    const double rate = 0.2; /* diffusivity x dt / dx^2; stable up to 0.25 */
    TAKT_FUNCTION();

    TAKT_PHASE("flows");
    for (int y = 0; y < WIDTH; y++)
        for (int x = 0; x < WIDTH; x++) {
            int cell = y * WIDTH + x;
            double in = flow(plate, x - 1, y, cell) + flow(plate, x + 1, y, cell) +
                        flow(plate, x, y - 1, cell) + flow(plate, x, y + 1, cell);
            plate->next[cell] = plate->heat[cell] + rate * in;
        }
    TAKT_PHASE("update");
    for (int cell = 0; cell < CELLS; cell++)
        plate->heat[cell] = plate->next[cell];
}

static double total_heat(const heated_plate *plate)
{
    TAKT_FUNCTION();
    double sum = 0.0;
    for (int cell = 0; cell < CELLS; cell++)
        sum += plate->heat[cell];
    TAKT_COUNTER("heat", sum);
    return sum;
}

static takt_profiler *create_profiler(const takt_schedule *schedule, const char *directory)
{
    static const char *const traces[] = {"perfetto"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "steps";
    options.schedule = *schedule;
    options.directory = directory;
    options.traces = traces;
    options.trace_count = directory ? 1 : 0;

    takt_profiler *profiler = NULL;
    takt_status status = takt_profiler_create(&options, &profiler);
    if (status != TAKT_OK)
        fprintf(stderr, "no profile: %s\n", takt_status_text(status));
    return profiler; /* the calls below accept NULL */
}

static void print_tables(const takt_trace *trace)
{
    static const char *const reports[] = {"steps", "tree"};
    takt_sink sink = takt_sink_fd(1);

    fflush(stdout); /* the sink bypasses printf's buffer */
    for (size_t i = 0; trace && i < sizeof reports / sizeof *reports; i++)
        takt_report(trace, reports[i], NULL, &sink);
}

int main(int argc, char **argv)
{
    const takt_schedule schedule = {.wait = 8, .warmup = 1, .active = 3, .repeat = 2};
    uint64_t steps = takt_schedule_steps_needed(&schedule);
    heated_plate *sheet = malloc(sizeof *sheet);
    if (!sheet)
        return 1;
    ignite(sheet);
    double before = total_heat(sheet), after = before;

    takt_profiler *profiler = create_profiler(&schedule, argc > 1 ? argv[1] : NULL);
    takt_profiler_start(profiler);
    for (uint64_t step = 0; step < steps; step++) {
        diffuse(sheet);
        after = total_heat(sheet);
        takt_profiler_step(profiler);
    }
    takt_profiler_stop(profiler);

    printf("%llu steps; heat %.6f before, %.6f after\n", (unsigned long long)steps, before, after);
    if (profiler)
        print_tables(takt_profiler_trace(profiler));
    takt_profiler_destroy(profiler);
    free(sheet);
    return fabs(after - before) < 1e-9 * before ? 0 : 1;
}
