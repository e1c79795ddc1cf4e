#include "support/trace_build.h"

tkt_phase_segment *make_segment(takt_trace *trace, const char *timers, uint64_t begin_ns,
                                uint32_t block)
{
    ADD(&trace->phase_segments,
        (tkt_phase_segment){.begin_ns = begin_ns,
                            .timers = text(trace, timers),
                            .activity = TKT_NO_ACTIVITY,
                            .device = text(trace, "cuda:0"),
                            .block = block,
                            .sm = block % 4,
                            .first_record = (uint32_t)trace->phase_records.count,
                            .ns_per_cycle = 0.5});
    return &trace->phase_segments.items[trace->phase_segments.count - 1];
}

void make_phase(takt_trace *trace, const char *name, uint64_t start_cycles, uint64_t cycles,
                uint32_t iteration)
{
    ADD(&trace->phase_records,
        (tkt_phase_record){start_cycles, cycles, text(trace, name), iteration});
    trace->phase_segments.items[trace->phase_segments.count - 1].record_count++;
}

/* Phases that nest, inside [start, end). */
static void random_records(takt_trace *trace, chance *from, uint64_t start, uint64_t end, int depth)
{
    for (uint32_t i = 0; start < end && i < 4; i++) {
        char name[16];
        uint64_t cycles = draw(from, end - start + 1);
        snprintf(name, sizeof name, "phase %u", (unsigned)draw(from, 5));
        if (depth > 0 && draw(from, 2))
            random_records(trace, from, start, start + cycles, depth - 1);
        make_phase(trace, name, start, cycles, i);
        start += cycles + draw(from, 3) * draw(from, 20);
    }
}

void random_phases(takt_trace *trace, chance *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "timers %u", (unsigned)draw(from, 3));
        tkt_phase_segment *segment =
            make_segment(trace, name, BEGIN_NS + draw(from, 300000), (uint32_t)draw(from, 12));
        segment->lane = (uint32_t)draw(from, 2);
        segment->sm = (uint32_t)draw(from, 5);
        segment->lost_records = (uint32_t)(draw(from, 4) ? 0 : draw(from, 100));
        if (draw(from, 3))
            segment->correlation = 1 + (uint32_t)draw(from, 40);
        segment->launch = segment->correlation ? TKT_LAUNCH_KNOWN : (uint32_t)draw(from, 3);
        if (draw(from, 5) == 0)
            segment->device = text(trace, "cpu");
        segment->ns_per_cycle = (double)(1 + draw(from, 8)) / 3;
        if (draw(from, 40) == 0)
            segment->ns_per_cycle = 0;
        random_records(trace, from, draw(from, 50), 100 + draw(from, 3000), 3);
    }
}

static void same_segment(const takt_trace *a, const takt_trace *b, size_t index)
{
    const tkt_phase_segment *x = &a->phase_segments.items[index];
    const tkt_phase_segment *y = &b->phase_segments.items[index];
    SAME(x->begin_ns, y->begin_ns);
    SAME_TEXT(x->timers, y->timers);
    SAME_TEXT(x->device, y->device);
    SAME_TEXT(x->kernel_name, y->kernel_name);
    SAME(x->activity == TKT_NO_ACTIVITY, y->activity == TKT_NO_ACTIVITY);
    SAME(x->correlation, y->correlation);
    SAME(x->launch, y->launch);
    SAME(x->block, y->block);
    SAME(x->lane, y->lane);
    SAME(x->sm, y->sm);
    SAME(x->lost_records, y->lost_records);
    SAME(x->record_count, y->record_count);
    SAME_BITS(x->ns_per_cycle, y->ns_per_cycle);
    if (x->activity != TKT_NO_ACTIVITY) {
        SAME_TEXT(a->activities.items[x->activity].name, b->activities.items[y->activity].name);
        SAME(a->activities.items[x->activity].begin_ns, b->activities.items[y->activity].begin_ns);
    }
    for (uint32_t i = 0; i < x->record_count; i++) {
        const tkt_phase_record *p = &a->phase_records.items[x->first_record + i];
        const tkt_phase_record *q = &b->phase_records.items[y->first_record + i];
        SAME(p->start_cycles, q->start_cycles);
        SAME(p->cycles, q->cycles);
        SAME(p->iteration, q->iteration);
        SAME_TEXT(p->name, q->name);
    }
}

void same_phases(const takt_trace *a, const takt_trace *b)
{
    SAME(a->phase_segments.count, b->phase_segments.count);
    for (size_t i = 0; i < a->phase_segments.count; i++)
        same_segment(a, b, i);
}
