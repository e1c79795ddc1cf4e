/* Writes one run or two as a page. The columns of a run come first: writing them collects the
 * content of its other two blocks. */
#include "cli/html/html.h"

#include "base/text.h"
#include "cli/cli.h"
#include "cuda/kinds.h"
#include "report/show.h"
#include "summary/device.h"
#include "trace/model.h"

#include <takt/activity.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void earlier(uint64_t *origin, uint64_t time_ns)
{
    *origin = time_ns < *origin ? time_ns : *origin;
}

/* Returns the earliest time in the trace, from which the page counts. Times of devices may lie
 * slightly before the recording, because their clocks are only known within an uncertainty. */
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

static void writer_init(html_writer *writer, const html_run *run, uint64_t most_events)
{
    *writer = (html_writer){.trace = run->trace,
                            .file = tkt_base_name(run->file),
                            .origin_ns = origin_of(run->trace),
                            .limit = html_limit_of(run->trace, most_events),
                            .host_count = takt_trace_count(run->trace, TAKT_TRACE_TRACKS)};
    writer->track_count = writer->host_count;
    writer->tracks = calloc(writer->track_count + 1, sizeof *writer->tracks);
    writer->has_failed = !writer->tracks;
    html_text(writer, ""); /* gets number 0 */
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

/* Writes a block of a run with the given functions; the list ends in NULL. */
static void write_block(html_writer *writer, FILE *file, const char *id, const char *suffix,
                        void (*const fill[])(html_writer *, html_packed *))
{
    html_packed *out = html_packed_begin(file, id, suffix);
    writer->has_failed |= !out;
    if (!out)
        return;
    for (size_t i = 0; fill[i] && !writer->has_failed; i++)
        fill[i](writer, out);
    writer->has_failed |= !html_packed_end(out);
}

static void write_facts(html_writer *writer, FILE *file, const char *suffix)
{
    html_bytes text = {.used = 0};

    html_put_facts(writer, &text);
    writer->has_failed |= text.has_failed;
    fprintf(file, "<script type=\"application/json\" id=\"facts%s\">\n", suffix);
    fwrite(text.data, 1, text.used, file);
    fputs("</script>\n", file);
    free(text.data);
}

/* Where the blocks of a run go: `columns` stand behind the script, so that the browser shows the
 * rest before it has read them. */
typedef struct page_parts {
    FILE *file, *columns;
} page_parts;

/* Writes the blocks of a run. False: no memory. */
static bool write_run(page_parts parts, const html_run *run, uint64_t most_events,
                      const char *suffix)
{
    static void (*const data[])(html_writer *, html_packed *) = {
        html_write_spans, html_write_streams, html_write_events, html_write_run, NULL};
    static void (*const lists[])(html_writer *, html_packed *) = {html_write_lists, NULL};
    html_writer writer;

    writer_init(&writer, run, most_events);
    if (!writer.has_failed) {
        write_block(&writer, parts.columns, "data", suffix, data);
        write_block(&writer, parts.file, "lists", suffix, lists);
    }
    if (!writer.has_failed)
        write_facts(&writer, parts.file, suffix);
    bool has_memory = !writer.has_failed && !html_set_has_failed(&writer.texts) &&
                      !html_set_has_failed(&writer.sites) && !html_set_has_failed(&writer.shapes);
    writer_fini(&writer);
    return has_memory;
}

/* False: no memory. */
static bool write_comparison(FILE *file, const html_bytes *comparison)
{
    html_packed *out = html_packed_begin(file, "comparison", "");
    if (!out)
        return false;
    html_packed_write(out, comparison->data, comparison->used);
    return html_packed_end(out) && !comparison->has_failed;
}

/* False: no memory. */
static bool write_blocks(page_parts parts, const html_content *content)
{
    const html_run *b = content->b.trace ? &content->b : NULL;
    uint64_t most_events = b ? HTML_MOST_EVENTS / 2 : HTML_MOST_EVENTS;

    return write_run(parts, &content->a, most_events, "") &&
           (!b || (write_run(parts, b, most_events, "-b") &&
                   write_comparison(parts.file, content->comparison)));
}

/* False: no memory. */
static bool write_page(FILE *file, const html_content *content)
{
    const html_asset head = html_head(), tail = html_tail();
    char *columns = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&columns, &size);

    if (!memory)
        return false;
    fwrite(head.data, 1, head.size, file);
    bool has_memory = write_blocks((page_parts){file, memory}, content);
    has_memory = fclose(memory) == 0 && columns && has_memory; /* NULL: none for its last copy */
    fwrite(tail.data, 1, tail.size, file);
    if (has_memory)
        fwrite(columns, 1, size, file);
    free(columns);
    return has_memory;
}

int cli_html_write(const html_content *content, const char *path)
{
    tkt_file page;
    takt_error error;

    if (tkt_file_create(&page, path, &error) != TAKT_OK)
        return cli_error("%s", error.message);
    FILE *out = cli_file_stream(&page);
    bool has_memory = out && write_page(out, content);
    bool is_written = out && cli_stream_close(out);
    return cli_file_close(&page, !has_memory   ? TAKT_NO_MEMORY
                                 : !is_written ? TAKT_IO_ERROR
                                               : TAKT_OK);
}

/* ======== Facts ======== */

/* The JSON block: facts about the trace, and a list of the page's columns. */

static void put_key(html_bytes *out, const char *key)
{
    html_print(out, ",\n \"%s\": ", key);
}

static void put_text(html_bytes *out, const char *text)
{
    html_put_json(out, text, strlen(text));
}

static void put_time(html_bytes *out, const char *key, uint64_t time_ns, uint64_t origin_ns)
{
    html_print(out, ", \"%s\": %" PRIu64, key, time_ns > origin_ns ? time_ns - origin_ns : 0);
}

/* Writes null for NaN: imported files do not tell some numbers. */
static void put_number(html_bytes *out, const char *key, double number)
{
    if (isnan(number))
        html_print(out, ", \"%s\": null", key);
    else
        html_print(out, ", \"%s\": %.6g", key, number);
}

/* The last line of tables, in one line. */
static void put_provenance(const takt_trace *trace, html_bytes *out)
{
    html_bytes line = {0};
    const takt_sink sink = html_sink(&line);
    const takt_report_options options = {.struct_size = sizeof options, .width = UINT32_MAX};
    takt_status status = tkt_report_end(trace, &options, &sink);
    bool is_there = status == TAKT_OK && line.used > 0;
    html_print(out, ", \"provenance\": ");
    html_put_json(out, is_there ? (const char *)line.data : "", is_there ? line.used - 1 : 0);
    out->has_failed |= line.has_failed || status == TAKT_NO_MEMORY;
    free(line.data);
}

static void put_known(html_bytes *out, const char *key, bool is_known, uint64_t count)
{
    if (is_known)
        html_print(out, ", \"%s\": %" PRIu64, key, count);
    else
        html_print(out, ", \"%s\": null", key);
}

static void put_trace_facts(const html_writer *writer, html_bytes *out)
{
    const takt_facts *facts = takt_trace_facts(writer->trace);
    char cost[TKT_COST_SIZE];

    html_print(out, "{\"name\": ");
    put_text(out, facts->name);
    html_print(out, ", \"backend\": ");
    put_text(out, facts->backend);
    put_time(out, "begin_ns", facts->begin_ns, writer->origin_ns);
    put_time(out, "end_ns", facts->end_ns, writer->origin_ns);
    html_print(out, ", \"realtime_offset_ns\": \"%" PRId64 "\"", facts->realtime_offset_ns);
    html_print(out, ", \"process_id\": %u, \"cycle\": %u", facts->process_id, facts->cycle);
    html_print(out, ", \"rank\": %u, \"world_size\": %u", facts->rank, facts->world_size);
    html_print(out, ", \"first_step\": %" PRIu64 ", \"step_count\": %" PRIu64, facts->first_step,
               facts->step_count);
    html_print(out, ", \"is_partial\": %s, \"has_spans\": %s", facts->is_partial ? "true" : "false",
               facts->has_spans ? "true" : "false");
    html_print(out, ", \"ending\": \"%s\"", tkt_ending_name(facts));
    put_time(out, "known_until_ns", facts->known_until_ns, writer->origin_ns);
    html_print(out, ", \"is_known\": %s", tkt_is_unknown(facts) ? "false" : "true");
    html_print(out, ", \"missing_spans\": %" PRIu64 ", \"missing_activities\": %" PRIu64,
               facts->missing_spans, facts->missing_activities);
    html_print(out, ", \"span_count\": %" PRIu64 ", \"activity_count\": %" PRIu64,
               facts->span_count, facts->activity_count);
    put_number(out, "clock_resolution_ns", facts->clock_resolution_ns);
    put_number(out, "clock_uncertainty_ns", facts->clock_uncertainty_ns);
    put_number(out, "device_resolution_ns", facts->device_resolution_ns);
    put_number(out, "device_uncertainty_ns", facts->device_uncertainty_ns);
    html_print(out, ", \"device_uncertainty_is_least\": %s",
               facts->device_uncertainty_is_least ? "true" : "false");
    put_number(out, "device_shift_ns", facts->device_shift_ns);
    html_print(out, ", \"cost\": \"%s\"", tkt_cost_text(cost, writer->trace));
    put_known(out, "begun_before", tkt_trace_knows_cuts(writer->trace), facts->begun_before);
    put_known(out, "unfinished", tkt_trace_knows_cuts(writer->trace), facts->unfinished);
    put_provenance(writer->trace, out);
    html_print(out, "}");
}

static void put_losses(const takt_trace *trace, html_bytes *out)
{
    bool is_first = true;

    html_print(out, "[");
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t count = takt_trace_loss(trace, (takt_loss)i);
        if (!count)
            continue;
        html_print(out, "%s{\"name\": \"%s\", \"text\": \"%s\", \"count\": %" PRIu64 "}",
                   is_first ? "" : ", ", takt_loss_name((takt_loss)i), takt_loss_text((takt_loss)i),
                   count);
        is_first = false;
    }
    html_print(out, "]");
}

static void put_devices(const takt_trace *trace, html_bytes *out)
{
    takt_device_info device;

    html_print(out, "[");
    for (size_t i = 0; takt_trace_device(trace, i, &device) == TAKT_OK; i++) {
        html_print(out, "%s{\"device\": ", i ? ", " : "");
        put_text(out, device.device);
        html_print(out, ", \"name\": ");
        put_text(out, device.name);
        html_print(out, ", \"compute\": \"%u.%u\", \"multiprocessors\": %u", device.compute_major,
                   device.compute_minor, device.multiprocessors);
        html_print(out, ", \"memory_bytes\": %" PRIu64 "}", device.memory_bytes);
    }
    html_print(out, "]");
}

static void put_unseen(const html_writer *writer, const tkt_gaps *gaps, uint32_t device,
                       html_bytes *out)
{
    bool is_first = true;
    html_print(out, ", \"unseen\": [");
    for (size_t i = 0; i < gaps->unseen.count; i++) {
        const tkt_unseen *unseen = &gaps->unseen.items[i];
        if (unseen->device != device)
            continue;
        html_print(out, "%s%" PRIu64 ", %" PRIu64, is_first ? "" : ", ",
                   unseen->begin_ns - writer->origin_ns, unseen->end_ns - writer->origin_ns);
        is_first = false;
    }
    html_print(out, "]");
}

/* Since when it is known when devices were busy, and until when they were at once: with the launch
 * of their first activity, or with work from before the recording. Nothing where it is not known up
 * to the recording's end. */
static void put_busy(const html_writer *writer, html_bytes *out)
{
    const takt_facts *facts = takt_trace_facts(writer->trace);
    const tkt_gaps *gaps;
    bool is_first = true;
    html_print(out, "[");
    uint64_t from_ns, until_ns;
    tkt_device_known(writer->trace, &from_ns, &until_ns);
    bool has_gaps = until_ns == facts->begin_ns + tkt_wall_ns(facts) &&
                    tkt_trace_gaps(writer->trace, &gaps) == TAKT_OK;
    for (size_t i = 0; has_gaps && i < gaps->idles.count; i++) {
        const tkt_idle *idle = &gaps->idles.items[i];
        if (!idle->is_device || !idle->known_ns)
            continue;
        uint64_t since_ns = until_ns - idle->known_ns - idle->unseen_ns;
        html_print(out, "%s{\"device\": ", is_first ? "" : ", ");
        put_text(out, tkt_trace_text(writer->trace, idle->device));
        html_print(out, ", \"since\": %" PRIu64 ", \"until\": %" PRIu64,
                   since_ns - writer->origin_ns, idle->first_ns - writer->origin_ns);
        put_unseen(writer, gaps, idle->device, out);
        html_print(out, "}");
        is_first = false;
    }
    html_print(out, "]");
}

static void put_track(const html_track *track, html_bytes *out)
{
    html_print(out, "{\"kind\": \"%s\", \"name\": ", track->kind);
    put_text(out, track->name);
    html_print(out, ", \"group\": ");
    put_text(out, track->group);
    if (strcmp(track->kind, "stream") == 0)
        html_print(out, ", \"context\": %u, \"stream\": %u", track->context, track->stream);
    else if (strcmp(track->kind, "thread") == 0)
        html_print(out, ", \"thread\": %u", track->thread);
    html_print(out, ", \"count\": %" PRIu64 ", \"hidden\": %" PRIu64 ", \"rows\": %u}",
               track->count, track->hidden, track->rows);
}

static void put_tracks(const html_writer *writer, html_bytes *out)
{
    html_print(out, "[");
    for (size_t i = 0; i < writer->track_count; i++) {
        html_print(out, "%s", i ? ",\n  " : "");
        put_track(&writer->tracks[i], out);
    }
    html_print(out, "]");
}

static void put_counters(const html_series_list *list, html_bytes *out)
{
    html_print(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        html_print(out, "%s{\"name\": ", i ? ", " : "");
        put_text(out, list->items[i].name);
        html_print(out, ", \"count\": %" PRIu64 "}", list->items[i].count);
    }
    html_print(out, "]");
}

static const char *memory_kind(const html_series *series)
{
    if (!series->name[0] && !series->kind)
        return "host";
    return tkt_memory_name(series->kind, "unknown");
}

static void put_memory(const html_series_list *list, html_bytes *out)
{
    html_print(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        const html_series *series = &list->items[i];
        html_print(out, "%s{\"device\": ", i ? ", " : "");
        put_text(out, series->name);
        html_print(out, ", \"kind\": \"%s\", \"pool\": %s, \"count\": %" PRIu64 "}",
                   memory_kind(series), series->is_pool ? "true" : "false", series->count);
    }
    html_print(out, "]");
}

static void put_count(html_bytes *out, const char *key, size_t count)
{
    put_key(out, key);
    html_print(out, "{\"count\": %zu}", count);
}

void html_put_facts(html_writer *writer, html_bytes *out)
{
    html_print(out, "{\"format\": %d, \"takt\": \"%s\"", HTML_FORMAT, takt_version());
    put_key(out, "file");
    put_text(out, writer->file);
    put_key(out, "origin_ns");
    html_print(out, "\"%" PRIu64 "\"", writer->origin_ns);
    put_key(out, "facts");
    put_trace_facts(writer, out);
    put_key(out, "losses");
    put_losses(writer->trace, out);
    put_key(out, "hidden");
    html_print(out, "{\"count\": %" PRIu64 ", \"below_ns\": %" PRIu64 "}", writer->limit.hidden,
               writer->limit.upto_ns);
    put_key(out, "devices");
    put_devices(writer->trace, out);
    put_key(out, "busy");
    put_busy(writer, out);
    put_key(out, "tracks");
    put_tracks(writer, out);
    put_key(out, "counters");
    put_counters(&writer->counters, out);
    put_key(out, "memory");
    put_memory(&writer->memory, out);
    put_count(out, "marks", takt_trace_count(writer->trace, TAKT_TRACE_MARKS));
    put_count(out, "waits", takt_trace_count(writer->trace, TAKT_TRACE_WAITS));
    put_count(out, "steps", takt_trace_count(writer->trace, TAKT_TRACE_STEPS));
    put_key(out, "run");
    html_put_run(writer, out);
    html_print(out, "}\n");
}
