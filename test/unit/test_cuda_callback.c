/* Which calls into CUDA are told of, and how, with CUPTI played by the test. */
#include "cuda/collector.h"

#include "base/clock.h"

#include "support/test.h"

#include <string.h>

enum {
    LAUNCH = 1,
    LAUNCH_PTSZ,
    MALLOC,
    GET_DEVICE,
    BEGIN,
    END,
    HOST_FUNCTION
};
enum {
    DRIVER_LAUNCH = 3,
    DRIVER_BEGIN
};

static const char *const runtime_names[] = {
    [LAUNCH] = "__cudaLaunchKernel_v13000",
    [LAUNCH_PTSZ] = "cudaLaunchKernel_ptsz_v7000",
    [MALLOC] = "cudaMalloc_v3020",
    [GET_DEVICE] = "cudaGetDevice_v3020",
    [BEGIN] = "cudaStreamBeginCapture_v10000",
    [END] = "cudaStreamEndCapture_v10000",
    [HOST_FUNCTION] = "cudaLaunchHostFunc_v10000",
};
static const char *const driver_names[] = {
    [DRIVER_LAUNCH] = "cuLaunchKernel",
    [DRIVER_BEGIN] = "cuStreamBeginCapture_v2",
};

static bool is_enabled[4][32];

static int name_of(int domain, uint32_t id, const char **name)
{
    bool is_driver = domain == TKT_DOMAIN_DRIVER;
    size_t count = is_driver ? sizeof driver_names / sizeof *driver_names
                             : sizeof runtime_names / sizeof *runtime_names;
    if (id >= count)
        return 1;
    *name = is_driver ? driver_names[id] : runtime_names[id];
    return 0;
}

static int enable_callback(uint32_t is_on, void *subscriber, int domain, uint32_t id)
{
    assert_int_equal((uintptr_t)subscriber, 77);
    is_enabled[domain][id] = is_on;
    return 0;
}

static const tkt_cupti cupti = {
    .callback_name = name_of,
    .enable_callback = enable_callback,
    .subscriber = (void *)(uintptr_t)77,
};

static uint64_t ticks;
static uint64_t read_ticks(void)
{
    return ticks;
}

static tkt_cuda_call told[8];
static size_t told_count;
static void listen(const tkt_cuda_call *call)
{
    told[told_count++] = *call;
}

typedef struct played_call {
    int domain;
    uint32_t id;
    uint32_t correlation;
    uint64_t shared;
    int32_t result;
} played_call;

static void play(played_call *call, int site)
{
    tkt_callback_data data = {
        .site = site,
        .function_name = "not looked at",
        .correlation_data = &call->shared,
        .correlation = call->correlation,
        .result = site == TKT_API_EXIT ? &call->result : NULL,
    };
    tkt_callback(NULL, call->domain, call->id, &data);
}

static int start(void **state)
{
    (void)state;
    tkt_clock_fake(read_ticks);
    tkt_cuda_on_call(listen);
    return tkt_callback_setup(&cupti);
}

static int stop(void **state)
{
    (void)state;
    tkt_clock_fake(NULL);
    return 0;
}

TEST(names_are_those_that_people_write)
{
    static const char *const pairs[][2] = {
        {"cudaMalloc_v3020", "cudaMalloc"},
        {"cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync"},
        {"__cudaLaunchKernel_ptsz_v13000", "cudaLaunchKernel"},
        {"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD"},
        {"cuMemsetD2D8_v2", "cuMemsetD2D8"},
        {"cuLaunchKernel", "cuLaunchKernel"},
        {"cuMemcpy2D", "cuMemcpy2D"},
        {"cudaMalloc_v", "cudaMalloc_v"},
        {"_v2", "_v2"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char name[64];
        tkt_callback_name(name, sizeof name, pairs[i][0]);
        assert_string_equal(name, pairs[i][1]);
    }
    char cut[8];
    tkt_callback_name(cut, sizeof cut, "cudaMallocManaged_v6000");
    assert_string_equal(cut, "cudaMal");
}

TEST(only_what_matters_is_called_back_for)
{
    bool is_any = false;
    assert_int_equal(tkt_callback_watch(&cupti), TKT_CUPTI_SUCCESS);
    assert_true(is_enabled[TKT_DOMAIN_RUNTIME][BEGIN]);
    assert_true(is_enabled[TKT_DOMAIN_RUNTIME][END]);
    assert_true(is_enabled[TKT_DOMAIN_DRIVER][DRIVER_BEGIN]);
    assert_true(is_enabled[TKT_DOMAIN_RESOURCE][TKT_CONTEXT_CREATED]);
    assert_false(is_enabled[TKT_DOMAIN_RUNTIME][LAUNCH]);
    assert_int_equal(tkt_callback_switch_calls(&cupti, true, &is_any), TKT_CUPTI_SUCCESS);
    assert_true(is_any);
    assert_true(is_enabled[TKT_DOMAIN_RUNTIME][LAUNCH]);
    assert_true(is_enabled[TKT_DOMAIN_RUNTIME][LAUNCH_PTSZ]);
    assert_true(is_enabled[TKT_DOMAIN_RUNTIME][MALLOC]);
    assert_true(is_enabled[TKT_DOMAIN_DRIVER][DRIVER_LAUNCH]);
    assert_false(is_enabled[TKT_DOMAIN_RUNTIME][GET_DEVICE]);
    assert_false(is_enabled[TKT_DOMAIN_RUNTIME][HOST_FUNCTION]);
    tkt_callback_switch_calls(&cupti, false, &is_any);
    assert_false(is_enabled[TKT_DOMAIN_RUNTIME][LAUNCH]);
    assert_true(is_enabled[TKT_DOMAIN_RUNTIME][END]);
}

static int switch_kind(int kind)
{
    assert_int_equal(kind, TKT_KIND_GRAPH_TRACE);
    return TKT_CUPTI_SUCCESS;
}

/* Without the first no graph may be launched whole; without the last, a new one may have the handle
 * of one that has gone. */
TEST(graphs_are_told_of_from_their_making_to_their_end)
{
    tkt_cupti with_kinds = cupti;
    with_kinds.enable = with_kinds.disable = switch_kind;
    assert_int_equal(tkt_whole_enable(&with_kinds), TKT_CUPTI_SUCCESS);
    assert_true(is_enabled[TKT_DOMAIN_RESOURCE][TKT_GRAPH_EXEC_CREATED]);
    assert_true(is_enabled[TKT_DOMAIN_RESOURCE][TKT_GRAPH_EXEC_DESTROY_STARTING]);
    tkt_whole_disable(&with_kinds);
}

TEST(a_runtime_call_is_told_once_with_the_driver_call_in_it)
{
    told_count = 0;
    played_call outer = {TKT_DOMAIN_RUNTIME, LAUNCH, 5, 0, 0};
    played_call inner = {TKT_DOMAIN_DRIVER, DRIVER_LAUNCH, 5, 0, 0};
    ticks = 100;
    play(&outer, TKT_API_ENTER);
    ticks = 110;
    play(&inner, TKT_API_ENTER);
    ticks = 120;
    play(&inner, TKT_API_EXIT);
    ticks = 130;
    outer.result = 719;
    play(&outer, TKT_API_EXIT);
    assert_int_equal(told_count, 1);
    assert_string_equal(told[0].name, "cudaLaunchKernel");
    assert_int_equal(told[0].begin_ticks, 100);
    assert_int_equal(told[0].end_ticks, 130);
    assert_int_equal(told[0].correlation, 5);
    assert_int_equal(told[0].result, 719);
    assert_false(told[0].is_driver);
    assert_int_equal(tkt_cuda_last_correlation(), 5);
}

TEST(a_driver_call_of_the_programs_is_told)
{
    told_count = 0;
    played_call call = {TKT_DOMAIN_DRIVER, DRIVER_LAUNCH, 6, 0, 0};
    ticks = 200;
    play(&call, TKT_API_ENTER);
    ticks = 201;
    play(&call, TKT_API_EXIT);
    assert_int_equal(told_count, 1);
    assert_string_equal(told[0].name, "cuLaunchKernel");
    assert_true(told[0].is_driver);
    assert_int_equal(tkt_cuda_last_correlation(), 6);
}

TEST(variants_of_a_function_have_one_name)
{
    told_count = 0;
    played_call calls[] = {{TKT_DOMAIN_RUNTIME, LAUNCH, 10, 0, 0},
                           {TKT_DOMAIN_RUNTIME, LAUNCH_PTSZ, 11, 0, 0}};
    for (int i = 0; i < 2; i++) {
        play(&calls[i], TKT_API_ENTER);
        play(&calls[i], TKT_API_EXIT);
    }
    assert_int_equal(told_count, 2);
    assert_ptr_equal(told[0].name, told[1].name);
}

TEST(an_exit_that_was_lost_costs_that_call_only)
{
    told_count = 0;
    played_call lost = {TKT_DOMAIN_RUNTIME, LAUNCH, 20, 0, 0};
    played_call driver = {TKT_DOMAIN_DRIVER, DRIVER_LAUNCH, 21, 0, 0};
    bool is_any;
    play(&lost, TKT_API_ENTER);
    tkt_callback_switch_calls(&cupti, false, &is_any); /* loses its EXIT */
    tkt_callback_switch_calls(&cupti, true, &is_any);
    play(&driver, TKT_API_ENTER);
    play(&driver, TKT_API_EXIT);
    assert_int_equal(told_count, 1);
    assert_int_equal(told[0].correlation, 21);
}

TEST(an_exit_without_enter_is_not_told)
{
    told_count = 0;
    played_call call = {TKT_DOMAIN_RUNTIME, MALLOC, 30, 0, 0};
    play(&call, TKT_API_EXIT);
    assert_int_equal(told_count, 0);
}

TEST(unknown_ids_are_not_told)
{
    told_count = 0;
    for (uint32_t id = 0; id < 5000; id += id < 16 ? 1 : 997) {
        if (id == LAUNCH || id == LAUNCH_PTSZ || id == MALLOC)
            continue;
        played_call call = {TKT_DOMAIN_RUNTIME, id, 40 + id, 0, 1};
        play(&call, TKT_API_ENTER);
        play(&call, TKT_API_EXIT);
    }
    assert_int_equal(told_count, 0);
}

static int no_capture_mode(int *mode)
{
    (void)mode;
    return 1;
}

TEST(takts_own_calls_are_not_told)
{
    told_count = 0;
    const tkt_driver driver = {.capture_mode = no_capture_mode};
    played_call call = {TKT_DOMAIN_DRIVER, DRIVER_LAUNCH, 5050, 0, 0};
    tkt_driver_call own = tkt_driver_begin(&driver);
    play(&call, TKT_API_ENTER);
    play(&call, TKT_API_EXIT);
    tkt_driver_end(&driver, own);
    assert_int_equal(told_count, 0);
    play(&call, TKT_API_ENTER);
    play(&call, TKT_API_EXIT);
    assert_int_equal(told_count, 1);
}

TEST(captures_are_counted_once)
{
    played_call begin = {TKT_DOMAIN_RUNTIME, BEGIN, 6000, 0, 0};
    played_call inner = {TKT_DOMAIN_DRIVER, DRIVER_BEGIN, 6000, 0, 0};
    played_call end = {TKT_DOMAIN_RUNTIME, END, 6001, 0, 901};
    played_call failed = {TKT_DOMAIN_RUNTIME, BEGIN, 6002, 0, 1};
    play(&begin, TKT_API_ENTER);
    play(&inner, TKT_API_ENTER);
    play(&inner, TKT_API_EXIT);
    assert_int_equal(tkt_capture_count(), 1);
    play(&begin, TKT_API_EXIT);
    assert_int_equal(tkt_capture_count(), 1);
    play(&failed, TKT_API_ENTER);
    play(&failed, TKT_API_EXIT);
    assert_int_equal(tkt_capture_count(), 1);
    for (int i = 0; i < 2; i++) {
        play(&end, TKT_API_ENTER);
        play(&end, TKT_API_EXIT);
        assert_int_equal(tkt_capture_count(), 0);
    }
}

/* Correlation ids count through 32 bits. */
TEST(the_last_correlation_wraps_around)
{
    const uint32_t ids[] = {0x70000000u, 0xe0000000u, 0xd0000000u, 3, 0xfffffff0u};
    const uint32_t last[] = {0x70000000u, 0xe0000000u, 0xe0000000u, 3, 3};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        told_count = 0;
        tkt_callback_report(&(tkt_cuda_call){.name = "cudaMalloc", .correlation = ids[i]});
        assert_int_equal(told_count, 1);
        assert_int_equal(tkt_cuda_last_correlation(), last[i]);
    }
    assert_int_equal(tkt_cuda_last_call(), UINT64_C(1) << 32 | 3);
}

/* So that a window which ends in between knows that the id is its own. */
TEST(the_last_id_is_that_of_a_call_that_has_begun)
{
    uint32_t last = tkt_cuda_last_correlation();
    played_call call = {TKT_DOMAIN_RUNTIME, LAUNCH, last + 1, 0, 0};
    play(&call, TKT_API_ENTER);
    assert_int_equal(tkt_cuda_last_correlation(), last + 1);
    play(&call, TKT_API_EXIT);
    assert_int_equal(tkt_cuda_last_correlation(), last + 1);
}

TEST_MAIN(start, stop)
