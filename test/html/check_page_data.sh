#!/bin/bash
# What a page holds is what the trace holds: compared with Chrome's file, Perfetto's and the reports
# of the same trace, by a reader of the page that knows FORMAT.md alone.
. "${0%/*}/../support/lib_script.sh"
need python3 protoc
here=$(cd "${0%/*}" && pwd) || exit 1
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
compared=0

# compare FILE WHAT
compare() {
    local folder=$scratch/$((compared += 1)) report
    mkdir -p "$folder/tables"
    "$takt" report --html -o "$folder/page.html" "$1" >"$folder/out" 2>&1 ||
        fail "$2: no page: $(cat "$folder/out")"
    "$takt" export --chrome -o "$folder/chrome.json" "$1" >"$folder/out" 2>&1 ||
        fail "$2: no Chrome JSON: $(cat "$folder/out")"
    for report in $reports; do
        "$takt" report "--$report" --json --rows 1000 "$1" >"$folder/tables/$report.json" \
            2>/dev/null || rm "$folder/tables/$report.json"
    done
    python3 "$here/compare_page.py" "$folder/page.html" "$folder/chrome.json" "$1" \
        "$folder/tables" >"$folder/wrong" 2>&1 || fail "$2:" "$(cat "$folder/wrong")"
}

# The reports that there are: what the help lists before the first option of tables.
reports=$("$takt" report --help | sed -n '/^Options:/,/--json/s/^ *--\([a-z]*\)  .*/\1/p' |
    grep -v json)
[ "$(wc -w <<<"$reports")" -ge 10 ] || fail "the help tells these reports only: $reports"

"$TAKT_BIN/samples/steps" "$scratch/steps" >/dev/null || fail "the sample steps fails"
for file in $(find "$scratch/steps" -name '*.pftrace'); do
    compare "$file" "the sample steps"
done
[ $compared = 2 ] || fail "the sample steps wrote $compared traces, not 2"
"$build/test/unit/prog_perfetto" "$scratch/random.pftrace" >/dev/null || fail "prog_perfetto fails"
compare "$scratch/random.pftrace" "a trace with everything"
"$build/test/html/prog_hostile" "$scratch/hostile.pftrace" || fail "prog_hostile fails"
compare "$scratch/hostile.pftrace" "hostile names"
printf '%s\n' 'async io' 'span -1 0 0 100 read' 'span -1 0 100 200 read' 'span -1 0 150 250 write' |
    "$build/test/cli/prog_trace" "$scratch/async.pftrace" || fail "prog_trace fails"
compare "$scratch/async.pftrace" "spans that adjoin"

echo "profiling: {name: sim, active: 0, with_stack: true}
output: {directory: $scratch/sim, traces: [perfetto]}" >"$scratch/sim.yaml"
LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13 \
    TAKT_SIM='kernel.advance=30us; memcpy.DtoH=7us' TAKT_CONFIG=$scratch/sim.yaml \
    timeout 600 "$build/test/simgpu/prog_simulation" return >"$scratch/out" 2>&1 ||
    fail "prog_simulation fails:" "$(cat "$scratch/out")"
compare "$scratch/sim/sim.0.pftrace" "a simulation on the stand-ins"

finish "$compared traces, and their pages hold the same"
