/* takt/detail/arg.h - TAKT_ARG: accepts values of every type that a trace can hold, refuses others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_ARG_H
#define TAKT_DETAIL_ARG_H

#include <takt/detail/macros.h>
#ifdef __cplusplus
extern "C++" { /* the including file may be inside extern "C" */
#include <type_traits>
}
#endif

#ifdef __cplusplus
extern "C++" {
template <typename T> struct takt_is_number_ {
    static const bool value =
        std::is_floating_point<T>::value ||
        ((std::is_integral<T>::value || std::is_enum<T>::value) && sizeof(T) <= sizeof(uint64_t));
};
template <typename T, bool IsEnum = std::is_enum<T>::value> struct takt_integer_ {
    typedef T type;
};
template <typename T> struct takt_integer_<T, true> {
    typedef typename std::underlying_type<T>::type type;
};
inline void takt_arg(takt_site *site, bool value) { takt_arg_bool_v1(site, value); }
inline void takt_arg(takt_site *site, char *value) { takt_arg_string_v1(site, value); }
inline void takt_arg(takt_site *site, const char *value) { takt_arg_string_v1(site, value); }
template <typename T>
inline typename std::enable_if<takt_is_number_<T>::value>::type takt_arg(takt_site *site, T value)
{
    if (std::is_floating_point<T>::value)
        takt_arg_double_v1(site, TAKT_CAST(double, value));
    else if (std::is_signed<typename takt_integer_<T>::type>::value)
        takt_arg_int_v1(site, TAKT_CAST(int64_t, value));
    else
        takt_arg_uint_v1(site, TAKT_CAST(uint64_t, value));
}
template <typename T>
inline typename std::enable_if<!takt_is_number_<T>::value>::type takt_arg(takt_site *, T)
{
    static_assert(takt_is_number_<T>::value,
                  "Takt: TAKT_ARG takes a number of up to 64 bits, an enum, a bool or a char *");
}
}
#define TAKT_DO_ARG(key, value)                                                                    \
    TAKT_SITE_DO(takt_arg, TAKT_NORMAL_BIT, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, key, TAKT_COMMA(value))
#elif __STDC_VERSION__ >= 201112L
static inline void takt_arg_real(takt_site *site, long double value)
{
    takt_arg_double_v1(site, TAKT_CAST(double, value));
}
struct takt_number_bool_or_string {
    char unused;
};
void takt_arg_takes(takt_site *site, struct takt_number_bool_or_string value); /* never defined */
#define TAKT_ARG_FUNCTION(value)                                                                   \
    _Generic((value), _Bool                                                                        \
             : takt_arg_bool_v1, float                                                             \
             : takt_arg_double_v1, double                                                          \
             : takt_arg_double_v1, char *                                                          \
             : takt_arg_string_v1, const char *                                                    \
             : takt_arg_string_v1, unsigned                                                        \
             : takt_arg_uint_v1, unsigned long                                                     \
             : takt_arg_uint_v1, unsigned long long                                                \
             : takt_arg_uint_v1, default                                                           \
             : TAKT_ARG_OTHER(value))
/* Bit-fields have unnamed types, and so have some floating-point types in C. */
#define TAKT_ARG_OTHER(value)                                                                      \
    __builtin_choose_expr(                                                                         \
        TAKT_ARG_HAS_CLASS_OF(0.0, value), takt_arg_real,                                          \
        __builtin_choose_expr(TAKT_ARG_HAS_CLASS_OF(0, value) &&                                   \
                                  sizeof(1 ? 0 : (value)) <= sizeof(uint64_t),                     \
                              takt_arg_int_v1, takt_arg_takes))
#define TAKT_ARG_HAS_CLASS_OF(sample, value)                                                       \
    (__builtin_classify_type(value) == __builtin_classify_type(sample))
#define TAKT_DO_ARG(key, value)                                                                    \
    TAKT_SITE_DO(TAKT_ARG_FUNCTION(value), TAKT_NORMAL_BIT, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, key,  \
                 TAKT_COMMA(value))
#else /* C99 has no _Generic: numbers only */
#define TAKT_DO_ARG(key, value)                                                                    \
    TAKT_SITE_DO(takt_arg_double_v1, TAKT_NORMAL_BIT, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, key,        \
                 TAKT_COMMA TAKT_CAST(double, value))
#endif

#endif
