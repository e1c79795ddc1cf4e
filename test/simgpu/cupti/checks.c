/* What every function of the stand-in does first: it counts the call, looks whether the caller does
 * something that hangs or crashes with the real library, and fails if it was told to. */
#include "simgpu/cupti/cupti.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if SIM_CUPTI_LIBRARY == 12
#define VERSION 26 /* 12.8 */
#elif SIM_CUPTI_LIBRARY == 13
#define VERSION 130001 /* 13.0 Update 1 */
#else
#define VERSION 130300
#endif

simc_options simc_option = {.version = VERSION, .crash_on_null = VERSION < 27};
simc_counts simc_count;
_Thread_local int simc_inside;
atomic_bool simc_is_exiting;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pid_t home; /* the process that loaded the library */
static char report[512];
static atomic_bool is_loaded; /* the options, by whatever thread */
static atomic_uint subscriptions;
static atomic_uint hang_calls;
static atomic_bool was_refused;
static _Atomic int32_t last_error;
static atomic_bool is_driver_there;

/* Of libsimlocks.so, where the test has preloaded it. */
__attribute__((weak)) unsigned simlocks_held(void);
__attribute__((weak)) void *simlocks_where(void);

static uint32_t number(const char *name, int64_t otherwise)
{
    return (uint32_t)sim_option_number(name, otherwise);
}

/* The index of an option's value in a NULL-ended list; 0 without the option. */
static int choice(const char *name, const char *const *values)
{
    const char *text = sim_option(name);
    if (!text)
        return 0;
    for (int i = 0; values[i]; i++) {
        if (!strcmp(text, values[i]))
            return i;
    }
    fprintf(stderr, "simgpu: %s=%s: no such value\n", name, text);
    abort();
}

static bool is_option(const char *name, size_t size)
{
    static const char *const names[] = {
        "version",
        "crash_on_null",
        "stamps",
        "stamps_every",
        "completion",
        "order",
        "drop_every",
        "unknown_every",
        "corrupt_at",
        "cut",
        "callbacks",
        "wrong_context",
        "late_ms",
        "slow_request_us",
        "owner",
        "owner_from",
        "hang",
        "hang_at",
        "report",
        "v2_family",
        "zero_graphs_after",
        "graph_ids",
        "reset_loses",
        "flush_keeps",
        "body_buffers",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == size && !memcmp(names[i], name, size))
            return true;
    }
    return false;
}

/* The simulator leaves our names unchecked; a test that misspells one would test nothing. */
static void check_names(void)
{
    static const char prefix[] = "cupti.";
    const char *text = getenv("TAKT_SIM");
    while (text && (text = strstr(text, prefix))) {
        text += sizeof prefix - 1;
        size_t size = strcspn(text, "= ;");
        if (is_option(text, size))
            continue;
        fprintf(stderr, "simgpu: no such option: cupti.%.*s\n", (int)size, text);
        abort();
    }
}

static void copy_option(char *out, size_t size, const char *name)
{
    const char *text = sim_option(name);
    snprintf(out, size, "%s", text ? text : "");
}

static void load_options(void)
{
    static const char *const stamps[] = {"right", "zero", "reversed", "absurd", NULL};
    static const char *const completions[] = {"normal", "never", "twice", "thread",
                                              "late",   "exit",  NULL};
    static const char *const orders[] = {"mixed", "calls", "reverse", NULL};
    static const char *const families[] = {"mixes", "apart", "kinds", NULL};
    static const char *const graph_ids[] = {"right", "stale", "shifted", NULL};
    simc_options *o = &simc_option;
    o->version = number("cupti.version", VERSION);
    o->crash_on_null = number("cupti.crash_on_null", o->version < 27) != 0;
    o->stamps = (simc_stamps)choice("cupti.stamps", stamps);
    o->stamps_every = number("cupti.stamps_every", 1);
    o->zero_graphs_after = number("cupti.zero_graphs_after", -1);
    o->completion = (simc_completion)choice("cupti.completion", completions);
    o->order = (simc_order)choice("cupti.order", orders);
    o->graph_ids = (simc_graph_ids)choice("cupti.graph_ids", graph_ids);
    o->drop_every = number("cupti.drop_every", 0);
    o->unknown_every = number("cupti.unknown_every", 0);
    o->corrupt_at = number("cupti.corrupt_at", 0);
    o->is_cut = number("cupti.cut", 0) != 0;
    o->flush_keeps = number("cupti.flush_keeps", 0) != 0;
    o->body_buffers = (uint32_t)number("cupti.body_buffers", 1);
    o->no_callbacks = number("cupti.callbacks", 1) == 0;
    o->wrong_context = number("cupti.wrong_context", 0) != 0;
    o->slow_request_us = number("cupti.slow_request_us", 0);
    o->late_ms = number("cupti.late_ms", 50);
    o->owner_from = number("cupti.owner_from", sim_option("cupti.owner") ? 1 : 0);
    copy_option(o->owner, sizeof o->owner, "cupti.owner");
    copy_option(o->hang, sizeof o->hang, "cupti.hang");
    o->hang_at = number("cupti.hang_at", 1);
    o->v2_family = (simc_v2_family)choice("cupti.v2_family", families);
    o->reset_loses = number("cupti.reset_loses", 0) != 0;
    copy_option(report, sizeof report, "cupti.report");
    is_loaded = true;
}

/* A test may ask for something else between two subscriptions. Otherwise the options stay untouched:
 * a worker reads them. */
static void load_changed_options(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const void *loaded;
    const void *script = sim_current_script();
    pthread_mutex_lock(&lock);
    if (loaded != script)
        load_options();
    loaded = script;
    pthread_mutex_unlock(&lock);
}

static void forget_children(void)
{
    simc_forget_clock();
}

static void first_use(void)
{
    home = getpid();
    check_names();
    load_changed_options();
    pthread_atfork(NULL, NULL, forget_children);
}

/* The real library's state is that of its threads and locks, which the child has only a copy of:
 * whoever calls it there waits for a thread that does not exist. */
static void hang_in_child(const char *function)
{
    simc_count.in_child++;
    char line[128];
    int length = snprintf(line, sizeof line, "simgpu: %s() in a forked child hangs\n", function);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(3);
    for (;;)
        pause();
}

static void tell_lock(const char *function)
{
    Dl_info at;
    simc_count.locks_held++;
    if (!report[0] || !dladdr(simlocks_where(), &at))
        return;
    fprintf(stderr, "simgpu: %s() while a mutex is held, locked in %s at %#zx\n", function,
            at.dli_fname, (size_t)((char *)simlocks_where() - (char *)at.dli_fbase));
}

static bool may_flush_here(void)
{
    return !simc_inside || simc_inside == SIM_DOMAIN_DRIVER || simc_inside == SIM_DOMAIN_RUNTIME;
}

/* These answer from constants, so that a refused client may call them. */
static bool is_harmless(const char *function)
{
    return !strncmp(function, "cuptiGet", 8) || !strncmp(function, "cuptiSubscribe", 14) ||
           !strncmp(function, "cuptiActivityGetNextRecord", 26);
}

int32_t simc_enter(const char *function)
{
    pthread_once(&once, first_use);
    if (getpid() != home && simc_is_subscribed() && !is_harmless(function))
        hang_in_child(function);
    simc_count.calls++;
    if (simlocks_held && simlocks_where && simlocks_held() > 0)
        tell_lock(function);
    if (was_refused && !is_harmless(function))
        simc_count.after_refusal++;
    if (!strncmp(function, "cuptiSubscribe", 14)) {
        load_changed_options();
        uint32_t n = ++subscriptions;
        if (simc_option.owner_from && n >= simc_option.owner_from) {
            was_refused = true;
            return SIM_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
        }
        was_refused = false;
    }
    if (!strcmp(function, simc_option.hang) && ++hang_calls >= simc_option.hang_at) {
        for (;;)
            pause();
    }
    if (!strncmp(function, "cuptiActivityFlush", 18) && !may_flush_here()) {
        simc_count.forbidden++;
        return simc_fail(SIM_CUPTI_ERROR_INVALID_OPERATION);
    }
    int status = sim_fault(function);
    if (status && !strncmp(function, "cuptiSubscribe", 14))
        was_refused = true;
    return simc_fail(status);
}

/* Before there is a driver, nothing is remembered. */
int32_t simc_fail(int32_t status)
{
    if (status != SIM_CUPTI_SUCCESS && is_driver_there)
        last_error = status;
    return status;
}

int32_t cuptiGetLastError(void)
{
    SIMC_ENTER(cuptiGetLastError);
    return atomic_exchange(&last_error, SIM_CUPTI_SUCCESS);
}

/* As the real library does: it opens the driver when it needs it, and again after a failure. */
bool simc_has_driver(void)
{
    if (is_driver_there)
        return true;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    if (!driver || !dlsym(driver, "cuInit"))
        return false;
    is_driver_there = sim_option_number("devices", 1) > 0; /* also before cuInit() */
    return is_driver_there;
}

static void print_report(FILE *out)
{
    const simc_counts *c = &simc_count;
    fprintf(out,
            "calls %lu\nlocks_held %lu\nafter_refusal %lu\nin_child %lu\nforbidden %lu\n"
            "not_zeroed %lu\nunaligned %lu\nslow_requests %lu\nlate_settings %lu\n"
            "buffers_out %lu\nbuffers_back %lu\ndropped %lu\nflushes %lu\nforced_flushes %lu\n",
            c->calls, c->locks_held, c->after_refusal, c->in_child, c->forbidden, c->not_zeroed,
            c->unaligned, c->slow_requests, c->late_settings, c->buffers_out, c->buffers_back,
            c->dropped, c->flushes, c->forced_flushes);
}

/* After everything that the program registered with atexit(). */
__attribute__((destructor)) static void at_exit(void)
{
    if (!is_loaded || getpid() != home)
        return;
    simc_is_exiting = true;
    if (simc_option.completion == SIMC_COMPLETE_AT_EXIT)
        simc_flush(true);
    if (!report[0])
        return;
    FILE *out = strcmp(report, "stderr") ? fopen(report, "w") : stderr;
    if (!out)
        return;
    print_report(out);
    if (out != stderr)
        fclose(out);
}
