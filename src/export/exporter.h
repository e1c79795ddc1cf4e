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

#include <takt/trace.h>

typedef struct tkt_exporter {
    const char *name;        /* "perfetto" */
    const char *description; /* one line */
    const char *suffix;      /* of file names, ".pftrace" */
    bool        needs_spans; /* a trace without spans is TAKT_NO_SPANS before anything is written */

    /* Writes the whole trace and leaves flushing to the caller. A failure of the sink may be left
     * in the writer, whose first status the caller returns; other failures are returned here. */
    takt_status (*write)(const takt_trace *trace, tkt_writer *writer);
} tkt_exporter;

#define TKT_DECLARE_EXPORTER(word, name) extern const tkt_exporter tkt_##word##_exporter;
TKT_FORMATS(TKT_DECLARE_EXPORTER)

/* One line on the format of that index, as takt_export_name() counts; NULL past the end. */
const char *tkt_export_description(size_t index);

takt_status tkt_perfetto_export(const takt_trace *trace, tkt_writer *writer); /* its `write` */

#endif
