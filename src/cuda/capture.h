/* Captures of streams, and Takt's own waiting for devices, keep out of each other's way: waiting for
 * a context in which a stream is being captured would spoil the capture. */
#ifndef TKT_CUDA_CAPTURE_H
#define TKT_CUDA_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

/* A capture is about to begin on the calling thread. Waits until nobody waits for devices, at most
 * two seconds. */
void tkt_capture_begin(void);

/* It has ended, or could not begin. */
void tkt_capture_end(void);

/* How many are known to go on. */
uint32_t tkt_capture_count(void);

/* Keeps captures from beginning until the release, while the caller waits for a device; false while
 * one goes on: then there is nothing to release. */
bool tkt_capture_hold(void);
void tkt_capture_release(void);

#endif
