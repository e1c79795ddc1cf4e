/* Which callbacks CUPTI makes for each way to launch, and which ids they have: of the runtime's
 * call, of the driver's calls inside it, and of the kernel's record. Without Takt. */
#include "cupti.cuh"

namespace
{

struct Call {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId id;
    CUpti_ApiCallbackSite site;
    uint32_t correlation;
};

std::vector<Call> calls; /* one thread calls */
int inner_ids;           /* calls inside others that have ids of their own, of all forms */

void CUPTIAPI called(void *, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    auto *call = static_cast<const CUpti_CallbackData *>(data);
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API)
        calls.push_back({domain, id, call->callbackSite, call->correlationId});
}

/* "runtime cudaLaunchKernel #12 { driver cuLaunchKernel #12 }" */
std::string describe(const std::vector<Call> &seen)
{
    std::string text;
    for (const Call &call : seen) {
        const char *name = "?";
        if (call.site == CUPTI_API_EXIT) {
            text += " }";
            continue;
        }
        CUPTI(cuptiGetCallbackName)(call.domain, call.id, &name);
        text += text.empty() ? "" : " ";
        text += call.domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "runtime " : "driver ";
        text += std::string(name) + "(" + std::to_string(call.id) + ") #" +
                std::to_string(call.correlation) + " {";
    }
    return text;
}

void tell_calls(const char *heard, const char *form, const std::vector<Call> &seen)
{
    int runtime = 0, driver = 0, other_ids = 0, depth = 0, deepest = 0;
    uint32_t outer = 0, kernels = 0, of_outer = 0;
    for (const Call &call : seen) {
        if (call.site == CUPTI_API_EXIT) {
            depth--;
            continue;
        }
        outer = depth == 0 ? call.correlation : outer;
        other_ids += depth > 0 && call.correlation != outer;
        deepest = std::max(deepest, ++depth);
        (call.domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime : driver)++;
    }
    for (const raw::Record &record : raw::arrived()) {
        kernels++;
        of_outer += std::any_of(seen.begin(), seen.end(), [&](const Call &call) {
            return call.correlation == record.correlation;
        });
    }
    std::printf("calls.%s.%s: %s\n", heard, form, describe(seen).c_str());
    tell(runtime, "calls", "calls.%s.%s.runtime", heard, form);
    tell(driver, "calls", "calls.%s.%s.driver", heard, form);
    tell(deepest, "levels", "calls.%s.%s.nesting", heard, form);
    tell(other_ids, "calls", "calls.%s.%s.inner_ids_of_their_own", heard, form);
    inner_ids += other_ids;
    tell(kernels, "records", "calls.%s.%s.records", heard, form);
    tell(of_outer, "records", "calls.%s.%s.records_with_a_seen_id", heard, form);
}

template <typename Launch> void try_form(const char *heard, const char *form, Launch launch)
{
    launch(); /* loads what there is to load */
    CHECK(cudaDeviceSynchronize());
    raw::collect();
    {
        std::lock_guard<std::mutex> hold(raw::lock);
        raw::records.clear();
    }
    calls.clear();
    launch();
    std::vector<Call> seen;
    seen.swap(calls);
    CHECK(cudaDeviceSynchronize());
    raw::collect();
    tell_calls(heard, form, seen);
}

/* cuLaunchKernelEx of the driver, which is not linked. */
bool launch_by_driver(bool extended)
{
    static auto plain = DRIVER(cuLaunchKernel);
    static auto ex = DRIVER(cuLaunchKernelEx);
    static cudaKernel_t kernel;
    if (!kernel && cudaGetKernel(&kernel, reinterpret_cast<const void *>(&nothing)) != cudaSuccess)
        return false;
    auto function = reinterpret_cast<CUfunction>(kernel);
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    if (extended)
        return ex && ex(&config, function, nullptr, nullptr) == CUDA_SUCCESS;
    return plain && plain(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == CUDA_SUCCESS;
}

cudaGraphExec_t make_graph()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    nothing<<<1, 1, 0, stream>>>();
    nothing<<<1, 1, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&launchable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    return launchable;
}

void try_all(const char *heard, bool runtime, bool driver)
{
    CUPTI_CHECK(cuptiEnableDomain, runtime, raw::subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
    CUPTI_CHECK(cuptiEnableDomain, driver, raw::subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    static cudaGraphExec_t graph = make_graph();
    static void *memory;
    if (!memory)
        CHECK(cudaMalloc(&memory, 4096));
    try_form(heard, "chevrons", [] { nothing<<<1, 1>>>(); });
    try_form(heard, "cudaLaunchKernel", [] {
        CHECK(cudaLaunchKernel(reinterpret_cast<const void *>(&nothing), dim3(1), dim3(1), nullptr,
                               0, nullptr));
    });
    try_form(heard, "cudaLaunchKernelExC", [] {
        cudaLaunchConfig_t config = {};
        config.gridDim = config.blockDim = dim3(1);
        CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(&nothing), nullptr));
    });
    try_form(heard, "cudaGraphLaunch", [] { CHECK(cudaGraphLaunch(graph, nullptr)); });
    try_form(heard, "cudaMemsetAsync", [] { CHECK(cudaMemsetAsync(memory, 0, 4096)); });
    for (bool extended : {false, true}) {
        const char *form = extended ? "cuLaunchKernelEx" : "cuLaunchKernel";
        if (launch_by_driver(extended))
            try_form(heard, form, [=] { launch_by_driver(extended); });
        else
            std::printf("calls.%s.%s: cannot be called here\n", heard, form);
    }
}

} // namespace

int main()
{
    need_device();
    raw::tell_version();
    raw::start(called);
    raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    raw::enable(CUPTI_ACTIVITY_KIND_MEMSET);
    try_all("both", true, true);
    key(inner_ids, "calls", "calls.both.inner_ids_of_their_own");
    try_all("runtime", true, false);
    try_all("driver", false, true);
    return finish();
}
