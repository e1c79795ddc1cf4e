#!/bin/bash
# takt report FOLDER adds up scopes, threads and tasks of a job's ranks, takt info FOLDER has a row for
# each file.
. "${0%/*}/lib_cli.sh"
. "${0%/*}/lib_compare.sh"
command -v python3 >/dev/null || { echo "needs python3" && exit 77; }
golden=$(cd "${TAKT_ROOT:-.}" && pwd)/test/golden
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
ran 3000000
ran 1000000
EOF
trace job/b.pftrace <<'EOF'
rank 0 4
process 100 1
thread main
span -1 0 0 5000000 step
ran 3000000
ran 1000000
ran 5000000
ran 3000000
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
ran 14000000
ran 6000000
thread writer
span -1 0 0 5000000 output
EOF
echo 'no trace' >job/notes.txt

json_is() { # EXPRESSION VALUE
    local got
    got=$(python3 -c 'import json, sys
document = json.load(sys.stdin)
rows = {row.get("name"): row for row in document["rows"]} if "rows" in document else {}
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

# Steps of the run: of both cycles of rank 0 the second one knows all; rank 1 has none.
json_is '[(abs(row.pop("median_ns") / want - 1) < 0.032, list(row.values()))
    for row, want in zip(document["tables"]["steps"]["rows"], (10e6, 3e6))]' "[\
(True, ['rank 2', 2, 20000000, 10000000, 14000000, 0]), \
(True, ['rank 0', 4, 12000000, 3000000, 5000000, 2])]"

# The same as text, and under its name; other reports are printed for each file.
run report --width 120 job
status_is 0
out_has '^ +Name +Ranks +# of Calls +Self CPU +CPU total +Min +Mean +Max +Max/mean +Max in$'
out_has '^ *step +3 +4 +19\.000ms +24\.000ms +2\.000ms +8\.000ms +14\.000ms +1\.750 +rank 2$'
out_has '^ *rank 0 +4 +12\.000ms +3\.000ms +[23]\.[09][0-9]+ms +5\.000ms +2$'
out_has '^Careful: files of only 3 of 4 ranks are here\.$'
out_has '^Careful: events were lost in 1 of 4 files; takt info lists them\.$'
out_has '^The slowest steps are those of rank 2: mean 10\.000ms\. The other has 3\.000ms\.$'
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
run report --tasks --all job
status_is 0
refused '--by-stack: scopes of a folder are added up by name' report --scopes --by-stack 2 job

# Threads by rank, main first; what a thread or a task did in several cycles is added up.
mkdir pool
trace pool/0.pftrace <<'EOF'
rank 1 2
process 100
thread main
span -1 0 0 10000000 step
thread worker
span -1 0 0 4000000 job
span -1 0 4000000 6000000 wait
async io
span -1 0 0 2000000 read
span -1 0 0 1000000 write
EOF
for cycle in 1 2; do
    trace pool/$cycle.pftrace <<EOF
rank 0 2
process 101 $cycle
thread writer
span -1 0 0 $((9 - cycle * 3))000000 wait for $cycle
thread main
span -1 0 0 ${cycle}0000000 step
async io
span -1 0 0 ${cycle}000000 read
span -1 0 500000 ${cycle}500000 read
EOF
done
run report --threads --json pool
status_is 0
silent
json_is 'document["report"]' rank_threads
json_is '[list(row.values()) for row in document["rows"]]' "[\
['rank 0', 'main', 101, 2, 30000000, 100, 0, 0, None], \
['rank 0', 'writer', 100, 2, 9000000, 30, 9000000, 30, 'wait for 1'], \
['rank 1', 'main', 100, 1, 10000000, 100, 0, 0, None], \
['rank 1', 'worker', 101, 2, 6000000, 60, 2000000, 20, 'wait']]"
run report --tasks --json pool
status_is 0
json_is 'document["report"]' rank_tasks
json_is '[(abs(row.pop("median_ns") / want - 1) < 0.032, list(row.values()))
    for row, want in zip(document["rows"], (2e6, 1e6))]' "[\
(True, ['read', 'io', 2, 5, 8000000, 1600000, None, 1000000, 2000000, 2, 1.5, 'rank 0']), \
(True, ['write', 'io', 1, 1, 1000000, 1000000, None, 1000000, 1000000, 1, 1, 'rank 1'])]"
run report --threads --tasks --counters --width 120 pool
status_is 0
out_has '^rank 0 +writer +100 +2 +9\.000ms +30\.00% +9\.000ms +30\.00% +wait for 1$'
out_has '^read +io +2 +5 +8\.000ms '
[ "$(grep -c '^No counters' <<<"$out")" = 3 ] || fail "should have the counters of each file" "$out"

for width in 80 120; do
    run report --threads --tasks --width $width pool
    [ -z "${UPDATE_GOLDEN-}" ] || echo "$out" >"$golden/ranks_lists_$width.txt"
    [ "$out" = "$(cat "$golden/ranks_lists_$width.txt")" ] ||
        fail "is not test/golden/ranks_lists_$width.txt" "$(diff "$golden/ranks_lists_$width.txt" - <<<"$out")"
done
run report --threads --json pool/0.pftrace
json_is 'document["report"]' threads

# The time grows with the number of threads, not with its square.
mkdir many
seq 300000 | sed 's/.*/thread t&\nspan -1 0 0 1000 job/' | trace many/1.pftrace
(ulimit -t 8; exec "$takt" report --threads many) >out 2>err || fail "300,000 threads take too long" "$(cat err)"
rm -r many

# A rank's files of several processes are of several runs.
mkdir twice
for process in 7 8; do
    printf 'process %d\nrank 0 2\nthread main\nspan -1 0 0 2000000 step\n' $process | trace twice/$process.pftrace
done
run report --threads --json twice
json_is '[row["scope_time_percent"] for row in document["rows"]]' '[100, 100]'
run report --json twice
json_is '"Careful: files of one rank are of several processes: several runs are added up." in document["notes"]' True
cp twice/7.pftrace twice/8.pftrace
run report --json twice
json_is '[note for note in document["notes"] if "several" in note]' '[]'

# The headline: the slowest by mean, not by total or maximum; ranges; none for one rank alone.
mkdir steps
for each in '0 2 2' '1 3 3 3 3' '2 4' '3 1 1 1 6'; do
    set -- $each
    printf 'rank %d 4\nthread main\nspan -1 0 0 1000 step\n' "$1" |
        cat - <(printf 'ran %d000000\n' "${@:2}") | trace "steps/$1.pftrace"
done
run report steps
out_has '^The slowest steps are those of rank 2: mean 4\.000ms\. The 3 others have 2\.000ms to 3\.000ms\.$'
rm steps/1.pftrace
run report steps/ --width 70
out_has '^The slowest steps are those of rank 2: mean 4\.000ms\. The 2 others'
rm steps/[03].pftrace
run report steps
out_lacks 'slowest steps are'

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

# The folder above those of the runs: the newest run is named.
mkdir -p above/sph/1 above/sph/2 above/other
cp pool/0.pftrace above/sph/1/sph.0.pftrace
cp pool/0.pftrace above/sph/2/sph.0.pftrace
touch -d 2026-01-31 above/sph/2/sph.0.pftrace
for verb in report info; do
    run $verb above
    status_is 1
    err_is 'takt: above: there are no traces (.pftrace, .pt.trace.json, .sqlite) in this folder. The newest are in above/sph/1: name that one'
done

# What is there may be a recording that has still to become a trace.
mkdir -p died/sph && : >died/sph/sph.4711.crash
run report died
status_is 1
err_has '^takt: died: there are no traces .* in this folder. takt recover makes one of died/sph/sph.4711.crash$'

# Other profilers' files count where there are no traces of Takt's own; beside those they are told.
mkdir torch
for rank in 0 1; do
    printf '{"distributedInfo": {"rank": %d, "world_size": 2}, "traceEvents": [{"ph": "X", "cat": "cpu_op",
    "name": "aten::add", "pid": 1, "tid": 1, "ts": 10, "dur": %d}]}' $rank $((rank + 1)) >"torch/w$rank.pt.trace.json"
done
gzip torch/w1.pt.trace.json
echo '{}' >torch/config.json
run report --json torch
status_is 0
row_is aten::add 2 2 3000 3000 1000 1500 2000 'rank 1'
cp job/c.pftrace torch
run report --json torch
status_is 0
json_is 'list(rows)' "['step']"
err_has "^takt: torch: only Takt's own traces are read; left out: w0\\.pt\\.trace\\.json and more\\."

# Names that a program made up count where there is nothing else: a job of one, and of two. Other .json
# files are no traces.
mkdir own
echo '{"traceEvent": []}' >own/config.json
run report own
status_is 1
err_has '^takt: own: there are no traces '
zcat torch/w1.pt.trace.json.gz >own/rank1.json
run report --json own
status_is 0
silent
row_is aten::add 1 1 2000 2000 2000 2000 2000 'rank 1'
run info own
status_is 0
out_has '^own/rank1\.json .* 1 '
gzip -c torch/w0.pt.trace.json >own/rank0.json.gz
run report --json own
status_is 0
row_is aten::add 2 2 3000 3000 1000 1500 2000 'rank 1'

# Programs without ranks: over files.
mkdir runs
for ns in 1000000 2000000 6000000; do
    printf 'process %d\nthread main\nspan -1 0 0 %d step\n' $ns $ns | trace "runs/$ns.pftrace"
done
run report --json runs
json_is 'rows["step"]["files"], rows["step"]["mean_ns"], rows["step"]["max_in"]' \
    "(3, 3000000, '6000000.pftrace')"
json_is '"ranks" in document["facts"]' False
run report --threads --json runs
json_is 'document["rows"][2]["file"]' 6000000.pftrace

# Cycles of one process, and parts of one, are spread over nothing.
mkdir cycles
for cycle in 0 1 2; do
    printf 'process 7 %d\nthread main\nspan -1 0 0 %d step\n' $cycle $((1000000 + cycle)) | trace "cycles/fluid.$cycle.pftrace"
done
run report --json cycles
json_is 'rows["step"]["processes"], rows["step"]["calls"], rows["step"]["mean_ns"], rows["step"]["imbalance"], rows["step"]["max_in"]' \
    "(1, 3, 3000003, 1, 'fluid.0.pftrace')"
json_is 'document["facts"]["files"], document["facts"]["processes"]' '(3, 1)'

# Of ranks that took as long, the first one is named.
mkdir even
for rank in 0 1 2; do
    printf 'rank %d 3\nthread main\nspan -1 0 0 %d step\n' $rank $((rank ? 20 : 10)) | trace even/$rank.pftrace
done
run report --json even
json_is 'rows["step"]["max_ns"], rows["step"]["max_in"]' "(20, 'rank 1')"

# A scope's CUDA total has what the scopes inside launched: 1 us of forces and 2 us of step, twice.
mkdir devices
for rank in 0 1; do
    printf '%s\n' "rank $rank 2" 'device Imaginary 9000' 'thread main' 'span -1 0 0 9000 step' \
        'span 0 0 1000 4000 forces' 'launch 1 1500 2500 kernel k' 'launch 0 5000 7000 kernel l' |
        trace devices/$rank.pftrace
done
run report --json devices
json_is 'rows["step"]["cuda_total_ns"], rows["forces"]["cuda_total_ns"]' '(6000, 2000)'

# Ranks that recorded different numbers of steps have different times.
mkdir unequal
printf 'rank 0 2\nthread main\nstep 0 10\nstep 10 20\nspan -1 0 0 20 step\n' | trace unequal/0.pftrace
printf 'rank 1 2\nthread main\nstep 0 10\nspan -1 0 0 10 step\n' | trace unequal/1.pftrace
run report unequal
out_has '^Careful: 1 to 2 steps were recorded of each rank: times differ for that, too\.$'

# Of traces made by chance, the sums are those of the files' own tables.
mkdir chance
for seed in 1 2 3 4 5; do
    printf 'random %d\nrank %d 5\n' $seed $((seed - 1)) | trace "chance/$seed.pftrace"
    "$takt" report --scopes --threads --tasks --json --rows all "chance/$seed.pftrace" >"$seed.json"
done
run report --scopes --threads --tasks --json --rows all chance
printf '%s' "$out" >chance.json
python3 - chance.json ?.json >result 2>&1 <<'EOF' || fail "sums differ" "$(cat result)"
import collections, json, sys
files = [json.load(open(path)) for path in sys.argv[2:]]
scopes, threads, tasks = json.load(open(sys.argv[1]))
calls, parts = collections.Counter(), collections.defaultdict(list)
for file in files:
    for row in file[0]["rows"]:
        calls[row["name"]] += row["calls"]
        parts[row["name"]].append(row["cpu_total_ns"])
rows = {row["name"]: row for row in scopes["rows"]}
assert sorted(rows) == sorted(parts) and len(rows) > 5, (sorted(rows), sorted(parts))
for name, row in rows.items():
    times = parts[name]
    got = [row[key] for key in ("calls", "ranks", "cpu_total_ns", "min_ns", "max_ns")]
    truth = [calls[name], len(times), sum(times), min(times), max(times)]
    assert got == truth, (name, got, truth)
    assert abs(row["mean_ns"] - sum(times) / len(times)) <= 0.5, name
truth = [{"rank": f"rank {rank}", "waited_ns": 0, "waited_percent": 0, "waited_in": None, **row}
         for rank, file in enumerate(files) for row in file[1]["rows"]]
assert threads["rows"] == truth and len(truth) > 5, (threads["rows"], truth)
sums = collections.defaultdict(list)
for file in files:
    mine = collections.defaultdict(list) # two tracks may have one name
    for row in file[2]["rows"]:
        mine[row["task"], row["track"]].append(row)
    for key, all_rows in mine.items():
        sums[key].append(all_rows)
assert len(sums) > 1 and len(tasks["rows"]) == len(sums), (tasks["rows"], sums)
for row in tasks["rows"]:
    of = sums[row["task"], row["track"]]
    every = [each for all_rows in of for each in all_rows]
    totals = [sum(each["total_ns"] for each in all_rows) for all_rows in of]
    got = [row[key] for key in ("ranks", "count", "total_ns", "min_ns", "max_ns", "at_once")]
    truth = [len(of), sum(each["count"] for each in every), sum(totals),
             min(each["min_ns"] for each in every), max(each["max_ns"] for each in every),
             max(each["at_once"] for each in every)]
    assert got == truth, (row, truth)
    assert abs(row["imbalance"] - max(totals) * len(totals) / sum(totals)) < 1e-9, (row, totals)
EOF

# However many links lead to a file, it is read once.
mkdir links
printf 'process 5\nthread main\nspan -1 0 0 4000000 step\nstep 0 4000000\n' | trace linked.pftrace
for i in $(seq 200); do echo "links/$i.pftrace"; done | xargs -n 1 ln -s ../linked.pftrace
run info --json links
[ "$(grep -c '"file"' "$scratch/out")" = 1 ] || fail "$(grep -c '"file"' "$scratch/out") files of 200 links"
grep -q 'links: each file is read once: 199 more links' "$scratch/err" || fail "$(cat "$scratch/err")"

# A file and its copy count once. What was recovered of a stream has the stream's begin.
mkdir copies
printf 'process 5\nthread main\nspan -1 0 0 4000000 step\nstep 0 4000000\n' | trace copies/sim.0.partial.pftrace
cp copies/sim.0.partial.pftrace copies/copy.pftrace
run report --scopes --json copies
json_is 'rows["step"]["calls"]' 1
json_is '[note for note in document["notes"] if "were left out" in note]' \
    "['Careful: 1 of 2 files have what others have, too, and were left out.']"
rm copies/copy.pftrace
printf 'process 5\nthread main\nspan -1 0 3000000 6000000 step\nstep 0 6000000\n' | trace copies/sim.5.pftrace
run report --scopes --json copies
json_is '[note[:79] for note in document["notes"] if "count twice" in note]' \
    "['Careful: 1 of 2 files have a part of a recording that another file has, too, su']"
json_is 'document["facts"]["wall_max_ns"]' 6000000
run report --threads --json copies
json_is 'round(document["rows"][0]["scope_time_percent"])' 70

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
json_is '[(each["rank"], each["world_size"]) for each in document]' '[(0, 4), (0, 4), (1, 4), (2, 4)]'
run info job/d.pftrace
out_has '^  run +.*, rank 2 of 4$'
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
    err_has '^takt: nothing: there are no traces \(.pftrace, .pt.trace.json, .sqlite\) in this folder$'
done

finish
