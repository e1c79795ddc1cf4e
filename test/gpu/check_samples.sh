#!/bin/bash
# The samples in CUDA print on the stand-ins what their comments promise, and on a machine without a
# device they say so and end.
. "${0%/*}/../support/lib_script.sh"
samples=$TAKT_BIN/samples
[ -x "$samples/graph" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }
root=$PWD
cd "$scratch" || exit 1

sample() { # NAME ARGUMENTS...
    ran="$*"
    LD_LIBRARY_PATH=$TAKT_BUILD/simgpu/13 "$samples/$1" "${@:2}" >output 2>errors
    status=$?
    sed -i '/^takt: wrote /d' errors
    [ ! -s errors ] || fail "$ran writes to standard error: $(cat errors)"
}
has() {
    grep -qE "$1" output || fail "$ran: no '$1' in: $(cat output)"
}
lines_are() { # COUNT PATTERN
    [ "$(grep -cE "$2" output)" = "$1" ] || fail "$ran: not $1 times '$2' in: $(cat output)"
}
is_status() { [ "$status" = "$1" ] || fail "$ran: status $status"; }

# 400 rounds of two kernels each way.
export TAKT_SIM='kernel.*forward_*=10us; kernel.*backward_*=20us'
sample report_callback
is_status 0
has '^Forward kernels  : 8\.000000 ms$'
has '^Backward kernels : 16\.000000 ms$'
has '^Both sweeps took [0-9.]+ ms$'

# Twenty launches of eight kernels.
export TAKT_SIM='kernel.*diffuse*=10us'
sample graph
is_status 0
has '^ *1\.600000 ms \| +160 \| kernel diffuse$'
lines_are 1 '\| +20 \| graph'
lines_are 2 '^The second half of the last step took 0\.040000 ms'
lines_are 2 '^step +100\.00%'

# The device computes nothing, so nothing is timed there; the host form has the same phases.
export TAKT_SIM='kernel.*solve*=30us'
sample phases
is_status 0
has '^all islands are at rest$'
ran="phases --host"
"$samples/phases" --host >output 2>errors || fail "$ran: status $?"
has '^line search +[1-9]'
has '^all islands are at rest$'

# Eight pieces each.
export TAKT_SIM='kernel.*square*=100us'
sample stream_overlap
is_status 0
lines_are 2 '^ *0\.800000 ms \| +8 \| kernel square$'
lines_are 2 '\| +8 \| memcpy HtoD$'
has '^Two streams took [0-9.]+ ms$'
has '^On the device: [0-9.]+ ms one after the other, [0-9.]+ ms overlapping$'

if [ -x "$samples/cublas_builtin" ]; then
    sample cublas_builtin
    is_status 77
    has '^cuBLAS needs a real device$'
fi

# The fluid's device does nothing here, but it is launched, and belongs to its scopes.
export TAKT_SIM='kernel.*density_sums*=30us; kernel.*pair_forces*=70us'
sample sph --device cuda --steps 20 --profile "$root/samples/sph/profile.yaml" \
    --output.directory "$scratch/sph"
is_status 0
has '^ *0\.150000 ms \| +5 \| kernel density_sums$'
has '^ *0\.350000 ms \| +5 \| kernel pair_forces$'
unset TAKT_SIM

# Without a driver. On a machine with a GPU there is no such thing to try.
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
    for name in report_callback graph stream_overlap; do
        "$samples/$name" >output 2>errors
        status=$?
        ran="$name without a device"
        is_status 77
        has '^this sample needs a CUDA device$'
    done
    "$samples/sph" --device cuda --steps 1 >output 2>errors && fail "sph finds a device"
    grep -q -- '--device cuda: ' errors || fail "sph says: $(cat errors)"
fi
finish "the samples run"
