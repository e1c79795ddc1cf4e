/* The first line of a comparison: by how much B is slower or faster, and which scopes or activities
 * account for it. */
#include "cli/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_PARTS = 3, /* names in the sentence */
    SENTENCE = 512
};

#define LEAST_PART  0.1 /* of the change in question */
#define DEVICE_PART 0.5 /* if activities account for this much, they are named and not scopes */

/* The row of steps or, without steps, that of the whole recording; NULL: the sides have no such row
 * in common. */
static const cli_row *question_of(const cli_comparison *c)
{
    for (size_t i = 0; i < c->rows.count; i++) {
        const cli_row *row = &c->rows.items[i];
        if ((row->kind == CLI_ROW_STEP || row->kind == CLI_ROW_RUN) &&
            row->parts[CLI_A].calls > 0 && row->parts[CLI_B].calls > 0)
            return row;
    }
    return NULL;
}

/* ======== Where ======== */

/* False for rows whose calls did not change: their self time only moved between scopes, or differs
 * by chance. */
static bool has_changed(const cli_row *row)
{
    return row->verdict != CLI_SAME && row->verdict != CLI_NOISE;
}

static bool is_device(const cli_row *row)
{
    return row->kind == CLI_ROW_ACTIVITY;
}

/* True if most of the change is one of activities. */
static bool is_of_devices(const cli_comparison *c, double change_ns)
{
    double sum_ns = 0;
    for (size_t i = 0; i < c->rows.count; i++)
        if (is_device(&c->rows.items[i]) && has_changed(&c->rows.items[i]))
            sum_ns += c->rows.items[i].self_change_ns;
    return sum_ns / change_ns >= DEVICE_PART;
}

/* Which rows a sentence is about. Scopes that wait for other threads change with what those do, so
 * they are named only if nothing else is. */
typedef enum part_kind {
    OF_DEVICES,
    OF_WORK,
    OF_WAITS
} part_kind;

static bool is_of(part_kind kind, const cli_row *row)
{
    if (kind == OF_DEVICES || row->kind != CLI_ROW_SCOPE)
        return kind == OF_DEVICES && is_device(row);
    return (kind == OF_WAITS) == row->is_wait;
}

/* The row with the next smaller change in the direction of `change_ns`, after `before`; NULL: none
 * is large enough. */
static const cli_row *next_part(const cli_comparison *c, double change_ns, part_kind kind,
                                const cli_row *before)
{
    const cli_row *best = NULL;
    double most = before ? before->self_change_ns / change_ns : INFINITY, best_share = LEAST_PART;

    for (size_t i = 0; i < c->rows.count; i++) {
        const cli_row *row = &c->rows.items[i];
        double share = row->self_change_ns / change_ns;
        bool is_told = share > most || (share == most && row <= before);
        if (is_of(kind, row) && has_changed(row) && !is_told &&
            (share > best_share || (!best && share >= best_share))) {
            best = row;
            best_share = share;
        }
    }
    return best;
}

static void add_part(char *sentence, const char *before, const cli_row *row, bool with_change)
{
    char name[TKT_NAME_SIZE], change[TKT_VALUE_SIZE];
    size_t used = strlen(sentence);

    tkt_text_name(name, row->name + row->leaf);
    tkt_value_text(change, TKT_CELL_SHIFT, (tkt_cell){.d = row->self_change_ns});
    snprintf(sentence + used, SENTENCE - used, "%s%s%s%s", before, name, with_change ? " " : "",
             with_change ? change : "");
}

/* Writes ": density sums +1.700ms, pair forces +1.600ms", or nothing. Without `is_sum` the change
 * is not a sum of the parts' changes, and only their names are written. */
static void tell_parts(const cli_comparison *c, double change_ns, bool is_sum, char *sentence)
{
    part_kind kind = is_of_devices(c, change_ns) ? OF_DEVICES : OF_WORK;
    const cli_row *row = NULL;

    if (kind == OF_WORK && !next_part(c, change_ns, OF_WORK, NULL))
        kind = OF_WAITS;
    for (int i = 0; i < MOST_PARTS; i++) {
        row = next_part(c, change_ns, kind, row);
        if (!row)
            return;
        add_part(sentence, i ? ", " : ": ", row, is_sum);
    }
}

/* ======== How much ======== */

/* Writes "3.5 times slower" or "25.70% faster". */
static void tell_factor(char out[TKT_VALUE_SIZE + 16], double change_ns, double base_ns)
{
    const char *word = change_ns > 0 ? "slower" : "faster";
    double times =
        change_ns > 0 ? (base_ns + change_ns) / base_ns : base_ns / (base_ns + change_ns);
    char value[TKT_VALUE_SIZE];

    if (times >= 2 && isfinite(times)) {
        tkt_value_fixed(value, times, 1);
        snprintf(out, TKT_VALUE_SIZE + 16, "%s times %s", value, word);
    } else {
        tkt_value_text(value, TKT_CELL_PERCENT, (tkt_cell){.d = 100 * fabs(change_ns) / base_ns});
        snprintf(out, TKT_VALUE_SIZE + 16, "%s %s", value, word);
    }
}

static bool is_of_tail(cli_verdict verdict)
{
    return verdict == CLI_TAIL_SLOWER || verdict == CLI_TAIL_FASTER;
}

/* What the table's row shows, and parts add up to. If a few calls or a stray run distort it, the
 * change that the verdict is about, and false is returned. */
static bool choose_figures(const cli_comparison *c, const cli_row *row, double *change_ns,
                           double *base_ns)
{
    bool of_tail = is_of_tail(row->verdict);

    *change_ns = of_tail ? row->mean_change_ns : row->change_ns;
    *base_ns = of_tail ? row->parts[CLI_A].mean_ns : row->base_ns;
    double agreement = row->self_change_ns / *change_ns;
    bool agrees = agreement >= 0.5 && agreement <= 2;
    if (agrees) {
        *change_ns = row->self_change_ns;
        *base_ns = row->parts[CLI_A].self_ns * cli_row_scale(c, row, CLI_A);
    }
    return agrees;
}

/* ", but 31.91% slower on average (+32.000us)" where the typical step became faster. */
static void tell_average(const cli_row *row, char out[SENTENCE])
{
    char factor[TKT_VALUE_SIZE + 16], change[TKT_VALUE_SIZE];
    tell_factor(factor, row->mean_change_ns, row->parts[CLI_A].mean_ns);
    tkt_value_text(change, TKT_CELL_SHIFT, (tkt_cell){.d = row->mean_change_ns});
    snprintf(out, SENTENCE, ", but %s on average (%s)", factor, change);
}

/* "B is 3.5 times slower a step (+5.200ms): ..." */
static void tell_change(const cli_comparison *c, const cli_row *row, tkt_document *document)
{
    bool of_tail = is_of_tail(row->verdict), is_step = row->kind == CLI_ROW_STEP;
    double change_ns, base_ns;
    char factor[TKT_VALUE_SIZE + 16], change[TKT_VALUE_SIZE], parts[SENTENCE] = "";
    char average[SENTENCE] = "";
    bool is_mixed =
        row->verdict == CLI_SLOWER_TAIL_FASTER || row->verdict == CLI_FASTER_TAIL_SLOWER;
    const char *which = of_tail   ? is_step ? " a step on average, because of its slowest steps"
                                            : " on average, because of its slowest runs"
                        : is_step ? is_mixed ? " in a typical step" : " a step"
                                  : "";
    const char *yet = row->verdict == CLI_UNKNOWN ? ", which chance may cause" : average;

    bool is_sum = choose_figures(c, row, &change_ns, &base_ns);
    tell_factor(factor, change_ns, base_ns);
    tkt_value_text(change, TKT_CELL_SHIFT, (tkt_cell){.d = change_ns});
    tell_parts(c, change_ns, is_sum, parts);
    if (is_mixed)
        tell_average(row, average);
    tkt_document_set_headline(document, "B is %s%s (%s)%s%s.", factor, which, change, yet, parts);
}

/* ======== No change ======== */

/* Of the rows with a proved change, the one that changed most after `before`; NULL: none. */
static const cli_row *next_proved(const cli_comparison *c, const cli_row *before)
{
    const cli_row *best = NULL;
    for (size_t i = 0; i < c->rows.count; i++) {
        const cli_row *row = &c->rows.items[i];
        double size = fabs(row->self_change_ns);
        bool is_told = before && (size > fabs(before->self_change_ns) ||
                                  (size == fabs(before->self_change_ns) && row <= before));
        bool is_wanted = is_of(OF_DEVICES, row) || is_of(OF_WORK, row);
        if (is_wanted && has_changed(row) && row->verdict != CLI_UNKNOWN && size > 0 && !is_told &&
            (!best || size > fabs(best->self_change_ns)))
            best = row;
    }
    return best;
}

/* ", +44.50% on average" where the noise of the mean may hide that, or nothing. */
static void tell_wide_mean(const cli_comparison *c, const cli_row *row, char *out, size_t size)
{
    double mean_ns = row->parts[CLI_A].mean_ns;
    char change[TKT_VALUE_SIZE];

    *out = '\0';
    if (row->verdict == CLI_SAME || !cli_is_above_limits(&c->options, row->mean_change_ns, mean_ns))
        return;
    tkt_value_text(change, TKT_CELL_GROWTH,
                   (tkt_cell){.d = cli_percent(row->mean_change_ns, mean_ns)});
    snprintf(out, size, ", %s on average", change);
}

/* "No difference beyond the noise in the time of a step (+0.40%)", and what changed inside. */
static void tell_same(const cli_comparison *c, const cli_row *row, tkt_document *document)
{
    char change[TKT_VALUE_SIZE], average[TKT_VALUE_SIZE + 16], parts[SENTENCE] = "";
    const cli_row *part = NULL;
    bool is_known = row->base_ns > 0 && !isnan(row->change_ns);

    tkt_value_text(change, TKT_CELL_GROWTH,
                   (tkt_cell){.d = is_known ? 100 * row->change_ns / row->base_ns : 0});
    tell_wide_mean(c, row, average, sizeof average);
    for (int i = 0; i < MOST_PARTS && (part = next_proved(c, part)) != NULL; i++)
        add_part(parts, i ? ", " : "; inside, ", part, true);
    tkt_document_set_headline(document, "No difference beyond the noise in the %s (%s%s)%s.",
                              row->kind == CLI_ROW_STEP ? "time of a step" : "wall time", change,
                              average, parts);
}

/* ======== The sentence ======== */

void cli_compare_headline(const cli_comparison *comparison, tkt_document *document)
{
    const cli_row *row = question_of(comparison);
    bool has_a = cli_has_calls(comparison, CLI_A), has_b = cli_has_calls(comparison, CLI_B);

    if (!has_a || !has_b)
        tkt_document_set_headline(document, "Nothing to compare: %s recorded nothing.",
                                  has_a   ? "B"
                                  : has_b ? "A"
                                          : "A and B");
    else if (comparison->sides[CLI_A].unseen_steps + comparison->sides[CLI_B].unseen_steps > 0)
        tkt_document_set_headline(
            document, "The time of a step is not known: traces list only some of the steps.");
    else if (!row)
        tkt_document_set_headline(document,
                                  "A step cannot be compared with a whole run: only %s has steps.",
                                  comparison->sides[CLI_A].facts.step_count > 0 ? "A" : "B");
    else if (!(row->base_ns > 0) || isnan(row->change_ns) || !has_changed(row) ||
             (row->verdict == CLI_UNKNOWN &&
              !cli_is_above_limits(&comparison->options, row->change_ns, row->base_ns)))
        tell_same(comparison, row, document);
    else
        tell_change(comparison, row, document);
}
