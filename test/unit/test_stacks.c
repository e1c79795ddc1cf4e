/* Call stacks of scopes and calls, against what backtrace() of the C library says at the same
 * place. */
#include "base/alloc.h"
#include "base/dynlib.h"
#include "record/scope.h"
#include "record/control.h"
#include "record/site.h"

#include "support/test.h"

#include <takt/takt.h>

#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define KEEP_CALL() __asm__ volatile("") /* so that what comes before it is no tail call */

/* For loops that are not to be unrolled: each call would have a place of its own. */
__attribute__((noinline)) static int times(int count)
{
    KEEP_CALL();
    return *(volatile int *)&count;
}

/* ---- A recording ----------------------------------------------------------------------------- */

static takt_profiler *begin(takt_mode mode, bool with_stack)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.mode = mode;
    options.with_stack = with_stack;
    takt_profiler *profiler;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

static const takt_trace *end(takt_profiler *profiler)
{
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_trace_retain(takt_profiler_trace(profiler));
    takt_profiler_destroy(profiler);
    return trace;
}

/* The stack of the n-th span of that name on any track. */
static size_t stack_of(const takt_trace *trace, const char *name, size_t n)
{
    for (size_t track = 0; track < takt_trace_count(trace, TAKT_TRACE_TRACKS); track++) {
        takt_track_info info;
        takt_trace_track(trace, track, &info);
        for (size_t i = 0; i < info.span_count; i++) {
            takt_span_info span;
            takt_trace_span(trace, track, i, &span);
            if (strcmp(span.name, name) == 0 && n-- == 0)
                return takt_trace_span_stack(trace, track, i);
        }
    }
    fail_msg("no span %s", name);
    return TAKT_NO_STACK;
}

/* The return address that a frame was made of. */
static const char *address_of(const takt_trace *trace, size_t stack, size_t frame)
{
    takt_frame_info info;
    assert_int_equal(takt_trace_frame(trace, stack, frame, &info), TAKT_OK);
    void *module =
        dlopen(strstr(info.module, "test_stacks") ? NULL : info.module, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *map;
    assert_non_null(module);
    assert_int_equal(dlinfo(module, RTLD_DI_LINKMAP, &map), 0);
    dlclose(module);
    return (const char *)map->l_addr + info.offset + 1;
}

/* ---- What backtrace() says ------------------------------------------------------------------- */

typedef struct seen {
    void *addresses[200];
    int count; /* from the function that looks outwards */
} seen;

#define LOOK(into) skip_others(into, backtrace((into)->addresses, 200))

extern const char __executable_start[], etext[];

/* A sanitizer stands in front of backtrace(). */
static void skip_others(seen *at, int count)
{
    int own = 0;
    while (own < count && ((const char *)at->addresses[own] < __executable_start ||
                           (const char *)at->addresses[own] > etext))
        own++;
    at->count = count - own;
    memmove(at->addresses, at->addresses + own, (size_t)at->count * sizeof *at->addresses);
}

/* The frames outside of the function that both looked from are equal, and in that function the
 * scope begins behind where it was looked from, not far. */
static void assert_stack(const takt_trace *trace, size_t stack, const seen *expected)
{
    assert_int_not_equal(stack, TAKT_NO_STACK);
    size_t count = takt_trace_frame_count(trace, stack);
    size_t most = (size_t)expected->count < 128 ? (size_t)expected->count : 128;
    while (most > 0 && !expected->addresses[most - 1])
        most--;
    assert_in_range(count, most - 1, most); /* backtrace() leaves the outermost one out, or not */
    for (size_t i = 1; i < count; i++)
        assert_ptr_equal(address_of(trace, stack, i), expected->addresses[i]);
    ptrdiff_t distance = address_of(trace, stack, 0) - (const char *)expected->addresses[0];
    assert_true(distance > 0 && distance < 8000);
}

/* ---- A program ------------------------------------------------------------------------------- */

__attribute__((noinline)) static void leaf(seen *at)
{
    if (at)
        LOOK(at);
    TAKT_SCOPE("leaf");
    KEEP_CALL();
}

__attribute__((noinline)) static void left(seen *at)
{
    leaf(at);
    KEEP_CALL();
}

__attribute__((noinline)) static void right(seen *at)
{
    leaf(at);
    KEEP_CALL();
}

__attribute__((noinline)) static void pairs_and_phases(seen *at)
{
    LOOK(at);
    TAKT_BEGIN("pair");
    takt_begin("named");
    TAKT_PHASE("first phase");
    TAKT_PHASE("second phase");
    takt_end();
    TAKT_END("pair");
}

__attribute__((noinline)) static void recurse(seen *at, int depth)
{
    if (depth > 0)
        recurse(at, depth - 1);
    else
        leaf(at);
    KEEP_CALL();
}

/* A stack that is walked once, and then only compared. */
typedef struct walked {
    tkt_return returns[128];
    uint32_t count;
    bool is_same;
} walked;

__attribute__((noinline)) static void walk_or_compare(walked *at)
{
    if (at->count == 0)
        at->count = tkt_unwind(__builtin_return_address(0), at->returns, 128);
    at->is_same = tkt_unwind_is_same(at->returns, at->count);
}

__attribute__((noinline)) static void walk_left(walked *at)
{
    walk_or_compare(at);
    KEEP_CALL();
}

__attribute__((noinline)) static void walk_right(walked *at)
{
    walk_or_compare(at);
    KEEP_CALL();
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(a_scope_has_the_stack_that_it_begins_at)
{
    seen at[2];
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    left(&at[0]);
    left(NULL);
    right(&at[1]);
    const takt_trace *trace = end(profiler);
    assert_stack(trace, stack_of(trace, "leaf", 0), &at[0]);
    assert_stack(trace, stack_of(trace, "leaf", 2), &at[1]);
    takt_trace_release(trace);
}

TEST(equal_stacks_are_one)
{
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    for (int i = 0; i < 100; i++)
        left(NULL);
    const takt_trace *trace = end(profiler);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_STACKS), 1);
    assert_int_equal(stack_of(trace, "leaf", 0), stack_of(trace, "leaf", 99));
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_NO_STACK), 0);
    takt_trace_release(trace);
}

/* More different stacks than find room in memory that Takt has already. */
static void recurse_without_memory(void)
{
    tkt_alloc_fail(0, UINT64_MAX);
    for (int depth = 1; depth < 120; depth++)
        recurse(NULL, depth);
    tkt_alloc_fail(0, 0);
}

/* Not in a warm-up, nor in the summary beside it. */
TEST(a_stack_is_lost_where_it_would_be_kept)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *stacks;
    options.with_stack = true;
    options.schedule = (takt_schedule){.warmup = 1, .active = 1, .repeat = 1};
    assert_int_equal(takt_profiler_create(&options, &stacks), TAKT_OK);
    assert_int_equal(takt_profiler_start(stacks), TAKT_OK);
    takt_profiler *summary = begin(TAKT_MODE_SUMMARY, false);
    recurse_without_memory();
    const takt_trace *trace = end(summary);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_NO_STACK), 0);
    takt_trace_release(trace);
    assert_int_equal(takt_profiler_step(stacks), TAKT_OK);
    recurse_without_memory();
    assert_int_equal(takt_profiler_step(stacks), TAKT_OK);
    trace = end(stacks);
    assert_in_range(takt_trace_loss(trace, TAKT_LOSS_NO_STACK), 1, 119);
    takt_trace_release(trace);
}

/* Both have frames of one size, so that the scope begins at the same stack pointer. */
TEST(another_caller_at_the_same_place_is_another_stack)
{
    seen at[2];
    left(&at[0]);
    right(&at[1]);
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    for (int i = 0; i < times(10); i++)
        (i % 2 ? right : left)(NULL);
    const takt_trace *trace = end(profiler);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_STACKS), 2);
    for (size_t i = 0; i < 10; i++)
        assert_ptr_equal(address_of(trace, stack_of(trace, "leaf", i), 1), at[i % 2].addresses[1]);
    takt_trace_release(trace);
}

/* What saves the walk: without it each scope would cost a microsecond. */
TEST(a_stack_that_was_walked_is_known_again)
{
    static void (*volatile const ways[])(walked *) = {walk_left, walk_right};
    assert_true(tkt_unwind_load());
    walked at = {.count = 0};
    for (int i = 0; i < times(6); i++) {
        ways[i % 2](&at);
        assert_int_equal(at.is_same, i % 2 == 0);
        assert_true(at.count > 3);
    }
}

TEST(every_way_to_begin_a_scope_has_its_stack)
{
    static const char *const names[] = {"pair", "named", "first phase", "second phase"};
    seen at;
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    pairs_and_phases(&at);
    const takt_trace *trace = end(profiler);
    for (size_t i = 0; i < 4; i++)
        assert_stack(trace, stack_of(trace, names[i], 0), &at);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_STACKS), 4);
    takt_trace_release(trace);
}

TEST(only_what_begins_while_they_are_recorded_has_one)
{
    takt_profiler *all = begin(TAKT_MODE_TRACE, false);
    left(NULL);
    takt_profiler *some = begin(TAKT_MODE_TRACE, true);
    left(NULL);
    takt_trace_release(end(some));
    left(NULL);
    const takt_trace *trace = end(all);
    assert_int_equal(stack_of(trace, "leaf", 0), TAKT_NO_STACK);
    assert_int_not_equal(stack_of(trace, "leaf", 1), TAKT_NO_STACK);
    assert_int_equal(stack_of(trace, "leaf", 2), TAKT_NO_STACK);
    takt_trace_release(trace);
}

static size_t known_stacks;

static void count_stack(const tkt_call_stack *stack)
{
    known_stacks += stack != NULL;
}

/* The first stack takes the longest: the warm-up finds all, and keeps none. */
TEST(a_warm_up_finds_stacks)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.with_stack = true;
    options.schedule = (takt_schedule){.wait = 1, .warmup = 2, .active = 1, .repeat = 1};
    takt_profiler *profiler;
    size_t known[4];
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (size_t i = 0; i < 4; i++) {
        left(NULL);
        known_stacks = 0;
        tkt_stack_visit(count_stack);
        known[i] = known_stacks;
        takt_profiler_step(profiler);
    }
    const takt_trace *trace = end(profiler);
    assert_int_equal(known[1] - known[0], 1);
    assert_int_equal(known[3], known[1]);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_STACKS), 1);
    takt_trace_release(trace);
}

TEST(a_summary_has_none)
{
    takt_profiler *profiler = begin(TAKT_MODE_SUMMARY, true);
    left(NULL);
    assert_false(tkt_record_has(TKT_STACKS));
    const takt_trace *trace = end(profiler);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_STACKS), 0);
    takt_trace_release(trace);
}

/* The tree of both forms is made from slots that are read backwards, over those of the stacks. */
TEST(a_summary_beside_the_spans_is_the_same)
{
    takt_profiler *profiler = begin(TAKT_MODE_BOTH, true);
    for (int i = 0; i < 1000; i++) {
        TAKT_SCOPE("outside");
        left(NULL);
    }
    const takt_trace *trace = end(profiler);
    assert_int_equal(takt_trace_facts(trace)->span_count, 2000);
    assert_int_not_equal(stack_of(trace, "outside", 999), TAKT_NO_STACK);
    assert_int_not_equal(stack_of(trace, "leaf", 999), TAKT_NO_STACK);
    takt_trace_release(trace);
}

TEST(of_a_deep_stack_the_innermost_frames_are_kept)
{
    static seen at;
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    recurse(&at, 150);
    recurse(NULL, 150);
    const takt_trace *trace = end(profiler);
    assert_int_equal(takt_trace_frame_count(trace, stack_of(trace, "leaf", 0)), 128);
    assert_stack(trace, stack_of(trace, "leaf", 0), &at);
    takt_trace_release(trace);
}

/* A chunk's last slot holds the stack of a scope whose own record finds no room. What is open at
 * the end, at its depth, is not what that is of. */
TEST(a_dropped_scope_gives_its_stack_to_nobody)
{
    for (int odd = 0; odd < 2; odd++) {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        options.with_stack = true;
        takt_profiler *profiler;
        assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
        assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
        tkt_pool_limit(1); /* one chunk */
        if (odd)
            TAKT_MARK("odd");
        for (int i = 0; i < 20000; i++)
            left(NULL);
        TAKT_BEGIN("open at the end");
        const takt_trace *trace = end(profiler);
        TAKT_END("open at the end");
        assert_true(takt_trace_loss(trace, TAKT_LOSS_BUFFER_FULL) > 0);
        uint32_t of_leaf = stack_of(trace, "leaf", 1); /* the first one may have lost its own */
        assert_int_not_equal(of_leaf, TAKT_NO_STACK);
        assert_int_not_equal(stack_of(trace, "open at the end", 0), of_leaf);
        takt_trace_release(trace);
    }
}

__attribute__((noinline)) static void call_of(const void *caller, seen *at)
{
    LOOK(at);
    uint64_t now = takt_now_ns();
    (void)now;
    tkt_record_call(&(tkt_call){.name = "cudaLaunchKernel",
                                .category = "cuda_runtime",
                                .begin_ticks = tkt_ticks(),
                                .end_ticks = tkt_ticks(),
                                .correlation = 7,
                                .caller = caller});
}

__attribute__((noinline)) static void callback(seen *at)
{
    call_of(__builtin_return_address(0), at);
    KEEP_CALL();
}

/* As CUPTI's callback does it: the stack begins where that returns to. */
TEST(a_call_has_the_stack_of_its_caller)
{
    seen at;
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    {
        TAKT_SCOPE("outside");
        callback(&at);
    }
    const takt_trace *trace = end(profiler);
    size_t stack = stack_of(trace, "cudaLaunchKernel", 0);
    assert_int_not_equal(stack, TAKT_NO_STACK);
    assert_ptr_equal(address_of(trace, stack, 0), at.addresses[2]);
    assert_int_not_equal(stack_of(trace, "outside", 0), stack);
    takt_trace_release(trace);
}

enum {
    THREADS = 4,
    LEAVES = 100
};

static void *leaves_of_a_thread(void *at)
{
    seen *ats = at;
    for (int i = 0; i < LEAVES; i++)
        (i % 3 ? left : right)(&ats[i]);
    return NULL;
}

TEST(threads_have_their_own)
{
    static seen at[THREADS][LEAVES];
    pthread_t threads[THREADS];
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, leaves_of_a_thread, at[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const takt_trace *trace = end(profiler);
    assert_true(takt_trace_count(trace, TAKT_TRACE_STACKS) < 20); /* the same code on all of them */
    for (size_t i = 0; i < THREADS; i++)
        for (size_t k = 0; k < LEAVES; k++)
            assert_stack(trace, stack_of(trace, "leaf", i * LEAVES + k), &at[i][k]);
    takt_trace_release(trace);
}

static ucontext_t here, there;

static void on_fiber(void)
{
    left(NULL);
    recurse(NULL, 20);
}

static void run_fiber(void (*run)(void), char *stack, size_t bytes)
{
    assert_int_equal(getcontext(&there), 0);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = bytes;
    there.uc_link = &here;
    makecontext(&there, run, 0);
    assert_int_equal(swapcontext(&here, &there), 0);
}

/* Its stack is none of the thread's, and ends where makecontext() says. */
TEST(a_fiber_has_its_own)
{
    size_t bytes = 256 * 1024;
    char *stack = malloc(bytes);
    assert_non_null(stack);
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    for (int i = 0; i < 3; i++)
        run_fiber(on_fiber, stack, bytes);
    const takt_trace *trace = end(profiler);
    for (size_t i = 0; i < 6; i++) {
        size_t number = stack_of(trace, "leaf", i);
        assert_int_not_equal(number, TAKT_NO_STACK);
        assert_true(takt_trace_frame_count(trace, number) >= (i % 2 ? 23 : 3));
        assert_true(takt_trace_frame_count(trace, number) <= (i % 2 ? 26 : 6));
    }
    takt_trace_release(trace);
    free(stack);
}

static volatile size_t room_bytes;

static void on_roomy_fiber(void)
{
    volatile char *room = alloca(room_bytes + 1);
    room[0] = 0;
    left(NULL);
    room[room_bytes] = 0;
}

TEST(a_fiber_does_not_read_what_the_one_before_has_unmapped)
{
    size_t half = 64 * 1024;
    char *stack = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(stack != MAP_FAILED);
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    room_bytes = half;
    run_fiber(on_roomy_fiber, stack, 2 * half);
    munmap(stack + half, half);
    room_bytes = 0;
    run_fiber(on_roomy_fiber, stack, half); /* at the same place */
    const takt_trace *trace = end(profiler);
    assert_int_not_equal(stack_of(trace, "leaf", 1), TAKT_NO_STACK);
    takt_trace_release(trace);
    munmap(stack, half);
}

TEST(what_is_exported_has_its_name)
{
    takt_profiler *profiler = begin(TAKT_MODE_TRACE, true);
    left(NULL);
    const takt_trace *trace = end(profiler);
    size_t stack = stack_of(trace, "leaf", 0);
    bool is_found = false;
    for (size_t i = 0; i < takt_trace_frame_count(trace, stack); i++) {
        takt_frame_info frame;
        takt_trace_frame(trace, stack, i, &frame);
        is_found |= strcmp(frame.function, "__libc_start_main") == 0 &&
                    strstr(frame.module, "libc.so") != NULL;
        if (i == 0) {
            assert_string_equal(frame.function, ""); /* static */
            assert_non_null(strstr(frame.module, "/test_stacks"));
        }
    }
    assert_true(is_found);
    takt_trace_release(trace);
}

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* What the callbacks' stacks must contain: where record_from() returns to. */
static struct {
    const void *outside;
    uint32_t reached; /* a bit for each callback */
} callers;

enum {
    FROM_TRACE = 1,
    FROM_SINK = 2,
    FROM_LOG = 4
};

static void note_callers(uint32_t callback)
{
    void *addresses[200];
    int count = backtrace(addresses, 200);
    for (int i = 0; i < count; i++)
        if (addresses[i] == callers.outside)
            callers.reached |= callback;
}

static takt_status on_write(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    note_callers(FROM_SINK);
    return TAKT_OK;
}

static void on_line(takt_log_level level, const char *line, void *user)
{
    (void)level, (void)line, (void)user;
    note_callers(FROM_LOG);
}

static void on_trace(const takt_trace *trace, void *user)
{
    (void)user;
    note_callers(FROM_TRACE);
    takt_sink sink = {on_write, NULL};
    assert_int_equal(takt_report(trace, "tree", NULL, &sink), TAKT_OK);
}

__attribute__((noinline)) static void record_from(takt_profiler *profiler)
{
    callers.outside = __builtin_return_address(0);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK); /* logs */
    leaf(NULL);
    takt_profiler_stop(profiler);
    KEEP_CALL();
}

TEST(stacks_of_callbacks_reach_the_program)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.on_trace = on_trace;
    takt_profiler *profiler;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    takt_set_log(on_line, NULL);
    record_from(profiler);
    takt_set_log(NULL, NULL);
    takt_profiler_destroy(profiler);
    assert_int_equal(callers.reached, FROM_TRACE | FROM_SINK | FROM_LOG);
}

TEST_MAIN(NULL, NULL)
