/* What came out of a check: lines for a log, or JSON. */
#include "cli/check.h"
#include "cli/table.h"

#include <math.h>

static void print_offender(const cli_row *row)
{
    char name[512], a[48], b[48], change[48];
    const cli_part *parts = row->parts;

    printf("%s: %s %s", cli_verdict_name(row->verdict), cli_row_kind_name(row->kind),
           cli_clean(name, sizeof name, row->name));
    if (row->verdict == CLI_GONE) {
        printf(", which A calls %llu times\n", (unsigned long long)parts[CLI_A].calls);
        return;
    }
    if (row->verdict == CLI_MORE_CALLS) {
        printf(", %llu calls in A and %llu in B, self time %s\n",
               (unsigned long long)parts[CLI_A].calls, (unsigned long long)parts[CLI_B].calls,
               cli_cell_shown(change, sizeof change, CLI_CELL_CHANGE, row->self_change_ns));
        return;
    }
    bool is_mean = row->verdict == CLI_TAIL_SLOWER || !cli_row_has_samples(row);
    double base = is_mean ? parts[CLI_A].mean_ns : parts[CLI_A].median_ns;
    double now = is_mean ? parts[CLI_B].mean_ns : parts[CLI_B].median_ns;
    double by = is_mean ? now - base : row->change_ns;
    printf(", %s call %s in A and %s in B, %s (%s)", is_mean ? "mean" : "median",
           cli_cell_shown(a, sizeof a, CLI_CELL_TIME, base),
           cli_cell_shown(b, sizeof b, CLI_CELL_TIME, now),
           cli_cell_shown(change, sizeof change, CLI_CELL_CHANGE, by),
           cli_cell_shown(name, sizeof name, CLI_CELL_PERCENT, 100 * by / base));
    double p = is_mean ? row->noise.mean_p : row->noise.p;
    if (!isnan(p) && row->verdict != CLI_UNKNOWN)
        printf(", p %s", cli_cell_shown(a, sizeof a, CLI_CELL_CHANCE, p));
    putchar('\n');
}

static void print_text(const cli_check_request *request, const cli_comparison *comparison,
                       const cli_check_result *result)
{
    static const char *const verdicts[] = {"passed", "FAILED", "NOT COMPARABLE"};
    char absolute[48], clean[512];

    for (size_t i = 0; i < result->obstacles.count; i++)
        printf("not comparable: %s\n",
               cli_clean(clean, sizeof clean, result->obstacles.items[i].text));
    for (size_t i = 0; i < result->offender_count; i++)
        print_offender(&comparison->rows.items[result->offenders[i]]);
    printf("%s: %zu of %zu rows worse by more than %g %% and %s",
           verdicts[cli_check_outcome_of(result)], result->offender_count, result->compared,
           100 * request->options.limit,
           cli_cell_shown(absolute, sizeof absolute, CLI_CELL_TIME, request->options.absolute_ns));
    if (result->undecided)
        printf("; %zu with too few %s to tell", result->undecided,
               comparison->is_by_run ? "runs" : "calls");
    putchar('\n');
}

static void print_number(const char *key, double number)
{
    printf(", \"%s\": ", key);
    cli_put_number(number, "null");
}

static void print_json_offender(const cli_row *row)
{
    fputs("{\"name\": ", stdout);
    cli_put_json_text(row->name);
    printf(", \"kind\": \"%s\", \"verdict\": \"%s\"", cli_row_kind_name(row->kind),
           cli_verdict_name(row->verdict));
    print_number("calls_a", (double)row->parts[CLI_A].calls);
    print_number("calls_b", (double)row->parts[CLI_B].calls);
    print_number("mean_a_ns", row->parts[CLI_A].mean_ns);
    print_number("mean_b_ns", row->parts[CLI_B].mean_ns);
    print_number("change_ns", row->change_ns);
    print_number("change_percent", row->base_ns > 0 ? 100 * row->change_ns / row->base_ns : NAN);
    print_number("p", row->noise.p);
    print_number("mean_p", row->noise.mean_p);
    putchar('}');
}

static void print_json_side(const cli_fact *fact, int side)
{
    if (*fact->data[side])
        fputs(fact->data[side], stdout);
    else
        cli_put_json_text(fact->texts[side]);
}

/* The fact that stands in the way, as it is on both sides; its name is null where it is none. */
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

static void print_json(const cli_check_request *request, const cli_comparison *comparison,
                       const cli_check_result *result)
{
    static const char *const outcomes[] = {"passed", "failed", "not comparable"};
    cli_check_outcome outcome = cli_check_outcome_of(result);
    cli_fact facts[CLI_FACTS];

    cli_facts_of(comparison, facts);
    printf("{\"passed\": %s, \"outcome\": \"%s\"", outcome == CLI_CHECK_PASSED ? "true" : "false",
           outcomes[outcome]);
    print_number("limit_percent", 100 * request->options.limit);
    print_number("absolute_ns", request->options.absolute_ns);
    print_number("compared", (double)result->compared);
    print_number("undecided", (double)result->undecided);
    fputs(",\n \"obstacles\": [", stdout);
    for (size_t i = 0; i < result->obstacles.count; i++) {
        fputs(i ? ",\n  " : "\n  ", stdout);
        print_json_obstacle(facts, &result->obstacles.items[i]);
    }
    fputs("],\n \"offenders\": [", stdout);
    for (size_t i = 0; i < result->offender_count; i++) {
        fputs(i ? ",\n  " : "\n  ", stdout);
        print_json_offender(&comparison->rows.items[result->offenders[i]]);
    }
    fputs("]}\n", stdout);
}

void cli_check_print(const cli_check_request *request, const cli_comparison *comparison,
                     const cli_check_result *result)
{
    (request->json ? print_json : print_text)(request, comparison, result);
}
