/* All advice that a trace gives, and how the summary words it. */
#ifndef TEST_ADVICE_H
#define TEST_ADVICE_H

#include "support/report_traces.h"

#include "summary/advice.h"

#define UNUSED __attribute__((unused))

typedef struct advised {
    tkt_advice items[TKT_MOST_ADVICE];
    size_t count;
} advised;

UNUSED static advised advise(takt_trace *trace)
{
    advised a;
    tkt_scopes scopes;
    tkt_device_uses uses;
    const tkt_gaps *gaps = NULL;
    tkt_named_list kernels = {0};
    tkt_phases phases = {0};
    build_end(trace);
    assert_int_equal(tkt_scopes_memory(trace, &scopes), TAKT_OK);
    assert_int_equal(tkt_device_uses_of(trace, &uses), TAKT_OK);
    assert_int_equal(tkt_trace_gaps(trace, &gaps), TAKT_OK);
    assert_int_equal(tkt_kernels_of(trace, TKT_BY_NAME, &kernels), TAKT_OK);
    assert_int_equal(tkt_phases_of(trace, &phases), TAKT_OK);
    const tkt_advice_basis basis = {&scopes, &uses, gaps, &kernels, &phases};
    assert_int_equal(tkt_advice_of(trace, &basis, a.items, &a.count), TAKT_OK);
    assert_true(a.count <= TKT_MOST_ADVICE);
    tkt_phases_fini(&phases);
    tkt_named_fini(&kernels);
    TKT_ARRAY_FREE(&uses);
    tkt_scopes_fini(&scopes);
    return a;
}

UNUSED static const tkt_advice *find(const advised *a, tkt_advice_kind kind)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].kind == kind)
            return &a->items[i];
    }
    return NULL;
}

/* That sentence, and besides it no more than the other advice: `count` in all. The trace has been
 * finished, as advise() does. */
UNUSED static void assert_said(const takt_trace *trace, size_t count, const char *sentence)
{
    json_t *json = report_json(trace, "summary", NULL);
    const json_t *notes = json_object_get(json, "notes");
    bool is_said = false;
    assert_int_equal(json_array_size(notes), count);
    for (size_t i = 0; i < json_array_size(notes); i++)
        is_said = is_said || strcmp(json_string_value(json_array_get(notes, i)), sentence) == 0;
    if (!is_said)
        fail_msg("it does not say: %s", sentence);
    json_decref(json);
}

UNUSED static void assert_headline(const takt_trace *trace, const char *sentence)
{
    json_t *json = report_json(trace, "summary", NULL);
    assert_text(json, "headline", sentence);
    json_decref(json);
}

/* 1 ms of wall time: `covered_ns` of it in five equal scopes. */
UNUSED static takt_trace *build_even(uint64_t covered_ns)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    for (uint64_t i = 0; i < 5; i++)
        build_span(trace, track, build_site(trace, names[i]), TKT_NO_SPAN,
                   1000000 + i * covered_ns / 5, 1000000 + (i + 1) * covered_ns / 5);
    return trace;
}

#endif
