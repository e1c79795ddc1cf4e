/* Emits ranges through NVTX's headers, and reads their colours. */
#include "nvtx/nvtx.h"

#include "base/error.h"
#include "base/lock.h"

#include <stdio.h>
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

/* ---- Domains and categories ------------------------------------------------------------------ */

/* A tool learns each name once. Nothing is ever removed: the names in a program are few. The log
 * tells the first one that has no room. */

#define MOST_DOMAINS    16u /* [0] is the default domain */
#define MOST_CATEGORIES 64u
#define LONGEST_NAME    63u

typedef struct domain {
    char name[LONGEST_NAME + 1];
    nvtxDomainHandle_t handle; /* NULL without a tool, and for the default domain */
} domain;

typedef struct category {
    char name[LONGEST_NAME + 1];
    uint32_t domain;
} category;

static tkt_mutex names_lock = TKT_MUTEX_INIT;
static domain domains[MOST_DOMAINS];
static category categories[MOST_CATEGORIES];
static uint32_t domain_count = 1, category_count;

static void keep_name(char into[LONGEST_NAME + 1], const char *name)
{
    snprintf(into, LONGEST_NAME + 1, "%s", name);
}

/* With the lock. Returns 0, the default domain, if there are too many. */
static uint32_t domain_of(const char *name)
{
    uint32_t i = 1;
    while (i < domain_count && strncmp(domains[i].name, name, LONGEST_NAME) != 0)
        i++;
    if (i == MOST_DOMAINS)
        return 0;
    if (i == domain_count) {
        keep_name(domains[i].name, name);
        domains[i].handle = nvtxDomainCreateA(domains[i].name);
        domain_count++;
    }
    return i;
}

/* With the lock. Returns the category's id, or 0, none, if there are too many. */
static uint32_t category_of(uint32_t in, const char *name)
{
    uint32_t i = 0;
    while (i < category_count &&
           (categories[i].domain != in || strncmp(categories[i].name, name, LONGEST_NAME) != 0))
        i++;
    if (i == MOST_CATEGORIES)
        return 0;
    if (i == category_count) {
        keep_name(categories[i].name, name);
        categories[i].domain = in;
        nvtxDomainNameCategoryA(domains[in].handle, i + 1, categories[i].name);
        category_count++;
    }
    return i + 1;
}

/* Returns the domain's handle and the category's id. */
static nvtxDomainHandle_t look_up(const tkt_nvtx_range *range, uint32_t *id)
{
    *id = 0;
    if (!range->domain && !range->category)
        return NULL;
    tkt_mutex_lock(&names_lock);
    uint32_t in = range->domain ? domain_of(range->domain) : 0;
    if (range->category)
        *id = category_of(in, range->category);
    nvtxDomainHandle_t handle = domains[in].handle;
    tkt_mutex_unlock(&names_lock);
    static bool is_told;
    bool lacks_domain = range->domain && !in, lacks_category = range->category && !*id;
    /* Relaxed: it orders nothing, and only lets one caller through. */
    if ((lacks_domain || lacks_category) && !__atomic_exchange_n(&is_told, true, __ATOMIC_RELAXED))
        tkt_log(TAKT_LOG_WARNING, "NVTX range: too many %s: \"%.63s\" and later ones are left out",
                lacks_domain ? "domains" : "categories",
                lacks_domain ? range->domain : range->category);
    return handle;
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

bool tkt_nvtx_is_built(void)
{
    return true;
}

tkt_nvtx_open tkt_nvtx_range_start(const tkt_nvtx_range *range)
{
    uint32_t id;
    nvtxDomainHandle_t handle = look_up(range, &id);
    const nvtxEventAttributes_t event = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .category = id,
        .colorType = NVTX_COLOR_ARGB,
        .color = color_or_default(range->color),
        .payloadType = range->has_payload ? NVTX_PAYLOAD_TYPE_INT64 : NVTX_PAYLOAD_UNKNOWN,
        .payload.llValue = range->payload,
        .messageType = NVTX_MESSAGE_TYPE_ASCII,
        .message.ascii = range->name ? range->name : "(null)",
    };
    if (handle)
        return (tkt_nvtx_open){handle, nvtxDomainRangeStartEx(handle, &event)};
    return (tkt_nvtx_open){NULL, nvtxRangeStartEx(&event)};
}

void tkt_nvtx_range_end(tkt_nvtx_open range)
{
    if (range.domain)
        nvtxDomainRangeEnd(range.domain, range.id);
    else
        nvtxRangeEnd(range.id);
}

#else

/* Without NVTX's headers, ranges do nothing. */

tkt_nvtx_open tkt_nvtx_range_start(const tkt_nvtx_range *range)
{
    (void)range;
    return (tkt_nvtx_open){NULL, 0};
}

bool tkt_nvtx_is_built(void)
{
    return false;
}

void tkt_nvtx_range_end(tkt_nvtx_open range)
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
