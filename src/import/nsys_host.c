/* Names, threads, calls and NVTX ranges of Nsight Systems' files. */
#include "import/nsys.h"
#include "import/scan.h"

#include <stdio.h>
#include <string.h>

#ifdef TKT_HAVE_SQLITE

static void put(imp_nsys *nsys, tkt_map *map, uint64_t key, uint64_t value)
{
    uint64_t *at = tkt_map_put(map, key);
    nsys->build.is_short |= !at;
    if (at)
        *at = value;
}

static uint32_t text_of(imp_nsys *nsys, sqlite3_value **row, int column)
{
    const char *text = (const char *)sqlite3_value_text(row[column]);
    return text ? imp_build_string(&nsys->build, text, strlen(text)) : 0;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const imp_column string_columns[] = {{"id", NULL}, {"value", NULL}};

static void take_string(imp_nsys *nsys, sqlite3_value **row)
{
    put(nsys, &nsys->strings, (uint64_t)sqlite3_value_int64(row[0]), text_of(nsys, row, 1));
}

static const imp_column session_columns[] = {{"utcEpochNs", "0"}};

static void take_session(imp_nsys *nsys, sqlite3_value **row)
{
    nsys->real_ns = sqlite3_value_int64(row[0]);
}

static const imp_column thread_columns[] = {{"globalTid", NULL}, {"nameId", NULL}};

static void take_thread(imp_nsys *nsys, sqlite3_value **row)
{
    imp_row *thread = imp_nsys_row(nsys, imp_column_u64(row, 0));
    if (thread && !thread->name)
        thread->name = imp_nsys_string(nsys, sqlite3_value_int64(row[1]));
}

static const imp_column gpu_columns[] = {
    {"id", NULL},           {"cuDevice", "NULL"},       {"name", "''"},
    {"computeMajor", "0"},  {"computeMinor", "0"},      {"smCount", "0"},
    {"totalMemory", "0"},   {"threadsPerWarp", "0"},    {"maxBlocksPerSm", "0"},
    {"maxWarpsPerSm", "0"}, {"maxRegistersPerSm", "0"}, {"maxRegistersPerBlock", "0"},
    {"maxShmemPerSm", "0"}, {"maxShmemPerBlock", "0"},  {"maxThreadsPerBlock", "0"}};

static void take_gpu(imp_nsys *nsys, sqlite3_value **row)
{
    bool has_number = sqlite3_value_type(row[1]) != SQLITE_NULL; /* CUDA's, as activities have */
    tkt_device *device = imp_build_device(&nsys->build, imp_column_u64(row, has_number));
    if (!device)
        return;
    device->name = text_of(nsys, row, 2);
    device->major = imp_column_u32(row, 3);
    device->minor = imp_column_u32(row, 4);
    device->multiprocessors = imp_column_u32(row, 5);
    device->memory_bytes = imp_column_u64(row, 6);
    device->warp_size = imp_column_u32(row, 7);
    device->max_blocks_per_multiprocessor = imp_column_u32(row, 8);
    device->max_threads_per_multiprocessor = imp_column_u32(row, 9) * device->warp_size;
    device->registers_per_multiprocessor = imp_column_u32(row, 10);
    device->registers_per_block = imp_column_u32(row, 11);
    device->shared_per_multiprocessor = imp_column_u32(row, 12);
    device->shared_per_block = imp_column_u32(row, 13);
    device->max_threads_per_block = imp_column_u32(row, 14);
    imp_build_capability(device);
}

/* Domains and categories of NVTX, before the ranges that are in them. */

enum {
    EVENT_CATEGORY = 33,
    EVENT_MARK = 34,
    EVENT_PUSH_POP = 59,
    EVENT_START_END = 60,
    EVENT_TEXT_PUSH_POP = 70, /* from files of NVTX text */
    EVENT_TEXT_START_END = 71,
    EVENT_DOMAIN = 75
};

static const imp_column nvtx_columns[] = {{"start", NULL},    {"end", NULL},    {"eventType", NULL},
                                          {"globalTid", "0"}, {"text", "NULL"}, {"textId", "NULL"},
                                          {"domainId", "0"},  {"category", "0"}};

enum {
    NVTX_TYPE = 2,
    NVTX_THREAD,
    NVTX_TEXT,
    NVTX_TEXT_ID,
    NVTX_DOMAIN,
    NVTX_CATEGORY
};

static uint32_t nvtx_text(imp_nsys *nsys, sqlite3_value **row)
{
    if (sqlite3_value_type(row[NVTX_TEXT]) != SQLITE_NULL)
        return text_of(nsys, row, NVTX_TEXT);
    return imp_nsys_string(nsys, sqlite3_value_int64(row[NVTX_TEXT_ID]));
}

/* Each process numbers its domains, and each domain its categories. */
static uint64_t domain_key(sqlite3_value **row)
{
    return tkt_hash_u64(imp_column_u64(row, NVTX_THREAD) >> 24) ^ imp_column_u64(row, NVTX_DOMAIN);
}

static uint64_t category_key(sqlite3_value **row)
{
    return tkt_hash_u64(domain_key(row)) ^ imp_column_u64(row, NVTX_CATEGORY);
}

static void take_nvtx_name(imp_nsys *nsys, sqlite3_value **row)
{
    int type = sqlite3_value_int(row[NVTX_TYPE]);
    if (type == EVENT_DOMAIN)
        put(nsys, &nsys->domains, domain_key(row), nvtx_text(nsys, row));
    else if (type == EVENT_CATEGORY)
        put(nsys, &nsys->categories, category_key(row), nvtx_text(nsys, row));
}

const imp_table imp_nsys_names[] = {
    IMP_TABLE("StringIds", string_columns, take_string),
    IMP_TABLE("TARGET_INFO_SESSION_START_TIME", session_columns, take_session),
    IMP_TABLE("ThreadNames", thread_columns, take_thread),
    IMP_TABLE("TARGET_INFO_GPU", gpu_columns, take_gpu),
    IMP_ROWS("NVTX_EVENTS", "eventType IN (33, 75)", nvtx_columns, take_nvtx_name, TAKT_LOSS_CLOCK),
};
const size_t imp_nsys_name_count = sizeof imp_nsys_names / sizeof *imp_nsys_names;

/* ---- NVTX ------------------------------------------------------------------------------------ */

/* torch's emit_nvtx() writes what differs from call to call into the name. */

static const struct part {
    const char *head;
    const char *key; /* of the argument; NULL: left out */
} parts[] = {{", seq = ", "seq"},
             {", op_id = ", "op_id"},
             {", sizes = ", "shapes"},
             {", input_op_ids = ", NULL}};

#define PARTS (sizeof parts / sizeof *parts)

typedef struct slice {
    const char *text; /* NULL: none */
    size_t size;
} slice;

typedef struct name_parts {
    slice name;
    bool is_step; /* "ProfilerStep#7" */
    uint64_t step;
    slice values[PARTS];
} name_parts;

/* The part whose head stands here; PARTS: none. */
static size_t part_at(const char *comma)
{
    size_t i = 0;
    while (i < PARTS && strncmp(comma, parts[i].head, strlen(parts[i].head)) != 0)
        i++;
    return i;
}

static name_parts split(const char *text)
{
    const char *end = text + strlen(text);
    name_parts found = {.name = {text, (size_t)(end - text)}};
    slice *last = &found.name;
    for (const char *at = text; (at = strchr(at, ',')) != NULL; at++) {
        size_t i = part_at(at);
        if (i == PARTS || found.values[i].text)
            continue;
        last->size = (size_t)(at - last->text);
        last = &found.values[i];
        last->text = at + strlen(parts[i].head);
        last->size = (size_t)(end - last->text);
    }
    found.is_step = imp_step_number(found.name.text, found.name.size, &found.step);
    return found;
}

static void add_parts(imp_nsys *nsys, uint32_t track, uint32_t span, const name_parts *found)
{
    for (size_t i = 0; i < PARTS; i++) {
        const slice *from = &found->values[i];
        if (!from->text || !parts[i].key)
            continue;
        imp_value value = {(const uint8_t *)from->text, from->size, IMP_WORD, false};
        tkt_arg arg = {.key = imp_build_string(&nsys->build, parts[i].key, strlen(parts[i].key)),
                       .type = TKT_ARG_INT};
        if (!imp_integer(&value, &arg.value.i)) {
            arg.type = TKT_ARG_STRING;
            arg.value.string = imp_build_string(&nsys->build, from->text, from->size);
        }
        imp_build_arg(&nsys->build, track, span, &arg);
    }
}

/* Files that name none need no search. */
static uint32_t nvtx_category(const imp_nsys *nsys, sqlite3_value **row)
{
    const uint64_t *named = NULL;
    if (nsys->categories.count && imp_column_u64(row, NVTX_CATEGORY))
        named = tkt_map_get(&nsys->categories, category_key(row));
    if (!named && nsys->domains.count)
        named = tkt_map_get(&nsys->domains, domain_key(row));
    return named ? (uint32_t)*named : 0;
}

static void take_push_pop(imp_nsys *nsys, sqlite3_value **row, const imp_what *what,
                          const name_parts *found)
{
    imp_row *thread = imp_nsys_row(nsys, imp_column_u64(row, NVTX_THREAD));
    uint64_t begin_ns, end_ns;
    if (!thread)
        return;
    if (sqlite3_value_type(row[1]) == SQLITE_NULL) {
        imp_build_begin(&nsys->build, thread, what, imp_column_u64(row, 0));
        return;
    }
    if (!imp_nsys_times(nsys, row, &begin_ns, &end_ns))
        return;
    if (found->is_step)
        imp_build_step(&nsys->build, thread->process, found->step, begin_ns, end_ns);
    uint32_t span = imp_build_span(&nsys->build, thread, what, begin_ns, end_ns);
    add_parts(nsys, thread->track, span, found);
}

/* Ranges that begin on one thread and may end on another. */
static void take_start_end(imp_nsys *nsys, sqlite3_value **row, const imp_what *what)
{
    uint64_t begin_ns, end_ns;
    uint32_t track = what->category ? what->category : imp_build_string(&nsys->build, "NVTX", 4);
    if (sqlite3_value_type(row[1]) == SQLITE_NULL)
        nsys->build.trace->losses[TAKT_LOSS_UNMATCHED_SPAN]++;
    else if (imp_nsys_times(nsys, row, &begin_ns, &end_ns))
        imp_build_async(&nsys->build, track, what, begin_ns, end_ns);
}

/* The name of a range without its parts; `string` is all of it, or 0 if it is no string yet. */
static uint32_t name_of(imp_nsys *nsys, uint32_t string, const name_parts *found)
{
    if (found->is_step)
        return imp_build_string(&nsys->build, "ProfilerStep", 12);
    bool is_whole = found->name.text[found->name.size] == '\0';
    return is_whole && string ? string
                              : imp_build_string(&nsys->build, found->name.text, found->name.size);
}

static void take_nvtx(imp_nsys *nsys, sqlite3_value **row)
{
    int type = sqlite3_value_int(row[NVTX_TYPE]);
    bool is_nested = type == EVENT_PUSH_POP || type == EVENT_TEXT_PUSH_POP;
    bool is_free = type == EVENT_START_END || type == EVENT_TEXT_START_END;
    if (!is_nested && !is_free && type != EVENT_MARK)
        return;
    uint64_t begin_ns;
    if (!imp_nsys_time(nsys, row, 0, &begin_ns))
        return;
    /* A text in the row may differ in each: only what is kept of it becomes a string. */
    const char *text = (const char *)sqlite3_value_text(row[NVTX_TEXT]);
    uint32_t string = text ? 0 : imp_nsys_string(nsys, sqlite3_value_int64(row[NVTX_TEXT_ID]));
    name_parts found = split(text ? text : tkt_trace_text(nsys->build.trace, string));
    imp_what what = {.name = name_of(nsys, string, &found),
                     .category = nvtx_category(nsys, row),
                     .kind = TAKT_SITE_SCOPE};
    nsys->nested_ranges += is_nested;
    nsys->free_ranges += is_free;
    if (is_nested)
        take_push_pop(nsys, row, &what, &found);
    else if (is_free)
        take_start_end(nsys, row, &what);
    else
        imp_build_mark(&nsys->build, imp_nsys_row(nsys, imp_column_u64(row, NVTX_THREAD)), &what,
                       begin_ns);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static const imp_column call_columns[] = {{"start", NULL},     {"end", NULL},
                                          {"globalTid", NULL}, {"correlationId", NULL},
                                          {"nameId", NULL},    {"returnValue", "0"}};

/* "cudaLaunchKernel" of "cudaLaunchKernel_v7000". */
static uint32_t without_version(imp_nsys *nsys, uint32_t name)
{
    const char *text = tkt_trace_text(nsys->build.trace, name);
    const char *version = strrchr(text, '_');
    bool has_version = version && version[1] == 'v' && version[2] &&
                       strspn(version + 2, "0123456789") == strlen(version + 2);
    return has_version ? imp_build_string(&nsys->build, text, (size_t)(version - text)) : name;
}

/* What a call of this name shows; found once for each name. */
static imp_what describe_call(imp_nsys *nsys, int64_t name_id)
{
    uint64_t *known = tkt_map_put(&nsys->calls, (uint64_t)name_id);
    nsys->build.is_short |= !known;
    if (known && !*known) {
        uint32_t name = without_version(nsys, imp_nsys_string(nsys, name_id));
        bool is_runtime = strncmp(tkt_trace_text(nsys->build.trace, name), "cuda", 4) == 0;
        const char *category = is_runtime ? "cuda_runtime" : "cuda_driver";
        *known = (uint64_t)imp_build_string(&nsys->build, category, strlen(category)) << 32 | name;
    }
    return (imp_what){.name = known ? (uint32_t)*known : 0,
                      .category = known ? (uint32_t)(*known >> 32) : 0,
                      .kind = TAKT_SITE_CALL};
}

static void take_call(imp_nsys *nsys, sqlite3_value **row)
{
    uint64_t begin_ns, end_ns;
    imp_row *thread = imp_nsys_row(nsys, imp_column_u64(row, 2));
    if (!thread || !imp_nsys_times(nsys, row, &begin_ns, &end_ns))
        return;
    imp_what what = describe_call(nsys, sqlite3_value_int64(row[4]));
    uint32_t span = imp_build_span(&nsys->build, thread, &what, begin_ns, end_ns);
    imp_build_call(&nsys->build, thread, span,
                   &(imp_call){.correlation = imp_column_u32(row, 3),
                               .result = (int32_t)sqlite3_value_int64(row[5])});
}

const imp_table imp_nsys_host[] = {
    IMP_TABLE("NVTX_EVENTS", nvtx_columns, take_nvtx),
    IMP_TABLE("CUPTI_ACTIVITY_KIND_RUNTIME", call_columns, take_call),
    IMP_TABLE("CUPTI_ACTIVITY_KIND_DRIVER", call_columns, take_call),
};
const size_t imp_nsys_host_count = sizeof imp_nsys_host / sizeof *imp_nsys_host;

#endif
