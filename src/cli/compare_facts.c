/* What the sides are, next to each other: differences here explain more than any scope's. */
#include "cli/compare.h"
#include "report/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const fact_names[CLI_FACTS] = {
    [CLI_FACT_FILE] = "file",       [CLI_FACT_RUNS] = "runs",      [CLI_FACT_RUN] = "run",
    [CLI_FACT_MODE] = "mode",       [CLI_FACT_STEPS] = "steps",    [CLI_FACT_BACKEND] = "backend",
    [CLI_FACT_DEVICES] = "devices", [CLI_FACT_WALL] = "wall time", [CLI_FACT_LOSSES] = "losses",
    [CLI_FACT_PARTIAL] = "partial"};

#define PUT(place, ...) snprintf((place), sizeof(place), __VA_ARGS__)

/* Steps and times of several runs are those of one, on average. */
static void fill_numbers(cli_fact *facts, const cli_side *side, int at)
{
    double runs = (double)side->runs, wall_ns = side->wall_ns / runs;

    PUT(facts[CLI_FACT_RUNS].own[at], "%zu", side->runs);
    PUT(facts[CLI_FACT_RUNS].data[at], "%zu", side->runs);
    PUT(facts[CLI_FACT_STEPS].own[at], "%.10g", (double)side->facts.step_count / runs);
    PUT(facts[CLI_FACT_STEPS].data[at], "%.15g", (double)side->facts.step_count / runs);
    tkt_value_text(facts[CLI_FACT_WALL].own[at], TKT_CELL_LENGTH, (tkt_cell){.d = wall_ns});
    PUT(facts[CLI_FACT_WALL].data[at], "%.0f", wall_ns);
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
