/* Packs a Perfetto file: what the writer hands over becomes one packet, whose field
 * compressed_packets holds it in zlib's format. Perfetto's readers unpack such packets where they
 * come, and so does Takt. Each packet stands for itself: a file that breaks off keeps all packets
 * before that. */
#include "export/perfetto.h"

/* Less is written as it is; it would hardly get smaller. This also keeps the first packet, by which
 * readers know the file, as it is. */
#define LEAST_BYTES 64

static takt_status write_packed(void *user, const void *data, size_t size)
{
    const tkt_perfetto_pack *pack = user;
    if (size < LEAST_BYTES)
        return pack->into.write(pack->into.user, data, size);
    size_t packed;
    const void *block = tkt_packer_run(pack->packer, data, size, &packed);
    if (!block)
        return TAKT_NO_MEMORY;
    char field[2 * TKT_PB_VARINT_MAX], head[4 * TKT_PB_VARINT_MAX];
    char *end = tkt_pb_put_tag(field, TKT_PF_PACKET_COMPRESSED, TKT_PB_BYTES);
    size_t field_size = (size_t)(tkt_pb_put_varint(end, packed) - field);
    end = tkt_pb_put_tag(head, TKT_PF_TRACE_PACKET, TKT_PB_BYTES);
    end = tkt_pb_put_varint(end, field_size + packed);
    memcpy(end, field, field_size);
    takt_status status = pack->into.write(pack->into.user, head, (size_t)(end - head) + field_size);
    return status == TAKT_OK ? pack->into.write(pack->into.user, block, packed) : status;
}

takt_status tkt_perfetto_pack_init(tkt_perfetto_pack *pack, takt_sink into, takt_sink *sink)
{
    *pack = (tkt_perfetto_pack){.into = into};
    *sink = into;
    takt_status status = tkt_packer_create(&pack->packer);
    if (status == TAKT_OK)
        *sink = (takt_sink){write_packed, pack};
    return status == TAKT_UNSUPPORTED ? TAKT_OK : status;
}

void tkt_perfetto_pack_fini(tkt_perfetto_pack *pack)
{
    tkt_packer_destroy(pack->packer);
    pack->packer = NULL;
}
