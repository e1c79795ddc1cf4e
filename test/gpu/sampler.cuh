/* Where a thread spends its time, for machines that have no perf: a timer interrupts the thread
 * that starts it every 50 microseconds of wall time; the place in the code and what lies on the
 * stack are kept. What a thread does in the kernel counts for the call that went there. */
#ifndef GPU_SAMPLER_CUH
#define GPU_SAMPLER_CUH

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace sampler
{

const size_t most = 100000, words = 48;

struct Sample {
    void *pc;
    void *stack[words];
};

static Sample *samples;
static std::atomic<size_t> count;
static timer_t timer;

static inline void on_signal(int, siginfo_t *, void *context)
{
    size_t at = count++;
    if (at >= most)
        return;
    const auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext;
#ifdef __x86_64__
    samples[at].pc = reinterpret_cast<void *>(registers.gregs[REG_RIP]);
    std::memcpy(samples[at].stack, reinterpret_cast<void *>(registers.gregs[REG_RSP]),
                sizeof samples[at].stack);
#else
    samples[at].pc = reinterpret_cast<void *>(registers.pc);
    std::memcpy(samples[at].stack, reinterpret_cast<void *>(registers.sp),
                sizeof samples[at].stack);
#endif
}

static inline void start()
{
    samples = static_cast<Sample *>(std::calloc(most, sizeof *samples));
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    itimerspec every = {{0, 50000}, {0, 50000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &every, nullptr);
}

/* The library, and the function or, where it has no name, the place in the library. */
static inline bool name_of(void *address, std::string *module, std::string *function)
{
    Dl_info info;
    char text[160];
    if (!address || !dladdr(address, &info) || !info.dli_fname)
        return false;
    const char *slash = std::strrchr(info.dli_fname, '/');
    *module = slash ? slash + 1 : info.dli_fname;
    if (info.dli_sname)
        std::snprintf(text, sizeof text, "%s", info.dli_sname);
    else
        std::snprintf(text, sizeof text, "+%#zx",
                      (static_cast<char *>(address) - static_cast<char *>(info.dli_fbase)) &
                          ~0xffl);
    *function = text;
    return true;
}

/* Prints shares: by library, and by function with the nearest other library on the stack. */
static inline void report(const char *title, size_t rows)
{
    timer_delete(timer);
    std::map<std::string, size_t> modules, places;
    const size_t taken = std::min(count.load(), most);
    for (size_t i = 0; i < taken; i++) {
        std::string module, function, other, caller;
        if (!name_of(samples[i].pc, &module, &function))
            module = "?";
        modules[module]++;
        for (void *word : samples[i].stack) {
            if (name_of(word, &other, &caller) && other != module)
                break;
            other.clear();
        }
        places[module + " " + function + (other.empty() ? "" : " < " + other + " " + caller)]++;
    }
    for (auto *shares : {&modules, &places}) {
        std::vector<std::pair<size_t, std::string>> sorted;
        for (const auto &share : *shares)
            sorted.push_back({share.second, share.first});
        std::sort(sorted.rbegin(), sorted.rend());
        for (size_t i = 0; i < sorted.size() && i < rows; i++)
            std::printf("sample %s %5.2f %% %s\n", title, 100.0 * sorted[i].first / taken,
                        sorted[i].second.c_str());
    }
}

} // namespace sampler

#endif
