/* Where each side has several runs, they are what is compared: runs of one program differ by more
 * than calls of one run do, by clock frequency, by layout of memory, by what else the machine does.
 * So a run counts once, however many calls it has. */
#include "cli/compare.h"

/* What the run says of a call. Without spans that is the mean alone; with spans, nothing where no
 * call began and ended within the recording. */
static bool keep_call(cli_part *part, bool has_spans, uint64_t begin_ns)
{
    cli_samples *samples = &part->samples;
    uint64_t calls = part->calls - part->noted_calls;
    double total_ns = part->total_ns - part->noted_ns;

    if (samples->count == 0)
        return calls == 0 || has_spans ||
               cli_values_add(&part->means, (cli_value){total_ns / (double)calls, begin_ns});
    if (!cli_samples_sort(samples) ||
        !cli_values_add(&part->medians, (cli_value){cli_samples_median(samples), begin_ns}) ||
        !cli_values_add(&part->means, (cli_value){cli_samples_mean(samples), begin_ns}))
        return false;
    samples->count = 0;
    return true;
}

takt_status cli_compare_end_run(cli_comparison *comparison, int side, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    uint64_t begin_ns = facts->begin_ns + (uint64_t)facts->realtime_offset_ns;

    for (size_t i = 0; i < comparison->rows.count; i++) {
        cli_part *part = &comparison->rows.items[i].parts[side];
        if (comparison->is_by_run && !keep_call(part, facts->has_spans, begin_ns))
            return TAKT_NO_MEMORY;
        part->noted_calls = part->calls;
        part->noted_ns = part->total_ns;
        part->noted_samples = part->samples.count;
    }
    return TAKT_OK;
}
