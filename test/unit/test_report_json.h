/* Reports as JSON, read back by jansson: the rows of their tables, and values in rows by their
 * columns' keys. */
#ifndef TEST_REPORT_JSON_H
#define TEST_REPORT_JSON_H

#include "test_report_build.h"

#include <jansson.h>

/* `options` may be NULL; their format does not count. The caller drops it with json_decref(). */
UNUSED static json_t *report_json(const takt_trace *trace, const char *report,
                                  const takt_report_options *options)
{
    takt_report_options of_json = options ? *options : (takt_report_options){0};
    json_error_t error;
    of_json.format = TAKT_FORMAT_JSON;
    char *text = report_of(trace, report, &of_json);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("%s: line %d: %s", report, error.line, error.text);
    tkt_free(text);
    return json;
}

/* One of the tables behind a report's first. */
UNUSED static const json_t *table_of(const json_t *json, const char *key)
{
    const json_t *table = json_object_get(json_object_get(json, "tables"), key);
    assert_non_null(table);
    return table;
}

UNUSED static size_t row_count(const json_t *table)
{
    return json_array_size(json_object_get(table, "rows"));
}

UNUSED static const json_t *row_at(const json_t *table, size_t index)
{
    const json_t *row = json_array_get(json_object_get(table, "rows"), index);
    assert_non_null(row);
    return row;
}

/* The only row whose `key` is that text. */
UNUSED static const json_t *row_of(const json_t *table, const char *key, const char *text)
{
    const json_t *found = NULL;
    for (size_t i = 0; i < row_count(table); i++) {
        const json_t *row = row_at(table, i);
        const char *here = json_string_value(json_object_get(row, key));
        if (!here || strcmp(here, text) != 0)
            continue;
        if (found)
            fail_msg("several rows with %s", text);
        found = row;
    }
    if (!found)
        fail_msg("no row with %s", text);
    return found;
}

UNUSED static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

/* NAN: there is none. */
UNUSED static void assert_value(const json_t *row, const char *key, double expected)
{
    if (!isnan(expected))
        assert_near(number(row, key), expected, fabs(expected) * 1e-12);
    else if (!json_is_null(json_object_get(row, key)))
        fail_msg("%s is not null", key);
}

/* NULL: there is none. */
UNUSED static void assert_text(const json_t *row, const char *key, const char *expected)
{
    const json_t *value = json_object_get(row, key);
    if (!expected && !json_is_null(value))
        fail_msg("%s is not null", key);
    if (expected && !json_is_string(value))
        fail_msg("%s is no text", key);
    if (expected)
        assert_string_equal(json_string_value(value), expected);
}

#endif
