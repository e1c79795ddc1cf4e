/* Names in XSpace files: metadata of events and stats, and the paths of scopes. Also dividing
 * slices into lines. */
#include "export/xplane.h"

#include "export/chrome.h"

#include <stdio.h>

/* Field numbers, from xplane.proto. */
enum {
    PLANE_EVENT_METADATA = 4,
    PLANE_STAT_METADATA = 5,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    METADATA_ID = 1,
    METADATA_NAME = 2,
    METADATA_LABEL = 4,
    METADATA_STATS = 5,
    STAT_NAME = 1
};

/* A path with more parts or bytes, and every new one when paths take too much memory, begins anew
 * below "...". Recursion would otherwise need memory for the square of its depth. */
#define MOST_PARTS      128
#define MOST_PATH_BYTES 2000
#define MOST_BYTES      (UINT64_C(128) << 20)
#define DEEP            "...:"

/* ---- Metadata -------------------------------------------------------------------------------- */

static const char *const stat_names[] = {"",
#define TKT_XPLANE_NAME(word, name) name,
                                         TKT_XPLANE_STATS(TKT_XPLANE_NAME)};

takt_status tkt_xnames_init(tkt_xnames *names)
{
    takt_status status = tkt_strtab_init(&names->stats);
    if (status == TAKT_OK)
        status = tkt_strtab_init(&names->events);
    for (size_t i = 0; i < sizeof stat_names / sizeof *stat_names && status == TAKT_OK; i++)
        if (tkt_strtab_intern_text(&names->stats, stat_names[i]) != i)
            status = TAKT_NO_MEMORY;
    tkt_xname *none = TKT_ARRAY_ADD(&names->shared);
    if (!none)
        return TAKT_NO_MEMORY;
    *none = (tkt_xname){0};
    return status;
}

void tkt_xnames_fini(tkt_xnames *names)
{
    tkt_strtab_fini(&names->stats);
    tkt_strtab_fini(&names->events);
    TKT_ARRAY_FREE(&names->shared);
}

static void put_text(tkt_message *into, uint32_t field, const tkt_string *text)
{
    tkt_message_text(into, field, text->bytes, text->size);
}

static void put_stat(tkt_message *into, tkt_xstat stat, const char *text)
{
    size_t mark = tkt_message_begin(into, METADATA_STATS);
    tkt_message_uint(into, STAT_NAME, stat);
    tkt_message_string(into, TKT_XVALUE_TEXT, text);
    tkt_message_end(into, mark);
}

/* Viewers show the stats of a name with each of its events. */
static void put_site(const takt_trace *trace, const tkt_trace_site *site, tkt_message *into)
{
    char place[256];
    if (site->file) {
        snprintf(place, sizeof place, "%s:%u",
                 tkt_base_name(tkt_trace_text(trace, site->file)), site->line);
        put_stat(into, TKT_XSTAT_SOURCE, place);
    }
    if (site->category)
        put_stat(into, TKT_XSTAT_CATEGORY, tkt_trace_text(trace, site->category));
}

static void put_event_name(const tkt_xplane *x, const tkt_xnames *names, uint32_t id,
                           tkt_message *plane)
{
    const tkt_xname *shared = &names->shared.items[id];
    size_t entry = tkt_message_begin(plane, PLANE_EVENT_METADATA);
    tkt_message_uint(plane, ENTRY_KEY, id);
    size_t value = tkt_message_begin(plane, ENTRY_VALUE);
    tkt_message_uint(plane, METADATA_ID, id);
    put_text(plane, METADATA_NAME, &names->events.items[id]);
    if (shared->label)
        put_text(plane, METADATA_LABEL, &x->trace->strings.items[shared->label]);
    if (shared->site)
        put_site(x->trace, &x->trace->sites.items[shared->site], plane);
    tkt_message_end(plane, value);
    tkt_message_end(plane, entry);
}

static void put_stat_name(const tkt_string *name, uint32_t id, tkt_message *plane)
{
    size_t entry = tkt_message_begin(plane, PLANE_STAT_METADATA);
    tkt_message_uint(plane, ENTRY_KEY, id);
    size_t value = tkt_message_begin(plane, ENTRY_VALUE);
    tkt_message_uint(plane, METADATA_ID, id);
    put_text(plane, METADATA_NAME, name);
    tkt_message_end(plane, value);
    tkt_message_end(plane, entry);
}

void tkt_xnames_put(const tkt_xplane *x, const tkt_xnames *names, tkt_message *plane)
{
    for (uint32_t i = 1; i < names->events.count; i++)
        put_event_name(x, names, i, plane);
    for (uint32_t i = 1; i < names->stats.count; i++)
        put_stat_name(&names->stats.items[i], i, plane);
}

static uint32_t no_memory(tkt_xplane *x)
{
    x->status = TAKT_NO_MEMORY;
    return 0;
}

static uint32_t add_name(tkt_xplane *x, tkt_xnames *names, const char *name, size_t size,
                         tkt_xname shared)
{
    uint32_t id = tkt_strtab_intern(&names->events, name, size);
    if (id == TKT_STRTAB_FULL)
        return no_memory(x);
    if (id < names->shared.count)
        return id;
    tkt_xname *added = TKT_ARRAY_ADD(&names->shared);
    if (!added)
        return no_memory(x);
    *added = shared;
    return id;
}

uint32_t tkt_xplane_name(tkt_xplane *x, const char *name, size_t size, tkt_xname shared)
{
    return add_name(x, x->names, name, size, shared);
}

uint32_t tkt_xplane_text(tkt_xplane *x, const char *text, size_t size)
{
    uint32_t id = tkt_strtab_intern(&x->names->stats, text, size);
    return id == TKT_STRTAB_FULL ? no_memory(x) : id;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* Appends a name without ':', which would end the path. Names are valid UTF-8 and stay it. */
static char *put_part(char *out, const tkt_string *name)
{
    static const tkt_string none = {"(no name)", 9};
    const tkt_string *part = name->size ? name : &none;
    for (size_t i = 0; i < part->size; i++)
        *out++ = part->bytes[i] == ':' ? '_' : part->bytes[i];
    return out;
}

uint32_t tkt_xplane_plain_name(tkt_xplane *x, const char *kind, uint32_t string, uint32_t site)
{
    const tkt_string *name = &x->trace->strings.items[string];
    size_t kind_size = strlen(kind);
    char *text = tkt_alloc(kind_size + name->size + 10);
    if (!text)
        return no_memory(x);
    memcpy(text, kind, kind_size);
    char *end = put_part(text + kind_size, name);
    const tkt_xname shared = {.label = kind_size && site ? string : 0, .site = site};
    uint32_t id = tkt_xplane_name(x, text, (size_t)(end - text), shared);
    tkt_free(text);
    return id;
}

static uint32_t deep_path(tkt_xplane *x)
{
    if (!x->deep)
        x->deep = add_name(x, &x->host, DEEP, strlen(DEEP), (tkt_xname){.depth = 1});
    return x->deep;
}

static bool is_too_deep(const tkt_xplane *x, uint32_t parent, const tkt_string *name)
{
    if (!parent || parent == x->deep)
        return false;
    return x->host.shared.items[parent].depth >= MOST_PARTS ||
           x->host.events.items[parent].size + name->size > MOST_PATH_BYTES ||
           x->host.events.bytes.total_bytes > MOST_BYTES;
}

/* XProf takes an event for the mark of a step if its name begins so and has no '/', and "Iterator:"
 * for a data set. */
static bool is_special(const tkt_string *name)
{
    return strcmp(name->bytes, "Iterator") == 0 || strncmp(name->bytes, "train", 5) == 0 ||
           strncmp(name->bytes, "test", 4) == 0 || strncmp(name->bytes, "TraceContext", 12) == 0;
}

/* "step/forces:" and "density" make "step/forces/density:". */
static uint32_t add_path(tkt_xplane *x, uint32_t parent, uint32_t site)
{
    uint32_t label = x->trace->sites.items[site].name;
    const tkt_string *name = &x->trace->strings.items[label];
    const tkt_string *above = &x->host.events.items[parent];
    char *text = tkt_alloc(above->size + name->size + 16);
    if (!text)
        return no_memory(x);
    char *end = text;
    if (parent) {
        memcpy(text, above->bytes, above->size);
        end = text + above->size;
        end[-1] = '/';
    } else if (is_special(name)) {
        *end++ = '.';
        *end++ = '/';
    }
    end = put_part(end, name);
    *end++ = ':';
    const tkt_xname shared = {label, site, x->host.shared.items[parent].depth + 1};
    uint32_t id = add_name(x, &x->host, text, (size_t)(end - text), shared);
    tkt_free(text);
    return id;
}

uint32_t tkt_xplane_path(tkt_xplane *x, uint32_t parent, uint32_t site)
{
    uint32_t name = x->trace->sites.items[site].name;
    tkt_xrecent *recent = &x->recent[name];
    if (recent->path && recent->parent == parent)
        return recent->path;
    uint64_t *path = tkt_map_put(&x->paths, (uint64_t)parent << 32 | name);
    if (!path)
        return no_memory(x);
    if (!*path) {
        uint32_t above =
            is_too_deep(x, parent, &x->trace->strings.items[name]) ? deep_path(x) : parent;
        *path = add_path(x, above, site);
    }
    *recent = (tkt_xrecent){parent, (uint32_t)*path};
    return (uint32_t)*path;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* The lanes of one group, and their lines. */
typedef struct group {
    tkt_lanes lanes;
    TKT_ARRAY_OF(uint32_t) lines;
} group;

typedef TKT_ARRAY_OF(group) groups;

static bool add_line(tkt_xlines *lines, group *of, uint32_t number)
{
    tkt_xline *line = TKT_ARRAY_ADD(lines);
    uint32_t *index = line ? TKT_ARRAY_ADD(&of->lines) : NULL;
    if (!index)
        return false;
    *line = (tkt_xline){.group = number, .lane = (uint32_t)of->lines.count - 1};
    *index = (uint32_t)lines->count - 1;
    return true;
}

/* Finds the line of a slice. UINT32_MAX without memory. */
static uint32_t line_of(tkt_xlines *lines, groups *all, const tkt_xslice *slice)
{
    while (all->count <= slice->group) {
        group *added = TKT_ARRAY_ADD(all);
        if (!added)
            return UINT32_MAX;
        *added = (group){0};
    }
    group *of = &all->items[slice->group];
    uint32_t lane = tkt_lanes_take(&of->lanes, slice->begin_ns, slice->end_ns);
    if (lane == UINT32_MAX || (lane == of->lines.count && !add_line(lines, of, slice->group)))
        return UINT32_MAX;
    lines->items[of->lines.items[lane]].count++;
    return of->lines.items[lane];
}

static void groups_fini(groups *all)
{
    for (size_t i = 0; i < all->count; i++) {
        tkt_lanes_fini(&all->items[i].lanes);
        TKT_ARRAY_FREE(&all->items[i].lines);
    }
    TKT_ARRAY_FREE(all);
}

/* A counting sort by line, which keeps the order of time. */
static void sort_by_line(tkt_xlines *lines, const uint32_t *line_of_slice, size_t count)
{
    size_t first = 0;
    for (size_t i = 0; i < lines->count; i++) {
        lines->items[i].first = first;
        first += lines->items[i].count;
        lines->items[i].count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        tkt_xline *line = &lines->items[line_of_slice[i]];
        lines->order[line->first + line->count++] = (uint32_t)i;
    }
}

takt_status tkt_xlines_make(tkt_xlines *lines, size_t count,
                            tkt_xslice (*at)(const void *user, size_t index), const void *user)
{
    groups all = {0};
    uint32_t *line_of_slice = tkt_alloc((count + 1) * sizeof *line_of_slice);
    lines->order = tkt_alloc((count + 1) * sizeof *lines->order);
    takt_status status = line_of_slice && lines->order ? TAKT_OK : TAKT_NO_MEMORY;
    for (size_t i = 0; i < count && status == TAKT_OK; i++) {
        const tkt_xslice slice = at(user, i);
        line_of_slice[i] = line_of(lines, &all, &slice);
        if (line_of_slice[i] == UINT32_MAX)
            status = TAKT_NO_MEMORY;
    }
    if (status == TAKT_OK)
        sort_by_line(lines, line_of_slice, count);
    groups_fini(&all);
    tkt_free(line_of_slice);
    return status;
}

void tkt_xlines_fini(tkt_xlines *lines)
{
    tkt_free(lines->order);
    lines->order = NULL;
    TKT_ARRAY_FREE(lines);
}
