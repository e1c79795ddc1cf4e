/* The folded form: stats, nodes, self times, the bound on nodes, merging, running out of memory. */

#include "record/fold.h"
#include "support/test.h"
#include "support/merge_folds.h"

#include <math.h>

static void assert_near(double a, double b, double epsilon)
{
    assert_true(fabs(a - b) <= epsilon);
}

TEST(stats_agree_with_sums)
{
    const uint64_t durations[] = {5, 100, 7, 1000000, 42};
    tkt_stats stats;
    tkt_stats_init(&stats);
    assert_int_equal(stats.min_ns, UINT64_MAX);
    assert_true(tkt_stats_mean(&stats) == 0);
    double sum = 0;
    for (size_t i = 0; i < 5; i++) {
        tkt_stats_add(&stats, durations[i]);
        sum += (double)durations[i];
    }
    double squares = 0;
    for (size_t i = 0; i < 5; i++)
        squares += ((double)durations[i] - sum / 5) * ((double)durations[i] - sum / 5);
    assert_int_equal(stats.count, 5);
    assert_int_equal(stats.total_ns, 1000154);
    assert_int_equal(stats.min_ns, 5);
    assert_int_equal(stats.max_ns, 1000000);
    assert_int_equal(stats.self_ns, 0);
    assert_near(tkt_stats_mean(&stats), sum / 5, 1e-9);
    assert_near(tkt_stats_stddev(&stats), sqrt(squares / 4), 1e-3);
}

TEST(stddev_of_one_or_of_equals_is_zero)
{
    tkt_stats stats;
    tkt_stats_init(&stats);
    tkt_stats_add(&stats, 123456789);
    assert_true(tkt_stats_stddev(&stats) == 0);
    for (int i = 0; i < 1000; i++)
        tkt_stats_add(&stats, 123456789);
    assert_true(tkt_stats_stddev(&stats) < 10);
}

/* Against the sorted values: the extremes exactly, what is between them within 1/32. */
TEST(quantiles_are_near_those_of_a_sort)
{
    for (uint64_t count = 1; count < 200; count++) {
        tkt_stats stats;
        tkt_histogram histogram = {{0}};
        tkt_stats_init(&stats);
        assert_int_equal(tkt_stats_quantile(&stats, &histogram, 0.5), 0);
        for (uint64_t i = 0; i < count; i++) { /* ascending: 1001, 1038, ... */
            tkt_stats_add(&stats, 1001 + 37 * i);
            tkt_histogram_add(&histogram, 1, 1001 + 37 * i);
        }
        for (uint64_t percent = 0; percent <= 100; percent++) {
            uint64_t rank = percent * count < 100 ? 1 : (percent * count + 99) / 100;
            double exact = 1001 + 37 * (double)(rank - 1);
            double found = (double)tkt_stats_quantile(&stats, &histogram, (double)percent / 100);
            bool is_extreme = rank == 1 || rank == count;
            assert_near(found, exact, is_extreme ? 0 : exact / 32);
            assert_true(found >= 1001 && found <= 1001 + 37 * (double)(count - 1));
        }
    }
}

TEST(two_durations_need_no_histogram)
{
    tkt_stats stats;
    tkt_histogram all = {{0}}, expected = {{0}};
    tkt_stats_init(&stats);
    assert_int_equal(tkt_stats_quantile(&stats, NULL, 0.5), 0);
    tkt_histogram_add_stats(&all, 0, &stats, NULL);
    assert_int_equal(tkt_histogram_count(&all), 0);
    tkt_stats_add(&stats, 900);
    assert_int_equal(tkt_stats_quantile(&stats, NULL, 0.5), 900);
    tkt_stats_add(&stats, 500);
    assert_int_equal(tkt_stats_quantile(&stats, NULL, 0.5), 500);
    assert_int_equal(tkt_stats_quantile(&stats, NULL, 0.99), 900);
    assert_int_equal(tkt_stats_median(&stats, NULL), 700);
    tkt_histogram_add_stats(&all, 0, &stats, NULL);
    tkt_histogram_add(&expected, 1, 500);
    tkt_histogram_add(&expected, 1, 900);
    assert_memory_equal(&all, &expected, sizeof all);
    tkt_stats_add(&stats, 700);
    assert_int_equal(tkt_stats_quantile(&stats, NULL, 0.5), TKT_NO_QUANTILE);
    assert_int_equal(tkt_stats_quantile(&stats, NULL, 0), 500);
}

TEST(a_median_between_two_is_rounded_to_nearest)
{
    tkt_stats stats;
    tkt_stats_init(&stats);
    tkt_stats_add(&stats, 13);
    tkt_stats_add(&stats, 10);
    assert_int_equal(tkt_stats_median(&stats, NULL), 12); /* of 11.5 */
}

TEST(merged_stats_are_those_of_all)
{
    tkt_stats a;
    tkt_stats b;
    tkt_stats all;
    tkt_stats_init(&a);
    tkt_stats_init(&b);
    tkt_stats_init(&all);
    for (uint64_t i = 1; i < 50; i++) {
        tkt_stats_add(i % 3 ? &a : &b, i * i);
        tkt_stats_add(&all, i * i);
    }
    tkt_stats_merge(&a, &b);
    assert_int_equal(a.count, all.count);
    assert_int_equal(a.total_ns, all.total_ns);
    assert_int_equal(a.min_ns, all.min_ns);
    assert_int_equal(a.max_ns, all.max_ns);
    assert_true(a.sum_squares == all.sum_squares);
}

TEST(equal_paths_share_a_node)
{
    tkt_fold fold;
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    assert_int_equal(fold.count, 1);
    uint32_t a = tkt_fold_child(&fold, 0, 3);
    uint32_t b = tkt_fold_child(&fold, 0, 4);
    uint32_t under_a = tkt_fold_child(&fold, a, 3);
    assert_int_equal(tkt_fold_child(&fold, 0, 3), a);
    assert_int_equal(tkt_fold_child(&fold, 0, 4), b);
    assert_int_equal(tkt_fold_child(&fold, a, 3), under_a);
    assert_int_equal(tkt_fold_child(&fold, b, 3), 4);
    assert_int_equal(fold.count, 5);
    assert_int_equal(fold.items[under_a].parent, a);
    assert_int_equal(fold.items[under_a].site, 3);
    assert_int_equal(fold.items[a].first_child, under_a);
    assert_int_equal(tkt_fold_child(&fold, TKT_NO_NODE, 3), TKT_NO_NODE);
    tkt_fold_fini(&fold);
}

/* In long runs of the same order and in disorder, against a table of parent and site. */
TEST(children_are_found_in_any_order)
{
    enum {
        PARENTS = 5,
        SITES = 9,
        LOOKUPS = 20000
    };
    uint32_t expected[PARENTS][SITES] = {{0}};
    uint32_t random = 1;
    tkt_fold fold;
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    for (uint32_t i = 1; i < PARENTS; i++)
        assert_int_equal(tkt_fold_child(&fold, 0, 100 + i), i);
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        random = random * 1664525u + 1013904223u;
        bool in_order = i / 1000 % 2 == 0;
        uint32_t parent = in_order ? i / 64 % PARENTS : random >> 8 & 3u;
        uint32_t site = (in_order ? i : random >> 16) % SITES;
        uint32_t node = tkt_fold_child(&fold, parent, site + 1);
        assert_int_equal(fold.items[node].site, site + 1);
        assert_int_equal(fold.items[node].parent, parent);
        if (expected[parent][site] == 0)
            expected[parent][site] = node;
        assert_int_equal(node, expected[parent][site]);
    }
    assert_int_equal(fold.count, PARENTS + PARENTS * SITES);
    tkt_fold_fini(&fold);
}

/* The children are added before their parent and after it. */
TEST(self_is_total_less_direct_children)
{
    tkt_fold fold;
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    uint32_t step = tkt_fold_child(&fold, 0, 1);
    uint32_t solve = tkt_fold_child(&fold, step, 2);
    uint32_t inner = tkt_fold_child(&fold, solve, 3);
    tkt_fold_add(&fold, inner, 30);
    tkt_fold_add(&fold, solve, 60);
    tkt_fold_add(&fold, step, 100);
    tkt_fold_add(&fold, solve, 10);
    tkt_fold_add(&fold, inner, 5);
    tkt_fold_find_self(&fold);
    assert_int_equal(fold.items[step].stats.self_ns, 100 - 70);
    assert_int_equal(fold.items[solve].stats.self_ns, 70 - 35);
    assert_int_equal(fold.items[inner].stats.self_ns, 35);
    assert_int_equal(fold.items[0].stats.count, 0);
    assert_int_equal(fold.items[0].stats.self_ns, 0);
    assert_null(fold.items[inner].histogram); /* the extremes tell all */
    tkt_fold_add(&fold, TKT_NO_NODE, 5);
    tkt_fold_fini(&fold);
}

/* Sums of self times of all nodes, and of totals of nodes below the root. */
static void sum_times(tkt_fold *fold, uint64_t *self_ns, uint64_t *top_ns)
{
    tkt_fold_find_self(fold);
    *self_ns = *top_ns = 0;
    for (size_t i = 1; i < fold->count; i++) {
        *self_ns += fold->items[i].stats.self_ns;
        if (fold->items[i].parent == 0)
            *top_ns += fold->items[i].stats.total_ns;
    }
}

static void fill_up(tkt_fold *fold)
{
    for (uint32_t site = 1; fold->count < TKT_FOLD_MAX_NODES; site++)
        tkt_fold_add(fold, tkt_fold_child(fold, 0, site), 1);
}

TEST(paths_beyond_the_limit_go_to_others)
{
    tkt_fold fold;
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    fill_up(&fold);
    assert_int_equal(fold.other_count, 0);

    uint32_t other = tkt_fold_child(&fold, 0, 1000000);
    assert_int_equal(fold.items[other].site, TKT_SITE_OTHER);
    assert_int_equal(tkt_fold_child(&fold, 0, 2000000), other);
    uint32_t below = tkt_fold_child(&fold, other, 1000001);
    assert_int_equal(fold.items[below].parent, other);
    assert_int_not_equal(below, other);
    assert_int_equal(tkt_fold_child(&fold, 0, 5), 5);

    tkt_fold_add(&fold, below, 40);
    tkt_fold_add(&fold, other, 100);
    tkt_fold_find_self(&fold);
    tkt_fold_find_others(&fold);
    assert_int_equal(fold.other_count, 2); /* calls: paths were looked up more often */
    assert_int_equal(fold.items[other].stats.self_ns, 60);
    tkt_fold_fini(&fold);
}

TEST(others_are_bounded_too)
{
    tkt_fold fold;
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    fill_up(&fold);
    uint32_t node = 1;
    for (uint32_t i = 0; node != TKT_NO_NODE; i++) {
        assert_true(i <= TKT_FOLD_MAX_NODES);
        node = tkt_fold_child(&fold, node, 1000000 + i);
    }
    assert_int_equal(fold.count, 2 * TKT_FOLD_MAX_NODES);
    assert_int_equal(fold.lost_count, 0);
    tkt_fold_fini(&fold);
}

/* Two trees that overlap in part; what is merged equals what is folded at once. */
static void fold_some(tkt_fold *fold, uint32_t from, uint32_t to, uint32_t shift)
{
    for (uint32_t i = from; i < to; i++) {
        uint32_t a = tkt_fold_child(fold, 0, 1 + shift + i % 3);
        uint32_t b = tkt_fold_child(fold, a, 1 + shift + i % 5);
        tkt_fold_add(fold, b, i * 10);
        tkt_fold_add(fold, a, i * 13 + 1);
        fold->items[b].flops += i;
        fold->items[b].bytes += 2 * i;
        fold->items[b].errors += i % 2;
    }
}

static void assert_same_node(const tkt_node *a, const tkt_node *b)
{
    assert_int_equal(a->stats.count, b->stats.count);
    assert_int_equal(a->stats.total_ns, b->stats.total_ns);
    assert_int_equal(a->stats.self_ns, b->stats.self_ns);
    assert_int_equal(a->stats.min_ns, b->stats.min_ns);
    assert_int_equal(a->stats.max_ns, b->stats.max_ns);
    assert_true(a->stats.sum_squares == b->stats.sum_squares);
    assert_true(a->flops == b->flops && a->bytes == b->bytes);
    assert_int_equal(a->errors, b->errors);
    assert_memory_equal(a->histogram, b->histogram, sizeof *a->histogram);
}

TEST(merging_equals_folding_at_once)
{
    uint32_t sites[16] = {0};
    for (uint32_t i = 1; i < 6; i++)
        sites[i + 4] = i; /* sites of the second tree are 4 greater */
    tkt_fold at_once;
    tkt_fold first;
    tkt_fold second;
    assert_int_equal(tkt_fold_init(&at_once), TAKT_OK);
    assert_int_equal(tkt_fold_init(&first), TAKT_OK);
    assert_int_equal(tkt_fold_init(&second), TAKT_OK);
    fold_some(&at_once, 1, 100, 0);
    fold_some(&first, 1, 4, 0);
    fold_some(&second, 4, 100, 4);
    assert_int_equal(merge_folds(&first, &second, sites), TAKT_OK);
    tkt_fold_find_self(&first);
    tkt_fold_find_self(&at_once);
    assert_int_equal(first.count, at_once.count);
    for (uint32_t i = 1; i < at_once.count; i++) {
        const tkt_node *node = &at_once.items[i];
        const tkt_node *parent = &at_once.items[node->parent];
        uint32_t same = node->parent ? tkt_fold_child(&first, 0, parent->site) : 0;
        same = tkt_fold_child(&first, same, node->site);
        assert_same_node(&first.items[same], node);
    }
    assert_int_equal(first.count, at_once.count);
    tkt_fold_fini(&at_once);
    tkt_fold_fini(&first);
    tkt_fold_fini(&second);
}

TEST(merging_into_a_full_tree_keeps_all_time)
{
    tkt_fold full;
    tkt_fold more;
    assert_int_equal(tkt_fold_init(&full), TAKT_OK);
    assert_int_equal(tkt_fold_init(&more), TAKT_OK);
    fill_up(&full);
    uint32_t a = tkt_fold_child(&more, 0, 2000000);
    uint32_t b = tkt_fold_child(&more, a, 2000001);
    tkt_fold_add(&more, b, 70);
    tkt_fold_add(&more, a, 100);
    uint64_t self_ns;
    uint64_t top_ns;
    sum_times(&full, &self_ns, &top_ns);
    uint64_t before = top_ns;
    assert_int_equal(merge_folds(&full, &more, NULL), TAKT_OK);
    sum_times(&full, &self_ns, &top_ns);
    assert_int_equal(top_ns, before + 100);
    assert_int_equal(self_ns, top_ns);

    while (full.count < 2 * TKT_FOLD_MAX_NODES)
        tkt_fold_child(&full, (uint32_t)full.count - 1, 3000000);
    uint32_t known = tkt_fold_child(&more, 0, 1);
    tkt_fold_add(&more, tkt_fold_child(&more, known, 2000002), 20);
    tkt_fold_add(&more, known, 50);
    assert_int_equal(merge_folds(&full, &more, NULL), TAKT_OK);
    tkt_fold_find_others(&full);
    assert_int_equal(full.other_count, 2 + 3);
    sum_times(&full, &self_ns, &top_ns);
    assert_int_equal(top_ns, before + 100 + 100 + 50);
    assert_int_equal(self_ns, top_ns);
    tkt_fold_fini(&full);
    tkt_fold_fini(&more);
}

TEST(merging_nothing_changes_nothing)
{
    tkt_fold fold;
    tkt_fold nothing = {0};
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    fold_some(&fold, 0, 10, 0);
    size_t count = fold.count;
    assert_int_equal(merge_folds(&fold, &nothing, NULL), TAKT_OK);
    assert_int_equal(fold.count, count);
    tkt_fold_fini(&nothing);
    tkt_fold_fini(&fold);
}

/* ---- Histograms ------------------------------------------------------------------------------ */

TEST(a_histogram_begins_with_the_third_call)
{
    tkt_fold fold;
    tkt_histogram all = {{0}};
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    tkt_node *node = &fold.items[tkt_fold_child(&fold, 0, 1)];
    for (uint64_t ns = 900; ns > 100; ns -= 100) {
        tkt_fold_add(&fold, 1, ns);
        tkt_histogram_add(&all, 1, ns);
        assert_int_equal(node->histogram != NULL, node->stats.count > 2);
        assert_true(tkt_stats_are_known(&node->stats, node->histogram));
    }
    assert_memory_equal(node->histogram, &all, sizeof all);
    tkt_fold_fini(&fold);
}

/* Up to three calls on each side, in one node and in two that become one. */
/* As if the node had been called so often before. */
TEST(calls_beyond_32_bits_count)
{
    const uint64_t many = (UINT64_C(1) << 32) - 5;
    tkt_fold fold, copy = {0};
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    uint32_t number = tkt_fold_child(&fold, 0, 1);
    for (int i = 0; i < 3; i++)
        tkt_fold_add(&fold, number, 100);
    tkt_node *node = &fold.items[number];
    node->histogram->buckets[tkt_histogram_bucket(100)] = (uint32_t)many;
    node->stats.count = many;
    node->stats.total_ns = many * 100;
    for (int i = 0; i < 15; i++)
        tkt_fold_add(&fold, number, 100);
    assert_int_equal(node->stats.count, many + 15);
    assert_int_equal(node->stats.total_ns, (many + 15) * 100);
    assert_in_range(tkt_histogram_count(node->histogram), many / 2, many / 2 + 15);
    assert_int_equal(tkt_stats_median(&node->stats, node->histogram), 100);
    assert_int_equal(tkt_fold_copy_tree(&copy, &fold), TAKT_OK);
    assert_int_equal(merge_folds(&copy, &fold, NULL), TAKT_OK);
    assert_int_equal(copy.items[number].stats.count, 2 * (many + 15));
    assert_int_equal(copy.items[number].stats.total_ns, 2 * (many + 15) * 100);
    tkt_fold_fini(&copy);
    tkt_fold_fini(&fold);
}

TEST(merging_few_calls_equals_folding_them_at_once)
{
    const uint32_t sites[] = {0, 1, 1};
    for (unsigned i = 0; i < 64; i++) {
        tkt_fold fold, more, at_once;
        assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
        assert_int_equal(tkt_fold_init(&more), TAKT_OK);
        assert_int_equal(tkt_fold_init(&at_once), TAKT_OK);
        unsigned counts[] = {i % 4, i / 4 % 4, i / 16};
        for (unsigned part = 0; part < 3; part++)
            for (unsigned k = 0; k < counts[part]; k++) {
                tkt_fold *to = part ? &more : &fold;
                tkt_fold_add(to, tkt_fold_child(to, 0, part == 2 ? 2 : 1), 100 * part + 7 * k);
                tkt_fold_add(&at_once, tkt_fold_child(&at_once, 0, 1), 100 * part + 7 * k);
            }
        assert_int_equal(merge_folds(&fold, &more, sites), TAKT_OK);
        assert_int_equal(fold.count, at_once.count);
        for (size_t n = 1; n < fold.count; n++) {
            const tkt_node *got = &fold.items[n], *want = &at_once.items[n];
            assert_int_equal(got->stats.count, want->stats.count);
            for (int percent = 0; percent <= 100; percent += 5)
                assert_int_equal(
                    tkt_stats_quantile(&got->stats, got->histogram, percent / 100.0),
                    tkt_stats_quantile(&want->stats, want->histogram, percent / 100.0));
        }
        tkt_fold_fini(&fold);
        tkt_fold_fini(&more);
        tkt_fold_fini(&at_once);
    }
}

/* Calls three times each of `paths` paths. */
static void call_thrice(tkt_fold *fold, uint32_t paths)
{
    for (uint32_t i = 0; i < 3 * paths; i++)
        tkt_fold_add(fold, tkt_fold_child(fold, 0, 1 + i % paths), 1 + i);
}

static unsigned count_histograms(const tkt_fold *fold)
{
    unsigned count = 0;
    for (size_t i = 1; i < fold->count; i++)
        count += fold->items[i].histogram != NULL;
    return count;
}

TEST(logs_share_the_memory_of_their_folds)
{
    const uint64_t most = 1u << 20;
    const unsigned histograms = most / 2 / sizeof(tkt_histogram);
    tkt_fold folds[2];
    tkt_fold_limit(most);
    for (int round = 0; round < 2; round++) { /* what was freed is there again */
        for (int i = 0; i < 2; i++) {
            assert_int_equal(tkt_fold_init(&folds[i]), TAKT_OK);
            folds[i].is_live = true;
            call_thrice(&folds[i], 150);
        }
        assert_int_equal(count_histograms(&folds[0]), 150);
        assert_in_range(count_histograms(&folds[1]), histograms - 150 - 32, histograms - 150);
        assert_int_equal(folds[1].count, 151);
        call_thrice(&folds[1], 20000);
        assert_in_range(folds[1].count, 1000, most / 192);
        tkt_fold_find_others(&folds[1]);
        assert_true(folds[1].other_count > 3 * 10000);
        assert_int_equal(folds[1].lost_count, 0);
        tkt_fold_fini(&folds[0]);
        tkt_fold_fini(&folds[1]);
    }
    tkt_fold_limit(UINT64_C(64) << 20);
}

/* Neither with calls that are known nor with others. */
TEST(without_a_histogram_percentiles_stay_unknown)
{
    tkt_fold fold, more;
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    assert_int_equal(tkt_fold_init(&more), TAKT_OK);
    call_thrice(&more, 1);
    uint32_t node = tkt_fold_child(&fold, 0, 1);
    tkt_fold_add(&fold, node, 1);
    tkt_fold_add(&fold, node, 2);
    fold.is_live = true;
    tkt_fold_limit(0);
    for (uint64_t i = 3; i < 10; i++)
        tkt_fold_add(&fold, node, i);
    tkt_fold_limit(UINT64_C(64) << 20);
    assert_int_equal(merge_folds(&fold, &more, NULL), TAKT_OK);
    tkt_fold_add(&fold, node, 5);
    assert_int_equal(fold.items[node].stats.count, 13);
    assert_null(fold.items[node].histogram);
    assert_int_equal(merge_folds(&more, &fold, NULL), TAKT_OK);
    assert_null(more.items[1].histogram);
    tkt_fold_fini(&fold);
    tkt_fold_fini(&more);
}

/* ---- Emptied --------------------------------------------------------------------------------- */

static void fill(tkt_fold *fold)
{
    call_thrice(fold, 100);
    fold->walk++;
    tkt_fold_sample(fold, 7, 1000, 2.5);
    tkt_fold_end_samples(fold);
    tkt_fold_task(fold, 8, 9, 50, false);
    fold->thread = (tkt_thread_mark){1, 2, 3};
    tkt_fold_end_thread(fold);
}

static void assert_same(const tkt_fold *a, const tkt_fold *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->lost_count, b->lost_count);
    for (size_t i = 1; i < b->count; i++) {
        const tkt_node *x = &a->items[i], *y = &b->items[i];
        assert_memory_equal(&x->stats, &y->stats, sizeof x->stats);
        assert_memory_equal(x->histogram, y->histogram, sizeof *x->histogram);
        assert_true(x->site == y->site && x->parent == y->parent && x->depth == y->depth);
    }
    assert_int_equal(a->counters.count, b->counters.count);
    assert_int_equal(a->counters.items[0].samples, b->counters.items[0].samples);
    assert_int_equal(a->tasks.count, b->tasks.count);
    assert_int_equal(a->tasks.items[0].stats.count, b->tasks.items[0].stats.count);
    assert_int_equal(a->threads.count, b->threads.count);
    assert_int_equal(a->parts.count, b->parts.count);
}

TEST(an_emptied_fold_is_as_good_as_new_and_needs_no_memory)
{
    const tkt_timed_task ends_later = {.name = 8, .track = 9, .begin_ns = 10, .end_ns = 30};
    tkt_fold fold, fresh;
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    assert_int_equal(tkt_fold_init(&fresh), TAKT_OK);
    fill(&fresh);
    for (int round = 0; round < 3; round++) {
        tkt_alloc_fail(round == 0 ? UINT64_MAX : 0, UINT64_MAX);
        fill(&fold);
        tkt_alloc_fail(0, 0);
        assert_same(&fold, &fresh);
        tkt_fold_task_at_end(&fold, &ends_later, 0, 20);
        fold.lost_count = 5;
        tkt_fold_clear(&fold);
        assert_int_equal(fold.ahead.count, round + 1);
        assert_int_equal(fold.count, 1);
        assert_int_equal(fold.lost_count, 0);
    }
    tkt_fold_fini(&fold);
    tkt_fold_fini(&fresh);
}

TEST(what_an_emptied_fold_had_is_there_for_others)
{
    tkt_fold fold;
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    tkt_fold_limit(1u << 20);
    for (int round = 0; round < 3; round++) {
        fold.is_live = true;
        call_thrice(&fold, 150);
        assert_int_equal(count_histograms(&fold), 150);
        tkt_fold_clear(&fold);
        assert_non_null(fold.items);
    }
    tkt_fold_limit(UINT64_C(64) << 20);
    fold.is_live = true;
    call_thrice(&fold, 5000); /* too much to keep */
    tkt_fold_clear(&fold);
    assert_null(fold.items);
    assert_int_equal(fold.live_bytes, 0);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

TEST(a_copy_has_the_same_nodes_and_goes_on_by_itself)
{
    tkt_fold fold, copy = {0};
    assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
    uint32_t two = tkt_fold_child(&fold, 0, 2);
    uint32_t inner = tkt_fold_child(&fold, two, 3);
    for (uint64_t i = 0; i < 5; i++)
        tkt_fold_add(&fold, inner, 100 + i);
    assert_int_equal(tkt_fold_copy_tree(&copy, &fold), TAKT_OK);
    assert_int_equal(copy.count, fold.count);
    assert_int_equal(tkt_fold_child(&copy, tkt_fold_child(&copy, 0, 2), 3), inner);
    tkt_fold_add(&copy, inner, 1000);
    assert_int_equal(copy.items[inner].stats.count, 6);
    assert_int_equal(tkt_stats_quantile(&copy.items[inner].stats, copy.items[inner].histogram, 1),
                     1000);
    assert_int_equal(fold.items[inner].stats.count, 5);
    tkt_fold_fini(&copy);
    tkt_fold_fini(&fold);
}

TEST(init_without_memory_fails_cleanly)
{
    tkt_fold fold;
    tkt_alloc_fail(0, 1);
    assert_int_equal(tkt_fold_init(&fold), TAKT_NO_MEMORY);
    tkt_alloc_fail(0, 0);
    tkt_fold_fini(&fold);
}

/* Whatever allocation fails, times of the nodes that exist are right. */
TEST(folding_goes_on_without_memory)
{
    for (uint64_t after = 0; after < 40; after++) {
        tkt_fold fold;
        assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
        tkt_alloc_fail(after, UINT64_MAX);
        for (uint32_t i = 1; i < 200; i++) {
            uint32_t a = tkt_fold_child(&fold, 0, i);
            uint32_t b = tkt_fold_child(&fold, a, i);
            tkt_fold_add(&fold, b, 3);
            tkt_fold_add(&fold, a, 10);
        }
        tkt_alloc_fail(0, 0);
        uint64_t self_ns;
        uint64_t top_ns;
        uint64_t calls = 0;
        sum_times(&fold, &self_ns, &top_ns);
        assert_int_equal(self_ns, top_ns);
        for (size_t i = 1; i < fold.count; i++)
            calls += fold.items[i].stats.count;
        assert_in_range(fold.lost_count, (2 * 199 - calls + 1) / 2, 2 * 199 - calls);
        tkt_fold_fini(&fold);
    }
}

TEST(merging_without_memory_adds_nothing)
{
    tkt_fold more;
    assert_int_equal(tkt_fold_init(&more), TAKT_OK);
    fold_some(&more, 0, 100, 10);
    bool is_done = false;
    for (uint64_t after = 0; !is_done; after++) {
        tkt_fold fold;
        assert_int_equal(tkt_fold_init(&fold), TAKT_OK);
        fold_some(&fold, 0, 10, 0);
        uint64_t before;
        uint64_t now;
        uint64_t self_ns;
        sum_times(&fold, &self_ns, &before);
        tkt_alloc_fail(after, UINT64_MAX);
        takt_status status = merge_folds(&fold, &more, NULL);
        tkt_alloc_fail(0, 0);
        sum_times(&fold, &self_ns, &now);
        is_done = status == TAKT_OK;
        assert_true(is_done || status == TAKT_NO_MEMORY);
        assert_int_equal(now == before, !is_done);
        tkt_fold_fini(&fold);
        assert_true(after < 1000);
    }
    tkt_fold_fini(&more);
}

TEST_MAIN(NULL, NULL)
