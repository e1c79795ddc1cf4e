/* The reports' functions: each builds a document from a trace, see table.h. On failure the caller
 * still calls tkt_document_fini(). */
#ifndef TKT_REPORT_SHOW_H
#define TKT_REPORT_SHOW_H

#include "report/table.h"
#include "summary/advice.h"

#include <math.h>

typedef takt_status (*tkt_show_function)(tkt_document *document,
                                         const takt_report_options *options);

takt_status tkt_show_summary(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_scopes(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_tree(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_timeline(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_activities(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_devices(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_steps(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_memory(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_kernels(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_api(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_ops(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_launches(tkt_document *document, const takt_report_options *options);
takt_status tkt_show_gaps(tkt_document *document, const takt_report_options *options);

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

/* The mean, rounded; 0 of nothing. */
static inline uint64_t tkt_mean(uint64_t total, uint64_t count)
{
    return count ? total / count + (total % count >= count - count / 2) : 0;
}

#endif
