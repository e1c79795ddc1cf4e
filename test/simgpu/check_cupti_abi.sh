#!/bin/bash
# Compares what the stand-in libcupti knows of CUPTI with the real thing, where it is found: its
# declarations with the toolkit's headers, and what it answers without a driver - sizes of records,
# words for results, names of callbacks, return codes - with the real library.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for home in "${CUDA_HOME:-/usr/local/cuda}"; do
    for include in "$home/include" "$home/extras/CUPTI/include"; do
        [ ! -f "$include/cupti.h" ] || break 2
    done
    include=
done
[ -n "$include" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }

compile() {
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -Wno-deprecated-declarations -fsyntax-only \
        -D_GNU_SOURCE "$@" -isystem "$include" -isystem "$home/include" test/simgpu/cupti_abi.c
}
compile -Itest
mkdir "$scratch/simgpu"
sed 's/uint8_t cacheConfig;/uint16_t cacheConfig;/' test/simgpu/cupti_abi.h \
    >"$scratch/simgpu/cupti_abi.h"
! compile -I"$scratch" 2>"$scratch/errors" || { echo "a wrong offset was not seen" && exit 1; }
grep -q "sim_rec_kernel.*sharedMemoryConfig" "$scratch/errors"

for folder in "$home"/lib64 "$home"/lib "$home"/extras/CUPTI/lib64; do
    real=$folder/libcupti.so.13
    [ ! -f "$real" ] || break
done
[ -f "$real" ] || { echo "declarations agree; no libcupti.so.13 to compare with" && exit 77; }

# Neither finds a driver: there is none in an empty folder.
facts=$TAKT_BUILD/test/simgpu/prog_cupti_facts
mkdir "$scratch/alone"
cp "$TAKT_BUILD"/simgpu/13/libcupti.so.13 "$TAKT_BUILD"/simgpu/13/libtaktsim.so "$scratch/alone"
if ! "$facts" "$real" >"$scratch/real" || grep -q '^cuptiSubscribe(.* = 0' "$scratch/real"; then
    echo "the real libcupti finds a driver here: without one it would be compared" && exit 77
fi
LD_LIBRARY_PATH=$scratch/alone "$facts" "$scratch/alone/libcupti.so.13" >"$scratch/ours"

# The simulator names the callbacks that it knows of; these must be right.
grep '^callback' "$scratch/ours" | grep -v NotSimulated |
    grep -vxF -f "$scratch/real" >"$scratch/wrong" || true
[ "$(grep -c '^callback' "$scratch/ours")" = "$(grep -c '^callback' "$scratch/real")" ]
if [ -s "$scratch/wrong" ]; then
    echo "callbacks with other names:" && cat "$scratch/wrong" && exit 1
fi
diff <(grep -v '^callback' "$scratch/real") <(grep -v '^callback' "$scratch/ours") ||
    { echo "the stand-in (>) answers otherwise than the real libcupti (<)" && exit 1; }
echo "$(wc -l <"$scratch/ours") facts agree"
