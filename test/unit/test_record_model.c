/* Recording against a model: random sequences of begins, ends, phases, arguments and work, with a
 * clock that the test drives, must come back from a sealed trace exactly, in full and folded. */
#include "base/clock.h"
#include "profiler/session.h"
#include "record/log.h"
#include "record/scope.h"

#include "support/all_durations.h"
#include "support/sanitized.h"
#include "support/test.h"
#include "support/windows.h"

#include <takt/takt.h>

#include <stdlib.h>
#include <string.h>

static uint64_t clock_ticks = 1000;

static uint64_t fake_clock(void)
{
    return clock_ticks;
}

static uint64_t random_state = 88172645463325252u;

static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % bound;
}

/* ---- The model: a span list in preorder, a stack of indices into it -------------------------- */

enum {
    MAX_SPANS = 400000,
    MAX_OPEN = 400,
    NAMES = 12
};

typedef struct model_span {
    uint64_t begin, end;
    uint32_t name;
    int64_t parent;
    bool is_phase;
    uint32_t arg_count;
    int64_t arg_sum;
    double flops;
} model_span;

static model_span *model;
static size_t model_count;
static size_t model_stack[MAX_OPEN];
static size_t model_depth;
static bool has_stray;
static const char *const names[NAMES] = {"a", "b",  "solve", "forces", "neighbours", "io",
                                         "x", "yy", "zzz",   "p0",     "p1",         "p2"};

static void model_open(uint32_t name, bool is_phase)
{
    model[model_count] =
        (model_span){.begin = clock_ticks,
                     .name = name,
                     .parent = model_depth ? (int64_t)model_stack[model_depth - 1] : -1,
                     .is_phase = is_phase};
    model_stack[model_depth++] = model_count++;
}

static void model_close(void)
{
    model[model_stack[--model_depth]].end = clock_ticks;
}

static bool model_top_is_phase(void)
{
    return model_depth > 0 && model[model_stack[model_depth - 1]].is_phase;
}

/* ---- One random operation on both ------------------------------------------------------------ */

static void do_begin(void)
{
    uint32_t name = random_below(9);
    takt_begin(names[name]);
    model_open(name, false);
}

/* A phase outside of scopes is a stray once a scope inside it has ended in the same phase. */
static bool model_has_stray(void)
{
    const model_span *first = &model[model_stack[0]];
    return model_depth > 1 && model_top_is_phase() && first->is_phase &&
           first->name == model[model_stack[model_depth - 1]].name;
}

static void do_end(void)
{
    takt_end();
    has_stray |= model_has_stray();
    if (model_top_is_phase())
        model_close();
    model_close();
    if (has_stray && model_depth == 1)
        model_close();
    has_stray &= model_depth > 0;
}

static void do_phase(void)
{
    uint32_t which = random_below(3);
    if (which == 0)
        TAKT_PHASE("p0");
    else if (which == 1)
        TAKT_PHASE("p1");
    else
        TAKT_PHASE("p2");
    if (model_top_is_phase())
        model_close();
    has_stray &= model_depth > 0;
    model_open(9 + which, true);
}

static void do_arg(void)
{
    int value = (int)random_below(1000) - 500;
    TAKT_ARG("n", value);
    if (model_depth > 0) {
        model_span *top = &model[model_stack[model_depth - 1]];
        top->arg_count++;
        top->arg_sum += value;
    }
}

static void do_work(void)
{
    double flops = random_below(100);
    TAKT_WORK(flops, 0);
    if (model_depth > 0)
        model[model_stack[model_depth - 1]].flops += flops;
}

static size_t open_scopes(void)
{
    size_t count = 0;
    for (size_t i = 0; i < model_depth; i++)
        count += !model[model_stack[i]].is_phase;
    return count;
}

static void do_random(uint32_t max_depth)
{
    clock_ticks += random_below(40);
    if (random_below(5000) == 0)
        clock_ticks += UINT64_C(1) << 33; /* longer than a plain record holds */
    uint32_t what = random_below(100);
    if (what < 40 && model_depth + 2 < max_depth)
        do_begin();
    else if (what < 80 && open_scopes() > 0)
        do_end();
    else if (what < 88 && model_depth + 1 < max_depth)
        do_phase();
    else if (what < 94)
        do_arg();
    else
        do_work();
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static const tkt_track *only_track(const takt_trace *trace)
{
    assert_int_equal(trace->tracks.count, 1);
    return &trace->tracks.items[0];
}

static void compare_spans(const takt_trace *trace)
{
    const tkt_track *track = only_track(trace);
    assert_int_equal(track->spans.count, model_count);
    for (size_t i = 0; i < model_count; i++) {
        const tkt_span *span = &track->spans.items[i];
        const model_span *want = &model[i];
        const tkt_trace_site *site = &trace->sites.items[tkt_span_site(span)];
        assert_string_equal(tkt_trace_text(trace, site->name), names[want->name]);
        assert_int_equal(span->begin_ns, want->begin);
        assert_int_equal(span->end_ns, want->end);
        assert_int_equal(span->parent, want->parent < 0 ? TKT_NO_SPAN : (uint32_t)want->parent);
        assert_int_equal(!!(tkt_span_flags(span) & TAKT_SPAN_PHASE), want->is_phase);
    }
}

static void compare_args_and_work(const takt_trace *trace)
{
    const tkt_track *track = only_track(trace);
    size_t a = 0, w = 0;
    for (size_t i = 0; i < model_count; i++) {
        uint32_t count = 0;
        int64_t sum = 0;
        for (; a < track->args.count && track->args.items[a].span == i; a++) {
            count++;
            sum += track->args.items[a].value.i;
        }
        assert_int_equal(count, model[i].arg_count);
        assert_int_equal(sum, model[i].arg_sum);
        double flops = 0;
        if (w < track->works.count && track->works.items[w].span == i)
            flops = track->works.items[w++].flops;
        assert_float_equal(flops, model[i].flops, 0);
    }
    assert_int_equal(a, track->args.count);
    assert_int_equal(w, track->works.count);
}

/* Compares a tree made online with the one made from the spans, node by node. */
static void compare_folds(const tkt_fold *a, uint32_t node_a, const tkt_fold *b, uint32_t node_b)
{
    for (uint32_t child = a->items[node_a].first_child; child != TKT_NO_NODE;
         child = a->items[child].next_sibling) {
        uint32_t twin = b->items[node_b].first_child;
        while (twin != TKT_NO_NODE && b->items[twin].site != a->items[child].site)
            twin = b->items[twin].next_sibling;
        assert_int_not_equal(twin, TKT_NO_NODE);
        const tkt_stats *x = &a->items[child].stats, *y = &b->items[twin].stats;
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->total_ns, y->total_ns);
        assert_int_equal(x->self_ns, y->self_ns);
        assert_int_equal(x->min_ns, y->min_ns);
        assert_int_equal(x->max_ns, y->max_ns);
        assert_float_equal(a->items[child].flops, b->items[twin].flops, 1e-9);
        const tkt_histogram durations_of_x = all_durations(x, a->items[child].histogram);
        const tkt_histogram durations_of_y = all_durations(y, b->items[twin].histogram);
        assert_memory_equal(&durations_of_x, &durations_of_y, sizeof durations_of_x);
        compare_folds(a, child, b, twin);
    }
}

static void compare_fold_with_spans(takt_trace *trace)
{
    tkt_fold online = trace->fold;
    trace->fold = (tkt_fold){0};
    const tkt_fold *derived = tkt_trace_fold(trace);
    assert_non_null(derived);
    assert_int_equal(online.count, derived->count);
    compare_folds(&online, 0, derived, 0);
    tkt_fold_fini(&online);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static tkt_window *begin(uint32_t modes)
{
    const tkt_wish wish = {.modes = modes | TKT_ARGUMENTS, .mask = TAKT_NORMAL_BIT};
    model_count = 0;
    model_depth = 0;
    clock_ticks++; /* what ended before has nothing to do with the window */
    return window_with(&wish);
}

static takt_trace *finish(tkt_window *window)
{
    tkt_window_end(window, clock_ticks);
    return seal_window(window);
}

static void close_all(void)
{
    while (open_scopes() > 0) {
        clock_ticks += random_below(9);
        do_end();
    }
    tkt_scope_end_phase();
    if (model_depth > 0)
        model_close();
}

TEST(random_sequences_come_back_exactly)
{
    for (int round = 0; round < 53; round++) {
        tkt_window *window = begin(TKT_KEEP);
        clock_ticks += 5;
        uint32_t operations = round < 50 ? random_below(4000) : FEWER(100000, 300000);
        for (uint32_t i = 0; i < operations; i++)
            do_random(round % 3 == 0 ? 5 : 40);
        close_all();
        takt_trace *trace = finish(window);
        if (model_count > 0) {
            compare_spans(trace);
            compare_args_and_work(trace);
        }
        takt_trace_release(trace);
    }
}

TEST(spans_deeper_than_a_record_counts_come_back_exactly)
{
    tkt_window *window = begin(TKT_KEEP | TKT_FOLD);
    for (int i = 0; i < 390; i++) {
        clock_ticks += 7;
        do_begin();
    }
    for (uint32_t i = 0; i < 20000; i++)
        do_random(MAX_OPEN);
    close_all();
    takt_trace *trace = finish(window);
    compare_spans(trace);
    compare_fold_with_spans(trace);
    takt_trace_release(trace);
}

TEST(folding_online_equals_folding_the_trace)
{
    for (int round = 0; round < FEWER(6, 15); round++) {
        tkt_window *window = begin(TKT_KEEP | TKT_FOLD);
        for (uint32_t i = 0; i < 20000; i++)
            do_random(round % 3 == 0 ? 5 : 60);
        close_all();
        takt_trace *trace = finish(window);
        compare_spans(trace);
        compare_fold_with_spans(trace);
        takt_trace_release(trace);
    }
}

TEST(summary_mode_keeps_no_spans_and_the_same_tree)
{
    tkt_window *window = begin(TKT_FOLD);
    uint64_t before = tkt_pool_used_bytes();
    for (uint32_t i = 0; i < 200000; i++)
        do_random(30);
    close_all();
    assert_int_equal(tkt_pool_used_bytes(), before);
    takt_trace *trace = finish(window);
    assert_int_equal(trace->tracks.count, 0);
    uint64_t count = 0, self = 0, roots = 0;
    for (size_t i = 1; i < trace->fold.count; i++) {
        count += trace->fold.items[i].stats.count;
        self += trace->fold.items[i].stats.self_ns;
    }
    for (size_t i = 0; i < model_count; i++)
        roots += model[i].parent < 0 ? model[i].end - model[i].begin : 0;
    assert_int_equal(count, model_count);
    assert_int_equal(self, roots);
    takt_trace_release(trace);
}

TEST(open_scopes_are_cut_at_both_ends_of_a_window)
{
    tkt_window *outer = begin(TKT_KEEP);
    takt_begin("a");
    takt_begin("b");
    clock_ticks += 100;
    const tkt_wish wish = {.modes = TKT_KEEP | TKT_FOLD, .mask = TAKT_NORMAL_BIT};
    tkt_window *inner;
    assert_int_equal(tkt_window_open(&wish, &inner), TAKT_OK);
    uint64_t begin_ns = clock_ticks;
    clock_ticks += 10;
    takt_end();
    takt_begin("x");
    clock_ticks += 10;
    takt_trace *trace = finish(inner);
    const tkt_track *track = only_track(trace);
    assert_int_equal(track->spans.count, 3);
    const tkt_span *a = &track->spans.items[0], *b = &track->spans.items[1],
                   *x = &track->spans.items[2];
    assert_int_equal(tkt_span_flags(a), TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED);
    assert_int_equal(tkt_span_flags(b), TAKT_SPAN_BEGUN_BEFORE);
    assert_int_equal(tkt_span_flags(x), TAKT_SPAN_UNFINISHED);
    assert_int_equal(a->begin_ns, begin_ns);
    assert_int_equal(a->end_ns, begin_ns + 20);
    assert_int_equal(b->end_ns, begin_ns + 10);
    assert_int_equal(b->parent, 0);
    assert_int_equal(x->parent, 0);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 0);
    compare_fold_with_spans(trace);
    takt_trace_release(trace);
    takt_end();
    takt_end();
    tkt_window_close(outer);
}

static int use_fake_clock(void **state)
{
    (void)state;
    model = calloc(MAX_SPANS, sizeof *model);
    tkt_clock_fake(fake_clock);
    return model ? 0 : -1;
}

static int use_real_clock(void **state)
{
    (void)state;
    tkt_clock_fake(NULL);
    free(model);
    return 0;
}

int main(void)
{
    const char *seed = getenv("TEST_SEED"); /* other sequences than the usual ones */
    random_state += seed ? strtoull(seed, NULL, 10) : 0;
    return run_all_tests(use_fake_clock, use_real_clock);
}
