/* Does with files, signals and its own end what programs do, while Takt records; check_files.sh
 * looks at what is left. Says on standard error what the calls returned.
 *
 *     prog_files WAY DIRECTORY */
#include <takt/takt.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static takt_profiler *profiler;
static const char *directory;
static bool streams, prints, calls_back, in_foreground;
static unsigned end_of_stream; /* atomic; how often Takt has said it */

static void say(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)user;
    fprintf(stderr, "takt: %s\n", line);
    if (strstr(line, "streaming has stopped"))
        __atomic_fetch_add(&end_of_stream, 1, __ATOMIC_RELAXED);
}

static void say_trace(const takt_trace *trace, void *user)
{
    (void)user;
    fprintf(stderr, "on_trace: cycle %u\n", takt_trace_facts(trace)->cycle);
}

static void start(void)
{
    static const char *const traces[] = {"perfetto"}, *const reports[] = {"scopes"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "files";
    options.directory = directory;
    options.traces = traces;
    options.trace_count = 1;
    options.stream = streams;
    options.background = in_foreground ? TAKT_OFF : TAKT_ON;
    options.reports = reports;
    options.report_count = prints;
    options.on_trace = calls_back ? say_trace : NULL;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK)
        abort();
    takt_status status = takt_profiler_start(profiler);
    if (status != TAKT_OK)
        fprintf(stderr, "start: %s\n", takt_status_text(status));
}

/* Until the stream's thread has written the head of its file. */
static void start_streaming(void)
{
    char path[4096];
    takt_trace *trace;
    streams = true;
    start();
    snprintf(path, sizeof path, "%s/files.0.partial.pftrace", directory);
    while (takt_trace_open(path, &trace, NULL) != TAKT_OK)
        usleep(1000);
    takt_trace_release(trace);
}

static void step(void)
{
    {
        TAKT_SCOPE("work");
    }
    takt_profiler_step(profiler);
}

static void stop(void)
{
    fprintf(stderr, "stop: %s\n", takt_status_text(takt_profiler_stop(profiler)));
    takt_profiler_destroy(profiler);
}

static int run(void)
{
    start();
    for (int i = 0; i < 10; i++)
        step();
    stop();
    return 0;
}

/* The stream has ten occasions a second to notice. */
static void step_until_told(void)
{
    while (!__atomic_load_n(&end_of_stream, __ATOMIC_RELAXED)) {
        step();
        usleep(10000);
    }
    fprintf(stderr, "told %u\n", __atomic_load_n(&end_of_stream, __ATOMIC_RELAXED));
}

/* As daemons do. ThreadSanitizer would report that descriptors of another thread's are closed, which
 * is the point. */
static int close_all(void)
{
    start_streaming();
    step();
    for (int fd = 3; fd < 1024; fd++)
        syscall(SYS_close, fd);
    int mine = open("mine", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (mine < 0 || write(mine, "mine\n", 5) != 5)
        return 1;
    step_until_told();
    stop();
    return fcntl(mine, F_GETFD) < 0;
}

static int change_directory(void)
{
    start();
    step();
    if (mkdir("elsewhere", 0700) != 0 || chdir("elsewhere") != 0)
        return 1;
    stop();
    return 0;
}

/* The script has closed 0, 1 and 2. The stream is left as it is after the printing. */
static int print_nowhere(void)
{
    start_streaming();
    printf("%010000d\n", 0);
    fflush(stdout);
    _exit(0);
}

/* 0 if the program's handlers, masks and pending signals are as they were. */
static int are_signals_touched(void)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ};
    sigset_t pending, blocked;
    int touched = 0;
    sigpending(&pending);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int i = 0; i < 2; i++) {
        struct sigaction action;
        sigaction(signals[i], NULL, &action);
        touched += action.sa_handler != SIG_DFL || sigismember(&pending, signals[i]) ||
                   sigismember(&blocked, signals[i]);
    }
    return touched;
}

/* Nobody reads what Takt prints, on either stream that it prints to. */
static int print_into_closed_pipe(void)
{
    int ends[2], errors = dup(2);
    takt_timed timed = {.struct_size = sizeof timed};
    prints = true;
    if (pipe(ends) != 0 || dup2(ends[1], 1) < 0 || dup2(ends[1], 2) < 0)
        return 1;
    close(ends[0]);
    close(ends[1]);
    takt_set_log(NULL, NULL);
    start();
    {
        TAKT_TIMER("timer");
    }
    bool is_marked = ferror(stdout);
    takt_timed_print(&timed);
    step();
    takt_status status = takt_profiler_stop(profiler);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    dup2(errors, 2);
    fprintf(stderr, "stop: %s\n", takt_status_text(status));
    return are_signals_touched() + 10 * (is_marked || ferror(stdout));
}

/* In the middle of a trace `ulimit -f` is reached: once in the stream, on a thread of Takt's, and
 * once in the program's own thread. */
static int reach_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 16384;
    setrlimit(RLIMIT_FSIZE, &limit);
    streams = in_foreground = true;
    start();
    for (int i = 0; i < 20000; i++) {
        TAKT_SCOPE("work");
        TAKT_ARG("number", i);
    }
    step_until_told();
    stop();
    return are_signals_touched();
}

static int become_daemon(void)
{
    start();
    step();
    if (daemon(1, 1) != 0)
        return 1;
    step();
    stop();
    return 0;
}

static int become_daemon_and_exit(void)
{
    pid_t parent = getpid();
    start();
    step();
    if (daemon(1, 1) != 0)
        return 1;
    while (getppid() == parent) /* which is about to end */
        usleep(1000);
    exit(0);
}

/* A child that ends beside its parent says nothing. */
static int end_in_child(void)
{
    start();
    pid_t child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
    stop();
    return 0;
}

static int end_without_stop(void)
{
    prints = calls_back = true;
    start();
    step();
    step();
    exit(3);
}

/* As the destructor of a static object does: registered before, it runs after Takt's handler. */
static int stop_in_destructor(void)
{
    atexit(stop);
    return end_without_stop();
}

static void *exit_soon(void *unused)
{
    usleep(20000);
    exit(3);
    return unused;
}

static int exit_beside(void)
{
    pthread_t thread;
    start();
    pthread_create(&thread, NULL, exit_soon, NULL);
    while (profiler)
        step();
    return 0;
}

/* What the environment asks for. */
static int use_environment(void)
{
    fprintf(stderr, "start: %s\n", takt_status_text(takt_profiler_start(NULL)));
    fprintf(stderr, "step: %s\n", takt_status_text(takt_profiler_step(NULL)));
    fprintf(stderr, "stop: %s\n", takt_status_text(takt_profiler_stop(NULL)));
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} ways[] = {
    {"run", run},
    {"close-all", close_all},
    {"chdir", change_directory},
    {"print-nowhere", print_nowhere},
    {"closed-pipe", print_into_closed_pipe},
    {"limit", reach_limit},
    {"daemon", become_daemon},
    {"daemon-exit", become_daemon_and_exit},
    {"child", end_in_child},
    {"exit", end_without_stop},
    {"destructor", stop_in_destructor},
    {"exit-beside", exit_beside},
    {"environment", use_environment},
};

int main(int argc, char **argv)
{
    setvbuf(stderr, NULL, _IOLBF, 4096);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    takt_set_log(say, NULL);
    streams = getenv("STREAM") != NULL;
    directory = argc > 2 ? argv[2] : ".";
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, argv[1]) == 0)
            return ways[i].run();
    return 99;
}
