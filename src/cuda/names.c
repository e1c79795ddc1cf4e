/* Kernels: readable names, and the sorting into the program's own and libraries'. */
#include "cuda/kernel.h"

#include "base/alloc.h"
#include "base/containers.h"
#include "base/dynlib.h"
#include "base/text.h"
#include "base/thread.h"
#include "cuda/store.h"

#include <ctype.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ======== Names ======== */

/* Readable names of kernels. CUPTI's records have C++ names. Takt itself does not link a C++
 * library, so it looks up at run time the demangler of the program's library or the system's.
 * Shortening reads the demangled name from left to right and drops what is in brackets. It must
 * handle operators that look like brackets, lambdas, and the return types in names of templates. */

/* Longer names stay mangled: demangling can take unbounded memory. */
#define LONGEST_MANGLED 65536

typedef char *(*demangler)(const char *mangled, char *buffer, size_t *size, int *status);

/* Looks in the program, then in a library that is loaded but not visible to it, then loads one. */
static void *look_up_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    void *found = tkt_library_symbol(NULL, "__cxa_demangle");
    for (size_t i = 0; !found && i < 4; i++) {
        void *library =
            i < 2 ? tkt_library_loaded(libraries[i]) : tkt_library_open(libraries[i - 2]);
        found = library ? tkt_library_symbol(library, "__cxa_demangle") : NULL;
    }
    return found;
}

static _Atomic(void *) demangle_symbol;
static atomic_bool is_looked_up;

/* Races are harmless: all threads find the same function. */
void tkt_names_prepare(void)
{
    /* acquire and release: a thread that sees is_looked_up also sees the symbol */
    if (atomic_load_explicit(&is_looked_up, memory_order_acquire))
        return;
    atomic_store_explicit(&demangle_symbol, look_up_demangler(), memory_order_relaxed);
    atomic_store_explicit(&is_looked_up, true, memory_order_release);
}

static demangler find_demangler(void)
{
    tkt_names_prepare();
    void *symbol = atomic_load_explicit(&demangle_symbol, memory_order_relaxed);
    demangler result;
    memcpy(&result, &symbol, sizeof result);
    return result;
}

char *tkt_name_demangle(const char *mangled)
{
    if (strncmp(mangled, "_Z", 2) != 0 || strlen(mangled) > LONGEST_MANGLED)
        return tkt_copy_string(mangled);
    demangler demangle = find_demangler();
    int status = -1;
    char *demangled = demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
    char *copy = tkt_copy_string(status == 0 && demangled ? demangled : mangled);
    free(demangled);
    return copy;
}

/* The text so far; `length` counts on past the end of `out`. */
typedef struct shortened {
    char *out;
    size_t size;
    size_t length;
} shortened;

static void put(shortened *text, const char *from, const char *to)
{
    for (; from < to; from++) {
        if (text->length < text->size)
            text->out[text->length] = *from;
        text->length++;
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_any(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Returns the position after the bracket that closes the one at `at`. Ignores "<" and ">": inside
 * other brackets they may be comparisons. */
static const char *after_brackets(const char *at)
{
    size_t depth = 0;
    do {
        depth += is_any(*at, "([{");
        depth -= is_any(*at, ")]}");
        at++;
    } while (depth && *at);
    return at;
}

static bool is_operator(const char *name, const char *at)
{
    return tkt_begins_with(at, "operator") && !is_word(at[8]) && (at == name || !is_word(at[-1]));
}

static const char *after_operator(const char *at)
{
    at += strlen("operator");
    if (tkt_begins_with(at, "()") || tkt_begins_with(at, "[]"))
        return at + 2;
    return at + strspn(at, "<>=!+-*/%^&|~,");
}

/* Returns the position after the ">" for the "<" at `at`. */
static const char *after_angles(const char *name, const char *at)
{
    size_t depth = 0;
    while (*at) {
        if (is_operator(name, at)) {
            at = after_operator(at);
            continue;
        }
        if (is_any(*at, "([{")) {
            at = after_brackets(at);
            continue;
        }
        depth += *at == '<';
        if (*at == '>' && at[-1] != '-' && --depth == 0)
            return at + 1;
        at++;
    }
    return at;
}

static const char *shorten_angles(shortened *text, const char *name, const char *at)
{
    static const char dots[] = "<...>";
    put(text, dots, dots + strlen(dots));
    return after_angles(name, at);
}

/* Copies "operator<", or "operator unsigned int", in which the space belongs to the name. */
static const char *shorten_operator(shortened *text, const char *name, const char *at)
{
    const char *end = after_operator(at);
    put(text, at, end);
    if (tkt_begins_with(end, " <"))
        return end + 1;
    while (*end == ' ' || (end[-1] != ')' && is_word(*end)) || is_any(*end, ":*&")) {
        put(text, end, end + 1);
        end++;
        if (*end == '<')
            end = shorten_angles(text, name, end);
    }
    return end;
}

/* Of "{lambda(int, float)#2}" keeps only the number. */
static const char *shorten_braces(shortened *text, const char *at)
{
    const char *end = after_brackets(at);
    const char *from = at;
    if (tkt_begins_with(at, "{lambda(")) {
        put(text, at, at + strlen("{lambda"));
        from = after_brackets(at + strlen("{lambda"));
    }
    put(text, from, end);
    return end;
}

/* Handles parentheses: of an enclosing function, whose local name follows; of a type; or the
 * kernel's own parameters, which end the name. Returns the position after them, NULL at the end. */
static const char *shorten_parentheses(const shortened *text, const char *at)
{
    const char *end = after_brackets(at);
    bool is_type = text->length == 0 ||
                   (text->length == 8 && text->size > 8 && memcmp(text->out, "decltype", 8) == 0);
    return is_type || tkt_begins_with(end, "::") ? end : NULL;
}

/* Copies or drops one piece of the name. Returns the position after it, NULL at the end. */
static const char *shorten_piece(shortened *text, const char *name, const char *at)
{
    static const char anonymous[] = "(anonymous namespace)";
    bool is_begin = at == name || !is_word(at[-1]);
    if (is_operator(name, at))
        return shorten_operator(text, name, at);
    if (is_begin && tkt_begins_with(at, "_INTERNAL_") && strstr(at, "::"))
        return strstr(at, "::") + 2; /* nvcc's name of a file */
    if (*at == ' ') {
        text->length = 0; /* the text so far was the return type */
        return at + 1;
    }
    if (*at == '<')
        return shorten_angles(text, name, at);
    if (*at == '{')
        return shorten_braces(text, at);
    if (*at == '(' && !tkt_begins_with(at, anonymous))
        return shorten_parentheses(text, at);
    size_t size = *at == '(' ? strlen(anonymous) : 1;
    put(text, at, at + size);
    return at + size;
}

/* Ends the text. A cut text ends in dots, and not within a UTF-8 character. */
static void finish(shortened *text)
{
    size_t end = text->length;
    if (end >= text->size) {
        end = text->size > 4 ? text->size - 4 : 0;
        while (end && ((unsigned char)text->out[end] & 0xC0u) == 0x80)
            end--;
        size_t dots = text->size > 4 ? 3 : 0;
        memset(text->out + end, '.', dots);
        end += dots;
    }
    text->out[end] = '\0';
}

char *tkt_name_shorten(char *out, size_t size, const char *demangled)
{
    shortened text = {.out = out, .size = size};
    const char *at = demangled;
    while (at && *at)
        at = shorten_piece(&text, demangled, at);
    if (text.length == 0)
        put(&text, demangled, demangled + strlen(demangled));
    finish(&text);
    return out;
}

/* ======== Libraries' kernels ======== */

/* Decides whether a kernel is the program's or a library's, and labels it. The program's own rules
 * come first. A library's kernel is known by its name. Libraries publish no names, so this list
 * comes from profiles of programs that use them. It is narrow on purpose: a program's kernel taken
 * for a library's would vanish from tables of the program's own kernels. */

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
    for (; *label && length + 1 < size; label++) {
        if (label[0] != '\\' || label[1] < '0' || label[1] > '9') {
            out[length++] = *label;
            continue;
        }
        const regmatch_t *group = &groups[*++label - '0'];
        for (regoff_t i = group->rm_so; i >= 0 && i < group->rm_eo && length + 1 < size; i++)
            out[length++] = name[i];
    }
    out[length] = '\0';
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
    snprintf(label, size, "%s kernel %.*s", way, (int)length, name);
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
    snprintf(out, size, "%s%s%s", prefix, prefix[0] && name[0] ? " " : "", name);
    return out;
}
