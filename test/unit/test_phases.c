/* Timers inside kernels: the numbers of the report against numbers computed in another way, what is
 * joined with which kernel, and input that is huge or hostile. */
#include "support/report_traces.h"
#include "support/trace_build.h"

#include "export/devices.h"
#include "summary/phases.h"

static tkt_phases phases_of(const takt_trace *trace)
{
    tkt_phases phases = {0};
    assert_int_equal(tkt_phases_of(trace, &phases), TAKT_OK);
    return phases;
}

static void finish(takt_trace *trace)
{
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
}

/* Two launches of two blocks. Block 0: search 0 to 100, with step 20 to 50 inside, then last 100 to
 * 120; block 1: search 0 to 200. */
static takt_trace *two_launches(void)
{
    takt_trace *trace = make_trace();
    for (uint32_t launch = 0; launch < 2; launch++) {
        make_segment(trace, "solver", BEGIN_NS + launch * 1000, 0)->correlation = 7 + launch;
        make_phase(trace, "step", 20, 30, 0);
        make_phase(trace, "search", 0, 100, 0);
        make_phase(trace, "last", 100, 20, 0);
        make_segment(trace, "solver", BEGIN_NS + launch * 1000, 1)->correlation = 7 + launch;
        make_phase(trace, "search", 0, 200, 0);
    }
    finish(trace);
    return trace;
}

TEST(phases_by_hand)
{
    takt_trace *trace = two_launches();
    json_t *json = report_json(trace, "phases", NULL);
    const json_t *search = row_of(json, "phase", "search");
    assert_value(search, "calls", 4);
    assert_value(search, "cycles", 600);
    assert_value(search, "time_ns", 300);
    assert_value(search, "avg_ns", 75);
    assert_value(search, "median_ns", 75);
    assert_value(search, "min_ns", 50);
    assert_value(search, "max_ns", 100);
    assert_value(search, "share_percent", 100.0 * 600 / 640);
    assert_value(search, "self_percent", 100.0 * 540 / 640);
    assert_value(search, "spread", 200.0 / 150);
    const json_t *last = row_of(json, "phase", "last");
    assert_value(last, "spread", 2); /* block 1 has none of it */
    const json_t *kernel = row_of(table_of(json, "kernels"), "kernel", "solver");
    assert_value(kernel, "launches", 2);
    assert_value(kernel, "blocks", 4);
    assert_value(kernel, "avg_ns", 80);
    assert_value(kernel, "spread", 200.0 / 160);
    const json_t *slowest = row_at(table_of(json, "slowest"), 0);
    assert_value(slowest, "block", 1);
    assert_value(slowest, "sm", 1);
    assert_value(slowest, "spread", 200.0 / 160);
    assert_text(slowest, "slow_in", "search");
    json_decref(json);
    takt_trace_release(trace);
}

/* A graph's launches may share a correlation, and it may be unknown: a block that records again
 * begins the next launch. */
TEST(a_block_that_records_again_begins_a_launch)
{
    for (uint32_t correlation = 0; correlation < 2; correlation++) {
        takt_trace *trace = make_trace();
        for (uint32_t i = 0; i < 12; i++) {
            make_segment(trace, "solver", BEGIN_NS + i, i % 4)->correlation = correlation;
            make_phase(trace, "step", 0, 10 + 10 * (i == 5), 0);
        }
        finish(trace);
        tkt_phases phases = phases_of(trace);
        SAME(phases.kernels.count, 1);
        SAME(phases.kernels.items[0].launches, 3);
        /* (10 + 20 + 10) / (10 + 12.5 + 10) */
        assert_near(tkt_phase_spread_of(&phases.phases.items[0].spread), 40 / 32.5, 1e-12);
        tkt_phases_fini(&phases);
        takt_trace_release(trace);
    }
}

/* Notes tell how many blocks have no launch, and why; columns, of which kernels. */
TEST(blocks_without_a_launch_are_noted)
{
    takt_trace *trace = make_trace();
    for (uint32_t i = 0; i < 9; i++)
        make_segment(trace, i < 5 ? "solver" : "mesh", BEGIN_NS + i, i)->launch =
            i % 3 == 0   ? TKT_LAUNCH_UNCERTAIN
            : i % 4 == 1 ? TKT_LAUNCH_NONE
                         : TKT_LAUNCH_KNOWN;
    finish(trace);
    json_t *json = report_json(trace, "phases", NULL);
    const json_t *notes = json_object_get(json, "notes");
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(notes); i++) {
        const char *note = json_string_value(json_array_get(notes, i));
        found += strstr(note, "3 blocks have an uncertain launch: ") != NULL;
        found += strstr(note, "2 blocks fit no recorded launch: ") != NULL;
    }
    assert_int_equal(found, 2);
    static const int uncertain[] = {2, 1}, unrecorded[] = {1, 1};
    for (size_t i = 0; i < 2; i++) {
        const json_t *kernel = row_at(table_of(json, "kernels"), i);
        assert_value(kernel, "uncertain_blocks", uncertain[i]);
        assert_value(kernel, "unrecorded_blocks", unrecorded[i]);
    }
    json_decref(json);
    takt_trace_release(trace);
}

/* ---- The same numbers, computed another way -------------------------------------------------- */

typedef struct expected {
    uint64_t calls;
    uint64_t cycles;
    uint64_t self;
    double ns;
    TKT_ARRAY_OF(double) durations;
    double max;
    double mean;
} expected;

static bool is_of(const takt_trace *trace, const tkt_phases *phases, uint32_t kernel,
                  const tkt_phase_segment *segment)
{
    const tkt_phase_kernel *k = &phases->kernels.items[kernel];
    (void)trace;
    return k->timers == segment->timers && k->device == segment->device &&
           k->name == (segment->kernel_name ? segment->kernel_name : segment->timers);
}

/* Of the phase, cycle by cycle: those in which it runs, and those in which it is the innermost. */
static uint64_t count_cycles(const takt_trace *trace, const tkt_phase_segment *segment,
                             uint32_t name, uint64_t *self)
{
    const tkt_phase_record *records = &trace->phase_records.items[segment->first_record];
    uint64_t count = 0;
    for (uint64_t cycle = 0; cycle < 4000; cycle++) {
        const tkt_phase_record *innermost = NULL;
        bool runs = false;
        for (uint32_t i = 0; i < segment->record_count; i++) {
            if (cycle < records[i].start_cycles ||
                cycle >= records[i].start_cycles + records[i].cycles)
                continue;
            runs |= records[i].name == name;
            innermost = &records[i];
        }
        count += runs;
        *self += innermost && innermost->name == name;
    }
    return count;
}

static uint64_t launch_of(const takt_trace *trace, const tkt_phases *phases, uint32_t kernel,
                          size_t index)
{
    const tkt_phase_segment *segment = &trace->phase_segments.items[index];
    uint64_t before = 0;
    for (size_t i = 0; i < index; i++) {
        const tkt_phase_segment *other = &trace->phase_segments.items[i];
        before += is_of(trace, phases, kernel, other) && other->block == segment->block &&
                  other->lane == segment->lane && other->correlation == segment->correlation;
    }
    return (uint64_t)segment->correlation << 32 | before;
}

/* The most and the mean of the phase's cycles over the segments of each launch. */
static void add_spread(const takt_trace *trace, const tkt_phases *phases, const tkt_phase *phase,
                       const uint64_t *cycles, expected *out)
{
    size_t count = trace->phase_segments.count;
    for (size_t i = 0; i < count; i++) {
        if (!is_of(trace, phases, phase->kernel, &trace->phase_segments.items[i]))
            continue;
        uint64_t launch = launch_of(trace, phases, phase->kernel, i);
        double most = 0, sum = 0, blocks = 0;
        bool is_first = true;
        for (size_t k = 0; k < count; k++) {
            if (!is_of(trace, phases, phase->kernel, &trace->phase_segments.items[k]) ||
                launch_of(trace, phases, phase->kernel, k) != launch)
                continue;
            is_first &= k >= i;
            most = fmax(most, (double)cycles[k]);
            sum += (double)cycles[k];
            blocks++;
        }
        out->max += is_first ? most : 0;
        out->mean += is_first ? sum / blocks : 0;
    }
}

static void expect_phase(const takt_trace *trace, const tkt_phases *phases, const tkt_phase *phase,
                         expected *out)
{
    size_t count = trace->phase_segments.count;
    uint64_t *cycles = calloc(count, sizeof *cycles);
    for (size_t i = 0; i < count; i++) {
        const tkt_phase_segment *segment = &trace->phase_segments.items[i];
        if (!is_of(trace, phases, phase->kernel, segment))
            continue;
        cycles[i] = count_cycles(trace, segment, phase->name, &out->self);
        out->cycles += cycles[i];
        out->ns += (double)cycles[i] * segment->ns_per_cycle;
        for (uint32_t r = 0; r < segment->record_count; r++) {
            const tkt_phase_record *record = &trace->phase_records.items[segment->first_record + r];
            if (record->name == phase->name)
                ADD(&out->durations, (double)record->cycles * segment->ns_per_cycle);
        }
    }
    out->calls = out->durations.count;
    add_spread(trace, phases, phase, cycles, out);
    free(cycles);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void check_phase(const takt_trace *trace, const tkt_phases *phases, const tkt_phase *phase)
{
    expected e = {0};
    expect_phase(trace, phases, phase, &e);
    SAME(phase->calls, e.calls);
    SAME(phase->cycles, e.cycles);
    SAME(phase->self_cycles, e.self);
    if (e.mean > 0)
        assert_near(tkt_phase_spread_of(&phase->spread), e.max / e.mean, 1e-9);
    if (phases->kernels.items[phase->kernel].has_ns) {
        double sum = 0;
        qsort(e.durations.items, e.durations.count, sizeof *e.durations.items, by_size);
        for (size_t i = 0; i < e.durations.count; i++)
            sum += e.durations.items[i];
        assert_near(phase->ns, e.ns, 1e-6);
        assert_near(phase->mean_ns, sum / (double)e.calls, 1e-6);
        assert_near(phase->min_ns, e.durations.items[0], 1e-9);
        assert_near(phase->max_ns, e.durations.items[e.calls - 1], 1e-9);
        assert_near(phase->median_ns,
                    (e.durations.items[(e.calls - 1) / 2] + e.durations.items[e.calls / 2]) / 2,
                    1e-6);
    } else {
        assert_true(phase->ns == 0 && phase->max_ns == 0);
    }
    TKT_ARRAY_FREE(&e.durations);
}

TEST(numbers_equal_those_counted_cycle_by_cycle)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        takt_trace *trace = make_trace();
        chance from = {seed * 0x9E3779B97F4A7C15u};
        random_phases(trace, &from, 40);
        finish(trace);
        tkt_phases phases = phases_of(trace);
        uint64_t records = 0, of_kernels = 0;
        for (size_t i = 0; i < phases.phases.count; i++) {
            check_phase(trace, &phases, &phases.phases.items[i]);
            records += phases.phases.items[i].calls;
        }
        for (size_t i = 0; i < phases.sms.count; i++)
            of_kernels += phases.sms.items[i].blocks;
        SAME(records, trace->phase_records.count);
        SAME(of_kernels, 40);
        tkt_phases_fini(&phases);
        takt_trace_release(trace);
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void same_report(const takt_trace *a, const takt_trace *b)
{
    takt_report_options options = {.format = TAKT_FORMAT_JSON};
    char *x = report_of(a, "phases", &options);
    char *y = report_of(b, "phases", &options);
    assert_string_equal(x, y);
    tkt_free(x);
    tkt_free(y);
}

TEST(a_file_reads_back_equal)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        takt_trace *trace = random_trace(seed, 2, 100);
        chance from = {seed * 77777};
        random_phases(trace, &from, 60);
        finish(trace);
        takt_trace *back = write_and_read(trace);
        same_trace(trace, back);
        same_report(trace, back);
        takt_trace_release(trace);
        takt_trace_release(back);
    }
}

/* A block with more records than a packet of the file has room for. */
TEST(a_file_has_all_records_of_a_block)
{
    takt_trace *trace = make_trace();
    make_segment(trace, "solver", BEGIN_NS, 0);
    for (uint32_t i = 0; i < 9000; i++)
        make_phase(trace, "step", 10 * i, 5, i);
    finish(trace);
    takt_trace *back = write_and_read(trace);
    same_trace(trace, back);
    SAME(back->phase_records.items[8999].start_cycles, 89990);
    takt_trace_release(trace);
    takt_trace_release(back);
}

/* ---- Which kernel ---------------------------------------------------------------------------- */

static uint32_t make_kernel(takt_trace *trace, const char *label)
{
    ADD(&trace->shapes, (tkt_shape){.label = text(trace, label), .filter = TAKT_TIMING_KERNEL});
    return (uint32_t)trace->shapes.count - 1;
}

/* Three kernels of one graph launch, of which two have the same name, and another launch. */
TEST(a_segment_belongs_to_the_kernel_of_its_launch_that_ran_then)
{
    takt_trace *trace = make_trace();
    uint32_t device = make_device(trace, 0);
    uint32_t solve = make_kernel(trace, "kernel solve"), sort = make_kernel(trace, "kernel sort");
    make_work(trace, device, sort, 5, 7, BEGIN_NS + 100, BEGIN_NS + 200);
    make_work(trace, device, solve, 5, 7, BEGIN_NS + 200, BEGIN_NS + 300);
    make_work(trace, device, solve, 5, 7, BEGIN_NS + 400, BEGIN_NS + 500);
    make_work(trace, device, sort, 6, 7, BEGIN_NS + 400, BEGIN_NS + 500);
    static const struct {
        uint32_t correlation, at, activity;
        const char *name;
    } cases[] = {
        {5, 150, 0, ""},
        {5, 250, 1, ""},
        {5, 450, 2, ""},
        {5, 390, 2, ""},
        {5, 210, 1, ""},
        {6, 450, 3, ""},
        {0, 450, UINT32_MAX, ""},
        {9, 450, UINT32_MAX, ""},
        {5, 150, 1, "kernel solve"},
        {5, 150, 0, "no such kernel"},
    };
    for (uint32_t i = 0; i < 10; i++) {
        tkt_phase_segment *segment = make_segment(trace, "t", BEGIN_NS + cases[i].at, i);
        segment->correlation = cases[i].correlation;
        segment->kernel_name = text(trace, cases[i].name);
    }
    make_segment(trace, "t", BEGIN_NS + 150, 10)->correlation = 5;
    trace->phase_segments.items[10].device = text(trace, "cuda:1");
    finish(trace);
    for (size_t i = 0; i < 11; i++) {
        const tkt_phase_segment *segment = &trace->phase_segments.items[i];
        if (segment->block == 10) {
            SAME(segment->activity, TKT_NO_ACTIVITY);
            continue;
        }
        SAME(segment->activity, cases[segment->block].activity);
        if (segment->activity != TKT_NO_ACTIVITY && !*cases[segment->block].name)
            assert_string_equal(
                tkt_trace_text(trace, segment->kernel_name),
                tkt_trace_text(trace, trace->activities.items[segment->activity].name));
    }
    takt_trace_release(trace);
}

/* So many are not searched: then the right one may be any. */
TEST(of_a_graph_with_too_many_kernels_none_is_taken)
{
    enum {
        KERNELS = 4097
    };
    takt_trace *trace = make_trace();
    uint32_t device = make_device(trace, 0), shape = make_kernel(trace, "kernel solve");
    for (uint64_t i = 0; i < 2 * KERNELS - 1; i++)
        make_work(trace, device, shape, i < KERNELS ? 5 : 6, 7, BEGIN_NS + 10 * i,
                  BEGIN_NS + 10 * i + 5);
    make_segment(trace, "t", BEGIN_NS + 2, 0)->correlation = 5;
    make_segment(trace, "t", BEGIN_NS + 10 * KERNELS + 2, 1)->correlation = 6;
    finish(trace);
    SAME(trace->phase_segments.items[0].activity, TKT_NO_ACTIVITY);
    SAME(trace->phase_segments.items[1].activity, KERNELS);
    takt_trace_release(trace);
}

/* ---- Hostile and huge ------------------------------------------------------------------------ */

/* All reports, and a file that reads back. */
static void survive(takt_trace *trace)
{
    finish(trace);
    for (int format = TAKT_FORMAT_TEXT; format <= TAKT_FORMAT_MARKDOWN; format++) {
        takt_report_options options = {.format = (takt_format)format};
        tkt_free(report_of(trace, "phases", &options));
    }
    tkt_free(report_of(trace, "summary", NULL));
    takt_trace *back = write_and_read(trace);
    same_phases(trace, back);
    takt_trace_release(back);
    takt_trace_release(trace);
}

TEST(absurd_numbers_are_survived)
{
    static const double rates[] = {0, -1, NAN, INFINITY, 1e300, 1e-300};
    static const uint64_t cycles[] = {0, 1, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
    takt_trace *trace = make_trace();
    for (uint32_t i = 0; i < 6 * 25; i++) {
        make_segment(trace, i % 2 ? "a" : "b", i % 3 ? BEGIN_NS : UINT64_MAX, i % 7)->ns_per_cycle =
            rates[i / 25];
        for (uint32_t k = 0; k < 3; k++)
            make_phase(trace, k % 2 ? "x" : "", cycles[i / 5 % 5], cycles[(i + k) % 5], UINT32_MAX);
    }
    make_segment(trace, "no records", 0, 0)->first_record = UINT32_MAX;
    make_segment(trace, "too many", 0, 0)->record_count = UINT32_MAX;
    make_segment(trace, "none", BEGIN_NS, UINT32_MAX)->lost_records = UINT32_MAX;
    survive(trace);
}

TEST(a_time_is_missing_where_the_clock_rate_is)
{
    takt_trace *trace = make_trace();
    make_segment(trace, "solver", BEGIN_NS, 0)->ns_per_cycle = 0;
    make_phase(trace, "step", 0, 10, 0);
    make_segment(trace, "solver", BEGIN_NS, 1);
    make_phase(trace, "step", 0, 30, 0);
    finish(trace);
    json_t *json = report_json(trace, "phases", NULL);
    const json_t *step = row_of(json, "phase", "step");
    assert_value(step, "time_ns", NAN);
    assert_value(step, "max_ns", NAN);
    assert_value(step, "avg_cycles", 20);
    assert_value(step, "spread", 1.5);
    json_decref(json);
    takt_trace_release(trace);
}

/* What no program records: phases that cross. The viewer's slices are cut, so that they nest. d
 * begins where c ends, so it stands beside c and not inside. */
TEST(phases_that_cross_share_no_cycle)
{
    takt_trace *trace = make_trace();
    make_segment(trace, "solver", BEGIN_NS, 0);
    make_phase(trace, "a", 0, 100, 0);
    make_phase(trace, "b", 50, 150, 0);
    make_phase(trace, "c", 60, 10, 0);
    make_phase(trace, "d", 70, 10, 0);
    finish(trace);
    tkt_phases phases = phases_of(trace);
    SAME(phases.phases.items[0].self_cycles, 50);
    SAME(phases.phases.items[1].self_cycles, 130);
    SAME(phases.phases.items[0].cycles, 100);
    SAME(phases.kernels.items[0].cycles, 200);
    tkt_phases_fini(&phases);
    tkt_phase_slices slices = {0};
    assert_int_equal(tkt_phase_slices_of(trace, &trace->phase_segments.items[0], &slices), TAKT_OK);
    static const uint64_t ends_ns[] = {100, 50, 50, 35, 40};
    static const uint32_t parents[] = {UINT32_MAX, 0, 1, 2, 2};
    SAME(slices.count, 5);
    for (size_t i = 0; i < 5; i++) {
        SAME(slices.items[i].end_ns, BEGIN_NS + ends_ns[i]);
        SAME(slices.items[i].parent, parents[i]);
    }
    TKT_ARRAY_FREE(&slices);
    takt_trace_release(trace);
}

/* Each file: the format's packet, and then one or two packets of Takt's. */
TEST(malformed_phases_are_refused)
{
#define HEAD          0x0A, 5, 0xA2, 0x7E, 2, 8, 1
#define SEGMENT       0x0A, 6, 0xA2, 0x7E, 3, 0xAA, 1, 0
#define RECORDS(size) 0x0A, (size) + 6, 0xA2, 0x7E, (size) + 3, 0xB2, 1, (size)
    static const uint8_t lone[] = {HEAD, RECORDS(4), 0, 0, 0, 0};
    static const uint8_t nameless[] = {HEAD, SEGMENT, RECORDS(4), 0, 0, 0, 0};
    static const uint8_t cut[] = {HEAD, SEGMENT, RECORDS(3), 0, 0, 0};
    const struct {
        const uint8_t *bytes;
        size_t size;
        const char *problem;
    } files[] = {{lone, sizeof lone, "a phase belongs to no block"},
                 {nameless, sizeof nameless, "a phase is malformed"},
                 {cut, sizeof cut, "a phase is malformed"}};
    for (size_t i = 0; i < 3; i++) {
        takt_trace *trace = NULL;
        takt_error error = {0};
        assert_int_equal(tkt_trace_read(files[i].bytes, files[i].size, "test", &trace, &error),
                         TAKT_BAD_TRACE);
        assert_non_null(strstr(error.message, files[i].problem));
    }
}

TEST(a_million_records)
{
    takt_trace *trace = make_trace();
    for (uint32_t i = 0; i < 20000; i++) {
        make_segment(trace, "solver", BEGIN_NS + i / 100, i % 100)->correlation = 1 + i / 100;
        for (uint32_t k = 0; k < 50; k++)
            make_phase(trace, k % 2 ? "search" : "step", k * 10, 10, k / 2);
    }
    finish(trace);
    tkt_phases phases = phases_of(trace);
    SAME(phases.kernels.items[0].launches, 200);
    SAME(phases.phases.items[0].cycles, 5000000);
    tkt_phases_fini(&phases);
    takt_trace *back = write_and_read(trace);
    same_report(trace, back);
    takt_trace_release(back);
    takt_trace_release(trace);
}

TEST(a_program_without_timers_hears_nothing)
{
    takt_trace *trace = make_trace();
    finish(trace);
    char *text = report_of(trace, "phases", NULL);
    assert_non_null(strstr(text, "No timers inside kernels, or none was read"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
