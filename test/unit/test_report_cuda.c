/* Reports of a program that uses CUDA: golden files, values followed by hand, all formats, and that
 * a program without CUDA hears no word of it. */
#include "support/test.h"
#include "support/report_traces.h"

#include <strings.h>

TEST(reports_equal_their_golden_files)
{
    takt_trace *trace = build_cuda();
    for (size_t i = 0; takt_report_name(i); i++) {
        char file[64];
        snprintf(file, sizeof file, "cuda_%s", takt_report_name(i));
        takt_report_options options = {0};
        assert_golden(trace, takt_report_name(i), file, &options);
    }
    takt_report_options all = {.all = true};
    assert_golden(trace, "scopes", "cuda_scopes_all", &all);
    assert_golden(trace, "tree", "cuda_tree_all", &all);
    takt_trace_release(trace);
}

static takt_status eat(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return TAKT_OK;
}

static json_t *parsed(const takt_trace *trace, const char *name, bool all)
{
    return report_json(trace, name, &(takt_report_options){.all = all, .rows = -1});
}

/* Each step launches 1000 + 1000 + 2 * 250 us in forces and 500 us in output; each of the three
 * loads 250 + 50 us; 100 us are of nobody's: 3 * 3000 + 3 * 300 + 100 = 10000 us in all. */
TEST(scopes_by_hand)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "scopes", false);
    const json_t *row = row_of(json, "name", "forces");
    assert_value(row, "self_cuda_ns", 3 * 2500000);
    assert_value(row, "self_cuda_percent", 75);
    assert_value(row, "cuda_total_ns", 3 * 2500000);
    assert_value(row, "cuda_time_avg_ns", 2500000);
    assert_value(row, "cuda_busy_ns", 3 * 1500000);
    assert_value(row, "self_cpu_ns", 3 * 2000000); /* the calls are its own */
    row = row_of(json, "name", "step");
    assert_value(row, "self_cuda_ns", 0);
    assert_value(row, "cuda_total_ns", 3 * 3000000);
    assert_value(row, "cuda_busy_ns", 3 * 2000000);
    assert_value(row, "self_cpu_ns", 3 * 1000000);
    assert_value(row, "cuda_memory_bytes", 0);
    row = row_of(json, "name", "load");
    assert_value(row, "cuda_total_ns", 3 * 300000);
    assert_value(row, "cuda_memory_bytes", 16 << 20);
    assert_value(row, "self_cuda_memory_bytes", 16 << 20);
    assert_value(row, "cpu_memory_bytes", 3000);
    assert_value(row, "self_cpu_memory_bytes", 3000);
    assert_int_equal(row_count(json), 4);
    const json_t *facts = json_object_get(json, "facts");
    assert_value(facts, "self_cuda_total_ns", 10000000);
    assert_value(facts, "cuda_in_no_scope_ns", 100000);
    assert_value(facts, "self_cpu_total_ns", 3 * 4000000 + 3 * 2000000);
    json_decref(json);
    takt_trace_release(trace);
}

/* Some calls lack what they launched, so that a mean over calls says nothing. */
TEST(scopes_that_lack_activities_have_no_mean)
{
    takt_trace *trace = build_cuda();
    trace->losses[TAKT_LOSS_OVERWRITTEN] = 1000;
    json_t *json = parsed(trace, "scopes", true);
    assert_value(row_of(json, "name", "forces"), "cuda_total_ns", 3 * 2500000);
    assert_value(row_of(json, "name", "forces"), "cuda_time_avg_ns", NAN);
    for (size_t i = 0; i < row_count(json); i++) {
        const json_t *row = row_at(json, i);
        bool is_activity = strcmp(json_string_value(json_object_get(row, "kind")), "activity") == 0;
        assert_true(is_activity == json_is_number(json_object_get(row, "cuda_time_avg_ns")));
    }
    json_decref(json);
    takt_trace_release(trace);
}

TEST(work_of_scopes_alone_is_in_no_other_place)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    uint32_t step = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 1500000);
    build_activity(trace, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1000000, 1000100, 0, step);
    build_end(trace);
    json_t *json = parsed(trace, "scopes", false);
    const json_t *facts = json_object_get(json, "facts");
    assert_value(facts, "self_cuda_total_ns", 100);
    assert_null(json_object_get(facts, "cuda_in_no_scope_ns"));
    json_decref(json);
    takt_trace_release(trace);
}

TEST(all_rows_by_hand)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "scopes", true);
    const json_t *row = row_of(json, "name", "forces");
    assert_value(row, "self_cpu_ns", 3 * (2000000 - 10000 - 10000 - 40000 - 1400000));
    assert_value(row, "self_cuda_ns", 3 * 2500000);
    row = row_of(json, "name", "cudaLaunchKernel");
    assert_text(row, "kind", "call");
    assert_value(row, "calls", 6);
    assert_value(row, "self_cpu_ns", 60000);
    assert_value(row, "cuda_total_ns", 0);
    row = row_of(json, "name", "kernel density");
    assert_text(row, "kind", "activity");
    assert_value(row, "calls", 9);
    assert_value(row, "self_cpu_ns", 0);
    assert_value(row, "self_cuda_ns", 3 * 1500000);
    assert_value(row, "self_cuda_percent", 45);
    assert_value(row, "cuda_busy_ns", NAN);
    assert_value(row, "cuda_memory_bytes", NAN);
    row = row_at(json, 0); /* by CUDA total, as torch would */
    assert_text(row, "name", "step");
    const json_t *facts = json_object_get(json, "facts");
    assert_value(facts, "self_cuda_total_ns", 10000000);
    assert_value(facts, "cuda_in_no_scope_ns", 100000);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(trees_by_hand)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "tree", false);
    const json_t *row = row_of(json, "name", "step");
    assert_value(row, "cuda_total_ns", 9000000);
    assert_value(row, "cuda_total_percent", 90);
    assert_value(row, "self_cuda_ns", 0);
    row = row_of(json, "name", "output");
    assert_value(row, "self_cuda_ns", 1500000);
    assert_value(row, "self_cpu_ns", 3000000);
    assert_int_equal(row_count(json), 4);
    json_decref(json);
    json = parsed(trace, "tree", true);
    assert_int_equal(row_count(json), 4 + 4 + 3);
    row = row_of(json, "name", "output");
    assert_value(row, "self_cpu_ns", 3 * 300000);
    json_decref(json);
    takt_trace_release(trace);
}

/* In a step of 4 ms cuda:0 is busy for 1.5 + 0.5 ms, cuda:1 for 0.5 ms; each load keeps cuda:1 busy
 * for another 0.3 ms, but the last while the graph runs; cuda:0 has 0.1 ms of nobody's. */
TEST(steps_by_hand)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "steps", false);
    const json_t *row = row_of(json, "steps", "recorded");
    assert_value(row, "cuda_time_ns", (10000000 + 1) / 3);
    assert_value(row, "cuda_busy_percent", 100 * (6.1 + 1.5 + 0.6) / (2 * 12));
    row = row_of(json, "steps", "all");
    assert_value(row, "cuda_time_ns", NAN);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(memory_by_hand)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "memory", false);
    const json_t *row = row_at(json, 2); /* behind both of the host's */
    assert_text(row, "device", "cuda:1");
    assert_value(row, "peak_bytes", 20 << 20);
    assert_value(row, "peak_at_ns", 4200000);
    assert_value(row, "current_bytes", 20 << 20);
    assert_value(row, "change_bytes", 16 << 20);
    assert_value(row, "allocations", 3);
    assert_value(row, "frees", 1);
    assert_value(row, "free_bytes", 1 << 30);
    assert_value(row, "capacity_bytes", 4.0 * (1 << 30));
    assert_value(row, "pool_bytes", 16 << 20);
    assert_value(row, "fragmentation_percent", 25);
    row = row_at(json, 3);
    assert_value(row, "peak_bytes", 24 << 20);
    assert_value(row, "peak_at_ns", NAN);
    assert_value(row, "allocations", 5);
    row = row_of(table_of(json, "jumps"), "device", "cuda:1");
    assert_value(row, "bytes", 8 << 20);
    assert_value(row, "times", 3);
    assert_text(row, "scope", "load");
    row = row_of(table_of(json, "scopes"), "scope", "load");
    assert_value(row, "cuda_memory_bytes", 16 << 20);
    row = row_of(table_of(json, "copies"), "copy", "memcpy DtoH");
    assert_text(row, "from", "device");
    assert_text(row, "to", "pageable");
    assert_value(row, "count", 3);
    assert_value(row, "bytes", 12000000);
    assert_value(row, "time_ns", 1500000);
    assert_value(row, "gb_per_second", 8);
    row = row_of(table_of(json, "copies"), "copy", "memcpy HtoD");
    assert_value(row, "gb_per_second", 16);
    json_decref(json);
    takt_trace_release(trace);
}

/* density takes 1, 0.25 and 0.25 ms in each step. */
TEST(kernels_by_hand)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "kernels", false);
    assert_int_equal(row_count(json), 2);
    const json_t *row = row_of(json, "name", "kernel density");
    assert_value(row, "count", 9);
    assert_value(row, "total_ns", 4500000);
    assert_value(row, "total_percent", 100 * 4.5 / 7.6);
    assert_value(row, "avg_ns", 500000);
    assert_value(row, "median_ns", 250000);
    assert_value(row, "min_ns", 250000);
    assert_value(row, "max_ns", 1000000);
    assert_value(row, "stddev_ns", 375000); /* of the sample */
    assert_text(row, "grid", "64,2,1");
    assert_text(row, "block", "128,1,1");
    assert_value(row, "registers", 32);
    assert_value(row, "static_shared_bytes", 1024);
    assert_value(row, "dynamic_shared_bytes", 2048);
    assert_value(row, "occupancy_percent", 75);
    assert_text(row, "limited_by", "shared memory");
    row = row_of(json, "name", "kernel pressure"); /* nobody knows its shape */
    assert_text(row, "grid", NULL);
    assert_value(row, "registers", NAN);
    json_decref(json);
    takt_trace_release(trace);
}

/* One kernel with two grids and numbers of registers, and of an unknown shape. */
static takt_trace *build_two_shapes(void)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t call = build_call(trace, track, "cudaLaunchKernel", TKT_NO_SPAN, 1000000, 1000100);
    tkt_shape shape = {.grid = {8, 1, 1}, .block = {32, 1, 1}, .registers = 16};
    uint32_t shapes[3] = {build_shape(trace, &shape), TKT_NO_SHAPE, TKT_NO_SHAPE};
    shape.grid[0] = 9;
    shape.registers = 17;
    shapes[1] = build_shape(trace, &shape);
    for (uint64_t i = 0; i < 3; i++)
        build_launched(trace, call, "cuda:0", "kernel k", TAKT_TIMING_KERNEL, 1000000,
                       1000100 + i * 100)
            ->shape = shapes[i];
    build_end(trace);
    return trace;
}

TEST(kernels_of_several_shapes_vary)
{
    takt_trace *trace = build_two_shapes();
    json_t *json = parsed(trace, "kernels", false);
    const json_t *row = row_of(json, "name", "kernel k");
    assert_value(row, "count", 3);
    assert_value(row, "total_ns", 600);
    assert_text(row, "grid", "varies");
    assert_text(row, "block", "32,1,1");
    assert_value(row, "registers", NAN);
    assert_value(row, "static_shared_bytes", 0);
    json_decref(json);

    const takt_report_options options = {.struct_size = sizeof options, .by_arguments = true};
    json = report_json(trace, "kernels", &options);
    assert_int_equal(row_count(json), 3);
    row = row_of(json, "grid", "9,1,1");
    assert_value(row, "count", 1);
    assert_value(row, "total_ns", 200);
    assert_value(row, "median_ns", 200);
    assert_value(row, "registers", 17);
    row = row_of(json, "grid", "8,1,1");
    assert_value(row, "total_percent", 100.0 / 6);
    json_decref(json);
    takt_trace *folded = build_folded(trace);
    size_t bytes = 0;
    takt_sink sink = {eat, &bytes};
    assert_int_equal(takt_report(folded, "kernels", &options, &sink), TAKT_NO_SPANS);
    char *text = report_of(folded, "kernels", NULL);
    assert_non_null(strstr(text, "kernel k"));
    assert_null(strstr(text, "Grid"));
    tkt_free(text);
    takt_trace_release(folded);
    takt_trace_release(trace);
}

TEST(calls_by_hand)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "api", false);
    assert_int_equal(row_count(json), 7);
    const json_t *row = row_of(json, "name", "cudaLaunchKernel");
    assert_value(row, "count", 6);
    assert_value(row, "total_ns", 60000);
    assert_value(row, "total_percent", 100 * 60 / 6840.0);
    assert_value(row, "avg_ns", 10000);
    assert_value(row, "median_ns", 10000);
    assert_value(row, "min_ns", 10000);
    assert_value(row, "max_ns", 10000);
    assert_value(row, "stddev_ns", 0);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(the_timeline_knows_where_activities_come_from)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "timeline", false);
    const json_t *row = row_at(json, 4);
    assert_text(row, "activity", "memcpy DtoH");
    assert_text(row, "scope", "output");
    assert_text(row, "launch", "cudaMemcpy");
    assert_value(row, "bytes", 4000000);
    assert_value(row, "stream", 7);
    assert_value(row, "correlation", 1005);
    assert_value(row, "begin_ns", 2400000);
    row = row_at(json, 21);
    assert_text(row, "scope", NULL);
    assert_text(row, "launch", NULL);
    assert_value(row, "bytes", NAN);
    assert_value(row, "correlation", NAN);
    assert_value(row, "thread", NAN);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(the_summary_tells_what_to_do)
{
    takt_trace *trace = build_cuda();
    json_t *json = parsed(trace, "summary", false);
    const json_t *row = row_of(table_of(json, "devices"), "device", "cuda:0");
    assert_value(row, "busy_ns", 6100000);
    assert_value(row, "busy_percent", 100 * 6.1 / 12);
    assert_value(row, "total_time_ns", 3 * 2500000 + 100000);
    assert_value(row, "count", 10);
    row = row_of(json, "name", "step");
    assert_value(row, "cuda_total_ns", 9000000);
    assert_value(json_object_get(json, "facts"), "self_cuda_total_ns", 10000000);
    assert_value(json_object_get(json, "facts"), "copied_bytes", 24000000);
    json_decref(json);
    char *text = report_of(trace, "summary", &(takt_report_options){.width = 400});
    assert_non_null(strstr(text, "- cuda:1 was idle for 82.50% of the wall time, 9.900ms; for "
                                 "2.900ms of it the host was in step: "));
    assert_non_null(strstr(text, "- 3 copies from or to pageable memory, 11.44 MiB, took 1.500ms, "
                                 "15.00% of the CUDA time"));
    assert_non_null(strstr(text, "- Lost 2: launches whose activity had not finished.\n"));
    assert_non_null(strstr(text, "- Lost 1: activities whose launch is not known.\n"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(the_last_line_says_what_measured)
{
    takt_trace *trace = build_cuda();
    char *text = report_of(trace, "scopes", &(takt_report_options){.width = 400});
    assert_non_null(strstr(text, "backend CUPTI 13.0 (130001); clock tsc, "));
    assert_non_null(strstr(text, "; device times: resolution 32.0 ns, uncertainty 512.5 ns; "
                                 "incomplete 2; unattributed 1; "));
    tkt_free(text);
    json_t *json = parsed(trace, "scopes", false);
    const json_t *provenance = json_object_get(json, "provenance");
    assert_value(provenance, "device_resolution_ns", 32);
    assert_value(provenance, "device_uncertainty_ns", 512.5);
    assert_value(provenance, "clock_resolution_ns", 0.41666);
    assert_value(provenance, "clock_uncertainty_ns", 31.25);
    assert_value(provenance, "cost_ns", 12345);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(the_last_line_has_readable_units)
{
    takt_trace *trace = build_cuda();
    trace->facts.clock_uncertainty_ns = 999.9;
    trace->facts.device_resolution_ns = 1000;
    trace->facts.device_uncertainty_ns = 67864;
    trace->facts.device_shift_ns = -12345678;
    char *text = report_of(trace, "scopes", &(takt_report_options){.width = 400});
    assert_non_null(strstr(text, ", uncertainty 999.9 ns; device times: resolution 1.0 us, "
                                 "uncertainty 67.9 us; device times moved by -12.3 ms; "));
    tkt_free(text);
    takt_trace_release(trace);
}

/* Another profiler's file: what was counted while it was read is the least. */
TEST(losses_of_other_profilers_are_unknown)
{
    takt_trace *trace = build_cuda();
    trace->facts.cost_ns = NAN;
    char *text = report_of(trace, "scopes", &(takt_report_options){.width = 400});
    assert_non_null(
        strstr(text, "; losses unknown; incomplete at least 2; unattributed at least 1; "));
    tkt_free(text);
    json_t *json = parsed(trace, "scopes", false);
    const json_t *losses = json_object_get(json_object_get(json, "provenance"), "losses");
    assert_true(json_is_null(json_object_get(losses, "dropped")));
    assert_value(losses, "incomplete", 2);
    assert_value(losses, "cut", 0);
    json_decref(json);
    takt_trace_release(trace);
}

/* Where the clocks were not read side by side, nothing is claimed. */
TEST(an_unknown_uncertainty_is_not_none)
{
    takt_trace *trace = build_cuda();
    trace->facts.device_uncertainty_ns = 0;
    char *text = report_of(trace, "scopes", &(takt_report_options){.width = 400});
    assert_non_null(strstr(text, "; device times: resolution 32.0 ns, uncertainty unknown; "));
    tkt_free(text);
    json_t *json = parsed(trace, "scopes", false);
    const json_t *provenance = json_object_get(json, "provenance");
    assert_value(provenance, "device_uncertainty_ns", NAN);
    json_decref(json);
    takt_trace_release(trace);
}

/* Without the line that names columns that did not fit. */
static void forget_left_out(char *text)
{
    char *line = strstr(text, "not shown: ");
    char *end = line ? strstr(line, "\nSelf CPU time") : NULL;
    if (end)
        memmove(line, end + 1, strlen(end));
}

TEST(work_that_nobody_declared_hides_no_time)
{
    takt_trace *trace = build_cuda();
    takt_report_options options = {.with_flops = true, .width = 400};
    char *text = report_of(trace, "scopes", &options);
    assert_non_null(strstr(text, "Total FLOPs"));
    tkt_free(text);
    options.width = 160;
    text = report_of(trace, "scopes", &options);
    options.with_flops = false;
    char *without = report_of(trace, "scopes", &options);
    assert_non_null(strstr(text, "Total FLOPs; takt_report_options.width="));
    forget_left_out(text);
    forget_left_out(without);
    assert_string_equal(text, without);
    tkt_free(without);
    tkt_free(text);
    takt_trace_release(trace);
}

/* Of a folded trace only what needs single activities is missing: when devices were busy, copies,
 * allocations by scope. */
TEST(folded_traces_print_the_same_sums)
{
    static const char *const reports[] = {"scopes", "tree",       "api",
                                          "steps",  "activities", "devices"};
    takt_trace *full = build_cuda();
    takt_trace *folded = build_folded(full);
    for (size_t i = 0; i < 6; i++) {
        json_t *a = parsed(full, reports[i], true);
        json_t *b = parsed(folded, reports[i], true);
        const json_t *columns = json_object_get(b, "columns");
        const json_t *rows = json_object_get(a, "rows");
        const json_t *first = json_array_get(columns, i > 3 ? 2 : 0);
        assert_int_equal(json_array_size(rows), json_array_size(json_object_get(b, "rows")));
        for (size_t r = 0; r < json_array_size(rows); r++) {
            const json_t *row = json_array_get(rows, r);
            const char *key = json_string_value(first);
            const json_t *same = row_of(b, key, json_string_value(json_object_get(row, key)));
            for (size_t c = 0; c < json_array_size(columns); c++) {
                key = json_string_value(json_array_get(columns, c));
                assert_true(json_equal(json_object_get(row, key), json_object_get(same, key)));
            }
        }
        json_decref(a);
        json_decref(b);
    }
    char *text = report_of(folded, "activities", NULL);
    assert_ptr_equal(strstr(text, "CUDA activity summary:\n"), text);
    tkt_free(text);
    text = report_of(folded, "memory", NULL);
    assert_non_null(strstr(text, "Only full traces contain copies.\n"));
    assert_non_null(strstr(text, "cuda:1"));
    tkt_free(text);
    text = report_of(folded, "scopes", &(takt_report_options){.width = 300});
    assert_null(strstr(text, "CUDA busy"));
    tkt_free(text);
    text = report_of(folded, "summary", NULL);
    assert_null(strstr(text, "idle"));
    tkt_free(text);
    takt_trace_release(full);
    takt_trace_release(folded);
}

/* Activities that were added up while recording may be known by the call that launched them. */
TEST(activities_of_calls_are_their_scopes)
{
    takt_trace *full = build_cuda();
    takt_trace *folded = build_folded(full);
    const tkt_fold *fold = tkt_trace_fold(folded);
    char *before = report_of(folded, "scopes", &(takt_report_options){.all = true});
    for (size_t i = 0; i < folded->node_activities.count; i++) {
        uint32_t *node = &folded->node_activities.items[i].node;
        uint32_t child = *node ? fold->items[*node].first_child : TKT_NO_NODE;
        if (child != TKT_NO_NODE)
            *node = child;
    }
    char *after = report_of(folded, "scopes", &(takt_report_options){.all = true});
    assert_string_equal(before, after);
    tkt_free(before);
    tkt_free(after);
    takt_trace_release(full);
    takt_trace_release(folded);
}

static bool speaks_of_cuda(const char *text)
{
    for (; *text; text++) {
        if (strncasecmp(text, "cuda", 4) == 0 || strncasecmp(text, "cupti", 5) == 0)
            return true;
    }
    return false;
}

TEST(programs_without_cuda_hear_no_word_of_it)
{
    takt_trace *trace = build_fluid();
    for (int format = TAKT_FORMAT_TEXT; format <= TAKT_FORMAT_MARKDOWN; format++) {
        for (size_t i = 0; takt_report_name(i); i++) {
            takt_report_options options = {.format = (takt_format)format};
            char *text = report_of(trace, takt_report_name(i), &options);
            assert_false(speaks_of_cuda(text));
            tkt_free(text);
        }
    }
    takt_trace_release(trace);
}

TEST(every_format_and_width_works)
{
    takt_trace *trace = build_launches_until(3, LAUNCHES_BEGIN + 5000);
    for (size_t i = 0; takt_report_name(i); i++) {
        for (uint32_t width = 60; width <= 240; width += 4) {
            takt_report_options options = {.width = width, .all = width % 8, .with_flops = true};
            char *text = report_of(trace, takt_report_name(i), &options);
            assert_true(longest_line(text) <= width);
            assert_null(strstr(text, " \n"));
            assert_null(strstr(text, " nan"));
            tkt_free(text);
        }
        for (int format = TAKT_FORMAT_CSV; format <= TAKT_FORMAT_MARKDOWN; format++) {
            takt_report_options options = {.format = (takt_format)format, .by_arguments = true};
            char *text = report_of(trace, takt_report_name(i), &options);
            assert_true(strlen(text) > 20);
            tkt_free(text);
        }
        json_decref(parsed(trace, takt_report_name(i), true));
    }
    takt_trace_release(trace);
}

TEST(without_memory_nothing_is_written)
{
    for (size_t i = 0; takt_report_name(i); i++) {
        takt_status status = TAKT_NO_MEMORY;
        for (uint64_t after = 0; status != TAKT_OK; after++) {
            takt_trace *trace = build_cuda();
            size_t bytes = 0;
            takt_sink sink = {eat, &bytes};
            takt_report_options options = {.struct_size = sizeof options, .all = after % 2};
            tkt_alloc_fail(after, UINT64_MAX);
            status = takt_report(trace, takt_report_name(i), &options, &sink);
            tkt_alloc_fail(0, 0);
            assert_true(status == TAKT_OK || (status == TAKT_NO_MEMORY && bytes == 0));
            takt_trace_release(trace);
        }
    }
}

TEST_MAIN(NULL, NULL)
