/* Names that no macro may take, since the first one would stay for ever, and values that TAKT_ARG
 * cannot record. Behind each line stands what check_names.sh must find in the compiler's message. */
#include <takt/takt.h>

extern const char elsewhere[];

struct Job {
    const char *name;
    char text[32];
    void run() const
    {
        TAKT_SCOPE(name); // use takt::Scope
        TAKT_SCOPE(text); // use takt::Scope
    }
};

template <unsigned Size> void measure(const char (&name)[Size])
{
    TAKT_SCOPE(name); // use takt::Scope
}

void bad_values(int *number, unsigned char *bytes, void (*function)(), Job job);
void bad_values(int *number, unsigned char *bytes, void (*function)(), Job job)
{
    TAKT_ARG("number", number); // TAKT_ARG takes
    TAKT_ARG("bytes", bytes); // TAKT_ARG takes
    TAKT_ARG("function", function); // TAKT_ARG takes
    TAKT_ARG("job", job); // TAKT_ARG takes
    TAKT_ARG("nothing", nullptr); // TAKT_ARG takes
    TAKT_ARG("wide", (__int128)*number); // TAKT_ARG takes
}

void bad_names(const char *name, const char *const fixed, int number, void *stream);
void bad_names(const char *name, const char *const fixed, int number, void *stream)
{
    static char buffer[32];
    TAKT_SCOPE(name); // use takt::Scope
    TAKT_SCOPE(fixed); // use takt::Scope
    TAKT_SCOPE(buffer); // use takt::Scope
    TAKT_SCOPE(elsewhere); // use takt::Scope
    TAKT_SCOPE(number ? "even" : "odd"); // use takt::Scope
    TAKT_SCOPE("0123456789" + number); // use takt::Scope
    TAKT_SCOPE_IN("io", TAKT_LEVEL_FINE, name); // use takt::Scope
    TAKT_SCOPE_IN(name, TAKT_LEVEL_FINE, "read"); // a category must be a constant
    TAKT_SCOPE_IN("io", number, "read"); // a level must be a constant
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, name); // use takt::Scope
    TAKT_ACTIVITY(name, TAKT_TIMING_KERNEL, "density"); // a device must be a constant
    TAKT_ACTIVITY("cpu", (uint32_t)number, "density"); // a filter must be a constant
    TAKT_BEGIN(name); // use takt::Scope
    TAKT_END(name); // use takt_end()
    TAKT_PHASE(name); // use takt_begin()
    TAKT_MARK(name); // use takt_mark()
    TAKT_COUNTER(name, number); // use takt_counter()
    TAKT_ARG(name, number); // the value of TAKT_ARG
    TAKT_STREAM_SCOPE(stream, name); // put takt::Scope
    TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, name) // put takt::Scope
    { number++; }
    [&] { TAKT_SCOPE(name); }(); // use takt::Scope
    measure("name");
}
