/* Writes a Perfetto file and prints what its scopes add up to, computed from the spans: a line
 * NAME, COUNT, TOTAL_NS for each name, as test/support/perfetto_totals.py prints it for the file.
 *
 *     prog_perfetto FILE */
#include "support/trace_build.h"

typedef struct total {
    const char *name;
    uint64_t count;
    uint64_t total_ns;
} total;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const total *)a)->name, ((const total *)b)->name);
}

static const char *name_of(const takt_trace *trace, const tkt_span *span)
{
    return tkt_trace_text(trace, trace->sites.items[tkt_span_site(span)].name);
}

static bool is_inside_itself(const takt_trace *trace, const tkt_spans *spans, const tkt_span *span)
{
    for (uint32_t up = span->parent; up != TKT_NO_SPAN; up = spans->items[up].parent) {
        if (strcmp(name_of(trace, &spans->items[up]), name_of(trace, span)) == 0)
            return true;
    }
    return false;
}

static void print_name(const char *name)
{
    for (; *name; name++)
        putchar((unsigned char)*name < 0x20 || *name == 0x7F ? '?' : *name);
}

static void print_totals(const takt_trace *trace)
{
    TKT_ARRAY_OF(total) totals = {0};
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        if (trace->tracks.items[t].kind == TAKT_TRACK_ASYNC)
            continue;
        for (size_t i = 0; i < spans->count; i++) {
            const tkt_span *span = &spans->items[i];
            uint64_t ns = is_inside_itself(trace, spans, span) ? 0 : span->end_ns - span->begin_ns;
            ADD(&totals, (total){name_of(trace, span), 1, ns});
        }
    }
    qsort(totals.items, totals.count, sizeof *totals.items, by_name);
    for (size_t i = 0, end; i < totals.count; i = end) {
        total sum = {0};
        for (end = i; end < totals.count && by_name(&totals.items[i], &totals.items[end]) == 0;
             end++) {
            sum.count += totals.items[end].count;
            sum.total_ns += totals.items[end].total_ns;
        }
        print_name(totals.items[i].name);
        printf("\t%llu\t%llu\n", (unsigned long long)sum.count, (unsigned long long)sum.total_ns);
    }
    TKT_ARRAY_FREE(&totals);
}

static void add_hostile_names(takt_trace *trace)
{
    static const char *const names[] = {
        "",
        "\"quoted\\\"",
        "line\nbreak\ttab\x01\x7F",
        "\xFF\xC0\x80 not UTF-8",
        "\xE6\xB5\x81\xE4\xBD\x93",
        "{ brace: 1 }",
        "</script>",
    };
    uint32_t track = make_thread(trace, names[2], 9999);
    uint64_t time_ns = BEGIN_NS;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++, time_ns += 1000) {
        uint32_t site = make_site(trace, names[i], TAKT_SITE_SCOPE);
        uint32_t span = make_span(trace, track, site, TKT_NO_SPAN, time_ns, time_ns + 10 + i);
        make_arg(trace, track, span, names[i], TKT_ARG_STRING, text(trace, names[i]));
    }
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    takt_trace *trace = random_trace(20, 130, 20);
    make_facts(trace);
    add_hostile_names(trace);
    random_phases(trace, &(chance){20}, 50);
    if (tkt_trace_finish(trace) != TAKT_OK)
        return 1;
    memory_sink bytes = write_trace(trace);
    FILE *file = fopen(arguments[1], "wb");
    if (!file || fwrite(bytes.data, 1, bytes.size, file) != bytes.size || fclose(file) != 0)
        return 1;
    print_totals(trace);
    tkt_free(bytes.data);
    takt_trace_release(trace);
    return 0;
}
