/* Streams what two threads and a device do: until it is killed, or so many steps.
 *
 *     prog_streamed DIRECTORY MODE [STEPS [MAX_MEMORY_KIB]]
 *
 * MODE is trace, summary or both. Each step has scopes, KERNELS launches in a scope of their own,
 * the first with timers inside, the others with grids that no other launch has, an allocation of 1
 * MiB and its free, counters and arguments. With STEPS 0 it goes on until it is killed and prints a
 * line for each step that is over. Otherwise it stops the profiler and compares the trace it is
 * given with what it has done, which it knows: ends with 1 if something is wrong.
 */
#include "simgpu/driver.h"
#include "simgpu/kernel_lanes.h"
#include "simgpu/stand_in.h"

#include "record/log.h"
#include "trace/model.h"

#include <takt/memory.h>
#include <takt/takt.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 10
#define SPANS   400
#define MIB     ((size_t)1 << 20)

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            printf("%s failed\n", #call);                                                          \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static int faults;
static atomic_bool is_over;
static atomic_ulong beside_count;
static bool is_paced; /* waits for the stream, so that nothing is dropped */

#define EXPECT(a, b)                                                                               \
    do {                                                                                           \
        unsigned long long a_ = (a), b_ = (b);                                                     \
        if (a_ != b_) {                                                                            \
            printf("WRONG: %s is %llu, not %llu\n", #a, a_, b_);                                   \
            faults++;                                                                              \
        }                                                                                          \
    } while (0)

#define NAMED_AT 100 /* rounds of the second thread */

static void wait_for_stream(void)
{
    while (is_paced && tkt_pool_used_bytes() > tkt_pool_limit_bytes() * 3 / 4)
        sched_yield();
}

/* A second thread, named late, with a scope that lasts and gets its argument late. */
static void *record_beside(void *unused)
{
    (void)unused;
    TAKT_SCOPE("lasting");
    for (unsigned long i = 0; !atomic_load(&is_over); i++) {
        TAKT_SCOPE("beside");
        TAKT_ARG("number", i);
        TAKT_COUNTER("count", (double)i);
        if (i == NAMED_AT)
            takt_thread_name("late");
        atomic_fetch_add(&beside_count, 1);
        uint64_t until = takt_now_ns() + 100000;
        while (takt_now_ns() < until)
            sched_yield();
        wait_for_stream();
    }
    TAKT_ARG("told", "at the end");
    return NULL;
}

static takt_device_timers *timers;

/* A kernel with one block, whose number is the step's; its phase takes as many cycles. */
static void launch_timed(CUfunction kernel, CUstream stream, uint32_t number)
{
    takt_device_view view = takt_device_timers_view(timers);
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    takt_device_segment *segment = attach(view, number, unix_ns());
    if (segment)
        end_phase(view, segment, number % 2, 10, number, number);
}

static void step(CUfunction kernel, CUstream stream, uint32_t number)
{
    CUdeviceptr memory;
    TAKT_SCOPE("step");
    for (int i = 0; i < SPANS; i++) {
        TAKT_SCOPE("work");
    }
    {
        TAKT_SCOPE("launching");
        CHECK(cuMemAlloc_v2(&memory, MIB));
        launch_timed(kernel, stream, number);
        for (uint32_t i = 1; i < KERNELS; i++)
            CHECK(cuLaunchKernel(kernel, number * KERNELS + i + 1, 1, 1, 64, 1, 1, 0, stream, NULL,
                                 NULL));
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemFree_v2(memory));
    }
    wait_for_stream();
}

/* ---- What the trace has ---------------------------------------------------------------------- */

static uint64_t count_spans(const takt_trace *trace, const char *name)
{
    uint64_t count = 0;
    for (size_t t = 0; t < trace->tracks.count; t++)
        for (size_t i = 0; i < trace->tracks.items[t].spans.count; i++) {
            uint32_t site = tkt_span_site(&trace->tracks.items[t].spans.items[i]);
            count += strcmp(tkt_trace_text(trace, trace->sites.items[site].name), name) == 0;
        }
    return count;
}

static bool is_within(const takt_trace *trace, uint32_t track, uint32_t span, const char *name)
{
    if (track == TKT_NO_TRACK || span == TKT_NO_SPAN)
        return false;
    uint32_t site = tkt_span_site(&trace->tracks.items[track].spans.items[span]);
    return strcmp(tkt_trace_text(trace, trace->sites.items[site].name), name) == 0;
}

static void check_devices(const takt_trace *trace, uint64_t steps)
{
    uint64_t kernels = 0, in_scope = 0, blocks = 0, others = steps * KERNELS;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        kernels += activity->filter == TAKT_TIMING_KERNEL;
        if (activity->filter == TAKT_TIMING_KERNEL)
            blocks += trace->shapes.items[activity->shape].grid[0];
        in_scope += activity->filter == TAKT_TIMING_KERNEL &&
                    is_within(trace, activity->track, activity->scope, "launching");
    }
    EXPECT(kernels, steps * KERNELS);
    EXPECT(in_scope, steps * KERNELS);
    /* the sum of 1 to `others`, but 1 instead of 1, 11, 21 ... */
    EXPECT(blocks, others * (others + 1) / 2 - KERNELS * (steps * (steps - 1) / 2));
    EXPECT(trace->memory_events.count, 2 * steps);
    EXPECT(trace->device_memory.count, 1);
    if (trace->device_memory.count) {
        const tkt_memory_totals *totals = &trace->device_memory.items[0].totals;
        EXPECT(totals->window_allocations, steps);
        EXPECT(totals->window_frees, steps);
        EXPECT(totals->window_peak_bytes - totals->window_begin_bytes, MIB);
        EXPECT(totals->current_bytes, totals->window_begin_bytes);
    }
    EXPECT(trace->facts.device_uncertainty_ns > 0, true);
}

/* The sums of mode both have the whole recording too. */
static void check_sums(const takt_trace *trace, uint64_t steps)
{
    uint64_t kernels = 0, steps_of_tree = 0;
    for (size_t i = 0; i < trace->node_activities.count; i++)
        if (trace->node_activities.items[i].filter == TAKT_TIMING_KERNEL)
            kernels += trace->node_activities.items[i].stats.count;
    for (size_t i = 1; i < trace->fold.count; i++)
        if (strcmp(tkt_node_name(trace, &trace->fold.items[i]), "step") == 0)
            steps_of_tree += trace->fold.items[i].stats.count;
    EXPECT(kernels, steps * KERNELS);
    EXPECT(steps_of_tree, steps);
}

static void check_phases(const takt_trace *trace, uint64_t steps)
{
    uint64_t known = 0, in_kernel = 0, blocks = 0, cycles = 0;
    for (size_t i = 0; i < trace->phase_segments.count; i++) {
        const tkt_phase_segment *segment = &trace->phase_segments.items[i];
        const tkt_phase_record *record = &trace->phase_records.items[segment->first_record];
        const tkt_activity *kernel = segment->activity == TKT_NO_ACTIVITY
                                         ? NULL
                                         : &trace->activities.items[segment->activity];
        known += segment->launch == TKT_LAUNCH_KNOWN;
        in_kernel += kernel && segment->begin_ns >= kernel->begin_ns &&
                     segment->begin_ns <= kernel->end_ns &&
                     is_within(trace, kernel->track, kernel->scope, "launching");
        blocks += segment->block;
        cycles += segment->record_count == 1 ? record->cycles : 0;
    }
    EXPECT(trace->phase_segments.count, steps);
    EXPECT(known, steps);
    EXPECT(in_kernel, steps);
    EXPECT(blocks, steps * (steps - 1) / 2);
    EXPECT(cycles, steps * (steps - 1) / 2);
}

static void check_host(const takt_trace *trace, uint64_t steps)
{
    uint64_t beside = atomic_load(&beside_count);
    uint64_t late = 0, told = 0, in_order = 0;
    EXPECT(count_spans(trace, "step"), steps);
    EXPECT(count_spans(trace, "work"), steps * SPANS);
    EXPECT(count_spans(trace, "beside"), beside);
    EXPECT(count_spans(trace, "lasting"), 1);
    EXPECT(trace->counters.count, beside);
    for (size_t i = 0; i < trace->counters.count; i++)
        in_order += trace->counters.items[i].value == (double)i;
    EXPECT(in_order, beside);
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_track *track = &trace->tracks.items[t];
        if (strcmp(tkt_trace_text(trace, track->name), "late") != 0)
            continue;
        late++;
        EXPECT(track->args.count, beside + 1);
        for (size_t i = 0; i < track->args.count; i++)
            told += strcmp(tkt_trace_text(trace, track->args.items[i].key), "told") == 0 &&
                    is_within(trace, (uint32_t)t, track->args.items[i].span, "lasting");
    }
    EXPECT(late, 1);
    EXPECT(told, 1);
    EXPECT(trace->facts.step_count, steps);
    EXPECT(trace->all_steps.stats.count, steps);
}

static bool was_given, is_summed;

static void check_trace(const takt_trace *trace, void *user)
{
    uint64_t steps = *(uint64_t *)user;
    was_given = true;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (trace->losses[i]) {
            printf("WRONG: lost %s %llu\n", takt_loss_name((takt_loss)i),
                   (unsigned long long)trace->losses[i]);
            faults++;
        }
    EXPECT(trace->facts.ending, TAKT_ENDING_WHOLE);
    EXPECT(trace->facts.cost_ns > 0, true);
    if (trace->facts.has_spans) {
        check_host(trace, steps);
        check_devices(trace, steps);
        check_phases(trace, steps);
    }
    if (is_summed)
        check_sums(trace, steps);
}

/* ---- The run --------------------------------------------------------------------------------- */

static void set_up(CUfunction *kernel, CUstream *stream)
{
    CUcontext context;
    CUmodule module;
    use_stand_in("devices=1; device.memory=1GiB");
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, "image"));
    CHECK(cuModuleGetFunction(kernel, module, "kernel"));
    CHECK(cuStreamCreate(stream, 1));
    static const char *const phases[] = {"even", "odd"};
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    options.blocks = 64;
    options.records = 4;
    options.at_step = true;
    options.stream = *stream;
    CHECK(takt_device_timers_create(phases, 2, &options, &timers));
}

int main(int argc, char **argv)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;
    pthread_t thread;
    CUfunction kernel;
    CUstream stream;
    if (argc < 3)
        return 2;
    uint64_t steps = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    set_up(&kernel, &stream);
    options.name = "streamed";
    options.directory = argv[1];
    options.stream = true;
    options.mode = strcmp(argv[2], "summary") == 0 ? TAKT_MODE_SUMMARY
                   : strcmp(argv[2], "both") == 0  ? TAKT_MODE_BOTH
                                                   : TAKT_MODE_TRACE;
    options.max_memory_bytes = (argc > 4 ? strtoull(argv[4], NULL, 10) : 0) << 10;
    options.on_trace = check_trace;
    options.user = &steps;
    is_summed = options.mode == TAKT_MODE_BOTH;
    is_paced = options.max_memory_bytes != 0;
    CHECK(takt_profiler_create(&options, &profiler));
    CHECK(takt_profiler_start(profiler));
    CHECK(pthread_create(&thread, NULL, record_beside, NULL));
    for (uint64_t i = 0; steps == 0 || i < steps; i++) {
        step(kernel, stream, (uint32_t)i);
        takt_profiler_step(profiler);
        if (steps == 0)
            printf("%llu\n", (unsigned long long)i + 1), fflush(stdout);
    }
    /* The read of the last step is left out while two are under way. */
    while (takt_device_timers_read(timers, stream) == TAKT_NOT_READY)
        sched_yield();
    while (atomic_load(&beside_count) <= NAMED_AT) /* a busy machine may have held it up */
        sched_yield();
    atomic_store(&is_over, true);
    CHECK(pthread_join(thread, NULL));
    CHECK(takt_profiler_stop(profiler));
    takt_profiler_destroy(profiler);
    EXPECT(was_given, true);
    return faults != 0;
}
