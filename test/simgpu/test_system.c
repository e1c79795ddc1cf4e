/* takt/system.h on the stand-ins: what a program that asks is told, and that asking leaves nothing
 * behind. */
#include "simgpu/stand_in.h"
#include "support/test.h"

#include <takt/system.h>

#include <string.h>

/* Whoever stays subscribed to CUPTI keeps everyone else out. */
TEST(asking_twice_finds_the_same)
{
    int version = 0;
    assert_int_equal(cuDriverGetVersion(&version), 0);
    takt_cuda_info first = takt_cuda();
    takt_cuda_info second = takt_cuda();
    assert_string_equal(first.problem, "");
    assert_true(first.has_cupti);
    assert_int_equal(first.driver_version, version);
    assert_int_equal(version, 13000);
    assert_int_equal(first.cupti_version, 130001);
    assert_string_equal(first.cupti_name, "CUPTI 13.0 (130001)");
    assert_non_null(strstr(first.driver_path, "libcuda.so.1"));
    assert_memory_equal(&first, &second, sizeof first);
}

TEST(the_search_ends_where_it_was_taken)
{
    takt_cuda_place place;
    uint32_t count = 0;
    takt_cuda_info info = takt_cuda();
    assert_true(info.has_cupti);
    while (takt_cuda_searched(count, &place) == TAKT_OK)
        count++;
    assert_true(count > 0);
    assert_int_equal(takt_cuda_searched(count - 1, &place), TAKT_OK);
    assert_non_null(strstr(place.finding, "taken"));
    assert_int_equal(takt_cuda_searched(count, &place), TAKT_NOT_FOUND);
    assert_int_equal(takt_cuda_searched(0, NULL), TAKT_BAD_ARGUMENT);
}

TEST(devices_are_told_up_to_the_last)
{
    takt_cuda_device_info device;
    uint32_t count = takt_cuda().device_count;
    assert_int_equal(count, 1);
    assert_int_equal(takt_cuda_device(0, &device), TAKT_OK);
    assert_string_equal(device.name, "Takt simulated GPU 0");
    assert_int_equal(device.memory_bytes, UINT64_C(24) << 30);
    assert_int_equal(takt_cuda_device(count, &device), TAKT_NOT_FOUND);
    assert_int_equal(takt_cuda_device(UINT32_MAX, &device), TAKT_NOT_FOUND);
    assert_int_equal(takt_cuda_device(0, NULL), TAKT_BAD_ARGUMENT);
}

TEST(the_clock_is_named)
{
    takt_system_info system = takt_system();
    assert_true(system.clock_resolution_ns > 0.0 && system.clock_resolution_ns < 1000.0);
    assert_true(system.clock[0] != '\0');
}

int main(void)
{
    use_stand_in("devices=1");
    return run_all_tests(NULL, NULL);
}
