/* Folded stacks for flame graphs. */
#include "test_chrome.h"
#include "support/test.h"

/* The export of a finished trace, which is released; the caller frees it with tkt_free. */
static char *folded_of(takt_trace *trace)
{
    memory_sink memory = {0};
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    assert_int_equal(export_bytes(trace, "folded", &memory), TAKT_OK);
    takt_trace_release(trace);
    return memory.data;
}

static void check_folded(takt_trace *trace, const char *expected)
{
    char *folded = folded_of(trace);
    assert_string_equal(folded, expected);
    tkt_free(folded);
}

/* A span below another one. */
static uint32_t add_child(takt_trace *trace, uint32_t track, const char *name, uint32_t parent,
                          uint64_t begin, uint64_t end)
{
    uint32_t span = add_span(trace, track, add_scope(trace, name), begin, end);
    trace->tracks.items[track].spans.items[span].parent = parent;
    return span;
}

TEST(values_are_self_times_outermost_first)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    uint32_t step = add_child(trace, track, "step", TKT_NO_SPAN, 0, 100);
    uint32_t forces = add_child(trace, track, "forces", step, 10, 60);
    add_child(trace, track, "pairs", forces, 20, 50);
    add_child(trace, track, "integrate", step, 60, 80);
    check_folded(trace, "step 30\n"
                        "step;forces 20\n"
                        "step;forces;pairs 30\n"
                        "step;integrate 20\n");
}

TEST(equal_paths_of_all_threads_are_one_line)
{
    takt_trace *trace = make_trace();
    for (uint32_t thread = 1; thread <= 3; thread++) {
        uint32_t track = add_thread(trace, "", thread);
        uint32_t step = add_child(trace, track, "step", TKT_NO_SPAN, 0, 10);
        add_child(trace, track, "solve", step, 2, 5);
        add_child(trace, track, "solve", step, 6, 8);
    }
    check_folded(trace, "step 15\nstep;solve 15\n");
}

/* Two places in the source may use one name. */
TEST(sites_of_one_name_are_one_frame)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    add_span(trace, track, add_site(trace, "copy", "a.c", 1), 0, 10);
    add_span(trace, track, add_site(trace, "copy", "b.c", 2), 20, 25);
    check_folded(trace, "copy 15\n");
}

TEST(siblings_stand_in_the_order_of_their_names)
{
    static const char *const names[] = {"b", "a", "ab", "a b", "B", "\xc3\xa4"};
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    for (uint32_t i = 0; i < 6; i++)
        add_child(trace, track, names[i], TKT_NO_SPAN, i * 10, i * 10 + 1);
    check_folded(trace, "B 1\na 1\na_b 1\nab 1\nb 1\n\xc3\xa4 1\n");
}

TEST(frames_without_self_time_are_left_out)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    uint32_t all = add_child(trace, track, "all", TKT_NO_SPAN, 0, 10);
    add_child(trace, track, "most", all, 0, 10);
    add_child(trace, track, "nothing", TKT_NO_SPAN, 20, 20);
    check_folded(trace, "all;most 10\n");
}

TEST(empty_traces_have_no_lines)
{
    check_folded(make_trace(), "");
}

TEST(names_cannot_break_a_line)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    uint32_t outer = add_child(trace, track, "a;b c\td\ne", TKT_NO_SPAN, 0, 10);
    add_child(trace, track, "", outer, 0, 2);
    add_child(trace, track, "\x1b[31m\x7f\r", outer, 2, 4);
    add_child(trace, track, "\xff\xfe", outer, 4, 7);
    check_folded(trace, "a_b_c_d_e 3\n"
                        "a_b_c_d_e;_ 2\n"
                        "a_b_c_d_e;_[31m__ 2\n"
                        "a_b_c_d_e;\xef\xbf\xbd\xef\xbf\xbd 3\n");
}

TEST(recursion_is_a_deeper_path)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    uint32_t parent = TKT_NO_SPAN;
    for (uint64_t depth = 0; depth < 256; depth++)
        parent = add_child(trace, track, "f", parent, depth, 10001 - depth);
    char *folded = folded_of(trace);
    size_t lines = 0;
    for (char *at = folded; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 256);
    assert_memory_equal(folded, "f 2\nf;f 2\nf;f;f 2\n", 18);
    tkt_free(folded);
}

/* A scope was open all the time: its children were counted, it was not. Or a file says so. */
TEST(self_time_is_never_less_than_nothing)
{
    for (int is_of_file = 0; is_of_file < 2; is_of_file++) {
        takt_trace *trace = make_trace();
        assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
        uint32_t outer = tkt_fold_child(&trace->fold, 0, add_scope(trace, "outer"));
        uint32_t inner = tkt_fold_child(&trace->fold, outer, add_scope(trace, "inner"));
        tkt_fold_add(&trace->fold, inner, 30);
        tkt_fold_find_self(&trace->fold);
        if (is_of_file)
            trace->fold.items[outer].stats.self_ns = (uint64_t)-30;
        trace->facts.has_spans = false;
        check_folded(trace, "outer;inner 30\n");
    }
}

TEST(paths_beyond_the_limit_are_called_other)
{
    takt_trace *trace = make_trace();
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    uint32_t outer = tkt_fold_child(&trace->fold, 0, add_scope(trace, "outer"));
    uint32_t other = tkt_fold_find_child(&trace->fold, outer, TKT_SITE_OTHER);
    tkt_fold_add(&trace->fold, other, 7);
    tkt_fold_find_self(&trace->fold);
    trace->facts.has_spans = false;
    check_folded(trace, "outer;(other_paths) 7\n");
}

/* Else a recursion would fill the square of its depth. */
TEST(deep_paths_begin_anew)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1), span = TKT_NO_SPAN;
    for (uint64_t i = 0; i < 600; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u", (unsigned)i);
        span = add_child(trace, track, name, span, i, 1200 - i);
    }
    char *folded = folded_of(trace);
    uint64_t sum = 0;
    size_t lines = 0;
    for (char *line = strtok(folded, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        size_t names = 1;
        for (const char *at = line; *at; at++)
            names += *at == ';';
        assert_true(names <= 256);
        sum += strtoull(strrchr(line, ' '), NULL, 10);
        if (strncmp(line, "...;256 ", 8) == 0)
            assert_int_equal(names, 2);
    }
    assert_int_equal(lines, 600);
    assert_int_equal(sum, 1200);
    tkt_free(folded);
}

static takt_status refuse(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return TAKT_UNSUPPORTED;
}

TEST(the_sinks_status_comes_back)
{
    takt_trace *trace = make_trace();
    add_child(trace, add_thread(trace, "", 1), "a", TKT_NO_SPAN, 0, 1);
    assert_int_equal(takt_export(trace, "folded", &(takt_sink){refuse, NULL}), TAKT_UNSUPPORTED);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
