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

TEST(a_body_belongs_to_the_launch_whose_node_began_last_before_it)
{
    static tkt_stored_activity activities[ALL];
    static uint32_t launch_of[ALL];
    tkt_store store;
    tkt_bodies bodies = {0};
    size_t count = make_activities(activities, launch_of), found = 0, sure = 0;
    shuffle(activities, launch_of, count);
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    for (size_t i = 0; i < count / 2; i++)
        assert_true(tkt_store_add(&store, &activities[i]));
    assert_true(store.has_bodies);
    tkt_bodies_note(&bodies, &store, 0, SIZE_MAX);
    for (size_t i = count / 2; i < count; i++)
        assert_true(tkt_store_add(&store, &activities[i]));
    tkt_bodies_note(&bodies, &store, count / 2, SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        tkt_stored_activity body = activities[i];
        if (!tkt_is_body(&body))
            continue;
        sure += tkt_bodies_own(&bodies, &body);
        assert_int_equal(body.correlation, launch_of[i]);
        assert_int_equal(body.graph, 0);
        found++;
    }
    assert_int_equal(found, GRAPHS * LAUNCHES * BODIES);
    assert_int_equal(sure, found); /* each launch has a node after its bodies */
    TKT_ARRAY_FREE(&bodies.nodes);
    tkt_store_fini(&store);
}

TEST(a_body_before_all_nodes_or_of_another_graph_stays_as_it_is)
{
    tkt_store store;
    tkt_bodies bodies = {0};
    const tkt_stored_activity node = {.begin = 500, .end = 600, .graph = 1, .correlation = 7};
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    assert_true(tkt_store_add(&store, &node));
    tkt_bodies_note(&bodies, &store, 0, SIZE_MAX);
    tkt_stored_activity early = {.begin = 400, .end = 450, .graph = 1};
    assert_true(tkt_bodies_own(&bodies, &early)); /* a later node of its graph is known */
    assert_int_equal(early.correlation, 0);
    assert_int_equal(early.graph, 1);
    tkt_stored_activity other = {.begin = 700, .end = 750, .graph = 2};
    assert_false(tkt_bodies_own(&bodies, &other));
    assert_int_equal(other.correlation, 0);
    tkt_stored_activity last = {.begin = 700, .end = 750, .graph = 1};
    assert_false(tkt_bodies_own(&bodies, &last)); /* a nearer node may still arrive */
    assert_int_equal(last.correlation, 7);
    TKT_ARRAY_FREE(&bodies.nodes);
    tkt_store_fini(&store);
}

TEST(the_oldest_nodes_are_forgotten)
{
    tkt_store store;
    tkt_bodies bodies = {0};
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    for (uint32_t i = 1; i <= 100; i++) {
        const tkt_stored_activity node = {
            .begin = i * 100, .end = i * 100 + 1, .graph = 1, .correlation = i};
        assert_true(tkt_store_add(&store, &node));
    }
    tkt_bodies_note(&bodies, &store, 0, 10);
    assert_int_equal(bodies.nodes.count, 10);
    tkt_stored_activity old = {.begin = 9050, .end = 9051, .graph = 1};
    tkt_stored_activity recent = {.begin = 9150, .end = 9151, .graph = 1};
    tkt_bodies_own(&bodies, &old);
    tkt_bodies_own(&bodies, &recent);
    assert_int_equal(old.correlation, 0);
    assert_int_equal(recent.correlation, 91);
    TKT_ARRAY_FREE(&bodies.nodes);
    tkt_store_fini(&store);
}

TEST_MAIN(NULL, NULL)
