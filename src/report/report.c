/* The table of reports, and the way from a report's name to output: build the document, arrange its
 * tables, render. All errors but those of the sink occur before the first byte is written. */
#include "base/error.h"
#include "base/file.h"
#include "base/own.h"
#include "report/show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define USUAL_WIDTH 160
#define LEAST_WIDTH 20
#define WRITE_BYTES ((size_t)64 << 10) /* most that is written at once */
#define USUAL_KEY   "takt_report_options.width="

typedef struct report {
    const char *name;
    bool is_of_cuda; /* WITH_CUDA */
    tkt_show_function show;
} report;

enum {
    ALWAYS,
    WITH_CUDA
};

#define ROW(name, when, description) {#name, (when) == WITH_CUDA, tkt_show_##name},

static const report reports[] = {TKT_REPORTS(ROW)};

#define REPORT_COUNT (sizeof reports / sizeof *reports)

const char *takt_report_name(size_t index)
{
    return index < REPORT_COUNT ? reports[index].name : NULL;
}

static const report *find_report(const char *name)
{
    for (size_t i = 0; name && i < REPORT_COUNT; i++) {
        if (strcmp(reports[i].name, name) == 0)
            return &reports[i];
    }
    return NULL;
}

const char *tkt_report_known(const char *name)
{
    const report *found = find_report(name);
    return found ? found->name : NULL;
}

const char *tkt_report_column(const char *name, const char *column)
{
    tkt_document document = {.sought = column};
    find_report(name)->show(&document, NULL);
    return document.found;
}

bool tkt_report_is_of_cuda(const char *name)
{
    const report *found = find_report(name);
    return found && found->is_of_cuda;
}

/* The terminal's width is used only if the sink writes to that terminal. */
static size_t width_for(const takt_report_options *options, const takt_sink *sink)
{
    static const int streams[] = {STDOUT_FILENO, STDERR_FILENO};
    if (options->width > 0)
        return options->width < LEAST_WIDTH ? LEAST_WIDTH : options->width;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        takt_sink stream = takt_sink_fd(streams[i]);
        if (stream.write != sink->write || stream.user != sink->user)
            continue;
        size_t width = tkt_terminal_width(streams[i]);
        if (width > 0)
            return width < LEAST_WIDTH ? LEAST_WIDTH : width;
    }
    return USUAL_WIDTH;
}

takt_status tkt_document_print(tkt_document *document, const takt_report_options *options,
                               const takt_sink *sink)
{
    tkt_layout layout = {width_for(options, sink), options->color, options->full_names,
                         options->width_key ? options->width_key : USUAL_KEY};
    tkt_writer writer;
    takt_status status = document->status;
    if (status == TAKT_OK)
        status = tkt_document_arrange(document, options->sort, options->rows);
    if (status == TAKT_OK)
        status = tkt_writer_init(&writer, *sink, WRITE_BYTES);
    if (status != TAKT_OK)
        return status;
    switch (options->format) {
    case TAKT_FORMAT_TEXT:
        tkt_render_text(document, &layout, &writer);
        break;
    case TAKT_FORMAT_CSV:
        tkt_render_csv(document, &writer);
        break;
    case TAKT_FORMAT_JSON:
        tkt_render_json(document, &writer);
        break;
    case TAKT_FORMAT_MARKDOWN:
        tkt_render_markdown(document, &writer);
        break;
    }
    return tkt_writer_fini(&writer);
}

static takt_status show(const takt_trace *trace, const report *wanted, tkt_part part,
                        const takt_report_options *options, const takt_sink *sink)
{
    tkt_document document;
    tkt_document_init(&document, wanted->name, trace);
    document.part = part;
    takt_status status = wanted->show(&document, options);
    if (status == TAKT_OK)
        status = tkt_document_print(&document, options, sink);
    tkt_document_fini(&document);
    return status;
}

static takt_status print(const takt_trace *trace, const char *name, tkt_part part,
                         const takt_report_options *options, const takt_sink *sink)
{
    takt_report_options mine;
    takt_status status = tkt_options_read(&mine, sizeof mine, options, "TAKT_REPORT_OPTIONS_INIT");
    if (status != TAKT_OK)
        return status;
    if (!trace || !name || !sink || !sink->write || mine.rows < -1 ||
        (unsigned)mine.format > TAKT_FORMAT_MARKDOWN)
        return TAKT_BAD_ARGUMENT;
    const report *wanted = find_report(name);
    return wanted ? show(trace, wanted, part, &mine, sink) : TAKT_NOT_FOUND;
}

takt_status takt_report(const takt_trace *trace, const char *name,
                        const takt_report_options *options, const takt_sink *sink)
{
    TKT_OWN_WORK;
    return print(trace, name, TKT_ALL, options, sink);
}

takt_status tkt_report_part(const takt_trace *trace, const char *name, tkt_part part,
                            const takt_report_options *options, const takt_sink *sink)
{
    return print(trace, name, part, options, sink);
}

takt_status tkt_report_end(const takt_trace *trace, const takt_report_options *options,
                           const takt_sink *sink)
{
    tkt_writer writer;
    bool is_text = options->format == TAKT_FORMAT_TEXT;
    if (!is_text && options->format != TAKT_FORMAT_MARKDOWN)
        return TAKT_OK;
    takt_status status = tkt_writer_init(&writer, *sink, WRITE_BYTES);
    if (status != TAKT_OK)
        return status;
    tkt_put_provenance(&writer, trace, is_text ? width_for(options, sink) : SIZE_MAX);
    return tkt_writer_fini(&writer);
}
