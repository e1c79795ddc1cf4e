/* Chrome's JSON trace format, in the dialect of torch's Kineto, which chrome://tracing, Perfetto,
 * TensorBoard's PyTorch plugin and Holistic Trace Analysis read. docs/viewing.md says what each
 * of Takt's things becomes in it. */
#ifndef TKT_EXPORT_CHROME_H
#define TKT_EXPORT_CHROME_H

#include "base/writer.h"

#include <takt/trace.h>

/* A limit below this one is raised to it: metadata alone needs a good part of it. */
#define TKT_CHROME_MIN_BYTES (UINT64_C(16) << 10)

/* How to divide a trace that is too large for one file. Every file is valid by itself and holds
 * what began in one stretch of time. */
typedef struct tkt_chrome_parts {
    /* Of one file. Only a single event of over a KiB can make a file larger than that. */
    uint64_t max_bytes;

    /* Flushes the writer, ends the current file and lets the writer go on in file number `part`,
     * the first call being for 2. */
    takt_status (*next)(void *user, uint32_t part, tkt_writer *writer);
    void *user;
} tkt_chrome_parts;

/* Writes the whole trace. `parts` NULL: into one file, whatever its size. A failure of the sink
 * stays in the writer; TAKT_NO_MEMORY and failures of `next` are returned. */
takt_status tkt_chrome_export(const takt_trace *trace, tkt_writer *writer,
                              const tkt_chrome_parts *parts);

#endif
