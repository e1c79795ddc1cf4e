/* Phases of compilations are spans of the tracks "compile: UNIT", named "PHASE" or "PHASE: DETAIL".
 * Such a track is one compiler's work after the other, so spans that enclose others are their
 * parents. Should two overlap without that, the later one is a sibling.
 *
 * A compiler that did several things at once also has tracks "compile: UNIT [ARCHITECTURE]" or
 * "compile: UNIT: OTHER UNIT". Their phases belong to the span "compilation" of the track
 * "compile: UNIT", too. */
#include "summary/compile.h"
#include "summary/device.h"
#include "trace/devices.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "compile: "
#define WHOLE  "compilation"

/* A span, and the phase that it belongs to. */
typedef struct piece {
    uint64_t begin_ns;
    uint64_t end_ns;
    size_t phase;
} piece;

typedef struct gathering {
    const takt_trace *trace;
    tkt_compiles *out;
    tkt_map by_name;            /* hash of track and name -> index + 1 */
    TKT_ARRAY_OF(piece) pieces; /* of one track */
    TKT_ARRAY_OF(size_t) open;  /* indices of pieces, outermost first */
    TKT_ARRAY_OF(piece) wholes; /* "compilation"s of all tracks */
    TKT_ARRAY_OF(piece) tops;   /* the outermost phases of all compilations */
} gathering;

/* ---- Phases ---------------------------------------------------------------------------------- */

/* Returns the size of the name's phase: what is before ": ". */
static size_t phase_size(const char *name)
{
    const char *detail = strstr(name, ": ");
    return detail && detail > name ? (size_t)(detail - name) : strlen(name);
}

static bool is_phase(const void *item, const void *wanted)
{
    const tkt_compile_phase *a = item, *b = wanted;
    return a->unit == b->unit && a->phase_size == b->phase_size &&
           memcmp(a->phase, b->phase, a->phase_size) == 0;
}

/* Returns the index of a phase, added if it is new; SIZE_MAX without memory. */
static size_t phase_of(gathering *g, const char *unit, const char *name)
{
    const tkt_compile_phase phase = {.unit = unit, .phase = name, .phase_size = phase_size(name)};
    uint64_t hash = tkt_hash_bytes(name, phase.phase_size) ^ tkt_hash_u64((uintptr_t)unit);
    uint64_t *place =
        tkt_map_find(&g->by_name, hash, g->out->phases.items, sizeof phase, is_phase, &phase);
    if (place && *place)
        return *place - 1;
    tkt_compile_phase *added = place ? TKT_ARRAY_ADD(&g->out->phases) : NULL;
    if (!added)
        return SIZE_MAX;
    *added = phase;
    *place = g->out->phases.count;
    return *place - 1;
}

/* Parents before children: by begin, then the longer one first. */
static int compare(const void *left, const void *right)
{
    const piece *a = left, *b = right;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->end_ns == b->end_ns ? 0 : a->end_ns > b->end_ns ? -1 : 1;
}

static bool is_within_its_like(const gathering *g, const piece *p)
{
    for (size_t i = 0; i < g->open.count; i++)
        if (g->pieces.items[g->open.items[i]].phase == p->phase)
            return true;
    return false;
}

static void subtract(tkt_compile_phase *phase, uint64_t ns)
{
    phase->self_ns -= ns < phase->self_ns ? ns : phase->self_ns;
}

static bool is_whole(const gathering *g, const piece *p)
{
    const tkt_compile_phase *phase = &g->out->phases.items[p->phase];
    return phase->phase_size >= strlen(WHOLE) && memcmp(phase->phase, WHOLE, strlen(WHOLE)) == 0;
}

/* Takes a span's time from its parent's. A whole loses its time later, see cover_wholes(). */
static bool add_to_parent(gathering *g, const piece *p)
{
    const piece *parent = g->open.count ? &g->pieces.items[g->open.items[g->open.count - 1]] : NULL;
    if (parent && !is_whole(g, parent)) {
        subtract(&g->out->phases.items[parent->phase], p->end_ns - p->begin_ns);
        return true;
    }
    piece *kept = is_whole(g, p) ? TKT_ARRAY_ADD(&g->wholes) : TKT_ARRAY_ADD(&g->tops);
    if (kept)
        *kept = *p;
    return kept;
}

/* Adds a span to its phase. */
static bool add_piece(gathering *g, size_t index)
{
    const piece *p = &g->pieces.items[index];
    tkt_compile_phase *phase = &g->out->phases.items[p->phase];
    uint64_t duration_ns = p->end_ns - p->begin_ns;
    while (g->open.count && g->pieces.items[g->open.items[g->open.count - 1]].end_ns < p->end_ns)
        g->open.count--;
    phase->count++;
    phase->self_ns += duration_ns;
    phase->max_ns = duration_ns > phase->max_ns ? duration_ns : phase->max_ns;
    if (!is_within_its_like(g, p))
        phase->total_ns += duration_ns;
    bool is_added = add_to_parent(g, p);
    size_t *opened = TKT_ARRAY_ADD(&g->open);
    if (opened)
        *opened = index;
    return is_added && opened;
}

static bool add_track(gathering *g, const tkt_track *track)
{
    const char *name = tkt_trace_text(g->trace, track->name);
    if (track->kind != TAKT_TRACK_ASYNC || strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return true;
    g->pieces.count = g->open.count = 0;
    for (size_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        uint32_t site = tkt_span_site(span);
        const char *text = tkt_trace_text(g->trace, g->trace->sites.items[site].name);
        size_t phase = phase_of(g, name + strlen(PREFIX), text);
        piece *p = phase == SIZE_MAX ? NULL : TKT_ARRAY_ADD(&g->pieces);
        if (!p)
            return false;
        *p = (piece){span->begin_ns, span->end_ns, phase};
    }
    if (g->pieces.count)
        qsort(g->pieces.items, g->pieces.count, sizeof *g->pieces.items, compare);
    for (size_t i = 0; i < g->pieces.count; i++)
        if (!add_piece(g, i))
            return false;
    return true;
}

/* ---- The whole of a compilation ------------------------------------------------------------ */

/* True if a phase of `inner` can be part of a compilation of `unit`. */
static bool is_part(const char *unit, const char *inner)
{
    size_t size = strlen(unit);
    const char *rest = inner + size;
    return strncmp(inner, unit, size) == 0 &&
           (!*rest || strncmp(rest, " [", 2) == 0 || strncmp(rest, ": ", 2) == 0);
}

/* Returns the first of the outermost phases that begins at `ns` or later. */
static size_t first_top_at(const gathering *g, uint64_t ns)
{
    size_t first = 0, count = g->tops.count;
    while (count > 0) {
        size_t half = count / 2;
        if (g->tops.items[first + half].begin_ns < ns) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

/* Returns for how long phases of a compilation ran, at least one at a time. */
static uint64_t covered_ns(const gathering *g, const piece *whole)
{
    const char *unit = g->out->phases.items[whole->phase].unit;
    uint64_t covered = 0, until_ns = whole->begin_ns;
    for (size_t i = first_top_at(g, whole->begin_ns); i < g->tops.count; i++) {
        const piece *top = &g->tops.items[i];
        if (top->begin_ns >= whole->end_ns)
            break;
        uint64_t end_ns = top->end_ns < whole->end_ns ? top->end_ns : whole->end_ns;
        if (is_part(unit, g->out->phases.items[top->phase].unit))
            covered += tkt_union_add(&until_ns, top->begin_ns, end_ns);
    }
    return covered;
}

static void cover_wholes(gathering *g)
{
    if (g->tops.count)
        qsort(g->tops.items, g->tops.count, sizeof *g->tops.items, compare);
    for (size_t i = 0; i < g->wholes.count; i++) {
        const piece *whole = &g->wholes.items[i];
        subtract(&g->out->phases.items[whole->phase], covered_ns(g, whole));
    }
}

/* ---- Loading --------------------------------------------------------------------------------- */

static bool add_loading(tkt_compiles *out, const char *call, uint32_t kind, uint64_t duration_ns)
{
    tkt_loading *found = NULL;
    for (size_t i = 0; i < out->loadings.count && !found; i++) {
        tkt_loading *known = &out->loadings.items[i];
        if (call ? known->call && strcmp(known->call, call) == 0
                 : !known->call && known->kind == kind)
            found = known;
    }
    if (!found && (found = TKT_ARRAY_ADD(&out->loadings)) != NULL)
        *found = (tkt_loading){.call = call, .kind = kind};
    if (!found)
        return false;
    found->count++;
    found->total_ns += duration_ns;
    found->max_ns = duration_ns > found->max_ns ? duration_ns : found->max_ns;
    return true;
}

static bool add_loading_call(void *user, uint32_t call)
{
    gathering *g = user;
    const tkt_span *span = tkt_call_span(g->trace, call);
    const tkt_trace_site *site = &g->trace->sites.items[tkt_span_site(span)];
    return add_loading(g->out, tkt_trace_text(g->trace, site->name), 0,
                       span->end_ns - span->begin_ns);
}

static bool add_loadings(gathering *g)
{
    const takt_trace *trace = g->trace;
    for (size_t i = 0; i < trace->overheads.count; i++) {
        const tkt_overhead *o = &trace->overheads.items[i];
        if (tkt_overhead_is_loading(o->kind) &&
            !add_loading(g->out, NULL, o->kind, o->end_ns - o->begin_ns))
            return false;
    }
    return tkt_calls_visit(trace, tkt_call_loads, add_loading_call, g) == TAKT_OK;
}

takt_status tkt_compiles_of(const takt_trace *trace, tkt_compiles *out)
{
    gathering g = {.trace = trace, .out = out};
    if (!trace->facts.has_spans)
        return TAKT_NO_SPANS;
    bool is_added = add_loadings(&g);
    for (size_t i = 0; i < trace->tracks.count && is_added; i++)
        is_added = add_track(&g, &trace->tracks.items[i]);
    cover_wholes(&g);
    for (size_t i = 0; i < out->phases.count; i++)
        out->self_ns += out->phases.items[i].self_ns;
    tkt_map_fini(&g.by_name);
    TKT_ARRAY_FREE(&g.pieces);
    TKT_ARRAY_FREE(&g.open);
    TKT_ARRAY_FREE(&g.wholes);
    TKT_ARRAY_FREE(&g.tops);
    return is_added ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_compiles_fini(tkt_compiles *compiles)
{
    TKT_ARRAY_FREE(&compiles->phases);
    TKT_ARRAY_FREE(&compiles->loadings);
}
