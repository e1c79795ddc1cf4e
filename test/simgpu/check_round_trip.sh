#!/bin/bash
# Takt's Chrome files, read back: the reports of what they hold are those of the .pftrace.
. "${0%/*}/../support/lib_script.sh"

export LD_LIBRARY_PATH=$TAKT_BUILD/simgpu/13${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# Chrome's file has the sums of all steps, but not which of those outside of the recording was slow:
# the table of slowest steps cannot come back.
table() { # REPORT FILE
    "$takt" report "--$1" --csv --rows all "$2" >"$scratch/table" || fail "no $1 of $2"
    if [ "$1" = steps ]; then sed '/^\r*$/,$d' "$scratch/table"; else cat "$scratch/table"; fi
}

compared=0
check() { # WHAT TRACE
    local report
    for file in "$scratch/a.json" "$scratch/a.json.gz"; do
        "$takt" export --chrome -o "$file" "$2" >"$scratch/output" || fail "$1: no $file"
        for report in scopes tree kernels launches gaps activities devices api steps; do
            table "$report" "$2" >"$scratch/wanted"
            table "$report" "$file" >"$scratch/found"
            [ -s "$scratch/wanted" ] || fail "$1: $report is empty"
            same "$1: $report of ${file##*/}" "$scratch/wanted" "$scratch/found"
            compared=$((compared + 1))
        done
        rm "$file"
    done
}

TAKT_OPTIONS="profiling.wait=3 profiling.warmup=1 profiling.active=10 profiling.activities=cpu,cuda
    output.traces=perfetto output.directory=$scratch/gpu reports=" \
    "$TAKT_BIN/samples/sph" --particles 400 --steps 20 --quiet >"$scratch/output" 2>&1 ||
    fail "the fluid fails"
check "the fluid" "$scratch/gpu/sph.0.pftrace"
if [ -x "$TAKT_BIN/samples/graph" ]; then # nvcc has built the samples
    "$takt" info "$scratch/gpu/sph.0.pftrace" | grep -q 'calls into CUDA' || fail "no device was used"
else
    leave_out devices "no CUDA toolkit (CUDA_HOME)"
fi
finish "$compared tables compared"
