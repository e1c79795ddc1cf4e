/* Names that no macro may take, since the first one would stay for ever or since they are no texts, and
 * values that TAKT_ARG cannot record. Behind each line stands what check_names.sh must find in the compiler's message. */
#include <takt/takt.h>

extern const char elsewhere[];

struct Job {
    const char *name;
    char text[32];
    void run() const
    {
        TAKT_SCOPE(name); // constexpr. For names made at run time use takt::Scope
        TAKT_SCOPE(text); // constexpr. For names made at run time use takt::Scope
    }
};

template <unsigned Size> void measure(const char (&name)[Size])
{
    TAKT_SCOPE(name); // constexpr. For names made at run time use takt::Scope
}

/* As std::string and std::string_view are. */
struct String {
    const char *data() const { return "text"; }
    const char *c_str() const { return data(); }
};

/* Has numbers, no text. */
struct Numbers {
    const int *data() const { return nullptr; }
};

void no_texts(int number, Job job, Numbers numbers, void *stream, const unsigned char *bytes);
void no_texts(int number, Job job, Numbers numbers, void *stream, const unsigned char *bytes)
{
    TAKT_SCOPE(number); // a name must be a text
    TAKT_SCOPE(5); // a name must be a text
    TAKT_SCOPE('c'); // a name must be a text
    TAKT_SCOPE(L"wide"); // a name must be a text
    TAKT_SCOPE(job); // a name must be a text
    TAKT_SCOPE(numbers); // a name must be a text
    TAKT_SCOPE(stream); // a name must be a text
    TAKT_SCOPE(bytes); // a name must be a text
    TAKT_SCOPE_IN("io", TAKT_LEVEL_FINE, number); // a name must be a text
    TAKT_SCOPE_IN(number, TAKT_LEVEL_FINE, "read"); // a category must be a text
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, job); // a name must be a text
    TAKT_ACTIVITY(job, TAKT_TIMING_KERNEL, "density"); // a device must be a text
    TAKT_BEGIN(job); // a name must be a text
    TAKT_END(number); // a name must be a text
    TAKT_PHASE(job); // a name must be a text
    TAKT_MARK(number); // a name must be a text
    TAKT_COUNTER(job, number); // a name must be a text
    TAKT_ARG(job, number); // a name must be a text
    TAKT_FRAME(job); // a name must be a text
    TAKT_OPEN(opened, number); // a name must be a text
    TAKT_STREAM_SCOPE(stream, number); // a name must be a text
    TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, number) // a name must be a text
    { number++; }
}

void strings(String text, void *stream, int number);
void strings(String text, void *stream, int number)
{
    TAKT_SCOPE(text); // take its c_str(). For names made at run time use takt::Scope
    TAKT_SCOPE_IN("io", TAKT_LEVEL_FINE, text); // take its c_str(). For names made at run time use takt::Scope
    TAKT_SCOPE_IN(text, TAKT_LEVEL_FINE, "read"); // a category must be a constant
    TAKT_ACTIVITY(text, TAKT_TIMING_KERNEL, "density"); // a device must be a constant
    TAKT_BEGIN(text); // take its c_str(). For names made at run time use takt::Scope
    TAKT_END(text); // take its c_str(). For names made at run time use takt_end()
    TAKT_PHASE(text); // take its c_str(). For names made at run time use takt_begin()
    TAKT_MARK(text); // take its c_str(). For names made at run time use takt_mark()
    TAKT_COUNTER(text, number); // take its c_str(). For names made at run time use takt_counter()
    TAKT_ARG(text, number); // take its c_str(). Text made at run time may be the value of TAKT_ARG
    TAKT_FRAME(text); // take its c_str(). For names made at run time use takt_span_at()
    TAKT_STREAM_SCOPE(stream, text); // take its c_str(). For names made at run time put takt::Scope
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
    TAKT_SCOPE(name); // constexpr. For names made at run time use takt::Scope
    TAKT_SCOPE(fixed); // constexpr. For names made at run time use takt::Scope
    TAKT_SCOPE(buffer); // constexpr. For names made at run time use takt::Scope
    TAKT_SCOPE(elsewhere); // constexpr. For names made at run time use takt::Scope
    TAKT_SCOPE(number ? "even" : "odd"); // constexpr. For names made at run time use takt::Scope
    TAKT_SCOPE("0123456789" + number); // constexpr. For names made at run time use takt::Scope
    TAKT_SCOPE_IN("io", TAKT_LEVEL_FINE, name); // constexpr. For names made at run time use takt::Scope
    TAKT_SCOPE_IN(name, TAKT_LEVEL_FINE, "read"); // a category must be a constant
    TAKT_SCOPE_IN("io", number, "read"); // a level must be a constant
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, name); // constexpr. For names made at run time use takt::Scope
    TAKT_ACTIVITY(name, TAKT_TIMING_KERNEL, "density"); // a device must be a constant
    TAKT_ACTIVITY("cpu", (uint32_t)number, "density"); // a filter must be a constant
    TAKT_BEGIN(name); // constexpr. For names made at run time use takt::Scope
    TAKT_END(name); // constexpr. For names made at run time use takt_end()
    TAKT_PHASE(name); // constexpr. For names made at run time use takt_begin()
    TAKT_MARK(name); // constexpr. For names made at run time use takt_mark()
    TAKT_COUNTER(name, number); // constexpr. For names made at run time use takt_counter()
    TAKT_ARG(name, number); // constexpr. Text made at run time may be the value of TAKT_ARG
    TAKT_STREAM_SCOPE(stream, name); // constexpr. For names made at run time put takt::Scope
    TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, name) // constexpr. For names made at run time put takt::Scope
    { number++; }
    [&] { TAKT_SCOPE(name); }(); // constexpr. For names made at run time use takt::Scope
    measure("name");
}
