#!/bin/bash
# Tests that end windows, with a driver before CUDA 12.5: it has no cuCtxRecordEvent, so a thread waits
# for the devices.
set -euo pipefail
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$TAKT_BUILD"/simgpu/12/* "$scratch"
"$here/hide_symbol.sh" "$scratch/libcuda.so.1" cuCtxRecordEvent
export LD_LIBRARY_PATH=$scratch TAKT_CUPTI_LIBRARY=$scratch/libcupti.so.12 TAKT_SIM=driver.version=12040
failures=0
for name in test_endings test_early_capture test_long_kernel test_new_graphs test_waiting test_windows; do
    "$TAKT_BUILD/test/simgpu/$name" >"$scratch/printed" 2>&1 && continue
    echo "$name:"
    sed 's/^/    /' "$scratch/printed"
    failures=$((failures + 1))
done
[ "$failures" = 0 ]
