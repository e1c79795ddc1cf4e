#!/bin/bash
# Compares src/cuda/occupancy.c with the CUDA toolkit's occupancy calculator, where it is found.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"

for home in "${CUDA_HOME:-/usr/local/cuda}"; do
    [ ! -f "$home/include/cuda_occupancy.h" ] || break
    home=
done
[ -n "$home" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -Isrc -Iinclude -isystem "$home/include" \
    ${SAN:+-fsanitize=$SAN} -o "$scratch/occupancy" test/compile/occupancy.c src/cuda/occupancy.c
"$scratch/occupancy"
