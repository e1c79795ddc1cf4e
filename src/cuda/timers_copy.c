/* What a program copies from the latest read of its timers inside kernels: cycles by phase,
 * iteration and block. */
#include "cuda/timers.h"

#include "base/own.h"

#include <string.h>

/* Finds each block's lane: of the last launch, the first lane. */
static bool index_lanes(tkt_phase_batch *batch)
{
    if (batch->of_block.count > 0)
        return true;
    for (size_t i = 0; i < batch->lanes.count; i++) {
        const takt_device_segment *head = &batch->lanes.items[i].head;
        uint64_t *place = tkt_map_put(&batch->of_block, head->block);
        if (!place) {
            tkt_map_fini(&batch->of_block);
            return false;
        }
        if (*place == 0 || head->lane <= batch->lanes.items[*place - 1].head.lane)
            *place = i + 1;
    }
    return true;
}

/* An array of [phases][iterations][blocks]. */
typedef struct cells {
    uint64_t *cycles;
    uint32_t phases, iterations, blocks;
    uint32_t block; /* the only one */
    uint64_t lost;  /* phases of the read */
} cells;

static void clear(const cells *to)
{
    memset(to->cycles, 0, (size_t)to->phases * to->iterations * to->blocks * sizeof *to->cycles);
}

static void add_cycles(const cells *to, uint32_t block, const tkt_phase_batch *batch,
                       const tkt_phase_lane *lane)
{
    const takt_device_record *records = batch->records.items + lane->first_record;
    for (uint32_t i = 0; i < lane->record_count; i++) {
        uint32_t phase = tkt_record_phase(&records[i], to->phases);
        uint32_t iteration = tkt_record_iteration(&records[i]);
        if (phase != UINT32_MAX && iteration < to->iterations)
            to->cycles[((size_t)phase * to->iterations + iteration) * to->blocks + block] +=
                tkt_record_cycles(&records[i]);
    }
}

static takt_status copy_one(tkt_phase_batch *batch, void *user)
{
    const cells *to = user;
    if (!index_lanes(batch))
        return TAKT_NO_MEMORY;
    const uint64_t *place = tkt_map_get(&batch->of_block, to->block);
    if (!place)
        return TAKT_NOT_FOUND;
    const tkt_phase_lane *lane = &batch->lanes.items[*place - 1];
    clear(to);
    add_cycles(to, 0, batch, lane);
    return lane->head.count > lane->record_count ? TAKT_INCOMPLETE : TAKT_OK;
}

static takt_status copy_all(tkt_phase_batch *batch, void *user)
{
    cells *to = user;
    if (!index_lanes(batch))
        return TAKT_NO_MEMORY;
    clear(to);
    for (size_t i = 0; i < batch->lanes.count; i++) {
        const tkt_phase_lane *lane = &batch->lanes.items[i];
        uint32_t block = lane->head.block;
        if (block < to->blocks && *tkt_map_get(&batch->of_block, block) == i + 1)
            add_cycles(to, block, batch, lane);
    }
    to->lost = batch->lost_phases;
    return batch->lost_phases || batch->lost_lanes ? TAKT_INCOMPLETE : TAKT_OK;
}

takt_status takt_device_timers_copy(takt_device_timers *timers, uint32_t block, uint32_t iterations,
                                    uint64_t *cycles)
{
    TKT_OWN_WORK;
    if (!timers || !cycles || iterations == 0)
        return TAKT_BAD_ARGUMENT;
    cells to = {cycles, timers->phase_count, iterations, .blocks = 1, .block = block};
    return tkt_timers_visit_latest(timers, copy_one, &to);
}

takt_status takt_device_timers_copy_all(takt_device_timers *timers, uint32_t blocks,
                                        uint32_t iterations, uint64_t *cycles, uint64_t *lost)
{
    TKT_OWN_WORK;
    if (!timers || !cycles || iterations == 0 || blocks == 0)
        return TAKT_BAD_ARGUMENT;
    cells to = {cycles, timers->phase_count, iterations, .blocks = blocks};
    takt_status status = tkt_timers_visit_latest(timers, copy_all, &to);
    if (lost)
        *lost = to.lost;
    return status;
}
