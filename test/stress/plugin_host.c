/* Opens and closes a plugin again and again while it records, on two threads, and writes what it
 * has after the plugin is gone. check_plugin.sh builds it, with Takt and without: in a host that
 * does not know Takt, the plugin brings it along.
 *
 *     plugin_host PLUGIN.so DIRECTORY */
#ifdef WITH_TAKT
#include <takt/takt.h>
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum {
    ROUNDS = 50
};

static int failures; /* atomic */

/* ThreadSanitizer does not see the loader's own lock. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static void *open_plugin(const char *path)
{
    pthread_mutex_lock(&loading);
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    pthread_mutex_unlock(&loading);
    return plugin;
}

static void close_plugin(void *plugin)
{
    pthread_mutex_lock(&loading);
    dlclose(plugin);
    pthread_mutex_unlock(&loading);
}

static void *use_plugin(void *path)
{
    for (int round = 0; round < ROUNDS; round++) {
        void *plugin = open_plugin(path);
        void (*work)(void) = NULL;
        if (plugin)
            *(void **)&work = dlsym(plugin, "plugin_work");
        if (!work) {
            fprintf(stderr, "%s\n", dlerror());
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
            return NULL;
        }
        work();
        work();
        close_plugin(plugin);
    }
    return NULL;
}

static int use_on_two_threads(char *path)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, use_plugin, path) != 0)
        return 1;
    use_plugin(path);
    pthread_join(thread, NULL);
    return __atomic_load_n(&failures, __ATOMIC_RELAXED);
}

#ifdef WITH_TAKT
int main(int argc, char **argv)
{
    static const char *const traces[] = {"perfetto", "chrome"};
    static const char *const reports[] = {"scopes"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    int failed;
    if (argc != 3)
        return 1;
    options.name = "host";
    options.directory = argv[2];
    options.traces = traces;
    options.trace_count = 2;
    options.reports = reports;
    options.report_count = 1;
    takt_profiler_create(&options, &profiler);
    takt_profiler_start(profiler);
    failed = use_on_two_threads(argv[1]);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    return failed != 0;
}
#else
int main(int argc, char **argv)
{
    return argc != 3 || use_on_two_threads(argv[1]) != 0;
}
#endif
