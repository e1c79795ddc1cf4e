/* takt/compile.h - the compilation of device code: on the timeline, and in the report `compile`.
 *
 *     takt_compile *compile = takt_compile_begin("solver.cu");
 *     const char *options[] = {"--gpu-architecture=sm_90", takt_compile_option(compile)};
 *     nvrtcCompileProgram(program, options[1] ? 2 : 1, options);
 *     takt_compile_end(compile);
 *
 * The phases come from the compiler's own time trace, which NVRTC and nvcc write since CUDA 12.8.
 * They are spans of the track "compile: solver.cu". No CUDA header is needed.
 *
 * Call these functions on any thread, but not in signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_COMPILE_H
#define TAKT_COMPILE_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_compile takt_compile;

/* Begins to time the compilation of `unit`, a name for people; the text is copied. Returns NULL
 * while nothing records or without memory; the other functions ignore NULL. */
TAKT_API takt_compile *takt_compile_begin(const char *unit);

/* Returns the option "--fdevice-time-trace=PATH" for NVRTC or nvcc, with a new file's path below
 * TMPDIR or /tmp. Pass it to one compilation, and only to CUDA 12.8 or later: older compilers
 * refuse it. Returns NULL for a NULL `compile`, or if no folder can be made there; the log has the
 * reason. Borrowed until takt_compile_end(). */
TAKT_API const char *takt_compile_option(const takt_compile *compile);

/* Records the compilation, which ends now, reads and removes its file, and frees `compile`. Without
 * a file it records only one span, for the whole compilation. The log names a malformed file and
 * the place. */
TAKT_API void takt_compile_end(takt_compile *compile);

/* Records a compilation that the caller has timed with takt_now_ns(). `path` is the compiler's time
 * trace, which Takt does not remove. Phases beyond `end_ns` are cut off. If `unit` is NULL, the
 * file's name stands for it. `error` may be NULL. TAKT_BAD_STATE while nothing records;
 * TAKT_BAD_ARGUMENT if the end is before the begin; TAKT_IO_ERROR, TAKT_BAD_TRACE or TAKT_NO_MEMORY
 * if the file cannot be read: then only the span of the whole compilation is recorded. */
TAKT_API takt_status takt_compile_add(const char *path, const char *unit, uint64_t begin_ns,
                                      uint64_t end_ns, takt_error *error);

#ifdef __cplusplus
}
#endif
#endif
