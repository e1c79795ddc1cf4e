/* Traces made by hand, and looking at Chrome JSON with jansson. For tests of exporters. */
#ifndef TEST_CHROME_H
#define TEST_CHROME_H

#include "base/writer.h"
#include "support/memory_sink.h"
#include "trace/model.h"

#include <takt/activity.h>
#include <takt/export.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define PID         4711u
#define BEGIN_NS    UINT64_C(1000000000)
#define END_NS      UINT64_C(9000000000)
#define REALTIME_NS INT64_C(1767261888000000000) /* 2026-01-01 10:04:48 at 0 */

/* Start of the week in which BEGIN_NS lies: weeks begin on Thursdays, as 1970 did. */
#define WEEK_NS INT64_C(604800000000000)
#define BASE_NS INT64_C(1767225600000000000)

static inline uint32_t text(takt_trace *trace, const char *bytes)
{
    return tkt_strtab_intern_text(&trace->strings, bytes);
}

/* An empty trace of spans, from second 1 to 9 of the time line. */
static inline takt_trace *make_trace(void)
{
    takt_trace *trace = NULL;
    assert_int_equal(tkt_trace_create(&trace), TAKT_OK);
    trace->name = text(trace, "sph");
    trace->backend = text(trace, "none");
    trace->clock = text(trace, "tsc");
    trace->facts.process_id = PID;
    trace->facts.begin_ns = BEGIN_NS;
    trace->facts.end_ns = END_NS;
    trace->facts.realtime_offset_ns = REALTIME_NS;
    trace->facts.has_spans = true;
    trace->facts.clock_resolution_ns = 0.5;
    return trace;
}

static inline uint32_t add_site(takt_trace *trace, const char *name, const char *file,
                                uint32_t line)
{
    tkt_trace_site site = {.name = text(trace, name),
                           .file = text(trace, file),
                           .line = line,
                           .kind = TAKT_SITE_SCOPE,
                           .level = TAKT_LEVEL_NORMAL};
    return tkt_trace_site_index(trace, &site);
}

static inline uint32_t add_scope(takt_trace *trace, const char *name)
{
    return add_site(trace, name, "", 0);
}

static inline uint32_t add_thread(takt_trace *trace, const char *name, uint32_t thread_id)
{
    return tkt_trace_add_track(trace, TAKT_TRACK_THREAD, text(trace, name), thread_id);
}

/* A span from and to so many ns after BEGIN_NS; returns its index. */
static inline uint32_t add_span(takt_trace *trace, uint32_t track, uint32_t site, uint64_t begin,
                                uint64_t end)
{
    tkt_spans *spans = &trace->tracks.items[track].spans;
    tkt_span *span = TKT_ARRAY_ADD(spans);
    assert_non_null(span);
    *span = (tkt_span){BEGIN_NS + begin, BEGIN_NS + end, site << 8, TKT_NO_SPAN};
    return (uint32_t)spans->count - 1;
}

static inline void add_arg(takt_trace *trace, uint32_t track, tkt_arg arg)
{
    tkt_arg *place = TKT_ARRAY_ADD(&trace->tracks.items[track].args);
    assert_non_null(place);
    *place = arg;
}

/* The exporter's output, NUL-terminated; the caller frees memory->data with tkt_free. */
static inline takt_status export_bytes(const takt_trace *trace, const char *format,
                                       memory_sink *memory)
{
    takt_sink sink = memory_sink_of(memory);
    takt_status status = takt_export(trace, format, &sink);
    return status == TAKT_OK ? sink.write(sink.user, "", 1) : status;
}

static inline json_t *parse_json(const char *bytes, size_t size)
{
    json_error_t error;
    json_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!json)
        fail_msg("line %d column %d: %s", error.line, error.column, error.text);
    return json;
}

/* The trace as Chrome JSON, parsed; the trace is finished before and released after. */
static inline json_t *chrome_json(takt_trace *trace)
{
    memory_sink memory = {0};
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    assert_int_equal(export_bytes(trace, "chrome", &memory), TAKT_OK);
    json_t *json = parse_json(memory.data, memory.size - 1);
    tkt_free(memory.data);
    takt_trace_release(trace);
    return json;
}

static inline const char *string_of(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static inline int64_t integer_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* Microseconds as whole nanoseconds; the factor is exact enough below 104 days. */
static inline int64_t ns_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_real(value));
    return llround(json_real_value(value) * 1000);
}

/* A time of an event in ns after BEGIN_NS. */
static inline int64_t begin_of(const json_t *event)
{
    return ns_of(event, "ts") - (REALTIME_NS + (int64_t)BEGIN_NS - BASE_NS);
}

static inline json_t *args_of(const json_t *event)
{
    return json_object_get(event, "args");
}

/* The n-th event of that phase and name, counted from 0; NULL if there are not as many. */
static inline json_t *find_nth(const json_t *json, const char *phase, const char *name, size_t n)
{
    size_t index;
    json_t *event;
    json_array_foreach(json_object_get(json, "traceEvents"), index, event)
    {
        if (strcmp(string_of(event, "ph"), phase) == 0 &&
            strcmp(string_of(event, "name"), name) == 0 && n-- == 0)
            return event;
    }
    return NULL;
}

static inline json_t *find_event(const json_t *json, const char *phase, const char *name)
{
    json_t *event = find_nth(json, phase, name, 0);
    if (!event)
        fail_msg("there is no event of phase %s named %s", phase, name);
    return event;
}

static inline size_t count_phase(const json_t *json, const char *phase)
{
    size_t count = 0;
    size_t index;
    json_t *event;
    json_array_foreach(json_object_get(json, "traceEvents"), index, event)
    {
        count += strcmp(string_of(event, "ph"), phase) == 0;
    }
    return count;
}

/* The metadata "name" of a thread's row. */
static inline const char *row_name(const json_t *json, int64_t tid)
{
    json_t *event;
    for (size_t n = 0; (event = find_nth(json, "M", "thread_name", n)); n++) {
        if (integer_of(event, "tid") == tid)
            return string_of(args_of(event), "name");
    }
    return NULL;
}

#endif
