/* Opens the traces of other profilers. What a file does not tell is unknown in the trace, too:
 * docs/importing.md has what becomes of what. */
#ifndef TKT_IMPORT_IMPORT_H
#define TKT_IMPORT_IMPORT_H

#include <takt/trace.h>

/* Opens a file that Takt wrote, torch.profiler's JSON, Takt's Chrome files (all three also packed
 * with gzip), or what `nsys export --type sqlite` wrote. Recognises them by their content. The
 * caller frees *out with takt_trace_release(). Fails as takt_trace_open() does. With a trace,
 * error->message is empty, or tells what was left out. `host_devices`: as tkt_trace_read_input()
 * has it, for a file that Takt wrote. */
takt_status imp_open(const char *path, const char *host_devices, takt_trace **out,
                     takt_error *error);

#endif
