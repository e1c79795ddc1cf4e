/* takt check --runs: runs two commands alternately, so that the state of the machine affects both
 * alike. Each run leaves its trace and its output in a folder:
 *
 *     ROOT/base/01.pftrace ROOT/base/01.log ROOT/new/01.pftrace ...
 *
 * Programs read Takt's options from TAKT_OPTIONS, where later keys override earlier ones and the
 * program's file. So this file only appends the keys for the folder and the format of traces. */
#include "cli/check.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TOLD_BYTES = 1500 /* printed from the end of a failed run's output */
};

extern char **environ;

static const char *const side_names[] = {"base", "new"};

typedef struct one_run {
    const cli_check_runs *of;
    const char *options; /* the user's TAKT_OPTIONS; "": none */
    const char *command;
    const char *side;       /* "base" or "new" */
    long number;            /* starts at 1 */
    char folder[4096 + 64]; /* where the running program writes its trace */
    char trace[4096 + 64];
    char log[4096 + 64];
} one_run;

/* ---- Folders ---- */

static int make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return CLI_OK;
    return cli_error("%s: %s%s", path, strerror(errno),
                     errno == EEXIST ? ": remove it, or name another folder with --keep" : "");
}

static int make_root(const cli_check_runs *runs, cli_check_folders *out)
{
    const char *place = tkt_environment("TMPDIR");
    const char *path = runs->keep ? runs->keep : place ? place : "/tmp";

    if (strlen(path) + sizeof "/takt-check-XXXXXX" > sizeof out->root)
        return cli_error("%s: %s", path, strerror(ENAMETOOLONG));
    snprintf(out->root, sizeof out->root, runs->keep ? "%s" : "%s/takt-check-XXXXXX", path);
    if (runs->keep && !tkt_folder_exists(path)) {
        takt_error error;
        return tkt_folder_create(path, &error) == TAKT_OK ? CLI_OK : cli_error("%s", error.message);
    }
    if (!runs->keep && !mkdtemp(out->root))
        return cli_error("%s: %s", out->root, strerror(errno));
    out->is_temporary = !runs->keep;
    return CLI_OK;
}

/* The path must be absolute, because a command may change its directory before it writes. */
static int make_absolute(cli_check_folders *out)
{
    char *path = realpath(out->root, NULL);

    if (!path || strlen(path) >= sizeof out->root) {
        int status = cli_error("%s: %s", out->root, strerror(path ? ENAMETOOLONG : errno));
        free(path);
        return status;
    }
    strcpy(out->root, path);
    free(path);
    return CLI_OK;
}

static int make_folders(const cli_check_runs *runs, cli_check_folders *out)
{
    int status = make_root(runs, out);
    if (status == CLI_OK)
        status = make_absolute(out);
    for (int side = CLI_A; side < CLI_BOTH && status == CLI_OK; side++) {
        snprintf(out->sides[side], sizeof out->sides[side], "%s/%s", out->root, side_names[side]);
        status = make_folder(out->sides[side]);
    }
    return status;
}

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)facts, (void)type, (void)where;
    remove(path);
    return 0;
}

static void remove_all(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void cli_check_folders_free(cli_check_folders *folders)
{
    if (folders->is_temporary)
        remove_all(folders->root);
}

/* ---- One run ---- */

static bool quoted(char *out, size_t size, const char *text)
{
    size_t used = 0;

    for (; *text; text++) {
        if (used + 3 > size || *text == '\'')
            return false;
        out[used++] = *text;
    }
    out[used] = '\0';
    return true;
}

/* Sets TAKT_OPTIONS to the user's options plus this run's folder. */
static int set_options(const one_run *run)
{
    char folder[sizeof run->folder];
    size_t size = strlen(run->options) + sizeof folder + 64;
    char *options = malloc(size);
    int status = CLI_OK;

    if (!options)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    if (!quoted(folder, sizeof folder, run->folder))
        status =
            cli_error("%s: the name of a folder for runs must not contain a quote", run->folder);
    else
        snprintf(options, size, "%s output.traces=perfetto output.directory='%s'", run->options,
                 folder);
    if (status == CLI_OK && setenv("TAKT_OPTIONS", options, 1) != 0)
        status = cli_error("%s", strerror(errno));
    free(options);
    return status;
}

static int spawn(const one_run *run, pid_t *pid)
{
    char *arguments[] = {(char *)"sh", (char *)"-c", (char *)run->command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, run->log,
                                     O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    int error = posix_spawn(pid, "/bin/sh", &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error == 0 ? CLI_OK : cli_error("/bin/sh: %s", strerror(error));
}

/* Waits for the command. Ctrl-C ends only the command; this process continues, reports the failure
 * and removes its folder. */
static int wait_for(const one_run *run, int *out)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    pid_t pid;

    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    int status = spawn(run, &pid);
    while (status == CLI_OK && waitpid(pid, out, 0) < 0)
        if (errno != EINTR)
            status = cli_error("%s", strerror(errno));
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return status;
}

/* Prints the last lines of a run's output. */
static void tell_log(const one_run *run)
{
    char bytes[TOLD_BYTES + 1], clean[TOLD_BYTES + 1];
    FILE *file = fopen(run->log, "r");

    if (!file)
        return;
    bool is_cut = fseek(file, -TOLD_BYTES, SEEK_END) == 0;
    if (!is_cut)
        rewind(file);
    bytes[fread(bytes, 1, TOLD_BYTES, file)] = '\0';
    fclose(file);
    char *line = is_cut ? strchr(bytes, '\n') : bytes;
    for (char *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        fprintf(stderr, "  | %s\n", cli_clean(clean, sizeof clean, line));
    }
}

/* Clears the progress line. On a terminal each line replaces the one before. */
static void end_line(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

static int refuse_status(const one_run *run, int status)
{
    end_line();
    tell_log(run);
    if (WIFSIGNALED(status))
        return cli_error("run %ld of --%s was killed by signal %d (%s): %s", run->number, run->side,
                         WTERMSIG(status), strsignal(WTERMSIG(status)), run->command);
    return cli_error("run %ld of --%s ended with status %d: %s", run->number, run->side,
                     WEXITSTATUS(status), run->command);
}

/* ---- The trace of a run ---- */

static int is_trace(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && ending && strcmp(ending, ".pftrace") == 0;
}

static int refuse_count(const one_run *run, int count)
{
    end_line();
    tell_log(run);
    if (count > 0)
        return cli_error("run %ld of --%s left %d traces instead of one: set profiling.repeat=1 "
                         "in TAKT_OPTIONS for one cycle, and choose one of several ranks with "
                         "--rank N: %s",
                         run->number, run->side, count, run->command);
    if (run->of->has_rank)
        return cli_error("run %ld of --%s left no trace of rank %" PRIu32 ": %s", run->number,
                         run->side, run->of->rank, run->command);
    return cli_error(
        "run %ld of --%s left no trace. The program must take its profile from TAKT_OPTIONS: call "
        "takt_profiler_start(NULL) or takt_config_create(), run as many steps as profiling.wait "
        "and profiling.active need, and set no output.directory of its own: %s",
        run->number, run->side, run->command);
}

/* Counts the traces that may be the run's, and points *out to one of them. */
static int count_traces(const one_run *run, struct dirent **entries, int count, const char **out)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (run->of->has_rank && !cli_is_of_rank(entries[i]->d_name, run->of->rank))
            continue;
        *out = entries[i]->d_name;
        found++;
    }
    return found;
}

/* Moves the run's only trace into the folder of its side. */
static int take_trace(const one_run *run)
{
    struct dirent **entries;
    char path[sizeof run->folder + 256];
    const char *name = "";
    int count = scandir(run->folder, &entries, is_trace, NULL);
    int found = count_traces(run, entries, count, &name);
    int status = CLI_OK;

    if (found != 1)
        status = refuse_count(run, found);
    else if ((size_t)snprintf(path, sizeof path, "%s/%s", run->folder, name) >= sizeof path ||
             rename(path, run->trace) != 0)
        status = cli_error("%s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++)
        free(entries[i]);
    if (count >= 0)
        free(entries);
    remove_all(run->folder);
    return status;
}

/* ---- All runs ---- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run_one(const one_run *run)
{
    int ended, status = set_options(run);

    if (status == CLI_OK)
        status = wait_for(run, &ended);
    if (status == CLI_OK && (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0))
        status = refuse_status(run, ended);
    return status == CLI_OK ? take_trace(run) : status;
}

static void tell_run(const one_run *run, long done, long all, double seconds)
{
    bool is_terminal = isatty(STDERR_FILENO);
    double left = seconds / (double)done * (double)(all - done);

    fprintf(stderr, "%stakt: run %ld of %ld, %s %ld%s", is_terminal ? "\r" : "", done, all,
            run->side, run->number, is_terminal ? "" : "\n");
    if (is_terminal && done < all)
        fprintf(stderr, ", %.0f s left\033[K", left);
}

static void name_run(one_run *run, const cli_check_runs *runs, const cli_check_folders *folders,
                     int side, long number)
{
    const char *folder = folders->sides[side];

    run->of = runs;
    run->command = runs->commands[side];
    run->side = side_names[side];
    run->number = number;
    snprintf(run->folder, sizeof run->folder, "%s/%02ld", folder, number);
    snprintf(run->trace, sizeof run->trace, "%s/%02ld.pftrace", folder, number);
    snprintf(run->log, sizeof run->log, "%s/%02ld.log", folder, number);
}

/* Runs A B, B A, A B ...: a steady drift of the machine affects both sides alike. */
static int run_all(const cli_check_runs *runs, const cli_check_folders *folders,
                   const char *options)
{
    double begin = seconds_now();
    int status = CLI_OK;
    one_run run = {.options = options};

    for (long i = 0; i < 2 * runs->count && status == CLI_OK; i++) {
        long number = i / 2 + 1;
        int side = (int)((i + i / 2) % 2);
        name_run(&run, runs, folders, side, number);
        status = run_one(&run);
        if (status == CLI_OK)
            tell_run(&run, i + 1, 2 * runs->count, seconds_now() - begin);
    }
    end_line();
    return status;
}

int cli_check_run(const cli_check_runs *runs, cli_check_folders *out)
{
    const char *own = tkt_environment("TAKT_OPTIONS");
    char *options = strdup(own ? own : "");

    *out = (cli_check_folders){.is_temporary = false};
    if (!options)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    int status = make_folders(runs, out);
    if (status == CLI_OK)
        status = run_all(runs, out, options);
    free(options);
    return status;
}
