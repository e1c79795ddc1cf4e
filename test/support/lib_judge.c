/* What must hold of every trace, wherever its bytes came from. */
#include "support/judge.h"

#include "export/exporter.h"
#include "support/memory_sink.h"
#include "trace/model.h"
#include "trace/read.h"

#include <takt/export.h>
#include <takt/report.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void judge_that(bool is_true, const char *what, const char *file, int line)
{
    if (is_true)
        return;
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
    abort();
}

static void walk_track(const takt_trace *trace, size_t number)
{
    const tkt_track *track = &trace->tracks.items[number];
    takt_span_info span;
    for (size_t i = 0; i < track->spans.count; i++) {
        judge(takt_trace_span(trace, number, i, &span) == TAKT_OK);
        judge(span.end_ns >= span.begin_ns);
        judge(span.parent == TAKT_NO_PARENT || span.parent < i);
        judge(track->kind == TAKT_TRACK_THREAD || i == 0 ||
              track->spans.items[i - 1].begin_ns <= span.begin_ns);
    }
    for (size_t i = 0; i < track->args.count; i++)
        judge(track->args.items[i].span < track->spans.count);
    for (size_t i = 0; i < track->works.count; i++)
        judge(track->works.items[i].span < track->spans.count);
}

static void walk(const takt_trace *trace)
{
    takt_activity activity;
    takt_counter_info counter;
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++)
        walk_track(trace, i);
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_ACTIVITIES); i++)
        judge(takt_trace_activity(trace, i, &activity) == TAKT_OK);
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_COUNTERS); i++)
        judge(takt_trace_counter(trace, i, &counter) == TAKT_OK && counter.name);
    judge(strlen(takt_trace_facts(trace)->name) < SIZE_MAX);
    judge(tkt_trace_fold(trace) != NULL);
}

static void write_again(const takt_trace *trace, memory_sink *file)
{
    tkt_writer writer;
    judge(tkt_writer_init(&writer, memory_sink_of(file), 4096) == TAKT_OK);
    judge(tkt_perfetto_export(trace, &writer) == TAKT_OK);
    judge(tkt_writer_fini(&writer) == TAKT_OK);
}

/* One report and one export: all of them would make the fuzzer slow. */
static void print_report(const takt_trace *trace, size_t choice)
{
    size_t count = 0;
    while (takt_report_name(count))
        count++;
    takt_sink sink = {discard, NULL};
    takt_report_options options = {.struct_size = sizeof options,
                                   .format = (takt_format)(choice / count % 4),
                                   .rows = -1,
                                   .by_arguments = choice % 3 == 0,
                                   .by_stack = choice % 5,
                                   .with_flops = choice % 2 == 0,
                                   .all = choice % 7 == 0};
    takt_status status = takt_report(trace, takt_report_name(choice % count), &options, &sink);
    judge(status == TAKT_OK || status == TAKT_NO_SPANS);
}

static void export_once(const takt_trace *trace, size_t choice)
{
    size_t count = 0;
    while (takt_export_name(count))
        count++;
    takt_sink sink = {discard, NULL};
    takt_status status = takt_export(trace, takt_export_name(choice % count), &sink);
    judge(status == TAKT_OK || status == TAKT_NO_SPANS);
}

void judge_trace(const takt_trace *trace, size_t choice)
{
    walk(trace);
    print_report(trace, choice);
    export_once(trace, choice / 3);
}

static takt_trace *read_again(const memory_sink *file)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    tkt_trace_read((uint8_t *)file->data, file->size, "again", &trace, &error);
    if (!trace)
        fprintf(stderr, "%s\n", error.message);
    judge(trace != NULL);
    return trace;
}

takt_trace *judge_read_back(const takt_trace *trace)
{
    memory_sink file = {0};
    write_again(trace, &file);
    takt_trace *back = read_again(&file);
    tkt_free(file.data);
    return back;
}

void judge_settled(const takt_trace *trace)
{
    memory_sink first = {0};
    memory_sink second = {0};
    write_again(trace, &first);
    takt_trace *back = read_again(&first);
    write_again(back, &second);
    judge(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    takt_trace_release(back);
    tkt_free(first.data);
    tkt_free(second.data);
}

void judge_opened(takt_status status, takt_trace *trace, const takt_error *error, size_t choice)
{
    if (status != TAKT_OK) {
        judge(status == TAKT_BAD_TRACE && !trace && error->message[0]);
        judge(strchr(error->message, '\n') == NULL);
        return;
    }
    judge_trace(trace, choice);
    judge_settled(trace);
    takt_trace_release(trace);
}
