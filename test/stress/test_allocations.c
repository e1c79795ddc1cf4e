/* Totals of reported memory against a model of their own: what eight threads allocate and free,
 * each also what others have allocated, counts to the last one; so do reports of signal handlers,
 * which are counted as lost where they interrupt Takt; and a child that is forked meanwhile reports
 * too. */
#include "record/log.h"
#include "record/allocations.h"
#include "support/sanitized.h"
#include "support/test.h"

#include <takt/takt.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 8,
    BLOCKS = 6000, /* of the model; live ones come to half of them */
    CALLS = FEWER(20000, 200000)
};

/* ---- The model ------------------------------------------------------------------------------- */

/* One address. Whoever reports of it has the lock: the program knows whose a block is, too. */
typedef struct block {
    pthread_mutex_t lock;
    const void *address;
    uint64_t bytes;
    bool is_live;
} block;

typedef struct counts {
    uint64_t allocations, frees, unmatched;
} counts;

static block blocks[BLOCKS];

static uint64_t random_word(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static uint64_t first_seed(uint64_t number)
{
    const char *given = getenv("TEST_SEED");
    uint64_t seed = (given ? strtoull(given, NULL, 10) : 0) * 1000 + number + 1;
    for (int i = 0; i < 8; i++)
        random_word(&seed);
    return seed;
}

/* As allocators give them: side by side, on pages of their own, far from each other, and anywhere.
 */
static void place_blocks(void)
{
    uint64_t seed = first_seed(77);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        static const unsigned shifts[] = {4, 12, 26};
        uint64_t address =
            i % 4 == 3 ? random_word(&seed) & ~UINT64_C(15) : (i + 1) << shifts[i % 4];
        pthread_mutex_init(&blocks[i].lock, NULL);
        blocks[i].address = (const void *)(uintptr_t)address; /* never looked at */
    }
}

static void allocate(block *b, uint64_t *seed, counts *mine)
{
    b->bytes = random_word(seed) % 10000;
    mine->frees += b->is_live; /* of the block that had the address */
    b->is_live = true;
    mine->allocations++;
    takt_memory_allocated(b->address, b->bytes);
}

static void release(block *b, counts *mine)
{
    if (b->is_live)
        mine->frees++;
    else
        mine->unmatched++;
    b->is_live = false;
    b->bytes = 0;
    takt_memory_freed(b->address);
}

/* Some allocations are reported twice, and some frees of what is not there. */
static void report_one(uint64_t *seed, counts *mine)
{
    block *b = &blocks[random_word(seed) % BLOCKS];
    bool is_strange = random_word(seed) % 16 == 0;
    if (pthread_mutex_trylock(&b->lock) != 0)
        return;
    if (b->is_live == is_strange)
        allocate(b, seed, mine);
    else
        release(b, mine);
    pthread_mutex_unlock(&b->lock);
}

static uint64_t live_bytes(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCKS; i++)
        sum += blocks[i].bytes;
    return sum;
}

static void check_totals(const tkt_memory_state *before, const counts *all)
{
    tkt_memory_state now = tkt_memory_now();
    assert_int_equal(now.current_bytes - before->current_bytes, live_bytes());
    assert_int_equal(now.allocations - before->allocations, all->allocations);
    assert_int_equal(now.frees - before->frees, all->frees);
    assert_int_equal(now.unmatched_frees - before->unmatched_frees, all->unmatched);
    assert_true(now.peak.bytes >= now.current_bytes);
}

static void release_all(counts *all)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i].is_live)
            release(&blocks[i], all);
}

/* ---- One thread: the peak is known, too ------------------------------------------------------ */

TEST(the_peak_of_one_thread_is_exact)
{
    uint64_t seed = first_seed(0), peak = 0, now = 0;
    counts all = {0};
    tkt_memory_state before = tkt_memory_now();
    assert_int_equal(before.peak.bytes, 0);
    for (int i = 0; i < CALLS; i++) {
        block *b = &blocks[random_word(&seed) % BLOCKS];
        now -= b->bytes;
        if (b->is_live)
            release(b, &all);
        else
            allocate(b, &seed, &all);
        now += b->bytes;
        peak = now > peak ? now : peak;
        assert_int_equal(tkt_memory_now().current_bytes, now);
        assert_int_equal(tkt_memory_now().peak.bytes, peak);
    }
    check_totals(&before, &all);
    release_all(&all);
    check_totals(&before, &all);
}

/* ---- Eight threads --------------------------------------------------------------------------- */

typedef struct worker {
    pthread_t thread;
    uint64_t seed;
    counts mine;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    for (int i = 0; i < CALLS; i++)
        report_one(&w->seed, &w->mine);
    return NULL;
}

TEST(totals_of_eight_threads_are_exact)
{
    worker workers[THREADS] = {0};
    counts all = {0};
    tkt_memory_state before = tkt_memory_now();
    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i].seed = first_seed(i + 1);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        all.allocations += workers[i].mine.allocations;
        all.frees += workers[i].mine.frees;
        all.unmatched += workers[i].mine.unmatched;
    }
    assert_true(all.unmatched > 0);
    check_totals(&before, &all);
    release_all(&all);
    check_totals(&before, &all);
}

/* ---- Signals --------------------------------------------------------------------------------- */

static uint64_t handler_reports; /* atomic */
static bool is_over;             /* atomic */

static void on_signal(int number)
{
    uint64_t address = UINT64_C(1) << 50 | (handler_reports + 1) << 4; /* never looked at */
    int before = errno;
    (void)number;
    takt_memory_allocated((const void *)(uintptr_t)address, 64);
    takt_memory_freed((const void *)(uintptr_t)address);
    __atomic_fetch_add(&handler_reports, 2, __ATOMIC_RELAXED);
    errno = before;
}

static void *send_signals(void *thread)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
        usleep(20);
    }
    return NULL;
}

static uint64_t lost_in_signals(void)
{
    uint64_t losses[TAKT_LOSS_COUNT];
    tkt_log_losses(losses);
    return losses[TAKT_LOSS_IN_SIGNAL];
}

/* A handler that interrupts a report is refused, so it may be that only the first half of its pair
 * is; then its free is an unmatched one, or its block stays. */
TEST(reports_of_handlers_are_counted_or_lost)
{
    struct sigaction action = {.sa_handler = on_signal}, old;
    pthread_t self = pthread_self(), sender;
    uint64_t seed = first_seed(50), lost = lost_in_signals();
    counts mine = {0};
    tkt_memory_state before = tkt_memory_now();
    sigaction(SIGUSR1, &action, &old);
    assert_int_equal(pthread_create(&sender, NULL, send_signals, &self), 0);
    for (int i = 0; i < 10 * CALLS || __atomic_load_n(&handler_reports, __ATOMIC_RELAXED) == 0; i++)
        report_one(&seed, &mine);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_join(sender, NULL);
    sigaction(SIGUSR1, &old, NULL);
    tkt_memory_state now = tkt_memory_now();
    uint64_t of_all = now.allocations + now.frees + now.unmatched_frees -
                      (before.allocations + before.frees + before.unmatched_frees);
    uint64_t of_program = mine.allocations + mine.frees + mine.unmatched;
    assert_int_equal(of_all - of_program + lost_in_signals() - lost, handler_reports);
    assert_true(handler_reports > 0);
    release_all(&mine);
}

/* ---- Forks ----------------------------------------------------------------------------------- */

static void *report_meanwhile(void *unused)
{
    uint64_t seed = first_seed((uint64_t)(uintptr_t)&seed);
    counts mine = {0};
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        report_one(&seed, &mine);
    return unused;
}

static void report_in_child(void)
{
    alarm(600); /* ends a child that waits for a lock of its parent's */
    for (size_t i = 0; i < BLOCKS; i++) {
        takt_memory_allocated(blocks[i].address, 10);
        takt_memory_freed(blocks[i].address);
    }
    _exit(0);
}

TEST(a_child_reports_though_others_held_locks)
{
#if IS_SANITIZED
    skip(); /* the sanitizer's own locks may be held in the child */
#endif
    pthread_t threads[2];
    __atomic_store_n(&is_over, false, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, report_meanwhile, NULL), 0);
    for (int i = 0; i < 200; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            report_in_child();
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    place_blocks();
    return run_all_tests(NULL, NULL);
}
