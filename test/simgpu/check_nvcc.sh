#!/bin/bash
# A program that nvcc has compiled, with its own headers, runs unmodified on the stand-ins: templates,
# launches of every kind, capture and graphs, variables of the device; with the default stream of the
# program and with one for each thread. A driver that begins loads what CUDA_INJECTION64_PATH names.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
for home in "${CUDA_HOME:-/usr/local/cuda}"; do
    nvcc=$home/bin/nvcc
    [ ! -x "$nvcc" ] || break
done
[ -x "$nvcc" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }
grep -q 'release 13\.' <<<"$("$nvcc" --version)" || { echo "nvcc is not of CUDA 13" && exit 77; }

cat >"$TMPDIR/expected" <<'END'
launches: 0.170000 ms
graph: 4 nodes, 0.060000 ms
variables: 4 42
device: Takt simulated GPU 0, 9.0, cooperative 1
gather: 80 registers, 1024 bytes, 3 blocks of 256
too many threads: invalid configuration argument
END
cat >"$TMPDIR/script" <<'END'
# Long enough for everything behind it to be queued meanwhile.
kernel.scaleIf = 50ms
kernel.scaleId = 10us
kernel.gather = 50us
kernel.meet = 60us
memset = 10us
device.capability = 90
registers.gather = 80
shared.gather = 1KiB
END

cat >"$TMPDIR/injected.c" <<'END'
#include <stdio.h>
int InitializeInjection(void);
int InitializeInjection(void) { return fputs("injected\n", stderr) >= 0; }
END
"${CC:-cc}" -shared -fPIC -o "$TMPDIR/injected.so" "$TMPDIR/injected.c"

for streams in legacy per-thread; do
    program=$TMPDIR/$streams
    "$nvcc" -cudart shared -ccbin "${CXX:-c++}" -default-stream $streams -o "$program" \
        test/simgpu/nvcc_features.cu
    for flavour in 12 13 multi; do
        LD_LIBRARY_PATH=$TAKT_BUILD/simgpu/$flavour TAKT_SIM_SCRIPT=$TMPDIR/script \
            CUDA_INJECTION64_PATH=$TMPDIR/injected.so \
            "$program" >"$TMPDIR/printed" 2>"$TMPDIR/errors" || {
                cat "$TMPDIR/printed" "$TMPDIR/errors"
                exit 1
            }
        diff "$TMPDIR/expected" "$TMPDIR/printed"
        diff <(echo injected) "$TMPDIR/errors"
    done
done

# Without a driver that is new enough, and without devices, programs are told so.
export LD_LIBRARY_PATH=$TAKT_BUILD/simgpu/13
! TAKT_SIM='fault=cuInit=35' "$program" >"$TMPDIR/printed"
grep -q 'driver version is insufficient' "$TMPDIR/printed"
! TAKT_SIM='devices=0' "$program" >"$TMPDIR/printed"
grep -q 'no CUDA-capable device is detected' "$TMPDIR/printed"
# An option that does not exist is no option that is passed over.
! TAKT_SIM='kernle=1us' "$program" 2>"$TMPDIR/errors" >&2
grep -q "simgpu: no such option: 'kernle=1us'" "$TMPDIR/errors"
