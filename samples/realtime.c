/* A control loop of 1 kHz, and how much its steps vary with Takt and without.
 *
 * The loop's thread is urgent (SCHED_FIFO 80), bound to one processor, and its memory is locked. In
 * each step it controls 50 joints in 200 scopes. By the schedule, 39 steps are not recorded, one
 * warms up, 40 are recorded, and so on: all are measured in one loop, under the same conditions.
 *
 *     realtime          4000 steps, 4 s
 *     realtime 60000    a minute, which shows rarer delays
 *
 * It prints how long steps took, and how late they began. Without the right to be urgent (root,
 * CAP_SYS_NICE or `ulimit -r`) it runs as a usual thread, and says so.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for CPU_SET() */
#endif
#include <takt/takt.h>

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    JOINTS = 50,
    STEP_NS = 1000000,
    MOST_STEPS = 100000000
};

/* ---- The robot ------------------------------------------------------------------------------- */

typedef struct joint {
    double angle, speed, target;
} joint;

static joint arm[JOINTS];

static double measure(const joint *j)
{
    TAKT_SCOPE("measure");
    return j->target - j->angle;
}

static double decide(const joint *j, double error)
{
    TAKT_SCOPE("decide");
    return 400.0 * error - 40.0 * j->speed;
}

static void move(joint *j, double force)
{
    TAKT_SCOPE("move");
    j->speed += force * 1e-3;
    j->angle += j->speed * 1e-3;
}

static void control(void)
{
    for (int i = 0; i < JOINTS; i++) {
        TAKT_SCOPE("joint");
        move(&arm[i], decide(&arm[i], measure(&arm[i])));
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* What is measured of one kind of steps. */
typedef struct times {
    const char *kind;
    double *busy_us; /* how long the step took, with takt_profiler_step() */
    double *late_us; /* how late it began */
    size_t count;
} times;

enum {
    NOT_RECORDED,
    RECORDED,
    BOUNDARY,
    KINDS
};

static int kind_of(const takt_schedule *schedule, uint64_t step)
{
    takt_action action = takt_schedule_action(schedule, step);
    if (action != takt_schedule_action(schedule, step + 1))
        return BOUNDARY;
    return action == TAKT_ACTION_NONE ? NOT_RECORDED : RECORDED;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
    struct timespec when = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
        continue;
}

static void run(takt_profiler *profiler, const takt_schedule *schedule, uint64_t steps,
                times all[KINDS])
{
    int64_t due_ns = now_ns();
    for (uint64_t step = 0; step < steps; step++) {
        due_ns += STEP_NS;
        sleep_until(due_ns);
        int64_t begin_ns = now_ns();
        control();
        takt_profiler_step(profiler);
        int64_t end_ns = now_ns();
        times *of = &all[kind_of(schedule, step)];
        of->late_us[of->count] = (double)(begin_ns - due_ns) / 1e3;
        of->busy_us[of->count++] = (double)(end_ns - begin_ns) / 1e3;
        if (end_ns > due_ns + STEP_NS)
            due_ns = end_ns; /* what was missed is not made up for */
    }
}

/* ---- How urgent it is ------------------------------------------------------------------------ */

/* Returns why the thread is not urgent, or NULL. */
static const char *become_urgent(void)
{
    struct sched_param how = {.sched_priority = 80};
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) == 0) {
        int cpu = CPU_SETSIZE - 1; /* the last: the first has most interrupts */
        while (cpu > 0 && !CPU_ISSET(cpu, &all))
            cpu--;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return "memory cannot be locked: ulimit -l";
    if (sched_setscheduler(0, SCHED_FIFO, &how) != 0)
        return "SCHED_FIFO is not allowed: ulimit -r, or CAP_SYS_NICE";
    return NULL;
}

/* ---- Results --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *kind, double *us, size_t count)
{
    if (count == 0)
        return;
    qsort(us, count, sizeof *us, compare);
    printf("%-32s %8zu %8.1f %8.1f %8.1f %8.1f\n", kind, count, us[count / 2], us[count * 99 / 100],
           us[count * 999 / 1000], us[count - 1]);
}

static void print_times(times all[KINDS])
{
    printf("%-32s %8s %8s %8s %8s %8s\n", "steps took, us", "steps", "p50", "p99", "p99.9",
           "slowest");
    for (int kind = 0; kind < KINDS; kind++)
        print_row(all[kind].kind, all[kind].busy_us, all[kind].count);
    printf("\n%-32s %8s %8s %8s %8s %8s\n", "steps began late by, us", "steps", "p50", "p99",
           "p99.9", "slowest");
    for (int kind = 0; kind < KINDS; kind++)
        print_row(all[kind].kind, all[kind].late_us, all[kind].count);
}

/* In memory that is written to before the loop. */
static void make_room(times all[KINDS], uint64_t steps)
{
    static const char *const kinds[] = {"not recorded", "recorded", "recording begins or ends"};
    for (int kind = 0; kind < KINDS; kind++) {
        double *room = malloc(2 * steps * sizeof *room);
        if (!room) {
            fprintf(stderr, "realtime: no memory for %llu steps\n", (unsigned long long)steps);
            exit(1);
        }
        memset(room, 0, 2 * steps * sizeof *room);
        all[kind] = (times){.kind = kinds[kind], .busy_us = room, .late_us = room + steps};
    }
}

/* Reports and on_trace would run in takt_profiler_step(). Files do not: Takt's own thread writes
 * them. This program wants neither. */
static takt_profiler *create_profiler(const takt_schedule *schedule)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "realtime";
    options.schedule = *schedule;
    options.activities = TAKT_ACTIVITIES_CPU;

    takt_profiler *profiler = NULL;
    takt_status status = takt_profiler_create(&options, &profiler);
    if (status != TAKT_OK)
        fprintf(stderr, "no profile: %s\n", takt_status_text(status));
    return profiler; /* takt_profiler_step() accepts NULL */
}

static uint64_t read_steps(const char *text)
{
    char *end;
    unsigned long long steps = strtoull(text, &end, 10);
    if (*end == '\0' && steps > 0 && steps <= MOST_STEPS)
        return steps;
    fprintf(stderr, "usage: realtime [STEPS]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    const takt_schedule schedule = {.wait = 39, .warmup = 1, .active = 40};
    uint64_t steps = argc > 1 ? read_steps(argv[1]) : 4000;
    times all[KINDS];
    make_room(all, steps);
    for (int i = 0; i < JOINTS; i++)
        arm[i].target = i;

    takt_profiler *profiler = create_profiler(&schedule);
    takt_profiler_start(profiler); /* before the thread is urgent: Takt's threads begin here */
    const char *why_not = become_urgent();
    run(profiler, &schedule, steps, all);
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
    takt_profiler_stop(profiler);

    printf("%llu steps of %d scopes at 1 kHz, %s%s\n\n", (unsigned long long)steps, 4 * JOINTS,
           why_not ? "not urgent: " : "SCHED_FIFO 80, one processor, memory locked",
           why_not ? why_not : "");
    print_times(all);
    takt_profiler_destroy(profiler);
    for (int kind = 0; kind < KINDS; kind++)
        free(all[kind].busy_us); /* and the other half */
    return fabs(arm[1].angle - arm[1].target) < 1.0 ? 0 : 1;
}
