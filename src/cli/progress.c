/* A line on the terminal while a large file is read or written. A thread of its own writes it,
 * because the library says nothing while it works; short work never sees it. */
#include "cli/cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_SECONDS = 1 /* nothing is said before */
};

struct cli_progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_ended; /* under `lock` */
    char what[64];
    char name[192];
};

static void *show(void *user)
{
    cli_progress *progress = user;
    struct timespec next;
    int seconds = FIRST_SECONDS;

    clock_gettime(CLOCK_MONOTONIC, &next);
    next.tv_sec += FIRST_SECONDS;
    pthread_mutex_lock(&progress->lock);
    while (!progress->is_ended) {
        if (pthread_cond_timedwait(&progress->ended, &progress->lock, &next) == 0)
            continue;
        fprintf(stderr, "\rtakt: %s %s, %d s", progress->what, progress->name, seconds++);
        next.tv_sec++;
    }
    if (seconds > FIRST_SECONDS)
        fputs("\r\033[K", stderr); /* the line goes away */
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

static bool init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool is_done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                   pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return is_done;
}

/* NULL where there is no terminal, and where anything fails: progress is never worth an error. */
cli_progress *cli_progress_begin(const char *what, const char *name)
{
    if (!isatty(STDERR_FILENO))
        return NULL;
    cli_progress *progress = calloc(1, sizeof *progress);
    if (!progress)
        return NULL;
    cli_clean(progress->what, sizeof progress->what, what);
    cli_clean(progress->name, sizeof progress->name, name);
    pthread_mutex_init(&progress->lock, NULL);
    if (!init_condition(&progress->ended)) {
        free(progress);
        return NULL;
    }
    if (pthread_create(&progress->thread, NULL, show, progress) != 0) {
        pthread_cond_destroy(&progress->ended);
        free(progress);
        return NULL;
    }
    return progress;
}

void cli_progress_end(cli_progress *progress)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->is_ended = true;
    pthread_cond_signal(&progress->ended);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->ended);
    pthread_mutex_destroy(&progress->lock);
    free(progress);
}

/* A trace that lacks its end is told in a line, whatever is made of it, and by the exit status. */
static void note_ending(const char *path, const takt_trace *trace)
{
    switch (takt_trace_facts(trace)->ending) {
    case TAKT_ENDING_WHOLE:
        return;
    case TAKT_ENDING_KILLED:
        cli_error("%s is incomplete: its program was killed, or it still runs", path);
        break;
    case TAKT_ENDING_CUT:
        cli_error("%s is incomplete: the file is cut", path);
        break;
    }
    cli_is_incomplete = true;
}

takt_trace *cli_open_trace(const char *path)
{
    takt_trace *trace = NULL;
    takt_error error = {.status = TAKT_OK};

    cli_progress *progress = cli_progress_begin("reading", path);
    takt_status status = takt_trace_open(path, &trace, &error);
    cli_progress_end(progress);
    if (status == TAKT_OK) {
        note_ending(path, trace);
        return trace;
    }
    cli_error("%s", error.message[0] ? error.message : takt_status_text(status));
    return NULL;
}
