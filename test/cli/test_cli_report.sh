#!/bin/bash
# takt report: the tables of a trace that the sample `steps` wrote.
. "${0%/*}/lib_cli.sh"
need python3
export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=1 # a few calls that stand for the others
make_traces

# The numbers that the program printed and those from its file are the same text. Behind several
# tables the command has one provenance line, the program one behind each.
run report --steps --tree "$trace"
status_is 0
silent
diff -B <(sed '1d; /^cycle 1; backend /d' "$scratch/printed") <(sed '/^cycle 1; backend /d' "$scratch/out") \
    >"$scratch/diff" || fail "the program printed other tables" "$(cat "$scratch/diff")"
[ "$(grep -c '^cycle 1; backend ' "$scratch/out")" = 1 ] ||
    fail "not one provenance line" "$(cat "$scratch/out")"
[ "$(tail -n 1 "$scratch/out")" = "$(tail -n 1 "$scratch/printed")" ] ||
    fail "the program's provenance is another" "$(tail -n 1 "$scratch/out")"

# Without a report's name: the summary.
run report "$trace"
status_is 0
default_text=$out
run report --summary "$trace"
out_is "$default_text"

# Three steps were recorded, each with one diffuse of two phases and one total_heat.
json() {
    python3 -c '
import json, sys
document = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1" <<<"$out" 2>&1
}
json_is() {
    local got
    got=$(json "$1")
    [ "$got" = "$2" ] || fail "in JSON, $1 is $got and not $2" "$out"
}

# Every report prints in every format, is not empty, and fits the width asked for.
for report in $("$takt" report --help | sed -nE '/--json/q; s/^ +--([a-z]+) .*/\1/p'); do
    for format in '' --csv --json --markdown; do
        run report "--$report" $format --width 100 "$trace"
        status_is 0
        silent
        [ -n "$out" ] || fail "prints nothing"
        [ "$format" != --json ] || json document >/dev/null || fail "is no JSON" "$out"
        [ "$format" != '' ] || [ "$(awk 'length > 100' <<<"$out")" = "" ] ||
            fail "is wider than 100 columns" "$out"
    done
done

# Without devices there is nothing more to show.
run report --scopes --tree "$trace"
few=$out
run report --scopes --tree --all "$trace"
status_is 0
out_is "$few"

# Several reports and several files.
run report --json --scopes --steps "${traces[@]}"
status_is 0
json_is 'len(document)' 4
# Each cycle knows the steps before it: 8 of waiting, 1 of warm-up, 3 recorded, twice.
json_is '[[d["facts"][key] for key in ("run_steps", "run_recorded_steps")] for d in document[1::2]]' \
    '[[12, 3], [24, 6]]'
run report --scopes --scopes --steps "${traces[@]}"
status_is 0
[ "$(grep -c '^==> .* <==$' <<<"$out")" = 2 ] || fail "should name each file once" "$out"
out_has "^==> $trace <==\$"
run report --steps "$trace"
once=$out
run report --steps --steps "$trace"
out_is "$once"
run report --markdown --scopes "${traces[@]}"
out_has "^## $trace\$"

# A file that fails does not keep the others from being printed.
run report --scopes "$scratch/none.pftrace" "$trace"
status_is 1
err_has 'none.pftrace'
out_has 'diffuse'
run report --json --scopes --steps "$scratch/none.pftrace"
status_is 1
out_is "[]"

# Options and operands mix; values follow "=" or stand alone.
run report "$trace" --rows=1 --csv --scopes
status_is 0
one_row=$out
run report --csv --rows 1 --scopes "$trace"
out_is "$one_row"
run report --csv --rows all --scopes "$trace"
[ "$(wc -l <<<"$out")" -gt "$(wc -l <<<"$one_row")" ] || fail "--rows all is not more than --rows 1" "$out"

refused '^takt report: --json and --csv are two formats: name one$' report --json --csv "$trace"
refused '^takt report: --markdown and --json are two formats' report --markdown --steps --json "$trace"
refused '^takt report: --html is a format: leave out the other one$' report --html --json "$trace"
refused '^takt report: --sort: scopes has no column "no_such"; it has name,.*calls' \
    report --scopes --sort no_such "$trace"

# Colour: never into a file unless asked for.
run report --scopes "$trace"
out_lacks $'\033'
plain=$out
run report --scopes --color=always "$trace"
status_is 0
[ "$(sed 's/\x1b\[[0-9;]*m//g' <<<"$out")" = "$plain" ] || fail "colour changes the text" "$out"
out_has $'\033\\[[0-9;]*m'
in_terminal() {
    COLUMNS=120 TERM=xterm python3 -c '
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null 2>&1
}
if ! has_terminal; then
    leave_out colours "$no_terminal"
else
    # Only where the report has something to mark does colour show.
    for setting in "" "NO_COLOR=1" "TERM=dumb"; do
        in_terminal env TERM=xterm $setting "$takt" report --scopes "$trace" >"$scratch/terminal"
        if [ -n "$setting" ]; then
            ! grep -q $'\033' "$scratch/terminal" || fail "colours in a terminal with $setting"
        else
            grep -q $'\033' "$scratch/terminal" || fail "no colour in a terminal"
        fi
    done
fi

# A reader that has read enough ends it without a word, whether it gets a signal or an error.
into_closed_pipe() {
    python3 -c '
import os, signal, subprocess, sys
signal.signal(signal.SIGPIPE, getattr(signal, sys.argv[1]))
reader, writer = os.pipe()
os.close(reader)
done = subprocess.run(sys.argv[2:], stdout=writer, stderr=subprocess.PIPE, restore_signals=False)
print(done.returncode, done.stderr.decode(), end="")' "$@"
}
ran='report into a closed pipe'
out=$(into_closed_pipe SIG_DFL "$takt" report "$trace")
out_is "-13 " # ended by the signal
out=$(into_closed_pipe SIG_IGN "$takt" report "$trace")
out_is "1 "

if [ -w /dev/full ]; then
    "$takt" report --scopes "$trace" >/dev/full 2>"$scratch/err"
    status=$? err=$(cat "$scratch/err") out='' ran='report >/dev/full'
    status_is 1
    err_is "takt: standard output: No space left on device"
    # That it was not written is worse than that the trace is incomplete.
    "$takt" export --perfetto --plain -o "$scratch/plain" "$trace" >/dev/null # compressed, it is one packet
    head -c $(($(stat -c %s "$scratch/plain") * 2 / 3)) "$scratch/plain" >"$scratch/cut.pftrace"
    run report --scopes "$scratch/cut.pftrace"
    status_is 4
    "$takt" report --scopes "$scratch/cut.pftrace" >/dev/full 2>"$scratch/err"
    status=$? out='' ran='report cut.pftrace >/dev/full'
    status_is 1
fi

finish
