/* Captures of streams, which many calls of other threads and of the same one end. "raw" asks CUDA
 * which of the calls that a profiler makes do so: in each mode of capture, of a stream that waits
 * for the legacy one and of one that does not, from the capturing thread and from another one, as
 * that thread is and after it exchanged its mode for relaxed. The other modes let Takt, with and
 * without CUPTI, end timers, steps, windows and reads of timers inside kernels in the middle of
 * captures: none of these may fail. "early" ones begin captures before the first window. */
#include "gpu.cuh"

#include <takt/device.cuh>

#include <functional>
#include <thread>

namespace
{

const cudaStreamCaptureMode modes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};
const char *const mode_names[] = {"global", "thread", "relaxed"};

struct Captured {
    cudaError_t end;
    size_t nodes;
};

/* Captures a kernel, calls `act`, captures another kernel. */
Captured capture_around(bool is_blocking, cudaStreamCaptureMode mode,
                        const std::function<void()> &act)
{
    Captured result = {};
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamCreateWithFlags(&stream,
                                    is_blocking ? cudaStreamDefault : cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, mode));
    spin_10us<<<1, 1, 0, stream>>>();
    act();
    spin_10us<<<1, 1, 0, stream>>>();
    result.end = cudaStreamEndCapture(stream, &graph);
    if (graph) {
        CHECK(cudaGraphGetNodes(graph, nullptr, &result.nodes));
        CHECK(cudaGraphDestroy(graph));
    }
    cudaGetLastError();
    CHECK(cudaStreamDestroy(stream));
    return result;
}

void on_thread(bool is_other, const std::function<void()> &act)
{
    if (!is_other)
        return act();
    std::thread(act).join();
}

/* ---- What CUDA says -------------------------------------------------------------------------- */

cudaStream_t other_stream;
cudaEvent_t recorded, later;
void *device_memory, *host_memory;

template <typename Make, typename Destroy> cudaError_t made(Make make, Destroy destroy)
{
    cudaError_t error = make();
    if (error == cudaSuccess)
        destroy();
    return error;
}

struct Question {
    const char *name;
    cudaError_t (*ask)();
};

const Question questions[] = {
    {"synchronize", [] { return cudaDeviceSynchronize(); }},
    {"stream_synchronize", [] { return cudaStreamSynchronize(other_stream); }},
    {"stream_query", [] { return cudaStreamQuery(other_stream); }},
    {"legacy_is_capturing",
     [] {
         cudaStreamCaptureStatus status;
         return cudaStreamIsCapturing(cudaStreamLegacy, &status);
     }},
    {"event_query", [] { return cudaEventQuery(recorded); }},
    {"event_synchronize", [] { return cudaEventSynchronize(recorded); }},
    {"event_record", [] { return cudaEventRecord(later, other_stream); }},
    {"event_record_legacy", [] { return cudaEventRecord(later, cudaStreamLegacy); }},
    {"event_create",
     [] {
         cudaEvent_t event;
         return made([&] { return cudaEventCreate(&event); }, [&] { cudaEventDestroy(event); });
     }},
    {"event_elapsed",
     [] {
         float ms;
         return cudaEventElapsedTime(&ms, recorded, recorded);
     }},
    {"stream_create",
     [] {
         cudaStream_t stream;
         return made([&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); },
                     [&] { cudaStreamDestroy(stream); });
     }},
    {"malloc",
     [] {
         void *memory;
         return made([&] { return cudaMalloc(&memory, 1 << 20); }, [&] { cudaFree(memory); });
     }},
    {"malloc_host",
     [] {
         void *memory;
         return made([&] { return cudaMallocHost(&memory, 4096); }, [&] { cudaFreeHost(memory); });
     }},
    {"copy_async",
     [] {
         return cudaMemcpyAsync(host_memory, device_memory, 64, cudaMemcpyDeviceToHost,
                                other_stream);
     }},
    {"copy", [] { return cudaMemcpy(host_memory, device_memory, 64, cudaMemcpyDeviceToHost); }},
    {"set_async", [] { return cudaMemsetAsync(device_memory, 0, 64, other_stream); }},
    {"launch",
     [] {
         nothing<<<1, 1, 0, other_stream>>>();
         return cudaGetLastError();
     }},
    {"mem_info",
     [] {
         size_t free_bytes, all_bytes;
         return cudaMemGetInfo(&free_bytes, &all_bytes);
     }},
};

/* One line for each question, place and kind of stream: per mode, what the call said and how the
 * capture ended. */
bool ask(const Question &question, bool is_blocking, bool is_other, bool is_relaxed)
{
    bool are_whole = true;
    std::printf("captures.%s, %s stream, %s%s:", question.name,
                is_blocking ? "blocking" : "non-blocking", is_other ? "other thread" : "own thread",
                is_relaxed ? ", relaxed" : "");
    for (int mode = 0; mode < 3; mode++) {
        cudaError_t answer = cudaSuccess;
        const Captured captured = capture_around(is_blocking, modes[mode], [&] {
            on_thread(is_other, [&] {
                cudaStreamCaptureMode own = cudaStreamCaptureModeRelaxed;
                if (is_relaxed)
                    CHECK(cudaThreadExchangeStreamCaptureMode(&own));
                answer = question.ask();
                cudaGetLastError();
                if (is_relaxed)
                    CHECK(cudaThreadExchangeStreamCaptureMode(&own));
            });
        });
        const bool is_whole = captured.end == cudaSuccess && captured.nodes == 2;
        are_whole &= is_whole;
        std::printf(" %s %d%s", mode_names[mode], answer, is_whole ? "" : " ENDED");
        if (!is_whole)
            std::printf(" (%d, %zu nodes)", captured.end, captured.nodes);
    }
    std::printf("\n");
    return are_whole;
}

int raw()
{
    CHECK(cudaStreamCreateWithFlags(&other_stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&recorded));
    CHECK(cudaEventCreate(&later));
    CHECK(cudaMalloc(&device_memory, 4096));
    CHECK(cudaMallocHost(&host_memory, 4096));
    nothing<<<1, 1, 0, other_stream>>>();
    CHECK(cudaEventRecord(recorded, other_stream));
    CHECK(cudaDeviceSynchronize());
    for (const Question &question : questions) {
        int ended = 0, asked = 0;
        for (int way = 0; way < 8; way++, asked++)
            ended += !ask(question, way & 1, way & 2, way & 4);
        key(ended, ("of_" + std::to_string(asked) + "_ways_end_captures").c_str(), "captures.%s",
            question.name);
    }
    return finish();
}

/* ---- What Takt does -------------------------------------------------------------------------- */

enum phase {
    WORK
};

__global__ void timed(takt_device_view timers)
{
    TAKT_DEVICE_SCOPE(timers, WORK);
    spin_ns(10000);
}

takt_profiler *stepping;
takt_device_timers *timers;

void synchronising_timer()
{
    TAKT_TIMER("synchronising", takt::ScopedTimer::Options().silent().synchronize());
}

void timing()
{
    takt_timing *found = nullptr;
    EXPECT(takt_timing_begin(nullptr, &found) == TAKT_OK, "no timing");
    EXPECT(takt_timing_end(found) == TAKT_OK, "no end");
    takt_timing_free(found);
}

void step()
{
    takt_status status = takt_profiler_step(stepping);
    EXPECT(status == TAKT_OK, "%s", takt_status_text(status));
}

void mark()
{
    TAKT_LAUNCH(other_stream, TAKT_TIMING_KERNEL, "mark") {
        nothing<<<1, 1, 0, other_stream>>>();
    }
}

void event()
{
    takt_event *begun = nullptr;
    double ms;
    EXPECT(takt_event_create(TAKT_EVENT_TIMED, &begun) == TAKT_OK, "no event");
    EXPECT(takt_event_record(begun, other_stream) == TAKT_OK, "no record");
    takt_event_query(begun);
    takt_event_elapsed_now_ms(begun, begun, &ms);
    takt_event_destroy(begun);
}

void read_timers()
{
    takt_device_timers_read(timers, other_stream);
}

void make_timers()
{
    static const char *const names[] = {"work"};
    takt_device_timers *made = nullptr;
    takt_device_timers_options options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    options.blocks = 4;
    options.records = 16;
    takt_device_timers_create(names, 1, &options, &made);
    takt_device_timers_destroy(made);
}

struct Act {
    const char *name;
    void (*act)();
    bool waits; /* for the device */
};

/* Whether the act may end the capture: without CUPTI nobody tells of captures of streams that do
 * not wait for the legacy one (docs/cuda.md). */
bool may_end(const Act &act, bool has_cupti, bool is_blocking)
{
    return act.waits && !has_cupti && !is_blocking;
}

/* Windows begin and end at every step, or every other one; some work is always under way. */
void start_stepping(bool is_synchronising)
{
    static const char *const names[] = {"work"};
    takt_device_timers_options timers_options = TAKT_DEVICE_TIMERS_OPTIONS_INIT;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    timers_options.blocks = 4;
    timers_options.records = 1024;
    timers_options.at_step = true;
    EXPECT(takt_device_timers_create(names, 1, &timers_options, &timers) == TAKT_OK, "no timers");
    options.schedule.wait = 1;
    options.schedule.warmup = 1;
    options.schedule.active = 1;
    options.background = TAKT_OFF;
    options.synchronize = is_synchronising;
    EXPECT(takt_profiler_create(&options, &stepping) == TAKT_OK, "no profiler");
    EXPECT(takt_profiler_start(stepping) == TAKT_OK, "no start");
}

int with_takt(const char *backend, bool has_cupti, bool is_synchronising)
{
    const Act acts[] = {
        {"timer", synchronising_timer, true},
        {"timing", timing, false},
        {"step", step, is_synchronising},
        {"mark", mark, false},
        {"event", event, false},
        {"read_timers", read_timers, false},
        {"make_timers", make_timers, false},
    };
    CHECK(cudaStreamCreateWithFlags(&other_stream, cudaStreamNonBlocking));
    start_stepping(is_synchronising);
    step(); /* into the first warm-up: from here on CUPTI tells of captures */
    const int rounds = is_quick() ? 3 : 12;
    size_t captures = 0, ended = 0;
    for (const Act &act : acts)
        for (int way = 0; way < 12; way++) {
            size_t ended_here = 0;
            for (int round = 0; round < rounds; round++) {
                timed<<<4, 32, 0, other_stream>>>(takt_device_timers_view(timers));
                const Captured captured =
                    capture_around(way & 1, modes[way / 4], [&] { on_thread(way & 2, act.act); });
                ended_here += captured.end != cudaSuccess || captured.nodes != 2;
                step();
            }
            captures += static_cast<size_t>(rounds);
            ended += ended_here;
            EXPECT(ended_here == 0 || may_end(act, has_cupti, way & 1),
                   "%s: %zu of %d captures, %s stream, %s thread, %s ended", act.name, ended_here,
                   rounds, way & 1 ? "blocking" : "non-blocking", way & 2 ? "other" : "own",
                   mode_names[way / 4]);
        }
    CHECK(cudaDeviceSynchronize());
    takt_profiler_destroy(stepping);
    takt_device_timers_destroy(timers);
    key(static_cast<double>(ended), ("of_" + std::to_string(captures) + "_captures_ended").c_str(),
        "captures.takt.%s", backend);
    return finish();
}

/* ---- Captures from before the first window --------------------------------------------------- */

/* Nobody has told Takt of them: CUPTI's callbacks came later. A process has one first window, so
 * each mode of capture and kind of stream is one process. `how` is "global", "thread-blocking" and
 * so on. */
int early(const std::string &how)
{
    const bool is_blocking = how.find("-blocking") != std::string::npos;
    const cudaStreamCaptureMode mode = how[0] == 'g'   ? cudaStreamCaptureModeGlobal
                                       : how[0] == 't' ? cudaStreamCaptureModeThreadLocal
                                                       : cudaStreamCaptureModeRelaxed;
    const unsigned flags = is_blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    cudaStream_t captured[3];
    CHECK(cudaStreamCreateWithFlags(&other_stream, cudaStreamNonBlocking));
    nothing<<<1, 1, 0, other_stream>>>(); /* loads the module */
    CHECK(cudaDeviceSynchronize());
    for (cudaStream_t &stream : captured) {
        CHECK(cudaStreamCreateWithFlags(&stream, flags));
        CHECK(cudaStreamBeginCapture(stream, mode));
    }
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = nullptr;
    EXPECT(takt_profiler_create(&options, &profiler) == TAKT_OK, "no profiler");
    size_t ended = 0;
    for (cudaStream_t &stream : captured) {
        cudaGraph_t graph = nullptr;
        size_t nodes = 0;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(1);
        config.blockDim = dim3(1);
        config.stream = stream;
        takt_status begun = takt_profiler_start(profiler);
        EXPECT(begun == TAKT_OK, "start: %s", takt_status_text(begun));
        cudaError_t first = cudaSuccess;
        if (&stream != captured) { /* the first one is left alone by the first window */
            nothing<<<1, 1, 0, stream>>>();
            first = cudaGetLastError();
        }
        cudaError_t second = cudaLaunchKernelEx(&config, nothing);
        nothing<<<1, 1, 0, other_stream>>>();
        cudaError_t third = cudaGetLastError();
        takt_status stopped = takt_profiler_stop(profiler);
        EXPECT(stopped == TAKT_OK, "stop: %s", takt_status_text(stopped));
        cudaError_t end = cudaStreamEndCapture(stream, &graph);
        if (graph)
            CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
        cudaGetLastError();
        const size_t expected = &stream == captured ? 1 : 2;
        const bool is_whole = end == cudaSuccess && nodes == expected;
        ended += !is_whole;
        EXPECT(is_whole, "window %zd: launches %d, %d, other %d, end %d, %zu nodes of %zu",
               &stream - captured, first, second, third, end, nodes, expected);
        const takt_trace *trace = takt_profiler_trace(profiler);
        const size_t got = trace ? totals_of(trace, nullptr, nullptr).count : 0;
        EXPECT(got == 1, "window %zd has %zu activities of 1", &stream - captured, got);
        if (trace)
            expect_no_losses(trace);
    }
    takt_profiler_destroy(profiler);
    key(static_cast<double>(ended), "of_3_captures_ended", "captures.early.%s", how.c_str());
    return finish();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0],
                         {"raw", "cupti", "events", "events-synchronize", "early-global",
                          "early-thread", "early-relaxed", "early-global-blocking",
                          "early-thread-blocking", "early-relaxed-blocking"},
                         60);
    const std::string mode = argv[1];
    if (mode.rfind("early-", 0) == 0) {
        need_device();
        return early(mode.substr(6));
    }
    if (mode != "cupti")
        setenv("TAKT_CUPTI_LIBRARY", "none", 1);
    need_device();
    if (mode == "raw")
        return raw();
    return with_takt(argv[1], mode == "cupti", mode == "events-synchronize");
}
