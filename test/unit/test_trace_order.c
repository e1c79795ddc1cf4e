/* Ordering against a sort that is slow and plain. */
#include "trace/order.h"

#include "base/alloc.h"
#include "base/containers.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS 300u

typedef struct item {
    uint64_t time_ns;
    uint32_t group;
    uint32_t number; /* place before */
    char text[40];
} item;

typedef struct list {
    item items[ITEMS];
    size_t count;
} list;

/* A fixed sequence (Marsaglia's xorshift), so that a failure can be repeated. */
static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (uint32_t)(*seed >> 32) % limit;
}

static void add(list *to, uint64_t time_ns, uint32_t group)
{
    uint32_t number = (uint32_t)to->count++;
    to->items[number] = (item){.time_ns = time_ns, .group = group, .number = number};
    memset(to->items[number].text, (int)(number % 127), sizeof to->items[number].text);
}

static void swap_down(item *items, size_t at)
{
    for (; at > 0; at--) {
        item *before = &items[at - 1], *after = &items[at], held = *after;
        if (before->time_ns < after->time_ns ||
            (before->time_ns == after->time_ns && before->group <= after->group))
            return;
        *after = *before;
        *before = held;
    }
}

static void check(const list *from)
{
    list expected = *from, actual = *from;
    for (size_t i = 0; i < expected.count; i++)
        swap_down(expected.items, i);
    const tkt_order_items items = {actual.items, actual.count, sizeof(item), offsetof(item, group)};
    assert_int_equal(tkt_order_by_time(&items), TAKT_OK);
    assert_memory_equal(actual.items, expected.items, expected.count * sizeof(item));
}

TEST(any_order_becomes_that_of_times_and_groups)
{
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 2000; round++) {
        list random = {.count = 0};
        uint32_t count = random_below(&seed, ITEMS), times = 1 + random_below(&seed, 100);
        while (random.count < count)
            add(&random, random_below(&seed, times), random_below(&seed, 3));
        check(&random);
    }
}

/* As streams finish: times go up, but for a few places. */
TEST(small_disorder_is_put_right)
{
    uint64_t seed = 362436069u;
    for (uint32_t reach = 1; reach < 60; reach++) {
        list late = {.count = 0};
        for (uint32_t i = 0; i < ITEMS; i++)
            add(&late, i + random_below(&seed, reach), i % 2);
        check(&late);
    }
}

/* Activities of streams that lag behind each other; far apart, close together, or in bursts. */
TEST(activities_are_visited_by_begin)
{
    uint64_t seed = 521288629u;
    for (uint32_t round = 0; round < 300; round++) {
        takt_trace *trace;
        const uint32_t *places;
        uint32_t distance = 1 + random_below(&seed, 1000), reach = 1 + random_below(&seed, 20000);
        uint32_t burst = round % 3 == 0 ? 200 : 1;
        bool seen[ITEMS] = {false};
        assert_int_equal(tkt_trace_create(&trace), TAKT_OK);
        for (uint32_t i = 0; i < ITEMS; i++)
            *TKT_ARRAY_ADD(&trace->activities) =
                (tkt_activity){.begin_ns = (uint64_t)(i / burst) * burst * distance * 100 +
                                           random_below(&seed, reach),
                               .span = TKT_NO_SPAN};
        assert_int_equal(tkt_trace_begins(trace, &places), TAKT_OK);
        for (uint32_t i = 0, before = 0; i < ITEMS; before = places ? places[i] : i, i++) {
            uint32_t place = places ? places[i] : i;
            uint64_t ns = trace->activities.items[place].begin_ns;
            assert_false(seen[place]);
            seen[place] = true;
            if (i > 0) {
                uint64_t before_ns = trace->activities.items[before].begin_ns;
                assert_true(before_ns < ns || (before_ns == ns && before < place));
            }
        }
        takt_trace_release(trace);
    }
}

TEST(runs_that_touch_or_contain_each_other_are_merged)
{
    static const uint64_t cases[][8] = {
        {1, 2, 3, 4, 3, 4, 5, 6}, {5, 6, 7, 8, 1, 2, 3, 4}, {1, 2, 7, 8, 3, 4, 5, 6},
        {3, 4, 5, 6, 1, 2, 7, 8}, {4, 4, 4, 4, 3, 4, 4, 5}, {8, 7, 6, 5, 4, 3, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        list some = {.count = 0};
        for (size_t j = 0; j < 8; j++)
            add(&some, cases[i][j], 0);
        check(&some);
    }
}

TEST(what_is_in_order_needs_no_places)
{
    uint64_t times[] = {1, 2, 2, UINT64_MAX};
    uint32_t *places = (uint32_t *)times;
    assert_int_equal(tkt_order_find(&(tkt_order_items){times, 4, sizeof *times, 0}, &places),
                     TAKT_OK);
    assert_null(places);
    assert_int_equal(tkt_order_find(&(tkt_order_items){times, 0, sizeof *times, 0}, &places),
                     TAKT_OK);
    assert_null(places);
}

TEST(without_memory_items_stay)
{
    uint64_t times[] = {3, 1, 2, 0};
    const uint64_t before[] = {3, 1, 2, 0};
    const tkt_order_items items = {times, 4, sizeof *times, 0};
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        assert_memory_equal(times, before, sizeof before);
        tkt_alloc_fail(after, UINT64_MAX);
        status = tkt_order_by_time(&items);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
    }
    const uint64_t ordered[] = {0, 1, 2, 3};
    assert_memory_equal(times, ordered, sizeof ordered);
}

TEST_MAIN(NULL, NULL)
