/* The file of a crash-safe recording. */
#include "record/mapping.h"

#include "base/error.h"
#include "base/file.h"
#include "record/control.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ======== The file ======== */

#define PAGE_BYTES  4096u
#define WARM_BYTES  (8u << 20) /* of chunks: touched in advance, to spare recording page faults */
#define LEAST_LOGS  64u
#define MOST_LOGS   512u
#define MORE_CHUNKS 64u /* in addition to two for each log */

_Static_assert(offsetof(tkt_mapping_log, frames) == PAGE_BYTES, "frames begin on a page");
_Static_assert(TAKT_LOSS_COUNT <= TKT_MAPPING_LOSSES, "losses have room");
_Static_assert(sizeof(tkt_mapping_log) % PAGE_BYTES == 0, "and so does the next log");

tkt_mapping_head *tkt_mapping_active;

static tkt_mutex names_lock = TKT_MUTEX_INIT;
static tkt_mutex window_lock = TKT_MUTEX_INIT;
static tkt_shared file;
static uint64_t most_bytes; /* of chunks */

static void *at(const tkt_mapping_head *head, const tkt_mapping_part *part, uint64_t index)
{
    return (uint8_t *)head + part->at + index * part->item_bytes;
}

/* ---- The file -------------------------------------------------------------------------------- */

static tkt_mapping_part add_part(uint64_t *end, size_t item_bytes, uint64_t count)
{
    tkt_mapping_part part = {*end, (uint32_t)item_bytes, (uint32_t)count};
    *end = (*end + item_bytes * count + TKT_CHUNK_BYTES - 1) / TKT_CHUNK_BYTES * TKT_CHUNK_BYTES;
    return part;
}

static uint32_t count_logs(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < (long)LEAST_LOGS / 2)
        return LEAST_LOGS;
    return processors > (long)MOST_LOGS / 2 ? MOST_LOGS : 2 * (uint32_t)processors;
}

static tkt_mapping_head plan(uint64_t bytes, const tkt_mapping_part *devices, size_t run_bytes)
{
    tkt_mapping_head head = {
        .version = TKT_MAPPING_VERSION,
        .head_bytes = sizeof head,
        .slot_bytes = sizeof(takt_record),
        .frame_bytes = sizeof(takt_frame),
        .max_depth = TKT_MAX_DEPTH,
        .process_id = tkt_process_id(),
    };
    uint32_t logs = count_logs();
    uint64_t end = TKT_CHUNK_BYTES;
    uint64_t chunks = tkt_pool_round(bytes / TKT_CHUNK_BYTES + 2 * logs + MORE_CHUNKS);
    head.windows = add_part(&end, sizeof(tkt_mapping_window), TKT_MAPPING_WINDOWS);
    head.tasks = add_part(&end, sizeof(tkt_task), TKT_MAPPING_TASKS);
    head.steps = add_part(&end, sizeof(tkt_mapping_step), TKT_MAPPING_STEPS);
    head.logs = add_part(&end, sizeof(tkt_mapping_log), logs);
    head.names = add_part(&end, 1, TKT_MAPPING_NAME_BYTES);
    head.chunks = add_part(&end, sizeof(tkt_chunk), chunks);
    head.devices = add_part(&end, devices->item_bytes, devices->count);
    head.run = add_part(&end, run_bytes, 2);
    head.file_bytes = end;
    snprintf(head.clock, sizeof head.clock, "%s", tkt_clock_name());
    return head;
}

/* Runs after everything that a program has registered with atexit(). The file stays if a cycle was
 * not saved. */
__attribute__((destructor)) static void remove_file(void)
{
    const tkt_mapping_head *head = tkt_mapping();
    if (!head || head->process_id != tkt_process_id())
        return;
    const tkt_mapping_window *windows = at(head, &head->windows, 0);
    for (uint32_t i = 0; i < head->windows.count; i++)
        if (__atomic_load_n(&windows[i].state, __ATOMIC_RELAXED))
            return;
    tkt_shared_remove(&file);
}

static void add_text(tkt_mapping_kind kind, const void *facts, size_t facts_bytes,
                     const tkt_text *texts, size_t count);

static uint32_t warm_chunks(const tkt_mapping_head *head)
{
    uint32_t most = WARM_BYTES / TKT_CHUNK_BYTES;
    return head->chunks.count < most ? head->chunks.count : most;
}

/* Gives memory to all but chunks, which come later, and touches the first of those. */
static bool warm(const tkt_mapping_head *head)
{
    uint64_t chunk_bytes = (uint64_t)warm_chunks(head) * TKT_CHUNK_BYTES;
    if (!tkt_shared_ready(&file, file.at, head->chunks.at + chunk_bytes) ||
        !tkt_shared_ready(&file, at(file.at, &head->run, 0), 2 * (size_t)head->run.item_bytes))
        return false;
    if (file.is_reserved) /* of the others the first are touched by now */
        memset(at(file.at, &head->chunks, 0), 0, chunk_bytes);
    return true;
}

bool tkt_mapping_ready(void *at, size_t bytes)
{
    return tkt_shared_ready(&file, at, bytes);
}

takt_status tkt_mapping_create(const char *path, uint64_t bytes, const tkt_mapping_part *devices,
                               size_t run_bytes, const char *name, takt_error *error)
{
    if (tkt_mapping()) {
        if (bytes > most_bytes)
            tkt_log(
                TAKT_LOG_WARNING,
                "crash-safe file %s has room for %lu MiB of events, not for %lu: give the first "
                "profiler the largest max_memory",
                file.name, (unsigned long)(most_bytes >> 20), (unsigned long)(bytes >> 20));
        return TAKT_OK;
    }
    tkt_mapping_head head = plan(bytes, devices, run_bytes);
    takt_status status = tkt_shared_create(path, ".crash", head.file_bytes, &file, error);
    if (status == TAKT_OK && !warm(&head)) {
        tkt_shared_remove(&file);
        tkt_shared_unmap(&file, head.file_bytes);
        status = tkt_error_set(error, TAKT_IO_ERROR, "no memory for %s: %s", file.name,
                               strerror(ENOSPC));
    }
    if (status != TAKT_OK)
        return status;
    most_bytes = bytes;
    memcpy(file.at, &head, sizeof head);
    tkt_pool_map(at(file.at, &head.chunks, 0), head.chunks.count,
                 (uint32_t)(bytes / TKT_CHUNK_BYTES), warm_chunks(&head));
    __atomic_store_n(&tkt_mapping_active, file.at, __ATOMIC_RELEASE);
    const tkt_text text = {name, strlen(name)};
    add_text(TKT_MAPPING_RUN, NULL, 0, &text, 1);
    tkt_site_visit(tkt_mapping_add_site, tkt_mapping_add_text);
    tkt_stack_visit(tkt_mapping_add_stack);
    tkt_mapping_barrier();
    __atomic_store_n(&tkt_mapping_active->magic, TKT_MAPPING_MAGIC, __ATOMIC_RELEASE);
    tkt_log(TAKT_LOG_INFO, "crash-safe recording in %s", file.name);
    return TAKT_OK;
}

const char *tkt_mapping_path(void)
{
    return file.name;
}

void tkt_mapping_free(void)
{
    tkt_mapping_head *head = tkt_mapping();
    if (!head)
        return;
    remove_file();
    tkt_mapping_leave();
    tkt_shared_unmap(&file, head->file_bytes);
}

void tkt_mapping_leave(void)
{
    __atomic_store_n(&tkt_mapping_active, NULL, __ATOMIC_RELAXED);
    tkt_mutex_init(&names_lock);
    tkt_mutex_init(&window_lock);
}

tkt_mapping_log *tkt_mapping_log_at(uint32_t number)
{
    tkt_mapping_head *head = tkt_mapping();
    if (!head)
        return NULL;
    if (number >= head->logs.count) {
        __atomic_fetch_add(&head->logs_lost, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    tkt_mapping_log *log = at(head, &head->logs, number);
    log->is_used = 1;
    return log;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* With the lock: returns room for an entry; NULL, and counts it, when there is none. Notes and
 * values of arguments may come without end, so they stop at half of the room. */
static tkt_mapping_entry *new_entry(tkt_mapping_head *head, size_t payload, bool is_endless)
{
    size_t bytes = (sizeof(tkt_mapping_entry) + payload + 7) / 8 * 8;
    uint64_t end = is_endless ? head->names.count / 2 : head->names.count;
    /* the entry after the last one is 0 */
    if (head->names_used + bytes + sizeof(tkt_mapping_entry) > end) {
        head->names_lost++;
        return NULL;
    }
    tkt_mapping_entry *entry = at(head, &head->names, head->names_used);
    head->names_used += bytes;
    entry->bytes = (uint32_t)bytes;
    return entry;
}

static void commit(tkt_mapping_entry *entry, tkt_mapping_kind kind)
{
    tkt_mapping_barrier();
    __atomic_store_n(&entry->kind, (uint32_t)kind, __ATOMIC_RELEASE);
}

/* Writes an entry of facts, followed by texts. */
static void add_text(tkt_mapping_kind kind, const void *facts, size_t facts_bytes,
                     const tkt_text *texts, size_t count)
{
    tkt_mapping_head *head = tkt_mapping();
    size_t bytes = facts_bytes;
    bool is_endless = kind == TKT_MAPPING_VALUE;
    for (size_t i = 0; i < count; i++)
        bytes += texts[i].size + 1;
    uint64_t was = tkt_busy_lock(&names_lock);
    tkt_mapping_entry *entry = head ? new_entry(head, bytes, is_endless) : NULL;
    if (entry) {
        char *to = (char *)(entry + 1);
        if (facts_bytes)
            memcpy(to, facts, facts_bytes);
        to += facts_bytes;
        for (size_t i = 0; i < count; i++) {
            memcpy(to, texts[i].bytes, texts[i].size + 1);
            to += texts[i].size + 1;
        }
        commit(entry, kind);
    }
    tkt_busy_unlock(&names_lock, was);
}

void tkt_mapping_add_site(uint32_t id, const tkt_site *site)
{
    const tkt_mapping_site facts = {.id = id,
                                    .line = site->line,
                                    .filter = site->filter,
                                    .kind = site->kind,
                                    .level = site->level};
    const tkt_text texts[] = {site->name, site->category, site->file, site->function, site->device};
    if (tkt_mapping())
        add_text(TKT_MAPPING_SITE, &facts, sizeof facts, texts, 5);
}

void tkt_mapping_add_text(uint32_t id, tkt_text text)
{
    const uint64_t number = id;
    if (tkt_mapping())
        add_text(id & TKT_VALUE ? TKT_MAPPING_VALUE : TKT_MAPPING_TEXT, &number, sizeof number,
                 &text, 1);
}

void tkt_mapping_add_stack(const tkt_call_stack *stack)
{
    tkt_mapping_head *head = tkt_mapping();
    if (!head)
        return;
    tkt_mapping_stack facts = {stack->number, stack->count};
    uint64_t was = tkt_busy_lock(&names_lock);
    tkt_mapping_entry *entry =
        new_entry(head, sizeof facts + stack->count * sizeof(tkt_mapping_place), false);
    if (entry) {
        memcpy(entry + 1, &facts, sizeof facts);
        tkt_mapping_place *places = (tkt_mapping_place *)((char *)(entry + 1) + sizeof facts);
        for (uint32_t i = 0; i < stack->count; i++)
            places[i] = (tkt_mapping_place){.address = stack->addresses[i],
                                            .base = stack->places[i].base,
                                            .object = stack->places[i].object};
        commit(entry, TKT_MAPPING_STACK);
    }
    tkt_busy_unlock(&names_lock, was);
}

void tkt_mapping_add_note(uint32_t kind, uint32_t number, const void *data, size_t size)
{
    tkt_mapping_head *head = tkt_mapping();
    const tkt_mapping_note facts = {kind, number, size};
    if (!head)
        return;
    uint64_t was = tkt_busy_lock(&names_lock);
    tkt_mapping_entry *entry = new_entry(head, sizeof facts + size, true);
    if (entry) {
        memcpy(entry + 1, &facts, sizeof facts);
        if (size)
            memcpy((char *)(entry + 1) + sizeof facts, data, size);
        commit(entry, TKT_MAPPING_DEVICE);
    }
    tkt_busy_unlock(&names_lock, was);
}

void *tkt_mapping_devices(uint32_t *count)
{
    tkt_mapping_head *head = tkt_mapping();
    *count = head ? head->devices.count : 0;
    return head ? at(head, &head->devices, 0) : NULL;
}

/* ---- Tasks, cycles, steps -------------------------------------------------------------------- */

void tkt_mapping_set_task(uint64_t number, const tkt_task *task)
{
    tkt_mapping_head *head = tkt_mapping();
    if (!head || number >= head->tasks.count)
        return;
    tkt_task *to = at(head, &head->tasks, number);
    if (task) {
        to->begin_ticks = task->begin_ticks;
        to->track = task->track;
    }
    tkt_mapping_barrier();
    __atomic_store_n(&to->site, task ? task->site : 0, __ATOMIC_RELEASE);
}

uint32_t tkt_mapping_begin_window(const tkt_mapping_window *window)
{
    tkt_mapping_head *head = tkt_mapping();
    uint32_t number = UINT32_MAX;
    if (!head)
        return number;
    tkt_mapping_window *windows = at(head, &head->windows, 0);
    tkt_mutex_lock(&window_lock);
    for (uint32_t i = 0; i < head->windows.count && number == UINT32_MAX; i++)
        if (!__atomic_load_n(&windows[i].state, __ATOMIC_ACQUIRE))
            number = i;
    if (number != UINT32_MAX) {
        windows[number] = *window;
        tkt_mapping_barrier();
        __atomic_store_n(&windows[number].state, TKT_MAPPING_RECORDING, __ATOMIC_RELEASE);
    }
    tkt_mutex_unlock(&window_lock);
    return number;
}

static tkt_mapping_window *window_at(uint32_t number)
{
    tkt_mapping_head *head = tkt_mapping();
    return head && number < head->windows.count ? at(head, &head->windows, number) : NULL;
}

void tkt_mapping_end_window(uint32_t number, uint64_t end_ticks)
{
    tkt_mapping_window *window = window_at(number);
    if (!window)
        return;
    window->end_ticks = end_ticks;
    tkt_mapping_barrier();
    __atomic_store_n(&window->state, TKT_MAPPING_ENDED, __ATOMIC_RELEASE);
}

void tkt_mapping_close_window(uint32_t number)
{
    tkt_mapping_window *window = window_at(number);
    if (window)
        __atomic_store_n(&window->state, TKT_MAPPING_NO_WINDOW, __ATOMIC_RELEASE);
}

void tkt_mapping_add_step(uint64_t number, uint64_t begin_ticks, uint64_t end_ticks)
{
    tkt_mapping_head *head = tkt_mapping();
    if (!head)
        return;
    uint64_t index = __atomic_fetch_add(&head->next_step, 1, __ATOMIC_RELAXED);
    tkt_mapping_step *step = at(head, &head->steps, index % head->steps.count);
    __atomic_store_n(&step->number, 0, __ATOMIC_RELEASE);
    tkt_mapping_barrier();
    step->begin_ticks = begin_ticks;
    step->end_ticks = end_ticks;
    tkt_mapping_barrier();
    __atomic_store_n(&step->number, number + 1, __ATOMIC_RELEASE);
}

void *tkt_mapping_run(uint32_t copy)
{
    tkt_mapping_head *head = tkt_mapping();
    return head ? at(head, &head->run, copy) : NULL;
}

void tkt_mapping_run_is_whole(uint32_t copy)
{
    tkt_mapping_barrier();
    __atomic_store_n(&tkt_mapping()->whole_run, copy + 1, __ATOMIC_RELEASE);
    tkt_mapping_barrier();
}

/* ======== Summaries ======== */

#define CHUNKS_PER_PIECE 4u /* so many recorded chunks are kept for each chunk of the fold */

/* A fold being written. */
typedef struct pieces {
    const tkt_thread_log *log;
    uint32_t generation;
    tkt_chunk *first; /* linked by `next` */
    tkt_chunk *last;
    uint32_t count;
    size_t used; /* bytes of the last one */
    bool is_full;
} pieces;

static void add_piece(pieces *to)
{
    tkt_chunk *chunk = tkt_pool_take(0);
    if (!chunk) {
        to->is_full = true;
        return;
    }
    __atomic_store_n(&chunk->log, 0, __ATOMIC_RELEASE);
    tkt_mapping_barrier();
    chunk->next = NULL;
    chunk->sequence = to->count++;
    chunk->depth = to->generation;
    chunk->count = 0;
    tkt_mapping_barrier();
    __atomic_store_n(&chunk->log, TKT_KEPT_FOLD | (to->log->number + 1), __ATOMIC_RELEASE);
    if (to->last)
        to->last->next = chunk;
    else
        to->first = chunk;
    to->last = chunk;
    to->used = 0;
}

static void put(pieces *to, const void *data, size_t size)
{
    const char *from = data;
    while (size && !to->is_full) {
        size_t room = to->last ? sizeof to->last->slots - to->used : 0;
        size_t part = size < room ? size : room;
        if (part)
            memcpy((char *)to->last->slots + to->used, from, part);
        to->used += part;
        from += part;
        size -= part;
        if (size)
            add_piece(to);
    }
}

static void put_node(pieces *to, const tkt_node *node)
{
    tkt_kept_bucket buckets[TKT_HISTOGRAM_BUCKETS];
    tkt_kept_node kept = {.stats = node->stats,
                          .flops = node->flops,
                          .bytes = node->bytes,
                          .errors = node->errors,
                          .site = node->site,
                          .parent = node->parent};
    for (uint32_t i = 0; node->histogram && i < TKT_HISTOGRAM_BUCKETS; i++)
        if (node->histogram->buckets[i])
            buckets[kept.bucket_count++] = (tkt_kept_bucket){i, node->histogram->buckets[i]};
    put(to, &kept, sizeof kept);
    put(to, buckets, kept.bucket_count * sizeof *buckets);
}

static void give_back(tkt_chunk *chunk)
{
    while (chunk) {
        tkt_chunk *next = chunk->next;
        tkt_pool_give(chunk);
        chunk = next;
    }
}

/* Writes the fold, which replaces the previous one. */
static void write_fold(tkt_thread_log *log)
{
    pieces to = {.log = log, .generation = log->mapped->fold_generation + 1};
    const tkt_kept_fold head = {
        .from_ticks = __atomic_load_n(&tkt_record_control.fold_from_ticks, __ATOMIC_RELAXED),
        .lost_count = log->fold.lost_count,
        .next_sequence = log->chunk_count,
        .node_count = (uint32_t)log->fold.count,
    };
    put(&to, &head, sizeof head);
    for (size_t i = 0; i < log->fold.count; i++)
        put_node(&to, &log->fold.items[i]);
    if (to.is_full) {
        __atomic_fetch_add(&tkt_mapping()->folds_lost, 1, __ATOMIC_RELAXED);
        give_back(to.first);
        return;
    }
    tkt_mapping_barrier();
    __atomic_store_n(&log->mapped->fold_generation, to.generation, __ATOMIC_RELEASE);
    give_back(log->kept_fold);
    log->kept_fold = to.first;
    log->kept_pieces = to.count;
}

bool tkt_mapping_keep_fold(tkt_thread_log *log)
{
    if (!log->mapped || !tkt_record_has(TKT_FOLD))
        return true;
    uint32_t waiting = log->chunk_count - log->kept_sequence;
    if (waiting < CHUNKS_PER_PIECE * log->kept_pieces && tkt_pool_is_roomy())
        return false;
    write_fold(log);
    log->kept_sequence = log->chunk_count;
    return true;
}
