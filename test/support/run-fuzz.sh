#!/bin/sh
# Runs one fuzz target for a few seconds over its seed corpus, test/fuzz/corpus/NAME. What it learns
# is not kept; an input that fails is saved in the build folder and named.
#
#     run-fuzz.sh .../fuzz_NAME
set -eu

[ -z "${SAN-}" ] || { echo "fuzzed in the build without SAN" && exit 77; }
[ -x "$1" ] || { echo "no clang with libFuzzer" && exit 77; }

name=${1##*/fuzz_}
seeds=test/fuzz/corpus/$name
learnt=$(mktemp -d)
mkdir -p "$seeds" "$TAKT_BUILD/crashes"
exec "$1" -seed=1 -max_total_time="${FUZZ_SECONDS:-5}" -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$TAKT_BUILD/crashes/$name-" "$learnt" "$seeds"
