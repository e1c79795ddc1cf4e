/* Records until it is killed, or until it dies of its own accord, and books what it has recorded.
 *
 *     prog_crashing DIRECTORY BOOK KIND DEATH AFTER
 *
 * KIND is safe, flight, summary, or stream, which is not crash-safe. DEATH: kill (waits for it),
 * segv, abort, exit; after so many scopes of the first worker. */
#include "stress/crash.h"
#include "support/counters.h"

#include <takt/takt.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static crash_book *book;
static const char *death;
static uint64_t after;

static void die(void)
{
    write_counters();
    if (strcmp(death, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(death, "abort") == 0)
        abort();
    if (strcmp(death, "exit") == 0)
        _exit(3);
}

static void spin(uint64_t ns)
{
    uint64_t end = takt_now_ns() + ns;
    while (takt_now_ns() < end)
        continue;
}

static void inner_work(crash_worker *worker)
{
    for (unsigned k = 0; k < INNERS; k++) {
        {
            TAKT_SCOPE("inner");
        }
        worker->inner_ended++;
    }
}

static void outer_work(crash_worker *worker, takt_track track, uint64_t i)
{
    char text[32];
    worker->begun++;
    {
        TAKT_SCOPE("outer");
        worker->opened++;
        TAKT_ARG("i", i);
        if (i % 16 == 0) {
            snprintf(text, sizeof text, "text %lu", (unsigned long)i);
            TAKT_ARG("text", text);
        }
        TAKT_PHASE("first");
        inner_work(worker);
        TAKT_PHASE("second");
        TAKT_COUNTER("samples", i);
        worker->counted++;
        takt_span_end(takt_span_begin(track, "task"));
        worker->tasks++;
        spin(2000);
    }
    worker->ended++;
}

static void *work(void *argument)
{
    crash_worker *worker = argument;
    char name[16];
    snprintf(name, sizeof name, "worker %u", (unsigned)(worker - book->workers));
    takt_thread_name(name);
    takt_track track = takt_track_named(name);
    TAKT_SCOPE("all of it");
    for (uint64_t i = 0; i < MOST; i++) {
        outer_work(worker, track, i);
        if (worker == book->workers && after && i == after)
            die();
    }
    while (pause() != 0) /* until the other worker or the parent, who may be late, ends all */
        continue;
    return NULL;
}

/* True once the stream's thread has written the head of its file. */
static bool has_begun(const char *folder)
{
    char path[4096];
    takt_trace *trace;
    snprintf(path, sizeof path, "%s/crashing.0.partial.pftrace", folder);
    if (takt_trace_open(path, &trace, NULL) != TAKT_OK)
        return false;
    takt_trace_release(trace);
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    int fd = open(argv[2], O_RDWR);
    book = mmap(NULL, sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || book == MAP_FAILED)
        return 2;
    death = argv[4];
    after = strtoull(argv[5], NULL, 10);
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "crashing";
    options.directory = argv[1];
    options.crash_safe = strcmp(argv[3], "stream") != 0;
    options.stream = !options.crash_safe;
    options.max_memory_bytes = 16u << 20;
    options.schedule = (takt_schedule){.warmup = 1, .active = 1000000};
    if (strcmp(argv[3], "flight") == 0) {
        options.mode = TAKT_MODE_FLIGHT;
        options.max_memory_bytes = 256u << 10;
    }
    if (strcmp(argv[3], "summary") == 0)
        options.mode = TAKT_MODE_SUMMARY;
    takt_profiler *profiler = NULL;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK || takt_profiler_step(profiler) != TAKT_OK)
        return 1;
    while (options.stream && !has_begun(argv[1]))
        usleep(1000);
    book->is_recording = 1;
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &book->workers[i]) != 0)
            return 1;
    }
    for (;;) {
        spin(100000);
        takt_profiler_step(profiler);
        book->steps++;
    }
}
