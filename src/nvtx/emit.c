/* Emitting ranges through NVTX's headers.
 *
 * The headers bring their implementation along as weak, hidden symbols (nvtxGlobals_v3 and others):
 * in libtakt.so they stay inside, and a program linked with libtakt.a that uses NVTX itself shares
 * them, as NVTX means it. The tool that NVTX_INJECTION64_PATH names is loaded by the first call. */
#include "nvtx/nvtx.h"

#ifdef TKT_HAVE_NVTX

#include "base/error.h"

/* The headers' code for starting up, which runs once, takes 17 KiB at gcc's -O2 and 9 at -O1. */
#if !defined(__clang__)
#pragma GCC optimize("O1")
#endif

#include <nvtx3/nvToolsExt.h>

static bool has_warned; /* atomic */

static uint32_t color_or_default(const char *color)
{
    uint32_t argb;
    /* Relaxed: it orders nothing, it only lets one caller through. */
    if (!tkt_nvtx_color(color, &argb) && !__atomic_exchange_n(&has_warned, true, __ATOMIC_RELAXED))
        tkt_log(TAKT_LOG_WARNING,
                "NVTX range: unknown color \"%.40s\"; try a name such as \"yellow\", or #rrggbb",
                color);
    return argb;
}

static const char *name_or_null(const char *name)
{
    return name ? name : "(null)";
}

bool tkt_nvtx_is_built(void)
{
    return true;
}

uint64_t tkt_nvtx_range_start(const char *name, const char *color)
{
    const nvtxEventAttributes_t range = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .colorType = NVTX_COLOR_ARGB,
        .color = color_or_default(color),
        .messageType = NVTX_MESSAGE_TYPE_ASCII,
        .message.ascii = name_or_null(name),
    };
    return nvtxRangeStartEx(&range);
}

void tkt_nvtx_range_end(uint64_t range)
{
    nvtxRangeEnd(range);
}

#endif
