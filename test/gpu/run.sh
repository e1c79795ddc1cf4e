#!/bin/bash
# Runs what this folder has on the GPU of this machine and keeps the result as plain text.
#
#     run.sh check       every gpu_ program and the samples in CUDA
#     run.sh bench       what recording costs
#
# `make check-gpu` and `make bench-gpu` build before. The result is printed and appended to
# docs/measurements/DEVICE-DATE.txt, or the file that RESULT names.
set -u
cd "${TAKT_ROOT:-$(dirname "$0")/../..}" || exit 1
what=${1-}
programs=${TAKT_BUILD:-build}/test/gpu
samples=${TAKT_BIN:-bin}/samples
failed=0 ran=0 skipped=0

# The first line of each program names device and versions: here those of one that does little.
about=$("$programs/gpu_events" 2>&1 | head -n 1)
case $about in
device\ *) ;;
*) echo "no GPU here: $about" >&2 && exit 1 ;;
esac
device=${about#device }
device=${device%%,*}
case $device in
*imulated*) result=${RESULT:-/dev/null} ;; # nothing of a simulation is a measurement
*) result=${RESULT:-docs/measurements/${device//[^A-Za-z0-9]/-}-$(date +%Y-%m-%d).txt} ;;
esac
mkdir -p "$(dirname "$result")"

# What else decides about the numbers. Lines that this machine cannot fill are left out.
head_of_file() {
    echo "# make $what-gpu, $(date '+%Y-%m-%d %H:%M %Z')"
    echo "$about"
    local smi=name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,persistence_mode
    command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=$smi --format=csv,noheader
    sed -n 's/^model name\s*: /cpu /p' /proc/cpuinfo | head -n 1
    echo "cores $(nproc), $(uname -srm), $(${CC:-cc} --version | head -n 1)"
    git describe --always --dirty 2>/dev/null | sed 's/^/commit /'
}

run() { # PROGRAM ARGUMENTS...
    local name=${1##*/} status
    echo "== $name ${*:2}"
    timeout 300 "$@" 2>&1
    status=$?
    case $status in
    0) ran=$((ran + 1)) ;;
    77) skipped=$((skipped + 1)) && echo "skipped" ;;
    *) failed=$((failed + 1)) && echo "FAILED with status $status" ;;
    esac
}

check() {
    local program
    for program in "$programs"/gpu_*; do
        case ${program##*/} in
        gpu_bench | gpu_cost) ;; # below
        *) [ ! -x "$program" ] || run "$program" ;;
        esac
    done
    for program in samples/*.cu; do
        program=$samples/$(basename "$program" .cu)
        [ ! -x "$program" ] || run "$program"
    done
    [ ! -x "$samples/sph" ] || run "$samples/sph" --device cuda --steps 200
    echo "== $ran passed, $failed failed, $skipped skipped"
}

# One line a mode: nanoseconds a launch until all are launched, until all are done, and the ratios of
# these to the bare loop's and, for what Takt records, to empty callbacks' on bare CUPTI.
bench() {
    local loop mode
    echo "# loop mode ns-a-launch-host ns-a-launch-whole | host, whole against bare | against callbacks"
    for loop in empty busy; do
        for mode in bare sync cupti runtime driver callbacks wait after takt marks; do
            timeout 300 "$programs/gpu_bench" $loop $mode 2>&1 || echo "$loop $mode failed: $?"
        done
    done | awk '
        NF != 4 || $3 !~ /^[0-9.]+$/ { print; failed = 1; next }
        $2 == "bare" { bare_host = $3; bare_whole = $4 }
        $2 == "callbacks" { floor_host = $3; floor_whole = $4 }
        {
            printf "%-6s %-10s %10.1f %10.1f", $1, $2, $3, $4
            if (bare_host) printf " | %.3f %.3f", $3 / bare_host, $4 / bare_whole
            if ($2 == "takt" && floor_host) printf " | %.3f %.3f", $3 / floor_host, $4 / floor_whole
            print ""
            fflush()
        }
        END { exit failed }' || failed=1
    run "$programs/gpu_cost"
    run "$programs/gpu_scopes"
}

case $what in
check | bench) ;;
*) echo "usage: $0 check|bench" >&2 && exit 2 ;;
esac
{
    head_of_file
    $what
    echo
    [ "$failed" = 0 ]
} > >(tee -a "$result")
status=$?
[ "$result" = /dev/null ] || echo "kept in $result"
exit $status
