#include "export/folded_tree.h"

#include "base/text.h"
#include "summary/frame_text.h"
#include "summary/scopes.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 1024 /* of a frame's */

takt_status tkt_folded_init(tkt_folded *folded, const takt_trace *trace)
{
    *folded = (tkt_folded){.trace = trace};
    tkt_folded_path *root = TKT_ARRAY_ADD(&folded->paths);
    if (!root)
        return TAKT_NO_MEMORY;
    *root = (tkt_folded_path){0};
    return TAKT_OK;
}

void tkt_folded_fini(tkt_folded *folded)
{
    tkt_map_fini(&folded->numbers);
    TKT_ARRAY_FREE(&folded->paths);
    TKT_ARRAY_FREE(&folded->text);
}

uint32_t tkt_folded_child(tkt_folded *folded, uint32_t parent, uint32_t name)
{
    uint64_t *place = tkt_map_put(&folded->numbers, (uint64_t)parent << 32 | name);
    if (!place)
        return TKT_NO_NODE;
    if (*place)
        return (uint32_t)*place;
    tkt_folded_path *added = TKT_ARRAY_ADD(&folded->paths);
    if (!added)
        return TKT_NO_NODE;
    *added = (tkt_folded_path){.name = name, .parent = parent};
    *place = folded->paths.count - 1;
    return (uint32_t)*place;
}

/* `buffer` has NAME_BYTES. */
static tkt_string name_of(const takt_trace *trace, uint32_t name, char *buffer)
{
    if (name == TKT_FOLDED_OTHER)
        return (tkt_string){TKT_OTHER_NAME, strlen(TKT_OTHER_NAME)};
    if (!(name & TKT_FOLDED_FRAME))
        return trace->strings.items[name];
    const tkt_frame *frame = &trace->frames.items[name & ~TKT_FOLDED_FRAME];
    tkt_frame_function(buffer, NAME_BYTES, trace, frame);
    return (tkt_string){buffer, strlen(buffer)};
}

/* ---- The order of names ---------------------------------------------------------------------- */

typedef struct place {
    const takt_trace *trace;
    uint32_t name;
    uint32_t parent;
    uint32_t number;
} place;

static int by_parent_and_name(const void *a, const void *b)
{
    char buffers[2][NAME_BYTES];
    const place *x = a;
    const place *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    tkt_string p = name_of(x->trace, x->name, buffers[0]);
    tkt_string q = name_of(y->trace, y->name, buffers[1]);
    int order = memcmp(p.bytes, q.bytes, p.size < q.size ? p.size : q.size);
    if (order)
        return order;
    return p.size < q.size ? -1 : p.size > q.size;
}

static takt_status link_children(tkt_folded *folded)
{
    tkt_folded_path *paths = folded->paths.items;
    size_t count = folded->paths.count;
    place *places = tkt_alloc(count * sizeof *places);
    if (!places)
        return TAKT_NO_MEMORY;
    for (uint32_t i = 1; i < count; i++)
        places[i] = (place){folded->trace, paths[i].name, paths[i].parent, i};
    qsort(places + 1, count - 1, sizeof *places, by_parent_and_name);
    for (size_t i = count; --i > 0;) {
        tkt_folded_path *parent = &paths[places[i].parent];
        paths[places[i].number].next = parent->first_child;
        parent->first_child = places[i].number;
    }
    tkt_free(places);
    return TAKT_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool append_name(tkt_folded *folded, tkt_folded_path *at)
{
    char buffer[NAME_BYTES];
    tkt_string name = name_of(folded->trace, at->name, buffer);
    size_t capacity = name.size * 3 + 2; /* an invalid byte becomes three */
    at->text_begin = folded->text.count;
    if (!TKT_ARRAY_RESERVE(&folded->text, folded->text.count + capacity + 1))
        return false;
    if (folded->text.count)
        folded->text.items[folded->text.count++] = ';';
    char *begin = folded->text.items + folded->text.count;
    size_t size = tkt_utf8_clean(begin, capacity, name.bytes, name.size);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)begin[i];
        if (c <= ' ' || c == ';' || c == 0x7F)
            begin[i] = '_';
    }
    if (!size)
        begin[size++] = '_';
    folded->text.count += size;
    return true;
}

static void put_line(const tkt_folded *folded, uint64_t value, tkt_writer *writer)
{
    if (!value)
        return;
    tkt_writer_put(writer, folded->text.items, folded->text.count);
    char *out = tkt_writer_reserve(writer, 22);
    *out++ = ' ';
    out = tkt_put_u64(out, value);
    *out++ = '\n';
    tkt_writer_commit(writer, out);
}

/* The path after `at` and what is below it; the root at the end. The text is cut back to where that
 * path's name begins. */
static uint32_t next_path(tkt_folded *folded, uint32_t at)
{
    const tkt_folded_path *paths = folded->paths.items;
    while (at != TKT_FOLDED_ROOT) {
        folded->text.count = paths[at].text_begin;
        if (paths[at].next != TKT_FOLDED_ROOT)
            return paths[at].next;
        at = paths[at].parent;
    }
    return TKT_FOLDED_ROOT;
}

takt_status tkt_folded_write(tkt_folded *folded, tkt_writer *writer)
{
    takt_status status = link_children(folded);
    if (status != TAKT_OK)
        return status;
    tkt_folded_path *paths = folded->paths.items;
    uint32_t at = paths[TKT_FOLDED_ROOT].first_child;
    while (at != TKT_FOLDED_ROOT && writer->status == TAKT_OK) {
        if (!append_name(folded, &paths[at]))
            return TAKT_NO_MEMORY;
        put_line(folded, paths[at].value, writer);
        uint32_t child = paths[at].first_child;
        at = child != TKT_FOLDED_ROOT ? child : next_path(folded, at);
    }
    return TAKT_OK;
}
