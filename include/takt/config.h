/* takt/config.h - profiler options from a YAML file, the environment and the command line.
 *
 *     takt_config *config;
 *     takt_error error;
 *     if (takt_config_load("profile.yaml", &config, &error) != TAKT_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *     takt_config_args(config, &argc, argv, &error);
 *     takt_profiler_options options;
 *     takt_config_options(config, &options);
 *     takt_profiler_create(&options, &profiler);
 *
 * `takt config explain` prints the keys, and docs/config.md lists them. A later source overrides an
 * earlier one. Set-uid programs ignore the environment. Use a configuration from one thread at a
 * time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_CONFIG_H
#define TAKT_CONFIG_H

#include <takt/base.h>
#include <takt/profiler.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_config takt_config;

/* Makes a configuration from the defaults and the environment: first the file named by TAKT_CONFIG,
 * then TAKT_OPTIONS ("profiling.wait=3 profiling.active=1"). The caller frees *out with
 * takt_config_destroy(). On failure *out stays untouched, and `error`, which may be NULL, has the
 * reason: TAKT_BAD_CONFIG, TAKT_IO_ERROR, TAKT_NO_MEMORY. If a file has several errors, `error` has
 * the first one, and the others are logged as TAKT_LOG_ERROR: 19 and a count. Any thread. */
TAKT_API takt_status takt_config_create(takt_config **out, takt_error *error);

/* The same, with the YAML file at `path` instead of the file named by TAKT_CONFIG. Sections of
 * other programs are skipped. */
TAKT_API takt_status takt_config_load(const char *path, takt_config **out, takt_error *error);

/* Makes a configuration from the defaults and the YAML in `text`, without the environment. Messages
 * use `name` in place of a file name. */
TAKT_API takt_status takt_config_parse(const char *text, size_t size, const char *name,
                                       takt_config **out, takt_error *error);

/* Sets one key: takt_config_set(config, "profiling.wait", "3", &error). TAKT_BAD_CONFIG for an
 * unknown key or a bad value; then the configuration is unchanged. */
TAKT_API takt_status takt_config_set(takt_config *config, const char *key, const char *value,
                                     takt_error *error);

/* Removes Takt's arguments (--profiling.wait 3, --profiling.no-with-stack, --no-profiling) from
 * argc and argv, and applies them. The other arguments keep their order, and argv[*argc] stays
 * NULL. On failure argc, argv and the configuration are unchanged. */
TAKT_API takt_status takt_config_args(takt_config *config, int *argc, char **argv,
                                      takt_error *error);

/* True if profiling is requested: by a profiling section, an option or an argument, unless
 * `enabled` is false. Otherwise the program should create no profiler. */
TAKT_API bool takt_config_enabled(const takt_config *config);

/* Fills *out with the profiler options of this configuration. Their pointers are borrowed until the
 * configuration changes or is destroyed. `on_trace` and `user` are NULL. TAKT_BAD_ARGUMENT if
 * `config` is NULL. */
TAKT_SIZED takt_status takt_config_options(const takt_config *config, takt_profiler_options *out);

/* Writes an explanation of the configuration: the action of each step, the number of steps that a
 * program must run under either repeat mode, outputs, and skipped sections. */
TAKT_API takt_status takt_config_describe(const takt_config *config, const takt_sink *sink);

/* Writes every command-line option with its type, default and meaning. Any thread. */
TAKT_API takt_status takt_config_help(const takt_sink *sink);

/* Frees the configuration. NULL is ignored. */
TAKT_API void takt_config_destroy(takt_config *config);

TAKT_PASS_SIZE(takt_config_options, takt_profiler_options, (const takt_config *config), config)

#ifdef __cplusplus
}
#endif
#endif
