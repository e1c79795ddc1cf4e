/* Why traces may not be comparable. */
#include "cli/compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cli_obstacles_add(cli_obstacles *obstacles, int fact, const char *format, ...)
{
    va_list list;
    if (obstacles->count == sizeof obstacles->items / sizeof *obstacles->items)
        return;
    cli_obstacle *to = &obstacles->items[obstacles->count++];
    to->fact = fact;
    va_start(list, format);
    vsnprintf(to->text, sizeof to->text, format, list);
    va_end(list);
}

/* ---- Files ---- */

static char side_name(int side)
{
    return side == CLI_A ? 'A' : 'B';
}

/* The same run twice would be no second one. */
static void look_for_twins(const cli_side *side, char name, cli_obstacles *out)
{
    const cli_files *files = &side->files;
    for (size_t i = 0; i < files->count; i++)
        for (size_t j = 0; j < i; j++)
            if (cli_is_same_file(files->paths[i], files->paths[j]))
                cli_obstacles_add(out, CLI_FACT_FILE, "%c has a file twice: %.150s", name,
                                  files->paths[i]);
}

static void look_at_files(const cli_side *a, const cli_side *b, cli_obstacles *out)
{
    bool is_single = a->files.count == 1 && b->files.count == 1;
    for (size_t i = 0; i < a->files.count; i++)
        for (size_t j = 0; j < b->files.count; j++)
            if (!cli_is_same_file(a->files.paths[i], b->files.paths[j]))
                continue;
            else if (is_single)
                cli_obstacles_add(out, CLI_FACT_FILE, "A and B are the same file");
            else
                cli_obstacles_add(out, CLI_FACT_FILE, "A and B share a file: %.150s",
                                  a->files.paths[i]);
    look_for_twins(a, 'A', out);
    look_for_twins(b, 'B', out);
}

/* ---- Facts ---- */

static void look_at_text(const cli_comparison *c, cli_fact_kind fact, const char *what,
                         const char *a, const char *b, cli_obstacles *out)
{
    for (int side = CLI_A; side < CLI_BOTH; side++)
        if (c->sides[side].varies & 1u << fact)
            cli_obstacles_add(out, fact, "%s differ among the runs of %c", what, side_name(side));
    if (strcmp(a, b) != 0)
        cli_obstacles_add(out, fact, "%s differ: %.100s in A, %.100s in B", what, a, b);
}

static void look_at_partial(const cli_side *a, const cli_side *b, cli_obstacles *out)
{
    if (a->facts.is_partial != b->facts.is_partial)
        cli_obstacles_add(out, CLI_FACT_PARTIAL,
                          "only %c is partial: its program stopped before the cycle was complete",
                          a->facts.is_partial ? 'A' : 'B');
    else if ((a->varies | b->varies) & 1u << CLI_FACT_PARTIAL)
        cli_obstacles_add(out, CLI_FACT_PARTIAL, "only some of the runs are partial");
}

static void look_at_side(const cli_comparison *c, int side, cli_obstacles *out)
{
    const cli_side *of = &c->sides[side];
    uint64_t calls = 0;

    if (of->facts.ending != TAKT_ENDING_WHOLE)
        cli_obstacles_add(out, CLI_FACT_LOSSES,
                          of->facts.ending == TAKT_ENDING_CUT
                              ? "%c is cut off"
                              : "%c is incomplete: its program was killed, or still runs",
                          side_name(side));
    if (of->losses_in_all > of->lost[TAKT_LOSS_CUT])
        cli_obstacles_add(out, CLI_FACT_LOSSES, "%c lost events: %.200s", side_name(side),
                          of->losses);
    for (size_t i = 0; i < c->rows.count; i++)
        if (c->rows.items[i].kind != CLI_ROW_RUN)
            calls += c->rows.items[i].parts[side].calls;
    if (calls == 0)
        cli_obstacles_add(out, CLI_FACTS, "%c recorded nothing", side_name(side));
}

void cli_obstacles_of(const cli_comparison *comparison, cli_obstacles *out)
{
    const cli_side *a = &comparison->sides[CLI_A], *b = &comparison->sides[CLI_B];
    static const char *const modes[] = {"only a summary", "spans"};

    out->count = 0;
    look_at_files(a, b, out);
    look_at_text(comparison, CLI_FACT_MODE, "modes", modes[a->facts.has_spans],
                 modes[b->facts.has_spans], out);
    look_at_text(comparison, CLI_FACT_BACKEND, "backends", a->backend, b->backend, out);
    look_at_text(comparison, CLI_FACT_DEVICES, "devices", a->devices, b->devices, out);
    if ((a->facts.step_count == 0) != (b->facts.step_count == 0))
        cli_obstacles_add(out, CLI_FACT_STEPS, "only %c has steps",
                          a->facts.step_count ? 'A' : 'B');
    look_at_partial(a, b, out);
    look_at_side(comparison, CLI_A, out);
    look_at_side(comparison, CLI_B, out);
}
