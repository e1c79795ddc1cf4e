/* Scopes in inline functions, members and templates: g++ would share their sites with all libraries
 * that have the same functions, and never unload one of these. */
#include <takt/takt.hpp>

struct solver {
    int step(int count)
    {
        TAKT_SCOPE("member");
        TAKT_PHASE("phase");
        TAKT_ARG("count", count);
        TAKT_COUNTER("counter", count);
        TAKT_MARK("mark");
        TAKT_FRAME("frame");
        TAKT_BEGIN("pair");
        TAKT_END("pair");
        return count;
    }
};

inline int in_function(int count)
{
    TAKT_FUNCTION();
    return count;
}

template <class T> T in_template(T count)
{
    TAKT_SCOPE("template");
    return count;
}

extern "C" int work(int count)
{
    return in_template(in_function(solver().step(count)));
}
