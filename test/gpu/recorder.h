/* Keeps CUPTI's raw buffers in a file that tests can replay: test/support/recording.h. */
#ifndef GPU_RECORDER_H
#define GPU_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes CUPTI and records into `path` what the process does from now on. False after a line that
 * says why. */
bool gpu_record_begin(const char *path);

/* Flushes and closes; call it when all devices are idle. False if something was not written. */
bool gpu_record_end(void);

/* How many activities the decoder finds in the file, and how many records it cannot read. False: it
 * is no recording. */
bool gpu_record_count(const char *path, uint64_t *activities, uint64_t *unreadable);

#ifdef __cplusplus
}
#endif
#endif
