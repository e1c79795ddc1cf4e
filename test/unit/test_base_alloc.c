/* The door of all memory. What concerns the choice of an allocator happens once in a process, so
 * those tests run in children that have not allocated yet, and stand first. */
#include "base/alloc.h"

#include "base/thread.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS          4
#define CALLS_PER_THREAD 1000000

/* A host's allocator that counts. */
typedef struct host {
    _Atomic int calls;
    _Atomic int live;
} host;

static void *host_resize(void *user, void *pointer, size_t size)
{
    host *mine = user;
    mine->calls++;
    mine->live += (pointer == NULL) - (size == 0);
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static bool holds_in_child(bool (*claim)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(claim() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool host_serves(void)
{
    host mine = {0};
    if (takt_set_allocator(&(takt_allocator){host_resize, &mine}) != TAKT_OK)
        return false;
    char *first = tkt_alloc(10);
    char *second = tkt_alloc_zeroed(1000);
    char *third = tkt_copy_string("text");
    first = tkt_resize(first, 100);
    bool is_counted = mine.calls == 4 && mine.live == 3 && second[999] == 0;
    tkt_free(first);
    tkt_free(second);
    tkt_free(third);
    tkt_free(NULL);
    return is_counted && mine.calls == 7 && mine.live == 0;
}

TEST(a_hosts_allocator_serves_every_call)
{
    assert_true(holds_in_child(host_serves));
}

static bool late_choice_is_refused(void)
{
    host mine = {0};
    void *pointer = tkt_alloc(1);
    bool is_refused = takt_set_allocator(&(takt_allocator){host_resize, &mine}) == TAKT_BAD_STATE &&
                      takt_set_allocator(NULL) == TAKT_BAD_STATE;
    tkt_free(pointer);
    return is_refused && mine.calls == 0;
}

TEST(an_allocator_is_refused_once_the_library_has_allocated)
{
    assert_true(holds_in_child(late_choice_is_refused));
}

static bool null_restores(void)
{
    host mine = {0};
    bool is_taken = takt_set_allocator(&(takt_allocator){host_resize, &mine}) == TAKT_OK &&
                    takt_set_allocator(NULL) == TAKT_OK;
    tkt_free(tkt_alloc(1));
    return is_taken && mine.calls == 0;
}

TEST(null_restores_the_c_librarys_allocator)
{
    assert_true(holds_in_child(null_restores));
}

TEST(an_allocator_without_resize_is_refused)
{
    assert_int_equal(takt_set_allocator(&(takt_allocator){0}), TAKT_BAD_ARGUMENT);
}

static void *allocate_often(void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++)
        tkt_free(tkt_alloc(16));
    return NULL;
}

/* Whoever comes first: all of the memory is from one allocator. */
static bool race_has_one_winner(void)
{
    host mine = {0};
    tkt_thread threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        tkt_thread_start(&threads[i], "allocates", allocate_often, NULL);
    takt_status status = takt_set_allocator(&(takt_allocator){host_resize, &mine});
    for (int i = 0; i < THREADS; i++)
        tkt_thread_join(threads[i]);
    return mine.calls == (status == TAKT_OK ? THREADS * 2000 : 0) && mine.live == 0;
}

TEST(choosing_while_others_allocate_never_mixes_allocators)
{
    for (int i = 0; i < 20; i++)
        assert_true(holds_in_child(race_has_one_winner));
}

TEST(no_bytes_are_memory_too)
{
    void *empty = tkt_alloc(0);
    void *zeroed = tkt_alloc_zeroed(0);
    void *copied = tkt_copy("", 0);
    assert_non_null(empty);
    assert_non_null(zeroed);
    assert_non_null(copied);
    empty = tkt_resize(empty, 0);
    assert_non_null(empty);
    tkt_free(empty);
    tkt_free(zeroed);
    tkt_free(copied);
}

TEST(zeroed_memory_is_zero_where_other_bytes_were)
{
    for (size_t size = 1; size < 3000; size += 61) {
        unsigned char *dirty = tkt_alloc(size);
        memset(dirty, 0xEE, size);
        tkt_free(dirty);
        unsigned char *clean = tkt_alloc_zeroed(size);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(clean[i], 0);
        tkt_free(clean);
    }
}

TEST(resizing_keeps_the_bytes)
{
    char *text = tkt_copy_string("kept");
    text = tkt_resize(text, 100000);
    assert_string_equal(text, "kept");
    tkt_free(text);
}

TEST(copies_are_equal_and_apart)
{
    const char bytes[] = {1, 0, 2, (char)0xFF};
    char *copy = tkt_copy(bytes, sizeof bytes);
    assert_ptr_not_equal(copy, bytes);
    assert_memory_equal(copy, bytes, sizeof bytes);
    tkt_free(copy);
    assert_null(tkt_copy_string(NULL));
}

static bool one_succeeds(void)
{
    void *pointer = tkt_alloc(8);
    tkt_free(pointer);
    return pointer != NULL;
}

TEST(the_chosen_allocations_fail_and_no_others)
{
    tkt_alloc_fail(3, 2);
    const bool expected[] = {true, true, true, false, false, true, true};
    for (size_t i = 0; i < sizeof expected; i++)
        assert_int_equal(one_succeeds(), expected[i]);
}

TEST(every_kind_of_allocation_can_fail)
{
    char *kept = tkt_copy_string("kept");
    tkt_alloc_fail(0, UINT64_MAX);
    void *results[] = {tkt_alloc(1), tkt_alloc_zeroed(1), tkt_resize(kept, 9), tkt_copy("a", 1),
                       tkt_copy_string("a")};
    tkt_alloc_fail(0, 0);
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        assert_null(results[i]);
    assert_string_equal(kept, "kept");
    tkt_free(kept);
    assert_true(one_succeeds());
}

static void *count_failures(void *argument)
{
    uintptr_t failures = 0;
    /* A barrier of the system's would wake the second when the first is done. */
    _Atomic int *ready = argument;
    ++*ready;
    while (*ready < 2)
        continue;
    for (int i = 0; i < CALLS_PER_THREAD; i++)
        failures += !one_succeeds();
    return (void *)failures;
}

TEST(threads_together_see_exactly_the_failures_asked_for)
{
    tkt_thread threads[2];
    _Atomic int ready = 0;
    uintptr_t failures = 0;
    tkt_alloc_fail(1000, CALLS_PER_THREAD);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count_failures, &ready);
    for (int i = 0; i < 2; i++) {
        void *seen;
        pthread_join(threads[i], &seen);
        failures += (uintptr_t)seen;
    }
    tkt_alloc_fail(0, 0);
    assert_int_equal(failures, CALLS_PER_THREAD);
}

TEST_MAIN(NULL, NULL)
