/* takt/export.h - a trace rendered for a tool.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_EXPORT_H
#define TAKT_EXPORT_H

#include <takt/base.h>
#include <takt/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes `trace` in the format of that name: "perfetto" (Takt's own, which takt_trace_open()
 * reads), "chrome", "folded" and "folded-device" (scopes with the time of the host, or of what
 * devices did for them), "stacks" and "stacks-device" (the program's functions with the same),
 * "speedscope". TAKT_NOT_FOUND for an unknown name, TAKT_NO_SPANS, or what the sink returned. Any
 * thread. */
TAKT_API takt_status takt_export(const takt_trace *trace, const char *format,
                                 const takt_sink *sink);

/* How to write files. Start from TAKT_EXPORT_OPTIONS_INIT; a zero field means the default. */
typedef struct takt_export_options {
    size_t   struct_size; /* set by the initialiser */
    bool     gzip;        /* also chosen by a path that ends in .gz */
    uint64_t max_bytes;   /* of one Chrome file, unpacked; more goes into NAME.2.json; 0: all */
} takt_export_options;

#define TAKT_EXPORT_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_export_options)

/* Writes a file: first under a temporary name beside it, then renamed; a file that is there is
 * replaced. `error` may be NULL and says why not. */
TAKT_API takt_status takt_export_file(const takt_trace *trace, const char *format,
                                      const char *path, const takt_export_options *options,
                                      takt_error *error);

/* Writes the file or files of one output into `directory`, which is created: "perfetto", "chrome",
 * "folded" and so on, each also with ".gz", and "tensorboard", which lays out both
 * DIRECTORY/HOST_PID.TIME.pt.trace.json.gz and DIRECTORY/plugins/profile/TIME/HOST.trace.json.gz.
 * Files that are there already stay: the new one gets "-2", "-3" and so on into its name, behind
 * NAME.CYCLE. The first path is copied to `path` if that is not NULL. */
TAKT_API takt_status takt_export_output(const takt_trace *trace, const char *output,
                                        const char *directory, const takt_export_options *options,
                                        char *path, size_t path_size, takt_error *error);

/* Names of the formats, in order; NULL past the end. */
TAKT_API const char *takt_export_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
