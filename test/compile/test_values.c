/* The values that TAKT_ARG takes in C, read back; test_hpp.cpp does so in C++. */
#include "support/test.h"

#include <takt/takt.h>

#include <stdlib.h>

enum material {
    STEEL = 7
};
enum shift {
    BACK = -2
};

static takt_arg_info take(const takt_trace *trace, size_t index, takt_arg_kind kind)
{
    takt_arg_info info = {0};
    assert_int_equal(takt_trace_arg(trace, 0, 0, index, &info), TAKT_OK);
    assert_int_equal(info.kind, kind);
    return info;
}

/* An unsigned bit-field is unsigned to clang; to gcc it is a type without a name, recorded as
 * signed. */
static int64_t take_bits(const takt_trace *trace, size_t index)
{
#ifdef __clang__
    return (int64_t)take(trace, index, TAKT_ARG_UINT).u;
#else
    return take(trace, index, TAKT_ARG_INT).i;
#endif
}

static void record_reals_and_texts(void)
{
    TAKT_SCOPE("values");
    char buffer[16] = "steel";
    const char *constant = "constant";
    TAKT_ARG("float", 0.25f);
    TAKT_ARG("double", 0.1);
    TAKT_ARG("long double", 0.1L);
    TAKT_ARG("small", 0.75L);
    TAKT_ARG("buffer", buffer);
    TAKT_ARG("pointer", buffer + 1);
    TAKT_ARG("constant", constant);
    buffer[0] = 'x'; /* it has been copied */
}

static void record_integers(void)
{
    TAKT_SCOPE("values");
    struct {
        unsigned bits : 3;
        int low : 5;
        uint64_t high : 40;
    } narrow = {5, -3, UINT64_C(1) << 39};
    const volatile long changing = -5;
    enum material material = STEEL;
    enum shift shift = BACK;
    TAKT_ARG("bits", narrow.bits);
    TAKT_ARG("high", narrow.high);
    TAKT_ARG("low", narrow.low);
    TAKT_ARG("volatile", changing);
    TAKT_ARG("shift", shift);
    TAKT_ARG("unsigned char", (unsigned char)200);
    TAKT_ARG("material", material);
    TAKT_ARG("large", UINT64_MAX);
    TAKT_ARG("bool", (_Bool)narrow.bits);
}

static takt_profiler *record(void (*values)(void))
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    values();
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    return profiler;
}

TEST(reals_and_texts_are_recorded_as_what_they_are)
{
    const double reals[] = {0.25, 0.1, 0.1, 0.75};
    const char *const texts[] = {"steel", "teel", "constant"};
    takt_profiler *profiler = record(record_reals_and_texts);
    const takt_trace *trace = takt_profiler_trace(profiler);
    for (size_t i = 0; i < 4; i++)
        assert_true(take(trace, i, TAKT_ARG_DOUBLE).d == reals[i]);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(take(trace, 4 + i, TAKT_ARG_TEXT).text, texts[i]);
    takt_profiler_destroy(profiler);
}

TEST(integers_are_recorded_as_what_they_are)
{
    const int64_t integers[] = {-3, -5, BACK, 200};
    takt_profiler *profiler = record(record_integers);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(take_bits(trace, 0), 5);
    assert_int_equal(take_bits(trace, 1), INT64_C(1) << 39);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(take(trace, 2 + i, TAKT_ARG_INT).i, integers[i]);
    assert_int_equal(take(trace, 6, TAKT_ARG_UINT).u, STEEL);
    assert_true(take(trace, 7, TAKT_ARG_UINT).u == UINT64_MAX);
    assert_int_equal(take(trace, 8, TAKT_ARG_BOOL).i, 1);
    takt_profiler_destroy(profiler);
}

/* Compilers warn about memory that is passed on before anything is written to it. */
TEST(an_allocator_reports_memory_without_a_warning)
{
    takt_memory memory;
    char *block = malloc(100);
    takt_memory_allocated(block, 100);
    assert_int_equal(takt_memory_query("host", &memory), TAKT_OK);
    assert_int_equal(memory.current_bytes, 100);
    takt_memory_freed(block);
    free(block);
}

TEST_MAIN(NULL, NULL)
