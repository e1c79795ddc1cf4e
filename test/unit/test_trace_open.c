/* Opening files that change while they are read, and files that were made to take much memory. The
 * library's memory is ours here, which counts it, and which is the moment at which files change. */
#include "support/test.h"
#include "support/trace_build.h"

#include "support/gzip_bytes.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "takt-test-open.pftrace"

/* ---- The library's memory -------------------------------------------------------------------- */

#define HEAD_BYTES 16

static size_t live_bytes, most_bytes;
static uint64_t allocations;
static uint64_t cut_at_allocation; /* 0: never */
static off_t cut_to;

static void *counting_resize(void *user, void *pointer, size_t size)
{
    (void)user;
    char *block = pointer ? (char *)pointer - HEAD_BYTES : NULL;
    if (block)
        live_bytes -= *(size_t *)(void *)block;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (++allocations == cut_at_allocation)
        assert_int_equal(truncate(FILE_NAME, cut_to), 0);
    block = realloc(block, size + HEAD_BYTES);
    assert_non_null(block);
    *(size_t *)(void *)block = size;
    live_bytes += size;
    if (live_bytes > most_bytes)
        most_bytes = live_bytes;
    return block + HEAD_BYTES;
}

static void write_file(const void *data, size_t size)
{
    FILE *file = fopen(FILE_NAME, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static int remove_file(void **state)
{
    (void)state;
    return remove(FILE_NAME);
}

/* A trace whose file has over a megabyte. */
static memory_sink large_file(size_t *span_count)
{
    takt_trace *trace = make_trace();
    uint32_t site = make_site(trace, "x", TAKT_SITE_SCOPE);
    uint32_t track = make_thread(trace, "a", 1);
    *span_count = 60000;
    for (size_t i = 0; i < *span_count; i++)
        make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS + 100 * i, BEGIN_NS + 100 * i + 50);
    trace->facts.end_ns = BEGIN_NS + 100 * *span_count;
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    memory_sink file = write_trace(trace);
    takt_trace_release(trace);
    return file;
}

/* ---- Files that become shorter --------------------------------------------------------------- */

/* The n-th allocation finds the file cut to a page. What had been read by then is a beginning. */
TEST(a_file_cut_while_it_is_read_ends_there)
{
    size_t all;
    memory_sink file = large_file(&all);
    assert_true(file.size > 1000000);
    uint64_t spans_before = 0;
    for (uint64_t n = 1; n < 40; n++) {
        takt_trace *trace = NULL;
        write_file(file.data, file.size);
        cut_to = 4096;
        cut_at_allocation = allocations + n;
        assert_int_equal(takt_trace_open(FILE_NAME, &trace, NULL), TAKT_OK);
        const takt_facts *facts = takt_trace_facts(trace);
        assert_true(facts->span_count >= spans_before && facts->span_count <= all);
        assert_int_equal(facts->ending == TAKT_ENDING_CUT, facts->span_count < all);
        assert_true(n > 1 || facts->ending == TAKT_ENDING_CUT);
        spans_before = facts->span_count;
        takt_trace_release(trace);
    }
    cut_at_allocation = 0;
    tkt_free(file.data);
}

/* ---- Files that would take much memory ------------------------------------------------------- */

/* The first bytes of a packed file that goes on after `head` with `unit` for `total` bytes. */
static bytes first_bytes(const void *head, size_t head_size, const bytes *unit, size_t total)
{
    bytes packed = {malloc(total / 100), 0};
    z_stream stream = {.next_out = packed.data, .avail_out = (unsigned)(total / 100)};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)(uintptr_t)head;
    stream.avail_in = (unsigned)head_size;
    assert_int_equal(deflate(&stream, Z_NO_FLUSH), Z_OK);
    for (size_t done = 0; done < total; done += unit->size) {
        stream.next_in = unit->data;
        stream.avail_in = (unsigned)unit->size;
        assert_int_equal(deflate(&stream, Z_NO_FLUSH), Z_OK);
    }
    packed.size = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

/* Opens it and expects that it takes no more than `limit` bytes. */
static void opens_within(size_t limit, const bytes *packed, takt_status expected)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    write_file(packed->data, packed->size);
    most_bytes = live_bytes;
    size_t before = live_bytes;
    assert_int_equal(takt_trace_open(FILE_NAME, &trace, &error), expected);
    if (most_bytes - before > limit)
        fail_msg("%zu bytes of memory for %zu of the file", most_bytes - before, packed->size);
    if (expected != TAKT_OK)
        assert_string_equal(error.message,
                            FILE_NAME ": not a trace: it unpacks to more than 256 times "
                                      "its size");
    takt_trace_release(trace);
}

/* 80 KiB that become 80 MiB: zeros, a packet that announces as much, and packets that are spans. */
TEST(a_bomb_takes_little_memory)
{
    size_t count;
    bytes zeros = {calloc(1, 1 << 20), 1 << 20};
    memory_sink file = large_file(&count);
    char announcing[] = "\x0A\x05\xA2\x7E\x02\x08\x01\x0A\x80\x80\x80\x1E"; /* 60 MiB follow */
    bytes packed = first_bytes(announcing, 7, &zeros, 80 << 20);
    opens_within(1 << 20, &packed, TAKT_BAD_TRACE);
    free(packed.data);
    packed = first_bytes(announcing, sizeof announcing - 1, &zeros, 80 << 20);
    opens_within((size_t)66 << 20, &packed, TAKT_BAD_TRACE);
    free(packed.data);
    bytes spans = {(unsigned char *)file.data + file.size / 2, 0};
    while (memcmp(spans.data, "\x0A\x0A\x50", 3) != 0) /* the begin of a span */
        spans.data++;
    size_t whole = (size_t)((unsigned char *)file.data + file.size - spans.data) / 22 - 100;
    spans.size = 22 * whole;
    packed = first_bytes(file.data, (size_t)(spans.data - (unsigned char *)file.data), &spans,
                         (size_t)80 << 20);
    opens_within((size_t)150 << 20, &packed, TAKT_BAD_TRACE);
    free(packed.data);
    tkt_free(file.data);
    free(zeros.data);
}

/* A file is not kept in memory beside the trace that is made of it. */
TEST(a_large_file_takes_no_more_than_its_trace_does)
{
    size_t count;
    memory_sink file = large_file(&count);
    takt_trace *trace = NULL;
    write_file(file.data, file.size);
    most_bytes = live_bytes;
    size_t before = live_bytes;
    assert_int_equal(takt_trace_open(FILE_NAME, &trace, NULL), TAKT_OK);
    assert_int_equal(takt_trace_facts(trace)->span_count, count);
    assert_true(most_bytes - live_bytes < file.size / 2);
    assert_true(live_bytes > before);
    takt_trace_release(trace);
    tkt_free(file.data);
}

int main(void)
{
    const char *folder = getenv("TMPDIR");
    if (takt_set_allocator(&(takt_allocator){.resize = counting_resize}) != TAKT_OK ||
        chdir(folder ? folder : "/tmp") != 0)
        return 1;
    return run_each_test(NULL, remove_file);
}
