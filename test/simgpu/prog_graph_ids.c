/* Three windows, each with twenty graph launches between twenty plain ones, and launches between
 * the windows. For each window prints how many activities of graphs are in the scope that launched
 * them, in another one and in none, how many of the plain ones are in theirs, the losses and what
 * the backend is called. Arguments: options of the stand-in, and for each window "node" or
 * "launch". If the first window is one of whole launches, the graph is made in it. */
#include "simgpu/driver.h"
#include "simgpu/stand_in.h"

#include "cuda/store.h"

#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 20
#define BETWEEN  10000 /* plain launches between windows: some buffers full */

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int status_ = (call);                                                                      \
        if (status_ != 0) {                                                                        \
            printf("%s: %d\n", #call, status_);                                                    \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static CUfunction plain;
static CUgraphExec exec;
static CUstream stream;

static CUfunction inside;

static void make_graph(void)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture_v2(stream, 0));
    CHECK(cuLaunchKernel(inside, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static void set_up(const char *options, const char *first_mode)
{
    CUcontext context;
    CUmodule module;
    use_stand_in(options);
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, "none"));
    CHECK(cuModuleGetFunction(&plain, module, "plain"));
    CHECK(cuModuleGetFunction(&inside, module, "inside"));
    CHECK(cuStreamCreate(&stream, 1));
    if (strcmp(first_mode, "launch") != 0)
        make_graph();
}

static void launch_plain(void)
{
    CHECK(cuLaunchKernel(plain, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static void launch_between(void)
{
    for (int i = 0; i < BETWEEN; i++) {
        launch_plain();
        if (i % 100 == 0)
            CHECK(cuGraphLaunch(exec, stream));
    }
    CHECK(cuStreamSynchronize(stream));
}

static void print(const takt_trace *trace, void *user)
{
    unsigned right = 0, wrong = 0, none = 0, plains = 0;
    uint64_t losses = 0;
    const takt_facts *facts = takt_trace_facts(trace);
    (void)user;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        CHECK(takt_trace_activity(trace, i, &activity));
        const char *scope = activity.scope ? activity.scope : "";
        bool is_graph = activity.graph != 0;
        right += is_graph && strcmp(scope, "replay") == 0;
        wrong += is_graph && strcmp(scope, "plain") == 0;
        none += is_graph && !*scope;
        plains += !is_graph && strcmp(scope, "plain") == 0;
    }
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        losses += takt_trace_loss(trace, (takt_loss)i);
    printf("right %u, wrong %u, none %u, plain %u, losses %lu: %s\n", right, wrong, none, plains,
           (unsigned long)losses, facts->backend);
}

static void record(const char *mode)
{
    takt_profiler *profiler;
    const takt_profiler_options options = {.struct_size = sizeof options,
                                           .on_trace = print,
                                           .background = TAKT_OFF,
                                           .profile_memory = TAKT_OFF,
                                           .graph = strcmp(mode, "launch") == 0 ? TAKT_GRAPH_LAUNCH
                                                                                : TAKT_GRAPH_NODE};
    CHECK(takt_profiler_create(&options, &profiler));
    CHECK(takt_profiler_start(profiler));
    if (!exec)
        make_graph();
    for (int i = 0; i < LAUNCHES; i++) {
        {
            TAKT_SCOPE("plain");
            launch_plain();
        }
        if (strcmp(mode, "plain") != 0) {
            TAKT_SCOPE("replay");
            CHECK(cuGraphLaunch(exec, stream));
        }
    }
    CHECK(takt_profiler_stop(profiler));
    takt_profiler_destroy(profiler);
}

static uint64_t used_bytes(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    uint64_t bytes = store->used_bytes;
    tkt_mutex_unlock(&store->lock);
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0); /* warnings come in between */
    set_up(argv[1], argv[2]);
    for (int i = 2; i < argc; i++) {
        record(argv[i]);
        uint64_t before = used_bytes();
        launch_between();
        if (used_bytes() > before)
            printf("the store grows by %lu bytes\n", (unsigned long)(used_bytes() - before));
    }
    return 0;
}
