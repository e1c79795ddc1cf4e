/* Every macro of takt/scope.h, as C and as C++: as a statement after `if`, twice on a line, nested,
 * and with each type of argument. Compiled, never run. */
#include <takt/activity.h>
#include <takt/scope.h>

void use_scopes(int cells, const char *name);
void use_values(unsigned char small, int cells, long wide, unsigned long long wider, float single,
                bool flag, const char *name);

void use_scopes(int cells, const char *name)
{
    TAKT_FUNCTION();
    TAKT_SCOPE("outer");
    TAKT_SCOPE_IN("io", TAKT_LEVEL_FINE, "read");
    TAKT_SCOPE_COLOR(0xff8800, "in orange");
    TAKT_SCOPE_COLOR(0xFF8800u, "in the same");
    TAKT_SCOPE_COLOR(0, TAKT_FUNCTION_NAME);
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "density");
    for (int i = 0; i < cells; i++) {
        TAKT_SCOPE("shadowed");
        { TAKT_SCOPE("one"); } { TAKT_SCOPE("another on this line"); }
    }
    if (cells)
        TAKT_PHASE("neighbours");
    else
        TAKT_PHASE("forces");
    if (cells)
        TAKT_BEGIN("solve");
    if (cells)
        TAKT_END("solve");
    takt_begin(name);
    takt_end();
    TAKT_OPEN(zone, "zone");
    {
        TAKT_OPEN(inner, "inner");
        TAKT_CLOSE(inner);
    }
    TAKT_CLOSE(zone);
}

void use_values(unsigned char small, int cells, long wide, unsigned long long wider, float single,
                bool flag, const char *name)
{
    if (cells)
        TAKT_MARK("contact");
    else
        TAKT_COUNTER("cells", cells);
    TAKT_COUNTER("single", single);
    TAKT_WORK(2.0 * cells, wide);
    TAKT_ARG("small", small);
    TAKT_ARG("cells", cells);
    TAKT_ARG("wide", wide);
    TAKT_ARG("wider", wider);
    TAKT_ARG("single", single);
    TAKT_ARG("double", 5.0);
    TAKT_ARG("flag", flag);
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
    TAKT_ARG("name", name);
    TAKT_ARG("literal", "text");
#else
    (void)name;
#endif
}
