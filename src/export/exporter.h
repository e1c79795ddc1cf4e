/* What an exporter is: one table entry that turns a trace into one tool's format. export.c holds
 * the table; perfetto.c, chrome.c and others provide its entries.
 *
 * Files of an output are called NAME.CYCLE and the exporter's suffix, with ".gz" behind it when
 * packed: "sph.0.pftrace", "sph.0.trace.json.gz", "sph.0.folded"; "sph.rank3.0.pftrace" where there
 * are several processes, "sph.0-2.pftrace" where the name is taken. NAME is the run's name with
 * everything but letters, digits, '.', '_', '-' and bytes above 127 replaced by '_'. A Chrome file
 * that reached its size limit goes on in "sph.0.trace.2.json", "sph.0.trace.3.json" and so on. */
#ifndef TKT_EXPORT_EXPORTER_H
#define TKT_EXPORT_EXPORTER_H

#include "base/writer.h"
#include "export/formats.h"
#include "trace/model.h"

#include <takt/export.h>
#include <takt/trace.h>

typedef struct tkt_exporter {
    const char *name;        /* "perfetto" */
    const char *description; /* one line */
    const char *suffix;      /* of file names, ".pftrace" */
    bool        needs_spans; /* without spans, fail with TAKT_NO_SPANS before writing */

    /* Writes the whole trace and leaves flushing to the caller. A failure of the sink may be left
     * in the writer, whose first status the caller returns; other failures are returned here. */
    takt_status (*write)(const takt_trace *trace, tkt_writer *writer);
} tkt_exporter;

#define TKT_DECLARE_EXPORTER(word, name) extern const tkt_exporter tkt_##word##_exporter;
TKT_FORMATS(TKT_DECLARE_EXPORTER)

/* One line on the format of that index, as takt_export_name() counts; NULL past the end. */
const char *tkt_export_description(size_t index);

takt_status tkt_perfetto_export(const takt_trace *trace, tkt_writer *writer); /* its `write` */

/* ======== Files ======== */

/* Files of an export: their names, and writing one trace into one or two places at once. */

#define TKT_OUTPUT_PATHS 2

/* The name of a file that may go on in further ones, and where their numbers go. The first file has
 * no number and the next ones have 2, 3, ...; unless first_number is not 0. */
typedef struct tkt_output_name {
    char    *path; /* without number; owned */
    size_t   stem; /* bytes before the number and its dot */
    uint64_t first_number;
    size_t   base; /* of a name that Takt has made up: bytes before "-2", where the name is taken;
                    * 0: the user's, which is replaced */
} tkt_output_name;

typedef struct tkt_output {
    const tkt_exporter *exporter;
    tkt_output_name     names[TKT_OUTPUT_PATHS];
    size_t              count;
    bool                is_gzip;
    uint64_t            max_bytes;
} tkt_output;

/* Whether takt_export_output() knows the name; if not, the error says which there are. */
bool tkt_output_is_known(const char *name, takt_error *error);

/* TAKT_NO_SPANS if the exporter needs them and the trace has none; before anything is created. */
takt_status tkt_output_check(const tkt_output *output, const takt_trace *trace, takt_error *error);

/* Writes the trace to all of the output's paths. Nothing is left behind of files that could not be
 * completed. The first file's path goes into `path`, which may be NULL. */
takt_status tkt_output_write(const tkt_output *output, const takt_trace *trace, char *path,
                             size_t path_size, takt_error *error);

void tkt_output_fini(tkt_output *output); /* also of a zeroed one */

/* "FOLDER/..."; an empty folder adds nothing. NULL when there is no memory. */
char *tkt_output_join(const char *folder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* tensorboard.c: the two names under `directory`, whose folders are created. */
takt_status tkt_tensorboard_names(const takt_trace *trace, const char *directory,
                                  tkt_output *output, takt_error *error);

#endif
