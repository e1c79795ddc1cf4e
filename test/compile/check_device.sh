#!/bin/bash
# What a phase inside a kernel costs, in the code that nvcc makes: one reading of the clock, two
# stores, one branch, no load and no atomic; a kernel has a single atomic, in the function that takes
# a segment, which the kernel calls in one place. A view stays in registers. With TAKT_DISABLE nothing
# is left.
. "${0%/*}/../support/lib_script.sh"
nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
[ -x "$nvcc" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }

cat >"$scratch/kernel.cu" <<'CODE'
#include <takt/device.cuh>
extern "C" __global__ void kernel(takt_device_view timers, float *x)
{
    TAKT_DEVICE_PHASE(timers, 0);
#pragma unroll 1
    for (int i = 0; i < 1000; i++) {
        *x += 1.0f;
        TAKT_DEVICE_PHASE(timers, 1);
    }
    TAKT_DEVICE_PHASE_END(timers);
}
CODE
ptx() { # FLAGS...
    "$nvcc" -ptx -arch=sm_90 -Iinclude "$@" "$scratch/kernel.cu" -o "$scratch/kernel.ptx" ||
        fail "does not compile with '$*'"
}
count() { # PATTERN
    grep -cE "$1" "$scratch/kernel.ptx"
}

ptx
# The three macros of the kernel, and the reading at the head of a segment.
[ "$(count 'clock64')" = 4 ] || fail "$(count 'clock64') readings of the clock, not 4"
[ "$(count 'st\.global\.v4|st\.v4')" = 3 ] || fail "a record is not one store of 16 bytes"
[ "$(count 'atom\.')" = 1 ] || fail "$(count 'atom\.') atomics, not 1"
sed -n '/\.entry kernel/,/^}/p' "$scratch/kernel.ptx" >"$scratch/entry.ptx"
in_entry() { # PATTERN
    grep -cE "$1" "$scratch/entry.ptx"
}
[ "$(in_entry 'atom\.')" = 0 ] || fail "the atomic is inlined into the kernel"
[ "$(in_entry '\.local|globaltimer|div')" = 0 ] ||
    fail "the kernel keeps the view in memory, or takes segments inline"
[ "$(in_entry '^[[:space:]]*call[. ]')" = 1 ] || fail "the kernel looks for its segment twice"
[ "$(in_entry 'ld(\.global|\.volatile)*\.[a-z]+[0-9]')" = 1 ] || fail "a phase loads something"
# One for each macro, for taking the segment, for a phase before the first one, and for the loop.
[ "$(in_entry 'bra')" = 6 ] || fail "$(in_entry 'bra') branches, not 6"

ptx -DTAKT_DISABLE
[ "$(count 'clock64|atom\.|globaltimer')" = 0 ] || fail "something is left with TAKT_DISABLE"
finish
