#!/bin/bash
# What the reports say of threads, their parts of parallel regions, tasks and counters is what a
# script finds in Chrome's file, for pools of 2, 8 and 64 threads.
. "${0%/*}/../support/lib_script.sh"
need python3

for threads in 2 8 64; do
    "$TAKT_BUILD/test/cli/prog_threads" "$scratch/$threads" $threads >"$scratch/output" 2>&1 ||
        fail "prog_threads fails" "$(cat "$scratch/output")"
    python3 test/support/compare_threads.py "$takt" "$scratch/$threads/pool.0.pftrace" \
        "$scratch/$threads/pool.0.trace.json" >"$scratch/result" ||
        fail "$threads threads: $(cat "$scratch/result")"
    "$takt" report --threads --json "$scratch/$threads/pool.0.pftrace" >"$scratch/json"
    grep -q '"region": "jobs", "name": "job", "threads": '$threads, "$scratch/json" ||
        fail "$threads threads: not all of them are in the region"
done

finish "three pools compared"
