/* The colours of NVTX ranges. */
#include "nvtx/nvtx.h"

#include "support/test.h"

static void expect_color(const char *color, uint32_t expected)
{
    uint32_t argb = 0;
    assert_true(tkt_nvtx_color(color, &argb));
    assert_int_equal(argb, expected);
}

static void expect_unknown(const char *color)
{
    uint32_t argb = 0;
    assert_false(tkt_nvtx_color(color, &argb));
    assert_int_equal(argb, 0xFF7400FF);
}

TEST(names_have_the_values_of_nvtx_for_python)
{
    expect_color("green", 0xFF008000);
    expect_color("blue", 0xFF0000FF);
    expect_color("yellow", 0xFFFFFF00);
    expect_color("purple", 0xFF800080);
    expect_color("rapids", 0xFF7400FF);
    expect_color("cyan", 0xFF00FFFF);
    expect_color("red", 0xFFFF0000);
    expect_color("white", 0xFFFFFFFF);
    expect_color("darkgreen", 0xFF006400);
    expect_color("orange", 0xFFFFA500);
    expect_color("black", 0xFF000000);
    expect_color("pink", 0xFFFFC0CB);
}

TEST(hexadecimal_colors_in_either_case)
{
    expect_color("#000000", 0xFF000000);
    expect_color("#12aBfF", 0xFF12ABFF);
    expect_color("Yellow", 0xFFFFFF00);
}

TEST(no_color_is_the_default)
{
    expect_color(NULL, 0xFF7400FF);
}

TEST(anything_else_is_unknown_and_the_default)
{
    expect_unknown("");
    expect_unknown("#");
    expect_unknown("#12345");
    expect_unknown("#1234567");
    expect_unknown("#12345g");
    expect_unknown("#\x10\x11\x12\x13\x14\x15");
    expect_unknown("#\xff\xff\xff\xff\xff\xff");
    expect_unknown("123456");
    expect_unknown("yello");
    expect_unknown("yellow ");
}

TEST_MAIN(NULL, NULL)
