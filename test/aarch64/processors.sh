#!/bin/bash
# Processors that know less than the emulator's best: neither signed return addresses (neoverse-n1)
# nor atomic instructions of one step (cortex-a72).
. "${0%/*}/../support/lib_script.sh"
[ -n "${TEST_RUNNER-}" ] || { echo "runs in make check-aarch64" && exit 77; }

for processor in neoverse-n1 cortex-a72; do
    for test in unit/test_stacks stress/test_sealing; do
        QEMU_CPU=$processor "$TEST_RUNNER" "$TAKT_BUILD/test/$test" >"$scratch/out" 2>&1 ||
            fail "$test on $processor:" "$(tail -n 20 "$scratch/out")"
    done
done
finish "4 runs"
