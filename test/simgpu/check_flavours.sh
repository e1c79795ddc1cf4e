#!/bin/bash
# What windows, timers and profilers say of devices is the same with each release of CUPTI:
# its record layouts, clocks and ways of handing buffers back differ.
set -u
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_CONFIG TAKT_OPTIONS
failures=0

# run FLAVOUR LIBRARY VERSION
run() {
    TAKT_CUPTI_LIBRARY=$build/simgpu/$1/$2 TEST_CUPTI_VERSION=$3 \
        LD_LIBRARY_PATH=$build/simgpu/$1 timeout 600 "$build/test/simgpu/test_windows" \
        >"$scratch/out" 2>&1 && return
    echo "$1:"
    grep -v 'RUN\|      OK' "$scratch/out" | head -n 40
    failures=$((failures + 1))
}

run 12 libcupti.so.12 '12.8 (26)'
if [ -z "${SAN-}" ]; then # 13 is what test_windows runs with by itself
    run 13 libcupti.so.13 '13.0 (130001)'
    run multi libcupti.so.13 '13.3 (130300)'
fi
[ "$failures" = 0 ] || exit 1
echo "the same figures with CUPTI 12.8, 13.0 and 13.3"
