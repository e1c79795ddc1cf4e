/* Files of an export: their names, and writing one trace into one or two places at once. */
#ifndef TKT_EXPORT_OUTPUT_H
#define TKT_EXPORT_OUTPUT_H

#include "export/exporter.h"

#include "trace/model.h"

#include <takt/export.h>

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
