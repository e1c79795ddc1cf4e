/* The traces of the golden files, and reports of them as text and JSON. */
#ifndef TEST_SUPPORT_REPORT_TRACES_H
#define TEST_SUPPORT_REPORT_TRACES_H

#include "support/test.h"

#include "base/text.h"
#include "support/report_build.h"

#include <jansson.h>
#include <stdio.h>

takt_trace *build_cuda(void);

#define FLUID_TEMPLATE                                                                             \
    "void tree::build<float, 3>(Node *, std::vector<Particle, Aligned<64>> const &, unsigned)"
#define FLUID_HOSTILE "dump \"a,b\" | \x1B[31mred\x1B[0m\r\n\xFF end"

takt_trace *build_fluid(void);

#define LAUNCHES_BEGIN UINT64_C(1000000)
#define LAUNCHES_END   UINT64_C(1060000)
#define LAUNCHES_LAST  (LAUNCHES_END + 20000) /* activities may run on after the recording */

void launch_some(takt_trace *trace, uint32_t call, uint64_t at_ns, uint64_t *random);
takt_trace *build_launches_until(uint64_t seed, uint64_t end_ns);
takt_trace *build_launches(uint64_t seed);

void assert_golden(const takt_trace *trace, const char *report, const char *file,
                   takt_report_options *options);

/* Columns of the longest line; escape sequences are none. */
size_t longest_line(const char *text);

/* `options` may be NULL; their format does not count. The caller drops it with json_decref(). */
json_t *report_json(const takt_trace *trace, const char *report,
                    const takt_report_options *options);

/* One of the tables behind a report's first. */
const json_t *table_of(const json_t *json, const char *key);

size_t row_count(const json_t *table);
const json_t *row_at(const json_t *table, size_t index);

/* The only row whose `key` is that text. */
const json_t *row_of(const json_t *table, const char *key, const char *text);

double number(const json_t *row, const char *key);

/* NAN: there is none. */
void assert_value(const json_t *row, const char *key, double expected);

/* NULL: there is none. */
void assert_text(const json_t *row, const char *key, const char *expected);

#endif
