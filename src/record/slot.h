/* The layout of events in a chunk. A chunk consists of slots of 16 bytes; a slot is a takt_record,
 * and a short span takes one. The tag of every slot identifies its content, so a chunk can be read
 * forwards and backwards. The first slot of a longer event names its kind; the others are
 * TKT_SLOT_MORE. An event never straddles two chunks.
 *
 *     tag = id << 8 | depth      id: a call site with flags, or TKT_SLOT_FIRST + kind
 *
 * The depth of a span is its index in the stack, below TKT_DEEP. Deeper and longer spans are
 * TKT_SLOT_SPAN. The depth of any other event is the number of open scopes, at most 255: the
 * innermost of them owns the event. */
#ifndef TKT_RECORD_SLOT_H
#define TKT_RECORD_SLOT_H

#include <takt/scope.h>

#include <string.h>

#define TKT_SLOT_FIRST 0xFFFF00u
#define TKT_SITE_MAX   0x1FFFFFu /* leaves three bits of a tag for flags */
#define TKT_DEEP       255u

/* A flag in the tag of a frame and of its record, like TAKT_FRAME_PHASE: TAKT_BEGIN or takt_begin()
 * opened the scope, and an END closes it. */
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
    TKT_SLOT_THREAD,         /* serial, thread id               0, text id of the thread's name */
    TKT_SLOT_NAME,           /* 0, text id: the thread has a new name */
    TKT_SLOT_GAP,            /* since when events are missing here */
    TKT_SLOT_CALL,           /* correlation | result << 32; depth of the next span | CAPTURING */
    TKT_SLOT_STACK,          /* begin of the span that it belongs to, number of its call stack */
    TKT_SLOT_BOUNDARY,       /* number of the last one before the slots that follow */
    TKT_SLOT_KINDS
} tkt_slot_kind;

/* A flag next to the depth in TKT_SLOT_CALL: a stream was being captured. */
#define TKT_SLOT_CAPTURING 0x80000000u

static inline uint32_t tkt_slot_tag(tkt_slot_kind kind, uint32_t open_scopes)
{
    uint32_t depth = open_scopes < TKT_DEEP ? open_scopes : TKT_DEEP;
    return (TKT_SLOT_FIRST + (uint32_t)kind) << 8 | depth;
}

static inline uint64_t tkt_slot_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double tkt_slot_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Stores the tag last: in a crash-safe recording, a tag other than 0 commits the slot. */
static inline void tkt_slot_write(takt_record *slot, takt_record content)
{
    slot->start = content.start;
    slot->ticks = content.ticks;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&slot->tag, content.tag, __ATOMIC_RELAXED); /* not merged with `ticks` */
}

static inline uint32_t tkt_slot_depth(const takt_record *slot) { return slot->tag & 0xFFu; }

/* True for a span of one slot. All other slots have a kind. */
static inline bool tkt_slot_is_plain(const takt_record *slot)
{
    return slot->tag >> 8 < TKT_SLOT_FIRST;
}

static inline tkt_slot_kind tkt_slot_kind_of(const takt_record *slot)
{
    return (tkt_slot_kind)((slot->tag >> 8) - TKT_SLOT_FIRST);
}

static inline bool tkt_slot_is(const takt_record *slot, tkt_slot_kind kind)
{
    return !tkt_slot_is_plain(slot) && tkt_slot_kind_of(slot) == kind;
}

/* A span of one slot or two. */
typedef struct tkt_slot_span {
    uint64_t begin; /* ticks */
    uint64_t end;
    uint32_t site;
    uint32_t depth;
} tkt_slot_span;

/* False when the event at `slot` is not a span of a thread. */
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

/* True where an event of a thread begins that is no span, and has its time in the first slot. */
static inline bool tkt_slot_is_moment(const takt_record *slot)
{
    tkt_slot_kind kind = tkt_slot_is_plain(slot) ? TKT_SLOT_MORE : tkt_slot_kind_of(slot);
    return kind == TKT_SLOT_MARK || kind == TKT_SLOT_COUNTER || kind == TKT_SLOT_MEMORY ||
           kind == TKT_SLOT_FLOW_BEGIN || kind == TKT_SLOT_FLOW_END;
}

/* True where an event of the program begins; the library's own notes do not count. */
static inline bool tkt_slot_is_event(const takt_record *slot)
{
    return tkt_slot_is_plain(slot) || (tkt_slot_kind_of(slot) != TKT_SLOT_MORE &&
                                       tkt_slot_kind_of(slot) < TKT_SLOT_THREAD);
}

/* True if the span belongs to the window. Ending just where the window begins is not enough. */
static inline bool tkt_slot_overlaps(const tkt_slot_span *span, uint64_t from, uint64_t until)
{
    return (span->end > from || span->begin >= from) && span->begin <= until;
}

#endif
