/* Whole files under the eyes of scripts that know nothing of Takt: the format by check_chrome.py,
 * the numbers by chrome_totals.py and folded_totals.py, against the table of scopes. */
#include "test_chrome.h"

#include "summary/scopes.h"
#include "test_export_folder.h"
#include "support/skip.h"
#include "support/test.h"

#define STEPS   40u
#define THREADS 3u

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

typedef struct walker {
    takt_trace *trace;
    uint32_t track;
    uint32_t sites[12];
    uint32_t random;
    uint64_t now;
} walker;

/* A span with children, of which some touch its ends, some each other, and some take no time. */
static void add_tree(walker *walk, uint32_t parent, uint32_t depth)
{
    uint32_t site = walk->sites[next_random(&walk->random) % 12];
    uint32_t span = add_span(walk->trace, walk->track, site, walk->now, walk->now);
    tkt_spans *spans = &walk->trace->tracks.items[walk->track].spans;
    spans->items[span].parent = parent;
    for (uint32_t i = next_random(&walk->random) % 5; depth && i > 0; i--) {
        walk->now += next_random(&walk->random) % 3 * 17;
        add_tree(walk, span, depth - 1);
    }
    if (next_random(&walk->random) % 4 == 0)
        add_arg(walk->trace, walk->track,
                (tkt_arg){span, text(walk->trace, "depth"), {.u = depth}, TKT_ARG_UINT});
    walk->now += next_random(&walk->random) % 3 * 1001;
    spans->items[span].end_ns = BEGIN_NS + walk->now;
}

static void add_events(takt_trace *trace, uint32_t track, uint64_t time_ns)
{
    uint32_t site = add_site(trace, "event", "e.c", 1);
    *TKT_ARRAY_ADD(&trace->marks) = (tkt_mark){time_ns, track, site};
    *TKT_ARRAY_ADD(&trace->counters) =
        (tkt_counter){time_ns, (double)time_ns / 3, text(trace, "energy"), track};
    *TKT_ARRAY_ADD(&trace->flows) = (tkt_flow){time_ns, time_ns, track, TKT_NO_SPAN, false};
    *TKT_ARRAY_ADD(&trace->flows) = (tkt_flow){time_ns + 1, time_ns, track, TKT_NO_SPAN, true};
    *TKT_ARRAY_ADD(&trace->memory_events) =
        (tkt_memory_event){time_ns, time_ns, 64, track, TKT_NO_SPAN, 0, 0};
}

/* Steps of random trees on some threads, overlapping requests, and events of every kind. */
static takt_trace *make_simulation(void)
{
    takt_trace *trace = make_trace();
    walker walk = {.trace = trace, .random = 7};
    for (uint32_t i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, i % 2 ? "solve \"%u\"" : "phase\\%u\xc3\xa4", i / 2);
        walk.sites[i] = i < 3 ? add_scope(trace, name) : add_site(trace, name, "src/sim.c", i);
    }
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        walk.track = add_thread(trace, thread ? "" : "main", PID + thread);
        walk.now = 0;
        for (uint64_t step = 0; step < STEPS; step++) {
            uint64_t begin = walk.now;
            add_tree(&walk, TKT_NO_SPAN, 5);
            add_events(trace, walk.track, BEGIN_NS + begin);
            if (thread == 0)
                *TKT_ARRAY_ADD(&trace->steps) =
                    (tkt_step){step + 5, BEGIN_NS + begin, BEGIN_NS + walk.now};
        }
    }
    uint32_t io = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "io"), 0);
    for (uint64_t i = 0; i < 200; i++)
        add_span(trace, io, walk.sites[i % 12], i * 100, i * 100 + (i * 37) % 1000);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

/* Runs a script over files of the folder; its output, which the caller frees with tkt_free. */
static char *run_script(const char *folder, const char *script, const char *files)
{
    const char *root = getenv("TAKT_ROOT");
    char command[4096];
    snprintf(command, sizeof command,
             "{ cd '%s' && python3 '%s/test/support/%s' %s; echo status $?; } >%s/.output 2>&1",
             folder, root ? root : "/", script, files, folder);
    assert_int_equal(system(command), 0);
    size_t size;
    return read_whole(folder, ".output", &size);
}

static void check_format(const char *folder, const char *files)
{
    char *output = run_script(folder, "check_chrome.py", files);
    if (!strstr(output, " 0 failures\nstatus 0\n"))
        fail_msg("%s", output);
    tkt_free(output);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tkt_scope_total *)a)->name, ((const tkt_scope_total *)b)->name);
}

/* The table of scopes as chrome_totals.py prints it. */
static char *table_of(const takt_trace *trace)
{
    tkt_scopes scopes = {0};
    memory_sink memory = {0};
    tkt_writer writer;
    assert_int_equal(tkt_scopes_by_name(trace, false, &scopes), TAKT_OK);
    assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&memory), 0), TAKT_OK);
    if (scopes.count)
        qsort(scopes.items, scopes.count, sizeof *scopes.items, by_name);
    for (size_t i = 0; i < scopes.count; i++)
        tkt_writer_format(&writer, "%s\t%llu\t%llu\n", scopes.items[i].name,
                          (unsigned long long)scopes.items[i].calls,
                          (unsigned long long)scopes.items[i].total_ns);
    tkt_writer_put(&writer, "status 0\n", 10);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
    tkt_scopes_fini(&scopes);
    return memory.data;
}

static void check_totals(const takt_trace *trace, const char *folder, const char *files)
{
    char *expected = table_of(trace);
    char *output = run_script(folder, "chrome_totals.py", files);
    assert_string_equal(output, expected);
    tkt_free(output);
    tkt_free(expected);
}

static void export_into(const takt_trace *trace, const char *output, const char *folder,
                        uint64_t max_bytes)
{
    takt_error error;
    takt_export_options options = {.struct_size = sizeof options, .max_bytes = max_bytes};
    if (takt_export_output(trace, output, folder, &options, NULL, 0, &error) != TAKT_OK)
        fail_msg("%s", error.message);
}

TEST(files_follow_every_rule)
{
    const char *folder = make_folder();
    takt_trace *trace = make_simulation();
    export_into(trace, "chrome", folder, 0);
    export_into(trace, "chrome.gz", folder, 0);
    export_into(trace, "tensorboard", folder, 0);
    check_format(folder, "*.json *.json.gz");
    check_totals(trace, folder, "*.json");
    check_totals(trace, folder, "sph.0.trace.json.gz");
    char *tracks = run_script(folder, "chrome_totals.py", "--tracks *.json");
    assert_non_null(strstr(tracks, "solve \"5\"\t16\t"));
    tkt_free(tracks);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(divided_files_follow_every_rule_and_add_up)
{
    const char *folder = make_folder();
    takt_trace *trace = make_simulation();
    export_into(trace, "chrome", folder, 100000);
    export_into(trace, "tensorboard", folder, 100000);
    assert_true(exists(folder, "sph.0.trace.5.json"));
    check_format(folder, "*.json *.json.gz");
    check_totals(trace, folder, "*.json");
    check_totals(trace, folder, "*.json.gz");
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(empty_traces_follow_every_rule)
{
    const char *folder = make_folder();
    takt_trace *trace = make_trace();
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    export_into(trace, "chrome", folder, 0);
    check_format(folder, "*.json");
    check_totals(trace, folder, "*.json");
    takt_trace_release(trace);
    remove_folder(folder);
}

/* The sum of all self times is the time in which a thread was in any scope; other tracks' spans are
 * nobody's time. */
TEST(folded_stacks_add_up)
{
    const char *folder = make_folder();
    takt_trace *trace = make_simulation();
    export_into(trace, "folded", folder, 0);
    uint64_t expected = 0;
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        for (size_t i = 0; i < spans->count; i++) {
            if (trace->tracks.items[t].kind == TAKT_TRACK_THREAD &&
                spans->items[i].parent == TKT_NO_SPAN)
                expected += spans->items[i].end_ns - spans->items[i].begin_ns;
        }
    }
    char *output = run_script(folder, "folded_totals.py", "*.folded");
    uint64_t found = 0;
    for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n")) {
        char *self = strchr(line, '\t');
        found += self ? strtoull(self, NULL, 10) : 0;
    }
    assert_int_equal(found, expected);
    tkt_free(output);
    takt_trace_release(trace);
    remove_folder(folder);
}

int main(void)
{
    if (!can_run_scripts()) {
        puts("needs python3");
        return 77;
    }
    return run_all_tests(NULL, NULL);
}
