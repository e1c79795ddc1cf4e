/* Which rows are coloured, against percentiles of weights that qsort has sorted. */
#include "support/test.h"
#include "support/report_traces.h"

#include "report/text.h"

enum {
    NAME,
    WEIGHT,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    {"Name", "name", TKT_CELL_TEXT, 0, true, 1},
    {"Weight", "weight", TKT_CELL_COUNT, 0, false, 1},
};

static const tkt_layout colored = {.width = 80, .color = true};

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of n sorted values, that at rank share * (n - 1), between two neighbours in proportion. */
static double percentile(const double *sorted, size_t count, double share)
{
    double rank = share * ((double)count - 1);
    double below = floor(rank);
    double low = sorted[(size_t)below];
    double high = sorted[(size_t)ceil(rank)];
    return low * (1 - (rank - below)) + high * (rank - below);
}

static tkt_table *build_table(tkt_document *document, size_t rows)
{
    tkt_document_init(document, "test", NULL);
    tkt_table *table = tkt_document_add_table(document, "test", columns, COLUMNS, rows);
    assert_non_null(table);
    table->weight = WEIGHT;
    return table;
}

static void add_row(tkt_table *table, uint64_t weight)
{
    tkt_cell *row = tkt_table_add_row(table);
    row[NAME].text = "";
    row[WEIGHT].u = weight;
}

TEST(bounds_are_percentiles_in_whatever_order_rows_are)
{
    enum {
        MOST = 60
    };
    uint64_t random = 1;
    for (size_t i = 1; i < 600; i++) {
        size_t count = 1 + i % MOST;
        double weights[MOST];
        tkt_document document;
        tkt_table *table = build_table(&document, count);
        for (size_t k = 0; k < count; k++) {
            uint64_t weight = build_random(&random) % (i < 300 ? 10 : 1000000); /* many are equal */
            weights[k] = (double)weight;
            add_row(table, weight);
        }
        qsort(weights, count, sizeof *weights, by_value);
        tkt_shades shades = tkt_shades_of(table, &colored);
        assert_near(shades.red, percentile(weights, count, 0.9), 1e-6);
        assert_near(shades.yellow, percentile(weights, count, 0.75), 1e-6);
        tkt_document_fini(&document);
    }
}

TEST(rows_above_the_bounds_are_coloured)
{
    static const char *const expected[] = {NULL, NULL, "\033[33m", "\033[33m", "\033[1;31m"};
    static const uint64_t weights[] = {99, 100, 101, 200, 201};
    const tkt_shades shades = {.red = 200, .yellow = 100};
    tkt_document document;
    tkt_table *table = build_table(&document, 5);
    for (size_t i = 0; i < 5; i++)
        add_row(table, weights[i]);
    assert_int_equal(tkt_document_arrange(&document, NULL, 0), TAKT_OK);
    for (size_t i = 0; i < 5; i++) {
        const char *shade = tkt_shade_of(&shades, table, i);
        assert_int_equal(shade == NULL, expected[i] == NULL);
        assert_string_equal(shade ? shade : "", expected[i] ? expected[i] : "");
    }
    tkt_document_fini(&document);
}

/* Without colours, without a weight, without rows, without memory. */
TEST(otherwise_nothing_is_coloured)
{
    for (int way = 0; way < 4; way++) {
        tkt_document document;
        tkt_table *table = build_table(&document, 2);
        for (uint64_t i = 0; way != 2 && i < 2; i++)
            add_row(table, i);
        if (way == 1)
            table->weight = TKT_NO_COLUMN;
        tkt_alloc_fail(0, way == 3 ? UINT64_MAX : 0);
        tkt_shades shades = tkt_shades_of(table, &(tkt_layout){.width = 80, .color = way != 0});
        tkt_alloc_fail(0, 0);
        assert_true(isinf(shades.red));
        if (table->row_count > 0) {
            assert_int_equal(tkt_document_arrange(&document, NULL, 0), TAKT_OK);
            assert_null(tkt_shade_of(&shades, table, 1));
        }
        tkt_document_fini(&document);
    }
}

TEST(every_table_of_times_has_colours)
{
    static const char *const reports[] = {"kernels", "api", "ops", "gaps", "launches", "summary"};
    takt_trace *trace = build_cuda();
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        char *text = report_of(trace, reports[i], &(takt_report_options){.color = true});
        if (!strstr(text, "\033[1;31m"))
            fail_msg("%s is colourless", reports[i]);
        tkt_free(text);
    }
    takt_trace_release(trace);

    trace = build_begin(2000000); /* of which the summary has a table of scopes alone */
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "a"), TKT_NO_SPAN, 1000000, 1000100);
    build_span(trace, 0, build_site(trace, "b"), TKT_NO_SPAN, 1000100, 1000900);
    build_end(trace);
    char *text = report_of(trace, "summary", &(takt_report_options){.color = true});
    assert_non_null(strstr(text, "\n\033[1;31mb "));
    assert_non_null(strstr(text, "\na "));
    tkt_free(text);
    takt_trace_release(trace);
}

/* The outermost scope has all of the time, but spends none itself. */
TEST(scopes_are_coloured_by_their_own_time)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    uint32_t outer = build_span(trace, 0, build_site(trace, "outer"), TKT_NO_SPAN, 1000000, 1000910);
    build_span(trace, 0, build_site(trace, "small"), outer, 1000000, 1000100);
    build_span(trace, 0, build_site(trace, "large"), outer, 1000100, 1000900);
    build_end(trace);
    static const char *const reports[] = {"scopes", "tree"};
    for (size_t i = 0; i < 2; i++) {
        char *text = report_of(trace, reports[i], &(takt_report_options){.color = true});
        const char *red = strstr(text, "\n\033[1;31m");
        assert_non_null(red);
        red += strlen("\n\033[1;31m");
        assert_memory_equal(red + strspn(red, " "), "large ", 6);
        assert_null(strstr(red, "\033[1;31m"));
        tkt_free(text);
    }
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
