/* Kernels and calls into CUDA: each column worked out here from the launches themselves. */
#include "support/test.h"
#include "support/report_traces.h"

#include "cuda/kernel.h"
#include "summary/named.h"

#include <stdio.h>

typedef struct launch {
    const char *label; /* as tables print it */
    const char *name;  /* whole, NULL: nobody knows its shape */
    uint64_t ns;
    tkt_shape shape;
} launch;

#define SHAPE(x, threads, ...)                                                                     \
    {                                                                                              \
        .grid = {x, 2, 1}, .block = {threads, 1, 1}, __VA_ARGS__                                   \
    }

static const char gemm_float[] = "void lib::gemm<float, 128>(float const*, float*, int)";
static const char gemm_half[] = "void lib::gemm<__half, 64>(__half const*, __half*, int)";
static const char cublas[] = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_nn";

static const launch launches[] = {
    {"kernel lib::gemm<...>", gemm_float, 1000,
     SHAPE(8, 128, .cluster = {2, 1, 1}, .registers = 64, .static_shared_bytes = 1024,
           .occupancy = 5000, .limiter = TAKT_LIMIT_REGISTERS)},
    {"kernel lib::gemm<...>", gemm_float, 3000,
     SHAPE(8, 128, .cluster = {2, 1, 1}, .registers = 64, .static_shared_bytes = 1024, .graph = 1,
           .graph_node = 11, .occupancy = 5000, .limiter = TAKT_LIMIT_REGISTERS)},
    {"kernel lib::gemm<...>", gemm_half, 500,
     SHAPE(9, 128, .cluster = {2, 1, 1}, .registers = 32, .static_shared_bytes = 1024,
           .occupancy = 10000, .limiter = TAKT_LIMIT_WARPS)},
    {"builtin kernel ampere_fp16_s16816gemm_fp16_128x64_ldg8_nn", cublas, 700,
     SHAPE(4, 256, .registers = 128, .dynamic_shared_bytes = 49152, .local_bytes = 16,
           .occupancy = 2500, .limiter = TAKT_LIMIT_SHARED_MEMORY)},
    {"forward kernel integrate", "integrate_a9fb4286_cuda_kernel_forward(launch_bounds_t, int)",
     200, SHAPE(1, 32, .registers = 16, .occupancy = 3125, .limiter = TAKT_LIMIT_BLOCKS)},
    {"kernel unseen", NULL, 10, {.bytes = 0}},
};

#define LAUNCHES (sizeof launches / sizeof *launches)

static uint32_t filter_of(const launch *l)
{
    return strncmp(l->label, "builtin", 7) == 0 ? TAKT_TIMING_BUILTIN : TAKT_TIMING_KERNEL;
}

/* One call launches all. */
static takt_trace *build_kernels(void)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t call = build_call(trace, track, "cudaLaunchKernel", TKT_NO_SPAN, 1000000, 1000100);
    for (size_t i = 0; i < LAUNCHES; i++) {
        tkt_shape shape = launches[i].shape;
        shape.filter = filter_of(&launches[i]);
        uint32_t number = TKT_NO_SHAPE;
        if (launches[i].name) {
            shape.name = build_string(trace, launches[i].name);
            shape.label = build_string(trace, launches[i].label);
            number = build_shape(trace, &shape);
        }
        build_launched(trace, call, "cuda:0", launches[i].label, shape.filter, 1000200,
                       1000200 + launches[i].ns)
            ->shape = number;
    }
    build_end(trace);
    return trace;
}

static bool has_column(const char *text, const char *title)
{
    return strstr(text, title) != NULL;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* 1000, 3000 and 500 ns. */
TEST(times_of_a_name)
{
    takt_trace *trace = build_kernels();
    json_t *json = report_json(trace, "kernels", NULL);
    const json_t *row = row_of(json, "name", "kernel lib::gemm<...>");
    double mean = (1000 + 3000 + 500) / 3.0;
    double squares = pow(1000 - mean, 2) + pow(3000 - mean, 2) + pow(500 - mean, 2);
    assert_value(row, "count", 3);
    assert_value(row, "total_ns", 4500);
    assert_value(row, "total_percent", 100 * 4500.0 / (4500 + 700 + 200 + 10));
    assert_value(row, "avg_ns", mean);
    assert_near(number(row, "median_ns"), 1000, 1000 / 32.0);
    assert_value(row, "p99_ns", NAN); /* of three values */
    assert_value(row, "min_ns", 500);
    assert_value(row, "max_ns", 3000);
    assert_near(number(row, "stddev_ns"), sqrt(squares / 2), 0.5);
    row = row_of(json, "name", "kernel unseen");
    assert_value(row, "stddev_ns", NAN);
    assert_value(row, "median_ns", 10);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(what_launches_have_in_common)
{
    takt_trace *trace = build_kernels();
    json_t *json = report_json(trace, "kernels", NULL);
    const json_t *row = row_of(json, "name", "kernel lib::gemm<...>");
    assert_text(row, "grid", "varies");
    assert_text(row, "block", "128,1,1");
    assert_text(row, "cluster", "2,1,1");
    assert_value(row, "registers", NAN);
    assert_value(row, "static_shared_bytes", 1024);
    assert_value(row, "local_bytes", 0);
    assert_value(row, "occupancy_percent", NAN);
    assert_text(row, "full_name", NULL);
    assert_text(row, "tensor_core_by_name", "no");
    row = row_of(json, "full_name", cublas);
    assert_text(row, "grid", "4,2,1");
    assert_text(row, "cluster", NULL);
    assert_value(row, "registers", 128);
    assert_value(row, "dynamic_shared_bytes", 49152);
    assert_value(row, "local_bytes", 16);
    assert_value(row, "occupancy_percent", 25);
    assert_text(row, "limited_by", "shared memory");
    assert_text(row, "tensor_core_by_name", "yes");
    assert_text(row_of(json, "name", "forward kernel integrate"), "limited_by", "blocks");
    row = row_of(json, "name", "kernel unseen");
    assert_text(row, "grid", NULL);
    assert_text(row, "full_name", NULL);
    assert_text(row, "tensor_core_by_name", NULL);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(whole_names_tell_instantiations_apart)
{
    takt_trace *trace = build_kernels();
    json_t *json = report_json(trace, "kernels", &(takt_report_options){.full_names = true});
    assert_int_equal(row_count(json), 5);
    const json_t *row = row_of(json, "name", gemm_float);
    assert_value(row, "count", 2);
    assert_value(row, "total_ns", 4000);
    assert_value(row, "median_ns", 2000);
    assert_text(row, "grid", "8,2,1");
    assert_value(row, "registers", 64);
    assert_text(row, "limited_by", "registers");
    row = row_of(json, "name", gemm_half);
    assert_text(row, "limited_by", "warps");
    assert_value(row, "total_percent", 100 * 500.0 / 5410);
    json_decref(json);
    char *text = report_of(trace, "kernels", &(takt_report_options){.full_names = true});
    assert_non_null(strstr(text, gemm_float));
    tkt_free(text);
    takt_trace_release(trace);
}

/* Whichever node of a graph made them. */
TEST(equal_launches_are_one_row)
{
    takt_trace *trace = build_kernels();
    json_t *json = report_json(trace, "kernels", &(takt_report_options){.by_arguments = true});
    assert_int_equal(row_count(json), 5);
    const json_t *row = row_of(json, "grid", "8,2,1");
    assert_value(row, "count", 2);
    assert_value(row, "total_ns", 4000);
    assert_text(row, "name", "kernel lib::gemm<...>");
    assert_text(row, "full_name", gemm_float);
    json_decref(json);
    takt_trace_release(trace);
}

static takt_trace *build_shapes(const tkt_shape *shapes, size_t count)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t call = build_call(trace, track, "cudaLaunchKernel", TKT_NO_SPAN, 1000000, 1000100);
    for (size_t i = 0; i < count; i++)
        build_launched(trace, call, "cuda:0", "kernel k", TAKT_TIMING_KERNEL, 1000200, 1000300)
            ->shape = build_shape(trace, &shapes[i]);
    build_end(trace);
    return trace;
}

static const char *const shape_columns[] = {"grid",
                                            "block",
                                            "cluster",
                                            "registers",
                                            "static_shared_bytes",
                                            "dynamic_shared_bytes",
                                            "local_bytes",
                                            "occupancy_percent",
                                            "limited_by"};

/* Two launches, of which the second is `other`: what of the first launch is no longer told. */
static void assert_hides(const tkt_shape *first, const tkt_shape *other, const char *hidden,
                         const char *also_hidden)
{
    takt_trace *trace = build_shapes(first, 1);
    takt_trace *both = build_shapes((tkt_shape[]){*first, *other}, 2);
    json_t *of_first = report_json(trace, "kernels", NULL);
    json_t *of_both = report_json(both, "kernels", NULL);
    for (size_t i = 0; i < sizeof shape_columns / sizeof *shape_columns; i++) {
        const char *key = shape_columns[i];
        const json_t *value = json_object_get(row_at(of_both, 0), key);
        bool is_told = json_equal((json_t *)value, json_object_get(row_at(of_first, 0), key));
        bool is_hidden = strcmp(key, hidden) == 0 || strcmp(key, also_hidden) == 0;
        if (is_told == is_hidden)
            fail_msg("%s, where %s differs", key, hidden);
    }
    json_decref(of_first);
    json_decref(of_both);
    takt_trace_release(trace);
    takt_trace_release(both);
}

TEST(launches_may_differ_in_one_thing_alone)
{
    const tkt_shape one =
        SHAPE(8, 128, .cluster = {2, 1, 1}, .registers = 64, .static_shared_bytes = 1024,
              .dynamic_shared_bytes = 512, .local_bytes = 16, .occupancy = 5000,
              .limiter = TAKT_LIMIT_REGISTERS);
    tkt_shape other = one;
    other.grid[2] = 2;
    assert_hides(&one, &other, "grid", "");
    other = one;
    other.block[1] = 2;
    assert_hides(&one, &other, "block", "");
    other = one;
    other.cluster[0] = 1;
    assert_hides(&one, &other, "cluster", "");
    other = one;
    other.registers = 65;
    assert_hides(&one, &other, "registers", "");
    other = one;
    other.static_shared_bytes = 1025;
    assert_hides(&one, &other, "static_shared_bytes", "");
    other = one;
    other.dynamic_shared_bytes = 511;
    assert_hides(&one, &other, "dynamic_shared_bytes", "");
    other = one;
    other.local_bytes = 0;
    assert_hides(&one, &other, "local_bytes", "");
    other = one;
    other.occupancy = 5001;
    assert_hides(&one, &other, "occupancy_percent", "limited_by");
    other = one;
    other.limiter = TAKT_LIMIT_WARPS;
    assert_hides(&one, &other, "occupancy_percent", "limited_by");
}

/* A file may say so; labels are made of shapes otherwise. */
TEST(one_shape_may_have_two_names)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t call = build_call(trace, track, "cudaLaunchKernel", TKT_NO_SPAN, 1000000, 1000100);
    uint32_t shape = build_shape(trace, &(tkt_shape){.registers = 40});
    for (int i = 0; i < 4; i++)
        build_launched(trace, call, "cuda:0", i % 2 ? "kernel odd" : "kernel even",
                       TAKT_TIMING_KERNEL, 1000200, 1000300)
            ->shape = shape;
    build_end(trace);
    json_t *json = report_json(trace, "kernels", NULL);
    assert_int_equal(row_count(json), 2);
    assert_value(row_of(json, "name", "kernel even"), "registers", 40);
    assert_value(row_of(json, "name", "kernel odd"), "registers", 40);
    json_decref(json);
    takt_trace_release(trace);
}

/* Percentiles are of so many groups; what is known without them, of all. The last group is launched
 * three times: of fewer the median is known. */
TEST(with_thousands_of_groups_some_have_no_median)
{
    enum {
        KNOWN = 4096,
        ALL = KNOWN + 2,
        BUILT = ALL + 2
    };
    static tkt_shape shapes[BUILT];
    for (uint32_t i = 0; i < BUILT; i++)
        shapes[i] = (tkt_shape){.grid = {i < ALL ? i : ALL - 1, 1, 1}};
    takt_trace *trace = build_shapes(shapes, BUILT);
    const takt_report_options options = {.by_arguments = true, .rows = -1};
    json_t *json = report_json(trace, "kernels", &options);
    assert_int_equal(row_count(json), ALL);
    assert_value(row_of(json, "grid", "4095,1,1"), "median_ns", 100);
    assert_value(row_of(json, "grid", "4096,1,1"), "median_ns", 100);
    const json_t *last = row_of(json, "grid", "4097,1,1");
    assert_value(last, "median_ns", NAN);
    assert_value(last, "p99_ns", NAN);
    assert_value(last, "count", 3);
    assert_value(last, "total_ns", 300);
    json_decref(json);
    takt_trace_release(trace);
}

/* Of the six launches none has a cluster, local or shared memory when the first four are gone. */
TEST(columns_that_say_nothing_are_left_out_of_text)
{
    takt_trace *trace = build_kernels();
    const takt_report_options wide = {.width = 400};
    char *text = report_of(trace, "kernels", &wide);
    assert_true(has_column(text, "Cluster Dim") && has_column(text, "Local Mem"));
    assert_true(has_column(text, "Static Shmem") && has_column(text, "TensorCore by name"));
    tkt_free(text);
    memmove(&trace->activities.items[0], &trace->activities.items[4],
            2 * sizeof *trace->activities.items);
    trace->activities.count = 2;
    tkt_fold_fini(&trace->derived);
    trace->derived = (tkt_fold){0};
    trace->node_activities.count = 0;
    trace->node_activities_are_derived = false;
    text = report_of(trace, "kernels", &wide);
    assert_false(has_column(text, "Cluster Dim") || has_column(text, "Local Mem"));
    assert_false(has_column(text, "Static Shmem") || has_column(text, "TensorCore by name"));
    assert_true(has_column(text, "Grid Dim") && has_column(text, "Occupancy %"));
    tkt_free(text);
    takt_trace_release(trace);
}

static const char *note_of(const json_t *json, size_t index)
{
    return json_string_value(json_array_get(json_object_get(json, "notes"), index));
}

static void assert_command(const json_t *json, size_t index, const char *range, const char *name)
{
    char command[400];
    snprintf(command, sizeof command,
             "ncu %s-k 'regex:^%s$' -c 5 --set full --import-source yes -f -o %s --open-in-ui "
             "PROGRAM",
             range, name, name);
    assert_string_equal(note_of(json, index), command);
}

/* The three longest, by the function's own name. */
TEST(commands_for_nsight_compute)
{
    takt_trace *trace = build_kernels();
    json_t *json =
        report_json(trace, "kernels", &(takt_report_options){.rows = 1, .sort = "count"});
    assert_int_equal(json_array_size(json_object_get(json, "notes")), 5);
    assert_command(json, 2, "", "gemm");
    assert_command(json, 3, "", "ampere_fp16_s16816gemm_fp16_128x64_ldg8_nn");
    assert_command(json, 4, "", "integrate_a9fb4286_cuda_kernel_forward");
    json_decref(json);
    json = report_json(trace, "kernels", &(takt_report_options){.by_arguments = true});
    assert_int_equal(json_array_size(json_object_get(json, "notes")), 5);
    for (size_t a = 2; a < 5; a++) /* rows of one kernel have one command */
        for (size_t b = a + 1; b < 5; b++)
            assert_string_not_equal(note_of(json, a), note_of(json, b));
    json_decref(json);
    takt_trace *folded = build_folded(trace); /* labels are all that is known */
    json = report_json(folded, "kernels", NULL);
    assert_int_equal(json_array_size(json_object_get(json, "notes")), 5);
    assert_command(json, 2, "", "gemm");
    json_decref(json);
    takt_trace_release(folded);
    takt_trace_release(trace);
}

/* Compilers of kernels make names of hundreds of bytes: a command must stay one to paste. */
TEST(a_long_name_stays_whole_in_a_command)
{
    char name[251], expected[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    char label[270];
    snprintf(label, sizeof label, "kernel %s", name);
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t call = build_call(trace, track, "cudaLaunchKernel", TKT_NO_SPAN, 1000000, 1000100);
    build_launched(trace, call, "cuda:0", label, TAKT_TIMING_KERNEL, 1000200, 1000300);
    build_end(trace);
    snprintf(expected, sizeof expected, "'regex:^%s$'", name);
    char *text = report_of(trace, "kernels", NULL);
    assert_non_null(strstr(text, expected));
    tkt_free(text);
    takt_trace_release(trace);
}

/* Launches of a kernel in the trace, whatever its template arguments. */
static unsigned launches_of(const takt_trace *trace, const char *name)
{
    unsigned count = 0;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const char *base;
        uint32_t shape = trace->activities.items[i].shape;
        if (shape >= trace->shapes.count)
            continue;
        size_t size = tkt_name_base(tkt_trace_text(trace, trace->shapes.items[shape].name), &base);
        count += size == strlen(name) && memcmp(base, name, size) == 0;
    }
    return count;
}

TEST(commands_for_nsight_compute_find_the_recorded_steps)
{
    takt_trace *trace = build_kernels();
    char skip[32];
    trace->facts.first_step = 84;
    trace->facts.step_count = 2;
    unsigned gemms = launches_of(trace, "gemm");
    assert_true(gemms > 1);
    snprintf(skip, sizeof skip, "-s %u ", 84 * gemms / 2);
    json_t *json = report_json(trace, "kernels", NULL);
    assert_command(json, 2, skip, "gemm");
    json_decref(json);
    trace->facts.has_capture_range = true;
    json = report_json(trace, "kernels", NULL);
    assert_command(json, 2, "--profile-from-start off ", "gemm");
    json_decref(json);
    trace->facts.has_capture_range = false;
    trace->facts.first_step = UINT64_MAX; /* a damaged file */
    json = report_json(trace, "kernels", NULL);
    assert_command(json, 2, "", "gemm");
    json_decref(json);
    takt_trace_release(trace);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void assert_base(const char *name, const char *expected)
{
    const char *base = "";
    size_t size = tkt_name_base(name, &base);
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)size, size ? base : "");
    assert_string_equal(text, expected);
}

TEST(base_names)
{
    assert_base("density(float *, int)", "density");
    assert_base("density", "density");
    assert_base("_Z6forcesPKfPfi", "_Z6forcesPKfPfi"); /* where nothing demangles */
    assert_base("void lib::gemm<float, 128>(float const*, float*, int)", "gemm");
    assert_base("void (anonymous namespace)::push<4>(int)", "push");
    assert_base("unsigned long a::b<c::d>::e(a::b<c::d>)", "e");
    assert_base("void k<(int)5, (bool)((2>1)), f<g<h>>>(int)", "k");
    assert_base("void k<a, (b)(c->d)>(int)", "k");
    assert_base("std::enable_if<((4)>(2)), void>::type scan<int>(int*)", "scan");
    assert_base("lib::gemm<...>", "gemm");
    assert_base("at::native::very_long_na...", "");
    assert_base("a';rm -rf ~;'", "");
    assert_base("k$(reboot)", "");
    assert_base("k`reboot`", "");
    assert_base("operator+(int)", "");
    assert_base("3d(int)", "");
    assert_base("", "");
    assert_base("void k<", "k");
    assert_base("(", "");
}

TEST(names_of_tensor_core_kernels)
{
    assert_true(tkt_uses_tensor_cores("volta_h884gemm_64x64_ldg8_nn"));
    assert_true(tkt_uses_tensor_cores("turing_fp16_s1688cudnn_fp16_128x128"));
    assert_true(tkt_uses_tensor_cores("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize32x32x8"));
    assert_true(tkt_uses_tensor_cores("void cutlass::Kernel<cutlass_80_tensorop_f16_64x64>(P)"));
    assert_true(tkt_uses_tensor_cores("ampere_d884gemm_64x64_nn"));
    assert_false(tkt_uses_tensor_cores("ampere_sgemm_128x64_nn"));
    assert_false(tkt_uses_tensor_cores("density_a884f168_cuda_kernel_forward"));
    assert_false(tkt_uses_tensor_cores(""));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t ns;
    int32_t result;
} calls[] = {
    {"cudaMalloc", 100, 0},       {"cudaMalloc", 300, 2},  {"cudaLaunchKernel", 50, 0},
    {"cudaLaunchKernel", 50, 98}, {"cudaMalloc", 200, 46}, {"cudaFree", 20, 0},
};

/* 1 us apart, in a scope and outside of it. */
static takt_trace *build_calls(void)
{
    takt_trace *trace = build_begin(1000000 + 10000);
    uint32_t track = build_track(trace, "main");
    uint32_t scope =
        build_span(trace, track, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 1004500);
    for (uint32_t i = 0; i < 6; i++) {
        uint64_t begin = 1001000 + 1000 * (uint64_t)i;
        uint32_t call = build_call(trace, track, calls[i].name, i < 3 ? scope : TKT_NO_SPAN, begin,
                                   begin + calls[i].ns);
        trace->calls.items[call].result = calls[i].result;
    }
    build_end(trace);
    return trace;
}

/* Nobody knows what was called while a flight recorder overwrote. */
TEST(calls_of_a_flight_recorder_have_no_share_of_the_wall_time)
{
    takt_trace *trace = build_calls();
    trace->losses[TAKT_LOSS_OVERWRITTEN] = 1;
    json_t *json = report_json(trace, "api", NULL);
    const json_t *row = row_of(json, "name", "cudaMalloc");
    assert_value(row, "total_percent", 100 * 600.0 / 720);
    assert_value(row, "wall_percent", NAN);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(calls_that_failed)
{
    takt_trace *trace = build_calls();
    json_t *json = report_json(trace, "api", NULL);
    assert_int_equal(row_count(json), 3);
    const json_t *row = row_of(json, "name", "cudaMalloc");
    assert_value(row, "count", 3);
    assert_value(row, "total_ns", 600);
    assert_value(row, "total_percent", 100 * 600.0 / 720);
    assert_value(row, "wall_percent", 100 * 600.0 / 10000);
    assert_value(row, "avg_ns", 200);
    assert_near(number(row, "median_ns"), 200, 200 / 32.0);
    assert_value(row, "p99_ns", NAN);
    assert_value(row, "stddev_ns", 100);
    assert_value(row, "errors", 2);
    assert_value(row, "first_error", 2);
    row = row_of(json, "name", "cudaFree");
    assert_value(row, "errors", 0);
    assert_value(row, "first_error", NAN);
    json_decref(json);
    char *text = report_of(trace, "api", NULL);
    assert_true(has_column(text, "Errors"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(errors_have_a_column_where_there_are_any)
{
    for (int32_t errors = 0; errors < 2; errors++) {
        takt_trace *trace = build_begin(2000000);
        build_track(trace, "main");
        build_call(trace, 0, "cudaMalloc", TKT_NO_SPAN, 1000000, 1000100);
        trace->calls.items[0].result = errors;
        build_end(trace);
        char *text = report_of(trace, "api", &(takt_report_options){.width = 400});
        assert_int_equal(has_column(text, "Errors"), errors);
        tkt_free(text);
        takt_trace_release(trace);
    }
}

/* Whichever thread it is on, and although others succeeded before. */
TEST(the_first_error_is_the_earliest)
{
    static const struct {
        uint64_t begin_ns;
        int32_t result;
    } on_threads[][2] = {
        {{1003000, 2}, {1004000, 46}}, {{1002000, 98}, {1005000, 0}}, {{1001000, 0}}};
    takt_trace *trace = build_begin(2000000);
    for (uint32_t t = 0; t < 3; t++) {
        build_track(trace, "worker");
        for (size_t i = 0; i < 2 && on_threads[t][i].begin_ns; i++) {
            uint64_t begin_ns = on_threads[t][i].begin_ns;
            uint32_t call =
                build_call(trace, t, "cudaMalloc", TKT_NO_SPAN, begin_ns, begin_ns + 100);
            trace->calls.items[call].result = on_threads[t][i].result;
        }
    }
    build_end(trace);
    json_t *json = report_json(trace, "api", NULL);
    assert_value(row_at(json, 0), "first_error", 98);
    json_decref(json);
    takt_trace_release(trace);
}

/* How many failed is known of a summary too; which code came first is not. */
TEST(summaries_count_errors)
{
    takt_trace *trace = build_calls();
    takt_trace *folded = build_folded(trace);
    json_t *json = report_json(folded, "api", NULL);
    const json_t *row = row_of(json, "name", "cudaMalloc");
    assert_value(row, "errors", 2);
    assert_value(row, "first_error", NAN);
    assert_value(row_of(json, "name", "cudaLaunchKernel"), "errors", 1);
    assert_value(row_of(json, "name", "cudaFree"), "errors", 0);
    json_decref(json);
    takt_trace_release(folded);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
