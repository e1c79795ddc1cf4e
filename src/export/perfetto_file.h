/* What the parts of the packet writer share. */
#ifndef TKT_EXPORT_PERFETTO_FILE_H
#define TKT_EXPORT_PERFETTO_FILE_H

#include "export/perfetto.h"
#include "trace/perfetto.h"
#include "trace/protobuf.h"

#define TKT_PERFETTO_PROCESS_UUID 1u

static inline bool tkt_perfetto_set_has(const tkt_perfetto_set *set, uint32_t number)
{
    return number >> 6 < set->count && (set->items[number >> 6] >> (number & 63) & 1);
}

bool tkt_perfetto_set_add(tkt_perfetto_set *set, uint32_t number);

/* An empty packet to be filled, on the sequence of `row`. */
tkt_message *tkt_perfetto_packet(tkt_perfetto *file, uint32_t row);

/* Writes the packet that has been built. */
void tkt_perfetto_packet_write(tkt_perfetto *file);

void tkt_perfetto_no_memory(tkt_perfetto *file);

/* A sequence whose events are on the track `uuid` by default; row 0, the file's own, when there is
 * no memory. */
uint32_t tkt_perfetto_add_row(tkt_perfetto *file, uint64_t uuid);

/* The row that steps are on. */
uint32_t tkt_perfetto_steps_row(tkt_perfetto *file);

/* The uuids of counters' tracks, which are described at the first call. */
uint64_t tkt_perfetto_counter_uuid(tkt_perfetto *file, uint32_t name);
uint64_t tkt_perfetto_memory_uuid(tkt_perfetto *file);

/* Makes a site of the trace known to the file and interned on the row; NULL without memory. */
const tkt_perfetto_site *tkt_perfetto_introduce(tkt_perfetto *file, uint32_t row, uint32_t site);

/* The number that nodes of a fold call a site by; described at the first call, 0 without memory. */
uint32_t tkt_perfetto_site_iid(tkt_perfetto *file, uint32_t site);

/* Interns the name of an annotation on the row. */
void tkt_perfetto_use_key(tkt_perfetto *file, uint32_t row, tkt_pf_key key);

/* The same for the key of an argument; its number, or 0 without memory. */
uint32_t tkt_perfetto_arg_key(tkt_perfetto *file, uint32_t row, uint32_t string);

static inline const tkt_perfetto_site *tkt_perfetto_site_on(tkt_perfetto *file, uint32_t row,
                                                            uint32_t site)
{
    if (__builtin_expect(site < file->sites.count, 1)) {
        const tkt_perfetto_site *known = &file->sites.items[site];
        if (__builtin_expect(tkt_perfetto_set_has(&file->rows.items[row].sites, known->iid), 1))
            return known;
    }
    return tkt_perfetto_introduce(file, row, site);
}

#endif
