/* The checks of `takt doctor`: machine, environment, devices. */
#include "cli/doctor.h"

#include "base/file.h"
#include "config/config.h"
#include "report/table.h"

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

/* ======== The machine ======== */

/* Everything except devices: Takt's build, clock, processor, system, folder. */

enum {
    SCOPES = 20000, /* recorded per round to measure their cost */
    ROUNDS = 5
};

static const char *bytes_text(char out[TKT_VALUE_SIZE], uint64_t bytes)
{
    tkt_value_text(out, TKT_CELL_BYTES, (tkt_cell){.u = bytes});
    return out;
}

/* Optional libraries that this command was built without, the missing feature, and the advice with
 * the name of Debian's package. */
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

/* Returns the time per scope of the fastest round; disturbances only make a round slower. */
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

/* Measures a scope in a full trace on this machine; negative if recording fails. */
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
    const char *wish = tkt_environment("TAKT_CLOCK");
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

/* By default, traces go below the current folder. */
static void look_at_folder(doctor_findings *findings)
{
    char folder[256], room[TKT_VALUE_SIZE];
    struct statvfs facts;

    if (!getcwd(folder, sizeof folder))
        snprintf(folder, sizeof folder, ".");
    if (access(".", W_OK | X_OK) != 0)
        doctor_tell(findings, DOCTOR_PROBLEM, "folder",
                    "start the program elsewhere, or set output.directory",
                    "traces cannot be written below %s: %s", folder, strerror(errno));
    else if (statvfs(".", &facts) == 0)
        doctor_tell(findings, DOCTOR_OK, "folder", NULL, "%s is writable, %s free", folder,
                    bytes_text(room, (uint64_t)facts.f_bavail * facts.f_frsize));
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

/* ======== The environment ======== */

/* Environment variables that change a recording. */

extern char **environ;

enum {
    PREFIX = 5 /* length of "TAKT_" */
};

/* Variables that Takt reads. */
static const char *const ours[] = {"TAKT_CLOCK", "TAKT_CONFIG", "TAKT_CUPTI_LIBRARY", "TAKT_LOG",
                                   "TAKT_OPTIONS"};

/* Variables of CUDA and other tools, and their effect on a recording. */
static const struct {
    const char *name;
    const char *advice;
} theirs[] = {
    {"CUDA_VISIBLE_DEVICES", "programs see only these devices, numbered from 0"},
    {"CUDA_LAUNCH_BLOCKING", "with 1 each launch waits for its kernel: unset it, or steps and gaps "
                             "look as they never do otherwise"},
    {"CUDA_INJECTION64_PATH", "this library is loaded into each program that uses CUDA; if it uses "
                              "CUPTI, Takt cannot: unset it"},
    {"NVTX_INJECTION64_PATH", "this tool receives the ranges of timers; it does not disturb Takt"},
    {"CUDA_HOME", "Takt also looks for libcupti there"},
    {"CUDA_PATH", "Takt also looks for libcupti there"},
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
    tkt_config_errors errors = {.count = 0};
    takt_config *config = NULL;

    if (!tkt_environment("TAKT_CONFIG") && !tkt_environment("TAKT_OPTIONS"))
        return;
    /* Loads what a program would load, including TAKT_OPTIONS. */
    tkt_config_load(NULL, &config, &errors);
    for (size_t i = 0; i < tkt_config_errors_kept(&errors); i++)
        doctor_tell(findings, DOCTOR_PROBLEM, "variable",
                    "programs run without a profile until this is right", "%s",
                    errors.items[i].error.message);
    takt_config_destroy(config);
}

/* Takt treats an empty variable as unset. */
static void tell_ours(doctor_findings *findings, const char *entry, bool is_empty)
{
    doctor_tell(findings, is_empty ? DOCTOR_NOTE : DOCTOR_OK, "variable",
                is_empty ? "an empty variable counts as unset" : NULL, "%s", entry);
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

/* ======== Devices ======== */

/* CUDA: the driver, its devices, and whether CUPTI can record them. */

/* The driver has a kernel module and a library, and each may be missing. A container started
 * without the GPU lacks libcuda. A machine prepared for other hosts may have libcuda but no
 * module. */
static void look_at_driver(doctor_findings *findings, const takt_cuda_info *cuda)
{
    char module[256] = "";
    bool has_module =
        doctor_read_line("/proc/driver/nvidia/version", "NVRM version", module, sizeof module);

    if (has_module)
        doctor_tell(findings, DOCTOR_OK, "driver", NULL, "%s", module);
    if (!cuda->driver_path[0] && has_module)
        doctor_tell(findings, DOCTOR_PROBLEM, "driver",
                    "start the container with the GPU, or install the driver's libraries",
                    "the kernel has NVIDIA's driver, but libcuda.so.1 is not found");
    else if (!cuda->driver_path[0])
        doctor_tell(findings, DOCTOR_NOTE, "driver",
                    "scopes, steps and memory are recorded all the same; for a GPU install its "
                    "driver",
                    "no NVIDIA driver (libcuda.so.1)");
    else
        doctor_tell(findings, DOCTOR_OK, "driver", NULL, "%s, for CUDA up to %u.%u",
                    cuda->driver_path, cuda->driver_version / 1000,
                    cuda->driver_version % 1000 / 10);
}

static void look_at_devices(doctor_findings *findings, const takt_cuda_info *cuda)
{
    char memory[TKT_VALUE_SIZE];
    takt_cuda_device_info device;

    if (cuda->driver_path[0] && cuda->device_count == 0)
        doctor_tell(findings, DOCTOR_PROBLEM, "devices",
                    "is there a GPU, does nvidia-smi find it, does CUDA_VISIBLE_DEVICES hide it?",
                    "%s", cuda->problem);
    for (uint32_t i = 0; i < cuda->device_count; i++)
        if (takt_cuda_device(i, &device) == TAKT_OK)
            doctor_tell(findings, DOCTOR_OK, "devices", NULL,
                        "cuda:%u %s, compute capability %u.%u, %u multiprocessors, %s", i,
                        device.name, device.compute_major, device.compute_minor,
                        device.multiprocessors, bytes_text(memory, device.memory_bytes));
}

static void look_at_cupti(doctor_findings *findings, const takt_cuda_info *cuda)
{
    if (cuda->device_count == 0)
        return;
    if (cuda->has_cupti)
        doctor_tell(findings, DOCTOR_OK, "cupti", NULL,
                    "%s, %s: kernels, copies, sets and graphs are recorded", cuda->cupti_name,
                    cuda->cupti_path);
    else
        doctor_tell(findings, DOCTOR_PROBLEM, "cupti",
                    "until then CUDA events time what the program marks with TAKT_LAUNCH", "%s%s%s",
                    cuda->cupti_path, cuda->cupti_path[0] ? ": " : "", cuda->problem);
}

/* Programs may find a different CUPTI first, next to the libraries that they have loaded. */
static void look_at_search(doctor_findings *findings)
{
    takt_cuda_place place;
    for (uint32_t i = 0; takt_cuda_searched(i, &place) == TAKT_OK; i++)
        doctor_tell(findings, DOCTOR_OK, "searched", NULL, "%.340s: %s", place.path, place.finding);
}

/* Reported because users often suspect this setting when a trace is empty; it has no effect. */
static void look_at_permissions(doctor_findings *findings)
{
    char value[64];
    if (doctor_read_line("/proc/driver/nvidia/params", "RmProfilingAdminOnly:", value,
                         sizeof value))
        doctor_tell(findings, DOCTOR_OK, "permissions", NULL,
                    "RmProfilingAdminOnly is %s: it keeps users from hardware counters, which Takt "
                    "does not read; recording activities needs no permission",
                    value);
}

void doctor_look_at_devices(doctor_findings *findings)
{
    takt_cuda_info cuda = takt_cuda();
    look_at_driver(findings, &cuda);
    look_at_devices(findings, &cuda);
    look_at_cupti(findings, &cuda);
    look_at_search(findings);
    look_at_permissions(findings);
}
