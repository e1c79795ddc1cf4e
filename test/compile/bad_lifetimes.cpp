/* Names that are known while this compiles, in memory that does not stay: a site would keep a pointer
 * to it. check_names.sh looks that each line with a comment is refused; the words are each compiler's
 * own. */
#include <takt/takt.h>

/* A text that C++20 knows while it compiles, as std::string is, and that is freed at once. */
#if __cplusplus >= 202002L
#define SINCE_20 constexpr
#else
#define SINCE_20
#endif
struct Text {
    char *bytes;
    SINCE_20 Text() : bytes(new char[2]{'t', 0}) {}
    SINCE_20 ~Text() { delete[] bytes; }
    SINCE_20 const char *c_str() const { return bytes; }
};

template <typename> void on_the_stack()
{
    constexpr char array[] = "array";
    TAKT_SCOPE(array); // stack
}

void bad_lifetimes(int number);
void bad_lifetimes(int number)
{
    const char fixed[8] = "fixed";
    constexpr char known[] = "known";
    TAKT_SCOPE(fixed); // stack
    TAKT_SCOPE(known); // stack
    TAKT_SCOPE(Text().c_str()); // freed
    TAKT_SCOPE_IN(known, TAKT_LEVEL_FINE, "read"); // stack
    TAKT_ACTIVITY(known, TAKT_TIMING_KERNEL, "density"); // stack
    TAKT_BEGIN(known); // stack
    TAKT_END(known); // stack
    TAKT_PHASE(known); // stack
    TAKT_MARK(known); // stack
    TAKT_COUNTER(known, number); // stack
    TAKT_ARG(known, number); // stack
    [&] { TAKT_SCOPE(known); }(); // stack
    on_the_stack<int>();
}
