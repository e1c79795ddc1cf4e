/* The command `takt`: reads traces and configurations. This file finds the verb; each verb has its
 * own file. */
#include "base/error.h"
#include "cli/cli.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE       ((size_t)4096)
#define LARGE_PAGE ((size_t)2 << 20)

static int help(int argc, char **argv);

static const cli_verb verbs[] = {
    {"report", "prints tables computed from a trace", cli_report},
    {"export", "writes a trace in the format of another tool", cli_export},
    {"diff", "compares two traces: what became slower, and is it noise", cli_diff},
    {"check", "fails where a trace is slower than another: for CI", cli_check},
    {"view", "opens a trace in ui.perfetto.dev, or its page", cli_view},
    {"info", "tells what a trace is: when, how much, what is missing", cli_info},
    {"recover", "makes a trace of what a crash-safe recording has left", cli_recover},
    {"config", "checks and explains configurations", cli_config},
    {"doctor", "tells what can be recorded on this machine, and what to do", cli_doctor},
    {"completion", "prints what makes a shell complete takt's options", cli_completion},
    {"help", "prints this, or the help of one verb", help},
};

enum {
    VERB_COUNT = sizeof verbs / sizeof *verbs
};

const cli_verb *cli_verb_at(size_t index)
{
    return index < VERB_COUNT ? &verbs[index] : NULL;
}

static const cli_verb *verb_named(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static void print_overview(FILE *file)
{
    fprintf(file, "Usage: takt VERB [OPTIONS] [FILE...]\n\n"
                  "Looks into traces that programs have written with Takt.\n\nVerbs:\n");
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(file, "  %-10s  %s\n", verbs[i].name, verbs[i].summary);
    fprintf(
        file,
        "\n"
        "  takt VERB --help    all about one verb\n"
        "  takt help --man     the manual page, for man -l or troff\n"
        "  takt --version      the version\n\n"
        "The exit status is 0 if all went well, 1 if the work failed (a file that is no\n"
        "trace, a full disk), 2 if the question was wrong (an unknown option) and 4 if all went\n"
        "well, but a trace lacks its end: its program was killed, or its file is cut. takt check\n"
        "has others, see takt check --help.\n");
}

static int unknown_verb(const char *name)
{
    char clean[256];
    cli_nearest nearest = {.word = name};
    for (size_t i = 0; i < VERB_COUNT; i++)
        cli_nearest_try(&nearest, verbs[i].name);
    cli_clean(clean, sizeof clean, name);
    if (name[0] == '-')
        fprintf(stderr, "takt: unknown option %s; options of a verb follow the verb\n", clean);
    else if (access(name, F_OK) == 0)
        fprintf(stderr, "takt: the verb is missing; did you mean: takt report %s\n", clean);
    else if (nearest.best)
        fprintf(stderr, "takt: unknown verb %s; did you mean %s?\n", clean, nearest.best);
    else
        fprintf(stderr, "takt: unknown verb %s\n", clean);
    fprintf(stderr, "Try: takt help\n");
    return CLI_USAGE;
}

static int help(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--man") == 0)
        return cli_print_manual();
    if (argc < 2 || argv[1][0] == '-') {
        print_overview(stdout);
        return CLI_OK;
    }
    const cli_verb *verb = verb_named(argv[1]);
    if (!verb)
        return unknown_verb(argv[1]);
    if (verb->run == help) {
        print_overview(stdout);
        return CLI_OK;
    }
    char *arguments[] = {argv[1], "--help", NULL};
    return verb->run(2, arguments);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("takt %s\n", takt_version());
        return CLI_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_overview(stdout);
        return CLI_OK;
    }
    const cli_verb *verb = verb_named(word);
    return verb ? verb->run(argc - 1, argv + 1) : unknown_verb(word);
}

/* The C library's allocator, with large pages for large blocks. Most of a trace is in such blocks,
 * and with small pages the kernel takes a quarter of the time that a report takes. */
static void *resize(void *user, void *pointer, size_t size)
{
    (void)user;
    if (!size) {
        free(pointer);
        return NULL;
    }
    char *block = realloc(pointer, size);
    if (block && size >= 2 * LARGE_PAGE) {
        size_t before = (uintptr_t)block % PAGE; /* mremap() needs all of a block to be alike */
        madvise(block - before, (before + size + PAGE) & ~(PAGE - 1), MADV_HUGEPAGE);
    }
    return block;
}

int main(int argc, char **argv)
{
    tkt_options_heeded(); /* they are meant for the programs that it looks at */
    takt_set_allocator(&(takt_allocator){.resize = resize});
    return cli_finish(run(argc, argv));
}
