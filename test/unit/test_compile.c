/* Compilations: reading the time traces of nvcc and NVRTC, their place on the timeline, the files
 * that match a pattern, and the numbers of the report. */
#include "profiler/compile.h"
#include "summary/compile.h"
#include "test_profiler_folder.h"

#include <fcntl.h>

/* Times are us. Two headers nest and end together, two optimisations overlap without nesting;
 * process 7 works beside process 0, and gets its name at the end. */
static const char example[] =
    "{\"otherData\" : {\"inputFiles\": [\"../src/solver.cu\"], \"isNVRTC\": 0},\n"
    "\"traceEvents\" : [ {},\n"
    "{\"args\":{\"detail\":\"solver.cu\"},\"dur\":6000,\"name\":\"Front-End\",\"ph\":\"X\","
    "\"pid\":0,\"tid\":0,\"ts\":0},\n"
    "{\"args\":{\"detail\":\"x.h\"},\"dur\":3000,\"name\":\"Header\",\"ph\":\"X\",\"ts\":1000},\n"
    "{\"args\":{\"detail\":\"y.h\"},\"dur\":1000,\"name\":\"Header\",\"ph\":\"X\",\"ts\":3000},\n"
    "{\"dur\":3000,\"name\":\"LibNVVM\",\"ph\":\"X\",\"ts\":6000},\n"
    "{\"args\":{\"detail\":\"f\"},\"dur\":500,\"name\":\"Opt\",\"ph\":\"X\",\"ts\":7000},\n"
    "{\"args\":{\"detail\":\"g\"},\"dur\":900,\"name\":\"Opt\",\"ph\":\"X\",\"ts\":7300},\n"
    "{\"args\":{\"name\":\"f\"},\"dur\":100.5,\"name\":\"PTXAS\",\"ph\":\"X\",\"pid\":7,\"ts\":"
    "8950},\n"
    "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":7,\"tid\":0,\"args\":{\"name\":"
    "\"solver.cu [sm_80]\"}}\n"
    "]}\n";

static const char *write_file(const char *name, const char *content, size_t size)
{
    const char *path = in_folder(folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    fclose(file);
    return path;
}

static takt_status read_text(tkt_compile_file *file, const char *content, takt_error *error)
{
    return tkt_compile_read(file, write_file("a.json", content, strlen(content)), error);
}

static takt_profiler *recording(void)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 0});
    pass_ns(1000); /* away from the spans of the test before */
    return started(&options);
}

static const takt_trace *stopped(takt_profiler *profiler)
{
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_int_equal(traces.count, 1);
    return traces.items[0];
}

/* The span of that name on the track of that name; the track's number of spans. */
static takt_span_info span_of(const takt_trace *trace, const char *track_name, const char *name,
                              size_t *count)
{
    takt_span_info found = {.name = NULL};
    *count = 0;
    for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++) {
        takt_track_info track;
        takt_trace_track(trace, t, &track);
        if (!track.name || strcmp(track.name, track_name) != 0)
            continue;
        *count = track.span_count;
        for (size_t i = 0; i < track.span_count; i++) {
            takt_span_info span;
            takt_trace_span(trace, t, i, &span);
            if (strcmp(span.name, name) == 0)
                found = span;
        }
    }
    return found;
}

static const char *first_span_of(const takt_trace *trace, const char *track_name)
{
    for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++) {
        takt_track_info track;
        takt_span_info span;
        takt_trace_track(trace, t, &track);
        if (track.name && strcmp(track.name, track_name) == 0 &&
            takt_trace_span(trace, t, 0, &span) == TAKT_OK)
            return span.name;
    }
    return NULL;
}

static void assert_span(const takt_trace *trace, const char *track, const char *name,
                        uint64_t begin_ns, uint64_t end_ns)
{
    size_t count;
    takt_span_info span = span_of(trace, track, name, &count);
    assert_non_null(span.name);
    assert_int_equal(span.begin_ns, begin_ns);
    assert_int_equal(span.end_ns, end_ns);
}

/* ---- Reading --------------------------------------------------------------------------------- */

TEST(phases_have_times_names_and_details)
{
    tkt_compile_file file;
    takt_error error;
    assert_int_equal(read_text(&file, example, &error), TAKT_OK);
    assert_int_equal(file.spans.count, 7);
    assert_string_equal(file.unit, "../src/solver.cu");
    assert_int_equal(file.end_ns, 9050500);
    const tkt_compile_span *header = &file.spans.items[1];
    assert_int_equal(header->begin_ns, 1000000);
    assert_int_equal(header->end_ns, 4000000);
    assert_string_equal(tkt_strtab_text(&file.names, header->name), "Header");
    assert_string_equal(header->detail, "x.h");
    assert_string_equal(file.spans.items[4].detail, ""); /* short */
    assert_string_equal(file.rows.items[file.spans.items[6].row].unit, "solver.cu [sm_80]");
    assert_int_equal(file.wrong, 0);
    tkt_compile_file_fini(&file);
}

TEST(every_truncated_file_is_refused_with_a_place)
{
    for (size_t size = 0; size < strlen(example) - 2; size++) {
        tkt_compile_file file;
        takt_error error = {.status = TAKT_OK};
        const char *path = write_file("cut.json", example, size);
        assert_int_equal(tkt_compile_read(&file, path, &error), TAKT_BAD_TRACE);
        assert_true(error.line >= 1 && error.column >= 1);
        assert_non_null(strstr(error.message, "compile again"));
        tkt_compile_file_fini(&file);
    }
}

TEST(events_without_usable_times_are_counted_and_the_rest_is_kept)
{
    static const char *const wrong[] = {"{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}",
                                        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"1\",\"dur\":1}",
                                        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-1}",
                                        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":-1,\"dur\":1}",
                                        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1e300,\"dur\":1}",
                                        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":null,\"dur\":1}",
                                        "{\"ph\":\"X\",\"name\":7,\"ts\":1,\"dur\":1}",
                                        "{\"ph\":\"X\",\"name\":{\"a\":[]},\"ts\":[1],\"dur\":1}"};
    static const char *const ignored[] = {"1",
                                          "null",
                                          "[]",
                                          "{\"ph\":{}}",
                                          "{\"ph\":\"B\",\"name\":\"a\",\"ts\":1}",
                                          "{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":7}",
                                          "\"x\""};
    char text[4096] = "{\"traceEvents\":[\n";
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        strcat(strcat(text, ignored[i]), ",");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        strcat(strcat(text, "\n"), strcat(strcpy(text + 3000, wrong[i]), ","));
    strcat(text,
           "{\"ph\":\"X\",\"name\":\"good\",\"pid\":-1e40,\"tid\":\"q\",\"ts\":1,\"dur\":2}]}");
    tkt_compile_file file;
    takt_error error;
    assert_int_equal(read_text(&file, text, &error), TAKT_OK);
    assert_int_equal(file.wrong, sizeof wrong / sizeof *wrong);
    assert_int_equal(file.wrong_line, 3);
    assert_int_equal(file.spans.count, 1);
    tkt_compile_file_fini(&file);
}

TEST(malformed_files_are_refused)
{
    static const char *const cases[] = {
        "",
        "[]",
        "7",
        "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":NaN,\"dur\":1}]}",
        "{\"traceEvents\":[{}, \"inputFiles\": []]}",
        "{} {}",
        "{}",
        "{\"traceEvents\":{}}",
        "{\"otherData\":{}}",
        "{\"traceEvents\":[],\"traceEvents\":7}"};
    static char deep[20100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tkt_compile_file file;
        takt_error error = {.status = TAKT_OK};
        assert_int_equal(read_text(&file, cases[i], &error), TAKT_BAD_TRACE);
        assert_true(i < 6 || strstr(error.message, "expected an object with a list"));
        tkt_compile_file_fini(&file);
    }
    strcpy(deep, "{\"traceEvents\":[{\"args\":");
    memset(deep + strlen(deep), '[', 10000);
    tkt_compile_file file;
    takt_error error = {.status = TAKT_OK};
    assert_int_equal(read_text(&file, deep, &error), TAKT_BAD_TRACE);
    assert_non_null(strstr(error.message, "nested more than 512 deep"));
    tkt_compile_file_fini(&file);
    assert_int_equal(tkt_compile_read(&file, in_folder(folder, "none.json"), &error),
                     TAKT_IO_ERROR);
    tkt_compile_file_fini(&file);
}

/* 40000 phases of 1 to 40000 us, in an order that is neither ascending nor descending. */
TEST(of_too_many_phases_the_longest_are_kept)
{
    const char *path = in_folder(folder, "big.json");
    FILE *out = fopen(path, "w");
    fputs("{\"traceEvents\":[", out);
    for (unsigned i = 0; i < 40000; i++)
        fprintf(out, "{\"ph\":\"X\",\"name\":\"p%u\",\"ts\":1,\"dur\":%u},", i % 5000,
                i * 7919 % 40000 + 1);
    fputs("{}]}", out);
    fclose(out);
    tkt_compile_file file;
    takt_error error;
    assert_int_equal(tkt_compile_read(&file, path, &error), TAKT_OK);
    assert_int_equal(file.spans.count, TKT_COMPILE_SPANS);
    assert_int_equal(file.left_out, 40000 - TKT_COMPILE_SPANS);
    for (size_t i = 0; i < file.spans.count; i++) {
        const tkt_compile_span *span = &file.spans.items[i];
        assert_true(span->end_ns - span->begin_ns > 1000u * (40000 - TKT_COMPILE_SPANS));
    }
    tkt_compile_file_fini(&file);
}

/* ---- The timeline ---------------------------------------------------------------------------- */

TEST(a_timed_compilation_is_where_it_happened)
{
    const char *path = write_file("a.json", example, strlen(example));
    takt_profiler *profiler = recording();
    uint64_t begin_ns = takt_now_ns();
    pass_ns(10000000);
    assert_int_equal(takt_compile_add(path, "mine.cu", begin_ns, takt_now_ns(), NULL), TAKT_OK);
    pass_ns(1000);
    const takt_trace *trace = stopped(profiler);
    const char *unit = "compile: mine.cu";
    assert_span(trace, unit, "compilation", begin_ns, begin_ns + 10000000);
    assert_span(trace, unit, "Header: y.h", begin_ns + 3000000, begin_ns + 4000000);
    assert_span(trace, unit, "Front-End: solver.cu", begin_ns, begin_ns + 6000000);
    assert_string_equal(first_span_of(trace, unit), "compilation"); /* drawn above the phases */
    assert_span(trace, "compile: mine.cu [sm_80]", "PTXAS", begin_ns + 8950000, begin_ns + 9050500);
    assert_int_equal(count_lines(-1, "phases"), 0);
}

/* nvcc compiles several inputs into one file. */
TEST(another_input_belongs_to_the_whole)
{
    static const char text[] =
        "{\"otherData\":{\"inputFiles\":[\"a.cu\",\"b.cu\"]},\"traceEvents\":["
        "{\"dur\":600,\"name\":\"F\",\"ph\":\"X\",\"pid\":1,\"ts\":0},"
        "{\"dur\":600,\"name\":\"F\",\"ph\":\"X\",\"pid\":2,\"ts\":300},"
        "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"a.cu\"}},"
        "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":2,\"args\":{\"name\":"
        "\"b.cu [sm_90]\"}}]}";
    const char *path = write_file("a.json", text, strlen(text));
    takt_profiler *profiler = recording();
    uint64_t begin_ns = takt_now_ns();
    pass_ns(1000000);
    assert_int_equal(takt_compile_add(path, "all", begin_ns, takt_now_ns(), NULL), TAKT_OK);
    const takt_trace *trace = stopped(profiler);
    assert_span(trace, "compile: all", "F", begin_ns, begin_ns + 600000);
    assert_span(trace, "compile: all: b.cu [sm_90]", "F", begin_ns + 300000, begin_ns + 900000);
    tkt_compiles compiles = {.self_ns = 0};
    assert_int_equal(tkt_compiles_of(trace, &compiles), TAKT_OK);
    assert_int_equal(compiles.self_ns, 100000 + 600000 + 600000);
    tkt_compiles_fini(&compiles);
}

/* Without an overlap the thread's name does not matter. */
TEST(what_happens_one_after_the_other_shares_a_track)
{
    char text[sizeof example];
    strcpy(text, example);
    memcpy(strstr(text, "8950"), "9000", 4);
    const char *path = write_file("a.json", text, strlen(text));
    takt_profiler *profiler = recording();
    uint64_t begin_ns = takt_now_ns();
    pass_ns(10000000);
    assert_int_equal(takt_compile_add(path, NULL, begin_ns, takt_now_ns(), NULL), TAKT_OK);
    size_t count;
    const takt_trace *trace = stopped(profiler);
    assert_non_null(span_of(trace, "compile: solver.cu", "PTXAS", &count).name);
    assert_int_equal(count, 8);
}

TEST(phases_beyond_the_end_are_cut_and_marked)
{
    const char *path = write_file("a.json", example, strlen(example));
    takt_profiler *profiler = recording();
    uint64_t begin_ns = takt_now_ns();
    pass_ns(6500000);
    assert_int_equal(takt_compile_add(path, NULL, begin_ns, takt_now_ns(), NULL), TAKT_OK);
    const takt_trace *trace = stopped(profiler);
    size_t count;
    assert_span(trace, "compile: solver.cu", "compilation (cut)", begin_ns, begin_ns + 6500000);
    assert_span(trace, "compile: solver.cu", "LibNVVM", begin_ns + 6000000, begin_ns + 6500000);
    assert_null(span_of(trace, "compile: solver.cu", "Opt", &count).name);
    assert_int_equal(count, 5);
}

TEST(a_malformed_file_costs_only_its_phases)
{
    const char *path = write_file("a.json", example, 300);
    takt_profiler *profiler = recording();
    takt_error error = {.status = TAKT_OK};
    uint64_t begin_ns = takt_now_ns();
    pass_ns(5000);
    assert_int_equal(takt_compile_add(path, "a.cu", begin_ns, takt_now_ns(), &error),
                     TAKT_BAD_TRACE);
    assert_true(error.line > 2 && error.column > 1);
    {
        TAKT_SCOPE("the rest");
        pass_ns(5);
    }
    const takt_trace *trace = stopped(profiler);
    size_t count;
    assert_non_null(span_of(trace, "compile: a.cu", "compilation", &count).name);
    assert_int_equal(count, 1);
    assert_int_equal(count_spans(trace, "the rest"), 1);
}

TEST(nothing_happens_while_nothing_records)
{
    const char *path = write_file("a.json", example, strlen(example));
    takt_error error = {.status = TAKT_OK};
    assert_null(takt_compile_begin("a.cu"));
    assert_null(takt_compile_option(NULL));
    takt_compile_end(NULL);
    assert_int_equal(takt_compile_add(path, "a", 1, 2, &error), TAKT_BAD_STATE);
    assert_int_equal(takt_compile_add(path, "a", 2, 1, &error), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_compile_add(NULL, "a", 1, 2, &error), TAKT_BAD_ARGUMENT);
}

/* Stands in for a compiler: writes PATH.json, as the option says. */
static void compile(const char *option, const char *content, char *path, size_t size)
{
    snprintf(path, size, "%s.json", strchr(option, '=') + 1);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

TEST(begin_and_end_surround_a_compiler_and_leave_no_file)
{
    char path[2048], bad[2048];
    takt_profiler *profiler = recording();
    takt_compile *first = takt_compile_begin("dir/a b.cu"), *second = takt_compile_begin(NULL);
    assert_non_null(strstr(takt_compile_option(first), "/dir_a_b.cu_compile-time-trace"));
    assert_string_not_equal(takt_compile_option(first), takt_compile_option(second));
    uint64_t begin_ns = takt_now_ns();
    compile(takt_compile_option(first), example, path, sizeof path);
    compile(takt_compile_option(second), "{oops", bad, sizeof bad);
    pass_ns(20000000);
    takt_compile_end(first);
    takt_compile_end(second);
    assert_int_not_equal(access(path, F_OK), 0);
    *strrchr(path, '/') = 0;
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, ":1:2: expected a key"), 1);
    const takt_trace *trace = stopped(profiler);
    assert_span(trace, "compile: dir/a b.cu", "Header: x.h", begin_ns + 1000000,
                begin_ns + 4000000);
    assert_span(trace, "compile: (unnamed)", "compilation", begin_ns, begin_ns + 20000000);
}

TEST(a_long_unit_is_cut_between_characters)
{
    char track[100] = "compile: "; /* behind it, 40 characters of two bytes */
    char *unit = track + strlen(track);
    for (size_t i = 0; i < 40; i++)
        memcpy(unit + 2 * i, "\xc3\xa4", 2);
    takt_profiler *profiler = recording();
    uint64_t begin_ns = takt_now_ns();
    takt_compile *compile = takt_compile_begin(unit);
    pass_ns(7);
    takt_compile_end(compile);
    unit[62] = 0;
    assert_span(stopped(profiler), track, "compilation", begin_ns, begin_ns + 7);
}

TEST(a_compiler_that_writes_no_file_leaves_the_whole)
{
    takt_profiler *profiler = recording();
    uint64_t begin_ns = takt_now_ns();
    takt_compile *compile = takt_compile_begin("a.cu");
    pass_ns(7);
    takt_compile_end(compile);
    assert_span(stopped(profiler), "compile: a.cu", "compilation", begin_ns, begin_ns + 7);
    assert_int_equal(count_lines(-1, "a.cu"), 0);
}

/* ---- Files that match a pattern -------------------------------------------------------------- */

static void set_date(const char *path, int64_t realtime_ns)
{
    const struct timespec date = {realtime_ns / 1000000000, realtime_ns % 1000000000};
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){date, date}, 0), 0);
}

/* Three files: from before the recording, from within, from the future; and a broken one. */
TEST(files_of_a_pattern_end_at_their_date)
{
    tkt_clock_fake(NULL);
    char pattern[2100];
    snprintf(pattern, sizeof pattern, "%s/*.json", folder);
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 0});
    options.compile_traces = (const char *const[]){pattern, "/nowhere/*.json"};
    options.compile_trace_count = 2;
    uint64_t before_ns = takt_now_ns();
    takt_profiler *profiler = started(&options);
    uint64_t start_ns = takt_now_ns();
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    uint64_t read_ns = takt_now_ns();
    int64_t offset_ns = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec - (int64_t)read_ns;
    while (takt_now_ns() < read_ns + 30000000)
        ;
    const char *names[] = {"before.json", "within.json", "future.json"};
    const uint64_t dates[] = {before_ns - 5000000, read_ns + 20000000, read_ns + 3600000000000};
    for (size_t i = 0; i < 3; i++)
        set_date(write_file(names[i], example, strlen(example)), (int64_t)dates[i] + offset_ns);
    write_file("broken.json", "{\"traceEvents\":[\n{\"ph\":}]}", 26);
    const takt_trace *trace = stopped(profiler);
    size_t count;
    takt_span_info whole =
        span_of(trace, "compile: solver.cu", "compilation (placed by file date)", &count);
    assert_int_equal(count, 14); /* of two files */
    assert_non_null(whole.name);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "no file matches /nowhere/*.json"), 1);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "no file matches"), 1);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "broken.json:2:7: expected a value"), 1);
    /* "within" began 9.1 ms before its date. The time between this test's readings of both clocks
     * is unknown, and Takt's readings are less than 1 ms apart. */
    int64_t most = 20000000 - 9050500 + 1000000 + 1000000;
    int64_t least = most - 2000000 - (int64_t)(read_ns - start_ns);
    bool is_found = false;
    for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++) {
        takt_track_info track;
        takt_trace_track(trace, t, &track);
        for (size_t i = 0; i < track.span_count; i++) {
            takt_span_info span;
            takt_trace_span(trace, t, i, &span);
            int64_t after = (int64_t)(span.begin_ns - read_ns);
            is_found |= strcmp(span.name, "Header: x.h") == 0 && after > least && after < most;
        }
    }
    assert_true(is_found);
}

static const takt_trace *collected(const char *const *patterns, size_t count)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 0});
    options.compile_traces = patterns;
    options.compile_trace_count = count;
    return stopped(started(&options));
}

TEST(a_pattern_without_files_is_told_once)
{
    tkt_clock_fake(NULL);
    char pattern[2100], line[2200];
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1, .repeat = 2});
    snprintf(pattern, sizeof pattern, "%s/*.json", folder);
    options.compile_traces = (const char *const[]){pattern, "none-*.json"};
    options.compile_trace_count = 2;
    takt_profiler *profiler = started(&options);
    takt_profiler_step(profiler);
    takt_profiler_step(profiler);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    snprintf(line, sizeof line, "no file matches %s", pattern);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, line), 1);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "no file matches none-*.json in /"), 1);
}

/* Spans are the process's: the file that one profiler finds is in the other's trace, too. */
TEST(two_profilers_record_a_file_once)
{
    tkt_clock_fake(NULL);
    char pattern[2100];
    snprintf(pattern, sizeof pattern, "%s/*.json", folder);
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 0});
    options.compile_traces = (const char *const[]){pattern};
    options.compile_trace_count = 1;
    takt_profiler *first = started(&options), *second = started(&options);
    for (uint64_t begin_ns = takt_now_ns(); takt_now_ns() < begin_ns + 20000000;)
        ;
    write_file("a.json", example, strlen(example));
    assert_int_equal(takt_profiler_stop(first), TAKT_OK);
    assert_int_equal(takt_profiler_stop(second), TAKT_OK);
    takt_profiler_destroy(first);
    takt_profiler_destroy(second);
    assert_int_equal(traces.count, 2);
    for (size_t i = 0; i < 2; i++) {
        size_t count;
        const char *whole = "compilation (placed by file date)";
        assert_non_null(span_of(traces.items[i], "compile: solver.cu", whole, &count).name);
        assert_int_equal(count, 7);
    }
}

TEST(files_of_an_earlier_build_are_told)
{
    tkt_clock_fake(NULL);
    char pattern[2100];
    snprintf(pattern, sizeof pattern, "%s/*.json", folder);
    set_date(write_file("old.json", example, strlen(example)), 1000000000);
    collected((const char *const[]){pattern}, 1);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "of 1 files that match"), 1);
}

TEST(many_bad_files_do_not_flood_the_log)
{
    tkt_clock_fake(NULL);
    char pattern[2100], name[32];
    snprintf(pattern, sizeof pattern, "%s/*.json", folder);
    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%u.json", i);
        const char *content = i % 2 ? "{oops" : "{\"traceEvents\":[{\"ph\":\"X\"}]}";
        set_date(write_file(name, content, strlen(content)), (int64_t)1 << 61);
    }
    collected((const char *const[]){pattern}, 1);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, ".json:1"), 3);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "and 297 more"), 1);
}

/* ---- The report ------------------------------------------------------------------------------ */

static const tkt_compile_phase *phase_of(const tkt_compiles *compiles, const char *name)
{
    for (size_t i = 0; i < compiles->phases.count; i++) {
        const tkt_compile_phase *phase = &compiles->phases.items[i];
        if (phase->phase_size == strlen(name) && memcmp(phase->phase, name, strlen(name)) == 0)
            return phase;
    }
    fail_msg("no phase %s", name);
    return NULL;
}

static void assert_phase(const tkt_compiles *compiles, const char *name, uint64_t count,
                         uint64_t total_us, double self_us, uint64_t max_us)
{
    const tkt_compile_phase *phase = phase_of(compiles, name);
    assert_int_equal(phase->count, count);
    assert_int_equal(phase->total_ns, total_us * 1000);
    assert_int_equal(phase->self_ns, (uint64_t)(self_us * 1000));
    assert_int_equal(phase->max_ns, max_us * 1000);
}

/* Worked out by hand from the times in `example`. PTXAS is on a track of its own, and 50 us of it
 * beside LibNVVM: it takes only 50.5 us from the whole. */
static void assert_numbers(const takt_trace *trace)
{
    tkt_compiles compiles = {.self_ns = 0};
    assert_int_equal(tkt_compiles_of(trace, &compiles), TAKT_OK);
    assert_int_equal(compiles.phases.count, 6);
    assert_phase(&compiles, "compilation", 1, 10000, 949.5, 10000);
    assert_phase(&compiles, "Front-End", 1, 6000, 3000, 6000);
    assert_phase(&compiles, "Header", 2, 3000, 3000, 3000);
    assert_phase(&compiles, "LibNVVM", 1, 3000, 1600, 3000);
    assert_phase(&compiles, "Opt", 2, 1400, 1400, 900);
    assert_int_equal(phase_of(&compiles, "PTXAS")->total_ns, 100500);
    assert_string_equal(phase_of(&compiles, "PTXAS")->unit, "solver.cu [sm_80]");
    assert_int_equal(compiles.self_ns, 10000000 + 50000);
    tkt_compiles_fini(&compiles);
}

TEST(phases_add_up_by_unit_also_in_a_trace_read_back)
{
    const char *path = write_file("a.json", example, strlen(example));
    takt_profiler *profiler = recording();
    uint64_t begin_ns = takt_now_ns();
    pass_ns(10000000);
    assert_int_equal(takt_compile_add(path, NULL, begin_ns, takt_now_ns(), NULL), TAKT_OK);
    const takt_trace *trace = stopped(profiler);
    assert_numbers(trace);
    const char *saved = in_folder(folder, "a.pftrace");
    takt_trace *again;
    takt_error error;
    assert_int_equal(takt_export_file(trace, "perfetto", saved, NULL, &error), TAKT_OK);
    assert_int_equal(takt_trace_open(saved, &again, &error), TAKT_OK);
    assert_numbers(again);
    takt_trace_release(again);
}

TEST_MAIN_EACH(set_up, tear_down)
