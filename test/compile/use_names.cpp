/* Names that a macro takes beside literals: all that the compiler knows. Compiled, never run. */
#include <takt/takt.hpp>

#include <cstddef>

void use_names(int cells);

namespace
{

constexpr char array[] = "array";
constexpr const char *pointer = "pointer";

struct Solver {
    static constexpr const char *name() { return "solver"; }
    Solver() { TAKT_FUNCTION(); }
    Solver(const Solver &) = default;
    ~Solver() { TAKT_FUNCTION(); }
    void operator()() const { TAKT_SCOPE(__func__); }
};

template <typename Kind> struct Pass {
    template <typename Cells> static void run(Cells cells)
    {
        TAKT_FUNCTION();
        TAKT_SCOPE(__PRETTY_FUNCTION__);
        TAKT_SCOPE(Kind::name());
        TAKT_COUNTER(Kind::name(), cells);
        [](Cells count) {
            TAKT_FUNCTION();
            TAKT_ARG("count", count);
        }(cells);
    }
};

template <const char *Name> void named()
{
    TAKT_SCOPE(Name);
}

template <unsigned Level> void fine()
{
    TAKT_SCOPE_IN("io", Level, "read");
}

} // namespace

void use_names(int cells)
{
    static constexpr char kept[] = "kept";
    constexpr const char *literal = "literal";
    TAKT_SCOPE("in " "two parts");
    TAKT_SCOPE_IN(nullptr, TAKT_LEVEL_FINE, kept);
    enum Color { Red = 0xff0000 };
    TAKT_SCOPE_COLOR(Red, kept);
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, literal);
    TAKT_STREAM_SCOPE(nullptr, literal);
    TAKT_LAUNCH(nullptr, TAKT_TIMING_KERNEL, kept) { cells++; }
    TAKT_BEGIN(array);
    TAKT_PHASE(pointer);
    TAKT_MARK(literal);
    TAKT_COUNTER(pointer, cells);
    TAKT_ARG(array, cells);
    TAKT_END(array);
    Solver()();
    Pass<Solver>::run(cells);
    named<array>();
    fine<TAKT_LEVEL_DETAIL>();
#if __cplusplus >= 201402L
    [](auto count) {
        TAKT_FUNCTION();
        TAKT_COUNTER(decltype(count)::name(), 1);
    }(Solver());
#endif
}
