/* A program without device code that has not loaded CUDA: nothing is loaded, no thread is started,
 * no word is said. */
#include "cuda/cuda.h"

#include "base/dynlib.h"
#include "support/test.h"
#include "support/settle.h"

#include <dirent.h>

static size_t thread_count(void)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

static int lines;
static void listen(takt_log_level level, const char *line, void *user)
{
    (void)level, (void)line, (void)user;
    lines++;
}

TEST(nothing_happens)
{
    uint64_t objects = tkt_objects_added(), bytes;
    size_t threads = thread_count();
    takt_set_log(listen, NULL);
    for (uint64_t generation = 1; generation < 4; generation++) {
        assert_false(tkt_cuda_is_used());
        tkt_cuda_want(&(tkt_cuda_wish){.is_on = true, .filter = 0xff, .generation = generation});
        assert_int_equal(tkt_cuda_synchronize(), TAKT_OK);
        assert_true(settle_devices(true));
        assert_false(tkt_cuda_memory(0, &bytes, &bytes));
        tkt_cuda_want(&(tkt_cuda_wish){.generation = generation});
    }
    assert_int_equal(tkt_cuda_status_now().backend, TKT_BACKEND_NONE);
    assert_string_equal(tkt_cuda_status_now().text, "none");
    assert_string_equal(tkt_cuda_status_now().reason, "");
    assert_int_equal(tkt_objects_added(), objects);
    assert_int_equal(thread_count(), threads);
    assert_int_equal(lines, 0);
    assert_null(tkt_library_loaded("libcuda.so.1"));
}

TEST_MAIN(NULL, NULL)
