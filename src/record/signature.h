/* The name of a function in what __PRETTY_FUNCTION__ gives: "physics::World::step" of
 * "virtual void physics::World::step(double) const". */
#ifndef TKT_RECORD_SIGNATURE_H
#define TKT_RECORD_SIGNATURE_H

#include <stddef.h>

/* Writes the name with its class and namespaces; return type, parameters, template arguments and
 * nameless namespaces go, and a lambda is "lambda" in its function. gcc's and clang's form. Returns
 * the length; 0, and `out` is undefined, when it has no room, or `text` is no signature. */
size_t tkt_signature_name(char *out, size_t size, const char *text);

#endif
