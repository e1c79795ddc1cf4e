/* Every report of a trace that was read from its file is the same text, to the byte. */
#include "support/test.h"
#include "support/trace_build.h"

#include "support/merge_folds.h"

#include <takt/export.h>
#include <takt/report.h>

static memory_sink report(const takt_trace *trace, const char *name,
                          const takt_report_options *options, takt_status *status)
{
    memory_sink text = {0};
    takt_sink sink = memory_sink_of(&text);
    *status = takt_report(trace, name, options, &sink);
    return text;
}

static void same_report(const takt_trace *a, const takt_trace *b, const char *name,
                        const takt_report_options *options)
{
    takt_status of_a;
    takt_status of_b;
    memory_sink x = report(a, name, options, &of_a);
    memory_sink y = report(b, name, options, &of_b);
    assert_int_equal(of_a, of_b);
    assert_int_equal(x.size, y.size);
    if (x.size)
        assert_memory_equal(x.data, y.data, x.size);
    assert_true(of_a == TAKT_NO_SPANS || x.size > 0);
    tkt_free(x.data);
    tkt_free(y.data);
}

static void same_reports(const takt_trace *a, const takt_trace *b)
{
    static const takt_format formats[] = {TAKT_FORMAT_TEXT, TAKT_FORMAT_CSV, TAKT_FORMAT_JSON,
                                          TAKT_FORMAT_MARKDOWN};
    size_t count = 0;
    for (; takt_report_name(count); count++) {
        for (size_t f = 0; f < 4; f++) {
            takt_report_options options = {
                .struct_size = sizeof options, .format = formats[f], .rows = -1, .width = 120};
            same_report(a, b, takt_report_name(count), &options);
            options.rows = 3;
            options.by_arguments = options.with_flops = options.full_names = options.color = true;
            options.all = true;
            same_report(a, b, takt_report_name(count), &options);
        }
    }
    assert_true(count >= 8);
}

static void same_export(const takt_trace *a, const takt_trace *b, const char *format)
{
    memory_sink x = {0};
    memory_sink y = {0};
    takt_sink into_x = memory_sink_of(&x);
    takt_sink into_y = memory_sink_of(&y);
    takt_status status = takt_export(a, format, &into_x);
    assert_int_equal(takt_export(b, format, &into_y), status);
    assert_int_equal(x.size, y.size);
    if (x.size)
        assert_memory_equal(x.data, y.data, x.size);
    tkt_free(x.data);
    tkt_free(y.data);
}

/* Finishes the trace and frees it. */
static void prints_the_same(takt_trace *trace)
{
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    takt_trace *back = write_and_read(trace);
    same_reports(trace, back);
    for (size_t i = 0; takt_export_name(i); i++)
        same_export(trace, back, takt_export_name(i));
    takt_trace_release(back);
    takt_trace_release(trace);
}

TEST(one_of_everything_prints_the_same)
{
    prints_the_same(whole_trace());
}

TEST(random_traces_print_the_same)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        takt_trace *trace = random_trace(seed, (uint32_t)(seed % 4), seed * 7);
        if (seed % 2)
            make_facts(trace);
        prints_the_same(trace);
    }
}

TEST(a_summary_prints_the_same)
{
    takt_trace *trace = random_trace(8, 3, 300);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    tkt_fold fold = *tkt_trace_fold(trace);
    assert_true(fold.count > 20);
    takt_trace *summary = make_trace();
    make_facts(summary);
    summary->facts.has_spans = false;
    assert_int_equal(tkt_fold_init(&summary->fold), TAKT_OK);
    uint32_t *sites = malloc(trace->sites.count * sizeof *sites);
    for (size_t i = 0; i < trace->sites.count; i++) {
        tkt_trace_site site = trace->sites.items[i];
        site.name = text(summary, tkt_trace_text(trace, site.name));
        site.category = site.file = site.function = 0;
        site.device = text(summary, tkt_trace_text(trace, site.device));
        sites[i] = tkt_trace_site_index(summary, &site);
    }
    assert_int_equal(merge_folds(&summary->fold, &fold, sites), TAKT_OK);
    free(sites);
    takt_trace_release(trace);
    prints_the_same(summary);
}

TEST(hostile_names_print_the_same)
{
    static const char *const names[] = {"", "\xFF", "\xFE", "a\nb", "\x1B[31m", "\"", "|", ","};
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, names[1], 1);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t span = make_span(trace, track, make_site(trace, names[i], TAKT_SITE_SCOPE),
                                  TKT_NO_SPAN, BEGIN_NS + 100 * i, BEGIN_NS + 100 * i + i);
        make_arg(trace, track, span, names[i], TKT_ARG_STRING, text(trace, names[i]));
    }
    prints_the_same(trace);
}

TEST_MAIN(NULL, NULL)
