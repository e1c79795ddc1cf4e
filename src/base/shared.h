/* A new file of a fixed size that is mapped shared: what the process stores in it stays in the file
 * however the process ends. */
#ifndef TKT_BASE_SHARED_H
#define TKT_BASE_SHARED_H

#include <takt/base.h>

/* Creates PATH and the ending, or PATH-2 and so on where a file stands there already, and maps it.
 * All its blocks are reserved first: a full disk is an error here, and no SIGBUS later. Others may
 * never write it. Writes the path into `name`. The memory is zero. */
takt_status tkt_shared_create(const char *path, const char *ending, size_t bytes, char *name,
                              size_t name_size, void **memory, takt_error *error);

/* Removes the file; its memory stays. */
void tkt_shared_remove(const char *name);

void tkt_shared_unmap(void *memory, size_t bytes);

#endif
