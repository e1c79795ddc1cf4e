/* Markdown of a document made by hand, compared as a whole. */
#include "support/test.h"
#include "support/report_build.h"

#include "report/table.h"

enum {
    NAME,
    TIME,
    RATE,
    KEY,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [NAME] = {"Name", "name", TKT_CELL_TEXT, 0, true, 1},
    [TIME] = {"Time", "time_ns", TKT_CELL_TIME, 0, false, 1},
    [RATE] = {"GFLOP/s", "flops_per_second", TKT_CELL_NUMBER, 0, false, TKT_BILLIONS},
    [KEY] = {"Key", "key", TKT_CELL_TEXT, TKT_HIDDEN, true, 1},
};

static tkt_table *add_table(tkt_document *document, size_t rows)
{
    tkt_table *table = tkt_document_add_table(document, "test", columns, COLUMNS, rows);
    assert_non_null(table);
    return table;
}

static void add_row(tkt_table *table, const char *name, uint64_t ns, double rate)
{
    tkt_cell *row = tkt_table_add_row(table);
    row[NAME].text = name;
    row[TIME].u = ns;
    row[RATE].d = rate;
    row[KEY].text = "not for people";
}

/* All but the last line, which says what measured. */
static void assert_rendered(tkt_document *document, const char *expected)
{
    memory_sink memory = {0};
    tkt_writer writer;
    takt_trace *trace = build_begin(2000000);
    build_end(trace);
    document->trace = trace;
    assert_int_equal(tkt_document_arrange(document, NULL, 2), TAKT_OK);
    assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&memory), 1024), TAKT_OK);
    tkt_render_markdown(document, &writer);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
    assert_int_equal(memory_sink_write(&memory, "", 1), TAKT_OK);
    char *last = strstr(memory.data, "backend none; ");
    assert_non_null(last);
    assert_ptr_equal(strchr(last, '\n'), memory.data + memory.size - 2);
    *last = '\0';
    assert_string_equal(memory.data, expected);
    tkt_free(memory.data);
    takt_trace_release(trace);
    tkt_document_fini(document);
}

TEST(a_table_with_all_that_goes_with_it)
{
    tkt_document document;
    tkt_document_init(&document, "test", NULL);
    add_table(&document, 1)->is_raw = true;
    add_row(&document.tables[0], "raw", 1, 1);
    add_table(&document, 0)->is_hidden_empty = true;
    tkt_table *table = add_table(&document, 3);
    table->heading = "Longest:";
    table->is_hidden_empty = true; /* but it is not empty */
    add_row(table, "a|b", 1500, 2.5e9);
    add_row(table, NULL, TKT_NO_VALUE, NAN);
    add_row(table, "c", 1, 1);
    tkt_document_add_fact(&document, "total_ns", "Total", TKT_CELL_TIME, (tkt_cell){.u = 2000000});
    tkt_document_add_fact(&document, "name", "Name", TKT_CELL_TEXT, (tkt_cell){.text = "s*h"});
    tkt_document_add_fact(&document, "raw", NULL, TKT_CELL_COUNT, (tkt_cell){.u = 3});
    tkt_document_add_note(&document, "Only <%s>.", "some");
    assert_rendered(&document, "**Longest:**\n\n"
                               "| Name | Time | GFLOP/s |\n"
                               "| :-- | --: | --: |\n"
                               "| a\\|b | 1.500us | 2.500 |\n"
                               "|  |  |  |\n\n"
                               "2 of 3 rows shown\n\n"
                               "- Total: 2.000ms\n"
                               "- Name: s\\*h\n\n"
                               "- Only \\<some\\>.\n\n");
}

TEST(facts_of_a_page_stand_above)
{
    tkt_document document;
    tkt_document_init(&document, "test", NULL);
    document.is_page = true;
    add_row(add_table(&document, 1), "step", 999, 0);
    tkt_document_add_fact(&document, "steps", "Steps", TKT_CELL_COUNT, (tkt_cell){.u = 7});
    assert_rendered(&document, "- Steps: 7\n\n"
                               "| Name | Time | GFLOP/s |\n"
                               "| :-- | --: | --: |\n"
                               "| step | 0.999us | 0.000 |\n\n");
}

TEST(without_facts_and_notes_there_is_the_table)
{
    tkt_document document;
    tkt_document_init(&document, "test", NULL);
    add_table(&document, 0);
    assert_rendered(&document, "| Name | Time | GFLOP/s |\n"
                               "| :-- | --: | --: |\n\n");
}

/* a > b > c ... : blanks that stay, up to twenty levels. */
TEST(trees_are_indented)
{
    static const uint32_t depths[] = {0, 1, 20, 21};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        tkt_document document;
        tkt_document_init(&document, "test", NULL);
        tkt_table *table = add_table(&document, 1);
        assert_true(tkt_table_make_tree(table));
        table->weight = TIME;
        table->places[0] = (tkt_row_place){TKT_NO_ROW_ABOVE, depths[i]};
        add_row(table, "x", 1000, 1e9);
        char expected[512] = "| Name | Time | GFLOP/s |\n| :-- | --: | --: |\n| ";
        for (uint32_t level = 0; level < depths[i] && level < 20; level++)
            strcat(expected, "&nbsp;&nbsp;");
        assert_rendered(&document, strcat(expected, "x | 1.000us | 1.000 |\n\n"));
    }
}

/* Each at the end of the text, too. */
TEST(what_has_a_meaning_is_escaped)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {{"|", "\\|"},
                 {"\\", "\\\\"},
                 {"x`", "x\\`"},
                 {"*x*", "\\*x\\*"},
                 {"[x]", "\\[x\\]"},
                 {"a&b~", "a\\&b\\~"},
                 {"a_b", "a_b"},
                 {"_b", "\\_b"},
                 {"a_", "a\\_"},
                 {"a__b", "a\\_\\_b"},
                 {"0_9", "0_9"},
                 {"Z_z", "Z_z"},
                 {"a|_b", "a\\|\\_b"},
                 {"A_-", "A\\_-"},
                 {"-_a", "-\\_a"},
                 {"9_A", "9_A"},
                 {"a_\xC3\xA9", "a_\xC3\xA9"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tkt_document document;
        tkt_document_init(&document, "test", NULL);
        add_row(add_table(&document, 1), cases[i].name, 1000, 1e9);
        char expected[256] = "| Name | Time | GFLOP/s |\n| :-- | --: | --: |\n| ";
        strcat(expected, cases[i].shown);
        assert_rendered(&document, strcat(expected, " | 1.000us | 1.000 |\n\n"));
    }
}

TEST_MAIN(NULL, NULL)
