/* Stream capture: work becomes nodes of a graph, and calls that would have to know when that work
 * is done are refused and spoil the capture, as the driver does. */
#include "sim_core.h"

#include <stdlib.h>
#include <string.h>

enum {
    GLOBAL,
    THREAD_LOCAL,
    RELAXED
};

static sim_capture **captures;
static size_t capture_count;
static uint64_t last_capture_id;

static void set_last(sim_node ***last, size_t *last_count, sim_node *const *nodes, size_t count)
{
    sim_node **copy = sim_new(count * sizeof *copy);
    if (count)
        memcpy(copy, nodes, count * sizeof *copy);
    free(*last);
    *last = copy;
    *last_count = count;
}

int sim_capture_add(sim_stream *stream, const sim_work *work, sim_node **out)
{
    if (stream->capture->is_invalid)
        return SIM_CAPTURE_INVALIDATED;
    sim_node *node = sim_node_add(stream->capture->graph, stream->last, stream->last_count, work);
    set_last(&stream->last, &stream->last_count, &node, 1);
    if (out)
        *out = node;
    return SIM_OK;
}

/* Whether this capture forbids this thread what is unsafe. */
static bool forbids(const sim_capture *capture, const sim_thread *thread)
{
    if (thread->capture_mode == RELAXED || capture->mode == RELAXED)
        return false;
    if (capture->thread == thread->id)
        return true;
    return capture->mode == GLOBAL && thread->capture_mode == GLOBAL;
}

int sim_capture_refuse(const sim_context *context)
{
    const sim_thread *thread = sim_this_thread();
    int status = SIM_OK;
    for (size_t i = 0; i < capture_count; i++) {
        bool is_waited_for = context && captures[i]->origin->context == context;
        if (!is_waited_for && !forbids(captures[i], thread))
            continue;
        captures[i]->is_invalid = true;
        status = SIM_CAPTURE_UNSUPPORTED;
    }
    return status;
}

int sim_capture_refuse_on(sim_stream *stream)
{
    if (!stream->capture)
        return stream == stream->context->legacy ? sim_capture_implicit(stream)
                                                 : sim_capture_refuse(NULL);
    stream->capture->is_invalid = true;
    return SIM_CAPTURE_UNSUPPORTED;
}

/* The legacy stream would have to wait for the captured one, unless that does not block. */
static int implicit(const sim_stream *stream, bool is_use)
{
    int status = SIM_OK;
    for (size_t i = 0; stream == stream->context->legacy && i < stream->context->stream_count;
         i++) {
        const sim_stream *other = stream->context->streams[i];
        if (other->capture && !(other->flags & 1u)) {
            other->capture->is_invalid |= is_use;
            status = SIM_CAPTURE_IMPLICIT;
        }
    }
    return status;
}

int sim_capture_implicit(const sim_stream *stream)
{
    return implicit(stream, true);
}

static bool is_live(uint64_t id)
{
    for (size_t i = 0; i < capture_count; i++) {
        if (captures[i]->id == id)
            return true;
    }
    return false;
}

void sim_capture_record(sim_stream *stream, sim_event *event)
{
    event->is_captured = true;
    event->capture = stream->capture->id;
    set_last(&event->last, &event->last_count, stream->last, stream->last_count);
}

static sim_capture *capture_of(uint64_t id)
{
    for (size_t i = 0; i < capture_count; i++) {
        if (captures[i]->id == id)
            return captures[i];
    }
    return NULL;
}

/* The stream's next work depends on the event's as well. */
static void join(sim_stream *stream, const sim_event *event)
{
    size_t count = stream->last_count;
    sim_node **nodes = sim_new((count + event->last_count) * sizeof *nodes);
    if (count)
        memcpy(nodes, stream->last, count * sizeof *nodes);
    for (size_t i = 0; i < event->last_count; i++) {
        size_t k = 0;
        while (k < count && nodes[k] != event->last[i])
            k++;
        if (k == count)
            nodes[count++] = event->last[i];
    }
    set_last(&stream->last, &stream->last_count, nodes, count);
    free(nodes);
}

int sim_capture_wait(sim_stream *stream, sim_event *event, unsigned flags)
{
    if (stream->capture && stream->capture->is_invalid)
        return SIM_CAPTURE_INVALIDATED;
    if (stream->capture && flags == 1)
        return sim_capture_add(stream, &(sim_work){.type = SIM_WORK_WAIT, .is.event = event}, NULL);
    if (!event->is_captured || !is_live(event->capture)) {
        if (stream->capture)
            stream->capture->is_invalid = true;
        return event->is_captured ? SIM_CAPTURED_EVENT : SIM_CAPTURE_ISOLATION;
    }
    sim_capture *capture = capture_of(event->capture);
    if (capture->is_invalid)
        return SIM_CAPTURE_INVALIDATED;
    if (stream->capture && stream->capture != capture) {
        stream->capture->is_invalid = capture->is_invalid = true;
        return SIM_CAPTURE_MERGE;
    }
    stream->capture = capture;
    join(stream, event);
    return SIM_OK;
}

/* In a new graph, or behind nodes of one that there is. */
static int begin(sim_stream *handle, sim_graph *graph, sim_node *const *after, size_t after_count,
                 int mode)
{
    if (mode < GLOBAL || mode > RELAXED)
        return SIM_INVALID_VALUE;
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status = !stream                             ? SIM_INVALID_HANDLE
                 : stream == stream->context->legacy ? SIM_CAPTURE_UNSUPPORTED
                 : stream->capture                   ? 401 /* cudaErrorIllegalState */
                                                     : SIM_OK;
    sim_unlock();
    if (!status && !graph)
        status = sim_graph_create(&graph);
    if (status)
        return status;
    sim_lock();
    sim_capture *capture = sim_new(sizeof *capture);
    *capture = (sim_capture){.id = ++last_capture_id,
                             .graph = graph,
                             .origin = stream,
                             .mode = mode,
                             .thread = sim_this_thread()->id};
    captures = sim_grow(captures, capture_count, sizeof *captures);
    captures[capture_count++] = capture;
    stream->capture = capture;
    set_last(&stream->last, &stream->last_count, after, after_count);
    sim_unlock();
    return SIM_OK;
}

int sim_capture_begin(sim_stream *handle, int mode)
{
    return begin(handle, NULL, NULL, 0, mode);
}

int sim_capture_begin_in(sim_stream *handle, sim_graph *graph, sim_node *const *after,
                         size_t after_count, int mode)
{
    sim_lock();
    bool is_alive = sim_is(graph, SIM_A_GRAPH);
    sim_unlock();
    return is_alive ? begin(handle, graph, after, after_count, mode) : SIM_INVALID_VALUE;
}

/* Marks, by `order`, the nodes that these depend on, and these. */
static void mark(sim_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->order)
            continue;
        nodes[i]->order = 1;
        mark(nodes[i]->after, nodes[i]->after_count);
    }
}

/* Whether everything that other streams have added is waited for by the origin. */
static bool is_joined(const sim_capture *capture)
{
    const sim_stream *origin = capture->origin;
    for (size_t i = 0; i < capture->graph->node_count; i++)
        capture->graph->nodes[i]->order = 0;
    mark(origin->last, origin->last_count);
    bool is_all = true;
    for (size_t i = 0; i < origin->context->stream_count; i++) {
        const sim_stream *other = origin->context->streams[i];
        for (size_t k = 0; other->capture == capture && k < other->last_count; k++)
            is_all = is_all && other->last[k]->order;
    }
    return is_all;
}

/* Streams of other contexts may have joined in, so that all are looked at. */
static void leave_capture(void *handle, void *capture)
{
    sim_stream *stream = handle;
    if (stream->capture == capture) {
        stream->capture = NULL;
        set_last(&stream->last, &stream->last_count, NULL, 0);
    }
}

static int end(sim_stream *stream, sim_capture **out)
{
    sim_capture *capture = stream ? stream->capture : NULL;
    if (!stream)
        return SIM_INVALID_HANDLE;
    if (!capture)
        return 401; /* cudaErrorIllegalState */
    if (capture->origin != stream)
        return SIM_CAPTURE_UNMATCHED;
    if (capture->mode != RELAXED && capture->thread != sim_this_thread()->id)
        return SIM_CAPTURE_WRONG_THREAD;
    int status = capture->is_invalid  ? SIM_CAPTURE_INVALIDATED
                 : is_joined(capture) ? SIM_OK
                                      : SIM_CAPTURE_UNJOINED;
    sim_each(SIM_A_STREAM, leave_capture, capture);
    for (size_t i = 0; i < capture_count; i++) {
        if (captures[i] == capture)
            captures[i] = captures[--capture_count];
    }
    *out = capture;
    return status;
}

int sim_capture_end(sim_stream *handle, sim_graph **out)
{
    sim_capture *capture = NULL;
    sim_lock();
    int status = end(sim_stream_resolve(handle), &capture);
    sim_unlock();
    *out = capture && !status ? capture->graph : NULL;
    if (capture && status)
        sim_graph_destroy(capture->graph);
    free(capture);
    return status;
}

int sim_capture_look(sim_stream *handle, sim_capture_state *out)
{
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status = stream ? implicit(stream, false) : SIM_INVALID_HANDLE;
    const sim_capture *capture = status ? NULL : stream->capture;
    *out = (sim_capture_state){.status = 0};
    if (capture)
        *out = (sim_capture_state){.status = capture->is_invalid ? 2 : 1,
                                   .id = capture->id,
                                   .graph = capture->graph,
                                   .nodes = stream->last,
                                   .node_count = stream->last_count};
    sim_unlock();
    return status;
}

int sim_capture_mode(int *mode)
{
    if (*mode < GLOBAL || *mode > RELAXED)
        return SIM_INVALID_VALUE;
    sim_thread *thread = sim_this_thread();
    int old = thread->capture_mode;
    thread->capture_mode = *mode;
    *mode = old;
    return SIM_OK;
}
