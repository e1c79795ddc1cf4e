/* takt doctor: reports what Takt can record on this machine, what it cannot, and how to fix
 * that. */
#include "cli/doctor.h"
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef enum doctor_option {
    OPTION_JSON,
    OPTION_COLOR,
    OPTION_COUNT
} doctor_option;

static const cli_option options[OPTION_COUNT] = {
    [OPTION_JSON] = {0, "json", NULL, "as JSON"},
    [OPTION_COLOR] = {0, "color", "WHEN", "auto, always or never; auto heeds NO_COLOR"},
};

static const cli_syntax syntax = {
    .verb = "doctor",
    .usage = "[OPTIONS]",
    .text =
        "Tells what Takt finds on this machine: how it was built, clock, processor, variables\n"
        "of the environment, driver, devices and CUPTI. Each line is ok, a note, or a problem,\n"
        "and says what to do. The exit status is 1 if there is a problem.",
    .options = options,
    .option_count = OPTION_COUNT,
};

static const char *const mark_names[] = {"ok", "note", "problem"};

void doctor_tell(doctor_findings *findings, doctor_mark mark, const char *topic, const char *advice,
                 const char *format, ...)
{
    char text[sizeof findings->items->text];
    va_list list;
    if (findings->count == DOCTOR_MOST)
        return;
    doctor_finding *finding = &findings->items[findings->count++];
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    finding->mark = mark;
    snprintf(finding->topic, sizeof finding->topic, "%s", topic);
    cli_clean(finding->text, sizeof finding->text, text);
    cli_clean(finding->advice, sizeof finding->advice, advice ? advice : "");
}

bool doctor_read_line(const char *path, const char *prefix, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[1024];
    bool is_found = false;
    if (!file)
        return false;
    while (!is_found && fgets(line, sizeof line, file))
        is_found = strncmp(line, prefix, strlen(prefix)) == 0;
    fclose(file);
    if (!is_found)
        return false;
    line[strcspn(line, "\n")] = '\0';
    const char *value = line + strlen(prefix);
    snprintf(out, size, "%s", value + strspn(value, " \t:"));
    return true;
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* The mark is also a word, so the output is complete without colour. */
static void print_text(const doctor_findings *findings, bool is_colored)
{
    static const char *const colors[] = {"\033[32m", "\033[33m", "\033[31m"};
    for (size_t i = 0; i < findings->count; i++) {
        const doctor_finding *finding = &findings->items[i];
        const char *topic =
            i > 0 && strcmp(finding->topic, finding[-1].topic) == 0 ? "" : finding->topic;
        printf("%s%-7s%s  %-11s  ", is_colored ? colors[finding->mark] : "",
               mark_names[finding->mark], is_colored ? "\033[0m" : "", topic);
        cli_print_wrapped(finding->text, 22);
        if (finding->advice[0]) {
            printf("%22s", "-> ");
            cli_print_wrapped(finding->advice, 22);
        }
    }
}

static void print_json(const doctor_findings *findings, size_t problems)
{
    printf("{\n  \"version\": \"%s\",\n  \"problems\": %zu,\n  \"findings\": [", takt_version(),
           problems);
    for (size_t i = 0; i < findings->count; i++) {
        const doctor_finding *finding = &findings->items[i];
        printf("%s\n    {\"mark\": \"%s\", \"topic\": ", i ? "," : "", mark_names[finding->mark]);
        cli_put_json_text(finding->topic);
        fputs(", \"text\": ", stdout);
        cli_put_json_text(finding->text);
        fputs(", \"advice\": ", stdout);
        cli_put_json_text(finding->advice);
        putchar('}');
    }
    puts("\n  ]\n}");
}

/* Ignores the library's messages, because the findings contain the same information. */
static void ignore_line(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

static int examine(bool is_json, bool is_colored)
{
    doctor_findings *findings = calloc(1, sizeof *findings);
    size_t problems = 0;
    if (!findings)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    takt_set_log(ignore_line, NULL);
    cli_progress *progress = cli_progress_begin("looking at", "this machine");
    doctor_look_at_host(findings);
    doctor_look_at_environment(findings);
    doctor_look_at_devices(findings);
    cli_progress_end(progress);
    for (size_t i = 0; i < findings->count; i++)
        problems += findings->items[i].mark == DOCTOR_PROBLEM;
    if (is_json)
        print_json(findings, problems);
    else
        print_text(findings, is_colored);
    free(findings);
    return problems ? CLI_FAILED : CLI_OK;
}

int cli_doctor(int argc, char **argv)
{
    cli_args args = cli_args_of(&syntax, argc, argv);
    cli_show show = {0};
    const char *value = NULL;
    bool is_json = false;
    int item;

    while ((item = cli_args_next(&args, &value)) != CLI_NO_ITEM) {
        if (item == CLI_HELP)
            return CLI_OK;
        if (item == CLI_ERROR)
            return CLI_USAGE;
        if (item == CLI_OPERAND)
            return cli_usage_error(&syntax, "takes no file");
        is_json |= item == OPTION_JSON;
        if (item == OPTION_COLOR && cli_show_take(&show, &syntax, CLI_SHOW_COLOR, value) != CLI_OK)
            return CLI_USAGE;
    }
    cli_show_settle(&show);
    return examine(is_json, show.options.color);
}
