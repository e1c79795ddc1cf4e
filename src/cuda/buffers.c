/* The pool is a table of buffers and two lists through it: free ones and those that came back. Both
 * are stacks whose head holds an index and a count of changes, so that a head that was taken and
 * put back is not mistaken for an untouched one.
 *
 * A buffer's state goes IDLE -> HELD (CUPTI has it) -> FULL (the collector has it) -> IDLE. Only
 * who makes the step from HELD may go on, so that a buffer which comes back twice, or never was
 * ours, changes nothing. */
#include "cuda/buffers.h"

#include "cuda/collector.h"

#include <stdatomic.h>
#include <string.h>

#define RESERVE         4u /* free buffers that the collector sees to */
#define FIRST           8u
#define EMERGENCY_BYTES ((size_t)64 << 10)
#define EMERGENCIES     16u

enum {
    IDLE,
    HELD,
    FULL
};

typedef struct pool_buffer {
    uint8_t *bytes;
    size_t valid_bytes;     /* between FULL and IDLE */
    _Atomic(uint32_t) next; /* index + 1 in a list; 0 ends it */
    _Atomic(uint32_t) state;
    _Atomic(uint32_t) era; /* when CUPTI got it */
} pool_buffer;

typedef struct buffer_list {
    _Atomic(uint64_t) head;  /* changes << 32 | index + 1 */
    _Atomic(uint32_t) count; /* about */
} buffer_list;

static pool_buffer pool[TKT_MAX_BUFFERS];
static _Atomic(uint32_t) pool_size;
static _Atomic(uint32_t) era; /* counts flushes */
static buffer_list idle_list, full_list;
static uint8_t *emergency; /* EMERGENCIES buffers; NULL where CUPTI can be refused */
static _Atomic(uint32_t) emergency_holds[EMERGENCIES]; /* how often CUPTI has it */
static const tkt_record_sizes *record_sizes;
static _Atomic(uint64_t) lost_records, foreign_buffers, refusals;

static void push(buffer_list *list, uint32_t index)
{
    uint64_t head = atomic_load_explicit(&list->head, memory_order_relaxed), next;
    do {
        atomic_store_explicit(&pool[index].next, (uint32_t)head, memory_order_relaxed);
        next = ((head >> 32) + 1) << 32 | (index + 1);
        /* release: pairs with the acquire in pop(); whoever takes it sees the buffer's contents */
    } while (!atomic_compare_exchange_weak_explicit(&list->head, &head, next, memory_order_release,
                                                    memory_order_relaxed));
    atomic_fetch_add_explicit(&list->count, 1, memory_order_relaxed);
}

/* The index, or UINT32_MAX. */
static uint32_t pop(buffer_list *list)
{
    /* acquire: pairs with the release in push() */
    uint64_t head = atomic_load_explicit(&list->head, memory_order_acquire), next;
    do {
        if ((uint32_t)head == 0)
            return UINT32_MAX;
        next = atomic_load_explicit(&pool[(uint32_t)head - 1].next, memory_order_relaxed);
        next |= ((head >> 32) + 1) << 32;
    } while (!atomic_compare_exchange_weak_explicit(&list->head, &head, next, memory_order_acquire,
                                                    memory_order_acquire));
    atomic_fetch_sub_explicit(&list->count, 1, memory_order_relaxed);
    return (uint32_t)head - 1;
}

/* One that CUPTI does not have, or when it has them all the next one, so that what is handed out
 * twice has been out for longest. */
static uint8_t *take_emergency(void)
{
    uint32_t turn = atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
    for (uint32_t i = 0; emergency && i < EMERGENCIES; i++) {
        uint32_t nobody = 0, index = (turn + i) % EMERGENCIES;
        /* acquire: pairs with the release in throw_away() */
        if (atomic_compare_exchange_strong_explicit(&emergency_holds[index], &nobody, 1,
                                                    memory_order_acquire, memory_order_relaxed))
            return emergency + index * EMERGENCY_BYTES;
    }
    if (!emergency)
        return NULL;
    atomic_fetch_add_explicit(&emergency_holds[turn % EMERGENCIES], 1, memory_order_relaxed);
    return emergency + turn % EMERGENCIES * EMERGENCY_BYTES;
}

void tkt_buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *max_records = 0; /* as many as fit */
    uint32_t index = pop(&idle_list);
    if (index != UINT32_MAX) {
        /* relaxed: an era too early is a wait in vain, and the next flush is another era */
        atomic_store_explicit(&pool[index].era, atomic_load_explicit(&era, memory_order_relaxed),
                              memory_order_relaxed);
        /* release: pairs with the acquire of whoever finds it HELD */
        atomic_store_explicit(&pool[index].state, HELD, memory_order_release);
        *buffer = pool[index].bytes;
        *bytes = TKT_BUFFER_BYTES;
        return;
    }
    *buffer = take_emergency();
    *bytes = emergency ? EMERGENCY_BYTES : 0;
}

/* It may have been handed out twice: nothing in it is believed but that it is ours. */
static void throw_away(size_t index, size_t valid_bytes)
{
    uint8_t *buffer = emergency + index * EMERGENCY_BYTES;
    if (valid_bytes > EMERGENCY_BYTES)
        valid_bytes = EMERGENCY_BYTES;
    uint64_t records = 0;
    for (size_t at = 0; at + sizeof(uint32_t) <= valid_bytes; records++) {
        uint32_t kind;
        memcpy(&kind, buffer + at, sizeof kind);
        if (kind >= TKT_CUPTI_KINDS || record_sizes->bytes[kind] == 0)
            break;
        at += record_sizes->bytes[kind];
    }
    atomic_fetch_add_explicit(&lost_records, records, memory_order_relaxed);
    uint32_t holds = atomic_load_explicit(&emergency_holds[index], memory_order_relaxed);
    if (holds == 1)
        memset(buffer, 0, EMERGENCY_BYTES);
    /* release: pairs with the acquire in take_emergency(). Given back once too often it stays. */
    while (holds &&
           !atomic_compare_exchange_weak_explicit(&emergency_holds[index], &holds, holds - 1,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

/* The index, or UINT32_MAX. A walk: it is done once for so many thousand records. */
static uint32_t find(const uint8_t *buffer)
{
    /* acquire: pairs with the release in add_buffer() */
    uint32_t size = atomic_load_explicit(&pool_size, memory_order_acquire);
    for (uint32_t i = 0; i < size; i++)
        if (pool[i].bytes == buffer)
            return i;
    return UINT32_MAX;
}

void tkt_buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                          size_t valid_bytes)
{
    (void)context, (void)stream, (void)bytes;
    size_t offset = (uintptr_t)buffer - (uintptr_t)emergency;
    if (emergency && offset < EMERGENCIES * EMERGENCY_BYTES && offset % EMERGENCY_BYTES == 0) {
        throw_away(offset / EMERGENCY_BYTES, valid_bytes);
        return;
    }
    uint32_t index = find(buffer);
    uint32_t held = HELD;
    /* acquire: pairs with the release in tkt_buffers_request() */
    if (index == UINT32_MAX ||
        !atomic_compare_exchange_strong_explicit(&pool[index].state, &held, FULL,
                                                 memory_order_acquire, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&foreign_buffers, 1, memory_order_relaxed);
        return;
    }
    pool[index].valid_bytes = valid_bytes < TKT_BUFFER_BYTES ? valid_bytes : TKT_BUFFER_BYTES;
    push(&full_list, index);
    tkt_collector_nudge();
}

bool tkt_buffers_setup(const tkt_record_sizes *sizes, bool may_refuse)
{
    record_sizes = sizes;
    if (!may_refuse && !emergency)
        emergency = tkt_alloc_zeroed(EMERGENCIES * EMERGENCY_BYTES);
    return may_refuse || emergency;
}

static bool add_buffer(void)
{
    uint32_t size = atomic_load_explicit(&pool_size, memory_order_relaxed);
    pool[size].bytes = tkt_alloc_zeroed(TKT_BUFFER_BYTES);
    if (!pool[size].bytes)
        return false;
    /* release: pairs with the acquire in find() */
    atomic_store_explicit(&pool_size, size + 1, memory_order_release);
    push(&idle_list, size);
    return true;
}

/* After requests that found nothing the pool doubles, otherwise the reserve is made up. */
bool tkt_buffers_grow(size_t limit)
{
    uint32_t size = atomic_load_explicit(&pool_size, memory_order_relaxed);
    uint32_t idle = atomic_load_explicit(&idle_list.count, memory_order_relaxed);
    uint32_t wanted = idle < RESERVE ? size + RESERVE - idle : size;
    if (atomic_exchange_explicit(&refusals, 0, memory_order_relaxed))
        wanted = 2 * size;
    if (wanted < FIRST)
        wanted = FIRST;
    if (limit > TKT_MAX_BUFFERS)
        limit = TKT_MAX_BUFFERS;
    while (size < wanted && size < limit && add_buffer())
        size++;
    return size > 0;
}

void tkt_buffers_drain(void (*use)(const void *buffer, size_t valid_bytes))
{
    uint32_t order[TKT_MAX_BUFFERS];
    uint32_t count = 0;
    while (count < TKT_MAX_BUFFERS) {
        uint32_t index = pop(&full_list);
        if (index == UINT32_MAX)
            break;
        order[count++] = index;
    }
    while (count > 0) {
        pool_buffer *buffer = &pool[order[--count]];
        use(buffer->bytes, buffer->valid_bytes);
        memset(buffer->bytes, 0, buffer->valid_bytes);
        atomic_store_explicit(&buffer->state, IDLE, memory_order_relaxed);
        push(&idle_list, order[count]);
    }
}

void tkt_buffers_begin_era(void)
{
    atomic_fetch_add_explicit(&era, 1, memory_order_relaxed);
}

bool tkt_buffers_are_late(void)
{
    uint32_t now = atomic_load_explicit(&era, memory_order_relaxed);
    uint32_t size = atomic_load_explicit(&pool_size, memory_order_acquire);
    for (uint32_t i = 0; i < size; i++) {
        /* acquire: pairs with the release in tkt_buffers_request() */
        bool is_held = atomic_load_explicit(&pool[i].state, memory_order_acquire) == HELD;
        if (is_held && atomic_load_explicit(&pool[i].era, memory_order_relaxed) != now)
            return true;
    }
    return atomic_load_explicit(&full_list.count, memory_order_relaxed) != 0;
}

tkt_buffer_losses tkt_buffers_take_losses(void)
{
    return (tkt_buffer_losses){
        atomic_exchange_explicit(&lost_records, 0, memory_order_relaxed),
        atomic_exchange_explicit(&foreign_buffers, 0, memory_order_relaxed),
    };
}
