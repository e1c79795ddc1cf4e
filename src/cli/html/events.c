/* Columns of what is neither span nor activity: marks, waits, steps. */
#include "cli/html/html.h"

#include <stdlib.h>

enum {
    MOST_COLUMNS = 5
};

typedef struct columns {
    html_bytes of[MOST_COLUMNS];
    uint64_t last_ns;
} columns;

static void put_time(columns *to, uint64_t time_ns)
{
    html_put_varint(&to->of[0], time_ns - to->last_ns);
    to->last_ns = time_ns;
}

static void write_out(columns *from, size_t count, html_packed *out)
{
    for (size_t i = 0; i < count; i++) {
        html_packed_column(out, &from->of[i]);
        free(from->of[i].data);
    }
}

static void write_marks(html_writer *writer, html_packed *out)
{
    columns to = {.last_ns = writer->origin_ns};
    takt_mark_info mark;

    for (size_t i = 0; takt_trace_mark(writer->trace, i, &mark) == TAKT_OK; i++) {
        put_time(&to, mark.time_ns);
        html_put_varint(&to.of[1], html_text(writer, mark.name));
        html_put_varint(&to.of[2], mark.track);
    }
    write_out(&to, 3, out);
}

static void write_waits(html_writer *writer, html_packed *out)
{
    columns to = {.last_ns = writer->origin_ns};
    takt_wait_info wait;

    for (size_t i = 0; takt_trace_wait(writer->trace, i, &wait) == TAKT_OK; i++) {
        put_time(&to, wait.begin_ns);
        html_put_varint(&to.of[1], wait.end_ns - wait.begin_ns);
        html_put_varint(&to.of[2], wait.kind);
        html_put_varint(&to.of[3], wait.context);
        html_put_varint(&to.of[4], wait.stream == UINT32_MAX ? 0 : (uint64_t)wait.stream + 1);
    }
    write_out(&to, 5, out);
}

static void write_steps(html_writer *writer, html_packed *out)
{
    columns to = {.last_ns = writer->origin_ns};
    takt_step_info step;
    uint64_t last = 0;

    for (size_t i = 0; takt_trace_step(writer->trace, i, &step) == TAKT_OK; i++) {
        put_time(&to, step.begin_ns);
        html_put_varint(&to.of[1], step.end_ns - step.begin_ns);
        html_put_varint(&to.of[2], step.number - last);
        last = step.number;
    }
    write_out(&to, 3, out);
}

void html_write_events(html_writer *writer, html_packed *out)
{
    html_write_counters(writer, out);
    html_write_memory(writer, out);
    write_marks(writer, out);
    write_waits(writer, out);
    write_steps(writer, out);
}
