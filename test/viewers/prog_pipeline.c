/* Items handed from one thread to another, for viewers to draw: an arrow for each item, a counter
 * of how many wait, and requests that overlap on a track of their own.
 *
 *     prog_pipeline FILE.pftrace */
#include <takt/export.h>
#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>

enum {
    ITEMS = 6
};

static pthread_barrier_t handed_over;

static void save(const takt_trace *trace, void *user)
{
    takt_error error = {.status = TAKT_OK};
    if (takt_export_file(trace, "perfetto", user, NULL, &error) != TAKT_OK)
        fprintf(stderr, "%s\n", error.message);
}

/* Longer than the microsecond by which chrome://tracing nests. */
static void work(void)
{
    uint64_t until_ns = takt_now_ns() + 3000;
    while (takt_now_ns() < until_ns)
        ;
}

static void *consume(void *unused)
{
    takt_thread_name("consumer \"quoted\"");
    for (uint64_t item = 1; item <= ITEMS; item++) {
        pthread_barrier_wait(&handed_over);
        TAKT_SCOPE("consume");
        takt_flow_end(item);
        work();
        TAKT_COUNTER("waiting", (double)(ITEMS - item));
    }
    return unused;
}

static void produce(void)
{
    takt_thread_name("producer");
    takt_track requests = takt_track_named("requests");
    takt_span last = 0;
    for (uint64_t item = 1; item <= ITEMS; item++) {
        TAKT_SCOPE("produce");
        takt_span request = takt_span_begin(requests, "request");
        {
            TAKT_SCOPE("prepare {item}");
            TAKT_ARG("item", item);
            takt_flow_begin(item);
            work();
        }
        takt_span_end(last);
        last = request;
        pthread_barrier_wait(&handed_over);
    }
    takt_span_end(last);
}

int main(int argc, char **argv)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;
    pthread_t consumer;

    if (argc < 2)
        return 2;
    options.name = "pipeline";
    options.on_trace = save;
    options.user = argv[1];
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK || pthread_barrier_init(&handed_over, NULL, 2) ||
        pthread_create(&consumer, NULL, consume, NULL))
        return 1;
    produce();
    pthread_join(consumer, NULL);
    takt_profiler_step(profiler);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    return 0;
}
