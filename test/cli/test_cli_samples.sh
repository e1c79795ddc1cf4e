#!/bin/bash
# The small samples compute what they should, which they check themselves, and print what their
# comments promise.
. "${0%/*}/lib_cli.sh"
cd "$scratch" || exit 1

# Runs a sample; its exit status tells whether its numbers are right.
sample() {
    ran="(the sample $1)"
    out=$("$samples/$1" 2>errors </dev/null) || fail "fails" "$out"
    [ ! -s errors ] || fail "standard error should be empty" "$(cat errors)"
}

sample hello
out_has '^a thousand terms .* 1000$'
out_has '^pi is about 3\.14159$'

sample steps
out_has '^24 steps; heat 6400\.000000 before, 6400\.000000 after$'
out_has '^recorded +3 '
out_has '^all +24 '
out_has '^  flows +3 '
[ -z "$(find . -name '*.pftrace')" ] || fail "writes traces although no folder was named"

sample jobs
out_has '^main +[0-9]+ +200 .* wait for piles$'
[ "$(grep -cE '^worker [123] .* wait for a job$' <<<"$out")" = 3 ] || fail "should list three workers" "$out"
out_has '^step +solve pile +[123] '
out_has '^pile +jobs +2400 '
out_has '^checkpoint +jobs +10 '
out_has '^queue +4826 +1\.000 +0\.000 +0\.000 '
out_has '^contacts +100 +0\.000 +960\.000 +0\.000 +[0-9.]+ +960\.000 +9\.697$'
out_has '^960 of 960 balls rest after 100 steps$'
[ -z "$(find . -name '*.pftrace')" ] || fail "writes a trace although no folder was named"
rm -rf runs && "$samples/jobs" runs >printed 2>errors || fail "fails with a folder" "$(cat errors)"
run report --tasks runs/jobs.0.pftrace
out_has "$(grep '^pile ' printed)"

ran="(the sample realtime)"
out=$("$samples/realtime" 400 2>errors </dev/null) || fail "fails" "$out"
[ ! -s errors ] || fail "standard error should be empty" "$(cat errors)"
out_has '^400 steps of 200 scopes at 1 kHz, '
[ "$(grep -cE '^(not )?recorded +190( +[0-9]+\.[0-9]){4}$' <<<"$out")" = 4 ] ||
    fail "should have times of 190 steps of two kinds" "$out"
[ "$(grep -cE '^recording begins or ends +20( +[0-9]+\.[0-9]){4}$' <<<"$out")" = 2 ] ||
    fail "should have times of 20 steps" "$out"

sample callback
out_has '^Forward kernels  : [0-9]+\.[0-9]{6} ms$'
out_has '^Backward kernels : [0-9]+\.[0-9]{6} ms$'
out_has '^Both sweeps took [0-9.]+ ms$'
out_has '^Longer than all before: (forward|backward) step, [0-9]+ ns$'
out_has '^Derivative (-?[0-9]+\.[0-9]{6})[0-9]*, by differences \1'

if command -v "${CXX:-c++}" >/dev/null; then
    sample scoped
    out_has '^    plain order took [0-9.]+ ms$'
    out_has '^both orders took [0-9.]+ ms$'
    out_has '^2 kernels, [0-9.]+ ms$'
    out_has '^20 repetitions$'
    out_has '^ *in order: by rows .* 1$'
else
    leave_out "samples in C++" "needs a C++ compiler"
fi

# A line for each value, under each other, in 70 columns.
has_result() {
    out_has '^timed\.c:[0-9]+: 20 repetitions$'
    for label in mean median min max stddev; do
        out_has "^  $label +[0-9]+(\.[0-9]{3})? [num]?s\$"
    done
    narrow=$(sed -n '/: 20 repetitions$/,$p' <<<"$out" | grep -v '^The device computes nothing')
    ! LC_ALL=C grep -nE '[^ -~]|.{71}' <<<"$narrow" || fail "wider than 70, or not ASCII" "$narrow"
    [ "$(sed -nE 's/^(  .{8} +[0-9.]+).*/\1/p' <<<"$narrow" | grep -E '\.[0-9]{3}$' |
        awk '{ print index($0, ".") }' | sort -u | wc -l)" = 1 ] ||
        fail "the numbers do not stand under each other" "$narrow"
}
sample timed
has_result
out_has '^saxpy +scope +host +20 '
out_has '^  work +[0-9.]+ GFLOP/s$'
out_has '^  moved +[0-9.]+ GB/s$'
# Needs NVRTC, but no GPU. Sanitizers would judge NVRTC itself, which leaks.
if [ -n "${SAN-}" ]; then
    status=77
else
    out=$("$samples/nvrtc" 2>errors </dev/null)
    status=$?
fi
case $status in
77) echo "skipped: the sample nvrtc runs in the build without sanitizers" ;;
0)
    ran="(the sample nvrtc)"
    out_has '^advance\.cu +CUDA C\+\+ Front-End .* 1 '
    out_has '^advance\.cu +LibNVVM '
    out_has '^advance\.cu +compilation '
    out_has '^[1-9][0-9]+ bytes of PTX'
    run report runs/nvrtc/nvrtc.0.pftrace --compile
    out_has '^advance\.cu +NVVM Optimizer '
    ;;
2) echo "skipped: the sample nvrtc: $(head -n 1 errors)" ;;
*) fail "the sample nvrtc fails" "$out $(cat errors)" ;;
esac

finish
