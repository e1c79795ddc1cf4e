/* Streams and events. A stream is the time at which what it was given will be done; an event is
 * such a time, remembered. */
#include "sim_core.h"

#include <stdlib.h>
#include <string.h>

#define NON_BLOCKING  1u
#define BLOCKING_WAIT 1u /* of events */
#define NO_TIMING     2u
#define EXTERNAL      1u /* of recording and waiting: a node of the graph, not an edge */

static uint32_t last_event_id;
static uint64_t last_sync_id;

static sim_stream *add_stream(sim_context *context, unsigned flags, int priority)
{
    sim_stream *stream = sim_new(sizeof *stream);
    stream->context = context;
    stream->id = context->next_stream_id++;
    stream->flags = flags;
    stream->priority = priority;
    context->streams = sim_grow(context->streams, context->stream_count, sizeof *context->streams);
    context->streams[context->stream_count++] = stream;
    sim_born(stream, SIM_A_STREAM);
    return stream;
}

static sim_stream *default_of_thread(sim_context *context)
{
    uint32_t thread = sim_this_thread()->id;
    for (size_t i = 0; i < context->stream_count; i++) {
        if (context->streams[i]->is_default && context->streams[i]->thread == thread)
            return context->streams[i];
    }
    sim_stream *stream = add_stream(context, 0, 0);
    stream->is_default = true;
    stream->thread = thread;
    return stream;
}

static sim_stream *resolve_in(sim_context *context, sim_stream *stream)
{
    if ((uintptr_t)stream > (uintptr_t)SIM_PER_THREAD)
        return sim_is(stream, SIM_A_STREAM) ? stream : NULL;
    if (!context)
        return NULL;
    return stream == SIM_PER_THREAD ? default_of_thread(context) : context->legacy;
}

sim_stream *sim_stream_resolve(sim_stream *stream)
{
    return resolve_in(sim_context_here(), stream);
}

static bool is_blocking(const sim_stream *stream)
{
    return !(stream->flags & NON_BLOCKING) && stream != stream->context->legacy;
}

/* The legacy stream waits for all blocking streams, and they for it. */
uint64_t sim_stream_ready(const sim_stream *stream)
{
    const sim_context *context = stream->context;
    uint64_t ready_ns = stream->ready_ns;
    if (is_blocking(stream) && context->legacy->ready_ns > ready_ns)
        ready_ns = context->legacy->ready_ns;
    for (size_t i = 0; stream == context->legacy && i < context->stream_count; i++) {
        const sim_stream *other = context->streams[i];
        if (is_blocking(other) && other->ready_ns > ready_ns)
            ready_ns = other->ready_ns;
    }
    return ready_ns;
}

/* What a wait for the stream waits for: its own work, not what that would have to wait for. */
static uint64_t own_ready(const sim_stream *stream)
{
    return stream == stream->context->legacy ? sim_stream_ready(stream) : stream->ready_ns;
}

int sim_stream_create(unsigned flags, int priority, sim_stream **out)
{
    if (flags & ~NON_BLOCKING)
        return SIM_INVALID_VALUE;
    sim_lock();
    sim_context *context = sim_context_here();
    if (context) {
        *out = add_stream(context, flags, priority);
        sim_add_resource(
            &(sim_resource){.kind = SIM_STREAM_CREATED, .context = context, .stream = *out});
    }
    sim_unlock();
    return context ? SIM_OK : SIM_INVALID_CONTEXT;
}

void sim_stream_kill(sim_stream *stream)
{
    sim_context *context = stream->context;
    for (size_t i = 0; i < context->stream_count; i++) {
        if (context->streams[i] == stream)
            context->streams[i] = context->streams[--context->stream_count];
    }
    if (stream->ready_ns > context->ready_ns)
        context->ready_ns = stream->ready_ns;
    sim_died(stream);
    free(stream->last);
    free(stream);
}

int sim_stream_destroy(sim_stream *stream)
{
    sim_lock();
    bool is_ours = sim_is(stream, SIM_A_STREAM) && !stream->is_default && !stream->capture;
    if (is_ours)
        sim_add_resource(&(sim_resource){
            .kind = SIM_STREAM_DESTROY_STARTING, .context = stream->context, .stream = stream});
    sim_unlock();
    if (!is_ours)
        return SIM_INVALID_HANDLE;
    sim_tell();
    sim_lock();
    sim_stream_kill(stream);
    sim_unlock();
    return SIM_OK;
}

void sim_wait_record(uint32_t type, uint64_t begin_ns, uint32_t context, uint32_t stream,
                     uint32_t event, uint64_t sync_id)
{
    sim_add_record(&(sim_record){
        .kind = SIM_SYNC,
        .begin_ns = begin_ns,
        .end_ns = sim_time_ns(),
        .context = context,
        .stream = stream,
        .event = event,
        .sync_id = sync_id,
        .sync_type = type,
    });
}

int sim_stream_synchronize(sim_stream *handle)
{
    uint64_t begin_ns = sim_time_ns();
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status = stream ? sim_capture_refuse_on(stream) : SIM_INVALID_HANDLE;
    uint64_t ready_ns = status ? 0 : own_ready(stream);
    uint32_t context = status ? 0 : stream->context->id;
    uint32_t device = status ? 0 : stream->context->device;
    uint32_t id = status ? 0 : stream->id;
    sim_unlock();
    if (status)
        return status;
    sim_wait_until(ready_ns);
    sim_lock();
    sim_pools_rest(device);
    sim_unlock();
    sim_wait_record(3, begin_ns, context, id, SIM_NO_STREAM, 0);
    return SIM_OK;
}

int sim_stream_query(sim_stream *handle)
{
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status = stream ? sim_capture_refuse_on(stream) : SIM_INVALID_HANDLE;
    if (!status && own_ready(stream) > sim_device_time_ns())
        status = SIM_NOT_READY;
    sim_unlock();
    return status;
}

int sim_stream_context(sim_stream *handle, sim_context **out)
{
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    if (stream)
        *out = stream->context;
    sim_unlock();
    return stream ? SIM_OK : SIM_INVALID_HANDLE;
}

/* Events -------------------------------------------------------------------------------------- */

int sim_event_create(unsigned flags, sim_event **out)
{
    if (flags & ~(BLOCKING_WAIT | NO_TIMING | 4u))
        return SIM_INVALID_VALUE;
    sim_lock();
    sim_context *context = sim_context_here();
    if (context) {
        sim_event *event = sim_new(sizeof *event);
        event->id = ++last_event_id;
        event->context = context;
        event->flags = flags;
        sim_born(event, SIM_AN_EVENT);
        *out = event;
    }
    sim_unlock();
    return context ? SIM_OK : SIM_INVALID_CONTEXT;
}

static bool is_event(const sim_event *event)
{
    return sim_is(event, SIM_AN_EVENT) && event->context;
}

int sim_event_destroy(sim_event *event)
{
    sim_lock();
    bool is_alive = sim_is(event, SIM_AN_EVENT);
    if (is_alive) {
        sim_died(event);
        free(event->last);
        free(event);
    }
    sim_unlock();
    return is_alive ? SIM_OK : SIM_INVALID_HANDLE;
}

static int record(sim_event *event, sim_stream *stream, unsigned flags)
{
    if (stream->context != event->context)
        return SIM_INVALID_HANDLE;
    int status = sim_capture_implicit(stream);
    if (status)
        return status;
    if (stream->capture && stream->capture->is_invalid)
        return SIM_CAPTURE_INVALIDATED;
    if (stream->capture && flags == EXTERNAL)
        return sim_capture_add(stream, &(sim_work){.type = SIM_WORK_RECORD, .is.event = event},
                               NULL);
    if (stream->capture) {
        sim_capture_record(stream, event);
        return SIM_OK;
    }
    uint64_t earliest_ns = sim_device_time_ns() + (uint64_t)sim_option_number("latency", 1000);
    uint64_t ready_ns = sim_stream_ready(stream);
    event->time_ns = ready_ns > earliest_ns ? ready_ns : earliest_ns;
    event->is_recorded = true;
    event->is_captured = false;
    event->sync_id = ++last_sync_id;
    stream->ready_ns = event->time_ns;
    sim_add_record(&(sim_record){
        .kind = SIM_CUDA_EVENT,
        .begin_ns = event->time_ns,
        .end_ns = event->time_ns,
        .device = stream->context->device,
        .context = stream->context->id,
        .stream = stream->id,
        .event = event->id,
        .sync_id = event->sync_id,
    });
    return SIM_OK;
}

int sim_event_record(sim_event *event, sim_stream *handle, unsigned flags)
{
    if (flags > EXTERNAL)
        return SIM_INVALID_VALUE;
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status = stream && is_event(event) ? record(event, stream, flags) : SIM_INVALID_HANDLE;
    sim_unlock();
    return status;
}

/* The event is reached when all that the context has been given so far is done. Spoils captures of
 * the context's streams. */
int sim_event_record_context(sim_event *event, sim_context *context)
{
    sim_lock();
    int status = sim_is(context, SIM_A_CONTEXT) && is_event(event) ? sim_capture_refuse(context)
                                                                   : SIM_INVALID_HANDLE;
    if (!status) {
        uint64_t now_ns = sim_device_time_ns();
        uint64_t ready_ns = sim_context_ready(context);
        event->time_ns = ready_ns > now_ns ? ready_ns : now_ns;
        event->is_recorded = true;
        event->is_captured = false;
    }
    sim_unlock();
    return status;
}

int sim_stream_wait(sim_stream *handle, sim_event *event, unsigned flags)
{
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status = stream && is_event(event) ? sim_capture_implicit(stream) : SIM_INVALID_HANDLE;
    bool is_of_capture = !status && (stream->capture || event->is_captured);
    if (is_of_capture)
        status = sim_capture_wait(stream, event, flags);
    if (!status && !is_of_capture && event->is_recorded) {
        if (event->time_ns > stream->ready_ns)
            stream->ready_ns = event->time_ns;
        uint64_t now_ns = sim_time_ns();
        sim_wait_record(2, now_ns, stream->context->id, stream->id, event->id,
                        event->sync_id);
    }
    sim_unlock();
    return status;
}

/* A wait or a query: 0 and the time to wait for. */
static int look_at(sim_event *event, uint64_t *time_ns)
{
    if (!is_event(event))
        return SIM_INVALID_HANDLE;
    if (event->is_captured)
        return SIM_CAPTURED_EVENT;
    int status = sim_capture_refuse(NULL);
    *time_ns = event->is_recorded ? event->time_ns : 0;
    return status;
}

int sim_event_query(sim_event *event)
{
    uint64_t time_ns = 0;
    sim_lock();
    int status = look_at(event, &time_ns);
    sim_unlock();
    if (!status && time_ns > sim_device_time_ns())
        status = SIM_NOT_READY;
    return status;
}

int sim_event_synchronize(sim_event *event)
{
    uint64_t begin_ns = sim_time_ns();
    uint64_t time_ns = 0;
    sim_lock();
    int status = look_at(event, &time_ns);
    uint32_t context = status ? 0 : event->context->id;
    uint32_t id = status ? 0 : event->id;
    uint64_t sync_id = status ? 0 : event->sync_id;
    sim_unlock();
    if (status)
        return status;
    sim_wait_until(time_ns);
    sim_wait_record(1, begin_ns, context, SIM_NO_STREAM, id, sync_id);
    return SIM_OK;
}

int sim_event_elapsed(float *ms, sim_event *begin, sim_event *end)
{
    sim_lock();
    int status = SIM_OK;
    if (!is_event(begin) || !is_event(end))
        status = SIM_INVALID_HANDLE;
    else if (begin->is_captured || end->is_captured)
        status = SIM_CAPTURED_EVENT;
    else if (!begin->is_recorded || !end->is_recorded || (begin->flags | end->flags) & NO_TIMING)
        status = SIM_INVALID_HANDLE;
    else if (begin->time_ns > sim_device_time_ns() || end->time_ns > sim_device_time_ns())
        status = SIM_NOT_READY;
    else
        *ms = (float)((double)(int64_t)(end->time_ns - begin->time_ns) / 1e6);
    sim_unlock();
    return status;
}

/* What the sink asks for --------------------------------------------------------------------- */

static void describe(const sim_stream *stream, sim_stream_info *out)
{
    *out = (sim_stream_info){
        .handle = stream->is_default ? NULL : (void *)(uintptr_t)stream,
        .context = stream->context,
        .context_id = stream->context->id,
        .id = stream->id,
        .priority = stream->priority,
        .is_default = stream->is_default,
        .is_non_blocking = (stream->flags & NON_BLOCKING) != 0,
        .is_per_thread = stream->thread != 0,
    };
}

bool sim_stream_of(void *context, void *handle, bool per_thread, sim_stream_info *out)
{
    sim_lock();
    sim_context *of = context ? context : sim_context_here();
    sim_stream *stream = handle ? handle : per_thread ? SIM_PER_THREAD : SIM_LEGACY;
    if (context && !sim_is(of, SIM_A_CONTEXT))
        of = NULL;
    stream = resolve_in(of, stream);
    if (stream)
        describe(stream, out);
    sim_unlock();
    return stream != NULL;
}

typedef struct sim_streams {
    sim_stream_info *items;
    size_t count;
} sim_streams;

static void add_info(void *handle, void *data)
{
    sim_streams *streams = data;
    streams->items = sim_grow(streams->items, streams->count, sizeof *streams->items);
    describe(handle, &streams->items[streams->count++]);
}

static int by_context_and_id(const void *a, const void *b)
{
    const sim_stream_info *first = a;
    const sim_stream_info *second = b;
    uint64_t one = (uint64_t)first->context_id << 32 | first->id;
    uint64_t other = (uint64_t)second->context_id << 32 | second->id;
    return (one > other) - (one < other);
}

void sim_each_stream(void (*visit)(const sim_stream_info *stream, void *data), void *data)
{
    sim_streams streams = {NULL, 0};
    sim_lock();
    sim_each(SIM_A_STREAM, add_info, &streams);
    sim_unlock();
    if (streams.count)
        qsort(streams.items, streams.count, sizeof *streams.items, by_context_and_id);
    for (size_t i = 0; i < streams.count; i++)
        visit(&streams.items[i], data);
    free(streams.items);
}
