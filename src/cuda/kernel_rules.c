/* Decides whether a kernel is the program's or a library's, and labels it. The program's own rules
 * come first. A library's kernel is known by its name. Libraries publish no names, so this list
 * comes from profiles of programs that use them. It is narrow on purpose: a program's kernel taken
 * for a library's would vanish from tables of the program's own kernels. */
#include "cuda/kernel.h"

#include "base/alloc.h"
#include "base/containers.h"
#include "base/lock.h"
#include "base/text.h"
#include "base/thread.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_NAME 1024
#define GROUPS       10

/* Shell patterns for the shortened name, each ended by a NUL. */
static const char builtin_names[] =
    /* CUB and Thrust, and copies of them in namespaces of their users. */
    "cub::*\0"
    "*::cub::*\0"
    "thrust::*\0"
    "*::thrust::*\0"
    /* CUTLASS: cutlass::Kernel2<...>, cutlass_80_tensorop_..., cutlass3x_sm90_... */
    "cutlass*::*\0"
    "cutlass[_0-9]*\0"
    /* Matrix products shared by cuBLAS, cuBLASLt and cuDNN, named after the architecture. */
    "maxwell_*\0"
    "volta_*\0"
    "turing_*\0"
    "ampere_*\0"
    "hopper_*\0"
    "sm[0-9]*_xmma_*\0"
    "xmma_*\0"
    "nvjet_*\0"
    "cask_*\0"
    /* cuBLAS and cuBLASLt: vectors and small matrices. */
    "cublas*\0"
    "gemv2[NT]_kernel*\0"
    "gemvNSP_kernel*\0"
    "*gemvx::kernel*\0"
    "gemmk1_kernel*\0"
    "gemmSN_*_kernel*\0"
    "splitKreduce_kernel*\0"
    "reduce_1Block_kernel*\0"
    "magma_*gemm*_kernel*\0"
    /* cuDNN */
    "cudnn*\0"
    "_5x_cudnn_*\0"
    "*scudnn_*\0"
    "*convolve_sgemm*\0"
    "nchwToNhwcKernel*\0"
    "nhwcToNchwKernel*\0"
    /* cuFFT: spRadix0064B::kernel1Mem<...>, vector_fft<...> */
    "cufft*\0"
    "[sd]pRadix*::*\0"
    "[sd]pVector*::*\0"
    "[sd]pRealComplex*::*\0"
    "vector_fft*\0"
    "regular_fft*\0"
    "*bluestein_fft*\0"
    "composite_*way_fft*\0"
    /* cuSPARSE and cuSOLVER */
    "cusparse*\0"
    "cusolver*\0"
    "potrf_alg2_*\0"
    "getrf_pivot*\0"
    /* cuRAND's generators; its states also appear in kernels of programs. */
    "gen_sequenced*\0"
    "generate_seed_pseudo*\0"
    /* NCCL: ncclDevKernel_AllReduce_Sum_f32_RING_LL(...) */
    "nccl*Kernel*\0";

/* Patterns for the whole name: kernels of cuBLAS with common names, such as dot_kernel, show in
 * their parameters. */
static const char builtin_whole_names[] = "*cublas*Params*\0";

/* A rule of the program. */
typedef struct rule {
    char *pattern;
    char *label; /* NULL: builtin */
    regex_t compiled;
} rule;

static tkt_mutex lock = TKT_MUTEX_INIT;
static TKT_ARRAY_OF(rule) rules; /* guarded by lock; in the order of their addition */

static bool matches_any(const char *patterns, const char *name)
{
    for (; *patterns; patterns += strlen(patterns) + 1) {
        if (fnmatch(patterns, name, 0) == 0)
            return true;
    }
    return false;
}

static bool is_library(const char *demangled, const char *name)
{
    return matches_any(builtin_names, name) || matches_any(builtin_whole_names, demangled);
}

static bool is_same(const rule *old, const char *pattern, const char *label)
{
    return strcmp(old->pattern, pattern) == 0 && !old->label == !label &&
           (!label || strcmp(old->label, label) == 0);
}

/* True for a rule that exists already: configurations are read more than once. */
static bool is_known(const char *pattern, const char *label)
{
    for (size_t i = 0; i < rules.count; i++) {
        if (is_same(&rules.items[i], pattern, label))
            return true;
    }
    return false;
}

static takt_status add_locked(const char *pattern, const char *label)
{
    rule new = {0};
    if (is_known(pattern, label))
        return TAKT_OK;
    if (regcomp(&new.compiled, pattern, REG_EXTENDED) != 0)
        return TAKT_BAD_ARGUMENT;
    new.pattern = tkt_copy_string(pattern);
    new.label = tkt_copy_string(label);
    rule *added = new.pattern && !new.label == !label ? TKT_ARRAY_ADD(&rules) : NULL;
    if (!added) {
        regfree(&new.compiled);
        tkt_free(new.pattern);
        tkt_free(new.label);
        return TAKT_NO_MEMORY;
    }
    *added = new;
    return TAKT_OK;
}

static takt_status add_rule(const char *pattern, const char *label)
{
    if (!pattern || !*pattern || (label && !*label))
        return TAKT_BAD_ARGUMENT;
    if (tkt_process_is_disabled()) /* a forked child, in which nobody may unlock it */
        return TAKT_BAD_STATE;
    tkt_mutex_lock(&lock);
    takt_status status = add_locked(pattern, label);
    tkt_mutex_unlock(&lock);
    return status;
}

takt_status takt_kernel_builtin(const char *pattern)
{
    return add_rule(pattern, NULL);
}

takt_status takt_kernel_label(const char *pattern, const char *label)
{
    return add_rule(pattern, label ? label : "");
}

/* Copies the label, replacing \1 and so on by the groups of the match. */
static void expand(char *out, size_t size, const char *label, const char *name,
                   const regmatch_t groups[GROUPS])
{
    size_t length = 0;
    for (; *label && length < size; label++) {
        if (label[0] != '\\' || label[1] < '0' || label[1] > '9') {
            out[length++] = *label;
            continue;
        }
        const regmatch_t *group = &groups[*++label - '0'];
        for (regoff_t i = group->rm_so; i >= 0 && i < group->rm_eo && length < size; i++)
            out[length++] = name[i];
    }
    tkt_text_end(out, size, length);
}

/* Returns the bit that the program's rules give the kernel, and its label; 0 if no rule matches. */
static uint32_t by_rules(const char *demangled, char *label, size_t size)
{
    uint32_t filter = 0;
    regmatch_t groups[GROUPS];
    *label = '\0';
    tkt_mutex_lock(&lock);
    for (size_t i = 0; i < rules.count && !*label; i++) {
        const rule *at = &rules.items[i];
        if (filter && !at->label)
            continue;
        if (regexec(&at->compiled, demangled, GROUPS, groups, 0) != 0)
            continue;
        if (!filter)
            filter = at->label ? TAKT_TIMING_KERNEL : TAKT_TIMING_BUILTIN;
        if (at->label)
            expand(label, size, at->label, demangled, groups);
    }
    tkt_mutex_unlock(&lock);
    return filter;
}

/* NVIDIA Warp's kernels: NAME_HASH_cuda_kernel_forward. The hash has eight digits in newer versions
 * and is missing in older ones. */
static bool label_warp(char *label, size_t size, const char *name)
{
    static const char infix[] = "_cuda_kernel_";
    const char *at = strstr(name, infix);
    if (!at || at == name)
        return false;
    const char *way = at + strlen(infix);
    if (strcmp(way, "forward") != 0 && strcmp(way, "backward") != 0)
        return false;
    size_t length = (size_t)(at - name);
    if (length > 9 && at[-9] == '_' && strspn(at - 8, "0123456789abcdef") == 8)
        length -= 9;
    int whole = snprintf(label, size, "%s kernel %.*s", way, (int)length, name);
    tkt_text_end(label, size, (size_t)whole);
    return true;
}

uint32_t tkt_name_classify(const char *demangled, char *label, size_t size)
{
    char name[LONGEST_NAME];
    uint32_t filter = by_rules(demangled, label, size);
    tkt_name_shorten(name, sizeof name, demangled);
    if (!filter)
        filter = is_library(demangled, name) ? TAKT_TIMING_BUILTIN : TAKT_TIMING_KERNEL;
    bool is_builtin = filter == TAKT_TIMING_BUILTIN;
    if (!*label && (is_builtin || !label_warp(label, size, name)))
        tkt_activity_label(label, size, filter, name);
    return filter;
}

/* ======== Labels ======== */

/* The first word of a label gives the kind of activity. */

static const char *label_prefix(uint32_t filter)
{
    switch (filter & -filter) {
    case TAKT_TIMING_KERNEL:
        return "kernel";
    case TAKT_TIMING_BUILTIN:
        return "builtin kernel";
    case TAKT_TIMING_MEMCPY:
        return "memcpy";
    case TAKT_TIMING_MEMSET:
        return "memset";
    case TAKT_TIMING_GRAPH:
        return "graph";
    default:
        return "";
    }
}

const char *tkt_activity_label(char *out, size_t size, uint32_t filter, const char *name)
{
    const char *prefix = label_prefix(filter);
    int length = snprintf(out, size, "%s%s%s", prefix, prefix[0] && name[0] ? " " : "", name);
    tkt_text_end(out, size, (size_t)length);
    return out;
}
