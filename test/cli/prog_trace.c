/* Writes a trace that a script describes, so that a test knows every duration in it:
 *
 *     prog_trace FILE <DESCRIPTION
 *
 * Lines, times in ns since the recording began:
 *
 *     random SEED                             in front of all others: a trace made by chance
 *     whole                                   the same: one with facts, arguments, work and memory
 *     run NAME | backend TEXT | device NAME | loss NUMBER COUNT | partial | summary
 *     rank NUMBER OF
 *     process ID [CYCLE]
 *     began SECONDS                           after all other runs began
 *     thread NAME | async NAME                begins a track
 *     span PARENT FLAGS BEGIN END NAME        PARENT: on the same track, from 0 on; -1: none
 *     loop PARENT BEGIN END NAME              a span that is an activity of the host
 *     call PARENT BEGIN END NAME
 *     activity BEGIN END NAME
 *     launch PARENT BEGIN END NAME            an activity, and the call of 0 ns that launched it
 *     step BEGIN END [NUMBER]                 numbers are from 1 on
 *     ran NS                                  the run's next step, recorded or not
 *     recorded COUNT                          of steps, where more were recorded than the trace
 * lists block CORRELATION BLOCK SM BEGIN TIMERS recorded with timers inside a kernel, 2 cycles per
 * ns phase START CYCLES ITERATION NAME       of the last block phases SEED 200 blocks made by
 * chance */
#include "trace/devices.h"
#include "support/trace_build.h"

#include <takt/export.h>

typedef struct maker {
    takt_trace *trace;
    uint32_t track;
    uint32_t device;
    uint32_t correlation;
    bool is_summary;
} maker;

static void see_end(maker *m, uint64_t end_ns)
{
    takt_facts *facts = &m->trace->facts;
    facts->end_ns = end_ns > facts->end_ns ? end_ns : facts->end_ns;
}

static uint32_t parent_of(long number)
{
    return number < 0 ? TKT_NO_SPAN : (uint32_t)number;
}

static void add_activity(maker *m, uint32_t correlation, uint64_t begin_ns, uint64_t end_ns,
                         const char *name)
{
    uint32_t label = text(m->trace, name), shape = 0;
    m->device = m->device ? m->device : make_device(m->trace, 0);
    while (shape < m->trace->shapes.count && m->trace->shapes.items[shape].label != label)
        shape++;
    if (shape == m->trace->shapes.count)
        ADD(&m->trace->shapes,
            (tkt_shape){.label = label, .name = label, .filter = TAKT_TIMING_KERNEL});
    make_work(m->trace, m->device, shape, correlation, 7, begin_ns, end_ns);
}

static bool add_block(maker *m, const char *line)
{
    unsigned numbers[3];
    unsigned long long begin, cycles;
    char name[4096];

    if (sscanf(line, "block %u %u %u %llu %4095[^\n]", &numbers[0], &numbers[1], &numbers[2],
               &begin, name) == 5) {
        tkt_phase_segment *segment = make_segment(m->trace, name, BEGIN_NS + begin, numbers[1]);
        segment->correlation = numbers[0];
        segment->sm = numbers[2];
        return true;
    }
    if (sscanf(line, "phase %llu %llu %u %4095[^\n]", &begin, &cycles, &numbers[0], name) != 4)
        return false;
    make_phase(m->trace, name, begin, cycles, numbers[0]);
    return true;
}

/* Lines of events; false: it is none. */
static bool add_event(maker *m, const char *line)
{
    long parent;
    unsigned flags;
    unsigned long long begin, end;
    char name[4096];

    if (sscanf(line, "span %ld %u %llu %llu %4095[^\n]", &parent, &flags, &begin, &end, name) ==
        5) {
        uint32_t span = make_span(m->trace, m->track, make_site(m->trace, name, TAKT_SITE_SCOPE),
                                  parent_of(parent), BEGIN_NS + begin, BEGIN_NS + end);
        m->trace->tracks.items[m->track].spans.items[span].site_flags |= flags;
    } else if (sscanf(line, "loop %ld %llu %llu %4095[^\n]", &parent, &begin, &end, name) == 4) {
        make_span(m->trace, m->track, make_site(m->trace, name, TAKT_SITE_ACTIVITY),
                  parent_of(parent), BEGIN_NS + begin, BEGIN_NS + end);
    } else if (sscanf(line, "call %ld %llu %llu %4095[^\n]", &parent, &begin, &end, name) == 4) {
        make_call(m->trace, m->track, parent_of(parent), name, 0, BEGIN_NS + begin, BEGIN_NS + end);
    } else if (sscanf(line, "activity %llu %llu %4095[^\n]", &begin, &end, name) == 3) {
        add_activity(m, ++m->correlation, BEGIN_NS + begin, BEGIN_NS + end, name);
    } else if (sscanf(line, "launch %ld %llu %llu %4095[^\n]", &parent, &begin, &end, name) == 4) {
        uint32_t call = make_call(m->trace, m->track, parent_of(parent), "cudaLaunchKernel",
                                  ++m->correlation, BEGIN_NS + begin, BEGIN_NS + begin);
        add_activity(m, m->correlation, BEGIN_NS + begin, BEGIN_NS + end, name);
        tkt_call_attribute(m->trace, call,
                           &m->trace->activities.items[m->trace->activities.count - 1]);
    } else if (add_block(m, line)) {
        return true;
    } else if (sscanf(line, "step %llu %llu", &begin, &end) == 2) {
        unsigned long long number = m->trace->steps.count + 1;
        sscanf(line, "step %*u %*u %llu", &number);
        ADD(&m->trace->steps, (tkt_step){number, BEGIN_NS + begin, BEGIN_NS + end});
    } else {
        return false;
    }
    see_end(m, BEGIN_NS + end);
    return true;
}

static bool add_fact(maker *m, const char *line)
{
    unsigned number;
    unsigned long long count;
    char name[4096] = "";

    if (sscanf(line, "random %u", &number) == 1) {
        takt_trace_release(m->trace);
        m->trace = random_trace(number, 3, 300);
    } else if (sscanf(line, "ran %llu", &count) == 1) {
        if (!m->trace->run)
            m->trace->run = tkt_alloc_zeroed(sizeof *m->trace->run);
        tkt_run_add(m->trace->run, count);
        tkt_all_steps_add(&m->trace->all_steps, NULL, count);
    } else if (sscanf(line, "recorded %llu", &count) == 1) {
        m->trace->facts.step_count = count;
    } else if (strcmp(line, "whole\n") == 0) {
        takt_trace_release(m->trace);
        m->trace = whole_trace();
    } else if (sscanf(line, "loss %u %llu", &number, &count) == 2 && number < TAKT_LOSS_COUNT)
        m->trace->losses[number] = count;
    else if (sscanf(line, "rank %u %llu", &number, &count) == 2) {
        m->trace->facts.rank = number;
        m->trace->facts.world_size = (uint32_t)count;
    } else if (sscanf(line, "process %u %u", &m->trace->facts.process_id, &m->trace->facts.cycle) >=
               1)
        ;
    else if (sscanf(line, "phases %u", &number) == 1)
        random_phases(m->trace, &(chance){(number + UINT64_C(1)) << 32}, 200);
    else if (sscanf(line, "run %4095[^\n]", name) == 1)
        m->trace->name = text(m->trace, name);
    else if (sscanf(line, "backend %4095[^\n]", name) == 1)
        m->trace->backend = text(m->trace, name);
    else if (sscanf(line, "thread %4095[^\n]", name) == 1)
        m->track = make_thread(m->trace, name, 100 + (uint32_t)m->trace->tracks.count);
    else if (sscanf(line, "async %4095[^\n]", name) == 1)
        m->track = tkt_trace_add_track(m->trace, TAKT_TRACK_ASYNC, text(m->trace, name), 0);
    else if (sscanf(line, "device %4095[^\n]", name) == 1) {
        m->device = make_device(m->trace, 0);
        m->trace->devices.items[0].name = text(m->trace, name);
    } else if (sscanf(line, "began %llu", &count) == 1)
        m->trace->facts.realtime_offset_ns += (int64_t)count * 1000000000;
    else if (strcmp(line, "partial\n") == 0)
        m->trace->facts.is_partial = true;
    else if (strcmp(line, "summary\n") == 0)
        m->is_summary = true;
    else
        return false;
    return true;
}

/* Leaves what summary mode keeps. */
static void keep_the_folded_form(takt_trace *trace)
{
    assert_non_null(tkt_trace_fold(trace));
    trace->fold = trace->derived;
    trace->derived = (tkt_fold){0};
    trace->node_activities_are_derived = false;
    trace->facts.has_spans = false;
    trace->activities.count = trace->calls.count = 0;
    for (size_t i = 0; i < trace->tracks.count; i++)
        trace->tracks.items[i].spans.count = 0;
}

int main(int argc, char **argv)
{
    maker m = {.trace = make_trace()};
    char line[8192];
    takt_error error = {.status = TAKT_OK};

    m.trace->facts.end_ns = BEGIN_NS;
    m.trace->facts.step_count = 0;
    while (argc == 2 && fgets(line, sizeof line, stdin))
        if (line[0] != '\n' && !add_event(&m, line) && !add_fact(&m, line)) {
            fprintf(stderr, "prog_trace: what is: %s", line);
            return 2;
        }
    if (m.trace->facts.step_count > m.trace->steps.count)
        m.trace->losses[TAKT_LOSS_MORE_STEPS] = m.trace->facts.step_count - m.trace->steps.count;
    if (tkt_trace_finish(m.trace) != TAKT_OK)
        return 1;
    if (m.is_summary)
        keep_the_folded_form(m.trace);
    takt_status status = takt_export_file(m.trace, "perfetto", argv[argc - 1], NULL, &error);
    if (status != TAKT_OK)
        fprintf(stderr, "prog_trace: %s\n", error.message);
    takt_trace_release(m.trace);
    return status != TAKT_OK;
}
