/* Reading timers inside kernels back. A read enqueues on the program's stream a copy of the pool to
 * pinned memory; then it empties the pool: the segments become 0, and the count of tickets becomes
 * the pool's base. An event behind all this says when the copy is there. Whoever steps, reads or
 * seals looks at the event, and makes a batch of the copy.
 *
 * Tickets show every loss: a lane without room takes one too, and tickets taken after the copy are
 * missing between one read's count and the next one's base. */
#include "cuda/timers.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/own.h"
#include "base/thread.h"
#include "cuda/cuda.h"

#include <takt/scope.h>

#include <string.h>

#define MOST_BATCH_BYTES ((uint64_t)64 << 20) /* of all batches that windows wait for */
#define RATE_NS          UINT64_C(1000000)

static bool is_recording; /* atomic */

static tkt_mutex batch_lock = TKT_MUTEX_INIT;
static bool are_needed; /* batch_lock, as the next ones */
static tkt_phase_batch *first_batch;
static tkt_phase_batch **batch_end = &first_batch;
static uint64_t batch_bytes, batch_count;

bool tkt_timers_are_recording(void)
{
    return __atomic_load_n(&is_recording, __ATOMIC_RELAXED);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static uint64_t bytes_of(const tkt_phase_batch *batch)
{
    return batch->lanes.capacity * sizeof *batch->lanes.items +
           batch->records.capacity * sizeof *batch->records.items;
}

/* With the lock. */
static void drop_batch(tkt_phase_batch *batch)
{
    if (!batch || --batch->references > 0)
        return;
    tkt_timers_drop(batch->timers);
    tkt_map_fini(&batch->of_block);
    TKT_ARRAY_FREE(&batch->lanes);
    TKT_ARRAY_FREE(&batch->records);
    tkt_free(batch);
}

/* With the lock. Returns a batch that only says what was lost; NULL without memory. */
static tkt_phase_batch *losses_of(const tkt_phase_batch *batch)
{
    tkt_phase_batch *losses = tkt_alloc(sizeof *losses);
    if (!losses)
        return NULL;
    *losses = (tkt_phase_batch){.timers = batch->timers,
                                .read_ns = batch->read_ns,
                                .done_ns = batch->done_ns,
                                .lost_lanes = batch->lost_lanes + batch->lanes.count};
    tkt_timers_hold(batch->timers);
    return losses;
}

/* With the lock: adds the batch for windows, if there is one. */
static void list_batch(tkt_phase_batch *batch)
{
    if (!are_needed)
        return;
    if (batch_bytes + bytes_of(batch) > MOST_BATCH_BYTES && !(batch = losses_of(batch)))
        return;
    batch->references++;
    batch->number = ++batch_count;
    batch_bytes += bytes_of(batch);
    *batch_end = batch;
    batch_end = &batch->next;
}

static void add_batch(tkt_phase_batch *batch)
{
    takt_device_timers *timers = batch->timers;
    batch->references = 1;
    tkt_mutex_lock(&batch_lock);
    list_batch(batch);
    tkt_phase_batch *old = batch; /* an empty read leaves the program the one before */
    if (batch->lanes.count) {
        old = timers->latest;
        timers->latest = batch;
    }
    drop_batch(old);
    tkt_mutex_unlock(&batch_lock);
}

void tkt_timers_forget_latest(takt_device_timers *timers)
{
    tkt_mutex_lock(&batch_lock);
    drop_batch(timers->latest);
    timers->latest = NULL;
    tkt_mutex_unlock(&batch_lock);
}

void tkt_timers_visit(void (*visit)(const tkt_phase_batch *first, void *user), void *user)
{
    tkt_mutex_lock(&batch_lock);
    visit(first_batch, user);
    tkt_mutex_unlock(&batch_lock);
}

void tkt_timers_release(uint64_t before_ns)
{
    tkt_mutex_lock(&batch_lock);
    while (first_batch && first_batch->done_ns < before_ns) {
        tkt_phase_batch *batch = first_batch;
        first_batch = batch->next;
        batch->next = NULL;
        batch_bytes -= bytes_of(batch);
        drop_batch(batch);
    }
    if (!first_batch)
        batch_end = &first_batch;
    tkt_mutex_unlock(&batch_lock);
}

void tkt_timers_record(bool records, bool is_needed)
{
    __atomic_store_n(&is_recording, records, __ATOMIC_RELAXED);
    tkt_mutex_lock(&batch_lock);
    are_needed = is_needed;
    tkt_mutex_unlock(&batch_lock);
}

/* ---- From memory to a batch ------------------------------------------------------------------ */

/* Returns the ns per tick of the clock that kernels in host code read: from the options, from
 * Takt's clock if it is the same counter, or from two readings of both clocks. */
static double host_rate(const takt_device_timers *timers)
{
    if (timers->options.ns_per_cycle > 0)
        return timers->options.ns_per_cycle;
    if (tkt_clock_is_inline()) {
        tkt_clock_fit fit = tkt_clock_fit_now();
        return tkt_clock_resolution_ns(&fit);
    }
    uint64_t ticks = takt_ticks() - timers->created_ticks;
    uint64_t ns = takt_now_ns() - timers->created_ns;
    return ns > RATE_NS && ticks > 0 ? (double)ns / (double)ticks : 0;
}

/* Of two results of tkt_calls_heard(). */
static uint64_t later_moment(uint64_t a, uint64_t b)
{
    return a == 0 || (b && (int32_t)((uint32_t)b - (uint32_t)a) > 0) ? b : a;
}

/* How many records the lane has written. Only a lane that had more than `room` tells. */
static uint32_t written_records(const takt_device_segment *segment, uint32_t room)
{
    const takt_device_record *records = (const void *)(segment + 1);
    uint32_t count = segment->count > room ? room : 0;
    while (count < room && tkt_record_is_written(&records[count]))
        count++;
    return count;
}

static bool add_lane(tkt_phase_batch *batch, const takt_device_segment *segment, uint32_t room)
{
    uint32_t count = written_records(segment, room);
    size_t first = batch->records.count;
    tkt_phase_lane *lane = TKT_ARRAY_ADD(&batch->lanes);
    if (!lane)
        return false;
    if (!TKT_ARRAY_RESERVE(&batch->records, first + count)) {
        batch->lanes.count--;
        return false;
    }
    *lane =
        (tkt_phase_lane){.head = *segment, .first_record = (uint32_t)first, .record_count = count};
    lane->head.count = segment->count > count ? segment->count : count;
    batch->lost_phases += lane->head.count - count;
    tkt_view_launch(segment->view, lane);
    lane->after = later_moment(lane->after, batch->timers->heard);
    if (count)
        memcpy(batch->records.items + first, segment + 1, count * sizeof *batch->records.items);
    batch->records.count += count;
    return true;
}

static size_t stride_of(const takt_device_timers *timers)
{
    return sizeof(takt_device_segment) + timers->options.records * sizeof(takt_device_record);
}

/* How many slots have lanes. */
static uint64_t used_slots(const takt_device_timers *timers, const takt_device_pool *pool)
{
    uint64_t taken = pool->taken - pool->base;
    return taken < timers->options.blocks ? taken : timers->options.blocks;
}

/* A slot without its ticket belongs to a lane that had not begun to write. */
static void add_lanes(tkt_phase_batch *batch, const takt_device_pool *pool)
{
    const takt_device_timers *timers = batch->timers;
    size_t stride = stride_of(timers);
    uint64_t used = used_slots(timers, pool);
    batch->lost_lanes += pool->taken - pool->base - used;
    for (uint64_t i = 0; i < used; i++) {
        const takt_device_segment *segment = (const void *)((const char *)(pool + 1) + i * stride);
        if (segment->ticket != pool->base + i + 1 ||
            !add_lane(batch, segment, timers->options.records))
            batch->lost_lanes++;
    }
}

/* Once for the timers. */
static void say_lost(takt_device_timers *timers, uint64_t lost)
{
    if (lost == 0 || timers->has_said_lost)
        return;
    timers->has_said_lost = true;
    tkt_log(TAKT_LOG_WARNING,
            "%llu phases of device timers '%s' are lost: a lane has more than records, %u",
            (unsigned long long)lost, timers->options.name, timers->options.records);
}

static void make_batch(takt_device_timers *timers, const takt_device_pool *pool,
                       const tkt_timer_read *read)
{
    tkt_phase_batch *batch = tkt_alloc_zeroed(sizeof *batch);
    if (!batch)
        return; /* the next one counts these tickets as lost */
    tkt_timers_hold(timers);
    batch->timers = timers;
    batch->read_ns = read->begin_ns;
    batch->done_ns = takt_now_ns();
    batch->heard = read->heard;
    batch->ns_per_cycle = timers->options.on_host ? host_rate(timers) : timers->ns_per_cycle;
    batch->lost_lanes = pool->base - timers->seen;
    add_lanes(batch, pool);
    say_lost(timers, batch->lost_phases);
    timers->seen = pool->taken;
    timers->heard = read->heard;
    add_batch(batch);
}

/* ---- Collecting ------------------------------------------------------------------------------ */

/* Collects the oldest read under way. False if there is none, or it is not done. */
static bool collect_one(const tkt_driver *driver, takt_device_timers *timers, bool may_wait)
{
    uint32_t number = timers->finished_reads;
    tkt_timer_read *read = &timers->reads[number % TKT_TIMER_READS];
    /* acquire: pairs with the release in begin_read() */
    if (__atomic_load_n(&timers->begun_reads, __ATOMIC_ACQUIRE) == number || !driver)
        return false;
    tkt_driver_call call = tkt_driver_begin(driver);
    int result =
        may_wait ? driver->event_synchronize(read->event) : driver->event_query(read->event);
    tkt_driver_end(driver, call);
    if (result == TKT_CUDA_NOT_READY || result == TKT_CUDA_CAPTURE_UNSUPPORTED)
        return false;
    if (result == TKT_CUDA_SUCCESS)
        make_batch(timers, read->memory, read);
    /* release: pairs with the acquire in takt_device_timers_read() */
    __atomic_store_n(&timers->finished_reads, number + 1, __ATOMIC_RELEASE);
    return true;
}

static void collect_all_of(takt_device_timers *timers, bool may_wait)
{
    const tkt_driver *driver = timers->options.on_host ? NULL : tkt_driver_get();
    while (collect_one(driver, timers, may_wait))
        ;
}

/* Takes the right to begin and collect reads. False while another thread has it, if `may_wait` is
 * false, or once destroying has it for good. */
static bool take_reads(takt_device_timers *timers, bool may_wait)
{
    /* acquire: pairs with the release in give_reads() */
    while (__atomic_exchange_n(&timers->is_reading, true, __ATOMIC_ACQUIRE)) {
        if (!may_wait || __atomic_load_n(&timers->is_over, __ATOMIC_RELAXED))
            return false;
        tkt_thread_pause_ms(0);
    }
    return true;
}

static void give_reads(takt_device_timers *timers)
{
    __atomic_store_n(&timers->is_reading, false, __ATOMIC_RELEASE);
}

static void collect(takt_device_timers *timers)
{
    if (!take_reads(timers, false))
        return;
    collect_all_of(timers, false);
    give_reads(timers);
}

static bool is_under_way(const takt_device_timers *timers)
{
    return __atomic_load_n(&timers->begun_reads, __ATOMIC_RELAXED) !=
           __atomic_load_n(&timers->finished_reads, __ATOMIC_ACQUIRE);
}

static bool collect_all(void)
{
    bool is_missing = false;
    for (takt_device_timers *t = tkt_timers_next(NULL); t; t = tkt_timers_next(t)) {
        collect(t);
        is_missing |= is_under_way(t);
    }
    return !is_missing;
}

void tkt_timers_settle(uint32_t timeout_ms)
{
    while (!collect_all() && timeout_ms-- > 0)
        tkt_thread_pause_ms(1);
}

void tkt_timers_step(void)
{
    for (takt_device_timers *t = tkt_timers_next(NULL); t; t = tkt_timers_next(t)) {
        if (t->options.at_step && tkt_timers_are_recording())
            takt_device_timers_read(t, t->options.stream);
        else
            collect(t);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Not through tkt_driver_begin(): all this is the program's, and stands in its recording. */
static int enqueue(const tkt_driver *driver, const takt_device_timers *timers,
                   const tkt_timer_read *read, void *stream)
{
    uint64_t pool = (uintptr_t)timers->pool;
    uint64_t head = sizeof(takt_device_pool);
    int result = driver->copy_to_host(read->memory, pool, timers->bytes, stream);
    if (result == TKT_CUDA_SUCCESS)
        result = driver->memory_zero(pool + head, 0, timers->bytes - head, stream);
    if (result == TKT_CUDA_SUCCESS)
        result = driver->copy_on_device(pool + offsetof(takt_device_pool, base),
                                        pool + offsetof(takt_device_pool, taken), sizeof(uint64_t),
                                        stream);
    return result == TKT_CUDA_SUCCESS ? driver->event_record(read->event, stream) : result;
}

static takt_status begin_read(const tkt_driver *driver, takt_device_timers *timers, void *stream)
{
    tkt_timer_read *read = &timers->reads[timers->begun_reads % TKT_TIMER_READS];
    void *current = NULL;
    if (!tkt_event_context_push(driver, &timers->context))
        return TAKT_BAD_STATE;
    takt_status status = TAKT_BAD_STATE;
    if (tkt_event_capture(driver, stream) == TKT_CAPTURE_NO) {
        read->begin_ns = takt_now_ns();
        read->heard = tkt_calls_heard();
        status = tkt_event_status(enqueue(driver, timers, read, stream));
    }
    driver->context_pop(&current);
    if (status == TAKT_OK) /* release: pairs with the acquire in collect_one() */
        __atomic_store_n(&timers->begun_reads, timers->begun_reads + 1, __ATOMIC_RELEASE);
    return status;
}

static takt_status read_host(takt_device_timers *timers)
{
    takt_device_pool *pool = timers->pool;
    make_batch(timers, pool, &(tkt_timer_read){.begin_ns = takt_now_ns()});
    memset(pool + 1, 0, used_slots(timers, pool) * stride_of(timers));
    __atomic_store_n(&pool->base, pool->taken, __ATOMIC_RELAXED);
    return TAKT_OK;
}

static takt_status read_device(takt_device_timers *timers, void *stream)
{
    const tkt_driver *driver = tkt_driver_get();
    if (!driver)
        return TAKT_BAD_STATE;
    collect_all_of(timers, false);
    if (timers->begun_reads - timers->finished_reads >= TKT_TIMER_READS)
        return TAKT_NOT_READY;
    return begin_read(driver, timers, stream);
}

/* Steps read timers, too, which another thread may be about to destroy. */
takt_status takt_device_timers_read(takt_device_timers *timers, void *stream)
{
    TKT_OWN_WORK;
    if (!timers)
        return TAKT_BAD_ARGUMENT;
    if (tkt_process_is_disabled() || !take_reads(timers, true))
        return TAKT_BAD_STATE;
    takt_status status = timers->options.on_host ? read_host(timers) : read_device(timers, stream);
    give_reads(timers);
    return status;
}

void tkt_timers_end_reads(takt_device_timers *timers)
{
    take_reads(timers, true);
    __atomic_store_n(&timers->is_over, true, __ATOMIC_RELAXED);
    if (timers->options.on_host)
        read_host(timers);
    collect_all_of(timers, true);
}

takt_status tkt_timers_visit_latest(takt_device_timers *timers,
                                    takt_status (*visit)(tkt_phase_batch *latest, void *user),
                                    void *user)
{
    if (tkt_process_is_disabled())
        return TAKT_BAD_STATE;
    collect(timers);
    tkt_mutex_lock(&batch_lock);
    takt_status status = timers->latest ? visit(timers->latest, user) : TAKT_NOT_READY;
    tkt_mutex_unlock(&batch_lock);
    return status;
}
