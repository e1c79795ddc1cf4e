#!/bin/bash
# However a program ends while Takt records, it ends: at once, with its own status, unharmed.
. "${0%/*}/../support/lib_script.sh"
prog=$TAKT_BUILD/test/cli/prog_exit
# What is alive when the process ends is no leak; threads that never end are part of the test.
export ASAN_OPTIONS="${ASAN_OPTIONS-} detect_leaks=0" TSAN_OPTIONS="${TSAN_OPTIONS-} report_thread_leaks=0"
ulimit -c 0

ends_like() { # WAY STATUS
    local way=$1 wanted=$2 got
    { timeout -k 1 600 "$prog" "$way" "$scratch/$way" >"$scratch/output" 2>"$scratch/errors"; } 2>&-
    got=$?
    [ "$got" = "$wanted" ] || fail "$way ends with $got, not $wanted: $(cat "$scratch/errors")"
    ! grep -E 'Sanitizer|runtime error' "$scratch/errors" || fail "$way is not clean"
    for file in "$scratch/$way"/*.pftrace; do
        [ -e "$file" ] || continue
        # Who ends without exit(), or in a handler that interrupted Takt, may end between the claim of
        # a name, by an empty file, and the renaming of the complete one: see src/base/file.c.
        [[ ! -s $file && $way =~ ^(_exit|quick_exit|abort|exec|signal)$ ]] && continue
        "$takt" info "$file" >"$scratch/info" || fail "$way: ${file##*/} is bad"
    done
}

rounds=(1 2 3)
[ -z "${SAN-}" ] || rounds=(1)
for round in "${rounds[@]}"; do
    for way in return exit _exit quick_exit thread busy pthread_exit stop cancel signal fork exec; do
        ends_like $way 3
    done
    [ -n "${SAN-}" ] || ends_like abort 134
    remove_recordings "$scratch" && rm -rf "${scratch:?}"/*
done

# Takt's idle thread does not keep a process whose main() has ended by pthread_exit(); that of
# ThreadSanitizer does.
if [[ ${SAN-} != *thread* ]]; then
    ends_like last_thread 0
    [ -s "$scratch/last_thread/exit.2.pftrace" ] || fail "last_thread: the open cycle is not saved"
fi

# on_trace may exit: its cycle is printed, and the open one saved.
ends_like on_trace 3
grep -q '^step ' "$scratch/output" && [ -s "$scratch/on_trace/exit.1.pftrace" ] ||
    fail "on_trace: $(ls "$scratch/on_trace") $(cat "$scratch/output")"

# A handler that interrupts Takt and exits loses the recording, but not the crash-safe file.
ends_like signal 3
[ "$(grep -c 'a signal handler that interrupted Takt: the recording is lost' "$scratch/errors")" = 1 ] ||
    fail "signal: $(cat "$scratch/errors")"
"$takt" recover "$scratch"/signal/*.crash >"$scratch/output" 2>&1 || fail "signal: $(cat "$scratch/output")"

ends_like saved 3
[ ! -s "$scratch/errors" ] || fail "saved: $(cat "$scratch/errors")"

# A program that has no profiler of its own gets the environment's, which exit stops.
cat >"$scratch/profile.yaml" <<EOF_YAML
profiling: {wait: 1, warmup: 1, active: 3}
output: {directory: $scratch/null, traces: [perfetto]}
EOF_YAML
ends_like null 3
[ ! -e "$scratch/null" ] || fail "profiles without being asked"
TAKT_CONFIG=$scratch/profile.yaml ends_like null 3
grep -q '^step 10$' "$scratch/output" || fail "null: $(cat "$scratch/output")"
"$takt" report --scopes --csv "$scratch/null/"*.0.pftrace >"$scratch/scopes"
grep -q '^step of nobody,.*,3,' "$scratch/scopes" || fail "null: $(cat "$scratch/scopes")"

# A recording that is open at exit is saved.
remove_recordings "$scratch" && rm -rf "$scratch/null"
TAKT_OPTIONS="profiling.active=100 profiling.wait=0 profiling.warmup=0
    output.directory=$scratch/null output.traces=perfetto" ends_like null 3
"$takt" report --scopes --csv "$scratch/null/"*.pftrace >"$scratch/scopes"
grep -q '^step of nobody,.*,10,' "$scratch/scopes" || fail "null at exit: $(cat "$scratch/scopes")"

# A configuration that is wrong costs one line and no profile.
remove_recordings "$scratch" && rm -rf "$scratch/null"
TAKT_OPTIONS="profiling.actve=3" ends_like null 3
[ "$(grep -c '^takt: .*actve' "$scratch/errors")" = 1 ] || fail "wrong: $(cat "$scratch/errors")"
TAKT_OPTIONS="profiling.actve=3" ends_like logs 3
[ "$(grep -c '^step 0: .*actve' "$scratch/errors")" = 1 ] || fail "logs: $(cat "$scratch/errors")"
finish "every way out is free"
