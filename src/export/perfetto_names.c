/* Sites, names and call stacks, which a Perfetto file contains once. */
#include "export/perfetto.h"
#include "summary/scopes.h"

#include <string.h>

/* ======== Names ======== */

/* Sites and names of annotations. The file contains them once for Takt, and on each row that uses
 * them for Perfetto. */

void tkt_perfetto_put_interned(tkt_message *packet, uint32_t list, uint32_t iid, const char *name)
{
    size_t mark = tkt_message_begin(packet, list);
    tkt_message_uint(packet, TKT_PF_INTERNED_IID, iid);
    tkt_message_string(packet, TKT_PF_INTERNED_NAME, name);
    tkt_message_end(packet, mark);
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static const char *text(const tkt_perfetto *file, uint32_t string)
{
    return tkt_trace_text(file->trace, string);
}

/* The name, category and source of a site have the site's number in Perfetto's three tables. */
static void put_interned_site(tkt_perfetto *file, const tkt_trace_site *site, uint32_t iid)
{
    tkt_message *packet = &file->message;
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_INTERNED);
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_EVENT_NAMES, iid, text(file, site->name));
    if (site->category)
        tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_CATEGORIES, iid,
                                  text(file, site->category));
    if (site->file) {
        size_t location = tkt_message_begin(packet, TKT_PF_INTERNED_LOCATIONS);
        tkt_message_uint(packet, TKT_PF_INTERNED_IID, iid);
        tkt_message_string(packet, TKT_PF_LOCATION_FILE, text(file, site->file));
        tkt_message_string_if(packet, TKT_PF_LOCATION_FUNCTION, text(file, site->function));
        tkt_message_uint_if(packet, TKT_PF_LOCATION_LINE, site->line);
        tkt_message_end(packet, location);
    }
    tkt_message_end(packet, mark);
}

static void put_takt_site(tkt_perfetto *file, const tkt_trace_site *site, uint32_t iid)
{
    tkt_message *packet = &file->message;
    size_t takt = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
    size_t mark = tkt_message_begin(packet, TKT_PF_TAKT_SITES);
    tkt_message_uint(packet, TKT_PF_SITE_IID, iid);
    tkt_perfetto_put_fields(file, packet, tkt_pf_site_fields, site);
    tkt_message_end(packet, mark);
    tkt_message_end(packet, takt);
}

/* Prepares the track_event of a slice's begin, ready to be copied: at most 20 bytes. */
static void make_event(tkt_perfetto_site *known, const tkt_trace_site *site)
{
    char *out = known->event + 2;
    out = tkt_pb_put_uint(out, TKT_PF_EVENT_TYPE, TKT_PF_SLICE_BEGIN);
    if (site->category)
        out = tkt_pb_put_uint(out, TKT_PF_EVENT_CATEGORY_IIDS, known->iid);
    out = tkt_pb_put_uint(out, TKT_PF_EVENT_NAME_IID, known->iid);
    if (site->file)
        out = tkt_pb_put_uint(out, TKT_PF_EVENT_LOCATION_IID, known->iid);
    known->size = (uint8_t)(out - known->event);
    tkt_pb_put_tag(known->event, TKT_PF_PACKET_TRACK_EVENT, TKT_PB_BYTES);
    known->event[1] = (char)(known->size - 2);
}

static bool make_room(tkt_perfetto *file, uint32_t site)
{
    if (site < file->sites.count)
        return true;
    size_t count = file->trace->sites.count;
    if (!TKT_ARRAY_RESERVE(&file->sites, count)) {
        tkt_perfetto_no_memory(file);
        return false;
    }
    memset(file->sites.items + file->sites.count, 0,
           (count - file->sites.count) * sizeof *file->sites.items);
    file->sites.count = count;
    return true;
}

/* Returns a site with its number in the file. *is_new: it got the number just now. NULL without
 * memory. */
static tkt_perfetto_site *number_site(tkt_perfetto *file, uint32_t site, bool *is_new)
{
    if (!make_room(file, site))
        return NULL;
    tkt_perfetto_site *known = &file->sites.items[site];
    *is_new = known->iid == 0;
    if (*is_new) {
        known->iid = ++file->site_count;
        make_event(known, &file->trace->sites.items[site]);
    }
    return known;
}

const tkt_perfetto_site *tkt_perfetto_introduce(tkt_perfetto *file, uint32_t row, uint32_t site)
{
    bool is_new;
    const tkt_perfetto_site *known = number_site(file, site, &is_new);
    if (!known)
        return NULL;
    const tkt_trace_site *from = &file->trace->sites.items[site];
    tkt_perfetto_packet(file, row);
    put_interned_site(file, from, known->iid);
    if (is_new)
        put_takt_site(file, from, known->iid);
    tkt_perfetto_packet_write(file);
    if (!tkt_perfetto_set_add(&file->rows.items[row].sites, known->iid))
        tkt_perfetto_no_memory(file);
    return known;
}

uint32_t tkt_perfetto_site_iid(tkt_perfetto *file, uint32_t site)
{
    bool is_new;
    const tkt_perfetto_site *known = number_site(file, site, &is_new);
    if (!known)
        return 0;
    if (is_new) {
        tkt_perfetto_packet(file, 0);
        put_takt_site(file, &file->trace->sites.items[site], known->iid);
        tkt_perfetto_packet_write(file);
    }
    return known->iid;
}

/* ---- Names of annotations -------------------------------------------------------------------- */

static void intern_key(tkt_perfetto *file, uint32_t row, uint32_t key, const char *name,
                       bool is_new)
{
    if (tkt_perfetto_set_has(&file->rows.items[row].keys, key))
        return;
    tkt_message *packet = tkt_perfetto_packet(file, row);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_INTERNED);
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_ANNOTATION_NAMES, key, name);
    tkt_message_end(packet, mark);
    if (is_new) {
        size_t takt = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
        mark = tkt_message_begin(packet, TKT_PF_TAKT_KEYS);
        tkt_message_uint(packet, TKT_PF_KEY_IID, key);
        tkt_message_string_if(packet, TKT_PF_KEY_NAME, name);
        tkt_message_end(packet, mark);
        tkt_message_end(packet, takt);
    }
    tkt_perfetto_packet_write(file);
    if (!tkt_perfetto_set_add(&file->rows.items[row].keys, key))
        tkt_perfetto_no_memory(file);
}

void tkt_perfetto_use_key(tkt_perfetto *file, uint32_t row, tkt_pf_key key)
{
    static const char *const names[TKT_PF_KEYS] = {
        [TKT_PF_KEY_BEGUN_BEFORE] = "begun before",
        [TKT_PF_KEY_UNFINISHED] = "unfinished",
        [TKT_PF_KEY_FLOPS] = "flops",
        [TKT_PF_KEY_BYTES] = "bytes",
        [TKT_PF_KEY_STEP] = "step",
        [TKT_PF_KEY_ADDRESS] = "address",
        [TKT_PF_KEY_SIZE] = "size",
        [TKT_PF_KEY_SPAN] = "span",
        [TKT_PF_KEY_CORRELATION] = "correlation",
        [TKT_PF_KEY_RESULT] = "result",
        [TKT_PF_KEY_CONTEXT] = "context",
        [TKT_PF_KEY_STREAM] = "stream",
        [TKT_PF_KEY_KIND] = "kind",
        [TKT_PF_KEY_THREAD] = "thread",
        [TKT_PF_KEY_NO_ACTIVITY] = "no activity",
        [TKT_PF_KEY_EVENT] = "wait_on_cuda_event_id",
        [TKT_PF_KEY_RECORD_CORRELATION] = "wait_on_cuda_event_record_corr_id",
        [TKT_PF_KEY_RECORD_STREAM] = "wait_on_stream",
    };
    intern_key(file, row, key, names[key], false);
}

uint32_t tkt_perfetto_arg_key(tkt_perfetto *file, uint32_t row, uint32_t string)
{
    uint64_t *number = tkt_map_put(&file->keys, string);
    if (!number) {
        tkt_perfetto_no_memory(file);
        return 0;
    }
    bool is_new = *number == 0;
    if (is_new)
        *number = TKT_PF_KEY_FIRST + file->key_count++;
    uint32_t key = (uint32_t)*number;
    intern_key(file, row, key, text(file, string), is_new);
    return key;
}

/* ======== Call stacks ======== */

/* Call stacks. The file contains their frames once for Takt. Each row that uses a stack also has it
 * as one of Perfetto's interned call stacks, which ui.perfetto.dev shows with the slice. Stacks,
 * frames and the modules of code have the trace's numbers plus 1. */

#define NAME_BYTES 1024

/* One set holds everything that has been interned on a row for call stacks. */
typedef enum interned_kind {
    STACK,
    FRAME,
    MAPPING,
    KINDS
} interned_kind;

/* True if the item is new on the row; adds it. */
static bool is_new(tkt_perfetto *file, uint32_t row, interned_kind kind, uint32_t number)
{
    tkt_perfetto_set *known = &file->rows.items[row].stacks;
    uint32_t key = number * KINDS + kind;
    if (tkt_perfetto_set_has(known, key))
        return false;
    if (!tkt_perfetto_set_add(known, key))
        tkt_perfetto_no_memory(file);
    return true;
}

void tkt_perfetto_stacks(tkt_perfetto *file)
{
    const takt_trace *trace = file->trace;
    for (size_t i = file->frame_count; i < trace->frames.count; i++) {
        tkt_message *packet = tkt_perfetto_takt(file, TKT_PF_TAKT_FRAMES);
        tkt_perfetto_put_fields(file, packet, tkt_pf_frame_fields, &trace->frames.items[i]);
        tkt_perfetto_takt_write(file);
    }
    for (size_t i = file->stack_count; i < trace->stacks.count; i++) {
        const tkt_stack *stack = &trace->stacks.items[i];
        tkt_message *packet = tkt_perfetto_takt(file, TKT_PF_TAKT_STACKS);
        size_t frames = tkt_message_begin(packet, TKT_PF_TAKT_STACK_FRAMES);
        for (uint32_t f = 0; f < stack->frame_count; f++)
            tkt_message_varint(packet, trace->stack_frames.items[stack->first_frame + f]);
        tkt_message_end(packet, frames);
        tkt_perfetto_takt_write(file);
    }
    file->frame_count = trace->frames.count;
    file->stack_count = trace->stacks.count;
}

/* Returns a module's number, or 0 if `module` is 0. It is the number of the first frame in the
 * module, which is found early in the list. */
static uint32_t intern_mapping(tkt_perfetto *file, uint32_t row, uint32_t module)
{
    uint32_t index = 0;
    if (module == 0)
        return 0;
    while (file->trace->frames.items[index].module != module)
        index++;
    if (!is_new(file, row, MAPPING, index))
        return index + 1;
    tkt_message *packet = &file->message;
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_MAPPING_PATHS, index + 1,
                              tkt_trace_text(file->trace, module));
    size_t mark = tkt_message_begin(packet, TKT_PF_INTERNED_MAPPINGS);
    tkt_message_uint(packet, TKT_PF_INTERNED_IID, index + 1);
    tkt_message_uint(packet, TKT_PF_MAPPING_PATHS, index + 1);
    tkt_message_end(packet, mark);
    return index + 1;
}

static void intern_frame(tkt_perfetto *file, uint32_t row, uint32_t index)
{
    if (!is_new(file, row, FRAME, index))
        return;
    const tkt_frame *frame = &file->trace->frames.items[index];
    tkt_message *packet = &file->message;
    char name[NAME_BYTES];
    uint32_t mapping = intern_mapping(file, row, frame->module);
    tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_FUNCTIONS, index + 1,
                              tkt_frame_function(name, sizeof name, file->trace, frame));
    if (frame->file)
        tkt_perfetto_put_interned(packet, TKT_PF_INTERNED_SOURCES, index + 1,
                                  tkt_trace_text(file->trace, frame->file));
    size_t mark = tkt_message_begin(packet, TKT_PF_INTERNED_FRAMES);
    tkt_message_uint(packet, TKT_PF_INTERNED_IID, index + 1);
    tkt_message_uint(packet, TKT_PF_FRAME_FUNCTION, index + 1);
    tkt_message_uint_if(packet, TKT_PF_FRAME_MAPPING, mapping);
    tkt_message_uint(packet, TKT_PF_FRAME_OFFSET, frame->offset);
    if (frame->file)
        tkt_message_uint(packet, TKT_PF_FRAME_SOURCE, index + 1);
    tkt_message_uint_if(packet, TKT_PF_FRAME_LINE, frame->line);
    tkt_message_end(packet, mark);
}

/* Perfetto lists the outermost frame first. */
static void intern_stack(tkt_perfetto *file, uint32_t row, uint32_t index)
{
    const takt_trace *trace = file->trace;
    const tkt_stack *stack = &trace->stacks.items[index];
    tkt_message *packet = tkt_perfetto_packet(file, row);
    size_t interned = tkt_message_begin(packet, TKT_PF_PACKET_INTERNED);
    for (uint32_t f = 0; f < stack->frame_count; f++)
        intern_frame(file, row, trace->stack_frames.items[stack->first_frame + f]);
    size_t mark = tkt_message_begin(packet, TKT_PF_INTERNED_STACKS);
    tkt_message_uint(packet, TKT_PF_INTERNED_IID, index + 1);
    for (uint32_t f = stack->frame_count; f-- > 0;)
        tkt_message_uint(packet, TKT_PF_STACK_FRAMES,
                         trace->stack_frames.items[stack->first_frame + f] + 1);
    tkt_message_end(packet, mark);
    tkt_message_end(packet, interned);
    tkt_perfetto_packet_write(file);
}

void tkt_perfetto_stack(tkt_perfetto *file, uint32_t row, uint32_t stack)
{
    if (is_new(file, row, STACK, stack))
        intern_stack(file, row, stack);
    tkt_message_uint(&file->annotations, TKT_PF_EVENT_STACK_IID, stack + 1);
}
