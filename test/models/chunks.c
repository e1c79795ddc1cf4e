/* A thread whose chunk is full (append_chunk() in src/record/log_chunks.c), and a reader that walks
 * the chunks of a pinned log up to the thread's cursor (src/record/log_read.c). */
#include "model.h"

enum {
    FIRST = 10, /* cursors: FIRST + 1 is behind the first chunk's only slot */
    SECOND = 20
};

static struct {
    int count, end, slot; /* plain, so that races show */
} first;
static struct {
    int begin, slot;
} second;
static atomic_int next, cursor = FIRST;

static void *run_thread(void *unused)
{
    first.slot = 1;
    atomic_store_explicit(&cursor, FIRST + 1, RELEASE(1));
    first.count = 1;
    first.end = 5;
    second.begin = 5;
    atomic_store_explicit(&next, SECOND, RELEASE(2));
    atomic_store_explicit(&cursor, SECOND, RELEASE(3));
    second.slot = 2;
    atomic_store_explicit(&cursor, SECOND + 1, RELEASE(4));
    return unused;
}

static void *run_reader(void *unused)
{
    int until = load(&cursor, acquire);
    if (until == FIRST + 1)
        assert(first.slot == 1);
    if (until >= SECOND) {
        assert(load(&next, acquire) == SECOND);
        assert(first.count == 1 && first.slot == 1);
    }
    if (until == SECOND + 1)
        assert(second.slot == 2);
    if (load(&next, acquire) == SECOND) /* a look at the next chunk without the cursor */
        assert(first.end == 5 && second.begin == 5);
    return unused;
}

int main(void)
{
    run_both(run_thread, run_reader);
    return 0;
}
