/* Other correlation ids of one call. A call of the runtime contains calls of the driver, which are
 * not recorded; with some releases of CUPTI they may have ids of their own, and what they launch may
 * carry those. Activities are given the id of the recorded call when they are stored. */
#ifndef TKT_CUDA_ALIAS_H
#define TKT_CUDA_ALIAS_H

#include <stdint.h>

/* `inner` is of a call inside the one of `outer`. From any thread; before `inner` launches. */
void tkt_alias_add(uint32_t inner, uint32_t outer);

/* The recorded call's id: `correlation` itself, unless it is of a call inside. */
uint32_t tkt_alias_outer(uint32_t correlation);

#endif
