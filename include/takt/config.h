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
 * The keys are those that `takt config explain` prints and docs/config.md lists. A later source
 * overrides an earlier one. In set-uid programs the environment is ignored.
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

/* The defaults, with the environment applied: the file that TAKT_CONFIG names, then TAKT_OPTIONS
 * ("profiling.wait=3 profiling.active=1"). The caller frees with takt_config_destroy().
 * TAKT_BAD_CONFIG, TAKT_IO_ERROR, TAKT_NO_MEMORY; nothing is created then. Any thread. */
TAKT_API takt_status takt_config_create(takt_config **out, takt_error *error);

/* The same with the YAML file at `path` in the place of TAKT_CONFIG's. Sections of other programs
 * are skipped. */
TAKT_API takt_status takt_config_load(const char *path, takt_config **out, takt_error *error);

/* The defaults with the YAML in `text`; the environment is not looked at. `name` stands for the
 * file in messages. */
TAKT_API takt_status takt_config_parse(const char *text, size_t size, const char *name,
                                       takt_config **out, takt_error *error);

/* Sets one key: takt_config_set(config, "profiling.wait", "3", &error). */
TAKT_API takt_status takt_config_set(takt_config *config, const char *key, const char *value,
                                     takt_error *error);

/* Takes Takt's arguments (--profiling.wait 3, --profiling.no-with-stack, --no-profiling) out of
 * argc and argv; the others keep their order and argv[*argc] stays NULL. On failure neither
 * argc, argv nor the configuration is changed. */
TAKT_API takt_status takt_config_args(takt_config *config, int *argc, char **argv,
                                      takt_error *error);

/* Whether profiling is asked for: `enabled` is not false and there is a profiling section, an
 * option or an argument. A program creates no profiler otherwise. */
TAKT_API bool takt_config_enabled(const takt_config *config);

/* The options that it amounts to; what they point to is borrowed until it is changed or destroyed.
 * `on_trace` and `user` are left NULL. TAKT_BAD_ARGUMENT if `config` is NULL. */
TAKT_SIZED takt_status takt_config_options(const takt_config *config, takt_profiler_options *out);

/* Writes what the configuration means: the action of each step, the steps that a program must run
 * under either repeat mode, outputs, sections that were skipped. */
TAKT_API takt_status takt_config_describe(const takt_config *config, const takt_sink *sink);

/* Writes every command-line option with its type, default and meaning. */
TAKT_API takt_status takt_config_help(const takt_sink *sink);

/* NULL is ignored. */
TAKT_API void takt_config_destroy(takt_config *config);

TAKT_PASS_SIZE(takt_config_options, takt_profiler_options, (const takt_config *config), config)

#ifdef __cplusplus
}
#endif
#endif
