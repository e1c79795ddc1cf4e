/* What fuzz targets hold of every trace, wherever its bytes came from; they abort where it does
 * not. */
#ifndef TEST_JUDGE_H
#define TEST_JUDGE_H

#include <takt/trace.h>

#include <stdbool.h>
#include <stddef.h>

#define judge(is_true) judge_that((is_true), #is_true, __FILE__, __LINE__)
void judge_that(bool is_true, const char *what, const char *file, int line);

/* It can be walked, folded, reported and exported: in one form of each, which `choice` picks. */
void judge_trace(const takt_trace *trace, size_t choice);

/* What a reader made of any bytes: refused with one line that says why, or a trace for which all of
 * this holds. Releases it. */
void judge_opened(takt_status status, takt_trace *trace, const takt_error *error, size_t choice);

/* Its file, read. */
takt_trace *judge_read_back(const takt_trace *trace);

/* For a trace that was read: what is written of it is the same file again when it is read. */
void judge_settled(const takt_trace *trace);

#endif
