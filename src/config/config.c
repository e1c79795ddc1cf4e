/* The public functions, and the order of the sources of a configuration. */
#include "config/config.h"
#include "config/state.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own.h"

static takt_status no_memory(takt_error *error)
{
    return tkt_error_set(error, TAKT_NO_MEMORY, "%s", takt_status_text(TAKT_NO_MEMORY));
}

static takt_status bad_argument(takt_error *error, const char *name)
{
    return tkt_error_set(error, TAKT_BAD_ARGUMENT, "%s is NULL", name);
}

/* ---- Creating a configuration ---------------------------------------------------------------- */

/* A user who names a file in TAKT_CONFIG wants to profile. A program's own file often has no
 * profiling section. */
static void warn_off(const tkt_config_state *state, const char *file)
{
    char hint[TKT_CONFIG_HINT];
    tkt_log(TAKT_LOG_WARNING, "%s has no profiling section: nothing is profiled", file);
    for (size_t i = 0; i < state->skipped_count; i++)
        if (tkt_config_hint(&state->skipped[i], hint))
            tkt_log(TAKT_LOG_WARNING, "%s:%u: %s", file, state->skipped[i].line, hint);
}

/* Reads the file, then TAKT_OPTIONS. */
static takt_status read_sources(tkt_config_state *state, const char *path,
                                tkt_config_errors *errors)
{
    const char *file = path ? path : tkt_environment("TAKT_CONFIG");
    const char *options = tkt_environment("TAKT_OPTIONS");
    takt_error *alone = &errors->items[0].error; /* an error without a place */
    char *text = NULL;
    size_t size = 0;
    takt_status status = TAKT_OK;
    if (file)
        status = tkt_file_read(file, TKT_CONFIG_BYTES_MAX, &text, &size, alone);
    if (file && status == TAKT_OK)
        status = tkt_config_read_yaml(state, text, size, file, errors);
    tkt_free(text);
    if (status == TAKT_OK && options)
        status = tkt_config_read_options(state, options, errors);
    if (status == TAKT_OK && file && !path && !state->is_asked)
        warn_off(state, file);
    return status;
}

/* Takes over `state`, which may be NULL, and destroys it if `status` is a failure. */
static takt_status wrap(tkt_config_state *state, takt_status status, takt_config **out,
                        tkt_config_errors *errors)
{
    takt_config *config = NULL;
    if (status == TAKT_OK)
        status = tkt_config_build_options(state);
    if (status == TAKT_OK) {
        config = tkt_alloc(sizeof *config);
        if (!config)
            status = TAKT_NO_MEMORY;
    }
    if (status == TAKT_OK) {
        config->state = state;
        *out = config;
        return TAKT_OK;
    }
    tkt_options_heeded(); /* the caller has the reason */
    tkt_config_state_destroy(state);
    if (status == TAKT_NO_MEMORY)
        no_memory(&errors->items[0].error);
    if (errors->count == 0 || status == TAKT_NO_MEMORY)
        errors->count = 1;
    return status;
}

takt_status tkt_config_load(const char *path, takt_config **out, tkt_config_errors *errors)
{
    tkt_config_state *state = tkt_config_state_create(NULL);
    takt_status status = state ? read_sources(state, path, errors) : TAKT_NO_MEMORY;
    return wrap(state, status, out, errors);
}

/* Passes the first error on and logs the others. Frees `errors`, NULL without memory for it. */
static takt_status tell(tkt_config_errors *errors, takt_status status, takt_error *error)
{
    if (!errors)
        return no_memory(error);
    if (status != TAKT_OK && error)
        *error = errors->items[0].error;
    if (status != TAKT_OK)
        tkt_config_errors_log(errors, 1);
    tkt_free(errors);
    return status;
}

static takt_status create(const char *path, takt_config **out, takt_error *error)
{
    tkt_config_errors *errors = tkt_alloc_zeroed(sizeof *errors);
    takt_status status = errors ? tkt_config_load(path, out, errors) : TAKT_NO_MEMORY;
    return tell(errors, status, error);
}

takt_status takt_config_create(takt_config **out, takt_error *error)
{
    TKT_OWN_WORK;
    return out ? create(NULL, out, error) : bad_argument(error, "out");
}

takt_status takt_config_load(const char *path, takt_config **out, takt_error *error)
{
    TKT_OWN_WORK;
    if (!path)
        return bad_argument(error, "path");
    return out ? create(path, out, error) : bad_argument(error, "out");
}

takt_status takt_config_parse(const char *text, size_t size, const char *name, takt_config **out,
                              takt_error *error)
{
    TKT_OWN_WORK;
    if (!text && size > 0)
        return bad_argument(error, "text");
    if (!out)
        return bad_argument(error, "out");
    tkt_config_errors *errors = tkt_alloc_zeroed(sizeof *errors);
    tkt_config_state *state = errors ? tkt_config_state_create(NULL) : NULL;
    takt_status status = TAKT_NO_MEMORY;
    if (state)
        status = tkt_config_read_yaml(state, text ? text : "", size, name ? name : "text", errors);
    if (errors)
        status = wrap(state, status, out, errors);
    return tell(errors, status, error);
}

/* ---- Changing it ----------------------------------------------------------------------------- */

/* Replaces the state by the changed copy; on failure destroys the copy. */
static takt_status replace(takt_config *config, tkt_config_state *next, takt_status status,
                           takt_error *error)
{
    if (status == TAKT_OK)
        status = tkt_config_build_options(next);
    if (status != TAKT_OK) {
        tkt_config_state_destroy(next);
        return status == TAKT_NO_MEMORY ? no_memory(error) : status;
    }
    tkt_config_state_destroy(config->state);
    config->state = next;
    return TAKT_OK;
}

static takt_status unknown_key(const char *name, takt_error *error)
{
    const tkt_config_key *near = tkt_config_suggest(name);
    return tkt_config_unknown(error, "unknown key", name, near ? near->name : NULL);
}

takt_status takt_config_set(takt_config *config, const char *key, const char *value,
                            takt_error *error)
{
    TKT_OWN_WORK;
    if (!config || !key || !value)
        return bad_argument(error, !config ? "config" : !key ? "key" : "value");
    const tkt_config_key *known = tkt_config_find(key);
    if (!known)
        return unknown_key(key, error);
    tkt_config_state *next = tkt_config_state_create(config->state);
    if (!next)
        return no_memory(error);
    tkt_config_problem problem;
    takt_status status = TAKT_OK;
    if (!tkt_config_state_set(next, known, value, &problem))
        status = tkt_error_set(error, problem.status, "%s: %s", known->name, problem.text);
    /* A program that only presets a folder has not asked for profiling. */
    if (tkt_config_id_of(known) == TKT_CONFIG_ENABLED)
        next->is_asked = true;
    return replace(config, next, status, error);
}

takt_status takt_config_args(takt_config *config, int *argc, char **argv, takt_error *error)
{
    TKT_OWN_WORK;
    if (!config || !argc || !argv)
        return bad_argument(error, !config ? "config" : !argc ? "argc" : "argv");
    tkt_config_errors *errors = tkt_alloc_zeroed(sizeof *errors);
    tkt_config_state *next = errors ? tkt_config_state_create(config->state) : NULL;
    takt_status status = TAKT_NO_MEMORY;
    if (next)
        status = tkt_config_read_args(next, *argc, argv, errors);
    if (errors)
        status = replace(config, next, status, &errors->items[0].error);
    if (status == TAKT_OK)
        tkt_config_drop_args(argc, argv);
    return tell(errors, status, error);
}

/* ---- Reading it ------------------------------------------------------------------------------ */

bool takt_config_enabled(const takt_config *config)
{
    bool is_enabled =
        config && config->state->is_asked && config->state->values[TKT_CONFIG_ENABLED].number != 0;
    if (!is_enabled)
        tkt_options_heeded();
    return is_enabled;
}

takt_status takt_config_options_v1(const takt_config *config, takt_profiler_options *out,
                                   size_t size)
{
    TKT_OWN_WORK;
    if (!config)
        return TAKT_BAD_ARGUMENT;
    takt_profiler_options options = config->state->options;
    options.struct_size = size;
    return tkt_fill(out, size, &options, sizeof options);
}

void takt_config_destroy(takt_config *config)
{
    if (!config)
        return;
    tkt_config_state_destroy(config->state);
    tkt_free(config);
}
