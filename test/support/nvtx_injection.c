/* A tool that listens to NVTX and prints what it hears on standard error, one line a call. It is a
 * library that NVTX_INJECTION64_PATH names; check_nvtx.sh builds it. */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <stdio.h>
#include <string.h>

static int depth;
static unsigned ranges;

static char domains[32][64]; /* a handle points to its name */
static unsigned domain_count;

static nvtxDomainHandle_t NVTX_API create_domain(const char *name)
{
    fprintf(stderr, "nvtx: domain %s\n", name);
    strncpy(domains[domain_count], name, sizeof *domains - 1);
    return (nvtxDomainHandle_t)domains[domain_count++];
}

static const char *name_of(nvtxDomainHandle_t domain)
{
    return domain ? (const char *)domain : "default";
}

static void NVTX_API name_category(nvtxDomainHandle_t domain, uint32_t category, const char *name)
{
    fprintf(stderr, "nvtx: category %u of %s is %s\n", (unsigned)category, name_of(domain), name);
}

static nvtxRangeId_t NVTX_API start_in(nvtxDomainHandle_t domain,
                                       const nvtxEventAttributes_t *range)
{
    fprintf(stderr, "nvtx: start %u %s color %d %08x", ++ranges,
            range->messageType == NVTX_MESSAGE_TYPE_ASCII ? range->message.ascii : "?",
            range->colorType, (unsigned)range->color);
    if (domain)
        fprintf(stderr, " domain %s", name_of(domain));
    if (range->category)
        fprintf(stderr, " category %u", (unsigned)range->category);
    if (range->payloadType == NVTX_PAYLOAD_TYPE_INT64)
        fprintf(stderr, " payload %lld", (long long)range->payload.llValue);
    fprintf(stderr, "\n");
    return ranges;
}

static nvtxRangeId_t NVTX_API range_start(const nvtxEventAttributes_t *range)
{
    return start_in(NULL, range);
}

static void NVTX_API range_end(nvtxRangeId_t range)
{
    fprintf(stderr, "nvtx: end %u\n", (unsigned)range);
}

static void NVTX_API end_in(nvtxDomainHandle_t domain, nvtxRangeId_t range)
{
    fprintf(stderr, "nvtx: end %u of %s\n", (unsigned)range, name_of(domain));
}

static int NVTX_API range_push(const char *name)
{
    fprintf(stderr, "nvtx: push %s\n", name);
    return depth++;
}

static int NVTX_API range_pop(void)
{
    fprintf(stderr, "nvtx: pop\n");
    return --depth;
}

/* A pointer to `function`, as NVTX's tables hold them. */
#define HOOK(table, index, function) (*(table)[index] = (NvtxFunctionPointer)(function))

NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned size;
    if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) ||
        size <= NVTX_CBID_CORE_RangePop)
        return 0;
    HOOK(table, NVTX_CBID_CORE_RangeStartEx, range_start);
    HOOK(table, NVTX_CBID_CORE_RangeEnd, range_end);
    HOOK(table, NVTX_CBID_CORE_RangePushA, range_push);
    HOOK(table, NVTX_CBID_CORE_RangePop, range_pop);
    if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
        size <= NVTX_CBID_CORE2_DomainNameCategoryA)
        return 0;
    HOOK(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
    HOOK(table, NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
    HOOK(table, NVTX_CBID_CORE2_DomainRangeStartEx, start_in);
    HOOK(table, NVTX_CBID_CORE2_DomainRangeEnd, end_in);
    return 1;
}
