/* Any bytes as a trace file. They are refused with one line that says why, or become a trace that
 * can be walked, folded, reported and written again - which then reads as the same. */
#include "export/exporter.h"
#include "support/memory_sink.h"
#include "trace/model.h"
#include "trace/read.h"

#include <takt/export.h>
#include <takt/report.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool is_true)
{
    if (!is_true)
        abort();
}

static void walk_track(const takt_trace *trace, size_t number)
{
    const tkt_track *track = &trace->tracks.items[number];
    takt_span_info span;
    for (size_t i = 0; i < track->spans.count; i++) {
        check(takt_trace_span(trace, number, i, &span) == TAKT_OK);
        check(span.end_ns >= span.begin_ns);
        check(span.parent == TAKT_NO_PARENT || span.parent < i);
        check(track->kind == TAKT_TRACK_THREAD || i == 0 ||
              track->spans.items[i - 1].begin_ns <= span.begin_ns);
    }
    for (size_t i = 0; i < track->args.count; i++)
        check(track->args.items[i].span < track->spans.count);
    for (size_t i = 0; i < track->works.count; i++)
        check(track->works.items[i].span < track->spans.count);
}

static void walk(const takt_trace *trace)
{
    takt_activity activity;
    takt_counter_info counter;
    for (size_t i = 0; i < takt_trace_track_count(trace); i++)
        walk_track(trace, i);
    for (size_t i = 0; i < takt_trace_activity_count(trace); i++)
        check(takt_trace_activity(trace, i, &activity) == TAKT_OK);
    for (size_t i = 0; i < takt_trace_counter_count(trace); i++)
        check(takt_trace_counter(trace, i, &counter) == TAKT_OK && counter.name);
    check(strlen(takt_trace_facts(trace)->name) < SIZE_MAX);
    check(tkt_trace_fold(trace) != NULL);
}

static void write_again(const takt_trace *trace, memory_sink *file)
{
    tkt_writer writer;
    check(tkt_writer_init(&writer, memory_sink_of(file), 4096) == TAKT_OK);
    check(tkt_perfetto_export(trace, &writer) == TAKT_OK);
    check(tkt_writer_fini(&writer) == TAKT_OK);
}

static takt_status discard(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return TAKT_OK;
}

/* One report and one export, chosen by what is in the file: all of them would make the fuzzer
 * slow. */
static void print_report(const takt_trace *trace, size_t choice)
{
    size_t count = 0;
    while (takt_report_name(count))
        count++;
    takt_sink sink = {discard, NULL};
    takt_report_options options = {.format = (takt_format)(choice / count % 4),
                                   .rows = -1,
                                   .by_arguments = choice % 3 == 0,
                                   .by_stack = choice % 5,
                                   .with_flops = choice % 2 == 0,
                                   .all = choice % 7 == 0};
    takt_status status = takt_report(trace, takt_report_name(choice % count), &options, &sink);
    check(status == TAKT_OK || status == TAKT_NO_SPANS);
}

static void export_once(const takt_trace *trace, size_t choice)
{
    size_t count = 0;
    while (takt_export_name(count))
        count++;
    takt_sink sink = {discard, NULL};
    takt_status status = takt_export(trace, takt_export_name(choice % count), &sink);
    check(status == TAKT_OK || status == TAKT_NO_SPANS);
}

/* What is written of a trace that was read has settled: its file is the same file again. */
static void check_settled(const takt_trace *trace)
{
    memory_sink first = {0};
    memory_sink second = {0};
    takt_trace *back = NULL;
    write_again(trace, &first);
    check(tkt_trace_read((uint8_t *)first.data, first.size, "again", &back, NULL) == TAKT_OK);
    write_again(back, &second);
    check(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    takt_trace_release(back);
    tkt_free(first.data);
    tkt_free(second.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    takt_status status = tkt_trace_read(bytes, size, "fuzz", &trace, &error);
    if (status != TAKT_OK) {
        check(status == TAKT_BAD_TRACE && !trace && error.message[0]);
        check(strchr(error.message, '\n') == NULL);
        return 0;
    }
    walk(trace);
    print_report(trace, size);
    export_once(trace, size / 3);
    check_settled(trace);
    takt_trace_release(trace);
    return 0;
}
