/* Advice in words: what the numbers say, then what to do. */
#include "report/show.h"

#include <string.h>

#define NAME_BYTES 64 /* of a name within a sentence */

/* The figures of a piece of advice as text. */
typedef struct wording {
    const char *s; /* behind words of which there are `count` */
    unsigned long long count;
    unsigned long long others;
    char name[NAME_BYTES];
    char time[TKT_VALUE_SIZE];
    char other[TKT_VALUE_SIZE]; /* as a time */
    char share[TKT_VALUE_SIZE];
    char occupancy[TKT_VALUE_SIZE];
    char bytes[TKT_VALUE_SIZE];
    char ratio[TKT_VALUE_SIZE];
} wording;

static void cut_name(char *out, const char *name)
{
    size_t size = strlen(name);
    size_t end = 0;
    for (size_t piece; end < size && end < NAME_BYTES - 8; end += piece)
        piece = tkt_text_character(name + end, size - end);
    memcpy(out, name, end);
    memcpy(out + end, "...", 4);
    if (end == size)
        out[end] = '\0';
}

static void word_figures(const tkt_advice *advice, wording *w)
{
    cut_name(w->name, advice->name ? advice->name : "");
    w->count = advice->count;
    w->others = advice->other;
    w->s = advice->count == 1 ? "" : "s";
    tkt_value_text(w->time, TKT_CELL_TIME, (tkt_cell){.u = advice->time_ns});
    tkt_value_text(w->other, TKT_CELL_TIME, (tkt_cell){.u = advice->other});
    tkt_value_text(w->share, TKT_CELL_SHARE, (tkt_cell){.d = advice->share});
    tkt_value_text(w->occupancy, TKT_CELL_SHARE, (tkt_cell){.d = advice->occupancy});
    bool is_copy = advice->kind == TKT_ADVICE_PAGEABLE;
    tkt_value_text(w->bytes, TKT_CELL_BYTES,
                   (tkt_cell){.u = is_copy ? advice->other : advice->count});
    double ratio = advice->other ? (double)advice->time_ns / (double)advice->other : 0;
    tkt_value_fixed(w->ratio, ratio, 1);
}

/* About the program's use of devices; false: it is another's. */
static bool add_device_advice(tkt_document *document, const tkt_advice *advice, const wording *w)
{
    switch (advice->kind) {
    case TKT_ADVICE_WAITING:
        tkt_document_add_note(document,
                              "The host waited for devices for %s of the self CPU time, %s in "
                              "%llu call%s, most in %s: work of its own could stand there.",
                              w->share, w->time, w->count, w->s, w->name);
        return true;
    case TKT_ADVICE_IDLE:
        tkt_document_add_note(document, "%s was idle %s of the wall time, %s.", w->name, w->share,
                              w->time);
        return true;
    case TKT_ADVICE_IDLE_IN:
        tkt_document_add_note(document, "%s of %s's idle time, %s, the host was in %s.", w->share,
                              advice->device, w->time, w->name);
        return true;
    case TKT_ADVICE_LATE:
        tkt_document_add_note(document,
                              "%s waited %s, %s of the wall time, for %llu of %llu launches: "
                              "launch earlier, larger kernels, or a CUDA graph.",
                              w->name, w->time, w->share, w->count, w->others);
        return true;
    case TKT_ADVICE_SHORT:
        tkt_document_add_note(document,
                              "%s ran %llu times for %s on average, about what a launch takes: "
                              "more work in each, or a CUDA graph.",
                              w->name, w->count, w->time);
        return true;
    case TKT_ADVICE_OCCUPANCY:
        tkt_document_add_note(document,
                              "%s, %s of the time of kernels, keeps %s of a multiprocessor's "
                              "warps busy at most: the report of kernels says what limits it.",
                              w->name, w->share, w->occupancy);
        return true;
    case TKT_ADVICE_PAGEABLE:
        tkt_document_add_note(document,
                              "%llu cop%s from or to pageable memory, %s, took %s, %s of "
                              "the CUDA time: pinned memory is faster and need not be waited for.",
                              w->count, w->count == 1 ? "y" : "ies", w->bytes, w->time, w->share);
        return true;
    default:
        return false;
    }
}

static void add_host_advice(tkt_document *document, const tkt_advice *advice, const wording *w)
{
    switch (advice->kind) {
    case TKT_ADVICE_HOT:
        tkt_document_add_note(document, "%s takes %s of the self CPU time: %s in %llu call%s%s%s.",
                              w->name, w->share, w->time, w->count, w->s,
                              w->others ? ", beside waits for devices of " : "",
                              w->others ? w->other : "");
        break;
    case TKT_ADVICE_UNCOVERED:
        tkt_document_add_note(document,
                              "%s of the wall time, %s, is in no scope: more scopes "
                              "would tell what it is.",
                              w->share, w->time);
        break;
    case TKT_ADVICE_SMALL:
        tkt_document_add_note(document,
                              "%s was called %llu times for %s each: a scope around the "
                              "loop, or a finer level, would cost less.",
                              w->name, w->count, w->time);
        break;
    case TKT_ADVICE_COST:
        tkt_document_add_note(document,
                              "Recording itself took about %s, %s of the wall time: "
                              "record fewer or coarser scopes.",
                              w->time, w->share);
        break;
    case TKT_ADVICE_UNEVEN:
        tkt_document_add_note(document,
                              "One step in a hundred takes %s or more, %s times the "
                              "median of %s.",
                              w->time, w->ratio, w->other);
        break;
    case TKT_ADVICE_GROWTH:
        tkt_document_add_note(document, "Host memory grew by %s during the recording.", w->bytes);
        break;
    default:
        tkt_document_add_note(document, "%llu %s.", w->count, takt_loss_text(advice->loss));
        break;
    }
}

void tkt_show_advice(tkt_document *document, const tkt_advice_basis *basis)
{
    tkt_advice advice[TKT_MOST_ADVICE];
    size_t count = tkt_advice_of(document->trace, basis, advice);
    document->notes_heading = "Advice:";
    for (size_t i = 0; i < count; i++) {
        wording w;
        word_figures(&advice[i], &w);
        if (!add_device_advice(document, &advice[i], &w))
            add_host_advice(document, &advice[i], &w);
    }
}
