/* Emits ranges through NVTX's headers, and reads their colours. */
#include "nvtx/nvtx.h"

#include "base/error.h"

#include <string.h>
#include <strings.h>

/* ======== Ranges ======== */

/* NVTX's headers contain their implementation as weak, hidden symbols (nvtxGlobals_v3 and others).
 * In libtakt.so these stay inside. A program that is linked with libtakt.a and uses NVTX itself
 * shares them, as NVTX intends. The first call loads the tool that NVTX_INJECTION64_PATH names. */

#ifdef TKT_HAVE_NVTX

/* The headers' start-up code runs once. It takes 17 KiB at gcc's -O2, and 9 KiB at -O1. */
#if !defined(__clang__)
#pragma GCC optimize("O1")
#endif

#include <nvtx3/nvToolsExt.h>

static bool has_warned; /* atomic */

static uint32_t color_or_default(const char *color)
{
    uint32_t argb;
    /* Relaxed: it orders nothing, and only lets one caller through. */
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

#else

/* Without NVTX's headers, ranges do nothing. */

uint64_t tkt_nvtx_range_start(const char *name, const char *color)
{
    (void)name;
    (void)color;
    return 0;
}

bool tkt_nvtx_is_built(void)
{
    return false;
}

void tkt_nvtx_range_end(uint64_t range)
{
    (void)range;
}

#endif

/* ======== Colors ======== */

/* Colours of ranges by name. The first ten names and values are those of NVTX's Python package (its
 * colors.py, 2025). That package knows further names only through matplotlib; these have CSS's
 * values, which are matplotlib's. The alpha is always opaque: the package leaves it 0 for some
 * names, but NVTX's header asks for ARGB. */

#define OPAQUE 0xFF000000u

static const struct {
    const char *name;
    uint32_t rgb;
} colors[] = {
    {"green", 0x008000},  {"blue", 0x0000FF},      {"yellow", 0xFFFF00},  {"purple", 0x800080},
    {"rapids", 0x7400FF}, {"cyan", 0x00FFFF},      {"red", 0xFF0000},     {"white", 0xFFFFFF},
    {"orange", 0xFFA500}, {"darkgreen", 0x006400}, {"black", 0x000000},   {"brown", 0xA52A2A},
    {"gray", 0x808080},   {"grey", 0x808080},      {"magenta", 0xFF00FF}, {"pink", 0xFFC0CB},
};

static const uint32_t default_rgb = 0x7400FF;

static bool hex_digit(char c, uint32_t *value)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = strchr(digits, c);
    ptrdiff_t index = found ? found - digits : 0;
    *value = (uint32_t)(index < 16 ? index : index - 6);
    return found != NULL;
}

/* "#rrggbb" */
static bool read_hex(const char *color, uint32_t *rgb)
{
    uint32_t value = 0;
    if (color[0] != '#' || strlen(color) != 7)
        return false;
    for (const char *c = color + 1; *c; c++) {
        uint32_t digit;
        if (!hex_digit(*c, &digit))
            return false;
        value = value << 4 | digit;
    }
    *rgb = value;
    return true;
}

static bool find_name(const char *color, uint32_t *rgb)
{
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        if (strcasecmp(color, colors[i].name) == 0) {
            *rgb = colors[i].rgb;
            return true;
        }
    return false;
}

bool tkt_nvtx_color(const char *color, uint32_t *argb)
{
    uint32_t rgb = default_rgb;
    bool is_known = !color || read_hex(color, &rgb) || find_name(color, &rgb);
    *argb = OPAQUE | rgb;
    return is_known;
}
