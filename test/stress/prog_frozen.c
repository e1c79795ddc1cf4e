/* Records crash-safe in a folder, and counts its scopes in a file, until that file's second word is
 * set.
 *
 *     prog_frozen FOLDER COUNTS
 */
#include <takt/takt.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **args)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;
    if (count != 3)
        return 2;
    int file = open(args[2], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0)
        return 2;
    uint64_t *counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    options.directory = args[1];
    options.crash_safe = true;
    options.mode = TAKT_MODE_FLIGHT;
    options.max_memory_bytes = 16 << 20;
    if (counts == MAP_FAILED || takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK)
        return 3;
    while (!__atomic_load_n(&counts[1], __ATOMIC_RELAXED)) {
        TAKT_SCOPE("scope");
        __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);
    }
    takt_profiler_destroy(profiler);
    return 0;
}
