#!/bin/bash
# What the command says about a trace without spans, one that was stopped early, and one that lost
# events for want of memory.
. "${0%/*}/lib_cli.sh"
need python3
cd "$scratch" || exit 1
ran='(the sample sph)'

# Steps 2 to 21 are recorded: 20 steps of the fluid.
fluid() {
    local folder=$1
    shift
    "$samples/sph" --particles 300 --quiet --profiling.wait 1 --profiling.active 20 \
        --output.traces perfetto --output.directory "$folder" "$@" >printed 2>&1 ||
        fail "sph fails" "$(cat printed)"
}
fluid full --steps 40
fluid short --steps 40 --profiling.mode summary
fluid early --steps 10
mv full/*.pftrace full.pftrace && mv short/*.pftrace short.pftrace && mv early/*.pftrace early.pftrace

# Info counts the same as of a trace, but for what a summary does not keep: marks and memory events.
# The runs have other threads' ids.
counts() {
    run info "$1"
    status_is 0
    silent
    sed -nE 's/thread [0-9]+: /: /
        s/^  contents +(a summary only, of )?(.* counter samples).*/\2/p
        s/^  tracks +(.* spans)$/\1/p; s/^ {14}(.* spans)$/\1/p' <<<"$out" | sort
}
same_counts() { # TRACE SUMMARY
    counts "$1" >of_trace
    counts "$2" >of_summary
    diff of_trace of_summary >differences ||
        fail "$2 has other counts than the trace of the same run" "$(cat differences)"
    [ "$(counts "$2" | wc -l)" -gt 1 ] || fail "hardly any counts are told of $2"
}
same_counts full.pftrace short.pftrace
run info short.pftrace
out_has '^  contents +a summary only, of [0-9,]+ spans, [1-9][0-9]* activities, [0-9,]+ counter samples$'
out_has '^  tracks +main, thread [0-9]+: [0-9,]+ spans$'
for mode in trace summary; do
    mkdir $mode
    "$TAKT_BUILD/test/cli/prog_same" $mode $mode >printed 2>&1 || fail "prog_same fails" "$(cat printed)"
    mv $mode/*.pftrace $mode.pftrace
done
same_counts trace.pftrace summary.pftrace
grep -q '^tasks: ' of_summary || fail "the summary lacks the track of tasks"

# The same nodes and counts as from spans; times are of another run.
calls() {
    run report --tree --csv --rows all "$1"
    status_is 0
    silent
    python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["name"], row["calls"])' <"$scratch/out" | sort
}
calls full.pftrace >of_trace
calls short.pftrace >of_summary
diff of_trace of_summary >differences ||
    fail "the summary has other calls than the spans" "$(cat differences)"
[ "$(calls full.pftrace | wc -l)" -gt 4 ] || fail "there are hardly any calls"

for report in summary scopes activities devices steps; do
    run report --$report short.pftrace
    status_is 0
    silent
done

# What needs spans says so, and does not keep others from being printed.
run report --timeline --scopes short.pftrace
status_is 1
err_is 'takt: short.pftrace: timeline needs spans, and this trace holds only a summary (it was recorded with mode: summary)'
out_has '# of Calls'
run export --chrome --folded short.pftrace
status_is 1
err_is 'takt: short.pftrace: chrome needs spans, and this trace holds only a summary (it was recorded with mode: summary)'
out_has '^wrote short.folded '
[ ! -e short.json ] || fail "left a file behind"

# A flame graph of nothing is no file, and the same for each kind of flame graph.
for file in short full; do
    run export --folded-device -o device.folded $file.pftrace
    status_is 1
    err_is "takt: $file.pftrace: no activities of devices were recorded"
    [ ! -e device.folded ] || fail "left a file behind"
done
run export --stacks -o stacks.folded full.pftrace
status_is 1
err_is 'takt: full.pftrace: no call stacks were recorded (profiling.with_stack)'
[ ! -e stacks.folded ] || fail "left a file behind"

# Which scopes the recording has cut is known of both.
run info --json short.pftrace
out_has '"begun_before": [0-9]+,'
out_has '"marks": null,'
out_has '"counter_samples": [1-9][0-9]*,'
out_has '"name": "main", "kind": "thread", "thread_id": [0-9]+, "spans": [1-9]'
run info --json full.pftrace
out_has '"begun_before": [0-9]+,'

# Of a recovered summary only the scopes are known.
"$samples/sph" --particles 300 --quiet --steps 100000000 --profiling.mode summary --output.crash_safe \
    --profiling.max_memory 1MiB --profiling.active 100000000 --output.directory killed >printed 2>&1 &
program=$!
until "$takt" recover -o killed.pftrace killed/*.crash >/dev/null 2>&1 || ! kill -0 $program; do
    sleep 0.1
done
kill -KILL $program
wait $program 2>/dev/null
[ -e killed.pftrace ] || fail "nothing was recovered" "$(cat printed)"
for report in counters tasks threads; do
    run report --$report killed.pftrace
    [ "$status" = 1 ] || fail "ends with $status" "$err"
    err_has "^takt: killed.pftrace: no $report: of this summary only scopes are known, since it was recovered"
done
mkdir both
cp killed.pftrace both
run report --tasks both
status_is 4 # the killed program's trace is incomplete
out_has '^No tasks'
out_has '^Careful: 1 of 1 files know only scopes, since they were recovered from summaries'
cp full.pftrace both
run report --scopes --threads both
out_has '^Careful: 1 of 2 files know only scopes, since they were recovered from summaries'
out_has '^full.pftrace +main '

# Stopped before the cycle was complete.
run info early.pftrace
status_is 0
out_has '; partial: the program stopped before the cycle was complete$'
run info full.pftrace
out_lacks 'partial'

# Losses stand in info with their cause, and as the same number below each table.
fluid lossy --steps 1200 --profiling.active 1150 --profiling.max_memory 64KiB
run info lossy/*.pftrace
status_is 0
out_has '^  losses +[0-9,]+ dropped: events dropped because max_memory was used up$'
lost=$(sed -nE 's/^  losses +([0-9,]+) dropped: .*/\1/p' <<<"$out" | tr -d ,)
run report --tree lossy/*.pftrace
out_has "dropped $lost;"

finish
