/* Buffers: asked for on the program's thread when a record has no room, given back when all their
 * records are complete: by the worker when they are full, by whoever flushes otherwise. */
#include "simgpu/cupti/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ALIGNMENT 8u

static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static bool has_worker;
static atomic_uint flush_period_ms;

static bool is_per_thread(const simc_session *session)
{
    return session->attributes[SIM_ATTR_PER_THREAD_ACTIVITY_BUFFER] != 0;
}

_Thread_local uint32_t simc_device_writer;

static uint32_t writer_of(const simc_session *session)
{
    if (simc_device_writer)
        return simc_device_writer;
    return is_per_thread(session) ? (uint32_t)syscall(SYS_gettid) : 0;
}

/* --- out ----------------------------------------------------------------------------------------
 */

static void call_request(simc_session *session, uint8_t **data, size_t *size, size_t *max_records)
{
    int before = simc_inside;
    uint64_t begin = sim_time_ns();
    simc_inside = SIMC_IN_BUFFER;
    if (session->request_v2)
        session->request_v2(data, size, max_records, NULL);
    else if (session->request)
        session->request(data, size, max_records);
    simc_inside = before;
    uint64_t limit = simc_option.slow_request_us * 1000ull;
    if (limit && sim_time_ns() - begin > limit)
        simc_count.slow_requests++;
}

static void check_zeroed(simc_session *session, uint8_t *data, size_t size)
{
    if (!session->attributes[SIM_ATTR_ZEROED_OUT_ACTIVITY_BUFFER]) {
        memset(data, 0, size);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        if (data[i]) {
            simc_count.not_zeroed++;
            return;
        }
    }
}

static void *refused(void)
{
    if (simc_option.crash_on_null) {
        fprintf(stderr, "simgpu: CUPTI before 12.9 crashes when it is given no buffer\n");
        abort();
    }
    simc_state_event(SIM_STATE_WARNING, SIM_CUPTI_ERROR_OUT_OF_MEMORY,
                     "simulated: no buffer, records are dropped");
    return NULL;
}

static simc_buffer *new_buffer(simc_session *session, uint32_t thread)
{
    uint8_t *data = NULL;
    size_t size = 0, max_records = 0;
    call_request(session, &data, &size, &max_records);
    if (!data || !size)
        return refused();
    if ((uintptr_t)data % ALIGNMENT)
        simc_count.unaligned++;
    check_zeroed(session, data, size);
    simc_count.buffers_out++;
    simc_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        abort();
    *buffer =
        (simc_buffer){.data = data, .size = size, .max_records = max_records, .thread = thread};
    return buffer;
}

/* Held while a buffer is asked for, and while one comes back twice: the same memory handed out in
 * between would come back before it is filled. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

static bool add_buffer(simc_session *session, uint32_t thread)
{
    uint64_t begin = sim_time_ns();
    pthread_mutex_lock(&asking);
    simc_buffer *buffer = new_buffer(session, thread);
    pthread_mutex_unlock(&asking);
    if (!buffer)
        return false;
    pthread_mutex_lock(&simc_lock);
    buffer->next = session->buffers;
    session->buffers = buffer;
    pthread_cond_signal(&work); /* a refused request wakes nobody */
    pthread_mutex_unlock(&simc_lock);
    simc_overhead(session, begin, sim_time_ns());
    return true;
}

static bool has_room(const simc_buffer *buffer, size_t bytes, size_t count)
{
    return buffer->size - buffer->used >= bytes &&
           (!buffer->max_records || buffer->records + count <= buffer->max_records);
}

/* With the lock. Buffers of this writer that are too short are full from now on. */
static simc_buffer *find_buffer(simc_session *session, uint32_t thread, size_t bytes, size_t count)
{
    for (simc_buffer *b = session->buffers; b; b = b->next) {
        if (b->is_full || b->is_over || b->thread != thread)
            continue;
        if (has_room(b, bytes, count))
            return b;
        b->is_full = true;
    }
    return NULL;
}

static void append(simc_session *session, simc_buffer *buffer, const void *records, size_t bytes,
                   size_t count, const simc_pending *pending)
{
    memcpy(buffer->data + buffer->used, records, bytes);
    if (pending) {
        simc_pending *waits = malloc(sizeof *waits);
        if (!waits)
            abort();
        *waits = *pending;
        waits->buffer = buffer;
        waits->offset = buffer->used;
        waits->next = session->pending;
        session->pending = waits;
        buffer->pending++;
    }
    buffer->used += bytes;
    buffer->records += count;
}

static void drop(simc_session *session, size_t count)
{
    pthread_mutex_lock(&simc_lock);
    session->dropped += count;
    pthread_mutex_unlock(&simc_lock);
    simc_count.dropped += count;
}

size_t simc_take_dropped(simc_session *session)
{
    pthread_mutex_lock(&simc_lock);
    size_t dropped = session->dropped;
    session->dropped = 0;
    pthread_mutex_unlock(&simc_lock);
    return dropped;
}

/* "cupti.drop_every" */
static bool is_to_be_dropped(void)
{
    static atomic_uint written;
    return simc_option.drop_every && ++written % simc_option.drop_every == 0;
}

void simc_write(simc_session *session, const void *records, size_t bytes, size_t count,
                const simc_pending *pending)
{
    if (!session->request && !session->request_v2)
        return;
    if (is_to_be_dropped()) {
        drop(session, count);
        return;
    }
    uint32_t thread = writer_of(session);
    pthread_mutex_lock(&simc_lock);
    simc_buffer *buffer = find_buffer(session, thread, bytes, count);
    bool is_refused = false;
    while (!buffer && !is_refused) { /* a flush may take the new one away at once */
        pthread_mutex_unlock(&simc_lock);
        is_refused = !add_buffer(session, thread);
        pthread_mutex_lock(&simc_lock);
        buffer = find_buffer(session, thread, bytes, count);
    }
    if (buffer)
        append(session, buffer, records, bytes, count, pending);
    pthread_mutex_unlock(&simc_lock);
    if (!buffer)
        drop(session, count);
}

/* --- back ---------------------------------------------------------------------------------------
 */

/* With the lock: stamps what has come to its end; with `is_forced` gives up on the rest. */
static void settle(simc_session *session, bool is_forced)
{
    uint64_t host_ns = sim_time_ns(), device_ns = sim_device_time_ns();
    simc_pending **at = &session->pending;
    while (*at) {
        simc_pending *waits = *at;
        bool is_over = waits->end_ns <= (waits->device < 0 ? host_ns : device_ns);
        if (!is_over && !is_forced) {
            at = &waits->next;
            continue;
        }
        if (is_over)
            simc_stamp(waits->buffer->data + waits->offset, waits->device, waits->begin_ns,
                       waits->end_ns);
        waits->buffer->pending--;
        *at = waits->next;
        free(waits);
    }
}

/* An external correlation belongs to the record behind it. */
static size_t unit_bytes(const uint8_t *data, size_t used, size_t at)
{
    size_t end = at;
    uint32_t kind;
    do {
        memcpy(&kind, data + end, sizeof kind);
        uint32_t bytes = simc_record_bytes(kind);
        if (!bytes)
            return used - at;
        end += bytes;
    } while (kind == SIM_KIND_EXTERNAL_CORRELATION && end < used);
    return end - at;
}

/* Records of a buffer are in no order: every second one goes to its end, or all are turned round.
 */
static void shuffle(simc_buffer *buffer)
{
    if (simc_option.order == SIMC_ORDER_CALLS || !buffer->used)
        return;
    uint8_t *copy = malloc(buffer->used);
    if (!copy)
        return;
    size_t front = 0, back = buffer->used;
    bool is_front = false;
    for (size_t at = 0, bytes; at < buffer->used; at += bytes) {
        bytes = unit_bytes(buffer->data, buffer->used, at);
        is_front = simc_option.order == SIMC_ORDER_MIXED && !is_front;
        if (is_front) {
            memcpy(copy + front, buffer->data + at, bytes);
            front += bytes;
        } else {
            back -= bytes;
            memcpy(copy + back, buffer->data + at, bytes);
        }
    }
    memcpy(buffer->data, copy, buffer->used);
    free(copy);
}

/* "cupti.corrupt_at": the n-th record of the process gets a kind that does not exist, or its buffer
 * ends in the middle of it. */
static void corrupt(simc_buffer *buffer)
{
    static atomic_ulong seen;
    size_t at = 0;
    while (at < buffer->used && simc_option.corrupt_at) {
        uint32_t kind;
        memcpy(&kind, buffer->data + at, sizeof kind);
        uint32_t bytes = simc_record_bytes(kind);
        if (++seen == simc_option.corrupt_at) {
            static const uint32_t wrong = 0xdeadbeef;
            if (simc_option.is_cut) { /* as if the rest had never been written */
                memset(buffer->data + at + bytes / 2, 0, buffer->used - at - bytes / 2);
                buffer->used = at + bytes / 2;
            } else {
                memcpy(buffer->data + at, &wrong, sizeof wrong);
            }
            return;
        }
        at += bytes;
    }
}

typedef struct delivery {
    simc_session *session;
    simc_buffer buffer;
} delivery;

static void call_complete(const delivery *d)
{
    int before = simc_inside;
    simc_inside = SIMC_IN_BUFFER;
    const simc_buffer *b = &d->buffer;
    if (d->session->complete_v2)
        d->session->complete_v2(b->data, b->size, b->used, NULL);
    else if (d->session->complete)
        d->session->complete(NULL, 0, b->data, b->size, b->used);
    simc_inside = before;
}

static void *deliver_on_thread(void *argument)
{
    delivery *d = argument;
    if (simc_option.completion == SIMC_COMPLETE_LATE)
        usleep(simc_option.late_ms * 1000u);
    call_complete(d);
    free(d);
    return NULL;
}

static void deliver_elsewhere(const delivery *d, bool is_waited_for)
{
    delivery *copy = malloc(sizeof *copy);
    pthread_t thread;
    if (!copy)
        abort();
    *copy = *d;
    if (pthread_create(&thread, NULL, deliver_on_thread, copy))
        abort();
    if (is_waited_for)
        pthread_join(thread, NULL);
    else
        pthread_detach(thread);
}

static void deliver(simc_session *session, simc_buffer *buffer)
{
    shuffle(buffer);
    corrupt(buffer);
    delivery d = {session, *buffer};
    free(buffer);
    simc_count.buffers_back++;
    switch (simc_option.completion) {
    case SIMC_COMPLETE_NEVER:
        return;
    case SIMC_COMPLETE_TWICE:
        pthread_mutex_lock(&asking);
        call_complete(&d);
        call_complete(&d);
        pthread_mutex_unlock(&asking);
        return;
    case SIMC_COMPLETE_ON_THREAD:
    case SIMC_COMPLETE_LATE:
        deliver_elsewhere(&d, simc_option.completion == SIMC_COMPLETE_ON_THREAD);
        return;
    default:
        break;
    }
    call_complete(&d);
}

/* With the lock: takes out the first buffer that may go back, or NULL. */
static simc_buffer *take(simc_session *session, bool only_full)
{
    for (simc_buffer **at = &session->buffers; *at; at = &(*at)->next) {
        simc_buffer *buffer = *at;
        if (buffer->pending || (only_full && !buffer->is_full))
            continue;
        *at = buffer->next;
        return buffer;
    }
    return NULL;
}

static void give_back(simc_session *session, bool only_full, bool is_forced)
{
    for (;;) {
        pthread_mutex_lock(&simc_lock);
        settle(session, is_forced);
        simc_buffer *buffer = take(session, only_full);
        pthread_mutex_unlock(&simc_lock);
        if (!buffer)
            return;
        deliver(session, buffer);
    }
}

static void end_buffers(simc_session *session)
{
    pthread_mutex_lock(&simc_lock);
    for (simc_buffer *b = session->buffers; b; b = b->next)
        b->is_over = true;
    pthread_mutex_unlock(&simc_lock);
}

void simc_flush(bool is_forced)
{
    if (simc_option.completion == SIMC_COMPLETE_AT_EXIT && !simc_is_exiting)
        return;
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        give_back(simc_session_at(n), false, is_forced);
        if (!simc_option.flush_keeps)
            end_buffers(simc_session_at(n));
    }
}

/* With the lock. */
/* Of all contexts: a test has one. */
static void lose(simc_session *session)
{
    settle(session, true);
    for (simc_buffer *b = session->buffers; b; b = b->next)
        b->used = b->records = 0;
}

void simc_lose_all(void)
{
    pthread_mutex_lock(&simc_lock);
    for (int n = 0; n < SIMC_SESSIONS; n++)
        lose(simc_session_at(n));
    pthread_mutex_unlock(&simc_lock);
}

static bool has_full(void)
{
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        for (simc_buffer *b = simc_session_at(n)->buffers; b; b = b->next) {
            if (b->is_full)
                return true;
        }
    }
    return false;
}

/* Full buffers go back as soon as their last record is complete. */
static void *run_worker(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&simc_lock);
    for (;;) {
        while (!has_full())
            pthread_cond_wait(&work, &simc_lock);
        pthread_mutex_unlock(&simc_lock);
        if (simc_option.completion != SIMC_COMPLETE_AT_EXIT) {
            for (int n = 0; n < SIMC_SESSIONS; n++)
                give_back(simc_session_at(n), true, false);
        }
        usleep(flush_period_ms ? flush_period_ms * 1000u : 1000u);
        pthread_mutex_lock(&simc_lock);
    }
    return NULL;
}

void simc_start_worker(void)
{
    pthread_mutex_lock(&simc_lock);
    bool is_first = !has_worker;
    has_worker = true;
    pthread_mutex_unlock(&simc_lock);
    pthread_t thread;
    if (!is_first || pthread_create(&thread, NULL, run_worker, NULL))
        return;
    pthread_setname_np(thread, "cupti-worker");
    pthread_detach(thread);
}

int32_t cuptiActivityFlushPeriod(uint32_t ms)
{
    SIMC_ENTER(cuptiActivityFlushPeriod);
    SIMC_NEED_DRIVER();
    flush_period_ms = ms;
    return SIM_CUPTI_SUCCESS;
}

static void count_flush(uint32_t flag)
{
    simc_count.flushes++;
    simc_count.forced_flushes += (flag & SIM_FLUSH_FORCED) != 0;
}

int32_t cuptiActivityFlushAll(uint32_t flag)
{
    SIMC_ENTER(cuptiActivityFlushAll);
    SIMC_NEED_DRIVER();
    bool has_callbacks = false;
    for (int n = 0; n < SIMC_SESSIONS; n++) {
        const simc_session *session = simc_session_at(n);
        has_callbacks |= session->complete || session->complete_v2;
    }
    if (!has_callbacks)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_OPERATION);
    count_flush(flag);
    simc_flush(flag & SIM_FLUSH_FORCED);
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiActivityFlush(void *context, uint32_t stream, uint32_t flag)
{
    SIMC_ENTER(cuptiActivityFlush);
    (void)context, (void)stream;
    SIMC_NEED_DRIVER();
    count_flush(flag);
    simc_flush(flag & SIM_FLUSH_FORCED);
    return SIM_CUPTI_SUCCESS;
}
