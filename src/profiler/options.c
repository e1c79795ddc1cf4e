/* The profiler's copy of its options: checked, with defaults, names of files and the folder. */
#include "profiler/options.h"

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/dynlib.h"
#include "export/exporter.h"
#include "record/control.h"
#include "report/request.h"

#include <takt/export.h>
#include <takt/report.h>
#include <takt/scope.h>

#include <float.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LEAST_MEMORY_BYTES (UINT64_C(64) << 10) /* as in config/keys.h */

static const char *copy_text(tkt_saved_options *saved, const char *text)
{
    return text ? tkt_arena_copy(&saved->memory, text, strlen(text)) : NULL;
}

static const char *const *copy_texts(tkt_saved_options *saved, const char *const *texts,
                                     size_t count)
{
    const char **copy = tkt_arena_alloc(&saved->memory, (count + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = copy_text(saved, texts[i]);
        if (!copy[i])
            return NULL;
    }
    return copy;
}

static const takt_category_switch *copy_categories(tkt_saved_options *saved,
                                                   const takt_category_switch *from, size_t count)
{
    takt_category_switch *copy = tkt_arena_alloc(&saved->memory, (count + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = (takt_category_switch){copy_text(saved, from[i].name), from[i].is_on};
        if (!copy[i].name)
            return NULL;
    }
    return copy;
}

/* Appends `text` to *out. Replaces characters that are not allowed in file names, or would lead out
 * of the folder. */
static void append_part(char **out, const char *end, const char *text)
{
    bool is_dots = text[strspn(text, ".")] == '\0';
    for (; *text && *out < end; text++) {
        unsigned char c = (unsigned char)*text;
        *(*out)++ = is_dots || c == '/' || c < ' ' || c == 127 ? '_' : *text;
    }
}

static bool is_one_of_many(const takt_profiler_options *given)
{
    return given->world_size > 1 || given->rank > 0;
}

/* Returns the replacement of {key}, or NULL. All ranks of a job have the same {time}. */
static const char *value_of(const char *key, size_t size, const takt_profiler_options *given,
                            char *buffer, size_t buffer_size)
{
    if (size == 4 && memcmp(key, "name", 4) == 0)
        return given->name;
    if (size == 4 && memcmp(key, "host", 4) == 0)
        return tkt_host_name();
    if (size == 3 && memcmp(key, "pid", 3) == 0) {
        snprintf(buffer, buffer_size, "%u", tkt_process_id());
        return buffer;
    }
    if (size == 4 && memcmp(key, "rank", 4) == 0) {
        snprintf(buffer, buffer_size, "%u", given->rank);
        return buffer;
    }
    if (size == 4 && memcmp(key, "time", 4) == 0) {
        time_t now = is_one_of_many(given) ? (time_t)tkt_job_time() : time(NULL);
        struct tm local;
        strftime(buffer, buffer_size, "%Y-%m-%d_%H-%M-%S", localtime_r(&now, &local));
        return buffer;
    }
    return NULL;
}

/* Replaces {name}, {time}, {pid}, {host} and {rank}; other braces stay. */
static takt_status expand(tkt_saved_options *saved, const char *pattern)
{
    char path[4096], buffer[64];
    char *out = path;
    const char *whole = pattern, *unknown = NULL;
    const char *end = path + sizeof path - 1;
    while (*pattern && out < end) {
        const char *close = *pattern == '{' ? strchr(pattern, '}') : NULL;
        const char *value = close ? value_of(pattern + 1, (size_t)(close - pattern - 1),
                                             &saved->given, buffer, sizeof buffer)
                                  : NULL;
        if (value) {
            append_part(&out, end, value);
            pattern = close + 1;
        } else {
            unknown = close ? pattern : unknown;
            *out++ = *pattern++;
        }
    }
    if (unknown)
        tkt_log(
            TAKT_LOG_WARNING,
            "profiler: directory: '%.*s' stays as it is: only {name}, {time}, {pid}, {host} and "
            "{rank} are replaced",
            (int)(strchr(unknown, '}') + 1 - unknown), unknown);
    if (out == end) {
        tkt_log(TAKT_LOG_ERROR, "profiler: the path of the directory is too long");
        return TAKT_BAD_ARGUMENT;
    }
    saved->is_of_its_time = strstr(whole, "{time}");
    saved->is_of_job = strstr(tkt_base_name(whole), "{time}") && !strstr(whole, "{rank}") &&
                       !strstr(whole, "{pid}") && !strstr(whole, "{host}");
    saved->directory = tkt_arena_copy(&saved->memory, path, (size_t)(out - path));
    return saved->directory ? TAKT_OK : TAKT_NO_MEMORY;
}

/* Returns the run's name as exports write it in file names, with the rank. */
static char *name_for_files(tkt_saved_options *saved)
{
    const takt_profiler_options *given = &saved->given;
    char run[TKT_RUN_BYTES], rank[TKT_RANK_BYTES], name[TKT_RUN_BYTES + TKT_RANK_BYTES];
    tkt_output_run(given->name, run);
    tkt_rank_text(rank, given->rank, given->world_size);
    int size = snprintf(name, sizeof name, "%s%s", run, rank);
    return tkt_arena_copy(&saved->memory, name, (size_t)size);
}

static takt_status refuse(const char *kind, const char *value)
{
    tkt_log(TAKT_LOG_ERROR, "profiler: invalid %s '%s'", kind, value ? value : "(null)");
    return TAKT_BAD_ARGUMENT;
}

static takt_status refuse_report(const char *name, const char *why)
{
    if (*why) {
        tkt_log(TAKT_LOG_ERROR, "profiler: report %s", why);
        return TAKT_BAD_ARGUMENT;
    }
    char known[256] = "";
    size_t size = 0;
    for (size_t i = 0; takt_report_name(i) && size < sizeof known; i++)
        size += (size_t)snprintf(known + size, sizeof known - size, "%s%s", i ? ", " : "",
                                 takt_report_name(i));
    tkt_log(TAKT_LOG_ERROR, "profiler: unknown report '%.60s'; use one of %s",
            name ? name : "(null)", known);
    return TAKT_BAD_ARGUMENT;
}

/* Returns TAKT_OK for a known format. */
static takt_status check_trace(const char *name)
{
    takt_error error = {.status = TAKT_OK};
    if (tkt_output_is_known(name ? name : "(null)", &error))
        return TAKT_OK;
    tkt_log(TAKT_LOG_ERROR, "profiler: traces: %s", error.message);
    return TAKT_BAD_ARGUMENT;
}

static takt_status refuse_number(const char *kind, unsigned number)
{
    tkt_log(TAKT_LOG_ERROR, "profiler: invalid %s %u", kind, number);
    return TAKT_BAD_ARGUMENT;
}

static takt_status refuse_peak(void)
{
    tkt_log(TAKT_LOG_ERROR, "profiler: a peak rate is negative or not a number");
    return TAKT_BAD_ARGUMENT;
}

static takt_status refuse_choice(void)
{
    tkt_log(TAKT_LOG_ERROR, "profiler: a choice is neither TAKT_ON nor TAKT_OFF nor TAKT_DEFAULT");
    return TAKT_BAD_ARGUMENT;
}

static bool is_choice(takt_choice choice)
{
    return (unsigned)choice <= TAKT_OFF;
}

static bool is_rate(double value)
{
    return value >= 0 && value <= DBL_MAX;
}

static takt_status check_numbers(const takt_profiler_options *options)
{
    if (options->world_size > 0 && options->rank >= options->world_size)
        return refuse_number("rank", options->rank);
    if ((unsigned)options->mode > TAKT_MODE_FLIGHT)
        return refuse_number("mode", (unsigned)options->mode);
    if ((unsigned)options->schedule.repeat_mode > TAKT_REPEAT_ADDITIONAL)
        return refuse_number("repeat_mode", (unsigned)options->schedule.repeat_mode);
    if ((unsigned)options->graph > TAKT_GRAPH_LAUNCH)
        return refuse_number("graph", (unsigned)options->graph);
    if (options->nsight > TAKT_NSIGHT_CAPTURE_RANGE)
        return refuse_number("nsight", (unsigned)options->nsight);
    if (options->activities & ~(TAKT_ACTIVITIES_CPU | TAKT_ACTIVITIES_CUDA))
        return refuse_number("activities", options->activities);
    if (!is_choice(options->background) || !is_choice(options->record_shapes) ||
        !is_choice(options->profile_memory) || !is_choice(options->compress))
        return refuse_choice();
    if (options->level > TAKT_LEVEL_DETAIL)
        return refuse_number("level", options->level);
    if (options->max_memory_bytes > 0 && options->max_memory_bytes < LEAST_MEMORY_BYTES)
        return refuse_number("max_memory_bytes (64 KiB or more)",
                             (unsigned)options->max_memory_bytes);
    if (!is_rate(options->peak_flops) || !is_rate(options->peak_bandwidth) ||
        !is_rate(options->host_peak_flops) || !is_rate(options->host_peak_bandwidth))
        return refuse_peak();
    return TAKT_OK;
}

static takt_status check_names(const takt_profiler_options *options)
{
    for (size_t i = 0; i < options->report_count; i++) {
        char why[TKT_REQUEST_WHY] = "";
        tkt_report_request request;
        const char *name = options->reports ? options->reports[i] : NULL;
        if (!name || !tkt_report_request_read(&request, name, why))
            return refuse_report(name, why);
    }
    for (size_t i = 0; i < options->trace_count; i++) {
        const char *name = options->traces ? options->traces[i] : NULL;
        takt_status status = check_trace(name);
        if (status != TAKT_OK)
            return status;
    }
    for (size_t i = 0; i < options->category_count; i++)
        if (!options->categories || !options->categories[i].name)
            return refuse("category", NULL);
    for (size_t i = 0; i < options->builtin_count; i++)
        if (!options->builtin || !options->builtin[i])
            return refuse("pattern", NULL);
    for (size_t i = 0; i < options->compile_trace_count; i++)
        if (!options->compile_traces || !options->compile_traces[i])
            return refuse("pattern of compile_traces", NULL);
    return TAKT_OK;
}

/* Adds patterns for the whole process: a kernel gets its label once, whoever collects it. */
static takt_status add_patterns(const takt_profiler_options *options)
{
    for (size_t i = 0; i < options->builtin_count; i++) {
        takt_status status = takt_kernel_builtin(options->builtin[i]);
        if (status == TAKT_BAD_ARGUMENT)
            return refuse("regular expression", options->builtin[i]);
        if (status != TAKT_OK)
            return status;
    }
    return TAKT_OK;
}

/* Reads and checks the caller's struct. */
static takt_status import(takt_profiler_options *into, const takt_profiler_options *options)
{
    takt_status status =
        tkt_options_read(into, sizeof *into, options, "TAKT_PROFILER_OPTIONS_INIT");
    if (status == TAKT_OK)
        status = check_numbers(into);
    return status == TAKT_OK ? check_names(into) : status;
}

/* If neither program nor configuration gives a rank, takes the launcher's. */
static void find_rank(takt_profiler_options *options)
{
    uint32_t rank, size;
    if (options->world_size > 0 || options->rank > 0)
        return;
    tkt_rank(&rank, &size);
    options->rank = rank;
    options->world_size = size;
}

static takt_choice on_by_default(takt_choice choice)
{
    return choice == TAKT_DEFAULT ? TAKT_ON : choice;
}

static takt_status copy_all(tkt_saved_options *saved)
{
    takt_profiler_options *o = &saved->given;
    const char *directory = o->directory && *o->directory ? o->directory : ".";
    o->name = copy_text(saved, o->name && *o->name ? o->name : tkt_program_name());
    o->reports = copy_texts(saved, o->reports, o->report_count);
    o->traces = copy_texts(saved, o->traces, o->trace_count);
    const char *place = o->report_file && *o->report_file ? o->report_file : "stdout";
    o->report_file = copy_text(saved, place);
    o->categories = copy_categories(saved, o->categories, o->category_count);
    o->builtin = copy_texts(saved, o->builtin, o->builtin_count);
    o->compile_traces = copy_texts(saved, o->compile_traces, o->compile_trace_count);
    if (!o->name || !o->reports || !o->traces || !o->report_file || !o->categories || !o->builtin ||
        !o->compile_traces)
        return TAKT_NO_MEMORY;
    saved->file_name = name_for_files(saved);
    if (!saved->file_name)
        return TAKT_NO_MEMORY;
    takt_status status = expand(saved, directory);
    o->directory = saved->directory;
    return status;
}

takt_status tkt_options_save(tkt_saved_options *saved, const takt_profiler_options *options)
{
    *saved = (tkt_saved_options){0};
    takt_profiler_options *o = &saved->given;
    takt_status status = import(o, options);
    if (status == TAKT_OK) {
        find_rank(o);
        status = copy_all(saved);
    }
    if (status == TAKT_OK)
        status = add_patterns(o);
    if (status != TAKT_OK) {
        tkt_options_fini(saved);
        return status;
    }
    if (o->max_memory_bytes == 0)
        o->max_memory_bytes = TKT_DEFAULT_MAX_BYTES;
    if (o->activities == 0)
        o->activities = TAKT_ACTIVITIES_CPU | TAKT_ACTIVITIES_CUDA;
    o->background = on_by_default(o->background);
    o->record_shapes = on_by_default(o->record_shapes);
    o->profile_memory = on_by_default(o->profile_memory);
    o->compress = on_by_default(o->compress);
    if (o->max_trace_bytes == 0)
        o->max_trace_bytes = TKT_DEFAULT_MAX_BYTES;
    if (o->level == 0)
        o->level = TAKT_LEVEL_NORMAL;
    if (o->with_stack && !tkt_unwind_load()) {
        tkt_log(TAKT_LOG_WARNING,
                "profiler: call stacks are not recorded, since libgcc_s.so.1 cannot be loaded: "
                "install it (libgcc)");
        o->with_stack = false;
    }
    if (o->filter == 0)
        o->filter = TAKT_TIMING_ALL;
    return TAKT_OK;
}

void tkt_options_hold_directory(tkt_saved_options *saved)
{
    char path[4096];
    if (*saved->directory == '/' || !tkt_folder_now(path, sizeof path))
        return; /* without a working directory, writing the first file will fail */
    const char *relative = strcmp(saved->directory, ".") == 0 ? "" : saved->directory;
    size_t size = strlen(path);
    int more = snprintf(path + size, sizeof path - size, "%s%s", *relative ? "/" : "", relative);
    char *copy = NULL;
    if (more >= 0 && (size_t)more < sizeof path - size)
        copy = tkt_arena_copy(&saved->memory, path, size + (size_t)more);
    if (!copy)
        return;
    saved->given.directory = saved->directory = copy;
    saved->shown_from = size + 1;
}

/* What a node's launcher may take to start, longer than others. */
#define LATEST_START_S 60

/* Ranks share a folder, which their job's id tells from those of other jobs. Without an id, an
 * earlier job that began in the same second has files of this rank in it. */
void tkt_options_claim_directory(tkt_saved_options *saved)
{
    char name[4096 + 16], met[4096 + 16], job[TKT_JOB_ID_BYTES];
    char files[TKT_RUN_BYTES + TKT_RANK_BYTES + 1];
    if (!saved->is_of_its_time)
        return;
    saved->is_of_its_time = false; /* once: later, other files may be open in the folder */
    snprintf(files, sizeof files, "%s.", saved->file_name);
    const char *own = is_one_of_many(&saved->given) ? files : NULL;
    const char *path = saved->directory;
    if (own && saved->is_of_job && tkt_job_id(job) &&
        tkt_folder_meet(path, job, tkt_job_time() - LATEST_START_S, met, sizeof met) == TAKT_OK)
        path = met;
    if (tkt_folder_create_new(path, own, name, sizeof name, NULL) != TAKT_OK)
        return; /* writing the first file will give the reason */
    char *copy = tkt_arena_copy(&saved->memory, name, strlen(name));
    if (copy)
        saved->given.directory = saved->directory = copy;
}

takt_status tkt_options_describe(const tkt_saved_options *saved, takt_trace *trace)
{
    const takt_profiler_options *given = &saved->given;
    uint32_t name = tkt_trace_string_of(trace, given->name);
    if (name == TKT_STRTAB_FULL)
        return TAKT_NO_MEMORY;
    trace->name = name;
    trace->with_flops = given->with_flops;
    trace->device_peak = (takt_peak){given->peak_flops, given->peak_bandwidth};
    trace->host_peak = (takt_peak){given->host_peak_flops, given->host_peak_bandwidth};
    trace->facts.rank = given->rank;
    trace->facts.world_size = given->world_size;
    trace->facts.has_capture_range = given->nsight == TAKT_NSIGHT_CAPTURE_RANGE;
    return TAKT_OK;
}

void tkt_options_fini(tkt_saved_options *saved)
{
    tkt_arena_fini(&saved->memory);
    *saved = (tkt_saved_options){0};
}
