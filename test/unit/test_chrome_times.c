/* Begin and duration of Chrome's slices as their readers have them: doubles that are added. */
#include "test_chrome.h"

#include <stdio.h>

enum {
    SPANS = 4000,
    DEPTH = 6
};

typedef struct chance {
    uint64_t state;
} chance;

static uint64_t draw(chance *from, uint64_t below)
{
    from->state ^= from->state << 13;
    from->state ^= from->state >> 7;
    from->state ^= from->state << 17;
    return (from->state >> 11) % below;
}

/* Often 0, so that ends and begins meet; never more than 2^20 ns. */
static uint64_t draw_ns(chance *from)
{
    return draw(from, 3) ? draw(from, UINT64_C(2) << draw(from, 20)) : 0;
}

typedef struct tree {
    takt_trace *trace;
    uint32_t track;
    uint32_t site;
    uint64_t now;
    chance random;
} tree;

static void grow(tree *t, int depth)
{
    tkt_spans *spans = &t->trace->tracks.items[t->track].spans;
    uint32_t span = add_span(t->trace, t->track, t->site, t->now, 0);
    t->now += draw_ns(&t->random);
    while (depth > 0 && spans->count < SPANS && draw(&t->random, 4)) {
        grow(t, depth - 1);
        t->now += draw_ns(&t->random);
    }
    spans->items[span].end_ns = BEGIN_NS + t->now;
}

/* A thread of random spans that nest, from `begin` ns on. */
static void add_random_thread(takt_trace *trace, uint32_t number, uint64_t begin)
{
    tree t = {.trace = trace,
              .track = add_thread(trace, "", number),
              .site = add_scope(trace, "a"),
              .now = begin,
              .random = {UINT64_C(88172645463325252) + number}};
    while (trace->tracks.items[t.track].spans.count < SPANS)
        grow(&t, DEPTH);
}

/* The double that a reader has for a time that is written as a ts. */
static double us_of(uint64_t ns)
{
    char text[40];
    snprintf(text, sizeof text, "%llu.%03llu", (unsigned long long)(ns / 1000),
             (unsigned long long)(ns % 1000));
    return strtod(text, NULL);
}

/* torch_tb_profiler's OpTreeBuilder._build_tree_internal: a slice that begins before the innermost
 * open one ends belongs to it, and must not pass its end. As many must be open as in ns. */
static void check_nesting(const tkt_spans *spans, const double (*times)[2])
{
    uint64_t ends_ns[DEPTH + 2];
    double ends[DEPTH + 2];
    size_t open_ns = 0;
    size_t open = 0;
    for (size_t i = 0; i < spans->count; i++) {
        while (open_ns && ends_ns[open_ns - 1] <= spans->items[i].begin_ns)
            open_ns--;
        while (open > open_ns) {
            assert_true(ends[open - 1] <= times[i][0]);
            open--;
        }
        if (open)
            assert_true(times[i][1] <= ends[open - 1]);
        ends_ns[open_ns++] = spans->items[i].end_ns;
        ends[open++] = times[i][1];
    }
}

static void read_times(const json_t *json, uint32_t tid, double (*times)[2])
{
    size_t index;
    size_t count = 0;
    json_t *event;
    json_array_foreach(json_object_get(json, "traceEvents"), index, event)
    {
        if (strcmp(string_of(event, "ph"), "X") != 0 || integer_of(event, "tid") != tid)
            continue;
        double begin = json_number_value(json_object_get(event, "ts"));
        assert_true(count < SPANS + 1);
        times[count][0] = begin;
        times[count++][1] = begin + json_number_value(json_object_get(event, "dur"));
    }
}

/* From the first ns of a week over its last second to 2^53 ns and 1.7e15 us, where a double has a
 * step of a quarter of a microsecond. */
TEST(ts_and_dur_add_up_to_the_end_at_all_times)
{
    static const uint64_t begins[] = {0,
                                      1000000,
                                      UINT64_C(3600000000000),
                                      UINT64_C(86400000000000),
                                      UINT64_C(300000000000000),
                                      UINT64_C(604799000000000),
                                      (UINT64_C(1) << 53) - 1500000000,
                                      UINT64_C(1700000000000000123)};
    static double times[SPANS + 1][2];
    enum {
        THREADS = sizeof begins / sizeof *begins
    };
    takt_trace *trace = make_trace();
    trace->facts.realtime_offset_ns = -(int64_t)BEGIN_NS; /* ts 0 is BEGIN_NS */
    for (uint32_t i = 0; i < THREADS; i++)
        add_random_thread(trace, i + 1, begins[i]);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    memory_sink memory = {0};
    assert_int_equal(export_bytes(trace, "chrome", &memory), TAKT_OK);
    json_t *json = parse_json(memory.data, memory.size - 1);
    tkt_free(memory.data);
    for (uint32_t i = 0; i < THREADS; i++) {
        const tkt_spans *spans = &trace->tracks.items[i].spans;
        read_times(json, i + 1, times);
        for (size_t k = 0; k < spans->count; k++) {
            assert_true(times[k][0] == us_of(spans->items[k].begin_ns - BEGIN_NS));
            assert_true(times[k][1] == us_of(spans->items[k].end_ns - BEGIN_NS));
        }
        check_nesting(spans, (const double(*)[2])times);
    }
    json_decref(json);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
