/* XSpace files under the eyes of check_xplane.py, which knows XProf's rules and nothing of Takt:
 * their format, and what they add up to, against the trace. And where they are put. */
#include "base/text.h"
#include "export/tensorboard.h"
#include "support/report_traces.h"
#include "support/skip.h"
#include "support/trace_build.h"
#include "test_export_folder.h"

#include <takt/export.h>

/* ---- The script ------------------------------------------------------------------------------ */

/* The output of check_xplane.py in the folder; the caller frees it with tkt_free(). */
static char *run_checker(const char *folder, const char *arguments)
{
    const char *root = getenv("TAKT_ROOT");
    char command[4096];
    snprintf(command, sizeof command,
             "{ cd '%s' && python3 '%s/test/support/check_xplane.py' %s; echo status $?; } "
             ">'%s/.output' 2>&1",
             folder, root ? root : "/", arguments, folder);
    assert_int_equal(system(command), 0);
    size_t size;
    return read_whole(folder, ".output", &size);
}

static void check_rules(const char *folder, const char *files)
{
    char *output = run_checker(folder, files);
    if (!strstr(output, " 0 failures\nstatus 0\n"))
        fail_msg("%s", output);
    tkt_free(output);
}

static void export_file(const takt_trace *trace, const char *folder)
{
    takt_error error;
    if (takt_export_file(trace, "xplane", in_folder(folder, "t.xplane.pb"), NULL, &error) !=
        TAKT_OK)
        fail_msg("%s", error.message);
}

/* ---- What the trace adds up to --------------------------------------------------------------- */

typedef struct sum {
    char *name;
    uint64_t count;
    uint64_t ns;
} sum;

typedef TKT_ARRAY_OF(sum) sums;

static void add(sums *all, const char *name, uint64_t ns)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].name, name) == 0) {
            all->items[i].count++;
            all->items[i].ns += ns;
            return;
        }
    ADD(all, (sum){tkt_copy_string(name), 1, ns});
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const sum *)a)->name, ((const sum *)b)->name);
}

static void assert_sums(sums *all, const char *folder, const char *what)
{
    char arguments[64];
    memory_sink memory = {0};
    tkt_writer writer;
    assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&memory), 0), TAKT_OK);
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, by_name);
    for (size_t i = 0; i < all->count; i++) {
        tkt_writer_text(&writer, all->items[i].name);
        tkt_writer_format(&writer, "\t%llu\t%llu\n", (unsigned long long)all->items[i].count,
                          (unsigned long long)all->items[i].ns);
        tkt_free(all->items[i].name);
    }
    tkt_writer_put(&writer, "status 0\n", 10);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
    snprintf(arguments, sizeof arguments, "%s t.xplane.pb", what);
    char *output = run_checker(folder, arguments);
    assert_string_equal(output, memory.data);
    tkt_free(output);
    tkt_free(memory.data);
    TKT_ARRAY_FREE(all);
}

static uint32_t scope_above(const tkt_track *track, uint32_t span)
{
    uint32_t parent = track->spans.items[span].parent;
    while (parent != TKT_NO_SPAN &&
           (tkt_span_flags(&track->spans.items[parent]) & TAKT_SPAN_CALL))
        parent = track->spans.items[parent].parent;
    return parent;
}

/* "step/forces/density" */
static void path_of(const takt_trace *trace, const tkt_track *track, uint32_t span, char *out)
{
    uint32_t parent = scope_above(track, span);
    out[0] = 0;
    if (parent != TKT_NO_SPAN) {
        path_of(trace, track, parent, out);
        strcat(out, "/");
    }
    size_t size = strlen(out);
    uint32_t site = tkt_span_site(&track->spans.items[span]);
    strcat(out, tkt_trace_text(trace, trace->sites.items[site].name));
    for (char *at = out + size; *at; at++)
        *at = *at == ':' ? '_' : *at;
}

static void assert_ops(const takt_trace *trace, const char *folder)
{
    char path[8192];
    sums all = {0};
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_track *track = &trace->tracks.items[t];
        for (uint32_t i = 0; i < track->spans.count; i++) {
            const tkt_span *span = &track->spans.items[i];
            if ((tkt_span_flags(span) & TAKT_SPAN_CALL) || span->end_ns == span->begin_ns)
                continue;
            path_of(trace, track, i, path);
            add(&all, path, span->end_ns - span->begin_ns);
        }
    }
    assert_sums(&all, folder, "--ops");
}

static bool is_kernel(const tkt_activity *activity)
{
    return activity->span == TKT_NO_SPAN && activity->end_ns > activity->begin_ns &&
           (activity->filter & (TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN));
}

static const char *kernel_name(const takt_trace *trace, const tkt_activity *activity)
{
    uint32_t full =
        activity->shape < trace->shapes.count ? trace->shapes.items[activity->shape].name : 0;
    return tkt_trace_text(trace, full ? full : activity->name);
}

/* The step in which the call or a scope around it lies. */
static const char *step_of(const takt_trace *trace, const tkt_activity *activity)
{
    static char name[32];
    if (activity->call >= trace->calls.count)
        return "";
    const tkt_call_info *call = &trace->calls.items[activity->call];
    const tkt_span *spans = trace->tracks.items[call->track].spans.items;
    for (uint32_t span = call->span; span != TKT_NO_SPAN; span = spans[span].parent)
        for (size_t i = 0; i < trace->steps.count; i++)
            if (spans[span].begin_ns >= trace->steps.items[i].begin_ns &&
                spans[span].end_ns <= trace->steps.items[i].end_ns) {
                snprintf(name, sizeof name, "step %llu",
                         (unsigned long long)trace->steps.items[i].number);
                return name;
            }
    return "";
}

static void assert_kernels(const takt_trace *trace, const char *folder)
{
    char path[8192];
    sums names = {0}, steps = {0}, ops = {0};
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (!is_kernel(activity))
            continue;
        uint64_t ns = activity->end_ns - activity->begin_ns;
        path[0] = 0;
        if (activity->scope != TKT_NO_SPAN)
            path_of(trace, &trace->tracks.items[activity->track], activity->scope, path);
        add(&names, kernel_name(trace, activity), ns);
        add(&steps, step_of(trace, activity), ns);
        add(&ops, path, ns);
    }
    assert_sums(&names, folder, "--kernels");
    assert_sums(&steps, folder, "--steps");
    assert_sums(&ops, folder, "--device-ops");
}

/* ---- Files ----------------------------------------------------------------------------------- */

TEST(devices_follow_every_rule_and_add_up)
{
    const char *folder = make_folder();
    takt_trace *trace = build_cuda();
    export_file(trace, folder);
    check_rules(folder, "t.xplane.pb");
    assert_ops(trace, folder);
    assert_kernels(trace, folder);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(traces_without_devices_follow_every_rule_and_add_up)
{
    const char *folder = make_folder();
    takt_trace *trace = build_fluid();
    export_file(trace, folder);
    check_rules(folder, "t.xplane.pb");
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(random_traces_follow_every_rule_and_add_up)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const char *folder = make_folder();
        takt_trace *trace = random_trace(seed, (uint32_t)(seed % 4), 400);
        assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
        export_file(trace, folder);
        check_rules(folder, "t.xplane.pb");
        assert_ops(trace, folder);
        takt_trace_release(trace);
        remove_folder(folder);
    }
}

TEST(everything_and_nothing_follow_every_rule)
{
    const char *folder = make_folder();
    takt_trace *all = whole_trace(), *none = make_trace();
    assert_int_equal(tkt_trace_finish(all), TAKT_OK);
    assert_int_equal(tkt_trace_finish(none), TAKT_OK);
    export_file(all, folder);
    check_rules(folder, "t.xplane.pb");
    export_file(none, folder);
    check_rules(folder, "t.xplane.pb");
    takt_trace_release(all);
    takt_trace_release(none);
    remove_folder(folder);
}

/* Names with a meaning for XProf, and spans that leave no time to those inside. */
TEST(names_from_elsewhere_stay_names)
{
    static const char *const names[] = {"MemoryAllocation", "train", "test/a", "std::sort<int>",
                                        "Iterator", "IteratorGetNext", "", "a\nb\tc", "cu", "_12"};
    const char *folder = make_folder();
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "worker/12", 7), span = TKT_NO_SPAN;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t site = make_site(trace, names[i], TAKT_SITE_SCOPE);
        make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS + i * 10, BEGIN_NS + i * 10 + 10);
        ADD(&trace->marks, (tkt_mark){BEGIN_NS + i, track, site});
        ADD(&trace->counters, (tkt_counter){BEGIN_NS + i, 0.5, text(trace, names[i]), track});
    }
    ADD(&trace->counters, (tkt_counter){BEGIN_NS + 20, NAN, text(trace, "n"), track});
    for (size_t i = 0; i < 600; i++) {
        uint64_t begin = BEGIN_NS + 1000 + (i < 590 ? i : 590);
        span = make_span(trace, track, make_site(trace, "deep", TAKT_SITE_SCOPE), span, begin,
                         BEGIN_NS + 1600);
        make_arg(trace, track, span, "group_id", TKT_ARG_INT, i);
        make_arg(trace, track, span, "group_id", TKT_ARG_INT, i + 1);
    }
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    export_file(trace, folder);
    check_rules(folder, "t.xplane.pb");
    takt_trace_release(trace);
    remove_folder(folder);
}

/* Recursion whose paths would have the square of its depth in bytes. */
TEST(deep_recursion_takes_little_memory)
{
    const char *folder = make_folder();
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 7), span = TKT_NO_SPAN;
    uint32_t site = make_site(trace, "recursion", TAKT_SITE_SCOPE);
    for (uint64_t i = 0; i < 100000; i++)
        span = make_span(trace, track, site, span, BEGIN_NS + i, BEGIN_NS + 400000 - i);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    export_file(trace, folder);
    struct stat facts;
    assert_int_equal(stat(in_folder(folder, "t.xplane.pb"), &facts), 0);
    assert_true(facts.st_size < 3500000);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(summaries_have_no_timeline)
{
    const char *folder = make_folder();
    takt_trace *trace = build_fluid();
    assert_non_null(tkt_trace_fold(trace));
    trace->facts.has_spans = false;
    assert_int_equal(takt_export_output(trace, "xplane", folder, NULL, NULL, 0, NULL),
                     TAKT_NO_SPANS);
    assert_int_equal(count_entries(folder), 0);
    takt_trace_release(trace);
    remove_folder(folder);
}

/* ---- Names of files -------------------------------------------------------------------------- */

static const char *put_output(const takt_trace *trace, const char *folder)
{
    static char path[1024];
    takt_error error;
    if (takt_export_output(trace, "xplane", folder, NULL, path, sizeof path, &error) != TAKT_OK)
        fail_msg("%s", error.message);
    return path + strlen(folder) + 1;
}

static void expect_output(const takt_trace *trace, const char *folder, const char *run,
                          const char *rank)
{
    char host[TKT_HOST_BYTES], expected[700];
    takt_trace alone = *trace;
    alone.facts.world_size = alone.facts.rank = 0;
    tkt_tensorboard_host(&alone, host);
    snprintf(expected, sizeof expected, "plugins/profile/%s/%s%s.xplane.pb", run, host, rank);
    assert_string_equal(put_output(trace, folder), expected);
}

/* XProf takes the files of a folder for the hosts of one run. */
TEST(each_recording_of_a_process_has_a_folder)
{
    const char *folder = make_folder();
    takt_trace *trace = build_fluid();
    trace->name = text(trace, "sph");
    for (uint32_t cycle = 0; cycle < 20; cycle++) {
        char run[32];
        trace->facts.cycle = cycle;
        snprintf(run, sizeof run, "sph.%u", cycle);
        expect_output(trace, folder, run, "");
    }
    expect_output(trace, folder, "sph.19-2", "");
    expect_output(trace, folder, "sph.19-3", "");
    assert_int_equal(count_entries(in_folder(folder, "plugins/profile")), 22);
    check_rules(folder, "plugins/profile/*/*.xplane.pb");
    takt_trace_release(trace);
    remove_folder(folder);
}

/* Also when the program runs again, whichever process comes first. */
TEST(processes_of_a_job_share_a_folder)
{
    static const struct {
        uint32_t rank;
        const char *run, *file;
    } writes[] = {{1, "sph.0", ".rank1"},   {0, "sph.0", ".rank0"},   {11, "sph.0", ".rank11"},
                  {0, "sph.0-2", ".rank0"}, {1, "sph.0-2", ".rank1"}, {1, "sph.0-3", ".rank1"}};
    const char *folder = make_folder();
    takt_trace *trace = build_fluid();
    trace->name = text(trace, "sph");
    trace->facts.cycle = 0;
    trace->facts.world_size = 12;
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        trace->facts.rank = writes[i].rank;
        expect_output(trace, folder, writes[i].run, writes[i].file);
    }
    check_rules(folder, "plugins/profile/*/*.xplane.pb");
    takt_trace_release(trace);
    remove_folder(folder);
}

/* The folder may have files of another host with the same rank, from an earlier run. */
TEST(a_job_on_other_hosts_does_not_mix_with_an_earlier_one)
{
    const char *folder = make_folder();
    takt_trace *trace = build_fluid();
    trace->name = text(trace, "sph");
    trace->facts.cycle = 0;
    trace->facts.world_size = 2;
    expect_output(trace, folder, "sph.0", ".rank0");
    const char *first = in_folder(folder, put_output(trace, folder));
    assert_int_equal(rename(first, in_folder(folder, "plugins/profile/sph.0-2/other.rank0.xplane.pb")),
                     0);
    expect_output(trace, folder, "sph.0-3", ".rank0");
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(outputs_are_not_packed)
{
    takt_error error;
    assert_false(tkt_output_is_known("xplane.gz", &error));
    assert_string_equal(error.message,
                        "xplane cannot be compressed, since XProf does not unpack files");
    assert_true(tkt_output_is_known("xplane", &error));
}

int main(void)
{
    if (!can_run_scripts()) {
        puts("needs python3");
        return 77;
    }
    return run_all_tests(NULL, NULL);
}
