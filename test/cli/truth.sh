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
for mode in trace summary; do
    "$prog" "$scratch/$mode" "$mode" >"$scratch/books" || exit 1
    echo "$mode:"
    python3 "$TAKT_ROOT/test/support/lib_truth.py" \
        "$TAKT_BIN/takt" "$scratch/books" "$scratch/$mode" "$mode" || status=1
    [ "$status" = 0 ] || cat "$scratch/books"
done
exit $status
