/* Traces for reports, and what reports say of them. */
#ifndef TEST_SUPPORT_REPORT_BUILD_H
#define TEST_SUPPORT_REPORT_BUILD_H

#include "support/test.h"

#include "base/writer.h"
#include "support/memory_sink.h"
#include "support/merge_folds.h"
#include "trace/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <takt/report.h>

/* cmocka's own compares floats. */
void assert_near(double a, double b, double epsilon);

/* A trace with spans from 1,000,000 to `end_ns`, of a fixed clock and cost. */
takt_trace *build_begin(uint64_t end_ns);

uint32_t build_string(takt_trace *trace, const char *text);
uint32_t build_site_of(takt_trace *trace, const char *name, takt_site_kind kind,
                       const char *device);
uint32_t build_site(takt_trace *trace, const char *name);
uint32_t build_track(takt_trace *trace, const char *name); /* NULL: the thread has no name */
uint32_t build_span(takt_trace *trace, uint32_t track, uint32_t site, uint32_t parent,
                    uint64_t begin_ns, uint64_t end_ns);

/* A work of a device, launched by `scope`. */
void build_activity(takt_trace *trace, const char *device, const char *name,
                    uint32_t filter, uint64_t begin_ns, uint64_t end_ns,
                    uint32_t track, uint32_t scope);

/* A call into CUDA by the scope `parent`; its number in `calls`. They come in the order of the
 * tracks, then spans. */
uint32_t build_call(takt_trace *trace, uint32_t track, const char *name,
                    uint32_t parent, uint64_t begin_ns, uint64_t end_ns);

/* Work that a call launched, in the name of the scope that made the call; it may be changed. */
tkt_activity *build_launched(takt_trace *trace, uint32_t call, const char *device,
                             const char *name, uint32_t filter, uint64_t begin_ns,
                             uint64_t end_ns);

uint32_t build_shape(takt_trace *trace, const tkt_shape *shape);
void build_memory_event(takt_trace *trace, const char *device, uint64_t time_ns,
                        int64_t bytes, uint32_t track, uint32_t span);
void build_counter(takt_trace *trace, const char *name, uint64_t time_ns, double value);
void build_int_arg(takt_trace *trace, uint32_t track, uint32_t span, const char *key,
                   int64_t value);
void build_step(takt_trace *trace, uint64_t number, uint64_t begin_ns, uint64_t end_ns);
void build_all_step(takt_trace *trace, uint64_t duration_ns);
void build_end(takt_trace *trace);

/* A well-mixed number that depends on nothing but the state: the tests are the same every time. */
uint32_t build_random(uint64_t *state);

/* Fills [begin, end) of a track with nested spans of random sites among `sites`. */
void build_nest(takt_trace *trace, uint32_t track, const uint32_t *sites,
                uint32_t site_count, uint32_t parent, uint64_t begin_ns,
                uint64_t end_ns, uint64_t *random);

/* Two threads, six names of which two are activities, thousands of spans, recursion. */
takt_trace *build_mixed(uint64_t seed);

/* The same trace as summary mode would have left it: folded, without spans. */
takt_trace *build_folded(const takt_trace *from);

/* Options as given, with their size if it is not, in *room. They may be NULL. */
const takt_report_options *sized(const takt_report_options *options, takt_report_options *room);

/* A report as text that the caller frees with tkt_free(). */
char *report_of(const takt_trace *trace, const char *name, const takt_report_options *options);

#endif
