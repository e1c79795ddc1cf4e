#!/bin/bash
# Scopes that wait for known times on two threads get those times in every report and export.
set -u
prog=$TAKT_BUILD/test/cli/prog_truth
for tool in python3 protoc; do
    command -v "$tool" >/dev/null || { echo "needs $tool" && exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

status=0
compare() { # MODE
    rm -rf "${scratch:?}/$1"
    "$prog" "$scratch/$1" "$1" >"$scratch/books" || exit 1
    python3 "$TAKT_ROOT/test/support/lib_truth.py" \
        "$TAKT_BIN/takt" "$scratch/books" "$scratch/$1" "$1" >"$scratch/result"
}

for mode in trace summary; do
    compare $mode || { status=1 && cat "$scratch/books"; }
    echo "$mode: $(cat "$scratch/result")"
done
exit $status
