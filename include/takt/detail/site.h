/* takt/detail/site.h - which names a macro accepts, and the error messages for all others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_SITE_H
#define TAKT_DETAIL_SITE_H

#include <takt/detail/layout.h>

/* The name of the current function. In C++ this is a signature; the library keeps only the name in
 * it. */
#ifdef __cplusplus
#define TAKT_FUNCTION_NAME __PRETTY_FUNCTION__
#else
#define TAKT_FUNCTION_NAME __func__
#endif

#define TAKT_JOIN_(a, b) a##b
#define TAKT_JOIN(a, b)  TAKT_JOIN_(a, b)

/* A macro stores its name once, in static data, so the compiler must know the name. C refuses other
 * names ("initializer element is not constant"). C++ would keep the name of the first call for
 * ever, so TAKT_REQUIRE refuses such names and tells what to use instead. TAKT_CONSTINIT refuses
 * text that the compiler knows but that does not stay in memory, such as a const array on the
 * stack. */
#ifdef __cplusplus
TAKT_INLINES_BEGIN
/* What a name's type is, by the size of what these return: 1 for a text of C, and for an object
 * with such a text in it. They are never called, nor defined. */
char (&takt_text_of(const char *))[1];
char (&takt_text_of(...))[2];
template <typename T>
auto takt_string_of(const T &text, int) -> decltype(takt_text_of(text.data()));
char (&takt_string_of(...))[2];
template <bool IsText> struct takt_letter {
    TAKT_INLINE static constexpr char first(const char *text) { return text ? *text : '\0'; }
};
template <> struct takt_letter<false> {
    template <typename T> TAKT_INLINE static constexpr char first(const T &) { return '\0'; }
};
TAKT_INLINE takt_site *takt_site_name(takt_site *site, const char *name, const char *function)
{
    site->function = function;
    site->name = name;
    return site;
}
TAKT_INLINES_END
#define TAKT_IS_TEXT(text)   (sizeof(takt_text_of(text)) == 1)
#define TAKT_IS_STRING(text) (!TAKT_IS_TEXT(text) && sizeof(takt_string_of(text, 0)) == 1)
#define TAKT_IS_KNOWN(text)                                                                        \
    (!TAKT_IS_TEXT(text) || __builtin_constant_p(takt_letter<TAKT_IS_TEXT(text)>::first(text)))
#define TAKT_REQUIRE(what, message) static_assert(what, message);
#if defined(__NVCC__) || defined(__EDG__) /* __func__ in templates is no constant there */
#define TAKT_CONSTINIT
#elif defined(__clang__)
#define TAKT_CONSTINIT __attribute__((__require_constant_initialization__))
#elif __GNUC__ >= 10
#define TAKT_CONSTINIT __constinit
#else
#define TAKT_CONSTINIT
#endif
#else
#define TAKT_REQUIRE(what, message)
#define TAKT_CONSTINIT
#endif

/* For the code of macros, since clang warns of two things there. Statics are a file's own although
 * the function around them is inline: in C, and from clang 22 on in C++, if a module exports the
 * function. And from clang 22 on -Wpedantic warns of __COUNTER__. Neither helps an argument of
 * another macro: clang reads arguments first. */
#if defined(__clang__) && !defined(__NVCC__)
#define TAKT_PRAGMA(text) _Pragma(#text)
#define TAKT_QUIET_BEGIN                                                                           \
    TAKT_PRAGMA(clang diagnostic push)                                                             \
    TAKT_PRAGMA(clang diagnostic ignored "-Wunknown-warning-option")                               \
    TAKT_PRAGMA(clang diagnostic ignored "-Wstatic-local-in-inline")                               \
    TAKT_PRAGMA(clang diagnostic ignored "-WTU-local-entity-exposure")                             \
    TAKT_PRAGMA(clang diagnostic ignored "-Wc2y-extensions")
#define TAKT_QUIET_END TAKT_PRAGMA(clang diagnostic pop)
#else
#define TAKT_QUIET_BEGIN
#define TAKT_QUIET_END
#endif
#define TAKT_REQUIRE_TEXT(text, what)                                                              \
    TAKT_REQUIRE(TAKT_IS_TEXT(text) || TAKT_IS_STRING(text),                                       \
                 "Takt: " what " must be a text, a const char *")
#define TAKT_REQUIRE_NAME(name, instead)                                                           \
    TAKT_REQUIRE_TEXT(name, "a name")                                                              \
    TAKT_REQUIRE(!TAKT_IS_STRING(name),                                                            \
                 "Takt: this name must be a literal or static constexpr, not a string of C++. Of " \
                 "such a string take its c_str(). " instead)                                       \
    TAKT_REQUIRE(TAKT_IS_KNOWN(name),                                                              \
                 "Takt: this name must be a literal or static constexpr. " instead)
#define TAKT_REQUIRE_REST(category, level, device, filter)                                         \
    TAKT_REQUIRE_TEXT(category, "a category")                                                      \
    TAKT_REQUIRE_TEXT(device, "a device")                                                          \
    TAKT_REQUIRE(!TAKT_IS_STRING(category) && TAKT_IS_KNOWN(category),                             \
                 "Takt: a category must be a constant")                                            \
    TAKT_REQUIRE(!TAKT_IS_STRING(device) && TAKT_IS_KNOWN(device),                                 \
                 "Takt: a device must be a constant")                                              \
    TAKT_REQUIRE(__builtin_constant_p(level), "Takt: a level must be a constant")                  \
    TAKT_REQUIRE((level) >= 1 ? (level) <= 255 : false, "Takt: a level is from 1 to 255")          \
    TAKT_REQUIRE(__builtin_constant_p(filter), "Takt: a filter must be a constant")

/* A call site, as an expression. Compilers share the statics of inline functions and templates
 * between files by their names. So the name follows from the place alone, a macro and its line;
 * each is in a block of its own, since compilers number those of the same name by their order,
 * which differs between files that leave some out. Compilers also differ in the line of a call over
 * several lines, and in the order: so nvcc's have names of their own. */
#define TAKT_SITE(place, instead, kind, level, category, name, device, filter)                     \
    TAKT_SITE_NAMED(TAKT_JOIN(place, TAKT_JOIN(TAKT_SITE_BY, __LINE__)), instead, kind, level,     \
                    category, name, /* for names made at run time use takt_begin() and the like */ \
                    device, filter)
/* clang++ exports such statics whatever their type is, so there they are a file's own. But their
 * names lack the function: up to clang 22, code for `&variable` finds the file's first static of
 * the name, which may be that of another instance of a template, or of another module. A constant
 * has the right address. */
#if defined(__clang__) && defined(__cplusplus)
#define TAKT_SITE_OWN __attribute__((__internal_linkage__))
#define TAKT_SITE_ADDRESS(variable)                                                                \
    constexpr takt_site *takt_here = &variable;                                                    \
    takt_here
#else
#define TAKT_SITE_OWN
#define TAKT_SITE_ADDRESS(variable) &variable
#endif
#if defined(__NVCC__) || defined(__EDG__)
/* In templates, nvcc takes the name of a function for no constant, and refuses the static. So there
 * the names are stored at each hit, into a static that no other compiler's files have; TAKT_OPENED
 * evaluates a site only while something records. */
#define TAKT_SITE_BY nvcc_
#define TAKT_SITE_NAMED(variable, instead, kind, level, category, name, device, filter)            \
    (__extension__({                                                                               \
        TAKT_REQUIRE_NAME(name, instead)                                                           \
        TAKT_REQUIRE_REST(category, level, device, filter)                                         \
        static takt_site variable =                                                                \
            TAKT_SITE_AS(kind, level, category, TAKT_NULL, TAKT_NULL, device, filter);             \
        takt_site_name(&variable, name, TAKT_FUNCTION_NAME);                                       \
    }))
#else
#define TAKT_SITE_BY
#define TAKT_SITE_NAMED(variable, instead, kind, level, category, name, device, filter)            \
    (__extension__({                                                                               \
        TAKT_REQUIRE_NAME(name, instead)                                                           \
        TAKT_REQUIRE_REST(category, level, device, filter)                                         \
        TAKT_SITE_OWN TAKT_CONSTINIT static takt_site variable =                                   \
            TAKT_SITE_AS(kind, level, category, name, TAKT_FUNCTION_NAME, device, filter);         \
        TAKT_SITE_ADDRESS(variable);                                                               \
    }))
#endif
#define TAKT_SITE_AS(kind, level, category, name, function, device, filter)                        \
    {                                                                                              \
        TAKT_SLOW, TAKT_CAST(uint8_t, kind), TAKT_LEVEL_OF(level), 0, ~UINT64_C(0),                \
            (name), /* a literal; for names made at run time use takt_begin() and the like */      \
            (category), __FILE__, (function), (device), __LINE__, (filter)                         \
    }
#ifdef __cplusplus
#define TAKT_LEVEL_OF(level) TAKT_CAST(uint8_t, level)
#else /* an array of -1 bytes is refused */
#define TAKT_LEVEL_OF(level)                                                                       \
    ((uint8_t)((level) * sizeof(char[(level) >= 1 && (level) <= 255 ? 1 : -1])))
#endif

/* With the default level and category. */
#define TAKT_SITE_HERE(place, instead, kind, name)                                                 \
    TAKT_SITE(place, instead, kind, TAKT_LEVEL_NORMAL, TAKT_NULL, name, TAKT_NULL, 0)

#define TAKT_INSTEAD_SCOPE                                                                         \
    "For names made at run time use takt::Scope, or takt_begin() and takt_end()"
#define TAKT_INSTEAD_PHASE   "For names made at run time use takt_begin() and takt_end()"
#define TAKT_INSTEAD_END     "For names made at run time use takt_end()"
#define TAKT_INSTEAD_MARK    "For names made at run time use takt_mark()"
#define TAKT_INSTEAD_COUNTER "For names made at run time use takt_counter()"
#define TAKT_INSTEAD_FRAME   "For names made at run time use takt_span_at()"
#define TAKT_INSTEAD_ARG     "Text made at run time may be the value of TAKT_ARG, not its key"
#define TAKT_INSTEAD_STREAM                                                                        \
    "For names made at run time put takt::Scope, or takt_begin() and takt_end(), around it"

#endif
