/* The backend without CUPTI: pairs of events around what the program marks.
 *
 * A mark goes from the free list to the open ones, when its block ends to those
 * that wait for the device, and back when the collector has stored it. The
 * lists are under one lock, which is never held across a call into the driver
 * or with the store's. A mark that has another one within, on the same thread
 * and stream, is given up: its time would be counted twice. */
#include "cuda/event.h"

#include "base/hash.h"
#include "base/thread.h"
#include "cuda/callback.h"
#include "cuda/store.h"

#include <stdio.h>
#include <string.h>

typedef struct mark {
    struct mark *next;
    void *events[2]; /* CUevent: begin, end */
    void *stream;
    uint32_t context; /* index of `contexts` */
    uint32_t stream_id;
    uint32_t correlation;
    uint32_t shape; /* in the store */
    uint32_t thread;
    bool has_inner;
} mark;

/* Contexts are numbered in the order in which they are met, and so are streams.
 */
typedef struct known_context {
    tkt_event_context context;
    uint32_t device;
    tkt_anchor anchor; /* the collector's */
} known_context;

static tkt_mutex marks_lock = TKT_MUTEX_INIT;
static bool is_on; /* atomic */
static mark *all_marks;
static mark *free_marks;
static mark *open_marks;
static mark *first_waiting;
static mark **last_waiting = &first_waiting;
static TKT_ARRAY_OF(known_context) contexts;
static tkt_map stream_numbers;
static tkt_map shapes; /* of call sites */
static uint32_t last_correlation;
static uint64_t not_marked;

bool tkt_marks_switch(bool on)
{
    tkt_mutex_lock(&marks_lock);
    if (on && !all_marks && (all_marks = tkt_alloc_zeroed(TKT_MARKS * sizeof *all_marks))) {
        for (size_t i = TKT_MARKS; i-- > 0;) {
            all_marks[i].next = free_marks;
            free_marks = &all_marks[i];
        }
    }
    bool is_possible = !on || all_marks;
    if (last_correlation < tkt_cuda_last_correlation()) /* CUPTI was there before */
        last_correlation = tkt_cuda_last_correlation();
    tkt_mutex_unlock(&marks_lock);
    __atomic_store_n(&is_on, on && is_possible, __ATOMIC_RELAXED); /* guards no data */
    return is_possible;
}

void tkt_marks_forget(void)
{
    __atomic_store_n(&is_on, false, __ATOMIC_RELAXED);
    tkt_mutex_init(&marks_lock);
}

/* ---- Beginning ---- */

static uint32_t index_of_context(const tkt_event_context *context)
{
    for (uint32_t i = 0; i < contexts.count; i++)
        if (contexts.items[i].context.key == context->key)
            return i;
    return UINT32_MAX;
}

static uint32_t device_of(const tkt_driver *driver, void *context)
{
    void *previous;
    int device = 0;
    if (driver->context_push(context) != TKT_CUDA_SUCCESS)
        return 0;
    driver->context_device(&device);
    driver->context_pop(&previous);
    return (uint32_t)device;
}

/* The context's index, or UINT32_MAX without memory. */
static uint32_t know_context(const tkt_driver *driver, const tkt_event_context *context)
{
    tkt_mutex_lock(&marks_lock);
    uint32_t index = index_of_context(context);
    tkt_mutex_unlock(&marks_lock);
    if (index != UINT32_MAX)
        return index;
    uint32_t device = device_of(driver, context->handle);
    tkt_mutex_lock(&marks_lock);
    index = index_of_context(context);
    known_context *added = index == UINT32_MAX ? TKT_ARRAY_ADD(&contexts) : NULL;
    if (added) {
        *added = (known_context){.context = *context, .device = device};
        index = (uint32_t)contexts.count - 1;
    }
    tkt_mutex_unlock(&marks_lock);
    return index;
}

/* The number of a stream of the context; 0 without memory. */
static uint32_t number_of_stream(uint64_t context_key, const void *stream)
{
    tkt_mutex_lock(&marks_lock);
    uint64_t *number = tkt_map_put(&stream_numbers, tkt_hash_u64(context_key) ^ (uintptr_t)stream);
    if (number && *number == 0)
        *number = stream_numbers.count;
    uint32_t result = number ? (uint32_t)*number : 0;
    tkt_mutex_unlock(&marks_lock);
    return result;
}

static uint32_t intern(tkt_strtab *strings, const char *text)
{
    uint32_t id = tkt_strtab_intern_text(strings, text);
    return id == TKT_STRTAB_FULL ? 0 : id;
}

static uint32_t make_shape(const takt_site *site, uint32_t filter)
{
    char label[512];
    tkt_store *store = tkt_store_get();
    tkt_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.filter = filter ? filter & -filter : TAKT_TIMING_KERNEL;
    if (filter)
        tkt_activity_label(label, sizeof label, filter, site->name ? site->name : "(null)");
    else
        snprintf(label, sizeof label, "stream scope %s", site->name ? site->name : "(null)");
    tkt_mutex_lock(&store->lock);
    shape.label = intern(&store->strings, label);
    uint32_t index = tkt_store_shape(store, &shape);
    tkt_mutex_unlock(&store->lock);
    return index;
}

/* UINT32_MAX without memory. */
static uint32_t shape_of(const takt_site *site, uint32_t filter)
{
    uint64_t key = (uint64_t)__atomic_load_n(&site->id, __ATOMIC_RELAXED) << 32 | filter;
    tkt_mutex_lock(&marks_lock);
    uint64_t *known = tkt_map_get(&shapes, key);
    uint32_t shape = known ? (uint32_t)*known : UINT32_MAX;
    tkt_mutex_unlock(&marks_lock);
    if (known)
        return shape;
    shape = make_shape(site, filter);
    tkt_mutex_lock(&marks_lock);
    known = shape == UINT32_MAX ? NULL : tkt_map_put(&shapes, key);
    if (known)
        *known = shape;
    tkt_mutex_unlock(&marks_lock);
    return shape;
}

/* Takes a mark and puts it among the open ones; those around it are told. */
static mark *open_mark(void *stream, uint32_t context)
{
    uint32_t thread = tkt_thread_id();
    tkt_mutex_lock(&marks_lock);
    mark *taken = free_marks;
    if (taken) {
        free_marks = taken->next;
        for (mark *around = open_marks; around; around = around->next)
            if (around->thread == thread && around->stream == stream && around->context == context)
                around->has_inner = true;
        *taken = (mark){.next = open_marks,
                        .stream = stream,
                        .context = context,
                        .thread = thread,
                        .correlation = ++last_correlation};
        open_marks = taken;
    } else {
        not_marked++;
    }
    tkt_mutex_unlock(&marks_lock);
    return taken;
}

static void unlink_open(mark *closed)
{
    mark **place = &open_marks;
    while (*place != closed)
        place = &(*place)->next;
    *place = closed->next;
}

static void give_up(const tkt_driver *driver, mark *given)
{
    tkt_mutex_lock(&marks_lock);
    uint64_t key = contexts.items[given->context].context.key;
    tkt_mutex_unlock(&marks_lock);
    for (int i = 0; i < 2; i++)
        tkt_event_give(driver, key, true, given->events[i]);
    tkt_mutex_lock(&marks_lock);
    given->next = free_marks;
    free_marks = given;
    tkt_mutex_unlock(&marks_lock);
}

static void close_unused(const tkt_driver *driver, mark *unused)
{
    tkt_mutex_lock(&marks_lock);
    unlink_open(unused);
    tkt_mutex_unlock(&marks_lock);
    give_up(driver, unused);
}

/* Records the first event and tells of the call that launches, which is the
 * mark's begin: the scope is open already, so that the call and what it
 * launches belong to it. */
static bool record_begin(const tkt_driver *driver, mark *begun, bool is_launch, const void *caller)
{
    tkt_cuda_call call = {.name = is_launch ? "TAKT_LAUNCH" : "TAKT_STREAM_SCOPE",
                          .begin_ticks = tkt_ticks(),
                          .correlation = begun->correlation,
                          .caller = caller};
    call.result = driver->event_record(begun->events[0], begun->stream);
    call.end_ticks = tkt_ticks();
    if (call.result != TKT_CUDA_SUCCESS)
        return false;
    tkt_callback_report(&call);
    return true;
}

void *takt_stream_begin_v1(void *stream, uint32_t filter, const takt_site *site)
{
    tkt_event_context context;
    const tkt_driver *driver;
    if (!__atomic_load_n(&is_on, __ATOMIC_RELAXED) || !(driver = tkt_driver_get()) ||
        tkt_event_capture(driver, stream) != TKT_CAPTURE_NO ||
        !tkt_event_context_of(driver, stream, &context))
        return NULL;
    uint32_t index = know_context(driver, &context);
    uint32_t shape = shape_of(site, filter);
    mark *begun = index != UINT32_MAX && shape != UINT32_MAX ? open_mark(stream, index) : NULL;
    if (!begun)
        return NULL;
    begun->shape = shape;
    begun->stream_id = number_of_stream(context.key, stream);
    for (int i = 0; i < 2; i++)
        begun->events[i] = tkt_event_take(driver, &context, true);
    if (begun->events[0] && begun->events[1] &&
        record_begin(driver, begun, filter != 0, __builtin_return_address(0)))
        return begun;
    close_unused(driver, begun);
    return NULL;
}

static void count_incomplete(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    store->losses.incomplete++;
    tkt_mutex_unlock(&store->lock);
}

/* False, and counted, where it cannot be: the stream may be captured by now. */
static bool record_end(const tkt_driver *driver, const mark *ended)
{
    if (tkt_event_capture(driver, ended->stream) == TKT_CAPTURE_NO &&
        driver->event_record(ended->events[1], ended->stream) == TKT_CUDA_SUCCESS)
        return true;
    count_incomplete();
    return false;
}

void takt_stream_end_v1(void *begun)
{
    mark *ended = begun;
    const tkt_driver *driver = tkt_driver_get();
    if (!driver)
        return;
    if (ended->has_inner || !record_end(driver, ended)) {
        close_unused(driver, ended);
        return;
    }
    tkt_mutex_lock(&marks_lock);
    unlink_open(ended);
    ended->next = NULL;
    *last_waiting = ended;
    last_waiting = &ended->next;
    tkt_mutex_unlock(&marks_lock);
}

/* ---- What is done ---- */

/* Renews the anchor of a context if it is time; false where there is none at
 * all. */
static bool has_anchor(const tkt_driver *driver, known_context *known, const tkt_clock_fit *fit)
{
    tkt_clock_pair pair;
    if (tkt_anchor_is_due(&known->anchor, fit) &&
        tkt_anchor_renew(driver, &known->context, fit, &known->anchor, &pair)) {
        tkt_store *store = tkt_store_get();
        tkt_mutex_lock(&store->lock);
        tkt_cuda_clock_add(&store->clock, &pair);
        tkt_mutex_unlock(&store->lock);
    }
    return known->anchor.event;
}

static void store_mark(const mark *done, const known_context *known, int64_t since, int64_t lasts)
{
    tkt_store *store = tkt_store_get();
    tkt_stored_activity activity = {.begin = known->anchor.ns + (uint64_t)since,
                                    .correlation = done->correlation,
                                    .device = known->device,
                                    .context = done->context + 1,
                                    .stream = done->stream_id,
                                    .shape = done->shape};
    activity.end = activity.begin + (uint64_t)(lasts > 0 ? lasts : 0);
    tkt_mutex_lock(&store->lock);
    if (tkt_store_device(store, known->device))
        tkt_store_add(store, &activity);
    tkt_mutex_unlock(&store->lock);
}

/* False: not done yet. */
static bool finish(const tkt_driver *driver, mark *waiting, known_context *known,
                   const tkt_clock_fit *fit)
{
    int64_t since, lasts;
    int result = driver->event_query(waiting->events[1]);
    if (result == TKT_CUDA_NOT_READY)
        return false;
    if (result == TKT_CUDA_SUCCESS && !has_anchor(driver, known, fit))
        return false;
    if (result == TKT_CUDA_SUCCESS &&
        tkt_event_between(driver, known->anchor.event, waiting->events[0], &since) &&
        tkt_event_between(driver, waiting->events[0], waiting->events[1], &lasts))
        store_mark(waiting, known, since, lasts);
    else
        count_incomplete(); /* such as after a reset of the device */
    give_up(driver, waiting);
    return true;
}

/* The same with its context current: some drivers want that. `contexts` may
 * move meanwhile, but the anchors are this thread's alone. */
static bool finish_in_context(const tkt_driver *driver, mark *waiting, const tkt_clock_fit *fit)
{
    void *previous;
    tkt_mutex_lock(&marks_lock);
    known_context known = contexts.items[waiting->context];
    tkt_mutex_unlock(&marks_lock);
    uint32_t index = waiting->context;
    bool is_current = driver->context_push(known.context.handle) == TKT_CUDA_SUCCESS;
    bool is_finished = finish(driver, waiting, &known, fit);
    if (is_current)
        driver->context_pop(&previous);
    tkt_mutex_lock(&marks_lock);
    contexts.items[index].anchor = known.anchor;
    tkt_mutex_unlock(&marks_lock);
    return is_finished;
}

static mark *take_waiting(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&marks_lock);
    mark *taken = first_waiting;
    uint64_t dropped = not_marked;
    not_marked = 0;
    first_waiting = NULL;
    last_waiting = &first_waiting;
    tkt_mutex_unlock(&marks_lock);
    if (dropped) {
        tkt_mutex_lock(&store->lock);
        store->losses.dropped += dropped;
        tkt_mutex_unlock(&store->lock);
    }
    return taken;
}

/* Puts them back before those that have come meanwhile. */
static void put_back(mark *first, mark **last)
{
    if (!first)
        return;
    tkt_mutex_lock(&marks_lock);
    *last = first_waiting;
    if (!first_waiting)
        last_waiting = last;
    first_waiting = first;
    tkt_mutex_unlock(&marks_lock);
}

size_t tkt_marks_resolve(void)
{
    const tkt_driver *driver = tkt_driver_get();
    mark *waiting = driver ? take_waiting() : NULL, *kept = NULL, **last = &kept;
    size_t count = 0;
    if (!waiting)
        return 0;
    tkt_clock_fit fit = tkt_clock_fit_now();
    tkt_driver_call call = tkt_driver_begin(driver);
    while (waiting) {
        mark *next = waiting->next;
        if (!finish_in_context(driver, waiting, &fit)) {
            *last = waiting;
            last = &waiting->next;
            count++;
        }
        waiting = next;
    }
    tkt_driver_end(driver, call);
    put_back(kept, last);
    return count;
}
