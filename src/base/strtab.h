/* Interned strings: equal bytes get equal ids, and pointers stay valid until fini. Id 0 is "".
 * Not locked: one thread at a time. */
#ifndef TKT_BASE_STRTAB_H
#define TKT_BASE_STRTAB_H

#include "base/array.h"
#include "base/arena.h"
#include "base/hash.h"

#include <takt/base.h>

typedef struct tkt_string {
    const char *bytes; /* NUL-terminated; may contain NUL before its end */
    size_t      size;
} tkt_string;

typedef struct tkt_strtab {
    tkt_arena bytes;
    TKT_ARRAY(tkt_string);
    uint64_t *slots; /* upper half of the hash << 32 | id + 1; open addressing */
    size_t    slot_count;
} tkt_strtab;

#define TKT_STRTAB_FULL UINT32_MAX

takt_status tkt_strtab_init(tkt_strtab *strings);
void tkt_strtab_fini(tkt_strtab *strings); /* also of a zeroed one */

/* The id of these bytes, or TKT_STRTAB_FULL when there is no memory. */
uint32_t tkt_strtab_intern(tkt_strtab *strings, const char *bytes, size_t size);

/* The same for a C string; NULL reads as "(null)". */
uint32_t tkt_strtab_intern_text(tkt_strtab *strings, const char *text);

static inline const char *tkt_strtab_text(const tkt_strtab *strings, uint32_t id)
{
    return strings->items[id].bytes;
}

#endif
