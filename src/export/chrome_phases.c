/* What timers inside kernels recorded: a row for each SM in the process of its device, with a slice
 * for each block and the phases inside. Kernels in their host form are rows of the process.
 *
 * The category is Kineto's for what a program marked on a GPU. Without a stream and a correlation,
 * TensorBoard and Holistic Trace Analysis do not take these slices for kernels. */
#include "export/chrome.h"

#include <stdio.h>
#include <string.h>

static bool is_gpu(const takt_trace *trace, uint32_t device)
{
    return strncmp(tkt_trace_text(trace, device), "cuda:", 5) == 0;
}

/* Returns the rows of the segment's SM, and announces its device. NULL without memory. */
static tkt_chrome_lanes *lanes_of(tkt_chrome *chrome, const tkt_phase_segment *segment)
{
    bool on_gpu = is_gpu(chrome->trace, segment->device);
    uint32_t number = tkt_sm_number(&chrome->sms, segment);
    uint32_t device = on_gpu ? tkt_chrome_device_index(chrome, segment->device) : 0;
    if (number == UINT32_MAX || device == UINT32_MAX)
        return NULL;
    if (on_gpu)
        tkt_chrome_announce_device(chrome, &chrome->devices.items[device]);
    if (number < chrome->sm_rows.count)
        return &chrome->sm_rows.items[number];
    char title[32];
    int size = snprintf(title, sizeof title, "SM %u", segment->sm);
    tkt_chrome_lanes *added = TKT_ARRAY_ADD(&chrome->sm_rows);
    if (!added)
        return NULL;
    *added = (tkt_chrome_lanes){
        .title = tkt_arena_copy(&chrome->texts, title, (size_t)size),
        .pid = on_gpu ? chrome->devices.items[device].pid : chrome->pid,
    };
    return added->title ? added : NULL;
}

static void put_slice(tkt_chrome *chrome, const tkt_phase_segment *segment,
                      const tkt_phase_slice *slice, const tkt_chrome_row *row)
{
    tkt_writer *writer = chrome->writer;
    tkt_writer_format(writer, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":",
                      is_gpu(chrome->trace, segment->device) ? "gpu_user_annotation"
                                                             : "user_annotation");
    tkt_chrome_put_string(chrome, slice->name);
    tkt_writer_format(writer, ",\"pid\":%u,\"tid\":", row->pid);
    tkt_writer_put(writer, row->text, row->text_size);
    tkt_chrome_put_times(chrome, slice->begin_ns, slice->end_ns);
    tkt_writer_format(writer, ",\"args\":{\"block\":%u,\"lane\":%u", segment->block, segment->lane);
    if (slice->record)
        tkt_writer_format(writer, ",\"iteration\":%u,\"cycles\":%llu", slice->record->iteration,
                          (unsigned long long)slice->record->cycles);
    else
        tkt_writer_format(writer, ",\"lost\":%u", segment->lost_records);
    tkt_writer_text(writer, "}},\n");
}

static void put_segment(tkt_chrome *chrome, const tkt_phase_segment *segment)
{
    tkt_phase_slices *slices = &chrome->phase_slices;
    takt_status status = tkt_phase_slices_of(chrome->trace, segment, slices);
    if (status != TAKT_OK)
        chrome->status = status;
    if (slices->count == 0 || status != TAKT_OK)
        return;
    tkt_chrome_lanes *lanes = lanes_of(chrome, segment);
    tkt_chrome_row *row = lanes ? tkt_chrome_find_row(chrome, lanes, slices->items[0].begin_ns,
                                                      slices->items[0].end_ns)
                                : NULL;
    if (!row)
        chrome->status = TAKT_NO_MEMORY;
    for (size_t i = 0; row && i < slices->count && tkt_chrome_fits(chrome); i++) {
        if (lanes_of(chrome, segment)) /* a new file needs the device's name again */
            tkt_chrome_announce(chrome, row);
        put_slice(chrome, segment, &slices->items[i], row);
    }
}

void tkt_chrome_phases(tkt_chrome *chrome, uint64_t last_ns)
{
    for (; chrome->segment < chrome->trace->phase_segments.count; chrome->segment++) {
        const tkt_phase_segment *segment = &chrome->trace->phase_segments.items[chrome->segment];
        if (segment->begin_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        put_segment(chrome, segment);
    }
}

void tkt_chrome_phases_fini(tkt_chrome *chrome)
{
    for (size_t i = 0; i < chrome->sm_rows.count; i++)
        tkt_chrome_lanes_fini(&chrome->sm_rows.items[i]);
    TKT_ARRAY_FREE(&chrome->sm_rows);
    TKT_ARRAY_FREE(&chrome->phase_slices);
    tkt_sms_fini(&chrome->sms);
}
