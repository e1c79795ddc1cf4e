/* Writing and reading of recordings. A pointer in a record becomes a pointer to the recording's own
 * copy of the text, or NULL where there is none: so whatever a file says, a decoder that trusts
 * CUPTI's pointers can be given its records. */
#include "recording.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC      "TAKTCUPT"
#define FORMAT     1u
#define TAG_TEXT   0x54584554u /* "TEXT" */
#define TAG_CLOCK  0x4B434C43u /* "CLCK" */
#define TAG_BUFFER 0x46465542u /* "BUFF" */

/* Where records have pointers, in CUPTI 13.0: to texts, and to what is of no use elsewhere. */
static const struct {
    uint32_t kind;
    uint32_t offset;
    bool is_text;
} pointers[] = {
    {1, 56, false},  {2, 56, false},  {3, 104, true},   {3, 112, false},  {3, 160, false},
    {8, 136, true},  {10, 104, true}, {10, 112, false}, {10, 160, false}, {11, 24, true},
    {12, 40, true},  {12, 48, true},  {17, 48, false},  {22, 64, false},  {49, 64, true},
    {49, 120, true}, {51, 40, false}, {52, 56, true},
};

#define POINTERS (sizeof pointers / sizeof *pointers)

/* Writing. */

static void write_bytes(cupti_recorder *recorder, const void *bytes, size_t size)
{
    if (size)
        fwrite(bytes, 1, size, recorder->file); /* recorder_close() asks whether all went well */
}

static void write_section(cupti_recorder *recorder, uint32_t tag, const void *head,
                          size_t head_size, const void *bytes, size_t size)
{
    uint32_t header[2] = {tag, (uint32_t)(head_size + size)};
    write_bytes(recorder, header, sizeof header);
    write_bytes(recorder, head, head_size);
    write_bytes(recorder, bytes, size);
}

bool recorder_open(cupti_recorder *recorder, const char *path, uint32_t cupti_version,
                   const tkt_record_sizes *sizes)
{
    uint32_t header[3] = {FORMAT, cupti_version, TKT_CUPTI_KINDS};
    memset(recorder, 0, sizeof *recorder);
    recorder->file = fopen(path, "wb");
    if (!recorder->file)
        return false;
    tkt_mutex_init(&recorder->lock);
    recorder->sizes = *sizes;
    write_bytes(recorder, MAGIC, strlen(MAGIC));
    write_bytes(recorder, header, sizeof header);
    write_bytes(recorder, sizes->bytes, sizeof sizes->bytes);
    return true;
}

/* Once, unless another text has come to lie there. */
static void write_text(cupti_recorder *recorder, uint64_t address)
{
    const char *text;
    memcpy(&text, &address, sizeof text);
    size_t size = strlen(text);
    uint64_t hash = tkt_hash_bytes(text, size) | 1;
    uint64_t *known = tkt_map_put(&recorder->known, address);
    if (known && *known == hash)
        return;
    if (known)
        *known = hash;
    write_section(recorder, TAG_TEXT, &address, sizeof address, text, size);
}

static void write_texts(cupti_recorder *recorder, uint32_t kind, const uint8_t *record)
{
    for (size_t i = 0; i < POINTERS; i++) {
        uint64_t address;
        if (pointers[i].kind != kind || !pointers[i].is_text ||
            pointers[i].offset + sizeof address > recorder->sizes.bytes[kind])
            continue;
        memcpy(&address, record + pointers[i].offset, sizeof address);
        if (address)
            write_text(recorder, address);
    }
}

void recorder_buffer(cupti_recorder *recorder, const void *buffer, size_t valid_bytes)
{
    const uint8_t *record;
    uint32_t kind;
    size_t at = 0;
    tkt_mutex_lock(&recorder->lock);
    while ((record = tkt_record_next(&recorder->sizes, buffer, valid_bytes, &at, &kind)) != NULL)
        write_texts(recorder, kind, record);
    write_section(recorder, TAG_BUFFER, NULL, 0, buffer, valid_bytes);
    tkt_mutex_unlock(&recorder->lock);
}

void recorder_clock(cupti_recorder *recorder, uint64_t takt_ns, uint64_t cupti_ns,
                    uint32_t bracket_ns)
{
    uint64_t pair[3] = {takt_ns, cupti_ns, bracket_ns};
    tkt_mutex_lock(&recorder->lock);
    write_section(recorder, TAG_CLOCK, pair, sizeof pair, NULL, 0);
    tkt_mutex_unlock(&recorder->lock);
}

bool recorder_close(cupti_recorder *recorder)
{
    bool is_written = !ferror(recorder->file);
    is_written &= fclose(recorder->file) == 0;
    tkt_map_fini(&recorder->known);
    return is_written;
}

/* Reading. */

typedef struct reading {
    cupti_recording *out;
    tkt_map texts; /* address in the recorded process -> index of `texts` + 1 */
} reading;

static takt_status read_text(reading *reader, const uint8_t *bytes, size_t size)
{
    uint64_t address;
    if (size < sizeof address)
        return TAKT_BAD_TRACE;
    memcpy(&address, bytes, sizeof address);
    char *text = tkt_alloc(size - sizeof address + 1);
    char **added = text ? TKT_ARRAY_ADD(&reader->out->texts) : NULL;
    if (!added) {
        tkt_free(text);
        return TAKT_NO_MEMORY;
    }
    memcpy(text, bytes + sizeof address, size - sizeof address);
    text[size - sizeof address] = '\0';
    *added = text;
    uint64_t *index = tkt_map_put(&reader->texts, address);
    if (!index)
        return TAKT_NO_MEMORY;
    *index = reader->out->texts.count;
    return TAKT_OK;
}

static takt_status read_clock(reading *reader, const uint8_t *bytes, size_t size)
{
    uint64_t values[3];
    if (size != sizeof values)
        return TAKT_BAD_TRACE;
    memcpy(values, bytes, sizeof values);
    tkt_clock_pair *pair = TKT_ARRAY_ADD(&reader->out->pairs);
    if (!pair)
        return TAKT_NO_MEMORY;
    *pair = (tkt_clock_pair){
        .ticks = values[0], .cupti_ns = values[1], .bracket_ticks = (uint32_t)values[2]};
    return TAKT_OK;
}

static void patch_record(reading *reader, uint32_t kind, uint8_t *record)
{
    for (size_t i = 0; i < POINTERS; i++) {
        uint64_t address;
        if (pointers[i].kind != kind ||
            pointers[i].offset + sizeof address > reader->out->sizes.bytes[kind])
            continue;
        memcpy(&address, record + pointers[i].offset, sizeof address);
        const uint64_t *index = tkt_map_get(&reader->texts, address);
        const char *text =
            index && pointers[i].is_text ? reader->out->texts.items[*index - 1] : NULL;
        memcpy(record + pointers[i].offset, &text, sizeof text);
    }
}

static takt_status read_buffer(reading *reader, const uint8_t *bytes, size_t size)
{
    uint32_t kind;
    size_t at = 0;
    uint8_t *copy = tkt_copy(bytes, size);
    recorded_buffer *added = copy ? TKT_ARRAY_ADD(&reader->out->buffers) : NULL;
    if (!added) {
        tkt_free(copy);
        return TAKT_NO_MEMORY;
    }
    *added = (recorded_buffer){copy, size};
    for (size_t begin = 0; tkt_record_next(&reader->out->sizes, copy, size, &at, &kind); begin = at)
        patch_record(reader, kind, copy + begin);
    return TAKT_OK;
}

static takt_status read_section(reading *reader, uint32_t tag, const uint8_t *bytes, size_t size)
{
    switch (tag) {
    case TAG_TEXT:
        return read_text(reader, bytes, size);
    case TAG_CLOCK:
        return read_clock(reader, bytes, size);
    case TAG_BUFFER:
        return read_buffer(reader, bytes, size);
    default:
        return TAKT_BAD_TRACE;
    }
}

static takt_status read_sections(reading *reader, const uint8_t *bytes, size_t size)
{
    takt_status status = TAKT_OK;
    while (status == TAKT_OK && size) {
        uint32_t header[2];
        if (size < sizeof header)
            return TAKT_BAD_TRACE;
        memcpy(header, bytes, sizeof header);
        bytes += sizeof header;
        size -= sizeof header;
        if (header[1] > size)
            return TAKT_BAD_TRACE;
        status = read_section(reader, header[0], bytes, header[1]);
        bytes += header[1];
        size -= header[1];
    }
    return status;
}

takt_status recording_read(const void *bytes, size_t size, cupti_recording *out)
{
    uint32_t header[3];
    const uint8_t *at = bytes;
    const size_t head_size = strlen(MAGIC) + sizeof header;
    if (size < head_size || memcmp(at, MAGIC, strlen(MAGIC)) != 0)
        return TAKT_BAD_TRACE;
    memcpy(header, at + strlen(MAGIC), sizeof header);
    size_t sizes_size = sizeof *out->sizes.bytes * (size_t)header[2];
    if (header[0] != FORMAT || header[2] > TKT_CUPTI_KINDS || size - head_size < sizes_size)
        return TAKT_BAD_TRACE;
    memset(out, 0, sizeof *out);
    out->cupti_version = header[1];
    memcpy(out->sizes.bytes, at + head_size, sizes_size);
    reading reader = {.out = out};
    takt_status status =
        read_sections(&reader, at + head_size + sizes_size, size - head_size - sizes_size);
    tkt_map_fini(&reader.texts);
    if (status != TAKT_OK)
        recording_fini(out);
    return status;
}

void recording_fini(cupti_recording *recording)
{
    for (size_t i = 0; i < recording->buffers.count; i++)
        tkt_free(recording->buffers.items[i].bytes);
    for (size_t i = 0; i < recording->texts.count; i++)
        tkt_free(recording->texts.items[i]);
    TKT_ARRAY_FREE(&recording->buffers);
    TKT_ARRAY_FREE(&recording->texts);
    TKT_ARRAY_FREE(&recording->pairs);
}

void recording_replay(const cupti_recording *recording, tkt_store *store)
{
    for (size_t i = 0; i < recording->pairs.count; i++)
        tkt_cuda_clock_add(&store->clock, &recording->pairs.items[i]);
    for (size_t i = 0; i < recording->buffers.count; i++)
        tkt_decode(store, &recording->sizes, recording->buffers.items[i].bytes,
                   recording->buffers.items[i].size);
}
