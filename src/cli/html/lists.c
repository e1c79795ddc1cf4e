/* The second block: what the columns' numbers stand for, and the reports. */
#include "cli/html/html.h"

#include <takt/report.h>

#include <stdlib.h>
#include <string.h>

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
