/* Variables of the environment that change what is recorded. */
#include "cli/doctor.h"

#include <takt/config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum {
    PREFIX = 5 /* the length of "TAKT_" */
};

/* Those that Takt reads. */
static const char *const ours[] = {"TAKT_CLOCK", "TAKT_CONFIG", "TAKT_CUPTI_LIBRARY", "TAKT_LOG",
                                   "TAKT_OPTIONS"};

/* Those of CUDA and its tools, and what they mean for a recording. */
static const struct {
    const char *name;
    const char *advice;
} theirs[] = {
    {"CUDA_VISIBLE_DEVICES", "programs see only these devices, numbered from 0"},
    {"CUDA_LAUNCH_BLOCKING", "with 1 each launch waits for its kernel: unset it, or steps and gaps "
                             "look as they never do otherwise"},
    {"CUDA_INJECTION64_PATH", "this library is loaded into each program that uses CUDA; if it uses "
                              "CUPTI, Takt cannot: unset it"},
    {"NVTX_INJECTION64_PATH", "this tool gets the ranges of timers; that disturbs nothing"},
    {"CUDA_HOME", "libcupti is looked for there, too"},
    {"CUDA_PATH", "libcupti is looked for there, too"},
    {"NO_COLOR", "tables have no colour"},
};

static bool is_ours(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strlen(ours[i]) == length && strncmp(ours[i], name, length) == 0)
            return true;
    return false;
}

static void tell_unknown(doctor_findings *findings, const char *name, size_t length)
{
    char word[64], advice[128] = "Takt knows no such variable";
    snprintf(word, sizeof word, "%.*s", (int)(length - PREFIX), name + PREFIX);
    cli_nearest nearest = {.word = word};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        cli_nearest_try(&nearest, ours[i] + PREFIX);
    if (nearest.best)
        snprintf(advice, sizeof advice, "Takt knows no such variable; did you mean TAKT_%s?",
                 nearest.best);
    doctor_tell(findings, DOCTOR_NOTE, "variable", advice, "%s", name);
}

static void look_at_config(doctor_findings *findings)
{
    takt_error error = {.status = TAKT_OK};
    takt_config *config = NULL;

    if (!cli_variable("TAKT_CONFIG") && !cli_variable("TAKT_OPTIONS"))
        return;
    /* What a program would get, TAKT_OPTIONS included. */
    takt_status status = takt_config_create(&config, &error);
    if (status != TAKT_OK)
        doctor_tell(findings, DOCTOR_PROBLEM, "variable",
                    "programs run without a profile until this is right", "%s",
                    error.message[0] ? error.message : takt_status_text(status));
    takt_config_destroy(config);
}

/* An empty one is as if it were not set, for Takt. */
static void tell_ours(doctor_findings *findings, const char *entry, bool is_empty)
{
    doctor_tell(findings, is_empty ? DOCTOR_NOTE : DOCTOR_OK, "variable",
                is_empty ? "empty is as not set" : NULL, "%s", entry);
}

void doctor_look_at_environment(doctor_findings *findings)
{
    for (char **entry = environ; *entry; entry++) {
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, "TAKT_", PREFIX) == 0 && is_ours(*entry, length))
            tell_ours(findings, *entry, (*entry)[length + 1] == '\0');
        else if (strncmp(*entry, "TAKT_", PREFIX) == 0)
            tell_unknown(findings, *entry, length);
    }
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        const char *value = getenv(theirs[i].name);
        if (value)
            doctor_tell(findings, DOCTOR_NOTE, "variable", theirs[i].advice, "%s=%s",
                        theirs[i].name, value);
    }
    look_at_config(findings);
}
