/* The steps of the whole run, recorded or not: columns of their parts, and facts. */
#include "cli/html/html.h"

#include "trace/model.h"

#include <inttypes.h>
#include <stdlib.h>

void html_write_run(html_writer *writer, html_packed *out)
{
    const tkt_run_steps *run = writer->trace->run;
    html_bytes total = {.used = 0}, least = {.used = 0}, most = {.used = 0};

    for (size_t i = 0; run && i < tkt_run_part_count(run); i++) {
        tkt_run_part part = tkt_run_part_at(run, i);
        html_put_varint(&total, part.total_ns);
        html_put_varint(&least, part.min_ns);
        html_put_varint(&most, part.max_ns);
    }
    html_bytes *columns[] = {&total, &least, &most};
    for (size_t i = 0; i < 3; i++) {
        html_packed_column(out, columns[i]);
        free(columns[i]->data);
    }
}

static void put_windows(const tkt_run_steps *run, html_bytes *out)
{
    html_print(out, ", \"windows\": [");
    for (size_t i = 0; i < run->window_count; i++) {
        const tkt_run_window *window = &run->windows[i];
        html_print(out, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", i ? ", " : "", window->first,
                   window->last, window->recorded);
    }
    html_print(out, "]");
}

static void put_buckets(const tkt_histogram *histogram, html_bytes *out)
{
    const char *between = "";

    html_print(out, ", \"buckets\": [");
    for (uint32_t i = 0; i < TKT_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] == 0)
            continue;
        html_print(out, "%s[%" PRIu64 ", %" PRIu32 "]", between, tkt_histogram_value(i),
                   histogram->buckets[i]);
        between = ", ";
    }
    html_print(out, "]");
}

void html_put_run(html_writer *writer, html_bytes *out)
{
    const tkt_run_steps *run = writer->trace->run;

    if (!run) {
        html_print(out, "{\"count\": 0, \"steps\": 0}");
        return;
    }
    html_print(out, "{\"count\": %zu, \"steps\": %" PRIu64 ", \"size\": %" PRIu64,
               tkt_run_part_count(run), run->step_count, UINT64_C(1) << run->shift);
    put_windows(run, out);
    put_buckets(&writer->trace->all_steps.histogram, out);
    html_print(out, "}");
}
