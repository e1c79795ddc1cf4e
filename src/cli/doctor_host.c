/* The machine apart from its devices: how Takt was built, the clock, where it runs. */
#include "cli/doctor.h"

#include <takt/profiler.h>
#include <takt/scope.h>
#include <takt/system.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum {
    SCOPES = 20000, /* recorded in each round, to see what they cost */
    ROUNDS = 5
};

/* Libraries that this command was built without, what it cannot do therefore, and what to do, with
 * the names of Debian's packages. */
static const char *const lacking[][3] = {
#ifndef TKT_HAVE_MICROHTTPD
    {"libmicrohttpd", "takt view cannot serve traces",
     "install it (libmicrohttpd-dev) and build Takt again"},
#endif
#ifndef TKT_HAVE_SQLITE
    {"SQLite", "traces cannot be written as databases",
     "install it (libsqlite3-dev) and build Takt again"},
#endif
#ifndef TKT_HAVE_DW
    {"libdw", "call stacks have no names of functions and lines",
     "install it (libdw-dev) and build Takt again"},
#endif
    {NULL, NULL, NULL},
};

static void look_at_build(doctor_findings *findings, const takt_system_info *system)
{
    doctor_tell(findings, DOCTOR_OK, "takt", NULL, "version %s", takt_version());
    if (!system->has_nvtx)
        doctor_tell(findings, DOCTOR_NOTE, "takt",
                    "build it where the CUDA toolkit's headers are (CUDA_HOME)",
                    "timers make no NVTX ranges, for Nsight Systems and the like");
    for (size_t i = 0; lacking[i][0]; i++)
        doctor_tell(findings, DOCTOR_NOTE, "takt", lacking[i][2], "built without %s: %s",
                    lacking[i][0], lacking[i][1]);
}

static double monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The shortest of a few rounds: what disturbs one makes it longer. */
static double measure_scope_ns(void)
{
    double best_ns = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double begin_ns = monotonic_ns();
        for (int i = 0; i < SCOPES; i++) {
            TAKT_SCOPE("scope");
        }
        double ns = (monotonic_ns() - begin_ns) / SCOPES;
        best_ns = ns < best_ns ? ns : best_ns;
    }
    return best_ns;
}

/* What a scope costs in a full trace on this machine, now; negative if it cannot be recorded. */
static double scope_cost_ns(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    double cost_ns = -1.0;

    options.activities = TAKT_ACTIVITIES_CPU;
    if (takt_profiler_create(&options, &profiler) == TAKT_OK &&
        takt_profiler_start(profiler) == TAKT_OK) {
        cost_ns = measure_scope_ns();
        takt_profiler_stop(profiler);
    }
    takt_profiler_destroy(profiler);
    return cost_ns;
}

static void look_at_clock(doctor_findings *findings, const takt_system_info *system)
{
    bool is_monotonic = strcmp(system->clock, "monotonic") == 0;
    const char *wish = cli_variable("TAKT_CLOCK");
    double scope_ns = scope_cost_ns();
    char scope[64] = "";
    const char *advice = !is_monotonic ? NULL
                         : wish        ? "unset TAKT_CLOCK"
                                : "scopes cost more here; some virtual machines can be given an "
                                  "invariant counter";
    if (scope_ns >= 0.0)
        snprintf(scope, sizeof scope, "; a recorded scope costs %.0f ns", scope_ns);
    doctor_tell(findings, is_monotonic ? DOCTOR_NOTE : DOCTOR_OK, "clock", advice,
                "%s, resolution %.3g ns%s%s", system->clock, system->clock_resolution_ns, scope,
                !is_monotonic ? ""
                : wish        ? ", as TAKT_CLOCK asks"
                              : ": this processor has no invariant counter that can be trusted");
}

static void look_at_processor(doctor_findings *findings)
{
    char model[256] = "";
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t allowed;
    int count = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;

    if (!doctor_read_line("/proc/cpuinfo", "model name", model, sizeof model))
        snprintf(model, sizeof model, "unknown model");
    doctor_tell(findings, DOCTOR_OK, "processor", NULL, "%s, %ld processors, %d for this process",
                model, online, count);
}

static void look_at_system(doctor_findings *findings)
{
    struct utsname name;
    if (uname(&name) == 0)
        doctor_tell(findings, DOCTOR_OK, "system", NULL, "%s %s, %s", name.sysname, name.release,
                    name.machine);
    if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
        getenv("APPTAINER_CONTAINER") || getenv("SINGULARITY_CONTAINER"))
        doctor_tell(findings, DOCTOR_NOTE, "system",
                    "GPUs are there if it was started with them: docker --gpus all, "
                    "apptainer --nv; their tools may be missing all the same",
                    "this is a container");
}

/* Traces go below the current folder unless the configuration says otherwise. */
static void look_at_folder(doctor_findings *findings)
{
    char folder[256], room[32];
    struct statvfs facts;

    if (!getcwd(folder, sizeof folder))
        snprintf(folder, sizeof folder, ".");
    if (access(".", W_OK | X_OK) != 0)
        doctor_tell(findings, DOCTOR_PROBLEM, "folder",
                    "start the program elsewhere, or set output.directory",
                    "traces cannot be written below %s: %s", folder, strerror(errno));
    else if (statvfs(".", &facts) == 0)
        doctor_tell(findings, DOCTOR_OK, "folder", NULL, "%s is writable, %s free", folder,
                    cli_bytes_text(room, sizeof room, (uint64_t)facts.f_bavail * facts.f_frsize));
}

void doctor_look_at_host(doctor_findings *findings)
{
    takt_system_info system = takt_system();
    look_at_build(findings, &system);
    look_at_clock(findings, &system);
    look_at_processor(findings);
    look_at_system(findings);
    look_at_folder(findings);
}
