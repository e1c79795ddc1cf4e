#!/bin/bash
# Checks the models of Takt's protocols between threads with GenMC (https://github.com/MPI-SWS/genmc):
# all executions that C's memory model (RC11) allows. Each is right as the sources have it, and wrong
# with each order that is made weaker.
#
#     run.sh [MODEL...]      GENMC=path
set -u
cd "$(dirname "$0")" || exit 1
genmc=${GENMC:-genmc}
command -v "$genmc" >/dev/null || { echo "needs GenMC: set GENMC to the program" && exit 77; }
failures=0 count=0

# expect right|wrong MODEL [OPTION...]
expect() {
    local wanted=$1 model=$2 found=wrong out
    [ $# -gt 2 ] && shift 2 || set --
    [ ${#models[@]} = 0 ] || [[ " ${models[*]} " == *" $model "* ]] || return
    out=$("$genmc" --rc11 --unroll=3 --disable-estimation -- -I. "$@" "$model.c" 2>&1)
    case $? in
        0) found=right ;;
        42) ;;
        *) found="not checked" ;;
    esac
    count=$((count + 1))
    printf '%-12s %-40s %s\n' "$found" "$model $*" \
        "$(grep -oE 'Number of complete executions explored: [0-9]+|Assertion violation: .*|Non-atomic race' <<<"$out" |
            head -n 1)"
    [ "$found" = "$wanted" ] && return
    echo "    should be $wanted: $out"
    failures=$((failures + 1))
}

models=("$@")
expect right scope
expect right scope -DOPEN_BEFORE
expect right scope -DONE_TICK
expect right scope -DLOST
expect wrong scope -DWEAKER=1
expect wrong scope -DWEAKER=2
expect wrong scope -DWEAKER=3
expect wrong scope -DWEAKER=4
expect wrong scope -DWEAKER=5 -DOPEN_BEFORE
expect wrong scope -DWEAKER=6 -DONE_TICK
expect wrong scope -DWEAKER=7 -DLOST
expect right chunks
for order in 1 2 3 4; do expect wrong chunks -DWEAKER=$order; done
expect right pool
for order in 1 2; do expect wrong pool -DWEAKER=$order; done
expect right call
for order in 1 2; do expect wrong call -DWEAKER=$order; done
expect right condition
for order in 1 2; do expect wrong condition -DWEAKER=$order; done

echo "$count checks, $failures failed"
[ $failures = 0 ]
