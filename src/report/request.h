/* A report with its options, read from one text such as "kernels rows=20 sort=total all". */
#ifndef TKT_REPORT_REQUEST_H
#define TKT_REPORT_REQUEST_H

#include <takt/report.h>

#define TKT_REQUEST_BYTES 256
#define TKT_REQUEST_WHY   160
typedef struct tkt_report_request {
    const char         *name; /* static; NULL: unknown */
    takt_report_options options;
    char                sort[64]; /* options.sort, if any */
} tkt_report_request;

/* Options are all, by_arguments, by_stack=N, full_names, rows=N, sort=COLUMN, width=N and
 * with_flops. On failure `why` has the reason, or "" if no such report exists. The struct must not
 * be copied afterwards. */
bool tkt_report_request_read(tkt_report_request *request, const char *text,
                             char why[TKT_REQUEST_WHY]);

#endif
