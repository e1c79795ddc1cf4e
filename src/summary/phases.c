/* Adds up what timers inside kernels recorded, launch by launch.
 *
 * A launch is told by its correlation id. Where that is unknown, and where several launches of a
 * graph share one, a block that has recorded before under the same id begins the next launch. Two
 * sorts find that: by block, to count its segments, then by launch. */
#include "summary/phases.h"

#include <stdlib.h>

/* A segment with the numbers by which it is sorted. */
typedef struct place {
    uint32_t kernel;
    uint32_t block;
    uint32_t lane;
    uint32_t correlation;
    uint32_t run; /* how often its block had recorded before under this correlation */
    uint32_t segment;
} place;

typedef struct open_record {
    uint64_t end;
    uint64_t self;
    uint32_t phase;
} open_record;

/* What is added up for each phase while walking through a segment, and through a launch. */
typedef struct running {
    uint32_t open;  /* records of the phase that are open */
    uint64_t block; /* cycles in this segment; then without phases inside */
    uint64_t self;
    double launch; /* cycles in this launch; then the most in one of its segments */
    double launch_max;
    bool is_in_block; /* listed in in_block; then in in_launch */
    bool is_in_launch;
    size_t next; /* place of its next duration */
} running;

typedef TKT_ARRAY_OF(uint32_t) phase_list;

typedef struct adding {
    const takt_trace *trace;
    tkt_phases *out;
    tkt_map kernels; /* these three lead from keys to indices + 1 */
    tkt_map phases;
    tkt_map sms;
    place *places;                 /* of all segments, as sorted */
    uint64_t *extents;             /* by segment: cycles */
    double *durations;             /* ns, phase by phase */
    double rate;                   /* ns per cycle of the current segment */
    TKT_ARRAY_OF(running) running; /* by phase */
    TKT_ARRAY_OF(open_record) stack;
    phase_list in_block; /* phases of this segment */
    phase_list in_launch;
} adding;

static void add_cycles(uint64_t *sum, uint64_t cycles)
{
    *sum = *sum + cycles < cycles ? UINT64_MAX : *sum + cycles;
}

static const tkt_phase_segment *segment_at(const adding *a, uint32_t index)
{
    return &a->trace->phase_segments.items[index];
}

/* ---- Kernels, phases, SMs -------------------------------------------------------------------- */

static bool is_kernel_of(const void *item, const void *wanted)
{
    const tkt_phase_kernel *kernel = item;
    const tkt_phase_segment *segment = wanted;
    uint32_t name = segment->kernel_name ? segment->kernel_name : segment->timers;
    return kernel->name == name && kernel->timers == segment->timers &&
           kernel->device == segment->device;
}

/* Returns the index of the segment's kernel, added if it is new; UINT32_MAX without memory. */
static uint32_t kernel_of(adding *a, const tkt_phase_segment *segment)
{
    const uint32_t names[] = {segment->kernel_name, segment->timers, segment->device};
    uint64_t *index =
        tkt_map_find(&a->kernels, tkt_hash_bytes(names, sizeof names), a->out->kernels.items,
                     sizeof *a->out->kernels.items, is_kernel_of, segment);
    if (index && *index)
        return (uint32_t)*index - 1;
    tkt_phase_kernel *added = index ? TKT_ARRAY_ADD(&a->out->kernels) : NULL;
    if (!added)
        return UINT32_MAX;
    *added =
        (tkt_phase_kernel){.name = segment->kernel_name ? segment->kernel_name : segment->timers,
                           .timers = segment->timers,
                           .device = segment->device,
                           .has_ns = true};
    *index = a->out->kernels.count;
    return (uint32_t)*index - 1;
}

/* The same for a phase of a kernel. */
static uint32_t phase_of(adding *a, uint32_t kernel, uint32_t name)
{
    uint64_t *index = tkt_map_put(&a->phases, (uint64_t)kernel << 32 | name);
    if (!index)
        return UINT32_MAX;
    if (*index)
        return (uint32_t)*index - 1;
    tkt_phase *added = TKT_ARRAY_ADD(&a->out->phases);
    running *run = TKT_ARRAY_ADD(&a->running);
    if (!added || !run)
        return UINT32_MAX;
    *added = (tkt_phase){.kernel = kernel, .name = name};
    *run = (running){0};
    *index = a->out->phases.count;
    return (uint32_t)*index - 1;
}

static bool add_to_sm(adding *a, uint32_t kernel, uint32_t sm, uint64_t cycles)
{
    uint64_t *index = tkt_map_put(&a->sms, (uint64_t)kernel << 32 | sm);
    if (index && *index == 0) {
        tkt_phase_sm *added = TKT_ARRAY_ADD(&a->out->sms);
        if (!added)
            return false;
        *added = (tkt_phase_sm){.kernel = kernel, .sm = sm, .min_cycles = UINT64_MAX};
        *index = a->out->sms.count;
    }
    if (!index)
        return false;
    tkt_phase_sm *to = &a->out->sms.items[*index - 1];
    to->blocks++;
    add_cycles(&to->cycles, cycles);
    to->min_cycles = cycles < to->min_cycles ? cycles : to->min_cycles;
    to->max_cycles = cycles > to->max_cycles ? cycles : to->max_cycles;
    return true;
}

/* One pass over all segments: finds kernels and phases, and counts the calls of each phase. */
static bool find_all(adding *a)
{
    for (uint32_t i = 0; i < a->trace->phase_segments.count; i++) {
        const tkt_phase_segment *segment = segment_at(a, i);
        uint32_t kernel = kernel_of(a, segment);
        if (kernel == UINT32_MAX)
            return false;
        a->places[i] = (place){kernel, segment->block, segment->lane, segment->correlation, 0, i};
        a->out->kernels.items[kernel].has_ns &= segment->ns_per_cycle > 0;
        for (uint32_t r = 0; r < segment->record_count; r++) {
            uint32_t name = a->trace->phase_records.items[segment->first_record + r].name;
            uint32_t phase = phase_of(a, kernel, name);
            if (phase == UINT32_MAX)
                return false;
            a->out->phases.items[phase].calls++;
        }
    }
    size_t next = 0;
    for (size_t i = 0; i < a->running.count; i++) {
        a->running.items[i].next = next;
        next += a->out->phases.items[i].calls;
    }
    a->durations = tkt_alloc((next + 1) * sizeof *a->durations);
    return a->durations != NULL;
}

/* ---- A segment ------------------------------------------------------------------------------- */

/* Closes the open records that end until `start`. */
static void close_records(adding *a, uint64_t start)
{
    while (a->stack.count && a->stack.items[a->stack.count - 1].end <= start) {
        const open_record *top = &a->stack.items[--a->stack.count];
        a->running.items[top->phase].open--;
        add_cycles(&a->running.items[top->phase].self, top->self);
    }
}

/* Adds the phase to a list of phases, unless it is there already. */
static bool list_phase(phase_list *list, bool *is_listed, uint32_t phase)
{
    uint32_t *added = *is_listed ? NULL : TKT_ARRAY_ADD(list);
    if (added)
        *added = phase;
    *is_listed |= added != NULL;
    return *is_listed;
}

static bool add_record(adding *a, uint32_t phase, const tkt_phase_record *record)
{
    running *run = &a->running.items[phase];
    uint64_t end = tkt_phase_end(record);
    uint64_t cycles = end - record->start_cycles;
    close_records(a, record->start_cycles);
    if (a->stack.count) {
        open_record *top = &a->stack.items[a->stack.count - 1];
        top->self -= (end < top->end ? end : top->end) - record->start_cycles;
    }
    if (run->open++ == 0)
        add_cycles(&run->block, cycles);
    open_record *added = TKT_ARRAY_ADD(&a->stack);
    if (!added)
        return false;
    *added = (open_record){end, cycles, phase};
    return list_phase(&a->in_block, &run->is_in_block, phase);
}

/* Adds up the phases of a segment and lists them in in_block. */
static bool walk_segment(adding *a, uint32_t kernel, const tkt_phase_segment *segment)
{
    const tkt_phase_record *records = tkt_phase_records(a->trace, segment);
    for (uint32_t i = 0; i < segment->record_count; i++)
        if (!add_record(a, phase_of(a, kernel, records[i].name), &records[i]))
            return false;
    close_records(a, UINT64_MAX);
    return true;
}

static void leave_segment(adding *a)
{
    for (size_t i = 0; i < a->in_block.count; i++) {
        running *run = &a->running.items[a->in_block.items[i]];
        run->block = run->self = 0;
        run->is_in_block = false;
    }
    a->in_block.count = 0;
}

/* Adds the segment's phases to their totals and to those of its launch. */
static bool add_to_launch(adding *a)
{
    for (size_t i = 0; i < a->in_block.count; i++) {
        uint32_t index = a->in_block.items[i];
        running *run = &a->running.items[index];
        tkt_phase *phase = &a->out->phases.items[index];
        add_cycles(&phase->cycles, run->block);
        add_cycles(&phase->self_cycles, run->self);
        phase->ns += (double)run->block * a->rate;
        phase->self_ns += (double)run->self * a->rate;
        run->launch += (double)run->block;
        if ((double)run->block > run->launch_max)
            run->launch_max = (double)run->block;
        if (!list_phase(&a->in_launch, &run->is_in_launch, index))
            return false;
    }
    leave_segment(a);
    return true;
}

static void note_durations(adding *a, uint32_t kernel, const tkt_phase_segment *segment)
{
    const tkt_phase_record *records = tkt_phase_records(a->trace, segment);
    for (uint32_t i = 0; i < segment->record_count; i++) {
        running *run = &a->running.items[phase_of(a, kernel, records[i].name)];
        a->durations[run->next++] = (double)records[i].cycles * a->rate;
    }
}

static bool add_segment(adding *a, const place *at)
{
    const tkt_phase_segment *segment = segment_at(a, at->segment);
    tkt_phase_kernel *kernel = &a->out->kernels.items[at->kernel];
    uint64_t extent = a->extents[at->segment];
    a->rate = kernel->has_ns ? segment->ns_per_cycle : 0;
    kernel->blocks++;
    kernel->uncertain += segment->launch == TKT_LAUNCH_UNCERTAIN;
    kernel->unrecorded += segment->launch == TKT_LAUNCH_NONE;
    kernel->lost += segment->lost_records;
    add_cycles(&kernel->cycles, extent);
    kernel->ns += (double)extent * a->rate;
    note_durations(a, at->kernel, segment);
    return walk_segment(a, at->kernel, segment) && add_to_launch(a) &&
           add_to_sm(a, at->kernel, segment->sm, extent);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static bool is_same_launch(const place *x, const place *y)
{
    return x->kernel == y->kernel && x->correlation == y->correlation && x->run == y->run;
}

static void end_launch(adding *a, uint32_t kernel, double blocks, double sum, double max)
{
    tkt_phase_kernel *of = &a->out->kernels.items[kernel];
    of->launches++;
    of->spread.max += max;
    of->spread.mean += sum / blocks;
    for (size_t i = 0; i < a->in_launch.count; i++) {
        running *run = &a->running.items[a->in_launch.items[i]];
        tkt_phase_spread *spread = &a->out->phases.items[a->in_launch.items[i]].spread;
        spread->max += run->launch_max;
        spread->mean += run->launch / blocks;
        run->launch = run->launch_max = 0;
        run->is_in_launch = false;
    }
    a->in_launch.count = 0;
}

/* Needs the places sorted by launch. */
static bool add_launches(adding *a, size_t count)
{
    for (size_t first = 0, i; first < count; first = i) {
        double sum = 0, max = 0;
        for (i = first; i < count && is_same_launch(&a->places[first], &a->places[i]); i++) {
            double extent = (double)a->extents[a->places[i].segment];
            sum += extent;
            max = extent > max ? extent : max;
            if (!add_segment(a, &a->places[i]))
                return false;
        }
        end_launch(a, a->places[first].kernel, (double)(i - first), sum, max);
    }
    return true;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int by_block(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = compare(x->kernel, y->kernel);
    order = order ? order : compare(x->block, y->block);
    order = order ? order : compare(x->lane, y->lane);
    order = order ? order : compare(x->correlation, y->correlation);
    return order ? order : compare(x->segment, y->segment);
}

static int by_launch(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = compare(x->kernel, y->kernel);
    order = order ? order : compare(x->correlation, y->correlation);
    order = order ? order : compare(x->run, y->run);
    return order ? order : compare(x->segment, y->segment);
}

static bool is_same_block(const place *x, const place *y)
{
    return x->kernel == y->kernel && x->block == y->block && x->lane == y->lane;
}

/* ---- The slowest blocks ---------------------------------------------------------------------- */

static double mean_of(const tkt_phases *out, const tkt_phase_block *block)
{
    double sum = out->kernels.items[block->kernel].has_ns ? block->ns : (double)block->cycles;
    return sum / (double)block->launches;
}

/* Inserts a block among the kernel's slowest ones, which are the last of the list. */
static bool keep_slowest(tkt_phases *out, size_t first, const tkt_phase_block *block)
{
    size_t at = out->slowest.count;
    if (at - first == TKT_SLOWEST_BLOCKS) {
        if (mean_of(out, block) <= mean_of(out, &out->slowest.items[--at]))
            return true;
    } else {
        const tkt_phase_block *added = TKT_ARRAY_ADD(&out->slowest);
        if (!added)
            return false;
    }
    for (; at > first && mean_of(out, &out->slowest.items[at - 1]) < mean_of(out, block); at--)
        out->slowest.items[at] = out->slowest.items[at - 1];
    out->slowest.items[at] = *block;
    return true;
}

/* Adds up the segments of a block from `first` on, and numbers its runs under each correlation.
 * Returns the end of the block. */
static size_t add_block(adding *a, size_t first, size_t count, tkt_phase_block *block)
{
    const place *at = &a->places[first];
    size_t i = first;
    bool has_ns = a->out->kernels.items[at->kernel].has_ns;
    *block = (tkt_phase_block){at->kernel, at->block, at->lane, at->segment, UINT32_MAX, 0, 0, 0};
    for (; i < count && is_same_block(at, &a->places[i]); i++) {
        place *here = &a->places[i];
        uint64_t extent = a->extents[here->segment];
        here->run = i > first && here[-1].correlation == here->correlation ? here[-1].run + 1 : 0;
        block->launches++;
        add_cycles(&block->cycles, extent);
        if (has_ns)
            block->ns += (double)extent * segment_at(a, here->segment)->ns_per_cycle;
        if (extent > a->extents[block->segment])
            block->segment = here->segment;
    }
    return i;
}

/* Needs the places sorted by block. */
static bool find_slowest(adding *a, size_t count)
{
    size_t first = 0; /* of the kernel's slowest ones */
    uint32_t kernel = 0;
    for (size_t i = 0; i < count;) {
        tkt_phase_block block;
        i = add_block(a, i, count, &block);
        if (block.kernel != kernel) {
            kernel = block.kernel;
            first = a->out->slowest.count;
        }
        if (!keep_slowest(a->out, first, &block))
            return false;
    }
    return true;
}

/* Finds the phase in which a slow block exceeded the mean block most, without phases inside. */
static bool blame_phase(adding *a, tkt_phase_block *block)
{
    double blocks = (double)a->out->kernels.items[block->kernel].blocks;
    double most = 0;
    if (!walk_segment(a, block->kernel, segment_at(a, block->segment)))
        return false;
    for (size_t i = 0; i < a->in_block.count; i++) {
        uint32_t phase = a->in_block.items[i];
        double more = (double)a->running.items[phase].self -
                      (double)a->out->phases.items[phase].self_cycles / blocks;
        if (more <= most)
            continue;
        most = more;
        block->phase = phase;
    }
    leave_segment(a);
    return true;
}

/* ---- Figures --------------------------------------------------------------------------------- */

static int by_duration(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void find_figures(adding *a)
{
    double *durations = a->durations;
    for (size_t i = 0; i < a->out->phases.count; i++) {
        tkt_phase *phase = &a->out->phases.items[i];
        size_t count = (size_t)phase->calls;
        double sum = 0;
        qsort(durations, count, sizeof *durations, by_duration);
        for (size_t k = 0; k < count; k++)
            sum += durations[k];
        phase->mean_ns = sum / (double)count;
        phase->median_ns = durations[(count - 1) / 2] / 2 + durations[count / 2] / 2;
        phase->min_ns = durations[0];
        phase->max_ns = durations[count - 1];
        durations += count;
    }
}

static int by_sm(const void *a, const void *b)
{
    const tkt_phase_sm *x = a, *y = b;
    int order = compare(x->kernel, y->kernel);
    return order ? order : compare(x->sm, y->sm);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool add_all(adding *a, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a->extents[i] = tkt_phase_extent(a->trace, segment_at(a, (uint32_t)i));
    if (!find_all(a))
        return false;
    qsort(a->places, count, sizeof *a->places, by_block);
    if (!find_slowest(a, count))
        return false;
    qsort(a->places, count, sizeof *a->places, by_launch);
    if (!add_launches(a, count))
        return false;
    find_figures(a);
    qsort(a->out->sms.items, a->out->sms.count, sizeof *a->out->sms.items, by_sm);
    bool is_done = true;
    for (size_t i = 0; i < a->out->slowest.count && is_done; i++)
        is_done = blame_phase(a, &a->out->slowest.items[i]);
    return is_done;
}

takt_status tkt_phases_of(const takt_trace *trace, tkt_phases *out)
{
    size_t count = trace->phase_segments.count;
    if (count == 0)
        return TAKT_OK;
    adding a = {.trace = trace, .out = out};
    a.places = tkt_alloc(count * sizeof *a.places);
    a.extents = tkt_alloc(count * sizeof *a.extents);
    bool is_done = a.places && a.extents && add_all(&a, count);
    tkt_free(a.places);
    tkt_free(a.extents);
    tkt_free(a.durations);
    tkt_map_fini(&a.kernels);
    tkt_map_fini(&a.phases);
    tkt_map_fini(&a.sms);
    TKT_ARRAY_FREE(&a.running);
    TKT_ARRAY_FREE(&a.stack);
    TKT_ARRAY_FREE(&a.in_block);
    TKT_ARRAY_FREE(&a.in_launch);
    return is_done ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_phases_fini(tkt_phases *phases)
{
    TKT_ARRAY_FREE(&phases->kernels);
    TKT_ARRAY_FREE(&phases->phases);
    TKT_ARRAY_FREE(&phases->slowest);
    TKT_ARRAY_FREE(&phases->sms);
    *phases = (tkt_phases){0};
}
