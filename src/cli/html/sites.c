/* The places of spans: their texts belong to the trace, which has equal ones once, so that their
 * addresses tell them apart. */
#include "cli/html/html.h"

#include <string.h>

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
