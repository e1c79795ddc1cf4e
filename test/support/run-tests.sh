#!/bin/bash
# Runs tests and tells how they went. Fails if a test failed, or if there was none.
#
#     run-tests.sh TEST...
#
# A test is a program or script that exits 0 (passed), 77 (skipped, the reason being its last line)
# or anything else. Fuzz targets, .../fuzz_NAME, run through run-fuzz.sh. A test runs in the
# project's root, without input, with a TMPDIR of its own, and with these variables:
#
#     TAKT_ROOT TAKT_BUILD TAKT_BIN TAKT_LIB    folders
#     CC CXX SAN                                as make had them
#     TEST_RUNNER                               an emulator's command that programs run through
#     TEST_NAMES                                names of all tests that the runner was given
#
# Of a test that passed, lines "case left out: NAME: WHY" are shown and counted: test/support/skip.h.
# The last line counts what was skipped by reason. Tests of test/sanitizers.txt that SAN leaves out do
# not run; they are counted. Those of test/long.txt run first. TEST_JOBS tests run at a time (two more
# than there are processors, since some only wait). One that is not done after TEST_SECONDS (1800)
# hangs: the longest takes a minute on an idle machine, and a machine may be very busy. T="word word"
# picks the tests whose name has one of the words.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
export TAKT_ROOT=$root
export TAKT_BUILD=${TAKT_BUILD:-$root/build} TAKT_BIN=${TAKT_BIN:-$root/bin}
export TAKT_LIB=${TAKT_LIB:-$root/lib} CC=${CC:-cc} CXX=${CXX:-c++} SAN=${SAN:-}
export TEST_SECONDS=${TEST_SECONDS:-1800}

# build/test/unit/test_clock is called unit/test_clock, test/cli/report.sh is called cli/report.
name_of() {
    local name=${1##*/}
    local folder=${1%/*}
    folder=${folder##*/}
    echo "$folder/${name%.*}"
}

# Runs one test and prints its result in one piece, since others run beside it.
run_one() {
    local test=$1 name dir begin seconds status lacks
    name=$(name_of "$test")
    dir=$RESULTS/$name
    mkdir -p "$dir/tmp"
    case $test in
    */fuzz_*) set -- test/support/run-fuzz.sh "$test" ;;
    *.sh | *.py) export ASAN_OPTIONS=$WITHOUT_LEAKS ;;
    *) [ -z "${TEST_RUNNER-}" ] || set -- "$TEST_RUNNER" "$test" ;;
    esac

    lacks=
    [[ $test != *.py ]] || command -v python3 >/dev/null || lacks="python3"
    [ -e "$test" ] || [ ! -f "test${test#*/test}.cpp" ] || lacks="a C++ compiler"
    [ -z "$lacks" ] || set -- sh -c "echo needs $lacks; exit 77"

    begin=$EPOCHREALTIME
    {
        TMPDIR=$dir/tmp $UNRANDOMISED \
            timeout -k 5 "$TEST_SECONDS" "$@" >"$dir/output" 2>&1 </dev/null
        status=$?
    } 2>/dev/null # bash's own word about a crash
    times >"$dir/times" # in its second line those of the test, as "0m1.234s 0m0.567s"
    seconds=$(awk -v begin="$begin" -v end="$EPOCHREALTIME" -F '[ms ]+' '
        NR == 2 { printf "%.1f s, CPU %.1f s", end - begin, 60 * $1 + $2 + 60 * $3 + $4 }' "$dir/times")
    rm -rf "$dir/tmp"

    case $status in
    0)
        echo "ok $name ($seconds)"
        grep -a '^case left out: ' "$dir/output" | sed 's/^/    /'
        ;;
    77) echo "skipped $name: $(tail -n 1 "$dir/output")" ;;
    *)
        echo "FAILED $name ($seconds, status $status)"
        tail -n 200 "$dir/output" | sed 's/^/    /'
        [ "$status" != 124 ] || echo "    It did not end within $TEST_SECONDS s."
        ;;
    esac >"$dir/result"
    flock "$RESULTS" "$0" --tell "$dir/result"
}

# How far all of it is stands behind the first line.
tell() {
    echo >>"$RESULTS/told"
    sed "1s/\$/  $(wc -l <"$RESULTS/told") of $TEST_COUNT/" "$1"
}

slowest() {
    echo "the slowest:"
    find "$RESULTS" -name result -exec head -n 1 {} \; |
        sed -n 's/^\(ok\|FAILED\) \(.*\) (\([0-9.]*\) s, .*/\3 s  \2/p' | sort -rn | head -n 5 | sed 's/^/    /'
}

case ${1-} in
--one) run_one "$2" && exit ;;
--tell) tell "$2" && exit ;;
esac

# Compilers and make take a blank for the end of a name, and messages have room for so many characters
# of a path: tests have folders without blanks that are not long.
tmp=${TMPDIR:-/tmp}
[[ $tmp != *[[:space:]]* && ${#tmp} -le 60 ]] || export TMPDIR=$TAKT_BUILD
RESULTS=$(mktemp -d) || exit 1
trap 'rm -rf "$RESULTS"' EXIT
export RESULTS

# ThreadSanitizer needs a memory map that some kernels' randomisation does not leave it.
UNRANDOMISED=
[[ $SAN == *thread* ]] && setarch -R true 2>/dev/null && UNRANDOMISED="setarch -R"
export UNRANDOMISED

# Where python3 is a script that looks for the real one, it looks once, and not for each call.
python=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null)
[ -z "$python" ] || export PATH=$python:$PATH

# By default each process waits for a second at its end, for threads that may still race.
export TSAN_OPTIONS="atexit_sleep_ms=20 ${TSAN_OPTIONS-}"
# Freed memory that waits for a use after free costs page faults: by default it is 256 MiB.
export ASAN_OPTIONS="quarantine_size_mb=16 ${ASAN_OPTIONS-}"
# The search for leaks takes half of the time of a short process. Programs of tests have it, scripts
# do not, except for those that set ASAN_OPTIONS themselves.
export WITHOUT_LEAKS="detect_leaks=0 ${ASAN_OPTIONS-}"
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} LC_ALL=C TZ=UTC0
unset TAKT_CONFIG TAKT_OPTIONS TAKT_LOG NVTX_INJECTION64_PATH COLUMNS NO_COLOR

TEST_NAMES=$(for test in "$@"; do name_of "$test"; done)
export TEST_NAMES
left_out=$(test/support/left-out.sh "$SAN")
long=$(grep -v '^#' test/long.txt)
is_among() { [[ $'\n'$2$'\n' == *$'\n'$1$'\n'* ]]; } # NAME NAMES

is_asked_for() { # NAME
    local word
    for word in ${T-}; do
        [[ $1 != *"$word"* ]] || return 0
    done
    [ -z "${T-}" ]
}

first=() others=() not_here=0
for test in "$@"; do
    name=$(name_of "$test")
    is_asked_for "$name" || continue
    if is_among "$name" "$left_out"; then
        not_here=$((not_here + 1))
    elif is_among "$name" "$long"; then
        first+=("$test")
    else
        others+=("$test")
    fi
done
export TEST_COUNT=$((${#first[@]} + ${#others[@]}))
jobs=${TEST_JOBS:-$(($(nproc) + 2))}
echo "running $TEST_COUNT tests, $jobs at a time, the longest first"
[ "$TEST_COUNT" = 0 ] ||
    printf '%s\0' "${first[@]}" "${others[@]}" | xargs -0 -n 1 -P "$jobs" "$0" --one

results() { find "$RESULTS" -name result -exec "$@"; }
count() { results head -n 1 {} \; | grep -c "^$1 "; }
# Reads one reason a line, and prints "3: no terminal, 1: needs node".
by_reason() {
    sort | uniq -c | sort -rn | sed -E 's/^ *([0-9]+) /\1: /' | paste -sd ';' | sed 's/;/, /g'
}
cases=$(results sed -n 's/^    case left out: [^:]*: //p' {} + | by_reason)
reasons=$(results sed -n '1s/^skipped [^:]*: //p' {} \; | by_reason)
passed=$(count ok) failed=$(count FAILED) skipped=$(count skipped)
[ "$TEST_COUNT" -lt 20 ] || slowest
[ -z "$cases" ] || echo "cases of tests that passed were left out ($cases)"
if [ "$failed" != 0 ]; then
    results sed -n '1s/^FAILED \([^ ]*\) .*/failed: \1/p' {} \; | sort
    echo "To run these alone: make check T='$(results sed -n '1s/^FAILED \([^ ]*\) .*/\1/p' {} \; | sort | paste -sd ' ')'"
fi
[ "$not_here" = 0 ] || by_list=", $not_here left out by test/sanitizers.txt"
echo "$passed passed, $failed failed, $skipped skipped${reasons:+ ($reasons)}${by_list-}"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
