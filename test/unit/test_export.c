/* takt/export.h: formats by name, files, and everything that can go wrong with them. */
#include "test_chrome.h"

#include "support/test.h"
#include "support/gzip_bytes.h"

#include "base/error.h"
#include "test_export_folder.h"
#include "export/exporter.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* A bit of everything, so that every branch writes. */
static takt_trace *make_full_trace(void)
{
    takt_trace *trace = make_trace();
    uint32_t main_track = add_thread(trace, "main", 100);
    uint32_t other = add_thread(trace, "", 101);
    uint32_t async = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "io"), 0);
    uint32_t step = add_site(trace, "step", "sim.c", 10);
    uint32_t solve = add_site(trace, "solve", "sim.c", 20);
    uint32_t outer = add_span(trace, main_track, step, 0, 1000);
    uint32_t inner = add_span(trace, main_track, solve, 100, 600);
    trace->tracks.items[main_track].spans.items[inner].parent = outer;
    add_span(trace, other, solve, 50, 70);
    add_span(trace, async, solve, 0, 500);
    add_span(trace, async, solve, 100, 700);
    add_arg(trace, main_track, (tkt_arg){inner, text(trace, "n"), {.i = 3}, TKT_ARG_INT});
    *TKT_ARRAY_ADD(&trace->tracks.items[main_track].works) = (tkt_work){inner, 1e6, 2e6};
    *TKT_ARRAY_ADD(&trace->marks) = (tkt_mark){BEGIN_NS + 5, other, step};
    *TKT_ARRAY_ADD(&trace->counters) =
        (tkt_counter){BEGIN_NS + 6, 1.0 / 3, text(trace, "energy"), main_track};
    *TKT_ARRAY_ADD(&trace->flows) = (tkt_flow){BEGIN_NS + 110, 7, main_track, inner, false};
    *TKT_ARRAY_ADD(&trace->flows) = (tkt_flow){BEGIN_NS + 60, 7, other, 0, true};
    *TKT_ARRAY_ADD(&trace->memory_events) =
        (tkt_memory_event){BEGIN_NS + 7, 4096, 512, main_track, outer, 0, 0};
    *TKT_ARRAY_ADD(&trace->steps) = (tkt_step){3, BEGIN_NS, BEGIN_NS + 1000};
    *TKT_ARRAY_ADD(&trace->activities) = (tkt_activity){.call = TKT_NO_CALL,
                                                        .shape = TKT_NO_SHAPE,
                                                        .begin_ns = BEGIN_NS,
                                                        .end_ns = BEGIN_NS + 9,
                                                        .name = text(trace, "kernel k"),
                                                        .device = text(trace, "cuda:0"),
                                                        .filter = TAKT_TIMING_KERNEL,
                                                        .track = main_track,
                                                        .span = TKT_NO_SPAN,
                                                        .scope = outer};
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

TEST(formats_have_names)
{
    static const char *const names[] = {"perfetto", "chrome",        "folded",     "folded-device",
                                        "stacks",   "stacks-device", "speedscope", "xplane"};
    size_t count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++)
        assert_string_equal(takt_export_name(i), names[i]);
    assert_null(takt_export_name(count));
    assert_null(takt_export_name(SIZE_MAX));
}

TEST(unknown_formats_are_not_found)
{
    takt_trace *trace = make_full_trace();
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    static const char *const names[] = {"",       "chrom",     "chromee",
                                        "Chrome", "chrome.gz", "tensorboard"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(takt_export(trace, names[i], &sink), TAKT_NOT_FOUND);
    assert_int_equal(memory.size, 0);
    takt_error error;
    assert_int_equal(takt_export_file(trace, "svg", "/nowhere/x", NULL, &error), TAKT_NOT_FOUND);
    assert_string_equal(
        error.message,
        "unknown format \"svg\"; use perfetto, chrome, folded, folded-device, stacks, "
        "stacks-device, speedscope, xplane");
    assert_int_equal(takt_export_output(trace, "svg.gz", "/nowhere", NULL, NULL, 0, &error),
                     TAKT_NOT_FOUND);
    assert_non_null(strstr(error.message, "\"svg.gz\""));
    assert_non_null(strstr(error.message, "tensorboard"));
    takt_trace_release(trace);
}

TEST(missing_arguments_are_refused)
{
    takt_trace *trace = make_full_trace();
    takt_sink none = {0};
    takt_error error;
    assert_int_equal(takt_export(NULL, "chrome", &none), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_export(trace, NULL, &none), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_export(trace, "chrome", NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_export(trace, "chrome", &none), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_export_file(trace, "chrome", "", NULL, &error), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_export_file(trace, "chrome", NULL, NULL, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_export_output(trace, NULL, ".", NULL, NULL, 0, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_export_output(trace, "chrome", NULL, NULL, NULL, 0, &error),
                     TAKT_BAD_ARGUMENT);
    takt_trace_release(trace);
}

TEST(options_age)
{
    const char *folder = make_folder();
    const char *path = in_folder(folder, "a.json");
    takt_trace *trace = make_full_trace();
    struct {
        takt_export_options known;
        uint64_t later;
    } options = {.known.struct_size = sizeof options};
    assert_int_equal(takt_export_file(trace, "chrome", path, &options.known, NULL), TAKT_OK);
    options.later = 1;
    takt_error error;
    assert_int_equal(takt_export_file(trace, "chrome", path, &options.known, &error),
                     TAKT_BAD_ARGUMENT);
    assert_int_equal(error.status, TAKT_BAD_ARGUMENT);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(a_file_is_what_the_sink_gets)
{
    static const char *const formats[] = {"chrome", "folded", "speedscope"};
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    for (size_t i = 0; i < 3; i++) {
        memory_sink memory = {0};
        size_t size;
        assert_int_equal(export_bytes(trace, formats[i], &memory), TAKT_OK);
        assert_int_equal(takt_export_file(trace, formats[i], in_folder(folder, "a"), NULL, NULL),
                         TAKT_OK);
        char *data = read_whole(folder, "a", &size);
        assert_int_equal(size, memory.size - 1);
        assert_memory_equal(data, memory.data, size);
        tkt_free(data);
        tkt_free(memory.data);
    }
    assert_int_equal(count_entries(folder), 1);
    takt_trace_release(trace);
    remove_folder(folder);
}

/* Unpacks FOLDER/NAME and compares it with the plain export. */
static void check_packed(const takt_trace *trace, const char *folder, const char *name)
{
    size_t packed_size;
    char *packed = read_whole(folder, name, &packed_size);
    memory_sink memory = {0};
    assert_int_equal(export_bytes(trace, "chrome", &memory), TAKT_OK);
    bytes plain = unpack_with_zlib(packed, packed_size, memory.size - 1);
    assert_int_equal(plain.size, memory.size - 1);
    assert_memory_equal(plain.data, memory.data, plain.size);
    tkt_free(memory.data);
    free(plain.data);
    tkt_free(packed);
}

TEST(gzip_is_chosen_by_path_or_option)
{
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    takt_export_options options = {.struct_size = sizeof options, .gzip = true};
    assert_int_equal(takt_export_file(trace, "chrome", in_folder(folder, "a.gz"), NULL, NULL),
                     TAKT_OK);
    assert_int_equal(takt_export_file(trace, "chrome", in_folder(folder, "b"), &options, NULL),
                     TAKT_OK);
    check_packed(trace, folder, "a.gz");
    check_packed(trace, folder, "b");
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(outputs_are_named_after_run_and_cycle)
{
    static const char *const names[][2] = {{"perfetto", "sph.7.pftrace"},
                                           {"perfetto.gz", "sph.7.pftrace.gz"},
                                           {"chrome", "sph.7.trace.json"},
                                           {"chrome.gz", "sph.7.trace.json.gz"},
                                           {"folded", "sph.7.folded"},
                                           {"folded.gz", "sph.7.folded.gz"},
                                           {"folded-device", "sph.7.device.folded"},
                                           {"stacks", "sph.7.stacks.folded"},
                                           {"stacks-device", "sph.7.stacks.device.folded"},
                                           {"speedscope", "sph.7.speedscope.json"}};
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    trace->facts.cycle = 7;
    char directory[1024];
    snprintf(directory, sizeof directory, "%s", in_folder(folder, "runs/deep/er"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024] = "";
        assert_int_equal(
            takt_export_output(trace, names[i][0], directory, NULL, path, sizeof path, NULL),
            TAKT_OK);
        assert_string_equal(path, in_folder(directory, names[i][1]));
        assert_true(exists(directory, names[i][1]));
    }
    assert_int_equal(count_entries(directory), 10);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(run_names_cannot_leave_the_folder)
{
    char long_name[400];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    char cut_name[200];
    snprintf(cut_name, sizeof cut_name, "%.128s.0.folded", long_name);
    const char *names[][2] = {{"../../etc/passwd", "_.._.._etc_passwd.0.folded"},
                              {"", "trace.0.folded"},
                              {".hidden", "_hidden.0.folded"},
                              {"a b\n$(reboot);'\"", "a_b___reboot____.0.folded"},
                              {"Größe-1_x.y", "Größe-1_x.y.0.folded"},
                              {long_name, cut_name}};
    names[0][1] = "_._.._etc_passwd.0.folded";
    takt_trace *trace = make_full_trace();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *folder = make_folder();
        trace->name = text(trace, names[i][0]);
        assert_int_equal(takt_export_output(trace, "folded", folder, NULL, NULL, 0, NULL), TAKT_OK);
        assert_true(exists(folder, names[i][1]));
        assert_int_equal(count_entries(folder), 1);
        remove_folder(folder);
    }
    takt_trace_release(trace);
}

TEST(tensorboard_gets_both_layouts)
{
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    char path[1024];
    assert_int_equal(
        takt_export_output(trace, "tensorboard", folder, NULL, path, sizeof path, NULL), TAKT_OK);
    char torch[512], profile[512];
    snprintf(torch, sizeof torch, "%s_%u.1767261889000000000.pt.trace.json.gz", tkt_host_name(),
             PID);
    snprintf(profile, sizeof profile, "plugins/profile/sph.0/%s.xplane.pb", tkt_host_name());
    assert_string_equal(path, in_folder(folder, torch));
    check_packed(trace, folder, torch);
    assert_true(exists(folder, profile));
    assert_int_equal(count_entries(folder), 2);
    takt_trace_release(trace);
    remove_folder(folder);
}

static ino_t inode_of(const char *path)
{
    struct stat facts;
    assert_int_equal(lstat(path, &facts), 0);
    return facts.st_ino;
}

TEST(exporting_again_leaves_what_is_there)
{
    static const char *const outputs[] = {"chrome", "tensorboard", "folded.gz"};
    static const char *const ends[] = {"sph.0-2.trace.json", ".pt.trace.json.gz",
                                       "sph.0-2.folded.gz"};
    takt_trace *trace = make_full_trace();
    for (size_t i = 0; i < 3; i++) {
        const char *folder = make_folder();
        char first[2000], second[2000];
        assert_int_equal(
            takt_export_output(trace, outputs[i], folder, NULL, first, sizeof first, NULL),
            TAKT_OK);
        ino_t before = inode_of(first);
        assert_int_equal(
            takt_export_output(trace, outputs[i], folder, NULL, second, sizeof second, NULL),
            TAKT_OK);
        assert_int_equal(inode_of(first), before);
        assert_true(inode_of(second) != before);
        assert_string_equal(second + strlen(second) - strlen(ends[i]), ends[i]);
        remove_folder(folder);
    }
    takt_trace_release(trace);
}

/* All parts of a trace have the number, also where only the first one's name is taken. */
TEST(parts_of_a_taken_name_stay_together)
{
    static const takt_export_options options = {.struct_size = sizeof options, .max_bytes = 16384};
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    uint32_t site = add_site(trace, "solve", "sim.c", 20);
    for (uint32_t i = 0; i < 300; i++) /* for two files */
        add_span(trace, 1, site, 1000 + i * 10, 1005 + i * 10);
    symlink("nowhere", in_folder(folder, "sph.0.trace.json"));
    assert_int_equal(takt_export_output(trace, "chrome", folder, &options, NULL, 0, NULL), TAKT_OK);
    assert_true(exists(folder, "sph.0-2.trace.json"));
    assert_true(exists(folder, "sph.0-2.trace.2.json"));
    assert_false(exists(folder, "sph.0.trace.2.json"));
    assert_false(exists(folder, "nowhere"));
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(summaries_give_stacks_but_no_timeline)
{
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    assert_non_null(tkt_trace_fold(trace));
    trace->facts.has_spans = false;
    takt_error error;
    assert_int_equal(takt_export_output(trace, "folded", folder, NULL, NULL, 0, &error), TAKT_OK);
    assert_int_equal(takt_export_output(trace, "chrome", folder, NULL, NULL, 0, &error),
                     TAKT_NO_SPANS);
    assert_string_equal(error.message, "chrome: the trace holds no spans, only a summary");
    assert_int_equal(takt_export_output(trace, "tensorboard", folder, NULL, NULL, 0, NULL),
                     TAKT_NO_SPANS);
    assert_true(exists(folder, "sph.0.folded"));
    assert_int_equal(count_entries(folder), 1);
    takt_trace_release(trace);
    remove_folder(folder);
}

typedef struct short_sink {
    size_t room;
    bool has_failed;
} short_sink;

static takt_status write_short(void *user, const void *data, size_t size)
{
    short_sink *sink = user;
    (void)data;
    assert_false(sink->has_failed); /* not called again after a failure */
    sink->has_failed = size > sink->room;
    sink->room -= sink->has_failed ? 0 : size;
    return sink->has_failed ? TAKT_UNSUPPORTED : TAKT_OK;
}

TEST(the_sinks_status_comes_back)
{
    takt_trace *trace = make_trace();
    uint32_t site = add_scope(trace, "a");
    uint32_t track = add_thread(trace, "", 1);
    for (uint32_t i = 0; i < 20000; i++) /* several buffers of the writer */
        add_span(trace, track, site, i * 10, i * 10 + 5);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    takt_status status = TAKT_UNSUPPORTED;
    for (size_t room = 0; status != TAKT_OK; room += 100000) {
        short_sink sink = {.room = room};
        status = takt_export(trace, "chrome", &(takt_sink){write_short, &sink});
        assert_int_equal(status, sink.has_failed ? TAKT_UNSUPPORTED : TAKT_OK);
    }
    takt_trace_release(trace);
}

/* The same with a failure at every single byte, as a small disk would have it. */
TEST(failure_at_every_byte_leaves_no_file)
{
    takt_trace *trace = make_full_trace();
    memory_sink memory = {0};
    assert_int_equal(export_bytes(trace, "chrome", &memory), TAKT_OK);
    tkt_free(memory.data);
    for (size_t room = 0; room < memory.size - 1; room++) {
        short_sink sink = {.room = room};
        assert_int_equal(takt_export(trace, "chrome", &(takt_sink){write_short, &sink}),
                         TAKT_UNSUPPORTED);
    }
    short_sink enough = {.room = memory.size - 1};
    assert_int_equal(takt_export(trace, "chrome", &(takt_sink){write_short, &enough}), TAKT_OK);
    takt_trace_release(trace);
}

TEST(full_devices_are_named)
{
    takt_trace *trace = make_full_trace();
    takt_error error;
    assert_int_equal(takt_export_file(trace, "chrome", "/dev/full", NULL, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot write /dev/full: No space left on device");
    takt_export_options gzip = {.struct_size = sizeof gzip, .gzip = true};
    assert_int_equal(takt_export_file(trace, "chrome", "/dev/full", &gzip, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot write /dev/full: No space left on device");
    assert_int_equal(takt_export_file(trace, "folded", "/dev/full", NULL, NULL), TAKT_IO_ERROR);
    struct stat facts;
    assert_int_equal(stat("/dev/full", &facts), 0);
    assert_true(S_ISCHR(facts.st_mode));
    takt_trace_release(trace);
}

/* XProf would show an empty run. */
TEST(a_full_disk_leaves_no_folders)
{
    takt_trace *trace = make_full_trace();
    takt_error error;
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100;
    for (uint32_t size = 0; size < 4; size += 2) {
        const char *folder = make_folder();
        trace->facts.world_size = size;
        setrlimit(RLIMIT_FSIZE, &small);
        takt_status status = takt_export_output(trace, "xplane", folder, NULL, NULL, 0, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, TAKT_IO_ERROR);
        assert_non_null(strstr(error.message, "File too large"));
        assert_int_equal(count_entries(folder), 0);
        remove_folder(folder);
    }
    takt_trace_release(trace);
}

TEST(a_full_disk_leaves_folders_of_others)
{
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    struct rlimit before, small;
    assert_int_equal(takt_export_output(trace, "xplane", folder, NULL, NULL, 0, NULL), TAKT_OK);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(takt_export_output(trace, "xplane", folder, NULL, NULL, 0, NULL),
                     TAKT_IO_ERROR);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(count_entries(in_folder(folder, "plugins/profile")), 1);
    assert_int_equal(count_entries(in_folder(folder, "plugins/profile/sph.0")), 1);
    takt_trace_release(trace);
    remove_folder(folder);
}

TEST(unwritable_places_are_named)
{
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    takt_error error;
    const char *missing = in_folder(folder, "no/such/folder/a.json");
    assert_int_equal(takt_export_file(trace, "chrome", missing, NULL, &error), TAKT_IO_ERROR);
    assert_non_null(strstr(error.message, missing));
    assert_non_null(strstr(error.message, "No such file or directory"));
    /* Even root cannot make a folder below a file. */
    assert_int_equal(takt_export_file(trace, "folded", in_folder(folder, "file"), NULL, NULL),
                     TAKT_OK);
    static const char *const outputs[] = {"chrome", "tensorboard", "folded.gz"};
    for (size_t i = 0; i < 3; i++) {
        const char *below = in_folder(folder, "file/below");
        char path[16] = "untouched";
        assert_int_equal(
            takt_export_output(trace, outputs[i], below, NULL, path, sizeof path, &error),
            TAKT_IO_ERROR);
        assert_non_null(strstr(error.message, below));
        assert_non_null(strstr(error.message, "cannot create folder"));
        assert_string_equal(path, "untouched");
    }
    assert_int_equal(count_entries(folder), 1);
    takt_trace_release(trace);
    remove_folder(folder);
}

/* A folder stands where the file should; found out only when it is renamed. */
TEST(failed_files_leave_nothing_behind)
{
    const char *folder = make_folder();
    takt_trace *trace = make_full_trace();
    const char *path = in_folder(folder, "sph.json");
    mkdir(path, 0777);
    takt_error error;
    assert_int_equal(takt_export_file(trace, "chrome", path, NULL, &error), TAKT_IO_ERROR);
    assert_non_null(strstr(error.message, "sph.json: Is a directory"));
    assert_int_equal(count_entries(folder), 1);
    takt_trace_release(trace);
    remove_folder(folder);
}

static takt_status export_all(takt_trace *trace, const char *folder, takt_error *error)
{
    static const char *const outputs[] = {"chrome", "tensorboard", "folded", "speedscope"};
    takt_export_options options = {.struct_size = sizeof options, .max_bytes = 16384};
    takt_status status = TAKT_OK;
    for (size_t i = 0; i < 4 && status == TAKT_OK; i++)
        status = takt_export_output(trace, outputs[i], folder, &options, NULL, 0, error);
    return status;
}

static size_t count_temporary(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        count += strstr(entry->d_name, ".tmp") != NULL;
    if (dir)
        closedir(dir);
    return count;
}

/* Whether the failure that was to come after so many allocations has come. */
static bool has_failed(uint64_t after)
{
    bool has = true;
    for (uint64_t i = 0; i <= after && has; i++) {
        void *probe = tkt_alloc(1);
        has = probe != NULL;
        tkt_free(probe);
    }
    return has;
}

static void fail_allocations(takt_trace *trace, uint64_t failures)
{
    const char *folder = make_folder();
    uint64_t after = 0;
    for (bool was_hit = true; was_hit; after++) {
        takt_error error = {0};
        tkt_alloc_fail(after, failures);
        takt_status status = export_all(trace, folder, &error);
        was_hit = failures == 1 ? has_failed(after) : status != TAKT_OK;
        tkt_alloc_fail(UINT64_MAX, 0);
        if (status != TAKT_OK) {
            assert_int_equal(status, TAKT_NO_MEMORY);
            assert_int_equal(error.status, TAKT_NO_MEMORY);
            assert_true(strlen(error.message) > 10);
        }
        assert_int_equal(count_temporary(folder), 0);
        remove_folder(folder); /* each taken name would be an allocation more */
        assert_int_equal(mkdir(folder, 0700), 0);
        assert_true(after < 10000);
    }
    assert_true(after > 100);
    remove_folder(folder);
}

/* What is said to be written is the same, whichever allocation failed. */
TEST(nothing_is_left_out_for_want_of_memory)
{
    takt_trace *trace = make_full_trace();
    for (size_t i = 0; takt_export_name(i); i++) {
        memory_sink whole = {0};
        takt_status status = TAKT_NO_MEMORY;
        assert_int_equal(export_bytes(trace, takt_export_name(i), &whole), TAKT_OK);
        for (uint64_t after = 0; status != TAKT_OK; after++) {
            memory_sink file = {0};
            tkt_alloc_fail(after, 1);
            status = export_bytes(trace, takt_export_name(i), &file);
            tkt_alloc_fail(UINT64_MAX, 0);
            assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
            if (status == TAKT_OK && file.size != whole.size)
                fail_msg("%s: %zu bytes of %zu", takt_export_name(i), file.size, whole.size);
            tkt_free(file.data);
            assert_true(after < 10000);
        }
        tkt_free(whole.data);
    }
    takt_trace_release(trace);
}

TEST(running_out_of_memory_is_told_and_leaks_nothing)
{
    takt_trace *trace = make_full_trace();
    uint32_t site = add_site(trace, "solve", "sim.c", 20);
    for (uint32_t i = 0; i < 300; i++) /* for two files */
        add_span(trace, 1, site, 1000 + i * 10, 1005 + i * 10);
    fail_allocations(trace, 1);
    fail_allocations(trace, UINT64_MAX);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
