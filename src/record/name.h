/* Names that come at run time, and names of functions. */
#ifndef TKT_RECORD_NAME_H
#define TKT_RECORD_NAME_H

#include "record/log.h"

#include <stddef.h>
#include <string.h>

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

#endif
