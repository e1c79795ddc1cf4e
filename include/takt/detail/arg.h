/* takt/detail/arg.h - the values of TAKT_ARG and TAKT_COUNTER: accepts every type that a trace can
 * hold, refuses others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_ARG_H
#define TAKT_DETAIL_ARG_H

#include <takt/detail/macros.h>

TAKT_INLINES_BEGIN

#ifdef __cplusplus

/* What <type_traits> knows, which takes compilers more time than all of these headers. */
enum takt_value_kind {
    TAKT_VALUE_NONE,
    TAKT_VALUE_ENUM,
    TAKT_VALUE_INTEGER,
    TAKT_VALUE_REAL
};
template <typename T> struct takt_value {
    static const takt_value_kind kind = __is_enum(T) ? TAKT_VALUE_ENUM : TAKT_VALUE_NONE;
};
#define TAKT_VALUE_OF(type, is)                                                                    \
    template <> struct takt_value<type> {                                                          \
        static const takt_value_kind kind = is;                                                    \
    };
TAKT_VALUE_OF(float, TAKT_VALUE_REAL)
TAKT_VALUE_OF(double, TAKT_VALUE_REAL)
TAKT_VALUE_OF(long double, TAKT_VALUE_REAL)
TAKT_VALUE_OF(char, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(signed char, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(unsigned char, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(wchar_t, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(char16_t, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(char32_t, TAKT_VALUE_INTEGER)
#ifdef __cpp_char8_t
TAKT_VALUE_OF(char8_t, TAKT_VALUE_INTEGER)
#endif
TAKT_VALUE_OF(short, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(unsigned short, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(int, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(unsigned, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(long, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(unsigned long, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(long long, TAKT_VALUE_INTEGER)
TAKT_VALUE_OF(unsigned long long, TAKT_VALUE_INTEGER)
#undef TAKT_VALUE_OF

/* Records a value of each kind. */
template <takt_value_kind Kind> struct takt_arg_as;
template <> struct takt_arg_as<TAKT_VALUE_REAL> {
    template <typename T> TAKT_INLINE static void record(takt_site *site, T value)
    {
        takt_arg_double_v1(site, static_cast<double>(value));
    }
};
template <> struct takt_arg_as<TAKT_VALUE_INTEGER> {
    template <typename T> TAKT_INLINE static void record(takt_site *site, T value)
    {
        if (static_cast<T>(-1) < static_cast<T>(1))
            takt_arg_int_v1(site, static_cast<int64_t>(value));
        else
            takt_arg_uint_v1(site, static_cast<uint64_t>(value));
    }
};
template <> struct takt_arg_as<TAKT_VALUE_ENUM> {
    template <typename T> TAKT_INLINE static void record(takt_site *site, T value);
};
template <> struct takt_arg_as<TAKT_VALUE_NONE> {
    template <typename T> TAKT_INLINE static void record(takt_site *, const T &)
    {
        static_assert(
            takt_value<T>::kind != TAKT_VALUE_NONE,
            "Takt: TAKT_ARG takes a number of up to 64 bits, an enum, a bool or a char *");
    }
};

TAKT_INLINE void takt_arg(takt_site *site, bool value)
{
    takt_arg_bool_v1(site, value);
}
TAKT_INLINE void takt_arg(takt_site *site, char *value)
{
    takt_arg_string_v1(site, value);
}
TAKT_INLINE void takt_arg(takt_site *site, const char *value)
{
    takt_arg_string_v1(site, value);
}
template <typename T> TAKT_INLINE void takt_arg(takt_site *site, T value)
{
    takt_arg_as<takt_value<T>::kind>::record(site, value);
}
template <typename T>
TAKT_INLINE void takt_arg_as<TAKT_VALUE_ENUM>::record(takt_site *site, T value)
{
    takt_arg(site, static_cast<__underlying_type(T)>(value));
}

/* A cast that g++ never calls useless. Numbers by value: a reference would need a definition of
 * `static const int n = 5`. */
template <typename T> struct takt_class {
    static const bool is = __is_class(T);
};
template <typename Type, bool IsClass> struct takt_number {
    typedef Type value;
};
template <typename Type> struct takt_number<Type, true> {
    typedef Type object;
};
template <typename Type, typename T>
TAKT_INLINE constexpr typename takt_number<Type, takt_class<T>::is>::value takt_to(T value)
{
    return static_cast<Type>(value);
}
template <typename Type, typename T>
TAKT_INLINE constexpr typename takt_number<Type, takt_class<T>::is>::object takt_to(const T &object)
{
    return static_cast<Type>(object);
}
#define TAKT_TO(type, ...) takt_to<type>(__VA_ARGS__)

#define TAKT_DO_ARG(key, ...)                                                                      \
    TAKT_SITE_DO(takt_arg, TAKT_NORMAL_BIT, takt_arg_at_, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, key,    \
                 TAKT_COMMA __VA_ARGS__)

#else

#define TAKT_TO(type, ...) ((type)(__VA_ARGS__))

#if __STDC_VERSION__ >= 201112L
TAKT_INLINE void takt_arg_float(takt_site *site, float value)
{
    takt_arg_double_v1(site, TAKT_CAST(double, value));
}
TAKT_INLINE void takt_arg_real(takt_site *site, long double value)
{
    takt_arg_double_v1(site, TAKT_CAST(double, value));
}
struct takt_number_bool_or_string {
    char empty;
};
void takt_arg_takes(takt_site *site, struct takt_number_bool_or_string value); /* never defined */
#define TAKT_ARG_FUNCTION(value)                                                                   \
    _Generic((value), _Bool                                                                        \
             : takt_arg_bool_v1, float                                                             \
             : takt_arg_float, double                                                              \
             : takt_arg_double_v1, char *                                                          \
             : takt_arg_string_v1, const char *                                                    \
             : takt_arg_string_v1, unsigned                                                        \
             : takt_arg_uint_v1, unsigned long                                                     \
             : takt_arg_uint_v1, unsigned long long                                                \
             : takt_arg_uint_v1, default                                                           \
             : TAKT_ARG_OTHER(value))
                                                                               /* Bit-fields have unnamed types, and so have some floating-point types in C. */
#define TAKT_ARG_OTHER(value)                                                                      \
    __builtin_choose_expr(TAKT_ARG_HAS_CLASS_OF(0.0, value), takt_arg_real,                        \
                          __builtin_choose_expr(TAKT_ARG_HAS_CLASS_OF(0, value) &&                 \
                                                    sizeof(1 ? 0 : (value)) <= sizeof(uint64_t),   \
                                                takt_arg_int_v1, takt_arg_takes))
#define TAKT_ARG_HAS_CLASS_OF(sample, value)                                                       \
    (__builtin_classify_type(_Generic((value), float : 0.0, default : (value))) ==                 \
     __builtin_classify_type(sample)) /* a promoted float is a warning */
#define TAKT_DO_ARG(key, value)                                                                    \
    TAKT_SITE_DO(TAKT_ARG_FUNCTION(value), TAKT_NORMAL_BIT, takt_arg_at_, TAKT_SITE_ARG,           \
                 TAKT_INSTEAD_ARG, key, TAKT_COMMA(value))
#else /* C99 has no _Generic: numbers only */
#define TAKT_DO_ARG(key, value)                                                                    \
    TAKT_SITE_DO(takt_arg_double_v1, TAKT_NORMAL_BIT, takt_arg_at_, TAKT_SITE_ARG,                 \
                 TAKT_INSTEAD_ARG, key, TAKT_COMMA TAKT_CAST(double, value))
#endif

#endif

TAKT_INLINES_END

#endif
