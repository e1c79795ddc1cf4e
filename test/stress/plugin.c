/* A plugin with scopes of its own; its names go away with it. Not a test: check_plugin.sh builds
 * it. */
#include <takt/takt.h>

#include <string.h>

void plugin_work(void);
int plugin_record(void);
int plugin_begin(const char *folder);

void plugin_work(void)
{
    char name[] = "a name on the plugin's stack";
    TAKT_SCOPE("scope of the plugin");
    TAKT_PHASE("phase of the plugin");
    TAKT_ARG("key of the plugin", "value of the plugin");
    TAKT_COUNTER("counter of the plugin", 1);
    TAKT_MARK("mark of the plugin");
    {
        TAKT_ACTIVITY("device of the plugin", TAKT_TIMING_KERNEL, "activity of the plugin");
    }
    takt_begin(name);
    takt_end();
    memset(name, 'x', sizeof name - 1);
    TAKT_END("unmatched in the plugin");
}

/* Records its own work with all that a recording needs: 0 if that went well. */
int plugin_record(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.mode = TAKT_MODE_BOTH;
    options.schedule.warmup = 1;
    options.schedule.active = 1;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK)
        return 1;
    for (int step = 0; step < 2; step++) {
        takt_memory_allocated(profiler, 1);
        takt_span_begin(takt_track_named("track of the plugin"), "span of the plugin");
        plugin_work();
        takt_profiler_step(profiler);
    }
    takt_status status = takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    bool is_there = trace && takt_trace_facts(trace)->span_count > 0;
    takt_profiler_destroy(profiler);
    return status == TAKT_OK && is_there ? 0 : 2;
}

/* Begins a recording that nobody stops. */
int plugin_begin(const char *folder)
{
    static const char *const traces[] = {"perfetto"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.name = "left";
    options.directory = folder;
    options.traces = traces;
    options.trace_count = 1;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK)
        return 1;
    plugin_work();
    return 0;
}
