/* The sentences below a comparison: what to beware of, and what its numbers are. */
#include "cli/compare_print.h"

#include <inttypes.h>

static void note_totals(const cli_comparison *c, tkt_document *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];

    if (c->is_per_step)
        tkt_document_add_note(out,
                              "Self times and totals are those of a step: A has %" PRIu64
                              ", B %" PRIu64 " of them. Calls are those of the recording.",
                              a->facts.step_count, b->facts.step_count);
    else if (a->runs > 1 || b->runs > 1)
        tkt_document_add_note(
            out, "Self times and totals are those of a run, on average. Calls are those of all "
                 "runs.");
    for (size_t i = 0; i < c->rows.count; i++)
        if (c->rows.items[i].kind == CLI_ROW_CUDA) {
            tkt_document_add_note(
                out, "Rows of kind cuda are what devices did for a scope: the sum of the "
                     "activities that a call launched, scopes inside included; self, those "
                     "outside of these. It is the time of the activities' rows, so do not add the "
                     "two up.");
            return;
        }
}

static void note_calls(const cli_comparison *c, tkt_document *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];
    char advice[160];

    tkt_document_add_note(
        out,
        "Careful: these are verdicts about recordings, not about programs: runs of one program "
        "differ, too, by more than their calls tell. %s.",
        cli_runs_advice(c, advice, sizeof advice));
    if (a->runs > 1 || b->runs > 1)
        tkt_document_add_note(
            out, "With so few the calls of all runs of a side are compared as if they were one's.");
    if (!a->facts.has_spans || !b->facts.has_spans)
        tkt_document_add_note(
            out, "Without spans single calls are not known: there a call is the mean one, and how "
                 "large the noise is nobody can tell.");
    tkt_document_add_note(
        out,
        "Call: the median one. Change: Hodges-Lehmann shift, the median of all differences "
        "between a call of B and one of A; band: its 95 %% confidence interval; p: Mann-Whitney U "
        "test. Mean %%: of the mean call, and with it of the sum; its test is Welch's.");
}

static void note_runs(const cli_comparison *c, tkt_document *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];

    if (c->is_apart)
        tkt_document_add_note(
            out, "Careful: all runs of one side began before those of the other. What the machine "
                 "did meanwhile looks the same as a change of the program: let them take turns.");
    tkt_document_add_note(
        out,
        "Runs are compared, %zu of A and %zu of B%s. Call: a run's median one%s; of all runs, the "
        "mean without the smallest and the largest fifth. Change: B's less A's; band: its 95 %% "
        "confidence interval; p: permutation test. Mean %%: the same of a run's mean call, and "
        "with it of the sum.",
        a->runs, b->runs, c->is_by_turns ? ", which took turns: each with its neighbours" : "",
        a->facts.has_spans && b->facts.has_spans ? "" : ", or mean one in traces without spans");
}

/* Which rows are one question, and which are many. */
static void note_tests(const cli_comparison *c, tkt_document *out)
{
    if (c->has_changed)
        tkt_document_add_note(
            out, "Steps, or without them the wall time, are the question. They changed, and the "
                 "rows below them say where: each p stands for itself.");
    else if (c->tests > 0)
        tkt_document_add_note(
            out,
            "Steps, or without them the wall time, are the question. No change of them is proved, "
            "so the p of other rows are adjusted for %zu of them (Holm).",
            c->tests);
}

void cli_compare_notes(const cli_comparison *comparison, tkt_document *out)
{
    double absolute_ns = comparison->options.absolute_ns;
    cli_obstacles obstacles;
    char absolute[64];

    cli_obstacles_of(comparison, &obstacles);
    for (size_t i = 0; i < obstacles.count; i++)
        tkt_document_add_note(out, "Careful: %s.", obstacles.items[i].text);
    note_totals(comparison, out);
    (comparison->is_by_run ? note_runs : note_calls)(comparison, out);
    note_tests(comparison, out);
    tkt_document_add_note(out, "Slower, faster: p below 0.05 and a change of more than %g %%%s%s.",
                          100 * comparison->options.limit, absolute_ns > 0 ? " and " : "",
                          absolute_ns > 0 ? cli_time_text(absolute, sizeof absolute, absolute_ns)
                                          : "");
}
