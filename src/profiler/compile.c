/* Puts compilations on the timeline, as spans of the track "compile: UNIT". Such a span is recorded
 * like one of the program's own, so windows, streaming, recovery and every exporter treat it alike.
 *
 * A time trace has no date: its times count from the begin of the compilation. The caller of
 * takt_compile_add() knows that moment. For files found by a pattern the file's date is the end. */
#include "profiler/compile.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/own.h"
#include "base/text.h"

#include <takt/compile.h>
#include <takt/scope.h>

#include <stdio.h>
#include <string.h>

#define OPTION     "--fdevice-time-trace="
#define ENDING     "_compile-time-trace"
#define PATH_BYTES 1024u
#define NAME_BYTES (TKT_COMPILE_UNIT + TKT_COMPILE_DETAIL + 32u)

struct takt_compile {
    uint64_t begin_ns;
    char unit[TKT_COMPILE_UNIT];
    char folder[PATH_BYTES];                                           /* "": none */
    char option[sizeof OPTION ENDING + PATH_BYTES + TKT_COMPILE_UNIT]; /* "": none */
};

/* ---- Placing --------------------------------------------------------------------------------- */

typedef struct placing {
    uint64_t begin_ns; /* of the compilation, takt_now_ns() */
    uint64_t end_ns;
    const char *unit;
    const char *mark; /* behind the name of the whole compilation's span */
} placing;

static takt_track track_for(const char *unit)
{
    char name[2 * TKT_COMPILE_UNIT + 16];
    snprintf(name, sizeof name, "compile: %s", unit);
    return takt_track_named(name);
}

static void record_whole(const placing *p, bool is_cut)
{
    char name[64];
    snprintf(name, sizeof name, "compilation%s%s", p->mark, is_cut ? " (cut)" : "");
    takt_span_at(track_for(p->unit), name, p->begin_ns, p->end_ns);
}

/* Names the track of a row of a file whose rows overlap: a row "solver.cu [sm_90]" of the unit
 * belongs to "UNIT [sm_90]", another input's row to "UNIT: other.cu [sm_90]". The report finds the
 * unit at the begin of the name. */
static void unit_of_row(char *out, size_t size, const tkt_compile_file *file, const char *row,
                        const char *unit)
{
    row = tkt_base_name(row);
    const char *own = tkt_base_name(file->unit), *arch = strstr(row, " [");
    size_t length = arch ? (size_t)(arch - row) : strlen(row);
    bool is_own = !own[0] || (strlen(own) == length && memcmp(own, row, length) == 0);
    if (!row[0] || strcmp(row, unit) == 0)
        snprintf(out, size, "%s", unit);
    else if (is_own)
        snprintf(out, size, "%s%s", unit, row + length);
    else
        snprintf(out, size, "%s: %s", unit, row);
}

/* Records the phases; returns true if one was cut. They share a track if the compiler did one thing
 * after the other; otherwise a track for each architecture keeps parents and children apart. */
static bool record_phases(const tkt_compile_file *file, const placing *p)
{
    bool is_cut = false, is_parallel = tkt_compile_is_parallel(file);
    for (size_t i = 0; i < file->spans.count; i++) {
        const tkt_compile_span *span = &file->spans.items[i];
        const char *row = is_parallel ? file->rows.items[span->row].unit : "";
        const char *phase = tkt_strtab_text(&file->names, span->name);
        uint64_t begin_ns = p->begin_ns + span->begin_ns, end_ns = p->begin_ns + span->end_ns;
        is_cut |= end_ns > p->end_ns;
        if (begin_ns > p->end_ns)
            continue;
        char name[NAME_BYTES], unit[2 * TKT_COMPILE_UNIT + 2];
        snprintf(name, sizeof name, "%s%s%s", phase, span->detail[0] ? ": " : "", span->detail);
        unit_of_row(unit, sizeof unit, file, row, p->unit);
        takt_span_at(track_for(unit), name, begin_ns, end_ns < p->end_ns ? end_ns : p->end_ns);
    }
    return is_cut;
}

static void say_losses(const tkt_compile_file *file, const char *path)
{
    if (file->wrong > 0)
        tkt_log(TAKT_LOG_WARNING,
                "%s:%u: %llu phases have no name or no usable time and are left out", path,
                file->wrong_line, (unsigned long long)file->wrong);
    if (file->left_out > 0)
        tkt_log(TAKT_LOG_WARNING, "%s: kept the %u longest phases, left out %llu shorter ones",
                path, TKT_COMPILE_SPANS, (unsigned long long)file->left_out);
}

/* Copies the name of a unit, cut between characters. */
static void copy_unit(char out[TKT_COMPILE_UNIT], const char *name)
{
    tkt_utf8_clean(out, TKT_COMPILE_UNIT, name, strlen(name));
}

/* Names a unit by its file: "build/solver_compile-time-trace.json" gives "solver". */
static void unit_of_path(char out[TKT_COMPILE_UNIT], const char *path)
{
    copy_unit(out, tkt_base_name(path));
    static const char *const endings[] = {".gz", ".json", ENDING};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(out), ending = strlen(endings[i]);
        if (length > ending && strcmp(out + length - ending, endings[i]) == 0)
            out[length - ending] = 0;
    }
}

/* Chooses the unit: the caller's, the file's, or the file's name. */
static void choose_unit(char out[TKT_COMPILE_UNIT], const char *given, const tkt_compile_file *file,
                        const char *path)
{
    if (given && given[0])
        copy_unit(out, given);
    else if (file->unit[0])
        copy_unit(out, tkt_base_name(file->unit));
    else
        unit_of_path(out, path);
}

takt_status takt_compile_add(const char *path, const char *unit, uint64_t begin_ns, uint64_t end_ns,
                             takt_error *error)
{
    TKT_OWN_WORK;
    char name[TKT_COMPILE_UNIT];
    tkt_compile_file file;
    if (!path || end_ns < begin_ns)
        return tkt_error_set(error, TAKT_BAD_ARGUMENT,
                             "a compilation needs a path, and a begin "
                             "before its end");
    if (!takt_is_on(TAKT_NORMAL_BIT))
        return tkt_error_set(error, TAKT_BAD_STATE, "nothing records: start a profiler first");
    takt_status status = tkt_compile_read(&file, path, error);
    choose_unit(name, unit, &file, path);
    placing p = {begin_ns, end_ns, name, ""};
    record_whole(&p, status == TAKT_OK && record_phases(&file, &p));
    if (status == TAKT_OK)
        say_losses(&file, path);
    tkt_compile_file_fini(&file);
    return status;
}

/* ---- Around a compilation -------------------------------------------------------------------- */

/* Copies a name for a file: other characters than letters, digits, '.', '_' and '-' become '_'. */
static void put_file_name(char *out, size_t size, const char *name)
{
    size_t used = 0;
    for (; *name && used + 1 < size; name++) {
        char c = *name;
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                        (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-';
        out[used++] = is_plain ? c : '_';
    }
    out[used] = 0;
}

/* The file must be new: NVRTC appends to an existing one, which is no JSON then. */
static void make_option(takt_compile *compile)
{
    char name[TKT_COMPILE_UNIT];
    takt_error error = {.status = TAKT_OK};
    if (tkt_folder_create_private(compile->folder, sizeof compile->folder, &error) != TAKT_OK) {
        compile->folder[0] = 0;
        tkt_log(TAKT_LOG_WARNING, "no phases of compilations: %s", error.message);
        return;
    }
    put_file_name(name, sizeof name, compile->unit);
    snprintf(compile->option, sizeof compile->option, OPTION "%s/%s" ENDING, compile->folder, name);
}

takt_compile *takt_compile_begin(const char *unit)
{
    takt_compile *compile = takt_is_on(TAKT_NORMAL_BIT) ? tkt_alloc_zeroed(sizeof *compile) : NULL;
    if (!compile)
        return NULL;
    copy_unit(compile->unit, unit && unit[0] ? unit : "(unnamed)");
    make_option(compile);
    compile->begin_ns = takt_now_ns();
    return compile;
}

const char *takt_compile_option(const takt_compile *compile)
{
    return compile && compile->option[0] ? compile->option : NULL;
}

/* The compiler appends ".json". */
static void read_own(const takt_compile *compile, uint64_t end_ns)
{
    takt_error error = {.status = TAKT_OK};
    char path[sizeof compile->option + 8];
    snprintf(path, sizeof path, "%s.json", compile->option + strlen(OPTION));
    if (!compile->option[0] || !tkt_file_date(path, &(uint64_t){0})) {
        record_whole(&(placing){compile->begin_ns, end_ns, compile->unit, ""}, false);
    } else if (takt_compile_add(path, compile->unit, compile->begin_ns, end_ns, &error) !=
                   TAKT_OK &&
               error.status != TAKT_BAD_STATE) {
        tkt_log(TAKT_LOG_WARNING, "the phases of %s are missing: %s", compile->unit,
                error.message[0] ? error.message : takt_status_text(error.status));
    }
    if (compile->folder[0])
        tkt_folder_remove_with(compile->folder, path);
}

void takt_compile_end(takt_compile *compile)
{
    TKT_OWN_WORK;
    if (!compile)
        return;
    read_own(compile, takt_now_ns());
    tkt_free(compile);
}

/* ---- Files that match a pattern -------------------------------------------------------------- */

#define MOST_REMARKS 3u /* of one cycle; more would flood the log */

/* Of the whole process, since spans are recorded for all profilers: hash of a path -> its date; of
 * a pattern -> 1 if it had files, or the log says that it had none. */
static tkt_map known_files;
static tkt_mutex known_lock = TKT_MUTEX_INIT;

typedef struct collecting {
    uint64_t since_ns;
    uint64_t now_ns;
    int64_t offset_ns; /* CLOCK_REALTIME minus takt_now_ns() */
    uint64_t matches;  /* of the current pattern: existing files, */
    uint64_t recorded; /* and those of this cycle */
    uint64_t remarks;  /* files with problems */
} collecting;

/* True once for each date of a file, and once for each pattern, whose date is 1. */
static bool is_new(const char *path, uint64_t date_ns)
{
    tkt_mutex_lock(&known_lock);
    uint64_t *known = tkt_map_put(&known_files, tkt_hash_bytes(path, strlen(path)));
    bool is_changed = known && *known != date_ns;
    if (is_changed)
        *known = date_ns;
    tkt_mutex_unlock(&known_lock);
    return is_changed;
}

/* Dates lag behind by up to a tick of the kernel; those of another machine may be in the future. */
static void collect_file(void *user, const char *path)
{
    collecting *c = user;
    char name[TKT_COMPILE_UNIT];
    uint64_t date_ns;
    takt_error error = {.status = TAKT_OK};
    tkt_compile_file file;
    if (!tkt_file_date(path, &date_ns))
        return;
    c->matches++;
    uint64_t end_ns = date_ns - (uint64_t)c->offset_ns;
    if ((int64_t)date_ns <= c->offset_ns || end_ns < c->since_ns)
        return;
    c->recorded++;
    if (!is_new(path, date_ns))
        return;
    takt_status status = tkt_compile_read(&file, path, &error);
    bool has_problem = status != TAKT_OK || file.wrong || file.left_out;
    bool tells = has_problem && ++c->remarks <= MOST_REMARKS;
    if (status == TAKT_OK) {
        end_ns = end_ns < c->now_ns ? end_ns : c->now_ns;
        choose_unit(name, NULL, &file, path);
        placing p = {end_ns > file.end_ns ? end_ns - file.end_ns : 0, end_ns, name,
                     " (placed by file date)"};
        record_whole(&p, record_phases(&file, &p));
    }
    if (tells && status == TAKT_OK)
        say_losses(&file, path);
    else if (tells)
        tkt_log(TAKT_LOG_WARNING, "a compilation is missing: %s",
                error.message[0] ? error.message : takt_status_text(status));
    tkt_compile_file_fini(&file);
}

/* Says once that a pattern gives nothing: the compiler's option or the folder may be wrong. */
static void say_if_useless(const collecting *c, const char *pattern)
{
    char folder[PATH_BYTES] = "";
    if (!is_new(pattern, 1) || c->recorded)
        return;
    if (pattern[0] != '/' && !tkt_folder_now(folder, sizeof folder))
        folder[0] = 0;
    if (c->matches)
        tkt_log(TAKT_LOG_WARNING,
                "compile_traces: of %llu files that match %s none was written during this cycle",
                (unsigned long long)c->matches, pattern);
    else
        tkt_log(TAKT_LOG_WARNING, "compile_traces: no file matches %s%s%s", pattern,
                folder[0] ? " in " : "", folder);
}

void tkt_compile_collect(const char *const *patterns, size_t count, uint64_t since_ns)
{
    collecting c = {since_ns, takt_now_ns(), tkt_clock_realtime_offset_ns(), 0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        c.matches = c.recorded = 0;
        tkt_file_match(patterns[i], collect_file, &c);
        say_if_useless(&c, patterns[i]);
    }
    if (c.remarks > MOST_REMARKS)
        tkt_log(TAKT_LOG_WARNING, "compile_traces: and %llu more",
                (unsigned long long)(c.remarks - MOST_REMARKS));
}
