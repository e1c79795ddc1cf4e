/* Golden files: test/golden/report_NAME_WIDTH.txt. With UPDATE_GOLDEN=1 in the environment they are
 * written anew, and what has changed is to be looked at. */
#ifndef TEST_REPORT_GOLDEN_H
#define TEST_REPORT_GOLDEN_H

#include "test_report_build.h"

#include "base/text.h"

#include <stdio.h>

UNUSED static const char *golden_path(const char *report, unsigned width, char *out, size_t size)
{
    const char *root = getenv("TAKT_ROOT");
    snprintf(out, size, "%s/test/golden/report_%s_%u.txt", root ? root : ".", report, width);
    return out;
}

UNUSED static void write_golden(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

UNUSED static char *read_golden(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing: UPDATE_GOLDEN=1 makes it", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

UNUSED static void assert_golden(const takt_trace *trace, const char *report, const char *file,
                                 takt_report_options *options)
{
    static const unsigned widths[] = {80, 160};
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        options->width = widths[i];
        options->width_key = "--width ";
        char *text = report_of(trace, report, options);
        golden_path(file, widths[i], path, sizeof path);
        if (getenv("UPDATE_GOLDEN"))
            write_golden(path, text);
        assert_string_equal(text, read_golden(path));
        tkt_free(text);
    }
}

/* Columns of the longest line; escape sequences are none. */
UNUSED static size_t longest_line(const char *text)
{
    size_t longest = 0;
    while (*text) {
        size_t size = strcspn(text, "\n");
        char line[4096];
        assert_true(size < sizeof line);
        memcpy(line, text, size);
        line[size] = '\0';
        size_t columns = tkt_text_columns(line);
        longest = columns > longest ? columns : longest;
        text += size + (text[size] == '\n');
    }
    return longest;
}

#endif
