/* Runs with a known illness: the first piece of advice names it, and nothing else is said of the
 * same time. Healthy runs get none. */
#include "support/report_traces.h"
#include "support/test.h"

#define STEPS   24
#define CALL_NS 5000 /* of a launch */
#define START_NS                                                                                   \
    2000 /* from the end of a launch until its kernel begins, if the device is free                \
          */
#define US 1000u
#define MS 1000000u

/* A simulation of one host thread and a device with one stream. */
typedef struct script {
    takt_trace *trace;
    uint32_t main;
    uint64_t now_ns;
    uint64_t device_ns; /* until then the device has work */
    uint64_t step;
    uint32_t step_span;
    uint32_t scope; /* the open one */
} script;

static script begin(void)
{
    script s = {.trace = build_begin(0), .now_ns = 1000000};
    s.main = build_track(s.trace, "main");
    return s;
}

static uint32_t open_scope(script *s, const char *name, uint32_t parent)
{
    return build_span(s->trace, s->main, build_site(s->trace, name), parent, s->now_ns, s->now_ns);
}

static void close_scope(script *s, uint32_t span)
{
    s->trace->tracks.items[s->main].spans.items[span].end_ns = s->now_ns;
}

static void begin_step(script *s)
{
    s->step_span = open_scope(s, "step", TKT_NO_SPAN);
    s->scope = s->step_span;
}

static void end_step(script *s)
{
    uint64_t begin_ns = s->trace->tracks.items[s->main].spans.items[s->step_span].begin_ns;
    close_scope(s, s->step_span);
    build_step(s->trace, s->step++, begin_ns, s->now_ns);
    build_all_step(s->trace, s->now_ns - begin_ns);
}

static void work(script *s, const char *name, uint64_t ns)
{
    uint32_t span = open_scope(s, name, s->step_span);
    s->now_ns += ns;
    close_scope(s, span);
}

static uint32_t call(script *s, const char *name, uint64_t ns)
{
    uint32_t number = build_call(s->trace, s->main, name, s->scope, s->now_ns, s->now_ns + ns);
    s->now_ns += ns;
    return number;
}

/* Work for the device that takes so long; it begins when the device is free. */
static tkt_activity *give(script *s, uint32_t by, const char *name, uint32_t filter, uint64_t ns)
{
    uint64_t ready_ns = s->now_ns + START_NS;
    uint64_t from_ns = ready_ns > s->device_ns ? ready_ns : s->device_ns;
    s->device_ns = from_ns + ns;
    return build_launched(s->trace, by, "cuda:0", name, filter, from_ns, s->device_ns);
}

static void launch(script *s, uint64_t ns)
{
    give(s, call(s, "cudaLaunchKernel", CALL_NS), "kernel density", TAKT_TIMING_KERNEL, ns);
}

static void copy(script *s, const char *name, takt_memory_kind from, uint64_t bytes, uint64_t ns)
{
    tkt_shape shape = {.filter = TAKT_TIMING_MEMCPY,
                       .bytes = bytes,
                       .source = (uint8_t)from,
                       .target = TAKT_MEMORY_DEVICE};
    uint32_t number = build_shape(s->trace, &shape);
    give(s, call(s, name, CALL_NS), "memcpy HtoD", TAKT_TIMING_MEMCPY, ns)->shape = number;
}

static void wait_for_device(script *s)
{
    uint64_t until_ns = s->device_ns > s->now_ns ? s->device_ns : s->now_ns;
    call(s, "cudaDeviceSynchronize", until_ns - s->now_ns + 1000);
}

static takt_trace *end(script *s)
{
    s->trace->facts.end_ns = s->now_ns;
    build_end(s->trace);
    return s->trace;
}

/* ---- Healthy --------------------------------------------------------------------------------- */

/* The host launches ahead, and waits once a step. */
static takt_trace *healthy_device(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        for (int k = 0; k < 10; k++)
            launch(&s, 200 * US);
        wait_for_device(&s);
        end_step(&s);
    }
    return end(&s);
}

static void tiles(script *s, uint32_t site, const uint32_t *workers, size_t count,
                  const uint64_t *ns)
{
    uint64_t longest_ns = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_main = workers[i] == s->main;
        build_span(s->trace, workers[i], site, is_main ? s->step_span : TKT_NO_SPAN, s->now_ns,
                   s->now_ns + ns[i]);
        longest_ns = ns[i] > longest_ns ? ns[i] : longest_ns;
    }
    s->now_ns += longest_ns;
}

/* Four threads share tiles; then the main thread does something else. */
static takt_trace *build_threads(const uint64_t tile_ns[4], uint64_t serial_ns)
{
    script s = begin();
    uint32_t threads[4] = {s.main, build_track(s.trace, "worker 1"),
                           build_track(s.trace, "worker 2"), build_track(s.trace, "worker 3")};
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        tiles(&s, build_site(s.trace, "tile"), threads, 4, tile_ns);
        work(&s, "rebuild", serial_ns);
        end_step(&s);
    }
    return end(&s);
}

static takt_trace *healthy_threads(void)
{
    return build_threads((const uint64_t[4]){400 * US, 390 * US, 380 * US, 410 * US}, 50 * US);
}

/* ---- Ill ------------------------------------------------------------------------------------- */

/* Kernels that are over sooner than the next launch. */
static takt_trace *launch_bound(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        for (int k = 0; k < 50; k++)
            launch(&s, 2 * US);
        wait_for_device(&s);
        end_step(&s);
    }
    return end(&s);
}

/* In step 12 the host waits while nothing runs. */
static takt_trace *one_outlier(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        s.scope = open_scope(&s, "forces", s.step_span);
        launch(&s, 150 * US);
        wait_for_device(&s);
        if (i == 12)
            call(&s, "cudaStreamSynchronize", 3700 * US);
        close_scope(&s, s.scope);
        end_step(&s);
    }
    return end(&s);
}

/* In step 12 forces take long, while a worker waits for work as it does all the time. */
static takt_trace *waiting_worker(void)
{
    script s = begin();
    uint32_t worker = build_track(s.trace, "worker");
    s.trace->facts.process_id = s.trace->tracks.items[s.main].thread_id;
    s.step_span = TKT_NO_SPAN;
    for (int i = 0; i < STEPS; i++) {
        uint64_t begin_ns = s.now_ns;
        s.now_ns += 10 * US;
        work(&s, "forces", i == 12 ? 4000 * US : 150 * US);
        build_step(s.trace, s.step++, begin_ns, s.now_ns);
        build_all_step(s.trace, s.now_ns - begin_ns);
    }
    build_span(s.trace, worker, build_site(s.trace, "wait for work"), TKT_NO_SPAN, 0, s.now_ns);
    return end(&s);
}

static takt_trace *uneven_threads(void)
{
    return build_threads((const uint64_t[4]){300 * US, 300 * US, 900 * US, 300 * US}, 50 * US);
}

/* Tiles from two places of the source, of which neither is uneven enough. */
static takt_trace *uneven_by_name(void)
{
    script s = begin();
    uint32_t threads[2] = {s.main, build_track(s.trace, "worker 1")};
    uint32_t here = build_site(s.trace, "tile");
    tkt_trace_site elsewhere = s.trace->sites.items[here];
    elsewhere.line++;
    uint32_t there = tkt_trace_site_index(s.trace, &elsewhere);
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        tiles(&s, here, threads, 2, (const uint64_t[2]){300 * US, 380 * US});
        tiles(&s, there, threads, 2, (const uint64_t[2]){100 * US, 540 * US});
        end_step(&s);
    }
    return end(&s);
}

static takt_trace *pageable_copies(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        copy(&s, "cudaMemcpy", TAKT_MEMORY_PAGEABLE, 4 << 20, 300 * US);
        launch(&s, 600 * US);
        wait_for_device(&s);
        end_step(&s);
    }
    return end(&s);
}

static takt_trace *allocation_in_steps(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        s.scope = open_scope(&s, "neighbours", s.step_span);
        call(&s, "cudaMalloc", 200 * US);
        launch(&s, 300 * US);
        wait_for_device(&s);
        call(&s, "cudaFree", 200 * US);
        close_scope(&s, s.scope);
        end_step(&s);
    }
    return end(&s);
}

/* The same of host memory, in large pieces, which the system hands out anew each time. */
static takt_trace *host_allocation_in_steps(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        uint32_t span = open_scope(&s, "neighbours", s.step_span);
        build_memory_event(s.trace, NULL, s.now_ns + 1, 8 << 20, s.main, span);
        s.now_ns += 500 * US;
        build_memory_event(s.trace, NULL, s.now_ns - 1, -(8 << 20), s.main, span);
        close_scope(&s, span);
        end_step(&s);
    }
    return end(&s);
}

/* Each step allocates 8 MiB that it keeps, and as often a little that it frees. */
static takt_trace *kept_allocation_in_steps(uint64_t temporary_bytes)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        uint32_t grow = open_scope(&s, "grow", s.step_span);
        build_memory_event(s.trace, NULL, s.now_ns + 1, 8 << 20, s.main, grow);
        s.trace->memory_events.items[s.trace->memory_events.count - 1].address = 1000 + (uint64_t)i;
        s.now_ns += 250 * US;
        close_scope(&s, grow);
        uint32_t temporary = open_scope(&s, "temporary", s.step_span);
        build_memory_event(s.trace, NULL, s.now_ns + 1, (int64_t)temporary_bytes, s.main,
                           temporary);
        s.now_ns += 250 * US;
        build_memory_event(s.trace, NULL, s.now_ns - 1, -(int64_t)temporary_bytes, s.main,
                           temporary);
        close_scope(&s, temporary);
        end_step(&s);
    }
    return end(&s);
}

static takt_trace *too_many_waits(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        for (int k = 0; k < 10; k++) {
            launch(&s, 20 * US);
            wait_for_device(&s);
        }
        end_step(&s);
    }
    return end(&s);
}

static takt_trace *tiny_scopes(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        for (int k = 0; k < 500; k++)
            work(&s, "particle", 150);
        end_step(&s);
    }
    s.trace->facts.cost_ns = 200 * US; /* of 1.8 ms */
    return end(&s);
}

static takt_trace *too_few_steps(void)
{
    script s = begin();
    for (int i = 0; i < 3; i++) {
        begin_step(&s);
        work(&s, "forces", 2 * MS);
        end_step(&s);
    }
    return end(&s);
}

/* Each third step's solve is open at the end. */
static takt_trace *unfinished_scopes(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        work(&s, "solve", 2 * MS);
        if (i % 3 == 0) {
            tkt_spans *spans = &s.trace->tracks.items[s.main].spans;
            spans->items[spans->count - 1].site_flags |= TAKT_SPAN_UNFINISHED;
        }
        end_step(&s);
    }
    return end(&s);
}

/* Each step's scope ends 1 us after the step. */
static takt_trace *steps_inside_a_scope(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        s.now_ns += 2 * MS;
        end_step(&s);
        s.now_ns += US;
        close_scope(&s, s.step_span);
    }
    return end(&s);
}

static takt_trace *numbered_names(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        char name[32];
        snprintf(name, sizeof name, "write frame %d", i);
        begin_step(&s);
        work(&s, "forces", 2 * MS);
        work(&s, name, MS / 10);
        end_step(&s);
    }
    return end(&s);
}

static takt_trace *growing_memory(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        uint32_t span = open_scope(&s, "trajectory", s.step_span);
        build_memory_event(s.trace, NULL, s.now_ns + 1, 2 << 20, s.main, span);
        s.now_ns += 500 * US;
        close_scope(&s, span);
        end_step(&s);
    }
    s.trace->memory.window_begin_bytes = 10 << 20;
    s.trace->memory.current_bytes = (10 + 2 * STEPS) << 20;
    s.trace->memory.window_allocations = s.trace->memory.allocations = STEPS;
    return end(&s);
}

static takt_trace *serial_phase(void)
{
    return build_threads((const uint64_t[4]){400 * US, 390 * US, 380 * US, 410 * US}, 300 * US);
}

/* A pool: main waits while three workers run a tile each, then does something alone, while they
 * wait. Nobody works in a wait, however long, and whichever thread waits longest. */
static takt_trace *build_pool(const uint64_t tile_ns[3], uint64_t serial_ns)
{
    script s = begin();
    uint32_t workers[3] = {build_track(s.trace, "worker 1"), build_track(s.trace, "worker 2"),
                           build_track(s.trace, "worker 3")};
    s.trace->facts.process_id = s.trace->tracks.items[s.main].thread_id;
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        uint64_t begin_ns = s.now_ns;
        uint32_t wait = open_scope(&s, "wait for workers", s.step_span);
        tiles(&s, build_site(s.trace, "tile"), workers, 3, tile_ns);
        close_scope(&s, wait);
        work(&s, "output", serial_ns);
        for (int k = 0; k < 3; k++)
            build_span(s.trace, workers[k], build_site(s.trace, "wait for work"), TKT_NO_SPAN,
                       begin_ns + tile_ns[k], s.now_ns);
        end_step(&s);
    }
    return end(&s);
}

static takt_trace *slow_first_step(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        work(&s, "forces", i == 0 ? 20 * MS : 1 * MS);
        end_step(&s);
    }
    return end(&s);
}

static takt_trace *waiting_for_copies(void)
{
    script s = begin();
    for (int i = 0; i < STEPS; i++) {
        begin_step(&s);
        copy(&s, "cudaMemcpyAsync", TAKT_MEMORY_PINNED, 16 << 20, 400 * US);
        launch(&s, 400 * US);
        wait_for_device(&s);
        end_step(&s);
    }
    return end(&s);
}

/* ---- What is said ---------------------------------------------------------------------------- */

static const char *advice_at(const json_t *rows, size_t index, const char *key)
{
    return json_string_value(json_object_get(json_array_get(rows, index), key));
}

static void assert_named(takt_trace *trace, const char *kind, const char *report, const char *words)
{
    json_t *json = report_json(trace, "summary", NULL);
    const json_t *rows = json_object_get(table_of(json, "advice"), "rows");
    const json_t *notes = json_object_get(json, "notes");
    char command[64];
    snprintf(command, sizeof command, "See takt report --%s.", report);
    for (size_t i = 1; i < json_array_size(rows); i++)
        print_message("besides %s: %s\n", kind, advice_at(rows, i, "advice"));
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(advice_at(rows, 0, "kind"), kind);
    assert_string_equal(advice_at(rows, 0, "report"), report);
    if (!strstr(advice_at(rows, 0, "advice"), words) ||
        !strstr(advice_at(rows, 0, "advice"), command))
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", advice_at(rows, 0, "advice"), words, command);
    assert_int_equal(json_array_size(notes), 1);
    assert_string_equal(json_string_value(json_array_get(notes, 0)), advice_at(rows, 0, "advice"));
    json_decref(json);
    takt_trace_release(trace);
}

static void assert_healthy(takt_trace *trace, const char *headline)
{
    json_t *json = report_json(trace, "summary", NULL);
    const json_t *notes = json_object_get(json, "notes");
    for (size_t i = 0; i < json_array_size(notes); i++)
        fail_msg("of a healthy run: %s", json_string_value(json_array_get(notes, i)));
    assert_int_equal(json_array_size(json_object_get(table_of(json, "advice"), "rows")), 0);
    assert_string_equal(json_string_value(json_object_get(json, "headline")), headline);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(healthy_runs_get_no_advice)
{
    assert_healthy(healthy_device(), "The bottleneck is cuda:0, busy for 99.60% of the wall time: "
                                     "kernel density takes 100.00%.");
    assert_healthy(healthy_threads(), "The bottleneck is tile: 96.34% of the self CPU time, "
                                      "37.920ms in 96 calls.");
}

TEST(launch_bound_is_named)
{
    assert_named(launch_bound(), "late launches", "launches", "1200 launches came too late");
}

TEST(an_outlier_is_named)
{
    takt_trace *trace = one_outlier();
    json_t *json = report_json(trace, "summary", NULL);
    const json_t *row = row_at(table_of(json, "advice"), 0);
    assert_value(row, "step", 12);
    assert_value(row, "begin_ns", 12 * 158 * US);
    assert_value(row, "duration_ns", (158 + 3700) * US);
    assert_text(row, "scope", "forces");
    assert_text(json, "headline", "The bottleneck is step 12: 3.858ms of 7.492ms.");
    json_decref(json);
    assert_named(trace, "slow step", "steps",
                 "Step 12 took 3.858ms, 24.4 times the median and 51.49% of the wall time: forces "
                 "grew by 3.700ms, mostly in cudaStreamSynchronize; cuda:0 was idle for 3.708ms.");
}

TEST(a_worker_that_waits_is_not_why_a_step_is_slow)
{
    assert_named(waiting_worker(), "slow step", "steps", "forces grew by 3.850ms");
}

TEST(imbalance_between_threads_is_named)
{
    assert_named(uneven_threads(), "uneven threads", "scopes",
                 "worker 2 spent 21.600ms in tile, 2.0 times the mean of 4 threads");
    assert_named(uneven_by_name(), "uneven threads", "scopes",
                 "worker 1 spent 22.080ms in tile, 1.4 times the mean of 2 threads");
}

TEST(pageable_copies_are_named)
{
    assert_named(pageable_copies(), "pageable copies", "memory",
                 "24 copies from or to pageable memory, 96.00 MiB, took 7.200ms, 33.33%");
}

TEST(allocation_in_steps_is_named)
{
    assert_named(allocation_in_steps(), "allocation in steps", "api",
                 "48 calls such as cudaMalloc, which held a thread for 9.600ms");
    assert_named(
        host_allocation_in_steps(), "allocation in steps", "memory",
        "Steps allocated and freed 192.00 MiB of host memory in 24 pieces, most in neighbours");
}

TEST(memory_that_steps_keep_is_no_advice)
{
    assert_healthy(kept_allocation_in_steps(256 << 10),
                   "2 scopes share 100.00% of the self CPU time: grow takes most, 50.00%.");
    assert_named(kept_allocation_in_steps(2 << 20), "allocation in steps", "memory",
                 "Steps allocated and freed 48.00 MiB of host memory in 24 pieces, most in "
                 "temporary: keep it from step to step.");
}

TEST(synchronisation_too_often_is_named)
{
    assert_named(too_many_waits(), "too many waits", "gaps", "because the host waited 240 times");
}

TEST(tiny_scopes_are_named)
{
    assert_named(tiny_scopes(), "small scope", "scopes",
                 "particle was called 12000 times for 0.150us each, and recording took up to "
                 "1.000ms");
}

TEST(too_few_steps_are_named)
{
    assert_named(too_few_steps(), "few steps", "steps", "Only 3 steps were recorded");
}

TEST(scopes_that_are_not_ended_are_named)
{
    assert_named(unfinished_scopes(), "scope not ended", "scopes",
                 "solve at fluid.c:7 was not ended in 8 of 24 calls");
}

TEST(steps_inside_a_scope_are_named)
{
    assert_named(steps_inside_a_scope(), "step inside a scope", "steps",
                 "takt_profiler_step() was called inside step at fluid.c:7, in 24 of 24 steps");
}

TEST(names_with_numbers_are_named)
{
    assert_named(numbered_names(), "numbered names", "scopes",
                 "24 names differ in a number only, such as write frame 23");
}

TEST(growing_memory_is_named)
{
    assert_named(
        growing_memory(), "memory growth", "memory",
        "Host memory grew by 48.00 MiB during the recording, 48.00 MiB of it in trajectory");
}

TEST(a_serial_phase_is_named)
{
    assert_named(
        serial_phase(), "serial phase", "threads",
        "Of 4 threads only one was in scopes for 42.25% of the wall time, 7.200ms, mostly in "
        "rebuild, 7.200ms");
}

TEST(waiting_is_no_parallel_work)
{
    assert_named(
        build_pool((const uint64_t[3]){400 * US, 390 * US, 400 * US}, 300 * US), "serial phase",
        "threads",
        "Of 4 threads only one was in scopes for 42.86% of the wall time, 7.200ms, mostly in "
        "output, 7.200ms");
    assert_named(build_pool((const uint64_t[3]){100 * US, 900 * US, 900 * US}, 50 * US),
                 "uneven threads", "scopes",
                 "worker 2 spent 21.600ms in tile, 1.4 times the mean of 3 threads");
    assert_healthy(build_pool((const uint64_t[3]){900 * US, 890 * US, 900 * US}, 50 * US),
                   "The bottleneck is tile: 70.79% of the self CPU time, 64.560ms in 72 calls.");
}

TEST(a_slow_first_step_is_named)
{
    assert_named(
        slow_first_step(), "slow first step", "steps",
        "The first recorded step, 0, took 20.000ms, 20.0 times the median and 46.51% of the "
        "wall time: forces grew by 19.000ms.");
}

/* Nobody knows whether a device was idle if its work was lost, or if only marked launches are
 * known. */
TEST(what_is_not_known_of_devices_is_not_said)
{
    static const takt_loss reasons[] = {TAKT_LOSS_DEVICE_DROPPED, TAKT_LOSS_OVERWRITTEN,
                                        TAKT_LOSS_INCOMPLETE};
    for (size_t i = 0; i <= 3; i++) {
        takt_trace *trace = launch_bound();
        if (i < 3)
            trace->losses[reasons[i]] = 100000;
        else
            trace->backend = build_string(trace, "CUDA events");
        json_t *json = report_json(trace, "summary", NULL);
        const json_t *rows = json_object_get(table_of(json, "advice"), "rows");
        for (size_t k = 0; k < json_array_size(rows); k++)
            if (strcmp(advice_at(rows, k, "kind"), "late launches") == 0)
                fail_msg("says %s", advice_at(rows, k, "advice"));
        const char *headline = json_string_value(json_object_get(json, "headline"));
        assert_true(!headline || !strstr(headline, "The bottleneck is the host"));
        json_decref(json);
        takt_trace_release(trace);
    }
}

TEST(a_device_that_waits_for_copies_is_named)
{
    assert_named(waiting_for_copies(), "waiting for copies", "memory",
                 "cuda:0 ran no kernel for 49.50% of the wall time, 9.600ms, while it copied: 24 "
                 "copies, 384.00 MiB");
}

TEST_MAIN(NULL, NULL)
