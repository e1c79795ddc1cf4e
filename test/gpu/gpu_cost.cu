/* What recording costs a program that launches, on its threads: all that CUPTI and Takt do is
 * switched on and off by turns in one process, in 31 rounds (GPU_BENCH_ROUNDS), each in another
 * order. Threads are pinned to cores.
 *
 * "untouched" comes before CUPTI is loaded. "bare" has nothing on, in a process that had;
 * "kernels", "copies" (besides) and "kinds" (all that Takt enables) have activities on; "runtime"
 * and "driver" also empty callbacks on one domain's launches, "both" on both domains': that is the
 * floor for "takt", a profiler that records. The busy plan launches kernels of 50 us and waits for
 * them. */
#include "bench.cuh"

#include <pthread.h>
#include <sched.h>

#include <map>
#include <random>
#include <thread>

using namespace bench;

/* CUPTI has one subscriber, and Takt never gives up its subscription. So others go through it: this
 * program is linked with --wrap=dlsym, and what Takt hands to CUPTI is called only while it is
 * Takt's turn. */
namespace shared
{

CUpti_CallbackFunc called;
CUpti_BuffersCallbackRequestFunc requested;
CUpti_BuffersCallbackCompleteFunc completed;
bool is_takts_turn = true;

void CUPTIAPI call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    if (is_takts_turn)
        called(user, domain, id, data);
}

void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    (is_takts_turn ? requested : bench::request)(buffer, bytes, max_records);
}

/* Whoever has given the buffer takes it back. */
void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                       size_t valid)
{
    const bool is_ours = buffer >= buffers && buffer < buffers + buffer_count * buffer_bytes;
    (is_ours ? bench::complete : completed)(context, stream, buffer, bytes, valid);
}

decltype(&cuptiSubscribe_v2) subscribe_v2;
decltype(&cuptiSubscribe) subscribe_v1;
decltype(&cuptiActivityRegisterCallbacks) register_callbacks;

CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc function, void *user)
{
    called = function;
    CUptiResult result = subscribe_v1(out, call, user);
    raw::subscriber = *out;
    return result;
}

CUptiResult CUPTIAPI subscribe_new(CUpti_SubscriberHandle *out, CUpti_CallbackFunc function,
                                   void *user, CUpti_SubscriberParams *params)
{
    called = function;
    CUptiResult result = subscribe_v2(out, call, user, params);
    raw::subscriber = *out;
    return result;
}

CUptiResult CUPTIAPI use(CUpti_BuffersCallbackRequestFunc on_request,
                         CUpti_BuffersCallbackCompleteFunc on_complete)
{
    requested = on_request;
    completed = on_complete;
    return register_callbacks(request, complete);
}

template <typename Function> void *instead(Function &kept, void *found, Function ours)
{
    kept = reinterpret_cast<Function>(found);
    return found ? reinterpret_cast<void *>(ours) : nullptr;
}

} // namespace shared

extern "C" void *__real_dlsym(void *library, const char *name);
extern "C" void *__wrap_dlsym(void *library, const char *name)
{
    void *found = __real_dlsym(library, name);
    if (std::strcmp(name, "cuptiSubscribe") == 0)
        return shared::instead(shared::subscribe_v1, found, &shared::subscribe);
    if (std::strcmp(name, "cuptiSubscribe_v2") == 0)
        return shared::instead(shared::subscribe_v2, found, &shared::subscribe_new);
    if (std::strcmp(name, "cuptiActivityRegisterCallbacks") == 0)
        return shared::instead(shared::register_callbacks, found, &shared::use);
    return found;
}

namespace
{

const struct State {
    const char *name;
    size_t kinds;
    bool is_takt, is_for_busy;
} states[] = {
    {"bare", 0, false, true},
    {"kernels", 1, false, false},
    {"copies", 2, false, false},
    {"kinds", all_kinds, false, false},
    {"runtime", all_kinds, false, false},
    {"driver", all_kinds, false, false},
    {"both", all_kinds, false, true},
    {"takt", 0, true, true},
};

struct Plan {
    const char *name;
    int threads, launches; /* of each thread */
    bool is_busy;
};

/* Nanoseconds a launch in each round, by state. */
typedef std::map<std::string, std::vector<double>> Rounds;

/* The cores that this process may use; the first one is left to others. */
void pin(int number)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    int skip = (number + 1) % std::max(CPU_COUNT(&allowed), 1);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && skip-- == 0)
            CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/* All threads at once; each has launched before, so that it has its buffers. */
Times run_threads(const Plan &plan)
{
    static std::vector<cudaStream_t> streams;
    while (streams.size() < size_t(plan.threads)) {
        streams.emplace_back();
        CHECK(cudaStreamCreateWithFlags(&streams.back(), cudaStreamNonBlocking));
    }
    std::atomic<int> missing{plan.threads};
    std::vector<Times> times(plan.threads);
    std::vector<std::thread> threads;
    for (int i = 0; i < plan.threads; i++)
        threads.emplace_back([&, i] {
            pin(i);
            launch_scope(plan.is_busy, scope_launches, streams[i]);
            CHECK(cudaStreamSynchronize(streams[i]));
            for (missing--; missing > 0;)
                sched_yield();
            times[i] =
                run(plan.is_busy, plan.launches,
                    std::min(plan.threads > 1 ? 100 : burst_launches, plan.launches), streams[i]);
        });
    Times sum = {};
    for (int i = 0; i < plan.threads; i++) {
        threads[i].join();
        sum.host_ns += times[i].host_ns / plan.threads;
        sum.whole_ns += times[i].whole_ns / plan.threads;
    }
    return sum;
}

Times with_cupti(const State &state, const Plan &plan)
{
    shared::is_takts_turn = false;
    switch_kinds(true, state.kinds);
    switch_calls(state.name, true);
    Times times = run_threads(plan);
    raw::flush(true);
    switch_kinds(false, state.kinds);
    switch_calls(state.name, false);
    shared::is_takts_turn = true;
    return times;
}

/* Takt's own thread switches everything off after a window, callbacks last. */
void wait_until_off()
{
    uint32_t is_on = 1;
    for (int i = 0; i < 1000 && raw::subscriber; i++, pause_ms(1))
        if (CUPTI(cuptiGetCallbackState)(&is_on, raw::subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                         211) != CUPTI_SUCCESS ||
            !is_on)
            return;
}

Times with_takt(const Plan &plan)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.max_memory_bytes = UINT64_C(1) << 30;
    options.profile_memory = TAKT_OFF; /* or CUPTI stays on */
    takt::Profiler profiler(options);
    profiler.start();
    Times times = run_threads(plan);
    profiler.stop();
    wait_until_off();
    takt::Trace trace = profiler.trace();
    const uint64_t launched = uint64_t(plan.threads) * uint64_t(plan.launches + scope_launches);
    const uint64_t got = takt_trace_facts(trace.get())->activity_count;
    EXPECT(got == launched, "%llu of %llu", (unsigned long long)got, (unsigned long long)launched);
    expect_no_losses(trace.get());
    return times;
}

double run_state(const State &state, const Plan &plan)
{
    Times times = state.is_takt ? with_takt(plan)
                  : state.kinds ? with_cupti(state, plan)
                                : run_threads(plan);
    return plan.is_busy ? times.whole_ns : times.host_ns;
}

/* How many times as long as another state of the same round. */
std::vector<double> times_of(const std::vector<double> &these, const std::vector<double> &those)
{
    std::vector<double> ratios;
    for (size_t i = 0; i < these.size() && i < those.size(); i++)
        ratios.push_back(these[i] / those[i]);
    return ratios;
}

void tell_plan(const Plan &plan, Rounds &rounds)
{
    quartiles(rounds["untouched"], "ns_a_launch", "cost.%s.untouched", plan.name);
    for (const State &state : states)
        if (!rounds[state.name].empty())
            quartiles(rounds[state.name], "ns_a_launch", "cost.%s.%s", plan.name, state.name);
    quartiles(times_of(rounds["bare"], rounds["untouched"]), "times_untouched", "cost.%s.bare",
              plan.name);
    quartiles(times_of(rounds["takt"], rounds["bare"]), "times_bare", "cost.%s.takt", plan.name);
    if (plan.is_busy)
        budget(median(times_of(rounds["takt"], rounds["untouched"])), 1.03, "times_untouched",
               "cost.%s.takt.whole", plan.name);
    else if (!rounds["both"].empty())
        budget(median(times_of(rounds["takt"], rounds["both"])), 1.05, "times_both",
               "cost.%s.takt.host", plan.name);
}

/* The first family of CUPTI's functions, beside Takt. */
bool can_switch()
{
    int result =
        raw::subscriber ? CUPTI(cuptiActivityEnable)(kinds[0]) : CUPTI_ERROR_NOT_INITIALIZED;
    if (result != CUPTI_SUCCESS)
        std::printf("CUPTI %u alone is not measured beside Takt: %d\n", raw::version, result);
    else
        raw::enable(kinds[0], false);
    return result == CUPTI_SUCCESS;
}

void measure(const Plan &plan, int count, bool has_cupti, Rounds &rounds)
{
    static std::mt19937 random(1);
    for (int i = 0; i <= count; i++) { /* the first one does not count */
        std::vector<State> turn(std::begin(states), std::end(states));
        std::shuffle(turn.begin(), turn.end(), random);
        for (const State &state : turn) {
            if ((plan.is_busy && !state.is_for_busy) || (state.kinds && !has_cupti))
                continue;
            double ns = run_state(state, plan);
            if (i > 0)
                rounds[state.name].push_back(ns);
        }
    }
}

} // namespace

int main()
{
    const char *launches = std::getenv("GPU_BENCH_LAUNCHES"); /* fewer, to try it out */
    const char *wish = std::getenv("GPU_BENCH_ROUNDS");
    const int most = launches ? std::atoi(launches) : is_quick() ? 400 : 4000;
    const int count = wish ? std::atoi(wish) : is_quick() ? 3 : 31;
    const Plan plans[] = {{"1", 1, std::min(4000, most), false},
                          {"8", 8, std::min(1000, most), false},
                          {"32", 32, std::min(400, most), false},
                          {"busy", 1, std::min(500, most), true}};
    std::map<std::string, Rounds> all;
    need_device();
    nothing<<<1, 1>>>();
    spin_50us<<<1, 1>>>();
    for (const Plan &plan : plans)
        for (int i = 0; i < count; i++) {
            Times times = run_threads(plan);
            all[plan.name]["untouched"].push_back(plan.is_busy ? times.whole_ns : times.host_ns);
        }
    make_buffers();
    raw::tell_version();
    with_takt(plans[0]); /* subscribes */
    const bool has_cupti = can_switch();
    for (const Plan &plan : plans) {
        measure(plan, count, has_cupti, all[plan.name]);
        tell_plan(plan, all[plan.name]);
    }
    decides("Takt costs at most 1.05 times what empty callbacks cost, a busy program 1.03 times");
    decides(
        "which kinds and domains are worth their cost; what CUPTI leaves behind when it is off");
    return finish();
}
