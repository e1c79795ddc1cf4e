/* make bench: what Takt costs on this machine.
 *
 *     takt-bench [-g GROUP]... [FILE]     FILE: the JSON, default $TAKT_BUILD/bench.json
 *
 * It judges but never fails: a busy machine is no fault of the code. */
#include "bench.h"
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHOSEN 20

static const struct {
    const char *name;
    void (*measure)(void);
} groups[] = {
    {"scopes", bench_scopes},   {"stacks", bench_stacks},       {"buffers", bench_buffers},
    {"events", bench_events},   {"cost", bench_cost},           {"threads", bench_threads},
    {"cold", bench_cold},       {"step", bench_step},           {"export", bench_export},
    {"reports", bench_reports}, {"seal", bench_seal},           {"library", bench_library},
    {"cuda", bench_cuda},       {"attribute", bench_attribute}, {"page", bench_page},
    {"compare", bench_compare}, {"peers", bench_peers},         {"hooks", bench_hooks},
    {"users", bench_users},     {"import", bench_import},       {"tables", bench_tables},
};

#define GROUP_COUNT (sizeof groups / sizeof *groups)

static int usage(void)
{
    fprintf(stderr, "usage: takt-bench [-g GROUP]... [FILE]\ngroups:");
    for (size_t i = 0; i < GROUP_COUNT; i++)
        fprintf(stderr, " %s", groups[i].name);
    fprintf(stderr, "\n");
    return 2;
}

static bool is_group(const char *name)
{
    for (size_t i = 0; i < GROUP_COUNT; i++)
        if (strcmp(groups[i].name, name) == 0)
            return true;
    return false;
}

static void measure_chosen(const char *const *chosen, size_t count)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        bool is_chosen = count == 0;
        for (size_t j = 0; j < count; j++)
            is_chosen |= strcmp(groups[i].name, chosen[j]) == 0;
        if (is_chosen)
            groups[i].measure();
    }
}

static void default_path(char *path, size_t size)
{
    const char *build = getenv("TAKT_BUILD");
    snprintf(path, size, "%s/bench.json", build ? build : "build");
}

int main(int argc, char **argv)
{
    const char *chosen[MAX_CHOSEN];
    size_t count = 0;
    char path[4096];
    bench_memory_begin();
    bench_pin(0);
    if (argc == 2 && strcmp(argv[1], "--lttng-active") == 0)
        return bench_lttng_active();
    default_path(path, sizeof path);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-g") != 0 && argv[i][0] != '-')
            snprintf(path, sizeof path, "%s", argv[i]);
        else if (i + 1 < argc && count < MAX_CHOSEN && is_group(argv[i + 1]))
            chosen[count++] = argv[++i];
        else
            return usage();
    }
    bench_tell_machine();
    measure_chosen(chosen, count);
    bool is_written = bench_write_json(path);
    if (is_written)
        printf("\nwritten to %s\n", path);
    return is_written ? 0 : 1;
}
