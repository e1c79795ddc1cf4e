#!/bin/bash
# A program on the stand-ins that records crash-safe and dies: what devices had done is there, and
# launches whose activities never came are said to be incomplete.
. "${0%/*}/../support/lib_script.sh"
need python3
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
unset TAKT_SIM_SCRIPT
export LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13
export TAKT_SIM='kernel.advance=30us; memcpy.DtoH=7us'

mode=trace
# die HOW: leaves $scratch/HOW.json of calls, activities and losses.
die() {
    echo "profiling: {name: sim, active: 0, warmup: 0, wait: 0, max_memory: 1 MiB, mode: $mode}
reports: []
output: {directory: $scratch/$1, traces: [perfetto], crash_safe: true}" >"$scratch/$1.yaml"
    TAKT_CONFIG=$scratch/$1.yaml timeout 600 "$build/test/simgpu/prog_simulation" "$1" \
        >"$scratch/$1.out" 2>&1
    local file
    file=$(find "$scratch/$1" -name 'sim.*.crash')
    "$takt" recover -o "$scratch/$1.pftrace" "${file:-/nonexistent}" >"$scratch/said" 2>&1 ||
        fail "$1: $(cat "$scratch/said")"
    "$takt" info --json "$scratch/$1.pftrace" >"$scratch/$1.json"
}
value() { # HOW EXPRESSION
    python3 -c 'import json, sys
info = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$scratch/$1.json" "$2"
}

# Until the recording of a program that runs has more than a hundred activities.
cat >"$scratch/await" <<END
"$takt" recover -o "$scratch/now.pftrace" "$scratch"/launching-kill/sim.*.crash &&
    "$takt" info --json "$scratch/now.pftrace" >"$scratch/now.json"
rm -f "$scratch/now.pftrace"
python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["activities"] <= 100)' <"$scratch/now.json"
END
export TEST_AWAIT="sh '$scratch/await' >/dev/null 2>&1"

# CUPTI gives buffers back when they are full: few launches have no activity yet, of many most do.
# A kill may hit the program in a call whose activity has come by then: that one has no scope.
for how in _exit launching-kill; do
    { die $how; } 2>/dev/null
    grep -qx '12 steps' "$scratch/$how.out" || fail "$how: $(cat "$scratch/$how.out")"
    calls=$(value $how 'info["calls"]')
    activities=$(value $how 'info["activities"]')
    missing=$(value $how 'info["losses"].get("incomplete", 0)')
    unknown=$(value $how 'info["losses"].get("unattributed", 0)')
    [ $((activities + missing)) = $((calls + unknown)) ] ||
        fail "$how: $activities activities, $missing incomplete launches, of $calls calls"
    [ "$unknown" = 0 ] || [ "$how $unknown" = "launching-kill 1" ] || fail "$how: lost $unknown scopes"
    echo "$how: $activities activities, $missing launches without one"
    [ $how = launching-kill ] || [ "$calls" = 36 ] || fail "$how: $calls calls"
done
[ "$activities" -gt 100 ] || fail "too little of what devices did is there"
"$takt" report --activities "$scratch/launching-kill.pftrace" | grep -q 'kernel advance' ||
    fail "the kernel has no name"
[ "$(value launching-kill 'info["backend"]' | cut -c1-5)" = CUPTI ] || fail "no backend"

# The sums of a summary are the program's, and gone with it: the report does not call devices idle.
remove_recordings "$scratch" && rm -rf "$scratch/_exit"
mode=summary
{ die _exit; } 2>/dev/null
value _exit 'info["backend"]' | grep -q ', without activities$' ||
    fail "a summary calls devices idle: $(value _exit 'info["backend"]')"
finish "what devices did survives"
