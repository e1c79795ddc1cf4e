#include "profiler/environment.h"

#include "base/error.h"
#include "base/file.h"
#include "config/config.h"

#include <takt/config.h>
#include <takt/export.h>
#include <takt/report.h>

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static takt_profiler *the_profiler;

static void stop_at_exit(void)
{
    takt_profiler_stop(the_profiler);
}

/* What was registered later runs earlier: before CUDA is taken down, and the collector with it. */
void tkt_environment_stop_earlier(const takt_profiler *profiler)
{
    static bool is_done; /* one thread steps */
    if (profiler == the_profiler && !is_done)
        is_done = atexit(stop_at_exit) == 0;
}

static void create(void)
{
    if (!tkt_environment("TAKT_CONFIG") && !tkt_environment("TAKT_OPTIONS"))
        return;
    takt_config *config;
    takt_error error;
    if (takt_config_create(&config, &error) != TAKT_OK) {
        tkt_log(TAKT_LOG_ERROR, "%s; nothing is profiled", error.message);
        return;
    }
    if (takt_config_enabled(config) &&
        takt_profiler_create(takt_config_options(config), &the_profiler) == TAKT_OK)
        atexit(stop_at_exit);
    takt_config_destroy(config);
}

takt_profiler *tkt_environment_profiler(void)
{
    pthread_once(&once, create);
    return the_profiler;
}

/* The configuration checks names against what this library has. */
__attribute__((constructor)) static void hand_over_names(void)
{
    enum { MAX_NAMES = 32 };
    static const char *reports[MAX_NAMES], *exporters[MAX_NAMES];
    size_t report_count = 0, exporter_count = 0;
    while (report_count < MAX_NAMES && takt_report_name(report_count)) {
        reports[report_count] = takt_report_name(report_count);
        report_count++;
    }
    while (exporter_count < MAX_NAMES && takt_export_name(exporter_count)) {
        exporters[exporter_count] = takt_export_name(exporter_count);
        exporter_count++;
    }
    tkt_config_names(reports, report_count, exporters, exporter_count);
}
