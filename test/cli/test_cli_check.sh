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
fails '^not comparable: neither trace has a row "force"$' --against base.pftrace --scope force same.pftrace
fails 'no row has enough calls to tell' --against base.pftrace --scope output same.pftrace

# Noise is no regression: so few calls, or so unlike ones.
{ echo 'thread main' && calls one 3 50000 0 && calls two 30 50000 100; } | trace few_a.pftrace
{ echo 'thread main' && calls one 3 90000 0 && calls two 30 50000 100; } | trace few_b.pftrace
passes --against few_a.pftrace few_b.pftrace
out_has '; 1 with too few calls to tell$'
fails '^unknown: scope one, median call ' --against few_a.pftrace --scope one --scope two few_b.pftrace
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
    fails "^not comparable: $1" --against base.pftrace "$2"
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
fails '^not comparable: A lost events' --against lossy.pftrace base.pftrace
fails '^not comparable: A and B are the same file$' --against base.pftrace "$scratch/base.pftrace"
size=$(stat -c %s same.pftrace)
head -c $((size * 2 / 3)) same.pftrace >cut.pftrace
fails '^not comparable: B is cut off$' --against base.pftrace cut.pftrace
printf 'thread main\n' | trace empty.pftrace
fails '^not comparable: B recorded nothing$' --against base.pftrace empty.pftrace
fails '^not comparable: there is nothing to compare$' --against empty.pftrace --allow-different empty.pftrace

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
assert not result["passed"] and result["obstacles"] == [] and result["compared"] == 5, result
assert offender["name"] == "forces" and offender["verdict"] == "slower", result
assert result["limit_percent"] == 5 and result["absolute_ns"] == 1000, result' || fail "is no such JSON" "$out"
run check --json --against base.pftrace lossy.pftrace
status_is 1
out_has '"obstacles": \["B lost events: 3 dropped"\]'
run check --json --against base.pftrace same.pftrace
status_is 0
out_has '^\{"passed": true'

# Wrong questions, and files that are none.
refused 'against which trace\? --against A' check same.pftrace
refused 'which trace\? name B' check --against base.pftrace
refused '--against stands twice' check --against base.pftrace --against base.pftrace same.pftrace
refused 'expected one trace to check, not "slow.pftrace" too' check --against base.pftrace same.pftrace slow.pftrace
refused '--limit "x": expected percent' check --limit x --against base.pftrace same.pftrace
echo 'no trace' >foreign.pftrace
for files in 'base.pftrace foreign.pftrace' 'foreign.pftrace base.pftrace' 'base.pftrace missing'; do
    # shellcheck disable=SC2086 # words
    run check --against $files
    status_is 1
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
