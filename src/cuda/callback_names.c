/* Which of CUPTI's callbacks matter. Their names decide: between releases the numbers only grow,
 * but names show which variants belong to one function, too. */
#include "cuda/collector.h"

#include "base/containers.h"

#include <stdbool.h>
#include <string.h>

#define MAX_IDS     1536u /* in one domain; 13.0 has 807 */
#define MAX_MISSING 64u   /* after so many ids without a name in a row, the domain ends */
#define NAME_BYTES  64u

tkt_api_domain tkt_api_domains[TKT_DOMAIN_RUNTIME + 1];

/* ---- Names ----------------------------------------------------------------------------------- */

/* Returns the size without "_ptsz", "_ptds" or "_v" and digits at the end; 0 if it ends in none of
 * them. */
static size_t without_suffix(const char *symbol, size_t size)
{
    if (size > 5 &&
        (memcmp(symbol + size - 5, "_ptsz", 5) == 0 || memcmp(symbol + size - 5, "_ptds", 5) == 0))
        return size - 5;
    size_t end = size;
    while (end > 0 && symbol[end - 1] >= '0' && symbol[end - 1] <= '9')
        end--;
    return end < size && end > 2 && memcmp(symbol + end - 2, "_v", 2) == 0 ? end - 2 : 0;
}

void tkt_callback_name(char *out, size_t size, const char *symbol)
{
    symbol += strncmp(symbol, "__", 2) == 0 ? 2 : 0;
    size_t length = strlen(symbol), shorter;
    while ((shorter = without_suffix(symbol, length)) != 0)
        length = shorter;
    if (length >= size)
        length = size - 1;
    memcpy(out, symbol, length);
    out[length] = 0;
}

/* Prefixes come after "cuda" or "cu". */
static tkt_call_class class_of(const char *name)
{
    static const struct {
        char prefix[24];
        uint8_t of;
    } classes[] = {
        {"LaunchHostFunc", TKT_CLASS_NONE},
        {"Launch", TKT_CLASS_WORK},
        {"GraphLaunch", TKT_CLASS_GRAPH},
        {"Memcpy", TKT_CLASS_WORK},
        {"Memset", TKT_CLASS_WORK},
        {"Malloc", TKT_CLASS_WORK},
        {"Free", TKT_CLASS_WORK},
        {"HostAlloc", TKT_CLASS_WORK},
        {"MemAlloc", TKT_CLASS_WORK},
        {"MemFree", TKT_CLASS_WORK},
        {"MemHostAlloc", TKT_CLASS_WORK},
        {"DeviceReset", TKT_CLASS_END},
        {"DevicePrimaryCtxReset", TKT_CLASS_END},
        {"CtxDestroy", TKT_CLASS_END},
        {"DeviceSynchronize", TKT_CLASS_WORK},
        {"ThreadSynchronize", TKT_CLASS_WORK},
        {"CtxSynchronize", TKT_CLASS_WORK},
        {"StreamSynchronize", TKT_CLASS_WORK},
        {"EventSynchronize", TKT_CLASS_WORK},
        {"EventRecord", TKT_CLASS_WORK},
        {"StreamWaitEvent", TKT_CLASS_WORK},
        {"ModuleLoad", TKT_CLASS_WORK},
        {"LibraryLoad", TKT_CLASS_WORK},
        {"LinkAdd", TKT_CLASS_WORK},
        {"LinkComplete", TKT_CLASS_WORK},
        {"StreamBeginCapture", TKT_CLASS_CAPTURE_BEGIN},
        {"StreamBeginRecapture", TKT_CLASS_CAPTURE_BEGIN},
        {"StreamEndCapture", TKT_CLASS_CAPTURE_END},
        {"StreamDestroy", TKT_CLASS_STREAM_END},
        {"DriverGetVersion", TKT_CLASS_MARK},
    };
    name += strncmp(name, "cuda", 4) == 0 ? 4 : 2;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(name, classes[i].prefix, strlen(classes[i].prefix)) == 0)
            return classes[i].of;
    return TKT_CLASS_NONE;
}

/* Collects a domain's names, which stay for ever because spans refer to them. Variants with the
 * same name share one string, and so one call site. Returns the first failure. */
static int collect_names(const tkt_cupti *cupti, int domain, tkt_strtab *strings)
{
    const char **names = tkt_api_domains[domain].names = tkt_alloc_zeroed(MAX_IDS * sizeof *names);
    uint32_t missing = 0;
    int first = names ? TKT_CUPTI_SUCCESS : TKT_CUPTI_OUT_OF_MEMORY;
    for (uint32_t id = 1; names && id < MAX_IDS && missing < MAX_MISSING; id++) {
        const char *symbol = NULL;
        int result = cupti->callback_name(domain, id, &symbol);
        first = first ? first : result;
        missing++;
        if (result != TKT_CUPTI_SUCCESS || !symbol)
            continue;
        missing = 0;
        char name[1 + NAME_BYTES];
        tkt_callback_name(name + 1, NAME_BYTES, symbol);
        name[0] = (char)class_of(name + 1);
        if (name[0] == TKT_CLASS_GRAPH && strstr(symbol, "_ptsz"))
            name[0] = TKT_CLASS_GRAPH_OWN;
        if (name[0] == TKT_CLASS_NONE)
            continue;
        uint32_t string = tkt_strtab_intern_text(strings, name);
        if (string == TKT_STRTAB_FULL)
            return TKT_CUPTI_OUT_OF_MEMORY;
        names[id] = tkt_strtab_text(strings, string) + 1;
        tkt_api_domains[domain].count = id + 1;
    }
    return first;
}

/* Every id behind a domain's last one fails, so only a complete lack of names counts as a
 * failure. */
int tkt_callback_setup(const tkt_cupti *cupti)
{
    static tkt_strtab strings;
    int result = TKT_CUPTI_OUT_OF_MEMORY;
    if (tkt_api_domains[TKT_DOMAIN_RUNTIME].names)
        return TKT_CUPTI_SUCCESS;
    if (tkt_strtab_init(&strings) != TAKT_OK)
        return result;
    for (int domain = TKT_DOMAIN_DRIVER; domain <= TKT_DOMAIN_RUNTIME; domain++) {
        result = collect_names(cupti, domain, &strings);
        if (result == TKT_CUPTI_OUT_OF_MEMORY)
            return result;
    }
    return tkt_api_domains[TKT_DOMAIN_DRIVER].count + tkt_api_domains[TKT_DOMAIN_RUNTIME].count == 0
               ? result
               : TKT_CUPTI_SUCCESS;
}

/* ---- Switching ------------------------------------------------------------------------------- */

/* Enables or disables callbacks, continuing after a failure; returns the first failure. */
static int enable(const tkt_cupti *cupti, bool is_on, bool is_work, bool *is_any)
{
    *is_any = false;
    int first = TKT_CUPTI_SUCCESS;
    for (int domain = TKT_DOMAIN_DRIVER; domain <= TKT_DOMAIN_RUNTIME; domain++) {
        for (uint32_t id = 0; id < tkt_api_domains[domain].count; id++) {
            const char *name = tkt_api_domains[domain].names[id];
            if (!name || tkt_call_is_recorded(name) != is_work)
                continue;
            int result = cupti->enable_callback(is_on, cupti->subscriber, domain, id);
            first = first ? first : result;
            *is_any |= result == TKT_CUPTI_SUCCESS;
        }
    }
    return first;
}

/* Callbacks for captures stay enabled. A call whose EXIT is lost would hide them as inner calls,
 * hence the second tkt_callback_void_calls(). */
int tkt_callback_switch_calls(const tkt_cupti *cupti, bool is_on, bool *is_any)
{
    tkt_callback_void_calls();
    int result = enable(cupti, is_on, true, is_any);
    if (!is_on)
        tkt_callback_void_calls();
    return result;
}

int tkt_callback_watch(const tkt_cupti *cupti)
{
    static const uint8_t events[] = {TKT_CONTEXT_CREATED, TKT_CONTEXT_DESTROY_STARTING,
                                     TKT_CU_INIT_FINISHED};
    bool is_any;
    int first = enable(cupti, true, false, &is_any);
    for (size_t i = 0; i < sizeof events && first == TKT_CUPTI_SUCCESS; i++)
        first = cupti->enable_callback(1, cupti->subscriber, TKT_DOMAIN_RESOURCE, events[i]);
    return first;
}
