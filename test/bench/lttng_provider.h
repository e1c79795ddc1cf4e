/* The events of lttng.c, in the form that LTTng-UST's macros want: it is read several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER takt_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(takt_bench, begin, LTTNG_UST_TP_ARGS(uint32_t, site),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, site, site)))

LTTNG_UST_TRACEPOINT_EVENT(takt_bench, end, LTTNG_UST_TP_ARGS(uint32_t, site),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, site, site)))

#endif

#include <lttng/tracepoint-event.h>
