/* A dam breaks: a smoothed-particle fluid in a box. The program checks conservation laws, and Takt
 * profiles it on request.
 *
 * The fluid runs on the processor's cores or on a CUDA device (fluid_cuda.cu), with the same
 * physics (medium.h).
 *
 * Profiling takes three things: scopes in the solver (fluid.c, grid.c), one call per step (run()),
 * and a configuration file (profile.yaml). The device code needs nothing else. Profiling must not
 * change the physics: the hash printed at the end is the same with and without it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fluid.h"

#include <takt/takt.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The energy error grows with the square of the time step, the momentum error only with rounding.
 * At the default size, over 30,000 steps until the fluid is at rest, they stay within 2.4e-4 and
 * 3e-15. With 500 particles the energy error stays within 5e-4. Each check finds errors that the
 * other misses. A pair force that is asymmetric in its sixth digit exceeds the momentum tolerance a
 * million-fold, but passes the energy check. A symmetric pair force that is 5 % too weak, or a wall
 * that is 10 % too soft, keeps momentum exact. The energy check finds both. */
static const double ENERGY_TOLERANCE = 1e-3;
static const double MOMENTUM_TOLERANCE = 1e-12;

enum {
    FEWEST_PARTICLES = 200, /* fewer are single balls, not a fluid: each one dominates the energy */
    EXIT_USAGE = 2
};

static const char USAGE[] =
    "usage: sph [options]\n"
    "\n"
    "A dam breaks in a closed box, by smoothed-particle hydrodynamics.\n"
    "\n"
    "  --steps N          time steps to take (1000)\n"
    "  --particles N      about how many particles, at least 200 (4000)\n"
    "  --device NAME      cpu, or cuda, which is the default where there is a CUDA device\n"
    "  --profile FILE     profile as FILE says, such as samples/sph/profile.yaml\n"
    "  --profiling.KEY V  change one key of the profile: --profiling.active 20\n"
    "  --quiet            print nothing but the hash of the final state and the profile's reports\n"
    "  --help             print this\n"
    "\n"
    "OMP_NUM_THREADS sets the number of threads; it does not change the result. Where others\n"
    "use the cores too, OMP_WAIT_POLICY=passive keeps threads from waiting in circles.\n"
    "\n"
    "Exit status: 0, 1 when energy or momentum does not balance, 2 for a wrong option.\n";

typedef struct arguments {
    fluid_setup setup;
    size_t steps;
    const char *device; /* NULL: no --device option */
    bool is_quiet;
    bool wants_help;
} arguments;

static bool parse_count(const char *text, size_t fewest, size_t *out)
{
    if (!text || *text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end != '\0' || errno != 0 || value < fewest || value > SIZE_MAX)
        return false;
    *out = (size_t)value;
    return true;
}

static bool parse_device(const char *text, const char **out)
{
    *out = text;
    return text && (strcmp(text, "cpu") == 0 || strcmp(text, "cuda") == 0);
}

/* Takt's own arguments are already removed, and profile_path() has read --profile. */
static bool parse_arguments(int argc, char **argv, arguments *out)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        bool is_valid = true;
        if (strcmp(name, "--steps") == 0)
            is_valid = parse_count(argv[++i], 1, &out->steps);
        else if (strcmp(name, "--particles") == 0)
            is_valid = parse_count(argv[++i], FEWEST_PARTICLES, &out->setup.particles);
        else if (strcmp(name, "--device") == 0)
            is_valid = parse_device(argv[++i], &out->device);
        else if (strcmp(name, "--profile") == 0)
            is_valid = argv[++i] != NULL;
        else if (strcmp(name, "--quiet") == 0)
            out->is_quiet = true;
        else if (strcmp(name, "--help") == 0)
            out->wants_help = true;
        else
            is_valid = false;
        if (!is_valid) {
            fprintf(stderr, "sph: unknown or badly given option %s; see --help\n", name);
            return false;
        }
    }
    return true;
}

static const char *profile_path(char **argv)
{
    for (; *argv; argv++) {
        if (strcmp(*argv, "--profile") == 0)
            return argv[1];
    }
    return NULL;
}

/* Reads the profile and removes Takt's options from the arguments. Returns NULL after printing the
 * error. */
static takt_config *load_config(int *argc, char **argv)
{
    takt_config *config = NULL;
    takt_error error = {.message = ""};
    const char *path = profile_path(argv);
    takt_status status =
        path ? takt_config_load(path, &config, &error) : takt_config_create(&config, &error);
    if (status == TAKT_OK)
        status = takt_config_args(config, argc, argv, &error);
    if (status == TAKT_OK)
        return config;

    fprintf(stderr, "sph: %s\n", error.message[0] ? error.message : takt_status_text(status));
    takt_config_destroy(config);
    return NULL;
}

/* Returns NULL if profiling was not requested or is impossible: a simulation is worth more than its
 * profile. With NULL, all later profiler calls do nothing. */
static takt_profiler *start_profiler(const takt_config *config, double simulated_seconds_per_step)
{
    takt_profiler *profiler = NULL;
    if (!takt_config_enabled(config))
        return NULL;
    takt_profiler_options options;
    takt_config_options(config, &options);
    takt_status status = takt_profiler_create(&options, &profiler);
    if (status == TAKT_OK)
        status = takt_profiler_start(profiler);
    if (status == TAKT_OK)
        status = takt_profiler_step_time(profiler, simulated_seconds_per_step);
    if (status != TAKT_OK)
        fprintf(stderr, "sph: no profile: %s\n", takt_status_text(status));
    return profiler;
}

#ifdef SPH_CUDA
#define NO_DEVICE "there is no CUDA device"
#else
#define NO_DEVICE "this was built without CUDA"
#endif

/* True if the fluid is on the right device. The user may request a device; by default an existing
 * CUDA device is used. */
static bool choose_device(fluid *f, const char *device)
{
    if (device && strcmp(device, "cpu") == 0)
        return true;
    bool exists = fluid_cuda_exists();
    if (exists && fluid_move_to_device(f)) /* otherwise it has printed the reason */
        return true;
    if (device && !exists)
        fprintf(stderr, "sph: --device cuda: " NO_DEVICE "\n");
    return !device;
}

static bool run(fluid *f, size_t steps, takt_profiler *profiler)
{
    for (size_t i = 0; i < steps; i++) {
        if (!fluid_step(f)) {
            fprintf(stderr, "sph: out of memory, or the device failed\n");
            return false;
        }
        takt_profiler_step(profiler);
    }
    return true;
}

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints the timing, and the balance errors if the device really computed. */
static void print_result(const fluid *f, double seconds, bool is_computed)
{
    double steps = (double)f->steps;

    printf("%zu particles, %zu steps: %.3g s of fluid in %.3g s, %.3g ms a step\n", f->count,
           f->steps, steps * f->time_step, seconds, 1e3 * seconds / steps);
    if (!is_computed)
        return;
    printf("off balance by: energy %.1e of %.0e allowed, momentum %.1e of %.0e\n",
           f->balance.energy_error, ENERGY_TOLERANCE, f->balance.momentum_error,
           MOMENTUM_TOLERANCE);
}

/* False also if the error is NaN. */
static bool is_within(const char *what, double error, double tolerance)
{
    if (error <= tolerance)
        return true;
    fprintf(stderr, "sph: the %s does not balance: off by %.1e, allowed %.0e\n", what, error,
            tolerance);
    return false;
}

static bool is_balanced(const fluid_balance *b)
{
    bool energy = is_within("energy", b->energy_error, ENERGY_TOLERANCE);
    bool momentum = is_within("momentum", b->momentum_error, MOMENTUM_TOLERANCE);
    return energy && momentum;
}

static int simulate(const arguments *args, const takt_config *config)
{
    fluid *f = fluid_create(&args->setup);
    if (!f) {
        fprintf(stderr, "sph: no memory for %zu particles\n", args->setup.particles);
        return EXIT_FAILURE;
    }
    if (!choose_device(f, args->device)) {
        fluid_destroy(f);
        return EXIT_FAILURE;
    }
    bool is_computed = !f->device || fluid_cuda_computes();
    takt_profiler *profiler = start_profiler(config, f->time_step);
    double begin = seconds_now();
    bool has_run = run(f, args->steps, profiler);
    double seconds = seconds_now() - begin;
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);

    if (has_run && !args->is_quiet)
        print_result(f, seconds, is_computed);
    if (has_run)
        printf("state %016llx\n", (unsigned long long)fluid_hash(f));
    bool is_good = has_run && (!is_computed || is_balanced(&f->balance));
    fluid_destroy(f);
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    arguments args = {.setup = FLUID_SETUP_INIT, .steps = 1000};
    takt_config *config = load_config(&argc, argv);
    if (!config)
        return EXIT_USAGE;

    int status = EXIT_USAGE;
    if (parse_arguments(argc, argv, &args)) {
        if (args.wants_help)
            status = fputs(USAGE, stdout) < 0;
        else
            status = simulate(&args, config);
    }
    takt_config_destroy(config);
    return status;
}
