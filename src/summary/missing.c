/* Paths are few, so one launch stands for all of its path. How deep a path is followed is bounded:
 * a file that is made to be slow must not have its way. */
#include "summary/missing.h"

#include "trace/calls.h"

#include <string.h>

#define MOST_NAMES 64
#define BETWEEN    " > "
#define OUTSIDE    "(outside of scopes)"

/* Strings: the call's name, then those of the scopes around it, the innermost first. */
typedef struct names {
    uint32_t items[MOST_NAMES];
    uint32_t count;
} names;

static names names_of(const takt_trace *trace, uint32_t call)
{
    const tkt_call_info *info = &trace->calls.items[call];
    const tkt_span *spans = trace->tracks.items[info->track].spans.items;
    names found = {.count = 0};
    uint32_t span = (uint32_t)info->span;
    for (int i = 0; i < MOST_NAMES && span != TKT_NO_SPAN; i++) {
        if (i == 0 || !(tkt_span_flags(&spans[span]) & TAKT_SPAN_CALL))
            found.items[found.count++] = trace->sites.items[tkt_span_site(&spans[span])].name;
        span = spans[span].parent;
    }
    return found;
}

static bool are_same(const names *a, const names *b)
{
    return a->count == b->count && memcmp(a->items, b->items, a->count * sizeof *a->items) == 0;
}

static bool add(const takt_trace *trace, tkt_missings *missings, uint32_t call)
{
    const names of = names_of(trace, call);
    for (uint64_t hash = tkt_hash_bytes(of.items, of.count * sizeof *of.items);; hash++) {
        uint64_t *place = tkt_map_put(&missings->index, hash);
        if (!place)
            return false;
        if (*place == 0) {
            tkt_missing *added = TKT_ARRAY_ADD(missings);
            if (!added)
                return false;
            *added = (tkt_missing){.call = call, .count = 1};
            *place = missings->count;
            return true;
        }
        tkt_missing *known = &missings->items[*place - 1];
        const names others = names_of(trace, known->call);
        if (are_same(&of, &others)) {
            known->count++;
            return true;
        }
    }
}

takt_status tkt_missings_of(const takt_trace *trace, tkt_missings *out)
{
    for (uint32_t i = 0; i < trace->calls.count; i++) {
        if (tkt_span_flags(tkt_call_span(trace, i)) & TAKT_SPAN_NO_ACTIVITY && !add(trace, out, i))
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

void tkt_missings_fini(tkt_missings *missings)
{
    TKT_ARRAY_FREE(missings);
    tkt_map_fini(&missings->index);
    *missings = (tkt_missings){0};
}

const char *tkt_missing_call(const takt_trace *trace, const tkt_missing *missing)
{
    return tkt_trace_text(trace, names_of(trace, missing->call).items[0]);
}

const char *tkt_missing_scopes(const takt_trace *trace, const tkt_missing *missing,
                               tkt_arena *texts)
{
    const names of = names_of(trace, missing->call);
    size_t size = 1;
    if (of.count == 1)
        return OUTSIDE;
    for (uint32_t i = 1; i < of.count; i++)
        size += strlen(tkt_trace_text(trace, of.items[i])) + strlen(BETWEEN);
    char *text = tkt_arena_alloc(texts, size);
    char *end = text;
    for (uint32_t i = of.count; text && --i > 0;) {
        end = stpcpy(end, end == text ? "" : BETWEEN);
        end = stpcpy(end, tkt_trace_text(trace, of.items[i]));
    }
    return text;
}
