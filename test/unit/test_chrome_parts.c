/* Chrome JSON that is too large for one file. */
#include "test_chrome.h"

#include "export/chrome.h"
#include "test_export_folder.h"
#include "support/test.h"

#define LIMIT (UINT64_C(64) << 10)

typedef struct log_lines {
    size_t count;
    char first[512];
} log_lines;

static void keep_line(takt_log_level level, const char *line, void *user)
{
    log_lines *lines = user;
    assert_int_equal(level, TAKT_LOG_INFO);
    if (lines->count++ == 0)
        snprintf(lines->first, sizeof lines->first, "%s", line);
}

/* `threads` threads with spans of 10 ns every 20, named 0, 1, ... after their order in time. */
static takt_trace *make_long_trace(uint32_t threads, uint32_t spans)
{
    takt_trace *trace = make_trace();
    char name[64];
    for (uint32_t t = 0; t < threads; t++) {
        snprintf(name, sizeof name, "worker %u", t);
        uint32_t track = add_thread(trace, name, t + 1);
        for (uint32_t i = 0; i < spans; i++) {
            snprintf(name, sizeof name, "span %u", i);
            add_span(trace, track, add_site(trace, name, "a.c", i), 20 * i, 20 * i + 10);
        }
    }
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

static uint32_t files_written;

static void export_file(const takt_trace *trace, const char *path, uint64_t max_bytes)
{
    takt_error error;
    files_written = 0;
    takt_export_options options = {
        .struct_size = sizeof options, .max_bytes = max_bytes, .files = &files_written};
    if (takt_export_file(trace, "chrome", path, &options, &error) != TAKT_OK)
        fail_msg("%s", error.message);
}

/* Reads NAME.json, NAME.2.json, ... and returns how many there are. */
static size_t read_parts(const char *folder, const char *name, json_t **parts, size_t most)
{
    char path[600];
    size_t count = 0;
    for (;; count++) {
        snprintf(path, sizeof path, count ? "%s.%zu.json" : "%s.json", name, count + 1);
        if (!exists(folder, path))
            return count;
        assert_true(count < most);
        size_t size;
        char *data = read_whole(folder, path, &size);
        assert_true(size <= LIMIT);
        parts[count] = parse_json(data, size);
        tkt_free(data);
    }
}

TEST(long_traces_go_on_in_numbered_files)
{
    const char *folder = make_folder();
    takt_trace *trace = make_long_trace(1, 3000);
    log_lines lines = {0};
    takt_set_log(keep_line, &lines);
    export_file(trace, in_folder(folder, "a.json"), LIMIT);
    takt_set_log(NULL, NULL);

    json_t *parts[32];
    size_t count = read_parts(folder, "a", parts, 32);
    assert_int_equal(files_written, count);
    assert_true(count > 3);
    assert_int_equal(count_entries(folder), count);
    assert_int_equal(lines.count, 1);
    assert_non_null(strstr(lines.first, "a.json has reached its limit of 65536 bytes"));
    char range[64];
    snprintf(range, sizeof range, "a.2.json to %s/a.%zu.json", folder, count);
    assert_non_null(strstr(lines.first, range));
    for (size_t i = 0; i < count; i++)
        json_decref(parts[i]);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(every_file_is_complete_by_itself)
{
    const char *folder = make_folder();
    takt_trace *trace = make_long_trace(3, 1000);
    export_file(trace, in_folder(folder, "a.json"), LIMIT);
    json_t *parts[32];
    size_t count = read_parts(folder, "a", parts, 32);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(integer_of(parts[i], "baseTimeNanoseconds"), BASE_NS);
        assert_int_equal(integer_of(json_object_get(parts[i], "takt"), "part"), i + 1);
        find_event(parts[i], "M", "process_name");
        find_event(parts[i], "i", "Iteration Start: Takt");
        find_event(parts[i], "i", "Record Window End");
        size_t index;
        json_t *event;
        json_array_foreach(json_object_get(parts[i], "traceEvents"), index, event)
        {
            if (strcmp(string_of(event, "ph"), "X") == 0)
                assert_non_null(row_name(parts[i], integer_of(event, "tid")));
        }
        json_decref(parts[i]);
    }
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(every_span_is_in_one_file)
{
    enum {
        THREADS = 3,
        SPANS = 1500
    };
    const char *folder = make_folder();
    takt_trace *trace = make_long_trace(THREADS, SPANS);
    export_file(trace, in_folder(folder, "a.json"), LIMIT);
    static uint8_t seen[THREADS + 1][SPANS];
    memset(seen, 0, sizeof seen);
    json_t *parts[32];
    size_t count = read_parts(folder, "a", parts, 32);
    for (size_t i = 0; i < count; i++) {
        size_t index;
        json_t *event;
        json_array_foreach(json_object_get(parts[i], "traceEvents"), index, event)
        {
            if (strcmp(string_of(event, "ph"), "X") == 0)
                seen[integer_of(event, "tid")][begin_of(event) / 20]++;
        }
        json_decref(parts[i]);
    }
    for (size_t t = 1; t <= THREADS; t++) {
        for (size_t i = 0; i < SPANS; i++)
            assert_int_equal(seen[t][i], 1);
    }
    takt_trace_release(trace);
    remove_folder(folder);
}

/* Only by windows of time can a viewer show what happened at the same time. */
TEST(files_divide_time_and_not_threads)
{
    enum {
        THREADS = 2,
        SPANS = 60000
    };
    takt_trace *trace = make_trace();
    uint32_t site = add_scope(trace, "a");
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t track = add_thread(trace, "", t + 1);
        for (uint32_t i = 0; i < SPANS; i++)
            add_span(trace, track, site, 20 * i, 20 * i + 10);
    }
    for (uint64_t i = 0; i < 10; i++)
        *TKT_ARRAY_ADD(&trace->steps) = (tkt_step){i, BEGIN_NS + 120000 * i, BEGIN_NS + 120000 * i};
    const char *folder = make_folder();
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    export_file(trace, in_folder(folder, "a.json"), 4 << 20);
    size_t size;
    char *data = read_whole(folder, "a.json", &size);
    json_t *json = parse_json(data, size);
    size_t counts[THREADS + 1] = {0};
    size_t steps = 0;
    size_t index;
    json_t *event;
    json_array_foreach(json_object_get(json, "traceEvents"), index, event)
    {
        if (strcmp(string_of(event, "ph"), "X") != 0)
            continue;
        if (strcmp(string_of(event, "cat"), "cpu_op") == 0)
            counts[integer_of(event, "tid")]++;
        else
            steps++;
    }
    assert_true(counts[1] < 40000 && counts[2] < 40000);
    assert_true(counts[1] - counts[2] < 20000); /* one window */
    assert_true(steps > 2 && steps < 8);
    json_decref(json);
    tkt_free(data);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(without_a_limit_there_is_one_file)
{
    const char *folder = make_folder();
    takt_trace *trace = make_long_trace(1, 3000);
    export_file(trace, in_folder(folder, "a.json"), 0);
    export_file(trace, in_folder(folder, "b.json"), UINT64_MAX);
    assert_int_equal(count_entries(folder), 2);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(tiny_limits_are_raised)
{
    const char *folder = make_folder();
    takt_trace *trace = make_long_trace(1, 500);
    export_file(trace, in_folder(folder, "a.json"), 1);
    size_t size;
    char *data = read_whole(folder, "a.json", &size);
    assert_true(size <= TKT_CHROME_MIN_BYTES && size > TKT_CHROME_MIN_BYTES / 2);
    tkt_free(data);
    takt_trace_release(trace);
    remove_folder(folder);
}

/* A span whose name alone is larger than a file may be. */
TEST(an_event_of_any_size_is_written)
{
    const char *folder = make_folder();
    takt_trace *trace = make_trace();
    size_t big = 100000;
    char *name = malloc(big + 1);
    memset(name, 'n', big);
    name[big] = '\0';
    uint32_t track = add_thread(trace, "", 1);
    for (uint32_t i = 0; i < 3; i++)
        add_span(trace, track, add_scope(trace, name), i * 10, i * 10 + 5);
    free(name);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    export_file(trace, in_folder(folder, "a.json"), LIMIT);
    assert_int_equal(count_entries(folder), 3);
    for (uint32_t i = 1; i <= 3; i++) {
        char path[32];
        snprintf(path, sizeof path, i == 1 ? "a.json" : "a.%u.json", i);
        size_t size;
        char *data = read_whole(folder, path, &size);
        json_t *json = parse_json(data, size);
        assert_int_equal(count_phase(json, "X"), 1);
        json_decref(json);
        tkt_free(data);
    }
    takt_trace_release(trace);
    remove_folder(folder);
}

/* Then no event fits beside it, and each has a file of its own; but none is empty. */
TEST(a_head_of_any_size_is_written)
{
    const char *folder = make_folder();
    takt_trace *trace = make_long_trace(1, 5);
    char *name = malloc(LIMIT + 1);
    memset(name, 'n', LIMIT);
    name[LIMIT] = '\0';
    trace->name = text(trace, name);
    free(name);
    export_file(trace, in_folder(folder, "a.json"), LIMIT);
    assert_int_equal(count_entries(folder), 5);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(packed_and_odd_names_get_their_number_too)
{
    const char *folder = make_folder();
    takt_trace *trace = make_long_trace(1, 1000);
    static const char *const names[][2] = {{"a.trace.json.gz", "a.trace.2.json.gz"},
                                           {"b.gz", "b.2.gz"},
                                           {"c", "c.2"},
                                           {".json", ".2.json"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        export_file(trace, in_folder(folder, names[i][0]), LIMIT);
        assert_true(exists(folder, names[i][0]));
        assert_true(exists(folder, names[i][1]));
    }
    takt_trace_release(trace);
    remove_folder(folder);
}

/* torch's plugin takes the number for the span of a worker. */
TEST(tensorboards_files_count_their_time_up)
{
    const char *folder = make_folder();
    takt_trace *trace = make_long_trace(1, 1000);
    char path[1024];
    takt_export_options options = {.struct_size = sizeof options, .max_bytes = LIMIT};
    assert_int_equal(
        takt_export_output(trace, "tensorboard", folder, &options, path, sizeof path, NULL),
        TAKT_OK);
    char name[512];
    for (uint64_t part = 0; part < 2; part++) {
        snprintf(name, sizeof name, "%s_%u.%llu.pt.trace.json.gz", tkt_host_name(), PID,
                 (unsigned long long)(REALTIME_NS + (int64_t)BEGIN_NS) + part);
        assert_true(exists(folder, name));
    }
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST_MAIN(NULL, NULL)
