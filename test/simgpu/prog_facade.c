/* Drives src/cuda/cuda.h in a program that uses CUDA, one scenario a process, since a process has
 * one collector:  prog_facade SCENARIO [EXPECTED]. check_facade.sh runs all of them on all
 * stand-ins. */
#include "cuda/cuda.h"

#include "base/thread.h"

#include "cuda/collector.h"
#include "simgpu/driver.h"
#include "simgpu/sim.h"
#include "support/settle.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CALLS 400000u
#define FILTER     0x1Fu

#define CHECK(claim)                                                                               \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim);                  \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define CUDA(call) CHECK((call) == 0)

static const char *expected;

/* Calls that were told, by correlation id. */
static _Atomic(uint32_t) told, told_as[MOST_CALLS];
static const char *_Atomic last_name;

static void listen(const tkt_cuda_call *call)
{
    CHECK(call->correlation < MOST_CALLS);
    CHECK(call->begin_ticks <= call->end_ticks);
    atomic_fetch_add(&told_as[call->correlation], 1);
    atomic_fetch_add(&told, 1);
    last_name = call->name;
}

static char lines[4096];
static void hear(takt_log_level level, const char *line, void *user)
{
    (void)user;
    if (level != TAKT_LOG_INFO)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s\n", line);
}

static CUcontext context;
static CUfunction kernel;
static CUdeviceptr memory;

static void begin_cuda(void)
{
    static const char image[16] = "image";
    CUmodule module;
    CUDA(cuInit(0));
    CUDA(cuDevicePrimaryCtxRetain(&context, 0));
    CUDA(cuCtxSetCurrent(context));
    CUDA(cuModuleLoadData(&module, image));
    CUDA(cuModuleGetFunction(&kernel, module, "step"));
    CUDA(cuMemAlloc_v2(&memory, 1 << 20));
}

static uint64_t generation;
static void want(bool is_on, bool with_memory)
{
    tkt_cuda_want(&(tkt_cuda_wish){.is_on = is_on,
                                   .memory = with_memory,
                                   .filter = FILTER,
                                   .max_bytes = 64 << 20,
                                   .generation = ++generation});
}

static void launch(int count)
{
    for (int i = 0; i < count; i++)
        CUDA(cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}

/* Activities that are stored, of calls that were told where calls are told. CUPTI may go on between
 * windows; what it tells late of launches made then is no window's. */
static size_t stored(void)
{
    tkt_store *store = tkt_store_get();
    size_t count = 0;
    tkt_mutex_lock(&store->lock);
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        for (uint32_t i = 0; i < chunk->count; i++) {
            const tkt_stored_activity *activity = &chunk->items[i];
            if (tkt_stored_loss(activity)) /* of a buffer that came back twice */
                continue;
            CHECK(activity->begin < activity->end);
            CHECK(activity->correlation < MOST_CALLS);
            CHECK(told_as[activity->correlation] <= 1);
            count += !told || told_as[activity->correlation] == 1;
        }
    }
    tkt_mutex_unlock(&store->lock);
    return count;
}

/* By CUPTI, which got no buffer, or since the store was full: how many of each depends on how soon
 * decoded buffers are free again. */
static size_t lost_count(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    size_t count = store->losses.dropped + store->losses.store_full;
    tkt_mutex_unlock(&store->lock);
    return count;
}

static void is_backend(tkt_backend backend, const char *text)
{
    tkt_cuda_status status = tkt_cuda_status_now();
    if (status.backend != backend || !strstr(status.text, text))
        fprintf(stderr, "backend %d: %s (%s)\n", (int)status.backend, status.text, status.reason);
    CHECK(status.backend == backend && strstr(status.text, text));
}

/* Every launch gives one call and one activity; nothing is lost. */
static void each(void)
{
    begin_cuda();
    want(true, false);
    is_backend(TKT_BACKEND_CUPTI, expected);
    uint32_t before = tkt_cuda_last_correlation();
    launch(1000);
    CHECK(strcmp(last_name, "cuLaunchKernel") == 0);
    char host[64] = "";
    for (int i = 0; i < 10; i++)
        CUDA(cuMemcpyHtoD_v2(memory, host, sizeof host));
    CHECK(strcmp(last_name, "cuMemcpyHtoD") == 0);
    for (int i = 0; i < 5; i++)
        CUDA(cuMemsetD8Async(memory, 0, 100, NULL));
    CHECK(told == 1015);
    CHECK(tkt_cuda_last_correlation() - before >= 1015);
    CHECK(settle_devices(true));
    CHECK(told == 1015); /* waiting is Takt's own */
    CHECK(stored() == 1015);
    CHECK(lines[0] == 0);
    const tkt_store *store = tkt_store_get();
    CHECK(store->losses.dropped + store->losses.unknown + store->losses.bad_time +
              store->losses.store_full ==
          0);
    CHECK(store->clock.pairs.count > 0);
    CHECK(store->devices.count == 1 && store->devices.items[0].multiprocessors == 128);
    CHECK(strcmp(tkt_strtab_text(&store->strings, store->devices.items[0].name),
                 "Takt simulated GPU 0") == 0);
}

/* Takt may be there before CUDA is. */
static void early(void)
{
    want(true, false);
    is_backend(TKT_BACKEND_CUPTI, expected);
    CHECK(tkt_store_get()->devices.count == 0);
    begin_cuda();
    launch(10);
    CHECK(settle_devices(true));
    CHECK(stored() == 10);
    CHECK(tkt_store_get()->devices.count == 1);
}

static void on_and_off(void)
{
    begin_cuda();
    for (size_t round = 1; round <= 20; round++) {
        launch(3);
        want(true, false);
        launch(7);
        CHECK(settle_devices(true));
        want(false, false);
        launch(5);
        CHECK(told == 7 * round);
        CHECK(stored() == 7 * round);
    }
    uint32_t before = told;
    tkt_cuda_want(&(tkt_cuda_wish){.is_on = true, .filter = FILTER, .generation = 1});
    launch(5);
    CHECK(told == before); /* that wish was an old one */
}

static void wishes(void)
{
    CUdeviceptr more;
    begin_cuda();
    want(true, false);
    CUDA(cuMemAlloc_v2(&more, 4096));
    settle_devices(false);
    CHECK(tkt_store_get()->memory.count == 0);
    want(true, true);
    launch(2);
    CUDA(cuMemFree_v2(more));
    CHECK(settle_devices(true));
    CHECK(tkt_store_get()->memory.count == 1);
    CHECK(tkt_store_get()->memory.items[0].bytes < 0);
    CHECK(stored() == 2);
    tkt_cuda_want(&(tkt_cuda_wish){
        .is_on = true, .filter = 8, .max_bytes = 1 << 20, .generation = ++generation});
    launch(3);
    CUDA(cuMemsetD8_v2(memory, 0, 100));
    CHECK(settle_devices(true));
    CHECK(stored() == 3); /* kernels are not wished for any more */
}

static void *launch_500(void *unused)
{
    (void)unused;
    CUDA(cuCtxSetCurrent(context));
    launch(500);
    return NULL;
}

/* However buffers come back. What never comes costs nothing but itself. */
static void threads(void)
{
    tkt_thread running[4];
    begin_cuda();
    want(true, false);
    for (int i = 0; i < 4; i++)
        CHECK(tkt_thread_start(&running[i], "launcher", launch_500, NULL) == TAKT_OK);
    for (int i = 0; i < 4; i++)
        tkt_thread_join(running[i]);
    CHECK(told == 2000);
    size_t wanted = strtoul(expected, NULL, 10);
    if (wanted < 2000)
        be_impatient();
    bool is_settled = settle_devices(true);
    CHECK(!is_settled || stored() == 2000);
    CHECK(is_settled == (wanted == 2000));
    while (stored() < wanted)
        settle_devices(false);
    CHECK(stored() == wanted);
    want(false, false);
}

/* The other profiler's name, and another attempt once it has gone. */
static void taken(void)
{
    begin_cuda();
    want(true, false);
    is_backend(TKT_BACKEND_EVENTS, "CUDA events");
    CHECK(strstr(tkt_cuda_status_now().reason, expected));
    CHECK(strstr(lines, expected));
    want(true, false);
    CHECK(strchr(lines, '\n') == strrchr(lines, '\n')); /* said once */
    launch(5);
    CHECK(settle_devices(true));
    CHECK(stored() == 0);
    unsetenv("TAKT_SIM");
    sim_script("");
    want(true, false);
    is_backend(TKT_BACKEND_CUPTI, "CUPTI");
    CHECK(tkt_cuda_status_now().reason[0] == 0);
    launch(5);
    CHECK(settle_devices(true));
    CHECK(stored() == 5);
}

/* CUPTI cannot be used, and is not tried again. */
static void refused(void)
{
    begin_cuda();
    for (int i = 0; i < 3; i++) {
        want(true, false);
        is_backend(TKT_BACKEND_EVENTS, "CUDA events");
        CHECK(strstr(tkt_cuda_status_now().reason, expected));
        launch(5);
        CHECK(settle_devices(true));
        want(false, false);
    }
    CHECK(stored() == 0 && told == 0);
    CHECK(strstr(lines, expected) && strchr(lines, '\n') == strrchr(lines, '\n'));
}

static void no_gpu(void)
{
    want(true, false);
    is_backend(TKT_BACKEND_NONE, "none");
    CHECK(strstr(tkt_cuda_status_now().reason, expected));
    CHECK(lines[0] == 0);
    CHECK(tkt_cuda_synchronize() == TAKT_OK);
}

/* One kind cannot be had: the rest goes on. */
static void in_part(void)
{
    begin_cuda();
    for (int i = 0; i < 3; i++) {
        want(true, false);
        is_backend(TKT_BACKEND_CUPTI, "CUPTI");
        launch(5);
        CUDA(cuMemsetD8_v2(memory, 0, 100));
        CHECK(settle_devices(true));
        want(false, false);
    }
    CHECK(stored() == 15 + 2); /* sets are the second kind, and missing in the first round */
    CHECK(strstr(lines, expected) && strchr(lines, '\n') == strrchr(lines, '\n'));
}

/* A function of CUPTI's does not return: nobody waits for ever, also not at exit. */
static void hang(void)
{
    begin_cuda();
    want(true, false);
    launch(5);
    be_impatient();
    CHECK(!settle_devices(true));
    CHECK(!settle_devices(true));
    want(false, false);
    want(true, false);
}

/* More raw records than there are buffers for, while the decoder cannot go on. */
static void exhausted(void)
{
    const size_t launches = 200000;
    begin_cuda();
    tkt_cuda_want(&(tkt_cuda_wish){
        .is_on = true, .filter = FILTER, .max_bytes = 8 << 20, .generation = ++generation});
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    launch((int)launches);
    tkt_mutex_unlock(&store->lock);
    size_t wanted = strcmp(expected, "about") == 0 ? launches / 4 * 3 : launches;
    CHECK(settle_devices(true));
    size_t count = stored();
    size_t lost = lost_count();
    if (count == 0 || count >= launches || count + lost < wanted)
        fprintf(stderr, "%zu of %zu launches, %zu lost\n", count, launches, lost);
    CHECK(count > 0 && count < launches && count + lost >= wanted);
    /* A record of Takt's own waiting may be among them. */
    CHECK(wanted < launches || count + lost <= launches + 10);
    launch(100);
    CHECK(settle_devices(true));
    CHECK(stored() == count + 100);
}

static void forked(void)
{
    begin_cuda();
    want(true, false);
    launch(5);
    pid_t child = fork();
    if (child == 0) {
        uint64_t bytes;
        want(true, false);
        want(false, false);
        CHECK(settle_devices(true));
        CHECK(strstr(tkt_cuda_status_now().reason, "forked"));
        CHECK(!tkt_cuda_memory(0, &bytes, &bytes));
        CHECK(tkt_cuda_synchronize() == TAKT_OK);
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(settle_devices(true));
    CHECK(stored() == 5);
}

/* Registered before the collector starts, so it runs after that has left. */
static void look_after_exit(void)
{
    CHECK(stored() == 100);
    settle_devices(true);
    want(false, false);
    puts("left");
}

static void at_exit(void)
{
    atexit(look_after_exit);
    want(true, false);
    begin_cuda();
    launch(100);
    CUDA(cuCtxSynchronize());
    exit(0);
}

static void capture(void)
{
    CUstream stream;
    CUgraph graph;
    CUcontext other;
    begin_cuda();
    CUDA(cuDevicePrimaryCtxRetain(&other, 1));
    CUDA(cuStreamCreate(&stream, 0));
    CUDA(cuStreamBeginCapture_v2(stream, 1)); /* nobody tells of it; the other device has none */
    CHECK(tkt_cuda_synchronize() == TAKT_BAD_STATE);
    CUDA(cuStreamEndCapture(stream, &graph));
    want(true, false);
    CHECK(tkt_cuda_synchronize() == TAKT_OK);
    CUDA(cuStreamBeginCapture_v2(stream, 1));
    CUDA(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    CHECK(tkt_cuda_synchronize() == TAKT_BAD_STATE);
    CHECK(!tkt_cuda_settle(&(tkt_settling){.synchronize = true, .timeout_ms = 200}));
    CUDA(cuStreamEndCapture(stream, &graph)); /* it is still valid */
    CHECK(tkt_cuda_synchronize() == TAKT_OK);
    CUgraphExec exec;
    CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA(cuGraphLaunch(exec, stream));
    CHECK(settle_devices(true));
    CHECK(strcmp(last_name, "cuGraphLaunch") == 0);
    CHECK(stored() == 1);
}

/* Brings a body at each of the first five looks. */
static tkt_completeness bring_body(void *looks)
{
    tkt_store *store = tkt_store_get();
    if (++*(int *)looks > 5)
        return TKT_COMPLETE;
    tkt_mutex_lock(&store->lock);
    CHECK(tkt_store_add(store, &(tkt_stored_activity){.graph = 1}));
    tkt_mutex_unlock(&store->lock);
    return TKT_COMPLETE;
}

/* While a kernel of hours runs. The sixth look finds the fifth body, the seventh no other, and some
 * time later the eighth still none. */
static void bodies(void)
{
    int looks = 0;
    begin_cuda();
    want(true, false);
    launch(1);
    CHECK(tkt_cuda_settle(&(tkt_settling){.synchronize = true,
                                          .wants_rest = true,
                                          .timeout_ms = 600000,
                                          .is_complete = bring_body,
                                          .user = &looks}));
    CHECK(looks >= 8);
    _exit(0);
}

static void device_memory(void)
{
    uint64_t free_bytes = 0, total_bytes = 0;
    CHECK(!tkt_cuda_memory(0, &free_bytes, &total_bytes));
    begin_cuda();
    size_t free_now, total_now;
    CUDA(cuMemGetInfo_v2(&free_now, &total_now));
    CUDA(cuCtxSetCurrent(NULL));
    CHECK(tkt_cuda_memory(0, &free_bytes, &total_bytes));
    CHECK(free_bytes == free_now && total_bytes == total_now && total_now > free_now);
    CHECK(!tkt_cuda_memory(1, &free_bytes, &total_bytes));
    CHECK(!tkt_cuda_memory(1u << 31, &free_bytes, &total_bytes));
    CUcontext current = context;
    CUDA(cuCtxGetCurrent(&current));
    CHECK(current == NULL);
}

/* Where the stamps of what happened between two moments lie on Takt's clock. */
static void clocks(void)
{
    begin_cuda();
    want(true, false);
    uint64_t before_ns = takt_now_ns();
    launch(50);
    CHECK(settle_devices(true));
    uint64_t after_ns = takt_now_ns();
    CHECK(stored() == 50);
    tkt_clock_fit fit = tkt_clock_fit_now();
    tkt_clock_map map;
    const tkt_store *store = tkt_store_get();
    CHECK(tkt_clock_map_make(&store->clock, &fit, &map) == TAKT_OK);
    uint64_t slack_ns = 2000 + (uint64_t)(map.uncertainty_ns + fit.uncertainty_ns);
    for (uint32_t i = 0; i < store->first->count; i++) {
        uint64_t begin_ns = tkt_clock_map_ns(&map, store->first->items[i].begin);
        uint64_t end_ns = tkt_clock_map_ns(&map, store->first->items[i].end);
        CHECK(begin_ns + slack_ns >= before_ns && end_ns <= after_ns + slack_ns);
    }
    tkt_clock_map_fini(&map);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"each", each},       {"early", early},     {"on_and_off", on_and_off},
    {"wishes", wishes},   {"threads", threads}, {"taken", taken},
    {"refused", refused}, {"no_gpu", no_gpu},   {"in_part", in_part},
    {"hang", hang},       {"forked", forked},   {"exhausted", exhausted},
    {"at_exit", at_exit}, {"capture", capture}, {"device_memory", device_memory},
    {"clocks", clocks},   {"bodies", bodies},
};

int main(int count, char **arguments)
{
    const char *name = count > 1 ? arguments[1] : "";
    expected = count > 2 ? arguments[2] : "";
    be_patient();
    takt_set_log(hear, NULL);
    tkt_cuda_on_call(listen);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (strcmp(scenarios[i].name, name) == 0) {
            scenarios[i].run();
            return 0;
        }
    }
    fprintf(stderr, "no such scenario: %s\n", name);
    return 2;
}
