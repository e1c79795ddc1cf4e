/* Jobs: threads, tasks and counters of a physics engine.
 *
 * Balls are stacked in piles. Each pile is a job for a pool of threads in every step. Every tenth
 * step a copy of all piles goes to the pool, too: a checkpoint, which takes longer than the step
 * that asked for it. Three reports are printed at the end:
 *
 *     threads     how long main and the workers were in scopes, and how long they waited
 *     tasks       how long jobs took from the queue to their end, and how many at once
 *     counters    contacts between balls, and the length of the queue
 *
 *     jobs               prints the tables
 *     jobs DIRECTORY     also writes a trace there, for ui.perfetto.dev and for `takt report`
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 100,
    WORKERS = 3,
    PILES = 24,
    BALLS = 64, /* of the highest pile */
    CAPACITY = PILES + STEPS /* of the queue: it cannot overflow */
};

/* From the floor, which counts as a ball, to the highest ball; a ball is 1 high. */
typedef struct pile {
    double height[BALLS], before[BALLS]; /* now, and a step ago */
    int count, contacts;
} pile;

typedef struct job {
    void (*run)(void *data); /* NULL: the worker ends */
    void *data;
    takt_span span; /* from the queue to the job's end */
    sem_t *done;    /* NULL: nobody waits for this job */
} job;

static job queue[CAPACITY];
static size_t pushed, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t jobs, solved;

static void push(job next)
{
    pthread_mutex_lock(&lock);
    queue[pushed++ % CAPACITY] = next;
    TAKT_COUNTER("queue", pushed - taken);
    pthread_mutex_unlock(&lock);
    sem_post(&jobs);
}

static job take(void)
{
    TAKT_SCOPE("wait for a job");
    sem_wait(&jobs);
    pthread_mutex_lock(&lock);
    job next = queue[taken++ % CAPACITY];
    TAKT_COUNTER("queue", pushed - taken);
    pthread_mutex_unlock(&lock);
    return next;
}

static void *work(void *name)
{
    takt_thread_name(name);
    for (job next = take(); next.run; next = take()) {
        next.run(next.data);
        takt_span_end(next.span); /* the main thread began it */
        if (next.done)
            sem_post(next.done);
    }
    return NULL;
}

/* Lets the balls fall, then pushes apart those that overlap. */
static void solve(void *data)
{
    const double fall = 9.81 * 0.01 * 0.01; /* gravity times the square of a step's time */
    pile *p = data;
    TAKT_SCOPE("solve pile");

    for (int i = 1; i < p->count; i++) {
        double now = p->height[i];
        p->height[i] += now - p->before[i] - fall;
        p->before[i] = now;
    }
    for (int round = 0; round < 100; round++) {
        p->contacts = 0;
        for (int i = 1; i < p->count; i++) {
            double overlap = p->height[i - 1] + 1.0 - p->height[i];
            if (overlap < 0.0)
                continue;
            p->contacts++;
            p->height[i] += 0.5 * overlap;
            p->height[i - 1] -= 0.5 * overlap;
        }
        p->height[0] = 0.0;
    }
}

/* Writes a copy of all piles into a file that vanishes. */
static void save(void *copy)
{
    TAKT_SCOPE("write checkpoint");
    FILE *file = tmpfile();
    for (const pile *p = copy; file && p < (pile *)copy + PILES; p++)
        for (int i = 0; i < p->count; i++)
            fprintf(file, "%.17g %.17g\n", p->height[i], p->before[i]);
    if (file)
        fclose(file);
    free(copy);
}

static void wait_for_piles(void)
{
    TAKT_SCOPE("wait for piles");
    for (int p = 0; p < PILES; p++)
        sem_wait(&solved);
}

/* Returns the number of contacts. */
static int step(pile *piles, bool has_checkpoint)
{
    TAKT_FUNCTION();
    takt_track track = takt_track_named("jobs");
    int contacts = 0;

    for (int p = 0; p < PILES; p++)
        push((job){solve, &piles[p], takt_span_begin(track, "pile"), &solved});
    wait_for_piles();
    for (int p = 0; p < PILES; p++)
        contacts += piles[p].contacts;
    TAKT_COUNTER("contacts", contacts);
    void *copy = has_checkpoint ? malloc(PILES * sizeof *piles) : NULL;
    if (copy)
        push((job){save, memcpy(copy, piles, PILES * sizeof *piles),
                   takt_span_begin(track, "checkpoint"), NULL});
    return contacts;
}

static takt_profiler *create_profiler(const char *directory)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.name = "jobs";
    options.reports = (const char *const[]){"threads", "tasks", "counters"};
    options.report_count = 3;
    options.directory = directory;
    options.traces = (const char *const[]){"perfetto"};
    options.trace_count = directory ? 1 : 0;
    takt_profiler_create(&options, &profiler);
    return profiler; /* NULL after a failure, which the calls below accept */
}

int main(int argc, char **argv)
{
    static pile piles[PILES];
    static char names[WORKERS][16];
    pthread_t threads[WORKERS];
    int balls = 0, contacts = 0;

    for (int p = 0; p < PILES; p++) {
        balls += BALLS - 2 * p - 1;
        piles[p].count = BALLS - 2 * p;
        for (int i = 0; i < piles[p].count; i++)
            piles[p].height[i] = piles[p].before[i] = 1.02 * i;
    }
    takt_profiler *profiler = create_profiler(argc > 1 ? argv[1] : NULL);
    takt_profiler_start(profiler);
    sem_init(&jobs, 0, 0);
    sem_init(&solved, 0, 0);
    for (int i = 0; i < WORKERS; i++) {
        snprintf(names[i], sizeof names[i], "worker %d", i + 1);
        if (pthread_create(&threads[i], NULL, work, names[i]) != 0)
            return EXIT_FAILURE;
    }
    for (int n = 1; n <= STEPS; n++) {
        contacts = step(piles, n % 10 == 0);
        takt_profiler_step(profiler);
    }
    for (int i = 0; i < WORKERS; i++)
        push((job){0});
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    takt_profiler_stop(profiler); /* prints the tables */
    takt_profiler_destroy(profiler);
    printf("%d of %d balls rest after %d steps\n", contacts, balls, STEPS);
    return contacts == balls ? EXIT_SUCCESS : EXIT_FAILURE;
}
