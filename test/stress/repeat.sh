#!/bin/bash
# Runs each test again and again, TAKT_STRESS seconds long (60), until one fails. What is random in a
# test is other in each run, by TEST_SEED.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for test in "$@"; do
    end=$((SECONDS + ${TAKT_STRESS:-60})) runs=0
    while [ $SECONDS -lt $end ]; do
        TEST_SEED=$runs "$test" >"$scratch/output" 2>&1 || {
            cat "$scratch/output" && echo "TEST_SEED=$runs $test failed" && exit 1
        }
        runs=$((runs + 1))
    done
    echo "${test##*/}: $runs runs in ${TAKT_STRESS:-60} s"
done
