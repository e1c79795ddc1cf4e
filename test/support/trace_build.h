/* Traces made by hand and by chance, files made of them, and comparing two traces in every field. */
#ifndef TEST_SUPPORT_TRACE_BUILD_H
#define TEST_SUPPORT_TRACE_BUILD_H

#include "support/test.h"

#include "base/writer.h"
#include "export/exporter.h"
#include "support/memory_sink.h"
#include "trace/devices.h"
#include "trace/model.h"
#include "trace/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_NS     UINT64_C(5000000000)
#define END_NS       UINT64_C(5000900000)

/* Like TKT_ARRAY_ADD, of an item that is given; memory is there. */
#define ADD(array, ...)                                                                            \
    do {                                                                                           \
        assert_true(TKT_ARRAY_RESERVE((array), (array)->count + 1));                               \
        (array)->items[(array)->count++] = __VA_ARGS__;                                            \
    } while (0)

/* ---- Building -------------------------------------------------------------------------------- */

uint32_t text(takt_trace *trace, const char *bytes);
takt_trace *make_trace(void);
uint32_t make_site(takt_trace *trace, const char *name, takt_site_kind kind);
uint32_t make_thread(takt_trace *trace, const char *name, uint32_t thread_id);

/* Adds a span and returns its number. */
uint32_t make_span(takt_trace *trace, uint32_t track, uint32_t site,
                   uint32_t parent, uint64_t begin_ns, uint64_t end_ns);

void make_arg(takt_trace *trace, uint32_t track, uint32_t span,
              const char *key, tkt_arg_type type, uint64_t bits);
uint64_t bits_of(double value);

/* ---- Chance ---------------------------------------------------------------------------------- */

typedef struct chance {
    uint64_t state;
} chance;

uint64_t draw(chance *from, uint64_t below);

#define RANDOM_SITES 200 /* more than fit into one byte */

void make_frame(takt_trace *trace, const char *module, uint64_t offset,
                const char *function, const char *file, uint32_t line);

/* Frames are numbered as they were made; the innermost one first. */
uint32_t make_stack(takt_trace *trace, uint32_t count, const uint32_t *frames);

/* `threads` threads with `span_count` spans each, and two async tracks. Not finished. */
takt_trace *random_trace(uint64_t seed, uint32_t threads, size_t span_count);

/* ---- One of everything ----------------------------------------------------------------------- */

void make_facts(takt_trace *trace);

/* Not finished. */
takt_trace *whole_trace(void);

/* ---- Files ----------------------------------------------------------------------------------- */

memory_sink write_trace(const takt_trace *trace);
takt_trace *read_bytes(const void *bytes, size_t size);
takt_trace *write_and_read(const takt_trace *trace);

/* ---- Comparing ------------------------------------------------------------------------------- */

#define SAME(a, b)      assert_int_equal((uint64_t)(a), (uint64_t)(b))
#define SAME_BITS(a, b) assert_int_equal(bits_of(a), bits_of(b))
#define SAME_TEXT(x, y) assert_string_equal(tkt_trace_text(a, (x)), tkt_trace_text(b, (y)))

void same_site(const takt_trace *a, const takt_trace *b, uint32_t of_a, uint32_t of_b);
void same_fold(const takt_trace *a, const takt_trace *b);

/* Everything that a report can see. */
void same_trace(const takt_trace *a, const takt_trace *b);

/* A call of `correlation` on a thread, below `parent`. */
uint32_t make_call(takt_trace *trace, uint32_t track, uint32_t parent,
                   const char *name, uint32_t correlation, uint64_t begin_ns,
                   uint64_t end_ns);

uint32_t make_device(takt_trace *trace, uint32_t ordinal);
void make_work(takt_trace *trace, uint32_t device, uint32_t shape,
               uint32_t correlation, uint32_t stream, uint64_t begin_ns,
               uint64_t end_ns);

tkt_shape random_shape(takt_trace *trace, chance *from);

/* What a block recorded with timers inside a kernel: of an SM and a clock rate that may be changed.
 * make_phase() adds records to the last one. */
tkt_phase_segment *make_segment(takt_trace *trace, const char *timers, uint64_t begin_ns,
                                uint32_t block);
void make_phase(takt_trace *trace, const char *name, uint64_t start_cycles,
                uint64_t cycles, uint32_t iteration);
void random_phases(takt_trace *trace, chance *from, size_t count);
void same_phases(const takt_trace *a, const takt_trace *b);

void same_node_activities(const takt_trace *a, const takt_trace *b);

#endif
