/* Two counters, each raised before the other is looked at: either a capture sees that somebody
 * waits for devices, and waits for that to end, or who wants to wait sees the capture, and does
 * not. Both sides are sequentially consistent for that reason. */
#include "cuda/capture.h"

#include "base/thread.h"

#include <stdatomic.h>

#define MOST_TURNS 2000u /* of a millisecond */

static _Atomic(uint32_t) captures;
static _Atomic(uint32_t) holders;

uint32_t tkt_capture_count(void)
{
    return atomic_load(&captures);
}

void tkt_capture_begin(void)
{
    atomic_fetch_add(&captures, 1);
    for (uint32_t turn = 0; atomic_load(&holders) > 0 && turn < MOST_TURNS; turn++)
        tkt_thread_pause_ms(1); /* captures are rare, and so is waiting for devices */
}

void tkt_capture_end(void)
{
    uint32_t count = atomic_load(&captures);
    while (count > 0 && !atomic_compare_exchange_weak(&captures, &count, count - 1))
        ; /* at 0 it began before anybody watched */
}

bool tkt_capture_hold(void)
{
    atomic_fetch_add(&holders, 1);
    if (atomic_load(&captures) == 0)
        return true;
    tkt_capture_release();
    return false;
}

void tkt_capture_release(void)
{
    atomic_fetch_sub(&holders, 1);
}
