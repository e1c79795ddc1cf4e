/* The list of free chunks (push() and pop() in src/record/pool.c): two threads take chunks and give
 * them back. Nobody may get a chunk that another one has. */
#include "model.h"

enum {
    NONE = 15,
    TAG = 16 /* the head is tag * TAG + number */
};

static atomic_int head, next_free[3];
static int owner[3]; /* 0: nobody; plain, so that races show */

static void push(int chunk)
{
    int seen = load(&head, relaxed), mine;
    do {
        store(&next_free[chunk], seen % TAG, relaxed);
        mine = (seen / TAG + (WEAKER != 2)) * TAG + chunk;
    } while (!atomic_compare_exchange_strong_explicit(&head, &seen, mine, RELEASE(1),
                                                      memory_order_relaxed));
}

static int pop(void)
{
    int seen = load(&head, acquire);
    while (seen % TAG != NONE) {
        int next = load(&next_free[seen % TAG], relaxed);
        int mine = seen / TAG * TAG + next;
        if (atomic_compare_exchange_strong_explicit(&head, &seen, mine, memory_order_acquire,
                                                    memory_order_acquire))
            return seen % TAG;
    }
    return NONE;
}

static int take(int thread)
{
    int chunk = pop();
    if (chunk != NONE) {
        assert(owner[chunk] == 0);
        owner[chunk] = thread;
    }
    return chunk;
}

static void *take_two(void *unused)
{
    take(1);
    take(1);
    return unused;
}

/* Gives the first one back: the head is then what it was. */
static void *take_two_give_one(void *unused)
{
    int chunk = take(2);
    take(2);
    if (chunk != NONE) {
        owner[chunk] = 0;
        push(chunk);
    }
    return unused;
}

int main(void)
{
    store(&next_free[0], 1, relaxed);
    store(&next_free[1], 2, relaxed);
    store(&next_free[2], NONE, relaxed);
    store(&head, 0, relaxed);
    run_both(take_two, take_two_give_one);
    return 0;
}
