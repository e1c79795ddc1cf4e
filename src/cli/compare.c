/* Compares two sides of traces. Only one trace is in memory at a time: it is read, counted and
 * released before the next. The durations of its calls stay in memory or, if runs are compared, one
 * median and one mean per row. */
#include "cli/compare.h"

#include "report/table.h"
#include "summary/steps.h"
#include "trace/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static takt_status add_trace(cli_comparison *comparison, int side, const takt_trace *trace)
{
    if (!cli_side_add(&comparison->sides[side], trace))
        return TAKT_NO_MEMORY;
    takt_status status = takt_trace_facts(trace)->step_count > 0
                             ? cli_compare_steps(comparison, side, trace)
                             : cli_compare_whole(comparison, side, trace);
    if (status != TAKT_OK)
        return status;
    status = takt_trace_facts(trace)->has_spans ? cli_compare_spans(comparison, side, trace)
                                                : cli_compare_folded(comparison, side, trace);
    return status == TAKT_OK ? cli_compare_end_run(comparison, side, trace) : status;
}

static int read_run(cli_comparison *comparison, int side, const char *path)
{
    bool stays = comparison->options.keeps_trace && comparison->sides[side].files.count == 1;
    takt_trace *trace = cli_open_trace_of(path, stays ? NULL : CLI_CUDA);
    if (!trace)
        return CLI_FAILED;
    cli_progress *progress = cli_progress_begin("counting", path);
    takt_status status = add_trace(comparison, side, trace);
    if (stays)
        comparison->sides[side].trace = trace;
    else
        takt_trace_release(trace);
    cli_progress_end(progress);
    return status == TAKT_OK ? CLI_OK : cli_error("%s: %s", path, takt_status_text(status));
}

static int read_side(cli_comparison *comparison, int side)
{
    const cli_files *files = &comparison->sides[side].files;
    int status = CLI_OK;

    for (size_t i = 0; i < files->count && status == CLI_OK; i++)
        status = read_run(comparison, side, files->paths[i]);
    return status;
}

/* Returns "base.pftrace", or "base.pftrace and 2 more". */
static char *label_of(const char *first, size_t operands)
{
    size_t size = strlen(first) + sizeof " and 18446744073709551615 more";
    char *label = malloc(size);

    if (label && operands == 1)
        snprintf(label, size, "%s", first);
    else if (label)
        snprintf(label, size, "%s and %zu more", first, operands - 1);
    return label;
}

static int find_files(cli_comparison *comparison, const cli_operands *operands, int side)
{
    size_t of_a = operands->first_of_b;
    cli_side *to = &comparison->sides[side];

    to->label = label_of(operands->items[side == CLI_A ? 0 : of_a],
                         side == CLI_A ? of_a : operands->count - of_a);
    if (!to->label)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    int status = cli_files_of(operands, side, &to->files);
    if (status == CLI_OK && comparison->options.has_rank)
        status = cli_files_keep_rank(&to->files, comparison->options.rank, to->label);
    return status;
}

/* Totals are those of a step, or of a run if a side has no steps. */
static void set_scale(cli_comparison *comparison)
{
    const cli_side *a = &comparison->sides[CLI_A], *b = &comparison->sides[CLI_B];
    uint64_t steps_a = a->facts.step_count, steps_b = b->facts.step_count;

    comparison->is_per_step = steps_a > 0 && steps_b > 0;
    comparison->scale[CLI_A] = 1 / (double)(comparison->is_per_step ? steps_a : a->runs);
    comparison->scale[CLI_B] = 1 / (double)(comparison->is_per_step ? steps_b : b->runs);
}

int cli_compare(const cli_operands *operands, const cli_compare_options *options,
                cli_comparison *out)
{
    const cli_side *a = &out->sides[CLI_A], *b = &out->sides[CLI_B];

    *out = (cli_comparison){.options = *options};
    if (find_files(out, operands, CLI_A) != CLI_OK || find_files(out, operands, CLI_B) != CLI_OK)
        return CLI_FAILED;
    out->is_by_run = cli_runs_suffice(a->files.count, b->files.count);
    if (read_side(out, CLI_A) != CLI_OK || read_side(out, CLI_B) != CLI_OK)
        return CLI_FAILED;
    set_scale(out);
    cli_steps_choose(out);
    cli_progress *progress = cli_progress_begin("comparing with", b->label);
    takt_status status = cli_steps_add(out) ? cli_compare_judge(out) : TAKT_NO_MEMORY;
    cli_progress_end(progress);
    return status == TAKT_OK ? CLI_OK : cli_error("%s", takt_status_text(status));
}

const char *cli_runs_advice(const cli_comparison *comparison, char *out, size_t size)
{
    size_t a = comparison->sides[CLI_A].runs, b = comparison->sides[CLI_B].runs, least = 1;

    while (!cli_runs_suffice(least, least))
        least++;
    snprintf(out, size, "A has %zu run%s and B %zu: record %d of each, or %zu at least", a,
             a == 1 ? "" : "s", b, CLI_WANTED_RUNS, least);
    return out;
}

void cli_comparison_free(cli_comparison *comparison)
{
    cli_side_free(&comparison->sides[CLI_A]);
    cli_side_free(&comparison->sides[CLI_B]);
    cli_rows_free(&comparison->rows);
}

/* ======== Sides ======== */

/* Facts about the traces of a side. */

/* A list on one line, such as "cuda:0 NVIDIA H200, cuda:1 NVIDIA H200". */
typedef struct line {
    char text[1024];
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void add(line *l, const char *format, ...)
{
    va_list list;
    size_t left = sizeof l->text - l->used;
    int length;

    va_start(list, format);
    length = vsnprintf(l->text + l->used, left, format, list);
    va_end(list);
    l->used += length > 0 && (size_t)length < left ? (size_t)length : left - 1;
}

static char *devices_of(const takt_trace *trace)
{
    line l = {.used = 0};
    takt_device_info device;

    for (size_t i = 0; takt_trace_device(trace, i, &device) == TAKT_OK; i++)
        add(&l, "%s%s%s%s", i ? ", " : "", device.device, device.name[0] ? " " : "", device.name);
    return strdup(l.used ? l.text : "none");
}

/* Stores the first run's text and notes whether a later run has a different one. Owns `now`; NULL
 * means that memory ran out. */
static bool take_text(cli_side *side, char **text, char *now, cli_fact_kind fact)
{
    if (!now)
        return false;
    if (!*text) {
        *text = now;
        return true;
    }
    if (strcmp(*text, now) != 0)
        side->varies |= 1u << fact;
    free(now);
    return true;
}

static void take_facts(cli_side *side, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    takt_facts *all = &side->facts;

    if (side->runs > 0) {
        side->varies |= (unsigned)(all->has_spans != facts->has_spans) << CLI_FACT_MODE;
        side->varies |= (unsigned)(all->is_partial != facts->is_partial) << CLI_FACT_PARTIAL;
    }
    all->has_spans = facts->has_spans && (side->runs == 0 || all->has_spans);
    all->is_partial |= facts->is_partial;
    if (facts->ending != TAKT_ENDING_WHOLE)
        all->ending = facts->ending;
    all->step_count += facts->step_count;
    uint64_t unlisted = cli_steps_are_listed(trace) ? 0 : facts->step_count - trace->steps.count;
    *(cli_steps_are_summed(trace) ? &side->summed_steps : &side->unseen_steps) += unlisted;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        side->lost[i] += takt_trace_loss(trace, (takt_loss)i);
    side->has_unknown_losses |= tkt_is_unknown(facts);
    side->wall_ns += (double)(facts->end_ns - facts->begin_ns);
}

/* Cycles of one process are not runs of their own. */
static bool look_for_process(cli_side *side, const takt_facts *facts)
{
    for (size_t i = 0; i < side->recordings.count; i++)
        if (side->recordings.items[i].cycle != facts->cycle &&
            cli_is_same_process(&side->recordings.items[i], facts))
            side->twin = facts->process_id;
    takt_facts *added = TKT_ARRAY_ADD(&side->recordings);
    if (added)
        *added = (takt_facts){.process_id = facts->process_id,
                              .process_key = facts->process_key,
                              .cycle = facts->cycle,
                              .realtime_offset_ns = facts->realtime_offset_ns};
    return added != NULL;
}

static void look_at_rank(cli_side *side, const takt_facts *facts)
{
    if (!tkt_has_rank(facts))
        return;
    if (side->ranks == CLI_NO_RANKS)
        side->rank = facts->rank;
    side->ranks =
        side->rank == facts->rank && side->ranks != CLI_MANY_RANKS ? CLI_ONE_RANK : CLI_MANY_RANKS;
}

/* Adds the mean step of a run or, without steps, its wall time. */
static bool add_length(cli_side *side, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    double length_ns = (double)(facts->end_ns - facts->begin_ns);
    bool is_summed = !cli_steps_are_listed(trace) && cli_steps_are_summed(trace);

    if (trace->steps.count > 0)
        length_ns = (double)(is_summed ? tkt_steps_all(trace) : tkt_steps_recorded(trace)).mean_ns;
    return cli_values_add(&side->lengths, (cli_value){length_ns, 0});
}

/* True for a loss that may make totals too small, or give them to other names. */
static bool is_of_events(takt_loss loss)
{
    return loss != TAKT_LOSS_CUT && loss != TAKT_LOSS_MORE_STEPS &&
           loss != TAKT_LOSS_MORE_THREADS && loss != TAKT_LOSS_NO_PERCENTILES;
}

/* Formats the losses of all runs so far. */
static bool tell_losses(cli_side *side)
{
    line l = {.used = 0};

    side->losses_in_all = side->lost_events = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t count = side->lost[i];
        if (count == 0)
            continue;
        add(&l, "%s%llu %s", l.used ? ", " : "", (unsigned long long)count,
            takt_loss_name((takt_loss)i));
        side->losses_in_all += count;
        side->lost_events += is_of_events((takt_loss)i) ? count : 0;
    }
    free(side->losses);
    if (side->has_unknown_losses)
        add(&l, l.used ? ", others unknown" : "unknown");
    side->losses = strdup(l.used ? l.text : "none");
    return side->losses != NULL;
}

bool cli_side_add(cli_side *side, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);

    take_facts(side, trace);
    look_at_rank(side, facts);
    side->runs++;
    return take_text(side, &side->run, strdup(facts->name), CLI_FACT_RUN) &&
           take_text(side, &side->backend, strdup(facts->backend), CLI_FACT_BACKEND) &&
           take_text(side, &side->devices, devices_of(trace), CLI_FACT_DEVICES) &&
           tell_losses(side) && add_length(side, trace) && look_for_process(side, facts);
}

void cli_side_free(cli_side *side)
{
    cli_files_free(&side->files);
    cli_values_free(&side->lengths);
    cli_steps_free(side);
    TKT_ARRAY_FREE(&side->recordings);
    takt_trace_release(side->trace);
    free(side->label);
    free(side->run);
    free(side->backend);
    free(side->devices);
    free(side->losses);
}

/* ======== Files ======== */

/* Finds the traces of each side. */

int cli_operands_to(cli_operands *operands, const cli_syntax *syntax, const char *path)
{
    if (operands->has_to)
        return cli_usage_error(syntax, "--to is given twice");
    operands->has_to = true;
    operands->first_of_b = operands->count;
    operands->items[operands->count++] = path;
    return CLI_OK;
}

int cli_files_of(const cli_operands *operands, int side, cli_files *out)
{
    size_t i = side == CLI_A ? 0 : operands->first_of_b;
    size_t end = side == CLI_A ? operands->first_of_b : operands->count;
    int status = CLI_OK;

    *out = (cli_files){0};
    for (; i < end && status == CLI_OK; i++)
        status = cli_files_add(out, operands->items[i]);
    return status;
}

/* ======== Facts ======== */

/* Facts about both sides, next to each other. A difference here explains more than any scope's. */

static const char *const fact_names[CLI_FACTS] = {
    [CLI_FACT_FILE] = "file",       [CLI_FACT_RUNS] = "runs",      [CLI_FACT_RUN] = "run",
    [CLI_FACT_MODE] = "mode",       [CLI_FACT_STEPS] = "steps",    [CLI_FACT_BACKEND] = "backend",
    [CLI_FACT_DEVICES] = "devices", [CLI_FACT_WALL] = "wall time", [CLI_FACT_LOSSES] = "losses",
    [CLI_FACT_PARTIAL] = "partial"};

#define PUT(place, ...) snprintf((place), sizeof(place), __VA_ARGS__)

/* Fills in numbers. With several runs, steps and times are the average per run. */
static void fill_numbers(cli_fact *facts, const cli_side *side, int at)
{
    double runs = (double)side->runs, wall_ns = side->wall_ns / runs;

    PUT(facts[CLI_FACT_RUNS].own[at], "%zu", side->runs);
    PUT(facts[CLI_FACT_RUNS].data[at], "%zu", side->runs);
    PUT(facts[CLI_FACT_STEPS].own[at], "%.10g", (double)side->facts.step_count / runs);
    PUT(facts[CLI_FACT_STEPS].data[at], "%.15g", (double)side->facts.step_count / runs);
    tkt_value_text(facts[CLI_FACT_WALL].own[at], TKT_CELL_LENGTH, (tkt_cell){.d = wall_ns});
    PUT(facts[CLI_FACT_WALL].data[at], "%.0f", wall_ns);
    if (side->has_unknown_losses && side->losses_in_all == 0)
        PUT(facts[CLI_FACT_LOSSES].data[at], "null");
    else
        PUT(facts[CLI_FACT_LOSSES].data[at], "%" PRIu64, side->losses_in_all);
    PUT(facts[CLI_FACT_PARTIAL].data[at], side->facts.is_partial ? "true" : "false");
}

static void fill_side(cli_fact *facts, const cli_side *side, int at)
{
    const char *const texts[CLI_FACTS] = {
        [CLI_FACT_FILE] = side->label,
        [CLI_FACT_RUNS] = facts[CLI_FACT_RUNS].own[at],
        [CLI_FACT_RUN] = side->run,
        [CLI_FACT_MODE] = side->facts.has_spans ? "spans" : "only a summary",
        [CLI_FACT_BACKEND] = side->backend,
        [CLI_FACT_DEVICES] = side->devices,
        [CLI_FACT_STEPS] = facts[CLI_FACT_STEPS].own[at],
        [CLI_FACT_WALL] = facts[CLI_FACT_WALL].own[at],
        [CLI_FACT_LOSSES] = side->losses,
        [CLI_FACT_PARTIAL] = side->facts.is_partial ? "yes" : "no"};

    fill_numbers(facts, side, at);
    for (int i = 0; i < CLI_FACTS; i++) {
        bool varies = side->varies & 1u << i;
        facts[i].texts[at] = varies ? "varies" : texts[i];
        if (varies)
            facts[i].data[at][0] = '\0';
    }
}

void cli_facts_of(const cli_comparison *comparison, cli_fact out[CLI_FACTS])
{
    memset(out, 0, CLI_FACTS * sizeof *out);
    fill_side(out, &comparison->sides[CLI_A], CLI_A);
    fill_side(out, &comparison->sides[CLI_B], CLI_B);
    for (int i = 0; i < CLI_FACTS; i++) {
        bool may_differ = i == CLI_FACT_FILE || i == CLI_FACT_RUNS || i == CLI_FACT_WALL;
        out[i].name = fact_names[i];
        out[i].differs = !may_differ && strcmp(out[i].texts[CLI_A], out[i].texts[CLI_B]) != 0;
    }
}

/* ======== Options ======== */

/* Options of verbs that compare traces. */

const cli_option cli_compare_option_list[CLI_COMPARE_COUNT] = {
    [CLI_COMPARE_LIMIT] = {0, "limit", "P%", "smaller changes are none, in percent of A"},
    [CLI_COMPARE_ABSOLUTE] = {0, "absolute", "T", "nor are smaller ones than this, such as 1us"},
    [CLI_COMPARE_ALL] = {0, "all", NULL, "rows for calls into CUDA, too"},
    [CLI_COMPARE_TO] = {0, "to", "B", "with several runs a side: B's begin here, A's end"},
    [CLI_COMPARE_BY_PATH] = {0, "by-path", NULL, "scopes by what they are called from"},
    [CLI_COMPARE_RANK] = {0, "rank", "N", "of a job's traces, only NAME.rankN.CYCLE.pftrace"},
};

/* Parses a number that is not negative; *rest points behind it. */
static bool parse_number(const char *text, double *out, char **rest)
{
    *out = strtod(text, rest);
    return *rest != text && isfinite(*out) && *out >= 0;
}

bool cli_parse_percent(const char *text, double *out)
{
    char *rest;
    if (!parse_number(text, out, &rest) || (strcmp(rest, "%") != 0 && *rest != '\0'))
        return false;
    *out /= 100;
    return true;
}

static bool parse_time(const char *text, double *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *rest;

    if (!parse_number(text, out, &rest))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(rest, units[i].name) == 0) {
            *out *= units[i].ns;
            return true;
        }
    return *out == 0 && *rest == '\0';
}

static bool parse_rank(const char *text, uint32_t *out)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *out = (uint32_t)number;
    return *text >= '0' && *text <= '9' && !*end && number <= UINT32_MAX;
}

int cli_compare_take(cli_compare_options *options, const cli_syntax *syntax, int option,
                     const char *value)
{
    switch (option) {
    case CLI_COMPARE_LIMIT:
        if (!cli_parse_percent(value, &options->limit))
            return cli_usage_error(syntax, "--limit \"%s\": expected percent, such as 5%%", value);
        break;
    case CLI_COMPARE_ABSOLUTE:
        if (!parse_time(value, &options->absolute_ns))
            return cli_usage_error(
                syntax, "--absolute \"%s\": expected a time, such as 500ns, 1us or 2ms", value);
        break;
    case CLI_COMPARE_ALL:
        options->all = true;
        break;
    case CLI_COMPARE_BY_PATH:
        options->by_path = true;
        break;
    case CLI_COMPARE_RANK:
        if (!parse_rank(value, &options->rank))
            return cli_usage_error(syntax, "--rank \"%s\": expected a number from 0", value);
        options->has_rank = true;
        break;
    }
    return CLI_OK;
}
