/* Launches of lanes: scenes with a known truth, seen through a device's timer that is hours away,
 * drifts, and ticks coarsely. A lane may stay without a launch, but never get a wrong one. */
#include "support/test.h"
#include "support/trace_build.h"
#include "trace/lanes.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

enum {
    ROUNDS = 4000,
    BLUR_NS = 1500, /* with ticks of 1024 ns, within the tolerance */
    MOST_LANES = 64
};

typedef struct timer {
    uint64_t offset_ns; /* device's time at the trace's time 0; may wrap */
    int64_t drift;      /* parts per million */
    uint64_t tick_ns;
} timer;

static const timer hours_ahead = {UINT64_C(36000000000000), 400, 1024};

typedef struct scene {
    timer timer;
    tkt_lane_search search;
    TKT_ARRAY_OF(uint32_t) truth; /* by lane: kernel + 1; 0: its record is missing */
    uint32_t calls;               /* ids so far */
    uint64_t last_read;           /* as tkt_calls_heard() */
    size_t read_lanes;            /* lanes that reads have taken */
    uint32_t views;
    struct {
        uint64_t made;
        uint32_t correlation;
    } view[64];
} scene;

static scene open_scene(timer of)
{
    return (scene){.timer = of,
                   .calls = UINT32_MAX - 20, /* ids wrap around */
                   .search = {.first_correlation = UINT32_MAX - 20}};
}

static uint64_t heard(const scene *s)
{
    return (uint64_t)1 << 32 | s->calls;
}

static uint64_t ticked(const scene *s, uint64_t ns)
{
    return ns - ns % s->timer.tick_ns;
}

static uint64_t device_time(const scene *s, uint64_t ns)
{
    int64_t drift = (int64_t)ns / 1000000 * s->timer.drift;
    return ticked(s, s->timer.offset_ns + ns + (uint64_t)drift);
}

static uint32_t new_view(scene *s)
{
    s->view[s->views].made = heard(s);
    return ++s->views;
}

/* Returns the kernel + 1. `view` 0: the launch is not the view's first, or has none. */
static uint32_t launch(scene *s, uint32_t name, uint64_t begin_ns, uint64_t length_ns,
                       uint32_t view)
{
    if (++s->calls == 0)
        s->calls = 1;
    tkt_lane_kernel *kernel = TKT_ARRAY_ADD(&s->search.kernels);
    *kernel = (tkt_lane_kernel){begin_ns, begin_ns + length_ns, name, s->calls};
    if (view && s->view[view - 1].correlation == 0)
        s->view[view - 1].correlation = s->calls;
    return (uint32_t)s->search.kernels.count;
}

static void attach(scene *s, uint32_t kernel, uint32_t view, uint32_t block, uint64_t after_ns,
                   uint64_t length_ns)
{
    uint64_t begin_ns = s->search.kernels.items[kernel - 1].begin_ns + after_ns;
    tkt_lane *lane = TKT_ARRAY_ADD(&s->search.lanes);
    *lane = (tkt_lane){.global = device_time(s, begin_ns),
                       .least_ns = length_ns * 8 / 10,
                       .after = s->view[view - 1].made,
                       .view = view,
                       .block = block,
                       .correlation = s->view[view - 1].correlation};
    if (s->last_read && (int32_t)((uint32_t)s->last_read - (uint32_t)lane->after) > 0)
        lane->after = s->last_read;
    *TKT_ARRAY_ADD(&s->truth) = kernel;
}

/* Four blocks that fill nine tenths of the kernel. */
static void attach_four(scene *s, uint32_t kernel, uint32_t view)
{
    const tkt_lane_kernel *of = &s->search.kernels.items[kernel - 1];
    uint64_t length_ns = of->end_ns - of->begin_ns;
    for (uint32_t block = 0; block < 4; block++)
        attach(s, kernel, view, block, length_ns / 20 + block * length_ns / 100,
               length_ns * 8 / 10);
}

static void read_timers(scene *s)
{
    for (; s->read_lanes < s->search.lanes.count; s->read_lanes++)
        s->search.lanes.items[s->read_lanes].before = heard(s);
    s->last_read = heard(s);
    s->calls++; /* the copies */
}

/* The record of a kernel goes missing. */
static void lose_kernel(scene *s, uint32_t kernel)
{
    tkt_lane_kernel *items = s->search.kernels.items;
    for (size_t i = kernel; i < s->search.kernels.count; i++)
        items[i - 1] = items[i];
    s->search.kernels.count--;
    for (size_t i = 0; i < s->truth.count; i++)
        s->truth.items[i] = s->truth.items[i] == kernel  ? 0
                            : s->truth.items[i] > kernel ? s->truth.items[i] - 1
                                                         : s->truth.items[i];
}

static void lose_lanes(scene *s, size_t first, size_t count)
{
    for (size_t i = first; i + count < s->truth.count; i++) {
        s->search.lanes.items[i] = s->search.lanes.items[i + count];
        s->truth.items[i] = s->truth.items[i + count];
    }
    s->search.lanes.count = s->truth.count = s->truth.count - count;
}

/* ---- What the search says -------------------------------------------------------------------- */

typedef struct launches {
    size_t known;
    size_t uncertain;
    size_t none;
} launches;

static launches find_all(scene *s)
{
    launches found = {0};
    s->search.last_correlation = s->calls;
    assert_int_equal(tkt_lanes_find(&s->search), TAKT_OK);
    for (size_t i = 0; i < s->search.lanes.count; i++) {
        const tkt_lane *lane = &s->search.lanes.items[i];
        bool is_known = lane->launch == TKT_LAUNCH_KNOWN;
        if (is_known && lane->kernel != s->truth.items[i])
            fail_msg("lane %zu is given to kernel %u, but ran in %u", i, lane->kernel,
                     s->truth.items[i]);
        assert_true(is_known || lane->kernel == 0);
        found.known += is_known;
        found.uncertain += lane->launch == TKT_LAUNCH_UNCERTAIN;
        found.none += lane->launch == TKT_LAUNCH_NONE;
    }
    TKT_ARRAY_FREE(&s->search.kernels);
    TKT_ARRAY_FREE(&s->search.lanes);
    TKT_ARRAY_FREE(&s->truth);
    return found;
}

static void are_all_known(scene *s)
{
    size_t count = s->search.lanes.count;
    assert_int_equal(find_all(s).known, count);
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* `count` launches of kernel 1, each followed by a gap. Returns the time after the last one. */
static uint64_t launch_many(scene *s, uint32_t count, uint64_t from_ns, uint64_t length_ns,
                            uint64_t gap_ns, uint32_t view)
{
    for (uint32_t i = 0; i < count; i++, from_ns += length_ns + gap_ns)
        attach_four(s, launch(s, 1, from_ns, length_ns, view), view);
    return from_ns;
}

TEST(launches_without_a_gap_are_told_apart)
{
    static const timer all[] = {{0, 0, 1},
                                {UINT64_C(36000000000000), 400, 1024},
                                {-UINT64_C(36000000000000), -400, 1024},
                                {UINT64_C(1795582142722737372), 50, 32},
                                {UINT64_C(0xFFFFFFFFFFFFF000), 0, 1024}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        scene s = open_scene(all[i]);
        launch_many(&s, 200, 5 * MS, 30 * US, 0, new_view(&s));
        read_timers(&s);
        are_all_known(&s);
    }
}

/* The long one allows many offsets, the short ones few. */
static launches find_with_long_one(uint64_t long_ns)
{
    scene s = open_scene(hours_ahead);
    uint32_t view = new_view(&s);
    uint64_t now = launch_many(&s, 5, 5 * MS, 30 * US, US, view);
    now = launch_many(&s, 1, now, long_ns, US, view);
    launch_many(&s, 5, now, 30 * US, US, view);
    read_timers(&s);
    return find_all(&s);
}

TEST(a_long_launch_among_short_ones)
{
    assert_int_equal(find_with_long_one(20 * MS).known, 11 * 4);
    launches found = find_with_long_one(500 * MS); /* the drift exceeds a short launch */
    assert_int_equal(found.known, 4);
    assert_int_equal(found.uncertain, 10 * 4);
}

/* The earliest lane of a read is not of the view's first launch. Launches within the tolerance are
 * told apart by the calls between two reads. */
TEST(reads_between_launches)
{
    scene s = open_scene(hours_ahead);
    uint32_t view = new_view(&s);
    for (uint32_t i = 0; i < 20; i++) {
        launch_many(&s, 1, 5 * MS + i * 6 * US, 6 * US, 0, view);
        read_timers(&s);
    }
    are_all_known(&s);
}

/* Other launches of the same kernel lie between, and nothing tells them from the view's but that
 * the view was made for its launch. */
TEST(views_of_one_launch_keep_theirs)
{
    scene s = open_scene(hours_ahead);
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t view = new_view(&s), kernel = launch(&s, 1, 5 * MS + i * 40 * US, 20 * US, view);
        attach_four(&s, kernel, view);
        launch(&s, 1, 5 * MS + i * 40 * US + 20 * US, 20 * US, 0);
    }
    read_timers(&s);
    are_all_known(&s);
}

/* The buffer had no room: with equal launches, no lane tells which ones are missing. */
TEST(lanes_without_room_leave_equal_launches_uncertain)
{
    scene s = open_scene(hours_ahead);
    launch_many(&s, 20, 5 * MS, 30 * US, 10 * US, new_view(&s));
    read_timers(&s);
    lose_lanes(&s, 40, 40);
    launches found = find_all(&s);
    assert_int_equal(found.known + found.none, 0);
    assert_int_equal(found.uncertain, 40);
}

TEST(lanes_without_room_are_found_by_irregular_gaps)
{
    scene s = open_scene(hours_ahead);
    uint32_t view = new_view(&s);
    for (uint64_t i = 0, now = 5 * MS; i < 20; i++)
        now = launch_many(&s, 1, now, 30 * US, i * 20 * US, view);
    read_timers(&s);
    lose_lanes(&s, 40, 40);
    are_all_known(&s);
}

TEST(equal_launches_at_once_are_uncertain)
{
    scene s = open_scene(hours_ahead);
    uint32_t view = new_view(&s);
    launch_many(&s, 1, 5 * MS, 300 * US, 0, view);
    launch_many(&s, 1, 5 * MS + 20 * US, 300 * US, 0, view); /* on another stream */
    launch_many(&s, 1, 6 * MS, 300 * US, 0, view);
    read_timers(&s);
    launches found = find_all(&s);
    assert_int_equal(found.known, 4);
    assert_int_equal(found.uncertain, 8);
}

/* Between two equal launches lies an offset with which the lanes fit in neither: the drift cannot
 * pass it, however late the read. Lanes within the tolerance fit always. */
TEST(close_launches_read_late)
{
    for (uint64_t length_ns = 6 * US; length_ns <= 20 * US; length_ns += 14 * US) {
        scene s = open_scene(hours_ahead);
        launch_many(&s, 20000, 5 * MS, length_ns, 0, new_view(&s));
        read_timers(&s);
        launches found = find_all(&s);
        assert_int_equal(found.known, length_ns > 6 * US ? 4 * 20000 : 0);
        assert_int_equal(found.uncertain, length_ns > 6 * US ? 0 : 4 * 20000);
    }
}

/* Other lanes' views bound the offset, so one that fits nowhere is noticed. */
TEST(a_lane_without_its_kernel_fits_no_launch)
{
    scene s = open_scene(hours_ahead);
    uint32_t shared = new_view(&s), lost = 0;
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t view = new_view(&s);
        attach_four(&s, launch(&s, 1, 5 * MS + i * MS, 200 * US, view), view);
        uint32_t kernel = launch(&s, 2, 5 * MS + i * MS + 500 * US, 200 * US, shared);
        attach_four(&s, kernel, shared);
        lost = i == 4 ? kernel : lost;
    }
    read_timers(&s);
    lose_kernel(&s, lost);
    launches found = find_all(&s);
    assert_int_equal(found.none, 4);
    assert_int_equal(found.known, 17 * 4);
}

/* A missing record shifts nothing: the other lanes contradict any wrong offset. */
TEST(records_that_are_missing_make_launches_uncertain)
{
    for (uint32_t lost = 1; lost <= 8; lost++)
        for (int is_told = 0; is_told < 2; is_told++) {
            scene s = open_scene(hours_ahead);
            launch_many(&s, 8, 5 * MS, 30 * US, 0, new_view(&s));
            read_timers(&s);
            lose_kernel(&s, lost);
            s.search.has_lost = is_told;
            launches found = find_all(&s);
            assert_int_equal(found.known, 0);
        }
}

/* The lanes of the first launch and the record of the last kernel: the rest fits one launch off. */
TEST(lost_records_forbid_a_guess)
{
    scene s = open_scene(hours_ahead);
    launch_many(&s, 8, 5 * MS, 30 * US, 0, new_view(&s));
    read_timers(&s);
    lose_lanes(&s, 0, 4);
    lose_kernel(&s, 8);
    s.search.has_lost = true;
    assert_int_equal(find_all(&s).uncertain, 7 * 4);
}

/* Somebody sets the host's clock: kernels behind are seconds later. */
TEST(a_clock_that_was_set_loses_no_view_of_one_launch)
{
    scene s = open_scene(hours_ahead);
    uint32_t shared = new_view(&s);
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t view = new_view(&s);
        attach_four(&s, launch(&s, 1, 5 * MS + i * MS, 200 * US, view), view);
        attach_four(&s, launch(&s, 2, 5 * MS + i * MS + 500 * US, 200 * US, shared), shared);
    }
    read_timers(&s);
    for (size_t i = 8; i < s.search.kernels.count; i++) {
        s.search.kernels.items[i].begin_ns += 3000 * MS;
        s.search.kernels.items[i].end_ns += 3000 * MS;
    }
    launches found = find_all(&s);
    assert_true(found.known >= 9 * 4);
}

/* ---- Random scenes --------------------------------------------------------------------------- */

/* Moves a kernel's recorded times, as coarse clocks do. */
static void blur(scene *s, chance *from)
{
    for (size_t i = 0; i < s->search.kernels.count; i++) {
        tkt_lane_kernel *kernel = &s->search.kernels.items[i];
        kernel->begin_ns += draw(from, 2 * BLUR_NS + 1) - BLUR_NS;
        kernel->end_ns += draw(from, 2 * BLUR_NS + 1) - BLUR_NS;
        if (kernel->end_ns < kernel->begin_ns)
            kernel->end_ns = kernel->begin_ns;
    }
}

/* Streams with kernels of two names; some launches have lanes, through views of one launch or of
 * many; reads now and then. A view's first launch always has lanes: what it was made for is all
 * that is known of it until other launches use it. */
static scene random_scene(chance *from, timer of, uint32_t most)
{
    scene s = open_scene(of);
    uint64_t free_at[2] = {5 * MS, 5 * MS}, least_ns = US * (3 + draw(from, 60));
    uint32_t shared[2] = {0};
    uint32_t streams = 1 + draw(from, 3) / 2, count = 3 + (uint32_t)draw(from, most - 3);
    bool is_even = draw(from, 2);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stream = (uint32_t)draw(from, streams), name = (uint32_t)draw(from, 2);
        uint64_t length_ns = is_even ? least_ns : least_ns + draw(from, 20) * draw(from, 20) * US;
        uint64_t gap_ns = is_even ? 0 : draw(from, 5) * draw(from, 30) * US;
        bool is_new = shared[name] == 0 || draw(from, 10) == 0;
        uint32_t view = !is_new ? shared[name] : new_view(&s);
        if (draw(from, 3))
            shared[name] = view;
        bool has_lanes = s.view[view - 1].correlation == 0 || draw(from, 5);
        uint32_t kernel = launch(&s, 1 + name, free_at[stream] + gap_ns, length_ns, view);
        for (uint32_t block = 0; has_lanes && block < 3; block++) {
            uint64_t begin_ns = draw(from, (uint32_t)(length_ns / 2));
            attach(&s, kernel, view, block, begin_ns, draw(from, (uint32_t)(length_ns - begin_ns)));
        }
        free_at[stream] += gap_ns + length_ns;
        if (draw(from, 12) == 0)
            read_timers(&s);
    }
    read_timers(&s);
    return s;
}

static timer random_timer(chance *from)
{
    static const uint64_t ticks[] = {1, 32, 1024};
    return (timer){(uint64_t)draw(from, UINT32_MAX) << draw(from, 33),
                   (int64_t)draw(from, 900) - 450, ticks[draw(from, 3)]};
}

TEST(random_scenes_have_no_wrong_launch)
{
    chance from = {13};
    launches all = {0};
    for (int i = 0; i < ROUNDS; i++) {
        scene s = random_scene(&from, random_timer(&from), 43);
        if (i % 2)
            blur(&s, &from);
        bool has_lost = i % 8 == 7; /* records of kernels, and Takt knows that some are missing */
        if (has_lost)
            lose_kernel(&s, 1 + (uint32_t)draw(&from, (uint32_t)s.search.kernels.count));
        s.search.has_lost = has_lost;
        launches one = find_all(&s);
        assert_true(has_lost || one.none == 0);
        all.known += one.known;
        all.uncertain += one.uncertain;
    }
    assert_true(all.known > all.uncertain);
}

/* ---- All that is possible -------------------------------------------------------------------- */

/* True if with this offset the lane runs within the kernel, and its call lies between its reads. */
static bool may_run_in(const tkt_lane *lane, const tkt_lane_kernel *kernel, uint64_t offset)
{
    uint64_t begin_ns = lane->global + offset;
    return (lane->kernel_name == 0 || lane->kernel_name == kernel->name) &&
           (int64_t)(begin_ns - kernel->begin_ns) >= -TKT_LANE_TOLERANCE_NS &&
           (int64_t)(kernel->end_ns - begin_ns - lane->least_ns) >= -TKT_LANE_TOLERANCE_NS &&
           (int32_t)(kernel->correlation - (uint32_t)lane->after) > 0 &&
           (int32_t)(kernel->correlation - (uint32_t)lane->before) <= 0;
}

/* The kernels that the lane may have run in with this offset, as bits. */
static uint64_t kernels_with(const tkt_lane_search *search, const tkt_lane *lane, uint64_t offset)
{
    uint64_t found = 0;
    for (size_t i = 0; i < search->kernels.count; i++)
        if (may_run_in(lane, &search->kernels.items[i], offset))
            found |= UINT64_C(1) << i;
    return lane->is_own ? found & UINT64_C(1) << (lane->kernel - 1) : found;
}

/* Adds to each lane what is possible with this offset, if all lanes have a kernel with it. */
static void try_offset(const tkt_lane_search *search, uint64_t offset, uint64_t *possible)
{
    uint64_t with[MOST_LANES];
    for (size_t i = 0; i < search->lanes.count; i++)
        if (!(with[i] = kernels_with(search, &search->lanes.items[i], offset)))
            return;
    for (size_t i = 0; i < search->lanes.count; i++)
        possible[i] |= with[i];
}

/* What is possible changes only where some lane touches the begin or the end of some kernel. */
static void try_all_offsets(const tkt_lane_search *search, uint64_t *possible)
{
    for (size_t i = 0; i < search->lanes.count; i++)
        for (size_t k = 0; k < search->kernels.count; k++) {
            const tkt_lane *lane = &search->lanes.items[i];
            const tkt_lane_kernel *kernel = &search->kernels.items[k];
            try_offset(search, kernel->begin_ns - TKT_LANE_TOLERANCE_NS - lane->global, possible);
            try_offset(search,
                       kernel->end_ns + TKT_LANE_TOLERANCE_NS - lane->least_ns - lane->global,
                       possible);
        }
}

/* Every offset is tried, without drift. A launch may only be known if each of them says so. */
TEST(a_known_launch_is_the_only_one_possible)
{
    chance from = {7};
    size_t known = 0, only = 0;
    for (int i = 0; i < ROUNDS / 4; i++) {
        uint64_t possible[MOST_LANES] = {0};
        scene s = random_scene(&from, (timer){(uint64_t)draw(&from, UINT32_MAX) << 20, 0, 32}, 12);
        s.search.last_correlation = s.calls;
        assert_true(s.search.lanes.count <= MOST_LANES);
        assert_int_equal(tkt_lanes_find(&s.search), TAKT_OK);
        try_all_offsets(&s.search, possible);
        for (size_t n = 0; n < s.search.lanes.count; n++) {
            const tkt_lane *lane = &s.search.lanes.items[n];
            assert_true(possible[n] & UINT64_C(1) << (s.truth.items[n] - 1));
            if (lane->launch == TKT_LAUNCH_KNOWN)
                assert_int_equal(possible[n], UINT64_C(1) << (lane->kernel - 1));
            known += lane->launch == TKT_LAUNCH_KNOWN;
            only += (possible[n] & (possible[n] - 1)) == 0;
        }
        find_all(&s);
    }
    assert_true(known > only * 9 / 10);
}

TEST_MAIN(NULL, NULL)
