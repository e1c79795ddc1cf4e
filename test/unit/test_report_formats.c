/* CSV, JSON and Markdown, each read back by an independent reader: jansson for JSON, a small parser
 * of RFC 4180 here for CSV, and a count of cells for Markdown. */
#include "support/test.h"
#include "support/report_traces.h"

#include "report/show.h"

static takt_report_options options_of(const char *name, takt_format format)
{
    return (takt_report_options){.format = format, .by_arguments = strcmp(name, "scopes") == 0};
}

static char *rendered(const takt_trace *trace, const char *name, takt_format format)
{
    takt_report_options options = options_of(name, format);
    return report_of(trace, name, &options);
}

static json_t *parsed(const takt_trace *trace, const char *name)
{
    takt_report_options options = options_of(name, TAKT_FORMAT_JSON);
    return report_json(trace, name, &options);
}

static void assert_table(const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns");
    const json_t *rows = json_object_get(table, "rows");
    assert_true(json_is_array(columns) && json_is_array(rows));
    assert_int_equal(json_array_size(json_object_get(table, "titles")), json_array_size(columns));
    assert_true(json_integer_value(json_object_get(table, "row_count")) >=
                (json_int_t)json_array_size(rows));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        assert_int_equal(json_object_size(row), json_array_size(columns));
        for (size_t c = 0; c < json_array_size(columns); c++)
            assert_non_null(json_object_get(row, json_string_value(json_array_get(columns, c))));
    }
}

TEST(json_has_the_same_shape_for_every_report)
{
    takt_trace *trace = build_fluid();
    for (size_t i = 0; takt_report_name(i); i++) {
        json_t *json = parsed(trace, takt_report_name(i));
        assert_string_equal(json_string_value(json_object_get(json, "report")),
                            takt_report_name(i));
        assert_table(json);
        const char *key;
        json_t *table;
        json_object_foreach(json_object_get(json, "tables"), key, table) assert_table(table);
        assert_true(json_is_object(json_object_get(json, "facts")));
        assert_true(json_is_array(json_object_get(json, "notes")));
        json_decref(json);
    }
    takt_trace_release(trace);
}

TEST(json_tells_where_the_numbers_come_from)
{
    takt_trace *trace = build_fluid();
    json_t *json = parsed(trace, "steps");
    const json_t *provenance = json_object_get(json, "provenance");
    assert_text(provenance, "backend", "none");
    assert_text(provenance, "clock", "tsc");
    assert_true(json_real_value(json_object_get(provenance, "clock_resolution_ns")) == 0.41666);
    assert_int_equal(json_integer_value(json_object_get(provenance, "begun_before")), 1);
    assert_int_equal(json_integer_value(json_object_get(provenance, "unfinished")), 1);
    assert_int_equal(json_integer_value(json_object_get(provenance, "wall_ns")), 12000000);
    assert_true(json_is_true(json_object_get(provenance, "partial")));
    const json_t *losses = json_object_get(provenance, "losses");
    assert_int_equal(json_object_size(losses), TAKT_LOSS_COUNT);
    assert_int_equal(json_integer_value(json_object_get(losses, "too deep")), 12);
    assert_int_equal(json_integer_value(json_object_get(losses, "mismatched")), 3);
    json_decref(json);
    takt_trace_release(trace);
}

/* The figures of the fluid by hand: steps of 2900000 + 12345 i. */
TEST(of_a_recovered_summary_it_is_not_told_what_was_cut)
{
    takt_trace *trace = build_fluid();
    trace->facts.has_spans = false;
    json_t *json = parsed(trace, "steps");
    const json_t *provenance = json_object_get(json, "provenance");
    assert_true(json_is_null(json_object_get(provenance, "begun_before")));
    assert_true(json_is_null(json_object_get(provenance, "unfinished")));
    json_decref(json);
    char *text = rendered(trace, "steps", TAKT_FORMAT_TEXT);
    assert_non_null(strstr(text, "mismatched 3"));
    assert_null(strstr(text, "begun before"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(of_a_summary_it_is_told_what_was_cut)
{
    takt_trace *trace = build_fluid();
    trace->facts.has_spans = false;
    trace->fold.has_lists = true;
    json_t *json = parsed(trace, "steps");
    const json_t *provenance = json_object_get(json, "provenance");
    assert_int_equal(json_integer_value(json_object_get(provenance, "begun_before")), 1);
    assert_int_equal(json_integer_value(json_object_get(provenance, "unfinished")), 1);
    json_decref(json);
    char *text = rendered(trace, "steps", TAKT_FORMAT_TEXT);
    assert_non_null(strstr(text, "; begun before 1; unfinished 1"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(of_a_cut_file_it_is_told_how_much_is_missing)
{
    takt_trace *trace = build_fluid();
    char text[TKT_ENDING_SIZE];
    trace->facts.ending = TAKT_ENDING_CUT;
    trace->facts.known_until_ns = trace->facts.end_ns; /* 12 ms after the begin */
    trace->facts.missing_spans = 3;
    trace->facts.span_count = 5;
    trace->facts.missing_activities = 1;
    trace->facts.activity_count = 6;
    assert_string_equal(tkt_ending_text(text, trace),
                        "INCOMPLETE: the file is cut. Of a recording of 12.000ms, 3 of 8 spans are "
                        "missing and 1 of 7 activities.");
    takt_trace_release(trace);
}

TEST(json_has_raw_integers)
{
    takt_trace *trace = build_fluid();
    json_t *json = report_json(trace, "scopes", NULL);
    const json_t *row = row_of(json, "name", "step");
    assert_value(row, "calls", 3);
    assert_value(row, "cpu_total_ns", 3 * 2900000 + 3 * 12345);
    assert_value(row, "cpu_time_avg_ns", 2900000 + 12345);
    assert_value(row, "cpu_time_min_ns", 2900000);
    assert_value(row, "cpu_time_max_ns", 2900000 + 2 * 12345);
    assert_value(row, "self_cpu_ns", 3 * (200 + 700));
    double total = (double)json_integer_value(
        json_object_get(json_object_get(json, "facts"), "self_cpu_total_ns"));
    assert_near(json_real_value(json_object_get(row, "cpu_total_percent")),
                100 * (3 * 2900000 + 3 * 12345) / total, 1e-9);
    assert_near(json_real_value(json_object_get(row, "self_cpu_percent")), 100 * 2700 / total,
                1e-9);
    json_decref(json);
    takt_trace_release(trace);
}

/* Only the byte that is no UTF-8 is replaced. */
TEST(json_keeps_names)
{
    takt_trace *trace = build_fluid();
    json_t *json = parsed(trace, "scopes");
    row_of(json, "name", "dump \"a,b\" | \x1B[31mred\x1B[0m\r\n\xEF\xBF\xBD end");
    row_of(json, "name", FLUID_TEMPLATE);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(json_says_null_where_there_is_no_value)
{
    takt_trace *trace = build_fluid();
    json_t *json = parsed(trace, "memory");
    const json_t *row = row_of(json, "period", "recording");
    assert_value(row, "unmatched_frees", NAN);
    assert_value(row, "peak_at_ns", 6100000);
    row = row_of(json, "period", "since start");
    assert_value(row, "peak_at_ns", NAN);
    const json_t *jumps = json_object_get(json_object_get(json, "tables"), "jumps");
    row = json_array_get(json_object_get(jumps, "rows"), 0);
    assert_value(row, "bytes", 4 << 20);
    assert_value(row, "times", 3);
    assert_text(row, "scope", "step");
    json_decref(json);
    takt_trace_release(trace);
}

/* Arguments of every type, as people write them. */
TEST(arguments_show_their_values)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "solve"), TKT_NO_SPAN, 1000000, 1000100);
    static const struct {
        const char *key;
        tkt_arg_type type;
    } keys[] = {{"i", TKT_ARG_INT},    {"m", TKT_ARG_INT},    {"u", TKT_ARG_UINT},
                {"d", TKT_ARG_DOUBLE}, {"n", TKT_ARG_DOUBLE}, {"b", TKT_ARG_BOOL},
                {"s", TKT_ARG_STRING}};
    for (size_t i = 0; i < 7; i++)
        build_int_arg(trace, 0, 0, keys[i].key, 0);
    tkt_arg *args = trace->tracks.items[0].args.items;
    for (size_t i = 0; i < 7; i++)
        args[i].type = keys[i].type;
    args[0].value.i = -1;
    args[1].value.i = INT64_MIN;
    args[2].value.u = UINT64_MAX;
    args[3].value.d = 0.1;
    args[4].value.d = NAN;
    args[5].value.b = true;
    args[6].value.string = build_string(trace, "fast");
    build_end(trace);
    json_t *json = parsed(trace, "scopes");
    assert_text(row_of(json, "name", "solve"), "arguments",
                "i=-1, m=-9223372036854775808, u=18446744073709551615, d=0.1, n=nan, b=true, "
                "s=fast");
    json_decref(json);
    takt_trace_release(trace);
}

/* Reads one field; *at moves behind it and behind the comma. False at the end of a record. */
static bool read_field(const char **at, char *out)
{
    if (**at == '"') {
        for (++*at; **at != '"' || (*at)[1] == '"'; ++*at) {
            assert_int_not_equal(**at, '\0');
            *out++ = **at;
            *at += **at == '"';
        }
        ++*at;
    } else {
        while (**at != ',' && **at != '\r') {
            assert_true(**at != '\0' && **at != '\n' && **at != '"');
            *out++ = *(*at)++;
        }
    }
    *out = '\0';
    if (**at == ',') {
        ++*at;
        return true;
    }
    assert_memory_equal(*at, "\r\n", 2);
    return false;
}

static size_t read_record(const char **at, char fields[24][256])
{
    size_t count = 1;
    while (read_field(at, fields[count - 1]))
        count++;
    *at += 2;
    return count;
}

static const char *assert_table_is_json(const char *at, const json_t *table)
{
    const json_t *rows = json_object_get(table, "rows");
    char header[24][256];
    char fields[24][256];
    size_t columns = read_record(&at, header);
    assert_int_equal(columns, json_array_size(json_object_get(table, "columns")));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        assert_int_equal(read_record(&at, fields), columns);
        for (size_t c = 0; c < columns; c++) {
            const json_t *value = json_object_get(json_array_get(rows, i), header[c]);
            if (json_is_number(value))
                assert_true(strtod(fields[c], NULL) == json_number_value(value));
            else if (json_is_boolean(value))
                assert_string_equal(fields[c], json_is_true(value) ? "true" : "false");
            else if (json_is_null(value))
                assert_string_equal(fields[c], "");
        }
    }
    return at;
}

static void assert_csv_is_json(const takt_trace *trace, const char *report)
{
    char *text = rendered(trace, report, TAKT_FORMAT_CSV);
    json_t *json = parsed(trace, report);
    json_t *table;
    const char *at = assert_table_is_json(text, json), *name;
    json_object_foreach(json_object_get(json, "tables"), name, table)
    {
        assert_memory_equal(at, "\r\n", 2);
        at = assert_table_is_json(at + 2, table);
    }
    assert_string_equal(at, "");
    json_decref(json);
    tkt_free(text);
}

TEST(csv_has_the_values_of_json)
{
    static const char *const reports[] = {"scopes",  "tree",  "timeline", "activities",
                                          "devices", "steps", "kernels",  "api"};
    takt_trace *traces[] = {build_fluid(), build_cuda()};
    for (size_t i = 0; i < 2; i++) {
        for (size_t r = 0; r < sizeof reports / sizeof *reports; r++)
            assert_csv_is_json(traces[i], reports[r]);
        takt_trace_release(traces[i]);
    }
}

TEST(csv_quotes_what_needs_it)
{
    takt_trace *trace = build_fluid();
    char *text = rendered(trace, "tree", TAKT_FORMAT_CSV);
    assert_non_null(strstr(text, "\r\n\"dump \"\"a,b\"\" | ?[31mred?[0m??\xEF\xBF\xBD end\",0,1,"));
    assert_non_null(strstr(text, "\r\nstep,0,3,"));
    tkt_free(text);
    takt_trace_release(trace);

    trace = build_begin(2000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "say \"x\""), TKT_NO_SPAN, 1000000, 1000100);
    build_span(trace, 0, build_site(trace, "f(a, b)"), TKT_NO_SPAN, 1000200, 1000250);
    build_span(trace, 0, build_site(trace, "=1+1,2"), TKT_NO_SPAN, 1000300, 1000350);
    build_span(trace, 0, build_site(trace, "-x"), TKT_NO_SPAN, 1000400, 1000450);
    build_end(trace);
    text = rendered(trace, "tree", TAKT_FORMAT_CSV);
    assert_non_null(strstr(text, "\r\n\"say \"\"x\"\"\",0,1,"));
    assert_non_null(strstr(text, "\r\n\"f(a, b)\",0,1,"));
    assert_non_null(strstr(text, "\r\n\"'=1+1,2\",0,1,")); /* no formulas */
    assert_non_null(strstr(text, "\r\n'-x,0,1,"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(csv_puts_further_tables_behind_an_empty_line)
{
    takt_trace *trace = build_fluid();
    char *text = rendered(trace, "memory", TAKT_FORMAT_CSV);
    assert_non_null(strstr(text, "\r\n\r\nbytes,times,first_at_ns,scope,thread\r\n4194304,3,"));
    tkt_free(text);
    text = rendered(trace, "summary", TAKT_FORMAT_CSV);
    assert_ptr_equal(strstr(text, "fact,value\r\nname,sph\r\n"), text);
    tkt_free(text);
    takt_trace_release(trace);
}

/* Cells of a line: unescaped pipes, less one. */
static size_t count_cells(const char *line)
{
    size_t pipes = 0;
    for (; *line && *line != '\n'; line++) {
        if (*line == '\\')
            line++;
        else
            pipes += *line == '|';
    }
    return pipes - 1;
}

static void assert_cells(const takt_trace *trace, const char *report)
{
    char *text = rendered(trace, report, TAKT_FORMAT_MARKDOWN);
    size_t columns = 0;
    size_t rows = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (*line != '|') {
            columns = 0;
            continue;
        }
        columns = columns ? columns : count_cells(line);
        assert_int_equal(count_cells(line), columns);
        rows++;
    }
    bool is_of_cuda = strstr("kernels api launches gaps compile", report) != NULL;
    assert_true(rows > 2 || (is_of_cuda && trace->calls.count == 0));
    assert_non_null(strstr(text, "; clock tsc"));
    tkt_free(text);
}

TEST(markdown_rows_have_all_their_cells)
{
    takt_trace *traces[] = {build_fluid(), build_cuda()};
    for (size_t i = 0; i < 2; i++) {
        for (size_t r = 0; takt_report_name(r); r++)
            assert_cells(traces[i], takt_report_name(r));
        takt_trace_release(traces[i]);
    }
}

TEST(markdown_escapes_what_has_a_meaning)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "__init__ a_b <4> a|b *x* `c` [d] \\ &amp;"),
               TKT_NO_SPAN, 1000000, 1000100);
    build_end(trace);
    char *text = report_of(trace, "scopes", &(takt_report_options){.format = TAKT_FORMAT_MARKDOWN});
    assert_non_null(strstr(text, "| \\_\\_init\\_\\_ a_b \\<4\\> a\\|b \\*x\\* \\`c\\` \\[d\\] "
                                 "\\\\ \\&amp; |"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
