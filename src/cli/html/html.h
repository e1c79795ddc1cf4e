/* The page that `takt report --html` writes: FORMAT.md says what is in it. Here is what its parts
 * share. Everything is computed from a sealed trace through include/takt. */
#ifndef TAKT_CLI_HTML_HTML_H
#define TAKT_CLI_HTML_HTML_H

#include "cli/cli.h"

#include <takt/base.h>
#include <takt/trace.h>

#include <stdio.h>

enum {
    HTML_FORMAT = 1,
    HTML_MOST_EVENTS = 2000000, /* of all tracks together */
    HTML_MOST_LANES = 64,       /* rows of a track whose events overlap; more share the last one */
    HTML_TABLE_ROWS = 1000
};

/* ---- Bytes that grow (bytes.c) ---- */

/* Zero-initialised; the owner frees `data`. Where memory cannot be had, nothing more is taken and
 * `has_failed` says so, so that callers look once, at the end. */
typedef struct html_bytes {
    uint8_t *data;
    size_t   used;
    size_t   capacity;
    bool     has_failed;
} html_bytes;

void html_put(html_bytes *bytes, const void *data, size_t size);
void html_put_varint(html_bytes *bytes, uint64_t value);
void html_put_zigzag(html_bytes *bytes, int64_t value);
void html_print(html_bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A JSON string with its quotes, fit to stand in a script block of HTML. */
void html_put_json(html_bytes *bytes, const char *text, size_t size);

/* ---- Byte strings, numbered by their first coming (set.c) ---- */

/* Zero-initialised. */
typedef struct html_set {
    html_bytes bytes;  /* of all items, one behind the other */
    html_bytes ends;   /* size_t: where each ends */
    uint32_t  *slots;  /* number + 1; a power of two of them */
    size_t     slot_count;
    uint32_t   count;
} html_set;

/* The number of the item with these bytes. */
uint32_t html_set_add(html_set *set, const void *item, size_t size);
const void *html_set_at(const html_set *set, uint32_t index, size_t *size);
bool html_set_has_failed(const html_set *set);
void html_set_free(html_set *set);

/* ---- A block of the page: base64 of gzip (bytes.c) ---- */

typedef struct html_packed html_packed;

/* NULL where there is no memory. */
html_packed *html_packed_begin(FILE *file);
void html_packed_write(html_packed *packed, const void *data, size_t size);

/* A column: its size, then its bytes, which start anew. */
void html_packed_column(html_packed *packed, html_bytes *column);

/* Ends the block and frees. False where something could not be packed or written. */
bool html_packed_end(html_packed *packed);

/* ---- What the page leaves out (limit.c) ---- */

typedef struct html_limit {
    uint64_t hidden;   /* events; 0: none */
    uint64_t below_ns; /* all that are shorter */
    uint64_t upto_ns;  /* of those that are shorter than this, every n-th is kept; 0: none */
    uint64_t every;
    uint64_t seen;
} html_limit;

/* So that a page has at most so many events. */
html_limit html_limit_of(const takt_trace *trace, uint64_t most);

/* Is an event of that duration kept? To be asked once for each. */
bool html_limit_keeps(html_limit *limit, uint64_t duration_ns);

/* Does a device report this activity? Those of host devices are spans. */
bool html_is_of_device(const takt_activity *activity);

/* ---- The writer (page.c) ---- */

/* A row of the timeline as `facts` tells it. */
typedef struct html_track {
    const char *kind;
    const char *name;
    const char *group;
    uint64_t    count;
    uint64_t    hidden;
    uint32_t    rows;
    uint32_t    thread;
    uint32_t    context;
    uint32_t    stream;
    uint32_t   *places; /* of a thread: index in the page + 1 of each span, 0: hidden; NULL: all
                         * are there */
} html_track;

/* A counter, or memory of one kind on one device. */
typedef struct html_series {
    const char *name; /* counter, device */
    uint32_t    kind; /* takt_memory_kind */
    bool        is_pool;
    uint64_t    count;
    uint64_t    last_ns;
    html_bytes  times;
    html_bytes  values;
} html_series;

typedef struct html_series_list {
    html_series *items;
    size_t       count;
} html_series_list;

typedef struct html_writer {
    const takt_trace *trace;
    const char       *file; /* name of the trace's */
    uint64_t          origin_ns;
    html_limit        limit;
    html_set          texts;
    html_set          sites;
    html_set          shapes;
    html_track       *tracks;
    size_t            host_count; /* threads and async tracks, which come first */
    size_t            track_count;
    html_series_list  counters;
    html_series_list  memory;
    bool              has_failed; /* for want of memory */
} html_writer;

/* The number of a text; that of "" is 0. */
uint32_t html_text(html_writer *writer, const char *text);

/* Columns (columns.c, streams.c). */
void html_write_spans(html_writer *writer, html_packed *out);
void html_write_streams(html_writer *writer, html_packed *out);
void html_write_events(html_writer *writer, html_packed *out);

/* Columns of values over time, and the lists of what has them (columns.c). */
void html_write_counters(html_writer *writer, html_packed *out);
void html_write_memory(html_writer *writer, html_packed *out);
void html_series_free(html_series_list *list);

/* Rows of events that may overlap: the first that is free at `begin_ns`. Zero-initialised. */
typedef struct html_lanes {
    uint64_t end_ns[HTML_MOST_LANES];
    uint32_t count;
} html_lanes;

uint32_t html_lane(html_lanes *lanes, uint64_t begin_ns, uint64_t end_ns);

/* Arguments, work and results of spans, to be asked for in order (args.c). Zero-initialised; the
 * owner frees text.data. */
typedef struct html_args {
    html_bytes text;
    size_t     call; /* the next one of the trace */
} html_args;

/* The number of the text that tells them, 0: there are none. */
uint32_t html_args_text(html_writer *writer, html_args *args, size_t track, size_t span);

/* What the number of a shape stands for (streams.c). */
uint32_t html_shape(html_writer *writer, const takt_activity *activity);
void html_put_shape(html_bytes *out, const html_set *shapes, uint32_t index);

/* The number of a site (names.c), and its line of `lists`. */
uint32_t html_site(html_writer *writer, const takt_span_info *span);
void html_put_sites(html_writer *writer, html_bytes *out);

/* JSON (page.c, names.c). */
void html_put_facts(html_writer *writer, html_bytes *out);
void html_write_lists(html_writer *writer, html_packed *out);

/* ---- The page around it (assets.c) ---- */

typedef struct html_asset {
    const char *data;
    size_t      size;
} html_asset;

/* What stands before the blocks, and behind. */
html_asset html_head(void);
html_asset html_tail(void);

/* ======== The page ======== */

/* A trace as one HTML file that needs no network: FORMAT.md says what is in it. */

/* Writes the page to `path`: first under a temporary name beside it, then renamed. `file` is the
 * name of the trace's file, of which the page shows the last part. Returns CLI_OK, or CLI_FAILED
 * with the reason told. */
int cli_html_write(const takt_trace *trace, const char *file, const char *path);

/* `takt report --html`: a page for each file. `output` is a file or a folder; NULL: beside each
 * file, under its name. */
int cli_report_html(const cli_syntax *syntax, char **files, size_t count, const char *output);

#endif
