/* Kernels of libraries are named after what they do, and Nsight Compute picks kernels by name.
 * Names come from compilers and libraries of any kind; what cannot be read is left alone. */
#include "summary/kernel_name.h"

#include <ctype.h>
#include <string.h>

/* Instructions of Volta (884), Turing (1688, 8816), Ampere and Ada (16816, 16832), Hopper (gmma) in
 * the names of cuBLAS, cuDNN and CUTLASS. xprof looks for 884, 1688, hmma and xmma alone; but
 * digits by themselves also stand in the hashes that Warp, Triton and others put into names. */
bool tkt_uses_tensor_cores(const char *name)
{
    static const char *const signs[] = {
        "h884",  "s884",   "d884gemm", "h1688", "s1688", "h16816", "s16816",
        "i8816", "i16832", "hmma",     "xmma",  "wmma",  "gmma",   "tensorop",
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strstr(name, signs[i]))
            return true;
    }
    return false;
}

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 127;
}

/* After the bracket that closes the one at `at`; what is in parentheses may be a comparison. */
static const char *after_bracket(const char *at)
{
    size_t angles = 0, others = 0;
    do {
        others += *at == '(' || *at == '[' || *at == '{';
        others -= others && (*at == ')' || *at == ']' || *at == '}');
        angles += others == 0 && *at == '<';
        angles -= others == 0 && angles && *at == '>' && at[-1] != '-';
        at++;
    } while ((angles || others) && *at);
    return at;
}

size_t tkt_kernel_base_name(const char *demangled, const char **base)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t size = 0;
    for (const char *at = demangled; *at;) {
        if (is_part(*at)) {
            *base = at;
            while (is_part(*at))
                at++;
            size = (size_t)(at - *base);
        } else if (*at == '<') {
            at = after_bracket(at);
        } else if (strncmp(at, anonymous, strlen(anonymous)) == 0) {
            at += strlen(anonymous);
        } else if (*at == '(') {
            break;
        } else if (*at == ':' || *at == ' ' || *at == '*' || *at == '&') {
            at++; /* of a namespace or return type: the name is yet to come */
        } else {
            return 0;
        }
    }
    return size && !isdigit((unsigned char)**base) ? size : 0;
}
