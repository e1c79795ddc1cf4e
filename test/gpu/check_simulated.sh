#!/bin/bash
# The programs for a GPU run on the stand-ins of the other flavours of CUPTI; check_kit.sh runs them
# with CUPTI 13.0. Nothing that they measure there says anything of a GPU.
. "${0%/*}/../support/lib_script.sh"
programs=("$TAKT_BUILD"/test/gpu/gpu_*)
[ -x "${programs[0]}" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }
sed 's/=20ms/=1ms/' test/gpu/standins.txt >"$scratch/script"
export TAKT_SIM_SCRIPT=$scratch/script TMPDIR=$scratch
export GPU_QUICK=1 GPU_CLOCK_SECONDS=0.2 GPU_MODE_SECONDS=600 GPU_BENCH_LAUNCHES=200 GPU_BENCH_ROUNDS=1
ran=0

run() { # PROGRAM ARGUMENTS...
    timeout 600 "$@" >"$scratch/output" 2>&1 ||
        fail "${*##*/} with CUPTI $flavour: status $?: $(cat "$scratch/output")"
    ran=$((ran + 1))
}

for flavour in 12 multi; do
    export LD_LIBRARY_PATH=$TAKT_BUILD/simgpu/$flavour
    TAKT_CUPTI_LIBRARY=$(echo "$LD_LIBRARY_PATH"/libcupti.so.*) # the toolkit may have another
    export TAKT_CUPTI_LIBRARY
    for program in "${programs[@]}"; do
        [ "${program##*/}" = gpu_bench ] || run "$program"
    done
    for mode in bare sync callbacks off wait after takt marks; do
        run "$TAKT_BUILD/test/gpu/gpu_bench" empty $mode
    done
done
finish "$ran runs on the stand-ins"
