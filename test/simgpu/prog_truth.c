/* A small simulation on the stand-ins that keeps its own books of what it makes the devices do, for
 * compare_truth.py to hold against everything that Takt says.
 *
 *     prog_truth DIRECTORY PROFILE.yaml GATE_MS [OPTIONS]
 *
 * Four threads, two devices, three streams each. In every step each thread closes a gate: a kernel
 * of GATE_MS for which all its streams wait. What it then launches begins when the gate opens, at
 * times that follow from the script alone, however slow the host is - unless the gate has opened
 * before everything stood behind it, and then the program ends with status 3: try a longer one.
 * Copies of one direction share an engine of their device, so each thread has directions to itself.
 *
 * DIRECTORY/books has a line for each thing done, DIRECTORY/timers what Takt's timers listed, and
 * DIRECTORY/CYCLE.REPORT.FORMAT each report. OPTIONS are added to TAKT_SIM. */
#include "simgpu/cudart.h"
#include "simgpu/driver.h"
#include "simgpu/sim.h"

#include <takt/takt.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEPS             8
#define THREADS           4
#define STREAMS           3
#define OUT_OF_MEMORY     2
#define NOT_READY         600
#define CAPTURE_OF_THREAD 1
#define FREE_BEGIN        (-1000000000) /* when it begins is the host's affair */
#define BUFFER_BYTES      65536

/* ---- The script --------------------------------------------------------------------------------
 */

typedef struct kernel {
    const char *symbol;
    const char *name; /* as tables print it */
    long ns;
} kernel;

static kernel gate = {"gate", "kernel gate", 0};
static const kernel density = {"density", "kernel density", 12345};
static const kernel forces = {"_Z6forcesPKfPfi", "kernel forces", 40001};
static const kernel sweep = {"sweep", "kernel sweep", 7777};
static const kernel residual = {"_ZN3sph8residualEPf", "kernel sph::residual", 999};

typedef struct copy {
    const char *name;
    long ns;
    int engine; /* -1: none */
} copy;

static const copy h_to_d = {"memcpy HtoD", 5431, 0};
static const copy d_to_h = {"memcpy DtoH", 3217, 1};
static const copy d_to_d = {"memcpy DtoD", 2111, -1};
static const copy p_to_p = {"memcpy PtoP", 8123, 1};

#define MEMSET_NS 1501
#define GRAPH_GAP 300

static void write_script(const char *gate_ms, const char *more)
{
    char text[1000];
    gate.ns = atol(gate_ms) * 1000000;
    snprintf(text, sizeof text,
             "devices=2;latency=0;graph.gap=%d;memset=%d;kernel.gate=%ld;kernel.density=%ld;"
             "kernel.forces=%ld;kernel.sweep=%ld;kernel.residual=%ld;memcpy.HtoD=%ld;"
             "memcpy.DtoH=%ld;memcpy.DtoD=%ld;memcpy.PtoP=%ld;%s",
             GRAPH_GAP, MEMSET_NS, gate.ns, density.ns, forces.ns, sweep.ns, residual.ns, h_to_d.ns,
             d_to_h.ns, d_to_d.ns, p_to_p.ns, more);
    setenv("TAKT_SIM", text, 1);
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

typedef struct lane {
    CUstream stream;
    unsigned id;   /* CUPTI's */
    long ready_ns; /* after the gate opens */
} lane;

typedef struct worker {
    int number;
    int device;
    long tid;
    lane lanes[STREAMS + 1]; /* the last is the device's default stream */
    CUstream capture;
    CUevent opened;
    CUdeviceptr buffer, remote, kept;
    CUfunction gate, density, forces, sweep, residual;
    char host[BUFFER_BYTES];
    long engine_ns[2];
    bool is_gated;
    int step;
    long launches;
    char path[200];
    const char *timer_of[3]; /* names of the timers that see what it launches */
    FILE *books;
} worker;

static CUcontext contexts[2];
static worker workers[THREADS];
static pthread_barrier_t everybody, launched, timing_three;
static FILE *timers_file;
static pthread_mutex_t timers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static long memory_changes; /* memory_lock */
static const char *directory;
static char traces[1000]; /* how the names of files begin */
static int cycles;

static void check(int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "%s fails: %d\n", what, status);
    _exit(4);
}
#define CHECK(call) check((int)(call), #call)

/* ---- Books -------------------------------------------------------------------------------------
 */

__attribute__((format(printf, 3, 4))) static void note(worker *w, const char *what,
                                                       const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(w->books, "%s\t%d\t%d\t%s", what, w->step, w->number, w->path);
    vfprintf(w->books, format, values);
    fputc('\n', w->books);
    va_end(values);
}

static void note_call(worker *w, const char *name)
{
    note(w, "call", "\t%s", name);
}

typedef struct inside {
    worker *w;
    size_t length;
} inside;

static inside go_inside(worker *w, const char *name)
{
    inside before = {w, strlen(w->path)};
#ifndef TAKT_DISABLE
    snprintf(w->path + before.length, sizeof w->path - before.length, "%s%s",
             before.length ? "/" : "", name);
    note(w, "scope", "%s", "");
#else
    (void)name;
#endif
    return before;
}

static void leave(const inside *before)
{
    before->w->path[before->length] = '\0';
}

#define SCOPE(w, name)                                                                             \
    __attribute__((cleanup(leave))) inside TAKT_JOIN(inside_, __LINE__) = go_inside(w, name);      \
    TAKT_SCOPE(name)

static long later(long a, long b)
{
    return a > b ? a : b;
}

/* Work that begins when its stream, and its engine if it needs one, are free. */
static void note_work(worker *w, int stream, const char *name, long ns, int engine, long bytes,
                      const char *call, long gap_ns, unsigned graph)
{
    lane *on = &w->lanes[stream];
    long begin = on->ready_ns + gap_ns;
    if (engine >= 0)
        begin = later(begin, w->engine_ns[engine]);
    on->ready_ns = begin + ns;
    if (engine >= 0)
        w->engine_ns[engine] = begin + ns;
    note(w, "work", "\t%d\t%u\t%ld\t%ld\t%s\t%ld\t%ld\t%s\t%u", w->device, on->id,
         w->is_gated && stream < STREAMS ? begin : FREE_BEGIN, ns, name, bytes, w->launches, call,
         graph);
    for (int i = 0; i < 3; i++)
        if (w->timer_of[i])
            note(w, "listed", "\t%s\tcuda:%d\t%s\t%ld", w->timer_of[i], w->device, name, ns);
}

static void note_launch(worker *w, int stream, const char *name, long ns, int engine, long bytes,
                        const char *call)
{
    w->launches++;
    note_call(w, call);
    note_work(w, stream, name, ns, engine, bytes, call, 0, 0);
}

/* ---- What it does ------------------------------------------------------------------------------
 */

/* Odd threads use the runtime, whose calls contain the driver's, and sweep with more blocks. */
static const char *start(worker *w, const kernel *k, CUfunction function, CUstream stream)
{
    if (w->number % 2) {
        const dim3 grid = {k == &sweep ? 32 : 16, 1, 1}, block = {64, 1, 1};
        CHECK(cudaLaunchKernel(k, grid, block, NULL, 0, (cudaStream_t)stream));
        return "cudaLaunchKernel";
    }
    CHECK(cuLaunchKernel(function, 16, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    return "cuLaunchKernel";
}

static void launch(worker *w, int stream, const kernel *k, CUfunction function)
{
    const char *call = start(w, k, function, w->lanes[stream].stream);
    note_launch(w, stream, k->name, k->ns, -1, 0, call);
}

static void set(worker *w, int stream, long bytes)
{
    CHECK(cuMemsetD8Async(w->buffer, 0, (size_t)bytes, w->lanes[stream].stream));
    note_launch(w, stream, "memset", MEMSET_NS, -1, bytes, "cuMemsetD8Async");
}

static void move(worker *w, int stream, const copy *c, long bytes)
{
    CUstream on = w->lanes[stream].stream;
    size_t size = (size_t)bytes;
    const char *call = c == &h_to_d   ? "cuMemcpyHtoDAsync"
                       : c == &d_to_h ? "cuMemcpyDtoHAsync"
                       : c == &d_to_d ? "cuMemcpyDtoDAsync"
                                      : "cuMemcpyPeerAsync";
    if (c == &h_to_d)
        CHECK(cuMemcpyHtoDAsync_v2(w->buffer, w->host, size, on));
    else if (c == &d_to_h)
        CHECK(cuMemcpyDtoHAsync_v2(w->host, w->buffer, size, on));
    else if (c == &d_to_d)
        CHECK(cuMemcpyDtoDAsync_v2(w->buffer, w->buffer + BUFFER_BYTES / 2, size, on));
    else
        CHECK(cuMemcpyPeerAsync(w->remote, contexts[!w->device], w->buffer, contexts[w->device],
                                size, on));
    note_launch(w, stream, c->name, c->ns, c->engine, bytes, call);
}

static void wait_for(worker *w)
{
    for (int i = 0; i < STREAMS; i++) {
        CHECK(cuStreamSynchronize(w->lanes[i].stream));
        note_call(w, "cuStreamSynchronize");
        note(w, "wait", "\tstream\t%u\t0", w->lanes[i].id);
    }
}

/* A flow leads from each thread's gate to the next thread. Ids exceed what SQLite's integers hold.
 */
static void flow(worker *w, int from, void (*half)(uint64_t id))
{
    const uint64_t id = (UINT64_C(1) << 63) + (uint64_t)(w->step * THREADS + from);
    half(id);
    note(w, "flow", "\t%llu\t%d", (unsigned long long)id, half == takt_flow_end);
}

/* From here on the streams' time counts from when the gate opens. */
static void close_gate(worker *w)
{
    SCOPE(w, "gate");
    w->is_gated = true;
    w->engine_ns[0] = w->engine_ns[1] = 0;
    w->lanes[0].ready_ns = -gate.ns;
    launch(w, 0, &gate, w->gate);
    CHECK(cuEventRecord(w->opened, w->lanes[0].stream));
    note_call(w, "cuEventRecord");
    for (int i = 1; i < STREAMS; i++) {
        CHECK(cuStreamWaitEvent(w->lanes[i].stream, w->opened, 0));
        note_call(w, "cuStreamWaitEvent");
        note(w, "wait", "\tstream event\t%u\t%u", w->lanes[i].id, w->lanes[0].id);
        w->lanes[i].ready_ns = 0;
    }
    flow(w, w->number, takt_flow_begin);
}

static void check_gate(worker *w)
{
    if (cuEventQuery(w->opened) != NOT_READY)
        _exit(3);
    w->is_gated = false;
}

static void declare(worker *w, double flops, double bytes)
{
#ifndef TAKT_DISABLE
    note(w, "declared", "\t%.17g\t%.17g", flops, bytes);
#endif
    TAKT_WORK(flops, bytes);
    (void)w;
}

/* Scopes of the same name in different places, and inside each other; not all declare work. */
static void solve(worker *w)
{
    {
        SCOPE(w, "forces");
        declare(w, 2.5e6, 1e6 + w->step);
        launch(w, 0, &density, w->density);
        launch(w, 1, &forces, w->forces);
        {
            SCOPE(w, "solve");
            for (int i = 0; i <= w->number; i++)
                launch(w, 0, &sweep, w->sweep);
            launch(w, 1, &residual, w->residual);
        }
        launch(w, 1, &density, w->density);
    }
    SCOPE(w, "solve");
    declare(w, 1e3, 2.5e5);
    launch(w, 2, &sweep, w->sweep);
    {
        SCOPE(w, "forces");
        launch(w, 2, &density, w->density);
        {
            SCOPE(w, "solve");
            launch(w, 2, &residual, w->residual);
        }
    }
    launch(w, 0, &residual, w->residual);
}

static void transfer(worker *w)
{
    static const copy *const directions[THREADS] = {&h_to_d, &d_to_h, &h_to_d, &d_to_h};
    SCOPE(w, "transfer");
    note(w, "argument", "\thalf=%d", w->number / 2);
    TAKT_ARG("half", w->number / 2);
    for (int i = 0; i < STREAMS; i++)
        move(w, i, directions[w->number], 1000 * (i + 1) + w->number);
    move(w, 2, w->number == 1 ? &p_to_p : &d_to_d, 4096);
    set(w, w->number % STREAMS, 2048 + w->number);
}

static CUgraphExec capture(worker *w)
{
    SCOPE(w, "capture");
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture_v2(w->capture, CAPTURE_OF_THREAD));
    note_call(w, start(w, &sweep, w->sweep, w->capture));
    CHECK(cuMemsetD8Async(w->buffer, 0, 512, w->capture));
    note_call(w, "cuMemsetD8Async");
    note_call(w, start(w, &residual, w->residual, w->capture));
    note_call(w, start(w, &density, w->density, w->capture));
    CHECK(cuStreamEndCapture(w->capture, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

static void replay(worker *w, CUgraphExec exec)
{
    SCOPE(w, "replay");
    const unsigned id = sim_graph_exec_id(exec);
    for (int i = 0; i < 3; i++) {
        CHECK(cuGraphLaunch(exec, w->lanes[1].stream));
        w->launches++;
        note_call(w, "cuGraphLaunch");
        note_work(w, 1, sweep.name, sweep.ns, -1, 0, "cuGraphLaunch", 0, id);
        note_work(w, 1, "memset", MEMSET_NS, -1, 512, "cuGraphLaunch", GRAPH_GAP, id);
        note_work(w, 1, residual.name, residual.ns, -1, 0, "cuGraphLaunch", GRAPH_GAP, id);
        note_work(w, 1, density.name, density.ns, -1, 0, "cuGraphLaunch", GRAPH_GAP, id);
    }
}

static long time_of_day_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* One change at a time, so that their order across threads is known; frees have bytes below 0. */
static void change_memory(worker *w, CUdeviceptr *memory, long bytes)
{
    pthread_mutex_lock(&memory_lock);
    const long before = time_of_day_ns();
    CHECK(bytes > 0 ? cuMemAlloc_v2(memory, (size_t)bytes) : cuMemFree_v2(*memory));
    note_call(w, bytes > 0 ? "cuMemAlloc" : "cuMemFree");
    note(w, "memory", "\t%d\t%ld\t%ld\t%ld\t%ld", w->device, bytes, memory_changes++, before,
         time_of_day_ns());
    pthread_mutex_unlock(&memory_lock);
}

static void allocate(worker *w)
{
    SCOPE(w, "memory");
    CUdeviceptr passing;
    const long bytes = (w->number + 1) << 20;
    if (cuMemAlloc_v2(&passing, (size_t)1 << 50) != OUT_OF_MEMORY)
        _exit(4);
    note_call(w, "cuMemAlloc");
    note(w, "failed", "\tcuMemAlloc\t%d", OUT_OF_MEMORY);
    change_memory(w, &passing, bytes * 3);
    change_memory(w, &passing, -bytes * 3);
    if (w->step % 4 == 3)
        change_memory(w, &w->kept, -bytes * 2);
    else if (w->step % 4 != 2)
        return;
    change_memory(w, &w->kept, bytes * (w->step % 4 == 2 ? 2 : 1));
}

/* ---- Timers on two threads at once, and a timing on a third ------------------------------------
 */

static void list(const takt_timing *timing, const char *name, int step)
{
    pthread_mutex_lock(&timers_lock);
    for (size_t i = 0; i < takt_timing_count(timing); i++) {
        const takt_activity *activity = takt_timing_at(timing, i);
        fprintf(timers_file, "listed\t%d\t%s\t%s\t%s\t%lu\n", step, name, activity->device,
                activity->name, (unsigned long)(activity->end_ns - activity->begin_ns));
    }
    pthread_mutex_unlock(&timers_lock);
}

/* `user` is the worker; its timers end inner ones first. */
static void list_inner(const takt_timing *timing, const char *indent, void *user)
{
    const worker *w = user;
    (void)indent;
    list(timing, w->number ? "inner 1" : "inner 0", w->step);
}

static void list_outer(const takt_timing *timing, const char *indent, void *user)
{
    const worker *w = user;
    (void)indent;
    list(timing, w->number ? "outer 1" : "outer 0", w->step);
}

static void meet(void)
{
    pthread_barrier_wait(&timing_three);
}

/* A kernel, a copy and a set, each seen by the timers that ask for its kind. */
static void launch_timed(worker *w, bool is_inner)
{
    w->timer_of[0] = "outer 0"; /* all */
    w->timer_of[1] = is_inner ? "inner 1" : NULL;
    w->timer_of[2] = "outer 1"; /* kernels */
    launch(w, 0, &sweep, w->sweep);
    w->timer_of[2] = is_inner ? "inner 0" : NULL; /* copies */
    move(w, 1, w->number ? &d_to_h : &h_to_d, 100);
    w->timer_of[2] = "third"; /* sets */
    set(w, 2, 64);
    memset(w->timer_of, 0, sizeof w->timer_of);
}

/* What is collected is the process's, so all must have begun before anything is launched. */
static void time_and_launch(worker *w)
{
    const uint32_t outer = w->number ? TAKT_TIMING_KERNEL : TAKT_TIMING_ALL;
    const uint32_t inner = w->number ? TAKT_TIMING_ALL : TAKT_TIMING_MEMCPY;
    SCOPE(w, "timed");
    TAKT_TIMER_BEGIN(around, "outer", .filter = outer, .report = list_outer, .user = w);
    const inside in_outer = go_inside(w, "outer");
    meet();
    launch_timed(w, false);
    meet();
    TAKT_TIMER_BEGIN(within, "inner", .filter = inner, .report = list_inner, .user = w);
    const inside in_inner = go_inside(w, "inner");
    meet();
    launch_timed(w, true);
    meet();
    leave(&in_inner);
    TAKT_TIMER_END(within);
    meet();
    leave(&in_outer);
    TAKT_TIMER_END(around);
    meet();
    (void)outer, (void)inner, (void)list_outer, (void)list_inner;
}

static void time_beside(worker *w)
{
    takt_timing *timing;
    const takt_timing_options options = {.struct_size = sizeof options,
                                         .filter = TAKT_TIMING_MEMSET};
    CHECK(takt_timing_begin(&options, &timing));
    for (int i = 0; i < 5; i++)
        meet();
    CHECK(takt_timing_end(timing));
    list(timing, "third", w->step);
    takt_timing_free(timing);
    meet();
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static void step(worker *w)
{
    SCOPE(w, "step");
    if (w->number % 2 == 0) {
        SCOPE(w, "upload");
        CHECK(cuMemcpyHtoD_v2(w->buffer, w->host, 777));
        note_launch(w, STREAMS, h_to_d.name, h_to_d.ns, -1, 777, "cuMemcpyHtoD");
    }
    allocate(w);
    CUgraphExec exec = capture(w);
    close_gate(w);
    solve(w);
    transfer(w);
    replay(w, exec);
    check_gate(w);
    if (w->number != 3) /* what it launches ends in a later step */
        wait_for(w);
    pthread_barrier_wait(&launched);
    flow(w, (w->number + THREADS - 1) % THREADS, takt_flow_end);
    if (w->number < 2)
        time_and_launch(w);
    else if (w->number == 2)
        time_beside(w);
    if (w->number < 2)
        wait_for(w);
    CHECK(cuGraphExecDestroy(exec));
}

static void *run(void *argument)
{
    worker *w = argument;
    w->tid = syscall(SYS_gettid);
    CHECK(cudaSetDevice(w->device));
    CHECK(cuCtxSetCurrent(contexts[w->device]));
    fprintf(w->books, "thread\t0\t%d\t\t%ld\n", w->number, w->tid);
    for (w->step = 0; w->step < STEPS; w->step++) {
        step(w);
        pthread_barrier_wait(&everybody);
        pthread_barrier_wait(&everybody);
    }
    wait_for(w);
    return NULL;
}

static CUfunction function_of(CUmodule module, const kernel *k)
{
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, module, k->symbol));
    if (workers[0].gate == NULL) /* once */
        sim_register_kernel(k, k->symbol);
    return function;
}

static void prepare(worker *w, int number)
{
    char path[1000];
    CUmodule module;
    w->number = number;
    w->device = number / 2;
    CHECK(cuCtxSetCurrent(contexts[w->device]));
    CHECK(cuModuleLoadData(&module, "none"));
    w->density = function_of(module, &density);
    w->forces = function_of(module, &forces);
    w->sweep = function_of(module, &sweep);
    w->residual = function_of(module, &residual);
    w->gate = function_of(module, &gate);
    for (int i = 0; i <= STREAMS; i++) {
        sim_stream_info info;
        if (i < STREAMS)
            CHECK(cuStreamCreate(&w->lanes[i].stream, 1));
        sim_stream_of(contexts[w->device], w->lanes[i].stream, false, &info);
        w->lanes[i].id = info.id;
    }
    CHECK(cuStreamCreate(&w->capture, 1));
    CHECK(cuEventCreate(&w->opened, 0));
    CHECK(cuMemAlloc_v2(&w->buffer, BUFFER_BYTES));
    CHECK(cuMemAlloc_v2(&w->kept, (size_t)(number + 1) << 20));
    CHECK(cuCtxSetCurrent(contexts[!w->device]));
    CHECK(cuMemAlloc_v2(&w->remote, BUFFER_BYTES));
    snprintf(path, sizeof path, "%s/books.%d", directory, number);
    w->books = fopen(path, "w");
    check(!w->books, path);
}

/* ---- What Takt says ----------------------------------------------------------------------------
 */

static void write_report(const takt_trace *trace, const char *name, takt_format format, bool all)
{
    static const char *const suffixes[] = {"txt", "csv", "json", "md"};
    const takt_report_options options = {
        .struct_size = sizeof options, .format = format, .rows = -1, .width = 160, .all = all};
    char path[1000];
    snprintf(path, sizeof path, "%s/%u.%s%s.%s", directory, takt_trace_facts(trace)->cycle, name,
             all ? ".all" : "", suffixes[format]);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    takt_sink sink = takt_sink_fd(file);
    takt_status status = takt_report(trace, name, &options, &sink);
    close(file);
    if (status != TAKT_OK)
        unlink(path);
    if (status != TAKT_NO_SPANS)
        check((int)status, name);
}

static void write_reports(const takt_trace *trace, void *user)
{
    const char *name;
    (void)user;
    for (size_t i = 0; (name = takt_report_name(i)) != NULL; i++) {
        for (takt_format format = TAKT_FORMAT_TEXT; format <= TAKT_FORMAT_MARKDOWN; format++)
            write_report(trace, name, format, false);
        write_report(trace, name, TAKT_FORMAT_JSON, true);
    }
}

static takt_profiler *make_profiler(const char *path)
{
    takt_config *config;
    takt_error error;
    takt_profiler *profiler;
    if (takt_config_load(path, &config, &error) != TAKT_OK) {
        fprintf(stderr, "%s\n", error.message);
        _exit(4);
    }
    takt_profiler_options options;
    CHECK(takt_config_options(config, &options));
    snprintf(traces, sizeof traces, "%s/%s", options.directory, options.name);
    options.on_trace = write_reports;
    CHECK(takt_profiler_create(&options, &profiler));
    takt_config_destroy(config);
    return profiler;
}

/* Where a step begins, between two readings of the time of day. */
static void begin_step(takt_profiler *profiler, int number, takt_status (*begin)(takt_profiler *),
                       FILE *books)
{
    const long before = time_of_day_ns();
    CHECK(begin(profiler));
    fprintf(books, "boundary\t%d\t-1\t\t%ld\t%ld\n", number, before, time_of_day_ns());
}

/* After a cycle the threads stand still until its trace is being written, so that nothing in it can
 * come from later. */
static void step_profiler(takt_profiler *profiler, int number, FILE *books)
{
    const bool is_last = takt_profiler_action(profiler) == TAKT_ACTION_RECORD_AND_SAVE;
    const struct timespec pause = {.tv_nsec = 1000000};
    begin_step(profiler, number + 1, takt_profiler_step, books);
    if (!is_last)
        return;
    char path[1200];
    snprintf(path, sizeof path, "%s.%d.pftrace", traces, cycles++);
    while (access(path, F_OK) != 0)
        nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    char path[1000];
    if (argc < 4)
        return 2;
    directory = argv[1];
    write_script(argv[3], argc > 4 ? argv[4] : "");
    snprintf(path, sizeof path, "%s/timers", directory);
    timers_file = fopen(path, "w");
    check(!timers_file, path);
    CHECK(cuInit(0));
    for (int i = 0; i < 2; i++)
        CHECK(cuDevicePrimaryCtxRetain(&contexts[i], i));
    for (int i = 0; i < THREADS; i++)
        prepare(&workers[i], i);
    snprintf(path, sizeof path, "%s/books.steps", directory);
    FILE *books = fopen(path, "w");
    check(!books, path);
    takt_profiler *profiler = make_profiler(argv[2]);
    pthread_barrier_init(&everybody, NULL, THREADS + 1);
    pthread_barrier_init(&launched, NULL, THREADS);
    pthread_barrier_init(&timing_three, NULL, 3);
    begin_step(profiler, 0, takt_profiler_start, books);
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, run, &workers[i]), "pthread_create");
    for (int i = 0; i < STEPS; i++) {
        pthread_barrier_wait(&everybody);
        step_profiler(profiler, i, books);
        pthread_barrier_wait(&everybody);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        fclose(workers[i].books);
    }
    CHECK(takt_profiler_stop(profiler));
    takt_profiler_destroy(profiler);
    fclose(timers_file);
    fclose(books);
    return 0;
}
