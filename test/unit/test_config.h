/* What the tests of the configuration share. */
#ifndef TEST_CONFIG_H
#define TEST_CONFIG_H

#include <takt/config.h>

#include "config/config.h"

#include "base/alloc.h"
#include "base/writer.h"
#include "support/memory_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline void ignore_line(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

/* Warnings are not printed. */
static inline void begin_quietly(void)
{
    takt_set_log(ignore_line, NULL);
}

/* A configuration from YAML that must be valid. */
static inline takt_config *config_of(const char *yaml)
{
    takt_config *config = NULL;
    takt_error error = {0};
    if (takt_config_parse(yaml, strlen(yaml), "p.yaml", &config, &error) != TAKT_OK)
        fail_msg("%s", error.message);
    return config;
}

/* What it amounts to, until the next call. */
static inline const takt_profiler_options *options_of(const takt_config *config)
{
    static takt_profiler_options options;
    assert_int_equal(takt_config_options(config, &options), TAKT_OK);
    assert_int_equal(options.struct_size, sizeof options);
    return &options;
}

/* The YAML of `size` bytes must be refused, with this message, and the place that it names. */
static inline void expect_error_in(const char *yaml, size_t size, const char *message)
{
    takt_config *config = NULL;
    takt_error error = {0};
    unsigned line = 0;
    unsigned column = 0;
    assert_int_equal(takt_config_parse(yaml, size, "p.yaml", &config, &error), TAKT_BAD_CONFIG);
    assert_null(config);
    assert_int_equal(error.status, TAKT_BAD_CONFIG);
    assert_string_equal(error.message, message);
    if (sscanf(message, "p.yaml:%u:%u:", &line, &column) != 2)
        line = column = 0;
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    assert_int_equal(takt_config_parse(yaml, size, "p.yaml", &config, NULL), TAKT_BAD_CONFIG);
}

static inline void expect_error(const char *yaml, const char *message)
{
    expect_error_in(yaml, strlen(yaml), message);
}

/* What `write` writes; the caller frees it with tkt_free. */
static inline char *text_of(takt_status (*write)(const takt_sink *sink))
{
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    assert_int_equal(write(&sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return memory.data;
}

/* What a configuration means, in the same way. */
static inline char *description_of(const takt_config *config)
{
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    assert_int_equal(takt_config_describe(config, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return memory.data;
}

#endif
