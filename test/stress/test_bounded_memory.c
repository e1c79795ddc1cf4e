/* Texts that never come twice, for as long as it takes: memory stays within what max_memory allows,
 * what finds no room is counted, and most of it is given back with the profiler. */
#include "support/sanitized.h"
#include "support/resident.h"
#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TEXTS = 100000,
    TEXT_BYTES = 200,
    MAX_MEMORY = 1 << 20
};

static void fill(char *text, unsigned number)
{
    memset(text, 'x', TEXT_BYTES);
    snprintf(text + TEXT_BYTES - 12, 12, "%u", number);
}

static void give_value(const char *text)
{
    TAKT_SCOPE("scope");
    TAKT_ARG("text", text);
}

static void begin_named(const char *text)
{
    takt_begin(text);
    takt_end();
}

static void name_thread(const char *text)
{
    takt_thread_name(text);
    TAKT_MARK("mark");
}

static void make_track(const char *text)
{
    takt_span_at(takt_track_named(text), text, 1, 2);
}

static void allocate(const char *text)
{
    static uintptr_t last;
    (void)text;
    for (int i = 0; i < 10; i++)
        takt_memory_allocated((const void *)(last += 16), 16);
}

static uint64_t run(void (*once)(const char *text), takt_mode mode, takt_loss loss)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    char text[TEXT_BYTES + 1];
    options.mode = mode;
    options.max_memory_bytes = MAX_MEMORY;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (unsigned i = 0; i < TEXTS; i++) {
        fill(text, i);
        once(text);
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    uint64_t lost = takt_trace_loss(takt_profiler_trace(profiler), loss);
    takt_profiler_destroy(profiler);
    return lost;
}

TEST(texts_take_no_more_than_their_share)
{
    static const struct {
        void (*once)(const char *text);
        takt_loss loss;
    } cases[] = {
        {give_value, TAKT_LOSS_MORE_NAMES},  {begin_named, TAKT_LOSS_MORE_NAMES},
        {name_thread, TAKT_LOSS_MORE_NAMES}, {make_track, TAKT_LOSS_MORE_NAMES},
        {allocate, TAKT_LOSS_ADDRESSES},
    };
    takt_thread_name("main");
    run(give_value, TAKT_MODE_FLIGHT, TAKT_LOSS_MORE_NAMES); /* what every recording needs once */
    size_t before = resident_bytes();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(run(cases[i].once, TAKT_MODE_FLIGHT, cases[i].loss) > TEXTS / 2);
    size_t grown = resident_bytes() - before;
    print_message("%zu KiB more after %zu MiB of texts\n", grown >> 10,
                  (sizeof cases / sizeof *cases * TEXTS * TEXT_BYTES) >> 20);
    /* sanitizers keep what was freed, and more beside it */
    assert_true(grown < (IS_SANITIZED ? 48 : 8) << 20);
}

static const char *last_value(const takt_trace *trace)
{
    takt_arg_info arg = {0};
    for (size_t i = takt_trace_count(trace, TAKT_TRACE_TRACKS); i-- > 0;) {
        takt_track_info track;
        assert_int_equal(takt_trace_track(trace, i, &track), TAKT_OK);
        for (size_t s = 0; s < track.span_count; s++) {
            if (takt_trace_arg_count(trace, i, s) > 0)
                takt_trace_arg(trace, i, s, 0, &arg);
        }
    }
    return arg.text;
}

/* A value that was lost for want of room in one recording has room in the next. */
TEST(values_are_forgotten_with_the_recording)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    run(give_value, TAKT_MODE_FLIGHT, TAKT_LOSS_MORE_NAMES);
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    takt_profiler_start(profiler);
    give_value("a text of its own");
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MORE_NAMES), 0);
    assert_string_equal(last_value(trace), "a text of its own");
    takt_profiler_destroy(profiler);
}

TEST_MAIN(NULL, NULL)
