/* What TAKT_FUNCTION calls functions of C++, and that other names stay as they are. */
#include <takt/takt.h>

#include <string>
#include <vector>

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}

namespace physics
{

struct World {
    World() { TAKT_FUNCTION(); }
    void step(double) const
    {
        TAKT_FUNCTION();
        auto solve = [](int) { TAKT_FUNCTION(); };
        solve(1);
    }
    bool operator()(int)
    {
        TAKT_FUNCTION();
        return true;
    }
};

struct Robot {
    void step(double) { TAKT_SCOPE(__PRETTY_FUNCTION__); /* as engines' own macros have it */ }
};

template <typename T> struct Box {
    T get() const
    {
        TAKT_FUNCTION();
        return T();
    }
};

namespace
{
void hidden()
{
    TAKT_FUNCTION();
}
} // namespace

void literal()
{
    TAKT_SCOPE("void physics::other()");
}

void work()
{
    World world;
    world.step(0.5);
    world(1);
    Robot().step(0.5);
    Box<int>().get();
    Box<float>().get();
    hidden();
    literal();
}

} // namespace physics

static std::vector<std::string> names_of(const takt_trace *trace)
{
    std::vector<std::string> names;
    takt_node_info node;
    for (size_t i = 0; takt_trace_node(trace, i, &node) == TAKT_OK; i++)
        names.push_back(node.name);
    return names;
}

static void functions_have_their_class_and_namespaces(void **)
{
    static const char *const expected[] = {
        "physics::World::World", "physics::World::step",       "physics::World::step::lambda",
        "physics::Robot::step",  "physics::World::operator()", "physics::Box::get",
        "physics::hidden",       "void physics::other()"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = nullptr;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    physics::work();
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    std::vector<std::string> names = names_of(takt_profiler_trace(profiler));
    assert_int_equal(names.size(), sizeof expected / sizeof *expected);
    for (const char *name : expected) {
        size_t found = 0;
        for (const std::string &other : names)
            found += other == name;
        assert_int_equal(found, 1);
    }
    takt_profiler_destroy(profiler);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_their_class_and_namespaces),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
