/* Pictures of a thread's open scopes, taken while it begins and ends scopes as fast as it can: each
 * is of a moment that there was, also where scopes end without a record, and the scope around them
 * is in all. */
#include "record/log.h"
#include "record/site.h"
#include "record/slot.h"

#include "support/sanitized.h"
#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define PICTURES FEWER(1000, 10000)

static atomic_bool is_over;
static _Atomic(tkt_thread_log *) log_of_thread; /* once it has one */
static _Thread_local volatile int sink;

static void *enter_scopes(void *argument)
{
    TAKT_SCOPE("outer");
    for (unsigned i = 0; !atomic_load_explicit(&is_over, memory_order_relaxed); i++) {
        if (i % 3 == 0) {
            TAKT_SCOPE("A");
            TAKT_SCOPE("A in A");
            sink++;
        } else if (i % 3 == 1) {
            TAKT_SCOPE("B");
            TAKT_ARG("number", i);
            TAKT_SCOPE("B in B");
            sink++;
        } else {
            TAKT_SCOPE("C");
            TAKT_PHASE("C first");
            TAKT_PHASE("C second");
        }
        if (i == 2)
            atomic_store(&log_of_thread, takt_thread_hot_v1.log);
    }
    return argument;
}

static const char *name_of(const tkt_log_view *view, uint32_t frame)
{
    return tkt_site_get(tkt_frame_site(&view->frames[frame]))->name.bytes;
}

static void assert_was_there(const tkt_log_view *view)
{
    assert_in_range(view->frame_count, 1, 3);
    assert_string_equal(name_of(view, 0), "outer");
    for (uint32_t i = 1; i < view->frame_count; i++)
        assert_true(view->frames[i].start >= view->frames[i - 1].start);
    if (view->frame_count == 3 && name_of(view, 1)[0] != name_of(view, 2)[0])
        fail_msg("%s in %s", name_of(view, 2), name_of(view, 1));
}

static void take_pictures(takt_mode mode, uint64_t max_memory)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;
    pthread_t thread;
    options.mode = mode;
    options.max_memory_bytes = max_memory;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    atomic_store(&is_over, false);
    atomic_store(&log_of_thread, NULL);
    assert_int_equal(pthread_create(&thread, NULL, enter_scopes, NULL), 0);
    tkt_thread_log *log;
    while (!(log = atomic_load(&log_of_thread)))
        sched_yield();
    for (int i = 0; i < PICTURES; i++) {
        tkt_log_view view;
        assert_int_equal(tkt_log_view_open(log, UINT64_MAX, &view), TAKT_OK);
        assert_was_there(&view);
        tkt_log_view_close(log, &view);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

TEST(of_a_thread_without_room_for_records)
{
    take_pictures(TAKT_MODE_TRACE, 64 << 10);
}

TEST(of_a_thread_whose_records_are_folded)
{
    take_pictures(TAKT_MODE_SUMMARY, 4 << 20);
}

TEST(of_a_thread_that_overwrites_its_records)
{
    take_pictures(TAKT_MODE_FLIGHT, 1 << 20);
}

TEST_MAIN(NULL, NULL)
