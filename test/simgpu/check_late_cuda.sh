#!/bin/bash
# A recording in whose midst CUDA comes says that it lacks activities, if there is a context that may
# have had work; the next one has all.
. "${0%/*}/../support/lib_script.sh"
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
export LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13

says() { # WHAT EXPECTED
    "$build/test/cli/prog_late_cuda" "$1" >"$scratch/out" 2>"$scratch/log" || fail "$1: ends with $?"
    echo "$2" >"$scratch/expected"
    same "$1" "$scratch/expected" "$scratch/out"
}
says context 'a timed block lost 1
no activity 1, none
CUPTI 13.0 (130001)'
says loads 'a timed block lost 0
none
CUPTI 13.0 (130001)'
grep -q 'CUDA was loaded during this recording' "$scratch/log" || fail "the log does not tell it"
finish "CUDA that comes late is told"
