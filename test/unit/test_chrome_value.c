/* Strings and numbers of Chrome's JSON, with values that programs should not have but do. */
#include "test_chrome.h"

#include "export/chrome.h"
#include "test_export_folder.h"
#include "support/test.h"
#include "support/skip.h"

#include <float.h>
#include <locale.h>

/* What the function writes, NUL-terminated, in static storage. */
static const char *double_text(double value)
{
    static char copy[128];
    memory_sink memory = {0};
    tkt_writer writer;
    assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&memory), 0), TAKT_OK);
    tkt_chrome_put_double(&writer, value);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
    assert_true(memory.size < sizeof copy);
    memcpy(copy, memory.data, memory.size);
    copy[memory.size] = '\0';
    tkt_free(memory.data);
    return copy;
}

static void check_round_trip(double value)
{
    const char *text = double_text(value);
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!json || !json_is_real(json) || json_real_value(json) != value)
        fail_msg("%a became %s", value, text);
    json_decref(json);
}

TEST(doubles_are_short_where_they_can_be)
{
    assert_string_equal(double_text(0), "0.0");
    assert_string_equal(double_text(-0.0), "-0.0");
    assert_string_equal(double_text(3), "3.0");
    assert_string_equal(double_text(-12.5), "-12.5");
    assert_string_equal(double_text(0.1), "0.1");
    assert_string_equal(double_text(1e-9), "0.000000001");
    assert_string_equal(double_text(1234567.089), "1234567.089");
    assert_string_equal(double_text(1e300), "1e+300");
    assert_string_equal(double_text(5e-324), "4.94065645841247e-324");
}

TEST(what_is_no_number_is_a_string)
{
    assert_string_equal(double_text(NAN), "\"NaN\"");
    assert_string_equal(double_text(INFINITY), "\"Infinity\"");
    assert_string_equal(double_text(-INFINITY), "\"-Infinity\"");
}

TEST(doubles_read_back_exactly)
{
    static const double values[] = {DBL_MAX,
                                    DBL_MIN,
                                    DBL_EPSILON,
                                    1.0 / 3,
                                    0.1 + 0.2,
                                    9007199254740991.0,
                                    9007199254740992.0,
                                    1e15,
                                    1e16,
                                    123456789.123456789};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        check_round_trip(values[i]);
        check_round_trip(-values[i]);
    }
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 4000; i++) {
        random = tkt_hash_u64(random);
        double value;
        memcpy(&value, &random, sizeof value);
        if (isfinite(value))
            check_round_trip(value);
        check_round_trip((double)(int64_t)(random >> 20) / 1000);
    }
}

/* A host program may have set any locale; a comma would end the value. */
TEST(doubles_do_not_know_the_locale)
{
    const char *folder = make_folder();
    char command[1024];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
             folder);
    setenv("LOCPATH", folder, 1);
    bool is_german = system(command) == 0 && setlocale(LC_NUMERIC, "de_DE.UTF-8");
    char text[64];
    snprintf(text, sizeof text, "%s %.1f", double_text(1.0 / 3), 0.5);
    setlocale(LC_NUMERIC, "C");
    remove_folder(folder);
    if (!is_german)
        SKIP_CASE("there is no localedef, or no German");
    assert_string_equal(text, "0.3333333333333333 0,5");
}

/* One span of that name; returns the name as jansson reads it, which the caller frees. */
static char *name_read_back(const char *bytes, size_t size, size_t *read_size)
{
    takt_trace *trace = make_trace();
    tkt_trace_site site = {.name = tkt_strtab_intern(&trace->strings, bytes, size),
                           .kind = TAKT_SITE_SCOPE};
    add_span(trace, add_thread(trace, "", 1), tkt_trace_site_index(trace, &site), 0, 1);
    json_t *json = chrome_json(trace);
    size_t index;
    json_t *event;
    char *copy = NULL;
    json_array_foreach(json_object_get(json, "traceEvents"), index, event)
    {
        if (strcmp(string_of(event, "ph"), "X") != 0)
            continue;
        json_t *name = json_object_get(event, "name");
        *read_size = json_string_length(name);
        copy = malloc(*read_size + 1);
        memcpy(copy, json_string_value(name), *read_size + 1);
    }
    json_decref(json);
    assert_non_null(copy);
    return copy;
}

static void check_name(const char *bytes, const char *expected)
{
    size_t size;
    char *name = name_read_back(bytes, strlen(bytes), &size);
    assert_string_equal(name, expected);
    free(name);
}

TEST(hostile_names_stay_names)
{
    check_name("", "");
    check_name("\"},{\"ph\":\"M\"", "\"},{\"ph\":\"M\"");
    check_name("back\\slash/\\", "back\\slash/\\");
    check_name("\x01\x02\n\r\t\b\f\x1b[31m\x7f", "\x01\x02\n\r\t\b\f\x1b[31m\x7f");
    check_name("Grüße \xe2\x82\xac \xf0\x9f\x9a\x80", "Grüße \xe2\x82\xac \xf0\x9f\x9a\x80");
    check_name("</script>\xe2\x80\xa8", "</script>\xe2\x80\xa8");
    check_name("\xff", "\xef\xbf\xbd");
    check_name("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
    check_name("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");                 /* an overlong slash */
    check_name("%s%n%d", "%s%n%d");
}

TEST(names_may_contain_nul)
{
    size_t size;
    char *name = name_read_back("a\0b", 3, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(name, "a\0b", 3);
    free(name);
}

/* Long ones take another way than short ones, in pieces. */
TEST(names_of_ten_megabytes_are_kept)
{
    size_t size = 10000002;
    char *long_name = malloc(size);
    for (size_t i = 0; i < size; i += 3)
        memcpy(long_name + i, "\xe2\x82\xac", 3);
    size_t read_size;
    char *name = name_read_back(long_name, size, &read_size);
    assert_int_equal(read_size, size);
    assert_memory_equal(name, long_name, size);
    free(name);
    free(long_name);
}

/* Values of arguments are escaped in pieces, which must not cut characters: here of four bytes, and
 * each of these is once where a piece would end. */
TEST(long_values_are_kept)
{
    enum {
        SIZE = 30000
    };
    char value[SIZE + 4] = "";
    for (size_t lead = 0; lead < 4; lead++) {
        memset(value, 'x', lead);
        for (size_t i = lead; i < lead + SIZE; i += 4)
            memcpy(value + i, "\xf0\x9f\x90\x88", 4);
        takt_trace *trace = make_trace();
        uint32_t track = add_thread(trace, "", 1);
        uint32_t span = add_span(trace, track, add_scope(trace, "a"), 0, 1);
        uint32_t string = text(trace, value);
        add_arg(trace, track, (tkt_arg){span, string, {.string = string}, TKT_ARG_STRING});
        json_t *json = chrome_json(trace);
        assert_string_equal(string_of(args_of(find_event(json, "X", "a")), value), value);
        json_decref(json);
    }
}

/* Many, so that some stand where the writer's buffer ends. */
TEST(long_names_fit_the_buffer)
{
    enum {
        COUNT = 4000
    };
    char name[1200];
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    memset(name, 'x', sizeof name);
    for (uint32_t i = 0; i < COUNT; i++) {
        name[600 + i % 599] = '\0';
        add_span(trace, track, add_scope(trace, name), 10 * i, 10 * i + 1);
        name[600 + i % 599] = 'x';
    }
    json_t *json = chrome_json(trace);
    assert_int_equal(count_phase(json, "X"), COUNT);
    json_decref(json);
}

/* All lengths around the strides of the fast path, and where it ends. */
TEST(names_of_every_length_are_kept)
{
    char long_name[1200];
    memset(long_name, 'x', sizeof long_name);
    for (size_t size = 0; size < sizeof long_name; size += size < 200 || size > 700 ? 1 : 13) {
        size_t read_size;
        char *name = name_read_back(long_name, size, &read_size);
        assert_int_equal(read_size, size);
        assert_memory_equal(name, long_name, size);
        free(name);
    }
}

TEST(all_texts_of_a_trace_may_be_hostile)
{
    static const char hostile[] = "\"\\\n\x01\xff\xc3";
    takt_trace *trace = make_trace();
    trace->name = trace->backend = trace->clock = text(trace, hostile);
    uint32_t track = add_thread(trace, hostile, 1);
    tkt_trace_site site = {.name = text(trace, hostile),
                           .category = text(trace, hostile),
                           .file = text(trace, hostile),
                           .device = text(trace, hostile),
                           .kind = TAKT_SITE_ACTIVITY};
    uint32_t index = tkt_trace_site_index(trace, &site);
    uint32_t span = add_span(trace, track, index, 0, 1);
    add_arg(
        trace, track,
        (tkt_arg){span, text(trace, hostile), {.string = text(trace, hostile)}, TKT_ARG_STRING});
    add_span(trace, tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, hostile), 0), index, 0,
             1);
    *TKT_ARRAY_ADD(&trace->marks) = (tkt_mark){BEGIN_NS, track, index};
    *TKT_ARRAY_ADD(&trace->counters) = (tkt_counter){BEGIN_NS, 1, text(trace, hostile), track};
    *TKT_ARRAY_ADD(&trace->counters) = (tkt_counter){BEGIN_NS, NAN, text(trace, hostile), track};
    json_t *json = chrome_json(trace);
    assert_int_equal(count_phase(json, "X"), 2);
    assert_int_equal(count_phase(json, "C"), 1);
    json_decref(json);
}

TEST_MAIN(NULL, NULL)
