/* The launches of what graphs launch on the device: the last node of the same graph that began
 * before, in whatever order they arrive. */
#include "support/test.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "trace/devices.h"

#include <stdlib.h>

enum {
    GRAPHS = 5,
    LAUNCHES = 200,
    BODIES = 4, /* of each launch */
    ALL = GRAPHS * LAUNCHES * (BODIES + 2)
};

/* A launch of graph g has a node at its begin, bodies, and a node at its end; launches of one graph
 * follow each other, those of several graphs overlap. */
static size_t make_activities(tkt_stored_activity *out, uint32_t *launch_of)
{
    size_t count = 0;
    for (uint32_t graph = 1; graph <= GRAPHS; graph++)
        for (uint32_t launch = 0; launch < LAUNCHES; launch++)
            for (uint32_t i = 0; i < BODIES + 2; i++) {
                bool is_body = i != 0 && i != BODIES + 1;
                uint32_t correlation = launch * GRAPHS + graph;
                uint64_t begin = 1000 + graph * 7 + launch * 1000 + i * 100;
                launch_of[count] = correlation;
                out[count++] = (tkt_stored_activity){.begin = begin,
                                                     .end = begin + 50,
                                                     .graph = graph,
                                                     .correlation = is_body ? 0 : correlation};
            }
    return count;
}

static void shuffle(tkt_stored_activity *activities, uint32_t *launch_of, size_t count)
{
    for (size_t i = count - 1; i > 0; i--) {
        size_t other = (size_t)rand() % (i + 1);
        tkt_stored_activity activity = activities[i];
        uint32_t launch = launch_of[i];
        activities[i] = activities[other];
        launch_of[i] = launch_of[other];
        activities[other] = activity;
        launch_of[other] = launch;
    }
}

static uint32_t launch_at(const tkt_bodies *bodies, uint32_t graph, uint64_t begin)
{
    tkt_stored_activity body = {.begin = begin, .end = begin + 1, .graph = graph};
    tkt_bodies_own(bodies, &body);
    assert_int_equal(body.graph, graph);
    return body.correlation;
}

static void add(tkt_store *store, uint32_t graph, uint32_t correlation, uint64_t begin)
{
    const tkt_stored_activity node = {
        .begin = begin, .end = begin + 1, .graph = graph, .correlation = correlation};
    assert_true(tkt_store_add(store, &node));
}

typedef struct settled_bodies {
    size_t count;
    uint32_t correlations[8]; /* of the first */
} settled_bodies;

static void note_settled(void *user, const tkt_stored_activity *body)
{
    settled_bodies *settled = user;
    if (settled->count < 8)
        settled->correlations[settled->count] = body->correlation;
    settled->count++;
}

typedef struct world {
    tkt_store store;
    tkt_bodies bodies;
    settled_bodies settled;
    uint64_t position; /* up to which the bodies know the store */
} world;

static void begin(world *w)
{
    *w = (world){0};
    assert_int_equal(tkt_store_init(&w->store), TAKT_OK);
}

static void end(world *w)
{
    tkt_bodies_fini(&w->bodies);
    tkt_store_fini(&w->store);
}

static void note(world *w)
{
    tkt_bodies_note(&w->bodies, &w->store, w->position);
    w->position = w->store.next_sequence;
}

static void settle(world *w, bool is_all)
{
    tkt_bodies_settle(&w->bodies, is_all, note_settled, &w->settled);
}

TEST(a_body_belongs_to_the_launch_whose_node_began_last_before_it)
{
    static tkt_stored_activity activities[ALL];
    static uint32_t launch_of[ALL];
    world w;
    size_t count = make_activities(activities, launch_of), found = 0;
    shuffle(activities, launch_of, count);
    begin(&w);
    for (size_t i = 0; i < count / 2; i++)
        assert_true(tkt_store_add(&w.store, &activities[i]));
    assert_true(w.store.bodies > 0 && w.store.has_nodes);
    note(&w);
    for (size_t i = count / 2; i < count; i++)
        assert_true(tkt_store_add(&w.store, &activities[i]));
    note(&w);
    for (size_t i = 0; i < count; i++) {
        if (!tkt_is_body(&activities[i]))
            continue;
        assert_int_equal(launch_at(&w.bodies, activities[i].graph, activities[i].begin),
                         launch_of[i]);
        found++;
    }
    assert_int_equal(found, GRAPHS * LAUNCHES * BODIES);
    end(&w);
}

TEST(nodes_may_arrive_in_reverse_order)
{
    enum {
        MANY = 1000
    };
    world w;
    begin(&w);
    for (uint32_t i = MANY; i >= 1; i--) {
        add(&w.store, 1 + i % 2, i, i * 100 + 20); /* two graphs take turns, each with two nodes */
        add(&w.store, 1 + i % 2, i, i * 100);
    }
    note(&w);
    for (uint32_t i = 1; i <= MANY; i++)
        assert_int_equal(launch_at(&w.bodies, 1 + i % 2, i * 100 + 10), i);
    end(&w);
}

/* Nodes of one launch may arrive one behind the other, the later one first. */
TEST(the_earliest_node_of_a_launch_counts)
{
    world w;
    begin(&w);
    add(&w.store, 1, 5, 100);
    add(&w.store, 1, 6, 300);
    add(&w.store, 1, 6, 200);
    note(&w);
    assert_int_equal(launch_at(&w.bodies, 1, 150), 5);
    assert_int_equal(launch_at(&w.bodies, 1, 250), 6);
    assert_int_equal(launch_at(&w.bodies, 1, 350), 6);
    assert_int_equal(launch_at(&w.bodies, 1, 50), 0);
    assert_int_equal(launch_at(&w.bodies, 2, 250), 0);
    end(&w);
}

/* Keeps a body until long after the test, on however slow a machine. */
static void hold(tkt_bodies *bodies, uint32_t graph, uint64_t begin)
{
    const tkt_stored_activity body = {.begin = begin, .end = begin + 10, .graph = graph};
    tkt_bodies_hold(bodies, &body, note_settled, NULL);
    bodies->held.items[bodies->held.count - 1].since_ns = UINT64_MAX / 2;
}

/* Their nodes may arrive later. */
TEST(held_bodies_wait_for_their_nodes)
{
    world w;
    begin(&w);
    add(&w.store, 1, 5, 100);
    note(&w);
    hold(&w.bodies, 1, 250);
    settle(&w, false);
    assert_int_equal(w.settled.count, 0);
    add(&w.store, 1, 6, 200);
    note(&w);
    w.bodies.held.items[0].since_ns = 0; /* long ago */
    hold(&w.bodies, 1, 250);
    settle(&w, false);
    assert_int_equal(w.settled.count, 1);
    assert_int_equal(w.settled.correlations[0], 6);
    settle(&w, true);
    assert_int_equal(w.settled.count, 2);
    assert_int_equal(w.bodies.held.count, 0);
    end(&w);
}

static uint64_t minute_ns(void)
{
    return UINT64_C(60000000000);
}

/* A host that launches ahead: the node's buffer comes back later than the body's. */
TEST(bodies_after_the_latest_launch_are_held_for_longer)
{
    world w;
    tkt_clock_fake(minute_ns);
    begin(&w);
    add(&w.store, 1, 5, 100);
    note(&w);
    hold(&w.bodies, 1, 250);
    w.bodies.held.items[0].since_ns = minute_ns() - UINT64_C(2000000000);
    settle(&w, false);
    assert_int_equal(w.settled.count, 0);
    add(&w.store, 1, 6, 200);
    add(&w.store, 1, 7, 300);
    note(&w);
    settle(&w, false);
    assert_int_equal(w.settled.count, 1);
    assert_int_equal(w.settled.correlations[0], 6);
    tkt_clock_fake(NULL);
    end(&w);
}

TEST(bodies_of_launches_without_memory_have_none)
{
    enum {
        MANY = 2000
    };
    world w;
    begin(&w);
    for (uint32_t i = 1; i <= MANY; i++) {
        add(&w.store, 1, i, i * 1000);
        tkt_alloc_fail(0, i > MANY / 2 ? UINT64_MAX : 0);
        note(&w);
        tkt_alloc_fail(0, 0);
    }
    uint32_t without = 0;
    for (uint32_t i = 1; i <= MANY; i++) {
        uint32_t launch = launch_at(&w.bodies, 1, i * 1000 + 500);
        assert_true(launch == 0 || launch == i);
        without += launch == 0;
    }
    assert_true(without > 0);
    end(&w);
}

/* Graph 2 is launched once; then graph 1 all the time, for ten seconds, 20,000 times a second. */
TEST(launches_are_forgotten_that_no_body_needs)
{
    enum {
        MANY = 200000,
        EVERY_NS = 50000
    };
    world w;
    begin(&w);
    add(&w.store, 2, MANY + 1, 50);
    hold(&w.bodies, 1, 10 * EVERY_NS + 20);
    for (uint32_t i = 1; i <= MANY; i++) {
        add(&w.store, 1, i, (uint64_t)i * EVERY_NS);
        if (i % 5000)
            continue;
        if (i == MANY / 2) {
            assert_int_equal(launch_at(&w.bodies, 1, 11 * EVERY_NS), 11); /* after a held one */
            settle(&w, true);
        }
        note(&w);
        settle(&w, false);
    }
    assert_int_equal(w.settled.count, 1);
    assert_int_equal(w.settled.correlations[0], 10);
    assert_int_equal(launch_at(&w.bodies, 1, 11 * EVERY_NS), 0);
    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(launch_at(&w.bodies, 1, (uint64_t)(MANY - i) * EVERY_NS + 1), MANY - i);
    assert_int_equal(launch_at(&w.bodies, 2, UINT64_MAX), MANY + 1);
    assert_true(w.bodies.bytes < (size_t)2 << 20);
    end(&w);
}

TEST(of_graphs_without_end_those_with_held_bodies_stay)
{
    enum {
        MANY_GRAPHS = 100000,
        EVERY_NS = 1000000
    };
    world w;
    begin(&w);
    hold(&w.bodies, 3, 100 * (uint64_t)EVERY_NS);
    for (uint32_t i = 1; i <= MANY_GRAPHS; i++) {
        add(&w.store, i, i, (uint64_t)i * EVERY_NS);
        if (i == MANY_GRAPHS / 2) {
            assert_int_equal(launch_at(&w.bodies, 3, UINT64_MAX), 3);
            settle(&w, true);
        }
        if (i % 1000)
            continue;
        note(&w);
        settle(&w, false);
    }
    assert_int_equal(w.settled.correlations[0], 3);
    assert_int_equal(launch_at(&w.bodies, 4, UINT64_MAX), 0);
    assert_int_equal(launch_at(&w.bodies, MANY_GRAPHS - 900, UINT64_MAX), MANY_GRAPHS - 900);
    assert_true(w.bodies.graphs.count < 10000);
    end(&w);
}

TEST(of_too_many_held_bodies_the_oldest_are_settled)
{
    world w;
    begin(&w);
    add(&w.store, 1, 5, 100);
    note(&w);
    size_t held = 0;
    while (!w.settled.count && held < 1000000) {
        const tkt_stored_activity body = {.begin = 200 + held++, .end = 1000000, .graph = 1};
        tkt_bodies_hold(&w.bodies, &body, note_settled, &w.settled);
        w.bodies.held.items[w.bodies.held.count - 1].since_ns = UINT64_MAX / 2;
    }
    assert_int_equal(w.settled.count + w.bodies.held.count, held);
    assert_true(w.bodies.held.count > 10000);
    assert_int_equal(w.settled.correlations[0], 5);
    assert_int_equal(w.bodies.held.items[w.bodies.held.count - 1].activity.begin, 200 + held - 1);
    end(&w);
}

TEST_MAIN(NULL, NULL)
