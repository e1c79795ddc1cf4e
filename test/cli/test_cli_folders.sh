#!/bin/bash
# takt report FOLDER adds up the scopes of a job's ranks, takt info FOLDER has a row for each file.
. "${0%/*}/lib_cli.sh"
. "${0%/*}/lib_compare.sh"
command -v python3 >/dev/null || { echo "needs python3" && exit 77; }
cd "$scratch" || exit 1

# Three of four ranks, the first in two cycles: rank 0 steps for 3 + 5 ms, rank 1 for 2 ms, rank 2
# for 14 ms. Rank 2 spends 9 ms in output, on two threads; rank 1 has no output and lost 7 events.
mkdir job
trace job/a.pftrace <<'EOF'
rank 0 4
thread main
span -1 0 0 3000000 step
span 0 0 1000000 2000000 output
step 0 3000000
EOF
trace job/b.pftrace <<'EOF'
rank 0 4
thread main
span -1 0 0 5000000 step
EOF
trace job/c.pftrace <<'EOF'
run other
rank 1 4
loss 1 7
thread main
span -1 0 0 2000000 step
EOF
trace job/d.pftrace <<'EOF'
rank 2 4
summary
thread main
span -1 0 0 14000000 step
span 0 0 0 4000000 output
thread writer
span -1 0 0 5000000 output
EOF
echo 'no trace' >job/notes.txt

json_is() { # EXPRESSION VALUE
    local got
    got=$(python3 -c 'import json, sys
document = json.load(sys.stdin)
rows = {row["name"]: row for row in document["rows"]} if "rows" in document else {}
print(eval(sys.argv[1]))' "$1" <<<"$out" 2>&1)
    [ "$got" = "$2" ] || fail "in JSON, $1 is $got and not $2" "$out"
}
row_is() { # NAME RANKS CALLS SELF TOTAL MIN MEAN MAX MAX_IN
    json_is "list(rows['$1'].values())[1:8] + [rows['$1']['max_in']]" \
        "[$2, $3, $4, $5, $6, $7, $8, '$9']"
}

run report --json job
status_is 0
json_is 'document["report"], document["row_count"]' "('ranks', 2)"
row_is step 3 4 19000000 24000000 2000000 8000000 14000000 'rank 2'
row_is output 2 3 10000000 10000000 1000000 5000000 9000000 'rank 2'
json_is 'rows["step"]["imbalance"], rows["output"]["imbalance"]' '(1.75, 1.8)'
json_is 'list(document["facts"].items())' "[('files', 4), ('ranks', 3), ('wall_min_ns', 2000000), \
('wall_max_ns', 14000000), ('self_cpu_total_ns', 29000000)]"

# The same as text, and under its name; other reports are printed for each file.
run report --width 120 job
status_is 0
out_has '^ +Name +Ranks +# of Calls +Self CPU +CPU total +Min +Mean +Max +Max/mean +Max in$'
out_has '^ *step +3 +4 +19\.000ms +24\.000ms +2\.000ms +8\.000ms +14\.000ms +1\.750 +rank 2$'
out_has '^Careful: of 4 ranks, 3 have files here\.$'
out_has '^Careful: events were lost in 1 of 4 files; takt info lists them\.$'
default_text=$out
run report --scopes --width 120 job
out_is "$default_text"
run report --scopes --steps --json job
status_is 0
json_is '[each["report"] for each in document]' "['ranks', 'steps', 'steps', 'steps', 'steps']"
run report --scopes --sort max_ns --rows 1 --csv job
out_has '^step,'
out_lacks '^output,'
refused '--sort: scopes has no column "colour"; it has name,ranks,calls,' report --sort colour job
refused '--all: scopes of a folder are added up by name' report --all job
refused '--by-stack: scopes of a folder are added up by name' report --scopes --by-stack 2 job

# Files are no folder. Beside a folder they count; a file that is no trace is told.
run report --json job/a.pftrace job/b.pftrace job/c.pftrace
json_is 'len(document)' 3
mkdir mixed
head -c 100 /dev/zero >mixed/bad.pftrace
cp job/c.pftrace mixed
run report --json mixed job/d.pftrace
status_is 1
err_has 'mixed/bad\.pftrace: '
row_is step 2 2 12000000 16000000 2000000 8000000 14000000 'rank 2'
json_is '"Careful: 1 of 3 files could not be read." in document["notes"]' True

# Programs without ranks: over files.
mkdir runs
for ns in 1000000 2000000 6000000; do
    printf 'thread main\nspan -1 0 0 %d step\n' $ns | trace "runs/$ns.pftrace"
done
run report --json runs
json_is 'rows["step"]["files"], rows["step"]["mean_ns"], rows["step"]["max_in"]' \
    "(3, 3000000, '6000000.pftrace')"
json_is '"ranks" in document["facts"]' False

# Of traces made by chance, the sums are those of the files' own tables.
mkdir chance
for seed in 1 2 3 4 5; do
    printf 'random %d\nrank %d 5\n' $seed $((seed - 1)) | trace "chance/$seed.pftrace"
    "$takt" report --scopes --json --rows all "chance/$seed.pftrace" >"$seed.json"
done
run report --json --rows all chance
printf '%s' "$out" >chance.json
python3 - chance.json ?.json >result 2>&1 <<'EOF' || fail "sums differ" "$(cat result)"
import collections, json, sys
calls, parts = collections.Counter(), collections.defaultdict(list)
for path in sys.argv[2:]:
    for row in json.load(open(path))["rows"]:
        calls[row["name"]] += row["calls"]
        parts[row["name"]].append(row["cpu_total_ns"])
rows = {row["name"]: row for row in json.load(open(sys.argv[1]))["rows"]}
assert sorted(rows) == sorted(parts) and len(rows) > 5, (sorted(rows), sorted(parts))
for name, row in rows.items():
    times = parts[name]
    got = [row[key] for key in ("calls", "ranks", "cpu_total_ns", "min_ns", "max_ns")]
    truth = [calls[name], len(times), sum(times), min(times), max(times)]
    assert got == truth, (name, got, truth)
    assert abs(row["mean_ns"] - sum(times) / len(times)) <= 0.5, name
EOF

# takt info: a row for each file, in order of name; as JSON an array, even of one.
run info job
status_is 0
silent
[ "$(grep -c '^job/' <<<"$out")" = 4 ] || fail "should have four rows" "$out"
out_has '^File +Run +Rank +'
out_has '^job/a\.pftrace .* 0 .* 3\.000ms +1 +2 +0 +[0-9]+ +[a-z]+$'
out_has '^job/c\.pftrace +other +1 .* 7 +[a-z]+$'
run info --json job
json_is '[each["file"] for each in document]' \
    "['job/a.pftrace', 'job/b.pftrace', 'job/c.pftrace', 'job/d.pftrace']"
mkdir one
cp job/a.pftrace one
run info --json one
json_is 'len(document)' 1
run info mixed
status_is 1
out_has '^mixed/c\.pftrace '
mkdir bad
cp mixed/bad.pftrace bad
for verb in info report; do
    run $verb bad
    status_is 1
    out_is ""
    err_has '^takt: bad/bad\.pftrace: '
done

# Pages of a folder, and a folder without traces.
run report --html one
status_is 0
[ -s one/a.html ] || fail "no page"
mkdir nothing
for verb in info report; do
    run $verb nothing
    status_is 1
    err_has '^takt: nothing: there are no traces \(\.pftrace\) in this folder$'
done

finish
