#!/bin/bash
# What programs mark is the same without CUPTI, while another tool holds CUPTI, and when that tool
# lets go of it. make check runs test_marks with CUPTI by itself.
set -u
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_CONFIG TAKT_OPTIONS TAKT_CUPTI_LIBRARY TEST_OTHER_TOOL
failures=0

# run WHAT VARIABLE=VALUE... PROGRAM [ARGUMENTS]
run() {
    local what=$1
    shift
    LD_LIBRARY_PATH=$build/simgpu/13 timeout 600 env "$@" >"$scratch/out" 2>&1 && return
    echo "$what:"
    grep -v 'RUN\|      OK' "$scratch/out" | head -n 40
    failures=$((failures + 1))
}

tests=$build/test/simgpu
run "marks without CUPTI" TAKT_CUPTI_LIBRARY=none "$tests/test_marks"
run "marks while another tool holds CUPTI" TEST_OTHER_TOOL=1 "$tests/test_marks"
run "the capture range without CUPTI" TAKT_CUPTI_LIBRARY=none "$tests/test_nsight"
run "the capture range beside Nsight" TEST_OTHER_TOOL=1 "$tests/test_nsight"
run "events without CUPTI" TAKT_CUPTI_LIBRARY=none "$tests/test_events"
[ "$failures" = 0 ] || exit 1
echo "the same figures with CUPTI, without it, and when it comes back"
