/* Which sanitizer the file is compiled with: gcc and clang tell it in different ways. */
#ifndef TKT_BASE_SANITIZERS_H
#define TKT_BASE_SANITIZERS_H

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define TKT_THREAD_SANITIZER
#endif
#if __has_feature(address_sanitizer)
#define TKT_ADDRESS_SANITIZER
#endif
#endif

#if defined(__SANITIZE_THREAD__) && !defined(TKT_THREAD_SANITIZER)
#define TKT_THREAD_SANITIZER
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(TKT_ADDRESS_SANITIZER)
#define TKT_ADDRESS_SANITIZER
#endif

#endif
