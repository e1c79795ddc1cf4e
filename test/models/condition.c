/* A thread that waits for work, and one that adds some and wakes it without the lock
 * (wait_for_change() and tkt_condition_wake_all() in src/base/lock.c). The kernel lets a thread
 * sleep only while the word has the value that the thread saw. Whoever sleeps must be woken. */
#include "model.h"

static atomic_int owner, sequence, waiting;
static int work;      /* with the lock */
static bool is_awake; /* the kernel woke the thread; plain: read when both have ended */
static bool is_asleep;

static void take(void)
{
    int nobody = 0;
    __VERIFIER_assume(atomic_compare_exchange_strong_explicit(
        &owner, &nobody, 1, memory_order_acquire, memory_order_relaxed));
}

static void give(void)
{
    atomic_store_explicit(&owner, 0, RELEASE(1));
}

static void *run_worker(void *unused)
{
    take();
    bool has_work = work != 0;
    int seen = 0;
    if (!has_work) {
        atomic_fetch_add_explicit(&waiting, WEAKER != 2, memory_order_relaxed);
        seen = load(&sequence, relaxed);
    }
    give();
    is_asleep = !has_work && load(&sequence, seq_cst) == seen;
    return unused;
}

static void *run_program(void *unused)
{
    take();
    work = 1;
    give();
    if (load(&waiting, relaxed) > 0) {
        atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed);
        is_awake = true; /* FUTEX_WAKE: wakes who sleeps, and who sleeps later sees the new value */
    }
    return unused;
}

int main(void)
{
    run_both(run_worker, run_program);
    assert(!is_asleep || is_awake);
    return 0;
}
