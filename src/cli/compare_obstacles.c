/* Reasons why traces may not be comparable. `takt check` does not pass with one of them, and `takt
 * diff` prints them as notes. */
#include "cli/cli.h"
#include "cli/compare.h"
#include "trace/model.h"

#include <inttypes.h>
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
    if (obstacles->count == sizeof obstacles->items / sizeof *obstacles->items)
        snprintf(to->text, sizeof to->text, "there are further reasons");
}

/* ---- Files ---- */

static char side_name(int side)
{
    return side == CLI_A ? 'A' : 'B';
}

static bool has_same_bytes(FILE *a, FILE *b)
{
    char first[4096], second[4096];
    size_t count;
    do {
        count = fread(first, 1, sizeof first, a);
        if (fread(second, 1, sizeof second, b) != count || memcmp(first, second, count) != 0)
            return false;
    } while (count > 0);
    return !ferror(a) && !ferror(b);
}

static bool is_copy(const char *a, const char *b)
{
    FILE *first = fopen(a, "rb"), *second = fopen(b, "rb");
    bool is_one = first && second && has_same_bytes(first, second);
    if (first)
        fclose(first);
    if (second)
        fclose(second);
    return is_one;
}

/* True for "x.pftrace" and "x.pftrace.gz", which a program may write both. */
static bool is_compressed(const char *plain, const char *compressed)
{
    size_t length = strlen(plain);
    return strncmp(plain, compressed, length) == 0 && strcmp(compressed + length, ".gz") == 0;
}

static bool is_same_run(const char *a, const char *b)
{
    return cli_is_same_file(a, b) || is_compressed(a, b) || is_compressed(b, a) || is_copy(a, b);
}

/* Reports a run that a side has twice: it would count as two. */
static void look_for_twins(const cli_side *side, char name, cli_obstacles *out)
{
    const cli_files *files = &side->files;
    for (size_t i = 0; i < files->count; i++)
        for (size_t j = 0; j < i; j++)
            if (is_same_run(files->paths[i], files->paths[j])) {
                cli_obstacles_add(out, CLI_FACT_FILE, "%c has a file twice: %.150s", name,
                                  files->paths[i]);
                break;
            }
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

bool cli_has_calls(const cli_comparison *comparison, int side)
{
    for (size_t i = 0; i < comparison->rows.count; i++)
        if (comparison->rows.items[i].kind != CLI_ROW_RUN &&
            comparison->rows.items[i].parts[side].calls > 0)
            return true;
    return false;
}

/* Ranks of one job run together and wait for each other. Their medians hide a slow one. */
static void look_at_ranks(const cli_side *a, const cli_side *b, cli_obstacles *out)
{
    if (a->ranks == CLI_MANY_RANKS || b->ranks == CLI_MANY_RANKS)
        cli_obstacles_add(out, CLI_FACT_RUNS,
                          "%s several ranks, which are not runs of their own: choose with --rank N",
                          a->ranks != CLI_MANY_RANKS   ? "B has"
                          : b->ranks != CLI_MANY_RANKS ? "A has"
                                                       : "A and B have");
    else if (a->ranks && b->ranks && a->rank != b->rank)
        cli_obstacles_add(out, CLI_FACT_RUN, "ranks differ: %u in A, %u in B", a->rank, b->rank);
}

static void look_at_side(const cli_comparison *c, int side, cli_obstacles *out)
{
    const cli_side *of = &c->sides[side];

    if (of->twin)
        cli_obstacles_add(
            out, CLI_FACT_RUNS,
            "%c has several cycles of process %u, which are one run: take one of each",
            side_name(side), of->twin);
    if (of->facts.ending != TAKT_ENDING_WHOLE)
        cli_obstacles_add(out, CLI_FACT_LOSSES,
                          of->facts.ending == TAKT_ENDING_CUT ? "%c is cut off"
                          : of->facts.ending == TAKT_ENDING_KILLED
                              ? "%c is incomplete: its program was killed, or still runs"
                              : "%c is incomplete: its file could not be written on",
                          side_name(side));
    if (of->lost_events > 0)
        cli_obstacles_add(out, CLI_FACT_LOSSES, "%c lost events: %.200s", side_name(side),
                          of->losses);
    if (!cli_has_calls(c, side))
        cli_obstacles_add(out, CLI_FACTS, "%c recorded nothing", side_name(side));
}

/* Takt does not know what another profiler's recording cost. */
static void look_at_import(const cli_side *a, const cli_side *b, cli_obstacles *out)
{
    bool is_a = tkt_is_imported(&a->facts), is_b = tkt_is_imported(&b->facts);
    if (is_a != is_b)
        cli_obstacles_add(out, CLI_FACT_BACKEND,
                          "only %c was recorded by Takt: steps, launches and what devices did can "
                          "be compared; scopes have the names that each profiler gives, and its "
                          "cost",
                          is_a ? 'B' : 'A');
}

/* A change of the steps that a trace does not list would go unseen. */
static void look_at_steps(const cli_comparison *c, int side, cli_obstacles *out)
{
    const cli_side *of = &c->sides[side];
    if (of->unseen_steps > 0 && c->options.name_count == 0)
        cli_obstacles_add(out, CLI_FACT_STEPS,
                          "%c lists only %" PRIu64 " of its %" PRIu64
                          " steps: record fewer in a trace, by profiling.active",
                          side_name(side), of->facts.step_count - of->unseen_steps,
                          of->facts.step_count);
}

void cli_obstacles_of(const cli_comparison *comparison, bool allow_different, cli_obstacles *out)
{
    const cli_side *a = &comparison->sides[CLI_A], *b = &comparison->sides[CLI_B];
    static const char *const modes[] = {"only a summary", "spans"};

    out->count = 0;
    look_at_steps(comparison, CLI_A, out);
    look_at_steps(comparison, CLI_B, out);
    if (allow_different)
        return;
    look_at_files(a, b, out);
    look_at_text(comparison, CLI_FACT_MODE, "modes", modes[a->facts.has_spans],
                 modes[b->facts.has_spans], out);
    look_at_text(comparison, CLI_FACT_BACKEND, "backends", a->backend, b->backend, out);
    look_at_import(a, b, out);
    look_at_text(comparison, CLI_FACT_DEVICES, "devices", a->devices, b->devices, out);
    if ((a->facts.step_count == 0) != (b->facts.step_count == 0))
        cli_obstacles_add(out, CLI_FACT_STEPS, "only %c has steps",
                          a->facts.step_count ? 'A' : 'B');
    look_at_partial(a, b, out);
    look_at_ranks(a, b, out);
    look_at_side(comparison, CLI_A, out);
    look_at_side(comparison, CLI_B, out);
}

void cli_cautions_of(const cli_comparison *comparison, cli_obstacles *out)
{
    const cli_side *a = &comparison->sides[CLI_A], *b = &comparison->sides[CLI_B];

    out->count = 0;
    if (comparison->is_apart)
        cli_obstacles_add(out, CLI_FACTS,
                          "all runs of one side began before those of the other; a change of the "
                          "machine would look like a change of the program: alternate the runs");
    if (a->facts.is_partial && b->facts.is_partial)
        cli_obstacles_add(
            out, CLI_FACT_PARTIAL,
            "A and B are partial: their programs ended before the cycle was complete");
    cli_steps_caution(comparison, out);
}
