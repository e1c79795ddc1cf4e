/* Rows for what may overlap, and the spans of async tracks, which do. */
#include "export/chrome_file.h"

void tkt_chrome_row_init(tkt_chrome_row *row, uint32_t pid, uint32_t tid, int32_t order)
{
    *row = (tkt_chrome_row){.pid = pid, .tid = tid, .order = order};
    char *end = tkt_put_u64(row->text, tid);
    memcpy(end, ",\"ts\":", 6);
    row->text_size = (uint32_t)(end + 6 - row->text);
}

static bool add_lane(tkt_chrome *chrome, tkt_chrome_lanes *lanes)
{
    uint32_t lane = (uint32_t)lanes->rows.count;
    tkt_chrome_row *row = TKT_ARRAY_ADD(&lanes->rows);
    if (!row)
        return false;
    uint32_t tid = lane == 0 && lanes->tid ? lanes->tid : chrome->next_row_id++;
    tkt_chrome_row_init(row, lanes->pid, tid, chrome->next_order++);
    row->name = lanes->name;
    row->title = lanes->title;
    row->stream = lanes->stream;
    row->lane = lane;
    return true;
}

tkt_chrome_row *tkt_chrome_find_row(tkt_chrome *chrome, tkt_chrome_lanes *lanes, uint64_t begin_ns,
                                    uint64_t end_ns)
{
    uint32_t lane = tkt_lanes_take(&lanes->lanes, begin_ns, end_ns);
    if (lane == UINT32_MAX || (lane == lanes->rows.count && !add_lane(chrome, lanes))) {
        chrome->status = TAKT_NO_MEMORY;
        return NULL;
    }
    tkt_chrome_row *row = &lanes->rows.items[lane];
    tkt_chrome_announce(chrome, row);
    return row;
}

void tkt_chrome_lanes_fini(tkt_chrome_lanes *lanes)
{
    TKT_ARRAY_FREE(&lanes->rows);
    tkt_lanes_fini(&lanes->lanes);
}

void tkt_chrome_async_spans(tkt_chrome *chrome, uint32_t track, uint64_t last_ns)
{
    const tkt_spans *spans = &chrome->trace->tracks.items[track].spans;
    tkt_chrome_track *at = &chrome->tracks[track];
    while (at->span < spans->count && spans->items[at->span].begin_ns <= last_ns) {
        const tkt_span *span = &spans->items[at->span];
        if (!tkt_chrome_fits(chrome))
            return;
        tkt_chrome_row *row = tkt_chrome_find_row(chrome, &at->lanes, span->begin_ns, span->end_ns);
        if (!row)
            return;
        tkt_chrome_async_span(chrome, track, row);
    }
}
