/* What is remembered of reported memory: how much, what finds no room, and what is known when a
 * program leaves totals off. */
#include "record/allocations.h"
#include "record/log.h"
#include "support/test.h"
#include "support/report_traces.h"

#include "base/alloc.h"

#include <takt/takt.h>

#define MIB (UINT64_C(1) << 20)

static const void *address_of(uint64_t number)
{
    return (const void *)(uintptr_t)(UINT64_C(0x7f0000000000) + number * 48); /* never looked at */
}

static uint64_t losses_of(takt_loss loss)
{
    uint64_t losses[TAKT_LOSS_COUNT];
    tkt_log_losses(losses);
    return losses[loss];
}

static int tear_down(void **state)
{
    (void)state;
    tkt_alloc_fail(0, 0);
    tkt_memory_limit(256 * MIB);
    return 0;
}

/* ---- Room ------------------------------------------------------------------------------------ */

static void free_all_of(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        takt_memory_freed(address_of(i));
}

/* A quarter of a mebibyte would be 8192 addresses, but 32768 have room however little is allowed.
 */
TEST(addresses_beyond_the_limit_are_counted_as_lost)
{
    enum {
        COUNT = 50000,
        ALLOWED = 32768
    };
    tkt_memory_state before = tkt_memory_now();
    uint64_t lost = losses_of(TAKT_LOSS_ADDRESSES);
    tkt_memory_limit(MIB);
    for (uint64_t i = 0; i < COUNT; i++)
        takt_memory_allocated(address_of(i), 3);
    lost = losses_of(TAKT_LOSS_ADDRESSES) - lost;
    tkt_memory_state now = tkt_memory_now();
    assert_int_equal(now.allocations - before.allocations, COUNT - lost);
    assert_int_equal(now.current_bytes - before.current_bytes, 3 * (COUNT - lost));
    assert_in_range(lost, COUNT - ALLOWED, COUNT - ALLOWED / 2);
    takt_memory_allocated(address_of(0), 4); /* known ones need no room */
    assert_int_equal(tkt_memory_now().current_bytes, now.current_bytes + 1);
    free_all_of(COUNT);
    now = tkt_memory_now();
    assert_int_equal(now.frees - before.frees, COUNT - lost + 1); /* with that of address 0 */
    assert_int_equal(now.unmatched_frees - before.unmatched_frees, lost);
    assert_int_equal(now.current_bytes, before.current_bytes);
}

TEST(more_room_serves_from_then_on)
{
    enum {
        COUNT = 50000
    };
    uint64_t lost = losses_of(TAKT_LOSS_ADDRESSES);
    tkt_memory_limit(MIB);
    for (uint64_t i = 0; i < COUNT; i++)
        takt_memory_allocated(address_of(i), 3);
    assert_true(losses_of(TAKT_LOSS_ADDRESSES) > lost);
    lost = losses_of(TAKT_LOSS_ADDRESSES);
    tkt_memory_limit(256 * MIB);
    for (uint64_t i = 0; i < COUNT; i++)
        takt_memory_allocated(address_of(i), 3);
    assert_int_equal(losses_of(TAKT_LOSS_ADDRESSES), lost);
    assert_int_equal(tkt_memory_now().current_bytes, 3 * COUNT);
    free_all_of(COUNT);
}

TEST(without_memory_an_allocation_is_lost)
{
    enum {
        COUNT = 40000
    };
    uint64_t was = tkt_address_lock_all();
    tkt_address_forget_all(); /* tables begin small again */
    tkt_address_unlock_all(was);
    uint64_t lost = losses_of(TAKT_LOSS_ADDRESSES);
    uint64_t allocations = tkt_memory_now().allocations;
    for (uint64_t i = 0; i < COUNT; i++) {
        if (i % 64 == 0)
            tkt_alloc_fail(0, i % 128 ? UINT64_MAX : 0);
        takt_memory_allocated(address_of(i), 5);
    }
    tkt_alloc_fail(0, 0);
    lost = losses_of(TAKT_LOSS_ADDRESSES) - lost;
    assert_in_range(lost, 1, COUNT / 2);
    assert_int_equal(tkt_memory_now().allocations - allocations, COUNT - lost);
    assert_int_equal(tkt_memory_now().current_bytes, 5 * (COUNT - lost));
    free_all_of(COUNT);
    assert_int_equal(tkt_memory_now().current_bytes, 0);
}

/* ---- Without totals -------------------------------------------------------------------------- */

static takt_trace *record_some(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    assert_int_not_equal(takt_memory_on_v1, 0);
    takt_memory_freed(address_of(0)); /* it was allocated before */
    takt_memory_allocated(address_of(1), 700);
    takt_memory_allocated(address_of(2), 300);
    takt_memory_freed(address_of(2));
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_trace *trace = (takt_trace *)(uintptr_t)takt_trace_retain(takt_profiler_trace(profiler));
    takt_profiler_destroy(profiler);
    return trace;
}

static void check_recorded(const takt_trace *trace)
{
    takt_memory_totals totals;
    assert_int_equal(takt_trace_memory_totals(trace, 0, &totals), TAKT_OK);
    assert_true(totals.is_of_recording);
    assert_int_equal(totals.recording.begin_bytes, 0);
    assert_int_equal(totals.recording.peak_bytes, 1000);
    assert_int_equal(totals.recording.allocations, 2);
    assert_int_equal(totals.recording.frees, 1);
    assert_int_equal(totals.current_bytes, 700);
    assert_int_equal(totals.since_start.peak_bytes, 0);
    assert_int_equal(totals.since_start.allocations, 0);
    assert_int_equal(totals.since_start.unmatched_frees, 0);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_MEMORY), 3);
}

static void check_report(const takt_trace *trace)
{
    json_t *json = report_json(trace, "memory", NULL);
    assert_int_equal(row_count(json), 1);
    assert_text(row_at(json, 0), "period", "recording");
    assert_value(row_at(json, 0), "peak_bytes", 1000);
    json_decref(json);
    char *text = report_of(trace, "memory", NULL);
    assert_non_null(strstr(text, "Host memory since start is unknown"));
    assert_null(strstr(text, "since start  "));
    tkt_free(text);
}

/* In this process totals since start are not known any more after this. */
TEST(left_off_totals_are_said_to_be_unknown)
{
    takt_memory memory;
    takt_memory_allocated(address_of(0), 100);
    assert_int_equal(takt_memory_query("host", &memory), TAKT_OK);
    takt_memory_keep_totals(false);
    assert_int_equal(takt_memory_on_v1, 0);
    assert_int_equal(takt_memory_query("host", &memory), TAKT_BAD_STATE);
    takt_memory_allocated(address_of(5), 100);
    for (int round = 0; round < 2; round++) { /* the second knows nothing of the first */
        takt_trace *trace = record_some();
        assert_int_equal(takt_memory_on_v1, 0);
        check_recorded(trace);
        check_report(trace);
        takt_trace_release(trace);
    }
    takt_memory_keep_totals(true);
    assert_int_not_equal(takt_memory_on_v1, 0);
    assert_int_equal(tkt_memory_now().current_bytes, 0);
    takt_memory_allocated(address_of(6), 50);
    assert_int_equal(tkt_memory_now().current_bytes, 50);
    assert_int_equal(takt_memory_query("host", &memory), TAKT_BAD_STATE);
    takt_memory_freed(address_of(6));
}

TEST_MAIN_EACH(NULL, tear_down)
