#!/bin/bash
# The numbers that the running program prints and those of `takt report` from its file are the same
# text: every report, format, width and mode from the plain file, some from the packed one. Under
# sanitizers some from the plain one, too.
set -u
prog=$TAKT_BUILD/test/cli/prog_same
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset COLUMNS

compared=0 failures=0
compare() { # PRINTED FILE
    local name report options again printed
    name=${1##*/} name=${name%.txt}
    report=${name%%,*} options=${name#*,}
    IFS= read -r -d '' printed <"$1"
    # shellcheck disable=SC2086 # the dot keeps newlines at the end
    again=$("$TAKT_BIN/takt" report "--$report" ${options//,/ } "$2" 2>"$scratch/errors" && echo .)
    compared=$((compared + 1))
    [ "$again" != "$printed." ] || return
    [[ $printed == *status:\ * && ! $again && -s $scratch/errors ]] && return
    failures=$((failures + 1))
    echo "takt report --$report ${options//,/ } ${2##*/}: other text than in the program:"
    diff "$1" <(printf '%s' "${again%.}") | head -n 8 | cat -v | sed 's/^/    /'
    head -n 3 "$scratch/errors"
}

for mode in trace summary both flight; do
    mkdir "$scratch/$mode"
    "$prog" "$scratch/$mode" $mode >"$scratch/output" 2>"$scratch/errors" || {
        echo "prog_same $mode failed" && cat "$scratch/errors" && exit 1
    }
    texts=("$scratch/$mode"/*.txt)
    for i in "${!texts[@]}"; do
        [ -z "${SAN-}" ] || [ $((i % 5)) = 0 ] || continue
        for file in "$scratch/$mode"/*.pftrace; do
            compare "${texts[i]}" "$file"
        done
        [ $((i % 10)) = 0 ] || continue # how a file is packed, a report cannot know
        for file in "$scratch/$mode"/*.pftrace.gz; do
            compare "${texts[i]}" "$file"
        done
    done
done
echo "$compared texts compared, $failures differ"
[ "$failures" = 0 ] && [ "$compared" -gt 100 ]
