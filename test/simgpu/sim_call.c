/* Calls of the program's: who hears of them, and of what they cause. While a call runs, what it
 * causes is put aside; it is told when the call ends and no lock is held. */
#include "sim_core.h"

#include <stdatomic.h>
#include <string.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct sim_news {
    bool is_record;
    union {
        sim_record record;
        sim_resource resource;
    } is;
} sim_news;

static _Atomic(const sim_sink *) the_sink;
static _Atomic uint32_t last_correlation;
static __thread sim_thread this_thread;
static __thread sim_news *news;
static __thread size_t news_count;

#define SIM_FUNCTION_RUNTIME(name, cbid, release) {#name, #release, SIM_RUNTIME, cbid},
#define SIM_FUNCTION_DRIVER(name, cbid)           {#name, "", SIM_DRIVER, cbid},
static const struct {
    const char *name;
    const char *release;
    sim_domain domain;
    uint32_t cbid;
} functions[] = {SIM_RUNTIME_CALLS(SIM_FUNCTION_RUNTIME) SIM_DRIVER_CALLS(SIM_FUNCTION_DRIVER)};

#define SIM_NAME_RUNTIME(name, cbid, release) #name "_" #release,
#define SIM_NAME_DRIVER(name, cbid)           #name,
static const char *const callback_names[] = {SIM_RUNTIME_CALLS(SIM_NAME_RUNTIME)
                                                 SIM_DRIVER_CALLS(SIM_NAME_DRIVER)};

const char *sim_callback_name(sim_domain domain, uint32_t cbid)
{
    for (size_t i = 0; i < SIM_FUNCTIONS; i++) {
        if (functions[i].domain == domain && functions[i].cbid == cbid)
            return callback_names[i];
    }
    return NULL;
}

void sim_set_sink(const sim_sink *sink)
{
    /* release: pairs with the acquire in sink_now() */
    atomic_store_explicit(&the_sink, sink, memory_order_release);
}

static const sim_sink *sink_now(void)
{
    return atomic_load_explicit(&the_sink, memory_order_acquire);
}

sim_thread *sim_this_thread(void)
{
    if (!this_thread.id)
        this_thread.id = (uint32_t)syscall(SYS_gettid);
    return &this_thread;
}

sim_call *sim_current_call(void)
{
    return this_thread.call;
}

static sim_news *add_news(void)
{
    news = sim_grow(news, news_count, sizeof *news);
    memset(&news[news_count], 0, sizeof *news);
    return &news[news_count++];
}

/* "driver.ids": whether calls inside others have ids of their own, and which one work carries. */
typedef enum sim_ids { SIM_IDS_SHARED, SIM_IDS_OUTER, SIM_IDS_INNER } sim_ids;

static sim_ids ids_now(void)
{
    const char *ids = sim_option("driver.ids");
    if (!ids)
        return SIM_IDS_SHARED;
    return strcmp(ids, "outer") == 0 ? SIM_IDS_OUTER
           : strcmp(ids, "inner") == 0 ? SIM_IDS_INNER
                                       : SIM_IDS_SHARED;
}

static uint32_t correlation_now(void)
{
    const sim_call *call = this_thread.call;
    while (call && call->outer && ids_now() == SIM_IDS_OUTER)
        call = call->outer;
    return call ? call->correlation : 0;
}

void sim_add_record(const sim_record *record)
{
    if (!sink_now())
        return;
    sim_news *item = add_news();
    item->is_record = true;
    item->is.record = *record;
    item->is.record.correlation = correlation_now();
    item->is.record.thread = sim_this_thread()->id;
}

void sim_add_resource(const sim_resource *resource)
{
    if (!sink_now())
        return;
    sim_news *item = add_news();
    item->is.resource = *resource;
    item->is.resource.correlation = correlation_now();
}

/* The sink may make calls of its own: what those cause is told there. */
void sim_tell(void)
{
    sim_news *items = news;
    size_t count = news_count;
    news = NULL;
    news_count = 0;
    const sim_sink *sink = sink_now();
    for (size_t i = 0; sink && i < count; i++) {
        if (items[i].is_record && sink->on_record)
            sink->on_record(&items[i].is.record);
        else if (!items[i].is_record && sink->on_resource)
            sink->on_resource(&items[i].is.resource);
    }
    free(items);
}

int sim_enter_launch(sim_call *call, sim_function_id function, const void *params,
                     const sim_function *kernel)
{
    sim_thread *thread = sim_this_thread();
    *call = (sim_call){
        .domain = functions[function].domain,
        .cbid = functions[function].cbid,
        .function = functions[function].name,
        .params = params,
        .thread = thread->id,
        .outer = thread->call,
    };
    const sim_context *context = sim_context_get();
    if (context) {
        call->context = (void *)(uintptr_t)context;
        call->context_id = context->id;
    }
    call->correlation =
        call->outer && ids_now() == SIM_IDS_SHARED
            ? call->outer->correlation
            : atomic_fetch_add_explicit(&last_correlation, 1, memory_order_relaxed) + 1;
    call->kernel = sim_function_name(kernel);
    call->begin_ns = sim_time_ns();
    thread->call = call;
    const sim_sink *sink = sink_now();
    if (sink && sink->on_enter)
        sink->on_enter(call);
    int fault = sim_fault(call->function);
    return fault ? fault : sim_error(call->function);
}

int sim_enter(sim_call *call, sim_function_id function, const void *params)
{
    return sim_enter_launch(call, function, params, NULL);
}

static void (*_Atomic before_return)(const sim_call *call);

void sim_before_return(void (*act)(const sim_call *call))
{
    atomic_store(&before_return, act);
}

int sim_leave(sim_call *call, int status)
{
    sim_tell();
    void (*act)(const sim_call *call) = atomic_load_explicit(&before_return, memory_order_relaxed);
    if (act)
        act(call);
    int error = status && status != SIM_NOT_READY ? 0 : sim_error(call->function);
    status = error ? error : status;
    const sim_context *context = sim_context_get();
    call->context = (void *)(uintptr_t)context;
    call->context_id = context ? context->id : 0;
    call->result = status;
    call->end_ns = sim_time_ns();
    const sim_sink *sink = sink_now();
    if (sink && sink->on_exit)
        sink->on_exit(call);
    this_thread.call = call->outer;
    return status;
}
