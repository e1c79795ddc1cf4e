/* What the two traces are, and why they may not be comparable. */
#include "cli/compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A list in one line, such as "cuda:0 NVIDIA H200, cuda:1 NVIDIA H200". */
typedef struct line {
    char text[1024];
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void add(line *l, const char *format, ...)
{
    va_list list;
    size_t left = sizeof l->text - l->used;
    int length;

    va_start(list, format);
    length = vsnprintf(l->text + l->used, left, format, list);
    va_end(list);
    l->used += length > 0 && (size_t)length < left ? (size_t)length : left - 1;
}

static char *devices_of(const takt_trace *trace)
{
    line l = {.used = 0};
    takt_device_info device;

    for (size_t i = 0; takt_trace_device(trace, i, &device) == TAKT_OK; i++)
        add(&l, "%s%s %s", i ? ", " : "", device.device, device.name);
    return strdup(l.used ? l.text : "none");
}

static char *losses_of(const takt_facts *facts, uint64_t *in_all)
{
    line l = {.used = 0};

    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        if (facts->losses[i] == 0)
            continue;
        add(&l, "%s%llu %s", l.used ? ", " : "", (unsigned long long)facts->losses[i],
            takt_loss_name((takt_loss)i));
        *in_all += facts->losses[i];
    }
    return strdup(l.used ? l.text : "none");
}

bool cli_side_of(const char *path, const takt_trace *trace, cli_side *out)
{
    const takt_facts *facts = takt_trace_facts(trace);

    *out = (cli_side){.path = path, .facts = *facts};
    out->run = strdup(facts->name);
    out->backend = strdup(facts->backend);
    out->devices = devices_of(trace);
    out->losses = losses_of(facts, &out->losses_in_all);
    out->facts.name = out->facts.backend = NULL; /* the trace's */
    return out->run && out->backend && out->devices && out->losses;
}

void cli_side_free(cli_side *side)
{
    free(side->run);
    free(side->backend);
    free(side->devices);
    free(side->losses);
}

/* ---- Obstacles ---- */

__attribute__((format(printf, 2, 3))) static void tell(cli_obstacles *out, const char *format, ...)
{
    va_list list;
    if (out->count == sizeof out->texts / sizeof *out->texts)
        return;
    va_start(list, format);
    vsnprintf(out->texts[out->count++], sizeof *out->texts, format, list);
    va_end(list);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

static void tell_difference(cli_obstacles *out, const char *what, const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        tell(out, "%s differ: %.100s in A, %.100s in B", what, a, b);
}

static void look_at_side(const cli_comparison *c, int side, cli_obstacles *out)
{
    const cli_side *of = &c->sides[side];
    char name = side == CLI_A ? 'A' : 'B';
    uint64_t calls = 0;

    if (of->facts.losses[TAKT_LOSS_CUT])
        tell(out, "%c is cut off", name);
    if (of->losses_in_all > of->facts.losses[TAKT_LOSS_CUT])
        tell(out, "%c lost events: %.200s", name, of->losses);
    for (size_t i = 0; i < c->rows.count; i++)
        calls += c->rows.items[i].parts[side].calls;
    if (calls == 0)
        tell(out, "%c recorded nothing", name);
}

void cli_obstacles_of(const cli_comparison *comparison, cli_obstacles *out)
{
    const cli_side *a = &comparison->sides[CLI_A], *b = &comparison->sides[CLI_B];
    static const char *const modes[] = {"only a summary", "spans"};

    out->count = 0;
    if (is_same_file(a->path, b->path))
        tell(out, "A and B are the same file");
    tell_difference(out, "modes", modes[a->facts.has_spans], modes[b->facts.has_spans]);
    tell_difference(out, "backends", a->backend, b->backend);
    tell_difference(out, "devices", a->devices, b->devices);
    if ((a->facts.step_count == 0) != (b->facts.step_count == 0))
        tell(out, "only %c has steps", a->facts.step_count ? 'A' : 'B');
    if (a->facts.is_partial != b->facts.is_partial)
        tell(out, "only %c is partial: its program stopped before the cycle was complete",
             a->facts.is_partial ? 'A' : 'B');
    look_at_side(comparison, CLI_A, out);
    look_at_side(comparison, CLI_B, out);
}
