/* Captures and Takt's own waiting for devices exclude each other. */
#include "cuda/collector.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static atomic_bool has_begun;

static void *begin_capture(void *unused)
{
    (void)unused;
    tkt_capture_begin();
    atomic_store(&has_begun, true);
    return NULL;
}

static void nobody_waits_for_devices_during_a_capture(void **state)
{
    (void)state;
    tkt_capture_begin();
    assert_int_equal(tkt_capture_count(), 1);
    assert_false(tkt_capture_hold());
    tkt_capture_end();
    assert_true(tkt_capture_hold());
    tkt_capture_release();
}

static void a_capture_begins_when_waiting_is_over(void **state)
{
    (void)state;
    pthread_t thread;
    assert_true(tkt_capture_hold());
    assert_int_equal(pthread_create(&thread, NULL, begin_capture, NULL), 0);
    while (tkt_capture_count() == 0) /* it has come, and stands at the gate */
        ;
    assert_false(atomic_load(&has_begun));
    tkt_capture_release();
    pthread_join(thread, NULL);
    assert_true(atomic_load(&has_begun));
    assert_false(tkt_capture_hold());
    tkt_capture_end();
}

static void captures_from_before_are_not_counted_below_zero(void **state)
{
    (void)state;
    tkt_capture_end();
    assert_int_equal(tkt_capture_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits_for_devices_during_a_capture),
        cmocka_unit_test(a_capture_begins_when_waiting_is_over),
        cmocka_unit_test(captures_from_before_are_not_counted_below_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
