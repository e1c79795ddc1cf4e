/* The texts that are made from the schema: they must agree with what is accepted.
 *
 * When docs/config.md is out of date, write it anew from the root of the project with
 *
 *     TAKT_WRITE_DOCS=1 build/test/unit/test_config_document */
#include "test_config.h"

#include "config/config.h"
#include "config/state.h"

#include "support/test.h"

#include <jansson.h>

TEST(every_key_is_complete)
{
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        const tkt_config_key *key = &tkt_config_keys[i];
        bool has_words =
            key->type == TKT_CONFIG_TYPE_CHOICE || key->type == TKT_CONFIG_TYPE_CHOICES;
        bool has_check = key->type == TKT_CONFIG_TYPE_TEXT || key->type == TKT_CONFIG_TYPE_LIST;
        assert_non_null(key->name);
        assert_non_null(key->initial);
        assert_non_null(key->meaning);
        assert_true(has_words == (key->words != NULL));
        assert_true(has_check == (key->accepts != NULL && key->expects != NULL));
        assert_true(strlen(key->name) < 40);
        assert_true(key->meaning[strlen(key->meaning) - 1] == '.');
        assert_null(strchr(key->meaning, '|'));
        assert_ptr_equal(tkt_config_find(key->name), key);
        for (size_t j = 0; j < i; j++) /* suggestions go by this part, and then by the section */
            if (i != TKT_CONFIG_REPORT_FILE || j != TKT_CONFIG_REPORTS)
                assert_string_not_equal(tkt_config_leaf(key), tkt_config_leaf(&tkt_config_keys[j]));
    }
}

TEST(the_explained_file_says_the_defaults)
{
    char *yaml = text_of(tkt_config_explain);
    takt_config *explained = config_of(yaml);
    tkt_config_state *defaults = tkt_config_state_create(NULL);
    assert_non_null(defaults);
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        const tkt_config_key *key = &tkt_config_keys[i];
        char line[200];
        snprintf(line, sizeof line, "%s%s: ", i == TKT_CONFIG_REPORTS ? "\n" : "\n  ",
                 tkt_config_leaf(key));
        if (!strstr(yaml, line))
            fail_msg("%s is not explained", key->name);
        if (!tkt_config_value_equal(key, &explained->state->values[i], &defaults->values[i]))
            fail_msg("%s is explained with another default", key->name);
    }
    assert_true(takt_config_enabled(explained));
    tkt_config_state_destroy(defaults);
    takt_config_destroy(explained);
    tkt_free(yaml);
}

TEST(the_json_has_every_key_as_it_is)
{
    char *text = text_of(tkt_config_json);
    json_t *keys = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_array_size(keys), TKT_CONFIG_ID_COUNT);
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        const tkt_config_key *key = &tkt_config_keys[i];
        const json_t *it = json_array_get(keys, i);
        assert_int_equal(json_object_size(it), 4);
        assert_string_equal(json_string_value(json_object_get(it, "key")), key->name);
        assert_string_equal(json_string_value(json_object_get(it, "default")), key->initial);
        assert_string_equal(json_string_value(json_object_get(it, "meaning")), key->meaning);
        assert_true(*json_string_value(json_object_get(it, "takes")) != '\0');
    }
    json_decref(keys);
    tkt_free(text);
}

TEST(the_explained_file_fits_100_columns)
{
    takt_status (*const writers[])(const takt_sink *) = {tkt_config_explain, takt_config_help};
    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        char *text = text_of(writers[i]);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= 100);
        tkt_free(text);
    }
}

TEST(every_option_of_the_help_is_accepted)
{
    char *help = text_of(takt_config_help);
    for (size_t i = 1; i < TKT_CONFIG_ID_COUNT; i++) {
        const tkt_config_key *key = &tkt_config_keys[i];
        bool is_switch = key->type == TKT_CONFIG_TYPE_SWITCH;
        char option[64];
        char shown[80];
        char assignment[300];
        snprintf(option, sizeof option, "--%s", key->name);
        for (char *at = strchr(option, '_'); at; at = strchr(at, '_'))
            *at = '-';
        const char *dot = strchr(option, '.');
        if (is_switch)
            snprintf(shown, sizeof shown, "\n  %.*s.[no-]%s\n", (int)(dot - option), option,
                     dot + 1);
        else
            snprintf(shown, sizeof shown, "\n  %s ", option);
        if (!strstr(help, shown))
            fail_msg("the help lacks %s", shown);
        snprintf(assignment, sizeof assignment, "%s=%s", option, key->initial);
        char *argv[] = {(char[]){"sim"}, assignment, NULL};
        int argc = 2;
        takt_config *config = config_of("");
        assert_int_equal(takt_config_args(config, &argc, argv, NULL), TAKT_OK);
        assert_int_equal(argc, 1);
        takt_config_destroy(config);
    }
    assert_non_null(strstr(help, "  --no-profiling\n"));
    tkt_free(help);
}

static FILE *open_docs(const char *mode)
{
    char path[4096];
    const char *root = getenv("TAKT_ROOT");
    snprintf(path, sizeof path, "%s/docs/config.md", root ? root : ".");
    return fopen(path, mode);
}

TEST(the_page_in_docs_is_up_to_date)
{
    char *text = text_of(tkt_config_markdown);
    size_t size = strlen(text);
    if (getenv("TAKT_WRITE_DOCS")) {
        FILE *file = open_docs("w");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
    }
    FILE *file = open_docs("r");
    if (!file)
        fail_msg("there is no docs/config.md; the head of this test says how to write it");
    char *written = calloc(1, size + 2);
    size_t read = fread(written, 1, size + 1, file);
    fclose(file);
    if (read != size || memcmp(written, text, size) != 0)
        fail_msg("docs/config.md is out of date; the head of this test says how to write it");
    free(written);
    tkt_free(text);
}

TEST(the_examples_of_the_page_are_valid)
{
    char *text = text_of(tkt_config_markdown);
    char *begin = strstr(text, "```yaml\n");
    assert_non_null(begin);
    begin += strlen("```yaml\n");
    *strstr(begin, "```") = '\0';
    takt_config_destroy(config_of(begin));
    tkt_free(text);
    expect_error("profiling:\n  wait: 3\n  warmpu: 1\n",
                 "p.yaml:3:3: unknown key 'profiling.warmpu'; did you mean 'warmup'?");
}

int main(void)
{
    begin_quietly();
    return run_all_tests(NULL, NULL);
}
