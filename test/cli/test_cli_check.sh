#!/bin/bash
# takt check of two sides: passes, fails, and fails closed.
. "${0%/*}/lib_cli.sh"
need python3
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
wavers() { # LINE ARGS...
    local line=$1
    shift
    run check "$@"
    status_is 3
    silent
    out_has "$line"
    out_has '^UNDECIDED: .*, and runs of one program may differ as much; A has 1 run and B 1: record 5 of each, or 4 at least$'
    run check --accept-undecided "$@"
    status_is 0
    out_has '^UNDECIDED: '
}

# Runs of a folder: 5 of them, whose steps take about NS.
runs_of() { # FOLDER STEP_NS [FORCES_NS]
    mkdir -p "$1"
    for i in 1 2 3 4 5; do
        run_of "$1/$i.pftrace" "${3-60000}" 30000 '' $(($2 + $2 / 500 * i))
    done
}

# The time of a step is the question: five runs a side answer it.
runs_of base 800000
runs_of same 802000
runs_of slow 880000 66000
runs_of fast 700000 50000
passes --against base same
out_has '^same: step, median call 80[0-9.]*us in A and 81[0-9.]*us in B, .* \(\+0\.25%, -0\.[0-9]*% \.\. \+0\.[0-9]*%\), p 0\.[0-9]*$'
out_has '^    mean call '
out_has '^passed: 0 of 1 rows worse by more than 5 % and 1\.000us$'
passes --against base fast
fails '^slower: step, median call .* \(\+10\.00%, \+9\.[0-9]*% \.\. \+10\.[0-9]*%\), p 0\.0079$' --against base slow
out_has '^    slower: scope forces, 150 calls in A and 150 in B, self time \+18\.101us a step$'
out_lacks 'neighbours'
out_has '^FAILED: 1 of 1 rows worse'
# What is below does not count by itself, unless it is asked about.
runs_of below 800000 66000
passes --against base below
fails '^slower: scope forces, median call 60\.[0-9]*us in A and 66\.[0-9]*us in B, \+6\.0[0-9]*us \(\+10\.00%, .*, p 0\.0079$' \
    --against base --scope forces below
fails '^slower: scope forces' --against base --scope forces --scope step below
out_has '^FAILED: 1 of 2 rows'
passes --against base --scope neighbours slow
out_has '^passed: 0 of 1 rows'
declines '^not comparable: neither trace has a row "force"; did you mean "forces"\?$' --against base --scope force same

# The typical step became shorter, and every fifth one so long that all take three times the time.
bursts() { # FILE FIRST_OTHER ADD
    {
        echo 'thread main'
        awk -v other="$2" -v add="$3" 'BEGIN { for (i = 0; i < 100; i++) {
            ns = other && i % 5 == 4 ? 2000000 : 100000 - 10000 * (other > 0) + i * 7919 % 13 * 100
            printf "step %d %d\n", at, at + ns + add
            at += ns + add } }'
    } | trace "$1"
}
mkdir bursts.a bursts.b
for i in 1 2 3 4 5; do
    bursts bursts.a/$i.pftrace 0 $((20 * i))
    bursts bursts.b/$i.pftrace 1 $((30 * i))
done
fails '^faster, tail slower: step, median call 100\.[0-9]*us in A and 9[01]\.[0-9]*us in B, -9\.' --against bursts.a bursts.b
out_has '^    mean call 100\.[0-9]*us in A and 472\.[0-9]*us in B, \+37[0-9.]*us \(\+3[67][0-9.]*%, '
fails '^slower, tail faster: step, median ' --against bursts.b bursts.a
# So much no two runs of one program differ: one of each is enough. A tenth they may.
fails '^faster, tail slower: step' --against bursts.a/1.pftrace bursts.b/1.pftrace
run diff bursts.a/1.pftrace bursts.b/1.pftrace
out_has '^step .* faster, tail slower$'
run_of single.pftrace 60000 30000
run_of tenth.pftrace 60000 30000 '' 880000
run_of huge.pftrace 60000 30000 '' 3200000
wavers '^slower: step, median call .* \(\+10\.00%' --against single.pftrace tenth.pftrace
fails '^slower: step' --against single.pftrace --run-noise 9% tenth.pftrace
wavers '^slower: step' --against single.pftrace --run-noise 10.5% tenth.pftrace
fails '^slower: step' --against single.pftrace huge.pftrace
passes --against tenth.pftrace single.pftrace
out_has 'A has 1 run and B 1: record 5 of each, or 4 at least to be sure$'
# Too few of several are as one; four and four are enough.
run check --against base/1.pftrace base/2.pftrace base/3.pftrace --to slow/1.pftrace slow/2.pftrace slow/3.pftrace
status_is 3
out_has 'A has 3 runs and B 3: record 5 of each, or 4 at least$'
fails '^slower: step, .* p 0\.0286$' --against base/[1-4].pftrace --to slow/[1-4].pftrace
# One stray run hides nothing.
cp -r base stray
run_of stray/3.pftrace 60000 30000 '' 2400000
fails '^slower: step, .* p 0\.0[0-9]*$' --against stray slow
passes --against base stray

# Both limits must be exceeded.
passes --against base --limit 11% slow
passes --against base --absolute 100us slow
fails '^slower: ' --against base --limit 0 --absolute 60us slow

# A side that began when the other was done may be slower for another reason.
for i in 1 2 3 4 5; do
    mkdir -p early late
    run_of early/$i.pftrace 60000 30000 "began $i" $((800000 + 1000 * i))
    run_of late/$i.pftrace 60000 30000 "began $((10 + i))" $((880000 + 1000 * i))
done
fails '^careful: all runs of one side began before those of the other' --against early late
run check --json --against early late
out_has '"by_run": true, "by_turns": false, "apart": true'

# Without steps the wall time of the recording is the question; calls are not so few that nothing
# can be said of it.
{ echo 'thread main' && calls one 3 50000 0 && calls two 30 50000 100; } | trace few_a.pftrace
{ echo 'thread main' && calls one 3 90000 0 && calls two 30 50000 100; } | trace few_b.pftrace
passes --against few_a.pftrace few_b.pftrace
out_has '^unknown: run wall time, mean call 129\.[0-9]*ms in A and 129\.[0-9]*ms in B, '
run check --against few_a.pftrace --scope one --scope two few_b.pftrace
status_is 3
out_has '^unknown: scope one, median call [^p]*$'
declines 'no row has enough calls to tell' --against few_a.pftrace --scope one few_b.pftrace
{ echo 'thread main' && calls two 30 50000 400; } | trace few_c.pftrace
fails '^unknown: run wall time, mean call .*\(\+232\.' --against few_a.pftrace --allow-different few_c.pftrace

# One program, of which the sides recorded other steps. Step 0 takes 3 ms and others 100 us, so 40
# steps have a mean of 172.5 us and the first 20 of them 245 us. The scope `setup` is called once.
cold() { # FOLDER FIRST COUNT
    mkdir -p "$1"
    for i in 1 2 3 4 5; do
        awk -v first="$2" -v count="$3" -v jitter="$i" 'BEGIN {
            print "thread main\nspan -1 0 0 50000 setup"
            for (i = first; i < first + count; i++) {
                ns = (i == 0 ? 3000000 : 100000) + jitter * 7 % 5
                printf "step %d %d %d\nspan -1 0 %d %d solve\n", begin += 5000000, begin + ns, i, begin, begin + ns
            }
        }' | trace "$1/$i.pftrace"
    done
}
cold cold40 0 40
cold cold20 0 20
cold warm40 3 40
cold late20 100 20
for pair in 'cold40 cold20 0.to.39.and.B.0.to.19 0.to.19' 'cold20 cold40 0.to.19.and.B.0.to.39 0.to.19'; do
    read -r a b recorded compared <<<"$pair"
    passes --against $a $b
    out_has "^careful: A recorded steps $recorded; compared are steps $compared, and of scopes the typical calls$"
    out_has '^same: step, median call 100\.00[0-9]us in A and 100\.00[0-9]us in B, '
    out_has '^    mean call 245\.00[0-9]us in A and 245\.00[0-9]us in B, '
done
# The cold step is in one side only, or no step in both.
for pair in 'cold40 warm40 0.to.39.and.B.3.to.42;.compared.are.steps.3.to.39,' 'warm40 cold40 3.to.42.and.B.0.to.39;.compared.are.steps.3.to.39,'; do
    read -r a b recorded <<<"$pair"
    passes --against $a $b
    out_has "^careful: A recorded steps $recorded and of scopes the typical calls$"
    out_has '^    mean call 100\.00[0-9]us in A and 100\.00[0-9]us in B, '
done
run check --against late20 cold20
status_is 3
out_has '^careful: A recorded steps 100 to 119 and B 0 to 19; mean steps and calls cannot be compared, only typical ones$'
out_has '^unknown: step, median call 100\.00[0-9]us in A and 100\.00[0-9]us in B, '
out_has '^UNDECIDED: 1 of 1 rows worse .*, and A and B recorded other steps: record the same ones$'
run check --json --against cold40 cold20
status_is 0
out_has '^ "cautions": \[$'
out_has '\{"name": "steps", "a": 40, "b": 20, "text": "A recorded steps 0 to 39 and B 0 to 19; compared are steps 0 to 19, '
run diff cold40 cold20
out_has '^No difference beyond the noise in the time of a step \(0\.00%\)\.$'
out_has '^Careful: A recorded steps 0 to 39 and B 0 to 19; compared are steps 0 to 19, and of scopes the typical calls\.$'
out_has '^setup .* unknown$'
out_has '^solve .* unknown$'
# As many, to a few in a hundred: no reason for a word about means.
cold cold39 0 39
run check --json --against cold40 cold39
out_has 'B 0 to 38; compared are steps 0 to 38"\}\],$'
# What became slower is found in other steps, too.
mkdir slow20
for i in 1 2 3 4 5; do
    awk -v jitter="$i" 'BEGIN {
        print "thread main"
        for (i = 0; i < 20; i++)
            printf "step %d %d\n", i * 5000000, i * 5000000 + (i == 0 ? 3000000 : 110000) + jitter
    }' | trace slow20/$i.pftrace
done
run check --allow-different --against cold40 slow20
status_is 1
out_has '^slower: step, median call 100\.00[0-9]us in A and 110\.00[0-9]us in B, '
# One run of five that has only a step is no reason to compare only that.
cp -r cold40 short40 && awk 'BEGIN { print "thread main\nstep 0 3000000\nspan -1 0 0 5 setup\nspan -1 0 6 7 solve" }' | trace short40/3.pftrace
run check --json --against cold40 short40
out_has '"median_a_ns": 10000[0-9]'
out_lacks 'compared are'

# A scope that is called more often fails, even if each call takes less.
for i in 1 2 3 4 5; do
    mkdir -p once often
    { echo 'thread main' && calls step 10 900000 300 | sed -nE 's/^span -1 0 ([0-9]+) ([0-9]+) .*/step \1 \2/p' && calls solve 10 $((100000 + i * 100)) 300; } | trace once/$i.pftrace
    { echo 'thread main' && calls step 10 900000 300 | sed -nE 's/^span -1 0 ([0-9]+) ([0-9]+) .*/step \1 \2/p' && calls solve 40 $((40000 + i * 100)) 300; } | trace often/$i.pftrace
done
fails '^more calls: scope solve, 50 calls in A and 200 in B, self time \+6[01]\.' --against once --scope solve often
run diff --json once often
out_has '"name": "solve", "kind": "scope", .*"verdict": "more calls"'
run check --against often --scope solve once
status_is 1
out_has '^slower: scope solve'

# Ranks of a job are not runs.
for i in 0 1 2 3; do
    mkdir -p job.a job.b
    run_of job.a/fluid.rank$i.0.pftrace 60000 30000 "rank $i 4"
    run_of job.b/fluid.rank$i.0.pftrace 60000 30000 "rank $i 4" $((i == 3 ? 1200000 : 800100))
done
declines '^not comparable: A and B have several ranks, which are not runs of their own: choose with --rank N$' --against job.a job.b
wavers '^slower: step, median call 803\.[0-9]*us in A and 1\.20[0-9]*ms in B' --rank 3 --against job.a job.b
passes --rank 0 --against job.a job.b
declines '^not comparable: ranks differ: 0 in A, 1 in B$' --against job.a/fluid.rank0.0.pftrace job.b/fluid.rank1.0.pftrace
run check --rank 7 --against job.a job.b
status_is 2
err_has '^takt: job\.a: no trace is named as one of rank 7, NAME\.rank7\.CYCLE\.pftrace$'
refused '--rank "x": expected a number from 0' check --rank x --against job.a job.b

# Runs that differ much prove nothing: it says what they may hide.
step_ns=600000
for i in 1 2 3 4 5; do
    mkdir -p shaky.a shaky.b
    run_of shaky.a/$i.pftrace 60000 30000 '' $step_ns
    run_of shaky.b/$i.pftrace 60000 30000 '' $((step_ns + 30000))
    step_ns=$((step_ns + 200000))
done
passes --against shaky.a shaky.b
out_has '^noise: step, '
out_has '; the runs differ too much to exclude \+[0-9.]*%: record more of them, or on a quieter machine$'

# A verdict that nobody can read is not 1, which would say that B is slower.
"$takt" check --against base same >/dev/full 2>err
[ $? = 2 ] || fail "check >/dev/full ends with another status"
grep -q '^takt: standard output: No space left on device$' err || fail "check >/dev/full says" "$(cat err)"

# What cannot be compared does not pass, unless that is meant.
run_of base.pftrace 60000 30000
run_of same.pftrace 60300 29900
run_of slow.pftrace 66000 30000
refuses() { # LINE FILE
    declines "^not comparable: $1" --against base.pftrace "$2"
    passes --against base.pftrace --allow-different "$2"
}
run_of lossy.pftrace 60000 30000 'loss 0 3'
run_of late.pftrace 60000 30000 'loss 11 1'
run_of partial.pftrace 60000 30000 partial
run_of partial2.pftrace 60100 30000 partial
passes --against partial.pftrace partial2.pftrace
out_has '^careful: A and B are partial: their programs ended before the cycle was complete$'
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
"$takt" export --perfetto --plain -o plain same.pftrace >/dev/null 2>&1 # compressed, it is one packet
size=$(stat -c %s plain)
head -c $((size * 2 / 3)) plain >cut.pftrace
run check --against base.pftrace cut.pftrace
status_is 2
out_has '^not comparable: B is cut off$'
err_has 'cut\.pftrace is incomplete: the file is cut$'
printf 'thread main\n' | trace empty.pftrace
declines '^not comparable: B recorded nothing$' --against base.pftrace empty.pftrace
declines '^not comparable: there is nothing to compare$' --against empty.pftrace --allow-different empty.pftrace

# A scope that is gone has not become faster.
{ echo 'thread main' && calls one 30 50000 0; } | trace one.pftrace
{ echo 'thread main' && calls one 30 50000 0 && calls two 30 50000 100; } | trace two.pftrace
fails '^gone: scope two, which A calls 30 times$' --against two.pftrace one.pftrace
out_has '^FAILED: 0 of 1 rows worse by more than 5 % and 1\.000us; 1 row of A gone$'
passes --against two.pftrace --allow-different one.pftrace
passes --against one.pftrace --scope one two.pftrace

# A stray call of A turns its sum against the typical call, which the verdict is about.
stray() { # NS STRAY_NS
    awk -v ns="$1" -v stray="$2" 'BEGIN {
        print "thread main"
        for (i = 0; i < 40; i++) {
            begin = i * 50000000; long = ns + i % 7 * 100 + (i == 20 ? stray : 0)
            printf "step %d %d\nspan -1 0 %d %d forces\n", begin, begin + long, begin, begin + long
        }
    }'
}
stray 100000 40000000 | trace stray.pftrace
stray 200000 0 | trace typical.pftrace
run check --against stray.pftrace typical.pftrace
out_has '^    slower: scope forces, 40 calls in A and 40 in B, median call \+100\.000us$'

# More calls of the same length are slower, too, if they are asked about.
{ echo 'thread main' && calls one 40 50000 0; } | trace often.pftrace
fails '^more calls: scope one, 30 calls in A and 40 in B, self time \+' --against one.pftrace --scope one often.pftrace

# Nor is it the typical call that counts alone: one in ten takes ten times as long.
{ echo 'thread main' && calls one 200 50000 0; } | trace even.pftrace
{ echo 'thread main' && calls one 180 50000 0 && calls one 20 500000 300; } | trace uneven.pftrace
fails '^tail slower: scope one, median call ' --against even.pftrace --scope one --run-noise 50% uneven.pftrace
out_has '^    mean call 50\.[0-9]*us in A and 95\.[0-9]*us in B, '
# The mean grows by 45.27 us. Of B's 200 calls, one in ten is 452.7 us longer than the others: sd 136.1 us,
# error 9.63 us, so the band is 18.9 us to each side; that of the typical call is narrower than a call.
run check --json --against even.pftrace --scope one --run-noise 50% uneven.pftrace
python3 -c '
import json
[one] = json.load(open("out"))["offenders"]
assert 26000 < one["mean_low_ns"] < 26800 and 63700 < one["mean_high_ns"] < 64600, one
assert -600 < one["change_low_ns"] <= one["change_high_ns"] < 600, one' || fail "other bands" "$out"

# Two summaries, one of each: what runs may differ by decides.
run_of summary2.pftrace 60000 30000 summary
run_of summary3.pftrace 90000 30000 summary
passes --against summary.pftrace summary2.pftrace
fails '^unknown: scope forces, mean call .*\(\+50\.00%\)$' --against summary.pftrace --scope forces --run-noise 40% summary3.pftrace
wavers '^unknown: scope forces' --against summary.pftrace --scope forces summary3.pftrace

# JSON says the same.
run check --json --against base slow
status_is 1
python3 -c '
import json
result = json.load(open("out"))
[offender] = result["offenders"]
assert result["asked"] == [offender] and result["undecided"] == [] and result["obstacles"] == [], result
assert not result["passed"] and result["outcome"] == "failed", result
assert offender["name"] == "step" and offender["verdict"] == "slower", result
assert round(offender["p"], 4) == round(offender["mean_p"], 4) == 0.0079, result
assert 9 < offender["change_low_ns"] / 8000 < offender["change_high_ns"] / 8000 < 11, result
assert offender["mean_low_ns"] < offender["mean_change_ns"] < offender["mean_high_ns"], result
assert "forces" in {row["name"] for row in result["below"]}, result
assert (result["runs_a"], result["runs_b"], result["runs_wanted"]) == (5, 5, 5), result
assert result["run_noise_percent"] == 200 and result["by_run"] and not result["by_turns"], result
assert result["limit_percent"] == 5 and result["absolute_ns"] == 1000, result' || fail "is no such JSON" "$out"
run check --json --against single.pftrace tenth.pftrace
status_is 3
out_has '^\{"passed": false, "outcome": "undecided"'
run check --json --against base.pftrace lossy.pftrace
status_is 2
out_has '^\{"passed": false, "outcome": "not comparable"'
out_has '\{"name": "losses", "a": 0, "b": 3, "text": "B lost events: 3 dropped"\}'
run check --json --against base.pftrace partial.pftrace
out_has '\{"name": "partial", "a": false, "b": true, "text": "only B is partial: '
run check --json --against base.pftrace other.pftrace
out_has '\{"name": "devices", "a": "cuda:0 Imaginary 9000", "b": "cuda:0 Imaginary 9001", "text"'
run check --json --against base.pftrace --scope force same.pftrace
out_has '\{"name": null, "a": null, "b": null, "text": "neither trace has a row \\"force\\"; did you mean \\"forces\\"\?"\}'
run check --json --against base.pftrace same.pftrace
status_is 0
out_has '^\{"passed": true, "outcome": "passed"'

# A scope is what devices did for it, too: its own time and that of its kernel are as before.
device_run brief.pftrace 50000
device_run long.pftrace 60000
fails '^slower: cuda forces, median call 50\.150us in A and 60\.150us in B, \+10\.000us ' \
    --against brief.pftrace --run-noise 0 --scope forces long.pftrace
out_has '^FAILED: 1 of 2 rows'
# What is as large as a limit does not exceed it: 10 us, and 20 % of 50.150 us.
passes --against brief.pftrace --run-noise 0 --scope forces --limit 1% --absolute 10us long.pftrace
fails '^slower' --against brief.pftrace --run-noise 0 --scope forces --limit 1% --absolute 9.999us long.pftrace
device_run limit.pftrace 60030
passes --against brief.pftrace --run-noise 0 --scope forces --limit 20% limit.pftrace
fails '^slower' --against brief.pftrace --run-noise 0 --scope forces --limit 19.99% limit.pftrace

# More steps than a trace lists: the sum of all tells that those beyond became slower.
more_steps() { # FILE NS_OF_TWO_MORE [LINES]
    local lines
    lines=$(printf 'ran %d\n' 800000 800000 800000 800000 800000 800000 800000 800000 800000 800000 "$2" "$2")
    run_of "$1" 60000 30000 "recorded 12"$'\n'"$lines"$'\n'"${3-}"
}
more_steps more.pftrace 800000
more_steps more_same.pftrace 810000
more_steps more_slow.pftrace 40000000
passes --against more.pftrace more_same.pftrace
fails '^unknown: step, mean call 800\.000us in A and 7\.333ms in B, \+6\.533ms \(\+816\.67%\)$' \
    --against more.pftrace more_slow.pftrace
fails '^unknown: step, mean call' --against more.pftrace --allow-different more_slow.pftrace
# Also where the base lists all its steps, and in several runs.
fails '^unknown: step, mean call' --against base.pftrace more_slow.pftrace
mkdir more.base more.new more.slow
for i in 1 2 3 4; do
    run_of more.base/$i.pftrace 60000 30000 '' $((800000 + 100 * i))
    more_steps more.new/$i.pftrace $((800000 + 100 * i))
    more_steps more.slow/$i.pftrace $((2000000 + 100 * i))
done
passes --against more.base more.new
fails '^slower: step, mean call 80[0-9.]*us in A and 1\.000ms in B' --against more.base more.slow
# Where other steps of the run were not recorded, nothing is known of those beyond; scopes are.
more_steps unseen.pftrace 40000000 'ran 800000'
unseen='^not comparable: B lists only 10 of its 12 steps: record fewer in a trace, by profiling\.active$'
declines "$unseen" --against base.pftrace unseen.pftrace
declines "$unseen" --against base.pftrace --allow-different unseen.pftrace
passes --against base.pftrace --scope forces unseen.pftrace
run diff base.pftrace unseen.pftrace
out_has '^The time of a step is not known: traces list only some of the steps\.$'
out_has '^Careful: B lists only 10 of its 12 steps'

# Several runs: how they are named.
for i in 1 2 3 4; do
    mkdir -p runs.base runs.new runs.slow
    run_of runs.base/$i.pftrace $((60000 + 900 * i)) 30000
    run_of runs.new/$i.pftrace $((60100 + 900 * (4 - i))) 30000
    run_of runs.slow/$i.pftrace $((68000 + 900 * i)) 30000
done
passes --scope forces --against runs.base runs.new
slower='^slower: scope forces, median call 62\.[0-9]*us in A and 70\.[0-9]*us in B, '
fails "$slower" --scope forces --against runs.base runs.slow
fails "$slower" --scope forces --against runs.base/1.pftrace runs.base/2.pftrace runs.base/3.pftrace runs.base/4.pftrace --to runs.slow
fails "$slower" --scope forces --to runs.slow/[1-4].pftrace --against runs.base
fails "$slower" --scope forces runs.base/[2-4].pftrace --against runs.base/1.pftrace --to runs.slow/
declines '^not comparable: A and B share a file: runs.base/2\.pftrace$' --against runs.base/ --to runs.slow runs.base/2.pftrace
declines '^not comparable: A has a file twice: runs.base/1\.pftrace$' runs.base/1.pftrace --against runs.base --to runs.slow
# A copy is no run, nor is the same trace compressed.
mkdir copies packed
cp runs.base/1.pftrace copies/a.pftrace && cp runs.base/1.pftrace copies/b.pftrace
declines '^not comparable: B has a file twice: copies/b\.pftrace$' --against runs.base copies
cp runs.base/1.pftrace packed/a.pftrace && gzip -c runs.slow/1.pftrace >packed/a.pftrace.gz
declines '^not comparable: B has a file twice: packed/a\.pftrace\.gz$' --against runs.base packed
# A compressed file that is damaged has all its packets; only the checksum tells.
{ gzip -c runs.slow/1.pftrace | head -c -8; printf 'a checksum'; } | head -c -2 >packed/damaged.pftrace.gz
run check --against runs.base/1.pftrace packed/damaged.pftrace.gz
status_is 2
out_has '^not comparable: B is cut off$'
run report packed/damaged.pftrace.gz
status_is 4
out_has '^INCOMPLETE: the file is damaged: what it says may be wrong\.$'
# Cycles of one process are one run; those of several processes are as many.
mkdir cycles others
for i in 1 2 3 4; do
    run_of cycles/$i.pftrace 62000 30000 "process 7 $i"
    run_of others/$i.pftrace 62000 30000 "process 7$i $i"
done
declines '^not comparable: B has several cycles of process 7, which are one run: take one of each$' --against runs.base cycles
run check --scope forces --against runs.base others
out_lacks 'not comparable'
# A hole: the file lacks packets in the middle.
python3 - plain hole.pftrace <<'EOF'
import sys
data, packets, at = open(sys.argv[1], "rb").read(), [], 0
def number(at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at
while at < len(data):
    begin = at
    tag, at = number(at)
    size, at = number(at)
    at += size
    packets.append(data[begin:at])
del packets[len(packets) // 2:len(packets) * 3 // 4]
open(sys.argv[2], "wb").write(b"".join(packets))
EOF
run info hole.pftrace
err_has 'hole\.pftrace is incomplete: the file is cut'
# Of summaries, too; but a scope that only one run of each side has tells nothing.
for i in 1 2 3 4; do
    mkdir -p sums.base sums.new
    run_of sums.base/$i.pftrace $((60000 + 900 * i)) 30000 summary
    run_of sums.new/$i.pftrace $((68000 + 900 * i)) 30000 summary
done
fails '^slower: scope forces, mean call ' --scope forces --against sums.base sums.new
for side in base new; do
    { printf 'summary\nthread main\n' && calls rare 9 50000 0; } | trace sums.$side/5.pftrace
done
declines '^not comparable: no row has enough runs to tell' --scope rare --against sums.base sums.new
declines '^not comparable: B has a file twice: runs.slow/1\.pftrace$' --against runs.base \
    --to runs.slow/1.pftrace runs.slow/1.pftrace
for number in 0 5; do # whether it is the first run or the last
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

finish
