/* The launches of what graphs launch on the device: the last node of the same graph that began
 * before, in whatever order they arrive. */
#include "support/test.h"
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

TEST(a_body_belongs_to_the_launch_whose_node_began_last_before_it)
{
    static tkt_stored_activity activities[ALL];
    static uint32_t launch_of[ALL];
    tkt_store store;
    tkt_bodies bodies = {0};
    size_t count = make_activities(activities, launch_of), found = 0;
    shuffle(activities, launch_of, count);
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    for (size_t i = 0; i < count / 2; i++)
        assert_true(tkt_store_add(&store, &activities[i]));
    assert_true(store.has_bodies && store.has_nodes);
    tkt_bodies_note(&bodies, &store, 0, SIZE_MAX);
    for (size_t i = count / 2; i < count; i++)
        assert_true(tkt_store_add(&store, &activities[i]));
    tkt_bodies_note(&bodies, &store, count / 2, SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!tkt_is_body(&activities[i]))
            continue;
        assert_int_equal(launch_at(&bodies, activities[i].graph, activities[i].begin),
                         launch_of[i]);
        found++;
    }
    assert_int_equal(found, GRAPHS * LAUNCHES * BODIES);
    tkt_bodies_fini(&bodies);
    tkt_store_fini(&store);
}

/* Nodes of one launch may arrive one behind the other, the later one first. */
TEST(the_earliest_node_of_a_launch_counts)
{
    tkt_store store;
    tkt_bodies bodies = {0};
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    add(&store, 1, 5, 100);
    add(&store, 1, 6, 300);
    add(&store, 1, 6, 200);
    tkt_bodies_note(&bodies, &store, 0, SIZE_MAX);
    assert_int_equal(launch_at(&bodies, 1, 150), 5);
    assert_int_equal(launch_at(&bodies, 1, 250), 6);
    assert_int_equal(launch_at(&bodies, 1, 350), 6);
    assert_int_equal(launch_at(&bodies, 1, 50), 0);
    assert_int_equal(launch_at(&bodies, 2, 250), 0);
    tkt_bodies_fini(&bodies);
    tkt_store_fini(&store);
}

/* However busy other graphs are. */
TEST(the_older_half_of_a_graphs_launches_is_forgotten)
{
    tkt_store store;
    tkt_bodies bodies = {0};
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    add(&store, 2, 1000, 50);
    for (uint32_t i = 1; i <= 16; i++)
        add(&store, 1, i, i * 100);
    tkt_bodies_note(&bodies, &store, 0, 10);
    assert_int_equal(launch_at(&bodies, 1, 550), 0);
    for (uint32_t i = 11; i <= 16; i++)
        assert_int_equal(launch_at(&bodies, 1, i * 100 + 50), i);
    assert_int_equal(launch_at(&bodies, 2, 5000), 1000);
    tkt_bodies_fini(&bodies);
    tkt_store_fini(&store);
}

typedef struct settled_bodies {
    size_t count;
    uint32_t correlations[8];
} settled_bodies;

static void note_settled(void *user, const tkt_stored_activity *body)
{
    settled_bodies *settled = user;
    settled->correlations[settled->count++] = body->correlation;
}

/* Their nodes may arrive later. */
TEST(held_bodies_wait_for_their_nodes)
{
    tkt_store store;
    tkt_bodies bodies = {0};
    settled_bodies settled = {0};
    const tkt_stored_activity body = {.begin = 250, .end = 260, .graph = 1};
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    add(&store, 1, 5, 100);
    tkt_bodies_note(&bodies, &store, 0, SIZE_MAX);
    assert_true(tkt_bodies_hold(&bodies, &body));
    bodies.held.items[0].since_ns = UINT64_MAX / 2; /* just now, on however slow a machine */
    tkt_bodies_settle(&bodies, false, note_settled, &settled);
    assert_int_equal(settled.count, 0);
    add(&store, 1, 6, 200);
    tkt_bodies_note(&bodies, &store, 1, SIZE_MAX);
    bodies.held.items[0].since_ns = 0; /* long ago */
    assert_true(tkt_bodies_hold(&bodies, &body));
    bodies.held.items[1].since_ns = UINT64_MAX / 2;
    tkt_bodies_settle(&bodies, false, note_settled, &settled);
    assert_int_equal(settled.count, 1);
    assert_int_equal(settled.correlations[0], 6);
    tkt_bodies_settle(&bodies, true, note_settled, &settled);
    assert_int_equal(settled.count, 2);
    assert_int_equal(bodies.held.count, 0);
    tkt_bodies_fini(&bodies);
    tkt_store_fini(&store);
}

TEST_MAIN(NULL, NULL)
