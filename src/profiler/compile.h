/* Compilations of device code, from the time traces that NVRTC and nvcc write. */
#ifndef TKT_PROFILER_COMPILE_H
#define TKT_PROFILER_COMPILE_H

#include "base/containers.h"

#include <takt/base.h>

/* ======== Reading a time trace (compile_read.c) ======== */

#define TKT_COMPILE_SPANS  16384u /* of a file with more, the longest are kept */
#define TKT_COMPILE_DETAIL 96u    /* bytes of a detail */
#define TKT_COMPILE_UNIT   64u

/* A phase. Times are ns since the compilation began. */
typedef struct tkt_compile_span {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t name;                   /* in `names` */
    uint32_t row;                    /* index into `rows` */
    char detail[TKT_COMPILE_DETAIL]; /* what was compiled; "" for short phases */
} tkt_compile_span;

/* A process and thread of the file. */
typedef struct tkt_compile_row {
    uint64_t key;
    uint64_t begin_ns;           /* of its first phase */
    uint64_t end_ns;             /* of its last one */
    char unit[TKT_COMPILE_UNIT]; /* "solver.cu [sm_90]"; "" if the file does not tell */
} tkt_compile_row;

typedef struct tkt_compile_file {
    TKT_ARRAY_OF(tkt_compile_span) spans;
    TKT_ARRAY_OF(tkt_compile_row) rows;
    tkt_strtab names;
    tkt_heap shortest;           /* the spans by duration */
    uint64_t end_ns;             /* of the last phase */
    uint64_t left_out;           /* shorter phases than those kept */
    uint64_t wrong;              /* phases without a usable time or name */
    uint32_t wrong_line;         /* of the first one */
    char unit[TKT_COMPILE_UNIT]; /* the first input file; "" if the file does not tell */
} tkt_compile_file;

/* True if rows of the file overlap: the compiler did several things at once. */
bool tkt_compile_is_parallel(const tkt_compile_file *file);

/* Reads a file of any size in bounded memory. TAKT_IO_ERROR, TAKT_BAD_TRACE, TAKT_NO_MEMORY. The
 * caller calls tkt_compile_file_fini(), also after a failure. */
takt_status tkt_compile_read(tkt_compile_file *file, const char *path, takt_error *error);
void tkt_compile_file_fini(tkt_compile_file *file);

/* ======== Files that match a pattern (compile.c) ======== */

/* Records the files that match the patterns and were written since `since_ns` (takt_now_ns()), each
 * once in a process. A file's date is the end of its compilation. Logs files that cannot be read,
 * and patterns that give nothing. */
void tkt_compile_collect(const char *const *patterns, size_t count, uint64_t since_ns);

#endif
