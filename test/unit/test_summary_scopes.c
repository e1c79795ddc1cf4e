/* Scopes by name and by arguments, against a slow and simple count over the spans. */
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/scopes.h"

#include <math.h>

/* What one name should get, span by span: the slow way, which follows parents for every span. */
typedef struct expected {
    uint64_t calls;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t min_ns;
    uint64_t max_ns;
} expected;

static const char *name_of(const takt_trace *trace, const tkt_span *span)
{
    return tkt_trace_text(trace, trace->sites.items[tkt_span_site(span)].name);
}

static bool is_under(const takt_trace *trace, const tkt_spans *spans, uint32_t span,
                     const char *name)
{
    uint32_t parent = spans->items[span].parent;
    while (parent != TKT_NO_SPAN && strcmp(name_of(trace, &spans->items[parent]), name) != 0)
        parent = spans->items[parent].parent;
    return parent != TKT_NO_SPAN;
}

static uint64_t children_ns(const tkt_spans *spans, uint32_t span)
{
    uint64_t sum = 0;
    for (size_t i = span + 1; i < spans->count; i++) {
        if (spans->items[i].begin_ns >= spans->items[span].end_ns)
            break;
        if (spans->items[i].parent == span)
            sum += spans->items[i].end_ns - spans->items[i].begin_ns;
    }
    return sum;
}

static expected expect(const takt_trace *trace, const char *name)
{
    expected e = {.min_ns = UINT64_MAX};
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        for (uint32_t i = 0; i < spans->count; i++) {
            const tkt_span *span = &spans->items[i];
            uint64_t ns = span->end_ns - span->begin_ns;
            if (strcmp(name_of(trace, span), name) != 0)
                continue;
            e.calls++;
            e.total_ns += is_under(trace, spans, i, name) ? 0 : ns;
            e.self_ns += ns - children_ns(spans, i);
            e.min_ns = ns < e.min_ns ? ns : e.min_ns;
            e.max_ns = ns > e.max_ns ? ns : e.max_ns;
        }
    }
    return e;
}

static void assert_expected(const tkt_scope_total *total, const expected *e)
{
    assert_int_equal(total->calls, e->calls);
    assert_int_equal(total->total_ns, e->total_ns);
    assert_int_equal(total->self_ns, e->self_ns);
    assert_int_equal(total->min_ns, e->min_ns);
    assert_int_equal(total->max_ns, e->max_ns);
}

TEST(scopes_equal_a_count_over_the_spans)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        takt_trace *trace = build_mixed(seed);
        tkt_scopes scopes;
        assert_int_equal(tkt_scopes_by_name(trace, false, &scopes), TAKT_OK);
        uint64_t self_ns = 0;
        for (size_t i = 0; i < scopes.count; i++) {
            expected e = expect(trace, scopes.items[i].name);
            assert_expected(&scopes.items[i], &e);
            self_ns += e.self_ns;
        }
        assert_in_range(scopes.count, 4, 6);
        assert_int_equal(scopes.self_ns, self_ns);
        tkt_scopes_fini(&scopes);
        takt_trace_release(trace);
    }
}

/* Without arguments, grouping by arguments is grouping by name, by another way. */
static void assert_both_ways_agree(const takt_trace *trace, bool all)
{
    tkt_scopes by_name;
    tkt_scopes by_arguments;
    assert_int_equal(tkt_scopes_by_name(trace, all, &by_name), TAKT_OK);
    assert_int_equal(tkt_scopes_by_stack(trace, all, 0, true, &by_arguments), TAKT_OK);
    assert_int_equal(by_name.count, by_arguments.count);
    assert_int_equal(by_name.self_ns, by_arguments.self_ns);
    for (size_t i = 0; i < by_name.count; i++) {
        const tkt_scope_total *a = &by_name.items[i];
        const tkt_scope_total *b = &by_arguments.items[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->kind, b->kind);
        expected e = {a->calls, a->total_ns, a->self_ns, a->min_ns, a->max_ns};
        assert_expected(b, &e);
        assert_int_equal(b->arg_count, 0);
    }
    tkt_scopes_fini(&by_name);
    tkt_scopes_fini(&by_arguments);
}

TEST(both_ways_agree_without_arguments)
{
    takt_trace *trace = build_mixed(7);
    assert_both_ways_agree(trace, false);
    takt_trace_release(trace);
    trace = build_launches(3); /* with calls, which are their scopes' or rows of their own */
    assert_both_ways_agree(trace, false);
    assert_both_ways_agree(trace, true);
    takt_trace_release(trace);
}

TEST(folded_traces_give_the_same_scopes)
{
    takt_trace *full = build_mixed(11);
    takt_trace *folded = build_folded(full);
    tkt_scopes a;
    tkt_scopes b;
    assert_int_equal(tkt_scopes_by_name(full, false, &a), TAKT_OK);
    assert_int_equal(tkt_scopes_by_name(folded, false, &b), TAKT_OK);
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.items[i].name, b.items[i].name);
        assert_int_equal(a.items[i].self_ns, b.items[i].self_ns);
        assert_int_equal(a.items[i].total_ns, b.items[i].total_ns);
    }
    assert_int_equal(tkt_scopes_by_stack(folded, false, 0, true, &b), TAKT_NO_SPANS);
    tkt_scopes_fini(&a);
    tkt_scopes_fini(&b);
    takt_trace_release(full);
    takt_trace_release(folded);
}

/* a(100) > b(80) > a(60) > a(40): of the three calls of a, the outermost is the total. */
TEST(recursion_counts_the_outermost_call)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t a = build_site(trace, "a");
    uint32_t b = build_site(trace, "b");
    uint32_t first = build_span(trace, track, a, TKT_NO_SPAN, 1000, 1100);
    uint32_t second = build_span(trace, track, b, first, 1010, 1090);
    uint32_t third = build_span(trace, track, a, second, 1020, 1080);
    uint32_t innermost = build_span(trace, track, a, third, 1030, 1070);
    uint32_t call = build_call(trace, track, "cudaLaunchKernel", innermost, 1031, 1032);
    build_launched(trace, call, "cuda:0", "kernel k", TAKT_TIMING_KERNEL, 1100, 1107);
    build_end(trace);
    for (int by_stack = 0; by_stack < 2; by_stack++) {
        tkt_scopes scopes;
        takt_status status = by_stack ? tkt_scopes_by_stack(trace, false, 0, true, &scopes)
                                      : tkt_scopes_by_name(trace, false, &scopes);
        assert_int_equal(status, TAKT_OK);
        assert_string_equal(scopes.items[0].name, "a");
        assert_int_equal(scopes.items[0].calls, 3);
        assert_int_equal(scopes.items[0].total_ns, 100);
        assert_int_equal(scopes.items[0].self_ns, 20 + 20 + 40);
        assert_int_equal(tkt_scope_mean_ns(&scopes.items[0]), (100 + 60 + 40 + 1) / 3);
        assert_int_equal(scopes.items[0].device_total_ns, 7);
        assert_int_equal(scopes.items[0].device_sum_ns, 3 * 7);
        assert_int_equal(scopes.items[1].total_ns, 80);
        assert_int_equal(scopes.items[1].self_ns, 20);
        assert_int_equal(scopes.items[1].device_sum_ns, 7);
        assert_int_equal(scopes.self_ns, 100);
        tkt_scopes_fini(&scopes);
    }
    takt_trace_release(trace);
}

/* Three whole calls of 100, 200 and 600 ns, and two that the recording has cut: in lists of spans,
 * by arguments and in the tree. */
TEST(how_long_a_call_takes_is_told_by_whole_ones)
{
    static const uint64_t begins[] = {1000, 2000, 3000, 4000, 5000};
    static const uint64_t ends[] = {1007, 2100, 3200, 4600, 5003};
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main"), site = build_site(trace, "a");
    for (size_t i = 0; i < 5; i++)
        build_span(trace, track, site, TKT_NO_SPAN, begins[i], ends[i]);
    tkt_span_mark(&trace->tracks.items[track].spans.items[0], TAKT_SPAN_BEGUN_BEFORE);
    tkt_span_mark(&trace->tracks.items[track].spans.items[4], TAKT_SPAN_UNFINISHED);
    build_end(trace);
    for (int by_arguments = 0; by_arguments <= 1; by_arguments++) {
        tkt_scopes scopes;
        takt_status status = by_arguments ? tkt_scopes_by_stack(trace, false, 0, true, &scopes)
                                          : tkt_scopes_by_name(trace, false, &scopes);
        assert_int_equal(status, TAKT_OK);
        assert_int_equal(scopes.items[0].calls, 5);
        assert_int_equal(scopes.items[0].pieces, 2);
        assert_int_equal(scopes.items[0].total_ns, 910);
        assert_int_equal(scopes.items[0].min_ns, 100);
        assert_int_equal(scopes.items[0].max_ns, 600);
        assert_int_equal(tkt_scope_mean_ns(&scopes.items[0]), 300);
        tkt_scopes_fini(&scopes);
    }
    takt_node_info node;
    assert_int_equal(takt_trace_node(trace, 0, &node), TAKT_OK);
    assert_int_equal(node.durations.count, 5);
    assert_int_equal(node.pieces, 2);
    assert_int_equal(node.durations.total_ns, 910);
    assert_int_equal(node.durations.min_ns, 100);
    assert_in_range(node.durations.median_ns, 194, 206);
    assert_int_equal(node.durations.max_ns, 600);
    takt_trace_release(trace);
}

/* Sites in different places with one name are one scope. */
TEST(sites_of_one_name_are_one_scope)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t a = build_site(trace, "step");
    uint32_t b = build_site_of(trace, "step", TAKT_SITE_PHASE, NULL);
    assert_int_not_equal(a, b);
    build_span(trace, track, a, TKT_NO_SPAN, 1000, 1100);
    build_span(trace, track, b, TKT_NO_SPAN, 1200, 1250);
    build_end(trace);
    tkt_scopes scopes;
    assert_int_equal(tkt_scopes_by_name(trace, false, &scopes), TAKT_OK);
    assert_int_equal(scopes.count, 1);
    assert_int_equal(scopes.items[0].calls, 2);
    assert_int_equal(scopes.items[0].total_ns, 150);
    tkt_scopes_fini(&scopes);
    takt_trace_release(trace);
}

static tkt_arg *add_arg(takt_trace *trace, uint32_t span, const char *key, tkt_arg_type type)
{
    build_int_arg(trace, 0, span, key, 0);
    tkt_args *args = &trace->tracks.items[0].args;
    args->items[args->count - 1].type = type;
    return &args->items[args->count - 1];
}

/* Ten calls: n=1 | n=1u | n=1.0 | n=true | n="1" | m=1 | n=1,m=1 | none | n=1 again | none again;
 * or all with another number. */
static takt_trace *build_arguments(unsigned number)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t site = build_site(trace, "solve");
    uint32_t as_text = build_string(trace, number ? "1" : "0");
    for (uint32_t i = 0; i < 10; i++)
        build_span(trace, track, site, TKT_NO_SPAN, 1000 + i * 100, 1000 + i * 100 + (1U << i));
    add_arg(trace, 0, "n", TKT_ARG_INT)->value.i = number;
    add_arg(trace, 1, "n", TKT_ARG_UINT)->value.u = number;
    add_arg(trace, 2, "n", TKT_ARG_DOUBLE)->value.d = number;
    add_arg(trace, 3, "n", TKT_ARG_BOOL)->value.b = number;
    add_arg(trace, 4, "n", TKT_ARG_STRING)->value.string = as_text;
    add_arg(trace, 5, "m", TKT_ARG_INT)->value.i = number;
    add_arg(trace, 6, "n", TKT_ARG_INT)->value.i = number;
    add_arg(trace, 6, "m", TKT_ARG_INT)->value.i = number;
    add_arg(trace, 8, "n", TKT_ARG_INT)->value.i = number;
    build_end(trace);
    return trace;
}

/* A number is one value, whatever its type; a bool and a text are no numbers. */
TEST(arguments_are_told_apart_by_key_and_value)
{
    for (unsigned number = 0; number < 2; number++) {
        takt_trace *trace = build_arguments(number);
        tkt_scopes scopes;
        assert_int_equal(tkt_scopes_by_stack(trace, false, 0, true, &scopes), TAKT_OK);
        const uint64_t totals[6] = {1 + 2 + 4 + 256, 8, 16, 32, 64, 128 + 512};
        assert_int_equal(scopes.count, 6);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(scopes.items[i].total_ns, totals[i]);
        assert_int_equal(scopes.items[4].arg_count, 2);
        assert_int_equal(scopes.items[0].calls, 4);
        tkt_scopes_fini(&scopes);
        takt_trace_release(trace);
    }
}

/* The rows of a scope with one argument of each of these values: how often each is called. */
static void assert_rows_of(const double *values, size_t count, const char *rows)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t site = build_site(trace, "solve");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t begin_ns = 1000000 + i * 100;
        build_span(trace, track, site, TKT_NO_SPAN, begin_ns, begin_ns + (count - i));
        add_arg(trace, i, "x", TKT_ARG_DOUBLE)->value.d = values[i];
    }
    build_end(trace);
    tkt_scopes scopes;
    char text[200] = "";
    assert_int_equal(tkt_scopes_by_stack(trace, false, 0, true, &scopes), TAKT_OK);
    for (size_t i = 0; i < scopes.count; i++)
        sprintf(text + strlen(text), "%u ", (unsigned)scopes.items[i].calls);
    tkt_scopes_fini(&scopes);
    takt_trace_release(trace);
    assert_string_equal(text, rows);
}

TEST(numbers_that_are_shown_alike_are_one_row)
{
    assert_rows_of((double[]){0.0, -0.0}, 2, "2 ");
    assert_rows_of((double[]){NAN, -NAN, INFINITY, -INFINITY}, 4, "2 1 1 ");
    assert_rows_of((double[]){0.1f, 0.1, 0.1f, 0.2f}, 4, "3 1 ");
    assert_rows_of((double[]){1e300, 1e300, 1e-300, -1e300}, 4, "2 1 1 ");
    assert_rows_of((double[]){0.5, 0.5000001, 0.5f}, 3, "2 1 ");
}

/* Keys may come in any order, and more than once. */
TEST(the_order_of_arguments_makes_no_row)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t site = build_site(trace, "solve");
    for (uint32_t i = 0; i < 5; i++)
        build_span(trace, track, site, TKT_NO_SPAN, 1000 + i * 100, 1000 + i * 100 + (1U << i));
    static const struct {
        uint32_t span;
        const char *key;
        int64_t value;
    } args[] = {{0, "m", 64}, {0, "n", 32}, {1, "n", 32}, {1, "m", 64}, {2, "m", 32}, {2, "n", 64},
                {3, "m", 64}, {3, "n", 32}, {3, "m", 64}, {4, "n", 32}, {4, "m", 64}, {4, "m", 64}};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        add_arg(trace, args[i].span, args[i].key, TKT_ARG_INT)->value.i = args[i].value;
    build_end(trace);
    tkt_scopes scopes;
    assert_int_equal(tkt_scopes_by_stack(trace, false, 0, true, &scopes), TAKT_OK);
    const uint64_t totals[3] = {1 + 2, 4, 8 + 16};
    assert_int_equal(scopes.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(scopes.items[i].total_ns, totals[i]);
    tkt_scopes_fini(&scopes);
    takt_trace_release(trace);
}

TEST(declared_work_adds_up)
{
    takt_trace *trace = build_arguments(1);
    for (uint32_t i = 0; i < 10; i += 3) {
        tkt_work *work = TKT_ARRAY_ADD(&trace->tracks.items[0].works);
        *work = (tkt_work){i, 1000.0 * i, 10.0 * i};
    }
    for (int way = 0; way < 2; way++) {
        tkt_scopes scopes;
        assert_int_equal(way ? tkt_scopes_by_stack(trace, false, 0, true, &scopes)
                             : tkt_scopes_by_name(trace, false, &scopes),
                         TAKT_OK);
        double flops = 0;
        double bytes = 0;
        for (size_t i = 0; i < scopes.count; i++) {
            flops += scopes.items[i].flops;
            bytes += scopes.items[i].bytes;
        }
        assert_true(flops == 18000 && bytes == 180);
        tkt_scopes_fini(&scopes);
    }
    takt_trace_release(trace);
}

/* Paths that were folded into others show as one row; nodes without calls do not show. */
TEST(other_paths_have_a_row_of_their_own)
{
    takt_trace *trace = build_begin(2000000);
    trace->facts.has_spans = false;
    uint32_t site = build_site(trace, "step");
    uint32_t unused = build_site(trace, "unused");
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    uint32_t step = tkt_fold_child(&trace->fold, 0, site);
    uint32_t other = tkt_fold_find_child(&trace->fold, step, TKT_SITE_OTHER);
    uint32_t below = tkt_fold_find_child(&trace->fold, other, TKT_SITE_OTHER);
    tkt_fold_child(&trace->fold, step, unused);
    tkt_fold_add(&trace->fold, below, 30);
    tkt_fold_add(&trace->fold, other, 40);
    tkt_fold_add(&trace->fold, step, 100);
    build_end(trace);
    tkt_scopes scopes;
    assert_int_equal(tkt_scopes_by_name(trace, false, &scopes), TAKT_OK);
    assert_int_equal(scopes.count, 2);
    assert_string_equal(scopes.items[1].name, TKT_OTHER_NAME);
    assert_int_equal(scopes.items[1].calls, 2);
    assert_int_equal(scopes.items[1].total_ns, 40);
    assert_int_equal(scopes.items[1].self_ns, 40);
    tkt_scopes_fini(&scopes);
    takt_trace_release(trace);
}

TEST(without_memory_nothing_is_left_behind)
{
    takt_trace *trace = build_arguments(1);
    assert_non_null(tkt_trace_fold(trace));
    for (int way = 0; way < 2; way++) {
        takt_status status = TAKT_NO_MEMORY;
        for (uint64_t after = 0; status != TAKT_OK; after++) {
            tkt_scopes scopes = {0};
            tkt_alloc_fail(after, UINT64_MAX);
            status = way ? tkt_scopes_by_stack(trace, false, 0, true, &scopes)
                         : tkt_scopes_by_name(trace, false, &scopes);
            tkt_alloc_fail(0, 0);
            assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
            assert_true((status == TAKT_OK) == (scopes.items != NULL));
            tkt_scopes_fini(&scopes);
        }
    }
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
