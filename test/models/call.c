/* A thread that returns from a call into CUDA (on_api() in src/cuda/callback.c), and a window's
 * end, which asks for the call that is under way before it reads the records (fold_last() in
 * src/record/log_read.c): the call must be in one of the two. */
#include "model.h"

static atomic_int under_way = 7, cursor;
static int record;

static void *run_thread(void *unused)
{
    record = 7;
    atomic_store_explicit(&cursor, 1, RELEASE(1));
    atomic_store_explicit(&under_way, 0, RELEASE(2));
    return unused;
}

static void *run_end(void *unused)
{
    int call = load(&under_way, acquire);
    int seen = load(&cursor, acquire);
    if (call == 0)
        assert(seen == 1);
    if (seen == 1)
        assert(record == 7);
    return unused;
}

int main(void)
{
    run_both(run_thread, run_end);
    return 0;
}
