#!/bin/sh
# Runs one fuzz target for FUZZ_SECONDS (3) over its seed corpus, test/fuzz/corpus/NAME, and says how
# many inputs that were. What it learns is not kept; an input that fails is saved in the build folder
# and named.
#
#     run-fuzz.sh .../fuzz_NAME
set -eu

[ -x "$1" ] || { echo "no clang with libFuzzer" && exit 77; }

name=${1##*/fuzz_}
seeds=test/fuzz/corpus/$name
learnt=$(mktemp -d)
trap 'rm -rf "$learnt"' EXIT
mkdir -p "$learnt/corpus" "$seeds" "$TAKT_BUILD/crashes"
if ! "$1" -seed=1 -max_total_time="${FUZZ_SECONDS:-3}" -timeout=600 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$TAKT_BUILD/crashes/$name-" "$learnt/corpus" "$seeds" \
    >"$learnt/log" 2>&1; then
    cat "$learnt/log"
    exit 1
fi
sed -n "s/^Done \([0-9]* runs in [0-9]*\).*/fuzz_$name: \1 s/p" "$learnt/log"
