/* An old-fashioned check of truth: scopes on two threads that busy-wait for planned times.
 *
 * This program keeps its own books, by clock_gettime() and without Takt, and prints them; the
 * script truth.sh compares them with every report and export. The books have two figures for each
 * time, between which Takt's must lie: the program reads the clock around each begin and end, and
 * inside of each wait. A thread that the system preempts at any point thus changes both alike or
 * moves them apart.
 *
 *     prog_truth DIRECTORY [summary]
 *
 * writes traces there and prints lines of WHAT, NAME, COUNT, the least and the most TOTAL_NS, the
 * least and the most SELF_NS, PLANNED_NS, and the least and the most time of all calls, separated by
 * tabs; TOTAL_NS counts outermost calls of a recursive scope, as the report "scopes".
 */
#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WARMUP = 1,
    ACTIVE = 3,
    MAX_NAMES = 32,
    MAX_DEPTH = 16,
    MS = 1000000
};

/* ---- The books ------------------------------------------------------------------------------- */

typedef struct range {
    uint64_t least_ns, most_ns;
} range;

typedef struct account {
    char name[32];
    uint64_t count;
    range total, self, all;
    uint64_t planned_ns;
} account;

typedef struct entry {
    account *of;
    uint64_t begin_ns;       /* before Takt's begin */
    uint64_t waited_ns;      /* in this scope and in none inside of it */
    uint64_t least_inner_ns; /* what inner scopes waited */
} entry;

/* A thread's; nobody else looks at them before it has ended. */
typedef struct books {
    account scopes[MAX_NAMES];
    account activities[MAX_NAMES];
    entry open[MAX_DEPTH];
    size_t depth;
    bool counts; /* this step is recorded */
} books;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static account *account_named(account *accounts, const char *name)
{
    size_t i = 0;
    while (accounts[i].name[0] != '\0' && strcmp(accounts[i].name, name) != 0)
        i++;
    snprintf(accounts[i].name, sizeof accounts[i].name, "%s", name);
    return &accounts[i];
}

static void enter_at(books *own, const char *name, uint64_t begin_ns)
{
    own->open[own->depth++] = (entry){.of = account_named(own->scopes, name), .begin_ns = begin_ns};
}

/* Before Takt's begin. */
static void enter(books *own, const char *name)
{
    enter_at(own, name, now_ns());
}

static void add(range *sum, range more)
{
    sum->least_ns += more.least_ns;
    sum->most_ns += more.most_ns;
}

static bool is_open(const books *own, const account *of)
{
    for (size_t i = 0; i < own->depth; i++)
        if (own->open[i].of == of)
            return true;
    return false;
}

/* After Takt's end. Returns how long it was. */
static range leave(books *own)
{
    uint64_t now = now_ns();
    entry top = own->open[--own->depth];
    range took = {top.waited_ns + top.least_inner_ns, now - top.begin_ns};
    if (own->depth > 0)
        own->open[own->depth - 1].least_inner_ns += took.least_ns;
    if (!own->counts)
        return took;
    top.of->count++;
    add(&top.of->self, (range){top.waited_ns, took.most_ns - top.least_inner_ns});
    add(&top.of->all, took);
    if (!is_open(own, top.of))
        add(&top.of->total, took);
    return took;
}

static void leave_activity(books *own, const char *name, uint64_t planned_ns)
{
    range took = leave(own);
    account *of = account_named(own->activities, name);
    if (!own->counts)
        return;
    of->count++;
    add(&of->total, took);
    add(&of->self, took);
    of->planned_ns += planned_ns;
}

/* Busy, so that the time is the processor's; in the innermost scope of the books. */
static void wait_for(books *own, unsigned ms)
{
    entry *in = &own->open[own->depth - 1];
    uint64_t begin = now_ns(), now = begin;
    if (own->counts)
        in->of->planned_ns += (uint64_t)ms * MS;
    while (now < begin + (uint64_t)ms * MS)
        now = now_ns();
    in->waited_ns += now - begin;
}

static void add_books(account *into, const account *from)
{
    for (; from->name[0] != '\0'; from++) {
        account *sum = account_named(into, from->name);
        sum->count += from->count;
        add(&sum->total, from->total);
        add(&sum->all, from->all);
        add(&sum->self, from->self);
        sum->planned_ns += from->planned_ns;
    }
}

static void print_account(const char *what, const account *of)
{
    const uint64_t numbers[] = {of->count,         of->total.least_ns, of->total.most_ns,
                                of->self.least_ns, of->self.most_ns,   of->planned_ns,
                                of->all.least_ns,  of->all.most_ns};
    printf("%s\t%s", what, of->name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        printf("\t%llu", (unsigned long long)numbers[i]);
    printf("\n");
}

static void print_accounts(const char *what, const account *accounts)
{
    for (; accounts->name[0] != '\0'; accounts++)
        print_account(what, accounts);
}

/* ---- What the two threads do
 * --------------------------------------------------------------------- */

static void recurse(books *own, unsigned levels)
{
    enter(own, "recurse");
    {
        TAKT_SCOPE("recurse");
        wait_for(own, 5);
        if (levels > 1)
            recurse(own, levels - 1);
    }
    leave(own);
}

/* The enclosing scope waits before its first phase; the last phase ends with the scope. */
static void run_phases(books *own)
{
    enter(own, "phases");
    {
        TAKT_SCOPE("phases");
        wait_for(own, 6);
        enter(own, "gather");
        TAKT_PHASE("gather");
        wait_for(own, 8);
        uint64_t before_ns = now_ns();
        TAKT_PHASE("scatter"); /* ends "gather" */
        leave(own);
        enter_at(own, "scatter", before_ns);
        wait_for(own, 5);
    }
    leave(own);
    leave(own);
}

static void push(books *own, unsigned ms)
{
    enter(own, "push");
    {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "push");
        wait_for(own, ms);
    }
    leave_activity(own, "kernel push", (uint64_t)ms * MS);
}

static void step_first(books *own)
{
    enter(own, "step");
    TAKT_BEGIN("step");
    wait_for(own, 5);
    run_phases(own);
    push(own, 7);
    push(own, 6);
    recurse(own, 3);
    TAKT_END("step");
    leave(own);
}

/* Names made at run time, and an activity of another device. */
static void step_second(books *own)
{
    char name[32];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "solve %u", i);
        enter(own, name);
        takt_begin(name);
        wait_for(own, 5 + i);
        enter(own, "pull");
        {
            TAKT_ACTIVITY("other", TAKT_TIMING_MEMCPY, "pull");
            wait_for(own, 11);
        }
        leave_activity(own, "memcpy pull", 11u * MS);
        push(own, 5);
        takt_end();
        leave(own);
    }
}

typedef struct second_thread {
    pthread_barrier_t barrier;
    books own;
} second_thread;

/* Every step of it lies within a step of the profiler's. */
static void *run_second(void *argument)
{
    second_thread *second = argument;
    takt_thread_name("second");
    for (unsigned step = 0; step < WARMUP + ACTIVE; step++) {
        pthread_barrier_wait(&second->barrier);
        second->own.counts = step >= WARMUP;
        step_second(&second->own);
        pthread_barrier_wait(&second->barrier);
    }
    return NULL;
}

/* A step begins inside of the call that ends the one before. */
static void run_steps(takt_profiler *profiler, books *first, second_thread *second, account *steps)
{
    uint64_t before_ns = now_ns();
    takt_profiler_start(profiler);
    uint64_t after_ns = now_ns();
    for (unsigned step = 0; step < WARMUP + ACTIVE; step++) {
        first->counts = step >= WARMUP;
        pthread_barrier_wait(&second->barrier);
        step_first(first);
        pthread_barrier_wait(&second->barrier);
        uint64_t end_ns = now_ns();
        takt_profiler_step(profiler);
        uint64_t ended_ns = now_ns();
        if (first->counts) {
            steps->count++;
            add(&steps->total, (range){end_ns - after_ns, ended_ns - before_ns});
            steps->planned_ns += 52u * MS;
        }
        before_ns = end_ns;
        after_ns = ended_ns;
    }
    takt_profiler_stop(profiler);
}

static takt_profiler *create_profiler(const char *directory, takt_mode mode)
{
    static const char *const traces[] = {"perfetto", "perfetto.gz", "folded",
                                         "chrome",   "chrome.gz",   "tensorboard"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "truth";
    options.schedule = (takt_schedule){.warmup = WARMUP, .active = ACTIVE, .repeat = 1};
    options.mode = mode;
    options.directory = directory;
    options.traces = traces;
    options.trace_count = mode == TAKT_MODE_SUMMARY ? 3 : sizeof traces / sizeof *traces;

    takt_profiler *profiler = NULL;
    takt_profiler_create(&options, &profiler);
    return profiler;
}

/* A timer needs no profiler. */
static void run_timer(account *truth, account *measured)
{
    static books own;
    double elapsed_ms = 0.0;
    own.counts = true;
    enter(&own, "timer");
    {
        TAKT_TIMER("timer", .silent = true, .elapsed_ms = &elapsed_ms);
        wait_for(&own, 20);
    }
    leave(&own);
    *truth = own.scopes[0];
    uint64_t elapsed_ns = (uint64_t)(1e6 * elapsed_ms);
    *measured = (account){.name = "measured", .count = 1, .total = {elapsed_ns, elapsed_ns}};
}

int main(int argc, char **argv)
{
    static second_thread second;
    static books first;
    account steps = {.name = "recorded"}, timer, timer_measured;
    pthread_t thread;
    bool is_summary = argc > 2 && strcmp(argv[2], "summary") == 0;
    takt_profiler *profiler =
        argc > 1 ? create_profiler(argv[1], is_summary ? TAKT_MODE_SUMMARY : TAKT_MODE_TRACE)
                 : NULL;
    if (!profiler || pthread_barrier_init(&second.barrier, NULL, 2) != 0 ||
        pthread_create(&thread, NULL, run_second, &second) != 0)
        return 1;
    run_steps(profiler, &first, &second, &steps);
    pthread_join(thread, NULL);
    takt_profiler_destroy(profiler);
    run_timer(&timer, &timer_measured);

    add_books(first.scopes, second.own.scopes);
    add_books(first.activities, second.own.activities);
    print_accounts("scope", first.scopes);
    print_accounts("activity", first.activities);
    print_account("step", &steps);
    print_account("timer", &timer);
    print_account("timer", &timer_measured);
    return 0;
}
