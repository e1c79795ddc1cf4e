/* A program that a sanitizer slows down does work FEWER(few, many) times. */
#ifndef TEST_SUPPORT_SANITIZED_H
#define TEST_SUPPORT_SANITIZED_H

#include "base/sanitizers.h"

#if defined(TKT_ADDRESS_SANITIZER) || defined(TKT_THREAD_SANITIZER)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
#define FEWER(few, many) (IS_SANITIZED ? (few) : (many))

#endif
