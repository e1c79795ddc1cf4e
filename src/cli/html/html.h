/* Declarations shared by the parts of the page that `takt report --html` writes. FORMAT.md
 * describes the page. All its data comes from a sealed trace: through include/takt, except for the
 * steps of the whole run. */
#ifndef TAKT_CLI_HTML_HTML_H
#define TAKT_CLI_HTML_HTML_H

#include "cli/cli.h"

#include <takt/base.h>
#include <takt/trace.h>

#include <stdio.h>

enum {
    HTML_FORMAT = 2,
    HTML_MOST_EVENTS = 2000000, /* over all tracks */
    HTML_MOST_LANES = 64,       /* rows of a track with overlapping events; further events share the
                                 * last row */
    HTML_TABLE_ROWS = 1000
};

/* ---- Growing byte buffers (bytes.c) ---- */

/* Start with zeros; the owner frees `data`. If an allocation fails, later writes do nothing and
 * `has_failed` is set, so callers need only one check at the end. */
typedef struct html_bytes {
    uint8_t *data;
    size_t   used;
    size_t   capacity;
    bool     has_failed;
} html_bytes;

void html_put(html_bytes *bytes, const void *data, size_t size);
takt_sink html_sink(html_bytes *bytes); /* never fails: see above */
void html_put_varint(html_bytes *bytes, uint64_t value);
void html_put_zigzag(html_bytes *bytes, int64_t value);
void html_print(html_bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a JSON string with its quotes. It is safe inside an HTML script element. */
void html_put_json(html_bytes *bytes, const char *text, size_t size);

/* ---- Byte strings, numbered in order of first use (set.c) ---- */

/* Starts with zeros. */
typedef struct html_set {
    html_bytes bytes;  /* all items, one after the other */
    html_bytes ends;   /* size_t: end offset of each item */
    uint32_t  *slots;  /* item number + 1, 0: free; the size is a power of two */
    size_t     slot_count;
    uint32_t   count;
} html_set;

/* Returns the number of the item with these bytes and adds it if it is missing. */
uint32_t html_set_add(html_set *set, const void *item, size_t size);
const void *html_set_at(const html_set *set, uint32_t index, size_t *size);
bool html_set_has_failed(const html_set *set);
void html_set_free(html_set *set);

/* ---- Blocks of the page: base64 of gzip (bytes.c) ---- */

typedef struct html_packed html_packed;

/* Begins a block whose id is `id` and `suffix`. NULL: no memory. */
html_packed *html_packed_begin(FILE *file, const char *id, const char *suffix);
void html_packed_write(html_packed *packed, const void *data, size_t size);

/* Writes a column, its size first, and empties the buffer. Many columns are several blocks: the
 * second has "-2" behind its id, and so on. */
void html_packed_column(html_packed *packed, html_bytes *column);

/* Ends the block and frees it. False if compressing or writing failed. */
bool html_packed_end(html_packed *packed);

/* ---- Events that the page leaves out (limit.c) ---- */

typedef struct html_limit {
    uint64_t hidden;   /* number of events; 0: none */
    uint64_t below_ns; /* all shorter events are left out */
    uint64_t upto_ns;  /* of events shorter than this, every n-th is kept; 0: none are thinned
                        * out */
    uint64_t every;
    uint64_t seen;
} html_limit;

/* Chooses limits that leave the page with at most `most` events. */
html_limit html_limit_of(const takt_trace *trace, uint64_t most);

/* True if the page keeps an event of this duration. Counts calls: call once per event. */
bool html_limit_keeps(html_limit *limit, uint64_t duration_ns);

/* True for an activity of a GPU. Activities of host devices appear as spans. */
bool html_is_of_device(const takt_activity *activity);

/* ---- The writer (page.c) ---- */

/* A row of the timeline, as described in `facts`. */
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
    uint32_t   *places; /* threads only: for each span its index in the page + 1, 0: left out; NULL:
                         * the page has all */
} html_track;

/* A counter, or the memory of one kind on one device. */
typedef struct html_series {
    const char *name; /* of the counter or the device */
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
    const char       *file; /* name of the trace file */
    uint64_t          origin_ns;
    html_limit        limit;
    html_set          texts;
    html_set          sites;
    html_set          shapes;
    html_track       *tracks;
    size_t            host_count; /* threads and async tracks; they come first */
    size_t            track_count;
    html_series_list  counters;
    html_series_list  memory;
    bool              has_failed; /* memory ran out */
} html_writer;

/* Returns the number of a text; "" is 0. */
uint32_t html_text(html_writer *writer, const char *text);

/* Events as columns (columns.c, streams.c). */
void html_write_spans(html_writer *writer, html_packed *out);
void html_write_streams(html_writer *writer, html_packed *out);
void html_write_events(html_writer *writer, html_packed *out);

/* Values over time as columns, and the lists of series (columns.c). */
void html_write_counters(html_writer *writer, html_packed *out);
void html_write_memory(html_writer *writer, html_packed *out);
void html_series_free(html_series_list *list);

/* The run as columns, and its facts (run.c). */
void html_write_run(html_writer *writer, html_packed *out);
void html_put_run(html_writer *writer, html_bytes *out);

/* Assigns rows to events that may overlap. html_lane() returns the first row that is free at
 * `begin_ns`. Starts with zeros. */
typedef struct html_lanes {
    uint64_t end_ns[HTML_MOST_LANES];
    uint32_t count;
} html_lanes;

uint32_t html_lane(html_lanes *lanes, uint64_t begin_ns, uint64_t end_ns);

/* Cursor over spans' arguments, work and results; ask for spans in order (names.c). Starts with
 * zeros; the owner frees text.data. */
typedef struct html_args {
    html_bytes text;
    size_t     call; /* the next call of the trace */
} html_args;

/* Returns the number of a text with all of them; 0: the span has none. */
uint32_t html_args_text(html_writer *writer, html_args *args, size_t track, size_t span);

/* Launch shapes by number (streams.c). */
uint32_t html_shape(html_writer *writer, const takt_activity *activity);
void html_put_shape(html_bytes *out, const html_set *shapes, uint32_t index);

/* Source positions by number, and their line in `lists` (names.c). */
uint32_t html_site(html_writer *writer, const takt_span_info *span);
void html_put_sites(html_writer *writer, html_bytes *out);

/* JSON (page.c, names.c). */
void html_put_facts(html_writer *writer, html_bytes *out);
void html_write_lists(html_writer *writer, html_packed *out);

/* ---- The page around the blocks (report_html.c) ---- */

typedef struct html_asset {
    const char *data;
    size_t      size;
} html_asset;

/* The parts of the page before and after the blocks. */
html_asset html_head(void);
html_asset html_tail(void);

/* ======== The page ======== */

/* A trace, or two and their comparison, as one HTML file that needs no network. */

typedef struct html_run {
    const takt_trace *trace;
    const char       *file; /* the page shows the last part of this path */
} html_run;

typedef struct html_content {
    html_run          a;
    html_run          b;          /* zeros: the page is about one run */
    const html_bytes *comparison; /* with b: the JSON of `takt diff` */
} html_content;

/* Writes the page to a temporary file next to `path`, then renames it. Returns CLI_OK, or
 * CLI_FAILED after reporting the error. */
int cli_html_write(const html_content *content, const char *path);

/* `takt report --html`: one page per trace. `output` is a file or a folder; NULL: the page goes
 * next to the trace, under its name. Returns the exit status. */
int cli_report_html(const cli_syntax *syntax, char **files, size_t count, const char *output);

/* Puts a page's name in `out`: NAME and `ending` for a `file` NAME.pftrace, next to it or in the
 * folder `output`, or `output` itself. Refuses something like /dev/null. Returns CLI_OK, or
 * CLI_USAGE after reporting the error (report_html.c). */
#define HTML_PATH_SIZE 4096
int html_name_page(const cli_syntax *syntax, const char *file, const char *ending,
                   const char *output, char out[HTML_PATH_SIZE]);

/* Refuses a page that would replace a trace. Returns CLI_OK, or CLI_USAGE after reporting it. */
int html_spare_trace(const cli_syntax *syntax, const char *file, const char *page);

#endif
