/* Finding CUPTI. One that the program or another tool has loaded is taken, since a second copy in
 * a process would see nothing; then the major version that goes with the driver. Two numbers decide
 * what can be believed of it: its version, because of faults that are known, and the sizes of its
 * records, which it is asked for. The library is never closed: between 13.0 and 13.2 that leaves
 * the driver with pointers into it. */
#include "cuda/cupti.h"

#include "base/dynlib.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define NAME_PLAIN  "libcupti.so"
#define PROBE_BYTES 4096u

static bool look_up(tkt_cupti *cupti, void *library)
{
#define PLACE(member, symbol, is_required, parameters)                                             \
    {#symbol, is_required, offsetof(tkt_cupti, member)},
    static const struct {
        char symbol[39]; /* no pointers, which would need relocating */
        bool is_required;
        uint16_t offset;
    } places[] = {TKT_CUPTI_FUNCTION_LIST(PLACE)};
#undef PLACE
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *address = tkt_library_symbol(library, places[i].symbol);
        if (!address && places[i].is_required)
            return false;
        memcpy((char *)cupti + places[i].offset, &address, sizeof address);
    }
    return true;
}

/* The toolkit's major version that the driver is for; newer libraries refuse to work with it. */
static const char *const *names_for(const tkt_driver *driver)
{
    static const char *const newest_first[] = {"libcupti.so.13", "libcupti.so.12", NAME_PLAIN};
    static const char *const older_first[] = {"libcupti.so.12", "libcupti.so.13", NAME_PLAIN};
    int version = 0;
    driver->driver_version(&version);
    return version && version < 13000 ? older_first : newest_first;
}

static void *open_in(const char *home, const char *folder, const char *const names[3])
{
    char path[512];
    void *library = NULL;
    for (int i = 0; home && !library && i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", home, folder, names[i]);
        library = tkt_library_open(path);
    }
    return library;
}

static void *find_library(const tkt_driver *driver)
{
    const char *const *names = names_for(driver);
    void *library = NULL;
    for (int i = 0; !library && i < 3; i++)
        library = tkt_library_loaded(names[i]);
    for (int i = 0; !library && i < 2; i++)
        library = tkt_library_open(names[i]);
    const char *homes[] = {tkt_environment("CUDA_HOME"), "/usr/local/cuda"};
    for (int i = 0; !library && i < 2; i++) {
        library = open_in(homes[i], "lib64", names);
        if (!library)
            library = open_in(homes[i], "extras/CUPTI/lib64", names);
    }
    return library;
}

/* How far the library's own iterator steps from a record of each kind to the next one, which may
 * begin anywhere behind it. */
static void probe_sizes(tkt_cupti *cupti)
{
    _Alignas(16) static uint8_t buffer[PROBE_BYTES]; /* one thread asks, once */
    for (uint32_t kind = 1; kind < TKT_CUPTI_KINDS; kind++) {
        memset(buffer, 0, sizeof buffer);
        for (size_t at = 8; at < sizeof buffer; at += 8)
            buffer[at] = TKT_KIND_EXTERNAL_CORRELATION;
        buffer[0] = (uint8_t)kind;
        void *record = NULL;
        cupti->sizes.bytes[kind] = 0;
        if (cupti->next_record(buffer, sizeof buffer, &record) == TKT_CUPTI_SUCCESS &&
            cupti->next_record(buffer, sizeof buffer, &record) == TKT_CUPTI_SUCCESS)
            cupti->sizes.bytes[kind] = (uint16_t)((uint8_t *)record - buffer);
    }
}

static bool is_usable(tkt_cupti *cupti, char reason[TKT_REASON_BYTES])
{
    if (cupti->get_version(&cupti->version) != TKT_CUPTI_SUCCESS)
        cupti->version = 0;
    char text[64];
    tkt_cupti_describe(text, sizeof text, cupti->version);
    if (cupti->version < TKT_CUPTI_11_8)
        snprintf(reason, TKT_REASON_BYTES, "%s is older than 11.8: install a newer one", text);
    /* NVIDIA lists crashes in cuptiActivityFlushAll and after NVTX, and a deadlock on disabling
     * kernels, as fixed in Update 1. */
    else if (cupti->version == TKT_CUPTI_13_0)
        snprintf(reason, TKT_REASON_BYTES,
                 "%s can crash programs: install that of CUDA 13.0 Update 1 or later", text);
    else
        return true;
    return false;
}

bool tkt_cupti_load(tkt_cupti *cupti, const tkt_driver *driver, char reason[TKT_REASON_BYTES])
{
    const char *wish = tkt_environment("TAKT_CUPTI_LIBRARY");
    void *library = wish ? tkt_library_open(wish) : find_library(driver);
    if (!library && wish)
        snprintf(reason, TKT_REASON_BYTES, "TAKT_CUPTI_LIBRARY=%.100s cannot be loaded", wish);
    else if (!library)
        snprintf(reason, TKT_REASON_BYTES,
                 "libcupti was not found: install it (cuda-cupti) or set TAKT_CUPTI_LIBRARY to it");
    else if (!look_up(cupti, library))
        snprintf(reason, TKT_REASON_BYTES,
                 "libcupti lacks functions: install that of CUDA 12 or "
                 "13");
    else if (is_usable(cupti, reason)) {
        probe_sizes(cupti);
        return true;
    }
    return false;
}

/* Before 39 existed, 12 said the same. A subscription in the old form is what goes with the
 * functions without _v2: since 13.3 there are others, for several subscribers at once, and the two
 * families do not mix in a process. */
int tkt_cupti_subscribe(tkt_cupti *cupti, tkt_cupti_callback callback,
                        char reason[TKT_REASON_BYTES])
{
    char other[64] = "";
    tkt_subscriber_params parameters = {sizeof parameters, "Takt", other, sizeof other};
    int result = cupti->subscribe_v2
                     ? cupti->subscribe_v2(&cupti->subscriber, callback, NULL, &parameters)
                     : cupti->subscribe(&cupti->subscriber, callback, NULL);
    if (result == TKT_CUPTI_SUCCESS)
        return result;
    cupti->subscriber = NULL;
    other[sizeof other - 1] = 0;
    if (result == TKT_CUPTI_MAX_LIMIT_REACHED)
        result = TKT_CUPTI_TAKEN;
    tkt_cupti_explain(reason, result, other);
    return result;
}
