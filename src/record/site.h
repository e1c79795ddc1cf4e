/* Things that events refer to by number: sites, names, texts and call stacks. */
#ifndef TKT_RECORD_SITE_H
#define TKT_RECORD_SITE_H

#include "record/log.h"

#include <takt/profiler.h>
#include <takt/scope.h>

#include <stddef.h>
#include <string.h>

/* ======== Sites ======== */

/* The registry of call sites and texts. A site gets its id at its first recorded hit. Equal sites
 * (same text, same place) get equal ids, so a scope in an inline function is one site. The registry
 * copies what it is given, and keeps it for the life of the process; only values are forgotten. */

#define TKT_CATEGORIES 15 /* four bits each; the top four bits of the mask word serve otherwise */

typedef struct tkt_text {
    const char *bytes; /* NUL-terminated */
    size_t      size;
} tkt_text;

/* A registered site. */
typedef struct tkt_site {
    tkt_text name;
    tkt_text category; /* "" for the default one */
    tkt_text file;
    tkt_text function;
    tkt_text device;
    uint32_t name_id; /* text id of the name */
    uint32_t line;
    uint32_t filter;
    uint8_t  kind; /* takt_site_kind */
    uint8_t  level;
    uint64_t bits; /* of the mask word */
    uint32_t mark;    /* atomic; of a scope: id of the mark with its name; 0: none yet */
    uint32_t counter; /* the same for the counter */
} tkt_site;

/* Gives `site` its id and mask bits, and returns the id; 0 when ids or memory ran out. */
uint32_t tkt_site_register(takt_site *site);

/* The id of the site with that run-time name. */
uint32_t tkt_site_named(const char *name, takt_site_kind kind);

/* The id of the mark or counter with the name of that scope. The first returns 0 if there is none
 * yet; the second makes one, and returns 0 when ids or memory ran out. */
uint32_t tkt_site_known_twin(uint32_t scope, takt_site_kind kind);
uint32_t tkt_site_twin(uint32_t scope, takt_site_kind kind);

/* The registered site; `id` came from one of the functions above. Any thread. */
const tkt_site *tkt_site_get(uint32_t id);

/* Calls `site` and `text` for everything in the registry, with the registry's lock held. */
void tkt_site_visit(void (*site)(uint32_t id, const tkt_site *site),
                    void (*text)(uint32_t id, tkt_text text));

/* The id of a value has this bit, and the number of its generation: so the id of a forgotten value
 * never denotes a later one. Ids of names do not have the bit. */
#define TKT_VALUE                0x80000000u
#define TKT_VALUE_BITS           24
#define TKT_VALUE_INDEX(id)      ((id) & ((1u << TKT_VALUE_BITS) - 1))
#define TKT_VALUE_GENERATION(id) ((id) >> TKT_VALUE_BITS)

/* Interns a name; 0, which stands for "", without memory. Any thread. */
uint32_t tkt_text_intern(const char *text);
tkt_text tkt_text_get(uint32_t id);

/* The same for the value of an argument. Values are forgotten when no chunk is kept any more.
 * `is_own`: false when there was no room, and the id stands for "(more names)". */
uint32_t tkt_text_intern_value(const char *text, bool *is_own);
uint32_t tkt_value_generation(void); /* counts how often values were forgotten; no lock */
void tkt_site_forget_values(void);

/* Run-time names may take a quarter of `max_bytes`, and so may values. Later ones are counted, and
 * share the name "(more names)". */
void tkt_site_limit(uint64_t max_bytes);

/* Forgets all sites and texts. The program may not call any more. */
void tkt_site_free_all(void);

/* The mask of all categories at levels up to `level`, minus those that are switched off. */
uint64_t tkt_site_mask(uint32_t level, const takt_category_switch *switches, size_t count);

/* ======== Names ======== */

/* Run-time names and texts. Each thread remembers recent ones by address and by content. Only names
 * that are new to the thread are looked up in the shared table, under a lock. */

/* Returns the first of two places for that hash: two names used in turn do not evict each other. */
static inline tkt_cached_name *tkt_name_places(tkt_thread_log *log, const char *name)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15); /* Knuth, 6.4 */
    uint64_t hash = (uintptr_t)name * golden;
    /* Names in an array have equal distances: one product alone may put most in one place. */
    hash = (hash ^ hash >> 32) * golden;
    return &log->names[(hash >> (64 - TKT_NAME_BITS)) * 2];
}

/* True if `at` holds that name. The address is not enough: the text there may have changed. */
static inline bool tkt_name_is(const tkt_cached_name *at, const char *name, takt_site_kind kind)
{
    return at->address == name && at->kind == kind && strcmp(at->text, name) == 0;
}

/* The id of the site with that name and kind if the thread remembers the address; otherwise 0. */
static inline uint32_t tkt_name_at(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    const tkt_cached_name *at = tkt_name_places(log, name);
    at += at->address != name;
    return tkt_name_is(at, name, kind) ? at->site : 0;
}

/* The same by content; `name` is not NULL. */
uint32_t tkt_name_recent(tkt_thread_log *log, const char *name, takt_site_kind kind);

/* The id; 0, and counts the loss, when ids ran out. NULL reads as "(null)". */
uint32_t tkt_name_site(tkt_thread_log *log, const char *name, takt_site_kind kind);

/* The same two for the value of an argument, see tkt_text_intern_value(). The result is a text
 * id. */
uint32_t tkt_text_recent(tkt_thread_log *log, const char *text);
uint32_t tkt_text_of_value(tkt_thread_log *log, const char *text);

/* ======== Names of functions ======== */

/* Extracts a function's name from __PRETTY_FUNCTION__: "physics::World::step" from "virtual void
 * physics::World::step(double) const". */

/* Writes the name with its class and namespaces, without return type, parameters, template
 * arguments and anonymous namespaces; a lambda becomes "lambda" in its function. Understands gcc's
 * and clang's forms. Returns the length. Returns 0 and leaves `out` undefined when `size` is too
 * small, or when `text` is not a signature. */
size_t tkt_signature_name(char *out, size_t size, const char *text);

/* ======== Call stacks ======== */

/* The call stacks of scopes and calls. Equal stacks are stored once for the life of the process, so
 * an event refers to its stack by number. The table copies what it needs of the code's location: a
 * plugin may be unloaded by the time somebody looks at its spans. */

#define TKT_STACK_FRAMES 128u /* frames further out are left out */

typedef struct tkt_stack_place {
    uint32_t  object; /* text id of its path; 0: unknown */
    uintptr_t base;
} tkt_stack_place;

/* A call stack, innermost first. */
typedef struct tkt_call_stack {
    uint32_t  number;
    uint32_t  count;
    tkt_stack_place *places; /* of the addresses */
    uintptr_t addresses[];   /* return addresses */
} tkt_call_stack;

/* The number of the calling thread's stack from `caller` outwards. `caller` is the return address
 * of the function that the program called, so the stack has no frames of Takt's. Returns 0 while no
 * stacks are recorded; also, and counts the loss, when there is no room. */
uint32_t tkt_stack_here(tkt_thread_log *log, const void *caller);

/* Writes that the innermost open scope, begun at `begin_ticks`, has that stack. */
void tkt_stack_write(tkt_thread_log *log, uint32_t stack, uint64_t begin_ticks);

/* Forgets all stacks. Nobody may record or read any more. */
void tkt_stack_free_all(void);

/* The stack of that number, or NULL. It stays. Any thread. */
const tkt_call_stack *tkt_stack_get(uint32_t number);

/* Calls `visit` for every known stack, with a lock held. */
void tkt_stack_visit(void (*visit)(const tkt_call_stack *stack));

#endif
