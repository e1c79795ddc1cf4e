/* One process and four on a GPU, by turns of the device and through MPS: has each window what its
 * own process launched and nothing else, how long do its end, a launch and a kernel take? */
#include "gpu.cuh"

#include <sys/mman.h>

#include <fstream>

namespace
{

const int kernels = 200, most_processes = 4;

/* What a child tells its parent. */
struct Result {
    size_t windows, got;
    uint64_t losses;
    double slowest_end_ms, end_ms, launch_ns, kernel_us;
};
Result *results;

void record(Result &result)
{
    std::vector<double> ends, launches;
    double kernels_ms = 0;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < (is_quick() ? 3 : 50); i++) {
        takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
        profiler.start();
        {
            TAKT_SCOPE("work");
            launches.push_back(1e6 / kernels * ms_of([&] {
                                   for (int k = 0; k < kernels; k++)
                                       spin_10us<<<1, 1, 0, stream>>>();
                               }));
            CHECK(cudaStreamSynchronize(stream));
        }
        ends.push_back(ms_of([&] { profiler.stop(); }));
        takt::Trace trace = profiler.trace();
        const Totals totals = totals_of(trace.get(), nullptr, nullptr);
        result.windows++;
        result.got += totals.count;
        result.losses += all_losses(trace.get());
        kernels_ms += totals.ms;
    }
    result.slowest_end_ms = quantile(ends, 1.0);
    result.end_ms = median(ends);
    result.launch_ns = median(launches);
    result.kernel_us = result.got ? 1e3 * kernels_ms / static_cast<double>(result.got) : 0.0;
}

/* How many of them ended well. */
int run_children(int count)
{
    pid_t children[most_processes];
    const char *seconds = std::getenv("GPU_MODE_SECONDS");
    int ended = 0;
    std::fflush(stdout);
    for (int i = 0; i < count; i++) {
        results[i] = {};
        children[i] = fork();
        if (children[i] == 0) {
            alarm(seconds ? static_cast<unsigned>(std::atoi(seconds)) : 40);
            need_device();
            record(results[i]);
            std::exit(0);
        }
    }
    for (int i = 0; i < count; i++) {
        int status = 0;
        waitpid(children[i], &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            std::printf("process %d ends with %s %d\n", i, WIFEXITED(status) ? "status" : "signal",
                        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return ended;
}

void tell_processes(const char *mode, int count)
{
    std::vector<double> ends, slowest, launches, lengths;
    size_t got = 0, launched = 0;
    uint64_t losses = 0;
    for (int i = 0; i < count; i++) {
        ends.push_back(results[i].end_ms);
        slowest.push_back(results[i].slowest_end_ms);
        launches.push_back(results[i].launch_ns);
        lengths.push_back(results[i].kernel_us);
        got += results[i].got;
        launched += results[i].windows * kernels;
        losses += results[i].losses;
    }
    key(100.0 * static_cast<double>(got) / static_cast<double>(launched), "%", "processes.%s.got",
        mode);
    key(static_cast<double>(losses), "losses", "processes.%s", mode);
    key(median(launches), "ns_a_launch", "processes.%s", mode);
    key(median(lengths), "us_a_kernel_of_10us", "processes.%s", mode);
    tell(median(ends), "ms", "processes.%s.end", mode);
    budget(quantile(slowest, 1.0), 50.0, "ms", "processes.%s.slowest_end", mode);
    EXPECT(got + losses == launched, "%zu of %zu, %llu lost", got, launched,
           static_cast<unsigned long long>(losses));
}

/* ---- MPS ------------------------------------------------------------------------------------- */

/* The status of a command of MPS's control, whose folders are ours. */
int control(const char *command)
{
    return std::system((std::string(command) + " >/dev/null 2>&1").c_str());
}

bool start_mps()
{
    const char *tmp = std::getenv("TMPDIR");
    std::string folder = std::string(tmp ? tmp : "/tmp") + "/takt-mps-XXXXXX";
    if (control("command -v nvidia-cuda-mps-control") != 0)
        return std::puts("* processes.mps absent"), false;
    EXPECT(mkdtemp(&folder[0]), "no folder %s", folder.c_str());
    setenv("CUDA_MPS_PIPE_DIRECTORY", folder.c_str(), 1);
    setenv("CUDA_MPS_LOG_DIRECTORY", folder.c_str(), 1);
    int status = control("nvidia-cuda-mps-control -d");
    key(status, "status", "processes.mps.start");
    return status == 0;
}

void stop_mps()
{
    control("echo quit -t 5 | timeout 15 nvidia-cuda-mps-control");
    const std::string folder = std::getenv("CUDA_MPS_LOG_DIRECTORY");
    std::ifstream log(folder + "/control.log");
    for (std::string line; std::getline(log, line);)
        std::printf("mps: %s\n", line.c_str());
    control(("rm -rf '" + folder + "'").c_str());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"one", "four", "mps"}, 60);
    const std::string mode = argv[1];
    const int count = mode == "one" ? 1 : most_processes;
    results =
        static_cast<Result *>(mmap(nullptr, most_processes * sizeof *results,
                                   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (mode == "mps" && !start_mps())
        return 77;
    const int ended = run_children(count);
    if (mode == "mps")
        stop_mps();
    if (ended < count)
        return 77;
    tell_processes(argv[1], count);
    if (mode != "one")
        decides(mode == "mps" ? "whether Takt may promise anything under MPS"
                              : "processes that share a GPU each have their own work, in time");
    return finish();
}
