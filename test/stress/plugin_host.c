/* Opens and closes a plugin again and again while it records, on two threads, and writes what it
 * has after the plugin is gone. check_plugin.sh builds it, with Takt and without: in a host that
 * does not know Takt, the plugin brings it along.
 *
 *     plugin_host PLUGIN.so DIRECTORY
 *     plugin_host PLUGIN.so DIRECTORY LOADS     without Takt: what so many loads leave behind */
#ifdef WITH_TAKT
#include <takt/takt.h>
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/resident.h"

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
/* ---- A plugin that brings Takt along, again and again ---------------------------------------- */

typedef struct user_of_plugin {
    int (*record)(void);
    int result;
    pthread_barrier_t has_recorded, is_closed;
} user_of_plugin;

/* Records in the plugin, and outlives it. */
static void *record_in_plugin(void *argument)
{
    user_of_plugin *user = argument;
    user->result = user->record();
    pthread_barrier_wait(&user->has_recorded);
    pthread_barrier_wait(&user->is_closed);
    return NULL;
}

static int load_once(const char *path)
{
    user_of_plugin user = {0};
    pthread_t thread;
    void *plugin = open_plugin(path);
    if (plugin)
        *(void **)&user.record = dlsym(plugin, "plugin_record");
    if (!user.record) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    pthread_barrier_init(&user.has_recorded, NULL, 2);
    pthread_barrier_init(&user.is_closed, NULL, 2);
    if (pthread_create(&thread, NULL, record_in_plugin, &user) != 0)
        return 1;
    pthread_barrier_wait(&user.has_recorded);
    close_plugin(plugin);
    pthread_barrier_wait(&user.is_closed);
    pthread_join(thread, NULL);
    return user.result;
}

static long free_keys(void)
{
    pthread_key_t keys[4096];
    long count = 0;
    while (count < 4096 && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    for (long i = 0; i < count; i++)
        pthread_key_delete(keys[i]);
    return count;
}

/* Prints what is left of the loads after the first two. */
static int load_often(const char *path, long loads)
{
    int failed = load_once(path) || load_once(path);
    long keys = free_keys(), before = (long)resident_bytes();
    for (long i = 0; i < loads && !failed; i++)
        failed = load_once(path);
    printf("keys %ld\n", keys - free_keys());
    printf("kB %ld\n", ((long)resident_bytes() - before) / 1024);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return load_often(argv[1], atol(argv[3]));
    return argc != 3 || use_on_two_threads(argv[1]) != 0;
}
#endif
