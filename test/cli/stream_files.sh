#!/bin/bash
# The threads of a program make no file of a stream, nor write to it: file systems may be slow.
. "${0%/*}/../support/lib_script.sh"
command -v strace >/dev/null && strace -o "$scratch/calls" true 2>/dev/null ||
    { echo "needs strace" && exit 77; }

for mode in trace summary; do
    TAKT_OPTIONS="profiling.mode=$mode profiling.active=2 profiling.repeat=3 output.stream=true reports=
        output.directory=$scratch/$mode output.announce=false" \
        strace -f -o "$scratch/calls" -e trace=file "$TAKT_BUILD/test/unit/prog_environment" \
        >"$scratch/said" 2>&1 || fail "$mode: $(tail -n 3 "$scratch/said")"
    first=$(awk '{ print $1; exit }' "$scratch/calls")
    grep -q '\.partial\.pftrace"' "$scratch/calls" || fail "$mode: nothing was streamed"
    ! grep "^$first .*\.partial\.pftrace\"" "$scratch/calls" || fail "$mode: by the program's thread"
done
finish "the program's thread opens no file of a stream"
