/* How programs end, or what ends under them: cudaDeviceReset with work that nobody has flushed,
 * forks before and after CUDA was used, a kernel that writes where it may not, an exit with kernels
 * running. Each in a process of its own, under a profiler of Takt's; told is how much of the
 * finished work is in the trace, and how long it took. */
#include "gpu.cuh"

#include <takt/device.h>

namespace
{

const int launches = 20;

__global__ void fault(volatile int *where)
{
    *where = 1;
}

void finished_work()
{
    TAKT_SCOPE("finished");
    for (int i = 0; i < launches; i++)
        spin_10us<<<1, 1>>>();
}

/* Returns how many milliseconds the window's end took. */
double tell_trace(const char *mode, takt::Profiler &profiler)
{
    uint64_t begin = takt_now_ns();
    profiler.stop();
    double ms = static_cast<double>(takt_now_ns() - begin) / 1e6;
    tell(ms, "ms", "endings.%s.stop", mode);
    takt::Trace trace = profiler.trace();
    size_t got = trace ? totals_of(trace.get(), "finished", "kernel spin_10us").count : 0;
    key(static_cast<double>(got), "of_20_finished_kernels", "endings.%s.got", mode);
    EXPECT(got <= size_t(launches), "%zu of %d", got, launches);
    for (int i = 0; trace && i < TAKT_LOSS_COUNT; i++) {
        const takt_loss loss = static_cast<takt_loss>(i);
        const uint64_t lost = takt_trace_loss(trace.get(), loss);
        if (lost)
            tell(static_cast<double>(lost), "losses", "endings.%s.%s", mode, takt_loss_name(loss));
    }
    return ms;
}

/* A reset frees the memory of timers inside kernels, and the program may get it anew: destroying the
 * timers must not free it again. */
void destroy_after_reset(takt_device_timers *timers)
{
    std::vector<char *> held(512);
    for (char *&memory : held)
        CHECK(cudaMalloc(&memory, 1 << 20));
    takt_device_timers_destroy(timers);
    size_t twice = 0;
    for (int i = 0; i < 64; i++) {
        char *memory;
        CHECK(cudaMalloc(&memory, 1 << 20));
        for (const char *other : held)
            twice += memory < other + (1 << 20) && other < memory + (1 << 20);
    }
    key(static_cast<double>(twice), "blocks_twice", "endings.reset.timers");
    EXPECT(twice == 0, "%zu blocks belong to two", twice);
}

void reset()
{
    static const char *const names[] = {"phase"};
    takt_device_timers *timers = nullptr;
    EXPECT(takt_device_timers_create(names, 1, nullptr, &timers) == TAKT_OK, "no timers");
    takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
    profiler.start();
    finished_work();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDeviceReset());
    destroy_after_reset(timers);
    tell_trace("reset", profiler);
    takt::Profiler again(TAKT_PROFILER_OPTIONS_INIT);
    again.start();
    finished_work();
    CHECK(cudaDeviceSynchronize());
    tell_trace("after_reset", again);
}

void illegal_address()
{
    takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
    profiler.start();
    finished_work();
    fault<<<1, 1>>>(reinterpret_cast<int *>(16));
    cudaError_t error = cudaDeviceSynchronize();
    EXPECT(error == cudaErrorIllegalAddress, "%d", error);
    double ms = tell_trace("illegal_address", profiler);
    EXPECT(ms < 4000.0, "a window waits for what never comes: %f ms", ms);
}

/* The status of a child that may hang: -1 if it did not end in ten seconds. */
double status_of(pid_t child)
{
    for (int i = 0; i < 1000; i++) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        pause_ms(10);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return -1.0;
}

/* A profiler runs, nothing has used CUDA yet; parent and child use it, each on its own. */
void fork_before()
{
    takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
    profiler.start();
    std::fflush(stdout);
    pid_t child = fork();
    finished_work();
    CHECK(cudaDeviceSynchronize());
    if (child == 0) {
        tell_trace("fork_before.child", profiler);
        std::exit(failures != 0);
    }
    tell_trace("fork_before.parent", profiler);
    key(status_of(child), "status", "endings.fork_before.child.ends_with");
}

/* A child of a process that uses CUDA must not; it may do everything else, and end. */
void fork_after()
{
    takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
    profiler.start();
    finished_work();
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        {
            TAKT_SCOPE("child");
            pause_ms(1);
        }
        profiler.step();
        profiler.stop();
        std::exit(0);
    }
    key(status_of(child), "status", "endings.fork_after.child.ends_with");
    finished_work();
    CHECK(cudaDeviceSynchronize());
    profiler.stop();
    takt::Trace trace = profiler.trace();
    size_t got = trace ? totals_of(trace.get(), "finished", "kernel spin_10us").count : 0;
    key(static_cast<double>(got), "of_40_finished_kernels", "endings.fork_after.parent.got");
}

/* The environment's profiler saves at exit; a second of kernels is still running then. */
void exit_busy_child(const char *folder)
{
    setenv("TAKT_OPTIONS",
           (std::string("profiling.active=0 profiling.name=exit "
                        "output.traces=perfetto output.directory=") +
            folder)
               .c_str(),
           1);
    EXPECT(std::freopen("/dev/null", "w", stdout), "no /dev/null"); /* for the default reports */
    takt_profiler_start(nullptr);
    finished_work();
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 50; i++)
        spin_20ms<<<1, 1>>>();
    std::exit(0);
}

void exit_busy()
{
    const char *tmp = std::getenv("TMPDIR");
    std::string folder = std::string(tmp ? tmp : "/tmp") + "/takt-exit-XXXXXX";
    EXPECT(mkdtemp(&folder[0]), "no folder %s", folder.c_str());
    uint64_t begin = takt_now_ns();
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "gpu_endings", "exit-busy-child", folder.c_str(),
              static_cast<char *>(nullptr));
        _exit(127);
    }
    key(status_of(child), "status", "endings.exit_busy.ends_with");
    tell(static_cast<double>(takt_now_ns() - begin) / 1e6, "ms", "endings.exit_busy.whole");
    const std::string file = folder + "/exit.0.pftrace";
    takt_trace *trace = nullptr;
    if (takt_trace_open(file.c_str(), &trace, nullptr) == TAKT_OK) {
        key(static_cast<double>(totals_of(trace, "finished", "kernel spin_10us").count),
            "of_20_finished_kernels", "endings.exit_busy.got");
        tell(static_cast<double>(totals_of(trace, nullptr, "kernel spin_20ms").count),
             "of_50_running_kernels", "endings.exit_busy.got_of_those_running");
        takt_trace_release(trace);
    } else {
        std::printf("endings.exit_busy: no trace %s\n", file.c_str());
    }
    unlink(file.c_str());
    rmdir(folder.c_str());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(
            argv[0], {"reset", "illegal-address", "fork-before", "fork-after", "exit-busy"}, 30);
    const std::string mode = argv[1];
    if (mode == "exit-busy-child")
        exit_busy_child(argc > 2 ? argv[2] : ".");
    else if (mode == "exit-busy")
        exit_busy();
    else if (mode == "fork-before")
        fork_before();
    else {
        need_device();
        mode == "reset" ? reset() : mode == "fork-after" ? fork_after() : illegal_address();
    }
    return finish();
}
