/* Columns of values over time: counters, and memory by device and kind. They come mixed, in the
 * order of their time, and are told apart by their names' addresses. */
#include "cli/html/html.h"

#include <stdlib.h>
#include <string.h>

static html_series *find(html_series_list *list, const char *name, uint32_t kind, bool is_pool)
{
    for (size_t i = list->count; i-- > 0;) {
        html_series *series = &list->items[i];
        if (series->name == name && series->kind == kind && series->is_pool == is_pool)
            return series;
    }
    return NULL;
}

/* NULL where there is no memory for a further one. */
static html_series *series_of(html_writer *writer, html_series_list *list, html_series like)
{
    html_series *series = find(list, like.name, like.kind, like.is_pool);
    if (series)
        return series;
    series = realloc(list->items, (list->count + 1) * sizeof *series);
    writer->has_failed |= !series;
    if (!series)
        return NULL;
    list->items = series;
    series[list->count] = like;
    series[list->count].last_ns = writer->origin_ns;
    return &series[list->count++];
}

static void put_time(html_series *series, uint64_t time_ns)
{
    html_put_varint(&series->times, time_ns - series->last_ns);
    series->last_ns = time_ns;
    series->count++;
}

static void write_all(html_series_list *list, html_packed *out)
{
    for (size_t i = 0; i < list->count; i++) {
        html_packed_column(out, &list->items[i].times);
        html_packed_column(out, &list->items[i].values);
    }
}

static void put_double(html_bytes *out, double value)
{
    uint64_t bits;
    unsigned char bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    html_put(out, bytes, sizeof bytes);
}

void html_write_counters(html_writer *writer, html_packed *out)
{
    takt_counter_info counter;

    for (size_t i = 0; takt_trace_counter(writer->trace, i, &counter) == TAKT_OK; i++) {
        html_series *series =
            series_of(writer, &writer->counters, (html_series){.name = counter.name});
        if (!series)
            return;
        put_time(series, counter.time_ns);
        put_double(&series->values, counter.value);
    }
    write_all(&writer->counters, out);
}

void html_write_memory(html_writer *writer, html_packed *out)
{
    takt_memory_info memory;

    for (size_t i = 0; takt_trace_memory(writer->trace, i, &memory) == TAKT_OK; i++) {
        html_series *series = series_of(
            writer, &writer->memory,
            (html_series){.name = memory.device, .kind = memory.kind, .is_pool = memory.is_pool});
        if (!series)
            return;
        put_time(series, memory.time_ns);
        html_put_zigzag(&series->values, memory.bytes);
    }
    write_all(&writer->memory, out);
}

void html_series_free(html_series_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].times.data);
        free(list->items[i].values.data);
    }
    free(list->items);
}
