/* takt/export.h - writes a trace in the format of another tool, to a sink or to files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_EXPORT_H
#define TAKT_EXPORT_H

#include <takt/base.h>
#include <takt/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes `trace` to `sink` in one of these formats:
 *
 * - "perfetto": Takt's own format, which takt_trace_open() reads;
 * - "chrome": the JSON of Chrome's trace viewer;
 * - "folded", "folded-device": scopes with host time, or with the device time of work they
 *   launched;
 * - "stacks", "stacks-device": the program's functions with the same times;
 * - "speedscope";
 * - "xplane": XSpace, which XProf reads, at most 2 GiB.
 *
 * TAKT_BAD_ARGUMENT for NULL; TAKT_NOT_FOUND for an unknown format; TAKT_NO_SPANS if the format
 * needs spans and the trace has none; TAKT_UNSUPPORTED for a trace too large for the format;
 * TAKT_NO_MEMORY; otherwise the sink's failure. Any thread. */
TAKT_API takt_status takt_export(const takt_trace *trace, const char *format,
                                 const takt_sink *sink);

/* Options for files. Start from TAKT_EXPORT_OPTIONS_INIT; a zero field means the default. */
typedef struct takt_export_options {
    size_t   struct_size; /* set by the initialiser */
    bool     gzip;        /* a path that ends in .gz has the same effect */
    uint64_t max_bytes;   /* size of one Chrome file, unpacked; the rest goes into NAME.2.json and
                           * so on; 0: no limit */
    const char *device;   /* Chrome: of the devices only this one, "cuda:0". Its file counts as a
                           * rank of its own: rank * devices + number of the device. NULL: all */
    bool     no_waits;    /* Chrome: without cuda_sync slices, which Holistic Trace Analysis counts
                           * as time of the device */
    bool     plain;       /* Perfetto: leave packets uncompressed. Files are compressed by default,
                           * if Takt has zlib; takt_export() never compresses */
    uint32_t *files;      /* Takt adds the number of files written to *files; may be NULL */
} takt_export_options;

#define TAKT_EXPORT_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_export_options)

/* Writes the trace to one file, replacing an existing one. Takt writes a temporary file beside
 * `path` and then renames it. Statuses are those of takt_export(), or TAKT_IO_ERROR. Besides,
 * TAKT_BAD_ARGUMENT is for an empty path and wrong options; TAKT_NOT_FOUND for a `device` that the
 * trace lacks, and for a compressed "xplane"; TAKT_UNSUPPORTED for `gzip` if Takt lacks zlib.
 * `error`, which may be NULL, has the reason. Any thread. */
TAKT_API takt_status takt_export_file(const takt_trace *trace, const char *format,
                                      const char *path, const takt_export_options *options,
                                      takt_error *error);

/* Writes the files of one output into `directory`, which is created if need be. Outputs are the
 * formats of takt_export(), all but "xplane" also with ".gz", and "tensorboard". "xplane" writes
 * DIRECTORY/plugins/profile/NAME.CYCLE/HOST.xplane.pb; "tensorboard" writes that and
 * DIRECTORY/HOST_PID.TIME.pt.trace.json.gz. Existing files are kept: the new name gets "-2", "-3"
 * and so on after NAME.CYCLE. The first path is copied to `path` unless `path` is NULL. Fails as
 * takt_export_file() does. Any thread. */
TAKT_API takt_status takt_export_output(const takt_trace *trace, const char *output,
                                        const char *directory, const takt_export_options *options,
                                        char *path, size_t path_size, takt_error *error);

/* Returns the name of a format, by index; NULL past the end. Static. */
TAKT_API const char *takt_export_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
