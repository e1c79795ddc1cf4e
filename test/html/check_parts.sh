#!/bin/bash
# The page's scripts without a browser: what they compute, and that numbers read as `takt report`
# prints them, of a simulation on the stand-ins.
. "${0%/*}/../support/lib_script.sh"
need node
here=$(cd "${0%/*}" && pwd) || exit 1
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
unset TAKT_SIM_SCRIPT TAKT_LOG
echo "profiling: {name: sim, active: 0}
output: {directory: $scratch/out, traces: [perfetto]}" >"$scratch/sim.yaml"
LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13 \
    TAKT_SIM='kernel.advance=30us; memcpy.DtoH=7us' TAKT_CONFIG=$scratch/sim.yaml \
    timeout 600 "$build/test/simgpu/prog_simulation" return >"$scratch/said" 2>&1 ||
    fail "prog_simulation fails: $(cat "$scratch/said")"

arguments=()
for report in summary tree steps memory; do
    for format in json markdown; do
        "$takt" report --$report --rows all --$format "$scratch/out/sim.0.pftrace" \
            >"$scratch/$report.$format" || fail "takt report --$report --$format fails"
    done
    arguments+=("$scratch/$report.json" "$scratch/$report.markdown")
done
node "$here/parts_test.js" "$build/html/script" "${arguments[@]}" >"$scratch/said" 2>&1 ||
    fail "$(cat "$scratch/said")"
node "$here/two_parts_test.js" "$build/html/script" >"$scratch/wrong" 2>&1 ||
    fail "$(cat "$scratch/wrong")"
finish "$(tail -n 1 "$scratch/said")"
