#!/bin/bash
# The profiler that the environment asks for: a program that only steps NULL writes files at its exit.
set -euo pipefail
program=$TAKT_BUILD/test/unit/prog_environment
takt=$TAKT_BIN/takt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset TAKT_CONFIG TAKT_OPTIONS TAKT_LOG

fail() {
    echo "$1" >&2
    exit 1
}

# run NAME STATUS ARGUMENTS...: in a folder of its own; what it prints goes into out and err.
run() {
    local name=$1 expected=$2 status=0
    shift 2
    mkdir -p "$scratch/$name"
    cd "$scratch/$name"
    "$program" "$@" >out 2>err || status=$?
    [ "$status" = "$expected" ] || fail "$name: status $status: $(cat err)"
}

x='x = 1.8873729705810547' # of ten steps

run nothing 0 10
[ "$(cat out)" = "$x" ] || fail "nothing: $(cat out)"
[ ! -s err ] && [ "$(ls)" = "$(printf 'err\nout')" ] || fail "nothing: $(ls) $(cat err)"

cat >"$scratch/profile.yaml" <<'END'
simulation: {dt: 0.1}
profiling: {wait: 2, warmup: 1, active: 3, repeat: 1}
reports: [scopes]
output:
  directory: runs/{name}
  traces: [perfetto, chrome]
END
export TAKT_CONFIG=$scratch/profile.yaml

# The first step begins the profiler's step 0, so ten calls are nine steps.
run config 0 10
grep -qx "$x" out || fail "config: $(cat out)"
grep -q '# of Calls' out || fail "config: no table: $(cat out)"
file=runs/prog_environment/prog_environment.0.pftrace
grep -qE "^takt: wrote $file \([0-9.]+ K?i?B\) and 1 more; open it: takt view $file\$" err &&
    [ "$(wc -l <err)" = 1 ] || fail "config: $(cat err)"
[ "$(ls runs/prog_environment)" = "$(printf '%s\n' prog_environment.0.pftrace prog_environment.0.trace.json)" ] ||
    fail "config: $(find .)"
"$takt" report --scopes --csv runs/prog_environment/prog_environment.0.pftrace >scopes.csv
grep -q '^"\{0,1\}forces.*[,"]3[",]*' scopes.csv || fail "config: $(cat scopes.csv)"

run start 0 10 start
[ -e runs/prog_environment/prog_environment.0.pftrace ] || fail "start: $(find .)"

# A program that ends in the middle leaves what it has, and is told.
run early 0 5
grep -qx 'takt: 0 of 1 cycle recorded; 2 more steps needed' err || fail "early: $(cat err)"
"$takt" info runs/prog_environment/prog_environment.0.pftrace >info
grep -qi partial info || fail "early: $(cat info)"

run exit 3 5 exit
[ -e runs/prog_environment/prog_environment.0.pftrace ] || fail "exit: $(find .)"

run stop 0 10 stop
grep -qx 'has trace: 1' out || fail "stop: $(cat out)"

# Options come on top of the file, and do without it.
TAKT_OPTIONS='profiling.wait=0 profiling.repeat=2 output.directory={pid}' run options 0 14
[ "$(ls -- */*.pftrace | wc -l)" = 2 ] || fail "options: $(find .)"
(
    unset TAKT_CONFIG
    TAKT_OPTIONS='profiling.active=1 profiling.wait=0 profiling.warmup=0 reports=tree' run alone 0 10
    grep -q forces out || fail "alone: $(cat out)"
)

# Stages are told when asked for.
TAKT_LOG=info run stages 0 10
sed "s|$scratch/stages/||; /^takt: wrote /d" err >told
diff - told <<'END' || fail "stages"
takt: warmup
takt: recording 3 steps
takt: saved runs/prog_environment/prog_environment.0.pftrace
takt: saved runs/prog_environment/prog_environment.0.trace.json
END

# What is wrong is told once, and the program runs without a profiler.
TAKT_CONFIG=$scratch/missing.yaml run missing 0 10
[ "$(wc -l <err)" = 1 ] && grep -q 'missing.yaml.*; nothing is profiled$' err || fail "missing: $(cat err)"
[ "$(cat out)" = "$x" ] || fail "missing: $(cat out)"
TAKT_OPTIONS='profiling.wiat=1' run wrong 0 10
[ "$(wc -l <err)" = 1 ] && grep -q 'wiat' err || fail "wrong: $(cat err)"
[ "$(cat out)" = "$x" ] || fail "wrong: $(cat out)"
printf 'profiling:\n  wiat: 3\n  mode: trce\n  active 3\n' >"$scratch/several.yaml"
TAKT_CONFIG=$scratch/several.yaml run several 0 10
sed 's|^takt: .*/several|takt: several|' err >told
diff - told <<'END' || fail "several"
takt: several.yaml:2:3: unknown key 'profiling.wiat'; did you mean 'wait'?; nothing is profiled
takt: several.yaml:3:9: profiling.mode: expected trace, summary, both or flight, got 'trce'; did you mean 'trace'?
takt: several.yaml:4:9: the colon behind the key is missing: write 'active: 3'
END
[ "$(cat out)" = "$x" ] || fail "several: $(cat out)"
TAKT_OPTIONS='profiling.enabled=false' run disabled 0 10
[ ! -s err ] && [ "$(cat out)" = "$x" ] || fail "disabled: $(cat err)"

# A second start is refused, and told once.
run twice 0 10 twice
grep -v '^takt: wrote ' err >told || true
echo 'takt: takt_profiler_start() was called while this profiler runs: it goes on as it was; call takt_profiler_stop() first' |
    diff - told || fail "twice"

# Options for a program that starts nothing are told at its end, once, unless Takt was used all the same.
none='program started no profiler: nothing was profiled; takt_profiler_start(NULL) or takt_profiler_step(NULL) starts one'
run never 0 10 never
echo "takt: TAKT_CONFIG is set, but this $none" | diff - err || fail "never"
export TAKT_OPTIONS='profiling.active=3'
run never_options 0 10 never
echo "takt: TAKT_OPTIONS is set, but this $none" | diff - err || fail "never_options"
run heard 0 10 heard
echo "heard 1: TAKT_OPTIONS is set, but this $none" | diff - out || fail "heard"
[ ! -s err ] || fail "heard: $(cat err)"
TAKT_LOG=off run never_off 0 10 never
[ ! -s err ] || fail "never_off: $(cat err)"
run timer 0 10 timer
[ ! -s err ] || fail "timer: $(cat err)"
run child 0 10 child
[ ! -s err ] || fail "child: $(cat err)"
"$takt" --version 2>err >out && [ ! -s err ] || fail "takt: $(cat err)"
unset TAKT_OPTIONS

# Where the files cannot be written the program still ends as it would have.
TAKT_OPTIONS='output.directory=/proc/takt' run unwritable 0 10
grep -qx "$x" out || fail "unwritable: $(cat out)"
[ "$(grep -c '^takt: cycle 0: no .* trace: ' err)" = 2 ] || fail "unwritable: $(cat err)"
