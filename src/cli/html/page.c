/* From a trace to a page: first the columns, since their writing shows what the two other blocks
 * have to say. */
#include "cli/html/page.h"

#include "cli/cli.h"
#include "cli/html/html.h"

#include <stdlib.h>
#include <string.h>

static void earlier(uint64_t *origin, uint64_t time_ns)
{
    *origin = time_ns < *origin ? time_ns : *origin;
}

/* Times are told from here on: nothing in the trace is earlier. Devices' times may lie a little
 * before the recording, by what is not known of their clocks. */
static uint64_t origin_of(const takt_trace *trace)
{
    uint64_t origin = takt_trace_facts(trace)->begin_ns;
    takt_span_info span;
    takt_activity activity;
    takt_counter_info counter;
    takt_memory_info memory;
    takt_mark_info mark;
    takt_wait_info wait;
    takt_step_info step;

    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++)
        if (takt_trace_span(trace, i, 0, &span) == TAKT_OK)
            earlier(&origin, span.begin_ns);
    for (size_t i = 0; takt_trace_activity(trace, i, &activity) == TAKT_OK; i++)
        earlier(&origin, activity.begin_ns);
    if (takt_trace_counter(trace, 0, &counter) == TAKT_OK)
        earlier(&origin, counter.time_ns);
    if (takt_trace_memory(trace, 0, &memory) == TAKT_OK)
        earlier(&origin, memory.time_ns);
    if (takt_trace_mark(trace, 0, &mark) == TAKT_OK)
        earlier(&origin, mark.time_ns);
    if (takt_trace_wait(trace, 0, &wait) == TAKT_OK)
        earlier(&origin, wait.begin_ns);
    if (takt_trace_step(trace, 0, &step) == TAKT_OK)
        earlier(&origin, step.begin_ns);
    return origin;
}

static void writer_init(html_writer *writer, const takt_trace *trace, const char *file)
{
    const char *base = strrchr(file, '/');
    *writer = (html_writer){.trace = trace,
                            .file = base ? base + 1 : file,
                            .origin_ns = origin_of(trace),
                            .limit = html_limit_of(trace, HTML_MOST_EVENTS),
                            .host_count = takt_trace_count(trace, TAKT_TRACE_TRACKS)};
    writer->track_count = writer->host_count;
    writer->tracks = calloc(writer->track_count + 1, sizeof *writer->tracks);
    writer->has_failed = !writer->tracks;
    html_text(writer, ""); /* number 0 */
}

static void writer_fini(html_writer *writer)
{
    for (size_t i = 0; writer->tracks && i < writer->host_count; i++)
        free(writer->tracks[i].places);
    free(writer->tracks);
    html_series_free(&writer->counters);
    html_series_free(&writer->memory);
    html_set_free(&writer->texts);
    html_set_free(&writer->sites);
    html_set_free(&writer->shapes);
}

/* A block of the page, filled by the functions that end in NULL. */
static void write_block(html_writer *writer, FILE *file, const char *id,
                        void (*const fill[])(html_writer *, html_packed *))
{
    html_packed *out = html_packed_begin(file);
    writer->has_failed |= !out;
    if (!out)
        return;
    fprintf(file, "<script type=\"text/plain\" id=\"%s\">", id);
    for (size_t i = 0; fill[i] && !writer->has_failed; i++)
        fill[i](writer, out);
    writer->has_failed |= !html_packed_end(out);
    fputs("</script>\n", file);
}

static void write_facts(html_writer *writer, FILE *file)
{
    html_bytes text = {.used = 0};

    html_put_facts(writer, &text);
    writer->has_failed |= text.has_failed;
    fputs("<script type=\"application/json\" id=\"facts\">\n", file);
    fwrite(text.data, 1, text.used, file);
    fputs("</script>\n", file);
    free(text.data);
}

static void write_page(html_writer *writer, FILE *file)
{
    static void (*const data[])(html_writer *, html_packed *) = {
        html_write_spans, html_write_streams, html_write_events, NULL};
    static void (*const lists[])(html_writer *, html_packed *) = {html_write_lists, NULL};
    const html_asset head = html_head(), tail = html_tail();

    fwrite(head.data, 1, head.size, file);
    write_block(writer, file, "data", data);
    write_block(writer, file, "lists", lists);
    if (!writer->has_failed)
        write_facts(writer, file);
    fwrite(tail.data, 1, tail.size, file);
    writer->has_failed |= html_set_has_failed(&writer->texts) ||
                          html_set_has_failed(&writer->sites) ||
                          html_set_has_failed(&writer->shapes);
}

int cli_html_write(const takt_trace *trace, const char *file, const char *path)
{
    tkt_file page;
    takt_error error;
    html_writer writer;

    if (tkt_file_create(&page, path, &error) != TAKT_OK)
        return cli_error("%s", error.message);
    FILE *out = cli_file_stream(&page);
    writer_init(&writer, trace, file);
    if (out && !writer.has_failed)
        write_page(&writer, out);
    bool has_memory = out && !writer.has_failed;
    bool is_written = out && cli_stream_close(out);
    writer_fini(&writer);
    return cli_file_close(&page, !has_memory   ? TAKT_NO_MEMORY
                                 : !is_written ? TAKT_IO_ERROR
                                               : TAKT_OK);
}
