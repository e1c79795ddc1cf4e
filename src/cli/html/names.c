/* What the numbers of columns stand for. */
#include "cli/html/html.h"

#include <takt/report.h>

#include <stdlib.h>
#include <string.h>

/* ======== The second block ======== */

/* The second block: what the columns' numbers stand for, and the reports. */

static const char *without_folders(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "forces.c(42): compute_forces", or "libforces.so+0x1a2b", as reports and files have it. */
static void put_frame(html_bytes *out, html_bytes *text, const takt_frame_info *frame)
{
    const char *file = without_folders(frame->file), *module = without_folders(frame->module);

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

static takt_status append(void *user, const void *data, size_t size)
{
    html_put(user, data, size);
    return TAKT_OK;
}

/* The reports that this trace can give; others are not there. */
static void put_tables(const takt_trace *trace, html_bytes *out)
{
    const takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_JSON, .rows = HTML_TABLE_ROWS};
    const takt_sink sink = {append, out};
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

/* Strings come last, since sites bring theirs. */
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

/* ======== Places ======== */

/* The places of spans: their texts belong to the trace, which has equal ones once, so that their
 * addresses tell them apart. */

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

/* What is noted at a span, as one text: "cells=4096, flops=2e+09, result=2". */

/* A number as it was: in as few digits as bring the same one back. */
static void put_double(html_bytes *out, double number)
{
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    html_put(out, text, strlen(text));
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
        put_double(out, arg->d);
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
    put_double(out, work);
}

/* What a call returned, where it failed. Calls stand in the order of their spans, which are asked
 * for in that order, too. */
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

/* ======== Sets ======== */

/* A set of byte strings, numbered by their first coming: texts, sites, shapes. Open addressing,
 * at most half full. */

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = size;
    for (; size > 0; bytes += 8, size = size > 8 ? size - 8 : 0) {
        uint64_t word = 0;
        memcpy(&word, bytes, size < 8 ? size : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

const void *html_set_at(const html_set *set, uint32_t index, size_t *size)
{
    const size_t *ends = (const void *)set->ends.data;
    size_t begin = index > 0 ? ends[index - 1] : 0;
    *size = ends[index] - begin;
    return set->bytes.data + begin;
}

/* The slot that holds the item, or in which it belongs. */
static size_t find(const html_set *set, const void *item, size_t size)
{
    size_t mask = set->slot_count - 1, slot = hash_of(item, size) & mask;
    for (; set->slots[slot]; slot = (slot + 1) & mask) {
        size_t other_size;
        const void *other = html_set_at(set, set->slots[slot] - 1, &other_size);
        if (other_size == size && (size == 0 || memcmp(other, item, size) == 0))
            break;
    }
    return slot;
}

static bool grow(html_set *set)
{
    size_t count = set->slot_count ? 2 * set->slot_count : 256;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(set->slots);
    set->slots = slots;
    set->slot_count = count;
    for (uint32_t i = 0; i < set->count; i++) {
        size_t size;
        const void *item = html_set_at(set, i, &size);
        slots[find(set, item, size)] = i + 1;
    }
    return true;
}

uint32_t html_set_add(html_set *set, const void *item, size_t size)
{
    if (2 * (size_t)set->count >= set->slot_count && !grow(set))
        set->bytes.has_failed = true;
    if (html_set_has_failed(set))
        return 0;
    size_t slot = find(set, item, size);
    if (set->slots[slot])
        return set->slots[slot] - 1;
    html_put(&set->bytes, size ? item : "", size);
    html_put(&set->ends, &set->bytes.used, sizeof set->bytes.used);
    if (html_set_has_failed(set))
        return 0;
    set->slots[slot] = ++set->count;
    return set->count - 1;
}

bool html_set_has_failed(const html_set *set)
{
    return set->bytes.has_failed || set->ends.has_failed;
}

void html_set_free(html_set *set)
{
    free(set->bytes.data);
    free(set->ends.data);
    free(set->slots);
    *set = (html_set){.count = 0};
}
