/* An exporter is one table entry that writes a trace in the format of one tool. export.c contains
 * the table; perfetto.c, chrome.c and other files define its entries.
 *
 * Files of an output are named NAME.CYCLE plus the exporter's suffix, and ".gz" if packed:
 * "sph.0.pftrace", "sph.0.trace.json.gz", "sph.0.folded". With several processes the name contains
 * the rank: "sph.rank3.0.pftrace". If the name is taken, a number is added: "sph.0-2.pftrace". NAME
 * is the run's name with '_' for all characters except letters, digits, '.', '_', '-' and bytes
 * above 127. A Chrome file that reaches its size limit continues in "sph.0.trace.2.json",
 * "sph.0.trace.3.json" and so on. */
#ifndef TKT_EXPORT_EXPORTER_H
#define TKT_EXPORT_EXPORTER_H

#include "base/writer.h"
#include "export/formats.h"
#include "trace/model.h"

#include <takt/export.h>
#include <takt/trace.h>

/* What to write, and how to divide a trace that is too large for one file. Each file is valid by
 * itself and covers one stretch of time. Zero: everything in one file. */
typedef struct tkt_export_choice {
    /* Limit for one file; 0: none. Only a single event larger than 1 KiB can exceed it. */
    uint64_t max_bytes;

    /* Flushes the writer, closes the current file and lets the writer continue in file number
     * `part`. The first call is for part 2. */
    takt_status (*next)(void *user, uint32_t part, tkt_writer *writer);
    void *user;

    const char *device; /* label of the only device to write; NULL: all */
    bool no_waits;      /* leave out waits for devices */
} tkt_export_choice;

typedef struct tkt_output tkt_output;

typedef struct tkt_exporter {
    const char *name;    /* "perfetto" */
    const char *suffix;  /* of file names, ".pftrace" */
    const char *no_gzip; /* why ".gz" is refused; NULL: it is not */
    bool packs_packets;  /* files get compressed packets of Perfetto */
    bool needs_spans;    /* without spans, fail with TAKT_NO_SPANS before writing */

    /* Writes the whole trace; the caller flushes. A failure of the sink may be left in the writer,
     * whose first status the caller returns. Other failures are returned here. */
    takt_status (*write)(const takt_trace *trace, tkt_writer *writer);

    /* The same for what was chosen. NULL: the format has no choices. TAKT_NOT_FOUND if the trace
     * has no such device. */
    takt_status (*write_choice)(const takt_trace *trace, tkt_writer *writer,
                                const tkt_export_choice *choice);

    /* Names the output's file, if its reader looks for a name, and creates its folder. NULL:
     * DIRECTORY/NAME.CYCLE. remove_folders() then removes the folders of a file that could not be
     * written, as far as they are empty; its `path` is NULL if the file has no name yet. */
    takt_status (*name_file)(const takt_trace *trace, const char *directory, tkt_output *output,
                             takt_error *error);
    void (*remove_folders)(const char *directory, const char *path);
} tkt_exporter;

#define TKT_DECLARE_EXPORTER(word, name, description)                                              \
    extern const tkt_exporter tkt_##word##_exporter;
TKT_FORMATS(TKT_DECLARE_EXPORTER)

takt_status tkt_perfetto_export(const takt_trace *trace, tkt_writer *writer); /* its `write` */

/* ======== Files ======== */

/* Names of an export's files, and writing a trace to them. */

/* Name of a file that may continue in further files, and the position of their numbers. If
 * first_number is 0, the first file has no number and the next ones have 2, 3, ... */
typedef struct tkt_output_name {
    char    *path; /* path without number; owned */
    size_t   stem; /* size of the part before the number and its dot */
    uint64_t first_number;
    size_t   base; /* of a name chosen by Takt: size of the part before "-2", which is added if the
                    * name is taken. 0: chosen by the user; an existing file is replaced */
} tkt_output_name;

struct tkt_output {
    const tkt_exporter *exporter;
    tkt_output_name     name;
    bool                is_gzip;
    bool                is_plain; /* a Perfetto file without compressed packets */
    uint64_t            max_bytes;
    const char         *device;   /* Chrome: only this one; NULL: all. Borrowed */
    bool                no_waits; /* Chrome: without waits */
    uint32_t           *files;    /* counts up by those written; NULL: nobody asks. Borrowed */
};

/* True if takt_export_output() knows the name. Otherwise the error lists the known names. */
bool tkt_output_is_known(const char *name, takt_error *error);

/* TAKT_NO_SPANS if the exporter needs spans and the trace has none. Call it before creating
 * files. */
takt_status tkt_output_check(const tkt_output *output, const takt_trace *trace, takt_error *error);

/* Writes the trace to the output's files. Removes files that could not be completed. Copies the
 * first file's path to `path`, which may be NULL. */
takt_status tkt_output_write(const tkt_output *output, const takt_trace *trace, char *path,
                             size_t path_size, takt_error *error);

void tkt_output_fini(tkt_output *output); /* accepts a zeroed struct */

/* Returns "FOLDER/..."; an empty folder adds nothing. The caller frees it with tkt_free(). NULL
 * without memory. */
char *tkt_output_join(const char *folder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The run's name, safe for a file name: no folders, no hidden files, and no characters with a
 * meaning for shells or terminals. Longer names are cut: file names have at most 255 bytes,
 * including suffixes. */
#define TKT_RUN_BYTES 129
void tkt_output_run(const char *name, char out[TKT_RUN_BYTES]);

#endif
