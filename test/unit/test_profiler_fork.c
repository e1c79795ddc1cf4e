/* A program that forks while it is profiled: the child's calls return at once and do nothing, and
 * the parent notices nothing. */
#include "test_profiler.h"
#include "support/test.h"
#include "support/emulated.h"
#include "support/skip.h"

#include <link.h>
#include <semaphore.h>
#include <sys/wait.h>

static test_traces traces;

/* Not inlined: for an address of thread-local storage the linker makes a lea, which sets no flags,
 * of an add whose flags gcc 12's check for null pointers had taken. */
static __attribute__((noinline)) void work(void)
{
    TAKT_SCOPE("work");
}

static void step(takt_profiler *profiler)
{
    work();
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
}

/* What the child does of everything; the first call that goes wrong is its exit status. */
static int try_everything(takt_profiler *profiler)
{
    double elapsed_ms = -1;
    takt_timing *timing = NULL;
    takt_timed result;
    int runs = 0;
    {
        TAKT_SCOPE("child");
        TAKT_TIMER("child", .silent = true, .filter = TAKT_TIMING_ALL, .elapsed_ms = &elapsed_ms);
    }
    TAKT_TIMED(&result, .repeat = 3) {
        runs++;
    }
    if (elapsed_ms < 0)
        return 1;
    if (runs != 3)
        return 2;
    if (takt_profiler_step(profiler) != TAKT_BAD_STATE)
        return 3;
    if (takt_timing_begin(NULL, &timing) != TAKT_BAD_STATE || timing)
        return 4;
    takt_status status = takt_profiler_stop(profiler);
    if (status != TAKT_OK && status != TAKT_BAD_STATE)
        return 5;
    if (takt_profiler_start(profiler) != TAKT_BAD_STATE)
        return 6;
    takt_profiler_destroy(profiler);
    return 0;
}

/* What the child ended with: 0 if all was well. */
static int fork_child(takt_profiler *profiler)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(600); /* ends a child that hangs */
        _exit(try_everything(profiler));
    }
    waitpid(child, &status, 0);
    return status;
}

static void check_child(takt_profiler *profiler)
{
    assert_int_equal(fork_child(profiler), 0);
}

TEST(a_child_does_nothing_at_any_step_and_the_parent_goes_on)
{
    static const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_BOTH,
                                      TAKT_MODE_FLIGHT};
    for (size_t m = 0; m < 4; m++) {
        takt_profiler_options options =
            options_for(&traces, (takt_schedule){.wait = 1, .warmup = 1, .active = 2, .repeat = 2});
        options.mode = modes[m];
        takt_profiler *profiler = started(&options);
        for (int i = 0; i < 8; i++) {
            check_child(profiler);
            step(profiler);
        }
        check_child(profiler);
        assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
        assert_int_equal(traces.count, 2);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(takt_trace_facts(traces.items[i])->step_count, 2);
            if (modes[m] != TAKT_MODE_SUMMARY)
                assert_int_equal(count_spans(traces.items[i], "work"), 2);
        }
        takt_profiler_destroy(profiler);
        release_traces(&traces);
    }
}

/* A thread that holds the dynamic linker's lock, as those that load libraries or throw do. */
typedef struct holder {
    pthread_t thread;
    sem_t holds, may_go;
} holder;

static int hold(struct dl_phdr_info *info, size_t size, void *self)
{
    (void)info, (void)size;
    holder *h = self;
    sem_post(&h->holds);
    while (sem_wait(&h->may_go) != 0)
        ;
    return 1;
}

static void *run_holder(void *self)
{
    dl_iterate_phdr(hold, self);
    return NULL;
}

TEST(a_child_takes_no_lock_that_another_thread_held)
{
    holder linker;
    takt_profiler_options options = options_for(&traces, (takt_schedule){.wait = 1, .active = 1});
    takt_profiler *profiler = started(&options);
    sem_init(&linker.holds, 0, 0);
    sem_init(&linker.may_go, 0, 0);
    assert_int_equal(pthread_create(&linker.thread, NULL, run_holder, &linker), 0);
    while (sem_wait(&linker.holds) != 0)
        ;
    int status = fork_child(profiler);
    sem_post(&linker.may_go);
    pthread_join(linker.thread, NULL);
    assert_int_equal(status, 0);
    takt_profiler_destroy(profiler);
    release_traces(&traces);
}

TEST(a_child_in_the_middle_of_a_timing_ends)
{
    takt_timing *timing;
    int status;
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    pid_t child = fork();
    if (child == 0) {
        alarm(600);
        takt_timing_end(timing);
        size_t count = takt_timing_count(timing);
        takt_timing_free(timing);
        _exit(count != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    takt_timing_free(timing);
}

TEST(a_child_in_the_middle_of_a_timer_prints_its_line)
{
    takt_timer timer;
    int status;
    const takt_timer_options options = {
        .struct_size = sizeof options, .detailed = true, .filter = TAKT_TIMING_ALL};
    capture_stdout();
    takt_timer_begin(&timer, "forked", &options);
    pid_t child = fork();
    if (child == 0) {
        alarm(600);
        takt_timer_end(&timer);
        _exit(0);
    }
    waitpid(child, &status, 0);
    const char *text = captured_stdout();
    assert_non_null(strstr(text, "forked took "));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    capture_stdout();
    takt_timer_end(&timer);
    captured_stdout();
}

/* ---- Forked while nothing is recorded -------------------------------------------------------- */

static int run_in_child(int (*child)(void))
{
    int status;
    pid_t id = fork();
    if (id == 0) {
        alarm(600);
        _exit(child());
    }
    assert_true(id > 0);
    assert_int_equal(waitpid(id, &status, 0), id);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void record_one_step(void)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1, .repeat = 1});
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    step(profiler);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

/* The child's own scopes are in its trace, on a thread that has its id, and no others. */
static int record_in_child(void)
{
    takt_track_info track;
    release_traces(&traces);
    record_one_step();
    if (traces.count != 1)
        return 1;
    const takt_trace *trace = traces.items[0];
    if (count_spans(trace, "work") != 1)
        return 2;
    if (takt_trace_facts(trace)->process_id != (uint32_t)getpid())
        return 3;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++)
        if (takt_trace_track(trace, i, &track) == TAKT_OK && strcmp(track.name, "main") == 0 &&
            track.thread_id == (uint32_t)getpid())
            return 0;
    return 4;
}

static int fork_again(void)
{
    int status;
    pid_t id = fork();
    if (id == 0)
        _exit(record_in_child());
    waitpid(id, &status, 0);
    return WEXITSTATUS(status);
}

static int try_to_record(void)
{
    takt_timing *timing = NULL;
    return takt_timing_begin(NULL, &timing) == TAKT_BAD_STATE ? 0 : 1;
}

static int try_to_start(void)
{
    takt_timing *timing = NULL;
    takt_status status = takt_timing_begin(NULL, &timing);
    takt_timing_free(timing);
    return status == TAKT_OK ? 0 : 1;
}

/* Where somebody else runs a thread in each process, no fork is one of the only thread. */
#ifdef __SANITIZE_THREAD__
#define SKIP_IF_NEVER_ALONE() SKIP_CASE("ThreadSanitizer runs a thread of its own")
#else
#define SKIP_IF_NEVER_ALONE()                                                                      \
    do {                                                                                           \
        if (test_runner())                                                                         \
            SKIP_CASE("the emulator runs a thread of its own");                                    \
    } while (0)
#endif

TEST(a_child_records_if_its_parent_has_ended_recording)
{
    SKIP_IF_NEVER_ALONE();
    record_one_step();
    assert_int_equal(run_in_child(record_in_child), 0);
    assert_int_equal(run_in_child(fork_again), 0);
    release_traces(&traces);
    record_one_step(); /* and the parent goes on */
    assert_int_equal(traces.count, 1);
    assert_int_equal(count_spans(traces.items[0], "work"), 1);
    release_traces(&traces);
}

TEST(a_child_records_if_its_parent_has_stopped_a_profiler_of_the_background)
{
    SKIP_IF_NEVER_ALONE();
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1, .repeat = 1});
    options.background = TAKT_ON;
    takt_profiler *profiler = started(&options);
    step(profiler);
    takt_profiler_stop(profiler);
    assert_int_equal(run_in_child(record_in_child), 0);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    step(profiler);
    takt_profiler_stop(profiler);
    assert_int_equal(traces.count, 2);
    takt_profiler_destroy(profiler);
    release_traces(&traces);
}

static void *wait_for_the_end(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* Another thread may hold any lock. */
TEST(a_child_of_threads_records_nothing)
{
    SKIP_IF_NEVER_ALONE();
    pthread_t thread;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_the_end, &lock), 0);
    assert_int_equal(run_in_child(try_to_record), 0);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    assert_int_equal(run_in_child(try_to_start), 0);
}

TEST(a_child_of_a_profiler_that_waits_records_nothing)
{
    SKIP_IF_NEVER_ALONE();
    takt_profiler_options options = options_for(&traces, (takt_schedule){.wait = 5, .active = 1});
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    assert_int_equal(run_in_child(try_to_record), 0);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    release_traces(&traces);
    assert_int_equal(run_in_child(try_to_start), 0);
}

int main(void)
{
    takt_set_log(keep_line, NULL);
    return run_all_tests(NULL, NULL);
}
