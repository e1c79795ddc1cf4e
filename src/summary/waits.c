/* Scopes in which threads only wait for each other: those of category "wait", and those whose names
 * say so. A single thread that waits for something else, such as a disk, may well be the
 * bottleneck, so what the other threads did meanwhile decides. A program may have thousands of such
 * scopes and threads: a single pass over the ends of all works and waits, in order of time, adds up
 * what threads have worked, and a scope gets the difference between the ends of its waits. */
#include "summary/threads.h"

#include "trace/devices.h"
#include "trace/order.h"

#include <ctype.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

/* A name is read as words: "MPI_Barrier", "waitForWorkers", "idle loop". Letters alone say nothing:
 * simulators have an ion barrier, a ParallelCopy_nowait and sleeping islands. So a wait is what has
 * the word "wait" that nothing denies, or one of three further words with none beside it but who
 * waits, and for whom. */
#define WORD 16
static const char *const waits_anywhere[] = {"wait", "waits", "waiting", NULL};
static const char *const waits_alone[] = {"barrier", "idle",      "sleep",    "sleeping",
                                          "usleep",  "nanosleep", "taskwait", "waitall",
                                          "waitany", "waitsome",  "waitpid",  NULL};
static const char *const denies_before[] = {"no",   "non",     "not",   "t",
                                            "dont", "without", "never", NULL};
static const char *const denies_after[] = {"free", "less", NULL};
static const char *const who[] = {
    "mpi",    "omp",     "openmp", "gomp",  "kmpc",  "pthread", "thread", "threads",
    "worker", "workers", "rank",   "ranks", "team",  "pool",    "main",   "host",
    "cpu",    "gpu",     "device", "sync",  "loop",  "spin",    "time",   "state",
    "global", "for",     "at",     "in",    "of",    "the",     "clock",  "jobs",
    "job",    "tasks",   "task",   "work",  "queue", "all",     NULL};

static bool is_among(const char *const *words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* Reads a word in small letters; one that is longer is none of those above. The next word may
 * begin with a capital letter. Returns what is behind it. */
static const char *read_word(const char *at, char word[WORD])
{
    size_t size = 0;
    while (*at && !isalpha((unsigned char)*at))
        at++;
    for (const char *begin = at; isalpha((unsigned char)*at); at++) {
        if (at > begin && isupper((unsigned char)*at) &&
            (islower((unsigned char)at[-1]) || islower((unsigned char)at[1])))
            break;
        if (size < WORD - 1)
            word[size++] = (char)tolower((unsigned char)*at);
    }
    word[size] = '\0';
    return at;
}

static bool name_waits(const char *name)
{
    char before[WORD] = "", word[WORD], after[WORD];
    bool has_alone = false, has_others = false;
    for (name = read_word(name, word); *word;
         memcpy(before, word, WORD), memcpy(word, after, WORD)) {
        name = read_word(name, after);
        bool is_denied = is_among(denies_before, before) || is_among(denies_after, after);
        if (is_among(waits_anywhere, word) && !is_denied)
            return true;
        has_alone |= is_among(waits_alone, word);
        has_others |= !is_among(waits_alone, word) && !is_among(who, word);
    }
    return has_alone && !has_others;
}

bool tkt_span_waits(const char *name, const char *category, bool is_call)
{
    return is_call ? tkt_call_waits(name) : strcmp(category, "wait") == 0 || name_waits(name);
}

bool tkt_site_waits(const takt_trace *trace, uint32_t site)
{
    const char *name = tkt_trace_text(trace, trace->sites.items[site].name);
    const char *category = tkt_trace_text(trace, trace->sites.items[site].category);
    return tkt_span_waits(name, category, tkt_site_is_call(trace, site));
}

/* ---- Of a trace with spans ------------------------------------------------------------------- */

/* An end of a span: of work, or of a wait. */
typedef struct edge {
    uint64_t time_ns;
    uint32_t scope; /* in which a thread waits; TKT_NO_GROUP: work */
    int32_t sign;   /* of work: 1 for its begin, -1 for its end; of waits the reverse */
} edge;

typedef struct waiting {
    const takt_trace *trace;
    const uint32_t *of_site;
    tkt_scopes *scopes;
    uint64_t *until_ns; /* by scope: when its latest outermost wait ended; UINT64_MAX: not asked */
    TKT_ARRAY_OF(edge) edges;
} waiting;

static bool add_edge(waiting *w, uint64_t time_ns, uint32_t scope, int32_t sign)
{
    edge *added = TKT_ARRAY_ADD(&w->edges);
    if (added)
        *added = (edge){time_ns, scope, sign};
    return added != NULL;
}

static bool add_track(waiting *w, const tkt_track *track)
{
    bool has_memory = true, is_in_work = false;
    for (size_t i = 0; has_memory && i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        uint32_t scope = w->of_site[tkt_span_site(span)];
        int32_t sign = -1;
        if (scope != TKT_NO_GROUP && w->scopes->items[scope].is_wait) {
            is_in_work &= span->parent != TKT_NO_SPAN;
            if (span->begin_ns < w->until_ns[scope])
                continue;
            w->until_ns[scope] = span->end_ns;
            if (is_in_work) /* of this thread: does not count */
                w->scopes->items[scope].others_ns -= span->end_ns - span->begin_ns;
        } else if (span->parent == TKT_NO_SPAN) {
            is_in_work = !tkt_span_is_call(span);
            scope = TKT_NO_GROUP;
            sign = is_in_work;
        } else {
            continue;
        }
        has_memory =
            add_edge(w, span->begin_ns, scope, sign) && add_edge(w, span->end_ns, scope, -sign);
    }
    return has_memory;
}

static takt_status add_among_spans(waiting *w)
{
    uint64_t working = 0, worked_ns = 0, time_ns = 0;
    bool has_memory = true;
    for (size_t i = 0; has_memory && i < w->trace->tracks.count; i++)
        if (w->trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            has_memory = add_track(w, &w->trace->tracks.items[i]);
    has_memory = has_memory && tkt_order_by_time(TKT_ORDER_ITEMS(&w->edges, 0)) == TAKT_OK;
    for (size_t i = 0; has_memory && i < w->edges.count; i++) {
        const edge *at = &w->edges.items[i];
        worked_ns += working * (at->time_ns - time_ns);
        time_ns = at->time_ns;
        if (at->scope == TKT_NO_GROUP)
            working += (uint64_t)at->sign;
        else
            w->scopes->items[at->scope].others_ns += (uint64_t)at->sign * worked_ns;
    }
    TKT_ARRAY_FREE(&w->edges);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

/* ---- Of a summary ---------------------------------------------------------------------------- */

/* Nobody knows when threads worked, so all that they worked counts. */
static takt_status add_in_summary(waiting *w)
{
    tkt_threads threads = {0};
    takt_status status = tkt_threads_of(w->trace, &threads);
    for (size_t i = 0; i < w->scopes->count; i++) {
        tkt_scope_total *scope = &w->scopes->items[i];
        for (size_t k = 0; scope->is_wait && k < threads.count; k++) {
            const tkt_thread_time *thread = &threads.items[k];
            if (thread->number != scope->track && thread->scope_ns > thread->scope_wait_ns)
                scope->others_ns += thread->scope_ns - thread->scope_wait_ns;
        }
    }
    tkt_threads_fini(&threads);
    return status;
}

takt_status tkt_scopes_add_waits(const takt_trace *trace, const uint32_t *of_site,
                                 tkt_scopes *scopes)
{
    waiting w = {.trace = trace, .of_site = of_site, .scopes = scopes};
    takt_status status = TAKT_OK;
    bool is_any_alone = false;
    w.until_ns = tkt_alloc((scopes->count + 1) * sizeof *w.until_ns);
    for (size_t i = 0; w.until_ns && i < scopes->count; i++) {
        bool is_alone = scopes->items[i].is_wait && scopes->items[i].threads == 1;
        w.until_ns[i] = is_alone ? 0 : UINT64_MAX;
        is_any_alone |= is_alone;
    }
    if (is_any_alone)
        status = (tkt_trace_prefers_lists(trace) ? add_in_summary : add_among_spans)(&w);
    tkt_free(w.until_ns);
    return w.until_ns ? status : TAKT_NO_MEMORY;
}
