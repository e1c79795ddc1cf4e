/* The names of a recording, in the order in which they got their ids. */
#include "trace/recovery.h"

#include "record/slot.h"

#include <string.h>

/* What is left of an entry's payload. */
typedef struct rest {
    const char *at;
    size_t size;
} rest;

static bool take(rest *from, void *into, size_t size)
{
    if (from->size < size)
        return false;
    memcpy(into, from->at, size);
    from->at += size;
    from->size -= size;
    return true;
}

static bool take_text(rest *from, tkt_text *out)
{
    const char *end = memchr(from->at, 0, from->size);
    if (!end)
        return false;
    *out = (tkt_text){from->at, (size_t)(end - from->at)};
    from->size -= out->size + 1;
    from->at = end + 1;
    return true;
}

/* Makes room for item `index`; all before it are zero if they are not set. An index beyond what
 * the names can have entries for is refused: ids count up. */
#define REACH(r, array, index) ((index) <= (r)->head.names.count / 16 && reach_(r, (array), index))
#define reach_(r, array, index)                                                                    \
    ((index) < (array)->count ||                                                                   \
     (TKT_ARRAY_RESERVE(array, (size_t)(index) + 1)                                                \
          ? (memset((array)->items + (array)->count, 0,                                            \
                    ((size_t)(index) + 1 - (array)->count) * sizeof *(array)->items),              \
             (array)->count = (size_t)(index) + 1, true)                                           \
          : ((r)->is_short = true, false)))

static void read_site(tkt_recovery *r, rest from)
{
    tkt_mapping_site facts;
    tkt_site site = {.name = {NULL, 0}};
    if (!take(&from, &facts, sizeof facts) || facts.id == 0 || facts.id > TKT_SITE_MAX ||
        facts.kind > TAKT_SITE_CALL || !take_text(&from, &site.name) ||
        !take_text(&from, &site.category) || !take_text(&from, &site.file) ||
        !take_text(&from, &site.function) || !take_text(&from, &site.device))
        return;
    site.line = facts.line;
    site.filter = facts.filter;
    site.kind = facts.kind;
    site.level = facts.level;
    if (REACH(r, &r->source.sites, facts.id))
        r->source.sites.items[facts.id] = site;
}

static void read_text(tkt_recovery *r, rest from)
{
    uint64_t id;
    tkt_text text;
    if (take(&from, &id, sizeof id) && take_text(&from, &text) && id && id <= TKT_SITE_MAX &&
        REACH(r, &r->source.texts, id))
        r->source.texts.items[id] = text;
}

/* Nothing that is to be recovered refers to an earlier generation. */
static void read_value(tkt_recovery *r, rest from)
{
    uint64_t id;
    tkt_text text;
    if (!take(&from, &id, sizeof id) || !take_text(&from, &text) || id > UINT32_MAX)
        return;
    uint32_t index = TKT_VALUE_INDEX((uint32_t)id);
    if (TKT_VALUE_GENERATION((uint32_t)id) != TKT_VALUE_GENERATION(r->source.generation))
        r->source.values.count = 0;
    r->source.generation = (uint32_t)id;
    if (REACH(r, &r->source.values, index))
        r->source.values.items[index] = text;
}

static void read_stack(tkt_recovery *r, rest from)
{
    tkt_mapping_stack facts;
    if (!take(&from, &facts, sizeof facts) || facts.number == 0 || facts.count > TKT_STACK_FRAMES ||
        from.size < facts.count * sizeof(tkt_mapping_place) ||
        !REACH(r, &r->source.stacks, facts.number))
        return;
    tkt_call_stack *stack =
        tkt_arena_alloc(&r->memory, sizeof *stack + facts.count * sizeof *stack->addresses);
    tkt_stack_place *places =
        tkt_arena_alloc(&r->memory, (facts.count + 1) * sizeof *stack->places);
    if (!stack || !places) {
        r->is_short = true;
        return;
    }
    *stack = (tkt_call_stack){facts.number, facts.count, places};
    for (uint32_t i = 0; i < facts.count; i++) {
        tkt_mapping_place place;
        take(&from, &place, sizeof place);
        stack->addresses[i] = (uintptr_t)place.address;
        places[i] = (tkt_stack_place){place.object, (uintptr_t)place.base};
    }
    r->source.stacks.items[facts.number] = stack;
}

static void read_note(tkt_recovery *r, rest from)
{
    tkt_mapping_note note;
    if (take(&from, &note, sizeof note) && note.size <= from.size)
        tkt_recover_note(r, &note, from.at);
}

static void read_entry(tkt_recovery *r, uint32_t kind, rest payload)
{
    switch (kind) {
    case TKT_MAPPING_SITE:
        read_site(r, payload);
        break;
    case TKT_MAPPING_TEXT:
        read_text(r, payload);
        break;
    case TKT_MAPPING_VALUE:
        read_value(r, payload);
        break;
    case TKT_MAPPING_STACK:
        read_stack(r, payload);
        break;
    case TKT_MAPPING_RUN:
        take_text(&payload, &r->run);
        break;
    case TKT_MAPPING_DEVICE:
        read_note(r, payload);
        break;
    default: /* of a later version */
        break;
    }
}

void tkt_recover_names(tkt_recovery *r)
{
    rest names = {tkt_recovery_item(r, &r->head.names, 0), r->head.names.count};
    tkt_mapping_entry entry;
    while (take(&names, &entry, sizeof entry)) {
        size_t payload = entry.bytes - sizeof entry;
        if (entry.kind == TKT_MAPPING_END || entry.bytes < sizeof entry || payload > names.size)
            break;
        read_entry(r, entry.kind, (rest){names.at, payload});
        names.at += payload;
        names.size -= payload;
    }
}
