#!/bin/bash
# Counters of other rates: 25 MHz and 1 GHz, as machines have them, and one that is so slow that an
# emulated program begins and ends several scopes in a tick.
. "${0%/*}/../support/lib_script.sh"
[ -n "${TEST_RUNNER-}" ] || { echo "runs in make check-aarch64" && exit 77; }

at_rate() { # HZ TEST...
    local hz=$1 test
    shift
    for test in "$@"; do
        QEMU_CPU=max,cntfrq=$hz TEST_COUNTER_HZ=$hz "$TEST_RUNNER" "$TAKT_BUILD/test/$test" \
            >"$scratch/out" 2>&1 || fail "$test at $hz Hz:" "$(tail -n 20 "$scratch/out")"
        runs=$((runs + 1))
    done
}
runs=0
at_rate 25000000 unit/test_base_clock unit/test_same_tick unit/test_crash_safe unit/test_timer \
    unit/test_timing stress/test_sealing
at_rate 1000000000 unit/test_base_clock stress/test_sealing
at_rate 1000000 unit/test_profiler unit/test_session stress/test_sealing
at_rate 10000 unit/test_same_tick
finish "$runs runs"
