/* The headline of a summary: which device, step or scope is the bottleneck. */
#include "report/show.h"

#include "summary/device.h"

#include <stdio.h>

#define BUSY_SHARE  0.8  /* a device that is busy for longer is the bottleneck */
#define HOT_SHARE   0.25 /* a scope that takes less does not stand out */
#define ALIKE_SHARE 0.8  /* nor does one from others that take so much of its time, */
#define GROUP_SHARE 0.5  /* if together they take this */
#define STEP_SHARE  0.5

/* "The bottleneck is cuda:0, busy for 95.00% of the wall time: kernel pairs takes 60.00%." That is
 * a share of the time of all work of the device. */
static void head_device(tkt_document *document, const tkt_device_use *use)
{
    char name[TKT_NAME_SIZE], busy[TKT_VALUE_SIZE], share[TKT_VALUE_SIZE];
    const takt_trace *trace = document->trace;
    uint32_t top;
    uint64_t top_ns;
    if (tkt_top_kernel(trace, use->device, &top, &top_ns) != TAKT_OK)
        document->status = TAKT_NO_MEMORY;
    tkt_value_text(busy, TKT_CELL_SHARE, (tkt_cell){.d = tkt_share(use->busy_ns, use->known_ns)});
    tkt_text_name(name, tkt_trace_text(trace, top));
    tkt_value_text(share, TKT_CELL_SHARE, (tkt_cell){.d = tkt_share(top_ns, use->total_ns)});
    tkt_document_set_headline(document,
                              "The bottleneck is %s, busy for %s of the wall time%s%s%s%s.",
                              tkt_trace_text(trace, use->device), busy, top ? ": " : "", name,
                              top ? " takes " : "", top ? share : "");
}

/* True if some scope takes longer than the hottest works: it waits. */
static bool is_less_than_a_wait(const tkt_scopes *scopes, const tkt_hottest *hottest)
{
    for (size_t i = 0; i < scopes->count && !hottest->is_of_main; i++)
        if (scopes->items[i].self_ns > tkt_working_ns(hottest->scope) &&
            &scopes->items[i] != hottest->scope)
            return true;
    return false;
}

/* "4 scopes share 99.92% of the self CPU time: pair forces takes most, 26.68%." False if it stands
 * out from the others. */
static bool head_group(tkt_document *document, const tkt_scopes *scopes, const tkt_hottest *hottest,
                       const char *of)
{
    char name[TKT_NAME_SIZE], share[TKT_VALUE_SIZE], most[TKT_VALUE_SIZE];
    uint64_t most_ns = tkt_working_ns(hottest->scope), sum_ns = 0;
    unsigned count = 0;
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        uint64_t ns = hottest->is_of_main && !tkt_is_of_main(scope) ? 0 : tkt_working_ns(scope);
        if (scope->is_wait || (double)ns < ALIKE_SHARE * (double)most_ns)
            continue;
        count++;
        sum_ns += ns;
    }
    if (count < 2 || tkt_share(sum_ns, hottest->of_ns) < GROUP_SHARE)
        return false;
    tkt_text_name(name, hottest->scope->name);
    tkt_value_text(share, TKT_CELL_SHARE, (tkt_cell){.d = tkt_share(sum_ns, hottest->of_ns)});
    tkt_value_text(most, TKT_CELL_SHARE, (tkt_cell){.d = tkt_share(most_ns, hottest->of_ns)});
    tkt_document_set_headline(document, "%u scopes share %s of the %s: %s takes most, %s.", count,
                              share, of, name, most);
    return true;
}

/* "The bottleneck is the host: cuda:0 was busy for only 17.50% of the wall time, and ..." */
static void head_host(tkt_document *document, const tkt_advice_basis *basis,
                      const tkt_device_use *use, const tkt_hottest *hottest)
{
    char name[TKT_NAME_SIZE], share[TKT_VALUE_SIZE], time[TKT_VALUE_SIZE], busy[TKT_VALUE_SIZE];
    const tkt_scope_total *scope = hottest->scope;
    const char *of = hottest->is_of_main ? "wall time" : "self CPU time";
    double part = tkt_share(tkt_working_ns(scope), hottest->of_ns);
    bool is_hot = part >= HOT_SHARE;
    bool is_known = use && tkt_device_use_is_known(document->trace, basis->uses, use);
    unsigned long long calls = scope->calls;
    tkt_text_name(name, scope->name);
    tkt_value_text(share, TKT_CELL_SHARE, (tkt_cell){.d = part});
    tkt_value_time(time, tkt_working_ns(scope));
    tkt_value_text(busy, TKT_CELL_SHARE,
                   (tkt_cell){.d = is_known ? tkt_share(use->busy_ns, use->known_ns) : 0});
    if (use && !is_known)
        tkt_document_set_headline(document,
                                  "When devices were busy is not known; of the host's %s %s takes "
                                  "most, %s.",
                                  of, name, share);
    else if (use)
        tkt_document_set_headline(
            document,
            "The bottleneck is the host: %s was busy for only %s of the wall time%s%s%s%s%s%s.",
            tkt_trace_text(document->trace, use->device), busy, is_hot ? ", and " : "",
            is_hot ? name : "", is_hot ? " takes " : "", is_hot ? share : "",
            is_hot ? " of the " : "", is_hot ? of : "");
    else if (head_group(document, basis->scopes, hottest, of))
        return;
    else if (is_hot)
        tkt_document_set_headline(document,
                                  "The bottleneck is %s: %s of the %s, %s in %llu call%s.", name,
                                  share, of, time, calls, calls == 1 ? "" : "s");
    else
        tkt_document_set_headline(
            document, "No scope stands out%s: %s takes most, %s of the %s.",
            is_less_than_a_wait(basis->scopes, hottest) ? " beside waits" : "", name, share, of);
}

static const tkt_device_use *busiest_of(const tkt_device_uses *uses)
{
    const tkt_device_use *busiest = NULL;
    for (size_t i = 0; i < uses->count; i++)
        if (!busiest || uses->items[i].busy_ns > busiest->busy_ns)
            busiest = &uses->items[i];
    return busiest;
}

/* The advice with the most at stake, apart from such on how scopes are written; NULL: there is
 * none. */
static const tkt_advice *gravest_of(const tkt_advice *advice, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (advice[i].kind != TKT_ADVICE_OPEN && advice[i].kind != TKT_ADVICE_STEP_INSIDE &&
            advice[i].kind != TKT_ADVICE_NUMBERED)
            return &advice[i];
    return NULL;
}

/* "The bottleneck is step 12: 12.701ms of 20.500ms." */
static void head_step(tkt_document *document, const tkt_advice *step)
{
    char lasted[TKT_VALUE_SIZE], wall[TKT_VALUE_SIZE];
    tkt_value_time(lasted, step->end_ns - step->begin_ns);
    tkt_value_time(wall, tkt_wall_ns(&document->trace->facts));
    tkt_document_set_headline(document, "The bottleneck is step %llu: %s of %s.",
                              (unsigned long long)step->step, lasted, wall);
}

void tkt_show_headline(tkt_document *document, const tkt_advice_basis *basis,
                       const tkt_advice *advice, size_t count)
{
    const takt_trace *trace = document->trace;
    const tkt_device_use *use = busiest_of(basis->uses);
    const tkt_hottest hottest = tkt_hottest_scope(trace, basis->scopes);
    const tkt_advice *first = gravest_of(advice, count);
    if (!tkt_advice_is_possible(trace) || tkt_wall_ns(&trace->facts) == 0)
        return;
    if (first && (first->kind == TKT_ADVICE_OUTLIER || first->kind == TKT_ADVICE_FIRST) &&
        first->share >= STEP_SHARE)
        head_step(document, first);
    else if (use && tkt_device_use_is_known(trace, basis->uses, use) &&
             tkt_share(use->busy_ns, use->known_ns) >= BUSY_SHARE)
        head_device(document, use);
    else if (hottest.scope && basis->scopes->self_ns > 0 && !tkt_scopes_mix_times(trace))
        head_host(document, basis, use, &hottest);
}
