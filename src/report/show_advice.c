/* The summary's headline, and its advice in words: the numbers, what to do, and the report that
 * shows more. For machines and the HTML page advice is a table as well, with its place on the time
 * line. */
#include "report/show.h"

#include <stdio.h>
#include <string.h>

#define OTHER_IDLE_SHARE 0.05 /* of the idle time that is told */
#define SENTENCE         768

/* The kinds for machines, and the reports that show more. */
static const struct {
    const char *name;
    const char *report; /* NULL: none */
} kinds[TKT_ADVICE_KINDS] = {
    [TKT_ADVICE_OUTLIER] = {"slow step", "steps"},
    [TKT_ADVICE_FIRST] = {"slow first step", "steps"},
    [TKT_ADVICE_SLOW_STEPS] = {"slow steps", "steps"},
    [TKT_ADVICE_UNEVEN] = {"uneven steps", "steps"},
    [TKT_ADVICE_FEW] = {"few steps", "steps"},
    [TKT_ADVICE_ALLOCATION] = {"allocation in steps", "memory"},
    [TKT_ADVICE_SERIAL] = {"serial phase", "threads"},
    [TKT_ADVICE_THREADS] = {"uneven threads", "scopes"},
    [TKT_ADVICE_UNCOVERED] = {"outside of scopes", "tree"},
    [TKT_ADVICE_SMALL] = {"small scope", "scopes"},
    [TKT_ADVICE_COST] = {"cost of recording", "scopes"},
    [TKT_ADVICE_GROWTH] = {"memory growth", "memory"},
    [TKT_ADVICE_SYNC] = {"too many waits", "gaps"},
    [TKT_ADVICE_LAUNCH] = {"late launches", "launches"},
    [TKT_ADVICE_IDLE] = {"idle device", "gaps"},
    [TKT_ADVICE_COPIES] = {"waiting for copies", "memory"},
    [TKT_ADVICE_PAGEABLE] = {"pageable copies", "memory"},
    [TKT_ADVICE_OCCUPANCY] = {"low occupancy", "kernels"},
    [TKT_ADVICE_IMBALANCE] = {"uneven blocks", "phases"},
    [TKT_ADVICE_OPEN] = {"scope not ended", "scopes"},
    [TKT_ADVICE_STEP_INSIDE] = {"step inside a scope", "steps"},
    [TKT_ADVICE_NUMBERED] = {"numbered names", "scopes"},
    [TKT_ADVICE_LOST] = {"loss", NULL},
};

/* Calls that allocate have times in the report of calls. NULL: no report shows more. */
static const char *report_of_advice(const tkt_advice *advice)
{
    return advice->kind == TKT_ADVICE_ALLOCATION && advice->call ? "api"
                                                                 : kinds[advice->kind].report;
}

/* The figures of a piece of advice as text. */
typedef struct wording {
    const tkt_advice *advice;
    const char *over; /* behind `cost` */
    unsigned long long count;
    unsigned long long others;
    unsigned long long step;
    char name[TKT_NAME_SIZE];
    char at[TKT_NAME_SIZE]; /* " at fluid.c:7", or "" */
    char device[TKT_NAME_SIZE];
    char time[TKT_VALUE_SIZE];
    char other[TKT_VALUE_SIZE]; /* `others` as a time */
    char grew[TKT_VALUE_SIZE];
    char idle[TKT_VALUE_SIZE];
    char lasted[TKT_VALUE_SIZE]; /* from begin to end */
    char share[TKT_VALUE_SIZE];
    char factor[TKT_VALUE_SIZE];
    char occupancy[TKT_VALUE_SIZE];
    char bytes[TKT_VALUE_SIZE];       /* `count` */
    char other_bytes[TKT_VALUE_SIZE]; /* `others` */
    char cost[TKT_COST_SIZE];
} wording;

static void word_figures(const tkt_advice *advice, wording *w)
{
    w->advice = advice;
    w->count = advice->count;
    w->others = advice->other;
    w->step = advice->step;
    tkt_text_name(w->name, advice->name ? advice->name : "");
    tkt_text_name(w->device, advice->device ? advice->device : "");
    tkt_value_time(w->time, advice->time_ns);
    tkt_value_time(w->other, advice->other);
    tkt_value_time(w->grew, advice->grew_ns);
    tkt_value_time(w->idle, advice->idle_ns);
    tkt_value_time(w->lasted, advice->end_ns - advice->begin_ns);
    tkt_value_text(w->share, TKT_CELL_SHARE, (tkt_cell){.d = advice->share});
    tkt_value_text(w->occupancy, TKT_CELL_SHARE, (tkt_cell){.d = advice->occupancy});
    tkt_value_text(w->bytes, TKT_CELL_BYTES, (tkt_cell){.u = advice->count});
    tkt_value_text(w->other_bytes, TKT_CELL_BYTES, (tkt_cell){.u = advice->other});
    double ratio = advice->other ? (double)advice->time_ns / (double)advice->other : 0;
    tkt_value_fixed(w->factor, advice->factor > 0 ? advice->factor : ratio, 1);
}

/* ======== Sentences ======== */

/* Each function writes its kinds of advice and returns false for others. */

#define SAY(...) snprintf(out, SENTENCE, __VA_ARGS__)

/* Writes ": forces grew by 3.700ms, mostly in cudaDeviceSynchronize; cuda:0 was idle for 3.500ms".
 */
static void word_growth(char *out, size_t size, const wording *w)
{
    const tkt_advice *advice = w->advice;
    int used = 0;
    out[0] = '\0';
    if (advice->grew_ns > 0)
        used = snprintf(out, size, ": %s grew by %s%s%s",
                        advice->name ? w->name : "the time outside of recorded scopes", w->grew,
                        advice->call ? ", mostly in " : "", advice->call ? advice->call : "");
    if (advice->idle_ns > 0 && used >= 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, "%s %s was idle for %s", used ? ";" : ":",
                 w->device, w->idle);
}

static bool word_steps(char out[SENTENCE], const wording *w)
{
    char growth[SENTENCE / 2];
    word_growth(growth, sizeof growth, w);
    switch (w->advice->kind) {
    case TKT_ADVICE_OUTLIER:
        SAY("Step %llu took %s, %s times the median and %s of the wall time%s.", w->step, w->time,
            w->factor, w->share, growth);
        return true;
    case TKT_ADVICE_FIRST:
        SAY("The first recorded step, %llu, took %s, %s times the median and %s of the wall "
            "time%s. If that is start-up, let more steps pass first (profiling.wait).",
            w->step, w->time, w->factor, w->share, growth);
        return true;
    case TKT_ADVICE_SLOW_STEPS:
        SAY("%llu steps took three times the median or more, %s of the wall time beyond it. The "
            "slowest, step %llu, took %s, %s times the median%s.",
            w->count, w->share, w->step, w->lasted, w->factor, growth);
        return true;
    case TKT_ADVICE_UNEVEN:
        SAY("One step of the run in a hundred takes %s or more, %s times the median of %s.",
            w->time, w->factor, w->other);
        return true;
    case TKT_ADVICE_FEW:
        SAY("Only %llu step%s recorded, too few to tell what is usual: record 20 or more "
            "(profiling.active).",
            w->count, w->count == 1 ? " was" : "s were");
        return true;
    default:
        return false;
    }
}

static void word_idle(char out[SENTENCE], const wording *w)
{
    char why[SENTENCE / 2] = "", besides[SENTENCE / 4] = "";
    if ((double)w->advice->idle_ns > OTHER_IDLE_SHARE * (double)w->advice->time_ns)
        snprintf(besides, sizeof besides, ", besides %s in slow steps and allocations", w->idle);
    if (w->advice->kind == TKT_ADVICE_SYNC)
        snprintf(why, sizeof why,
                 ", because the host waited %llu times while %llu activities ran: wait once a step",
                 w->count, w->others);
    else if (w->advice->kind == TKT_ADVICE_LAUNCH)
        snprintf(why, sizeof why,
                 ", because %llu of %llu launches came too late one by one: put more work into "
                 "each kernel, or use a CUDA graph",
                 w->count, w->others);
    else if (w->others > 0)
        snprintf(why, sizeof why, "; for %s of it the host was %s%s: %s", w->other,
                 w->advice->name ? "in " : "outside of scopes", w->name,
                 w->advice->name ? "launch kernels before that work, or move it to the device"
                                 : "add scopes to see why");
    SAY("%s was idle for %s of the wall time, %s%s%s.", w->device, w->share, w->time, besides, why);
}

static bool word_device(char out[SENTENCE], const wording *w)
{
    switch (w->advice->kind) {
    case TKT_ADVICE_SYNC:
    case TKT_ADVICE_LAUNCH:
    case TKT_ADVICE_IDLE:
        word_idle(out, w);
        return true;
    case TKT_ADVICE_COPIES:
        SAY("%s ran no kernel for %s of the wall time, %s, while it copied: %llu cop%s, %s. Run "
            "kernels meanwhile on another stream, or copy less.",
            w->device, w->share, w->time, w->count, w->count == 1 ? "y" : "ies", w->other_bytes);
        return true;
    case TKT_ADVICE_PAGEABLE:
        SAY("%llu cop%s from or to pageable memory, %s, took %s, %s of the CUDA time: pinned "
            "memory "
            "is faster and lets the host continue.",
            w->count, w->count == 1 ? "y" : "ies", w->other_bytes, w->time, w->share);
        return true;
    case TKT_ADVICE_OCCUPANCY:
        SAY("%s, %s of the time of kernels, keeps %s of a multiprocessor's warps busy at most.",
            w->name, w->share, w->occupancy);
        return true;
    case TKT_ADVICE_IMBALANCE:
        SAY("%s, %s of the blocks' time in %s, took %s in the slowest block, %s times the mean: "
            "balance its work.",
            w->name, w->share, w->device, w->time, w->factor);
        return true;
    default:
        return false;
    }
}

static bool word_memory(char out[SENTENCE], const wording *w)
{
    const char *in = w->advice->name ? ", most in " : "";
    char pieces[32] = "one piece";
    if (w->count != 1)
        snprintf(pieces, sizeof pieces, "%llu pieces", w->count);
    switch (w->advice->kind) {
    case TKT_ADVICE_ALLOCATION:
        if (w->advice->call)
            SAY("Steps made %llu calls such as %s, which held a thread for %s, %s of the steps' "
                "time%s%s: "
                "allocate once, or from a pool (cudaMallocAsync).",
                w->count, w->advice->call, w->time, w->share, in, w->name);
        else
            SAY("Steps allocated and freed %s of host memory in %s%s%s: keep it from step "
                "to step.",
                w->other_bytes, pieces, in, w->name);
        return true;
    case TKT_ADVICE_GROWTH:
        SAY("Host memory grew by %s during the recording%s%s%s%s.", w->bytes,
            w->advice->name ? ", " : "", w->advice->name ? w->other_bytes : "",
            w->advice->name ? " of it in " : "", w->name);
        return true;
    default:
        return false;
    }
}

/* What else helps against a scope that is too small. */
static const char *coarser(const tkt_advice *advice)
{
    if (advice->is_made)
        return "";
    return advice->is_fine ? ", or lower profiling.level" : ", or give it a finer level";
}

static void word_host(char out[SENTENCE], const wording *w)
{
    switch (w->advice->kind) {
    case TKT_ADVICE_SERIAL:
        SAY("Of %llu threads only one was in scopes for %s of the wall time, %s, mostly in %s, %s: "
            "if the others had no work there, make that parallel.",
            w->count, w->share, w->time, w->name, w->other);
        break;
    case TKT_ADVICE_THREADS:
        SAY("%s spent %s in %s, %s times the mean of %llu threads: if they wait for it, share the "
            "work evenly.",
            w->advice->device ? w->device : "One thread", w->time, w->name, w->factor, w->count);
        break;
    case TKT_ADVICE_UNCOVERED:
        SAY("%s of the wall time, %s, is outside of recorded scopes: add scopes, or record finer "
            "ones, to see what happens there.",
            w->share, w->time);
        break;
    case TKT_ADVICE_SMALL:
        SAY("%s was called %llu times for %s each%s%s: put the scope around the loop%s.", w->name,
            w->count, w->time, w->advice->is_costly ? ", and recording took " : "",
            w->advice->is_costly ? w->cost : "", coarser(w->advice));
        break;
    case TKT_ADVICE_COST:
        SAY("Recording itself took %s%s: record fewer or coarser scopes.", w->cost, w->over);
        break;
    case TKT_ADVICE_OPEN:
        SAY("%s%s was not ended in %llu of %llu calls: end it on each path, as TAKT_SCOPE does by "
            "itself.",
            w->name, w->at, w->count, w->others);
        break;
    case TKT_ADVICE_STEP_INSIDE:
        SAY("takt_profiler_step() was called inside %s%s, in %llu of %llu steps: call it after the "
            "scope has ended.",
            w->name, w->at, w->count, w->others);
        break;
    case TKT_ADVICE_NUMBERED:
        SAY("%llu names differ in a number only, such as %s: give them one name, and the number by "
            "TAKT_ARG.",
            w->count, w->name);
        break;
    default:
        SAY("Lost %llu: %s.", w->count, takt_loss_text(w->advice->loss));
        break;
    }
}

static void word_place(wording *w, const takt_trace *trace)
{
    const tkt_trace_site *site = &trace->sites.items[w->advice->site];
    w->at[0] = '\0';
    if (site->line)
        snprintf(w->at, sizeof w->at, " at %.40s:%u", tkt_trace_text(trace, site->file),
                 site->line);
}

/* Writes the sentence, and the command that shows more. */
static void word_advice(char out[SENTENCE], const takt_trace *trace, const tkt_advice *advice)
{
    wording w;
    word_figures(advice, &w);
    w.over = tkt_over_threads(trace);
    tkt_cost_text(w.cost, trace);
    word_place(&w, trace);
    if (!word_steps(out, &w) && !word_device(out, &w) && !word_memory(out, &w))
        word_host(out, &w);
    size_t used = strlen(out);
    const char *report = report_of_advice(advice);
    if (report)
        snprintf(out + used, SENTENCE - used, " See takt report --%s.", report);
}

/* ======== The table ======== */

enum {
    KIND,
    TEXT,
    REPORT,
    SCOPE,
    STEP,
    BEGIN,
    DURATION,
    AT_STAKE,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [KIND] = {"Kind", "kind", TKT_CELL_TEXT, 0, true, 1},
    [TEXT] = {"Advice", "advice", TKT_CELL_TEXT, 0, true, 1},
    [REPORT] = {"Report", "report", TKT_CELL_TEXT, 0, true, 1},
    [SCOPE] = {"Scope", "scope", TKT_CELL_TEXT, 0, true, 1},
    [STEP] = {"Step", "step", TKT_CELL_COUNT, 0, false, 1},
    [BEGIN] = {"Begin", "begin_ns", TKT_CELL_OFFSET, 0, false, 1},
    [DURATION] = {"Duration", "duration_ns", TKT_CELL_TIME, 0, false, 1},
    [AT_STAKE] = {"At stake", "at_stake_ns", TKT_CELL_TIME, 0, false, 1},
};

static void add_row(tkt_document *document, tkt_table *table, const tkt_advice *advice,
                    const char *text)
{
    bool has_place = advice->end_ns > advice->begin_ns;
    tkt_cell *row = tkt_table_add_row(table);
    row[KIND].text = kinds[advice->kind].name;
    row[TEXT].text = tkt_document_copy(document, text, strlen(text));
    row[REPORT].text = report_of_advice(advice);
    row[SCOPE].text = advice->name;
    row[STEP].u = advice->has_step ? advice->step : TKT_NO_VALUE;
    row[BEGIN].i =
        has_place ? (int64_t)(advice->begin_ns - document->trace->facts.begin_ns) : TKT_NO_SIGNED;
    row[DURATION].u = has_place ? advice->end_ns - advice->begin_ns : TKT_NO_VALUE;
    row[AT_STAKE].u = advice->at_stake_ns;
}

takt_status tkt_show_advice(tkt_document *document, const tkt_advice_basis *basis)
{
    if (document->sought)
        return TKT_SEEK(document, columns);
    tkt_advice advice[TKT_MOST_ADVICE];
    size_t count;
    takt_status status = tkt_advice_of(document->trace, basis, advice, &count);
    if (status != TAKT_OK)
        return status;
    tkt_table *table = tkt_document_add_table(document, "advice", columns, COLUMNS, count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->is_raw = true;
    document->notes_heading = "Advice:";
    tkt_note_mixed_times(document);
    tkt_show_headline(document, basis, advice, count);
    for (size_t i = 0; i < count; i++) {
        char text[SENTENCE];
        word_advice(text, document->trace, &advice[i]);
        add_row(document, table, &advice[i], text);
        tkt_document_add_note(document, "%s", text);
    }
    return TAKT_OK;
}
