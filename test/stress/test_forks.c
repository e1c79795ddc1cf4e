/* A program of several threads forks at every phase of a recording, in every way there is. Children
 * do everything that the interface has; none of them hangs, and the program's recording goes on. */
#include "support/test.h"
#include "support/emulated.h"

#include <takt/takt.h>

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 2,
    CHILD_SECONDS = 600 /* a child that hangs ends by SIGALRM */
};

static bool is_over; /* atomic */
static takt_profiler *profiler;

static void ignore(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

/* ---- What the program and its children do ---------------------------------------------------- */

static void record_something(unsigned round)
{
    char name[32];
    TAKT_SCOPE("scope");
    TAKT_PHASE("phase");
    TAKT_ARG("text", "value");
    TAKT_COUNTER("counter", round);
    name[0] = (char)('a' + round % 26);
    name[1] = (char)('a' + round / 26 % 26);
    name[2] = 0;
    takt_begin(name);
    takt_span_end(takt_span_begin(takt_track_named(name), "span"));
    takt_end();
    takt_memory_allocated(name, 8);
    takt_memory_freed(name);
    TAKT_END("unmatched");
}

/* Sites that only children meet, so that they are new. */
static void record_what_is_new(void)
{
    TAKT_SCOPE("new in the child");
    TAKT_MARK("new mark");
    TAKT_COUNTER("new counter", 1);
    takt_begin("new name");
    takt_thread_name("child");
    takt_end();
}

static void record_in_child(void)
{
    takt_set_log(ignore, NULL);
    for (unsigned i = 0; i < 2000; i++)
        record_something(i);
    record_what_is_new();
    takt_profiler_step(profiler);
}

static void do_everything(void)
{
    double elapsed_ms;
    takt_timing *timing = NULL;
    record_in_child();
    {
        TAKT_TIMER("timer", .silent = true, .elapsed_ms = &elapsed_ms);
    }
    if (takt_timing_begin(NULL, &timing) == TAKT_OK)
        takt_timing_end(timing);
    takt_timing_free(timing);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *mine = NULL;
    if (takt_profiler_create(&options, &mine) == TAKT_OK) {
        takt_profiler_start(mine);
        takt_profiler_destroy(mine);
    }
}

static void *keep_recording(void *unused)
{
    for (unsigned round = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); round++) {
        record_something(round);
        takt_set_log(ignore, NULL);
    }
    return unused;
}

/* ---- Ways to fork ---------------------------------------------------------------------------- */

static pid_t fork_plainly(void)
{
    return fork();
}

/* No handler of pthread_atfork() runs, and none of the C library's: its malloc() may be locked. */
static pid_t fork_bare(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void check_child(pid_t child)
{
    int status = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("the child ended by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void fork_by(pid_t (*how)(void), void (*run)(void))
{
    pid_t child = how();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        run();
        _exit(0);
    }
    check_child(child);
}

/* The child of vfork() runs in the program's memory and on its stack, until it ends. */
static void fork_by_vfork(void)
{
    pid_t child = vfork();
    if (child == 0) {
        TAKT_MARK("in the child of vfork");
        _exit(0);
    }
    check_child(child);
}

static void spawn(void)
{
    extern char **environ;
    char *arguments[] = {"true", NULL};
    pid_t child;
    assert_int_equal(posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ), 0);
    check_child(child);
}

/* daemon() forks, and goes on in the child. */
static void become_a_daemon(void)
{
    int tube[2];
    char said = 0;
    assert_int_equal(pipe(tube), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        close(tube[0]);
        if (daemon(1, 1) == 0) {
            alarm(CHILD_SECONDS);
            do_everything();
            said = write(tube[1], "y", 1) == 1;
        }
        _exit(!said);
    }
    check_child(child);
    close(tube[1]);
    assert_int_equal(read(tube[0], &said, 1), 1);
    close(tube[0]);
}

static void fork_in_every_way(void)
{
    fork_by(fork_plainly, do_everything);
    fork_by(fork_bare, record_in_child);
    fork_by_vfork();
}

/* ---- Phases of a recording ------------------------------------------------------------------- */

static void fork_at_every_phase(takt_mode mode)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.mode = mode;
    options.schedule = (takt_schedule){.wait = 1, .warmup = 1, .active = 1, .repeat = 1};
    fork_in_every_way();
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (int step = 0; step < 4; step++) {
        TAKT_SCOPE("step");
        fork_in_every_way();
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    assert_non_null(takt_profiler_trace(profiler));
    takt_profiler_destroy(profiler);
    profiler = NULL;
}

TEST(fork_beside_threads)
{
    static const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_FLIGHT};
    pthread_t threads[THREADS];
    unsigned rounds = 0;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_recording, NULL), 0);
    while (rounds < sizeof modes / sizeof *modes)
        fork_at_every_phase(modes[rounds++]);
    become_a_daemon();
    spawn();
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    print_message("%u recordings, %u children\n", rounds, rounds * 15 + 2);
}

int main(void)
{
    if (test_runner()) {
        puts("the emulator ends when a program of several threads makes the bare system call");
        return 77;
    }
    takt_set_log(ignore, NULL);
    return run_all_tests(NULL, NULL);
}
