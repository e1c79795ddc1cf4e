/* May a program that launches let go of CUPTI? 40 child processes, each with up to 200 windows that
 * end with cuptiFinalize(), called as NVIDIA asks for from the exit of a call, while 32 threads
 * launch kernels and graphs, and make the graphs anew: how many children crash, or hang? Without
 * Takt. */
#include "cupti.cuh"
#include "graphs.cuh"

#include <sys/mman.h>

#include <map>
#include <thread>

namespace
{

const int thread_count = 32, most_windows = 200;

/* What the parent sees of a child, however it ends. */
struct Seen {
    std::atomic<int> windows, without_call;
    std::atomic<uint64_t> launches, records;
    std::atomic<double> slowest_ms;
};
Seen *seen;

std::atomic<bool> is_over{false}, wants_end{false}, has_ended{false};

void CUPTIAPI called(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *data)
{
    auto *call = static_cast<const CUpti_CallbackData *>(data);
    if (call->callbackSite != CUPTI_API_EXIT || !wants_end.exchange(false))
        return;
    const double ms = ms_of([] { CUPTI_CHECK(cuptiFinalize); });
    if (ms > seen->slowest_ms)
        seen->slowest_ms = ms;
    has_ended = true;
}

void launch_on()
{
    cudaStream_t stream = make_stream();
    cudaGraphExec_t launchable = nullptr;
    for (int i = 0; !is_over; i++) {
        if (i % 32 == 0) {
            if (launchable)
                CHECK(cudaGraphExecDestroy(launchable));
            cudaGraph_t graph = capture(stream, 5, cudaStreamCaptureModeThreadLocal);
            CHECK(cudaGraphInstantiate(&launchable, graph, 0));
            CHECK(cudaGraphDestroy(graph));
        }
        nothing<<<1, 1, 0, stream>>>();
        CHECK(cudaGraphLaunch(launchable, stream));
        seen->launches += 2;
        if (i % 8 == 7)
            CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamSynchronize(stream));
}

/* False if no call has come that could end it. */
bool one_window()
{
    raw::start(called);
    CUPTI_CHECK(cuptiEnableDomain, 1, raw::subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
    CUPTI_CHECK(cuptiEnableDomain, 1, raw::subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    for (CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                    CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
        raw::enable(kind);
    pause_ms(2);
    raw::flush(true);
    has_ended = false;
    wants_end = true;
    for (int i = 0; i < 2000 && !has_ended; i++)
        pause_ms(1);
    return has_ended;
}

int child(bool is_first)
{
    int count = 0;
    if (is_first)
        need_device();
    else if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
        return missing;
    raw::keeps_records = false;
    raw::open_library();
    const double most_ms = is_quick() ? 200 : 600;
    const uint64_t begin = takt_now_ns();
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; i++)
        threads.emplace_back(launch_on);
    while (seen->windows < most_windows &&
           static_cast<double>(takt_now_ns() - begin) / 1e6 < most_ms) {
        if (!one_window()) {
            seen->without_call++;
            break;
        }
        seen->windows++;
        seen->records = raw::record_count.load();
    }
    is_over = true;
    for (std::thread &thread : threads)
        thread.join();
    CHECK(cudaDeviceSynchronize());
    return 0;
}

/* The status of a child, or -1 if it did not end. */
int wait_for(pid_t child)
{
    const char *given = std::getenv("GPU_MODE_SECONDS");
    const int seconds = given ? std::atoi(given) : 8;
    int status = 0;
    for (int i = 0; i < seconds * 100; i++, pause_ms(10))
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

} // namespace

int main()
{
    const int most = is_quick() ? 4 : 40;
    const uint64_t begin = takt_now_ns();
    int children = 0, hung = 0, crashed = 0, failed = 0, windows = 0, without_call = 0;
    double slowest_ms = 0;
    seen = static_cast<Seen *>(
        mmap(nullptr, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::map<int, int> signals;
    for (; children < most && hung < 4 && takt_now_ns() - begin < 80000000000; children++) {
        new (seen) Seen{};
        std::fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            std::exit(child(children == 0));
        int status = wait_for(pid);
        if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == missing)
            return missing;
        hung += status < 0;
        crashed += status >= 0 && WIFSIGNALED(status);
        failed += status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0;
        if (status >= 0 && WIFSIGNALED(status))
            signals[WTERMSIG(status)]++;
        windows += seen->windows;
        without_call += seen->without_call;
        slowest_ms = std::max(slowest_ms, seen->slowest_ms.load());
    }
    const std::string of = "of_" + std::to_string(children) + "_children";
    key(windows, "windows", "finalize.all");
    key(crashed, of.c_str(), "finalize.crashed");
    key(hung, of.c_str(), "finalize.hung");
    key(failed, of.c_str(), "finalize.failed");
    for (const auto &each : signals)
        tell(each.second, "children", "finalize.signal_%d", each.first);
    tell(without_call, "windows", "finalize.without_a_call");
    key(slowest_ms, "ms", "finalize.slowest");
    tell(static_cast<double>(seen->launches), "launches", "finalize.last_child");
    tell(static_cast<double>(seen->records), "records", "finalize.last_child");
    decides(
        "whether Takt may finalize CUPTI after its schedule, so that launches cost nothing more");
    return finish();
}
