/* takt recover: makes a trace from the file that a crash-safe recording leaves when its program
 * dies. */
#include "cli/cli.h"
#include "report/table.h"

#include <takt/export.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_OUT,
    OPTION_JSON,
    OPTION_COUNT
};

static const cli_option options[OPTION_COUNT] = {
    [OPTION_OUT] = {'o', "output", "TRACE", "the trace to write; .gz at its end compresses it"},
    [OPTION_JSON] = {0, "json", NULL, "tells what was recovered as JSON, one line for each file"},
};

static const cli_syntax syntax = {
    .verb = "recover",
    .usage = "[-o TRACE] [--json] FILE...",
    .text = "Makes a trace of what a recording with output.crash_safe has left: FILE is the\n"
            "NAME.PID.crash in its output folder. Without -o writes NAME.PID.pftrace beside\n"
            "it. Scopes that were open are marked as unfinished, launches whose activities\n"
            "never came as incomplete. FILE stays as it is. Of several files, such as those\n"
            "of a job's ranks, each becomes a trace.",
    .options = options,
    .option_count = OPTION_COUNT,
};

/* Makes the output's name: FILE with .pftrace instead of .crash. */
static bool name_output(char *out, size_t size, const char *file)
{
    static const char ending[] = ".crash";
    size_t length = strlen(file);
    if (length > strlen(ending) && strcmp(file + length - strlen(ending), ending) == 0)
        length -= strlen(ending);
    int used = snprintf(out, size, "%.*s.pftrace", (int)length, file);
    return used >= 0 && (size_t)used < size;
}

/* Tells what is missing, and counts these remarks. */
static void tell_remark(takt_log_level level, const char *line, void *user)
{
    int *remarks = user;
    char clean[1024];
    if (level == TAKT_LOG_INFO)
        return;
    fprintf(stderr, "takt: %s\n", cli_clean(clean, sizeof clean, line));
    ++*remarks;
}

static void tell_contents(const takt_trace *trace)
{
    char spans[32], open[32], lacking[32];
    const takt_facts *facts = takt_trace_facts(trace);
    if (facts->has_spans)
        printf("%s spans, of them %s open at the end",
               cli_count_text(spans, sizeof spans, facts->span_count),
               cli_count_text(open, sizeof open, facts->unfinished));
    else
        printf("a summary, of %s steps", cli_count_text(spans, sizeof spans, facts->step_count));
    uint64_t incomplete = takt_trace_loss(trace, TAKT_LOSS_INCOMPLETE);
    if (incomplete)
        printf("; %s launches without an activity",
               cli_count_text(lacking, sizeof lacking, incomplete));
    putchar('\n');
}

static void put_contents(const takt_trace *trace, const char *output)
{
    const takt_facts *facts = takt_trace_facts(trace);
    fputs("{\"file\": ", stdout);
    cli_put_json_text(output);
    printf(", \"spans\": %" PRIu64 ", \"unfinished\": %" PRIu64 ", \"incomplete\": %" PRIu64 "}\n",
           (uint64_t)facts->span_count, (uint64_t)facts->unfinished,
           takt_trace_loss(trace, TAKT_LOSS_INCOMPLETE));
}

static int write_trace(const takt_trace *trace, const char *file, const char *output, bool is_json)
{
    char name[4096];
    takt_error error = {.status = TAKT_OK};
    if (!output && !name_output(name, sizeof name, file))
        return cli_error("%s: the name is too long: name the output with -o", file);
    if (!output)
        output = name;
    if (cli_is_same_file(file, output))
        return cli_error("the output would overwrite %s itself: name another file with -o", file);
    cli_progress *progress = cli_progress_begin("writing", output);
    takt_status status = takt_export_file(trace, "perfetto", output, NULL, &error);
    cli_progress_end(progress);
    if (status != TAKT_OK)
        return cli_error("%s", error.message);
    if (is_json) {
        put_contents(trace, output);
        return CLI_OK;
    }
    cli_tell_written(output);
    tell_contents(trace);
    return CLI_OK;
}

/* Nothing tells whether the program still runs: it may do so on another machine. FILE may be a link
 * to the file in memory. */
static void tell_rest(const char *file)
{
    char size[TKT_VALUE_SIZE], clean[512], clean_target[512], target[4096];
    struct stat about;
    if (stat(file, &about) != 0)
        return;
    tkt_value_text(size, TKT_CELL_BYTES, (tkt_cell){.u = (uint64_t)about.st_blocks * 512});
    cli_clean(clean, sizeof clean, file);
    ssize_t length = readlink(file, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = 0;
    if (length < 0)
        printf("unless the program still runs, %s (%s) is no longer needed: you can remove it\n",
               clean, size);
    else
        printf(
            "unless the program still runs, %s and %s (%s of memory) are no longer needed: you can "
            "remove them\n",
            clean, cli_clean(clean_target, sizeof clean_target, target), size);
}

/* The file was in memory, and FILE is a link to it. */
static bool is_gone(const char *file)
{
    struct stat about;
    return lstat(file, &about) == 0 && S_ISLNK(about.st_mode) && stat(file, &about) != 0;
}

static int recover(const char *file, const char *output, bool is_json)
{
    takt_trace *trace = NULL;
    takt_error error = {.status = TAKT_OK};
    int remarks = 0;
    takt_set_log(tell_remark, &remarks);
    cli_progress *progress = cli_progress_begin("recovering", file);
    takt_status status = takt_trace_recover(file, &trace, &error);
    cli_progress_end(progress);
    takt_set_log(NULL, NULL);
    if (status != TAKT_OK && is_gone(file))
        return cli_error("%s: its events were in memory, and went with the machine or container that "
                         "recorded them, or this is another one",
                         file);
    if (status != TAKT_OK)
        return cli_error("%s", error.message[0] ? error.message : takt_status_text(status));
    int result = write_trace(trace, file, output, is_json);
    takt_trace_release(trace);
    if (result == CLI_OK && remarks == 0 && !is_json)
        tell_rest(file);
    return result;
}

/* Returns the worst result: a file that cannot be recovered keeps none of the others. */
static int recover_all(char **files, int count, const char *output, bool is_json)
{
    int worst = CLI_OK;
    for (int i = 0; i < count; i++) {
        int result = recover(files[i], output, is_json);
        worst = result > worst ? result : worst;
    }
    return cli_finish(worst);
}

int cli_recover(int argc, char **argv)
{
    cli_args args = cli_args_of(&syntax, argc, argv);
    const char *value, *output = NULL;
    int count = 0; /* of files, which move to the front of argv */
    bool is_json = false;
    for (int item; (item = cli_args_next(&args, &value)) != CLI_NO_ITEM;) {
        if (item == CLI_HELP)
            return CLI_OK;
        if (item == CLI_ERROR)
            return CLI_USAGE;
        if (item == OPTION_OUT)
            output = value;
        else if (item == OPTION_JSON)
            is_json = true;
        else
            argv[count++] = (char *)value;
    }
    if (count == 0)
        return cli_usage_error(&syntax, "no file given: name a .crash file");
    if (output && count > 1)
        return cli_usage_error(&syntax, "-o names the trace of one file only");
    return recover_all(argv, count, output, is_json);
}
