#include "support/report_traces.h"
#include "support/trace_build.h"

/* ---- Both recordings ---- */

/* Requests of 1 ms, of which two or three run at once, and their number; the energy falls. */
static void add_tasks(takt_trace *trace, const char *other)
{
    uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, build_string(trace, "io"), 0);
    uint32_t read = build_site(trace, "read"), write = build_site(trace, other);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t begin_ns = 1500000 + i * 400000;
        build_span(trace, track, i == 4 ? write : read, TKT_NO_SPAN, begin_ns, begin_ns + 1000000);
        build_counter(trace, "requests", begin_ns, (double)(i < 2 ? i + 1 : 3));
    }
    for (uint64_t i = 0; i < 3; i++)
        build_counter(trace, "energy", 3000000 + i * 3000000, 1.5 - (double)(i * i) / 16);
}

/* ---- A solver on devices ---- */

/* The recording that the golden files with CUDA show: three steps of a solver on two devices, with
 * overlapping streams, a graph, copies of pageable and pinned memory, allocations on threads of
 * their own, an activity whose launch is unknown. All numbers are round, to be followed by hand. */

typedef struct cuda_shapes {
    uint32_t kernel;
    uint32_t upload;
    uint32_t download;
} cuda_shapes;

static cuda_shapes cuda_add_shapes(takt_trace *trace)
{
    tkt_shape kernel = {.name = build_string(trace, "density(float *, int)"),
                        .label = build_string(trace, "kernel density"),
                        .filter = TAKT_TIMING_KERNEL,
                        .grid = {64, 2, 1},
                        .block = {128, 1, 1},
                        .static_shared_bytes = 1024,
                        .dynamic_shared_bytes = 2048,
                        .registers = 32,
                        .occupancy = 7500,
                        .limiter = TAKT_LIMIT_SHARED_MEMORY};
    tkt_shape copy = {.filter = TAKT_TIMING_MEMCPY, .bytes = 4000000};
    cuda_shapes shapes = {.kernel = build_shape(trace, &kernel)};
    copy.copy_kind = TAKT_COPY_HTOD;
    copy.source = TAKT_MEMORY_PINNED;
    copy.target = TAKT_MEMORY_DEVICE;
    shapes.upload = build_shape(trace, &copy);
    copy.copy_kind = TAKT_COPY_DTOH;
    copy.source = TAKT_MEMORY_DEVICE;
    copy.target = TAKT_MEMORY_PAGEABLE;
    shapes.download = build_shape(trace, &copy);
    return shapes;
}

/* 4 ms, of which forces take 2 and output 1. On cuda:0 the kernels, 1 ms each, overlap by half; the
 * copy takes 0.5 ms. On cuda:1 the graph's two kernels take 0.25 ms, one after the other. */
static void cuda_add_step(takt_trace *trace, const cuda_shapes *s, uint64_t number)
{
    uint64_t t = 1000000 + number * 4000000;
    uint32_t step = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, t, t + 4000000);
    uint32_t forces =
        build_span(trace, 0, build_site(trace, "forces"), step, t + 100000, t + 2100000);
    uint32_t first = build_call(trace, 0, "cudaLaunchKernel", forces, t + 200000, t + 210000);
    uint32_t second = build_call(trace, 0, "cudaLaunchKernel", forces, t + 220000, t + 230000);
    uint32_t graph = build_call(trace, 0, "cudaGraphLaunch", forces, t + 300000, t + 340000);
    build_call(trace, 0, "cudaStreamSynchronize", forces, t + 400000, t + 1800000);
    uint32_t output =
        build_span(trace, 0, build_site(trace, "output"), step, t + 2200000, t + 3200000);
    uint32_t copy = build_call(trace, 0, "cudaMemcpy", output, t + 2300000, t + 3000000);

    build_launched(trace, first, "cuda:0", "kernel density", TAKT_TIMING_KERNEL, t + 250000,
                   t + 1250000)
        ->shape = s->kernel;
    build_launched(trace, second, "cuda:0", "kernel pressure", TAKT_TIMING_KERNEL, t + 750000,
                   t + 1750000)
        ->stream = 8;
    for (uint64_t i = 0; i < 2; i++)
        build_launched(trace, graph, "cuda:1", "kernel density", TAKT_TIMING_KERNEL,
                       t + 400000 + i * 250000, t + 650000 + i * 250000)
            ->shape = s->kernel;
    build_launched(trace, copy, "cuda:0", "memcpy DtoH", TAKT_TIMING_MEMCPY, t + 2400000,
                   t + 2900000)
        ->shape = s->download;
    build_step(trace, number, t, t + 4000000);
}

/* A thread that uploads in 0.25 ms and clears in 0.05 ms, on cuda:1, and allocates. */
static void cuda_add_loader(takt_trace *trace, const cuda_shapes *s, uint64_t number)
{
    uint64_t t = 2000000 + number * 3000000;
    uint32_t track = build_track(trace, number ? "loader" : "first loader");
    uint32_t load =
        build_span(trace, track, build_site(trace, "load"), TKT_NO_SPAN, t, t + 2000000);
    build_call(trace, track, "cudaMalloc", load, t + 100000, t + 200000);
    uint32_t copy = build_call(trace, track, "cudaMemcpyAsync", load, t + 300000, t + 310000);
    uint32_t set = build_call(trace, track, "cudaMemsetAsync", load, t + 400000, t + 410000);
    build_launched(trace, copy, "cuda:1", "memcpy HtoD", TAKT_TIMING_MEMCPY, t + 1400000,
                   t + 1650000)
        ->shape = s->upload;
    build_launched(trace, set, "cuda:1", "memset", TAKT_TIMING_MEMSET, t + 1700000, t + 1750000);
    build_memory_event(trace, "cuda:1", t + 200000, 8 << 20, track, load);
    if (number == 1)
        build_memory_event(trace, "cuda:1", t + 1900000, -(8 << 20), track, load);
    build_memory_event(trace, NULL, t + 50000, 1000, track, load);
}

static void cuda_add_totals(takt_trace *trace)
{
    trace->memory = (tkt_memory_totals){.window_peak_bytes = 3000,
                                        .window_peak_ns = 8050000,
                                        .window_allocations = 3,
                                        .current_bytes = 3000,
                                        .peak_bytes = 3000,
                                        .peak_ns = 8050000,
                                        .allocations = 3};
    tkt_device_memory *device = TKT_ARRAY_ADD(&trace->device_memory);
    assert_non_null(device);
    *device = (tkt_device_memory){.device = build_string(trace, "cuda:1"),
                                  .totals = {.window_begin_bytes = 4 << 20,
                                             .window_peak_bytes = 20 << 20,
                                             .window_peak_ns = 5200000,
                                             .window_allocations = 3,
                                             .window_frees = 1,
                                             .current_bytes = 20 << 20,
                                             .peak_bytes = 24 << 20,
                                             .peak_ns = 900000,
                                             .allocations = 5,
                                             .frees = 2},
                                  .free_bytes = UINT64_C(1) << 30,
                                  .capacity_bytes = UINT64_C(4) << 30,
                                  .pool_bytes = 16 << 20,
                                  .pool_used_bytes = 12 << 20};
}

/* Eight blocks of each kernel density of cuda:0 on four SMs: two searches of 600,000 cycles with a
 * gradient of 150,000 in each, then an update of 200,000 cycles. Block 5 updates for 800,000. */
static void cuda_add_phases(takt_trace *trace)
{
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *kernel = &trace->activities.items[i];
        if (strcmp(tkt_trace_text(trace, kernel->device), "cuda:0") != 0 ||
            strcmp(tkt_trace_text(trace, kernel->name), "kernel density") != 0)
            continue;
        for (uint32_t block = 0; block < 8; block++) {
            make_segment(trace, "solver", kernel->begin_ns + block / 4 * 1000, block)->correlation =
                kernel->correlation;
            for (uint32_t k = 0; k < 2; k++) {
                make_phase(trace, "gradient", k * 600000 + 300000, 150000, k);
                make_phase(trace, "search", k * 600000, 600000, k);
            }
            make_phase(trace, "update", 1200000, block == 5 ? 800000 : 200000, 0);
        }
    }
    trace->phase_segments.items[3].lost_records = 12;
}

/* Two functions loaded lazily, one compiled just in time, and a flush that is no loading. */
static void cuda_add_loading(takt_trace *trace)
{
    const tkt_overhead overheads[] = {{1000000, 1400000, 5u << 16, 1},
                                      {1500000, 1700000, 5u << 16, 1},
                                      {1800000, 2500000, TKT_OVERHEAD_JIT | 3, 1},
                                      {2600000, 2700000, 1u << 16, 1}};
    for (size_t i = 0; i < sizeof overheads / sizeof *overheads; i++)
        *TKT_ARRAY_ADD(&trace->overheads) = overheads[i];
}

takt_trace *build_cuda(void)
{
    takt_trace *trace = build_begin(13000000);
    trace->backend = build_string(trace, "CUPTI 13.0 (130001)");
    uint32_t main = build_track(trace, NULL);
    trace->facts.process_id = trace->tracks.items[main].thread_id;
    cuda_shapes shapes = cuda_add_shapes(trace);
    for (uint64_t i = 0; i < 3; i++)
        cuda_add_step(trace, &shapes, i);
    for (uint64_t i = 0; i < 3; i++)
        cuda_add_loader(trace, &shapes, i);
    build_activity(trace, "cuda:0", "kernel pressure", TAKT_TIMING_KERNEL, 12500000, 12600000,
                   TKT_NO_TRACK, TKT_NO_SPAN);
    for (uint64_t i = 0; i < 3; i++)
        build_all_step(trace, 4000000);
    add_tasks(trace, "write");
    cuda_add_totals(trace);
    cuda_add_phases(trace);
    cuda_add_loading(trace);
    trace->facts.device_resolution_ns = 32;
    trace->facts.device_uncertainty_ns = 512.5;
    trace->losses[TAKT_LOSS_INCOMPLETE] = 2;
    trace->losses[TAKT_LOSS_UNATTRIBUTED] = 1;
    build_end(trace);
    return trace;
}

/* ---- A fluid ---- */

/* The recording that the golden files show: three steps of a fluid on two threads, with recursion,
 * phases, activities, arguments, declared work, memory, losses, spans cut off at both ends and
 * names that nobody should have chosen. */

typedef struct fluid_sites {
    uint32_t step;
    uint32_t neighbours;
    uint32_t forces;
    uint32_t density;
    uint32_t pressure;
    uint32_t tree;
    uint32_t dump;
    uint32_t wait;
} fluid_sites;

static void fluid_add_step(takt_trace *trace, const fluid_sites *s, uint64_t number,
                           uint64_t begin_ns, uint64_t size)
{
    uint32_t step = build_span(trace, 0, s->step, TKT_NO_SPAN, begin_ns, begin_ns + size);
    uint64_t half = begin_ns + size / 2;
    uint32_t near = build_span(trace, 0, s->neighbours, step, begin_ns + 200, half);
    uint32_t first = build_span(trace, 0, s->tree, near, begin_ns + 400, half - 500);
    uint32_t second = build_span(trace, 0, s->tree, first, begin_ns + 900, half - 9000);
    build_span(trace, 0, s->tree, second, begin_ns + 1500, half - 30000);
    uint32_t forces = build_span(trace, 0, s->forces, step, half, begin_ns + size - 700);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t at = half + 1000 + i * size / 8;
        uint32_t span = build_span(trace, 0, i < 2 ? s->density : s->pressure, forces, at,
                                   at + size / 9 + 37 * i);
        build_int_arg(trace, 0, span, "particles", (int64_t)(4000 + 96 * (number % 2)));
        tkt_work *work = TKT_ARRAY_ADD(&trace->tracks.items[0].works);
        *work = (tkt_work){span, 1e6 * (double)(i + 1), 64e3};
    }
    build_step(trace, number, begin_ns, begin_ns + size);
}

static void fluid_add_memory(takt_trace *trace)
{
    static const struct {
        uint64_t time_ns;
        int64_t bytes;
        uint32_t span;
    } events[] = {{1100000, 4 << 20, 0}, {1200000, 1000, 2},       {1300000, -(4 << 20), 0},
                  {4100000, 4 << 20, 0}, {4200000, 96 << 10, 5},   {4300000, 48, TKT_NO_SPAN},
                  {7100000, 4 << 20, 0}, {7200000, -(96 << 10), 5}};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        tkt_memory_event *event = TKT_ARRAY_ADD(&trace->memory_events);
        *event =
            (tkt_memory_event){events[i].time_ns, 64 * i, events[i].bytes, 0, events[i].span, 0, 0};
    }
    trace->memory = (tkt_memory_totals){.window_begin_bytes = 20 << 20,
                                        .window_peak_bytes = (28 << 20) + 1000,
                                        .window_peak_ns = 7100000,
                                        .window_allocations = 6,
                                        .window_frees = 2,
                                        .current_bytes = (28 << 20) + 1048,
                                        .peak_bytes = 64 << 20,
                                        .peak_ns = 400000,
                                        .allocations = 1234,
                                        .frees = 1200,
                                        .unmatched_frees = 1};
}

static void fluid_add_worker(takt_trace *trace, const fluid_sites *s)
{
    uint32_t track = build_track(trace, "worker");
    build_span(trace, track, s->wait, TKT_NO_SPAN, 1000000, 2500000);
    uint32_t dump = build_span(trace, track, s->dump, TKT_NO_SPAN, 3000000, 11000000);
    uint32_t density = build_span(trace, track, s->density, dump, 3000100, 3700100);
    build_span(trace, track, s->wait, TKT_NO_SPAN, 11000000, 13000000);
    tkt_span *spans = trace->tracks.items[track].spans.items;
    spans[0].site_flags |= TAKT_SPAN_BEGUN_BEFORE;
    spans[density + 1].site_flags |= TAKT_SPAN_UNFINISHED;
}

/* The kernel's host form: one block, no launch. */
static void fluid_add_phases(takt_trace *trace)
{
    tkt_phase_segment *segment = make_segment(trace, "host solver", 2000000, 0);
    segment->device = build_string(trace, "cpu");
    segment->ns_per_cycle = 1;
    make_phase(trace, FLUID_TEMPLATE, 0, 500000, 0);
    make_phase(trace, FLUID_HOSTILE, 500000, 100001, 0);
}

takt_trace *build_fluid(void)
{
    takt_trace *trace = build_begin(13000000);
    uint32_t main = build_track(trace, "main");
    trace->facts.process_id = trace->tracks.items[main].thread_id;
    fluid_sites s = {
        .step = build_site(trace, "step"),
        .neighbours = build_site_of(trace, "neighbours", TAKT_SITE_PHASE, NULL),
        .forces = build_site_of(trace, "forces", TAKT_SITE_PHASE, NULL),
        .density = build_site_of(trace, "density", TAKT_SITE_ACTIVITY, "cpu"),
        .pressure = build_site_of(trace, "pressure", TAKT_SITE_ACTIVITY, "cpu"),
        .tree = build_site(trace, FLUID_TEMPLATE),
        .dump = build_site(trace, FLUID_HOSTILE),
        .wait = build_site(trace, "wait"),
    };
    for (uint64_t i = 0; i < 3; i++)
        fluid_add_step(trace, &s, 80 + i, 1000000 + i * 3000000, 2900000 + i * 12345);
    for (uint64_t i = 0; i < 100; i++)
        build_all_step(trace, 2900000 + i * i * 1000);
    trace->all_steps.simulated_seconds = 0.0005;
    fluid_add_worker(trace, &s);
    add_tasks(trace, FLUID_HOSTILE);
    fluid_add_memory(trace);
    fluid_add_phases(trace);
    trace->losses[TAKT_LOSS_TOO_DEEP] = 12;
    trace->losses[TAKT_LOSS_MISMATCH] = 3;
    trace->facts.is_partial = true;
    trace->facts.cycle = 2;
    build_end(trace);
    return trace;
}

/* ---- Random launches ---- */

/* A random recording of a program that uses CUDA: four threads with nested scopes, host activities
 * and calls, of which each launches none to three activities on two devices and several streams,
 * so that they overlap; activities of unknown launch; memory on the host and on the devices. */

void launch_some(takt_trace *trace, uint32_t call, uint64_t at_ns, uint64_t *random)
{
    static const char *const devices[] = {"cuda:0", "cuda:1"};
    static const char *const names[] = {"kernel push", "kernel pull", "memcpy HtoD", "memset"};
    static const uint32_t filters[] = {TAKT_TIMING_KERNEL, TAKT_TIMING_KERNEL, TAKT_TIMING_MEMCPY,
                                       TAKT_TIMING_MEMSET};
    for (uint32_t count = build_random(random) % 4; count > 0; count--) {
        uint32_t kind = build_random(random) % 4;
        uint64_t begin_ns = at_ns + build_random(random) % 3000;
        tkt_activity *activity =
            build_launched(trace, call, devices[build_random(random) % 2], names[kind],
                           filters[kind], begin_ns, begin_ns + build_random(random) % 900);
        activity->stream = 7 + build_random(random) % 3;
    }
}

static void fill_with_launches(takt_trace *trace, uint32_t track, const uint32_t *sites,
                               uint32_t parent, uint64_t begin_ns, uint64_t end_ns,
                               uint64_t *random)
{
    static const char *const calls[] = {"cudaLaunchKernel", "cudaMemcpyAsync"};
    while (end_ns - begin_ns > 20) {
        uint64_t from = begin_ns + build_random(random) % 5;
        uint64_t to = from + 1 + build_random(random) % (end_ns - from);
        if (build_random(random) % 3 == 0) {
            to = from + (to - from) / 9;
            uint32_t call =
                build_call(trace, track, calls[build_random(random) % 2], parent, from, to);
            launch_some(trace, call, from, random);
        } else {
            uint32_t site = sites[build_random(random) % 4];
            uint32_t span = build_span(trace, track, site, parent, from, to);
            fill_with_launches(trace, track, sites, span, from, to, random);
        }
        if (build_random(random) % 4 == 0)
            build_memory_event(trace, build_random(random) % 2 ? "cuda:0" : NULL, from,
                               (int64_t)(build_random(random) % 2000) - 900, track, parent);
        begin_ns = to;
    }
}

takt_trace *build_launches_until(uint64_t seed, uint64_t end_ns)
{
    takt_trace *trace = build_begin(end_ns);
    bool is_far = seed % 2; /* then all others begin at nearly the same time, seen from there */
    trace->backend = build_string(trace, "CUPTI 13.0 (130001)");
    uint32_t sites[4] = {build_site(trace, "step"), build_site(trace, "forces"),
                         build_site_of(trace, "neighbours", TAKT_SITE_PHASE, NULL),
                         build_site_of(trace, "density", TAKT_SITE_ACTIVITY, "cpu")};
    for (int i = 0; i < 4; i++) {
        uint32_t track = build_track(trace, i ? "worker" : "main");
        fill_with_launches(trace, track, sites, TKT_NO_SPAN, LAUNCHES_BEGIN, end_ns, &seed);
    }
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t at_ns = LAUNCHES_BEGIN + i * (is_far ? UINT64_C(1000000000000) : 100);
        build_activity(trace, "cuda:1", "kernel lost", TAKT_TIMING_KERNEL, at_ns, at_ns + 150,
                       TKT_NO_TRACK, TKT_NO_SPAN);
    }
    for (uint64_t i = 0; i < 3; i++)
        build_step(trace, i, LAUNCHES_BEGIN + i * 20000, LAUNCHES_BEGIN + (i + 1) * 20000);
    build_end(trace);
    return trace;
}

takt_trace *build_launches(uint64_t seed)
{
    return build_launches_until(seed, LAUNCHES_END);
}

/* ---- Golden files ---- */

/* Golden files: test/golden/report_NAME_WIDTH.txt. With UPDATE_GOLDEN=1 in the environment they are
 * written anew, and what has changed is to be looked at. */

static const char *golden_path(const char *report, unsigned width, char *out, size_t size)
{
    const char *root = getenv("TAKT_ROOT");
    snprintf(out, size, "%s/test/golden/report_%s_%u.txt", root ? root : ".", report, width);
    return out;
}

static void write_golden(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static char *read_golden(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing: UPDATE_GOLDEN=1 makes it", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

void assert_golden(const takt_trace *trace, const char *report, const char *file,
                   takt_report_options *options)
{
    static const unsigned widths[] = {80, 160};
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        options->width = widths[i];
        options->width_key = "--width ";
        char *text = report_of(trace, report, options);
        golden_path(file, widths[i], path, sizeof path);
        if (getenv("UPDATE_GOLDEN"))
            write_golden(path, text);
        assert_string_equal(text, read_golden(path));
        tkt_free(text);
    }
}

/* Columns of the longest line; escape sequences are none. */
size_t longest_line(const char *text)
{
    size_t longest = 0;
    while (*text) {
        size_t size = strcspn(text, "\n");
        char line[4096];
        assert_true(size < sizeof line);
        memcpy(line, text, size);
        line[size] = '\0';
        size_t columns = tkt_text_columns(line);
        longest = columns > longest ? columns : longest;
        text += size + (text[size] == '\n');
    }
    return longest;
}

/* ---- Reports as JSON ---- */

/* Reports as JSON, read back by jansson: the rows of their tables, and values in rows by their
 * columns' keys. */

/* `options` may be NULL; their format does not count. The caller drops it with json_decref(). */
json_t *report_json(const takt_trace *trace, const char *report, const takt_report_options *options)
{
    takt_report_options of_json = options ? *options : (takt_report_options){0};
    json_error_t error;
    of_json.format = TAKT_FORMAT_JSON;
    char *text = report_of(trace, report, &of_json);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("%s: line %d: %s", report, error.line, error.text);
    tkt_free(text);
    return json;
}

/* One of the tables behind a report's first. */
const json_t *table_of(const json_t *json, const char *key)
{
    const json_t *table = json_object_get(json_object_get(json, "tables"), key);
    assert_non_null(table);
    return table;
}

size_t row_count(const json_t *table)
{
    return json_array_size(json_object_get(table, "rows"));
}

const json_t *row_at(const json_t *table, size_t index)
{
    const json_t *row = json_array_get(json_object_get(table, "rows"), index);
    assert_non_null(row);
    return row;
}

/* The only row whose `key` is that text. */
const json_t *row_of(const json_t *table, const char *key, const char *text)
{
    const json_t *found = NULL;
    for (size_t i = 0; i < row_count(table); i++) {
        const json_t *row = row_at(table, i);
        const char *here = json_string_value(json_object_get(row, key));
        if (!here || strcmp(here, text) != 0)
            continue;
        if (found)
            fail_msg("several rows with %s", text);
        found = row;
    }
    if (!found)
        fail_msg("no row with %s", text);
    return found;
}

double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

/* NAN: there is none. */
void assert_value(const json_t *row, const char *key, double expected)
{
    if (!isnan(expected))
        assert_near(number(row, key), expected, fabs(expected) * 1e-12);
    else if (!json_is_null(json_object_get(row, key)))
        fail_msg("%s is not null", key);
}

/* NULL: there is none. */
void assert_text(const json_t *row, const char *key, const char *expected)
{
    const json_t *value = json_object_get(row, key);
    if (!expected && !json_is_null(value))
        fail_msg("%s is not null", key);
    if (expected && !json_is_string(value))
        fail_msg("%s is no text", key);
    if (expected)
        assert_string_equal(json_string_value(value), expected);
}
