#!/bin/bash
# Compares what the stand-ins for libcuda and libcudart declare - signatures, values, layouts, ids of
# callbacks - with the headers of a CUDA toolkit, where one is found.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}/test/simgpu"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for home in "${CUDA_HOME:-/usr/local/cuda}"; do
    [ ! -f "$home/include/cuda_runtime_api.h" ] || break
    home=
done
[ -n "$home" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }
compile() {
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -isystem "$home/include" "$@"
}
if ! compile -fsyntax-only abi_cudart.c 2>"$scratch/errors"; then
    ! grep -q "cudart.h is that of CUDA 13" "$scratch/errors" ||
        { echo "the toolkit is not of CUDA 13" && exit 77; }
    cat "$scratch/errors"
    exit 1
fi

# The headers name functions otherwise for programs with per-thread default streams.
for streams in LEGACY PER_THREAD; do
    for file in abi_cudart.c abi_cuda.c; do
        compile -fsyntax-only -DCUDA_API_${streams}_DEFAULT_STREAM $file
    done
done

# The check itself: a wrong signature and a wrong value are seen.
mkdir "$scratch/wrong"
cp ./*.h abi_cudart.c "$scratch/wrong"
sed -i 's/cudaFree(void \*memory)/cudaFree(const void *memory)/' "$scratch/wrong/cudart.h"
! compile -fsyntax-only "$scratch/wrong/abi_cudart.c" 2>"$scratch/errors"
grep -q "cudaFree" "$scratch/errors"
sed 's/cudaErrorNotReady, 600/cudaErrorNotReady, 601/' cudart.h >"$scratch/wrong/cudart.h"
! compile -fsyntax-only "$scratch/wrong/abi_cudart.c" 2>"$scratch/errors"
grep -q "cudaErrorNotReady" "$scratch/errors"

compile -o "$scratch/ours" abi_layout.c
compile -DSIM_WITH_TOOLKIT -include cuda_runtime_api.h -o "$scratch/theirs" abi_layout.c
diff <("$scratch/theirs") <("$scratch/ours") ||
    { echo "structs of the stand-ins (>) are laid out otherwise than the toolkit's (<)" && exit 1; }

# Ids of callbacks: as lines "NAME = ID".
include=$home/include
[ -f "$include/cupti_runtime_cbid.h" ] || include=$home/extras/CUPTI/include
[ -f "$include/cupti_runtime_cbid.h" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }
sed -nE 's/^ *X\((\w+), ([0-9]+), (v[0-9]+)\).*/RUNTIME_TRACE_CBID_\1_\3 = \2/p
         s/^ *X\((\w+), ([0-9]+)\).*/DRIVER_TRACE_CBID_\1 = \2/p' sim_calls.h |
    sort >"$scratch/ours.txt"
sed -nE 's/^ *CUPTI_(\w+) *= *([0-9]+).*/\1 = \2/p' \
    "$include/cupti_runtime_cbid.h" "$include/cupti_driver_cbid.h" | sort >"$scratch/theirs.txt"
if ! wrong=$(comm -23 "$scratch/ours.txt" "$scratch/theirs.txt") || [ -n "$wrong" ]; then
    echo "callbacks with other ids: $wrong" && exit 1
fi

# Where Takt reads how much a call copies or sets, in src/cuda/callback.c: from the structs of
# parameters, or of what a lone parameter points to.
[ -f "$include/generated_cuda_runtime_api_meta.h" ] || include=$home/include
extents_of() { # TABLE PREFIX
    sed -n "/^static const extent $1\[\]/,/^};/p" ../../src/cuda/callback.c |
        grep -oE '\{"\w+", [0-9]+, [0-9], \w+\}' | tr -d '{",}' | sed "s/^/$2/"
}
pointed_to() {
    case $1 in
    cudaMemcpy3D) echo "struct cudaMemcpy3DParms extent" ;;
    cudaMemcpy3DPeer) echo "struct cudaMemcpy3DPeerParms extent" ;;
    cuMemcpy2D*) echo "CUDA_MEMCPY2D WidthInBytes Height" ;;
    cuMemcpy3D) echo "CUDA_MEMCPY3D WidthInBytes Height Depth" ;;
    cuMemcpy3DPeer) echo "CUDA_MEMCPY3D_PEER WidthInBytes Height Depth" ;;
    esac
}
# The struct of parameters, in the newest version of the function.
parameters_of() { # FUNCTION HEADER
    awk -v name="$1" '
        $1 == "typedef" && $3 ~ "^" name "(_v[0-9]+)?_params_st$" { inside = 1; text = "" }
        inside { text = text $0 "\n" }
        /^}/ && inside { if (!kept || kept !~ /_v[0-9]+_params;/ || $0 ~ /_v[0-9]+_params;/) kept = text
                         inside = 0 }
        END { printf "%s", kept }' "$include/$2"
}
extents_of runtime_extents cudaMem >"$scratch/runtime"
extents_of driver_extents cuMem >"$scratch/driver"
assert_at() { # TYPE FIELD AT FUNCTION
    echo "_Static_assert(offsetof($1, $2) == $3, \"$4: $2\");"
}
{
    printf '#include <%s>\n' stddef.h cuda.h cuda_runtime_api.h
    while read -r table header function at count is_pointed_to; do
        parameters=$(parameters_of "$function" "$header")
        [ -n "$parameters" ] || echo "#error $function is not in $table"
        type=$(sed -n 's/^} \(.*\);/\1/p' <<<"$parameters")
        names=$(grep -oE '\b(count|ByteCount|N|[wW]idth|[hH]eight|extent);' <<<"$parameters" | tr -d ';') || true
        if [ "$is_pointed_to" = true ]; then
            read -r type names <<<"$(pointed_to "$function")"
            if [ "$type" = struct ]; then
                type="struct ${names%% *}" names=${names#* }
            fi
        else
            echo "$parameters"
        fi
        [ -n "$names" ] || echo "#error $function has no extent"
        for name in $names; do
            assert_at "$type" "$name" "$at" "$function"
            at=$((at + 8)) count=$((count - 1))
        done
        [ "$count" = 0 ] || [ "$names $count" = "extent 2" ] || echo "#error $function: not so many extents"
    done < <(sed 's/^/runtime generated_cuda_runtime_api_meta.h /' "$scratch/runtime"
        sed 's/^/driver generated_cuda_meta.h /' "$scratch/driver")
} >"$scratch/extents.c"
compile -Wno-deprecated-declarations -fsyntax-only -isystem "$include" "$scratch/extents.c"
echo "$("$scratch/ours" | wc -l) layouts and $(wc -l <"$scratch/ours.txt") callbacks agree, $(grep -c Static "$scratch/extents.c") extents"
