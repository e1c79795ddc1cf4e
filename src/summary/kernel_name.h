/* What the names of kernels tell. */
#ifndef TKT_SUMMARY_KERNEL_NAME_H
#define TKT_SUMMARY_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a kernel's name says that it computes on tensor cores: libraries write the instruction's
 * shape or name into it, "ampere_fp16_s16816gemm_...", "sm80_xmma_...", "cutlass_80_tensorop_...".
 * A kernel of the program's own may use them without its name saying so. */
bool tkt_uses_tensor_cores(const char *name);

/* Where in a demangled name the function's own one is, without return type, namespaces, template
 * arguments and parameters; its length, 0 where there is none that is an identifier. */
size_t tkt_kernel_base_name(const char *demangled, const char **base);

#endif
