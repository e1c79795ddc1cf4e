/* Launches by name: every figure followed by hand. Times are in us from the begin of the
 * recording where they are written as US(). */
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/launches.h"

#define US(us) (UINT64_C(1000000) + (uint64_t)((us)*1000))

static uint32_t call(takt_trace *trace, uint32_t track, const char *name, double begin, double end)
{
    uint32_t number = build_call(trace, track, name, TKT_NO_SPAN, US(begin), US(end));
    trace->tracks.items[track].spans.items[trace->calls.items[number].span].site_flags |=
        TAKT_SPAN_CALL;
    return number;
}

static tkt_activity *work(takt_trace *trace, uint32_t call, const char *name, double begin,
                          double end)
{
    return build_launched(trace, call, "cuda:0", name, TAKT_TIMING_KERNEL, US(begin), US(end));
}

static takt_trace *begin(void)
{
    takt_trace *trace = build_begin(US(1000));
    build_track(trace, "main");
    return trace;
}

static tkt_launches launches_of(takt_trace *trace)
{
    tkt_launches launches = {0};
    build_end(trace);
    assert_int_equal(tkt_launches_of(trace, &launches), TAKT_OK);
    return launches;
}

static void done(takt_trace *trace, tkt_launches *launches)
{
    tkt_launches_fini(launches);
    takt_trace_release(trace);
}

static void assert_times(const tkt_launch *launch, tkt_launch_time time, uint64_t count,
                         double total, double least, double most)
{
    const tkt_stats *stats = &launch->times[time].stats;
    assert_int_equal(stats->count, count);
    assert_int_equal(stats->total_ns, (uint64_t)(total * 1000));
    if (count == 0)
        return;
    assert_int_equal(stats->min_ns, (uint64_t)(least * 1000));
    assert_int_equal(stats->max_ns, (uint64_t)(most * 1000));
    assert_int_equal(tkt_histogram_count(launch->times[time].histogram), count);
}

/* Three launches of kernel a and one of b, all on one stream:
 *
 *     a  call   0- 10, runs  12-100   the first of all: nothing is known of what was before
 *     a  call  20- 25, runs 101-150   hidden behind the first
 *     b  call 155-165, runs 160-190   not hidden, began before its call returned: no queue time;
 *                                     the device waited from 150 to 160
 *     a  call 200-210, runs 213-220   not hidden: 190 to 213, the latency of 3 us included */
TEST(figures_by_hand)
{
    takt_trace *trace = begin();
    work(trace, call(trace, 0, "cudaLaunchKernel", 0, 10), "kernel a", 12, 100);
    work(trace, call(trace, 0, "cudaLaunchKernel", 20, 25), "kernel a", 101, 150);
    work(trace, call(trace, 0, "cudaLaunchKernel", 155, 165), "kernel b", 160, 190);
    work(trace, call(trace, 0, "cuLaunchKernel", 200, 210), "kernel a", 213, 220);
    tkt_launches launches = launches_of(trace);
    assert_int_equal(launches.count, 2);
    const tkt_launch *a = &launches.items[0];
    const tkt_launch *b = &launches.items[1];
    assert_string_equal(tkt_trace_text(trace, a->name), "kernel a");
    assert_int_equal(a->call, 0); /* two kinds of calls */
    assert_times(a, TKT_LAUNCH_CALL, 3, 10 + 5 + 10, 5, 10);
    assert_times(a, TKT_LAUNCH_QUEUE, 3, 2 + 76 + 3, 2, 76);
    assert_times(a, TKT_LAUNCH_WORK, 3, 88 + 49 + 7, 7, 88);
    assert_times(a, TKT_LAUNCH_TOTAL, 3, 100 + 130 + 20, 20, 130);
    assert_int_equal(a->late, 1);
    assert_int_equal(a->waited_ns, 23000);
    assert_string_equal(tkt_trace_text(trace, b->call), "cudaLaunchKernel");
    assert_times(b, TKT_LAUNCH_CALL, 1, 10, 10, 10);
    assert_times(b, TKT_LAUNCH_QUEUE, 0, 0, 0, 0);
    assert_times(b, TKT_LAUNCH_WORK, 1, 30, 30, 30);
    assert_times(b, TKT_LAUNCH_TOTAL, 1, 35, 35, 35);
    assert_int_equal(b->late, 1);
    assert_int_equal(b->waited_ns, 10000);
    assert_int_equal(launches.launched, 4);
    assert_int_equal(launches.late, 2);
    assert_int_equal(launches.waited_ns, 33000);
    assert_int_equal(launches.unattributed, 0);
    done(trace, &launches);
}

/* A stream that has run empty while another works on hides a launch, and so does another device
 * not. */
TEST(any_work_of_the_device_hides_a_launch)
{
    takt_trace *trace = begin();
    work(trace, call(trace, 0, "cudaLaunchKernel", 0, 1), "kernel long", 10, 500);
    work(trace, call(trace, 0, "cudaLaunchKernel", 2, 3), "kernel other", 10, 20);
    work(trace, call(trace, 0, "cudaLaunchKernel", 50, 60), "kernel hidden", 62, 70);
    work(trace, call(trace, 0, "cudaLaunchKernel", 80, 90), "kernel waited for", 92, 95);
    trace->activities.items[0].stream = 8;
    trace->activities.items[1].device = build_string(trace, "cuda:1");
    trace->activities.items[3].device = build_string(trace, "cuda:1");
    tkt_launches launches = launches_of(trace);
    assert_int_equal(launches.late, 1);
    assert_int_equal(launches.waited_ns, 92000 - 20000);
    assert_int_equal(launches.items[3].late, 1);
    done(trace, &launches);
}

static uint32_t shape_of_graph(takt_trace *trace, uint32_t graph)
{
    return build_shape(trace, &(tkt_shape){.filter = TAKT_TIMING_KERNEL, .graph = graph});
}

/* Nodes of one launch are one piece of work, on whatever streams; the same kernel launched by
 * itself is another row. Of two nodes the second begins first. */
TEST(a_graph_is_one_launch)
{
    takt_trace *trace = begin();
    work(trace, call(trace, 0, "cudaLaunchKernel", 0, 1), "kernel a", 5, 10);
    for (int i = 0; i < 2; i++) {
        uint32_t launch = call(trace, 0, "cudaGraphLaunch", 100 * i + 20, 100 * i + 30);
        work(trace, launch, "kernel a", 100 * i + 40, 100 * i + 50)->shape =
            shape_of_graph(trace, 5);
        tkt_activity *second = work(trace, launch, "kernel b", 100 * i + 36, 100 * i + 60);
        second->shape = shape_of_graph(trace, 5);
        second->stream = 8;
    }
    tkt_launches launches = launches_of(trace);
    assert_int_equal(launches.count, 2);
    assert_int_equal(launches.items[0].graph, 0);
    const tkt_launch *graph = &launches.items[1];
    assert_int_equal(graph->graph, 5);
    assert_times(graph, TKT_LAUNCH_CALL, 2, 20, 10, 10);
    assert_times(graph, TKT_LAUNCH_QUEUE, 2, 12, 6, 6);
    assert_times(graph, TKT_LAUNCH_WORK, 2, 48, 24, 24);
    assert_times(graph, TKT_LAUNCH_TOTAL, 2, 80, 40, 40);
    assert_int_equal(graph->late, 2);
    assert_int_equal(graph->waited_ns, 20000 + 70000); /* 6 us after the call are no latency */
    assert_int_equal(launches.launched, 3);
    done(trace, &launches);
}

/* A copy that is made in pieces has the name of the first. */
TEST(pieces_of_one_call_are_one_launch)
{
    takt_trace *trace = begin();
    work(trace, call(trace, 0, "cudaLaunchKernel", 0, 1), "kernel a", 5, 10);
    uint32_t copy = call(trace, 0, "cudaMemcpyBatchAsync", 50, 60);
    work(trace, copy, "memcpy HtoD", 70, 80);
    work(trace, copy, "memcpy DtoD", 62, 66);
    tkt_launches launches = launches_of(trace);
    assert_int_equal(launches.count, 2);
    assert_int_equal(launches.launched, 2);
    const tkt_launch *row = &launches.items[1];
    assert_times(row, TKT_LAUNCH_WORK, 1, 18, 18, 18);
    assert_int_equal(row->late, 1);
    assert_int_equal(row->waited_ns, 52000);
    done(trace, &launches);
}

TEST(work_of_unknown_launches_is_counted_apart)
{
    takt_trace *trace = begin();
    work(trace, call(trace, 0, "cudaLaunchKernel", 0, 1), "kernel a", 5, 10);
    for (int i = 0; i < 2; i++)
        build_activity(trace, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, US(20 + i), US(20 + i),
                       TKT_NO_TRACK, TKT_NO_SPAN);
    tkt_launches launches = launches_of(trace);
    assert_int_equal(launches.unattributed, 2);
    assert_int_equal(launches.launched, 1);
    assert_times(&launches.items[0], TKT_LAUNCH_WORK, 1, 5, 5, 5);
    done(trace, &launches);
}

/* By the host's clock this kernel ended before its call began: nothing is negative. */
TEST(clocks_that_disagree_give_no_negative_times)
{
    takt_trace *trace = begin();
    work(trace, call(trace, 0, "cudaLaunchKernel", 100, 110), "kernel a", 90, 95);
    work(trace, call(trace, 0, "cudaLaunchKernel", 200, 210), "kernel a", 210, 210);
    tkt_launches launches = launches_of(trace);
    assert_times(&launches.items[0], TKT_LAUNCH_QUEUE, 1, 0, 0, 0); /* exactly when it returned */
    assert_times(&launches.items[0], TKT_LAUNCH_TOTAL, 2, 10, 0, 10);
    done(trace, &launches);
}

TEST(there_may_be_none)
{
    takt_trace *trace = begin();
    tkt_launches launches = launches_of(trace);
    assert_int_equal(launches.count, 0);
    done(trace, &launches);
    takt_trace *full = build_launches(1);
    takt_trace *folded = build_folded(full);
    assert_int_equal(tkt_launches_of(folded, &launches), TAKT_NO_SPANS);
    tkt_launches_fini(&launches);
    takt_trace_release(folded);
    takt_trace_release(full);
}

/* Names beyond the first thousand have no histograms, and so no median of three launches or more.
 */
TEST(many_names_need_little_memory)
{
    takt_trace *trace = begin();
    for (uint32_t i = 0; i < 1200; i++) {
        char name[32];
        snprintf(name, sizeof name, "kernel %u", i);
        work(trace, call(trace, 0, "cudaLaunchKernel", 0.1 * i, 0.1 * i), name, 0.1 * i + 1,
             0.1 * i + 1.05);
    }
    tkt_launches launches = launches_of(trace);
    assert_int_equal(launches.count, 1200);
    assert_non_null(launches.items[1023].times[0].histogram);
    assert_null(launches.items[1024].times[0].histogram);
    assert_int_equal(launches.items[1199].times[TKT_LAUNCH_CALL].stats.count, 1);
    tkt_launches_fini(&launches);
    build_end(trace);
    json_t *json = report_json(trace, "launches", &(takt_report_options){.rows = -1});
    assert_int_equal(row_count(json), 1200);
    for (size_t i = 0; i < 1200; i++)
        assert_value(row_at(json, i), "api_median_ns", number(row_at(json, i), "api_avg_ns"));
    json_decref(json);
    takt_trace_release(trace);
}

/* The figures of figures_by_hand() that a row adds to them. */
TEST(rows_say_what_was_found)
{
    takt_trace *trace = begin();
    work(trace, call(trace, 0, "cudaLaunchKernel", 0, 10), "kernel a", 12, 100);
    work(trace, call(trace, 0, "cudaLaunchKernel", 200, 204), "kernel a", 213, 220);
    work(trace, call(trace, 0, "cuLaunchKernel", 230, 250), "kernel b", 240, 245);
    build_end(trace);
    json_t *json = report_json(trace, "launches", NULL);
    const json_t *a = row_at(json, 0); /* waited for longest */
    assert_text(a, "name", "kernel a");
    assert_text(a, "launch", "cudaLaunchKernel");
    assert_value(a, "count", 2);
    assert_value(a, "queue_count", 2);
    assert_value(a, "not_hidden", 1);
    assert_value(a, "not_hidden_percent", 50);
    assert_value(a, "waited_ns", 104000); /* the rest, 9 us, is no latency */
    assert_value(a, "api_avg_ns", 7000);
    assert_value(a, "api_min_ns", 4000);
    assert_value(a, "api_max_ns", 10000);
    assert_value(a, "api_stddev_ns", 4243); /* of 4 and 10: sqrt(18) */
    assert_value(a, "queue_avg_ns", 5500);
    assert_value(a, "kernel_avg_ns", 47500);
    assert_value(a, "total_avg_ns", 60000);
    assert_near(number(a, "total_median_ns"), 60000, 60000 / 31);
    const json_t *b = row_at(json, 1);
    assert_value(b, "api_avg_ns", 20000);
    assert_value(b, "api_median_ns", 20000);
    assert_value(b, "api_min_ns", 20000);
    assert_value(b, "api_max_ns", 20000);
    assert_value(b, "queue_count", 0);
    assert_value(b, "queue_avg_ns", NAN);
    assert_value(b, "queue_median_ns", NAN);
    assert_value(b, "api_stddev_ns", NAN);
    const json_t *facts = json_object_get(json, "facts");
    assert_value(facts, "launches", 3);
    assert_value(facts, "not_hidden", 2);
    assert_value(facts, "not_hidden_percent", 200.0 / 3);
    assert_value(facts, "waited_ns", 104000 + 20000);
    json_decref(json);
    takt_trace_release(trace);
}

/* Two launches of a graph by different calls, and work of nobody's. */
TEST(rows_name_graphs)
{
    for (int has_graph = 0; has_graph < 2; has_graph++) {
        takt_trace *trace = begin();
        uint32_t shape = shape_of_graph(trace, 4294967295);
        work(trace, call(trace, 0, "cudaGraphLaunch", 0, 10), "kernel a", 20, 30)->shape =
            has_graph ? shape : TKT_NO_SHAPE;
        work(trace, call(trace, 0, "cuGraphLaunch", 40, 50), "kernel a", 60, 70)->shape =
            has_graph ? shape : TKT_NO_SHAPE;
        if (has_graph)
            build_activity(trace, "cuda:0", "kernel lost", TAKT_TIMING_KERNEL, US(80), US(90),
                           TKT_NO_TRACK, TKT_NO_SPAN);
        build_end(trace);
        json_t *json = report_json(trace, "launches", NULL);
        assert_int_equal(row_count(json), 1);
        assert_text(row_at(json, 0), "name", has_graph ? "graph 4294967295" : "kernel a");
        assert_text(row_at(json, 0), "launch", "varies");
        const json_t *unattributed =
            json_object_get(json_object_get(json, "facts"), "unattributed");
        assert_int_equal(unattributed != NULL, has_graph);
        assert_int_equal(json_integer_value(unattributed), has_graph);
        char *text = report_of(trace, "launches", NULL);
        assert_int_equal(strstr(text, "nodes of a graph are one launch") != NULL, has_graph);
        tkt_free(text);
        json_decref(json);
        takt_trace_release(trace);
    }
}

TEST(without_memory_nothing_is_left_behind)
{
    takt_trace *trace = build_launches_until(1, LAUNCHES_BEGIN + 3000);
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        tkt_launches launches = {0};
        tkt_alloc_fail(after, UINT64_MAX);
        status = tkt_launches_of(trace, &launches);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
        tkt_launches_fini(&launches);
    }
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
