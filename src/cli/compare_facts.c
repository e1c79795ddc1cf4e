/* What two traces are, side by side: differences here explain more than any scope's. */
#include "cli/compare_print.h"

#include <inttypes.h>
#include <string.h>

static const cli_column fact_columns[] = {{"", "fact", CLI_CELL_TEXT, 0},
                                          {"A", "a", CLI_CELL_TEXT, 0},
                                          {"B", "b", CLI_CELL_TEXT, 0},
                                          {"", "differs", CLI_CELL_TEXT, 0}};

enum {
    FILE_NAME,
    RUN,
    MODE,
    BACKEND,
    DEVICES,
    STEPS,
    WALL,
    LOSSES,
    PARTIAL,
    FACTS
};

static const char *const fact_names[FACTS] = {"file",  "run",       "mode",   "backend", "devices",
                                              "steps", "wall time", "losses", "partial"};

static void fill_side(cli_cell *cells, const cli_side *side, size_t column, cli_fact_texts *texts)
{
    const takt_facts *facts = &side->facts;
    const char *const values[FACTS] = {[FILE_NAME] = side->path,
                                       [RUN] = side->run,
                                       [MODE] = facts->has_spans ? "spans" : "only a summary",
                                       [BACKEND] = side->backend,
                                       [DEVICES] = side->devices,
                                       [STEPS] = texts->steps,
                                       [WALL] = texts->wall,
                                       [LOSSES] = side->losses,
                                       [PARTIAL] = facts->is_partial ? "yes" : "no"};

    snprintf(texts->steps, sizeof texts->steps, "%" PRIu64, facts->step_count);
    cli_cell_shown(texts->wall, sizeof texts->wall, CLI_CELL_TIME,
                   (double)(facts->end_ns - facts->begin_ns));
    for (size_t i = 0; i < FACTS; i++)
        cells[i * 4 + column].text = values[i];
}

bool cli_compare_facts(const cli_comparison *comparison, cli_fact_texts texts[CLI_BOTH],
                       cli_table *out)
{
    if (!cli_table_init(out, "traces", fact_columns, 4, FACTS))
        return false;
    fill_side(out->cells, &comparison->sides[CLI_A], 1, &texts[CLI_A]);
    fill_side(out->cells, &comparison->sides[CLI_B], 2, &texts[CLI_B]);
    for (size_t i = 0; i < FACTS; i++) {
        cli_cell *cells = out->cells + i * 4;
        bool may_differ = i == FILE_NAME || i == WALL;
        bool differs = !may_differ && strcmp(cells[1].text, cells[2].text) != 0;
        cells[0].text = fact_names[i];
        cells[3].text = differs ? "differs" : "";
    }
    return true;
}
