/* Reads packets out of a compressed packet (src/export/perfetto_pack.c). */
#include "trace/read.h"

static bool unpack(tkt_read *read, const tkt_pb_field *packed, tkt_pb_reader *packets)
{
    const uint8_t *bytes;
    size_t size;
    takt_status status = TAKT_OK;
    if (!read->unpacker)
        status = tkt_unpacker_create(&read->unpacker);
    if (status == TAKT_OK)
        status =
            tkt_unpacker_run(read->unpacker, packed->bytes, (size_t)packed->value, &bytes, &size);
    if (status == TAKT_NO_MEMORY)
        return tkt_read_no_memory(read);
    if (status == TAKT_UNSUPPORTED)
        return tkt_read_bad(read, packed->bytes,
                            "packed with zlib, which this build of Takt lacks: unpack it with "
                            "takt export --perfetto --plain of another build");
    if (status != TAKT_OK)
        return tkt_read_bad(read, packed->bytes, "a compressed packet is damaged");
    *packets = tkt_pb_read(bytes, size);
    return true;
}

static bool read_packets(tkt_read *read, tkt_pb_reader *packets)
{
    return tkt_read_packets(read, packets) &&
           (packets->at == packets->end ||
            tkt_read_bad(read, packets->at, "data follows after the end of the trace"));
}

/* Places within the packet are told as the place of the packet. */
bool tkt_read_packed(tkt_read *read, const tkt_pb_field *packed)
{
    tkt_pb_reader packets;
    if (read->packed)
        return tkt_read_bad(read, packed->bytes, "a compressed packet holds another one");
    if (!unpack(read, packed, &packets))
        return false;
    read->packed = packed->bytes;
    bool is_ok = read_packets(read, &packets);
    read->packed = NULL;
    return is_ok;
}
