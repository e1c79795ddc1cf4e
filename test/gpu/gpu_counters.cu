/* What a machine lets a program have of hardware counters, and what that costs beside tracing:
 * NVML's GPM, CUPTI's Range Profiler and PM sampling, each without and with CUPTI's records of
 * kernels; and kernel times by hardware events (cuptiActivityEnableHWTrace()). Each step prints its
 * status; after one that fails, the rest is left out. */
#include "cupti.cuh"

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <atomic>
#include <thread>

namespace
{

const char *mode_name;

/* ---- Steps and their cost -------------------------------------------------------------------- */

/* The status of a call and how long it took; false if it failed, or if there is no such function.
 */
template <typename Function, typename... Arguments>
bool step(const char *name, const char *(*text)(int), Function function, Arguments... arguments)
{
    int status = 0;
    if (!function) {
        std::printf("* counters.%s.%s absent\n", mode_name, name);
        return false;
    }
    const double ms = ms_of([&] { status = static_cast<int>(function(arguments...)); });
    char unit[128];
    std::snprintf(unit, sizeof unit, "status %s, %.3f ms", text(status), ms);
    (status ? key : tell)(status, unit, "counters.%s.%s", mode_name, name);
    return status == 0;
}

const char *cupti_text(int status)
{
    const char *text = "";
    CUPTI(cuptiGetResultString)(static_cast<CUptiResult>(status), &text);
    return text;
}

/* One that fails ends the function around it. */
#define STEP(function, ...)                                                                        \
    if (!step(#function, cupti_text, CUPTI(function), __VA_ARGS__))                                \
        return false;

/* The struct that a function of CUPTI's profilers takes. */
#define PARAMS(type, name)                                                                         \
    type name = {};                                                                                \
    name.structSize = type##_STRUCT_SIZE

/* Nanoseconds of a launch on the host, and of a kernel that works for 10 us, whole. */
void tell_cost(const char *when)
{
    std::vector<double> host, whole;
    for (int round = 0; round < (is_quick() ? 3 : 15); round++) {
        const int count = 500;
        host.push_back(1e6 / count * ms_of([&] {
                           for (int i = 0; i < count; i++)
                               nothing<<<1, 1>>>();
                       }));
        CHECK(cudaDeviceSynchronize());
        whole.push_back(1e6 / count * ms_of([&] {
                            for (int i = 0; i < count; i++)
                                spin_10us<<<1, 1>>>();
                            CHECK(cudaDeviceSynchronize());
                        }));
    }
    quartiles(host, "ns_a_launch", "counters.%s.%s", mode_name, when);
    quartiles(whole, "ns_a_kernel_of_10us", "counters.%s.%s", mode_name, when);
}

void tell_records()
{
    if (!raw::subscriber)
        return;
    raw::collect();
    const size_t before = raw::finished_kernels();
    for (int i = 0; i < 100; i++)
        spin_10us<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    raw::collect();
    key(static_cast<double>(raw::finished_kernels() - before), "of_100_kernels_with_times",
        "counters.%s.records", mode_name);
}

/* ---- NVML ------------------------------------------------------------------------------------ */

/* As nvml.h has them, which a toolkit may lack. */
namespace nvml
{

typedef struct device *Device;
typedef struct sample *Sample;

struct Support {
    unsigned version, is_supported;
};

struct Metric {
    unsigned id;
    int status;
    double value;
    const char *short_name, *long_name, *unit;
};

struct Metrics {
    unsigned version, count;
    Sample first, last;
    Metric metrics[512]; /* at least as many as any version has */
};

void *library;
const char *text(int status)
{
    auto function = reinterpret_cast<const char *(*)(int)>(dlsym(library, "nvmlErrorString"));
    return function ? function(status) : "";
}

} // namespace nvml

#define NVML_STEP(name, type, ...)                                                                 \
    if (!step(#name, nvml::text, reinterpret_cast<int(*) type>(dlsym(nvml::library, #name)),       \
              __VA_ARGS__))                                                                        \
        return false;

const struct {
    unsigned id;
    const char *name;
} gpm_metrics[] = {{1, "graphics_util"}, {2, "sm_util"},    {3, "sm_occupancy"}, {5, "tensor_util"},
                   {10, "dram_bw_util"}, {12, "fp32_util"}, {20, "pcie_tx"},     {21, "pcie_rx"}};

bool tell_gpm_metrics(nvml::Sample first, nvml::Sample last)
{
    static nvml::Metrics get;
    get.version = 1;
    get.first = first;
    get.last = last;
    for (const auto &metric : gpm_metrics)
        get.metrics[get.count++].id = metric.id;
    NVML_STEP(nvmlGpmMetricsGet, (nvml::Metrics *), &get)
    for (unsigned i = 0; i < get.count; i++)
        if (get.metrics[i].status)
            tell(get.metrics[i].status, "status", "counters.gpm.%s", gpm_metrics[i].name);
        else
            tell(get.metrics[i].value, get.metrics[i].unit ? get.metrics[i].unit : "",
                 "counters.gpm.%s", gpm_metrics[i].name);
    return true;
}

bool gpm()
{
    nvml::library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!nvml::library)
        return std::printf("* counters.%s.libnvidia-ml absent\n", mode_name), false;
    nvml::Device device = nullptr;
    nvml::Sample samples[3] = {};
    nvml::Support support = {1, 0};
    const auto get = reinterpret_cast<int (*)(nvml::Device, nvml::Sample)>(
        dlsym(nvml::library, "nvmlGpmSampleGet"));
    if (!step("nvmlInit_v2", nvml::text,
              reinterpret_cast<int (*)()>(dlsym(nvml::library, "nvmlInit_v2"))))
        return false;
    NVML_STEP(nvmlDeviceGetHandleByIndex_v2, (unsigned, nvml::Device *), 0u, &device)
    NVML_STEP(nvmlGpmQueryDeviceSupport, (nvml::Device, nvml::Support *), device, &support)
    key(support.is_supported, "supported", "counters.%s", mode_name);
    for (nvml::Sample &sample : samples)
        NVML_STEP(nvmlGpmSampleAlloc, (nvml::Sample *), &sample)
    NVML_STEP(nvmlGpmSampleGet, (nvml::Device, nvml::Sample), device, samples[0])
    for (int i = 0; i < 10; i++)
        spin_20ms<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    NVML_STEP(nvmlGpmSampleGet, (nvml::Device, nvml::Sample), device, samples[1])
    tell_gpm_metrics(samples[0], samples[1]);
    std::vector<double> ms;
    std::atomic<bool> is_over{false};
    std::thread sampler([&] {
        for (; !is_over; pause_ms(10))
            ms.push_back(ms_of([&] { get(device, samples[2]); }));
    });
    tell_cost("sampled_each_10ms");
    is_over = true;
    sampler.join();
    quartiles(ms, "ms_a_sample", "counters.%s", mode_name);
    tell_records();
    return true;
}

/* ---- CUPTI's profilers ----------------------------------------------------------------------- */

struct Config {
    std::vector<const char *> metrics;
    std::vector<uint8_t> image;
    CUpti_Profiler_Host_Object *host;
};

/* What is to be counted, as an image for this chip. */
bool configure(CUpti_ProfilerType type, const std::vector<uint8_t> &availability, Config &config)
{
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    STEP(cuptiDeviceGetChipName, &chip)
    std::printf("counters.%s.chip %s\n", mode_name, chip.pChipName);
    PARAMS(CUpti_Profiler_Host_Initialize_Params, host);
    host.profilerType = type;
    host.pChipName = chip.pChipName;
    host.pCounterAvailabilityImage = availability.data();
    STEP(cuptiProfilerHostInitialize, &host)
    config.host = host.pHostObject;
    PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = config.host;
    add.ppMetricNames = config.metrics.data();
    add.numMetrics = config.metrics.size();
    STEP(cuptiProfilerHostConfigAddMetrics, &add)
    PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = config.host;
    STEP(cuptiProfilerHostGetConfigImageSize, &size)
    config.image.resize(size.configImageSize);
    PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
    get.pHostObject = config.host;
    get.configImageSize = config.image.size();
    get.pConfigImage = config.image.data();
    STEP(cuptiProfilerHostGetConfigImage, &get)
    PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    passes.configImageSize = config.image.size();
    passes.pConfigImage = config.image.data();
    STEP(cuptiProfilerHostGetNumOfPasses, &passes)
    tell(static_cast<double>(passes.numOfPasses), "passes", "counters.%s", mode_name);
    return true;
}

bool tell_values(const Config &config, const std::vector<uint8_t> &data)
{
    std::vector<double> values(config.metrics.size());
    std::vector<const char *> names = config.metrics;
    PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
    evaluate.pHostObject = config.host;
    evaluate.pCounterDataImage = data.data();
    evaluate.counterDataImageSize = data.size();
    evaluate.ppMetricNames = names.data();
    evaluate.numMetrics = names.size();
    evaluate.pMetricValues = values.data();
    STEP(cuptiProfilerHostEvaluateToGpuValues, &evaluate)
    for (size_t i = 0; i < values.size(); i++)
        tell(values[i], "", "counters.%s.%s", mode_name, names[i]);
    return true;
}

bool range()
{
    CUcontext context = nullptr;
    std::vector<uint8_t> availability, data;
    Config config = {{"gpu__time_duration.sum", "dram__bytes.sum"}, {}, nullptr};
    DRIVER(cuCtxGetCurrent)(&context);
    PARAMS(CUpti_Profiler_Initialize_Params, initialize);
    STEP(cuptiProfilerInitialize, &initialize)
    PARAMS(CUpti_Profiler_GetCounterAvailability_Params, available);
    available.ctx = context;
    STEP(cuptiProfilerGetCounterAvailability, &available)
    availability.resize(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    STEP(cuptiProfilerGetCounterAvailability, &available)
    if (!configure(CUPTI_PROFILER_TYPE_RANGE_PROFILER, availability, config))
        return false;
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = context;
    STEP(cuptiRangeProfilerEnable, &enable)
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = enable.pRangeProfilerObject;
    size.pMetricNames = config.metrics.data();
    size.numMetrics = config.metrics.size();
    size.maxNumOfRanges = size.maxNumRangeTreeNodes = 1;
    STEP(cuptiRangeProfilerGetCounterDataSize, &size)
    data.resize(size.counterDataSize);
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
    image.pRangeProfilerObject = enable.pRangeProfilerObject;
    image.counterDataSize = data.size();
    image.pCounterData = data.data();
    STEP(cuptiRangeProfilerCounterDataImageInitialize, &image)
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
    set.pRangeProfilerObject = enable.pRangeProfilerObject;
    set.configSize = config.image.size();
    set.pConfig = config.image.data();
    set.counterDataImageSize = data.size();
    set.pCounterDataImage = data.data();
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = set.numNestingLevels = set.minNestingLevel = set.targetNestingLevel = 1;
    STEP(cuptiRangeProfilerSetConfig, &set)
    PARAMS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = enable.pRangeProfilerObject;
    STEP(cuptiRangeProfilerStart, &start)
    PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = enable.pRangeProfilerObject;
    push.pRangeName = "range";
    STEP(cuptiRangeProfilerPushRange, &push)
    tell_cost("in_a_range");
    tell_records();
    PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
    pop.pRangeProfilerObject = enable.pRangeProfilerObject;
    STEP(cuptiRangeProfilerPopRange, &pop)
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = enable.pRangeProfilerObject;
    STEP(cuptiRangeProfilerStop, &stop)
    PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = enable.pRangeProfilerObject;
    STEP(cuptiRangeProfilerDecodeData, &decode)
    tell_values(config, data);
    PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
    disable.pRangeProfilerObject = enable.pRangeProfilerObject;
    STEP(cuptiRangeProfilerDisable, &disable)
    tell_cost("after");
    return true;
}

bool pm_sampling()
{
    std::vector<uint8_t> availability, data;
    Config config = {{"sm__cycles_active.avg", "dram__bytes.sum"}, {}, nullptr};
    PARAMS(CUpti_Profiler_Initialize_Params, initialize);
    STEP(cuptiProfilerInitialize, &initialize)
    PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, available);
    STEP(cuptiPmSamplingGetCounterAvailability, &available)
    availability.resize(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    STEP(cuptiPmSamplingGetCounterAvailability, &available)
    if (!configure(CUPTI_PROFILER_TYPE_PM_SAMPLING, availability, config))
        return false;
    PARAMS(CUpti_PmSampling_Enable_Params, enable);
    STEP(cuptiPmSamplingEnable, &enable)
    PARAMS(CUpti_PmSampling_SetConfig_Params, set);
    set.pPmSamplingObject = enable.pPmSamplingObject;
    set.configSize = config.image.size();
    set.pConfig = config.image.data();
    set.hardwareBufferSize = 64 << 20;
    set.samplingInterval = 100000;
    set.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    STEP(cuptiPmSamplingSetConfig, &set)
    PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, size);
    size.pPmSamplingObject = enable.pPmSamplingObject;
    size.pMetricNames = config.metrics.data();
    size.numMetrics = config.metrics.size();
    size.maxSamples = 10000;
    STEP(cuptiPmSamplingGetCounterDataSize, &size)
    data.resize(size.counterDataSize);
    PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, image);
    image.pPmSamplingObject = enable.pPmSamplingObject;
    image.counterDataSize = data.size();
    image.pCounterData = data.data();
    STEP(cuptiPmSamplingCounterDataImageInitialize, &image)
    PARAMS(CUpti_PmSampling_Start_Params, start);
    start.pPmSamplingObject = enable.pPmSamplingObject;
    STEP(cuptiPmSamplingStart, &start)
    tell_cost("sampled_each_100us");
    tell_records();
    PARAMS(CUpti_PmSampling_Stop_Params, stop);
    stop.pPmSamplingObject = enable.pPmSamplingObject;
    STEP(cuptiPmSamplingStop, &stop)
    PARAMS(CUpti_PmSampling_DecodeData_Params, decode);
    decode.pPmSamplingObject = enable.pPmSamplingObject;
    decode.pCounterDataImage = data.data();
    decode.counterDataImageSize = data.size();
    STEP(cuptiPmSamplingDecodeData, &decode)
    PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = data.data();
    info.counterDataImageSize = data.size();
    STEP(cuptiPmSamplingGetCounterDataInfo, &info)
    key(static_cast<double>(info.numCompletedSamples), "samples", "counters.%s", mode_name);
    tell_values(config, data);
    PARAMS(CUpti_PmSampling_Disable_Params, disable);
    disable.pPmSamplingObject = enable.pPmSamplingObject;
    STEP(cuptiPmSamplingDisable, &disable)
    tell_cost("after");
    return true;
}

/* ---- Hardware events ------------------------------------------------------------------------- */

bool hardware_trace()
{
    STEP(cuptiActivityEnableHWTrace, uint8_t(1))
    key(0, "status CUPTI_SUCCESS", "counters.%s.cuptiActivityEnableHWTrace", mode_name);
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0],
                         {"gpm", "gpm-traced", "range", "range-traced", "pm", "pm-traced", "traced",
                          "hardware-early", "hardware-late"},
                         30);
    const std::string mode = mode_name = argv[1];
    const bool is_hardware = mode.find("hardware") == 0;
    raw::open_library();
    if (mode == "hardware-early") {
        raw::start();
        hardware_trace();
    }
    need_device();
    spin_20ms<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    if (mode == "hardware-late") {
        raw::start();
        hardware_trace();
    } else if (mode.find("traced") != std::string::npos) {
        raw::start();
    }
    if (raw::subscriber)
        raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    tell_cost("before");
    if (mode[0] == 'g')
        gpm();
    else if (mode[0] == 'r')
        range();
    else if (mode[0] == 'p')
        pm_sampling();
    else
        tell_records();
    decides(mode[0] == 'g' ? "whether Takt may sample GPM beside its windows"
            : is_hardware  ? "whether kernel times by hardware events are to be had, and cost less"
            : mode == "traced"
                ? "what counters are compared with"
                : "whether a container may count, and whether kernels keep their times");
    return finish();
}
