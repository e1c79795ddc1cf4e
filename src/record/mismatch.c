#include "record/mismatch.h"

#include "base/error.h"
#include "record/site.h"

#include <stdbool.h>

#define PLACES 64u /* further ones share the counts of the losses only */

typedef struct place {
    uint32_t key; /* (site << 2 | cause) + 1; 0: free; atomic */
    uint32_t count;
    uint32_t reported;
} place;

static place places[PLACES];

static place *find(uint32_t key)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        uint32_t seen = 0;
        if (__atomic_compare_exchange_n(&places[i].key, &seen, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            seen == key)
            return &places[i];
    }
    return NULL;
}

void tkt_mismatch_count(tkt_mismatch cause, uint32_t site)
{
    place *here = find((site << 2 | (uint32_t)cause) + 1);
    if (here)
        __atomic_fetch_add(&here->count, 1, __ATOMIC_RELAXED);
}

static const char *text_of(tkt_mismatch cause)
{
    static const char *const texts[] = {
        [TKT_END_WITHOUT_BEGIN] = "ended without a begin",
        [TKT_CLOSED_BY_ANOTHER] = "was still open when a scope around it ended",
        [TKT_OPEN_AT_EXIT] = "was still open when its thread ended",
        [TKT_TOO_DEEP] = "was not recorded: too many scopes are open",
    };
    return texts[cause];
}

static void report(uint32_t key, uint32_t count)
{
    const tkt_site *site = key >> 2 ? tkt_site_get(key >> 2) : NULL;
    const char *text = text_of((tkt_mismatch)(key & 3));
    const char *times = count == 1 ? "time" : "times";
    if (!site)
        tkt_log(TAKT_LOG_WARNING, "takt_end() %s (%u %s)", text, count, times);
    else if (site->file.size == 0)
        tkt_log(TAKT_LOG_WARNING, "scope '%s' %s (%u %s)", site->name.bytes, text, count, times);
    else
        tkt_log(TAKT_LOG_WARNING, "scope '%s' at %s:%u %s (%u %s)", site->name.bytes,
                site->file.bytes, site->line, text, count, times);
}

void tkt_mismatch_report(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        uint32_t key = __atomic_load_n(&places[i].key, __ATOMIC_RELAXED);
        uint32_t count = __atomic_load_n(&places[i].count, __ATOMIC_RELAXED);
        uint32_t before = __atomic_exchange_n(&places[i].reported, count, __ATOMIC_RELAXED);
        if (key && count != before)
            report(key - 1, count - before);
    }
}
