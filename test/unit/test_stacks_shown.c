/* Call stacks in tables and files: a small simulation whose every number is known. Each span has a
 * time that no other has, so that a sum tells which ones are in it. */
#include "support/test.h"
#include "support/trace_build.h"

#include "summary/scopes.h"
#include "trace/resolve.h"

#include <takt/export.h>
#include <takt/report.h>

enum {
    MAIN,
    STEP,
    STEP_AGAIN,
    FORCES,
    UNKNOWN,
    LAUNCH
};

/* main
 *   step            100000 ns, from main.c:10      stack 0: step < main
 *     pairs           3000                         stack 1: forces < step (line 20) < main
 *     pairs           5000                         stack 2: forces < step (line 21) < main
 *       cudaLaunch     700                         stack 3: (unknown) < forces < step < main
 *   step              9000, no stack
 * and what the launch did: 40000 ns; and a kernel of the step whose call is not known: 2000 ns. */
static takt_trace *make_run(void)
{
    takt_trace *trace = make_trace();
    uint32_t thread = make_thread(trace, "main", 1);
    uint32_t step = make_site(trace, "step", TAKT_SITE_SCOPE);
    uint32_t pairs = make_site(trace, "pairs", TAKT_SITE_SCOPE);
    make_frame(trace, "/opt/sph", 0x100, "main", "/src/main.c", 10);
    make_frame(trace, "/opt/sph", 0x200, "step", "/src/step.c", 20);
    make_frame(trace, "/opt/sph", 0x210, "step", "/src/step.c", 21);
    make_frame(trace, "/opt/libforces.so", 0x40, "forces", "", 0);
    make_frame(trace, "/opt/libforces.so", 0x80, "", "", 0);
    make_stack(trace, 2, (uint32_t[]){STEP, MAIN});
    make_stack(trace, 3, (uint32_t[]){FORCES, STEP, MAIN});
    make_stack(trace, 3, (uint32_t[]){FORCES, STEP_AGAIN, MAIN});
    make_stack(trace, 4, (uint32_t[]){UNKNOWN, FORCES, STEP_AGAIN, MAIN});

    uint64_t t = BEGIN_NS;
    make_span(trace, thread, step, TKT_NO_SPAN, t, t + 100000);
    make_span(trace, thread, pairs, 0, t + 1000, t + 4000);
    make_span(trace, thread, pairs, 0, t + 5000, t + 10000);
    make_call(trace, thread, 2, "cudaLaunchKernel", 7, t + 6000, t + 6700);
    make_span(trace, thread, step, TKT_NO_SPAN, t + 200000, t + 209000);
    for (uint32_t i = 0; i < 4; i++)
        ADD(&trace->tracks.items[thread].stacks, (tkt_span_stack){i, i});

    tkt_shape shape = {.label = text(trace, "kernel pairs"), .filter = TAKT_TIMING_KERNEL};
    ADD(&trace->shapes, shape);
    tkt_activity did = {.begin_ns = t + 7000,
                        .end_ns = t + 47000,
                        .name = shape.label,
                        .device = text(trace, "cuda:0"),
                        .filter = shape.filter,
                        .track = thread,
                        .span = TKT_NO_SPAN,
                        .scope = 2,
                        .call = 0};
    ADD(&trace->activities, did);
    did.begin_ns = t + 50000;
    did.end_ns = t + 52000;
    did.scope = 0;
    did.call = TKT_NO_CALL;
    ADD(&trace->activities, did);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

static char *shown(const takt_trace *trace, const char *report, takt_report_options options)
{
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    assert_int_equal(takt_report(trace, report, &options, &sink), TAKT_OK);
    assert_int_equal(memory_sink_write(&memory, "", 1), TAKT_OK);
    return memory.data;
}

static char *exported(const takt_trace *trace, const char *format)
{
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    assert_int_equal(takt_export(trace, format, &sink), TAKT_OK);
    assert_int_equal(memory_sink_write(&memory, "", 1), TAKT_OK);
    return memory.data;
}

/* Whether a row of CSV begins and ends so. */
static bool has_row(const char *csv, const char *begin, const char *end)
{
    for (const char *line = csv; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *stop = line + strcspn(line, "\r\n");
        size_t size = (size_t)(stop - line);
        if (size >= strlen(end) && strncmp(line, begin, strlen(begin)) == 0 &&
            strncmp(stop - strlen(end), end, strlen(end)) == 0)
            return true;
    }
    return false;
}

TEST(scopes_of_another_stack_are_another_row)
{
    takt_trace *trace = make_run();
    takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_CSV, .by_stack = 2};
    char *csv = shown(trace, "scopes", options);
    assert_true(has_row(csv, "pairs,", ",1,3000,3000,forces <- step.c(20): step"));
    assert_true(has_row(csv, "pairs,", ",1,5000,5000,forces <- step.c(21): step"));
    assert_true(has_row(csv, "step,", ",1,100000,100000,step.c(20): step <- main.c(10): main"));
    assert_true(has_row(csv, "step,", ",1,9000,9000,"));
    tkt_free(csv);

    options.by_stack = 1; /* where they differ is no longer seen */
    csv = shown(trace, "scopes", options);
    assert_true(has_row(csv, "pairs,", ",2,3000,5000,forces"));
    assert_true(has_row(csv, "step,", ",1,100000,100000,step.c(20): step"));
    tkt_free(csv);

    options.all = true; /* an activity begins nowhere in the program */
    csv = shown(trace, "scopes", options);
    assert_true(has_row(csv, "cudaLaunchKernel,", ",1,700,700,libforces.so+0x80,call"));
    assert_true(has_row(csv, "kernel pairs,", ",2,,,,activity"));
    tkt_free(csv);
    takt_trace_release(trace);
}

/* However little room there is, and nothing behind it is touched. */
TEST(texts_of_frames_are_cut_to_fit)
{
    static const char *const whole[] = {
        [MAIN] = "main.c(10): main", [FORCES] = "forces", [UNKNOWN] = "libforces.so+0x80"};
    static const uint32_t frames[] = {MAIN, FORCES, UNKNOWN};
    takt_trace *trace = make_run();
    for (size_t i = 0; i < 3; i++) {
        for (size_t size = 1; size < 24; size++) {
            char out[64], expected[64];
            memset(out, '#', sizeof out);
            snprintf(expected, size, "%s", whole[frames[i]]);
            const tkt_frame *frame = &trace->frames.items[frames[i]];
            assert_string_equal(tkt_frame_place(out, size, trace, frame), expected);
            for (size_t behind = size; behind < sizeof out; behind++)
                assert_int_equal(out[behind], '#');
        }
    }
    takt_trace_release(trace);
}

TEST(arguments_and_stacks_divide_together)
{
    takt_trace *trace = make_run();
    make_arg(trace, 0, 1, "cells", TKT_ARG_INT, 8);
    takt_report_options options = {.struct_size = sizeof options,
                                   .format = TAKT_FORMAT_CSV,
                                   .by_stack = 1,
                                   .by_arguments = true};
    char *csv = shown(trace, "scopes", options);
    assert_true(has_row(csv, "pairs,", ",1,3000,3000,cells=8,forces"));
    assert_true(has_row(csv, "pairs,", ",1,5000,5000,,forces"));
    tkt_free(csv);
    options.by_arguments = false;
    csv = shown(trace, "scopes", options);
    assert_true(has_row(csv, "pairs,", ",2,3000,5000,forces"));
    tkt_free(csv);
    takt_trace_release(trace);
}

/* Functions outermost first; a call is one below them. Times are the spans' own. */
TEST(functions_are_folded_with_the_time_of_their_spans)
{
    takt_trace *trace = make_run();
    char *folded = exported(trace, "stacks");
    assert_string_equal(folded, "main;step 92000\n"
                                "main;step;forces 7300\n"
                                "main;step;forces;libforces.so+0x80;cudaLaunchKernel 700\n");
    tkt_free(folded);
    folded = exported(trace, "stacks-device");
    assert_string_equal(folded, "main;step;forces;libforces.so+0x80;kernel_pairs 40000\n"
                                "main;step;kernel_pairs 2000\n");
    tkt_free(folded);
    folded = exported(trace, "folded-device");
    assert_string_equal(folded, "step;kernel_pairs 2000\n"
                                "step;pairs;kernel_pairs 40000\n");
    tkt_free(folded);
    takt_trace_release(trace);
}

TEST(chrome_has_them_under_kinetos_key)
{
    takt_trace *trace = make_run();
    make_arg(trace, 0, 0, "Call stack", TKT_ARG_INT, 1); /* a program's own gets a number */
    char *json = exported(trace, "chrome");
    assert_non_null(strstr(json, "{\"External id\":1,\"Call stack#2\":1,\"Call stack\":"
                                 "\"step.c(20): step;main.c(10): main\"}"));
    assert_non_null(strstr(json, "\"Call stack\":\"libforces.so+0x80;forces;step.c(21): step;"
                                 "main.c(10): main\""));
    size_t count = 0;
    for (const char *at = json; (at = strstr(at, "\"Call stack\":")); at++)
        count++;
    assert_int_equal(count, 4);
    tkt_free(json);
    takt_trace_release(trace);
}

/* ---- Better names ---------------------------------------------------------------------------- */

/* `forces` has `pair` inlined, in both of its places; of `step` both lines are one. */
static size_t name(void *user, const takt_frame_info *frame, takt_frame_info *out, size_t capacity)
{
    (*(size_t *)user)++;
    assert_true(capacity >= 2);
    if (strcmp(frame->module, "/opt/libforces.so") == 0) {
        out[0] = (takt_frame_info){
            .function = "_ZN3sph4pairEi", .file = "/src/pair.h", .line = 5, .is_inline = true};
        out[1] = (takt_frame_info){.function = "forces", .file = "/src/forces.c", .line = 30};
        return frame->offset == 0x40 ? 2 : 0;
    }
    out[0] = (takt_frame_info){.function = frame->function, .file = frame->file, .line = 1};
    return strcmp(frame->function, "step") == 0;
}

TEST(frames_become_what_somebody_knows_of_them)
{
    takt_trace *trace = make_run();
    size_t asked = 0;
    assert_int_equal(tkt_trace_resolve(trace, name, &asked), TAKT_OK);
    assert_int_equal(asked, 5);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_STACKS), 4);
    takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_CSV, .by_stack = 3};
    char *csv = shown(trace, "scopes", options);
    assert_true(has_row(csv, "pairs,",
                        ",2,3000,5000,pair.h(5): sph::pair <- forces.c(30): forces <- "
                        "step.c(1): step"));
    tkt_free(csv);
    char *folded = exported(trace, "stacks");
    assert_string_equal(folded,
                        "main;step 92000\n"
                        "main;step;forces;sph::pair 7300\n"
                        "main;step;forces;sph::pair;libforces.so+0x80;cudaLaunchKernel 700\n");
    tkt_free(folded);

    takt_frame_info frame;
    size_t stack = takt_trace_span_stack(trace, 0, 1);
    assert_int_equal(takt_trace_frame_count(trace, stack), 4);
    assert_int_equal(takt_trace_frame(trace, stack, 0, &frame), TAKT_OK);
    assert_true(frame.is_inline);
    assert_string_equal(frame.module, "/opt/libforces.so");
    assert_int_equal(frame.offset, 0x40);
    takt_trace_release(trace);
}

static size_t know_nothing(void *user, const takt_frame_info *frame, takt_frame_info *out,
                           size_t capacity)
{
    (void)user, (void)frame, (void)out, (void)capacity;
    return 0;
}

TEST(who_knows_nothing_changes_nothing)
{
    takt_trace *trace = make_run(), *same = make_run();
    assert_int_equal(tkt_trace_resolve(trace, know_nothing, NULL), TAKT_OK);
    same_trace(trace, same);
    assert_int_equal(tkt_trace_resolve(trace, NULL, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(tkt_trace_resolve(NULL, know_nothing, NULL), TAKT_BAD_ARGUMENT);
    takt_trace_release(trace);
    takt_trace_release(same);
}

TEST_MAIN(NULL, NULL)
