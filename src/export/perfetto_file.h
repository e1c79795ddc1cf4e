/* What the parts of the packet writer share. */
#ifndef TKT_EXPORT_PERFETTO_FILE_H
#define TKT_EXPORT_PERFETTO_FILE_H

#include "export/perfetto.h"
#include "trace/perfetto.h"
#include "trace/protobuf.h"

#define TKT_PERFETTO_PROCESS_UUID 1u

/* Arrows from calls to activities have this number plus the correlation id; programs' own arrows
 * have whatever they like. */
#define TKT_PERFETTO_FLOW (UINT64_C(0x74616B74) << 32)

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
uint64_t tkt_perfetto_memory_uuid(tkt_perfetto *file, uint32_t device, uint32_t kind);

/* Takt's half of a track's description. */
typedef struct tkt_takt_half {
    tkt_pf_track_kind kind;
    uint64_t    index; /* of the track in the trace; of a counter: its uuid */
    uint32_t    lane;
    uint32_t    thread_id;
    const char *name;
    uint32_t    context; /* of streams */
    uint32_t    stream;
    uint32_t    memory_kind;
} tkt_takt_half;

/* A row and the description of its track: its name in the viewer, and whose child it is. */
uint32_t tkt_perfetto_open_row(tkt_perfetto *file, const tkt_takt_half *half, const char *name,
                               uint64_t parent);

/* The track that those of a device are children of. */
uint64_t tkt_perfetto_device_uuid(tkt_perfetto *file, uint32_t device);

/* Describes a track on which there is nothing but other tracks. */
void tkt_perfetto_group(tkt_perfetto *file, uint64_t uuid, const char *name, int32_t rank);

/* Takes a lane; *lane is UINT32_MAX when there is no memory. Whether its row is there already; if
 * not, the caller opens and adds it. */
bool tkt_perfetto_take_lane(tkt_perfetto *file, tkt_perfetto_lanes *rows, uint64_t begin_ns,
                            uint64_t end_ns, uint32_t *lane);
void tkt_perfetto_add_lane(tkt_perfetto *file, tkt_perfetto_lanes *rows, uint32_t row);
void tkt_perfetto_lanes_fini(tkt_perfetto_lanes *rows);

/* Begins a packet with an event of the given type, of which more may follow; returns its mark. The
 * annotations that were made are put behind it. */
size_t tkt_perfetto_event(tkt_perfetto *file, uint32_t row, uint32_t type, uint64_t time_ns);
void tkt_perfetto_event_end(tkt_perfetto *file, size_t mark);

/* One annotation of the next event with a name of Takt's own; `field` is its type. */
void tkt_perfetto_annotate(tkt_perfetto *file, uint32_t row, tkt_pf_key key, uint32_t field,
                           uint64_t value);

/* Statistics as a field of a message, left out where there is nothing to tell. */
void tkt_perfetto_put_stats(tkt_message *into, uint32_t field, const tkt_stats *stats,
                            const tkt_histogram *histogram);

/* Interned texts. */
void tkt_perfetto_put_interned(tkt_message *packet, uint32_t list, uint32_t iid, const char *name);

/* The fields of a struct as tkt_pf_field describes them. */
void tkt_perfetto_put_fields(tkt_perfetto *file, tkt_message *into, const tkt_pf_field *fields,
                             const void *from);

void tkt_perfetto_devices_fini(tkt_perfetto *file);

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
