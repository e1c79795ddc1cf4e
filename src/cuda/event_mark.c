/* The backend without CUPTI: pairs of events around the launches that the program marks.
 *
 * A mark moves from the free list to the open marks. When its block ends, it moves to the marks
 * that wait for the device, and when the collector has stored it, back to the free list. One lock
 * guards the lists; it is never held across a call into the driver, nor together with the store's.
 * A mark that encloses another one on the same thread and stream is given up, since its time would
 * count twice. The store then gets a note, an activity of no kind, so that sealing does not wait
 * for it.
 *
 * Marks outlive windows, but the store forgets shapes between windows. A mark therefore holds the
 * id of its label, which stays valid, and the collector makes the shape when it stores the
 * activity. */
#include "cuda/event.h"

#include "base/lock.h"
#include "base/thread.h"
#include "cuda/collector.h"
#include "cuda/store.h"

#include <string.h>

typedef struct mark {
    struct mark *next;
    void *events[2]; /* CUevent: begin, end */
    void *stream;
    uint32_t context; /* of tkt_marks_context() */
    uint32_t stream_id;
    uint32_t correlation;
    uint32_t label;  /* string of the store */
    uint32_t filter; /* a TAKT_TIMING_ bit */
    uint32_t thread;
    uint32_t era;
    bool has_inner;
    bool is_noted; /* the store has the note that this mark is given up */
} mark;

static tkt_mutex marks_lock = TKT_MUTEX_INIT;
static bool is_on; /* atomic */
static mark *all_marks;
static mark *free_marks;
static mark *open_marks;
static mark *first_waiting;
static mark **last_waiting = &first_waiting;
static uint32_t ended_count;
static uint32_t last_correlation;
static uint32_t last_of_cupti; /* highest correlation id when marks were switched on */
static uint32_t era;           /* raised when CUPTI takes over: unfinished marks of earlier eras
                                * fail */
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
    uint32_t last = tkt_cuda_last_correlation();
    if (on && (int32_t)(last - last_correlation) > 0) /* CUPTI numbered calls before */
        last_correlation = last_of_cupti = last;
    tkt_mutex_unlock(&marks_lock);
    __atomic_store_n(&is_on, on && is_possible, __ATOMIC_RELAXED); /* relaxed: the flag publishes no
                                                                    * data */
    return is_possible;
}

void tkt_marks_forget(void)
{
    __atomic_store_n(&is_on, false, __ATOMIC_RELAXED);
    tkt_mutex_init(&marks_lock);
    tkt_marks_forget_numbers();
}

/* ---- Beginning a mark ------------------------------------------------------------------------ */

/* With the lock. Skips 0, which means "none". */
static uint32_t next_correlation(void)
{
    last_correlation += last_correlation == UINT32_MAX ? 2 : 1;
    return last_correlation;
}

static void count_not_marked(void)
{
    tkt_mutex_lock(&marks_lock);
    not_marked++;
    tkt_mutex_unlock(&marks_lock);
}

/* Takes a free mark and opens it. Tells the marks around it that they have an inner one. */
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
                        .era = era,
                        .correlation = next_correlation()};
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
    uint64_t key = tkt_marks_context_at(given->context).context.key;
    for (int i = 0; i < 2; i++)
        tkt_event_give(driver, key, true, given->events[i]);
    tkt_mutex_lock(&marks_lock);
    given->next = free_marks;
    free_marks = given;
    tkt_mutex_unlock(&marks_lock);
}

/* Destroys events that must not go to the pool: CUDA may take those of a reset context for another
 * context's. */
static void destroy_events(const tkt_driver *driver, mark *owner)
{
    for (int i = 0; i < 2; i++) {
        if (owner->events[i])
            driver->event_destroy(owner->events[i]);
        owner->events[i] = NULL;
    }
}

static void close_unused(const tkt_driver *driver, mark *unused)
{
    tkt_mutex_lock(&marks_lock);
    unlink_open(unused);
    tkt_mutex_unlock(&marks_lock);
    give_up(driver, unused);
}

/* Records the first event and reports it as the launching call. The scope is open already, so the
 * call and its activity belong to the scope. */
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

static mark *begin_mark(const tkt_driver *driver, void *stream, uint32_t filter,
                        const takt_site *site, const void *caller)
{
    tkt_event_context context;
    if (!tkt_event_context_of(driver, stream, &context))
        return NULL; /* without a context nothing can be launched */
    uint32_t index = tkt_marks_context(driver, &context), label = tkt_marks_label(site, filter);
    mark *begun = NULL;
    if (index == UINT32_MAX || label == TKT_STRTAB_FULL)
        count_not_marked();
    else
        begun = open_mark(stream, index);
    if (!begun)
        return NULL;
    begun->label = label;
    begun->filter = filter ? filter & -filter : TAKT_TIMING_KERNEL;
    begun->stream_id = tkt_marks_stream(context.key, stream);
    for (int i = 0; i < 2; i++)
        begun->events[i] = tkt_event_take(driver, &context, true);
    if (begun->events[0] && begun->events[1]) {
        if (record_begin(driver, begun, filter != 0, caller))
            return begun;
        destroy_events(driver, begun);
    }
    count_not_marked();
    close_unused(driver, begun);
    return NULL;
}

void *takt_stream_begin_v1(void *stream, uint32_t filter, const takt_site *site)
{
    const tkt_driver *driver;
    if (!__atomic_load_n(&is_on, __ATOMIC_RELAXED) || !(driver = tkt_driver_get()) ||
        tkt_event_capture(driver, stream) != TKT_CAPTURE_NO)
        return NULL;
    return begin_mark(driver, stream, filter, site, __builtin_return_address(0));
}

static void count_failed(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    store->losses.failed_marks++;
    tkt_mutex_unlock(&store->lock);
}

/* Records the second event. False, and counted as a loss, if that is impossible: the stream may be
 * captured by now. */
static bool record_end(const tkt_driver *driver, const mark *ended)
{
    if (tkt_event_capture(driver, ended->stream) == TKT_CAPTURE_NO &&
        driver->event_record(ended->events[1], ended->stream) == TKT_CUDA_SUCCESS)
        return true;
    count_failed();
    return false;
}

void takt_stream_end_v1(void *begun)
{
    mark *ended = begun;
    const tkt_driver *driver = tkt_driver_get();
    if (!driver)
        return;
    if (!ended->has_inner && !record_end(driver, ended)) {
        close_unused(driver, ended);
        return;
    }
    tkt_mutex_lock(&marks_lock);
    unlink_open(ended);
    ended->next = NULL;
    *last_waiting = ended;
    last_waiting = &ended->next;
    bool is_turn = ++ended_count % (TKT_MARKS / 8) == 0;
    tkt_mutex_unlock(&marks_lock);
    if (is_turn) /* before all marks are in use */
        tkt_collector_nudge();
}

/* ---- Finishing marks ------------------------------------------------------------------------- */

/* Renews the anchor of a context when due. False if there is no anchor at all. */
static bool has_anchor(const tkt_driver *driver, tkt_marked_context *known,
                       const tkt_clock_fit *fit)
{
    tkt_clock_pair pair;
    if (tkt_anchor_is_due(&known->anchor, fit) &&
        tkt_anchor_renew(driver, &known->context, fit, &known->anchor, &pair)) {
        tkt_store *store = tkt_store_get();
        tkt_mutex_lock(&store->lock);
        tkt_store_add_pair(store, &pair, false);
        tkt_mutex_unlock(&store->lock);
    }
    return known->anchor.event;
}

static void add_to_store(const tkt_stored_activity *from, uint32_t label, uint32_t filter)
{
    tkt_store *store = tkt_store_get();
    tkt_stored_activity activity = *from;
    tkt_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.label = label;
    shape.filter = filter;
    tkt_mutex_lock(&store->lock);
    if (!tkt_store_device(store, activity.device))
        store->losses.store_full++;
    else if ((activity.shape = tkt_store_shape(store, &shape)) != UINT32_MAX)
        tkt_store_add(store, &activity);
    tkt_mutex_unlock(&store->lock);
}

static void store_mark(const mark *done, const tkt_marked_context *known, int64_t since,
                       int64_t lasts)
{
    tkt_stored_activity activity = {.begin = known->anchor.ns + (uint64_t)since,
                                    .correlation = done->correlation,
                                    .device = known->device,
                                    .context = done->context + 1,
                                    .stream = done->stream_id};
    activity.end = activity.begin + (uint64_t)(lasts > 0 ? lasts : 0);
    add_to_store(&activity, done->label, done->filter);
}

/* Stores an activity of no kind: it appears in no table, but sealing finds it for the launch. */
static void note_given_up(const mark *given, const tkt_marked_context *known)
{
    const tkt_stored_activity activity = {.correlation = given->correlation,
                                          .device = known->device};
    add_to_store(&activity, 0, 0);
}

/* The context whose marks the collector finishes. Some drivers require that it is current. */
typedef struct visited_context {
    uint32_t index; /* UINT32_MAX: none */
    bool is_alive;  /* current, and still the one in which the marks' events were made */
    tkt_marked_context known;
} visited_context;

static void leave_context(const tkt_driver *driver, visited_context *visited)
{
    void *previous;
    if (visited->index == UINT32_MAX)
        return;
    if (visited->is_alive)
        driver->context_pop(&previous);
    tkt_marks_set_anchor(visited->index, &visited->known.anchor);
    visited->index = UINT32_MAX;
}

static void visit_context(const tkt_driver *driver, visited_context *visited, uint32_t index)
{
    if (visited->index == index)
        return;
    leave_context(driver, visited);
    *visited = (visited_context){.index = index, .known = tkt_marks_context_at(index)};
    visited->is_alive = tkt_event_context_push(driver, &visited->known.context);
}

/* Stores the activity of a mark without inner marks. False if the mark is not done yet. */
static bool finish_timed(const tkt_driver *driver, mark *waiting, tkt_marked_context *known,
                         const tkt_clock_fit *fit)
{
    int64_t since, lasts;
    int result = tkt_event_between(driver, waiting->events[0], waiting->events[1], &lasts);
    if (result == TKT_CUDA_NOT_READY)
        return false;
    if (result == TKT_CUDA_SUCCESS && !has_anchor(driver, known, fit))
        return false;
    if (result == TKT_CUDA_SUCCESS &&
        tkt_event_between(driver, known->anchor.event, waiting->events[0], &since) ==
            TKT_CUDA_SUCCESS)
        store_mark(waiting, known, since, lasts);
    else
        count_failed();
    return true;
}

/* Finishes a mark of the visited context. False if it is not done yet. */
static bool finish(const tkt_driver *driver, mark *waiting, visited_context *visited,
                   const tkt_clock_fit *fit)
{
    if (waiting->has_inner) {
        if (!waiting->is_noted)
            note_given_up(waiting, &visited->known);
    } else if (!visited->is_alive || waiting->era != era) {
        count_failed();
    } else if (!finish_timed(driver, waiting, &visited->known, fit)) {
        return false;
    }
    if (!visited->is_alive)
        memset(waiting->events, 0, sizeof waiting->events); /* they were destroyed with the
                                                             * context */
    give_up(driver, waiting);
    return true;
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

/* Puts marks back before those that arrived meanwhile. */
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

/* Stores notes for open marks too: their window may end now. */
static void note_open_marks(void)
{
    mark noted;
    do {
        tkt_mutex_lock(&marks_lock);
        mark *open = open_marks;
        while (open && (!open->has_inner || open->is_noted))
            open = open->next;
        if (open) {
            open->is_noted = true;
            noted = *open;
        }
        tkt_mutex_unlock(&marks_lock);
        if (!open)
            return;
        tkt_marked_context known = tkt_marks_context_at(noted.context);
        note_given_up(&noted, &known);
    } while (true);
}

size_t tkt_marks_resolve(void)
{
    const tkt_driver *driver = tkt_driver_get();
    size_t count = 0;
    if (driver)
        note_open_marks();
    mark *waiting = driver ? take_waiting() : NULL, *kept = NULL, **last = &kept;
    if (!waiting)
        return 0;
    tkt_clock_fit fit = tkt_clock_fit_now();
    tkt_driver_call call = tkt_driver_begin(driver);
    visited_context visited = {.index = UINT32_MAX};
    while (waiting) {
        mark *next = waiting->next;
        visit_context(driver, &visited, waiting->context);
        if (!finish(driver, waiting, &visited, &fit)) {
            *last = waiting;
            last = &waiting->next;
            count++;
        }
        waiting = next;
    }
    leave_context(driver, &visited);
    tkt_driver_end(driver, call);
    put_back(kept, last);
    return count;
}

void tkt_marks_retire(void)
{
    tkt_marks_resolve();
    tkt_mutex_lock(&marks_lock);
    bool was_used = all_marks != NULL;
    era++;
    tkt_mutex_unlock(&marks_lock);
    tkt_marks_resolve();
    if (was_used)
        tkt_callback_continue_from(last_of_cupti);
}
