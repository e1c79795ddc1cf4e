/* Files of torch.profiler's that are broken: what is whole is read, and the rest is counted. */
#include "import/json.h"

#include "base/file.h"
#include "report/show.h"
#include "summary/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define EVENTS 12

/* Reads a text through a window that grows by `step` bytes. NULL: it was refused, with a line. */
static takt_trace *read_text(const char *text, size_t size, size_t step)
{
    tkt_input input;
    takt_trace *trace = NULL;
    takt_error error = {.status = TAKT_OK};
    char path[] = "/tmp/takt-import-XXXXXX";
    bool is_takt = false;
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
    assert_int_equal(tkt_input_open(&input, path, &error), TAKT_OK);
    input.step = step;
    takt_status status = imp_json_read(&input, &is_takt, &trace);
    tkt_input_close(&input);
    remove(path);
    assert_int_equal(status == TAKT_OK, trace != NULL);
    if (!trace)
        assert_true(status == TAKT_BAD_TRACE && error.message[0]);
    return trace;
}

static uint64_t content(const takt_trace *trace)
{
    return trace->facts.span_count + trace->facts.activity_count;
}

static uint64_t losses(const takt_trace *trace)
{
    uint64_t sum = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (i != TAKT_LOSS_UNATTRIBUTED && i != TAKT_LOSS_CROSSING_SPANS)
            sum += takt_trace_loss(trace, (takt_loss)i);
    return sum;
}

/* A file of EVENTS slices: operators and kernels. */
static size_t make_file(char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n");
    for (int i = 0; i < EVENTS; i++) {
        bool is_kernel = i % 3 == 2;
        at += (size_t)snprintf(
            out + at, size - at,
            "  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"n%d\", \"pid\": %d, \"tid\": 7,\n"
            "    \"ts\": %d.125, \"dur\": 5.5,\n    \"args\": {\"correlation\": %d, \"x\": [1, "
            "2]}\n"
            "  }%s\n",
            is_kernel ? "kernel" : "cpu_op", i, is_kernel ? 0 : 40, 1000 + 10 * i, i + 1,
            i + 1 < EVENTS ? "," : "");
    }
    return at + (size_t)snprintf(out + at, size - at,
                                 "  ],\n  \"baseTimeNanoseconds\": 1234567890123456789\n}\n");
}

TEST(a_whole_file_is_read_in_pieces_of_any_size)
{
    static char text[8192];
    size_t size = make_file(text, sizeof text);
    for (size_t step = 1; step < 5000; step = 3 * step + 1) {
        takt_trace *trace = read_text(text, size, step);
        assert_non_null(trace);
        assert_int_equal(content(trace), EVENTS);
        assert_int_equal(losses(trace), 0);
        assert_int_equal(trace->facts.ending, TAKT_ENDING_WHOLE);
        assert_int_equal(trace->facts.begin_ns, 1000125);
        assert_true(trace->facts.realtime_offset_ns == INT64_C(1234567890123456789));
        takt_trace_release(trace);
    }
}

/* Every event that has all of its bytes counts, wherever the file is cut. */
TEST(a_cut_ends_the_trace)
{
    static char text[8192];
    size_t size = make_file(text, sizeof text);
    size_t begin = (size_t)(strstr(text, "[\n") + 2 - text);
    const char *last = strstr(text, "  ],\n  \"base");
    char ending[TKT_ENDING_SIZE];
    uint64_t whole = 0;
    for (size_t cut = begin; cut < size; cut++) {
        takt_trace *trace = read_text(text, cut, 100);
        whole += cut > 4 && strncmp(text + cut - 4, "\n  }", 4) == 0;
        assert_non_null(trace);
        assert_int_equal(content(trace), whole);
        bool is_cut = text + cut <= last + 2;
        assert_int_equal(trace->facts.ending, is_cut ? TAKT_ENDING_CUT : TAKT_ENDING_WHOLE);
        assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_CUT) > 0, is_cut);
        assert_string_equal(
            tkt_ending_text(ending, trace),
            is_cut ? "INCOMPLETE: the file is cut, and does not tell how much is missing." : "");
        takt_trace_release(trace);
    }
    assert_int_equal(whole, EVENTS);
}

/* One event is broken in each way; the others are there. */
TEST(a_broken_event_costs_itself)
{
    static const struct {
        const char *from, *to;
    } faults[] = {{"\"name\": \"n4\"", "\"name\": \"n4"},
                  {"\"name\": \"n4\"", "\"name\" \"n4\""},
                  {"\"name\": \"n4\"", "\"name\": "},
                  {"1040.125", "soon"},
                  {"\"correlation\": 5", "\"correlation\": {"},
                  {"\"ts\": 1040", "\"xs\": 1040"},
                  {"\"ts\": 1040", "\"ts\": -1040"}};
    static char text[8192], broken[8192];
    make_file(text, sizeof text);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const char *at = strstr(text, faults[i].from);
        assert_non_null(at);
        int size = snprintf(broken, sizeof broken, "%.*s%s%s", (int)(at - text), text, faults[i].to,
                            at + strlen(faults[i].from));
        takt_trace *trace = read_text(broken, (size_t)size, 64);
        assert_non_null(trace);
        if (content(trace) != EVENTS - 1)
            fail_msg("%s: %d events", faults[i].to, (int)content(trace));
        assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_SKIPPED_EVENTS), 1);
        assert_int_equal(trace->facts.ending, TAKT_ENDING_WHOLE);
        takt_trace_release(trace);
    }
}

/* Nothing follows the broken event but the end of the file, which is there. */
TEST(a_broken_event_at_the_end_is_no_cut)
{
    static char text[8192], broken[8192];
    make_file(text, sizeof text);
    const char *at = strstr(text, "\"n11\"");
    assert_non_null(at);
    int size = snprintf(broken, sizeof broken, "%.*s\"n11%s", (int)(at - text), text, at + 5);
    for (size_t step = 1; step < 9000; step = 20 * step) {
        takt_trace *trace = read_text(broken, (size_t)size, step);
        assert_non_null(trace);
        assert_int_equal(content(trace), EVENTS - 1);
        assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_SKIPPED_EVENTS), 1);
        assert_int_equal(trace->facts.ending, TAKT_ENDING_WHOLE);
        takt_trace_release(trace);
    }
    for (size_t cut = 1; cut < 60; cut++) {
        takt_trace *trace = read_text(broken, (size_t)size - cut, 64);
        assert_non_null(trace);
        assert_true(content(trace) < EVENTS && losses(trace) > 0);
        takt_trace_release(trace);
    }
}

#define SPAN(name, ts)                                                                             \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":1}"

/* Loose reading would take the labels for one string, or find no end of it. */
TEST(valid_json_before_the_events_is_read)
{
    static const char *const heads[] = {
        "{\n\"labels\": [\n\"CPU\",\n\"CUDA\"\n],", "{\"labels\":[\"a\",\"b\",\"c\"],",
        "{\"a\":{\"b\":[\"x\",\n\"y\",{\"c\":[]}]},", "{\"note\": \"say \"hi\" to\nall\","};
    char text[512];
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        int size = snprintf(text, sizeof text, "%s\"traceEvents\":[%s]}", heads[i], SPAN("s", "5"));
        for (size_t step = 1; step < 600; step = 5 * step) {
            takt_trace *trace = read_text(text, (size_t)size, step);
            assert_non_null(trace);
            assert_int_equal(trace->facts.span_count, 1);
            assert_int_equal(losses(trace), 0);
            takt_trace_release(trace);
        }
    }
}

/* What is not quite JSON costs no event, also where strict reading would go on into the next event
 * of the same line. */
TEST(quotes_and_line_feeds_in_names_are_read)
{
    static const char text[] = "[" SPAN("f\nreturn \"x\"\n", "10") "," SPAN("a\tb", "20") "," SPAN(
        "3.5\" disk",
        "30") ",\n"
              "{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":40,\"dur\":1,\"args\":"
              "{\"s\":\"a \"b\"}}," SPAN("m",
                                         "50") ",{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,"
                                               "\"ts\":60,\"dur\":1,\"args\":{\"s\":\"a \"b\"}}]";
    static const char *const names[] = {"f\nreturn \"x\"\n", "a\tb", "3.5\" disk", "n", "m", "n"};
    for (size_t step = 1; step < 2000; step = 9 * step) {
        takt_trace *trace = read_text(text, sizeof text - 1, step);
        assert_non_null(trace);
        assert_int_equal(losses(trace), 0);
        const tkt_spans *spans = &trace->tracks.items[0].spans;
        assert_int_equal(spans->count, sizeof names / sizeof *names);
        for (size_t i = 0; i < spans->count; i++)
            assert_string_equal(
                tkt_trace_text(trace, trace->sites.items[tkt_span_site(&spans->items[i])].name),
                names[i]);
        takt_trace_release(trace);
    }
}

/* A string without its end, and with line feeds behind it, takes no members of the next event. */
TEST(an_endless_string_takes_no_other_event)
{
    static const char text[] = "[{\"ph\":\"X\",\n\"name\":\"lost,\n\"pid\":1,\"tid\":1,\n\"ts\":5,"
                               "\"dur\":1},\n" SPAN("kept", "20") ",\n" SPAN("kept", "30") "]";
    takt_trace *trace = read_text(text, sizeof text - 1, 64);
    assert_non_null(trace);
    assert_int_equal(trace->facts.span_count, 2);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_SKIPPED_EVENTS), 1);
    takt_trace_release(trace);
}

TEST(a_negative_duration_is_a_fault_of_the_clock)
{
    static const char text[] =
        "[{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 5, "
        "\"dur\": -1}, {\"ph\": \"X\", \"name\": \"b\", \"pid\": 1, \"tid\": 1, "
        "\"ts\": 5, \"dur\": 1}]";
    takt_trace *trace = read_text(text, sizeof text - 1, 64);
    assert_non_null(trace);
    assert_int_equal(trace->facts.span_count, 1);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_CLOCK), 1);
    takt_trace_release(trace);
}

/* It lasts until the end of the last event: of 20 to 21 us. */
TEST(a_span_that_never_ends_lasts_until_the_last_event)
{
    static const char text[] =
        "[{\"ph\": \"B\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 5}," SPAN("b", "20") "]";
    takt_trace *trace = read_text(text, sizeof text - 1, 64);
    assert_non_null(trace);
    const tkt_spans *spans = &trace->tracks.items[0].spans;
    assert_int_equal(spans->count, 2);
    assert_int_equal(spans->items[0].begin_ns, 5000);
    assert_int_equal(spans->items[0].end_ns, 21000);
    assert_int_equal(trace->facts.end_ns, 21000);
    takt_trace_release(trace);
}

TEST(ranks_from_0_on_are_of_their_job)
{
    static const struct {
        int rank, size;
        uint32_t wanted_rank, wanted_size;
    } cases[] = {{0, 2, 0, 2}, {1, 2, 1, 2}, {2, 2, 0, 0}, {-1, 2, 0, 0}, {0, 1, 0, 0}};
    char text[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int size = snprintf(text, sizeof text,
                            "{\"distributedInfo\": {\"rank\": %d, \"world_size\": %d}, "
                            "\"traceEvents\": [%s]}",
                            cases[i].rank, cases[i].size, SPAN("s", "5"));
        takt_trace *trace = read_text(text, (size_t)size, 64);
        assert_non_null(trace);
        assert_int_equal(trace->facts.rank, cases[i].wanted_rank);
        assert_int_equal(trace->facts.world_size, cases[i].wanted_size);
        takt_trace_release(trace);
    }
}

/* Takt writes whole launches of graphs as kernels, which they are not. */
TEST(graphs_of_takts_files_are_graphs)
{
    static const char text[] =
        "{\"takt\": {\"run\": \"a\"}, \"traceEvents\": ["
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"graph 4\", \"pid\": 0, \"tid\": 7, "
        "\"ts\": 5, \"dur\": 1, \"args\": {\"device\": 0, \"stream\": 7, \"graph id\": 4, "
        "\"graph node id\": 0}}, "
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"node\", \"pid\": 0, \"tid\": 7, "
        "\"ts\": 7, \"dur\": 1, \"args\": {\"device\": 0, \"stream\": 7, \"graph id\": 4, "
        "\"graph node id\": 9}}]}";
    static const uint32_t filters[] = {TAKT_TIMING_GRAPH, TAKT_TIMING_KERNEL};
    static const char *const names[] = {"graph 4", "kernel node"};
    takt_trace *trace = read_text(text, sizeof text - 1, 64);
    assert_non_null(trace);
    assert_int_equal(trace->activities.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const tkt_activity *found = &trace->activities.items[i];
        assert_int_equal(found->filter, filters[i]);
        assert_string_equal(tkt_trace_text(trace, found->name), names[i]);
    }
    takt_trace_release(trace);
}

TEST(copies_have_the_direction_of_their_name)
{
    static const char *const names[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    char text[512];
    for (uint8_t kind = 0; kind <= TAKT_COPY_PTOP; kind++) {
        int size = snprintf(text, sizeof text,
                            "[{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy %s\", "
                            "\"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 1, "
                            "\"args\": {\"device\": 0, \"stream\": 7, \"bytes\": 8}}]",
                            names[kind]);
        takt_trace *trace = read_text(text, (size_t)size, 64);
        assert_non_null(trace);
        assert_int_equal(trace->activities.count, 1);
        const tkt_activity *copy = &trace->activities.items[0];
        assert_int_equal(trace->shapes.items[copy->shape].copy_kind, kind);
        takt_trace_release(trace);
    }
}

TEST(other_json_is_refused)
{
    static const char *const texts[] = {"{}", "{\"a\": [1, 2]}", "{\"traceEvents\"",
                                        "{\"a\": 1, b}", "x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(read_text(texts[i], strlen(texts[i]), 16));
}

/* Up to three bytes of a valid file are changed, removed or doubled. It is read or refused; if an
 * event is missing then, a loss says so. */
TEST(ten_thousand_mutations)
{
    static char text[8192], mutant[8192 + 8];
    static const char bytes[] = "\"\\{}[],:0129.-eX \n\xFF";
    size_t size = make_file(text, sizeof text);
    size_t head = (size_t)(strstr(text, "[\n") + 1 - text);
    unsigned seed = 1;
    for (int i = 0; i < 10000; i++) {
        size_t length = size;
        memcpy(mutant, text, size);
        for (int k = rand_r(&seed) % 3; k >= 0; k--) {
            size_t at = head + (size_t)rand_r(&seed) % (length - head);
            int how = rand_r(&seed) % 3;
            if (how == 0) {
                mutant[at] = bytes[(size_t)rand_r(&seed) % (sizeof bytes - 1)];
            } else if (how == 1) {
                memmove(mutant + at, mutant + at + 1, --length - at);
            } else {
                memmove(mutant + at + 1, mutant + at, length - at);
                length++;
            }
        }
        takt_trace *trace = read_text(mutant, length, 512);
        if (!trace)
            continue;
        if (content(trace) < EVENTS && losses(trace) == 0)
            fail_msg("mutant %d lost events silently: %.*s", i, (int)length, mutant);
        takt_trace_release(trace);
    }
}

/* ---- Waits that the file does not name ---- */

/* Slices of a process 1, whose main thread has the id 1; times in us. */
static takt_trace *read_slices(const char *slices)
{
    char text[4096];
    int size =
        snprintf(text, sizeof text, "{\"schemaVersion\": 1, \"traceEvents\": [\n%s]}\n", slices);
    assert_in_range(size, 1, sizeof text - 1);
    return read_text(text, (size_t)size, 512);
}

#define SLICE(category, name, thread, begin, duration)                                             \
    "{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name                                 \
    "\", \"pid\": 1, \"tid\": " thread ", \"ts\": " begin ", \"dur\": " duration "}"
#define ENGINE(thread, begin, duration)                                                            \
    SLICE("cpu_op", "autograd::engine::evaluate_function: MmBackward0", thread, begin, duration)

/* Finds the next wait of a thread after *at, and its parent's name. False: there is none. */
static bool next_wait(const takt_trace *trace, uint32_t thread, uint32_t *at, uint64_t *begin_us,
                      uint64_t *end_us, const char **parent)
{
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_track *track = &trace->tracks.items[t];
        for (; track->thread_id == thread && *at < track->spans.count; ++*at) {
            const tkt_span *span = &track->spans.items[*at];
            if (strcmp(tkt_trace_text(trace, tkt_span_name(trace, span)), "wait for autograd") != 0)
                continue;
            assert_true(tkt_site_waits(trace, tkt_span_site(span)));
            *begin_us = (span->begin_ns - trace->facts.begin_ns) / 1000;
            *end_us = (span->end_ns - trace->facts.begin_ns) / 1000;
            *parent =
                tkt_trace_text(trace, tkt_span_name(trace, &track->spans.items[span->parent]));
            ++*at;
            return true;
        }
    }
    return false;
}

static void wait_is(const takt_trace *trace, uint32_t *at, uint64_t begin_us, uint64_t end_us,
                    const char *parent)
{
    uint64_t begin, end;
    const char *in;
    if (!next_wait(trace, 1, at, &begin, &end, &in))
        fail_msg("no wait from %llu on", (unsigned long long)begin_us);
    assert_int_equal(begin, begin_us);
    assert_int_equal(end, end_us);
    assert_string_equal(in, parent);
}

TEST(main_waits_in_backward_while_the_engine_works_on_other_threads)
{
    uint32_t at = 0, other = 0;
    uint64_t begin, end;
    const char *parent;
    /* Main is in `step` from 0 to 1000 us and in `backward` from 300 to 900, in which it runs an
     * operator from 500 to 600. Two threads of the engine work from 310 to 450, overlapping, from
     * 550 to 700, and from 890 to 950. */
    takt_trace *trace = read_slices(
        SLICE("user_annotation", "step", "1", "0", "1000") ",\n" SLICE("python_function", "backward", "1", "300", "600") ",\n" SLICE(
            "cpu_op", "aten::add",
            "1", "500",
            "100") ",\n" ENGINE("2", "310",
                                "100") ",\n" SLICE("cpu_op", "aten::mm", "2", "320",
                                                   "80") ",\n" ENGINE("3", "400",
                                                                      "50") ",\n" ENGINE("2", "550",
                                                                                         "150") ","
                                                                                                "\n" ENGINE("3",
                                                                                                            "890",
                                                                                                            "60"));
    wait_is(trace, &at, 310, 450, "backward");
    wait_is(trace, &at, 600, 700, "backward");
    wait_is(trace, &at, 890, 900, "backward");
    wait_is(trace, &at, 900, 950, "step");
    assert_false(next_wait(trace, 1, &at, &begin, &end, &parent));
    assert_false(next_wait(trace, 2, &other, &begin, &end, &parent));
    takt_trace_release(trace);
}

TEST(the_engine_on_the_thread_that_calls_it_makes_nobody_wait)
{
    uint32_t at = 0;
    uint64_t begin, end;
    const char *parent;
    const char *slices = SLICE("user_annotation", "backward", "1", "0", "1000") ",\n"
        SLICE("user_annotation", "autograd::engine::evaluate_function: MmBackward0", "1", "100",
              "500") ",\n" SLICE("cpu_op", "aten::mm", "2", "100", "500");
    takt_trace *trace = read_slices(slices);
    assert_false(next_wait(trace, 1, &at, &begin, &end, &parent));
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
