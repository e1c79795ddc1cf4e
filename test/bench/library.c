/* The size of the shared library, stripped as distributions strip it. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void bench_library(void)
{
    const char *lib = getenv("TAKT_LIB");
    char stripped[] = "/tmp/takt-bench-XXXXXX";
    char command[8192];
    struct stat facts;
    int file = mkstemp(stripped);
    if (file < 0) {
        bench_tell_missing("library_bytes", "no temporary file");
        return;
    }
    close(file);
    snprintf(command, sizeof command, "strip -o '%s' '%s/libtakt.so'", stripped, lib ? lib : "lib");
    if (system(command) == 0 && stat(stripped, &facts) == 0)
        bench_tell((bench_figure){.name = "library_bytes",
                                  .value = (double)facts.st_size,
                                  .unit = "bytes",
                                  .max_value = 560 * 1024});
    else
        bench_tell_missing("library_bytes", "libtakt.so could not be stripped (TAKT_LIB)");
    unlink(stripped);
}
