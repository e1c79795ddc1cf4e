/* The phases report: what timers inside kernels measured, by kernel and phase; the kernels; their
 * slowest blocks. */
#include "report/show.h"

#include "summary/phases.h"

enum {
    PHASE,
    KERNEL,
    SHARE,
    SELF,
    CALLS,
    TIME,
    MEAN,
    MEDIAN,
    LEAST,
    MOST,
    SPREAD,
    CYCLES,
    MEAN_CYCLES,
    DEVICE,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [PHASE] = {"Phase", "phase", TKT_CELL_TEXT, 0, true, 1},
    [KERNEL] = {"Kernel", "kernel", TKT_CELL_TEXT, 3, true, 1},
    [SHARE] = {"Share %", "share_percent", TKT_CELL_SHARE, 1, false, 1},
    [SELF] = {"Self %", "self_percent", TKT_CELL_SHARE, 7, false, 1},
    [CALLS] = {"Calls", "calls", TKT_CELL_COUNT, 4, false, 1},
    [TIME] = {"Time", "time_ns", TKT_CELL_LENGTH, 2, false, 1},
    [MEAN] = {"Avg", "avg_ns", TKT_CELL_LENGTH, 5, false, 1},
    [MEDIAN] = {"Med", "median_ns", TKT_CELL_LENGTH, 8, false, 1},
    [LEAST] = {"Min", "min_ns", TKT_CELL_LENGTH, 11, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_LENGTH, 10, false, 1},
    [SPREAD] = {"Spread", "spread", TKT_CELL_NUMBER, 2, false, 1},
    [CYCLES] = {"Cycles", "cycles", TKT_CELL_COUNT, 9, false, 1},
    [MEAN_CYCLES] = {"Cycles Avg", "avg_cycles", TKT_CELL_NUMBER, 6, false, 1},
    [DEVICE] = {"Device", "device", TKT_CELL_TEXT, 12, true, 1},
};

/* Columns of the tables of kernels and of blocks. */
enum {
    OF_KERNEL,
    OF_DEVICE,
    BLOCK,
    LANE,
    SM,
    LAUNCHES,
    BLOCKS,
    BLOCK_TIME,
    BLOCK_CYCLES,
    LEAST_CYCLES,
    MOST_CYCLES,
    RATIO,
    MOSTLY,
    TIMERS,
    LOST,
    UNCERTAIN,
    UNRECORDED,
    OTHERS
};

static const tkt_column others[OTHERS] = {
    [OF_KERNEL] = {"Kernel", "kernel", TKT_CELL_TEXT, 0, true, 1},
    [OF_DEVICE] = {"Device", "device", TKT_CELL_TEXT, 8, true, 1},
    [BLOCK] = {"Block", "block", TKT_CELL_COUNT, 0, false, 1},
    [LANE] = {"Lane", "lane", TKT_CELL_COUNT, 3, false, 1},
    [SM] = {"SM", "sm", TKT_CELL_COUNT, 1, false, 1},
    [LAUNCHES] = {"Launches", "launches", TKT_CELL_COUNT, 4, false, 1},
    [BLOCKS] = {"Blocks", "blocks", TKT_CELL_COUNT, 3, false, 1},
    [BLOCK_TIME] = {"Block Avg", "avg_ns", TKT_CELL_LENGTH, 2, false, 1},
    [BLOCK_CYCLES] = {"Cycles Avg", "avg_cycles", TKT_CELL_NUMBER, 5, false, 1},
    [LEAST_CYCLES] = {"Cycles Min", "min_cycles", TKT_CELL_COUNT, 6, false, 1},
    [MOST_CYCLES] = {"Cycles Max", "max_cycles", TKT_CELL_COUNT, 6, false, 1},
    [RATIO] = {"Spread", "spread", TKT_CELL_NUMBER, 1, false, 1},
    [MOSTLY] = {"Slow In", "slow_in", TKT_CELL_TEXT, 2, true, 1},
    [TIMERS] = {"Timers", "timers", TKT_CELL_TEXT, 7, true, 1},
    [LOST] = {"Lost", "lost", TKT_CELL_COUNT, 6, false, 1},
    [UNCERTAIN] = {"Uncertain", "uncertain_blocks", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
    [UNRECORDED] = {"No Launch", "unrecorded_blocks", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
};

/* The columns that each of these tables has. */
static const uint8_t of_kernels[] = {OF_KERNEL,    LAUNCHES,  BLOCKS,    BLOCK_TIME,
                                     BLOCK_CYCLES, RATIO,     LOST,      TIMERS,
                                     OF_DEVICE,    UNCERTAIN, UNRECORDED};
static const uint8_t of_slowest[] = {OF_KERNEL,  BLOCK,        LANE,  SM,     LAUNCHES,
                                     BLOCK_TIME, BLOCK_CYCLES, RATIO, MOSTLY, OF_DEVICE};
static const uint8_t of_sms[] = {OF_KERNEL,    SM,          BLOCKS,   BLOCK_CYCLES,
                                 LEAST_CYCLES, MOST_CYCLES, OF_DEVICE};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static tkt_table *add_table(tkt_document *document, const char *key, const uint8_t *chosen,
                            size_t count, size_t rows)
{
    tkt_column mine[OTHERS];
    for (size_t i = 0; i < count; i++)
        mine[i] = others[chosen[i]];
    return tkt_document_add_table(document, key, mine, count, rows);
}

static double mean(double sum, uint64_t count)
{
    return count ? sum / (double)count : NAN;
}

/* A time, or no value if the clock rate is unknown. */
static double known(const tkt_phase_kernel *kernel, double ns)
{
    return kernel->has_ns ? ns : NAN;
}

/* ---- Phases ---------------------------------------------------------------------------------- */

static void fill_phase(tkt_cell *row, const takt_trace *trace, const tkt_phase *phase,
                       const tkt_phase_kernel *kernel)
{
    row[PHASE].text = tkt_trace_text(trace, phase->name);
    row[KERNEL].text = tkt_trace_text(trace, kernel->name);
    row[SHARE].d = tkt_share(phase->cycles, kernel->cycles);
    row[SELF].d = tkt_share(phase->self_cycles, kernel->cycles);
    row[CALLS].u = phase->calls;
    row[TIME].d = known(kernel, phase->ns);
    row[MEAN].d = known(kernel, phase->mean_ns);
    row[MEDIAN].d = known(kernel, phase->median_ns);
    row[LEAST].d = known(kernel, phase->min_ns);
    row[MOST].d = known(kernel, phase->max_ns);
    row[SPREAD].d = tkt_phase_spread_of(&phase->spread);
    row[CYCLES].u = phase->cycles;
    row[MEAN_CYCLES].d = mean((double)phase->cycles, phase->calls);
    row[DEVICE].text = tkt_trace_text(trace, kernel->device);
}

static void show_phases(tkt_document *document, const tkt_phases *phases)
{
    tkt_table *table =
        tkt_document_add_table(document, "phases", columns, COLUMNS, phases->phases.count);
    if (!table)
        return;
    table->weight = table->sort = CYCLES;
    table->default_rows = 100;
    for (size_t i = 0; i < phases->phases.count; i++) {
        const tkt_phase *phase = &phases->phases.items[i];
        fill_phase(tkt_table_add_row(table), document->trace, phase,
                   &phases->kernels.items[phase->kernel]);
    }
}

/* ---- Kernels, blocks, SMs -------------------------------------------------------------------- */

static void show_kernels(tkt_document *document, const tkt_phases *phases)
{
    const takt_trace *trace = document->trace;
    tkt_table *table =
        add_table(document, "kernels", of_kernels, COUNT_OF(of_kernels), phases->kernels.count);
    for (size_t i = 0; table && i < phases->kernels.count; i++) {
        const tkt_phase_kernel *kernel = &phases->kernels.items[i];
        const tkt_cell cells[OTHERS] = {
            [OF_KERNEL].text = tkt_trace_text(trace, kernel->name),
            [OF_DEVICE].text = tkt_trace_text(trace, kernel->device),
            [LAUNCHES].u = kernel->launches,
            [BLOCKS].u = kernel->blocks,
            [BLOCK_TIME].d = mean(known(kernel, kernel->ns), kernel->blocks),
            [BLOCK_CYCLES].d = mean((double)kernel->cycles, kernel->blocks),
            [RATIO].d = tkt_phase_spread_of(&kernel->spread),
            [TIMERS].text = tkt_trace_text(trace, kernel->timers),
            [LOST].u = kernel->lost,
            [UNCERTAIN].u = kernel->uncertain,
            [UNRECORDED].u = kernel->unrecorded,
        };
        tkt_table_add_chosen(table, cells, of_kernels);
    }
    if (table)
        table->heading = "Kernels:";
}

static void show_slowest(tkt_document *document, const tkt_phases *phases)
{
    const takt_trace *trace = document->trace;
    tkt_table *table =
        add_table(document, "slowest", of_slowest, COUNT_OF(of_slowest), phases->slowest.count);
    for (size_t i = 0; table && i < phases->slowest.count; i++) {
        const tkt_phase_block *block = &phases->slowest.items[i];
        const tkt_phase_kernel *kernel = &phases->kernels.items[block->kernel];
        double cycles = mean((double)block->cycles, block->launches);
        double mean_cycles = mean((double)kernel->cycles, kernel->blocks);
        uint32_t mostly = block->phase == UINT32_MAX ? 0 : phases->phases.items[block->phase].name;
        const tkt_cell cells[OTHERS] = {
            [OF_KERNEL].text = tkt_trace_text(trace, kernel->name),
            [OF_DEVICE].text = tkt_trace_text(trace, kernel->device),
            [BLOCK].u = block->block,
            [LANE].u = block->lane,
            [SM].u = trace->phase_segments.items[block->segment].sm,
            [LAUNCHES].u = block->launches,
            [BLOCK_TIME].d = mean(known(kernel, block->ns), block->launches),
            [BLOCK_CYCLES].d = cycles,
            [RATIO].d = mean_cycles > 0 ? cycles / mean_cycles : NAN,
            [MOSTLY].text = tkt_trace_text(trace, mostly),
        };
        tkt_table_add_chosen(table, cells, of_slowest);
    }
    if (table)
        table->heading = "Slowest blocks of each kernel:";
}

/* For the page's plot, and for scripts. */
static void show_sms(tkt_document *document, const tkt_phases *phases)
{
    tkt_table *table = add_table(document, "sms", of_sms, COUNT_OF(of_sms), phases->sms.count);
    for (size_t i = 0; table && i < phases->sms.count; i++) {
        const tkt_phase_sm *sm = &phases->sms.items[i];
        const tkt_phase_kernel *kernel = &phases->kernels.items[sm->kernel];
        const tkt_cell cells[OTHERS] = {
            [OF_KERNEL].text = tkt_trace_text(document->trace, kernel->name),
            [OF_DEVICE].text = tkt_trace_text(document->trace, kernel->device),
            [SM].u = sm->sm,
            [BLOCKS].u = sm->blocks,
            [BLOCK_CYCLES].d = mean((double)sm->cycles, sm->blocks),
            [LEAST_CYCLES].u = sm->min_cycles,
            [MOST_CYCLES].u = sm->max_cycles,
        };
        tkt_table_add_chosen(table, cells, of_sms);
    }
    if (!table)
        return;
    table->heading = "Blocks by SM:";
    table->is_raw = true;
}

/* ---- The report ------------------------------------------------------------------------------ */

/* Adds a note that begins with the count, unless that is 0. */
static void add_count(tkt_document *document, uint64_t count, const char *what)
{
    if (count)
        tkt_document_add_note(document, "%llu %s", (unsigned long long)count, what);
}

static void add_counts(tkt_document *document, const tkt_phases *phases)
{
    const uint64_t *losses = document->trace->losses;
    uint64_t uncertain = 0, unrecorded = 0, lost = 0;
    for (size_t i = 0; i < phases->kernels.count; i++) {
        uncertain += phases->kernels.items[i].uncertain;
        unrecorded += phases->kernels.items[i].unrecorded;
        lost += phases->kernels.items[i].lost;
    }
    add_count(document, uncertain,
              "blocks have an uncertain launch: make a view for each launch; for graphs, read the "
              "timers more often.");
    add_count(document, unrecorded,
              "blocks fit no recorded launch: records of kernels are missing.");
    add_count(document, lost, "records had no room: create the timers with more records.");
    add_count(document, losses[TAKT_LOSS_PHASE_BLOCKS],
              "blocks had no room: create the timers with more blocks, or read them more often.");
    add_count(document, losses[TAKT_LOSS_PHASE_NUMBER],
              "records have a phase number out of range: create the timers with a name for each "
              "phase of the kernel.");
}

static void add_notes(tkt_document *document, const tkt_phases *phases)
{
    bool has_ns = true;
    for (size_t i = 0; i < phases->kernels.count; i++)
        has_ns &= phases->kernels.items[i].has_ns;
    tkt_document_explain(document, "share_percent",
                         "Share: of the blocks' own time, from attaching to the timers to the last "
                         "record; Self leaves out phases inside the phase.");
    tkt_document_explain(document, "spread",
                         "Spread: the slowest block's time divided by the mean block's, over all "
                         "launches. 1 is even.");
    tkt_document_add_note(document, "Clocks of SMs are not comparable: every duration is from one "
                                    "SM, begins on the timeline are approximate.");
    if (!has_ns)
        tkt_document_add_note(document,
                              "A clock rate is unknown: times in its cycles are missing.");
}

takt_status tkt_show_phases(tkt_document *document, const takt_report_options *options)
{
    if (document->sought) {
        TKT_SEEK(document, columns);
        return TKT_SEEK(document, others);
    }
    (void)options;
    tkt_phases phases = {0};
    document->nothing = "No timers inside kernels, or none was read";
    takt_status status = tkt_phases_of(document->trace, &phases);
    if (status == TAKT_OK) {
        show_phases(document, &phases);
        show_kernels(document, &phases);
        show_slowest(document, &phases);
        show_sms(document, &phases);
        if (phases.kernels.count)
            add_notes(document, &phases);
        add_counts(document, &phases);
    }
    tkt_phases_fini(&phases);
    return status == TAKT_OK ? document->status : status;
}
