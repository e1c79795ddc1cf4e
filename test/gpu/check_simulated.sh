#!/bin/bash
# The programs for a GPU run on the stand-ins, with each flavour of CUPTI. Nothing that they measure
# there says anything of a GPU.
. "${0%/*}/../support/lib_script.sh"
[ -z "${SAN-}" ] || { echo "run in the build without SAN" && exit 77; }
programs=("$TAKT_BUILD"/test/gpu/gpu_*)
[ -x "${programs[0]}" ] || { echo "needs nvcc" && exit 77; }
export TAKT_SIM_SCRIPT=test/gpu/standins.txt TMPDIR=$scratch
ran=0

for flavour in 12 13 multi; do
    export LD_LIBRARY_PATH=$TAKT_BUILD/simgpu/$flavour
    TAKT_CUPTI_LIBRARY=$(echo "$LD_LIBRARY_PATH"/libcupti.so.*) # the toolkit may have another
    export TAKT_CUPTI_LIBRARY
    for program in "${programs[@]}"; do
        name=${program##*/}
        [ "$name" = gpu_bench ] && continue
        timeout 60 "$program" >"$scratch/output" 2>&1 ||
            fail "$name with CUPTI $flavour: status $?: $(cat "$scratch/output")"
        ran=$((ran + 1))
    done
done

# The bench, a few launches of each mode: only that it runs and counts right.
export LD_LIBRARY_PATH=$TAKT_BUILD/simgpu/13 GPU_BENCH_LAUNCHES=100
for loop in empty busy; do
    for mode in bare sync cupti callbacks wait after takt marks; do
        timeout 60 "$TAKT_BUILD/test/gpu/gpu_bench" $loop $mode >"$scratch/output" 2>&1 ||
            fail "gpu_bench $loop $mode: status $?: $(cat "$scratch/output")"
        grep -qE "^$loop $mode [0-9.]+ [0-9.]+$" "$scratch/output" ||
            fail "gpu_bench $loop $mode prints $(cat "$scratch/output")"
    done
done
finish "$ran runs on the stand-ins"
