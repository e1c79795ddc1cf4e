/* Timers inside kernels in their host form, against an injected clock: the sample's solver to the
 * tick, and every way in which records get lost. None may write outside of the timers' memory,
 * which sanitizers see. */
#include <cmath>
#include <string>
#include <atomic>
#include <cstdint>
#include <thread>

static thread_local uint64_t test_ticks;
static thread_local uint64_t test_readings;

static uint64_t read_ticks()
{
    test_readings++;
    return test_ticks;
}

#define TAKT_DEVICE_CLOCK()     read_ticks()
#define PHASES_WORK(operations) (test_ticks += static_cast<uint64_t>(operations))
#define main                    sample_main
#include "../../samples/phases.cu"
#undef main

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
}
#undef stop // a macro of cmocka 2

#define TEST(name) static void name(void **)

static takt_device_timers *timers_with(uint32_t blocks, uint32_t records, uint32_t every = 0)
{
    takt_device_timers *timers = nullptr;
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    options.on_host = options.always = true;
    options.blocks = blocks;
    options.records = records;
    options.every = every;
    options.ns_per_cycle = 2.0;
    assert_int_equal(takt_device_timers_create(phase_names, PHASES, &options, &timers), TAKT_OK);
    return timers;
}

static takt_profiler_options quiet()
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.background = TAKT_OFF;
    return options;
}

/* cycles[phase][iteration] of a block; all 0 if the read has no such block. */
struct Cycles {
    static const uint32_t width = 16;
    uint64_t at[PHASES][width];
    takt_status status;

    Cycles(takt_device_timers *timers, uint32_t block) : at()
    {
        status = takt_device_timers_copy(timers, block, width, &at[0][0]);
    }
    uint64_t sum(int phase) const
    {
        uint64_t sum = 0;
        for (uint64_t cycles : at[phase])
            sum += cycles;
        return sum;
    }
};

static const uint64_t one_cost = contacts * bodies;

static void expect_island(takt_device_timers *timers, uint32_t block, const Result &result)
{
    const Cycles cycles(timers, block);
    const uint64_t count = static_cast<uint64_t>(result.iterations);
    const uint64_t searched = static_cast<uint64_t>(result.tries) * one_cost;
    const uint64_t gradients = count == 0 ? 0 : count < iterations ? count + 1 : count;
    assert_int_equal(cycles.status, TAKT_OK);
    for (uint64_t i = 0; i < Cycles::width; i++) {
        assert_int_equal(cycles.at[GRADIENT][i], i < gradients ? 2 * one_cost : 0);
        assert_int_equal(cycles.at[HESSIAN][i], i < count ? one_cost * bodies : 0);
        assert_int_equal(cycles.at[LAST_STEP][i], i < count ? bodies + one_cost : 0);
    }
    assert_int_equal(cycles.sum(LINE_SEARCH), searched);
    assert_int_equal(cycles.at[SOLVE][0], one_cost + gradients * 2 * one_cost +
                                              count * (one_cost * bodies + bodies + one_cost) +
                                              searched);
}

/* All blocks at once are what each is alone; one that the read lacks is 0. */
TEST(all_blocks_are_copied_at_once)
{
    std::vector<Island> all = make_islands();
    std::vector<Result> results(islands);
    takt_device_timers *timers = timers_with(islands, 4 * iterations + 2);
    const uint32_t width = Cycles::width, blocks = islands + 1;
    std::vector<uint64_t> cycles(static_cast<size_t>(PHASES) * width * blocks, 1);
    uint64_t lost = 7;
    assert_int_equal(takt_device_timers_copy_all(timers, blocks, width, cycles.data(), &lost),
                     TAKT_NOT_READY);
    assert_int_equal(lost, 0);
    solve_on_host(takt_device_timers_view(timers), all, results);
    assert_int_equal(takt_device_timers_read(timers, nullptr), TAKT_OK);
    assert_int_equal(takt_device_timers_copy_all(timers, blocks, width, cycles.data(), &lost),
                     TAKT_OK);
    assert_int_equal(lost, 0);
    for (uint32_t block = 0; block < blocks; block++) {
        const Cycles one(timers, block);
        assert_int_equal(one.status, block < islands ? TAKT_OK : TAKT_NOT_FOUND);
        for (uint32_t phase = 0; phase < PHASES; phase++)
            for (uint32_t i = 0; i < width; i++)
                assert_int_equal(cycles[(static_cast<size_t>(phase) * width + i) * blocks + block],
                                 one.at[phase][i]);
    }
    takt_device_timers_destroy(timers);
}

/* Each block has three phases more than `records`. */
TEST(phases_without_room_are_told)
{
    enum { BLOCKS = 5, ROOM = 4, MADE = 7 };
    takt_device_timers *timers = timers_with(BLOCKS, ROOM);
    const takt_device_view view = takt_device_timers_view(timers);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        takt_device_view lane = takt_device_for_block(view, block);
        for (int i = 0; i < MADE; i++) {
            TAKT_DEVICE_ITERATION(lane, i);
            TAKT_DEVICE_PHASE(lane, GRADIENT);
            TAKT_DEVICE_PHASE_END(lane);
        }
    }
    uint64_t lost = 0, cycles[PHASES * MADE * BLOCKS];
    assert_int_equal(takt_device_timers_read(timers, nullptr), TAKT_OK);
    assert_int_equal(takt_device_timers_copy(timers, 2, MADE, cycles), TAKT_INCOMPLETE);
    assert_int_equal(takt_device_timers_copy_all(timers, BLOCKS, MADE, cycles, &lost),
                     TAKT_INCOMPLETE);
    assert_int_equal(lost, BLOCKS * (MADE - ROOM));
    takt_device_timers_destroy(timers);
}

TEST(a_solvers_phases_are_right_to_the_tick)
{
    std::vector<Island> all = make_islands();
    std::vector<Result> results(islands);
    takt_device_timers *timers = timers_with(islands, 4 * iterations + 2);
    uint32_t idle = 0;
    solve_on_host(takt_device_timers_view(timers), all, results);
    assert_true(are_right(all, results));
    assert_int_equal(takt_device_timers_read(timers, nullptr), TAKT_OK);
    for (uint32_t i = 0; i < islands; i++) {
        expect_island(timers, i, results[i]);
        idle += results[i].iterations == 0; /* these return early */
    }
    assert_int_equal(idle, islands / 4);
    takt_device_timers_destroy(timers);
}

TEST(two_phases_share_a_reading_of_the_clock)
{
    takt_device_timers *timers = timers_with(4, 8);
    takt_device_view view = takt_device_timers_view(timers);
    TAKT_DEVICE_PHASE(view, GRADIENT); /* one more for the segment's head */
    test_readings = 0;
    test_ticks += 5;
    TAKT_DEVICE_PHASE(view, HESSIAN);
    assert_int_equal(test_readings, 1);
    test_ticks += 7;
    TAKT_DEVICE_PHASE_END(view);
    TAKT_DEVICE_PHASE_END(view); /* nothing is open */
    assert_int_equal(test_readings, 2);
    takt_device_timers_read(timers, nullptr);
    const Cycles cycles(timers, 0);
    assert_int_equal(cycles.at[GRADIENT][0], 5);
    assert_int_equal(cycles.at[HESSIAN][0], 7);
    takt_device_timers_destroy(timers);
}

/* An inner scope's phases end with it, and the outer one's go on. */
TEST(scopes_and_phases_nest)
{
    takt_device_timers *timers = timers_with(4, 8);
    takt_device_view view = takt_device_timers_view(timers);
    {
        TAKT_DEVICE_SCOPE(view, SOLVE);
        TAKT_DEVICE_PHASE(view, GRADIENT);
        test_ticks += 1;
        {
            TAKT_DEVICE_SCOPE(view, LAST_STEP);
            test_ticks += 10;
            TAKT_DEVICE_PHASE(view, HESSIAN);
            test_ticks += 100;
        }
        test_ticks += 1000;
    }
    takt_device_timers_read(timers, nullptr);
    const Cycles cycles(timers, 0);
    assert_int_equal(cycles.at[HESSIAN][0], 100);
    assert_int_equal(cycles.at[LAST_STEP][0], 110);
    assert_int_equal(cycles.at[GRADIENT][0], 1111);
    assert_int_equal(cycles.at[SOLVE][0], 1111);
    takt_device_timers_destroy(timers);
}

TEST(long_phases_and_high_iterations_are_at_their_limits)
{
    takt_device_timers *timers = timers_with(4, 8);
    takt_device_view view = takt_device_timers_view(timers);
    TAKT_DEVICE_ITERATION(view, 1000000);
    TAKT_DEVICE_PHASE(view, SOLVE);
    test_ticks += (UINT64_C(1) << 38) + 3;
    TAKT_DEVICE_ITERATION(view, 1);
    TAKT_DEVICE_PHASE(view, GRADIENT);
    test_ticks += UINT64_C(1) << 47;
    TAKT_DEVICE_PHASE_END(view);
    takt_device_timers_read(timers, nullptr);
    std::vector<uint64_t> cycles(PHASES * 65536);
    assert_int_equal(takt_device_timers_copy(timers, 0, 65536, cycles.data()), TAKT_OK);
    assert_int_equal(cycles[SOLVE * 65536 + 65535], (UINT64_C(1) << 38) + 3);
    assert_int_equal(cycles[GRADIENT * 65536 + 1], UINT64_C(1) << 47);
    takt_device_timers_destroy(timers);
}

/* Records have 48 bits for cycles, wherever the clock begins. */
TEST(cycles_are_exact_up_to_their_limit)
{
    const uint64_t limit = UINT64_C(1) << 48;
    for (uint64_t start : {UINT64_C(0), UINT64_C(0xffffffff), UINT64_C(0xffffffffff), limit - 1,
                           (UINT64_C(1) << 56) - 1, UINT64_MAX, UINT64_C(0x123456789abcdef0)})
        for (uint64_t cycles :
             {UINT64_C(0), UINT64_C(1), UINT64_C(0xffffffff), UINT64_C(0x100000000),
              UINT64_C(0xffffffffff), UINT64_C(0x10000000000), limit - 1, limit + 7}) {
            takt_device_timers *timers = timers_with(1, 1);
            takt_device_view view = takt_device_timers_view(timers);
            TAKT_DEVICE_ITERATION(view, 15);
            test_ticks = start;
            TAKT_DEVICE_PHASE(view, LAST_STEP);
            test_ticks += cycles;
            TAKT_DEVICE_PHASE_END(view);
            takt_device_timers_read(timers, nullptr);
            assert_int_equal(Cycles(timers, 0).at[LAST_STEP][15], cycles % limit);
            takt_device_timers_destroy(timers);
        }
}

/* ---- Views that record nothing --------------------------------------------------------------- */

static void solve_one(takt_device_view view, uint32_t block)
{
    takt_device_view timers = takt_device_for_block(view, block);
    TAKT_DEVICE_SCOPE(timers, SOLVE);
    test_ticks += block + 1;
}

TEST(views_are_off_without_timers_and_when_switched_off)
{
    test_readings = 0;
    solve_one(takt_device_timers_view(nullptr), 0);
    solve_one(takt_device_view(), 0);
    takt_device_timers *timers = timers_with(4, 8);
    takt_device_timers_enable(timers, false);
    solve_one(takt_device_timers_view(timers), 0);
    assert_int_equal(test_readings, 0);
    takt_device_timers_read(timers, nullptr);
    assert_int_equal(Cycles(timers, 0).status, TAKT_NOT_READY);
    takt_device_timers_enable(timers, true);
    solve_one(takt_device_timers_view(timers), 0);
    takt_device_timers_read(timers, nullptr);
    assert_int_equal(Cycles(timers, 0).at[SOLVE][0], 1);
    takt_device_timers_destroy(timers);
}

TEST(without_always_timers_need_a_recording)
{
    takt_device_timers *timers = nullptr;
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    options.on_host = true;
    assert_int_equal(takt_device_timers_create(phase_names, PHASES, &options, &timers), TAKT_OK);
    assert_null(takt_device_timers_view(timers).pool);
    takt::Profiler profiler(quiet());
    profiler.start();
    assert_non_null(takt_device_timers_view(timers).pool);
    profiler.stop();
    assert_null(takt_device_timers_view(timers).pool);
    takt_device_timers_destroy(timers);
}

TEST(only_every_third_block_records)
{
    takt_device_timers *timers = timers_with(4, 8, 3);
    takt_device_view view = takt_device_timers_view(timers);
    for (uint32_t block = 0; block < 7; block++)
        solve_one(view, block);
    takt_device_timers_read(timers, nullptr);
    for (uint32_t block = 0; block < 7; block++)
        assert_int_equal(Cycles(timers, block).at[SOLVE][0], block % 3 == 0 ? block + 1 : 0);
    takt_device_timers_destroy(timers);
}

/* In a launch of three blocks of 70 threads; the last warp of a block has 6. */
TEST(blocks_warps_or_threads_are_lanes)
{
    const uint32_t size = 70;
    const struct {
        takt_device_lanes lanes;
        uint32_t per_lane, count;
    } cases[] = {{TAKT_DEVICE_BLOCKS, size, 3},
                 {TAKT_DEVICE_WARPS, 32, 9},
                 {TAKT_DEVICE_THREADS, 1, 3 * size}};
    for (const auto &of : cases)
        for (uint32_t every : {0u, 1u, 5u}) {
            uint32_t lanes = 0;
            for (uint32_t i = 0; i < 3 * size; i++) {
                takt_device_view view = takt_device_view();
                view.lanes = of.lanes;
                view.every = every;
                view.block = i / size;
                bool is_first = i % size % of.per_lane == 0;
                bool is_chosen = is_first && lanes % (every ? every : 1) == 0;
                assert_int_equal(takt_device_choose(view, i % size, size), is_chosen);
                assert_int_equal(view.lane, i % size / of.per_lane);
                lanes += is_first;
            }
            assert_int_equal(lanes, of.count);
        }
}

TEST(wrong_arguments_are_refused)
{
    takt_device_timers *timers = nullptr;
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    uint64_t cycles[PHASES];
    options.on_host = true;
    assert_int_equal(takt_device_timers_create(nullptr, 1, &options, &timers), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_device_timers_create(phase_names, 0, &options, &timers),
                     TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_device_timers_create(phase_names, 255, &options, &timers),
                     TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_device_timers_create(phase_names, 1, &options, nullptr),
                     TAKT_BAD_ARGUMENT);
    const char *const holes[] = {"a", nullptr};
    assert_int_equal(takt_device_timers_create(holes, 2, &options, &timers), TAKT_BAD_ARGUMENT);
    for (double rate : {-1.0, 1e10, (double)NAN, (double)INFINITY}) {
        options.ns_per_cycle = rate;
        assert_int_equal(takt_device_timers_create(phase_names, 1, &options, &timers),
                         TAKT_BAD_ARGUMENT);
    }
    options.ns_per_cycle = 0;
    options.blocks = options.records = UINT32_MAX;
    assert_int_equal(takt_device_timers_create(phase_names, 1, &options, &timers),
                     TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_device_timers_read(nullptr, nullptr), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_device_timers_copy(nullptr, 0, 1, cycles), TAKT_BAD_ARGUMENT);
    assert_null(timers);
    takt_device_timers_destroy(nullptr);
}

/* ---- Losses ---------------------------------------------------------------------------------- */

struct Losses {
    uint64_t blocks, phases, numbers;
    std::string report;

    bool tells(const char *text) const { return report.find(text) != std::string::npos; }
};

static takt_status append(void *user, const void *data, size_t size)
{
    static_cast<std::string *>(user)->append(static_cast<const char *>(data), size);
    return TAKT_OK;
}

static std::string report_of(const takt_trace *trace)
{
    std::string text;
    takt_report_options options = TAKT_REPORT_OPTIONS_INIT;
    const takt_sink sink = {append, &text};
    assert_int_equal(takt_report(trace, "phases", &options, &sink), TAKT_OK);
    return text;
}

/* Records what `work` does, with a read at its end. */
template <typename Work> static Losses losses_of(takt_device_timers *timers, Work work)
{
    takt::Profiler profiler(quiet());
    profiler.start();
    work();
    assert_int_equal(takt_device_timers_read(timers, nullptr), TAKT_OK);
    profiler.stop();
    const takt_trace *trace = takt_profiler_trace(profiler.get());
    return {takt_trace_loss(trace, TAKT_LOSS_PHASE_BLOCKS),
            takt_trace_loss(trace, TAKT_LOSS_PHASES),
            takt_trace_loss(trace, TAKT_LOSS_PHASE_NUMBER), report_of(trace)};
}

TEST(blocks_and_phases_without_room_are_counted)
{
    takt_device_timers *timers = timers_with(3, 2);
    Losses lost = losses_of(timers, [&] {
        takt_device_view view = takt_device_timers_view(timers);
        for (uint32_t block = 0; block < 5; block++) {
            takt_device_view timers_of_block = takt_device_for_block(view, block);
            for (uint32_t i = 0; i < 10 * block; i++)
                TAKT_DEVICE_PHASE(timers_of_block, i % PHASES);
        }
    });
    /* Block 0 never records; blocks 1 to 3 end 9, 19 and 29 phases. */
    assert_int_equal(lost.blocks, 1);
    assert_int_equal(lost.phases, 7 + 17 + 27);
    assert_int_equal(lost.numbers, 0);
    assert_true(lost.tells("1 blocks had no room"));
    assert_true(lost.tells("51 records had no room"));
    lost = losses_of(timers, [&] { solve_one(takt_device_timers_view(timers), 0); });
    assert_int_equal(lost.blocks + lost.phases, 0); /* the read has emptied the memory */
    takt_device_timers_destroy(timers);
}

TEST(destroying_reads_what_is_left)
{
    takt::Profiler profiler(quiet());
    profiler.start();
    takt_device_timers *timers = timers_with(4, 2);
    for (uint32_t block = 0; block < 3; block++)
        solve_one(takt_device_timers_view(timers), block);
    takt_device_timers_destroy(timers);
    profiler.stop();
    const takt_trace *trace = takt_profiler_trace(profiler.get());
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_PHASE_BLOCKS), 0);
    assert_true(report_of(trace).find("solve  phases  100.00%  100.00%      3") !=
                std::string::npos);
}

TEST(numbers_out_of_range_are_counted)
{
    takt_device_timers *timers = timers_with(3, 16);
    const uint32_t numbers[] = {PHASES, 200, 253, 254, 255, 256, 257, 65536, UINT32_MAX};
    Losses lost = losses_of(timers, [&] {
        takt_device_view view = takt_device_timers_view(timers);
        for (uint32_t number : numbers)
            TAKT_DEVICE_PHASE(view, number);
        TAKT_DEVICE_PHASE(view, SOLVE);
        test_ticks += 3;
        TAKT_DEVICE_PHASE_END(view);
    });
    assert_int_equal(lost.numbers, 9);
    assert_true(lost.tells("9 records have a phase number out of range"));
    assert_false(lost.tells("had no room"));
    assert_int_equal(lost.blocks + lost.phases, 0);
    assert_int_equal(Cycles(timers, 0).at[SOLVE][0], 3);
    takt_device_timers_destroy(timers);
}

/* ---- Several launches of one view ------------------------------------------------------------ */

/* As a graph launches a kernel: always with the same view. */
TEST(a_view_serves_many_launches)
{
    takt_device_timers *timers = timers_with(100, 2);
    takt_device_view view = takt_device_timers_view(timers);
    for (uint64_t i = 0; i < 50; i++) {
        test_ticks += i;
        solve_one(view, 0);
        solve_one(view, 1);
    }
    takt_device_timers_read(timers, nullptr);
    assert_int_equal(Cycles(timers, 0).at[SOLVE][0], 1);
    assert_int_equal(Cycles(timers, 1).at[SOLVE][0], 2);
    takt_device_timers_destroy(timers);
}

/* As on two streams: blocks of both launches take segments at once. */
TEST(launches_at_once_have_segments_of_their_own)
{
    const uint32_t blocks = 500;
    takt_device_timers *timers = timers_with(2 * blocks, 2);
    Losses lost = losses_of(timers, [&] {
        takt_device_view view = takt_device_timers_view(timers);
        auto launch = [&](uint32_t first) {
            for (uint32_t block = 0; block < blocks; block++)
                solve_one(view, first + block);
        };
        std::thread other(launch, blocks);
        launch(0);
        other.join();
    });
    assert_int_equal(lost.blocks + lost.phases + lost.numbers, 0);
    for (uint32_t block = 0; block < 2 * blocks; block++)
        assert_int_equal(Cycles(timers, block).at[SOLVE][0], block + 1);
    takt_device_timers_destroy(timers);
}

/* Windows, reads and destroyed timers may come in any order. */
TEST(records_outlive_their_timers)
{
    takt_device_timers *timers = timers_with(4, 2);
    takt::Profiler profiler(quiet());
    profiler.start();
    solve_one(takt_device_timers_view(timers), 7);
    takt_device_timers_read(timers, nullptr);
    takt_device_timers_destroy(timers);
    profiler.stop();
    assert_int_equal(takt_trace_loss(takt_profiler_trace(profiler.get()), TAKT_LOSS_PHASE_BLOCKS),
                     0);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_blocks_are_copied_at_once),
        cmocka_unit_test(phases_without_room_are_told),
        cmocka_unit_test(a_solvers_phases_are_right_to_the_tick),
        cmocka_unit_test(two_phases_share_a_reading_of_the_clock),
        cmocka_unit_test(scopes_and_phases_nest),
        cmocka_unit_test(long_phases_and_high_iterations_are_at_their_limits),
        cmocka_unit_test(cycles_are_exact_up_to_their_limit),
        cmocka_unit_test(views_are_off_without_timers_and_when_switched_off),
        cmocka_unit_test(without_always_timers_need_a_recording),
        cmocka_unit_test(only_every_third_block_records),
        cmocka_unit_test(blocks_warps_or_threads_are_lanes),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(blocks_and_phases_without_room_are_counted),
        cmocka_unit_test(destroying_reads_what_is_left),
        cmocka_unit_test(numbers_out_of_range_are_counted),
        cmocka_unit_test(a_view_serves_many_launches),
        cmocka_unit_test(launches_at_once_have_segments_of_their_own),
        cmocka_unit_test(records_outlive_their_timers),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
