/* Prints the result of a check as lines for a log, or as JSON. */
#include "cli/check.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

enum {
    MOST_BELOW = 5 /* rows listed as the places where a change comes from */
};

static const char *const outcomes[] = {[CLI_CHECK_PASSED] = "passed",
                                       [CLI_CHECK_FAILED] = "FAILED",
                                       [CLI_CHECK_NOT_COMPARABLE] = "NOT COMPARABLE",
                                       [CLI_CHECK_UNDECIDED] = "UNDECIDED"};

static const char *shown(char out[TKT_VALUE_SIZE], tkt_cell_type type, double number)
{
    tkt_value_text(out, type, (tkt_cell){.d = number});
    return out;
}

/* The change is the median over pairs: of neighbouring runs, or of one run's steps with another's.
 * Its sign may be another than that of the difference of the two numbers. */
static const char *of_pairs(double a, double b, double change)
{
    return (b - a) * change < 0 ? " in the median pair" : "";
}

/* Prints such as "median call 1.000ms in A and 1.100ms in B, +100.000us (+10.00%, +9.10% ..
 * +10.90%), p 0.0079". */
static void print_answer(const char *what, double a, double b, double change, double base,
                         const cli_noise *noise)
{
    char texts[6][TKT_VALUE_SIZE];

    printf("%s call %s in A and %s in B, %s%s (%s", what, shown(texts[0], TKT_CELL_LENGTH, a),
           shown(texts[1], TKT_CELL_LENGTH, b), shown(texts[2], TKT_CELL_SHIFT, change),
           of_pairs(a, b, change), shown(texts[3], TKT_CELL_GROWTH, cli_percent(change, base)));
    if (!isnan(noise->low_ns))
        printf(", %s .. %s", shown(texts[4], TKT_CELL_GROWTH, cli_percent(noise->low_ns, base)),
               shown(texts[5], TKT_CELL_GROWTH, cli_percent(noise->high_ns, base)));
    putchar(')');
    if (!isnan(noise->p) && !isnan(noise->low_ns))
        printf(", p %s", shown(texts[4], TKT_CELL_CHANCE, noise->p));
    putchar('\n');
}

static void print_name(const cli_row *row)
{
    char name[512];
    printf("%s: %s%s%s", cli_verdict_name(row->verdict), cli_row_kind_name(row->kind),
           row->kind == CLI_ROW_STEP ? "" : " ",
           row->kind == CLI_ROW_STEP ? "" : cli_clean(name, sizeof name, row->name));
}

/* Prints the change of the self time, unless a few long calls turn it against the verdict: then
 * that of the typical call. */
static void print_calls(const cli_comparison *comparison, const cli_row *row)
{
    char change[TKT_VALUE_SIZE];
    bool of_call = cli_is_slower(row->verdict) && row->self_change_ns <= 0 && row->change_ns > 0;
    printf(", %llu calls in A and %llu in B, ", (unsigned long long)row->parts[CLI_A].calls,
           (unsigned long long)row->parts[CLI_B].calls);
    if (of_call)
        printf("median call %s\n", shown(change, TKT_CELL_SHIFT, row->change_ns));
    else
        printf("self time %s a %s\n", shown(change, TKT_CELL_SHIFT, row->self_change_ns),
               comparison->is_per_step ? "step" : "run");
}

/* Prints a row's typical and mean call. */
static void print_asked(const cli_comparison *comparison, const cli_row *row)
{
    const cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    print_name(row);
    if (row->verdict == CLI_GONE) {
        printf(", which A calls %llu times\n", (unsigned long long)a->calls);
        return;
    }
    if (row->verdict == CLI_NEW || row->verdict == CLI_MORE_CALLS) {
        print_calls(comparison, row);
        return;
    }
    if (cli_row_has_samples(row) && row->kind != CLI_ROW_RUN) {
        fputs(", ", stdout);
        print_answer("median", a->median_ns, b->median_ns, row->change_ns, row->base_ns,
                     &row->noise);
        fputs("    ", stdout);
    } else {
        fputs(", ", stdout);
    }
    print_answer("mean", a->mean_ns, b->mean_ns, row->mean_change_ns, a->mean_ns, &row->mean_noise);
}

/* What a row contributes to the change of the sum. Tasks overlap, and threads wait while others
 * work, so these come last. */
static double contribution(const cli_row *row)
{
    bool is_last = row->kind == CLI_ROW_TASK || row->is_wait;
    return is_last ? row->self_change_ns - 1e18 : row->self_change_ns;
}

/* Returns the row with the next smaller contribution, after `before`; NULL: none is left. */
static const cli_row *next_below(const cli_comparison *comparison, const cli_check_result *result,
                                 const cli_row *before)
{
    const cli_row *best = NULL;

    for (size_t i = 0; i < result->below_count; i++) {
        const cli_row *row = &comparison->rows.items[result->below[i]];
        double ns = contribution(row);
        bool is_told =
            before && (ns > contribution(before) || (ns == contribution(before) && row <= before));
        if (!is_told && (!best || ns > contribution(best)))
            best = row;
    }
    return best;
}

static void print_below(const cli_comparison *comparison, const cli_check_result *result)
{
    const cli_row *row = NULL;

    for (int i = 0; i < MOST_BELOW && (row = next_below(comparison, result, row)) != NULL; i++) {
        fputs("    ", stdout);
        print_name(row);
        print_calls(comparison, row);
    }
}

static size_t count_gone(const cli_comparison *comparison, const cli_check_result *result)
{
    size_t count = 0;
    for (size_t i = 0; i < result->offender_count; i++)
        count += comparison->rows.items[result->offenders[i]].verdict == CLI_GONE;
    return count;
}

/* What may be missed: the largest change that the runs do not exclude, if the check should fail
 * with it. */
static void print_blindness(const cli_check_request *request, const cli_comparison *comparison)
{
    char text[TKT_VALUE_SIZE];
    double most = 0;

    for (size_t i = 0; i < comparison->rows.count; i++) {
        const cli_row *row = &comparison->rows.items[i];
        double a_ns = row->parts[CLI_A].mean_ns;
        if (!row->is_primary)
            continue;
        if (cli_is_above_limits(&request->options, row->noise.high_ns, row->base_ns))
            most = fmax(most, cli_percent(row->noise.high_ns, row->base_ns));
        if (cli_is_above_limits(&request->options, row->mean_noise.high_ns, a_ns))
            most = fmax(most, cli_percent(row->mean_noise.high_ns, a_ns));
    }
    if (most > 0)
        printf("; the runs differ too much to exclude %s: record more of them, or on a quieter "
               "machine",
               shown(text, TKT_CELL_GROWTH, most));
}

static void print_verdict(const cli_check_request *request, const cli_comparison *comparison,
                          const cli_check_result *result)
{
    cli_check_outcome outcome = cli_check_outcome_of(result);
    char absolute[TKT_VALUE_SIZE], advice[160];
    size_t gone = count_gone(comparison, result), worse = result->offender_count - gone;

    printf("%s: %zu of %zu rows worse by more than %g %% and %s", outcomes[outcome],
           outcome == CLI_CHECK_UNDECIDED ? result->open_count : worse, result->asked,
           100 * request->options.limit,
           shown(absolute, TKT_CELL_LENGTH, request->options.absolute_ns));
    if (gone > 0)
        printf("; %zu row%s of A gone", gone, gone == 1 ? "" : "s");
    if (outcome == CLI_CHECK_UNDECIDED && comparison->is_by_run && comparison->steps.are_unequal)
        fputs(", and A and B recorded other steps: record the same ones", stdout);
    else if (outcome == CLI_CHECK_UNDECIDED)
        printf(", and runs of one program may differ as much; %s",
               cli_runs_advice(comparison, advice, sizeof advice));
    else if (outcome == CLI_CHECK_PASSED && !comparison->is_by_run)
        printf("; %s to be sure", cli_runs_advice(comparison, advice, sizeof advice));
    else if (outcome == CLI_CHECK_PASSED)
        print_blindness(request, comparison);
    putchar('\n');
}

static void print_text(const cli_check_request *request, const cli_comparison *comparison,
                       const cli_check_result *result)
{
    cli_check_outcome outcome = cli_check_outcome_of(result);
    cli_obstacles cautions;
    char clean[512];

    for (size_t i = 0; i < result->obstacles.count; i++)
        printf("not comparable: %s\n",
               cli_clean(clean, sizeof clean, result->obstacles.items[i].text));
    cli_cautions_of(comparison, &cautions);
    for (size_t i = 0; i < cautions.count; i++)
        printf("careful: %s\n", cautions.items[i].text);
    for (size_t i = 0; i < comparison->rows.count; i++)
        if (comparison->rows.items[i].is_primary)
            print_asked(comparison, &comparison->rows.items[i]);
    for (size_t i = 0; i < result->offender_count; i++)
        if (!comparison->rows.items[result->offenders[i]].is_primary)
            print_asked(comparison, &comparison->rows.items[result->offenders[i]]);
    if (outcome == CLI_CHECK_FAILED || outcome == CLI_CHECK_UNDECIDED)
        print_below(comparison, result);
    print_verdict(request, comparison, result);
}

/* ---- JSON ---- */

static void print_number(const char *key, double number)
{
    printf(", \"%s\": ", key);
    cli_put_number(number, "null");
}

static void print_json_row(const cli_row *row)
{
    const cli_part *a = &row->parts[CLI_A], *b = &row->parts[CLI_B];

    fputs("{\"name\": ", stdout);
    cli_put_json_text(row->name);
    printf(", \"kind\": \"%s\", \"verdict\": \"%s\"", cli_row_kind_name(row->kind),
           cli_verdict_name(row->verdict));
    print_number("calls_a", (double)a->calls);
    print_number("calls_b", (double)b->calls);
    print_number("median_a_ns", a->median_ns);
    print_number("median_b_ns", b->median_ns);
    print_number("change_ns", row->change_ns);
    print_number("change_percent", cli_percent(row->change_ns, row->base_ns));
    print_number("change_low_ns", row->noise.low_ns);
    print_number("change_high_ns", row->noise.high_ns);
    print_number("p", row->noise.p);
    print_number("mean_a_ns", a->mean_ns);
    print_number("mean_b_ns", b->mean_ns);
    print_number("mean_change_ns", row->mean_change_ns);
    print_number("mean_change_percent", cli_percent(row->mean_change_ns, a->mean_ns));
    print_number("mean_low_ns", row->mean_noise.low_ns);
    print_number("mean_high_ns", row->mean_noise.high_ns);
    print_number("mean_p", row->mean_noise.p);
    print_number("self_change_ns", row->self_change_ns);
    putchar('}');
}

static void print_json_rows(const char *key, const cli_comparison *comparison, const size_t *rows,
                            size_t count)
{
    printf(",\n \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n  " : "\n  ", stdout);
        print_json_row(&comparison->rows.items[rows[i]]);
    }
    putchar(']');
}

static void print_json_asked(const cli_comparison *comparison)
{
    bool is_first = true;

    fputs(",\n \"asked\": [", stdout);
    for (size_t i = 0; i < comparison->rows.count; i++) {
        if (!comparison->rows.items[i].is_primary)
            continue;
        fputs(is_first ? "\n  " : ",\n  ", stdout);
        print_json_row(&comparison->rows.items[i]);
        is_first = false;
    }
    putchar(']');
}

static void print_json_side(const cli_fact *fact, int side)
{
    if (*fact->data[side])
        fputs(fact->data[side], stdout);
    else
        cli_put_json_text(fact->texts[side]);
}

/* Prints a fact that forbids a comparison, with its values on both sides; null if the obstacle is
 * not about a fact. */
static void print_json_obstacle(const cli_fact *facts, const cli_obstacle *obstacle)
{
    fputs("{\"name\": ", stdout);
    if (obstacle->fact == CLI_FACTS) {
        fputs("null, \"a\": null, \"b\": null", stdout);
    } else {
        const cli_fact *fact = &facts[obstacle->fact];
        printf("\"%s\", \"a\": ", fact->name);
        print_json_side(fact, CLI_A);
        fputs(", \"b\": ", stdout);
        print_json_side(fact, CLI_B);
    }
    fputs(", \"text\": ", stdout);
    cli_put_json_text(obstacle->text);
    putchar('}');
}

static void print_json_obstacles(const char *key, const cli_fact *facts,
                                 const cli_obstacles *obstacles)
{
    printf(",\n \"%s\": [", key);
    for (size_t i = 0; i < obstacles->count; i++) {
        fputs(i ? ",\n  " : "\n  ", stdout);
        print_json_obstacle(facts, &obstacles->items[i]);
    }
    putchar(']');
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void print_json(const cli_check_request *request, const cli_comparison *comparison,
                       const cli_check_result *result)
{
    static const char *const names[] = {"passed", "failed", "not comparable", "undecided"};
    cli_check_outcome outcome = cli_check_outcome_of(result);
    cli_fact facts[CLI_FACTS];
    cli_obstacles cautions;

    cli_facts_of(comparison, facts);
    cli_cautions_of(comparison, &cautions);
    printf("{\"passed\": %s, \"outcome\": \"%s\"", truth(outcome == CLI_CHECK_PASSED),
           names[outcome]);
    print_number("limit_percent", 100 * request->options.limit);
    print_number("absolute_ns", request->options.absolute_ns);
    print_number("run_noise_percent", 100 * request->run_noise);
    print_number("runs_a", (double)comparison->sides[CLI_A].runs);
    print_number("runs_b", (double)comparison->sides[CLI_B].runs);
    print_number("runs_wanted", CLI_WANTED_RUNS);
    printf(", \"by_run\": %s, \"by_turns\": %s, \"apart\": %s", truth(comparison->is_by_run),
           truth(comparison->is_by_turns), truth(comparison->is_apart));
    print_json_obstacles("obstacles", facts, &result->obstacles);
    print_json_obstacles("cautions", facts, &cautions);
    print_json_asked(comparison);
    print_json_rows("offenders", comparison, result->offenders, result->offender_count);
    print_json_rows("undecided", comparison, result->open, result->open_count);
    print_json_rows("below", comparison, result->below, result->below_count);
    fputs("}\n", stdout);
}

void cli_check_print(const cli_check_request *request, const cli_comparison *comparison,
                     const cli_check_result *result)
{
    (request->json ? print_json : print_text)(request, comparison, result);
}
