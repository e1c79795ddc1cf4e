/* Signal handlers record, up to ten thousand times a second on each thread, whatever it is at:
 * nothing that the program records is lost or torn, and each event of a handler is recorded or
 * counted. The program allocates all the time, so that handlers come upon the C library's locks. */
#include "support/test.h"

#include <takt/takt.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    THREADS = 2,
    PERIOD_NS = 100000,
    KINDS = 4
};

static const char *const program_names[KINDS] = {"program scope", "program phase", "program begin",
                                                 "program nested"};
static const char *const handler_names[KINDS] = {"handler scope", "handler phase", "handler begin",
                                                 "handler nested"};

static uint64_t program_spans[KINDS], handler_spans; /* atomic */
static uint64_t handler_calls;                       /* atomic */
static uint64_t program_counters, program_marks;     /* atomic */
static bool is_over;                                 /* atomic */

static void count(uint64_t *what)
{
    __atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

/* ---- The handler ----------------------------------------------------------------------------- */

static void on_signal(int number)
{
    int before = errno;
    (void)number;
    count(&handler_calls);
    {
        TAKT_SCOPE("handler scope");
        count(&handler_spans);
        TAKT_PHASE("handler phase");
        count(&handler_spans);
        takt_begin("handler begin");
        count(&handler_spans);
        TAKT_ARG("handler argument", "a text");
        takt_end();
    }
    {
        TAKT_SCOPE("handler nested");
        count(&handler_spans);
        TAKT_COUNTER("handler counter", 1);
        TAKT_MARK("handler mark");
    }
    errno = before;
}

static timer_t start_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    struct itimerspec when = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &when, NULL), 0);
    return timer;
}

/* ---- The program ----------------------------------------------------------------------------- */

static void work(unsigned round)
{
    char name[32];
    TAKT_SCOPE("program scope");
    count(&program_spans[0]);
    {
        TAKT_SCOPE("program nested");
        count(&program_spans[3]);
    }
    free(malloc(round % 5000));
    TAKT_PHASE("program phase");
    count(&program_spans[1]);
    if (round % 16 == 0) {
        TAKT_COUNTER("program counter", round);
        count(&program_counters);
        TAKT_MARK("program mark");
        count(&program_marks);
    }
    strcpy(name, "program begin");
    takt_begin(name);
    count(&program_spans[2]);
    takt_end();
}

static void *run(void *unused)
{
    timer_t timer = start_timer();
    for (unsigned round = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); round++)
        work(round);
    timer_delete(timer);
    return unused;
}

static void run_for_signals(uint64_t count)
{
    pthread_t threads[THREADS];
    is_over = false;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, NULL), 0);
    while (__atomic_load_n(&handler_calls, __ATOMIC_RELAXED) < count)
        work(1);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- What comes of it ------------------------------------------------------------------------ */

static size_t index_of(const char *const *names, const char *name)
{
    size_t i = 0;
    while (i < KINDS && strcmp(names[i], name) != 0)
        i++;
    return i;
}

typedef struct found {
    uint64_t program[KINDS], handler[KINDS];
} found;

/* Every span has one of the names, ends after it begins and lies within its parent. */
static void look_at_track(const takt_trace *trace, size_t index, found *all)
{
    takt_track_info track;
    assert_int_equal(takt_trace_track(trace, index, &track), TAKT_OK);
    for (size_t i = 0; i < track.span_count; i++) {
        takt_span_info span, parent;
        assert_int_equal(takt_trace_span(trace, index, i, &span), TAKT_OK);
        size_t program = index_of(program_names, span.name);
        size_t handler = index_of(handler_names, span.name);
        assert_true(program < KINDS || handler < KINDS);
        if (program < KINDS)
            all->program[program]++;
        else
            all->handler[handler]++;
        assert_true(span.begin_ns <= span.end_ns);
        if (span.parent == TAKT_NO_PARENT)
            continue;
        assert_int_equal(takt_trace_span(trace, index, span.parent, &parent), TAKT_OK);
        assert_true(parent.begin_ns <= span.begin_ns && span.end_ns <= parent.end_ns);
    }
}

static void look_at(const takt_trace *trace)
{
    found all = {{0}, {0}};
    uint64_t in_handlers = 0;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++)
        look_at_track(trace, i, &all);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (i != TAKT_LOSS_IN_SIGNAL && takt_trace_loss(trace, (takt_loss)i) != 0)
            fail_msg("%s: %lu", takt_loss_name(i),
                     (unsigned long)takt_trace_loss(trace, (takt_loss)i));
    for (size_t i = 0; i < KINDS; i++) {
        assert_int_equal(all.program[i], program_spans[i]);
        in_handlers += all.handler[i];
    }
    /* a handler that is refused loses its argument, counter and mark, too */
    uint64_t lost = takt_trace_loss(trace, TAKT_LOSS_IN_SIGNAL);
    assert_true(in_handlers <= handler_spans);
    assert_true(in_handlers + lost >= handler_spans);
    print_message("%lu signals, %lu spans of theirs recorded, %lu events counted as lost, "
                  "%lu spans of the program\n",
                  (unsigned long)handler_calls, (unsigned long)in_handlers, (unsigned long)lost,
                  (unsigned long)program_spans[0] * 4);
}

static void record_under_signals(takt_mode mode, uint64_t signals)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    memset(program_spans, 0, sizeof program_spans);
    handler_spans = handler_calls = 0;
    options.mode = mode;
    options.max_memory_bytes = UINT64_C(1) << 31;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    run_for_signals(signals);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    if (mode == TAKT_MODE_TRACE)
        look_at(takt_profiler_trace(profiler));
    takt_profiler_destroy(profiler);
}

TEST(handlers_may_record_while_the_program_does)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    record_under_signals(TAKT_MODE_TRACE, 2000);
    record_under_signals(TAKT_MODE_SUMMARY, 1000);
    record_under_signals(TAKT_MODE_TRACE, 1000);
}

/* With sanitizers all memory is malloc()'s, which a handler must not call. ThreadSanitizer, which
 * says so, calls handlers where they may. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_signal_unsafe=0";
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
