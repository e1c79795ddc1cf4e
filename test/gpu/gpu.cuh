/* What the programs of this folder share: kernels of known length, expectations, reading traces.
 * They run on a GPU and, unchanged, on the stand-ins of test/simgpu, whose script says how long
 * each kernel takes there. Nothing here needs a test library, which a machine with a GPU may lack.
 */
#ifndef GPU_CUH
#define GPU_CUH

#include <takt/takt.hpp>

#include <cuda.h>
#include <cuda_runtime.h>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static int failures;

/* Figures, one a line: "name value unit". `key` marks those that a one-page summary shows. Nobody
 * knows what they ought to be; what is known, EXPECT checks. */
static inline void tell_line(const char *mark, double value, const char *unit, const char *format,
                             std::va_list args)
{
    char name[128];
    std::vsnprintf(name, sizeof name, format, args);
    std::printf(value == static_cast<double>(static_cast<long long>(value)) ? "%s%-44s %.0f %s\n"
                                                                            : "%s%-44s %.3f %s\n",
                mark, name, value, unit);
    std::fflush(stdout); /* what comes next may crash */
}

#define GPU_FORMAT __attribute__((format(printf, 3, 4)))

static inline GPU_FORMAT void tell(double value, const char *unit, const char *format, ...)
{
    std::va_list args;
    va_start(args, format);
    tell_line("", value, unit, format, args);
    va_end(args);
}

static inline GPU_FORMAT void key(double value, const char *unit, const char *format, ...)
{
    std::va_list args;
    va_start(args, format);
    tell_line("* ", value, unit, format, args);
    va_end(args);
}

/* A key figure, which `most` is the budget of. A figure that misses it is told of, here and in the
 * summary's last line, and is no failure: others use the machine. */
static inline __attribute__((format(printf, 4, 5))) void
budget(double value, double most, const char *unit, const char *format, ...)
{
    char with_budget[128];
    std::va_list args;
    std::snprintf(with_budget, sizeof with_budget, "%s, %s %.2f", unit,
                  value <= most ? "budget" : "BUDGET MISSED:", most);
    va_start(args, format);
    tell_line("* ", value, with_budget, format, args);
    va_end(args);
}

/* What the figures above decide, in one short line. */
static inline void decides(const char *what)
{
    std::printf("* decides: %s\n", what);
}

/* The value below which this share of them lies; 0 of none. */
static inline double quantile(std::vector<double> values, double share)
{
    if (values.empty())
        return 0.0;
    std::sort(values.begin(), values.end());
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

static inline double median(const std::vector<double> &values)
{
    return quantile(values, 0.5);
}

/* A key figure of many: their median, and between which values half of them lie. */
static inline GPU_FORMAT void quartiles(const std::vector<double> &values, const char *unit,
                                        const char *format, ...)
{
    char with_quartiles[128];
    std::va_list args;
    std::snprintf(with_quartiles, sizeof with_quartiles, "%s, quartiles %.6g to %.6g", unit,
                  quantile(values, 0.25), quantile(values, 0.75));
    va_start(args, format);
    tell_line("* ", median(values), with_quartiles, format, args);
    va_end(args);
}

/* GPU_QUICK=1 asks for fewer rounds. */
static inline bool is_quick(void)
{
    return std::getenv("GPU_QUICK") != nullptr;
}

static inline void pause_ms(double ms)
{
    usleep(static_cast<useconds_t>(ms * 1000.0));
}

/* How long `work` takes. */
template <typename Work> static inline double ms_of(Work work)
{
    uint64_t begin = takt_now_ns();
    work();
    return static_cast<double>(takt_now_ns() - begin) / 1e6;
}

/* Runs this program once more for each mode, as a process of its own that has not used CUDA. A mode
 * that crashes, or does not end within its seconds, is told of; the next one runs. Returns main's
 * status: 77 if all modes were skipped. `before` is an argument that comes first. GPU_MODE_SECONDS
 * in the environment replaces `seconds`, for machines without a GPU that are busy. */
static inline int run_modes(const char *program, const std::vector<const char *> &modes,
                            unsigned seconds, const char *before = nullptr)
{
    size_t skipped = 0, bad = 0;
    const char *given = std::getenv("GPU_MODE_SECONDS");
    if (given)
        seconds = static_cast<unsigned>(std::atoi(given));
    for (const char *mode : modes) {
        std::fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(seconds); /* kept by exec; ends the process */
            execl("/proc/self/exe", program, before ? before : mode, before ? mode : nullptr,
                  static_cast<char *>(nullptr));
            _exit(127);
        }
        int status = 0;
        waitpid(child, &status, 0);
        skipped += WIFEXITED(status) && WEXITSTATUS(status) == 77;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
            std::printf("mode %s did not end in %u s\n", mode, seconds);
        else if (WIFSIGNALED(status))
            std::printf("mode %s crashed with signal %d\n", mode, WTERMSIG(status));
        else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 77)
            std::printf("mode %s ends with %d\n", mode, WEXITSTATUS(status));
        bad += !WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 77);
    }
    return bad ? 1 : skipped == modes.size() ? 77 : 0;
}

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

/* A function of the driver, which programs are not linked with. */
#define DRIVER(function)                                                                           \
    reinterpret_cast<decltype(&function)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), #function))

/* Tells what was found when it is not as expected; the program goes on. */
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);                    \
            std::printf(__VA_ARGS__);                                                              \
            std::printf("\n");                                                                     \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* Busy for about so long. One thread: many may run at a time. */
static __device__ void spin_ns(unsigned long long ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

static __global__ void spin_10us(void)
{
    spin_ns(10000);
}

static __global__ void spin_50us(void)
{
    spin_ns(50000);
}

static __global__ void spin_1ms(void)
{
    spin_ns(1000000);
}

static __global__ void spin_2ms(void)
{
    spin_ns(2000000);
}

static __global__ void spin_20ms(void)
{
    spin_ns(20000000);
}

static __global__ void nothing(void)
{
}

/* Ends the program with "skipped" where there is no device; otherwise prints what it runs on. */
static inline void need_device(void)
{
    int count = 0, driver = 0, runtime = 0;
    cudaDeviceProp properties;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        std::printf("needs a CUDA device: %s\n", cudaGetErrorString(status));
        std::exit(77);
    }
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    std::printf("device %s, driver %d.%d, runtime %d.%d, takt %s\n", properties.name, driver / 1000,
                driver / 10 % 100, runtime / 1000, runtime / 10 % 100, takt_version());
    CHECK(cudaFree(nullptr)); /* makes the context */
}

/* The profiler's last trace stays until it is destroyed. */
struct Totals {
    size_t count;
    double ms;
    size_t without_scope;
};

/* Counts and sums activities whose scope (NULL: any) and name (NULL: any) are these. */
static inline Totals totals_of(const takt_trace *trace, const char *scope, const char *name)
{
    Totals totals = {};
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        takt_trace_activity(trace, i, &activity);
        if (std::strncmp(activity.device, "cuda", 4) != 0 ||
            (scope && (!activity.scope || std::strcmp(activity.scope, scope) != 0)) ||
            (name && std::strcmp(activity.name, name) != 0))
            continue;
        totals.count++;
        totals.ms += activity.elapsed_ms;
        totals.without_scope += !activity.scope;
    }
    return totals;
}

static inline uint64_t all_losses(const takt_trace *trace)
{
    uint64_t sum = 0;
    for (int loss = 0; loss < TAKT_LOSS_COUNT; loss++)
        sum += takt_trace_loss(trace, static_cast<takt_loss>(loss));
    return sum;
}

/* Nothing may be missing from a trace that fits into memory. */
static inline void expect_no_losses(const takt_trace *trace)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        const takt_loss loss = static_cast<takt_loss>(i);
        const uint64_t lost = takt_trace_loss(trace, loss);
        EXPECT(lost == 0, "%llu %s", (unsigned long long)lost, takt_loss_name(loss));
    }
}

/* Whether two measurements of one thing agree: within a share of them and an absolute part. */
static inline bool agrees(double a, double b, double share, double absolute)
{
    double larger = a > b ? a : b;
    double apart = a > b ? a - b : b - a;
    return apart <= share * larger + absolute;
}

static inline int finish(void)
{
    std::printf(failures ? "%d failures\n" : "all as expected\n", failures);
    return failures != 0;
}

#endif
