/* Folded stacks, the input of flame graphs: one line a call path, outermost first, with the time
 * spent in the path's last scope itself.
 *
 *     step;forces;neighbours 1234567
 *
 * It is the format of Brendan Gregg's flamegraph.pl, which speedscope and torch's export_stacks()
 * share. Values are whole nanoseconds: such tools sum integers of any unit, and microseconds would
 * lose the short scopes that flame graphs are there to add up. Paths without self time are left
 * out. Characters that end a frame or a line become '_', as torch does it.
 *
 * The tree of the trace has one node for each call site. Here those of one name are one frame, and
 * siblings stand in the order of their names, so that equal programs give equal files. */
#include "base/hash.h"
#include "base/text.h"
#include "export/exporter.h"
#include "summary/scopes.h"
#include "trace/model.h"

#include <stdlib.h>

#define ROOT       0u
#define OTHER_NAME UINT32_MAX /* in the place of a string's id */

/* One path. */
typedef struct frame {
    uint64_t self_ns;
    size_t text_begin; /* of its name in the path's text */
    uint32_t name;
    uint32_t parent;
    uint32_t next;        /* sibling by name */
    uint32_t first_child; /* by name */
} frame;

typedef struct folded_stacks {
    const takt_trace *trace;
    tkt_map paths;              /* parent << 32 | name -> frame */
    uint32_t *numbers;          /* node -> frame */
    TKT_ARRAY_OF(frame) frames; /* 0 is the root */
    TKT_ARRAY_OF(char) text;    /* of the current path */
} folded_stacks;

static tkt_string name_of(const takt_trace *trace, uint32_t name)
{
    if (name == OTHER_NAME)
        return (tkt_string){TKT_OTHER_NAME, strlen(TKT_OTHER_NAME)};
    return trace->strings.items[name];
}

static uint32_t find_or_add(folded_stacks *stacks, uint32_t parent, uint32_t name)
{
    uint64_t *place = tkt_map_put(&stacks->paths, (uint64_t)parent << 32 | name);
    if (!place)
        return TKT_NO_NODE;
    if (*place)
        return (uint32_t)*place;
    frame *added = TKT_ARRAY_ADD(&stacks->frames);
    if (!added)
        return TKT_NO_NODE;
    *added = (frame){.name = name, .parent = parent, .next = ROOT, .first_child = ROOT};
    *place = stacks->frames.count - 1;
    return (uint32_t)*place;
}

/* Self times are sums modulo 2^64, and less than nothing where a scope that was never closed has
 * children that were. */
static uint64_t self_time(const tkt_node *node)
{
    return (int64_t)node->stats.self_ns > 0 ? node->stats.self_ns : 0;
}

static takt_status merge_names(folded_stacks *stacks, const tkt_fold *fold)
{
    stacks->numbers = tkt_alloc_zeroed((fold->count + 1) * sizeof *stacks->numbers);
    frame *root = TKT_ARRAY_ADD(&stacks->frames);
    if (!stacks->numbers || !root)
        return TAKT_NO_MEMORY;
    *root = (frame){0};
    for (size_t i = 1; i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        uint32_t name =
            node->site == TKT_SITE_OTHER ? OTHER_NAME : stacks->trace->sites.items[node->site].name;
        uint32_t number = find_or_add(stacks, stacks->numbers[node->parent], name);
        if (number == TKT_NO_NODE)
            return TAKT_NO_MEMORY;
        stacks->numbers[i] = number;
        stacks->frames.items[number].self_ns += self_time(node);
    }
    return TAKT_OK;
}

typedef struct place {
    tkt_string name;
    uint32_t parent;
    uint32_t number;
} place;

static int by_parent_and_name(const void *a, const void *b)
{
    const place *x = a;
    const place *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    size_t common = x->name.size < y->name.size ? x->name.size : y->name.size;
    int order = memcmp(x->name.bytes, y->name.bytes, common);
    if (order)
        return order;
    return x->name.size < y->name.size ? -1 : x->name.size > y->name.size;
}

static takt_status link_children(folded_stacks *stacks)
{
    frame *frames = stacks->frames.items;
    size_t count = stacks->frames.count;
    place *places = tkt_alloc(count * sizeof *places);
    if (!places)
        return TAKT_NO_MEMORY;
    for (uint32_t i = 1; i < count; i++)
        places[i] = (place){name_of(stacks->trace, frames[i].name), frames[i].parent, i};
    qsort(places + 1, count - 1, sizeof *places, by_parent_and_name);
    for (size_t i = count; --i > 0;) {
        frame *parent = &frames[places[i].parent];
        frames[places[i].number].next = parent->first_child;
        parent->first_child = places[i].number;
    }
    tkt_free(places);
    return TAKT_OK;
}

static bool append_name(folded_stacks *stacks, frame *at)
{
    tkt_string name = name_of(stacks->trace, at->name);
    size_t capacity = name.size * 3 + 2; /* an invalid byte becomes three */
    at->text_begin = stacks->text.count;
    if (!TKT_ARRAY_RESERVE(&stacks->text, stacks->text.count + capacity + 1))
        return false;
    if (stacks->text.count)
        stacks->text.items[stacks->text.count++] = ';';
    char *begin = stacks->text.items + stacks->text.count;
    size_t size = tkt_utf8_clean(begin, capacity, name.bytes, name.size);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)begin[i];
        if (c <= ' ' || c == ';' || c == 0x7F)
            begin[i] = '_';
    }
    if (!size)
        begin[size++] = '_';
    stacks->text.count += size;
    return true;
}

static void put_line(const folded_stacks *stacks, uint64_t self_ns, tkt_writer *writer)
{
    if (!self_ns)
        return;
    tkt_writer_put(writer, stacks->text.items, stacks->text.count);
    char *out = tkt_writer_reserve(writer, 22);
    *out++ = ' ';
    out = tkt_put_u64(out, self_ns);
    *out++ = '\n';
    tkt_writer_commit(writer, out);
}

/* The frame after `at` and what is below it; ROOT at the end. The path is cut back to where that
 * frame begins. */
static uint32_t next_frame(folded_stacks *stacks, uint32_t at)
{
    const frame *frames = stacks->frames.items;
    while (at != ROOT) {
        stacks->text.count = frames[at].text_begin;
        if (frames[at].next != ROOT)
            return frames[at].next;
        at = frames[at].parent;
    }
    return ROOT;
}

static takt_status write_lines(folded_stacks *stacks, tkt_writer *writer)
{
    frame *frames = stacks->frames.items;
    uint32_t at = frames[ROOT].first_child;
    while (at != ROOT && writer->status == TAKT_OK) {
        if (!append_name(stacks, &frames[at]))
            return TAKT_NO_MEMORY;
        put_line(stacks, frames[at].self_ns, writer);
        uint32_t child = frames[at].first_child;
        at = child != ROOT ? child : next_frame(stacks, at);
    }
    return TAKT_OK;
}

static takt_status write_folded(const takt_trace *trace, tkt_writer *writer)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    if (!fold)
        return TAKT_NO_MEMORY;
    folded_stacks stacks = {.trace = trace};
    takt_status status = merge_names(&stacks, fold);
    if (status == TAKT_OK)
        status = link_children(&stacks);
    if (status == TAKT_OK)
        status = write_lines(&stacks, writer);
    tkt_map_fini(&stacks.paths);
    TKT_ARRAY_FREE(&stacks.frames);
    TKT_ARRAY_FREE(&stacks.text);
    tkt_free(stacks.numbers);
    return status;
}

const tkt_exporter tkt_folded_exporter = {
    .name = "folded",
    .description = "folded stacks for flame graphs: flamegraph.pl, speedscope, inferno",
    .suffix = ".folded",
    .write = write_folded,
};
