#!/bin/bash
# takt check: passes, fails, and fails closed.
. "${0%/*}/lib_cli.sh"
. "${0%/*}/lib_compare.sh"
TAKT_ROOT=$(cd "${TAKT_ROOT:-.}" && pwd)
cd "$scratch" || exit 1

passes() {
    run check "$@"
    status_is 0
    silent
    out_has '^passed: 0 of '
}
fails() { # LINE ARGS...
    local line=$1
    shift
    run check "$@"
    status_is 1
    silent
    out_has "$line"
    out_has '^FAILED: '
}
declines() { # LINE ARGS...
    local line=$1
    shift
    run check "$@"
    status_is 2
    silent
    out_has "$line"
    out_has '^NOT COMPARABLE: '
}

run_of base.pftrace 60000 30000
run_of same.pftrace 60300 29900
run_of slow.pftrace 66000 30000
run_of kernel.pftrace 60000 33000
run_of fast.pftrace 50000 20000
passes --against base.pftrace same.pftrace
out_is 'passed: 0 of 5 rows worse by more than 5 % and 1.000us'
passes --against base.pftrace fast.pftrace
fails '^slower: scope forces, median call 60\.330us in A and 66\.363us in B, \+6\.030us \(\+10\.00%\), p <0\.0001$' \
    --against base.pftrace slow.pftrace
fails '^slower: activity kernel density, median call ' --against base.pftrace kernel.pftrace
[ "$(wc -l <"$scratch/out")" = 2 ] || fail "says more than an offender and a verdict" "$out"

# Both limits must be exceeded.
passes --against base.pftrace --limit 11% slow.pftrace
passes --against base.pftrace --absolute 10us slow.pftrace
fails '^slower: ' --against base.pftrace --limit 0 --absolute 6us slow.pftrace

# Only what is asked for.
passes --against base.pftrace --scope step --scope neighbours slow.pftrace
out_has '^passed: 0 of 2 rows'
fails '^slower: scope forces' --against base.pftrace --scope forces --scope step slow.pftrace
declines '^not comparable: neither trace has a row "force"$' --against base.pftrace --scope force same.pftrace
declines 'no row has enough calls to tell' --against base.pftrace --scope output same.pftrace

# Noise is no regression: so few calls, or so unlike ones.
{ echo 'thread main' && calls one 3 50000 0 && calls two 30 50000 100; } | trace few_a.pftrace
{ echo 'thread main' && calls one 3 90000 0 && calls two 30 50000 100; } | trace few_b.pftrace
passes --against few_a.pftrace few_b.pftrace
out_has '; 1 with too few calls to tell$'
fails '^unknown: scope one, median call [^p]*$' --against few_a.pftrace --scope one --scope two few_b.pftrace
wild() {
    echo 'thread main'
    awk -v seed="$1" 'BEGIN { for (i = 0; i < 8; i++)
        printf "span -1 0 %d %d wild\n", i * 1e9, i * 1e9 + 1e6 * ((i * 5 + seed) % 8 + 1 + seed / 4) }'
}
wild 0 | trace wild_a.pftrace
wild 3 | trace wild_b.pftrace
passes --against wild_a.pftrace wild_b.pftrace

# What cannot be compared does not pass, unless that is meant.
refuses() { # LINE FILE
    declines "^not comparable: $1" --against base.pftrace "$2"
    passes --against base.pftrace --allow-different "$2"
}
run_of lossy.pftrace 60000 30000 'loss 0 3'
run_of late.pftrace 60000 30000 'loss 11 1'
run_of partial.pftrace 60000 30000 partial
run_of summary.pftrace 60000 30000 summary
device='Imaginary 9001' run_of other.pftrace 60000 30000
backend='CUDA events' run_of events.pftrace 60000 30000
refuses 'B lost events: 3 dropped$' lossy.pftrace
refuses 'B lost events: 1 incomplete$' late.pftrace
refuses 'only B is partial: ' partial.pftrace
refuses 'modes differ: spans in A, only a summary in B$' summary.pftrace
refuses 'devices differ: cuda:0 Imaginary 9000 in A, cuda:0 Imaginary 9001 in B$' other.pftrace
refuses 'backends differ: CUPTI 13.0 \(130001\) in A, CUDA events in B$' events.pftrace
refuses 'A and B are the same file$' base.pftrace
declines '^not comparable: A lost events' --against lossy.pftrace base.pftrace
declines '^not comparable: A and B are the same file$' --against base.pftrace "$scratch/base.pftrace"
size=$(stat -c %s same.pftrace)
head -c $((size * 2 / 3)) same.pftrace >cut.pftrace
declines '^not comparable: B is cut off$' --against base.pftrace cut.pftrace
printf 'thread main\n' | trace empty.pftrace
declines '^not comparable: B recorded nothing$' --against base.pftrace empty.pftrace
declines '^not comparable: there is nothing to compare$' --against empty.pftrace --allow-different empty.pftrace

# A scope that is gone has not become faster.
{ echo 'thread main' && calls one 30 50000 0; } | trace one.pftrace
{ echo 'thread main' && calls one 30 50000 0 && calls two 30 50000 100; } | trace two.pftrace
fails '^gone: scope two, which A calls 30 times$' --against two.pftrace one.pftrace
passes --against two.pftrace --allow-different one.pftrace
passes --against one.pftrace two.pftrace

# More calls of the same length are slower, too.
{ echo 'thread main' && calls one 40 50000 0; } | trace often.pftrace
fails '^more calls: scope one, 30 calls in A and 40 in B, self time \+' --against one.pftrace often.pftrace

# Nor is it the typical call that counts alone: one in ten takes ten times as long.
{ echo 'thread main' && calls one 200 50000 0; } | trace even.pftrace
{ echo 'thread main' && calls one 180 50000 0 && calls one 20 500000 300; } | trace uneven.pftrace
fails '^tail slower: scope one, mean call 50\.[0-9]*us in A and 95\.[0-9]*us in B, ' --against even.pftrace uneven.pftrace

# Two summaries: the limits alone.
run_of summary2.pftrace 60000 30000 summary
run_of summary3.pftrace 90000 30000 summary
passes --against summary.pftrace summary2.pftrace
fails '^unknown: scope forces, mean call .*\(\+50\.00%\)$' --against summary.pftrace summary3.pftrace

# JSON says the same.
run check --json --against base.pftrace slow.pftrace
status_is 1
python3 -c '
import json
result = json.load(open("out"))
[offender] = result["offenders"]
assert not result["passed"] and result["outcome"] == "failed" and result["obstacles"] == [] and result["compared"] == 5, result
assert offender["name"] == "forces" and offender["verdict"] == "slower", result
assert result["limit_percent"] == 5 and result["absolute_ns"] == 1000, result' || fail "is no such JSON" "$out"
run check --json --against base.pftrace lossy.pftrace
status_is 2
out_has '^\{"passed": false, "outcome": "not comparable"'
out_has '\{"name": "losses", "a": 0, "b": 3, "text": "B lost events: 3 dropped"\}'
run check --json --against base.pftrace partial.pftrace
out_has '\{"name": "partial", "a": false, "b": true, "text": "only B is partial: '
run check --json --against base.pftrace other.pftrace
out_has '\{"name": "devices", "a": "cuda:0 Imaginary 9000", "b": "cuda:0 Imaginary 9001", "text"'
run check --json --against base.pftrace --scope force same.pftrace
out_has '\{"name": null, "a": null, "b": null, "text": "neither trace has a row \\"force\\""\}'
run check --json --against base.pftrace same.pftrace
status_is 0
out_has '^\{"passed": true, "outcome": "passed"'

# A scope is what devices did for it, too: its own time and that of its kernel are as before.
device_run brief.pftrace 50000
device_run long.pftrace 60000
fails '^slower: cuda forces, median call 50\.150us in A and 60\.150us in B, \+10\.000us ' \
    --against brief.pftrace --scope forces long.pftrace
out_has '^FAILED: 1 of 2 rows'
# What is as large as a limit does not exceed it: 10 us, and 20 % of 50.150 us.
passes --against brief.pftrace --scope forces --limit 1% --absolute 10us long.pftrace
fails '^slower' --against brief.pftrace --scope forces --limit 1% --absolute 9.999us long.pftrace
device_run limit.pftrace 60030
passes --against brief.pftrace --scope forces --limit 20% limit.pftrace
fails '^slower' --against brief.pftrace --scope forces --limit 19.99% limit.pftrace

# Several runs: they are what is compared, however many calls they have.
for i in 1 2 3; do
    mkdir -p runs.base runs.new runs.slow
    run_of runs.base/$i.pftrace $((60000 + 900 * i)) 30000
    run_of runs.new/$i.pftrace $((60100 + 900 * (4 - i))) 30000
    run_of runs.slow/$i.pftrace $((68000 + 900 * i)) 30000
done
passes --against runs.base runs.new
fails '^slower: scope forces, median call 62\.[0-9]*us in A and 70\.[0-9]*us in B, ' --against runs.base runs.slow
fails '^slower: scope forces' --against runs.base/1.pftrace runs.base/2.pftrace runs.base/3.pftrace --to runs.slow
fails '^slower: scope forces' --to runs.slow/1.pftrace runs.slow/2.pftrace runs.slow/3.pftrace --against runs.base
fails '^slower: scope forces' runs.base/2.pftrace runs.base/3.pftrace --against runs.base/1.pftrace --to runs.slow/
# One run of each is told from the other by its calls alone, though other runs differ as much.
fails '^slower: scope forces' --limit 1% --against runs.base/1.pftrace runs.base/3.pftrace
declines '^not comparable: A and B share a file: runs.base/2\.pftrace$' --against runs.base/ --to runs.slow runs.base/2.pftrace
declines '^not comparable: A has a file twice: runs.base/1\.pftrace$' runs.base/1.pftrace --against runs.base --to runs.slow
# Of summaries, too; but a scope that only one run of each side has tells nothing.
for i in 1 2 3; do
    mkdir -p sums.base sums.new
    run_of sums.base/$i.pftrace $((60000 + 900 * i)) 30000 summary
    run_of sums.new/$i.pftrace $((68000 + 900 * i)) 30000 summary
done
fails '^slower: scope forces, mean call ' --against sums.base sums.new
for side in base new; do
    { printf 'summary\nthread main\n' && calls rare 9 50000 0; } | trace sums.$side/4.pftrace
done
declines '^not comparable: no row has enough runs to tell' --scope rare --against sums.base sums.new
declines '^not comparable: B has a file twice: runs.slow/1\.pftrace$' --against runs.base \
    --to runs.slow/1.pftrace runs.slow/1.pftrace
for number in 0 4; do # whether it is the first run or the last
    run_of runs.new/$number.pftrace 60000 30000 'loss 0 3'
    declines '^not comparable: B lost events: 3 dropped$' --against runs.base runs.new
    backend='CUDA events' run_of runs.new/$number.pftrace 60000 30000
    declines '^not comparable: backends differ among the runs of B$' --against runs.base runs.new
    declines '^not comparable: backends differ among the runs of A$' --against runs.new runs.base
    run_of runs.new/$number.pftrace 60000 30000 summary
    declines '^not comparable: modes differ among the runs of B$' --against runs.base runs.new
    run_of runs.new/$number.pftrace 60000 30000 partial
    declines '^not comparable: only B is partial: ' --against runs.base runs.new
    run_of runs.slow/$number.pftrace 60000 30000 partial
    declines '^not comparable: only some of the runs are partial$' --against runs.slow runs.new
    run check --json --against runs.slow runs.new
    out_has '\{"name": "partial", "a": "varies", "b": "varies", "text"'
    device='Imaginary 9001' run_of runs.new/$number.pftrace 60000 30000
    declines '^not comparable: devices differ among the runs of B$' --against runs.base runs.new
    rm runs.new/$number.pftrace runs.slow/$number.pftrace
done

# Wrong questions, and files that are none.
refused 'against which trace\? --against A' check same.pftrace
refused 'which trace\? name B' check --against base.pftrace
refused '--against stands twice' check --against base.pftrace --against base.pftrace same.pftrace
refused '--to stands twice' check --against base.pftrace --to a --to b
refused 'against which trace' check base.pftrace --to same.pftrace
refused 'expected one trace to check, not "slow.pftrace" too; with more, --to' check --against base.pftrace same.pftrace slow.pftrace
refused '--limit "x": expected percent' check --limit x --against base.pftrace same.pftrace
echo 'no trace' >foreign.pftrace
mkdir empty
for files in 'base.pftrace foreign.pftrace' 'foreign.pftrace base.pftrace' 'base.pftrace missing' 'base.pftrace empty'; do
    # shellcheck disable=SC2086 # words
    run check --against $files
    status_is 2
    out_is ""
    err_has '^takt: '
done

# The script of docs/comparing.md runs; what it finds is the machine's affair.
awk '$0 == "```" { inside = 0 } inside; $0 == "```sh" { inside = 1 }' \
    "$TAKT_ROOT/docs/comparing.md" >script.sh
printf '#!/bin/sh\nexec %s --particles 300 --quiet --steps 130\n' "$samples/sph" >simulator.before
cp simulator.before simulator.after
chmod +x simulator.*
cp "$TAKT_ROOT/samples/sph/profile.yaml" .
PATH=$bin:$PATH sh script.sh >script.out 2>&1
status=$?
[ $status -le 1 ] || fail "the script of docs/comparing.md ends with $status" "$(cat script.out)"
grep -qE '^(passed|FAILED): [0-9]+ of [0-9]+ rows' script.out ||
    fail "the script of docs/comparing.md gives no verdict" "$(cat script.out)"

finish
