/* For the tests of the simulator: a sink that keeps everything, and kernels to launch. */
#ifndef SIM_RECORDER_H
#define SIM_RECORDER_H

#include "simgpu/cudart.h"
#include "simgpu/sim.h"

#include <pthread.h>
#include <string.h>
#include "support/test.h"

#define KEPT 16384

static struct {
    pthread_mutex_t lock;
    sim_record   records[KEPT];
    size_t       record_count;
    sim_call     entered[KEPT];
    size_t       entered_count;
    sim_call     left[KEPT];
    size_t       left_count;
    sim_resource resources[KEPT];
    size_t       resource_count;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep_record(const sim_record *record)
{
    pthread_mutex_lock(&kept.lock);
    if (kept.record_count < KEPT)
        kept.records[kept.record_count++] = *record;
    pthread_mutex_unlock(&kept.lock);
}

static void keep_enter(sim_call *call)
{
    pthread_mutex_lock(&kept.lock);
    if (kept.entered_count < KEPT)
        kept.entered[kept.entered_count++] = *call;
    pthread_mutex_unlock(&kept.lock);
}

static void keep_exit(sim_call *call)
{
    pthread_mutex_lock(&kept.lock);
    if (kept.left_count < KEPT)
        kept.left[kept.left_count++] = *call;
    pthread_mutex_unlock(&kept.lock);
}

static void keep_resource(const sim_resource *resource)
{
    pthread_mutex_lock(&kept.lock);
    if (kept.resource_count < KEPT)
        kept.resources[kept.resource_count++] = *resource;
    pthread_mutex_unlock(&kept.lock);
}

/* Begins a test: this script, nothing kept, and time passes. */
static inline void record_with(const char *script)
{
    static const sim_sink sink = {keep_enter, keep_exit, keep_record, keep_resource};
    sim_hold(false);
    sim_script(script);
    sim_set_sink(&sink);
    kept.record_count = kept.entered_count = kept.left_count = kept.resource_count = 0;
}

/* The same, but time stands still for devices, so that work is still queued when the next work is
 * launched, however slow the host is. */
static inline void record_held(const char *script)
{
    record_with(script);
    sim_hold(true);
}

/* The n-th record of a kind, from 0. */
static inline const sim_record *record_of(sim_kind kind, size_t n)
{
    for (size_t i = 0; i < kept.record_count; i++) {
        if (kept.records[i].kind == kind && n-- == 0)
            return &kept.records[i];
    }
    fail_msg("record %zu of kind %d is missing", n, (int)kind);
    return NULL;
}

static inline size_t records_of(sim_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < kept.record_count; i++)
        count += kept.records[i].kind == kind;
    return count;
}

static inline uint64_t duration_of(const sim_record *record)
{
    return record->end_ns - record->begin_ns;
}

static inline const sim_resource *resource_of(sim_resource_kind kind, size_t n)
{
    for (size_t i = 0; i < kept.resource_count; i++) {
        if (kept.resources[i].kind == kind && n-- == 0)
            return &kept.resources[i];
    }
    fail_msg("resource %zu of kind %d is missing", n, (int)kind);
    return NULL;
}

static const char kernel_a, kernel_b;

static inline void register_kernels(void)
{
    sim_register_kernel(&kernel_a, "_Z7advancePfi");
    sim_register_kernel(&kernel_b, "_Z6reducePKfPf");
}

static inline cudaError_t launch(const void *kernel, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, (dim3){4, 2, 1}, (dim3){64, 1, 1}, NULL, 0, stream);
}

#define assert_ok(call) assert_int_equal(call, cudaSuccess)

#endif
