/* The call tree as a list of paths, against a count over the spans by path. */
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/scopes.h"

#include <stdio.h>

#define PATH_BYTES 4096

/* "step/forces/density": from a row of the tree, and from a span. */
static void path_of_row(const tkt_tree *tree, uint32_t row, char *out)
{
    if (tree->items[row].parent == TKT_NO_ROW)
        *out = '\0';
    else
        path_of_row(tree, tree->items[row].parent, out);
    strcat(out, "/");
    strcat(out, tree->items[row].name);
}

static void path_of_span(const takt_trace *trace, const tkt_spans *spans, uint32_t span, char *out)
{
    if (spans->items[span].parent == TKT_NO_SPAN)
        *out = '\0';
    else
        path_of_span(trace, spans, spans->items[span].parent, out);
    strcat(out, "/");
    strcat(out, tkt_trace_text(trace, trace->sites.items[tkt_span_site(&spans->items[span])].name));
}

static void count_path(const takt_trace *trace, const char *path, uint64_t *calls,
                       uint64_t *total_ns)
{
    *calls = *total_ns = 0;
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        for (uint32_t i = 0; i < spans->count; i++) {
            char here[PATH_BYTES];
            path_of_span(trace, spans, i, here);
            if (strcmp(here, path) != 0)
                continue;
            ++*calls;
            *total_ns += spans->items[i].end_ns - spans->items[i].begin_ns;
        }
    }
}

static takt_trace *build_small(void)
{
    takt_trace *trace = build_begin(1100000);
    uint32_t sites[3] = {build_site(trace, "a"), build_site(trace, "b"), build_site(trace, "c")};
    uint64_t seed = 5;
    for (int i = 0; i < 2; i++)
        build_nest(trace, build_track(trace, "t"), sites, 3, TKT_NO_SPAN, 1000000, 1002000, &seed);
    build_end(trace);
    return trace;
}

TEST(rows_equal_a_count_by_path)
{
    takt_trace *trace = build_small();
    tkt_tree tree;
    assert_int_equal(tkt_tree_of(trace, false, &tree), TAKT_OK);
    assert_true(tree.count > 20);
    uint64_t all_calls = 0;
    for (uint32_t i = 0; i < tree.count; i++) {
        char path[PATH_BYTES];
        uint64_t calls;
        uint64_t total_ns;
        path_of_row(&tree, i, path);
        count_path(trace, path, &calls, &total_ns);
        assert_int_equal(tree.items[i].node->stats.count, calls);
        assert_int_equal(tree.items[i].node->stats.total_ns, total_ns);
        all_calls += calls;
    }
    assert_int_equal(all_calls, trace->facts.span_count);
    tkt_tree_fini(&tree);
    takt_trace_release(trace);
}

TEST(parents_come_before_children_one_level_up)
{
    takt_trace *trace = build_small();
    tkt_tree tree;
    assert_int_equal(tkt_tree_of(trace, false, &tree), TAKT_OK);
    uint64_t top_ns = 0;
    for (uint32_t i = 0; i < tree.count; i++) {
        uint32_t parent = tree.items[i].parent;
        if (parent == TKT_NO_ROW) {
            assert_int_equal(tree.items[i].depth, 0);
            top_ns += tree.items[i].node->stats.total_ns;
            continue;
        }
        assert_true(parent < i);
        assert_int_equal(tree.items[i].depth, tree.items[parent].depth + 1);
    }
    assert_int_equal(tree.self_ns, top_ns);
    tkt_tree_fini(&tree);
    takt_trace_release(trace);
}

/* A node without calls shows if one below it has calls, and only then. */
TEST(unused_nodes_are_left_out)
{
    takt_trace *trace = build_begin(2000000);
    trace->facts.has_spans = false;
    uint32_t a = build_site(trace, "a");
    uint32_t b = build_site(trace, "b");
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    uint32_t empty = tkt_fold_child(&trace->fold, 0, a);
    uint32_t bridge = tkt_fold_child(&trace->fold, 0, b);
    tkt_fold_child(&trace->fold, empty, b);
    tkt_fold_add(&trace->fold, tkt_fold_child(&trace->fold, bridge, a), 10);
    build_end(trace);
    tkt_tree tree;
    assert_int_equal(tkt_tree_of(trace, false, &tree), TAKT_OK);
    assert_int_equal(tree.count, 2);
    assert_string_equal(tree.items[0].name, "b");
    assert_string_equal(tree.items[1].name, "a");
    assert_int_equal(tree.items[1].parent, 0);
    tkt_tree_fini(&tree);
    takt_trace_release(trace);
}

/* 100 calls, one each ms: of 1 to 99 us in some order, and one of 600; below a step of 100 ms. */
TEST(rows_say_how_long_calls_took)
{
    takt_trace *trace = build_begin(200000000);
    build_track(trace, "main");
    uint32_t step =
        build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 101000000);
    uint32_t solve = build_site(trace, "solve");
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t us = i * 37 % 100 ? i * 37 % 100 : 600;
        uint64_t begin_ns = 1000000 * (i + 1);
        build_span(trace, 0, solve, step, begin_ns, begin_ns + us * 1000);
    }
    build_end(trace);
    json_t *json = report_json(trace, "tree", NULL);
    const json_t *row = row_of(json, "name", "solve");
    assert_value(row, "depth", 1);
    assert_value(row, "calls", 100);
    assert_value(row, "cpu_total_ns", 4950000 + 600000);
    assert_value(row, "cpu_total_percent", 5.55);
    assert_value(row, "cpu_time_avg_ns", 55500);
    assert_near(number(row, "cpu_time_median_ns"), 50000, 50000 / 31.0);
    assert_near(number(row, "cpu_time_p99_ns"), 99000, 99000 / 31.0);
    assert_value(row, "cpu_time_min_ns", 1000);
    assert_value(row, "cpu_time_max_ns", 600000);
    row = row_of(json, "name", "step");
    assert_value(row, "self_cpu_ns", 100000000 - 5550000);
    assert_value(row, "self_cpu_percent", 94.45);
    assert_value(row, "cpu_time_median_ns", 100000000);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(without_memory_nothing_is_left_behind)
{
    takt_trace *trace = build_small();
    assert_non_null(tkt_trace_fold(trace));
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        tkt_tree tree = {0};
        tkt_alloc_fail(after, UINT64_MAX);
        status = tkt_tree_of(trace, false, &tree);
        tkt_alloc_fail(0, 0);
        assert_true((status == TAKT_OK) == (tree.items != NULL));
        tkt_tree_fini(&tree);
    }
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
