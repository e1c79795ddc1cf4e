/* Ends in the way its argument names, while a profiler records; the script exits.sh sees that none
 * of them hangs or crashes. `null` steps the environment's profiler and returns from main; `logs`
 * does so with a log function that calls Takt. */
#include <takt/takt.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static takt_profiler *profiler;
static pthread_barrier_t barrier;

static _Atomic(bool) is_interrupting; /* Takt allocates on its own thread, too */

/* A signal arrives while Takt is at work. */
static void *interrupt(void *unused, void *pointer, size_t bytes)
{
    (void)unused;
    if (is_interrupting)
        raise(SIGTERM);
    if (bytes)
        return realloc(pointer, bytes);
    free(pointer);
    return NULL;
}

static void exit_now(int number)
{
    (void)number;
    exit(3);
}

static void exit_at_once(const takt_trace *trace, void *unused)
{
    (void)trace;
    (void)unused;
    exit(3);
}

static void start(const char *directory, bool is_crash_safe, takt_on_trace on_trace)
{
    static const char *const traces[] = {"perfetto", "chrome"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "exit";
    options.directory = directory;
    options.traces = traces;
    options.trace_count = 2;
    static const char *const reports[] = {"scopes"};
    options.crash_safe = is_crash_safe;
    options.on_trace = on_trace;
    options.reports = reports;
    options.report_count = on_trace != NULL;
    options.background = on_trace ? TAKT_OFF : TAKT_ON;
    options.schedule = (takt_schedule){.active = 2};
    takt_profiler_create(&options, &profiler);
    takt_profiler_start(profiler);
    for (int step = 0; step < 5; step++) { /* two cycles are being exported, a third is open */
        TAKT_SCOPE("step");
        takt_profiler_step(profiler);
    }
}

static void *record_for_ever(void *unused)
{
    pthread_barrier_wait(&barrier);
    for (;;) {
        TAKT_SCOPE("outer");
        TAKT_SCOPE("inner");
    }
    return unused;
}

static void *call_exit(void *unused)
{
    TAKT_SCOPE("exits");
    exit(3);
    return unused;
}

static void *end_quietly(void *unused)
{
    TAKT_SCOPE("ends");
    return unused;
}

static void *cancel_me(void *unused)
{
    TAKT_SCOPE("cancelled");
    pthread_barrier_wait(&barrier);
    for (;;)
        pthread_testcancel(); /* ThreadSanitizer is confused by one within a system call */
    return unused;
}

static void record_at_exit(void)
{
    TAKT_SCOPE("at exit");
    takt_begin("never ended");
}

__attribute__((destructor)) static void record_in_destructor(void)
{
    TAKT_SCOPE("destructor");
}

static pthread_t start_thread(void *(*run)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    return thread;
}

static void wait_beside_thread(void *(*run)(void *))
{
    pthread_barrier_init(&barrier, NULL, 2);
    start_thread(run);
    pthread_barrier_wait(&barrier);
}

/* What stays open is Takt's to bear. */
static int end_like(const char *way)
{
    TAKT_SCOPE("main");
    if (strcmp(way, "return") == 0)
        return 3;
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "_exit") == 0)
        _exit(3);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "thread") == 0)
        pthread_join(start_thread(call_exit), NULL);
    if (strcmp(way, "busy") == 0) {
        wait_beside_thread(record_for_ever);
        exit(3);
    }
    if (strcmp(way, "pthread_exit") == 0) {
        start_thread(call_exit);
        pthread_exit(NULL);
    }
    if (strcmp(way, "last_thread") == 0) {
        start_thread(end_quietly);
        pthread_exit(NULL);
    }
    if (strcmp(way, "stop") == 0) {
        wait_beside_thread(record_for_ever);
        takt_profiler_stop(profiler);
        takt_profiler_destroy(profiler);
        exit(3);
    }
    if (strcmp(way, "cancel") == 0) {
        pthread_barrier_init(&barrier, NULL, 2);
        pthread_t thread = start_thread(cancel_me);
        pthread_barrier_wait(&barrier);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        takt_profiler_stop(profiler);
        return 3;
    }
    if (strcmp(way, "signal") == 0) {
        signal(SIGTERM, exit_now);
        is_interrupting = true;
        takt_timing *timing;
        takt_timing_begin(NULL, &timing); /* allocates */
    }
    if (strcmp(way, "saved") == 0) { /* the same, where all is saved and memory is given back */
        signal(SIGTERM, exit_now);
        is_interrupting = true;
        takt_profiler_stop(profiler);
    }
    if (strcmp(way, "fork") == 0)
        exit(fork() < 0 ? 1 : 3); /* parent and child */
    if (strcmp(way, "exec") == 0)
        execlp("sh", "sh", "-c", "exit 3", (char *)NULL);
    return 1;
}

static void log_step(takt_log_level level, const char *line, void *unused)
{
    (void)level;
    (void)unused;
    fprintf(stderr, "step %llu: %s\n", (unsigned long long)takt_profiler_step_number(NULL), line);
}

static int step_nobody(void)
{
    takt_profiler_start(NULL);
    for (int step = 0; step < 10; step++) {
        {
            TAKT_SCOPE("step of nobody");
        }
        takt_profiler_step(NULL);
    }
    printf("step %llu\n", (unsigned long long)takt_profiler_step_number(NULL));
    return 3;
}

int main(int argc, char **argv)
{
    atexit(record_at_exit);
    if (argc != 3)
        return 1;
    if (strcmp(argv[1], "null") == 0)
        return step_nobody();
    if (strcmp(argv[1], "logs") == 0) {
        takt_set_log(log_step, NULL);
        return step_nobody();
    }
    bool is_signal = strcmp(argv[1], "signal") == 0;
    if (is_signal || strcmp(argv[1], "saved") == 0)
        takt_set_allocator(&(takt_allocator){interrupt, NULL});
    start(argv[2], is_signal, strcmp(argv[1], "on_trace") == 0 ? exit_at_once : NULL);
    return end_like(argv[1]);
}
