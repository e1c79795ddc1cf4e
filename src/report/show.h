/* The functions of the reports, and the provenance line. Each function builds a document (table.h)
 * from a trace. If it fails, the caller still calls tkt_document_fini(). */
#ifndef TKT_REPORT_SHOW_H
#define TKT_REPORT_SHOW_H

#include "base/writer.h"
#include "report/reports.h"
#include "report/table.h"
#include "summary/advice.h"
#include "summary/gaps.h"

#include <takt/trace.h>

#include <math.h>

/* ======== Provenance ======== */

/* Provenance says where a table's numbers come from and which data is missing. It is the last line
 * of a text table, or of several tables that are printed together. */

/* Writes a sentence that says how a trace is incomplete: "INCOMPLETE: the program was killed ...".
 * Empty for a complete trace. Returns out. */
#define TKT_ENDING_SIZE 512
const char *tkt_ending_text(char out[TKT_ENDING_SIZE], const takt_trace *trace);

/* The wall time that sums are shares of; 0 if sums over the recording are not known. */
static inline uint64_t tkt_known_wall_ns(const takt_trace *trace)
{
    return tkt_trace_lacks_time(trace) ? 0 : tkt_wall_ns(&trace->facts);
}

/* Writes what the recording cost, "up to 3.801us (0.03% of wall time)" or "unknown". Returns out. */
#define TKT_COST_SIZE (2 * TKT_VALUE_SIZE + 32)
const char *tkt_cost_text(char out[TKT_COST_SIZE], const takt_trace *trace);

/* "longest moment 12us": of takt_facts.cost_longest_ns; "" if that is unknown. */
const char *tkt_longest_text(char out[TKT_COST_SIZE], const takt_trace *trace);

/* True for a trace that takt recover made of a recording without an end. */
bool tkt_is_recovered(const takt_trace *trace);

/* Writes "backend none; clock tsc, ...; dropped 0; ..." and a newline. A line longer than `width`
 * is broken after a semicolon; SIZE_MAX: never. */
void tkt_put_provenance(tkt_writer *writer, const takt_trace *trace, size_t width);

/* The same as a JSON object. */
void tkt_put_provenance_json(tkt_writer *writer, const takt_trace *trace);

/* Follows Takt's own cost, which is a sum: ", summed over threads", or "" if one thread recorded or the
 * cost is unknown. */
const char *tkt_over_threads(const takt_trace *trace);

/* ======== Reports ======== */

/* For a column that is sought, the function only passes what its tables can have to TKT_SEEK(). */
typedef takt_status (*tkt_show_function)(tkt_document *document,
                                         const takt_report_options *options);

#define TKT_DECLARE_SHOW(name, when, description)                                                  \
    takt_status tkt_show_##name(tkt_document *document, const takt_report_options *options);
TKT_REPORTS(TKT_DECLARE_SHOW)

/* Parts of the summary. tkt_show_steps() shows the first one too. The second one also sets the
 * headline (show_advice.c). */
takt_status tkt_show_steps_table(tkt_document *document, const tkt_device_uses *uses);
takt_status tkt_show_advice(tkt_document *document, const tkt_advice_basis *basis);

/* Describes all steps of the run: "1000 steps, 16.300s, median 16.012ms, slowest 417 (88.000ms)".
 * Empty without steps. Returns out. */
#define TKT_RUN_LINE 256
const char *tkt_run_line(char out[TKT_RUN_LINE], const takt_trace *trace);

/* Adds its figures for machines. */
void tkt_show_run_facts(tkt_document *document);

/* Adds a note on how exactly times of host and devices can be compared. */
void tkt_show_device_uncertainty(tkt_document *document);

/* The value of a cell of a device or stream that may be NULL: unknown if it is not known when that
 * was idle (show_gaps.c). */
uint64_t tkt_if_known(const tkt_idle *idle, uint64_t value);

/* How much of the recording that is known in, in percent; NAN: in all of it (show_gaps.c). */
double tkt_known_cell(const tkt_gaps *gaps, const tkt_idle *idle);

/* Explains the column "pieces". */
void tkt_explain_pieces(tkt_document *document, bool has_some);

/* Adds a note if calls stand under "(other paths)" (show_tree.c). */
void tkt_note_other_paths(tkt_document *document);

/* Adds a note if only the first `most` of so many names have percentiles (show_kernels.c). */
void tkt_note_more_medians(tkt_document *document, size_t names, size_t most);

/* Sets the headline (show_headline.c). `advice` is that of tkt_advice_of(). */
void tkt_show_headline(tkt_document *document, const tkt_advice_basis *basis,
                       const tkt_advice *advice, size_t count);

/* Adds a note if scopes are missing so that threads cannot be compared (show_threads.c). */
void tkt_note_mixed_times(tkt_document *document);

/* Adds a note if a summary has threads that it does not list, and the effect of that
 * (show_threads.c). */
void tkt_note_more_threads(tkt_document *document, const char *effect);

/* Fills five cells: mean, median, p99, least and greatest of durations (show_kernels.c). */
void tkt_show_durations(tkt_cell *cells, const tkt_stats *stats, const tkt_histogram *histogram);

/* For several reports: tkt_report_part() is takt_report() of a part of the report. tkt_report_end()
 * writes the provenance line behind the last report of one trace. */
takt_status tkt_report_part(const takt_trace *trace, const char *name, tkt_part part,
                            const takt_report_options *options, const takt_sink *sink);
takt_status tkt_report_end(const takt_trace *trace, const takt_report_options *options,
                           const takt_sink *sink);

/* The report's name as the library has it; NULL: there is no such report. */
const char *tkt_report_known(const char *name);

/* The key of a column of a known report, by key or title; whether a trace has it depends on the trace.
 * NULL: the report never has such a column. */
const char *tkt_report_column(const char *report, const char *column);

/* True for a report that a profiler prints only where a backend recorded devices. */
bool tkt_report_is_of_cuda(const char *name);

#endif
