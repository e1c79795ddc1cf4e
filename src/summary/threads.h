/* What each thread did: its time in scopes and in waits, how evenly threads shared a scope's work,
 * and what the others ran while the main thread was in a scope. A summary knows the first of these. */
#ifndef TKT_SUMMARY_THREADS_H
#define TKT_SUMMARY_THREADS_H

#include "summary/scopes.h"
#include "trace/model.h"

typedef struct tkt_thread_time {
    uint32_t name; /* string; 0: none */
    uint32_t thread_id;
    uint32_t number; /* in the order of the trace; TKT_NO_TRACK: all threads that are not listed */
    bool     is_main;
    uint64_t spans;
    uint64_t first_ns;  /* when its first one begins; 0: none, or a summary */
    uint64_t scope_ns;  /* sum of outermost scopes */
    uint64_t wait_ns;   /* sum of outermost waits */
    uint64_t scope_wait_ns; /* the part of it inside scopes; 0 unless from a summary */
    uint32_t wait_name; /* string: the wait with the most of this time; 0: it never waited */
} tkt_thread_time;

/* Scopes that threads other than the main thread opened outermost while the main thread was in one
 * scope, the region. The main thread's own scopes of these names count too, if they are directly in
 * the region. */
typedef struct tkt_thread_part {
    uint32_t region; /* string: the main thread's scope */
    uint32_t name;   /* string: what the threads ran */
    uint32_t threads; /* if made anew all the time: at once, see regions.c */
    uint64_t calls;
    uint64_t total_ns; /* over all threads, as are the next two */
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t region_ns; /* the main thread's time in outermost scopes of the region's name */
    bool     is_wait;
} tkt_thread_part;

typedef struct tkt_threads {
    TKT_ARRAY(tkt_thread_time); /* the main thread first, then by thread id */
    /* In order of first appearance; none if scopes are missing. */
    TKT_ARRAY_OF(tkt_thread_part) parts;
} tkt_threads; /* starts as {0} */

/* Its name, "main", "thread 1234", or "(more threads)". Returns the trace's text or `out`. */
#define TKT_THREAD_LABEL 32
const char *tkt_thread_label(char out[TKT_THREAD_LABEL], const takt_trace *trace,
                             const tkt_thread_time *thread);

/* True for scopes in which a thread waits: of category "wait", or their name says so (waits.c); and
 * for calls that wait for devices. */
bool tkt_span_waits(const char *name, const char *category, bool is_call);
bool tkt_site_waits(const takt_trace *trace, uint32_t site);

/* TAKT_NO_SPANS: a summary that does not know its threads. TAKT_NO_MEMORY. */
takt_status tkt_threads_of(const takt_trace *trace, tkt_threads *out);
void tkt_threads_fini(tkt_threads *threads); /* call it after a failure too */

/* The main thread's track, or TKT_NO_TRACK: it has the number of its process. */
uint32_t tkt_main_track(const takt_trace *trace);

/* A thread with spans, other than the main one. */
typedef struct tkt_placed_thread {
    uint64_t begin_ns; /* of its first scope */
    uint64_t end_ns;   /* of its last outermost one */
    uint32_t track;
    uint32_t place; /* workers of one place follow each other, and count as one */
} tkt_placed_thread;

typedef struct tkt_placed_threads {
    TKT_ARRAY(tkt_placed_thread); /* by place */
} tkt_placed_threads; /* starts as {0} */

/* Lists the workers (regions.c). The caller calls TKT_ARRAY_FREE(), also after TAKT_NO_MEMORY. */
takt_status tkt_place_threads(const takt_trace *trace, tkt_placed_threads *out);

/* When the last of a thread's spans ends. There is at least one. */
uint64_t tkt_spans_end(const tkt_spans *spans);

/* Sets `parts`, from spans; `main` is the main thread's track, or TKT_NO_TRACK. For
 * tkt_threads_of(). TAKT_NO_MEMORY. */
takt_status tkt_regions_of(const takt_trace *trace, uint32_t main, tkt_threads *out);

/* Adds to each of `scopes` how its total time was spread over threads. of_site[s] is the index of
 * site s in `scopes`, or TKT_NO_GROUP. TAKT_NO_MEMORY. */
takt_status tkt_threads_spread(const takt_trace *trace, const uint32_t *of_site,
                               tkt_scopes *scopes);

#endif
