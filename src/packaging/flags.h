/* NaN is "no value" in Takt, so its numbers are what C says whatever a program's flags are: -ffast-math,
 * -Ofast, -fsingle-precision-constant. */
#if defined(__clang__)
#pragma float_control(precise, on)
#else
#pragma GCC optimize("no-fast-math", "no-single-precision-constant")
#endif
