/* The frame of a test program on cmocka.
 *
 *     TEST(a_full_buffer_drops_the_newest) { ... }
 *     TEST_WITH(a_file_is_read, make_folder, remove_folder) { ... }
 *
 *     TEST_MAIN(set_up, tear_down)
 *
 * Each test registers itself before main(), and TEST_MAIN is a main() that runs all tests of the
 * file in their order there. A fixture is a function or NULL. Those of TEST_WITH belong to one test,
 * those of TEST_MAIN surround all of them together, those of TEST_MAIN_EACH surround each test. A
 * program that has more to do in main() calls run_all_tests() or run_each_test() there.
 *
 * A test finds cmocka's `state` as a parameter. */
#ifndef TEST_SUPPORT_TEST_H
#define TEST_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST_MOST 100 /* tests of one file */

static struct {
    size_t            count;
    int               lines[TEST_MOST]; /* ascending */
    struct CMUnitTest tests[TEST_MOST];
} test_list;

/* Keeps the tests in order: compilers may choose the order of constructors. */
static inline void test_register(int line, struct CMUnitTest test)
{
    size_t at = test_list.count++;
    for (; at > 0 && test_list.lines[at - 1] > line; at--) {
        test_list.lines[at] = test_list.lines[at - 1];
        test_list.tests[at] = test_list.tests[at - 1];
    }
    test_list.lines[at] = line;
    test_list.tests[at] = test;
}

static inline int run_all_tests(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    return _cmocka_run_group_tests("tests", test_list.tests, test_list.count, set_up, tear_down);
}

static inline int run_each_test(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    for (size_t i = 0; i < test_list.count; i++) {
        test_list.tests[i].setup_func = set_up;
        test_list.tests[i].teardown_func = tear_down;
    }
    return run_all_tests(NULL, NULL);
}

#define TEST(name) TEST_WITH(name, NULL, NULL)

#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        test_register(__LINE__, (struct CMUnitTest){#name, name, set_up, tear_down, NULL});        \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)

#define TEST_MAIN(set_up, tear_down)                                                               \
    int main(void)                                                                                 \
    {                                                                                              \
        return run_all_tests(set_up, tear_down);                                                       \
    }

#define TEST_MAIN_EACH(set_up, tear_down)                                                          \
    int main(void)                                                                                 \
    {                                                                                              \
        return run_each_test(set_up, tear_down);                                                   \
    }

#endif
