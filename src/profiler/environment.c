#include "profiler/environment.h"

#include "base/error.h"
#include "base/file.h"

#include <takt/config.h>

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static takt_profiler *the_profiler;
static takt_status the_status;

static takt_status create(void)
{
    takt_config *config;
    takt_error error;
    if (!tkt_environment("TAKT_CONFIG") && !tkt_environment("TAKT_OPTIONS"))
        return TAKT_OK;
    takt_status status = takt_config_create(&config, &error);
    if (status != TAKT_OK) {
        tkt_log(TAKT_LOG_ERROR, "%s; nothing is profiled", error.message);
        return status;
    }
    if (takt_config_enabled(config)) {
        takt_profiler_options options;
        takt_config_options(config, &options);
        status = takt_profiler_create(&options, &the_profiler);
    }
    takt_config_destroy(config);
    return status;
}

static void create_once(void)
{
    the_status = create();
}

takt_profiler *tkt_environment_profiler(void)
{
    pthread_once(&once, create_once);
    return the_profiler;
}

takt_status tkt_environment_status(void)
{
    pthread_once(&once, create_once);
    return the_status;
}
