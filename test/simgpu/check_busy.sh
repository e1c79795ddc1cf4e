#!/bin/bash
# A program that launches without pause while windows follow one another: whatever the pace, each
# window has all that it launched, or counts it as lost, and memory stays flat. `check_busy.sh long`
# does the same for minutes, and prints what it finds.
. "${0%/*}/../support/lib_script.sh"
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
export LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13
form=${1-short}

# What the stand-in for CUPTI has counted.
count() {
    awk -v name="$1" '$1 == name { print $2 }' "$scratch/report"
}

# busy SECONDS OPTION...
busy() {
    rm -f "$scratch/report"
    TAKT_SIM_SCRIPT=$scratch/script timeout $((10 * $1 + 600)) \
        "$build/test/simgpu/prog_busy" "seconds=$1" "${@:2}" >"$scratch/out" 2>&1 ||
        fail "seconds=$1 ${*:2}: ends with $?: $(cat "$scratch/out")"
    [ "$form" = short ] && return
    echo "seconds=$1 ${*:2}"
    cat "$scratch/out"
    echo "flushes: $(count flushes), of them forced: $(count forced_flushes)"
}
echo "cupti.report=$scratch/report" >"$scratch/script"

if [ "$form" = long ]; then
    busy 60 windows=30
    busy 60 windows=30 what=graphs
    busy 60 windows=30 what=both pace=behind ahead_ms=1000
    busy 10 windows=5 what=both pace=behind how=profilers outer=1
    busy 20 windows=10 what=both pace=behind wait_ms=100 losses=some
    finish "nothing is lost without a count"
    exit
fi

# A queue that drains; flushes are what they cost, and none gives up anything before the last.
begin=$SECONDS
busy 2 windows=10 wait_ms=600000
seconds=$((SECONDS - begin + 1)) # a busy machine takes longer than 2 s
flushes=$(count flushes)
[ "$flushes" -le $((200 * seconds)) ] || fail "$flushes flushes in $seconds s"
[ "$(count forced_flushes)" -le 1 ] || fail "$(count forced_flushes) forced flushes"
busy 1 windows=4 what=graphs pace=behind how=profilers outer=1 wait_ms=600000
# One that has not drained in time.
busy 1 windows=5 what=both pace=behind wait_ms=50 losses=any
finish "launches = activities + losses in each window"
