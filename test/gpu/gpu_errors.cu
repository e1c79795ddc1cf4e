/* After a kernel has written where it may not: which calls of the driver say so, and which records
 * of kernels that had finished before CUPTI still gives back. Without Takt; a process for each
 * mode. */
#include "cupti.cuh"

namespace
{

const int launches = 20;

__global__ void fault(volatile int *where)
{
    *where = 1;
}

/* The status of each call that Takt makes to find out whether devices are done. */
void ask_driver(CUcontext context, CUevent done)
{
    CUcontext current = nullptr;
    CUevent event = nullptr;
    unsigned flags = 0;
    int active = 0, count = 0;
    CUstreamCaptureMode capture = CU_STREAM_CAPTURE_MODE_RELAXED;
    size_t free_bytes = 0, all_bytes = 0;
    const struct {
        const char *name;
        int status;
    } calls[] = {
        {"cuDeviceGetCount", DRIVER(cuDeviceGetCount)(&count)},
        {"cuThreadExchangeStreamCaptureMode", DRIVER(cuThreadExchangeStreamCaptureMode)(&capture)},
        {"cuDevicePrimaryCtxGetState", DRIVER(cuDevicePrimaryCtxGetState)(0, &flags, &active)},
        {"cuDevicePrimaryCtxRetain", DRIVER(cuDevicePrimaryCtxRetain)(&current, 0)},
        {"cuCtxGetCurrent", DRIVER(cuCtxGetCurrent)(&current)},
        {"cuCtxPushCurrent", DRIVER(cuCtxPushCurrent_v2)(context)},
        {"cuCtxPopCurrent", DRIVER(cuCtxPopCurrent_v2)(&current)},
        {"cuEventCreate", DRIVER(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING)},
        {"cuEventQuery", DRIVER(cuEventQuery)(done)},
        {"cuCtxRecordEvent", DRIVER(cuCtxRecordEvent)(context, done)},
        {"cuMemGetInfo", DRIVER(cuMemGetInfo_v2)(&free_bytes, &all_bytes)},
    };
    for (const auto &call : calls)
        tell(call.status, "status", "errors.driver.%s", call.name);
}

void tell_finished(const char *mode, const char *when)
{
    key(static_cast<double>(raw::finished_kernels()), "of_20_finished_kernels", "errors.%s.%s",
        mode, when);
}

/* at-once: the fault is launched right behind the others; later: 5 ms later; waited: after a wait;
 * flushed: after a wait and a plain flush. */
void look_for_records(const char *name)
{
    const std::string mode = name;
    raw::start();
    raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (int i = 0; i < launches; i++)
        spin_10us<<<1, 1>>>();
    if (mode == "later")
        pause_ms(5);
    if (mode == "waited" || mode == "flushed")
        CHECK(cudaDeviceSynchronize());
    if (mode == "flushed")
        raw::flush(false);
    fault<<<1, 1>>>(reinterpret_cast<int *>(16));
    const int error = cudaDeviceSynchronize();
    EXPECT(error == cudaErrorIllegalAddress, "%d", error);
    tell_finished(name, "before_flush");
    raw::flush(false);
    tell_finished(name, "after_plain");
    pause_ms(100);
    raw::flush(false);
    tell_finished(name, "after_a_tenth_second");
    uint64_t begin = takt_now_ns();
    raw::collect();
    tell(static_cast<double>(takt_now_ns() - begin) / 1e6, "ms", "errors.%s.forced_flush", name);
    tell_finished(name, "after_forced");
    tell(static_cast<double>(raw::arrived().size()) - static_cast<double>(raw::finished_kernels()),
         "records", "errors.%s.given_up", name);
    tell(static_cast<double>(raw::dropped()), "records", "errors.%s.dropped", name);
}

void driver()
{
    CUcontext context = nullptr;
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done));
    CHECK(cudaDeviceSynchronize());
    DRIVER(cuCtxGetCurrent)(&context);
    fault<<<1, 1>>>(reinterpret_cast<int *>(16));
    tell(cudaDeviceSynchronize(), "status", "errors.driver.cudaDeviceSynchronize");
    ask_driver(context, done);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"driver", "at-once", "later", "waited", "flushed"}, 20);
    const std::string mode = argv[1];
    need_device();
    if (mode == "driver")
        driver();
    else
        look_for_records(argv[1]);
    return finish();
}
