/* One lock guards the pool. It is held for a few list operations, never while making a buffer,
 * decoding one or calling CUPTI. A thread takes it once per buffer, which is every hundredth of a
 * second at most.
 *
 * A buffer that comes back counts only if `held` lists it. A buffer that comes back twice, or never
 * was ours, therefore changes nothing. */
#include "cuda/collector.h"

#include "base/containers.h"
#include "base/lock.h"

#include <takt/scope.h>

#include <string.h>

#define EMERGENCY_BYTES ((size_t)64 << 10)
#define EMERGENCIES     16u

/* If a thread's buffer lasts less than SHORT_NS, its next one is larger; if more than LONG_NS,
 * smaller. */
#define SHORT_NS UINT64_C(10000000)
#define LONG_NS  UINT64_C(40000000)

/* A size of buffers: bytes, and at most this many records (0: as many as fit; a kernel's record has
 * some 220 bytes). Each size holds about four times as many records as the one before. The smallest
 * holds two, since CUPTI may add a record of kind OVERHEAD about the request itself. */
typedef struct buffer_size {
    uint32_t bytes;
    uint32_t max_records;
    uint32_t class; /* same for all sizes with as many bytes */
} buffer_size;

static const buffer_size sizes[] = {
    {TKT_BUFFER_LEAST_BYTES, 2, 0}, {TKT_BUFFER_LEAST_BYTES, 5, 0},
    {TKT_BUFFER_LEAST_BYTES, 0, 0}, {TKT_BUFFER_LEAST_BYTES * 4, 0, 1},
    {TKT_BUFFER_MOST_BYTES, 0, 2},
};
#define SIZES   (sizeof sizes / sizeof *sizes)
#define CLASSES 3
#define FIRST   1u /* a thread's first size */
#define HABITS  512u

typedef struct pool_buffer {
    struct pool_buffer *next;
    struct pool_buffer *previous; /* in `held` */
    uint64_t number;              /* how many buffers were handed out before it */
    size_t valid_bytes;           /* once it has come back */
    uint32_t bytes;
    uint32_t class;
    _Alignas(16) uint8_t data[]; /* CUPTI's buffer */
} pool_buffer;

static tkt_mutex pool_lock = TKT_MUTEX_INIT;

/* Guarded by the lock. */
static pool_buffer *idle[CLASSES];
static uint64_t idle_bytes;
static pool_buffer held = {.next = &held, .previous = &held}; /* oldest first */
static tkt_map held_index;                                    /* address of data -> pool_buffer */
static pool_buffer *first_full, **last_full = &first_full;    /* in order of return */
static uint64_t all_bytes, most_bytes, handed_out;
static uint64_t full_until = UINT64_MAX; /* number of the oldest buffer that is back but not
                                          * drained */
static tkt_buffer_losses losses;
static const tkt_record_sizes *record_sizes;
static uint8_t *emergency; /* EMERGENCIES buffers; NULL if CUPTI accepts refusals */
static uint32_t emergency_holds[EMERGENCIES]; /* how often CUPTI has been given it */
static uint32_t emergency_turn;

/* Guarded by the lock. The size that each thread needs, judged by how long its last buffer lasted.
 * The address of a thread-local variable identifies the thread; threads whose addresses collide
 * share an entry. */
static struct {
    uint64_t asked_ns; /* time of the latest request; 0: none */
    uint64_t size;     /* index of `sizes` */
} habits[HABITS];

/* ---- Out ------------------------------------------------------------------------------------- */

static const buffer_size *choose_size(void)
{
    uint64_t thread = (uintptr_t)&takt_thread_hot_v1, now_ns = takt_now_ns();
    tkt_mutex_lock(&pool_lock);
    uint64_t *asked_ns = &habits[tkt_hash_u64(thread) % HABITS].asked_ns;
    uint64_t *size = &habits[tkt_hash_u64(thread) % HABITS].size;
    uint64_t lasted_ns = *asked_ns ? now_ns - *asked_ns : SHORT_NS;
    if (*asked_ns == 0)
        *size = FIRST;
    if (lasted_ns < SHORT_NS && *size + 1 < SIZES)
        ++*size;
    for (; lasted_ns > LONG_NS && *size > 0; lasted_ns /= 4)
        --*size;
    *asked_ns = now_ns;
    const buffer_size *chosen = &sizes[*size];
    tkt_mutex_unlock(&pool_lock);
    return chosen;
}

/* With the lock. */
static pool_buffer *take_idle(uint32_t class)
{
    pool_buffer *buffer = idle[class];
    if (buffer) {
        idle[class] = buffer->next;
        idle_bytes -= buffer->bytes;
    }
    return buffer;
}

/* With the lock. */
static void free_buffer(pool_buffer *buffer)
{
    all_bytes -= buffer->bytes;
    tkt_free(buffer);
}

/* With the lock: frees unused buffers until `bytes` more fit. False if they still do not. */
static bool make_room(uint32_t bytes)
{
    for (uint32_t class = CLASSES; class -- > 0;) {
        while (all_bytes + bytes > most_bytes && idle[class])
            free_buffer(take_idle(class));
    }
    return all_bytes + bytes <= most_bytes;
}

/* Reserves the bytes first, which keeps all threads together below the limit. NULL without room. */
static pool_buffer *new_buffer(const buffer_size *size)
{
    tkt_mutex_lock(&pool_lock);
    bool has_room = make_room(size->bytes);
    all_bytes += has_room ? size->bytes : 0;
    tkt_mutex_unlock(&pool_lock);
    pool_buffer *buffer = has_room ? tkt_alloc_zeroed(sizeof *buffer + size->bytes) : NULL;
    if (buffer) {
        buffer->bytes = size->bytes;
        buffer->class = size->class;
    } else if (has_room) {
        tkt_mutex_lock(&pool_lock);
        all_bytes -= size->bytes;
        tkt_mutex_unlock(&pool_lock);
    }
    return buffer;
}

/* With the lock: lists a buffer that goes to CUPTI; false without memory. */
static bool hold(pool_buffer *buffer)
{
    uint64_t *place = tkt_map_put(&held_index, (uintptr_t)buffer->data);
    if (!place)
        return false;
    *place = (uintptr_t)buffer;
    buffer->number = handed_out++;
    buffer->next = &held;
    buffer->previous = held.previous;
    buffer->previous->next = buffer;
    held.previous = buffer;
    return true;
}

/* With the lock. Takes an emergency buffer that CUPTI does not have. If CUPTI has them all, takes
 * the next in turn, which was given out longest ago. */
static uint8_t *take_emergency(void)
{
    uint32_t turn = emergency_turn++ % EMERGENCIES, chosen = turn;
    for (uint32_t i = 0; i < EMERGENCIES && emergency_holds[chosen]; i++)
        chosen = (turn + i) % EMERGENCIES;
    if (emergency_holds[chosen])
        chosen = turn;
    emergency_holds[chosen]++;
    return emergency + chosen * EMERGENCY_BYTES;
}

static void refuse(uint8_t **buffer, size_t *bytes)
{
    tkt_mutex_lock(&pool_lock);
    losses.refused++;
    *buffer = emergency ? take_emergency() : NULL;
    *bytes = emergency ? EMERGENCY_BYTES : 0;
    tkt_mutex_unlock(&pool_lock);
}

/* Returns a buffer of this size or, without room, of a smaller one. */
static pool_buffer *find_buffer(const buffer_size **size)
{
    for (;; --*size) {
        tkt_mutex_lock(&pool_lock);
        pool_buffer *buffer = take_idle((*size)->class);
        tkt_mutex_unlock(&pool_lock);
        if (!buffer)
            buffer = new_buffer(*size);
        if (buffer || (*size)->class == 0)
            return buffer;
    }
}

void tkt_buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    const buffer_size *size = choose_size();
    pool_buffer *found = find_buffer(&size);
    bool is_held = false;
    if (found) {
        tkt_mutex_lock(&pool_lock);
        is_held = hold(found);
        if (!is_held)
            free_buffer(found);
        tkt_mutex_unlock(&pool_lock);
    }
    *max_records = is_held ? size->max_records : 0;
    if (!is_held) {
        refuse(buffer, bytes);
        return;
    }
    *buffer = found->data;
    *bytes = found->bytes;
}

/* ---- Back ------------------------------------------------------------------------------------ */

/* With the lock. Counts the records of an emergency buffer. Two threads may have written to it, so
 * its content is not trusted. */
static void throw_away(size_t index, size_t valid_bytes)
{
    uint8_t *buffer = emergency + index * EMERGENCY_BYTES;
    if (valid_bytes > EMERGENCY_BYTES)
        valid_bytes = EMERGENCY_BYTES;
    for (size_t at = 0; at + sizeof(uint32_t) <= valid_bytes; losses.records++) {
        uint32_t kind;
        memcpy(&kind, buffer + at, sizeof kind);
        if (kind >= TKT_CUPTI_KINDS || record_sizes->bytes[kind] == 0)
            break;
        at += record_sizes->bytes[kind];
    }
    if (emergency_holds[index] == 1)
        memset(buffer, 0, EMERGENCY_BYTES);
    if (emergency_holds[index]) /* 0 if CUPTI gave it back once too often */
        emergency_holds[index]--;
}

/* With the lock. False if `buffer` is not an emergency buffer. */
static bool complete_emergency(const uint8_t *buffer, size_t valid_bytes)
{
    size_t offset = (uintptr_t)buffer - (uintptr_t)emergency;
    if (!emergency || !buffer || offset >= EMERGENCIES * EMERGENCY_BYTES ||
        offset % EMERGENCY_BYTES)
        return false;
    throw_away(offset / EMERGENCY_BYTES, valid_bytes);
    return true;
}

/* With the lock. NULL if CUPTI does not have this buffer. */
static pool_buffer *take_held(const uint8_t *data)
{
    const uint64_t *place = data ? tkt_map_get(&held_index, (uintptr_t)data) : NULL;
    if (!place)
        return NULL;
    pool_buffer *buffer = (pool_buffer *)(uintptr_t)*place;
    tkt_map_remove(&held_index, (uintptr_t)data);
    buffer->previous->next = buffer->next;
    buffer->next->previous = buffer->previous;
    return buffer;
}

/* With the lock. */
static void add_full(pool_buffer *buffer, size_t valid_bytes)
{
    buffer->valid_bytes = valid_bytes < buffer->bytes ? valid_bytes : buffer->bytes;
    buffer->next = NULL;
    *last_full = buffer;
    last_full = &buffer->next;
    if (buffer->number < full_until)
        full_until = buffer->number;
}

void tkt_buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                          size_t valid_bytes)
{
    (void)context;
    (void)stream;
    (void)bytes;
    tkt_mutex_lock(&pool_lock);
    pool_buffer *back = take_held(buffer);
    if (back)
        add_full(back, valid_bytes);
    else if (!complete_emergency(buffer, valid_bytes))
        losses.foreign++;
    tkt_mutex_unlock(&pool_lock);
    if (back)
        tkt_collector_nudge();
}

/* ---- For the collector ----------------------------------------------------------------------- */

bool tkt_buffers_setup(const tkt_record_sizes *wanted_sizes, bool may_refuse)
{
    uint8_t *bytes = may_refuse ? NULL : tkt_alloc_zeroed(EMERGENCIES * EMERGENCY_BYTES);
    if (!may_refuse && !bytes)
        return false;
    tkt_mutex_lock(&pool_lock);
    record_sizes = wanted_sizes;
    if (!emergency) {
        emergency = bytes;
        bytes = NULL;
    }
    tkt_mutex_unlock(&pool_lock);
    tkt_free(bytes);
    return true;
}

void tkt_buffers_limit(uint64_t bytes)
{
    tkt_mutex_lock(&pool_lock);
    most_bytes = bytes;
    tkt_mutex_unlock(&pool_lock);
}

uint64_t tkt_buffers_bytes(void)
{
    tkt_mutex_lock(&pool_lock);
    uint64_t bytes = all_bytes;
    tkt_mutex_unlock(&pool_lock);
    return bytes;
}

static pool_buffer *take_full(void)
{
    tkt_mutex_lock(&pool_lock);
    pool_buffer *full = first_full;
    first_full = NULL;
    last_full = &first_full;
    tkt_mutex_unlock(&pool_lock);
    return full;
}

static void make_idle(pool_buffer *buffer)
{
    memset(buffer->data, 0, buffer->valid_bytes);
    tkt_mutex_lock(&pool_lock);
    buffer->next = idle[buffer->class];
    idle[buffer->class] = buffer;
    idle_bytes += buffer->bytes;
    tkt_mutex_unlock(&pool_lock);
}

/* Until the last buffer is decoded, full_until stays at the oldest one taken. */
void tkt_buffers_drain(void (*use)(const void *buffer, size_t valid_bytes))
{
    for (pool_buffer *full; (full = take_full()) != NULL;) {
        while (full) {
            pool_buffer *next = full->next;
            use(full->data, full->valid_bytes);
            make_idle(full);
            full = next;
        }
    }
    tkt_mutex_lock(&pool_lock);
    if (!first_full)
        full_until = UINT64_MAX;
    tkt_mutex_unlock(&pool_lock);
}

void tkt_buffers_trim(uint64_t most_idle_bytes)
{
    tkt_mutex_lock(&pool_lock);
    for (uint32_t class = CLASSES; class -- > 0;) {
        while (idle_bytes > most_idle_bytes && idle[class])
            free_buffer(take_idle(class));
    }
    tkt_mutex_unlock(&pool_lock);
}

tkt_buffer_losses tkt_buffers_take_losses(void)
{
    tkt_mutex_lock(&pool_lock);
    tkt_buffer_losses taken = losses;
    losses = (tkt_buffer_losses){0};
    tkt_mutex_unlock(&pool_lock);
    return taken;
}

uint64_t tkt_buffers_count(void)
{
    tkt_mutex_lock(&pool_lock);
    uint64_t count = handed_out;
    tkt_mutex_unlock(&pool_lock);
    return count;
}

bool tkt_buffers_are_back(uint64_t count)
{
    tkt_mutex_lock(&pool_lock);
    bool are_back = (held.next == &held || held.next->number >= count) && full_until >= count;
    tkt_mutex_unlock(&pool_lock);
    return are_back;
}

void tkt_buffers_forget(void)
{
    tkt_mutex_init(&pool_lock);
}
