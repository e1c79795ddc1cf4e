/* Kills prog_crashing again and again, at any instant, and compares what takt_trace_recover() gives
 * with what the program had booked: all of it is there, nothing is torn. Without crash_safe the
 * streamed file has to be readable.
 *
 *     prog_crash PROGRAM FOLDER KILLS [SEED]
 *
 * Prints what was found; exits with 1 if anything is wrong. */
#include "stress/crash.h"
#include "support/remove_file.h"
#include "trace/model.h"

#include <takt/takt.h>

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const kinds[] = {"safe", "flight", "summary", "stream"};
static const char *const deaths[] = {"kill", "kill", "kill", "segv", "abort", "exit"};

static crash_book *book;
static char folder[1024], book_path[1100], pattern[1100];
static unsigned errors, recovered, empty;
static uint64_t spans_seen, open_seen;
static uint64_t random_state = 1;
static const char *kind, *death;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
    va_list arguments;
    if (errors++ > 20)
        return;
    printf("%s, %s: ", kind, death);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/* ---- The program ----------------------------------------------------------------------------- */

static pid_t start(const char *program)
{
    char after[32];
    bool dies_alone = strcmp(death, "kill") != 0;
    snprintf(after, sizeof after, "%lu", dies_alone ? (unsigned long)random_below(800) + 1 : 0);
    memset(book, 0, sizeof *book);
    pid_t pid = fork();
    if (pid == 0) {
        execl(program, program, folder, book_path, kind, death, after, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void await_death(pid_t pid)
{
    int status;
    if (strcmp(death, "kill") == 0) {
        while (!book->is_recording && waitpid(pid, &status, WNOHANG) == 0)
            usleep(50);
        usleep((useconds_t)random_below(12000));
        kill(pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 3)
        wrong("the program failed with %d", WEXITSTATUS(status));
}

/* ---- The trace ------------------------------------------------------------------------------- */

static size_t find_track(const takt_trace *trace, const char *name, takt_track_kind track_kind)
{
    takt_track_info info;
    for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++)
        if (takt_trace_track(trace, t, &info) == TAKT_OK && info.kind == track_kind &&
            strcmp(info.name, name) == 0)
            return t;
    return SIZE_MAX;
}

/* What a worker's track has. */
typedef struct worker_tally {
    uint64_t outers, open_outers, inners, open_inners, whole;
    uint64_t next; /* what "i" has to be next */
    bool has_next;
    unsigned inners_in_outer;
} worker_tally;

static void check_arguments(const takt_trace *trace, size_t track, size_t span, worker_tally *tally)
{
    takt_arg_info arg;
    for (size_t a = 0; a < takt_trace_arg_count(trace, track, span); a++) {
        if (takt_trace_arg(trace, track, span, a, &arg) != TAKT_OK)
            continue;
        char expected[32];
        if (strcmp(arg.key, "i") == 0) {
            if (tally->has_next && arg.u != tally->next)
                wrong("i is %lu, not %lu", (unsigned long)arg.u, (unsigned long)tally->next);
            tally->next = arg.u + 1;
            tally->has_next = true;
        }
        snprintf(expected, sizeof expected, "text %lu", (unsigned long)tally->next - 1);
        if (strcmp(arg.key, "text") == 0 && tally->has_next && strcmp(arg.text, expected) != 0)
            wrong("\"%s\" is not \"%s\"", arg.text, expected);
    }
}

static void end_outer(worker_tally *tally, bool was_whole)
{
    if (was_whole && tally->inners_in_outer != INNERS)
        wrong("%u inner scopes in an outer one", tally->inners_in_outer);
    tally->inners_in_outer = 0;
}

static worker_tally tally_track(const takt_trace *trace, size_t track)
{
    worker_tally tally = {0};
    takt_track_info info;
    takt_span_info span, parent;
    bool is_whole = false;
    takt_trace_track(trace, track, &info);
    spans_seen += info.span_count;
    for (size_t i = 0; i < info.span_count; i++) {
        takt_trace_span(trace, track, i, &span);
        bool is_open = span.flags & TAKT_SPAN_UNFINISHED;
        open_seen += is_open;
        if (span.end_ns < span.begin_ns)
            wrong("%s ends before it begins", span.name);
        if (span.parent != TAKT_NO_PARENT) {
            takt_trace_span(trace, track, span.parent, &parent);
            if (span.begin_ns < parent.begin_ns || span.end_ns > parent.end_ns)
                wrong("%s lies outside of %s", span.name, parent.name);
            if (is_open && !(parent.flags & TAKT_SPAN_UNFINISHED))
                wrong("%s is open in %s, which is not", span.name, parent.name);
        }
        if (strcmp(span.name, "outer") == 0) {
            end_outer(&tally, is_whole);
            tally.outers += !is_open;
            tally.open_outers += is_open;
            is_whole = !is_open && tally.outers > 1; /* a ring may have cut the first one */
            check_arguments(trace, track, i, &tally);
        } else if (strcmp(span.name, "inner") == 0) {
            tally.inners += !is_open;
            tally.open_inners += is_open;
            tally.inners_in_outer += !is_open;
        } else if (strcmp(span.name, "all of it") == 0) {
            tally.whole += is_open;
        } else if (strcmp(span.name, "first") != 0 && strcmp(span.name, "second") != 0) {
            wrong("there is a scope \"%s\"", span.name);
        }
    }
    end_outer(&tally, is_whole);
    return tally;
}

static void between(const char *what, uint64_t least, uint64_t is, uint64_t most)
{
    if (is < least || is > most)
        wrong("%lu %s, booked were %lu to %lu", (unsigned long)is, what, (unsigned long)least,
              (unsigned long)most);
}

static void check_samples(const takt_trace *trace)
{
    uint64_t booked = 0;
    size_t count = takt_trace_count(trace, TAKT_TRACE_COUNTERS);
    takt_counter_info sample;
    for (unsigned w = 0; w < WORKERS; w++)
        booked += book->workers[w].counted;
    between("samples", booked, count, booked + WORKERS);
    for (size_t i = 0; i < count; i++)
        if (takt_trace_counter(trace, i, &sample) != TAKT_OK || strcmp(sample.name, "samples") != 0)
            wrong("a sample is torn");
}

static void check_worker(const takt_trace *trace, unsigned number, bool is_ring)
{
    const crash_worker *worker = &book->workers[number];
    char name[16];
    snprintf(name, sizeof name, "worker %u", number);
    size_t track = find_track(trace, name, TAKT_TRACK_THREAD);
    if (track == SIZE_MAX) {
        if (worker->opened)
            wrong("%s is missing", name);
        return;
    }
    worker_tally tally = tally_track(trace, track);
    between("open outer scopes", worker->opened > worker->ended + 1 ? 1 : 0, tally.open_outers, 1);
    between("scopes around all", worker->begun ? 1 : 0, tally.whole, 1);
    if (tally.has_next)
        between("as last i", worker->opened - (worker->opened > 0), tally.next, worker->begun);
    if (is_ring)
        return;
    between("outer scopes", worker->ended, tally.outers, worker->ended + 1);
    between("outer scopes with open ones", worker->opened, tally.outers + tally.open_outers,
            worker->begun);
    between("inner scopes", worker->inner_ended, tally.inners, worker->inner_ended + 1);
    track = find_track(trace, name, TAKT_TRACK_ASYNC);
    takt_track_info info = {.span_count = 0};
    if (track != SIZE_MAX)
        takt_trace_track(trace, track, &info);
    between("tasks", worker->tasks, info.span_count, worker->tasks + 1);
}

/* Calls of all nodes of that name, from the folded form. */
static uint64_t count_calls(const takt_trace *trace, const char *name)
{
    uint64_t calls = 0;
    const tkt_fold *fold = tkt_trace_fold(trace);
    for (size_t i = 1; fold && i < fold->count; i++) {
        const tkt_trace_site *site = &trace->sites.items[fold->items[i].site];
        if (strcmp(tkt_trace_text(trace, site->name), name) == 0)
            calls += fold->items[i].stats.count;
    }
    return calls;
}

/* Scopes that are open count as calls. */
static void check_summary(const takt_trace *trace)
{
    uint64_t begun = 0, opened = 0, inner = 0, workers = 0;
    for (unsigned w = 0; w < WORKERS; w++) {
        begun += book->workers[w].begun;
        opened += book->workers[w].opened;
        inner += book->workers[w].inner_ended;
        workers += book->workers[w].begun > 0;
    }
    between("outer scopes", opened, count_calls(trace, "outer"), begun);
    between("inner scopes", inner, count_calls(trace, "inner"), inner + 2 * WORKERS);
    between("scopes around all", workers, count_calls(trace, "all of it"), WORKERS);
    spans_seen += count_calls(trace, "inner");
}

static void check_recovered(const takt_trace *trace)
{
    bool is_summary = strcmp(kind, "summary") == 0;
    bool is_ring = strcmp(kind, "safe") != 0;
    const takt_facts *facts = takt_trace_facts(trace);
    if (!facts->is_partial)
        wrong("it is not marked as partial");
    if (strcmp(facts->name, "crashing") != 0)
        wrong("the run is named \"%s\"", facts->name);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (takt_trace_loss(trace, (takt_loss)i) && !(is_ring && i == TAKT_LOSS_OVERWRITTEN))
            wrong("%lu events are %s", (unsigned long)takt_trace_loss(trace, (takt_loss)i),
                  takt_loss_name((takt_loss)i));
    if (is_summary)
        check_summary(trace);
    for (unsigned w = 0; w < WORKERS && !is_summary; w++)
        check_worker(trace, w, is_ring);
    if (!is_ring) {
        check_samples(trace);
        between("steps", book->steps, facts->step_count, book->steps + 1);
    }
}

static void check_file(const char *path)
{
    takt_trace *trace = NULL;
    takt_error error = {.status = TAKT_OK};
    bool is_safe = strcmp(kind, "stream") != 0;
    takt_status status =
        is_safe ? takt_trace_recover(path, &trace, &error) : takt_trace_open(path, &trace, &error);
    if (status == TAKT_NOT_FOUND && is_safe && !book->is_recording) {
        empty++;
        return;
    }
    if (status != TAKT_OK) {
        if (is_safe || book->is_recording)
            wrong("%s", error.message);
        return;
    }
    recovered++;
    if (is_safe)
        check_recovered(trace);
    takt_trace_release(trace);
}

static void check_files(void)
{
    glob_t files;
    if (glob(pattern, 0, NULL, &files) != 0) {
        if (book->is_recording)
            wrong("there is no file");
        return;
    }
    for (size_t i = 0; i < files.gl_pathc; i++) {
        check_file(files.gl_pathv[i]);
        remove_file(files.gl_pathv[i]);
    }
    globfree(&files);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool prepare(const char *where)
{
    snprintf(folder, sizeof folder, "%s", where);
    snprintf(book_path, sizeof book_path, "%s/book", folder);
    snprintf(pattern, sizeof pattern, "%s/crashing.*", folder);
    int fd = open(book_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *book) != 0)
        return false;
    book = mmap(NULL, sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return book != MAP_FAILED;
}

int main(int argc, char **argv)
{
    if (argc < 4 || !prepare(argv[2]))
        return 2;
    unsigned kills = (unsigned)strtoul(argv[3], NULL, 10);
    random_state = argc > 4 ? strtoull(argv[4], NULL, 10) | 1 : (uint64_t)getpid() << 8 | 1;
    uint64_t seed = random_state;
    for (unsigned i = 0; i < kills; i++) {
        kind = kinds[i % 4 == 3 ? 3 : random_below(3)];
        death = deaths[random_below(sizeof deaths / sizeof *deaths)];
        await_death(start(argv[1]));
        check_files();
    }
    printf("%u kills (seed %lu): %u files read, %u began nothing; %lu spans, %lu of them open; "
           "%u wrong\n",
           kills, (unsigned long)seed, recovered, empty, (unsigned long)spans_seen,
           (unsigned long)open_seen, errors);
    return errors != 0;
}
