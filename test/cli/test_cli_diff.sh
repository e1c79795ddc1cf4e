#!/bin/bash
# takt diff: what it prints, of which traces, and what it refuses. That its numbers are right is
# check_noise.py's.
. "${0%/*}/lib_cli.sh"
. "${0%/*}/lib_compare.sh"
golden=$(cd "${TAKT_ROOT:-.}" && pwd)/test/golden
cd "$scratch" || exit 1

run_of a.pftrace 60000 30000
run_of b.pftrace 66000 27000 'loss 0 12'
{ printf 'thread main\n' && calls forces 30 66000 0 && calls 'new "b", <c>|*d*' 5 1000 100; } | trace c.pftrace

# The tables are those in test/golden, and fit.
for width in 80 160; do
    run diff --width $width a.pftrace b.pftrace
    status_is 0
    silent
    cmp -s "$golden/diff_$width.txt" out ||
        fail "is not test/golden/diff_$width.txt" "$(diff "$golden/diff_$width.txt" out)"
    [ "$(awk -v width=$width 'length > width' out)" = "" ] || fail "is wider than $width" "$out"
    [ "$(grep -c ' $' out)" = 0 ] || fail "has blanks at the ends of lines" "$(cat -A out)"
done
for width in 20 40 60 100 200; do
    run diff --width $width b.pftrace c.pftrace
    status_is 0
    [ $width -lt 60 ] || [ "$(awk -v width=$width 'length > width' out)" = "" ] ||
        fail "is wider than $width" "$out"
done

# Losses and other differences stand in front of people.
run diff a.pftrace c.pftrace
out_has '^Careful: backends differ: CUPTI 13.0 \(130001\) in A, none in B\.$'
out_has '^Careful: devices differ: cuda:0 Imaginary 9000 in A, none in B\.$'
out_has '^Careful: only A has steps\.$'
out_has '^backend .* differs$'
run diff a.pftrace b.pftrace
out_has '^Careful: B lost events: 12 dropped\.$'
run diff a.pftrace a.pftrace
status_is 0
out_has '^Careful: A and B are the same file\.$'
! grep -E '(slower|faster|noise|calls)$' out || fail "a file differs from itself" "$out"

# Other formats.
json() {
    python3 -c '
import json, sys
document = json.load(open("out"))
rows = {row["name"]: row for row in document["rows"] if row["kind"] != "step"}
facts = {row["fact"]: row for row in document["tables"]["traces"]["rows"]}
print(eval(sys.argv[1]))' "$1" 2>&1
}
json_is() {
    [ "$(json "$1")" = "$2" ] || fail "in JSON, $1 is $(json "$1") and not $2" "$out"
}
run diff --json a.pftrace b.pftrace
json_is 'document["report"], document["row_count"], list(document["rows"][0]) == document["columns"]' "('diff', 5, True)"
json_is 'rows["forces"]["verdict"], rows["kernel density"]["verdict"]' "('slower', 'faster')"
json_is 'rows["neighbours"]["verdict"], rows["output"]["verdict"]' "('same', 'unknown')"
json_is 'round(rows["forces"]["change_percent"])' 10
json_is 'facts["losses"]' "{'fact': 'losses', 'a': 'none', 'b': '12 dropped', 'differs': 'differs'}"
run diff --json b.pftrace c.pftrace
json_is '[(row["verdict"], row["call_a_ns"]) for name, row in rows.items() if name == """new "b", <c>|*d*"""]' "[('new', None)]"
run diff --csv a.pftrace b.pftrace
python3 -c '
import csv
rows = list(csv.DictReader(open("out", newline="")))
assert len(rows) == 5 and all(None not in row and None not in row.values() for row in rows), rows
assert {row["verdict"] for row in rows} == {"same", "slower", "faster", "unknown"}, rows' ||
    fail "is no such CSV" "$out"
run diff --markdown b.pftrace c.pftrace
out_has '^\| new "b", \\<c\\>\\\|\\\*d\\\* \| scope \|'
run diff --csv b.pftrace c.pftrace
out_has '^"new ""b"", <c>\|\*d\*",scope,0,5,'

# Order and size.
run diff --rows 2 a.pftrace b.pftrace
out_has '^2 of 5 rows shown$'
run diff --sort name --csv a.pftrace b.pftrace
[ "$(sed -n '2s/,.*//p' out)" = step ] || fail "is not sorted by name" "$out"
run diff --sort -name --csv a.pftrace b.pftrace
[ "$(sed -n '2s/,.*//p' out)" = forces ] || fail "is not sorted by name, ascending" "$out"
refused 'there is no column "weight"; there are name,kind,calls_a' diff --sort weight a.pftrace b.pftrace
run diff --color always a.pftrace b.pftrace
out_has $'\033\\[1;31mforces'
out_has $'\033\\[32mkernel density'

# Traces without single calls: means, and nothing is proved.
run_of few.pftrace 60000 30000 summary
run_of more.pftrace 90000 30000 summary
run diff few.pftrace more.pftrace
out_has 'how large the noise is nobody can tell'
out_has '^forces .*\+50\.00% .* unknown$'
out_has '^kernel density .* 0\.00% .* unknown$'
out_has '^step  .* same$' # steps are known one by one
run diff a.pftrace more.pftrace
out_has '^Careful: modes differ: spans in A, only a summary in B\.$'

# What is not a pair of traces.
printf 'thread main\n' | trace empty.pftrace
run diff a.pftrace empty.pftrace
status_is 0
out_has '^Careful: B recorded nothing\.$'
run diff empty.pftrace empty.pftrace
status_is 0
size=$(stat -c %s b.pftrace)
head -c $((size * 2 / 3)) b.pftrace >cut.pftrace
run diff a.pftrace cut.pftrace
status_is 0
out_has '^Careful: B is cut off\.$'
echo 'no trace' >foreign.pftrace
: >zero.pftrace
for file in foreign.pftrace zero.pftrace missing.pftrace .; do
    run diff a.pftrace $file
    status_is 1
    out_is ""
    err_has "^takt: .*${file%.pftrace}"
done
refused 'which traces\? name A, the base, and B' diff
refused 'which traces\?' diff a.pftrace
refused 'expected two traces, A and B, not "c.pftrace" too' diff a.pftrace b.pftrace c.pftrace
for limit in '' five -1 nan inf 5%% 1e999; do
    refused "^takt diff: --limit \"$limit\": expected percent" diff "--limit=$limit" a b
done
for time in '' 5 us -1us nanus 1 5m; do
    refused "^takt diff: --absolute \"$time\": expected a time" diff "--absolute=$time" a b
done

finish
