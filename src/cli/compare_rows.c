/* The rows of a comparison: a hash table of rows, the values of each run, and the verdicts. */
#include "cli/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ======== Rows ======== */

/* A hash table, because millions of spans look up their rows by name. */

const char *cli_row_kind_name(cli_row_kind kind)
{
    static const char *const names[] = {"step", "scope", "call", "task", "activity", "cuda", "run"};
    return names[kind];
}

const char *cli_verdict_name(cli_verdict verdict)
{
    static const char *const names[] = {[CLI_SAME] = "same",
                                        [CLI_NOISE] = "noise",
                                        [CLI_UNKNOWN] = "unknown",
                                        [CLI_FASTER] = "faster",
                                        [CLI_SLOWER] = "slower",
                                        [CLI_TAIL_FASTER] = "tail faster",
                                        [CLI_TAIL_SLOWER] = "tail slower",
                                        [CLI_FASTER_TAIL_SLOWER] = "faster, tail slower",
                                        [CLI_SLOWER_TAIL_FASTER] = "slower, tail faster",
                                        [CLI_FEWER_CALLS] = "fewer calls",
                                        [CLI_MORE_CALLS] = "more calls",
                                        [CLI_NEW] = "new",
                                        [CLI_GONE] = "gone"};
    return names[verdict];
}

bool cli_row_has_name(const cli_row *row, const char *name)
{
    return strcmp(name, row->name) == 0 || strcmp(name, row->name + row->leaf) == 0;
}

/* Uses FNV-1a. */
static size_t hash_of(cli_row_kind kind, uint32_t above, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)kind ^ (uint64_t)above << 8;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32);
}

static bool is_row(const cli_row *row, cli_row_kind kind, uint32_t above, const char *name)
{
    return row->kind == kind && row->above == above && strcmp(row->name + row->leaf, name) == 0;
}

/* Returns the slot of a row, or the empty slot where it belongs. */
static uint32_t *slot_of(const cli_rows *rows, cli_row_kind kind, uint32_t above, const char *name)
{
    size_t i = hash_of(kind, above, name);
    for (;; i++) {
        uint32_t *slot = &rows->slots[i % rows->slot_count];
        if (*slot == 0 || is_row(&rows->items[*slot - 1], kind, above, name))
            return slot;
    }
}

/* Doubles the capacity; at most half of the slots are in use. */
static bool grow(cli_rows *rows)
{
    size_t capacity = rows->capacity ? 2 * rows->capacity : 64;
    cli_row *items = realloc(rows->items, capacity * sizeof *items);
    if (!items)
        return false;
    rows->items = items;
    uint32_t *slots = calloc(2 * capacity, sizeof *slots);
    if (!slots)
        return false;
    free(rows->slots);
    rows->slots = slots;
    rows->slot_count = 2 * capacity;
    rows->capacity = capacity;
    for (size_t i = 0; i < rows->count; i++) {
        const cli_row *row = &rows->items[i];
        *slot_of(rows, row->kind, row->above, row->name + row->leaf) = (uint32_t)i + 1;
    }
    return true;
}

static char *name_of(const cli_rows *rows, uint32_t above, const char *name, size_t *leaf)
{
    const char *path = above == CLI_NO_ROW ? "" : rows->items[above].name;
    const char *between = above == CLI_NO_ROW ? "" : " > ";
    *leaf = strlen(path) + strlen(between);
    size_t size = *leaf + strlen(name) + 1;
    char *copy = malloc(size);
    if (copy)
        snprintf(copy, size, "%s%s%s", path, between, name);
    return copy;
}

uint32_t cli_rows_find(cli_rows *rows, cli_row_kind kind, uint32_t above, const char *name)
{
    uint32_t *slot = rows->capacity ? slot_of(rows, kind, above, name) : NULL;
    if (slot && *slot)
        return *slot - 1;
    if (rows->count == rows->capacity) {
        if (!grow(rows))
            return CLI_NO_ROW;
        slot = slot_of(rows, kind, above, name);
    }
    cli_row *row = &rows->items[rows->count];
    *row = (cli_row){.kind = kind, .above = above};
    row->name = name_of(rows, above, name, &row->leaf);
    if (!row->name)
        return CLI_NO_ROW;
    *slot = (uint32_t)++rows->count;
    return *slot - 1;
}

static void free_part(cli_part *part)
{
    cli_samples_free(&part->samples);
    cli_values_free(&part->means);
    cli_values_free(&part->medians);
}

void cli_rows_free(cli_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->items[i].name);
        free_part(&rows->items[i].parts[CLI_A]);
        free_part(&rows->items[i].parts[CLI_B]);
    }
    free(rows->items);
    free(rows->slots);
    *rows = (cli_rows){0};
}

/* ======== Several runs ======== */

/* If each side has several runs, the comparison uses runs and not calls. Runs of one program differ
 * by more than the calls of one run do, because of clock frequency, memory layout and other load on
 * the machine. So each run counts once, however many calls it has. */

/* Of calls known by their sum, only the mean is known. A run
 * without a complete call adds nothing. */
bool cli_part_keep_run(cli_part *part, uint64_t begin_ns)
{
    cli_samples *samples = &part->samples;
    uint64_t whole = part->whole_calls - part->noted_whole_calls;
    double whole_ns = part->whole_ns - part->noted_whole_ns;

    if (samples->count == 0)
        return whole == 0 ||
               cli_values_add(&part->means, (cli_value){whole_ns / (double)whole, begin_ns});
    if (!cli_samples_sort(samples) ||
        !cli_values_add(&part->medians, (cli_value){cli_samples_median(samples), begin_ns}) ||
        !cli_values_add(&part->means, (cli_value){cli_samples_mean(samples), begin_ns}))
        return false;
    samples->count = 0;
    return true;
}

takt_status cli_compare_end_run(cli_comparison *comparison, int side, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    uint64_t begin_ns = facts->begin_ns + (uint64_t)facts->realtime_offset_ns;

    for (size_t i = 0; i < comparison->rows.count; i++) {
        cli_part *part = &comparison->rows.items[i].parts[side];
        if (comparison->is_by_run && !cli_part_keep_run(part, begin_ns))
            return TAKT_NO_MEMORY;
        part->noted_calls = part->calls;
        part->noted_ns = part->total_ns;
        part->noted_whole_calls = part->whole_calls;
        part->noted_whole_ns = part->whole_ns;
        part->noted_samples = part->samples.count;
    }
    return TAKT_OK;
}

/* ======== Verdicts ======== */

/* A verdict depends on two questions: is the difference above the limits, and is it beyond the
 * noise? The typical and the mean call are judged separately, because a change may shorten one and
 * lengthen the other. */

bool cli_is_above_limits(const cli_compare_options *options, double change, double base)
{
    return fabs(change) > options->limit * base && fabs(change) > options->absolute_ns;
}

bool cli_band_is_within(const cli_compare_options *options, const cli_noise *noise, double base)
{
    return !isnan(noise->low_ns) && !cli_is_above_limits(options, noise->low_ns, base) &&
           !cli_is_above_limits(options, noise->high_ns, base);
}

/* ---- Measuring ---- */

/* Where some calls are known by their sum, single calls tell less than that. */
static void join_sums(cli_part *part)
{
    if (part->whole_calls == 0)
        return;
    for (size_t i = 0; i < part->samples.count; i++)
        part->whole_ns += (double)part->samples.items[i];
    part->whole_calls += part->samples.count;
    part->samples.count = 0;
}

static void describe_calls(cli_part *part)
{
    part->median_ns = cli_samples_median(&part->samples);
    part->mean_ns = part->samples.count ? cli_samples_mean(&part->samples)
                    : part->whole_calls ? part->whole_ns / (double)part->whole_calls
                                        : NAN;
}

static void describe_runs(cli_part *part)
{
    bool has_medians = part->medians.count == part->means.count;

    part->median_ns = has_medians ? cli_values_trimmed_mean(&part->medians) : NAN;
    part->mean_ns = cli_values_trimmed_mean(&part->means);
}

bool cli_row_has_samples(const cli_row *row)
{
    return !isnan(row->parts[CLI_A].median_ns) && !isnan(row->parts[CLI_B].median_ns);
}

double cli_row_call_ns(const cli_row *row, int side)
{
    const cli_part *part = &row->parts[side], *other = &row->parts[CLI_B - side];
    bool has_median = !isnan(part->median_ns) && (other->calls == 0 || cli_row_has_samples(row));
    return has_median ? part->median_ns : part->mean_ns;
}

static bool compare_calls(cli_row *row)
{
    cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    join_sums(a);
    join_sums(b);
    if (!cli_samples_sort(&a->samples) || !cli_samples_sort(&b->samples))
        return false;
    describe_calls(a);
    describe_calls(b);
    row->noise = cli_noise_of(&a->samples, &b->samples);
    row->mean_noise = cli_noise_of_means(&a->samples, &b->samples);
    return true;
}

static bool compare_runs(cli_row *row)
{
    cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    describe_runs(a);
    describe_runs(b);
    if (!cli_noise_of_runs(&a->means, &b->means, &row->mean_noise))
        return false;
    row->noise = row->mean_noise;
    return !cli_row_has_samples(row) || cli_noise_of_runs(&a->medians, &b->medians, &row->noise);
}

static double known(double shift_ns, double otherwise)
{
    return isnan(shift_ns) ? otherwise : shift_ns;
}

/* Leaves the measured change, of which nothing is proved. */
static cli_noise unproved(const cli_noise *noise)
{
    cli_noise result = CLI_NO_NOISE;
    result.shift_ns = noise->shift_ns;
    return result;
}

static bool measure(const cli_comparison *comparison, cli_row *row)
{
    const cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    if (!(comparison->is_by_run ? compare_runs : compare_calls)(row))
        return false;
    if (cli_steps_spoil_means(comparison, row)) {
        row->mean_noise = unproved(&row->mean_noise);
        row->noise = cli_row_has_samples(row) ? row->noise : row->mean_noise;
    }
    row->base_ns = cli_row_call_ns(row, CLI_A);
    row->mean_change_ns = known(row->mean_noise.shift_ns, b->mean_ns - a->mean_ns);
    row->change_ns = known(row->noise.shift_ns, row->mean_change_ns);
    row->self_change_ns = b->self_ns * cli_row_scale(comparison, row, CLI_B) -
                          a->self_ns * cli_row_scale(comparison, row, CLI_A);
    return true;
}

/* ---- Verdicts ---- */

typedef enum answer {
    SAME,
    NOISE,
    UNKNOWN,
    LESS,
    MORE
} answer;

/* Among many rows, few runs prove nothing. True if they could not do more: all of them differ, by
 * more than the limits. */
static bool is_beyond_proof(const cli_compare_options *options, const cli_noise *noise, double base)
{
    double nearest = noise->low_ns > 0 ? noise->low_ns : noise->high_ns;
    return noise->own_p < CLI_ALPHA && noise->own_p <= noise->least_p * (1 + 1e-9) &&
           (noise->low_ns > 0 || noise->high_ns < 0) && cli_is_above_limits(options, nearest, base);
}

static answer answer_of(const cli_compare_options *options, const cli_noise *noise, double change,
                        double base)
{
    bool is_beyond_noise = noise->p < CLI_ALPHA && (noise->low_ns > 0 || noise->high_ns < 0);
    bool is_above = cli_is_above_limits(options, change, base);

    if (is_beyond_noise && is_above)
        return change > 0 ? MORE : LESS;
    if (isnan(noise->low_ns))
        return UNKNOWN;
    if (cli_band_is_within(options, noise, base))
        return SAME;
    return !is_beyond_noise && is_beyond_proof(options, noise, base) ? UNKNOWN : NOISE;
}

/* What is left if neither the typical nor the mean call changed. "Same" excludes a change of both:
 * a band that is too wide for that, of either, makes it noise. Too few calls for a band of the mean
 * leave it open only if the mean differs. */
static cli_verdict verdict_of_none(answer typical, answer mean, bool mean_is_above)
{
    if (typical != UNKNOWN && (typical == NOISE || mean == NOISE))
        return CLI_NOISE;
    return typical == UNKNOWN || (mean == UNKNOWN && mean_is_above) ? CLI_UNKNOWN : CLI_SAME;
}

/* True if the number of calls changed, and the row's self time changed with it by more than the
 * limits. */
static bool has_other_calls(const cli_comparison *c, const cli_row *row, double *more)
{
    double a = (double)row->parts[CLI_A].calls * c->scale[CLI_A];
    double b = (double)row->parts[CLI_B].calls * c->scale[CLI_B];
    double self_ns = row->parts[CLI_A].self_ns * c->scale[CLI_A];

    *more = b - a;
    return row->kind != CLI_ROW_STEP && fabs(b - a) > c->options.limit * a &&
           (b - a) * row->self_change_ns > 0 &&
           cli_is_above_limits(&c->options, row->self_change_ns, self_ns);
}

/* True if unequal numbers of steps may be all that changed: a scope that is called once a run has
 * more calls a step in a shorter run. */
static bool are_of_steps(const cli_comparison *c, const cli_row *row, double more)
{
    double a = (double)row->parts[CLI_A].calls / (double)c->sides[CLI_A].runs;
    double b = (double)row->parts[CLI_B].calls / (double)c->sides[CLI_B].runs;
    return c->steps.are_unequal && (b - a) * more <= 0;
}

static cli_verdict verdict_of(const cli_comparison *c, const cli_row *row)
{
    const cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];
    answer typical = answer_of(&c->options, &row->noise, row->change_ns, row->base_ns);
    answer mean = answer_of(&c->options, &row->mean_noise, row->mean_change_ns, a->mean_ns);
    double more_calls;

    if (a->calls == 0 || b->calls == 0)
        return a->calls == 0 ? CLI_NEW : CLI_GONE;
    if (typical == MORE)
        return mean == LESS ? CLI_SLOWER_TAIL_FASTER : CLI_SLOWER;
    if (typical == LESS && mean == MORE)
        return CLI_FASTER_TAIL_SLOWER;
    bool has_others = has_other_calls(c, row, &more_calls);
    bool is_open = has_others && are_of_steps(c, row, more_calls);
    has_others &= !is_open;
    if (has_others && more_calls > 0 && mean != MORE)
        return CLI_MORE_CALLS; /* even if each takes less: users wait for the sum */
    if (typical == LESS)
        return CLI_FASTER;
    if (mean == MORE || mean == LESS)
        return mean == MORE ? CLI_TAIL_SLOWER : CLI_TAIL_FASTER;
    if (has_others)
        return CLI_FEWER_CALLS;
    if (is_open)
        return CLI_UNKNOWN;
    return verdict_of_none(typical, mean,
                           cli_is_above_limits(&c->options, row->mean_change_ns, a->mean_ns));
}

bool cli_is_slower(cli_verdict verdict)
{
    return verdict == CLI_SLOWER || verdict == CLI_TAIL_SLOWER ||
           verdict == CLI_FASTER_TAIL_SLOWER || verdict == CLI_SLOWER_TAIL_FASTER;
}

static bool is_change(cli_verdict verdict)
{
    return cli_is_slower(verdict) || verdict == CLI_FASTER || verdict == CLI_TAIL_FASTER;
}

/* ---- Primary rows ---- */

static bool is_primary(const cli_compare_options *options, const cli_row *row)
{
    bool has_name = false;

    if (options->name_count == 0)
        return row->kind == CLI_ROW_STEP || row->kind == CLI_ROW_RUN;
    for (size_t i = 0; i < options->name_count; i++)
        has_name |= cli_row_has_name(row, options->names[i]);
    return has_name;
}

/* Adjusts the p values of primary or of other rows for their number; typical and mean calls
 * separately. */
static bool adjust(cli_comparison *c, bool of_primary, size_t *tests)
{
    double **p = malloc((c->rows.count + 1) * sizeof *p);
    size_t count = 0;

    if (!p)
        return false;
    for (size_t i = 0; i < c->rows.count; i++)
        if (c->rows.items[i].is_primary == of_primary && !isnan(c->rows.items[i].noise.low_ns))
            p[count++] = &c->rows.items[i].noise.p;
    *tests = count;
    cli_holm(p, count);
    count = 0;
    for (size_t i = 0; i < c->rows.count; i++)
        if (c->rows.items[i].is_primary == of_primary)
            p[count++] = &c->rows.items[i].mean_noise.p;
    cli_holm(p, count);
    free(p);
    return true;
}

static void judge(cli_comparison *c, bool of_primary)
{
    for (size_t i = 0; i < c->rows.count; i++) {
        cli_row *row = &c->rows.items[i];
        if (row->is_primary != of_primary)
            continue;
        row->verdict = verdict_of(c, row);
        c->has_changed |= of_primary && is_change(row->verdict);
    }
}

static void look_at_order(cli_comparison *c, const cli_row *row)
{
    const cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    c->is_by_turns |= c->is_by_run && cli_values_take_turns(&a->means, &b->means);
    c->is_apart |= c->is_by_run && cli_values_are_apart(&a->means, &b->means);
}

takt_status cli_compare_judge(cli_comparison *comparison)
{
    size_t asked;

    for (size_t i = 0; i < comparison->rows.count; i++) {
        cli_row *row = &comparison->rows.items[i];
        row->is_primary = is_primary(&comparison->options, row);
        if (!measure(comparison, row))
            return TAKT_NO_MEMORY;
        if (row->is_primary)
            look_at_order(comparison, row);
    }
    if (!adjust(comparison, true, &asked))
        return TAKT_NO_MEMORY;
    judge(comparison, true);
    if (!comparison->has_changed && !adjust(comparison, false, &comparison->tests))
        return TAKT_NO_MEMORY;
    judge(comparison, false);
    return TAKT_OK;
}
