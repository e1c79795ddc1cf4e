/* Recordings of what CUPTI wrote: its raw buffers, with what is needed to read them elsewhere. The
 * records hold pointers to texts; those texts are kept beside the buffers, by their addresses, and
 * reading a recording puts its own copies in. Which lengths the records have is kept too, since
 * they are those of the library that wrote them. test/data/cupti/README.md has the format. */
#ifndef TEST_RECORDING_H
#define TEST_RECORDING_H

#include "cuda/cupti.h"

#include <stdio.h>

/* Writing. */

typedef struct cupti_recorder {
    tkt_mutex lock;
    FILE *file;
    tkt_record_sizes sizes;
    tkt_map known; /* addresses of texts -> hash of the text that was there last */
} cupti_recorder;

/* Creates the file; false, and errno, if that fails. */
bool recorder_open(cupti_recorder *recorder, const char *path, uint32_t cupti_version,
                   const tkt_record_sizes *sizes);

/* Adds a buffer as CUPTI hands it back, or a reading of its clock. Any thread; while the texts are
 * there, so best from the callback that completes a buffer. */
void recorder_buffer(cupti_recorder *recorder, const void *buffer, size_t valid_bytes);
void recorder_clock(cupti_recorder *recorder, uint64_t takt_ns, uint64_t cupti_ns,
                    uint32_t bracket_ns);

/* False if anything could not be written. */
bool recorder_close(cupti_recorder *recorder);

/* Reading. */

typedef struct recorded_buffer {
    uint8_t *bytes; /* with pointers to texts of the recording */
    size_t   size;
} recorded_buffer;

typedef struct cupti_recording {
    uint32_t cupti_version;
    tkt_record_sizes sizes;
    TKT_ARRAY_OF(recorded_buffer) buffers;
    TKT_ARRAY_OF(tkt_clock_pair) pairs; /* ticks are nanoseconds */
    TKT_ARRAY_OF(char *) texts;
} cupti_recording;

/* TAKT_BAD_TRACE: it is no recording, or cut; TAKT_NO_MEMORY. The caller calls recording_fini()
 * after TAKT_OK. */
takt_status recording_read(const void *bytes, size_t size, cupti_recording *out);
void recording_fini(cupti_recording *recording);

/* Adds the clock to the store and decodes all buffers. */
void recording_replay(const cupti_recording *recording, tkt_store *store);

#endif
