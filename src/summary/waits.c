/* Scopes in which threads only wait: those of category "wait", and those whose names say so. */
#include "summary/threads.h"

#include "trace/devices.h"

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
