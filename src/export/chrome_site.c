/* The texts that all spans of a call site share in a Chrome file, made when the first one is
 * written.
 *
 *     {"ph":"X","cat":"cpu_op","name":"density","pid":7,"tid":      before the row's id
 *     ,"args":{"file":"sph.c:80","category":"physics"}},            behind the duration
 */
#include "export/chrome_file.h"

static char *put(char *out, const char *text)
{
    size_t size = strlen(text);
    memcpy(out, text, size);
    return out + size;
}

static char *put_escaped(char *out, const takt_trace *trace, uint32_t string)
{
    const tkt_string *text = &trace->strings.items[string];
    return tkt_json_escape(out, text->bytes, text->size);
}

static size_t escaped_bytes(const takt_trace *trace, uint32_t string)
{
    return trace->strings.items[string].size * 6;
}

static char *put_head(char *out, const takt_trace *trace, const tkt_trace_site *site, bool is_async)
{
    out = put(out, "{\"ph\":\"X\",\"cat\":\"");
    if (site->kind == TAKT_SITE_CALL && site->category)
        out = put_escaped(out, trace, site->category); /* Kineto's: cuda_runtime, cuda_driver */
    else
        out = put(out, is_async ? TKT_CHROME_CAT_ASYNC : TKT_CHROME_CAT_SCOPE);
    out = put(out, "\",\"name\":\"");
    out = put_escaped(out, trace, site->name);
    out = put(out, "\",\"pid\":");
    out = tkt_put_u64(out, trace->facts.process_id);
    return put(out, ",\"tid\":");
}

/* "key":"value" with a comma if something stands before it already. */
static char *put_pair(char *out, const char *begin, const char *key)
{
    out = put(out, out == begin ? "\"" : ",\"");
    out = put(out, key);
    return put(out, "\":\"");
}

/* The arguments that all spans of a site have: where it stands, and what it is. */
static char *put_site_args(char *out, const takt_trace *trace, const tkt_trace_site *site)
{
    const char *begin = out;
    if (site->file) {
        const tkt_string *path = &trace->strings.items[site->file];
        const char *name = tkt_chrome_file_name(path->bytes);
        out = put_pair(out, begin, "file");
        out = tkt_json_escape(out, name, strlen(name));
        *out++ = ':';
        out = put(tkt_put_u64(out, site->line), "\"");
    }
    if (site->category && site->kind != TAKT_SITE_CALL) {
        out = put_escaped(put_pair(out, begin, "category"), trace, site->category);
        out = put(out, "\"");
    }
    if (site->kind == TAKT_SITE_ACTIVITY) {
        out = put_escaped(put_pair(out, begin, "device"), trace, site->device);
        out = put(out, "\"");
        char kind[32];
        out = put(put_pair(out, begin, "activity"),
                  tkt_activity_label(kind, sizeof kind, site->filter, ""));
        out = put(out, "\"");
    }
    return out;
}

static char *put_tail(char *out, const takt_trace *trace, const tkt_trace_site *site,
                      size_t *args_size)
{
    char *begin = out;
    char *args = put(out, ",\"args\":{");
    out = put_site_args(args, trace, site);
    *args_size = 0;
    if (out == args)
        return put(begin, "},\n");
    *args_size = (size_t)(out - begin);
    return put(out, "}},\n");
}

bool tkt_chrome_make_site(tkt_chrome *chrome, uint32_t number, bool is_async)
{
    const takt_trace *trace = chrome->trace;
    const tkt_trace_site *site = &trace->sites.items[number];
    size_t bytes = 512 + escaped_bytes(trace, site->name) + escaped_bytes(trace, site->file) +
                   escaped_bytes(trace, site->category) + escaped_bytes(trace, site->device);
    char *text = tkt_alloc_zeroed(bytes);
    if (!text)
        return false;

    tkt_chrome_site *made = &chrome->sites[2 * (size_t)number + is_async];
    char *tail = put_head(text, trace, site, is_async);
    char *end = put_tail(tail, trace, site, &made->args_size);
    size_t kept = (size_t)(end - text) + TKT_CHROME_STRIDE;
    made->head_size = (size_t)(tail - text);
    made->tail_size = (size_t)(end - tail);
    made->head = tkt_arena_copy(&chrome->texts, text, kept);
    made->tail = made->head ? made->head + made->head_size : NULL;
    tkt_free(text);
    return made->head != NULL;
}
