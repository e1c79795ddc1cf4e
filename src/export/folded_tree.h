/* A tree of paths and its folded form, the input of flame graphs: one line a path, outermost name
 * first, with the path's own value.
 *
 *     step;forces;neighbours 1234567
 *
 * It is the format of Brendan Gregg's flamegraph.pl, which speedscope and torch's export_stacks()
 * share. Values are whole nanoseconds: such tools sum integers of any unit, and microseconds would
 * lose the short scopes that flame graphs are there to add up. Paths without a value are left out.
 * Characters that end a name or a line become '_', as torch does it. Siblings stand in the order of
 * their names, so that equal programs give equal files. */
#ifndef TKT_EXPORT_FOLDED_TREE_H
#define TKT_EXPORT_FOLDED_TREE_H

#include "base/writer.h"
#include "trace/model.h"

#define TKT_FOLDED_ROOT  0u
#define TKT_FOLDED_OTHER UINT32_MAX /* paths that were too many */
#define TKT_FOLDED_FRAME 0x80000000u /* and the number of a frame whose function is not known */

typedef struct tkt_folded_path {
    uint64_t value;
    size_t   text_begin; /* of its name in the path's text */
    uint32_t name;
    uint32_t parent;
    uint32_t next;        /* sibling by name */
    uint32_t first_child; /* by name */
} tkt_folded_path;

typedef struct tkt_folded {
    const takt_trace *trace;
    tkt_map numbers; /* parent << 32 | name -> path */
    TKT_ARRAY_OF(tkt_folded_path) paths; /* 0 is the root */
    TKT_ARRAY_OF(char) text;    /* of the current path */
} tkt_folded;

takt_status tkt_folded_init(tkt_folded *folded, const takt_trace *trace);

/* The path with that name behind `parent`, made if it is new; TKT_NO_NODE without memory. `name` is
 * a string, or one of the above. */
uint32_t tkt_folded_child(tkt_folded *folded, uint32_t parent, uint32_t name);

/* Writes all lines, once. */
takt_status tkt_folded_write(tkt_folded *folded, tkt_writer *writer);

void tkt_folded_fini(tkt_folded *folded);

#endif
