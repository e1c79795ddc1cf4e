/* Sorting and limiting tables and trees. */
#include "support/test.h"
#include "support/report_build.h"

#include "report/text.h"

#include <math.h>

enum {
    NAME,
    COUNT,
    CHANGE,
    RATE,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    {"Name", "name", TKT_CELL_TEXT, 0, true, 1},
    {"# of Calls", "calls", TKT_CELL_COUNT, 0, false, 1},
    {"Change", "change_bytes", TKT_CELL_CHANGE, 0, false, 1},
    {"Rate", "rate", TKT_CELL_NUMBER, 0, false, 1},
};

static void add_row(tkt_table *table, const char *name, uint64_t count, int64_t change, double rate)
{
    tkt_cell *row = tkt_table_add_row(table);
    row[NAME].text = name;
    row[COUNT].u = count;
    row[CHANGE].i = change;
    row[RATE].d = rate;
}

static tkt_table *build_table(tkt_document *document)
{
    tkt_document_init(document, "test", NULL);
    tkt_table *table = tkt_document_add_table(document, "test", columns, COLUMNS, 5);
    assert_non_null(table);
    add_row(table, "b", 10, -5, 0.5);
    add_row(table, "a", 30, 7, NAN);
    add_row(table, "d", 10, 0, -1);
    add_row(table, "c", 20, 7, 2);
    add_row(table, "e", TKT_NO_VALUE, TKT_NO_SIGNED, 1);
    return table;
}

/* The names of the rows that are shown, in their order. */
static void assert_order(const char *sort, int64_t rows, const char *expected)
{
    tkt_document document;
    tkt_table *table = build_table(&document);
    char names[8] = "";
    assert_int_equal(tkt_document_arrange(&document, sort, rows), TAKT_OK);
    for (size_t i = 0; i < table->shown; i++)
        strcat(names, tkt_table_row(table, i)[NAME].text);
    assert_string_equal(names, expected);
    tkt_document_fini(&document);
}

TEST(rows_stay_as_built_unless_sorted)
{
    assert_order(NULL, 0, "badce");
    assert_order(NULL, -1, "badce");
    assert_order(NULL, 2, "ba");
    assert_order(NULL, 100, "badce");
}

/* What has no value is last either way. */
TEST(every_type_sorts_down_and_up)
{
    assert_order("name", 0, "edcba");
    assert_order("-name", 0, "abcde");
    assert_order("calls", 0, "acbde");
    assert_order("-calls", 0, "bdcae");
    assert_order("change_bytes", 0, "acdbe");
    assert_order("-change_bytes", 0, "bdace");
    assert_order("rate", 0, "cebda");
    assert_order("-rate", 0, "dbeca");
}

TEST(columns_are_known_by_title_too)
{
    assert_order("# of Calls", 0, "acbde");
    assert_order("# OF CALLS", 2, "ac");
    assert_order("-Rate", 1, "d");
}

TEST(a_head_stays_as_it_is)
{
    tkt_document document;
    tkt_table *table = build_table(&document);
    table->is_head = true;
    assert_int_equal(tkt_document_arrange(&document, NULL, 2), TAKT_OK);
    assert_int_equal(table->shown, 5);
    tkt_document_fini(&document);
    table = build_table(&document);
    table->is_head = true;
    assert_int_equal(tkt_document_arrange(&document, "name", 2), TAKT_BAD_ARGUMENT);
    tkt_document_fini(&document);
}

TEST(keys_of_columns_are_those_of_json)
{
    tkt_document document;
    char keys[64];
    tkt_table *table = build_table(&document);
    table->columns[CHANGE].key = NULL;
    assert_string_equal(tkt_table_keys(table, keys, sizeof keys), "name,calls,rate");
    assert_string_equal(tkt_table_keys(table, keys, 8), "name,ca");
    tkt_document_fini(&document);
}

TEST(an_unknown_column_is_refused)
{
    tkt_document document;
    build_table(&document);
    assert_int_equal(tkt_document_arrange(&document, "weight", 0), TAKT_BAD_ARGUMENT);
    tkt_document_fini(&document);
    build_table(&document);
    assert_int_equal(tkt_document_arrange(&document, "", 0), TAKT_BAD_ARGUMENT);
    tkt_document_fini(&document);
}

TEST(a_report_may_have_its_own_order_and_limit)
{
    tkt_document document;
    tkt_table *table = build_table(&document);
    table->sort = COUNT;
    table->default_rows = 3;
    assert_int_equal(tkt_document_arrange(&document, NULL, 0), TAKT_OK);
    assert_int_equal(table->shown, 3);
    assert_string_equal(tkt_table_row(table, 0)[NAME].text, "a");
    assert_int_equal(table->all_rows, 5);
    tkt_document_fini(&document);
}

TEST(large_tables_sort_as_qsort_would)
{
    for (size_t count = 0; count < 70; count++) {
        tkt_document document;
        tkt_document_init(&document, "test", NULL);
        tkt_table *table = tkt_document_add_table(&document, "test", columns, COLUMNS, count);
        uint64_t seed = count;
        for (size_t i = 0; i < count; i++)
            add_row(table, "x", build_random(&seed) % 20, (int64_t)i, 0);
        assert_int_equal(tkt_document_arrange(&document, "-calls", 0), TAKT_OK);
        assert_int_equal(table->shown, count);
        for (size_t i = 1; i < count; i++) {
            const tkt_cell *a = tkt_table_row(table, i - 1);
            const tkt_cell *b = tkt_table_row(table, i);
            assert_true(a[COUNT].u < b[COUNT].u ||
                        (a[COUNT].u == b[COUNT].u && a[CHANGE].i < b[CHANGE].i));
        }
        tkt_document_fini(&document);
    }
}

/* a(100): b(60): d(30) e(25); c(35): f(5).  g(80). The numbers are weights. */
static tkt_table *build_tree(tkt_document *document)
{
    static const struct {
        const char *name;
        uint64_t weight;
        uint32_t parent;
        uint32_t depth;
    } rows[] = {
        {"g", 80, TKT_NO_ROW_ABOVE, 0},
        {"a", 100, TKT_NO_ROW_ABOVE, 0},
        {"c", 35, 1, 1},
        {"b", 60, 1, 1},
        {"f", 5, 2, 2},
        {"e", 25, 3, 2},
        {"d", 30, 3, 2},
    };
    tkt_document_init(document, "tree", NULL);
    tkt_table *table = tkt_document_add_table(document, "tree", columns, COLUMNS, 7);
    assert_true(tkt_table_make_tree(table));
    table->weight = COUNT;
    for (uint32_t i = 0; i < 7; i++) {
        table->places[i] = (tkt_row_place){rows[i].parent, rows[i].depth};
        add_row(table, rows[i].name, rows[i].weight, 0, 0);
    }
    return table;
}

static void assert_tree(const char *sort, int64_t rows, const char *expected)
{
    tkt_document document;
    tkt_table *table = build_tree(&document);
    char names[16] = "";
    assert_int_equal(tkt_document_arrange(&document, sort, rows), TAKT_OK);
    for (size_t i = 0; i < table->shown; i++)
        strcat(names, tkt_table_row(table, i)[NAME].text);
    assert_string_equal(names, expected);
    tkt_document_fini(&document);
}

TEST(trees_sort_within_each_parent)
{
    assert_tree(NULL, 0, "gacfbed");
    assert_tree("calls", 0, "abdecfg");
    assert_tree("-calls", 0, "gacfbed");
    assert_tree("-name", 0, "abdecfg");
}

TEST(limited_trees_keep_the_heaviest_and_what_is_above)
{
    assert_tree("calls", 1, "a");
    assert_tree("calls", 2, "ag");
    assert_tree("calls", 3, "abg");
    assert_tree("calls", 4, "abcg");
    assert_tree("calls", 5, "abdcg");
    assert_tree("-calls", 3, "gab");
}

/* A damaged file could say that a child took longer than its parent. */
TEST(a_heavy_child_of_a_light_parent_is_no_orphan)
{
    tkt_document document;
    tkt_table *table = build_tree(&document);
    table->cells[6 * COLUMNS + COUNT].u = 1000; /* d */
    table->cells[3 * COLUMNS + COUNT].u = 1;    /* b, its parent */
    assert_int_equal(tkt_document_arrange(&document, NULL, 3), TAKT_OK);
    for (size_t i = 0; i < table->shown; i++) {
        uint32_t parent = table->places[table->order[i]].parent;
        bool is_shown = parent == TKT_NO_ROW_ABOVE;
        for (size_t j = 0; j < i; j++)
            is_shown = is_shown || table->order[j] == parent;
        assert_true(is_shown);
    }
    tkt_document_fini(&document);
}

TEST(arranging_without_memory_fails_cleanly)
{
    for (uint64_t after = 0; after < 2; after++) {
        tkt_document document;
        build_tree(&document);
        tkt_alloc_fail(after, UINT64_MAX);
        assert_int_equal(tkt_document_arrange(&document, "calls", 0), TAKT_NO_MEMORY);
        tkt_alloc_fail(0, 0);
        tkt_document_fini(&document);
    }
}

/* Two texts of 40 and the gap of 2 have 3 columns too many: the first one gives one more. */
TEST(texts_of_one_width_shrink_by_turns)
{
    static const tkt_column texts[] = {{"Left", "left", TKT_CELL_TEXT, 0, true, 1},
                                       {"Right", "right", TKT_CELL_TEXT, 0, true, 1}};
    static const char forty[] = "0123456789012345678901234567890123456789";
    const tkt_layout layout = {.width = 79, .width_key = ""};
    tkt_document document;
    tkt_fit fit;
    tkt_document_init(&document, "test", NULL);
    tkt_table *table = tkt_document_add_table(&document, "test", texts, 2, 1);
    assert_non_null(table);
    tkt_cell *row = tkt_table_add_row(table);
    row[0].text = row[1].text = forty;
    assert_int_equal(tkt_document_arrange(&document, NULL, 0), TAKT_OK);
    tkt_fit_table(table, &layout, &fit);
    assert_int_equal(fit.count, 2);
    assert_int_equal(fit.widths[0], 38);
    assert_int_equal(fit.widths[1], 39);
    tkt_document_fini(&document);
}

TEST(a_document_remembers_that_memory_failed)
{
    tkt_document document;
    tkt_document_init(&document, "test", NULL);
    tkt_alloc_fail(0, UINT64_MAX);
    assert_null(tkt_document_add_table(&document, "test", columns, COLUMNS, 5));
    tkt_document_add_fact(&document, "a", "A", TKT_CELL_COUNT, (tkt_cell){.u = 1});
    tkt_document_add_note(&document, "%s", "note");
    assert_string_equal(tkt_document_copy(&document, "text", 4), "");
    tkt_alloc_fail(0, 0);
    assert_int_equal(document.status, TAKT_NO_MEMORY);
    tkt_document_fini(&document);
}

TEST_MAIN(NULL, NULL)
