/* Activities and waits of Nsight Systems' files. */
#include "import/nsys.h"

#include <string.h>

#ifdef TKT_HAVE_SQLITE

/* The first columns of all tables of activities. */
#define COMMON                                                                                     \
    {"start", NULL}, {"end", NULL}, {"deviceId", NULL}, {"contextId", "0"}, {"streamId", "0"},     \
        {"correlationId", NULL},                                                                   \
    {                                                                                              \
        "globalPid", "0"                                                                           \
    }

enum {
    DEVICE = 2,
    CONTEXT,
    STREAM,
    CORRELATION,
    PROCESS,
    OWN /* the first of the table's own columns */
};

/* The number of the activity's process, if the file names it. */
static uint32_t process_of(imp_nsys *nsys, sqlite3_value **row)
{
    uint64_t global = imp_column_u64(row, PROCESS);
    return global ? imp_nsys_process(nsys, global) : IMP_NOTHING;
}

/* UINT32_MAX, which no device has, for what is no number of a device. */
static uint32_t device_of(sqlite3_value **row)
{
    int64_t number = sqlite3_value_int64(row[DEVICE]);
    bool is_number = sqlite3_value_numeric_type(row[DEVICE]) == SQLITE_INTEGER;
    return is_number && number >= 0 && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static bool begin_work(imp_nsys *nsys, sqlite3_value **row, uint32_t filter, imp_work *work)
{
    *work = (imp_work){.device = device_of(row),
                       .context = imp_column_u32(row, CONTEXT),
                       .stream = imp_column_u32(row, STREAM),
                       .correlation = imp_column_u32(row, CORRELATION),
                       .process = process_of(nsys, row)};
    work->shape.filter = filter;
    return imp_nsys_times(nsys, row, &work->begin_ns, &work->end_ns);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static const imp_column kernel_columns[] = {COMMON,
                                            {"demangledName", "NULL"},
                                            {"shortName", "NULL"},
                                            {"gridX", "0"},
                                            {"gridY", "0"},
                                            {"gridZ", "0"},
                                            {"blockX", "0"},
                                            {"blockY", "0"},
                                            {"blockZ", "0"},
                                            {"registersPerThread", "0"},
                                            {"staticSharedMemory", "0"},
                                            {"dynamicSharedMemory", "0"},
                                            {"localMemoryPerThread", "0"},
                                            {"graphNodeId", "0"}};

static void take_kernel(imp_nsys *nsys, sqlite3_value **row)
{
    imp_work work;
    if (!begin_work(nsys, row, TAKT_TIMING_KERNEL, &work))
        return;
    tkt_shape *shape = &work.shape;
    shape->name = imp_nsys_string(nsys, sqlite3_value_int64(row[OWN]));
    if (!shape->name)
        shape->name = imp_nsys_string(nsys, sqlite3_value_int64(row[OWN + 1]));
    for (int i = 0; i < 3; i++) {
        shape->grid[i] = imp_column_u32(row, OWN + 2 + i);
        shape->block[i] = imp_column_u32(row, OWN + 5 + i);
    }
    shape->registers = (uint16_t)imp_column_u32(row, OWN + 8);
    shape->static_shared_bytes = imp_column_u32(row, OWN + 9);
    shape->dynamic_shared_bytes = imp_column_u32(row, OWN + 10);
    shape->local_bytes = imp_column_u32(row, OWN + 11);
    shape->graph_node = imp_column_u64(row, OWN + 12);
    imp_build_work(&nsys->build, &work);
}

/* ---- Copies and sets ------------------------------------------------------------------------- */

static const imp_column copy_columns[] = {COMMON,
                                          {"bytes", "0"},
                                          {"copyKind", "0"},
                                          {"srcKind", "-1"},
                                          {"dstKind", "-1"},
                                          {"graphNodeId", "0"}};

/* Kinds of memory count from 0 for pageable here, from 1 in CUPTI. */
static uint8_t memory_of(sqlite3_value **row, int column)
{
    int64_t kind = sqlite3_value_int64(row[column]);
    bool is_known = sqlite3_value_type(row[column]) != SQLITE_NULL && kind >= 0 &&
                    kind < TAKT_MEMORY_MANAGED_STATIC;
    return is_known ? (uint8_t)(kind + 1) : TAKT_MEMORY_UNKNOWN;
}

/* Copies of managed memory, which the driver makes, have kinds of their own: 11 to 13. */
static void set_copy_kind(tkt_shape *shape, uint32_t kind)
{
    static const uint8_t managed[] = {TAKT_COPY_HTOD, TAKT_COPY_DTOH, TAKT_COPY_DTOD};
    if (kind >= 11 && kind <= 13) {
        shape->copy_kind = managed[kind - 11];
        shape->source = shape->target = TAKT_MEMORY_MANAGED;
    } else {
        shape->copy_kind = kind <= TAKT_COPY_PTOP ? (uint8_t)kind : TAKT_COPY_UNKNOWN;
    }
}

static void take_copy(imp_nsys *nsys, sqlite3_value **row)
{
    imp_work work;
    if (!begin_work(nsys, row, TAKT_TIMING_MEMCPY, &work))
        return;
    work.shape.bytes = imp_column_u64(row, OWN);
    work.shape.source = memory_of(row, OWN + 2);
    work.shape.target = memory_of(row, OWN + 3);
    set_copy_kind(&work.shape, imp_column_u32(row, OWN + 1));
    work.shape.graph_node = imp_column_u64(row, OWN + 4);
    imp_build_work(&nsys->build, &work);
}

static const imp_column set_columns[] = {
    COMMON, {"bytes", "0"}, {"memKind", "-1"}, {"graphNodeId", "0"}};

static void take_set(imp_nsys *nsys, sqlite3_value **row)
{
    imp_work work;
    if (!begin_work(nsys, row, TAKT_TIMING_MEMSET, &work))
        return;
    work.shape.bytes = imp_column_u64(row, OWN);
    work.shape.target = memory_of(row, OWN + 1);
    work.shape.graph_node = imp_column_u64(row, OWN + 2);
    imp_build_work(&nsys->build, &work);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static const imp_column graph_columns[] = {COMMON, {"graphExecId", "0"}, {"graphId", "0"}};

static void take_graph(imp_nsys *nsys, sqlite3_value **row)
{
    imp_work work;
    if (!begin_work(nsys, row, TAKT_TIMING_GRAPH, &work))
        return;
    work.shape.graph =
        imp_column_u32(row, OWN) ? imp_column_u32(row, OWN) : imp_column_u32(row, OWN + 1);
    imp_build_work(&nsys->build, &work);
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static const imp_column wait_columns[] = {COMMON, {"syncType", "0"}, {"eventId", "0"}};

static void take_wait(imp_nsys *nsys, sqlite3_value **row)
{
    tkt_wait wait = {.correlation = imp_column_u32(row, CORRELATION),
                     .context = imp_column_u32(row, CONTEXT),
                     .stream = imp_column_u32(row, STREAM),
                     .kind = imp_column_u32(row, OWN),
                     .event = imp_column_u32(row, OWN + 1)};
    if (!imp_nsys_times(nsys, row, &wait.begin_ns, &wait.end_ns))
        return;
    if (wait.kind == TAKT_WAIT_EVENT && wait.stream == UINT32_MAX && !wait.event)
        wait.kind = TAKT_WAIT_CONTEXT; /* for all of the device */
    imp_build_wait(&nsys->build, &wait, process_of(nsys, row));
}

const imp_table imp_nsys_device[] = {
    IMP_DEVICE("CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, take_kernel),
    IMP_DEVICE("CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, take_copy),
    IMP_DEVICE("CUPTI_ACTIVITY_KIND_MEMSET", set_columns, take_set),
    IMP_DEVICE("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns, take_graph),
    IMP_DEVICE("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", wait_columns, take_wait),
};
const size_t imp_nsys_device_count = sizeof imp_nsys_device / sizeof *imp_nsys_device;

#endif
