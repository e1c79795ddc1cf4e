/* The sentences below a comparison: what to beware of, and what its numbers are. */
#include "cli/compare_print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void note(cli_notes *n, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(n->texts[n->count], sizeof n->texts[0], format, list);
    va_end(list);
    n->list[n->count] = n->texts[n->count];
    n->count++;
}

static void note_totals(const cli_comparison *c, cli_notes *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];

    if (c->is_per_step)
        note(out,
             "Self times and totals are those of a step: A has %" PRIu64 ", B %" PRIu64
             " of them. Calls are those of the recording.",
             a->facts.step_count, b->facts.step_count);
    else if (a->runs > 1 || b->runs > 1)
        note(out, "Self times and totals are those of a run, on average. Calls are those of all "
                  "runs.");
    for (size_t i = 0; i < c->rows.count; i++)
        if (c->rows.items[i].kind == CLI_ROW_CUDA) {
            note(out, "Rows of kind cuda are what devices did for a scope: the sum of the "
                      "activities that a call launched, scopes inside included; self, those "
                      "outside of these. It is the time of the activities' rows, so do not add the "
                      "two up.");
            return;
        }
}

static void note_calls(const cli_comparison *c, cli_notes *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];

    if (a->runs > 1 || b->runs > 1)
        note(out,
             "A has %zu and B %zu runs. From %d on each side on, runs would be compared; these are "
             "too few, so the calls of all runs are, as if they were one's: how much runs differ "
             "is not known.",
             a->runs, b->runs, CLI_LEAST_RUNS);
    if (!a->facts.has_spans || !b->facts.has_spans)
        note(out, "Without spans single calls are not known: there a call is the mean one, and how "
                  "large the noise is nobody can tell.");
    note(
        out,
        "Call: the median one. Change: Hodges-Lehmann shift, the median of all differences between "
        "a call of B and one of A; band: its 95 %% confidence interval; p: Mann-Whitney U test, "
        "adjusted for %zu rows (Holm).",
        c->tests);
}

static void note_runs(const cli_comparison *c, cli_notes *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];

    note(out,
         "Runs are compared, %zu of A and %zu of B. Call: a run's median one%s, averaged over the "
         "runs. Change: B's less A's; band: its 95 %% confidence interval, p: Welch's t-test, both "
         "by how much the runs differ; p adjusted for %zu rows (Holm).",
         a->runs, b->runs,
         a->facts.has_spans && b->facts.has_spans ? "" : ", or mean one in traces without spans",
         c->tests);
}

void cli_compare_notes(const cli_comparison *comparison, cli_notes *out)
{
    double absolute_ns = comparison->options.absolute_ns;
    cli_obstacles obstacles;
    char absolute[64];

    *out = (cli_notes){.count = 0};
    cli_obstacles_of(comparison, &obstacles);
    for (size_t i = 0; i < obstacles.count; i++)
        note(out, "Careful: %s.", obstacles.items[i].text);
    note_totals(comparison, out);
    (comparison->is_by_run ? note_runs : note_calls)(comparison, out);
    note(out, "Slower, faster: p below 0.05 and a change of more than %g %%%s%s.%s",
         100 * comparison->options.limit, absolute_ns > 0 ? " and " : "",
         absolute_ns > 0 ? cli_time_text(absolute, sizeof absolute, absolute_ns) : "",
         comparison->is_by_run ? ""
                               : " Calls of one recording are not independent, so record more than "
                                 "once before trusting a small change.");
}
