#!/bin/bash
# Runs the scenarios of prog_facade.c on the stand-ins: what is collected, what is said when CUPTI
# cannot be used, and that nothing hangs or crashes whatever CUPTI does.
set -u
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd)
program=$build/test/simgpu/prog_facade
sim=$build/simgpu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
runs=0
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_CUPTI_LIBRARY CUDA_HOME

# run FLAVOUR OPTIONS SCENARIO [EXPECTED]; with `env` in front variables can be added.
run() {
    local flavour=$1 options=$2
    shift 2
    [ "$flavour" != 12 ] || options="driver.version=12080; $options"
    runs=$((runs + 1))
    if ! LD_LIBRARY_PATH=$sim/$flavour TAKT_SIM="$options" timeout 600 "$program" "$@" \
        >"$scratch/out" 2>&1; then
        echo "$flavour '$options' $*:"
        sed 's/^/    /' "$scratch/out"
        failures=$((failures + 1))
    fi
}

version() {
    case $1 in
    12) echo "CUPTI 12.8 (26)" ;;
    13) echo "CUPTI 13.0 (130001)" ;;
    multi) echo "CUPTI 13.3 (130300)" ;;
    esac
}

for flavour in 12 13 multi; do
    run $flavour "" each "$(version $flavour)"
    run $flavour "" early "$(version $flavour)"
    run $flavour "" on_and_off
    run $flavour "" wishes
    run $flavour "" device_memory
    run $flavour "devices=2" capture
    run $flavour "kernel=3600s" bodies
    # AddressSanitizer's own allocator may be locked in the child.
    [[ ${SAN-} = *address* ]] || run $flavour "" forked
    run $flavour "" at_exit
    # Before 12.9 the same memory is handed out twice then, and its records cannot be counted well.
    run $flavour "kernel=1us" exhausted "$([ $flavour = 12 ] && echo about)"
    for completion in normal twice thread late; do
        # ThreadSanitizer mistakes the reuse of a detached thread's storage for a race.
        [[ $completion = late && ${SAN-} = *thread* ]] && continue
        run $flavour "cupti.completion=$completion" threads 2000
    done
    run $flavour "cupti.owner=another tool" taken "another"
    run $flavour "fault=cuptiSubscribe=999; fault=cuptiSubscribe_v2=999" refused "(999)"
    run $flavour "fault=cuptiActivityRegisterCallbacks=8" refused "memory"
    run $flavour "fault=cuptiActivityEnable=15" refused "update the driver"
    run $flavour "fault=cuptiActivityEnable=41" refused "confidential"
    run $flavour "fault=cuptiActivityEnable@2=14" in_part "kind"
    run $flavour "cupti.version=130000; cupti.crash_on_null=0" refused "Update 1"
    run $flavour "cupti.version=17" refused "older than 11.8"
    run $flavour "devices=0" no_gpu "GPU"
done
# These wait for seconds until they give up.
run 13 "cupti.completion=never" threads 0
run 13 "cupti.completion=exit" threads 0
run 13 "cupti.hang=cuptiActivityFlushAll; cupti.hang_at=2" hang

for flavour in 12 13 multi; do
    run $flavour "" clocks
done

# What must not be done is counted by the stand-in.
run_counted() {
    : >"$scratch/report"
    LD_PRELOAD=$sim/libsimlocks.so run "$1" "cupti.report=$scratch/report; $2" "${@:3}"
    for count in locks_held after_refusal in_child forbidden not_zeroed unaligned late_settings; do
        grep -q "^$count[ =:]*0$" "$scratch/report" || {
            echo "$*: $(grep "^$count" "$scratch/report" || echo "no report of $count")"
            failures=$((failures + 1))
        }
    done
}
if [ -z "${SAN-}" ]; then
    for flavour in 12 13 multi; do
        run_counted $flavour "" on_and_off
        run_counted $flavour "" forked
        run_counted $flavour "cupti.completion=thread" threads 2000
        run_counted $flavour "fault=cuptiSubscribe=39; fault=cuptiSubscribe_v2=39" refused "profiler"
    done
fi

# A libcupti that somebody names, one that lacks what is needed, one that lacks what is not.
without() {
    cp "$sim/13/libcupti.so.13" "$scratch/libcupti-$1.so"
    "$here/hide_symbol.sh" "$scratch/libcupti-$1.so" "$1"
    export TAKT_CUPTI_LIBRARY=$scratch/libcupti-$1.so
}
without cuptiActivityFlushAll && run 13 "" refused "lacks functions"
without cuptiSubscribe_v2 && run 13 "" each "CUPTI 13.0 (130001)"
without cuptiSetThreadIdType && run 13 "" each "CUPTI 13.0 (130001)"
export TAKT_CUPTI_LIBRARY=$scratch/nothing.so
run 13 "" refused "nothing.so cannot be loaded"
export TAKT_CUPTI_LIBRARY=$sim/12/libcupti.so.12
run 13 "" each "CUPTI 12.8 (26)"
unset TAKT_CUPTI_LIBRARY

echo "$runs runs, $failures failures"
[ "$failures" = 0 ]
