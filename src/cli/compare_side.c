/* What the traces of a side are. */
#include "cli/compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Takes `now`, which may be NULL, unless there is an earlier run's already. */
static bool take_text(cli_side *side, char **text, char *now, cli_fact_kind fact)
{
    if (!now)
        return false;
    if (!*text) {
        *text = now;
        return true;
    }
    if (strcmp(*text, now) != 0)
        side->varies |= 1u << fact;
    free(now);
    return true;
}

static void take_facts(cli_side *side, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    takt_facts *all = &side->facts;

    if (side->runs > 0) {
        side->varies |= (unsigned)(all->has_spans != facts->has_spans) << CLI_FACT_MODE;
        side->varies |= (unsigned)(all->is_partial != facts->is_partial) << CLI_FACT_PARTIAL;
    }
    all->has_spans = facts->has_spans && (side->runs == 0 || all->has_spans);
    all->is_partial |= facts->is_partial;
    if (facts->ending != TAKT_ENDING_WHOLE)
        all->ending = facts->ending;
    all->step_count += facts->step_count;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        side->lost[i] += takt_trace_loss(trace, (takt_loss)i);
    side->wall_ns += (double)(facts->end_ns - facts->begin_ns);
}

/* Of all runs until now. */
static bool tell_losses(cli_side *side)
{
    line l = {.used = 0};

    side->losses_in_all = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t count = side->lost[i];
        if (count == 0)
            continue;
        add(&l, "%s%llu %s", l.used ? ", " : "", (unsigned long long)count,
            takt_loss_name((takt_loss)i));
        side->losses_in_all += count;
    }
    free(side->losses);
    side->losses = strdup(l.used ? l.text : "none");
    return side->losses != NULL;
}

bool cli_side_add(cli_side *side, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);

    take_facts(side, trace);
    side->runs++;
    return take_text(side, &side->run, strdup(facts->name), CLI_FACT_RUN) &&
           take_text(side, &side->backend, strdup(facts->backend), CLI_FACT_BACKEND) &&
           take_text(side, &side->devices, devices_of(trace), CLI_FACT_DEVICES) &&
           tell_losses(side);
}

void cli_side_free(cli_side *side)
{
    cli_files_free(&side->files);
    free(side->label);
    free(side->run);
    free(side->backend);
    free(side->devices);
    free(side->losses);
}
