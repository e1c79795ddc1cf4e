/* What devices did, by scope, path, step and device, against slow and simple counts: chains of
 * names are followed for every activity, and busy time is counted nanosecond by nanosecond. */
#include "support/sanitized.h"
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/activities.h"
#include "summary/device.h"
#include "summary/memory.h"
#include "summary/scopes.h"

#define SEEDS FEWER(4, 12)

static const tkt_trace_site *site_at(const takt_trace *trace, uint32_t track, uint32_t span)
{
    const tkt_spans *spans = &trace->tracks.items[track].spans;
    return &trace->sites.items[tkt_span_site(&spans->items[span])];
}

static bool is_named(const takt_trace *trace, uint32_t track, uint32_t span, const char *name)
{
    const tkt_trace_site *site = site_at(trace, track, span);
    return site->kind != TAKT_SITE_CALL && strcmp(tkt_trace_text(trace, site->name), name) == 0;
}

/* Whether `name` is the innermost scope, and whether it is any. */
static bool is_around(const takt_trace *trace, uint32_t track, uint32_t span, const char *name,
                      bool *is_innermost)
{
    *is_innermost =
        track != TKT_NO_TRACK && span != TKT_NO_SPAN && is_named(trace, track, span, name);
    while (track != TKT_NO_TRACK && span != TKT_NO_SPAN) {
        if (is_named(trace, track, span, name))
            return true;
        span = trace->tracks.items[track].spans.items[span].parent;
    }
    return false;
}

static bool busy[LAUNCHES_LAST]; /* by ns */

static void make_busy(const tkt_activity *activity)
{
    for (uint64_t ns = activity->begin_ns; ns < activity->end_ns && ns < LAUNCHES_LAST; ns++)
        busy[ns] = true;
}

static uint64_t count_busy(uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t ns = from; ns < to; ns++)
        count += busy[ns];
    return count;
}

static void assert_device_times(const takt_trace *trace, const tkt_scope_total *scope)
{
    uint64_t self_ns = 0;
    uint64_t total_ns = 0;
    memset(busy, 0, sizeof busy);
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        bool is_innermost;
        if (activity->span != TKT_NO_SPAN ||
            !is_around(trace, activity->track, activity->scope, scope->name, &is_innermost))
            continue;
        uint64_t ns = activity->end_ns - activity->begin_ns;
        self_ns += is_innermost ? ns : 0;
        total_ns += ns;
        make_busy(activity);
    }
    assert_int_equal(scope->device_self_ns, self_ns);
    assert_int_equal(scope->device_total_ns, total_ns);
    if (trace->facts.has_spans)
        assert_int_equal(scope->device_busy_ns, count_busy(0, LAUNCHES_LAST));
}

static void assert_bytes(const takt_trace *trace, const tkt_scope_total *scope)
{
    int64_t self[2] = {0, 0};
    int64_t total[2] = {0, 0};
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        const tkt_memory_event *event = &trace->memory_events.items[i];
        bool is_innermost;
        if (!is_around(trace, event->track, event->span, scope->name, &is_innermost))
            continue;
        self[event->device != 0] += is_innermost ? event->bytes : 0;
        total[event->device != 0] += event->bytes;
    }
    assert_int_equal(scope->host_self_bytes, self[0]);
    assert_int_equal(scope->host_bytes, total[0]);
    assert_int_equal(scope->device_self_bytes, self[1]);
    assert_int_equal(scope->device_bytes, total[1]);
}

/* Calls are leaves here: with `all`, they are children like others. */
static uint64_t self_ns_of(const takt_trace *trace, const char *name, bool all)
{
    uint64_t self_ns = 0;
    for (uint32_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        for (uint32_t i = 0; i < spans->count; i++) {
            const tkt_span *span = &spans->items[i];
            uint64_t ns = span->end_ns - span->begin_ns;
            bool is_call = site_at(trace, t, i)->kind == TAKT_SITE_CALL;
            if (is_named(trace, t, i, name))
                self_ns += ns;
            if (span->parent != TKT_NO_SPAN && is_named(trace, t, span->parent, name) &&
                (all || !is_call))
                self_ns -= ns;
        }
    }
    return self_ns;
}

static uint64_t all_device_ns(const takt_trace *trace)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->span == TKT_NO_SPAN)
            sum_ns += activity->end_ns - activity->begin_ns;
    }
    return sum_ns;
}

static takt_status scopes_of(const takt_trace *trace, bool by_arguments, bool all, tkt_scopes *out)
{
    return by_arguments ? tkt_scopes_by_stack(trace, all, 0, true, out)
                        : tkt_scopes_by_name(trace, all, out);
}

TEST(scopes_have_what_was_launched_in_them)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        takt_trace *trace = build_launches(seed);
        tkt_scopes scopes;
        bool by_arguments = seed % 2;
        assert_int_equal(scopes_of(trace, by_arguments, false, &scopes), TAKT_OK);
        assert_int_equal(scopes.count, 4);
        assert_true(scopes.has_device && scopes.has_device_memory);
        assert_int_equal(scopes.device_ns, all_device_ns(trace));
        uint64_t self_ns = 0;
        for (size_t i = 0; i < scopes.count; i++) {
            assert_device_times(trace, &scopes.items[i]);
            assert_bytes(trace, &scopes.items[i]);
            assert_int_equal(scopes.items[i].self_ns,
                             self_ns_of(trace, scopes.items[i].name, false));
            self_ns += scopes.items[i].self_ns;
        }
        assert_int_equal(scopes.self_ns, self_ns);
        tkt_scopes_fini(&scopes);
        takt_trace_release(trace);
    }
}

static uint64_t ns_of_device(const takt_trace *trace, const char *device)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (strcmp(tkt_trace_text(trace, activity->device), device) == 0)
            ns += activity->end_ns - activity->begin_ns;
    }
    return ns;
}

/* What the public sums add up to, by device, and that each stands at a scope or at none. */
TEST(sums_hold_each_activity_of_a_device_once)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        takt_trace *trace = build_launches(seed);
        size_t nodes = takt_trace_count(trace, TAKT_TRACE_NODES);
        size_t sums = takt_trace_count(trace, TAKT_TRACE_SUMS);
        uint64_t ns[2] = {0};
        takt_sum_info sum;
        assert_true(sums > 0);
        for (size_t i = 0; i < sums; i++) {
            assert_int_equal(takt_trace_sum(trace, i, &sum), TAKT_OK);
            assert_true(sum.node < nodes || sum.node == TAKT_NO_PARENT);
            assert_true(sum.durations.min_ns <= sum.durations.median_ns &&
                        sum.durations.median_ns <= sum.durations.max_ns);
            ns[strcmp(sum.device, "cuda:0") != 0] += sum.durations.total_ns;
        }
        assert_int_equal(takt_trace_sum(trace, sums, &sum), TAKT_BAD_ARGUMENT);
        assert_int_equal(ns[0], ns_of_device(trace, "cuda:0"));
        assert_int_equal(ns[1], ns_of_device(trace, "cuda:1"));
        takt_trace_release(trace);
    }
}

static void count_row(const takt_trace *trace, const tkt_scope_total *row, uint64_t *count,
                      uint64_t *ns)
{
    *count = *ns = 0;
    for (size_t i = 0; row->kind == TKT_KIND_ACTIVITY && i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->span != TKT_NO_SPAN ||
            strcmp(tkt_trace_text(trace, activity->name), row->name) != 0)
            continue;
        ++*count;
        *ns += activity->end_ns - activity->begin_ns;
    }
    for (size_t i = 0; row->kind == TKT_KIND_CALL && i < trace->calls.count; i++) {
        const tkt_call_info *call = &trace->calls.items[i];
        const tkt_span *span = &trace->tracks.items[call->track].spans.items[call->span];
        const char *name = tkt_trace_text(trace, trace->sites.items[tkt_span_site(span)].name);
        if (strcmp(name, row->name) != 0)
            continue;
        ++*count;
        *ns += span->end_ns - span->begin_ns;
    }
}

TEST(all_rows_show_calls_and_activities)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        takt_trace *trace = build_launches(seed);
        tkt_scopes scopes;
        assert_int_equal(scopes_of(trace, seed % 2, true, &scopes), TAKT_OK);
        size_t kinds[3] = {0};
        for (size_t i = 0; i < scopes.count; i++) {
            const tkt_scope_total *row = &scopes.items[i];
            uint64_t count;
            uint64_t ns;
            kinds[row->kind]++;
            count_row(trace, row, &count, &ns);
            if (row->kind == TKT_KIND_SCOPE) {
                assert_device_times(trace, row);
                assert_int_equal(row->self_ns, self_ns_of(trace, row->name, true));
                continue;
            }
            bool is_call = row->kind == TKT_KIND_CALL;
            assert_int_equal(row->calls, count);
            assert_int_equal(row->self_ns, is_call ? ns : 0);
            assert_int_equal(row->total_ns, is_call ? ns : 0);
            assert_int_equal(row->device_self_ns, is_call ? 0 : ns);
            assert_int_equal(row->device_total_ns, is_call ? 0 : ns);
        }
        assert_int_equal(kinds[TKT_KIND_SCOPE], 4);
        assert_int_equal(kinds[TKT_KIND_CALL], 2);
        assert_int_equal(kinds[TKT_KIND_ACTIVITY], 5);
        assert_int_equal(scopes.device_ns, all_device_ns(trace)); /* each once */
        tkt_scopes_fini(&scopes);
        takt_trace_release(trace);
    }
}

TEST(folded_traces_know_the_same_sums)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bool all = seed % 2;
        takt_trace *full = build_launches(seed);
        takt_trace *folded = build_folded(full);
        tkt_scopes a;
        tkt_scopes b;
        assert_int_equal(tkt_scopes_by_name(full, all, &a), TAKT_OK);
        assert_int_equal(tkt_scopes_by_name(folded, all, &b), TAKT_OK);
        assert_int_equal(a.count, b.count);
        assert_int_equal(a.self_ns, b.self_ns);
        assert_int_equal(a.device_ns, b.device_ns);
        for (size_t i = 0; i < a.count; i++) {
            assert_string_equal(a.items[i].name, b.items[i].name);
            assert_int_equal(a.items[i].self_ns, b.items[i].self_ns);
            assert_int_equal(a.items[i].device_self_ns, b.items[i].device_self_ns);
            assert_int_equal(a.items[i].device_total_ns, b.items[i].device_total_ns);
        }
        tkt_scopes_fini(&a);
        tkt_scopes_fini(&b);
        takt_trace_release(full);
        takt_trace_release(folded);
    }
}

/* Sums over the tree: what is inside adds up to what is around it, and to all in the end. */
TEST(the_tree_adds_up)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bool all = seed % 2;
        takt_trace *trace = build_launches(seed);
        tkt_tree tree;
        tkt_scopes scopes;
        assert_int_equal(tkt_tree_of(trace, all, &tree), TAKT_OK);
        assert_int_equal(tkt_scopes_by_name(trace, all, &scopes), TAKT_OK);
        assert_int_equal(tree.self_ns, scopes.self_ns);
        assert_int_equal(tree.device_ns, all_device_ns(trace));
        uint64_t *inside = calloc(tree.count, sizeof *inside);
        for (size_t i = tree.count; i-- > 0;) {
            const tkt_path *path = &tree.items[i];
            assert_int_equal(path->device.total_ns, path->device.self_ns + inside[i]);
            if (path->parent != TKT_NO_ROW)
                inside[path->parent] += path->device.total_ns;
        }
        for (size_t s = 0; s < scopes.count; s++) {
            const tkt_scope_total *scope = &scopes.items[s];
            uint64_t self_ns = 0;
            uint64_t device_ns = 0;
            for (size_t i = 0; i < tree.count; i++) {
                bool is_same = strcmp(tree.items[i].name, scope->name) == 0;
                self_ns += is_same ? tree.items[i].self_ns : 0;
                device_ns += is_same ? tree.items[i].device.self_ns : 0;
            }
            if (scope->kind == TKT_KIND_ACTIVITY)
                continue;
            assert_int_equal(self_ns, scope->self_ns);
            assert_int_equal(device_ns, scope->device_self_ns);
        }
        free(inside);
        tkt_scopes_fini(&scopes);
        tkt_tree_fini(&tree);
        takt_trace_release(trace);
    }
}

TEST(devices_are_busy_while_anything_runs)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        takt_trace *trace = build_launches(seed);
        tkt_device_uses uses;
        assert_int_equal(tkt_device_uses_of(trace, &uses), TAKT_OK);
        assert_int_equal(uses.count, 2);
        assert_int_equal(uses.total_ns, all_device_ns(trace));
        assert_int_equal(uses.step_ns, all_device_ns(trace)); /* all calls lie in the steps */
        for (size_t d = 0; d < 2; d++) {
            const tkt_device_use *use = &uses.items[d];
            uint64_t count = 0;
            uint64_t total_ns = 0;
            memset(busy, 0, sizeof busy);
            for (size_t i = 0; i < trace->activities.count; i++) {
                const tkt_activity *activity = &trace->activities.items[i];
                if (activity->device != use->device)
                    continue;
                count++;
                total_ns += activity->end_ns - activity->begin_ns;
                make_busy(activity);
            }
            assert_int_equal(use->count, count);
            assert_int_equal(use->total_ns, total_ns);
            assert_int_equal(use->busy_ns, count_busy(LAUNCHES_BEGIN, LAUNCHES_END));
            assert_int_equal(use->step_busy_ns, count_busy(LAUNCHES_BEGIN, LAUNCHES_END));
        }
        TKT_ARRAY_FREE(&uses);
        takt_trace_release(trace);
    }
}

/* Three launches of 100 ns; steps [1000, 1100) and [1200, 1300), so that one lies before them. */
TEST(steps_have_what_was_launched_in_them)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t early = build_call(trace, track, "cudaLaunchKernel", TKT_NO_SPAN, 900, 910);
    uint32_t first = build_call(trace, track, "cudaLaunchKernel", TKT_NO_SPAN, 1000, 1010);
    uint32_t last = build_call(trace, track, "cudaLaunchKernel", TKT_NO_SPAN, 1299, 1310);
    build_launched(trace, early, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 950, 1050);
    build_launched(trace, first, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1040, 1140);
    build_launched(trace, last, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1290, 1390);
    build_step(trace, 0, 1000, 1100);
    build_step(trace, 1, 1200, 1300);
    trace->facts.begin_ns = 960;
    trace->facts.end_ns = 1300;
    build_end(trace);
    tkt_device_uses uses;
    assert_int_equal(tkt_device_uses_of(trace, &uses), TAKT_OK);
    assert_int_equal(uses.total_ns, 300);
    assert_int_equal(uses.step_ns, 200);
    assert_int_equal(uses.items[0].busy_ns, (1140 - 960) + (1300 - 1290));
    assert_int_equal(uses.items[0].step_busy_ns, (1100 - 1000) + (1300 - 1290));
    assert_int_equal(uses.step_count, 2);
    TKT_ARRAY_FREE(&uses);

    /* A summary of more steps than are kept one by one has the work of all. */
    takt_trace *folded = build_folded(trace);
    folded->facts.step_count = 2000000;
    assert_int_equal(tkt_device_uses_of(folded, &uses), TAKT_OK);
    assert_int_equal(uses.step_ns, 300);
    assert_int_equal(uses.step_count, 2000000);
    TKT_ARRAY_FREE(&uses);
    takt_trace_release(folded);
    takt_trace_release(trace);
}

/* A scope inside a call (an allocator that is instrumented) hangs in the scope around it:
 * a(100) > call(40) > b(10), and the device's 7 ns are b's and a's. */
TEST(scopes_inside_calls_belong_to_the_scope_around)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t a = build_span(trace, track, build_site(trace, "a"), TKT_NO_SPAN, 1000, 1100);
    uint32_t call = build_call(trace, track, "cudaMalloc", a, 1010, 1050);
    uint32_t outer = trace->calls.items[call].span;
    uint32_t b = build_span(trace, track, build_site(trace, "b"), outer, 1020, 1030);
    call = build_call(trace, track, "cudaMemset", b, 1021, 1022);
    build_launched(trace, call, "cuda:0", "memset", TAKT_TIMING_MEMSET, 1100, 1107);
    build_memory_event(trace, "cuda:0", 1011, 512, track, outer);
    build_end(trace);
    for (int way = 0; way < 2; way++) {
        tkt_scopes scopes;
        assert_int_equal(scopes_of(trace, way, false, &scopes), TAKT_OK);
        assert_int_equal(scopes.count, 2);
        assert_string_equal(scopes.items[0].name, "a");
        assert_int_equal(scopes.items[0].self_ns, 90);
        assert_int_equal(scopes.items[1].self_ns, 10);
        assert_int_equal(scopes.items[0].device_self_ns, 0);
        assert_int_equal(scopes.items[0].device_total_ns, 7);
        assert_int_equal(scopes.items[1].device_self_ns, 7);
        assert_int_equal(scopes.items[0].device_self_bytes, 512);
        tkt_scopes_fini(&scopes);
    }
    tkt_tree tree;
    assert_int_equal(tkt_tree_of(trace, false, &tree), TAKT_OK);
    assert_int_equal(tree.count, 2);
    assert_int_equal(tree.items[1].parent, 0);
    assert_int_equal(tree.items[1].depth, 1);
    assert_int_equal(tree.items[0].self_ns, 90);
    assert_int_equal(tree.self_ns, 100);
    assert_int_equal(tree.items[0].device.total_ns, 7);
    tkt_tree_fini(&tree);
    tkt_memory_jumps jumps;
    assert_int_equal(tkt_memory_jumps_of(trace, 10, &jumps), TAKT_OK);
    assert_string_equal(jumps.items[0].scope, "a");
    TKT_ARRAY_FREE(&jumps);
    takt_trace_release(trace);
}

/* Calls outside of all scopes are nobody's, until they are asked for. */
TEST(calls_in_no_scope_are_nobodys)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t call = build_call(trace, track, "cudaFree", TKT_NO_SPAN, 1000, 1030);
    build_launched(trace, call, "cuda:0", "memset", TAKT_TIMING_MEMSET, 1040, 1045);
    build_span(trace, track, build_site(trace, "a"), TKT_NO_SPAN, 1100, 1200);
    build_end(trace);
    for (int way = 0; way < 4; way++) {
        tkt_scopes scopes;
        bool all = way / 2;
        assert_int_equal(scopes_of(trace, way % 2, all, &scopes), TAKT_OK);
        assert_int_equal(scopes.count, all ? 3 : 1);
        assert_int_equal(scopes.self_ns, all ? 130 : 100);
        assert_int_equal(scopes.device_ns, 5);
        tkt_scopes_fini(&scopes);
    }
    tkt_tree tree;
    assert_int_equal(tkt_tree_of(trace, false, &tree), TAKT_OK);
    assert_int_equal(tree.count, 1);
    assert_int_equal(tree.self_ns, 100);
    tkt_tree_fini(&tree);
    takt_trace_release(trace);
}

/* An activity may know its scope where the call is not known. */
TEST(activities_without_a_call_have_their_scope)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t a = build_span(trace, track, build_site(trace, "a"), TKT_NO_SPAN, 1000, 1100);
    build_activity(trace, "cuda:0", "kernel k", TAKT_TIMING_KERNEL, 1000, 1007, track, a);
    build_end(trace);
    for (int way = 0; way < 2; way++) {
        tkt_scopes scopes;
        assert_int_equal(scopes_of(trace, way, false, &scopes), TAKT_OK);
        assert_int_equal(scopes.items[0].device_self_ns, 7);
        assert_int_equal(scopes.items[0].device_busy_ns, 7);
        tkt_scopes_fini(&scopes);
    }
    takt_trace_release(trace);
}

static void build_copy(takt_trace *trace, uint32_t kind, uint32_t source, uint32_t target,
                       uint64_t bytes, uint64_t ns)
{
    static const char *const names[] = {"", "memcpy HtoD", "memcpy DtoH"};
    uint32_t shape = build_shape(trace, &(tkt_shape){.bytes = bytes,
                                                     .filter = TAKT_TIMING_MEMCPY,
                                                     .copy_kind = (uint8_t)kind,
                                                     .source = (uint8_t)source,
                                                     .target = (uint8_t)target});
    build_activity(trace, "cuda:0", names[kind], TAKT_TIMING_MEMCPY, 1000, 1000 + ns, TKT_NO_TRACK,
                   TKT_NO_SPAN);
    trace->activities.items[trace->activities.count - 1].shape = shape;
}

TEST(copies_are_told_apart_by_direction_and_memory)
{
    takt_trace *trace = build_begin(2000000);
    build_copy(trace, TAKT_COPY_HTOD, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 1000, 10);
    build_copy(trace, TAKT_COPY_HTOD, TAKT_MEMORY_PINNED, TAKT_MEMORY_DEVICE, 2000, 20);
    build_copy(trace, TAKT_COPY_DTOH, TAKT_MEMORY_DEVICE, TAKT_MEMORY_PINNED, 4000, 40);
    build_copy(trace, TAKT_COPY_HTOD, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 8000, 80);
    build_activity(trace, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1000, 1005, TKT_NO_TRACK,
                   TKT_NO_SPAN);
    build_end(trace);
    tkt_copies copies;
    assert_int_equal(tkt_copies_of(trace, &copies), TAKT_OK);
    assert_int_equal(copies.count, 3);
    const uint64_t expected[3][3] = {{2, 9000, 90}, {1, 2000, 20}, {1, 4000, 40}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(copies.items[i].count, expected[i][0]);
        assert_int_equal(copies.items[i].bytes, expected[i][1]);
        assert_int_equal(copies.items[i].time_ns, expected[i][2]);
    }
    assert_string_equal(tkt_trace_text(trace, copies.items[2].name), "memcpy DtoH");
    assert_int_equal(copies.items[1].source, TAKT_MEMORY_PINNED);
    TKT_ARRAY_FREE(&copies);
    takt_trace_release(trace);
}

/* What pools reserve is no allocation. */
TEST(reservations_of_pools_are_no_jumps)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t span = build_span(trace, track, build_site(trace, "a"), TKT_NO_SPAN, 1000, 1100);
    build_memory_event(trace, "cuda:0", 1001, 1 << 20, track, span);
    build_memory_event(trace, "cuda:1", 1002, 512, track, span);
    build_memory_event(trace, "cuda:0", 1003, 512, track, span);
    build_memory_event(trace, NULL, 1004, 512, track, span);
    trace->memory_events.items[0].kind |= TKT_MEMORY_POOL;
    build_end(trace);
    tkt_memory_jumps jumps;
    assert_int_equal(tkt_memory_jumps_of(trace, 10, &jumps), TAKT_OK);
    assert_int_equal(jumps.count, 3); /* one a device, and the host */
    for (size_t i = 0; i < 3; i++)
        assert_true(jumps.items[i].bytes == 512 && jumps.items[i].count == 1);
    TKT_ARRAY_FREE(&jumps);
    tkt_scopes scopes;
    assert_int_equal(tkt_scopes_by_name(trace, false, &scopes), TAKT_OK);
    assert_int_equal(scopes.items[0].device_bytes, 1024);
    assert_int_equal(scopes.items[0].host_bytes, 512);
    tkt_scopes_fini(&scopes);
    takt_trace_release(trace);
}

static takt_status try_all(const takt_trace *trace)
{
    tkt_scopes scopes = {0};
    tkt_tree tree = {0};
    tkt_device_uses uses = {0};
    takt_status status = tkt_scopes_by_name(trace, true, &scopes);
    tkt_scopes_fini(&scopes);
    if (status == TAKT_OK)
        status = tkt_scopes_by_stack(trace, true, 0, true, &scopes);
    if (status == TAKT_OK)
        status = tkt_tree_of(trace, true, &tree);
    if (status == TAKT_OK)
        status = tkt_device_uses_of(trace, &uses);
    tkt_scopes_fini(&scopes);
    tkt_tree_fini(&tree);
    TKT_ARRAY_FREE(&uses);
    return status;
}

typedef struct visits {
    uint64_t last_ns;
    size_t count;
} visits;

static void visit_next(void *user, const tkt_activity *activity)
{
    visits *v = user;
    assert_true(activity->begin_ns >= v->last_ns);
    v->last_ns = activity->begin_ns;
    v->count++;
}

/* What comes after the first visit needs no memory, so it finds the order where that left it. */
TEST(activities_are_put_in_order_once)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        takt_trace *trace = build_launches(seed);
        for (int i = 0; i < 2; i++) {
            visits v = {0};
            assert_int_equal(tkt_device_visit(trace, visit_next, &v), TAKT_OK);
            assert_int_equal(v.count, tkt_device_activity_count(trace));
            tkt_alloc_fail(0, UINT64_MAX);
        }
        tkt_alloc_fail(0, 0);
        takt_trace_release(trace);
    }
}

TEST(without_memory_nothing_is_left_behind)
{
    takt_trace *trace = build_launches_until(1, LAUNCHES_BEGIN + 300);
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        tkt_alloc_fail(after, UINT64_MAX);
        status = try_all(trace);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
    }
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
