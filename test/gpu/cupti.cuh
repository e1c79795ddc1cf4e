/* CUPTI without Takt: what the programs of this folder share that look at CUPTI itself. Buffers are
 * counted, and every record that matters is kept. */
#ifndef GPU_CUPTI_CUH
#define GPU_CUPTI_CUH

#include "gpu.cuh"

#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <mutex>

namespace raw
{

struct Record {
    CUpti_ActivityKind kind;
    uint32_t correlation, graph;
    uint64_t begin_ns, end_ns;
};

/* How requests for buffers are answered. Set before CUPTI is started. */
static size_t buffer_bytes = 1 << 20, buffer_records;
static int most_buffers = 1 << 30; /* so many may be out; then requests are refused */

static std::atomic<int> requested, completed, refused, most_out;
static std::atomic<uint64_t> record_count;
static std::atomic<size_t> fullest; /* most records of a buffer */
static std::mutex lock;
static std::vector<Record> records;
static bool keeps_records = true;
static CUpti_SubscriberHandle subscriber;
static uint32_t version;
static void *library;

#define CUPTI(function) reinterpret_cast<decltype(&function)>(dlsym(raw::library, #function))

#define CUPTI_CHECK(function, ...)                                                                 \
    do {                                                                                           \
        auto pointer_ = CUPTI(function);                                                           \
        int status_ = pointer_ ? static_cast<int>(pointer_(__VA_ARGS__)) : -1;                     \
        if (status_ != 0)                                                                          \
            std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #function, status_);                \
    } while (0)

static inline void open_library(void)
{
    const char *wish = std::getenv("TAKT_CUPTI_LIBRARY");
    const char *const names[] = {wish ? wish : "libcupti.so.13", "libcupti.so.13", "libcupti.so.12",
                                 "/usr/local/cuda/lib64/libcupti.so",
                                 "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    for (const char *name : names) {
        library = library ? library : dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    if (!library) {
        std::puts("no libcupti");
        std::exit(77);
    }
    CUPTI(cuptiGetVersion)(&version);
}

static inline void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    int out = ++requested - completed;
    if (out > most_buffers) {
        --requested;
        ++refused;
        *buffer = nullptr;
        *bytes = *max_records = 0;
        return;
    }
    int before = most_out;
    while (out > before && !most_out.compare_exchange_weak(before, out)) {
    }
    *buffer = static_cast<uint8_t *>(std::calloc(1, buffer_bytes));
    *bytes = buffer_bytes;
    *max_records = buffer_records;
}

/* False for records of other kinds. */
static inline bool read_record(const CUpti_Activity *at, Record *out)
{
    *out = {at->kind, 0, 0, 0, 0};
    if (at->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        auto *kernel = reinterpret_cast<const CUpti_ActivityKernel10 *>(at);
        out->correlation = kernel->correlationId;
        out->graph = kernel->graphId;
        out->begin_ns = kernel->start;
        out->end_ns = kernel->end;
        return true;
    }
    if (at->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) {
        auto *graph = reinterpret_cast<const CUpti_ActivityGraphTrace2 *>(at);
        out->correlation = graph->correlationId;
        out->graph = graph->graphId;
        out->begin_ns = graph->start;
        out->end_ns = graph->end;
        return true;
    }
    if (at->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        auto *set = reinterpret_cast<const CUpti_ActivityMemset4 *>(at);
        out->correlation = set->correlationId;
        out->begin_ns = set->start;
        out->end_ns = set->end;
        return true;
    }
    if (at->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        auto *copy = reinterpret_cast<const CUpti_ActivityMemcpy6 *>(at);
        out->correlation = copy->correlationId;
        out->begin_ns = copy->start;
        out->end_ns = copy->end;
        return true;
    }
    return false;
}

static inline void CUPTIAPI complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    CUpti_Activity *at = nullptr;
    size_t count = 0;
    while (valid && CUPTI(cuptiActivityGetNextRecord)(buffer, valid, &at) == CUPTI_SUCCESS) {
        Record record;
        count++;
        if (read_record(at, &record) && keeps_records) {
            std::lock_guard<std::mutex> hold(lock);
            records.push_back(record);
        }
    }
    record_count += count;
    size_t before = fullest;
    while (count > before && !fullest.compare_exchange_weak(before, count)) {
    }
    std::free(buffer);
    ++completed;
}

static inline void CUPTIAPI called_nothing(void *, CUpti_CallbackDomain, CUpti_CallbackId,
                                           const void *)
{
}

/* Subscribes; no kind is enabled yet. Ends the program where that cannot be. */
static inline void start(CUpti_CallbackFunc called = called_nothing,
                         CUpti_BuffersCallbackRequestFunc on_request = request,
                         CUpti_BuffersCallbackCompleteFunc on_complete = complete)
{
    if (!library)
        open_library();
    int status = CUPTI(cuptiSubscribe)(&subscriber, called, nullptr);
    if (status != 0) {
        std::printf("cuptiSubscribe fails with %d\n", status);
        std::exit(1);
    }
    uint8_t zeroed = 1;
    size_t size = sizeof zeroed;
    CUPTI_CHECK(cuptiActivitySetAttribute, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size,
                &zeroed);
    CUPTI_CHECK(cuptiActivityRegisterCallbacks, on_request, on_complete);
}

static inline void enable(CUpti_ActivityKind kind, bool on = true)
{
    if (on)
        CUPTI_CHECK(cuptiActivityEnable, kind);
    else
        CUPTI_CHECK(cuptiActivityDisable, kind);
}

static inline void flush(bool forced)
{
    CUPTI_CHECK(cuptiActivityFlushAll, forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

/* Forces everything out, and waits for buffers that CUPTI's own thread has not handed over yet. */
static inline void collect(void)
{
    flush(true);
    for (int i = 0; i < 200 && requested > completed; i++)
        pause_ms(1);
}

static inline uint64_t now_ns(void)
{
    uint64_t now = 0;
    CUPTI(cuptiGetTimestamp)(&now);
    return now;
}

static inline uint64_t dropped(void)
{
    size_t count = 0;
    CUPTI(cuptiActivityGetNumDroppedRecords)(nullptr, 0, &count);
    return count;
}

/* A copy of what has arrived, while more may come. */
static inline std::vector<Record> arrived(void)
{
    std::lock_guard<std::mutex> hold(lock);
    return records;
}

/* How many kernels have arrived with an end. */
static inline size_t finished_kernels(void)
{
    size_t count = 0;
    for (const Record &record : arrived())
        count += record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && record.end_ns != 0;
    return count;
}

static inline void tell_version(void)
{
    if (!library)
        open_library();
    std::printf("CUPTI %u\n", version);
}

} // namespace raw

#endif
