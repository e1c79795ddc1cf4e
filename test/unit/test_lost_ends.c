/* Arguments and work of scopes whose ends were dropped for want of memory: they belong to no other
 * scope. */
#include "support/test.h"
#include "unit/test_export_folder.h"

#include <takt/takt.h>

#include <string.h>

enum {
    SCOPES = 60000,
    INNER = 3,
    SHIFTS = 12
};

/* Both arguments of a scope are its number, and so is its work. `shift` moves the chunks' borders
 * relative to the scopes. */
static void record(int shift)
{
    for (int i = 0; i < shift; i++)
        TAKT_MARK("shift");
    for (int i = 1; i <= SCOPES; i++) {
        TAKT_SCOPE("outer");
        TAKT_ARG("first", i);
        TAKT_WORK(i, 0);
        for (int k = 0; k < INNER; k++) {
            TAKT_SCOPE("inner");
            TAKT_ARG("number", i);
        }
        TAKT_ARG("last", i);
    }
}

/* Returns the number that all which is known of the span tells; 0: nothing is. */
static int64_t number_of(const takt_trace *trace, size_t index)
{
    int64_t number = 0;
    double flops, bytes;
    size_t count = takt_trace_arg_count(trace, 0, index);
    assert_true(count <= 2);
    for (size_t i = 0; i < count; i++) {
        takt_arg_info arg;
        assert_int_equal(takt_trace_arg(trace, 0, index, i, &arg), TAKT_OK);
        assert_true(number == 0 || arg.i == number);
        number = arg.i;
    }
    assert_int_equal(takt_trace_work(trace, 0, index, &flops, &bytes), TAKT_OK);
    assert_true(flops == 0 || number == 0 || flops == (double)number);
    return number ? number : (int64_t)flops;
}

/* Numbers rise, and inner scopes have that of the outer one. */
static void check(const takt_trace *trace)
{
    takt_track_info track;
    assert_int_equal(takt_trace_track(trace, 0, &track), TAKT_OK);
    assert_true(track.span_count > 100);
    int64_t latest = 0, outer = 0;
    for (size_t i = 0; i < track.span_count; i++) {
        takt_span_info span;
        assert_int_equal(takt_trace_span(trace, 0, i, &span), TAKT_OK);
        int64_t number = number_of(trace, i);
        bool is_inner = strcmp(span.name, "inner") == 0;
        if (span.parent == TAKT_NO_PARENT)
            outer = is_inner ? 0 : number;
        assert_true(number == 0 || number > latest || (is_inner && number == latest));
        assert_true(!outer || !number || number == outer);
        latest = number ? number : latest;
    }
}

static void record_with(const char *folder, int shift)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.max_memory_bytes = 64 << 10;
    options.stream = folder != NULL;
    options.directory = folder;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    record(shift);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_true(takt_trace_loss(trace, TAKT_LOSS_BUFFER_FULL) > 0);
    check(trace);
    takt_profiler_destroy(profiler);
}

TEST(what_belongs_to_a_lost_scope_is_lost_with_it)
{
    for (int shift = 0; shift < SHIFTS; shift++)
        record_with(NULL, shift);
}

TEST(so_it_is_in_a_stream)
{
    const char *folder = make_folder();
    assert_non_null(folder);
    for (int shift = 0; shift < SHIFTS; shift++)
        record_with(folder, shift);
    remove_folder(folder);
}

TEST_MAIN(NULL, NULL)
