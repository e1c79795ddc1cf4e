/* Memory of the simulated devices: copies copy, sets set, pools reserve, and all of it is told. */
#include "recorder.h"

#include "simgpu/machine.h"
#include "support/test.h"

#include <stdlib.h>

#define MIB (1024.0 * 1024)

TEST(copies_and_sets_move_bytes)
{
    record_with("");
    char text[16] = "hello devices";
    char back[16] = "";
    char *one;
    char *other;
    assert_ok(cudaMalloc((void **)&one, 16));
    assert_ok(cudaMalloc((void **)&other, 16));
    assert_ok(cudaMemcpy(one, text, 16, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpyAsync(other, one, 16, cudaMemcpyDeviceToDevice, NULL));
    assert_ok(cudaMemset(other, 'J', 1));
    assert_ok(cudaMemcpy(back, other, 16, cudaMemcpyDefault));
    assert_string_equal(back, "Jello devices");
    assert_int_equal(record_of(SIM_MEMCPY, 0)->copy_kind, 1);
    assert_int_equal(record_of(SIM_MEMCPY, 0)->source_kind, 1); /* pageable */
    assert_false(record_of(SIM_MEMCPY, 0)->is_async);
    assert_int_equal(record_of(SIM_MEMCPY, 1)->copy_kind, 8);
    assert_int_equal(record_of(SIM_MEMCPY, 2)->copy_kind, 2);
    assert_int_equal(record_of(SIM_MEMSET, 0)->value, 'J');
    assert_int_equal(record_of(SIM_MEMSET, 0)->bytes, 1);
    assert_true(sim_time_ns() >= record_of(SIM_MEMCPY, 2)->end_ns); /* it waited */
    assert_int_equal(cudaMemcpy(one, text, 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(one, text, 16, (enum cudaMemcpyKind)9),
                     cudaErrorInvalidMemcpyDirection);
    assert_ok(cudaFree(one));
    assert_ok(cudaFree(other));
    cudaGetLastError();
}

TEST(rows_are_copied_by_pitch)
{
    record_with("");
    char rows[] = "abc..def..";
    char packed[7] = "";
    assert_ok(cudaMemcpy2DAsync(packed, 3, rows, 5, 3, 2, cudaMemcpyHostToHost, NULL));
    assert_string_equal(packed, "abcdef");
    assert_int_equal(record_of(SIM_MEMCPY, 0)->bytes, 6);
    assert_int_equal(record_of(SIM_MEMCPY, 0)->copy_kind, 9);
}

TEST(copies_between_devices_name_both)
{
    record_with("memcpy.PtoP=4us");
    char *here;
    char *there;
    assert_ok(cudaMalloc((void **)&here, 16));
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaMalloc((void **)&there, 16));
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaMemcpyPeerAsync(there, 1, here, 0, 16, NULL));
    const sim_record *record = record_of(SIM_MEMCPY, 0);
    assert_int_equal(record->copy_kind, 10);
    assert_int_equal(record->source_device, 0);
    assert_int_equal(record->target_device, 1);
    assert_int_equal(record->device, 0);
    assert_int_equal(duration_of(record), 4000);
    assert_ok(cudaFree(here));
    assert_ok(cudaFree(there));
}

TEST(allocations_are_counted_and_told)
{
    record_with("");
    size_t before;
    size_t after;
    size_t total;
    void *memory;
    void *pinned;
    assert_ok(cudaMemGetInfo(&before, &total));
    assert_int_equal(total, 64ull << 20);
    assert_ok(cudaMalloc(&memory, 5000));
    assert_ok(cudaMallocHost(&pinned, 300)); /* not of the device */
    assert_ok(cudaMemGetInfo(&after, &total));
    assert_int_equal(before - after, 5000);
    const sim_record *record = record_of(SIM_MEMORY, 0);
    assert_int_equal(record->operation, 1);
    assert_int_equal(record->address, (uintptr_t)memory);
    assert_int_equal(record->bytes, 5000);
    assert_int_equal(record->source_kind, SIM_DEVICE);
    assert_int_equal(record->stream, 0xFFFFFFFF);
    assert_int_equal(record_of(SIM_MEMORY, 1)->source_kind, SIM_PINNED);
    assert_ok(cudaFree(memory));
    assert_ok(cudaFreeHost(pinned));
    assert_ok(cudaMemGetInfo(&after, &total));
    assert_int_equal(after, before);
    assert_int_equal(record_of(SIM_MEMORY, 2)->operation, 2);
    assert_int_equal(record_of(SIM_MEMORY, 2)->bytes, 5000);
    assert_int_equal(cudaMalloc(&memory, 65u << 20), cudaErrorMemoryAllocation);
    assert_int_equal(cudaFree(memory), cudaErrorInvalidValue); /* a second time */
    assert_ok(cudaFree(NULL));
    cudaGetLastError();
}

TEST(pointers_tell_what_they_are)
{
    record_with("");
    struct cudaPointerAttributes attributes;
    char *memory;
    char own;
    assert_ok(cudaMalloc((void **)&memory, 64));
    assert_ok(cudaPointerGetAttributes(&attributes, memory + 63));
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    assert_ok(cudaPointerGetAttributes(&attributes, &own));
    assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
    assert_ok(cudaHostRegister(&own, 1, 0));
    assert_ok(cudaPointerGetAttributes(&attributes, &own));
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    assert_ok(cudaHostUnregister(&own));
    assert_ok(cudaFree(memory));
}

static uint64_t pool_fact(cudaMemPool_t pool, enum cudaMemPoolAttr attribute)
{
    unsigned long long value = 0;
    assert_ok(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

TEST(pools_reserve_and_give_back)
{
    record_with("");
    cudaMemPool_t pool;
    char *one;
    char *other;
    assert_ok(cudaDeviceGetDefaultMemPool(&pool, 0));
    assert_ok(cudaMallocAsync((void **)&one, 100, NULL));
    assert_ok(cudaMallocAsync((void **)&other, (size_t)(33 * MIB), NULL));
    assert_int_equal(pool_fact(pool, cudaMemPoolAttrUsedMemCurrent), 100 + 33 * MIB);
    assert_int_equal(pool_fact(pool, cudaMemPoolAttrReservedMemCurrent), 64 * MIB);
    const sim_record *record = record_of(SIM_MEMORY, 1);
    assert_int_equal(record->pool_size, 64 * MIB);
    assert_int_equal(record->pool_used, 100 + 33 * MIB);
    assert_int_equal(record->pool_address, record_of(SIM_MEMORY, 0)->pool_address);
    assert_int_equal(record->stream, 7);
    assert_true(record->is_async);
    assert_int_equal(record_of(SIM_POOL, 0)->operation, 1);

    assert_ok(cudaFreeAsync(other, NULL));
    assert_int_equal(pool_fact(pool, cudaMemPoolAttrReservedMemCurrent), 64 * MIB);
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(pool_fact(pool, cudaMemPoolAttrReservedMemCurrent), 32 * MIB);
    assert_int_equal(record_of(SIM_POOL, 1)->operation, 3);
    assert_int_equal(record_of(SIM_POOL, 1)->pool_size, 32 * MIB);
    unsigned long long threshold = 40ull << 20;
    assert_ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    assert_ok(cudaFreeAsync(one, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(pool_fact(pool, cudaMemPoolAttrReservedMemCurrent), 32 * MIB);
    assert_ok(cudaMemPoolTrimTo(pool, 0));
    assert_int_equal(pool_fact(pool, cudaMemPoolAttrReservedMemCurrent), 0);
    assert_int_equal(pool_fact(pool, cudaMemPoolAttrUsedMemHigh), 100 + 33 * MIB);
    assert_int_equal(cudaFreeAsync(one, NULL), cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST(programs_have_pools_of_their_own)
{
    record_with("");
    struct cudaMemPoolProps properties = {
        .allocType = cudaMemAllocationTypePinned,
        .location = {cudaMemLocationTypeDevice, 0},
    };
    cudaMemPool_t pool;
    void *memory;
    assert_ok(cudaMemPoolCreate(&pool, &properties));
    assert_ok(cudaMallocFromPoolAsync(&memory, 10, pool, NULL));
    assert_int_equal(pool_fact(pool, cudaMemPoolAttrUsedMemCurrent), 10);
    assert_int_equal(cudaMemPoolDestroy(pool), cudaErrorInvalidValue); /* in use */
    assert_ok(cudaFreeAsync(memory, NULL));
    assert_ok(cudaMemPoolDestroy(pool));
    assert_int_equal(record_of(SIM_POOL, 1)->operation, 2);
    cudaGetLastError();
}

TEST(variables_of_the_device_are_copied)
{
    record_with("");
    static char shadow[8];
    char back[8] = "";
    void **handle = __cudaRegisterFatBinary(NULL);
    __cudaRegisterVar(handle, shadow, NULL, "shadow", 0, sizeof shadow, 0, 0);
    assert_ok(cudaMemcpyToSymbol(shadow, "abc", 4, 2, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpyFromSymbol(back, shadow, 6, 2, cudaMemcpyDeviceToHost));
    assert_string_equal(back, "abc");
    assert_int_equal(cudaMemcpyToSymbol(shadow, "abc", 4, 6, cudaMemcpyHostToDevice),
                     cudaErrorInvalidSymbol);
    assert_int_equal(cudaMemcpyToSymbol(back, "abc", 4, 0, cudaMemcpyHostToDevice),
                     cudaErrorInvalidSymbol);
    cudaGetLastError();
}

int main(void)
{
    setenv("TAKT_SIM", "devices=2; device.memory=64MiB", 1);
    register_kernels();
    return run_all_tests(NULL, NULL);
}
