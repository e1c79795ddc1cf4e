#!/bin/bash
# takt diff: what it prints, of which traces, and what it refuses. That its numbers are right is
# check_noise.py's.
. "${0%/*}/lib_cli.sh"
need python3
. "${0%/*}/lib_compare.sh"
root=$(cd "${TAKT_ROOT:-.}" && pwd)
golden=$root/test/golden
page=$root/docs/comparing.md
cd "$scratch" || exit 1

run_of a.pftrace 60000 30000
run_of few.pftrace 60000 30000 summary
run_of more.pftrace 90000 30000 summary
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
facts = {row["name"]: row for row in document["tables"]["traces"]["rows"]}
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
json_is 'facts["losses"]' "{'name': 'losses', 'a': 0, 'b': 12, 'differs': True}"
json_is '[facts[name]["b"] for name in ("file", "steps", "wall time", "partial", "backend")]' \
    "['b.pftrace', 10, 309804000, False, 'CUPTI 13.0 (130001)']"
json_is '"runs" in facts' False
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

# The first line answers.
first_is() {
    [ "$(head -n 1 out)" = "$1" ] || fail "does not begin with: $1" "$out"
}
run_of slow.pftrace 60000 30000 '' 2500000
run diff a.pftrace slow.pftrace
first_is 'B is 3.1 times slower a step (+1.709ms).'
run diff slow.pftrace a.pftrace
first_is 'B is 3.1 times faster a step (-1.709ms).'
run diff --json a.pftrace slow.pftrace
json_is 'document["headline"]' 'B is 3.1 times slower a step (+1.709ms).'
run diff --markdown a.pftrace slow.pftrace
first_is '**B is 3.1 times slower a step (+1.709ms).**'
run diff a.pftrace b.pftrace
first_is 'No difference beyond the noise in the time of a step (0.00%); inside, forces +18.101us, kernel density -12.070us.'
run diff b.pftrace c.pftrace
first_is 'A step cannot be compared with a whole run: only A has steps.'
{ printf 'thread main\n' && calls forces 30 66000 0; } | trace whole.pftrace
{ printf 'thread main\n' && calls forces 30 198000 0 && calls output 10 90000 30; } | trace longer.pftrace
run diff whole.pftrace longer.pftrace
first_is 'B is 34.49% slower (+10.024ms), which chance may cause: forces +3.982ms.'
run diff whole.pftrace whole.pftrace
first_is 'No difference beyond the noise in the wall time (0.00%).'
# 40 steps: the slowest four became slower, each step's part in forces with them.
tail() { # NS
    awk -v ns="$1" 'BEGIN {
        print "thread main"
        for (i = 0; i < 40; i++) {
            begin = i * 10000000; long = 400000 + i % 7 * 100 + (i % 10 == 9 ? ns : 0)
            printf "step %d %d\nspan -1 0 %d %d forces\n", begin, begin + long, begin, begin + long
        }
    }'
}
tail 100000 | trace even.pftrace
tail 4000000 | trace tail.pftrace
run diff even.pftrace tail.pftrace
first_is 'B is 95.06% slower a step on average, because of its slowest steps (+390.000us): forces +390.000us.'
# Parts have figures only where they add up to the change: here two stray calls of B are most of the sum.
slow_steps() { # NS STRAY_NS [ONE_IN FROM]
    awk -v ns="$1" -v stray="$2" -v every="${3:-20}" -v from="${4:-9}" 'BEGIN {
        print "thread main"
        for (i = 0; i < 40; i++) {
            begin = i * 50000000; long = ns + i % 7 * 100 + (i % every == from ? stray : 0)
            printf "step %d %d\nspan -1 0 %d %d forces\n", begin, begin + long, begin, begin + long
        }
    }'
}
slow_steps 100000 0 | trace quick.pftrace
slow_steps 200000 20000000 | trace strays.pftrace
run diff quick.pftrace strays.pftrace
first_is 'B is 99.70% slower a step (+100.000us): forces.'
# Twice the time, 100287.5 ns on average instead of half of it, reads as a factor and not as 100 %.
slow_steps 100000 0 | awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) $i /= 2; print }' | trace half.pftrace
run diff half.pftrace quick.pftrace
first_is 'B is 2.0 times slower a step (+50.144us): forces +50.144us.'
run diff quick.pftrace half.pftrace
first_is 'B is 2.0 times faster a step (-50.144us): forces -50.144us.'

# Two of 40 steps stray, as chance may have it: the median does not change, and the mean of 100.2875 us
# grows by 45 us, with a band from below 0 to 110 %. Nothing is "same" beside that.
slow_steps 100000 900000 | trace two.pftrace
run diff quick.pftrace two.pftrace
first_is 'No difference beyond the noise in the time of a step (0.00%, +44.87% on average).'
out_has '^step +step .* 0\.00% .* noise$'
out_has '^forces +scope .* 0\.00% .* noise$'
out_has '^Noise or unknown beside a narrow band: a change of the mean call is not excluded'
run diff --json quick.pftrace two.pftrace
json_is '[rows["forces"]["verdict"], rows["forces"]["mean_low_ns"] < 0, round(rows["forces"]["mean_change_ns"]), rows["forces"]["mean_high_ns"] > 90000]' \
    "['noise', True, 45000, True]"
# The typical call of a row that only one side has is its median, too: 50 us of nine calls and one of 1 ms.
{
    slow_steps 100000 0
    for i in 0 1 2 3 4 5 6 7 8 9; do
        echo "span -1 0 $((3000000000 + i * 10000000)) $((3000050000 + i * 10000000 + (i == 4 ? 950000 : 0))) added"
    done
} | trace added.pftrace
run diff --json quick.pftrace added.pftrace
json_is '[rows["added"][key] for key in ("verdict", "call_a_ns", "call_b_ns", "mean_b_ns")]' "['new', None, 50000, 145000]"
run diff --json added.pftrace quick.pftrace
json_is '[rows["added"][key] for key in ("verdict", "call_a_ns", "call_b_ns", "mean_a_ns")]' "['gone', 50000, None, 145000]"

# Most steps became faster, and one in four so slow that the mean is slower.
slow_steps 100000 0 4 3 | trace even.pftrace
slow_steps 82000 200000 4 3 | trace mixed.pftrace
run diff even.pftrace mixed.pftrace
first_is 'B is 17.85% faster in a typical step (-17.900us), but 31.91% slower on average (+32.000us).'

# A pool in which one worker has more to do: the others wait longer, and main does, but that is not why.
pool() { # NS
    awk -v ns="$1" 'BEGIN {
        print "thread main"
        for (i = 0; i < 40; i++) {
            begin = i * 1000000; long = ns + i % 7 * 100
            printf "step %d %d\nspan -1 0 %d %d wait for workers\n", begin, begin + long, begin, begin + long
        }
        print "thread worker 1"
        for (i = 0; i < 40; i++)
            printf "span -1 0 %d %d solve\n", i * 1000000, i * 1000000 + ns + i % 7 * 100
        for (k = 2; k < 5; k++) {
            print "thread worker " k
            for (i = 0; i < 40; i++)
                printf "span -1 0 %d %d wait for work\n", i * 1000000, i * 1000000 + ns
        }
    }'
}
pool 400000 | trace pool.a.pftrace
pool 500000 | trace pool.b.pftrace
run diff pool.a.pftrace pool.b.pftrace
first_is 'B is 24.98% slower a step (+100.000us): solve +100.000us.'
run check --run-noise 10% --against pool.a.pftrace pool.b.pftrace
[ "$(grep '^    slower: ' out | sed 's/,.*//' | tr -s ' \n' ' ')" = ' slower: scope solve slower: scope wait for work slower: scope wait for workers ' ] ||
    fail "names waits before work" "$out"
pool 400000 | grep -v solve | trace waits.a.pftrace
pool 500000 | grep -v solve | trace waits.b.pftrace
run diff waits.a.pftrace waits.b.pftrace
first_is 'B is 24.98% slower a step (+100.000us): wait for work +300.000us, wait for workers +100.000us.'

# Tasks of a summary, too.
for mode in trace summary; do
    "$TAKT_BUILD/test/cli/prog_same" $mode $mode >printed 2>&1 || fail "prog_same fails" "$(cat printed)"
    run diff --rows all --csv $mode/*.pftrace $mode/*.pftrace
    grep -a -o '^[^,]*,task,[0-9]*,' out | LC_ALL=C sort >tasks.$mode
done
[ -s tasks.trace ] && cmp -s tasks.trace tasks.summary || fail "the tasks of a summary are others" "$(diff tasks.trace tasks.summary)"

# Losses come first, then gains, below the row in question; beside each other stand numbers of one
# kind: a step's.
run diff --csv a.pftrace b.pftrace
[ "$(cut -d, -f1 out | tr -d '\r' | head -n 6 | paste -sd,)" = 'name,step,forces,kernel density,neighbours,output' ] ||
    fail "is not sorted by damage" "$out"
run diff --json few.pftrace more.pftrace
json_is '{key: round(rows["forces"][key]) for key in ("self_a_ns", "self_b_ns", "self_change_ns", "self_change_percent")}' \
    "{'self_a_ns': 181008, 'self_b_ns': 271512, 'self_change_ns': 90504, 'self_change_percent': 50}"

# Order and size.
run diff --rows 2 a.pftrace b.pftrace
out_has '^2 of 5 rows shown$'
run diff --sort name --csv a.pftrace b.pftrace
[ "$(sed -n '2s/,.*//p' out)" = step ] || fail "is not sorted by name" "$out"
run diff --sort -name --csv a.pftrace b.pftrace
[ "$(sed -n '2s/,.*//p' out)" = forces ] || fail "is not sorted by name, ascending" "$out"
refused 'there is no column "weight"; the columns are name,kind,calls_a' diff --sort weight a.pftrace b.pftrace
run diff --color always a.pftrace b.pftrace
out_has $'\033\\[1;31mforces'
out_has $'\033\\[32mkernel density'

# Traces without single calls: means, and nothing is proved.
run diff few.pftrace more.pftrace
out_has 'the size of the noise is unknown'
out_has '^forces .*\+50\.00% .* unknown$'
out_has '^kernel density .* 0\.00% .* unknown$'
out_has '^step  .* same$' # steps are known one by one
run diff a.pftrace more.pftrace
out_has '^Careful: modes differ: spans in A, only a summary in B\.$'

# What devices did for a scope is a row of its own, and the kind tells the two apart.
{
    printf 'device Imaginary 9000\nthread main\nspan -1 0 0 5000 forces\n'
    printf 'launch 0 1000 4000 kernel pairs\nlaunch 0 2000 7000 kernel pairs\n'
} | trace launches.pftrace
sed 's/7000/9000/' >launches.txt <<'END'
device Imaginary 9000
summary
thread main
span -1 0 0 5000 forces
launch 0 1000 4000 kernel pairs
launch 0 2000 7000 kernel pairs
END
trace folded.pftrace <launches.txt
run diff --width 80 launches.pftrace folded.pftrace
out_has '^forces +cuda .* \+2\.000us .* unknown$'
out_has '^forces +scope .* 0\.000us .* unknown$'
out_has '^Rows of kind cuda are what devices did for a scope'
run diff --csv launches.pftrace folded.pftrace
out_has '^forces,cuda,1,1,8000,10000,8000,10000,2000,'
run diff --width 80 a.pftrace b.pftrace
out_lacks '(^Name .*Kind|of kind cuda)'
# The calls without launches count, also where the list of rows has just become full.
for count in 59 60 61; do
    {
        printf '%s\n' 'run many' 'backend CUPTI 13.0' 'device Imaginary 9000' 'thread main' \
            'span -1 0 0 100000 forces' 'launch 0 10 500 kernel k' 'span -1 0 110000 120000 forces'
        for i in $(seq $count); do echo "span -1 0 $((200000 + i * 100)) $((200050 + i * 100)) s$i"; done
    } | trace many.pftrace
    cp many.pftrace again.pftrace
    run diff --json --rows all many.pftrace again.pftrace
    status_is 0
    [ "$(python3 -c 'import json, sys
print([(row["calls_a"], row["calls_b"]) for row in json.load(sys.stdin)["rows"] if row["kind"] == "cuda"])' <<<"$out")" = \
        '[(2, 2)]' ] || fail "$count scopes: other calls" "$out"
done

# A call has none, though a scope inside of it launched; nor is a loop of the host a device's work.
trace inside.pftrace <<'END'
device Imaginary 9000
thread main
call -1 0 9000 cudaLaunchHostFunc
span 0 0 0 5000 forces
launch 1 1000 4000 kernel pairs
loop -1 10000 12000 relax
END
run diff --csv --all inside.pftrace inside.pftrace
out_has '^cudaLaunchHostFunc,call,'
out_lacks '^cudaLaunchHostFunc,cuda,'
out_has '^forces,cuda,1,1,3000,'
out_has '^relax,scope,1,1,2000,'
out_lacks '^relax,(activity|cuda),'

# Several runs on a device.
mkdir runs runs/base runs/new
for i in 1 2 3 4 5; do
    device_run runs/base/$i.pftrace $((120000 + 200 * i))
    device_run runs/new/$i.pftrace $((131000 + 300 * i))
done
run diff --width 100 runs/base runs/new
cmp -s "$golden/diff_runs_100.txt" out ||
    fail "is not test/golden/diff_runs_100.txt" "$(diff "$golden/diff_runs_100.txt" out)"
example=$(awk '/^    ---/ { inside = 1 } /^$/ { inside = 0 } inside { print substr($0, 5) }' "$page")
[[ $example == *slower* && $out == *"$example"* ]] || fail "is not what docs/comparing.md shows"

# Several runs a side. 4 of them are what is compared; less are not enough, and this is said.
mkdir before after
for i in 1 2 3 4; do
    run_of before/$i.pftrace $((60000 + 500 * i)) 30000
    run_of after/$i.pftrace $((66000 + 500 * i)) 30000 '' $((880000 + 500 * i))
done
run_of after/5.pftrace.gz 66000 30000 '' 880000
run diff before after
out_has '^runs +4 +5$'
out_has '^file +before +after$'
out_has '^steps +10 +10$'
out_has '^wall time +309\.804ms +309\.8[0-9]*ms$'
out_has '^forces +scope +120 +150 .* slower$'
out_has '^Runs are compared, 4 of A and 5 of B\.$'
out_has '^Calls are those of all runs\.$'
out_has '^B is 10\.12% slower a step \(\+81\.413us\): forces \+17\.347us\.$'
out_has '^Steps, or without them the wall time, are the question\. They changed, and the '
out_lacks 'Mann-Whitney'
out_lacks 'recordings, not about'
run diff --json before --to after/1.pftrace after/2.pftrace
json_is '[facts[name]["b"] for name in ("file", "runs", "steps")]' "['after/1.pftrace and 1 more', 2, 10]"
json_is 'any("A has 4 runs and B 2: record 5 of each, or 4 at least" in note for note in document["notes"])' True
json_is 'any("Mann-Whitney" in note for note in document["notes"])' True
run diff before/ after/
[ "$(grep -c Careful <<<"$out")" = 0 ] || fail "warns of these" "$out"
for i in 1 2 3 4; do
    mkdir -p mixed
    run_of mixed/$i.pftrace $((60000 + 500 * i)) 30000 "$([ $i != 1 ] || echo summary)"
done
run diff mixed after
out_has '^mode +varies +spans +differs$'
out_has "a run's median call, or mean one in traces without spans"
out_has '^forces .* slower$'
out_has '^Runs are compared, 4 of A and 5 of B\.$'
run_of after/6.pftrace 60000 30000 'run water'
run diff before after
out_has '^run +fluid +varies +differs$'

# Five runs a side, and a scope that takes ten times as long in each: among many rows nothing can be
# proved, which is not to say that it is noise. It is for s5 and s6: all of B's runs are longer, or
# shorter, but perhaps by less than the limit of 1 %: by 0.2 % to 1.8 %.
mkdir many_a many_b
for i in 1 2 3 4 5; do
    for side in a b; do
        {
            printf 'process %d\nthread main\n' $((i * 2 + $([ $side = b ] && echo 1 || echo 0)))
            for k in 0 1 2 3 4 5 6 7; do
                ns=$((100000 + (i * 37 + k * 11) % 50))
                [ $side$k = b3 ] && ns=$((ns * 10))
                [ $side$k = b5 ] && ns=$((99800 + 400 * i))
                [ $side$k = b6 ] && ns=$((100200 - 400 * i))
                echo "span -1 0 $((k * 2000000)) $((k * 2000000 + ns)) s$k"
            done
            echo 'span -1 0 20000000 20000001 end'
        } | trace many_$side/$i.pftrace
    done
done
run diff --width 200 many_a many_b
status_is 0
out_has '^s3 .* unknown$'
out_has '^s4 .* (same|noise)$'
out_has '^s5 .*\+1\.[0-9]*%.* noise$'
out_has '^s6 .*-1\.[0-9]*%.* noise$'
out_has '^Unknown: among so many rows, so few runs prove no change of one, however large'

# What is not a pair of traces.
printf 'thread main\n' | trace empty.pftrace
run diff a.pftrace empty.pftrace
status_is 0
out_has '^Careful: B recorded nothing\.$'
first_is 'Nothing to compare: B recorded nothing.'
run diff empty.pftrace empty.pftrace
status_is 0
"$takt" export --perfetto --plain -o plain b.pftrace >/dev/null 2>&1 # compressed, it is one packet
size=$(stat -c %s plain)
head -c $((size * 2 / 3)) plain >cut.pftrace
run diff a.pftrace cut.pftrace
status_is 4
out_has '^Careful: B is cut off\.$'
echo 'no trace' >foreign.pftrace
: >zero.pftrace
mkdir empty && cp a.pftrace empty/.hidden.pftrace && cp a.pftrace empty/trace.json
for file in foreign.pftrace zero.pftrace missing.pftrace empty; do
    run diff a.pftrace $file
    status_is 1
    out_is ""
    err_has "^takt: .*${file%.pftrace}"
done
refused '^takt diff: --csv and --markdown are two formats: name one$' diff --csv --markdown a.pftrace b.pftrace
refused 'two traces are needed: name A, the base, and B' diff
refused 'two traces are needed' diff a.pftrace
refused '--to is given twice' diff a.pftrace --to b.pftrace --to c.pftrace
refused '--to: name the traces of A before it' diff --to b.pftrace
refused 'unexpected trace "c.pftrace": name two traces, A and B, or put --to' diff a.pftrace b.pftrace c.pftrace
for limit in '' five -1 nan inf 5%% 1e999; do
    refused "^takt diff: --limit \"$limit\": expected percent" diff "--limit=$limit" a b
done
for time in '' 5 us -1us nanus 1 5m; do
    refused "^takt diff: --absolute \"$time\": expected a time" diff "--absolute=$time" a b
done

finish
