# Sourced by the tests of the command: runs it, and compares what it says with what it should say.
# Every mismatch is told; the test ends with `finish`.
# shellcheck shell=bash
TAKT_BIN=$(cd "${TAKT_BIN:-bin}" && pwd) || exit 1
. "${BASH_SOURCE%/*}/../support/lib_script.sh"
samples=$TAKT_BIN/samples
unset NO_COLOR
export LC_ALL=C TZ=UTC0

fail() {
    echo "takt ${ran-}: $1"
    [ $# -lt 2 ] || printf '%s\n' "$2" | head -n 30 | sed 's/^/    | /'
    failures=$((failures + 1))
}

# Runs `takt ARGS...`; leaves out, err and status.
run() {
    ran=$*
    "$takt" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    # The shell drops what is zero, and says so.
    { out=$(<"$scratch/out") err=$(<"$scratch/err"); } 2>/dev/null
}

status_is() { [ "$status" = "$1" ] || fail "ended with $status and not $1" "$out$err"; }
out_has() { grep -qE -- "$1" <<<"$out" || fail "output has no line like: $1" "$out"; }
err_has() { grep -qE -- "$1" <<<"$err" || fail "standard error has no line like: $1" "$err"; }
out_lacks() { ! grep -qE -- "$1" <<<"$out" || fail "output has a line like: $1" "$out"; }
out_is() { [ "$out" = "$1" ] || fail "output should be: $1" "$out"; }
err_is() { [ "$err" = "$1" ] || fail "standard error should be: $1" "$err"; }
silent() { [ -z "$err" ] || fail "standard error should be empty" "$err"; }

# Runs `takt ARGS...`, which must be refused as a wrong question: nothing on standard output, the
# message $1 on standard error, and where help is.
refused() {
    local message=$1
    shift
    run "$@"
    status_is 2
    out_is ""
    err_has "$message"
    err_has '^Try: takt '
}

# Makes a trace with the sample `steps`: two cycles, the last of which is $trace; what the sample
# printed is in $scratch/printed.
make_traces() {
    "$samples/steps" "$scratch/traces" >"$scratch/printed" 2>"$scratch/errors" || {
        echo "the sample steps fails" && cat "$scratch/printed" "$scratch/errors" && exit 1
    }
    mapfile -t traces < <(find "$scratch/traces" -name '*.pftrace' | sort)
    [ "${#traces[@]}" = 2 ] || { echo "the sample wrote ${#traces[@]} traces, not 2" && exit 1; }
    trace=${traces[1]}
}

finish() {
    [ "$failures" = 0 ] || exit 1
    echo "as it should be"
}
