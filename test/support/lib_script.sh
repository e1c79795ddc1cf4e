# Sourced by script tests: a scratch folder, and failures that are told and counted.
#
#     need TOOL...        skips the test where one is missing
#     leave_out CASE WHY  tells that a part of the test does not run here, and why
#     compile ARGUMENT... compiles a program in C with libtakt.a, from any folder
#     has_terminal        fails where there are no pseudo-terminals
#     fail MESSAGE        tells it; the test goes on
#     finish MESSAGE      says MESSAGE if nothing failed
# shellcheck shell=bash
set -u
scratch=$(mktemp -d) || exit 1
trap 'remove_recordings "$scratch"; rm -rf "$scratch"' EXIT
unset COLUMNS TAKT_CONFIG TAKT_OPTIONS
# Threads of OpenMP that wait in circles slow down whoever shares their cores.
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2
takt=$TAKT_BIN/takt
failures=0

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "needs $tool" && exit 77; }
    done
}

# remove_recordings FOLDER removes what links of crash-safe recordings lead to.
remove_recordings() {
    find "$1" -name '*.crash' -type l -exec readlink {} + | xargs -r -d '\n' rm -f
}

leave_out() { echo "case left out: $1: $2"; }

takt_root=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd) || exit 1
takt_lib=$(cd "${TAKT_LIB:-.}" && pwd) || exit 1
compile() {
    "${CC:-cc}" -I"$takt_root/include" "$@" "$takt_lib/libtakt.a" -lyaml -lz -lm -ldl -pthread
}

# Also says why not, in $no_terminal.
has_terminal() {
    no_terminal="needs python3"
    command -v python3 >/dev/null || return
    no_terminal="no pseudo-terminals (/dev/pts)"
    python3 -c 'import os; os.openpty()' 2>/dev/null
}

fail() {
    echo "$*"
    failures=$((failures + 1))
}

finish() {
    [ "$failures" = 0 ] || { echo "$failures failures" && exit 1; }
    echo "$*"
}

# Fails if two files differ, showing where.
same() { # WHAT FILE FILE
    cmp -s "$2" "$3" && return
    fail "$1:"
    diff "$2" "$3" | head -n 10 | cat -v
}
