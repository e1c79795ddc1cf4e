/* The reports' functions: each builds a document from a trace, see table.h. On failure the caller
 * still calls tkt_document_fini(). */
#ifndef TKT_REPORT_SHOW_H
#define TKT_REPORT_SHOW_H

#include "base/writer.h"
#include "report/reports.h"
#include "report/table.h"
#include "summary/advice.h"

#include <takt/trace.h>

#include <math.h>

/* ======== Where numbers come from ======== */

/* Where a table's numbers come from and what is missing from them: the last line of every table. */

/* What is missing at the end, for people: "INCOMPLETE: the program was killed ...". Empty for a whole
 * trace. Returns out. */
#define TKT_ENDING_SIZE 512
const char *tkt_ending_text(char out[TKT_ENDING_SIZE], const takt_trace *trace);

/* "backend none; clock tsc, ...; dropped 0; ...", one line, broken at a semicolon only where it is
 * longer than `width` (SIZE_MAX: never). Ends with a newline. */
void tkt_put_provenance(tkt_writer *writer, const takt_trace *trace, size_t width);

/* The same as a JSON object. */
void tkt_put_provenance_json(tkt_writer *writer, const takt_trace *trace);

/* ======== Reports ======== */

typedef takt_status (*tkt_show_function)(tkt_document *document,
                                         const takt_report_options *options);

#define TKT_DECLARE_SHOW(name, when, description)                                                   \
    takt_status tkt_show_##name(tkt_document *document, const takt_report_options *options);
TKT_REPORTS(TKT_DECLARE_SHOW)

/* Parts of the summary; the first is a report of its own too. */
takt_status tkt_show_steps_table(tkt_document *document, const tkt_device_uses *uses);
void tkt_show_advice(tkt_document *document, const tkt_advice_basis *basis);

/* Adds the sentence how exactly times of host and devices can be compared. */
void tkt_show_device_uncertainty(tkt_document *document);

/* A share; NaN where the whole is 0. */
static inline double tkt_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

/* One line on the report of that index, as takt_report_name() counts; NULL past the end. */
const char *tkt_report_description(size_t index);

/* True for a report that a profiler prints only where a backend recorded devices. */
bool tkt_report_is_of_cuda(const char *name);

/* The mean, rounded; 0 of nothing. */
static inline uint64_t tkt_mean(uint64_t total, uint64_t count)
{
    return count ? total / count + (total % count >= count - count / 2) : 0;
}

#endif
