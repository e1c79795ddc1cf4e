/* Recordings of CUPTI's buffers: what is written is read back, also when nothing of the process
 * that wrote it is left, and whatever is in the file. Then replays all recordings of
 * test/data/cupti: each NAME.recording has to give what its NAME.txt says.
 *
 *     test_cuda_recording FILE    writes the recording of this test
 *     test_cuda_recording -s FILE prints what a recording gives */
#include "support/test.h"
#include "support/cupti_records.h"
#include "support/recording.h"

#include "base/alloc.h"
#include "support/lost.h"

#include <takt/trace.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0       UINT64_C(1700000000000000000)
#define LONGEST  8192
#define RECORDED "/test.recording"

static uint8_t file_bytes[1 << 18];
static size_t file_size;

static void read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    file_size = fread(file_bytes, 1, sizeof file_bytes, file);
    assert_true(file_size > 0 && file_size < sizeof file_bytes);
    fclose(file);
}

/* A step of a program: a copy in, three kernels, two of them of one name, a graph, a copy out. */
static void add_step(record_buffer *buffer, const char *const names[2], uint64_t begin,
                     uint32_t correlation)
{
    record_copy(buffer, 1, 4096, begin, begin + 100, correlation);
    record_kernel(buffer, names[0], begin + 200, begin + 450, correlation + 1);
    record_kernel(buffer, names[1], begin + 500, begin + 1500, correlation + 2);
    record_kernel(buffer, names[0], begin + 1600, begin + 1850, correlation + 3);
    put32(record_set(buffer, 64, begin + 1900, begin + 1910, correlation + 4), 40, 8);
    record_copy(buffer, 2, 4096, begin + 2000, begin + 2200, correlation + 5);
}

static void add_others(record_buffer *buffer)
{
    uint8_t *memory = record_add(buffer, RECORD_MEMORY);
    put32(memory, 4, 1);
    put32(memory, 8, 3);
    put64(memory, 16, 0x7000000);
    put64(memory, 24, 1 << 20);
    put64(memory, 32, T0 + 5);
    put_text(memory, 64, "a symbol");
    uint8_t *wait = record_add(buffer, RECORD_SYNC);
    put32(wait, 4, 3);
    put64(wait, 8, T0 + 10);
    put64(wait, 16, T0 + 5000);
    uint8_t *overhead = record_add(buffer, RECORD_OVERHEAD);
    put64(overhead, 24, T0 + 1);
    put64(overhead, 32, T0 + 2);
    put64(overhead, 48, 0xDEAD); /* a pointer to nothing */
    record_kernel(buffer, NULL, 0, 0, 99);
}

static bool write_synthetic(const char *path)
{
    static record_buffer buffer;
    char names[2][64] = {"_Z9integratePfi", "ampere_sgemm_128x64_nn"};
    const char *const pointers[2] = {names[0], names[1]};
    cupti_recorder out;
    buffer.sizes = record_sizes_13();
    buffer.used = 0;
    if (!recorder_open(&out, path, 130001, &buffer.sizes))
        return false;
    recorder_clock(&out, 1000, T0, 50);
    uint8_t *device = record_add(&buffer, RECORD_DEVICE);
    put32(device, 104, 9);
    put_text(device, 136, "A device that does not exist");
    device[144] = 1;
    add_step(&buffer, pointers, T0 + 10000, 1);
    add_step(&buffer, pointers, T0 + 20000, 11);
    recorder_buffer(&out, buffer.bytes, buffer.used);
    buffer.used = 0;
    strcpy(names[0], "_Z7densityPfi"); /* another module's, at the same address */
    add_step(&buffer, pointers, T0 + 30000, 21);
    add_others(&buffer);
    recorder_buffer(&out, buffer.bytes, buffer.used);
    memset(names, '?', sizeof names);
    recorder_clock(&out, 41000, T0 + 40000, 60);
    return recorder_close(&out);
}

/* What is in a store, as text: sums of activities by label, and numbers of everything else. */

typedef struct sum {
    const char *label;
    const char *name;
    uint64_t count;
    uint64_t total_ns;
} sum;

static int by_label(const void *a, const void *b)
{
    const sum *left = a;
    const sum *right = b;
    int order = strcmp(left->label, right->label);
    return order ? order : strcmp(left->name, right->name);
}

static size_t add_up(const tkt_store *store, sum *sums, size_t room)
{
    size_t count = 0;
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        for (uint32_t i = 0; i < chunk->count; i++) {
            const tkt_stored_activity *activity = &chunk->items[i];
            if (tkt_stored_loss(activity))
                continue;
            const tkt_shape *shape = &store->shapes.items[activity->shape];
            sum new = {tkt_strtab_text(&store->strings, shape->label),
                       tkt_strtab_text(&store->strings, shape->name), 0, 0};
            size_t at = 0;
            while (at < count && by_label(&sums[at], &new) != 0)
                at++;
            assert_true(at < room);
            if (at == count)
                sums[count++] = new;
            sums[at].count++;
            sums[at].total_ns += activity->end - activity->begin;
        }
    }
    qsort(sums, count, sizeof *sums, by_label);
    return count;
}

static void describe(const tkt_store *store, char *out)
{
    static sum sums[256];
    size_t count = add_up(store, sums, 256);
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(out + length, LONGEST - length, "%llu x %s, %llu ns%s%s\n",
                                   (unsigned long long)sums[i].count, sums[i].label,
                                   (unsigned long long)sums[i].total_ns, *sums[i].name ? ": " : "",
                                   sums[i].name);
    const tkt_cuda_losses *lost = &store->losses;
    snprintf(out + length, LONGEST - length,
             "%zu memory events, %zu waits, %zu overheads, %zu devices\n"
             "%llu incomplete, %llu with bad times, %llu unknown, %llu without room\n",
             store->memory.count, store->waits.count, store->overheads.count, store->devices.count,
             (unsigned long long)count_lost(store, TAKT_LOSS_INCOMPLETE),
             (unsigned long long)(count_lost(store, TAKT_LOSS_BAD_TIME) + lost->bad_time),
             (unsigned long long)lost->unknown, (unsigned long long)lost->store_full);
}

/* What the recording in file_bytes gives. */
static const char *replayed(void)
{
    static char text[LONGEST];
    cupti_recording recording;
    tkt_store store;
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    assert_int_equal(recording_read(file_bytes, file_size, &recording), TAKT_OK);
    recording_replay(&recording, &store);
    recording_fini(&recording);
    describe(&store, text);
    tkt_store_fini(&store);
    return text;
}

static const char *scratch_path(void)
{
    static char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s" RECORDED, folder ? folder : "/tmp");
    return path;
}

static int record(void **state)
{
    (void)state;
    assert_true(write_synthetic(scratch_path()));
    read_file(scratch_path());
    remove(scratch_path());
    return 0;
}

/* 3 steps of one copy each way (100 and 200 ns), a set (10 ns), one library kernel (1000 ns) and
 * two kernels (250 ns each): integrate in the first two, density in the third. */
TEST_WITH(what_is_written_is_replayed, record, NULL)
{
    assert_string_equal(replayed(), "3 x builtin kernel ampere_sgemm_128x64_nn, 3000 ns: "
                                    "ampere_sgemm_128x64_nn\n"
                                    "2 x kernel density, 500 ns: density(float*, int)\n"
                                    "4 x kernel integrate, 1000 ns: integrate(float*, int)\n"
                                    "3 x memcpy DtoH, 600 ns\n"
                                    "3 x memcpy HtoD, 300 ns\n"
                                    "3 x memset, 30 ns\n"
                                    "1 memory events, 1 waits, 1 overheads, 1 devices\n"
                                    "1 incomplete, 0 with bad times, 0 unknown, 0 without room\n");
}

TEST_WITH(facts_are_kept, record, NULL)
{
    cupti_recording recording;
    const tkt_record_sizes sizes = record_sizes_13();
    assert_int_equal(recording_read(file_bytes, file_size, &recording), TAKT_OK);
    assert_int_equal(recording.cupti_version, 130001);
    assert_memory_equal(&recording.sizes, &sizes, sizeof sizes);
    assert_int_equal(recording.pairs.count, 2);
    assert_int_equal(recording.pairs.items[1].ticks, 41000);
    assert_int_equal(recording.pairs.items[1].cupti_ns, T0 + 40000);
    assert_int_equal(recording.pairs.items[1].bracket_ticks, 60);
    assert_int_equal(recording.texts.count, 5); /* device, two names, symbol, the other name */
    recording_fini(&recording);
}

TEST(no_pointer_of_the_writer_is_left)
{
    static record_buffer buffer;
    cupti_recorder out;
    cupti_recording recording;
    buffer.sizes = record_sizes_13();
    buffer.used = 0;
    record_kernel(&buffer, "gone", T0, T0 + 1, 1);
    assert_true(recorder_open(&out, scratch_path(), 1, &buffer.sizes));
    recorder_buffer(&out, buffer.bytes, buffer.used);
    assert_true(recorder_close(&out));
    read_file(scratch_path());
    remove(scratch_path());
    /* Behind the head and the sizes stands the text: its address is made another. */
    file_bytes[8 + 12 + 2 * TKT_CUPTI_KINDS + 8] ^= 1;
    assert_int_equal(recording_read(file_bytes, file_size, &recording), TAKT_OK);
    uint64_t name;
    memcpy(&name, recording.buffers.items[0].bytes + 104, sizeof name);
    assert_int_equal(name, 0);
    recording_fini(&recording);
}

TEST_WITH(cut_anywhere_it_is_refused_or_shorter, record, NULL)
{
    size_t size = file_size;
    size_t read = 0;
    for (size_t cut = 0; cut < size; cut++) {
        cupti_recording recording;
        uint8_t *exact = malloc(cut ? cut : 1);
        assert_non_null(exact);
        memcpy(exact, file_bytes, cut);
        takt_status status = recording_read(exact, cut, &recording);
        free(exact);
        assert_true(status == TAKT_OK || status == TAKT_BAD_TRACE);
        read += status == TAKT_OK;
        if (status == TAKT_OK)
            recording_fini(&recording);
    }
    assert_int_equal(read, 9); /* behind the head, and behind each of 5 texts, a pair, ... */
}

TEST_WITH(without_memory_it_is_not_read, record, NULL)
{
    cupti_recording recording;
    uint64_t failing = 0;
    takt_status status;
    do {
        tkt_alloc_fail(failing++, 1);
        status = recording_read(file_bytes, file_size, &recording);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
    } while (status != TAKT_OK);
    assert_true(failing > 10);
    recording_fini(&recording);
}

static void replay_one(const char *path)
{
    char expected_path[4096];
    static char expected[LONGEST];
    size_t stem = strlen(path) - strlen(".recording");
    snprintf(expected_path, sizeof expected_path, "%.*s.txt", (int)stem, path);
    FILE *file = fopen(expected_path, "rb");
    if (!file)
        fail_msg("%s has no %s", path, expected_path);
    expected[fread(expected, 1, sizeof expected - 1, file)] = '\0';
    fclose(file);
    read_file(path);
    assert_string_equal(replayed(), expected);
}

TEST(kept_recordings_give_what_they_gave)
{
    const char *root = getenv("TAKT_ROOT");
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/test/data/cupti/*.recording", root ? root : ".");
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        replay_one(found.gl_pathv[i]);
    globfree(&found);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return !write_synthetic(argv[1]);
    if (argc == 3) {
        read_file(argv[2]);
        fputs(replayed(), stdout);
        return 0;
    }
    return run_all_tests(NULL, NULL);
}
