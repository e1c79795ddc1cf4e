/* The functions of the reports, and the provenance line. Each function builds a document (table.h)
 * from a trace. If it fails, the caller still calls tkt_document_fini(). */
#ifndef TKT_REPORT_SHOW_H
#define TKT_REPORT_SHOW_H

#include "base/writer.h"
#include "report/reports.h"
#include "report/table.h"
#include "summary/advice.h"

#include <takt/trace.h>

#include <math.h>

/* ======== Provenance ======== */

/* Provenance says where a table's numbers come from and which data is missing. It is the last line
 * of a text table, or of several tables that are printed together. */

/* Writes a sentence that says how a trace is incomplete: "INCOMPLETE: the program was killed ...".
 * Empty for a complete trace. Returns out. */
#define TKT_ENDING_SIZE 512
const char *tkt_ending_text(char out[TKT_ENDING_SIZE], const takt_trace *trace);

/* Writes "backend none; clock tsc, ...; dropped 0; ..." and a newline. A line longer than `width`
 * is broken after a semicolon; SIZE_MAX: never. */
void tkt_put_provenance(tkt_writer *writer, const takt_trace *trace, size_t width);

/* The same as a JSON object. */
void tkt_put_provenance_json(tkt_writer *writer, const takt_trace *trace);

/* ======== Reports ======== */

typedef takt_status (*tkt_show_function)(tkt_document *document,
                                         const takt_report_options *options);

#define TKT_DECLARE_SHOW(name, when, description)                                                   \
    takt_status tkt_show_##name(tkt_document *document, const takt_report_options *options);
TKT_REPORTS(TKT_DECLARE_SHOW)

/* Parts of the summary. tkt_show_steps() shows the first one too. The second one also sets the
 * headline (show_advice.c). */
takt_status tkt_show_steps_table(tkt_document *document, const tkt_device_uses *uses);
takt_status tkt_show_advice(tkt_document *document, const tkt_advice_basis *basis);

/* Adds a note on how exactly times of host and devices can be compared. */
void tkt_show_device_uncertainty(tkt_document *document);

/* part / whole, or NaN if the whole is 0. */
static inline double tkt_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

/* For several reports of one trace: tkt_report_part() is takt_report() without the provenance line
 * of text and Markdown, which tkt_report_end() writes behind the last one. */
takt_status tkt_report_part(const takt_trace *trace, const char *name,
                            const takt_report_options *options, const takt_sink *sink);
takt_status tkt_report_end(const takt_trace *trace, const takt_report_options *options,
                           const takt_sink *sink);

/* One line about the report with this index, counted as in takt_report_name(). NULL past the
 * end. */
const char *tkt_report_description(size_t index);

/* The report's name as the library has it; NULL: there is no such report. */
const char *tkt_report_known(const char *name);

/* True for a report that a profiler prints only where a backend recorded devices. */
bool tkt_report_is_of_cuda(const char *name);

/* The p99 of `count` values for a cell. Fewer values than these have none: it would be the greatest
 * one, or nearly so. */
#define TKT_P99_LEAST 100
static inline uint64_t tkt_p99_cell(uint64_t count, uint64_t p99_ns)
{
    return count < TKT_P99_LEAST ? TKT_NO_VALUE : p99_ns;
}

/* The standard deviation for a cell; none for a single value. Values in a file may be wrong. */
static inline uint64_t tkt_deviation_cell(uint64_t count, double deviation)
{
    return count > 1 && deviation < 1e19 ? (uint64_t)(deviation + 0.5) : TKT_NO_VALUE;
}

/* The rounded mean; 0 if count is 0. */
static inline uint64_t tkt_mean(uint64_t total, uint64_t count)
{
    return count ? total / count + (total % count >= count - count / 2) : 0;
}

/* The largest of `count` values by their mean; NaN if there is none. */
static inline double tkt_imbalance(uint64_t most, uint64_t sum, uint64_t count)
{
    return sum ? (double)most * (double)count / (double)sum : NAN;
}

#endif
