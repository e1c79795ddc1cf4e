/* takt/report.h - tables computed from a trace. The program and its trace file give the same text.
 *
 *     takt_sink sink = takt_sink_fd(1);
 *     takt_report(trace, "scopes", NULL, &sink);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_REPORT_H
#define TAKT_REPORT_H

#include <takt/base.h>
#include <takt/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum takt_format {
    TAKT_FORMAT_TEXT,
    TAKT_FORMAT_CSV,
    TAKT_FORMAT_JSON,
    TAKT_FORMAT_MARKDOWN
} takt_format;

/* Options for a report. Start from TAKT_REPORT_OPTIONS_INIT; a zero field means the default. */
typedef struct takt_report_options {
    size_t      struct_size; /* set by the initialiser */
    takt_format format;
    const char *sort;  /* a column, named as in JSON; "-column": ascending; NULL: the report's
                        * default */
    int64_t     rows;  /* most rows to show; -1: all; 0: the report's own limit */
    uint32_t    width; /* columns of text; 0: the terminal's width, or 160 */
    bool        color; /* mark slow rows; only in text */
    bool        full_names;   /* do not shorten names; kernels: show template arguments */
    bool        by_arguments; /* scopes: group also by recorded arguments; kernels: also by
                               * launch */
    bool        with_flops;   /* scopes: show the FLOPs column */
    bool        all;          /* scopes, tree: show calls into CUDA; scopes: also kernels and
                               * copies */
    uint32_t    by_stack;     /* scopes: group also by this many innermost stack frames; 0: do
                               * not */
    /* If columns do not fit, a line below the table names them and tells how to show them: this
     * text, such as "--width ", and a number. NULL: the line names `width` above. */
    const char *width_key;
} takt_report_options;

#define TAKT_REPORT_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_report_options)

/* Writes the report `name` to `sink`. `options` may be NULL. TAKT_NOT_FOUND for an unknown name;
 * TAKT_NO_SPANS if the report needs spans and the trace has none; TAKT_BAD_ARGUMENT for an unknown
 * sort column. Nothing is written then. Any thread. */
TAKT_API takt_status takt_report(const takt_trace *trace, const char *name,
                                 const takt_report_options *options, const takt_sink *sink);

/* Returns the name of a report, by index; NULL past the end. Static. */
TAKT_API const char *takt_report_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
