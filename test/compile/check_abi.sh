#!/bin/bash
# Compares src/cuda/abi.h with the CUDA toolkit's headers, where they are found: abi.cpp compiles
# only while every number, offset, size and parameter agrees. Checks first that a difference is seen.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"

for home in "${CUDA_HOME:-/usr/local/cuda}"; do
    for include in "$home/include" "$home/extras/CUPTI/include"; do
        [ ! -f "$include/cupti.h" ] || break 2
    done
    include=
done
[ -n "$include" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }

compile() {
    "${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror -Wno-deprecated-declarations -fsyntax-only \
        -isystem "$include" -isystem "$home/include" "$@" test/compile/abi.cpp
}

compile -Isrc

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cuda"
sed 's/deviceId, 40, 4/deviceId, 44, 4/' src/cuda/abi.h >"$scratch/cuda/abi.h"
! compile -I"$scratch" 2>"$scratch/errors" || { echo "a wrong offset was not seen" && exit 1; }
grep -q "field KERNEL_DEVICE" "$scratch/errors"
