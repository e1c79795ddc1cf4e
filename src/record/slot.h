/* How events stand in a chunk: in slots of 16 bytes, which are takt_record where the event is a
 * span that fits. Every slot says in its tag what it is, so that a chunk can be read forwards and
 * backwards. An event of several slots begins with the one that names its kind; the others are
 * TKT_SLOT_MORE. It never straddles two chunks.
 *
 *     tag = id << 8 | depth      id: a call site with flags, or TKT_SLOT_FIRST + kind
 *
 * The depth of a span is its index in the stack, below TKT_DEEP. Deeper and longer spans are
 * TKT_SLOT_SPAN. The depth of any other event is the number of scopes that were open, saturating
 * at 255: the innermost of them owns the event. */
#ifndef TKT_RECORD_SLOT_H
#define TKT_RECORD_SLOT_H

#include <takt/scope.h>

#define TKT_SLOT_FIRST 0xFFFF00u
#define TKT_SITE_MAX   0x3FFFFFu /* leaves two bits of a tag to flags; never are both set */
#define TKT_DEEP       255u

/* A flag of the tag of a frame and its record, as TAKT_FRAME_PHASE: opened by a begin, which an end
 * ends. */
#define TKT_FRAME_PAIR 0x80000000u

/* The site in the tag of a site, a frame, or the record of a span. */
static inline uint32_t tkt_tag_site(uint32_t tag) { return tag >> 8 & TKT_SITE_MAX; }

static inline uint32_t tkt_frame_site(const takt_frame *frame) { return tkt_tag_site(frame->tag); }

typedef enum tkt_slot_kind { /* first slot: start, ticks        MORE: start, ticks */
    TKT_SLOT_MORE,
    TKT_SLOT_SPAN,           /* begin, site                     end, depth */
    TKT_SLOT_MARK,           /* time, site */
    TKT_SLOT_COUNTER,        /* time, site                      value (double) */
    TKT_SLOT_ARG_INT,        /* value, site of the key */
    TKT_SLOT_ARG_UINT,       /* value, site of the key */
    TKT_SLOT_ARG_DOUBLE,     /* value, site of the key */
    TKT_SLOT_ARG_BOOL,       /* value, site of the key */
    TKT_SLOT_ARG_STRING,     /* text id, site of the key */
    TKT_SLOT_WORK,           /* flops (double)                  bytes (double) */
    TKT_SLOT_MEMORY,         /* time                            address; bytes, negative: freed */
    TKT_SLOT_TASK,           /* begin, site of the name         end, track: a span of a track */
    TKT_SLOT_SPAN_AT,        /* begin ns, site of the name      end ns, track: with given times */
    TKT_SLOT_FLOW_BEGIN,     /* time                            id */
    TKT_SLOT_FLOW_END,       /* time                            id */
    TKT_SLOT_THREAD,         /* serial, thread id               0, text id of its name, who goes on */
    TKT_SLOT_NAME,           /* 0, text id: the thread is named */
    TKT_SLOT_GAP,            /* time: events are missing here */
    TKT_SLOT_CALL,           /* correlation, result << 32; depth of the span behind it, CAPTURING */
    TKT_SLOT_STACK,          /* begin of the span that it belongs to, number of its call stack */
    TKT_SLOT_KINDS
} tkt_slot_kind;

/* Beside the depth in TKT_SLOT_CALL: a stream was being captured. */
#define TKT_SLOT_CAPTURING 0x80000000u

static inline uint32_t tkt_slot_tag(tkt_slot_kind kind, uint32_t open_scopes)
{
    uint32_t depth = open_scopes < TKT_DEEP ? open_scopes : TKT_DEEP;
    return (TKT_SLOT_FIRST + (uint32_t)kind) << 8 | depth;
}

/* The tag comes last: in a crash-safe recording it says that the slot is written. */
static inline void tkt_slot_write(takt_record *slot, takt_record what)
{
    slot->start = what.start;
    slot->ticks = what.ticks;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    slot->tag = what.tag;
}

static inline uint32_t tkt_slot_depth(const takt_record *slot) { return slot->tag & 0xFFu; }

/* Whether it is a span of one slot; if not, it has a kind. */
static inline bool tkt_slot_is_plain(const takt_record *slot)
{
    return slot->tag >> 8 < TKT_SLOT_FIRST;
}

static inline tkt_slot_kind tkt_slot_kind_of(const takt_record *slot)
{
    return (tkt_slot_kind)((slot->tag >> 8) - TKT_SLOT_FIRST);
}

/* A span of either form. */
typedef struct tkt_slot_span {
    uint64_t begin; /* ticks */
    uint64_t end;
    uint32_t site;
    uint32_t depth;
} tkt_slot_span;

/* False when the event at `slot` is no span of a thread. */
static inline bool tkt_slot_read_span(const takt_record *slot, tkt_slot_span *span)
{
    if (tkt_slot_is_plain(slot)) {
        *span = (tkt_slot_span){slot->start, slot->start + slot->ticks, tkt_tag_site(slot->tag),
                                tkt_slot_depth(slot)};
        return true;
    }
    if (tkt_slot_kind_of(slot) != TKT_SLOT_SPAN)
        return false;
    *span = (tkt_slot_span){slot->start, slot[1].start, slot->ticks, slot[1].ticks};
    return true;
}

/* Whether an event that the program made begins here; notes of the library's own are none. */
static inline bool tkt_slot_is_event(const takt_record *slot)
{
    return tkt_slot_is_plain(slot) || (tkt_slot_kind_of(slot) != TKT_SLOT_MORE &&
                                       tkt_slot_kind_of(slot) < TKT_SLOT_THREAD);
}

/* Whether it has anything to do with a window; touching its begin from before is not enough. */
static inline bool tkt_slot_overlaps(const tkt_slot_span *span, uint64_t from, uint64_t until)
{
    return (span->end > from || span->begin >= from) && span->begin <= until;
}

#endif
