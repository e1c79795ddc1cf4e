#!/bin/bash
# Counts the instructions of a scope with callgrind, loop included: figures that do not depend on how
# busy the machine is.
#
#     instructions.sh [BENCH]     default $TAKT_BUILD/takt-bench
set -euo pipefail
bench=${1:-${TAKT_BUILD:-build}/takt-bench}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Instructions inside bench_counted(), and how often the loop went round.
count_of() {
    local repetitions
    repetitions=$(valgrind --tool=callgrind --toggle-collect=bench_counted \
        --callgrind-out-file="$scratch/out" --log-file="$scratch/log" "$bench" --count "$1")
    awk -v name="$1" -v repetitions="$repetitions" '
        /Collected *:/ { printf "%-24s %7.1f\n", name, $NF / repetitions }' "$scratch/log"
}

printf "%-24s %s\n" "" "instructions each"
for name in empty floor scope_off scope_trace scope_trace_tree scope_call scope_begin_end \
    phase_trace scope_summary scope_summary_8 scope_summary_tree phase_summary scope_both; do
    count_of "$name"
done
