/* Occupancy, worked out by hand; test/compile/occupancy.c compares with the toolkit's. */
#include "cuda/kernel.h"

#include "support/test.h"

static tkt_device device_of(uint32_t major, uint32_t minor, uint32_t threads, uint32_t blocks,
                            uint32_t shared_kib, uint32_t reserved)
{
    return (tkt_device){
        .major = major,
        .minor = minor,
        .warp_size = 32,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = threads,
        .max_blocks_per_multiprocessor = blocks,
        .registers_per_multiprocessor = 65536,
        .shared_per_multiprocessor = shared_kib * 1024,
        .reserved_shared_per_block = reserved,
    };
}

static void assert_occupancy(const tkt_device *device, tkt_shape shape, uint32_t occupancy,
                             takt_occupancy_limit limiter)
{
    tkt_occupancy_fill(&shape, device);
    assert_int_equal(shape.occupancy, occupancy);
    assert_int_equal(shape.limiter, limiter);
}

TEST(each_supply_limits)
{
    const tkt_device volta = device_of(7, 0, 2048, 32, 96, 0);
    const tkt_device turing = device_of(7, 5, 1024, 16, 64, 0);
    const tkt_device a100 = device_of(8, 0, 2048, 32, 164, 1024);
    const tkt_device ampere = device_of(8, 6, 1536, 16, 100, 1024);
    const tkt_device hopper = device_of(9, 0, 2048, 32, 228, 1024);
    /* 64 registers times 32 is 2048: 8 warps in a quarter's 16384, 32 in all, 4 blocks of 8. */
    assert_occupancy(&hopper, (tkt_shape){.block = {256, 1, 1}, .registers = 64}, 5000,
                     TAKT_LIMIT_REGISTERS);
    /* All 64 warps by 8 blocks; 32 registers would allow just as many. */
    assert_occupancy(&hopper, (tkt_shape){.block = {16, 16, 1}, .registers = 32}, 10000,
                     TAKT_LIMIT_WARPS);
    /* One block of 32 warps of the 48. */
    assert_occupancy(&ampere, (tkt_shape){.block = {1024, 1, 1}, .registers = 32}, 6666,
                     TAKT_LIMIT_WARPS);
    /* 49152 and 1024 bytes: 3 times in 167936; 3 times 8 of 64 warps. */
    assert_occupancy(&a100,
                     (tkt_shape){.block = {256, 1, 1},
                                 .registers = 16,
                                 .static_shared_bytes = 32768,
                                 .dynamic_shared_bytes = 16384},
                     3750, TAKT_LIMIT_SHARED_MEMORY);
    /* 16 blocks of one warp, of 32. */
    assert_occupancy(&turing, (tkt_shape){.block = {20, 1, 1}, .registers = 16}, 5000,
                     TAKT_LIMIT_BLOCKS);
    /* 1 byte takes 256 on Volta: 384 blocks would fit, 32 may. */
    assert_occupancy(&volta,
                     (tkt_shape){.block = {32, 1, 1}, .registers = 1, .static_shared_bytes = 1},
                     5000, TAKT_LIMIT_BLOCKS);
    /* 12289 take 12544: 7 fit in 98304, where 12288 would have fitted 8 times. */
    assert_occupancy(&volta, (tkt_shape){.block = {256, 1, 1}, .dynamic_shared_bytes = 12289}, 8750,
                     TAKT_LIMIT_SHARED_MEMORY);
}

TEST(what_is_not_known_is_nothing)
{
    const tkt_device unknown = {.major = 9};
    const tkt_device pascal = device_of(6, 1, 2048, 32, 96, 0);
    const tkt_device future = device_of(13, 0, 2048, 32, 228, 1024);
    const tkt_device hopper = device_of(9, 0, 2048, 32, 228, 1024);
    const tkt_shape shape = {.block = {256, 1, 1}, .registers = 64};
    assert_occupancy(&unknown, shape, 0, TAKT_LIMIT_UNKNOWN);
    assert_occupancy(&pascal, shape, 0, TAKT_LIMIT_UNKNOWN);
    assert_occupancy(&future, shape, 0, TAKT_LIMIT_UNKNOWN);
    assert_occupancy(&hopper, (tkt_shape){.registers = 64}, 0, TAKT_LIMIT_UNKNOWN);
}

/* Such kernels cannot have run: the device's numbers are wrong, or the record's. */
TEST(what_cannot_run_has_no_occupancy)
{
    const tkt_device hopper = device_of(9, 0, 2048, 32, 228, 1024);
    tkt_device odd = hopper;
    odd.max_threads_per_multiprocessor = 16;
    assert_occupancy(&odd, (tkt_shape){.block = {8, 1, 1}}, 0, TAKT_LIMIT_UNKNOWN);
    assert_occupancy(&hopper, (tkt_shape){.block = {1025, 1, 1}}, 0, TAKT_LIMIT_UNKNOWN);
    assert_occupancy(&hopper, (tkt_shape){.block = {UINT32_MAX, UINT32_MAX, 2}}, 0,
                     TAKT_LIMIT_UNKNOWN);
    assert_occupancy(&hopper, (tkt_shape){.block = {1024, 1, 1}, .registers = 255}, 0,
                     TAKT_LIMIT_UNKNOWN);
    assert_occupancy(&hopper,
                     (tkt_shape){.block = {32, 1, 1},
                                 .static_shared_bytes = UINT32_MAX,
                                 .dynamic_shared_bytes = UINT32_MAX},
                     0, TAKT_LIMIT_UNKNOWN);
}

TEST_MAIN(NULL, NULL)
