/* What events refer to by number: sites, names and texts, call stacks. */
#ifndef TKT_RECORD_SITE_H
#define TKT_RECORD_SITE_H

#include "record/log.h"

#include <takt/profiler.h>
#include <takt/scope.h>

#include <stddef.h>
#include <string.h>

/* ======== Sites ======== */

/* The registry of call sites and of texts that events refer to. A site gets its id at its first
 * recorded hit; equal sites (same text, same place) get equal ids, so that a scope in an inline
 * function is one site. What is registered is copied and stays for the life of the process. */

#define TKT_CATEGORIES 15 /* the top four bits of the mask word are for other things */

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
    uint32_t mark;    /* of a scope named at run time: the mark and the counter of that name; */
    uint32_t counter; /* atomic; 0: nobody has asked for it */
} tkt_site;

/* Gives `site` its id and mask bits, and returns the id; 0 when there is no room or no memory. */
uint32_t tkt_site_register(takt_site *site);

/* The id of a scope with a name of run time. */
uint32_t tkt_site_named(const char *name, takt_site_kind kind);

/* The mark or counter that has the name of that scope; 0 as above. The first does not make one. */
uint32_t tkt_site_known_twin(uint32_t scope, takt_site_kind kind);
uint32_t tkt_site_twin(uint32_t scope, takt_site_kind kind);

/* The registered site; `id` came from one of the functions above. Any thread. */
const tkt_site *tkt_site_get(uint32_t id);

/* Calls both for everything that is registered, with the registry's lock held. */
void tkt_site_visit(void (*site)(uint32_t id, const tkt_site *site),
                    void (*text)(uint32_t id, tkt_text text));

/* The id of a value has this bit, then the number of its generation: none that was forgotten is
 * taken for a later one. Names have ids below. */
#define TKT_VALUE                0x80000000u
#define TKT_VALUE_BITS           24
#define TKT_VALUE_INDEX(id)      ((id) & ((1u << TKT_VALUE_BITS) - 1))
#define TKT_VALUE_GENERATION(id) ((id) >> TKT_VALUE_BITS)

/* Interns a name; 0, which stands for "", when there is no memory. Any thread. */
uint32_t tkt_text_intern(const char *text);
tkt_text tkt_text_get(uint32_t id);

/* The same for the value of an argument, which is forgotten when no chunk is kept any more.
 * `is_own`: the id stands for this text, and not for all that found no room. */
uint32_t tkt_text_intern_value(const char *text, bool *is_own);
uint32_t tkt_value_generation(void); /* counts how often values were forgotten; no lock */
void tkt_site_forget_values(void);

/* Names that come at run time may take a quarter of that, and so may values. Later ones are one
 * name, "(more names)", and counted. */
void tkt_site_limit(uint64_t max_bytes);

/* Forgets all, when nothing of the program can come any more. */
void tkt_site_free_all(void);

/* The mask of all categories at levels up to `level`, without those that are switched off. */
uint64_t tkt_site_mask(uint32_t level, const takt_category_switch *switches, size_t count);

/* ======== Names ======== */

/* Names and texts that come at run time. Each thread remembers those that it used lately, by their
 * address and by their content, so that only a name that is new to the thread is looked up in the
 * table that all threads share, under a lock. */

/* Two places for each hash, so that two names which are used in turn do not push each other out. */
static inline tkt_cached_name *tkt_name_places(tkt_thread_log *log, const char *name)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15); /* Knuth, 6.4 */
    uint64_t hash = (uintptr_t)name * golden;
    /* Names of an array come at equal distances: one product alone may put most in one place. */
    hash = (hash ^ hash >> 32) * golden;
    return &log->names[(hash >> (64 - TKT_NAME_BITS)) * 2];
}

/* The address alone says nothing: the text there may be another by now. */
static inline bool tkt_name_is(const tkt_cached_name *at, const char *name, takt_site_kind kind)
{
    return at->address == name && at->kind == kind && strcmp(at->text, name) == 0;
}

/* The id of the site of that name and kind if the thread remembers the address, or 0. */
static inline uint32_t tkt_name_at(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    const tkt_cached_name *at = tkt_name_places(log, name);
    at += at->address != name;
    return tkt_name_is(at, name, kind) ? at->site : 0;
}

/* The same by content; not NULL. */
uint32_t tkt_name_recent(tkt_thread_log *log, const char *name, takt_site_kind kind);

/* The id; 0, and the loss is counted, when there is none left. NULL reads as "(null)". */
uint32_t tkt_name_site(tkt_thread_log *log, const char *name, takt_site_kind kind);

/* The same for the value of an argument, which is a text with an id: see tkt_text_intern_value(). */
uint32_t tkt_text_recent(tkt_thread_log *log, const char *text);
uint32_t tkt_text_of_value(tkt_thread_log *log, const char *text);

/* ======== Names of functions ======== */

/* The name of a function in what __PRETTY_FUNCTION__ gives: "physics::World::step" of
 * "virtual void physics::World::step(double) const". */

/* Writes the name with its class and namespaces; return type, parameters, template arguments and
 * nameless namespaces go, and a lambda is "lambda" in its function. gcc's and clang's form. Returns
 * the length; 0, and `out` is undefined, when it has no room, or `text` is no signature. */
size_t tkt_signature_name(char *out, size_t size, const char *text);

/* ======== Call stacks ======== */

/* The call stacks at which scopes begin and calls are made. Equal ones are one for the life of the
 * process, so that an event says its stack's number; what they hold is copied, because a plugin's
 * code may be gone when its spans are looked at. */

#define TKT_STACK_FRAMES 128u /* what lies further out is left out */

typedef struct tkt_stack_place {
    uint32_t  object; /* text id of its path; 0: in none that is known */
    uintptr_t base;
} tkt_stack_place;

/* A call stack, innermost first. */
typedef struct tkt_call_stack {
    uint32_t  number;
    uint32_t  count;
    tkt_stack_place *places; /* of the addresses */
    uintptr_t addresses[];   /* that are returned to */
} tkt_call_stack;

/* The number of the stack that the calling thread has from `caller` outwards: the return address of
 * the function that the program called, so that none of Takt's own frames are in it. 0 while no
 * stacks are recorded, and, counted as a loss, where there is no room for it. */
uint32_t tkt_stack_here(tkt_thread_log *log, const void *caller);

/* Writes which stack the innermost open scope has, which began at `begin_ticks`. */
void tkt_stack_write(tkt_thread_log *log, uint32_t stack, uint64_t begin_ticks);

/* Forgets all, when nobody records or looks any more. */
void tkt_stack_free_all(void);

/* The stack of that number, which stays. Any thread. */
const tkt_call_stack *tkt_stack_get(uint32_t number);

/* Calls it for every stack that is known, with a lock held. */
void tkt_stack_visit(void (*visit)(const tkt_call_stack *stack));

#endif
