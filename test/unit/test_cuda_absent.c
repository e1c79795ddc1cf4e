/* A program with device code on a machine without a driver: it is seen to use CUDA, collecting
 * fails with one reason, and the real libcupti, where there is one, is understood as far as it can
 * be. */
#include "cuda/cuda.h"

#include "base/dynlib.h"
#include "cuda/cupti.h"
#include "support/test.h"
#include "support/settle.h"
#include "support/skip.h"

#include <string.h>

/* What nvcc puts device code into. */
__attribute__((section(".nv_fatbin"), used)) static char device_code[8] = "code";

static char lines[512];
static void listen(takt_log_level level, const char *line, void *user)
{
    (void)level, (void)user;
    strncat(lines, line, sizeof lines - strlen(lines) - 2);
    strcat(lines, "\n");
}

TEST(device_code_gives_the_program_away)
{
    device_code[0] = 'C';
    assert_true(tkt_cuda_is_used());
}

TEST(without_a_driver_there_is_a_reason_and_no_trouble)
{
    if (tkt_library_open("libcuda.so.1"))
        SKIP_CASE("there is a driver");
    takt_set_log(listen, NULL);
    assert_string_equal(tkt_cuda_status_now().text, "none");
    assert_string_equal(tkt_cuda_status_now().reason, "");
    uint64_t bytes;
    for (uint64_t generation = 1; generation <= 3; generation++) {
        tkt_cuda_want(&(tkt_cuda_wish){.is_on = true, .filter = 1, .generation = generation});
        assert_true(settle_devices(true));
        assert_int_equal(tkt_cuda_status_now().backend, TKT_BACKEND_NONE);
        assert_string_equal(tkt_cuda_status_now().text, "none");
        assert_non_null(strstr(tkt_cuda_status_now().reason, "no NVIDIA driver"));
        assert_int_equal(tkt_cuda_synchronize(), TAKT_OK);
        assert_false(tkt_cuda_memory(0, &bytes, &bytes));
    }
    assert_string_equal(lines, "no GPU activities: there is no NVIDIA driver (libcuda.so.1)\n");
    takt_set_log(NULL, NULL);
}

static int version_of_driver(int *version)
{
    *version = 13000;
    return 0;
}

/* The sizes are those that sizeof gives with the headers of 13.0; later ones may be larger. */
TEST(the_real_library_tells_its_sizes_without_a_driver)
{
    static const struct {
        int kind;
        uint16_t bytes;
    } known[] = {
#define KNOWN(name, kind, type, bytes) {TKT_KIND_##kind, bytes},
        TKT_CUPTI_RECORD_LIST(KNOWN)
#undef KNOWN
    };
    const tkt_driver driver = {.driver_version = version_of_driver};
    static tkt_cupti cupti;
    char reason[TKT_REASON_BYTES] = "";
    if (!tkt_cupti_load(&cupti, &driver, reason)) {
        assert_non_null(strstr(reason, "libcupti"));
        SKIP_CASE("there is no libcupti");
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (cupti.version == 130001)
            assert_int_equal(cupti.sizes.bytes[known[i].kind], known[i].bytes);
        else
            assert_int_not_equal(cupti.sizes.bytes[known[i].kind], 0);
    }
    assert_int_equal(cupti.sizes.bytes[6], 0); /* a kind that is gone */
    assert_int_equal(cupti.sizes.bytes[63], 0);
    if (tkt_library_loaded("libcuda.so.1"))
        return;
    assert_int_equal(tkt_cupti_subscribe(&cupti, NULL, reason), TKT_CUPTI_UNKNOWN);
    assert_non_null(strstr(reason, "(999)"));
    assert_non_null(strstr(reason, "driver"));
}

TEST(versions_read_as_releases)
{
    static const struct {
        uint32_t version;
        const char *text;
        int release;
    } known[] = {
        {130001, "CUPTI 13.0 (130001)", 13000},
        {130100, "CUPTI 13.1 (130100)", 13010},
        {18, "CUPTI 11.8 (18)", 11080},
        {26, "CUPTI 12.8 (26)", 12080},
        {28, "CUPTI 12.9 (28)", 12090},
        {29, "CUPTI (29)", 12090},
        {3, "CUPTI (3)", 0},
        {140200, "CUPTI 14.2 (140200)", 14020},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[64];
        tkt_cupti_describe(text, sizeof text, known[i].version);
        assert_string_equal(text, known[i].text);
        assert_int_equal(tkt_cupti_release(known[i].version), known[i].release);
    }
}

TEST(results_are_explained)
{
    char reason[TKT_REASON_BYTES];
    tkt_cupti_explain(reason, TKT_CUPTI_TAKEN, "Nsight Systems");
    assert_non_null(strstr(reason, "(Nsight Systems)"));
    tkt_cupti_explain(reason, TKT_CUPTI_TAKEN, "");
    assert_non_null(strstr(reason, "PyTorch"));
    tkt_cupti_explain(reason, TKT_CUPTI_NOT_INITIALIZED, NULL);
    assert_non_null(strstr(reason, "update the driver"));
    tkt_cupti_explain(reason, 1234, NULL);
    assert_string_equal(reason, "CUPTI cannot be used: it failed with 1234");
}

TEST_MAIN(NULL, NULL)
