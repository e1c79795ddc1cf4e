#include "cli/tables/tables.h"

const table *table_at(size_t index)
{
    static const table *const all[] = {
        &table_facts,  &table_losses,        &table_devices,    &table_tracks,
        &table_steps,  &table_spans,         &table_path_list,  &table_args,
        &table_frames, &table_api,           &table_activities, &table_waits,
        &table_memory, &table_memory_totals, &table_counters,   &table_marks};
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}
