/* Closes a plugin with a Takt of its own that still records: nothing of it may go on. Not a test:
 * check_plugin.sh builds it.
 *
 *     unloading_host PLUGIN.so FOLDER */
#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && readdir(tasks))
        count++;
    if (tasks)
        closedir(tasks);
    return count - 2; /* . and .. */
}

int main(int argc, char **argv)
{
    int (*begin)(const char *) = NULL;
    void *plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (plugin)
        *(void **)&begin = dlsym(plugin, "plugin_begin");
    if (!begin || begin(argv[2]) != 0)
        return 1;
    dlclose(plugin);
    void *again = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    while (count_threads() >
           1) /* one that has ended is listed for a moment; one that has not, crashes */
        sched_yield();
    printf("loaded %d\n", again != NULL);
    return 0;
}
