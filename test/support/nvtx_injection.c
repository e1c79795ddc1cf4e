/* A tool that listens to NVTX and prints what it hears on standard error, one line a call. It is a
 * library that NVTX_INJECTION64_PATH names; check_nvtx.sh builds it. */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <stdio.h>

static int depth;
static unsigned ranges;

static nvtxRangeId_t NVTX_API range_start(const nvtxEventAttributes_t *range)
{
    fprintf(stderr, "nvtx: start %u %s color %d %08x\n", ++ranges,
            range->messageType == NVTX_MESSAGE_TYPE_ASCII ? range->message.ascii : "?",
            range->colorType, (unsigned)range->color);
    return ranges;
}

static void NVTX_API range_end(nvtxRangeId_t range)
{
    fprintf(stderr, "nvtx: end %u\n", (unsigned)range);
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
    return 1;
}
