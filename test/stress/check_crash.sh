#!/bin/bash
# A crash-safe recording survives its program: some kills at random instants here, a thousand with
# `make crash`. Then the file itself: names, a full disk, what is cut off, a clean end.
. "${0%/*}/../support/lib_script.sh"
need timeout
tests=$TAKT_BUILD/test/stress
kills=${CRASH_KILLS:-20}
# Sanitizers would make exits of the signals that these programs end by.
signals=handle_segv=0:handle_abort=0
export ASAN_OPTIONS=${ASAN_OPTIONS-}:$signals TSAN_OPTIONS=${TSAN_OPTIONS-}:$signals
export UBSAN_OPTIONS=${UBSAN_OPTIONS-}:$signals

mkdir "$scratch/run"
"$tests/prog_crash" "$tests/prog_crashing" "$scratch/run" "$kills" || fail "see above"
[ -z "${CRASH_KILLS-}" ] || finish "$kills kills"
[ -z "${CRASH_KILLS-}" ] || exit 0

# One file more, for the command.
: >"$scratch/book" && truncate -s 4096 "$scratch/book"
record() { # DIRECTORY DEATH AFTER
    "$tests/prog_crashing" "$1" "$scratch/book" safe "$2" "$3" 2>"$scratch/errors"
}
record "$scratch/one" abort 300 2>/dev/null
file=$(find "$scratch/one" -name 'crashing.*.crash')
[ -s "${file:-/nonexistent}" ] || fail "there is no file"
before=$(cksum <"$file")
"$takt" recover "$file" >"$scratch/output" 2>&1 || fail "takt recover: $(cat "$scratch/output")"
[ "$(cksum <"$file")" = "$before" ] || fail "takt recover changed the file"
grep -q 'of them [1-9][0-9]* open' "$scratch/output" || fail "said: $(cat "$scratch/output")"
memory=$(readlink "$file")
files="$file and $memory \([0-9.]+ [MG]iB of memory\) are no longer needed: you can remove them"
[ -n "$memory" ] || files="$file \([0-9.]+ [MG]iB\) is no longer needed: you can remove it"
grep -qE "^unless the program still runs, $files\$" "$scratch/output" || fail "does not say that the file can be removed: $(cat "$scratch/output")"
trace=${file%.crash}.pftrace
"$takt" info "$trace" >"$scratch/info" 2>"$scratch/errors"
grep -q '^  incomplete  the program was killed, or it still ran: recovered up to its last event, after ' "$scratch/info" &&
    grep -q '^  cost  *unknown$' "$scratch/info" || fail "takt info of what is recovered: $(cat "$scratch/info")"
"$takt" report --scopes "$trace" >"$scratch/report" 2>&1
[ $? = 4 ] || fail "no report of the trace, or it is not told as a killed program's"
"$takt" report --scopes --json "$trace" >"$scratch/json" 2>"$scratch/errors"
grep -q '"incomplete": "INCOMPLETE: the program was killed, or it still ran\. The recording was recovered up to its last event: ' \
    "$scratch/json" && grep -q '"cost_ns": null' "$scratch/json" || fail "the report as JSON: $(cat "$scratch/json")"
grep -q 'inner' "$scratch/report" || fail "the report lacks a scope: $(cat "$scratch/report")"
grep -q '(name lost)' "$scratch/report" && fail "a name is lost"

# Verbs that read traces name the command for it.
for verb in report info view "export --chrome"; do
    "$takt" $verb "$file" >"$scratch/output" 2>&1
    [ $? = 1 ] || fail "takt $verb reads $file"
    grep -q "^takt: $file: the file of a crash-safe recording: takt recover makes a trace of it\$" "$scratch/output" || fail "takt $verb: $(cat "$scratch/output")"
done

# The name of a crashed run is not taken: what is there stays.
"$takt" recover -o "$scratch/other.pftrace.gz" "$file" >/dev/null || fail "takt recover -o"
"$takt" recover --json -o "$scratch/other.pftrace" "$file" >"$scratch/output" || fail "takt recover --json"
grep -qE '^\{"file": ".*/other.pftrace", "spans": [0-9]+, "unfinished": [0-9]+, "incomplete": [0-9]+\}$' \
    "$scratch/output" || fail "takt recover --json: $(cat "$scratch/output")"
"$takt" export --perfetto --plain -o "$scratch/plain.pftrace" "$trace" >/dev/null 2>&1
[ $? = 4 ] || fail "takt export"
cmp -s <(gzip -dc "$scratch/other.pftrace.gz") "$scratch/plain.pftrace" ||
    fail "-o gave another trace"

# Several files, as of the ranks of a job: one that cannot be read keeps none of the others.
mkdir "$scratch/ranks"
cp "$file" "$scratch/ranks/a.crash"
echo nothing >"$scratch/ranks/b.crash"
cp "$file" "$scratch/ranks/c.crash"
"$takt" recover "$scratch"/ranks/*.crash >"$scratch/output" 2>&1
[ $? = 1 ] || fail "several files: $(cat "$scratch/output")"
for name in a c; do
    cmp -s "$trace" "$scratch/ranks/$name.pftrace" || fail "several files: $name: $(cat "$scratch/output")"
done
"$takt" recover -o "$scratch/both" "$scratch"/ranks/[ac].crash >"$scratch/output" 2>&1
[ $? = 2 ] && grep -q 'one file only' "$scratch/output" || fail "-o of two files: $(cat "$scratch/output")"

# Files that are none, of another version, cut off.
refused() { # WHAT FILE WORDS
    "$takt" recover -o "$scratch/refused.pftrace" "$2" >"$scratch/output" 2>&1
    [ $? = 1 ] || fail "$1: not refused"
    grep -q "$3" "$scratch/output" || fail "$1: said $(cat "$scratch/output")"
}
refused "a trace" "$trace" 'not a crash-safe recording'
head -c 100 "$file" >"$scratch/short"
refused "a short file" "$scratch/short" 'not a crash-safe recording'
head -c 1000000 "$file" >"$scratch/cut"
refused "a cut file" "$scratch/cut" 'cut off'
cp "$file" "$scratch/version"
printf '\377' | dd of="$scratch/version" bs=1 seek=8 conv=notrunc status=none
refused "another version" "$scratch/version" 'layout has version 255'
refused "nothing" "$scratch/nothing" 'No such file'
mkfifo "$scratch/pipe"
refused "a pipe" "$scratch/pipe" 'not a regular file'

ln -s "$scratch/went/one.crash" "$scratch/link.crash"
refused "a link to nothing" "$scratch/link.crash" 'its events were in memory, and went with the machine'

# No room: refused at the start, and the program goes on.
(ulimit -f 1000 && record "$scratch/full" exit 5)
[ $? = 1 ] || fail "a disk without room: exit $?"
find "$scratch/full" -name '*.crash' | grep -q . && fail "a disk without room: a file is left"

# A clean end leaves the trace alone.
cat >"$scratch/clean.yaml" <<END
profiling: {enabled: true, wait: 0, warmup: 0, active: 1, max_memory: 1 MiB}
reports: []
output: {directory: $scratch/clean, traces: [perfetto], crash_safe: true}
END
TAKT_CONFIG=$scratch/clean.yaml "$TAKT_BUILD/test/cli/prog_exit" null . >"$scratch/output" 2>&1 ||
    [ $? = 3 ] || fail "a clean end: $(cat "$scratch/output")"
find "$scratch/clean" -name '*.crash' | grep -q . && fail "a clean end left the file"
finish "a crash-safe recording survives"
