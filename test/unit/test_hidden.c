/* A scope that is not recorded, for its level or category: what the program says of it is dropped,
 * and not said of the scope around it; its phases end with it. */
#include "support/test.h"

#include <takt/takt.h>

#include <setjmp.h>
#include <string.h>

static const takt_trace *kept;

static void keep(const takt_trace *trace, void *user)
{
    (void)user;
    kept = takt_trace_retain(trace);
}

/* What a trace has of a name. */
typedef struct found {
    size_t calls, arguments;
    double flops;
    uint64_t longest_ns;
    const char *parent; /* of the last */
} found;

static found find(const char *name)
{
    found all = {0};
    takt_span_info span, parent;
    for (size_t t = 0; t < takt_trace_count(kept, TAKT_TRACE_TRACKS); t++)
        for (size_t i = 0; takt_trace_span(kept, t, i, &span) == TAKT_OK; i++) {
            double flops = 0, bytes = 0;
            if (strcmp(span.name, name) != 0)
                continue;
            all.calls++;
            all.arguments += takt_trace_arg_count(kept, t, i);
            takt_trace_work(kept, t, i, &flops, &bytes);
            all.flops += flops;
            if (span.end_ns - span.begin_ns > all.longest_ns)
                all.longest_ns = span.end_ns - span.begin_ns;
            all.parent = span.parent != TAKT_NO_PARENT &&
                                 takt_trace_span(kept, t, span.parent, &parent) == TAKT_OK
                             ? parent.name
                             : "";
        }
    return all;
}

static void inner(int i)
{
    TAKT_SCOPE("recorded inside");
    TAKT_ARG("i", i);
    TAKT_WORK(8, 0);
}

static void say_all(void)
{
    TAKT_ARG("cells", 100);
    TAKT_ARG("text", "of the hidden one");
    TAKT_WORK(1e6, 2e6);
    takt_flow_begin(7);
    takt_memory_allocated(&kept, 1000);
    takt_memory_freed(&kept);
}

static void hidden(int i)
{
    TAKT_SCOPE_IN("", TAKT_LEVEL_FINE, "hidden");
    say_all();
    inner(i);
    say_all();
    {
        TAKT_SCOPE_IN("off", TAKT_LEVEL_NORMAL, "hidden in it");
        say_all();
    }
    say_all();
}

static void stages(void)
{
    TAKT_SCOPE_IN("", TAKT_LEVEL_FINE, "stages");
    TAKT_PHASE("predict");
    TAKT_PHASE("correct");
    TAKT_ARG("of", "a phase");
}

/* One call of all, with what is recorded after hidden scopes and their phases. */
static void call_all(int i)
{
    TAKT_SCOPE("advance");
    TAKT_ARG("dt", 0.5);
    TAKT_WORK(1, 0);
    TAKT_PHASE("first");
    hidden(i);
    stages();
    TAKT_PHASE("second");
    stages();
    {
        TAKT_SCOPE("output");
    }
}

static void record(takt_mode mode, void (*call)(int), int count)
{
    static const takt_category_switch off = {"off", false};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;
    options.mode = mode;
    options.on_trace = keep;
    options.categories = &off;
    options.category_count = 1;
    options.background = TAKT_OFF;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (int i = 0; i < count; i++)
        call(i);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
}

TEST(what_belongs_to_a_hidden_scope_is_dropped)
{
    record(TAKT_MODE_TRACE, call_all, 10);
    found advance = find("advance"), inside = find("recorded inside");
    found first = find("first"), correct = find("correct"), output = find("output");
    assert_int_equal(advance.calls, 10);
    assert_int_equal(advance.arguments, 10);
    assert_true(advance.flops == 10);
    assert_int_equal(inside.calls, 10);
    assert_int_equal(inside.arguments, 10);
    assert_true(inside.flops == 80);
    assert_string_equal(inside.parent, "first");
    assert_int_equal(first.calls, 10);
    assert_int_equal(first.arguments, 0);
    assert_true(first.flops == 0);
    assert_int_equal(find("hidden").calls + find("hidden in it").calls + find("stages").calls, 0);
    assert_int_equal(find("predict").calls, 20);
    assert_int_equal(correct.calls, 20);
    assert_int_equal(correct.arguments, 20);
    assert_string_equal(correct.parent, "second");
    assert_string_equal(output.parent, "second");
    takt_trace_release(kept);
}

TEST(a_summary_drops_it_too)
{
    record(TAKT_MODE_SUMMARY, call_all, 10);
    takt_node_info node;
    size_t seen = 0;
    for (size_t i = 0; takt_trace_node(kept, i, &node) == TAKT_OK; i++) {
        if (strcmp(node.name, "advance") == 0 && ++seen)
            assert_true(node.flops == 10);
        if (strcmp(node.name, "first") == 0 && ++seen)
            assert_true(node.flops == 0);
        if (strcmp(node.name, "recorded inside") == 0 && ++seen)
            assert_true(node.flops == 80);
    }
    assert_int_equal(seen, 3);
    takt_trace_release(kept);
}

static jmp_buf place;

static void jump(void)
{
    TAKT_SCOPE_IN("", TAKT_LEVEL_FINE, "left by a jump");
    longjmp(place, 1);
}

static void around_jump(void)
{
    TAKT_SCOPE("around");
    if (!setjmp(place))
        jump();
}

static void call_jumping(int i)
{
    if (i % 2)
        around_jump();
    TAKT_SCOPE("later");
    TAKT_ARG("k", 1);
    TAKT_WORK(1, 0);
    stages();
}

/* A scope that a jump has left stays open until one around it has ended, which counts it. */
TEST(a_jump_hides_nothing_for_good)
{
    enum {
        CALLS = 60
    };
    record(TAKT_MODE_TRACE, call_jumping, CALLS);
    found later = find("later"), correct = find("correct");
    assert_int_equal(later.calls, CALLS);
    assert_int_equal(later.arguments, CALLS);
    assert_true(later.flops == CALLS);
    assert_int_equal(correct.calls, CALLS);
    assert_string_equal(correct.parent, "later");
    assert_int_equal(takt_trace_loss(kept, TAKT_LOSS_MISMATCH), CALLS / 2);
    takt_trace_release(kept);
}

static void call_nested(int i)
{
    TAKT_SCOPE("visible");
    TAKT_SCOPE_IN("", TAKT_LEVEL_FINE, "outer");
    inner(i);
    {
        TAKT_SCOPE_IN("", TAKT_LEVEL_FINE, "in it");
        TAKT_PHASE("its phase");
        TAKT_PHASE("its last phase");
    }
    TAKT_ARG("of outer", 1);
    TAKT_WORK(1000, 0);
    inner(i);
}

TEST(phases_end_with_their_hidden_scope_inside_another)
{
    record(TAKT_MODE_TRACE, call_nested, 10);
    found last = find("its last phase"), inside = find("recorded inside");
    assert_int_equal(find("its phase").calls, 10);
    assert_int_equal(last.calls, 10);
    assert_int_equal(last.arguments, 0);
    assert_true(last.flops == 0);
    assert_string_equal(last.parent, "visible");
    assert_int_equal(inside.calls, 20);
    assert_string_equal(inside.parent, "visible");
    assert_int_equal(find("visible").arguments, 0);
    takt_trace_release(kept);
}

TEST_MAIN(NULL, NULL)
