/* Forms of work beyond <<<>>>: kernels that cooperate, form clusters or overlap on one stream, come
 * from a library or run in a green context; graphs with conditions, memory of their own, or new
 * parameters; work captured while windows begin and end. Each form runs in a process of its own:
 * all its kernels must be there, in their scope, and no capture may be disturbed. */
#include "graphs.cuh"

#include <atomic>
#include <thread>

namespace
{

const int times = 20;

/* A function that older libraries, and the stand-ins, lack. */
#define FIND(name)                                                                                 \
    auto name##_ = FOUND(name);                                                                    \
    if (!name##_)                                                                                  \
        return std::printf("no %s\n", #name), missing;

#define FIND_DRIVER(name)                                                                          \
    auto name##_ = DRIVER(name);                                                                   \
    if (!name##_)                                                                                  \
        return std::printf("no %s\n", #name), missing;

int refused(const char *what, int error)
{
    std::printf("%s is refused: %d\n", what, error);
    return missing;
}

/* Runs `work` in a window and the scope "work", and tells what of `kernels` came. */
template <typename Work> int record(const char *form, size_t kernels, Work work)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt::Profiler profiler(options);
    profiler.start();
    {
        TAKT_SCOPE("work");
        work();
        CHECK(cudaDeviceSynchronize());
    }
    profiler.stop();
    takt::Trace trace = profiler.trace();
    size_t count = 0, in_scope = 0, negative = 0;
    for (size_t i = 0; i < takt_trace_count(trace.get(), TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity a;
        takt_trace_activity(trace.get(), i, &a);
        bool is_kernel = std::strncmp(a.name, "kernel", 6) == 0;
        count += is_kernel;
        in_scope += is_kernel && a.scope && std::strcmp(a.scope, "work") == 0;
        negative += is_kernel && !(a.elapsed_ms > 0);
    }
    key(100.0 * static_cast<double>(count) / static_cast<double>(kernels), "%", "forms.%s.got",
        form);
    tell(static_cast<double>(in_scope), "kernels", "forms.%s.in_scope", form);
    EXPECT(count == kernels, "%s: %zu kernels of %zu", form, count, kernels);
    EXPECT(in_scope == kernels, "%s: %zu kernels in the scope", form, in_scope);
    EXPECT(negative == 0, "%s: %zu kernels took no time", form, negative);
    expect_no_losses(trace.get());
    return finish();
}

/* ---- Launches -------------------------------------------------------------------------------- */

int cooperative()
{
    using function = cudaError_t (*)(const void *, dim3, dim3, void **, size_t, cudaStream_t);
    FIND_AS(cudaLaunchCooperativeKernel, function)
    return record("cooperative", times, [=] {
        for (int i = 0; i < times; i++)
            CHECK(cudaLaunchCooperativeKernel_(reinterpret_cast<const void *>(&spin_10us), dim3(4),
                                               dim3(32), nullptr, 0, nullptr));
    });
}

int with_attribute(const char *form, cudaLaunchAttribute attribute)
{
    FIND(cudaLaunchKernelExC)
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.stream = make_stream();
    config.attrs = &attribute;
    config.numAttrs = 1;
    const void *kernel = reinterpret_cast<const void *>(&spin_10us);
    if (cudaError_t error = cudaLaunchKernelExC_(&config, kernel, nullptr))
        return refused(form, error);
    CHECK(cudaDeviceSynchronize());
    return record(form, times, [=] {
        for (int i = 0; i < times; i++)
            CHECK(cudaLaunchKernelExC_(&config, kernel, nullptr));
    });
}

int clusters()
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    return with_attribute("clusters", attribute);
}

/* Each kernel may begin before the one before has ended. */
int overlapping()
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return with_attribute("overlapping", attribute);
}

int library()
{
    FIND(cudaLibraryLoadData)
    FIND(cudaLibraryGetKernel)
    static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                              ".visible .entry from_text() { ret; }\n";
    return record("library", times, [=] {
        cudaLibrary_t library;
        cudaKernel_t kernel;
        CHECK(cudaLibraryLoadData_(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
        CHECK(cudaLibraryGetKernel_(&kernel, library, "from_text"));
        for (int i = 0; i < times; i++)
            CHECK(cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(1), dim3(1),
                                   nullptr, 0, nullptr));
    });
}

/* A stream of a context that has a part of the multiprocessors. */
int green()
{
    FIND_DRIVER(cuDeviceGetDevResource)
    FIND_DRIVER(cuDevSmResourceSplitByCount)
    FIND_DRIVER(cuDevResourceGenerateDesc)
    FIND_DRIVER(cuGreenCtxCreate)
    FIND_DRIVER(cuGreenCtxStreamCreate)
    CUdevResource all, part;
    CUdevResourceDesc description;
    CUgreenCtx context;
    CUstream stream;
    unsigned groups = 1;
    int error = cuDeviceGetDevResource_(0, &all, CU_DEV_RESOURCE_TYPE_SM);
    error = error ? error : cuDevSmResourceSplitByCount_(&part, &groups, &all, nullptr, 0, 16);
    error = error ? error : cuDevResourceGenerateDesc_(&description, &part, 1);
    error =
        error ? error : cuGreenCtxCreate_(&context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM);
    error = error ? error : cuGreenCtxStreamCreate_(&stream, context, CU_STREAM_NON_BLOCKING, 0);
    if (error)
        return refused("a green context", error);
    return record("green", 2 * times, [=] {
        for (int i = 0; i < times; i++) {
            spin_10us<<<1, 1, 0, stream>>>();
            spin_10us<<<1, 1>>>();
        }
        CHECK(cudaStreamSynchronize(stream));
    });
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

int conditional()
{
    cudaStream_t stream = make_stream();
    int *counter;
    cudaGraphExec_t launchable = make_conditional(stream, 1, &counter);
    if (!launchable)
        return std::puts("no conditional nodes"), missing;
    return record("conditional", 3 * times, [=] {
        for (int i = 0; i < times; i++)
            CHECK(cudaGraphLaunch(launchable, stream));
        CHECK(cudaStreamSynchronize(stream));
    });
}

/* In a scope, or NULL for all. */
size_t bodies_in(const takt_trace *trace, const char *scope)
{
    size_t count = 0;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity a;
        takt_trace_activity(trace, i, &a);
        count += std::strstr(a.name, "body_") &&
                 (!scope || (a.scope && std::strcmp(a.scope, scope) == 0));
    }
    return count;
}

double last_share; /* of the repetitions that loops() ran, those in a scope */

/* Graphs on two streams, launched in two scopes by turns; nobody waits in between. Of graphs that
 * were instantiated before CUPTI was initialised, it has one repetition of each body. */
int loops(const char *form, takt_mode mode, bool is_streamed, bool is_made_before)
{
    const int rounds = 3, launches = 20 * times;
    cudaStream_t streams[2] = {make_stream(), make_stream()};
    cudaGraphExec_t graphs[2] = {};
    int *counters[2], repeated = 0;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.mode = mode;
    options.stream = is_streamed;
    options.directory = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp";
    takt::Profiler profiler(options);
    if (!is_made_before)
        profiler.start();
    for (int i = 0; i < 2; i++)
        if (!(graphs[i] = make_conditional(streams[i], rounds, &counters[i])))
            return std::puts("no conditional nodes"), missing;
    CHECK(cudaDeviceSynchronize());
    if (is_made_before)
        profiler.start();
    for (int i = 0; i < launches; i++) {
        takt_begin(i % 2 == 0 ? "even" : "odd");
        for (int k = 0; k < 2; k++)
            CHECK(cudaGraphLaunch(graphs[k], streams[k]));
        takt_end();
    }
    CHECK(cudaDeviceSynchronize());
    profiler.stop();
    for (int *counter : counters) {
        int count;
        CHECK(cudaMemcpy(&count, counter, sizeof count, cudaMemcpyDeviceToHost));
        repeated += count;
    }
    if (repeated == 0) /* stand-ins compute nothing */
        repeated = 2 * launches * rounds;
    EXPECT(repeated == 2 * launches * rounds, "%d repetitions", repeated);
    takt::Trace trace = profiler.trace();
    const size_t all = static_cast<size_t>(2 * repeated);
    const size_t even = bodies_in(trace.get(), "even"), odd = bodies_in(trace.get(), "odd");
    /* CUPTI 13.0 loses times of some nodes; bodies of such a launch may go to the one before. */
    const size_t lost = takt_trace_loss(trace.get(), TAKT_LOSS_BAD_TIME), more = 2 * rounds * lost;
    key(100.0 * static_cast<double>(even + odd) / static_cast<double>(all), "%",
        "forms.%s.in_scope", form);
    tell(static_cast<double>(bodies_in(trace.get(), nullptr)), "bodies", "forms.%s.in_trace", form);
    tell(static_cast<double>(even), "bodies", "forms.%s.in_even", form);
    tell(static_cast<double>(odd), "bodies", "forms.%s.in_odd", form);
    tell(static_cast<double>(lost), "nodes", "forms.%s.without_times", form);
    EXPECT(even <= odd + more && odd <= even + more, "%zu in even, %zu in odd", even, odd);
    EXPECT(takt_trace_loss(trace.get(), TAKT_LOSS_UNATTRIBUTED) == 0, "unattributed");
    last_share = static_cast<double>(even + odd + lost) / static_cast<double>(all);
    if (!is_made_before)
        EXPECT(even + odd <= all && even + odd + lost >= all, "%zu of %zu", even + odd, all);
    return finish();
}

int loops_before()
{
    return loops("loops_before", TAKT_MODE_TRACE, false, true);
}

/* Another profiler waits while the graphs are made, which is enough. */
int loops_waited()
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.schedule.wait = 1000;
    options.schedule.active = 1;
    takt::Profiler waiting(options);
    CHECK(cudaFree(nullptr)); /* Takt leaves the driver to the program */
    waiting.start();
    int status = loops("loops_waited", TAKT_MODE_TRACE, false, true);
    EXPECT(status != 0 || last_share > 0.999, "%.3f of the repetitions", last_share);
    return failures ? 1 : status;
}

int loops_trace()
{
    return loops("loops", TAKT_MODE_TRACE, false, false);
}

int loops_flight()
{
    return loops("loops_flight", TAKT_MODE_FLIGHT, false, false);
}

int loops_stream()
{
    return loops("loops_stream", TAKT_MODE_TRACE, true, false);
}

int updated()
{
    using function = cudaError_t (*)(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *);
    FIND_AS(cudaGraphExecUpdate, function)
    return record("updated", 3 * times, [=] {
        cudaGraphExec_t launchable;
        cudaStream_t stream = make_stream();
        CHECK(
            cudaGraphInstantiate(&launchable, capture(stream, 3, cudaStreamCaptureModeGlobal), 0));
        for (int i = 0; i < times; i++) {
            cudaGraphExecUpdateResultInfo info;
            cudaGraph_t graph = capture(stream, 3, cudaStreamCaptureModeGlobal);
            CHECK(cudaGraphExecUpdate_(launchable, graph, &info));
            CHECK(cudaGraphLaunch(launchable, stream));
            CHECK(cudaGraphDestroy(graph));
        }
        CHECK(cudaStreamSynchronize(stream));
    });
}

int memory()
{
    return record("memory", times, [] {
        cudaGraph_t graph;
        cudaGraphExec_t launchable;
        void *allocated;
        cudaStream_t stream = make_stream();
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        CHECK(cudaMallocAsync(&allocated, 1 << 20, stream));
        CHECK(cudaMemsetAsync(allocated, 0, 1 << 20, stream));
        spin_10us<<<1, 1, 0, stream>>>();
        CHECK(cudaFreeAsync(allocated, stream));
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&launchable, graph, 0));
        for (int i = 0; i < times; i++)
            CHECK(cudaGraphLaunch(launchable, stream));
        CHECK(cudaStreamSynchronize(stream));
    });
}

/* ---- Beside other work ----------------------------------------------------------------------- */

void CUDART_CB count(void *counter)
{
    static_cast<std::atomic<int> *>(counter)->fetch_add(1);
}

int host_functions()
{
    FIND(cudaLaunchHostFunc)
    static std::atomic<int> called;
    int status = record("host_functions", times, [=] {
        cudaStream_t stream = make_stream();
        for (int i = 0; i < times; i++) {
            spin_10us<<<1, 1, 0, stream>>>();
            CHECK(cudaLaunchHostFunc_(stream, count, &called));
        }
        CHECK(cudaStreamSynchronize(stream));
    });
    EXPECT(called == times, "%d host functions were called", called.load());
    return status || failures != 0;
}

/* A capture in mode global forbids calls on all threads, also to whoever begins a window meanwhile.
 * None of the captures may fail, and each graph has all its kernels. The first window begins
 * before: CUPTI 13.0 crashes if its first session begins while another thread makes or destroys a
 * graph. */
int captured_meanwhile()
{
    std::atomic<bool> is_done{false};
    std::atomic<int> windows{0};
    std::thread starter([&] {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        takt::Profiler profiler(options);
        while (!is_done) {
            profiler.start();
            windows++;
            pause_ms(2);
            profiler.stop();
        }
    });
    while (windows == 0)
        pause_ms(1);
    cudaStream_t stream = make_stream();
    const int rounds = is_quick() ? 200 : 2000;
    size_t wrong = 0;
    for (int i = 0; i < rounds; i++) {
        size_t nodes = 0;
        cudaGraphExec_t launchable;
        cudaGraph_t graph = capture(stream, 5, cudaStreamCaptureModeGlobal);
        CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
        wrong += nodes != 5;
        CHECK(cudaGraphInstantiate(&launchable, graph, 0));
        CHECK(cudaGraphLaunch(launchable, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaGraphExecDestroy(launchable));
        CHECK(cudaGraphDestroy(graph));
    }
    is_done = true;
    starter.join();
    key(windows, "windows", "forms.captured_meanwhile.windows");
    key(100.0 - 100.0 * static_cast<double>(wrong) / rounds, "%", "forms.captured_meanwhile.right");
    EXPECT(wrong == 0, "%zu graphs of %d have other nodes", wrong, rounds);
    return finish();
}

const struct {
    const char *name;
    int (*run)();
} forms[] = {
    {"cooperative", cooperative},
    {"clusters", clusters},
    {"overlapping", overlapping},
    {"library", library},
    {"green", green},
    {"conditional", conditional},
    {"loops", loops_trace},
    {"loops_before", loops_before},
    {"loops_waited", loops_waited},
    {"loops_flight", loops_flight},
    {"loops_stream", loops_stream},
    {"updated", updated},
    {"memory", memory},
    {"host_functions", host_functions},
    {"captured_meanwhile", captured_meanwhile},
};

} // namespace

int main(int argc, char **argv)
{
    std::vector<const char *> names;
    for (const auto &form : forms)
        names.push_back(form.name);
    if (argc < 2)
        return run_modes(argv[0], names, 30);
    need_device();
    for (const auto &form : forms)
        if (std::strcmp(argv[1], form.name) == 0)
            return form.run();
    return 2;
}
