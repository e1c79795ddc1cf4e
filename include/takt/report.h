/* takt/report.h - tables computed from a trace: the same text in the program and from its file.
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

/* How to show a table. Start from TAKT_REPORT_OPTIONS_INIT; a zero field means the default. */
typedef struct takt_report_options {
    size_t      struct_size; /* set by the initialiser */
    takt_format format;
    const char *sort;  /* a column, as JSON spells it; "-column" ascending; NULL: default */
    int64_t     rows;  /* at most so many; -1: all; 0: the report's own limit */
    uint32_t    width; /* columns of text; 0: the terminal's, otherwise 160 */
    bool        color; /* mark slow rows; text only */
    bool        full_names;   /* do not shorten names; kernels: with template arguments */
    bool        by_arguments; /* scopes: group by recorded arguments too; kernels: by launch */
    bool        with_flops;   /* scopes: the FLOPs column */
    bool        all;          /* scopes, tree: calls into CUDA too; scopes: kernels and copies */
    uint32_t    by_stack;     /* scopes: group by so many innermost frames of stacks too; 0: not */
    /* Where columns did not fit, a line names them and says how to get them: this text, such as
     * "--width ", and a number. NULL: it names `width` above. */
    const char *width_key;
} takt_report_options;

#define TAKT_REPORT_OPTIONS_INIT TAKT_OPTIONS_INIT(takt_report_options)

/* Writes the report of that name. `options` may be NULL. TAKT_NOT_FOUND for an unknown name,
 * TAKT_NO_SPANS where it needs spans and the trace has none, TAKT_BAD_ARGUMENT for an unknown sort
 * column; nothing is written then. Any thread. */
TAKT_API takt_status takt_report(const takt_trace *trace, const char *name,
                                 const takt_report_options *options, const takt_sink *sink);

/* Names of the reports, in order; NULL past the end. */
TAKT_API const char *takt_report_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
