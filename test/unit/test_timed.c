/* Timed blocks: exact statistics over a clock that the test drives. */
#include "base/alloc.h"

#include "test_profiler.h"
#include "support/test.h"

#include <math.h>

static int set_up(void **state)
{
    (void)state;
    tkt_clock_fake(read_test_clock);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tkt_alloc_fail(0, 0);
    tkt_clock_fake(NULL);
    return 0;
}

static void check_near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-9 * fabs(expected));
}

TEST(a_block_runs_once_unless_told_otherwise)
{
    takt_timed result;
    int runs = 0;
    TAKT_TIMED(&result) {
        runs++;
        pass_ns(700);
    }
    assert_int_equal(runs, 1);
    assert_int_equal(result.struct_size, sizeof result);
    assert_int_equal(result.count, 1);
    assert_true(result.mean_ns == 700 && result.median_ns == 700);
    assert_true(result.min_ns == 700 && result.max_ns == 700);
    assert_true(result.stddev_ns == 0);
    assert_true(result.flops_per_second == 0 && result.bytes_per_second == 0);
}

TEST(warm_up_rounds_run_and_do_not_count)
{
    static const uint64_t ns[] = {100000, 50000, 7, 1, 3, 21};
    takt_timed result;
    int runs = 0;
    TAKT_TIMED(&result, .repeat = 4, .warmup = 2) {
        pass_ns(ns[runs++]);
    }
    assert_int_equal(runs, 6);
    assert_int_equal(result.count, 4);
    assert_true(result.mean_ns == 8);
    assert_true(result.median_ns == 5);
    assert_true(result.min_ns == 1);
    assert_true(result.max_ns == 21);
    check_near(result.stddev_ns, sqrt((1 + 49 + 25 + 169) / 3.0));
}

TEST(an_odd_number_has_a_middle)
{
    static const uint64_t ns[] = {9, 2, 4, 100, 1};
    takt_timed result;
    int runs = 0;
    TAKT_TIMED(&result, .repeat = 5) {
        pass_ns(ns[runs++]);
    }
    assert_true(result.median_ns == 4);
}

TEST(break_ends_it_with_the_rounds_that_were_completed)
{
    takt_timed result;
    int runs = 0;
    TAKT_TIMED(&result, .repeat = 100) {
        TAKT_WORK(1000, 50);
        if (++runs == 4)
            break;
        pass_ns(500);
    }
    assert_int_equal(runs, 4);
    assert_int_equal(result.count, 3);
    assert_true(result.mean_ns == 500);
    check_near(result.flops_per_second, 1000 / 500e-9);
    check_near(result.bytes_per_second, 50 / 500e-9);
    result.count = 9;
    TAKT_TIMED(&result, .repeat = 3, .warmup = 1) {
        break;
    }
    assert_int_equal(result.count, 0);
    assert_true(result.mean_ns == 0);
}

TEST(declared_work_of_the_rounds_that_count_gives_rates)
{
    takt_timed result;
    TAKT_TIMED(&result, .repeat = 10, .warmup = 5) {
        TAKT_SCOPE("solve");
        TAKT_WORK(2e6, 4e6);
        pass_ns(1000);
        TAKT_WORK(1e6, 0);
    }
    check_near(result.flops_per_second, 3e6 / 1e-6);
    check_near(result.bytes_per_second, 4e6 / 1e-6);
}

TEST(blocks_nest)
{
    takt_timed outer, inner;
    TAKT_TIMED(&outer, .repeat = 2) {
        pass_ns(10);
        TAKT_TIMED(&inner, .repeat = 3) {
            pass_ns(5);
        }
    }
    assert_int_equal(outer.count, 2);
    assert_true(outer.mean_ns == 25);
    assert_int_equal(inner.count, 3);
    assert_true(inner.mean_ns == 5);
}

TEST(reported_memory_is_told)
{
    static char block[100];
    takt_timed result;
    takt_memory_allocated(block + 2, 100000); /* not the block's */
    takt_memory_freed(block + 2);
    TAKT_TIMED(&result) {
        takt_memory_allocated(block, 3000);
        takt_memory_allocated(block + 1, 1000);
        takt_memory_freed(block + 1);
    }
    assert_int_equal(result.peak_bytes, 4000);
    assert_int_equal(result.current_bytes, 3000);
    takt_memory_freed(block);
}

/* The program's own work is done, measured or not. */
TEST(without_memory_the_block_runs_as_often)
{
    for (uint64_t after = 0; after < 6; after++) {
        takt_timed result;
        int runs = 0;
        tkt_alloc_fail(after, UINT64_MAX);
        TAKT_TIMED(&result, .repeat = 40, .warmup = 3) {
            runs++;
            pass_ns(100);
        }
        tkt_alloc_fail(0, 0);
        assert_int_equal(runs, 43);
        assert_true(result.count == 0 || result.mean_ns == 100);
    }
    int runs = 0;
    TAKT_TIMED(NULL, .repeat = 3) {
        runs++;
    }
    assert_int_equal(runs, 3);
}

/* ---- Programs of other versions -------------------------------------------------------------- */

enum {
    SMALLER = offsetof(takt_timed, min_ns),
    LARGER = sizeof(takt_timed) + 64
};

TEST(the_result_is_filled_as_far_as_the_caller_has_room)
{
    union {
        takt_timed known;
        unsigned char bytes[LARGER + 8];
    } result;
    const takt_timed_options options = {.struct_size = sizeof options, .repeat = 3};
    for (size_t size = SMALLER; size <= LARGER; size += LARGER - SMALLER) {
        memset(&result, 0xA5, sizeof result);
        takt_timed_loop loop = takt_timed_begin(&result.known, size, &options);
        while (takt_timed_next(&loop))
            pass_ns(70);
        takt_timed_end(&loop);
        assert_int_equal(result.known.struct_size, size < LARGER ? size : sizeof result.known);
        assert_int_equal(result.known.count, 3);
        assert_true(result.known.mean_ns == 70);
        for (size_t i = size; i < sizeof result; i++)
            assert_int_equal(result.bytes[i], 0xA5);
    }
    for (size_t i = sizeof result.known; i < LARGER; i++)
        assert_int_equal(result.bytes[i], 0);
}

static unsigned rounds_of(takt_timed *result, size_t size, const takt_timed_options *options)
{
    unsigned count = 0;
    takt_timed_loop loop = takt_timed_begin(result, size, options);
    for (; takt_timed_next(&loop); count++)
        continue;
    takt_timed_end(&loop);
    return count;
}

TEST(wrong_sizes_are_told_and_the_block_runs)
{
    takt_timed result = {.count = 77};
    takt_timed_options options = {
        .struct_size = offsetof(takt_timed_options, warmup), .repeat = 5, .warmup = 1000};
    takt_set_log(keep_line, NULL);
    forget_lines();
    assert_int_equal(rounds_of(&result, sizeof result, &options), 5);
    assert_int_equal(count_lines(-1, ""), 0);
    options.struct_size = 0;
    assert_int_equal(rounds_of(&result, sizeof result, &options), 1);
    assert_int_equal(count_lines(-1, "a timed block runs without its options"), 1);
    result.count = 77;
    assert_int_equal(rounds_of(&result, 0, NULL), 1);
    assert_int_equal(rounds_of(&result, SIZE_MAX, NULL), 1);
    assert_int_equal(count_lines(-1, "a timed block gives no result"), 2);
    assert_int_equal(result.count, 77);
    result.struct_size = 0;
    capture_stdout();
    takt_timed_print(&result);
    takt_timed_print(NULL);
    assert_string_equal(captured_stdout(), "");
    assert_int_equal(count_lines(-1, "takt_timed_print() was given"), 2);
    takt_set_log(NULL, NULL);
}

/* ---- Printing -------------------------------------------------------------------------------- */

TEST(the_result_is_printed_a_value_a_line)
{
    const takt_timed result = {.struct_size = sizeof result,
                               .count = 100,
                               .mean_ns = 1234567,
                               .median_ns = 999.4,
                               .min_ns = 12345,
                               .max_ns = 2.5e9,
                               .stddev_ns = 0,
                               .flops_per_second = 3.5e9,
                               .bytes_per_second = 12e9,
                               .peak_bytes = 31488,
                               .current_bytes = 0,
                               .name = "saxpy"};
    capture_stdout();
    takt_timed_print(&result);
    assert_string_equal(captured_stdout(), "saxpy: 100 repetitions\n"
                                           "  mean          1.235 ms\n"
                                           "  median        0.999 us\n"
                                           "  min          12.345 us\n"
                                           "  max           2.500 s\n"
                                           "  stddev        0.000 us\n"
                                           "  work          3.500 GFLOP/s\n"
                                           "  moved        12.000 GB/s\n"
                                           "  memory        30.75 KiB at most, 0 B now\n");
}

TEST(rates_say_whose_time_divides)
{
    const takt_timed device = {.struct_size = sizeof device,
                               .flops_per_second = 1e11,
                               .work_ns = 1e6,
                               .is_device_work = true,
                               .precision = "bf16"};
    const takt_timed lost = {.struct_size = sizeof lost, .flops_per_second = NAN};
    capture_stdout();
    takt_timed_print(&device);
    takt_timed_print(&lost);
    assert_string_equal(captured_stdout(), "0 repetitions\n"
                                           "  work        100.000 GFLOP/s of device time\n"
                                           "  used        unknown: no peak in bf16, set "
                                           "peak_flops\n"
                                           "0 repetitions\n"
                                           "  work        unknown: Takt lost activities of "
                                           "devices\n");
}

TEST(what_devices_did_is_printed_apart)
{
    const takt_timed result = {.struct_size = sizeof result,
                               .device_activities = 5,
                               .count = 2,
                               .device_mean_ns = 1500,
                               .device_median_ns = 1400,
                               .device_min_ns = 900,
                               .device_max_ns = 2e6,
                               .device_stddev_ns = 10,
                               .loading_ns = 3e9,
                               .device_peak_bytes = 2 << 20,
                               .device_current_bytes = 1 << 20};
    capture_stdout();
    takt_timed_print(&result);
    assert_non_null(strstr(captured_stdout(), "  on devices, 2.5 activities a repetition:\n"
                                              "  mean          1.500 us\n"
                                              "  median        1.400 us\n"
                                              "  min           0.900 us\n"
                                              "  max           2.000 ms\n"
                                              "  stddev        0.010 us\n"
                                              "  loading       3.000 s\n"
                                              "  memory         2.00 MiB at most, 1.00 MiB now\n"));
}

TEST(a_result_without_rounds_prints_no_times)
{
    const takt_timed none = {.struct_size = sizeof none};
    const takt_timed one = {.struct_size = sizeof one, .count = 1, .mean_ns = 1};
    capture_stdout();
    takt_timed_print(&none);
    takt_timed_print(&one);
    const char *text = captured_stdout();
    assert_memory_equal(text, "0 repetitions\n1 repetition\n  mean          0.001 us\n", 52);
}

TEST(peak_and_memory_are_printed_with_their_units)
{
    takt_timed result = {.struct_size = sizeof result,
                         .flops_per_second = 33.5e12,
                         .utilization = 0.5,
                         .peak_flops = 67e12,
                         .precision = "fp32",
                         .compile_ns = 2e8,
                         .loading_ns = 2.5e8,
                         .device_peak_bytes = 32 << 20,
                         .device_current_bytes = 1 << 20,
                         .device_peak_at_ns = 24.2e6,
                         .device_free_bytes = UINT64_C(3) << 29,
                         .device_capacity_bytes = UINT64_C(5) << 30,
                         .device_reserved_bytes = 700,
                         .device_fragmentation = 0.25};
    capture_stdout();
    takt_timed_print(&result);
    result = (takt_timed){.struct_size = sizeof result,
                          .utilization = 1.5,
                          .peak_flops = 1e9,
                          .precision = "every 15 bytes"};
    takt_timed_print(&result);
    result = (takt_timed){.struct_size = sizeof result,
                          .flops_per_second = 9700,
                          .utilization = 9.7e-9,
                          .peak_flops = 1e12};
    takt_timed_print(&result);
    assert_string_equal(
        captured_stdout(),
        "0 repetitions\n"
        "  compile     200.000 ms\n"
        "  loading      50.000 ms\n"
        "  memory        32.00 MiB at most, 1.00 MiB now\n"
        "  peak at      24.200 ms\n"
        "  free           1.50 GiB of 5.00 GiB\n"
        "  reserved        700 B by memory pools, 25.00% unused\n"
        "  work        33500.0 GFLOP/s\n"
        "  used         50.000% of 67.000 TFLOP/s fp32\n"
        "0 repetitions\n"
        "  used        100.000% of 0.001000 TFLOP/s every 15 bytes, uncapped 150.000%\n"
        "0 repetitions\n"
        "  work        9.7e-06 GFLOP/s\n"
        "  used        9.7e-07% of 1.000 TFLOP/s\n");
}

TEST(a_block_is_named_by_its_options_or_its_place)
{
    takt_timed named, placed, bare;
    char here[sizeof placed.name];
    snprintf(here, sizeof here, "test_timed.c:%d", __LINE__ + 1);
    TAKT_TIMED(&placed)
        pass_ns(1);
    TAKT_TIMED(&named, .name = "saxpy\n")
        pass_ns(1);
    assert_int_equal(rounds_of(&bare, sizeof bare, NULL), 1);
    assert_string_equal(placed.name, here);
    assert_string_equal(named.name, "saxpy?");
    assert_string_equal(bare.name, "");
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* The warm-up, and what ran before, are not in them. */
TEST(reports_tell_of_the_rounds_that_count)
{
    takt_timed result;
    takt_set_log(keep_line, NULL);
    capture_stdout();
    TAKT_TIMED(&result, .repeat = 3, .warmup = 2, .reports = "ops, scopes,nothing") {
        TAKT_SCOPE("solve");
        TAKT_WORK(1e6, 0);
        pass_ns(1000);
    }
    const char *text = captured_stdout();
    takt_set_log(NULL, NULL);
    assert_non_null(strstr(text, "ops\n"));
    const char *row = strstr(text, "\nsolve ");
    assert_non_null(row);
    char type[16], place[16];
    int count;
    assert_int_equal(sscanf(row, " solve %15s %15s %d", type, place, &count), 3);
    assert_string_equal(place, "host");
    assert_int_equal(count, 3);
    assert_non_null(strstr(row, "\n\nscopes\n"));
    assert_null(strstr(text, "nothing\n"));
    assert_int_equal(count_lines(-1, "a timed block cannot print the report \"nothing\""), 1);
    assert_int_equal(result.count, 3);
}

TEST(a_long_precision_is_cut_between_characters)
{
    takt_timed result;
    TAKT_TIMED(&result,
               .precision = "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4") {
        pass_ns(1);
    }
    assert_string_equal(result.precision,
                        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
}

TEST(a_block_that_breaks_early_prints_no_report)
{
    takt_timed result;
    capture_stdout();
    TAKT_TIMED(&result, .warmup = 1, .reports = "ops") {
        break;
    }
    assert_string_equal(captured_stdout(), "");
}

TEST_MAIN_EACH(set_up, tear_down)
