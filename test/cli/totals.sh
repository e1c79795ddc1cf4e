#!/bin/bash
# Totals per scope that scripts without Takt add up from Perfetto files (by protoc), Chrome files and
# speedscope's (by python3's json) are the table's, to the nanosecond.
. "${0%/*}/../support/lib_script.sh"
need python3 protoc

compared=0
check() { # WHAT TRACE CHROME_FILE...
    local what=$1 trace=$2
    shift 2
    "$takt" report --scopes --json --rows all "$trace" | python3 test/support/lib_scopes.py \
        >"$scratch/table" || fail "$what: no table"
    [ -s "$scratch/table" ] || fail "$what: no scope"
    python3 test/support/perfetto_totals.py "$trace" >"$scratch/perfetto"
    python3 test/support/chrome_totals.py "$@" >"$scratch/chrome"
    same "$what: Perfetto against the table" "$scratch/table" "$scratch/perfetto"
    same "$what: Chrome against the table" "$scratch/table" "$scratch/chrome"
    "$takt" export --speedscope -o "$scratch/scope.json" "$trace" >"$scratch/output"
    python3 test/support/speedscope_totals.py "$scratch/scope.json" >"$scratch/speedscope"
    same "$what: speedscope against the table" "$scratch/table" "$scratch/speedscope"
    compared=$((compared + $(wc -l <"$scratch/table")))
}

"$TAKT_BIN/samples/sph" --profile samples/sph/profile.yaml --steps 40 --particles 1000 --quiet \
    --output.directory "$scratch/sph" >"$scratch/output" || fail "sph fails"
check "the fluid" "$scratch/sph/sph.0.pftrace" "$scratch/sph/sph.0.trace.json"

"$TAKT_BUILD/test/cli/prog_same" "$scratch" trace 2>"$scratch/errors" || fail "prog_same fails"
for trace in "$scratch"/*.pftrace "$scratch"/*.pftrace.gz; do
    "$takt" export --chrome -o "$scratch/odd.json" "$trace" >"$scratch/output"
    check "odd names, ${trace##*.}" "$trace" "$scratch/odd.json"
    "$takt" export --chrome -o "$scratch/odd.json.gz" "$trace" >"$scratch/output"
    check "odd names, ${trace##*.}, packed" "$trace" "$scratch/odd.json.gz"

    # What is written, read and written again is the same trace.
    "$takt" export --perfetto -o "$scratch/again.pftrace" "$trace" >"$scratch/output"
    check "odd names, again" "$scratch/again.pftrace" "$scratch/odd.json"
    "$takt" export --perfetto -o "$scratch/third.pftrace" "$scratch/again.pftrace" \
        >"$scratch/output"
    same "read and written twice" "$scratch/again.pftrace" "$scratch/third.pftrace"
    rm "$scratch/again.pftrace" "$scratch/third.pftrace"
done

[ "$compared" -gt 80 ] || fail "only $compared scopes"
finish "$compared scopes compared"
