/* The second block of the page: the values behind the numbers in columns, and the reports. */
#include "cli/html/html.h"

#include "base/text.h"

#include <takt/report.h>

#include <stdlib.h>
#include <string.h>

/* ======== The block ======== */

/* Writes "forces.c(42): compute_forces" or "libforces.so+0x1a2b", as in reports and other files. */
static void put_frame(html_bytes *out, html_bytes *text, const takt_frame_info *frame)
{
    const char *file = tkt_base_name(frame->file), *module = tkt_base_name(frame->module);

    text->used = 0;
    html_put(text, file, strlen(file));
    if (file[0])
        html_print(text, "(%u): ", (unsigned)frame->line);
    if (frame->function[0]) {
        html_put(text, frame->function, strlen(frame->function));
    } else {
        html_put(text, module[0] ? module : "?", strlen(module[0] ? module : "?"));
        html_print(text, "+0x%llx", (unsigned long long)frame->offset);
    }
    html_put_json(out, (const char *)text->data, text->used);
}

static void put_stacks(const takt_trace *trace, html_bytes *out)
{
    html_bytes text = {.used = 0};
    takt_frame_info frame;

    html_print(out, "[");
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_STACKS); i++) {
        html_print(out, "%s[", i ? ",\n" : "");
        for (size_t k = 0; takt_trace_frame(trace, i, k, &frame) == TAKT_OK; k++) {
            html_print(out, "%s", k ? "," : "");
            put_frame(out, &text, &frame);
        }
        html_print(out, "]");
    }
    html_print(out, "]");
    out->has_failed |= text.has_failed;
    free(text.data);
}

static void put_shapes(const html_set *shapes, html_bytes *out)
{
    html_print(out, "[");
    for (uint32_t i = 0; i < shapes->count; i++) {
        html_print(out, "%s", i ? ",\n" : "");
        html_put_shape(out, shapes, i);
    }
    html_print(out, "]");
}

static void put_strings(const html_set *texts, html_bytes *out)
{
    html_print(out, "[");
    for (uint32_t i = 0; i < texts->count; i++) {
        size_t size;
        const char *text = html_set_at(texts, i, &size);
        html_print(out, "%s", i ? ",\n" : "");
        html_put_json(out, text, size);
    }
    html_print(out, "]");
}

/* Writes the reports that this trace supports and omits the others. */
static void put_tables(const takt_trace *trace, html_bytes *out)
{
    const takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_JSON, .rows = HTML_TABLE_ROWS};
    const takt_sink sink = html_sink(out);
    const char *name;
    bool is_first = true;

    html_print(out, "{");
    for (size_t i = 0; (name = takt_report_name(i)) != NULL; i++) {
        size_t before = out->used;
        html_print(out, "%s\"%s\": ", is_first ? "" : ",\n", name);
        takt_status status = takt_report(trace, name, &options, &sink);
        is_first = is_first && status != TAKT_OK;
        out->has_failed |= status != TAKT_OK && status != TAKT_NO_SPANS;
        if (status != TAKT_OK)
            out->used = before;
    }
    html_print(out, "}");
}

/* Strings come last, because sites add theirs. */
void html_write_lists(html_writer *writer, html_packed *out)
{
    html_bytes text = {.used = 0};

    html_print(&text, "{\"sites\": ");
    html_put_sites(writer, &text);
    html_print(&text, ",\n\"shapes\": ");
    put_shapes(&writer->shapes, &text);
    html_print(&text, ",\n\"stacks\": ");
    put_stacks(writer->trace, &text);
    html_print(&text, ",\n\"strings\": ");
    put_strings(&writer->texts, &text);
    html_print(&text, ",\n\"tables\": ");
    put_tables(writer->trace, &text);
    html_print(&text, "}\n");
    writer->has_failed |= text.has_failed;
    html_packed_write(out, text.data, text.used);
    free(text.data);
}

/* ======== Sites ======== */

/* Source positions of spans. The trace stores equal texts once, so addresses are enough to compare
 * sites. */

typedef struct site {
    const char *name;
    const char *category;
    const char *file;
    uint32_t line;
    uint32_t color;
} site;

uint32_t html_text(html_writer *writer, const char *text)
{
    return html_set_add(&writer->texts, text, strlen(text));
}

uint32_t html_site(html_writer *writer, const takt_span_info *span)
{
    const site key = {span->name, span->category, span->file, span->line, span->color};
    return html_set_add(&writer->sites, &key, sizeof key);
}

void html_put_sites(html_writer *writer, html_bytes *out)
{
    html_print(out, "[");
    for (uint32_t i = 0; i < writer->sites.count; i++) {
        size_t size;
        site at;
        memcpy(&at, html_set_at(&writer->sites, i, &size), sizeof at);
        html_print(out, "%s[%u,%u,%u,%u,%u]", i ? "," : "", html_text(writer, at.name),
                   html_text(writer, at.category), html_text(writer, at.file), (unsigned)at.line,
                   (unsigned)(at.color & 0xFFFFFF));
    }
    html_print(out, "]");
}

/* ======== Arguments ======== */

/* Arguments, work and result of a span as one text: "cells=4096, flops=2e+09, result=2". */

static void put_real(html_bytes *out, double number)
{
    char text[TKT_DOUBLE_BYTES];
    html_put(out, text, (size_t)(tkt_put_real(text, number, 6) - text));
}

static void put_value(html_bytes *out, const takt_arg_info *arg)
{
    switch (arg->kind) {
    case TAKT_ARG_INT:
        html_print(out, "%lld", (long long)arg->i);
        break;
    case TAKT_ARG_UINT:
        html_print(out, "%llu", (unsigned long long)arg->u);
        break;
    case TAKT_ARG_DOUBLE:
        put_real(out, arg->d);
        break;
    case TAKT_ARG_BOOL:
        html_print(out, "%s", arg->i ? "true" : "false");
        break;
    case TAKT_ARG_TEXT:
        html_put(out, arg->text, strlen(arg->text));
        break;
    }
}

static void put_key(html_bytes *out, const char *key)
{
    if (out->used)
        html_put(out, ", ", 2);
    html_put(out, key, strlen(key));
    html_put(out, "=", 1);
}

static void put_work(html_bytes *out, const char *key, double work)
{
    if (work == 0)
        return;
    put_key(out, key);
    put_real(out, work);
}

/* Writes the result of a failed call. Both the trace's calls and the requested spans are in order,
 * so a cursor is enough. */
static void put_result(const takt_trace *trace, html_args *args, size_t track, size_t span)
{
    takt_call_info call;
    while (takt_trace_call(trace, args->call, &call) == TAKT_OK &&
           (call.track < track || (call.track == track && call.span < span)))
        args->call++;
    if (takt_trace_call(trace, args->call, &call) != TAKT_OK || call.track != track ||
        call.span != span || call.result == 0)
        return;
    put_key(&args->text, "result");
    html_print(&args->text, "%d", call.result);
}

uint32_t html_args_text(html_writer *writer, html_args *args, size_t track, size_t span)
{
    const takt_trace *trace = writer->trace;
    size_t count = takt_trace_arg_count(trace, track, span);
    double flops = 0, bytes = 0;
    takt_arg_info arg;

    args->text.used = 0;
    for (size_t i = 0; i < count && takt_trace_arg(trace, track, span, i, &arg) == TAKT_OK; i++) {
        put_key(&args->text, arg.key);
        put_value(&args->text, &arg);
    }
    takt_trace_work(trace, track, span, &flops, &bytes);
    put_work(&args->text, "flops", flops);
    put_work(&args->text, "bytes", bytes);
    put_result(trace, args, track, span);
    return args->text.used ? html_set_add(&writer->texts, args->text.data, args->text.used) : 0;
}
