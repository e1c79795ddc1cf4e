/* Advice: what all rules find, by what is at stake. */
#include "summary/advice_rules.h"

static size_t add_losses(const takt_trace *trace, tkt_advice *out)
{
    size_t count = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t lost = trace->losses[i];
        if (lost > 0)
            out[count++] =
                (tkt_advice){.kind = TKT_ADVICE_LOST, .loss = (takt_loss)i, .count = lost};
    }
    return count;
}

/* Behind those that have more at stake, or as much: there are few. */
static void insert(tkt_advice *items, size_t count, const tkt_advice *advice)
{
    size_t place = count;
    for (; place > 0 && items[place - 1].at_stake_ns < advice->at_stake_ns; place--)
        items[place] = items[place - 1];
    items[place] = *advice;
}

static size_t add_advice(const tkt_advising *a, const tkt_advice_rule *rules, tkt_advice *out,
                         size_t count)
{
    for (; *rules; rules++) {
        tkt_advice advice = {0};
        if ((*rules)(a, &advice))
            insert(out, count++, &advice);
    }
    return count;
}

/* False where rules would judge what the file lacks: one that is cut has the activities last. */
static bool is_sound(const takt_trace *trace)
{
    bool has_anything = trace->facts.span_count || trace->fold.count > 1;
    return trace->facts.ending == TAKT_ENDING_WHOLE ||
           (trace->facts.ending == TAKT_ENDING_KILLED && has_anything);
}

size_t tkt_advice_of(const takt_trace *trace, const tkt_advice_basis *basis, tkt_advice *out)
{
    tkt_advising a = {
        .trace = trace, .known = basis, .wall_ns = (double)tkt_wall_ns(&trace->facts)};
    size_t count = 0;
    if (is_sound(trace)) {
        count = add_advice(&a, tkt_host_rules, out, 0);
        count = add_advice(&a, tkt_device_rules, out, count);
    }
    return count + add_losses(trace, &out[count]);
}
