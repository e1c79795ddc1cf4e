#!/bin/bash
# takt check: wrong questions, and runs that it records itself.
. "${0%/*}/lib_cli.sh"
. "${0%/*}/lib_compare.sh"
TAKT_ROOT=$(cd "${TAKT_ROOT:-.}" && pwd)
cd "$scratch" || exit 1
run_of base.pftrace 60000 30000
run_of same.pftrace 60300 29900

# Wrong questions, and files that are none.
refused 'no base given: name it with --against A' check same.pftrace
refused 'no trace to check: name B' check --against base.pftrace
refused '--against is given twice' check --against base.pftrace --against base.pftrace same.pftrace
refused '--to is given twice' check --against base.pftrace --to a --to b
refused 'no base given' check base.pftrace --to same.pftrace
refused 'unexpected trace "slow.pftrace": name one trace to check, or put --to' check --against base.pftrace same.pftrace slow.pftrace
refused '--runs: name both commands' check --runs 3 --base true
refused '--runs records its own traces' check --runs 3 --base true --new true --against base
refused '--runs records its own traces' check --runs 3 --base true --new true base.pftrace
refused '--base, --new and --keep need --runs N' check --base true --against base.pftrace same.pftrace
refused '--runs "0": expected a number from 1' check --runs 0 --base true --new true
refused '--run-noise "x": expected percent' check --run-noise x --against base.pftrace same.pftrace
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

# Both are run by turns: A B, B A, A B, with what TAKT_OPTIONS says besides.
export OMP_NUM_THREADS=1
sph="$samples/sph --device cpu --particles 300 --quiet --steps"
TAKT_OPTIONS="profiling.wait=2 profiling.warmup=0 profiling.active=20 output.directory='$scratch/elsewhere'" \
    run check --runs 3 --keep kept --limit 100000% --base "$sph 30" --new "env echo new >>order; echo out; $sph 30"
status_is 0
[ "$(ls kept/base kept/new | tr '\n' ' ')" = 'kept/base: 01.log 01.pftrace 02.log 02.pftrace 03.log 03.pftrace  kept/new: 01.log 01.pftrace 02.log 02.pftrace 03.log 03.pftrace ' ] ||
    fail "keeps other files" "$(ls kept/base kept/new)"
[ ! -e elsewhere ] || fail "leaves traces where TAKT_OPTIONS says"
[ "$(cat order | wc -l)" = 3 ] || fail "runs --new another number of times" "$(cat order)"
[ "$(head -n 1 kept/new/01.log)" = out ] || fail "keeps no output" "$(cat kept/new/01.log)"
[ "$(tr '\n' ' ' <err)" = 'takt: run 1 of 6, base 1 takt: run 2 of 6, new 1 takt: run 3 of 6, new 2 takt: run 4 of 6, base 2 takt: run 5 of 6, base 3 takt: run 6 of 6, new 3 ' ] ||
    fail "tells other runs" "$err"
out_has '^[a-z, ]*: step, median call '
run info kept/new/02.pftrace
out_has '^  steps  *20: steps 2 to 21'
# They go away, also where a command fails; then it is named, and what it printed.
mkdir tmp
export TMPDIR=$scratch/tmp
TAKT_OPTIONS=profiling.active=5 run check --runs 2 --limit 100000% --base "$sph 10" --new "$sph 10"
[ "$status" = 0 ] || [ "$status" = 3 ] || fail "ends with $status" "$out$err"
run check --runs 2 --base "$sph 10" --new 'echo broken; exit 7'
status_is 2
out_is ""
err_has '^  \| broken$'
err_has '^takt: run 1 of --new ended with status 7: echo broken; exit 7$'
run check --runs 2 --base 'kill -TERM $$' --new true
status_is 2
err_has '^takt: run 1 of --base was killed by signal 15 '
run check --runs 2 --base true --new true
status_is 2
err_has '^takt: run 1 of --base left no trace\. The program must take its profile from TAKT_OPTIONS: '
TAKT_OPTIONS='profiling.active=2 profiling.repeat=2' run check --runs 2 --base "$sph 20" --new true
status_is 2
err_has '^takt: run 1 of --base left 2 traces instead of one: set profiling\.repeat=1'
run check --runs 1 --keep kept --base true --new true
status_is 2
err_has '^takt: .*/kept/base: File exists: remove it, or name another folder with --keep$'
run check --runs 1 --keep deep/er --base "$sph 10" --new false
[ -f deep/er/base/01.log ] || fail "makes no folders for --keep" "$(ls -R deep)"
ranked="env RANK=\$r WORLD_SIZE=2 $sph 10"
both="for r in 0 1; do $ranked || exit 1; done"
TAKT_OPTIONS=profiling.active=5 run check --runs 1 --limit 100000% --base "$both" --new "$both"
status_is 2
err_has '^takt: run 1 of --base left 2 traces instead of one: .* choose one of several ranks with --rank N: '
TAKT_OPTIONS=profiling.active=5 run check --runs 1 --rank 1 --limit 100000% --base "$both" --new "$both"
status_is 0
[ -z "$(ls tmp)" ] || fail "leaves its folder" "$(ls tmp)"
unset TMPDIR

# The script of docs/comparing.md runs; what it finds is the machine's affair.
awk '$0 == "```" { inside = 0 } inside; $0 == "```sh" { inside = 1 }' \
    "$TAKT_ROOT/docs/comparing.md" >script.sh
printf '#!/bin/sh\nexec %s --particles 300 --quiet --steps 130\n' "$samples/sph" >simulator.before
cp simulator.before simulator.after
chmod +x simulator.*
cp "$TAKT_ROOT/samples/sph/profile.yaml" .
PATH=$TAKT_BIN:$PATH sh script.sh >script.out 2>&1
status=$?
[ $status != 2 ] || fail "the script of docs/comparing.md ends with $status" "$(cat script.out)"
grep -qE '^(passed|FAILED): [0-9]+ of 1 rows' script.out ||
    fail "the script of docs/comparing.md gives no verdict" "$(cat script.out)"

finish
