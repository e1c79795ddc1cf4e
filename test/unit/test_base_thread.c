/* Threads. */
#include "base/lock.h"
#include "base/thread.h"

#include "support/skip.h"
#include "support/test.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *look_at_mask(void *argument)
{
    pthread_sigmask(SIG_SETMASK, NULL, argument);
    return NULL;
}

TEST(the_librarys_threads_block_every_signal)
{
    sigset_t before, within, after, all;
    tkt_thread thread;
    sigfillset(&all); /* some cannot be blocked, or are the C library's own or an emulator's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_sigmask(SIG_SETMASK, &before, &all);
    assert_int_equal(tkt_thread_start(&thread, "masked", look_at_mask, &within), TAKT_OK);
    tkt_thread_join(thread);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number <= SIGRTMAX; number++) {
        assert_int_equal(sigismember(&within, number), sigismember(&all, number));
        assert_int_equal(sigismember(&before, number), sigismember(&after, number));
    }
}

/* How a thread of the library runs. */
typedef struct running {
    int policy;
    cpu_set_t cpus;
} running;

static void *look_at_running(void *argument)
{
    running *seen = argument;
    volatile char stack[128 << 10]; /* twice the default of the last test */
    stack[0] = stack[sizeof stack - 1] = 1;
    seen->policy = sched_getscheduler(0);
    sched_getaffinity(0, sizeof seen->cpus, &seen->cpus);
    return NULL;
}

static running run_humbly(void)
{
    running seen;
    tkt_thread thread;
    assert_int_equal(tkt_thread_start(&thread, "humble", look_at_running, &seen), TAKT_OK);
    tkt_thread_join(thread);
    return seen;
}

TEST(the_librarys_threads_use_the_process_cpus_not_the_one_of_their_starter)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    if (CPU_COUNT(&all) < 2)
        SKIP_CASE("there is one CPU only");
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    running seen = run_humbly();
    sched_setaffinity(0, sizeof all, &all);
    assert_true(CPU_EQUAL(&seen.cpus, &all));
}

TEST(the_librarys_threads_are_not_real_time_threads)
{
    struct sched_param urgent = {.sched_priority = 1}, usual = {0};
    if (sched_setscheduler(0, SCHED_FIFO, &urgent) != 0)
        SKIP_CASE("this user may not start real-time threads");
    running seen = run_humbly();
    sched_setscheduler(0, SCHED_OTHER, &usual);
    assert_int_equal(seen.policy, SCHED_OTHER);
}

TEST(the_librarys_threads_have_room_where_the_default_stack_is_small)
{
    pthread_attr_t before, small;
#ifdef __SANITIZE_THREAD__
    SKIP_CASE("ThreadSanitizer needs more stack than that itself");
#endif
    pthread_getattr_default_np(&before);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    run_humbly();
    pthread_setattr_default_np(&before);
    pthread_attr_destroy(&small);
}

/* A thread that stays until it is let go. */
typedef struct waiting {
    tkt_mutex lock;
    tkt_condition changed;
    bool may_end;
    char name[16];
    uint32_t id;
} waiting;

static void *wait_to_end(void *argument)
{
    waiting *mine = argument;
    mine->id = tkt_thread_id();
    tkt_mutex_lock(&mine->lock);
    while (!mine->may_end)
        tkt_condition_wait(&mine->changed, &mine->lock);
    tkt_mutex_unlock(&mine->lock);
    tkt_thread_os_name(mine->name);
    return NULL;
}

static void run_named(waiting *thread, const char *name)
{
    tkt_thread handle;
    *thread = (waiting){.lock = TKT_MUTEX_INIT, .changed = TKT_CONDITION_INIT};
    assert_int_equal(tkt_thread_start(&handle, name, wait_to_end, thread), TAKT_OK);
    tkt_mutex_lock(&thread->lock);
    thread->may_end = true;
    tkt_condition_wake_all(&thread->changed);
    tkt_mutex_unlock(&thread->lock);
    tkt_thread_join(handle);
}

TEST(threads_have_the_name_cut_to_15_bytes)
{
    waiting thread;
    run_named(&thread, "takt flush");
    assert_string_equal(thread.name, "takt flush");
    run_named(&thread, "takt a name that is long");
    assert_string_equal(thread.name, "takt a name tha");
}

TEST(the_os_name_of_this_thread_is_read)
{
    char name[16];
    prctl(PR_SET_NAME, "solver 3");
    tkt_thread_os_name(name);
    assert_string_equal(name, "solver 3");
}

TEST(thread_ids_are_those_of_the_operating_system)
{
    waiting thread;
    run_named(&thread, "other");
    assert_int_equal(tkt_thread_id(), getpid()); /* the main thread's is the process' */
    assert_int_not_equal(thread.id, tkt_thread_id());
}

/* What the exit handler was told, and where. */
typedef struct farewell {
    const char *words[3]; /* set one after the other; the last stays */
    int calls;
    const char *heard;
    uint32_t set_on, heard_on;
} farewell;

static farewell *current;

static void hear_farewell(void *value)
{
    current->calls++;
    current->heard = value;
    current->heard_on = tkt_thread_id();
}

static void *set_and_end(void *argument)
{
    farewell *mine = argument;
    mine->set_on = tkt_thread_id();
    for (int i = 0; i < 3 && mine->words[i]; i++) {
        bool is_withdrawn = strcmp(mine->words[i], "withdrawn") == 0;
        tkt_thread_at_exit(is_withdrawn ? NULL : hear_farewell, (void *)(uintptr_t)mine->words[i]);
    }
    return NULL;
}

static void run_farewell(farewell *mine)
{
    pthread_t thread;
    current = mine;
    pthread_create(&thread, NULL, set_and_end, mine);
    pthread_join(thread, NULL);
}

TEST(the_exit_handler_runs_on_the_thread_that_ends)
{
    farewell mine = {.words = {"bye"}};
    run_farewell(&mine);
    assert_int_equal(mine.calls, 1);
    assert_string_equal(mine.heard, "bye");
    assert_int_equal(mine.heard_on, mine.set_on);
}

TEST(a_later_value_replaces_the_earlier_one)
{
    farewell mine = {.words = {"first", "second"}};
    run_farewell(&mine);
    assert_int_equal(mine.calls, 1);
    assert_string_equal(mine.heard, "second");
}

TEST(a_handler_can_be_taken_back_and_set_again)
{
    farewell withdrawn = {.words = {"bye", "withdrawn"}};
    run_farewell(&withdrawn);
    assert_int_equal(withdrawn.calls, 0);
    farewell again = {.words = {"bye", "withdrawn", "after all"}};
    run_farewell(&again);
    assert_int_equal(again.calls, 1);
    assert_string_equal(again.heard, "after all");
}

TEST(threads_without_a_value_end_in_silence)
{
    farewell mine = {.words = {NULL}};
    run_farewell(&mine);
    assert_int_equal(mine.calls, 0);
}

static int forks_seen;

static void see_fork(void)
{
    forks_seen++;
}

TEST(the_fork_handler_runs_in_the_child_only)
{
    tkt_at_fork(see_fork);
    pid_t child = fork();
    if (child == 0)
        _exit(forks_seen);
    int status = -1;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_int_equal(forks_seen, 0);
}

TEST_MAIN(NULL, NULL)
