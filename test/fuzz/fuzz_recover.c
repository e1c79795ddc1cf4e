/* Any bytes as what a crash-safe recording has left. They are refused with one line that says why,
 * or become a trace that can be walked, reported and exported, and whose file reads back.
 *
 * A file is mostly zeros, and would hardly be hit where it matters. So an input is a list of what
 * stands where: a part of the file, an item of that part, an offset, and bytes. Where the parts are
 * is set here; a list may overwrite that, too, and may cut the file. test/support/recover_seed.py
 * makes such lists of files that programs have left. Bytes that begin as a file does are one. */
#include "record/mapping.h"
#include "support/judge.h"
#include "trace/recovery.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 8192u /* of the file, before its first part */
#define CUT        8     /* as an entry's part: the file ends there */
#define RUN        9     /* the same: the run, which is the last part of the file */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* ---- Making a file --------------------------------------------------------------------------- */

typedef struct crash_file {
    uint8_t *bytes;
    size_t size;
    size_t names_used;
    tkt_mapping_part parts[9]; /* the head, and the others in their order in it */
} crash_file;

/* An entry of an input; its payload follows. */
typedef struct entry {
    uint8_t part;
    uint8_t item;      /* a kind, of names: those follow one another */
    uint8_t low, high; /* offset in the item */
    uint8_t size;
} entry;

static const struct {
    uint32_t item_bytes;
    uint32_t count;
} layout[9] = {{HEAD_BYTES, 1},
               {sizeof(tkt_mapping_window), 2},
               {sizeof(tkt_task), 4},
               {sizeof(tkt_mapping_step), 4},
               {sizeof(tkt_mapping_log), 2},
               {1, 8192},
               {sizeof(tkt_chunk), 6},
               {sizeof(tkt_store_chunk), 1},
               {sizeof(tkt_kept_run), 2}};

static crash_file empty_file(void)
{
    crash_file file = {.size = 0};
    for (size_t i = 0; i < 9; i++) {
        file.parts[i] = (tkt_mapping_part){file.size, layout[i].item_bytes, layout[i].count};
        file.size += ((size_t)layout[i].item_bytes * layout[i].count + 7) / 8 * 8;
    }
    file.bytes = calloc(1, file.size);
    judge(file.bytes != NULL);
    *(tkt_mapping_head *)file.bytes = (tkt_mapping_head){.magic = TKT_MAPPING_MAGIC,
                                                         .version = TKT_MAPPING_VERSION,
                                                         .head_bytes = sizeof(tkt_mapping_head),
                                                         .file_bytes = file.size,
                                                         .windows = file.parts[1],
                                                         .tasks = file.parts[2],
                                                         .steps = file.parts[3],
                                                         .logs = file.parts[4],
                                                         .names = file.parts[5],
                                                         .chunks = file.parts[6],
                                                         .devices = file.parts[7],
                                                         .run = file.parts[8],
                                                         .whole_run = 1,
                                                         .slot_bytes = sizeof(takt_record),
                                                         .frame_bytes = sizeof(takt_frame),
                                                         .max_depth = TKT_MAX_DEPTH,
                                                         .clock = "fuzz"};
    return file;
}

static void add_name(crash_file *file, uint32_t kind, const uint8_t *payload, size_t size)
{
    const tkt_mapping_part *names = &file->parts[5];
    tkt_mapping_entry head = {kind, (uint32_t)((sizeof head + size + 7) / 8 * 8)};
    if (file->names_used + head.bytes > names->count)
        return;
    uint8_t *at = file->bytes + names->at + file->names_used;
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, payload, size);
    file->names_used += head.bytes;
}

static void add(crash_file *file, const entry *what, const uint8_t *payload, size_t size)
{
    size_t offset = what->low + 256u * what->high;
    const tkt_mapping_part *part = &file->parts[what->part == RUN ? 8 : what->part % CUT];
    if (what->part != RUN && what->part % (CUT + 1) == CUT) {
        file->size = file->size * offset / 65536;
    } else if (part == &file->parts[5]) {
        add_name(file, what->item, payload, size);
    } else {
        size_t at = part->at + (size_t)(what->item % part->count) * part->item_bytes;
        offset %= part->item_bytes;
        size_t room = part->item_bytes - offset;
        memcpy(file->bytes + at + offset, payload, size < room ? size : room);
    }
}

static crash_file make_file(const uint8_t *bytes, size_t size)
{
    crash_file file = empty_file();
    if (size > 8 && memcmp(bytes, file.bytes, 8) == 0) {
        free(file.bytes);
        file.bytes = malloc(size);
        judge(file.bytes != NULL);
        memcpy(file.bytes, bytes, size);
        file.size = size;
        return file;
    }
    entry what;
    for (size_t at = 0; size - at >= sizeof what; at += what.size) {
        memcpy(&what, bytes + at, sizeof what);
        at += sizeof what;
        what.size = what.size < size - at ? what.size : (uint8_t)(size - at);
        add(&file, &what, bytes + at, what.size);
    }
    return file;
}

/* ---- What becomes of it ---------------------------------------------------------------------- */

/* What may be given up: bytes that nobody can have recorded. Memory is no reason. */
static void is_refusal(takt_status status, const takt_error *error)
{
    judge(status == TAKT_BAD_TRACE || status == TAKT_NOT_FOUND || status == TAKT_UNSUPPORTED);
    judge(error->message[0] && !strchr(error->message, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    crash_file file = make_file(bytes, size);
    takt_status status = tkt_recover(file.bytes, file.size, "fuzz", &trace, &error);
    free(file.bytes); /* the trace needs nothing of it */
    if (status != TAKT_OK) {
        judge(!trace);
        is_refusal(status, &error);
        return 0;
    }
    judge_trace(trace, size);
    takt_trace *back = judge_read_back(trace);
    judge(takt_trace_facts(back)->span_count == takt_trace_facts(trace)->span_count);
    takt_trace_release(trace);
    judge_trace(back, size / 2);
    judge_settled(back);
    takt_trace_release(back);
    return 0;
}
