/* Holds cudart.h against the toolkit's headers: compiled, not run, by check_cuda_abi.sh. Including
 * it declares the toolkit's functions a second time, which fails where a signature differs. */
#define SIM_WITH_TOOLKIT
#include "cudart.h"

#define SAME_VALUE(name, value) _Static_assert((long long)(name) == (value), #name);
SIM_CUDA_ALL_VALUES(SAME_VALUE)

_Static_assert(CUDART_VERSION >= 13000 && CUDART_VERSION < 14000, "cudart.h is that of CUDA 13");
