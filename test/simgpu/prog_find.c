/* A program that has loaded what it is given, as a program with those libraries has: prog_find
 * LIBRARY... Prints which libcupti Takt takes then, why it takes none, and where it looked. */
#include <takt/system.h>

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!dlopen(argv[i], RTLD_NOW)) {
            printf("%s\n", dlerror());
            return 2;
        }
    }
    takt_cuda_info cuda = takt_cuda();
    printf("taken %s\n", cuda.cupti_path);
    printf("problem %s\n", cuda.problem);
    takt_cuda_place place;
    for (uint32_t i = 0; takt_cuda_searched(i, &place) == TAKT_OK; i++)
        printf("searched %s: %s\n", place.path, place.finding);
    return !cuda.has_cupti;
}
