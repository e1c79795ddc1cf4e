# Sourced by the tests of same texts: the numbers that the running program prints and those of `takt
# report` from its file are the same text, of a recording in one mode.
# shellcheck shell=bash
. "${0%/*}/../support/lib_script.sh"

compared=0
compare() { # PRINTED FILE
    local name report options again printed
    name=${1##*/} name=${name%.txt}
    report=${name%%,*} options=${name#*,}
    # shellcheck disable=SC2086 # words
    "$takt" report "--$report" ${options//,/ } "$2" >"$scratch/again" 2>"$scratch/errors"
    local status=$?
    compared=$((compared + 1))
    IFS= read -r -d '' printed <"$1"
    IFS= read -r -d '' again <"$scratch/again"
    [ $status != 0 ] || [ "$again" != "$printed" ] || return
    [[ $printed == *status:\ * && ! $again && -s $scratch/errors ]] && return
    fail "takt report --$report ${options//,/ } ${2##*/}: not the text of the program:"
    diff "$1" "$scratch/again" | head -n 8 | cat -v | sed 's/^/    /'
    head -n 3 "$scratch/errors"
}

# Every report, format and width from the plain file, some from the packed one: how a file is
# packed, a report cannot know.
compare_all() { # MODE
    local texts i file
    "$TAKT_BUILD/test/cli/prog_same" "$scratch" "$1" >"$scratch/output" 2>"$scratch/errors" ||
        fail "prog_same $1 fails: $(cat "$scratch/errors")"
    texts=("$scratch"/*.txt)
    for i in "${!texts[@]}"; do
        for file in "$scratch"/*.pftrace; do
            compare "${texts[i]}" "$file"
        done
        [ $((i % 10)) = 0 ] || continue
        for file in "$scratch"/*.pftrace.gz; do
            compare "${texts[i]}" "$file"
        done
    done
    [ $compared -gt 100 ] || fail "only $compared texts"
    finish "$compared texts are the same"
}
