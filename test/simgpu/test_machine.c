/* Time on the simulated devices: what runs when, beside what, and who has to wait for it. Durations
 * are scripted and compared to the nanosecond. Where earlier work must still be queued, the test
 * holds the devices' time. */
#include "recorder.h"

#include "simgpu/driver.h"
#include "support/test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(durations_are_used_in_turn_and_by_device)
{
    record_with("devices=2; kernel.advance=3us,5us; kernel.advance@1=700; kernel=11us");
    for (int i = 0; i < 3; i++)
        assert_ok(launch(&kernel_a, NULL));
    assert_ok(launch(&kernel_b, NULL));
    assert_ok(cudaSetDevice(1));
    assert_ok(launch(&kernel_a, NULL));
    assert_ok(launch(&kernel_b, NULL));
    assert_ok(cudaSetDevice(0));

    static const uint64_t durations[] = {3000, 5000, 3000, 11000, 700, 11000};
    static const uint32_t devices[] = {0, 0, 0, 0, 1, 1};
    assert_int_equal(records_of(SIM_KERNEL), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(duration_of(record_of(SIM_KERNEL, i)), durations[i]);
        assert_int_equal(record_of(SIM_KERNEL, i)->device, devices[i]);
    }
}

TEST(a_record_tells_the_launch)
{
    record_with("registers.advance=48; shared.advance=2KiB; local.advance=64");
    assert_ok(cudaLaunchKernel(&kernel_a, (dim3){7, 5, 3}, (dim3){32, 4, 2}, NULL, 512, NULL));
    const sim_record *record = record_of(SIM_KERNEL, 0);
    assert_string_equal(record->name, "_Z7advancePfi");
    assert_memory_equal(record->grid, ((uint32_t[]){7, 5, 3}), 12);
    assert_memory_equal(record->block, ((uint32_t[]){32, 4, 2}), 12);
    assert_int_equal(record->dynamic_shared_bytes, 512);
    assert_int_equal(record->static_shared_bytes, 2048);
    assert_int_equal(record->local_bytes, 64);
    assert_int_equal(record->registers, 48);
    assert_int_equal(record->stream, 7);
    assert_int_equal(record->device, 0);
    assert_true(record->context >= 1);
}

TEST(work_of_a_stream_runs_one_after_the_other)
{
    record_held("kernel=20ms; memset=40us");
    cudaStream_t stream;
    void *memory;
    assert_ok(cudaMalloc(&memory, 64));
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(launch(&kernel_a, stream));
    assert_ok(cudaMemsetAsync(memory, 1, 64, stream));
    const sim_record *kernel = record_of(SIM_KERNEL, 0);
    assert_int_equal(record_of(SIM_MEMSET, 0)->begin_ns, kernel->end_ns);
    assert_int_equal(duration_of(record_of(SIM_MEMSET, 0)), 40000);
    assert_true(kernel->stream > 7);
    assert_int_equal(record_of(SIM_MEMSET, 0)->stream, kernel->stream);
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaFree(memory));
}

TEST(nothing_begins_before_it_was_launched)
{
    record_with("latency=5us");
    assert_ok(cudaDeviceSynchronize());
    uint64_t before_ns = sim_time_ns();
    assert_ok(launch(&kernel_a, NULL));
    uint64_t after_ns = sim_time_ns();
    assert_in_range(record_of(SIM_KERNEL, 0)->begin_ns, before_ns + 5000, after_ns + 5000);
}

TEST(streams_run_beside_each_other)
{
    record_held("kernel=20ms");
    cudaStream_t streams[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(cudaStreamCreate(&streams[i]));
        assert_ok(launch(&kernel_a, streams[i]));
    }
    assert_true(record_of(SIM_KERNEL, 1)->begin_ns < record_of(SIM_KERNEL, 0)->end_ns);
    assert_int_equal(record_of(SIM_KERNEL, 1)->stream, record_of(SIM_KERNEL, 0)->stream + 1);
    for (int i = 0; i < 2; i++)
        assert_ok(cudaStreamDestroy(streams[i]));
}

TEST(each_direction_has_one_copy_engine)
{
    record_held("memcpy.HtoD=20ms; memcpy.DtoH=30ms; kernel=40ms");
    cudaStream_t streams[4];
    void *memory;
    char *host;
    assert_ok(cudaMalloc(&memory, 64));
    assert_ok(cudaMallocHost((void **)&host, 64));
    for (int i = 0; i < 4; i++)
        assert_ok(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    assert_ok(launch(&kernel_a, streams[0]));
    assert_ok(cudaMemcpyAsync(memory, host, 16, cudaMemcpyHostToDevice, streams[1]));
    assert_ok(cudaMemcpyAsync(memory, host, 16, cudaMemcpyHostToDevice, streams[2]));
    assert_ok(cudaMemcpyAsync(host, memory, 16, cudaMemcpyDeviceToHost, streams[3]));
    const sim_record *kernel = record_of(SIM_KERNEL, 0);
    const sim_record *in = record_of(SIM_MEMCPY, 0);
    const sim_record *second = record_of(SIM_MEMCPY, 1);
    const sim_record *out = record_of(SIM_MEMCPY, 2);
    assert_true(in->begin_ns < kernel->end_ns);
    assert_int_equal(second->begin_ns, in->end_ns);
    assert_true(out->begin_ns < in->end_ns);
    assert_int_equal(in->copy_kind, 1);
    assert_int_equal(in->source_kind, 2);
    assert_int_equal(in->target_kind, 3);
    assert_int_equal(in->bytes, 16);
    assert_true(in->is_async);
    assert_int_equal(out->copy_kind, 2);
    assert_int_equal(duration_of(out), 30000000);
    for (int i = 0; i < 4; i++)
        assert_ok(cudaStreamDestroy(streams[i]));
    assert_ok(cudaFree(memory));
    assert_ok(cudaFreeHost(host));
}

TEST(the_legacy_stream_waits_for_blocking_streams_and_they_for_it)
{
    record_held("kernel=20ms");
    cudaStream_t blocking;
    cudaStream_t free_running;
    assert_ok(cudaStreamCreate(&blocking));
    assert_ok(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
    assert_ok(launch(&kernel_a, blocking));
    assert_ok(launch(&kernel_a, NULL));
    assert_ok(launch(&kernel_a, blocking));
    assert_ok(launch(&kernel_a, free_running));
    assert_int_equal(record_of(SIM_KERNEL, 1)->begin_ns, record_of(SIM_KERNEL, 0)->end_ns);
    assert_int_equal(record_of(SIM_KERNEL, 2)->begin_ns, record_of(SIM_KERNEL, 1)->end_ns);
    assert_true(record_of(SIM_KERNEL, 3)->begin_ns < record_of(SIM_KERNEL, 0)->end_ns);
    assert_ok(cudaStreamDestroy(blocking));
    assert_ok(cudaStreamDestroy(free_running));
}

TEST(a_thread_has_a_default_stream_of_its_own)
{
    record_with("kernel=1us");
    assert_ok(cudaLaunchKernel_ptsz(&kernel_a, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    assert_ok(launch(&kernel_a, cudaStreamPerThread));
    assert_ok(launch(&kernel_a, cudaStreamLegacy));
    uint32_t own = record_of(SIM_KERNEL, 0)->stream;
    assert_int_not_equal(own, 7);
    assert_int_equal(record_of(SIM_KERNEL, 1)->stream, own);
    assert_int_equal(record_of(SIM_KERNEL, 2)->stream, 7);
    sim_stream_info info;
    assert_true(sim_stream_of(NULL, NULL, true, &info));
    assert_int_equal(info.id, own);
    assert_true(info.is_per_thread);
    assert_true(sim_stream_of(NULL, NULL, false, &info));
    assert_int_equal(info.id, 7);
}

TEST(a_stream_waits_for_an_event)
{
    record_held("kernel=20ms");
    cudaStream_t streams[2];
    cudaEvent_t event;
    assert_ok(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int i = 0; i < 2; i++)
        assert_ok(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    assert_ok(cudaStreamWaitEvent(streams[1], event, 0)); /* never recorded: no wait */
    assert_ok(launch(&kernel_a, streams[0]));
    assert_ok(cudaEventRecord(event, streams[0]));
    assert_ok(launch(&kernel_a, streams[0])); /* behind the event */
    assert_ok(cudaStreamWaitEvent(streams[1], event, 0));
    assert_ok(launch(&kernel_a, streams[1]));
    assert_int_equal(record_of(SIM_KERNEL, 2)->begin_ns, record_of(SIM_KERNEL, 0)->end_ns);
    const sim_record *wait = record_of(SIM_SYNC, 0);
    assert_int_equal(wait->sync_type, 2);
    assert_int_equal(wait->stream, record_of(SIM_KERNEL, 2)->stream);
    assert_int_equal(wait->event, record_of(SIM_CUDA_EVENT, 0)->event);
    assert_ok(cudaEventDestroy(event));
    for (int i = 0; i < 2; i++)
        assert_ok(cudaStreamDestroy(streams[i]));
}

TEST(events_measure_what_is_between_them)
{
    record_held("kernel.advance=20ms,2500us");
    cudaEvent_t events[2];
    float ms = 0;
    assert_ok(cudaEventCreate(&events[0]));
    assert_ok(cudaEventCreate(&events[1]));
    assert_int_equal(cudaEventElapsedTime(&ms, events[0], events[1]),
                     cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    assert_ok(cudaEventQuery(events[0])); /* never recorded */
    assert_ok(launch(&kernel_a, NULL));
    assert_ok(cudaEventRecord(events[0], NULL));
    assert_ok(launch(&kernel_a, NULL));
    assert_ok(cudaEventRecord(events[1], NULL));
    assert_int_equal(cudaEventQuery(events[1]), cudaErrorNotReady);
    assert_int_equal(cudaEventElapsedTime(&ms, events[0], events[1]), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(NULL), cudaErrorNotReady);
    assert_ok(cudaGetLastError()); /* not ready is not an error */
    assert_ok(cudaEventSynchronize(events[1]));
    assert_ok(cudaEventQuery(events[1]));
    assert_ok(cudaStreamQuery(NULL));
    assert_ok(cudaEventElapsedTime(&ms, events[0], events[1]));
    assert_true(ms == 2.5f);
    assert_ok(cudaEventDestroy(events[0]));
    assert_ok(cudaEventDestroy(events[1]));
    assert_int_equal(cudaEventRecord(events[1], NULL), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    assert_ok(cudaGetLastError());
}

TEST(waits_last_until_the_device_is_done)
{
    record_with("kernel=3ms");
    assert_ok(launch(&kernel_a, NULL));
    assert_ok(cudaDeviceSynchronize());
    uint64_t end_ns = record_of(SIM_KERNEL, 0)->end_ns;
    assert_true(sim_time_ns() >= end_ns);
    const sim_record *wait = record_of(SIM_SYNC, 0);
    assert_int_equal(wait->sync_type, 4);
    assert_int_equal(wait->stream, 0xFFFFFFFF);
    assert_true(wait->end_ns >= end_ns);

    assert_ok(launch(&kernel_a, NULL));
    assert_ok(cudaStreamSynchronize(NULL));
    assert_true(sim_time_ns() >= record_of(SIM_KERNEL, 1)->end_ns);
    assert_int_equal(record_of(SIM_SYNC, 1)->sync_type, 3);
    assert_int_equal(record_of(SIM_SYNC, 1)->stream, 7);
}

TEST(a_driver_call_inside_a_runtime_call_has_its_correlation_id)
{
    record_with("");
    assert_ok(cudaDeviceSynchronize());
    kept.entered_count = kept.left_count = 0;
    assert_ok(launch(&kernel_a, NULL));
    assert_ok(launch(&kernel_a, NULL));
    assert_int_equal(kept.entered_count, 4);
    const sim_call *runtime = &kept.entered[0];
    const sim_call *driver = &kept.entered[1];
    assert_int_equal(runtime->domain, SIM_RUNTIME);
    assert_int_equal(runtime->cbid, 211);
    assert_string_equal(runtime->function, "cudaLaunchKernel");
    assert_string_equal(sim_callback_name(SIM_RUNTIME, 211), "cudaLaunchKernel_v7000");
    assert_int_equal(driver->domain, SIM_DRIVER);
    assert_int_equal(driver->cbid, 307);
    assert_string_equal(driver->function, "cuLaunchKernel");
    assert_string_equal(sim_callback_name(SIM_DRIVER, 307), "cuLaunchKernel");
    assert_int_equal(driver->correlation, runtime->correlation);
    assert_string_equal(runtime->kernel, "_Z7advancePfi");
    assert_string_equal(driver->kernel, "_Z7advancePfi");
    assert_int_equal(kept.entered[2].correlation, runtime->correlation + 1);
    assert_int_equal(record_of(SIM_KERNEL, 0)->correlation, runtime->correlation);
    assert_int_equal(record_of(SIM_KERNEL, 0)->thread, runtime->thread);
    assert_int_equal(kept.left[0].cbid, 307); /* the inner one first */
    assert_int_equal(kept.left[1].cbid, 211);
    assert_int_equal(kept.left[1].context_id, record_of(SIM_KERNEL, 0)->context);
    assert_true(kept.left[1].begin_ns <= kept.left[0].begin_ns);
    assert_true(kept.left[1].end_ns >= kept.left[0].end_ns);
}

TEST(nvcc_launches_are_told_of_as_cudaLaunchKernel)
{
    static const struct {
        const char *options;
        uint32_t cbids[2];
    } cases[] = {{"", {211, 307}}, {"launch.nested=1", {505, 211}}};
    cudaKernel_t kernel;
    for (int i = 0; i < 2; i++) {
        record_with(cases[i].options);
        assert_ok(cudaGetKernel(&kernel, &kernel_a));
        kept.entered_count = 0;
        assert_ok(__cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
        assert_int_equal(kept.entered[0].cbid, cases[i].cbids[0]);
        assert_int_equal(kept.entered[1].cbid, cases[i].cbids[1]);
        assert_string_equal(kept.entered[0].kernel, "_Z7advancePfi");
    }
}

TEST(faults_strike_at_the_call_they_name)
{
    record_with("fault=cudaStreamCreate@2=2; fault=cuEventCreate@3+=999");
    cudaStream_t streams[3];
    cudaEvent_t events[4];
    assert_ok(cudaStreamCreate(&streams[0]));
    assert_int_equal(cudaStreamCreate(&streams[1]), cudaErrorMemoryAllocation);
    assert_ok(cudaStreamCreate(&streams[2]));
    for (int i = 0; i < 4; i++)
        assert_int_equal(cudaEventCreate(&events[i]), i < 2 ? cudaSuccess : cudaErrorUnknown);
    assert_int_equal(cudaGetLastError(), cudaErrorUnknown);
    record_with("fault=cudaMemGetInfo=719");
    size_t bytes;
    assert_int_equal(cudaMemGetInfo(&bytes, &bytes), cudaErrorLaunchFailure);
    assert_int_equal(cudaMemGetInfo(&bytes, &bytes), cudaErrorLaunchFailure);
    assert_int_equal(kept.left[kept.left_count - 1].result, cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    record_with("");
    assert_ok(cudaStreamDestroy(streams[0]));
    assert_ok(cudaStreamDestroy(streams[2]));
    assert_ok(cudaEventDestroy(events[0]));
    assert_ok(cudaEventDestroy(events[1]));
}

TEST(wrong_arguments_are_refused)
{
    record_with("");
    static const char unknown;
    char local[8];
    assert_int_equal(launch(&unknown, NULL), cudaErrorInvalidDeviceFunction);
    assert_int_equal(
        cudaLaunchKernel(&kernel_a, (dim3){1, 1, 1}, (dim3){2048, 1, 1}, NULL, 0, NULL),
        cudaErrorInvalidConfiguration);
    assert_int_equal(cudaLaunchKernel(&kernel_a, (dim3){0, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
                     cudaErrorInvalidConfiguration);
    assert_int_equal(launch(&kernel_a, (cudaStream_t)&local), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaSetDevice(2), cudaErrorInvalidDevice);
    assert_int_equal(cudaSetDevice(-1), cudaErrorInvalidDevice);
    assert_int_equal(cudaStreamCreateWithFlags(NULL, 0), cudaErrorInvalidValue);
    assert_int_equal(records_of(SIM_KERNEL), 0);
    cudaGetLastError();
    assert_string_equal(cudaGetErrorName(cudaErrorInvalidConfiguration),
                        "cudaErrorInvalidConfiguration");
    assert_string_equal(cudaGetErrorString(cudaErrorNotReady), "device not ready");
}

TEST(devices_say_that_they_are_simulated)
{
    int count = 0;
    struct cudaDeviceProp properties;
    assert_ok(cudaGetDeviceCount(&count));
    assert_int_equal(count, 2);
    assert_ok(cudaGetDeviceProperties(&properties, 1));
    assert_string_equal(properties.name, "Takt simulated GPU 1");
    int value = 0;
    assert_ok(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 1));
    assert_int_equal(value, properties.multiProcessorCount);
    assert_int_equal(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
    cudaGetLastError();
}

/* The step is an hour after the beginning: times far from now are asked for. */
TEST(clocks_of_devices_are_views_of_one_time_line)
{
    record_with("");
    uint64_t time_ns = sim_time_ns();
    uint64_t host_ns = sim_stamp_ns(-1, time_ns);
    assert_int_equal(sim_stamp_ns(0, time_ns), host_ns);
    record_with("clock.offset=250us; clock.offset@1=-3us; clock.step=3600000000000:-5000");
    assert_int_equal(sim_stamp_ns(0, time_ns), host_ns + 250000);
    assert_int_equal(sim_stamp_ns(1, time_ns), host_ns - 3000);
    assert_int_equal(sim_stamp_ns(-1, time_ns), host_ns);
    uint64_t hour_ns = 3600000000000;
    assert_int_equal(sim_stamp_ns(-1, time_ns + hour_ns), host_ns + hour_ns - 5000);
    record_with("clock.drift=1000");
    uint64_t drifted = sim_stamp_ns(0, time_ns + hour_ns) - sim_stamp_ns(0, time_ns);
    assert_in_range(drifted, hour_ns + 3599999, hour_ns + 3600001);
}

TEST(a_reset_takes_everything_of_the_device_away)
{
    record_with("kernel=1us");
    cudaStream_t stream;
    void *memory;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaMalloc(&memory, 64));
    assert_ok(launch(&kernel_a, stream));
    uint32_t old = record_of(SIM_KERNEL, 0)->context;
    assert_ok(cudaDeviceReset());
    assert_ptr_equal(resource_of(SIM_CONTEXT_DESTROY_STARTING, 0)->context, kept.left[0].context);
    assert_int_equal(launch(&kernel_a, stream), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaFree(memory), cudaErrorInvalidValue);
    assert_ok(launch(&kernel_a, NULL));
    assert_true(record_of(SIM_KERNEL, 1)->context > old);
    assert_int_equal(record_of(SIM_KERNEL, 1)->stream, 7);
    resource_of(SIM_CONTEXT_CREATED, 0);
    cudaGetLastError();
}

TEST(driver_functions_are_found_by_name)
{
    void *function = NULL;
    void *per_thread = NULL;
    CUdriverProcAddressQueryResult found = 7;
    assert_int_equal(cuGetProcAddress_v2("cuCtxSynchronize", &function, 13000, 0, &found), 0);
    assert_int_equal(found, 0);
    assert_int_equal(cuGetProcAddress_v2("cuLaunchKernel", &function, 13000, 0, NULL), 0);
    assert_ptr_equal(function, (void *)(uintptr_t)cuLaunchKernel);
    assert_int_equal(cuGetProcAddress_v2("cuLaunchKernel", &per_thread, 13000, 2, NULL), 0);
    assert_ptr_equal(per_thread, (void *)(uintptr_t)cuLaunchKernel_ptsz);
    assert_int_equal(cuGetProcAddress_v2("cuNoSuchThing", &function, 13000, 0, &found), 500);
    assert_int_equal(found, 1);
}

TEST(a_forked_child_has_no_cuda)
{
    record_with("");
    assert_ok(cudaDeviceSynchronize());
    pid_t child = fork();
    if (child == 0)
        _exit(cudaDeviceSynchronize() == cudaErrorInitializationError &&
              cudaGetDeviceCount(&(int){0}) == cudaErrorInitializationError && cuInit(0) == 3);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_ok(cudaDeviceSynchronize());
}

#define THREADS  4
#define LAUNCHES 500

static void *launch_many(void *data)
{
    cudaStream_t stream;
    (void)data;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
        return "cudaStreamCreateWithFlags";
    for (int i = 0; i < LAUNCHES; i++) {
        if (launch(i % 2 ? &kernel_a : &kernel_b, stream))
            return "cudaLaunchKernel";
    }
    if (cudaStreamSynchronize(stream) || cudaStreamDestroy(stream))
        return "cudaStreamSynchronize";
    return NULL;
}

TEST(threads_launch_at_the_same_time)
{
    record_with("kernel=2us");
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(records_of(SIM_KERNEL), THREADS * LAUNCHES);
    /* Of a thread, correlation ids rise and kernels do not overlap. */
    for (size_t i = 0; i < kept.record_count; i++) {
        const sim_record *record = &kept.records[i];
        for (size_t k = i + 1; record->kind == SIM_KERNEL && k < kept.record_count; k++) {
            const sim_record *next = &kept.records[k];
            if (next->kind != SIM_KERNEL || next->thread != record->thread)
                continue;
            assert_true(next->correlation > record->correlation);
            assert_true(next->begin_ns >= record->end_ns);
            assert_int_equal(next->stream, record->stream);
            break;
        }
    }
}

int main(void)
{
    setenv("TAKT_SIM", "devices=2", 1);
    register_kernels();
    return run_all_tests(NULL, NULL);
}
