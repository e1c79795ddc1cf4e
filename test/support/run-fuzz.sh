#!/bin/sh
# Runs one fuzz target over its seed corpus, test/fuzz/corpus/NAME, and over inputs that libFuzzer
# makes of it: always the same ones, for a test that gives the same answer each time. With
# FUZZ_SECONDS it searches for that long instead (`make fuzz`). What it learns is not kept; an input
# that fails is saved in the build folder and named.
#
#     run-fuzz.sh .../fuzz_NAME
set -eu

[ -x "$1" ] || { echo "needs clang with libFuzzer" && exit 77; }

name=${1##*/fuzz_}
seeds=test/fuzz/corpus/$name
learnt=$(mktemp -d)
trap 'rm -rf "$learnt"' EXIT
mkdir -p "$learnt/corpus" "$seeds" "$TAKT_BUILD/crashes"

# About a second's worth of inputs, by how much a target does with one. How often fuzz_api reaches
# a line depends on numbers of threads and processes, which differ; whether it does, does not.
as_ever=
case $name in
api) runs=150 as_ever=-use_counters=0 ;;
gzip | import | nsys) runs=200 ;;
config) runs=1250 ;;
recover) runs=800 ;;
trace) runs=2500 ;;
*) runs=35000 ;;
esac
# What libFuzzer makes depends on addresses, and on what another process adds to a corpus.
unrandomised=$(setarch -R true 2>/dev/null && echo "setarch -R" || true)
if [ "${FUZZ_SECONDS-}" ]; then
    limit="-max_total_time=$FUZZ_SECONDS -seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')"
else
    limit="-runs=$runs -seed=1 -reload=0 $as_ever"
fi
# shellcheck disable=SC2086 # several words
if ! $unrandomised "$1" $limit -timeout=3600 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$TAKT_BUILD/crashes/$name-" "$learnt/corpus" "$seeds" >"$learnt/log" 2>&1; then
    cat "$learnt/log"
    exit 1
fi
sed -n "s/^Done \([0-9]* runs in [0-9]*\).*/fuzz_$name: \1 s/p" "$learnt/log"
sed -n "s/.*DONE *\(cov: [0-9]* ft: [0-9]*\).*/fuzz_$name: \1/p" "$learnt/log"
