/* The memory report: host and devices, what scopes leave allocated, copies. */
#include "support/test.h"
#include "support/report_traces.h"

#include "trace/devices.h"

/* 4 KiB that grid allocates itself, 1 MiB on the device by a call in it, of which it frees none;
 * io, which frees what it allocates; step around both. */
static takt_trace *build_allocations(void)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    uint32_t step = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 1900000);
    uint32_t grid = build_span(trace, 0, build_site(trace, "grid"), step, 1100000, 1200000);
    build_call(trace, 0, "cudaMalloc", grid, 1110000, 1120000);
    uint32_t call = trace->calls.items[0].span;
    uint32_t io = build_span(trace, 0, build_site(trace, "io"), step, 1300000, 1400000);
    build_memory_event(trace, NULL, 1105000, 4096, 0, grid);
    build_memory_event(trace, "cuda:0", 1115000, 1 << 20, 0, call);
    build_memory_event(trace, NULL, 1310000, 512, 0, io);
    build_memory_event(trace, NULL, 1320000, -512, 0, io);
    trace->memory = (tkt_memory_totals){.window_peak_bytes = 4608,
                                        .window_peak_ns = 1310000,
                                        .window_allocations = 2,
                                        .window_frees = 1,
                                        .window_begin_bytes = 0,
                                        .current_bytes = 4096,
                                        .allocations = 2,
                                        .frees = 1};
    return trace;
}

static void add_device(takt_trace *trace, uint64_t pool_bytes)
{
    tkt_device_memory *device = TKT_ARRAY_ADD(&trace->device_memory);
    assert_non_null(device);
    *device = (tkt_device_memory){.device = build_string(trace, "cuda:0"),
                                  .totals = {.window_allocations = 1, .allocations = 1},
                                  .pool_bytes = pool_bytes,
                                  .pool_used_bytes = pool_bytes / 4};
}

TEST(scopes_that_leave_nothing_have_no_row)
{
    for (int has_device = 0; has_device < 2; has_device++) {
        takt_trace *trace = build_allocations();
        if (has_device)
            add_device(trace, 0);
        build_end(trace);
        json_t *json = report_json(trace, "memory", NULL);
        const json_t *scopes = table_of(json, "scopes");
        assert_int_equal(row_count(scopes), 2);
        assert_value(scopes, "row_count", 2);
        const json_t *row = row_of(scopes, "scope", "grid");
        assert_value(row, "cpu_memory_bytes", 4096);
        assert_value(row, "self_cpu_memory_bytes", 4096);
        assert_value(row, "self_cuda_memory_bytes", 1 << 20); /* the call's */
        row = row_of(scopes, "scope", "step");
        assert_value(row, "cpu_memory_bytes", 4096);
        assert_value(row, "self_cpu_memory_bytes", 0);
        assert_value(row, "cuda_memory_bytes", 1 << 20);
        json_decref(json);
        takt_trace_release(trace);
    }
}

/* Events of the host, of a device, of both: each has columns of its own in `scopes` and `memory`.
 */
TEST(memory_has_columns_where_it_was_recorded)
{
    static const char *const reports[] = {"scopes", "memory"};
    for (unsigned which = 0; which < 8; which++) {
        bool has_host = which & 1, has_device = which & 2;
        takt_trace *trace = build_begin(2000000);
        build_track(trace, "main");
        uint32_t grid =
            build_span(trace, 0, build_site(trace, "grid"), TKT_NO_SPAN, 1000000, 1900000);
        if (has_host)
            build_memory_event(trace, NULL, 1105000, 4096, 0, grid);
        if (has_device)
            build_memory_event(trace, "cuda:0", 1115000, 1 << 20, 0, grid);
        build_end(trace);
        char *text = report_of(trace, reports[which >> 2],
                               &(takt_report_options){.format = TAKT_FORMAT_JSON});
        assert_int_equal(strstr(text, "\"cpu_memory_bytes\": 4096") != NULL, has_host);
        assert_int_equal(strstr(text, "cpu_memory_bytes") != NULL, has_host);
        assert_int_equal(strstr(text, "\"cuda_memory_bytes\": 1048576") != NULL, has_device);
        assert_int_equal(strstr(text, "cuda_memory_bytes") != NULL, has_device);
        tkt_free(text);
        takt_trace_release(trace);
    }
}

TEST(scopes_are_in_the_order_of_the_devices_memory)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    uint32_t halo = build_span(trace, 0, build_site(trace, "halo"), TKT_NO_SPAN, 1000000, 1100000);
    uint32_t grid = build_span(trace, 0, build_site(trace, "grid"), TKT_NO_SPAN, 1200000, 1300000);
    build_memory_event(trace, NULL, 1010000, 1 << 20, 0, halo);
    build_memory_event(trace, "cuda:0", 1020000, 512, 0, halo);
    build_memory_event(trace, NULL, 1210000, 512, 0, grid);
    build_memory_event(trace, "cuda:0", 1220000, 1 << 20, 0, grid);
    build_end(trace);
    json_t *json = report_json(trace, "memory", NULL);
    assert_text(row_at(table_of(json, "scopes"), 0), "scope", "grid");
    assert_text(row_at(table_of(json, "scopes"), 1), "scope", "halo");
    json_decref(json);
    takt_trace_release(trace);
}

TEST(pinned_memory_is_the_hosts)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    uint32_t grid = build_span(trace, 0, build_site(trace, "grid"), TKT_NO_SPAN, 1000000, 1900000);
    build_memory_event(trace, "cuda:0", 1105000, 1 << 20, 0, grid);
    build_memory_event(trace, "cuda:0", 1115000, 1 << 20, 0, grid);
    trace->memory_events.items[1].kind = TAKT_MEMORY_PINNED;
    build_end(trace);
    json_t *json = report_json(trace, "memory", NULL);
    const json_t *jumps = table_of(json, "jumps");
    assert_int_equal(row_count(jumps), 2);
    assert_value(row_of(jumps, "device", "cuda:0"), "times", 1);
    assert_value(row_of(jumps, "device", "host, pinned"), "times", 1);
    const json_t *row = row_of(table_of(json, "scopes"), "scope", "grid");
    assert_value(row, "cpu_memory_bytes", 1 << 20);
    assert_value(row, "cuda_memory_bytes", 1 << 20);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(allocations_say_where)
{
    takt_trace *trace = build_allocations();
    add_device(trace, 0);
    build_end(trace);
    json_t *json = report_json(trace, "memory", NULL);
    const json_t *jumps = table_of(json, "jumps");
    assert_int_equal(row_count(jumps), 3);
    assert_value(row_at(jumps, 0), "bytes", 1 << 20);
    assert_text(row_at(jumps, 0), "device", "cuda:0");
    assert_text(row_at(jumps, 0), "scope", "grid");
    assert_value(row_at(jumps, 1), "first_at_ns", 105000);
    assert_text(row_at(jumps, 1), "device", "host");
    assert_text(row_at(jumps, 1), "thread", "main");
    json_decref(json);
    json = report_json(trace, "memory", &(takt_report_options){.rows = 2});
    assert_int_equal(row_count(table_of(json, "jumps")), 2);
    json_decref(json);
    for (int64_t rows = 2; rows < 4; rows++) {
        char *text = report_of(trace, "memory", &(takt_report_options){.rows = rows});
        assert_int_equal(strstr(text, "Further allocations are smaller.") != NULL, rows == 2);
        tkt_free(text);
    }
    takt_trace_release(trace);
}

/* Of what was lost, nobody knows the scope. Totals are known all the same. */
TEST(scopes_have_no_memory_where_events_were_lost)
{
    takt_trace *trace = build_allocations();
    trace->losses[TAKT_LOSS_BUFFER_FULL] = 1;
    build_end(trace);
    json_t *json = report_json(trace, "memory", NULL);
    assert_value(row_at(json, 0), "allocations", 2);
    assert_int_equal(row_count(table_of(json, "scopes")), 0);
    const json_t *jump = row_at(table_of(json, "jumps"), 0);
    assert_value(jump, "bytes", 1 << 20);
    assert_true(json_is_null(json_object_get(jump, "times")));
    json_decref(json);
    json = report_json(trace, "scopes", NULL);
    assert_null(json_object_get(row_at(json, 0), "cpu_memory_bytes"));
    json_decref(json);
    takt_trace_release(trace);
}

/* The totals saw the free first. */
TEST(the_peak_is_at_least_that_of_the_events)
{
    takt_trace *trace = build_allocations();
    build_memory_event(trace, NULL, 1315000, 1024, 0, 0);
    trace->memory.window_begin_bytes = 100;
    trace->memory.peak_bytes = 4608;
    build_end(trace);
    trace->losses[TAKT_LOSS_BUFFER_FULL] = 1;
    tkt_memory_raise_peak(trace);
    assert_int_equal(trace->memory.window_peak_bytes, 4608);
    trace->losses[TAKT_LOSS_BUFFER_FULL] = 0;
    tkt_memory_raise_peak(trace);
    assert_int_equal(trace->memory.window_peak_bytes, 100 + 4096 + 512 + 1024);
    assert_int_equal(trace->memory.window_peak_ns, 1315000);
    assert_int_equal(trace->memory.peak_bytes, 100 + 4096 + 512 + 1024);
    takt_trace_release(trace);
}

/* In a row of its own, and only where it is known. */
TEST(pools_hold_memory_that_nobody_uses)
{
    for (uint64_t pool_bytes = 0; pool_bytes <= 4096; pool_bytes += 4096) {
        takt_trace *trace = build_allocations();
        add_device(trace, pool_bytes);
        build_end(trace);
        json_t *json = report_json(trace, "memory", NULL);
        assert_int_equal(row_count(json), 4);
        const json_t *row = row_at(json, 2);
        assert_text(row, "device", "cuda:0");
        assert_text(row, "period", "recording");
        assert_value(row, "pool_bytes", pool_bytes ? 4096 : NAN);
        assert_value(row, "fragmentation_percent", pool_bytes ? 75 : NAN);
        assert_value(row, "capacity_bytes", NAN);
        assert_value(row, "free_bytes", NAN);
        row = row_at(json, 3);
        assert_text(row, "period", "since start");
        assert_value(row, "pool_bytes", NAN);
        row = row_at(json, 0);
        assert_text(row, "device", "host");
        assert_value(row, "peak_bytes", 4608);
        assert_value(row, "peak_at_ns", 310000);
        assert_value(row, "unmatched_frees", NAN);
        assert_value(row_at(json, 1), "unmatched_frees", 0);
        json_decref(json);
        takt_trace_release(trace);
    }
}

TEST(more_used_than_pools_hold_is_no_fragmentation)
{
    takt_trace *trace = build_allocations();
    add_device(trace, 4096);
    trace->device_memory.items[0].pool_used_bytes = 4097;
    build_end(trace);
    json_t *json = report_json(trace, "memory", NULL);
    assert_value(row_at(json, 2), "fragmentation_percent", 0);
    json_decref(json);
    takt_trace_release(trace);
}

/* Two from pinned memory, 1 MB in 100 us and 3 MB in 100 us, and one from pageable. */
TEST(copies_are_told_by_their_ends)
{
    static const struct {
        uint8_t source;
        uint64_t bytes, ns;
    } copies[] = {{TAKT_MEMORY_PINNED, 1000000, 100000},
                  {TAKT_MEMORY_PAGEABLE, 5000, 50000},
                  {TAKT_MEMORY_PINNED, 3000000, 100000}};
    takt_trace *trace = build_begin(2000000);
    for (size_t i = 0; i < 3; i++) {
        const tkt_shape shape = {.bytes = copies[i].bytes,
                                 .copy_kind = TAKT_COPY_HTOD,
                                 .source = copies[i].source,
                                 .target = TAKT_MEMORY_DEVICE};
        build_activity(trace, "cuda:0", "memcpy HtoD", TAKT_TIMING_MEMCPY, 1000000,
                       1000000 + copies[i].ns, TKT_NO_TRACK, TKT_NO_SPAN);
        trace->activities.items[i].shape = build_shape(trace, &shape);
    }
    build_end(trace);
    json_t *json = report_json(trace, "memory", NULL);
    const json_t *table = table_of(json, "copies");
    assert_int_equal(row_count(table), 2);
    const json_t *row = row_of(table, "from", "pinned");
    assert_text(row, "copy", "memcpy HtoD");
    assert_text(row, "to", "device");
    assert_value(row, "count", 2);
    assert_value(row, "bytes", 4000000);
    assert_value(row, "avg_bytes", 2000000);
    assert_value(row, "min_bytes", 1000000);
    assert_value(row, "max_bytes", 3000000);
    assert_value(row, "time_ns", 200000);
    assert_value(row, "gb_per_second", 20);
    row = row_of(table, "from", "pageable");
    assert_value(row, "count", 1);
    assert_value(row, "gb_per_second", 0.1);
    json_decref(json);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
