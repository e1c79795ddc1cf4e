#!/bin/bash
# Files, standard streams and signals belong to the program: Takt's files take the place of nobody
# else's, and whatever cannot be written costs a status and a line, never the program.
. "${0%/*}/../support/lib_script.sh"
need python3 mkfifo
prog=$TAKT_BUILD/test/stress/prog_files
[ -x "$prog" ] || { echo "$prog is not built" && exit 1; }
ulimit -c 0
export ASAN_OPTIONS=detect_leaks=0
for name in RANK WORLD_SIZE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE MV2_COMM_WORLD_RANK \
    MV2_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID SLURM_NTASKS SLURM_STEP_NUM_TASKS \
    PMIX_NAMESPACE PALS_APID FLUX_JOB_ID SLURM_JOB_ID SLURM_STEP_ID; do
    unset $name
done

# Runs the program in a folder of its own, made by `enter`.
enter() {
    mkdir "$scratch/$1" && cd "$scratch/$1" || exit 1
    place=$1
}
run() { # STATUS WAY [DIRECTORY]
    local wanted=$1 got
    shift
    timeout -k 1 600 "$prog" "$@" >out 2>err
    got=$?
    [ "$got" = "$wanted" ] || fail "$place: ends with $got, not $wanted: $(head -n 5 err)"
}
says() {
    grep -qE "$1" err || fail "$place: does not say \"$1\": $(head -n 9 err)"
}
says_not() {
    ! grep -E "$1" err || fail "$place: says \"$1\""
}
files_are() { # NAME..., hidden ones too, besides what run() writes
    local wanted
    wanted=$(printf '%s\n' "$@" | sort)
    [ "$(find . -mindepth 1 ! -name out ! -name err -printf '%P\n' | sort)" = "$wanted" ] ||
        fail "$place: files are not $*: $(find . -mindepth 1 | sort | tr '\n' ' ')"
}
is_trace() { # FILE [TEXT that takt info says]
    "$takt" info "$1" >info 2>&1 && grep -q "${2-}" info || fail "$place: $1: $(cat info)"
    rm -f info
}
holds() { # FILE TEXT
    [ "$(cat "$1")" = "$2" ] || fail "$place: $1 was \"$2\" and is now $(head -c 40 "$1" | cat -v)"
}

# ---- Names that are taken ----

enter again
run 0 run
run 0 run
files_are files.0.pftrace files.0-2.pftrace
says '^takt: saved .*/files\.0-2\.pftrace$'
is_trace files.0-2.pftrace

enter link
echo precious >precious
ln -s precious files.0.pftrace
ln -s nowhere files.0-2.pftrace
STREAM=1 run 0 run
holds precious precious
[ -L files.0.pftrace ] && [ ! -e nowhere ] || fail "link: a link was followed"
says '^takt: saved .*/files\.0-3\.pftrace$'

enter pipe
mkfifo files.0.pftrace files.0.partial.pftrace
STREAM=1 run 0 run
[ -p files.0.pftrace ] && [ -p files.0.partial.pftrace ] || fail "pipe: a pipe is gone"
is_trace files.0-2.pftrace

enter crashed
echo "of the crashed run" >files.0.partial.pftrace
STREAM=1 run 0 run
holds files.0.partial.pftrace "of the crashed run"
files_are files.0.partial.pftrace files.0.pftrace

enter together
for i in 1 2 3 4; do
    timeout -k 1 600 "$prog" run >"out$i" 2>"err$i" &
done
wait
cat err? >err
rm -f err? out?
[ "$(find . -name 'files.0*.pftrace' | wc -l)" = 4 ] || fail "together: $(ls)"
for file in files.0*.pftrace; do
    is_trace "$file"
    says "^takt: saved .*/${file//./\\.}\$"
done

enter umask
(umask 0 && STREAM=1 "$prog" run below/it >out 2>err)
[ "$(find below -perm /o+w)" = "" ] || fail "umask: $(find below -perm /o+w) is everybody's to write"
[ "$(stat -c %a below below/it below/it/files.0.pftrace | tr '\n' ' ')" = "775 775 664 " ] ||
    fail "umask: $(stat -c '%a %n' below below/it/*)"

# ---- Ranks ----

enter ranks
RANK=1 WORLD_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=1 run 0 run
OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 SLURM_PROCID=9 SLURM_NTASKS=12 run 0 run
PMI_RANK=3 PMI_SIZE=4 run 0 run
SLURM_PROCID=4 SLURM_NTASKS=16 SLURM_STEP_NUM_TASKS=5 run 0 run
MV2_COMM_WORLD_RANK=5 MV2_COMM_WORLD_SIZE=6 run 0 run
PMIX_RANK=6 run 0 run
SLURM_PROCID=0 SLURM_NTASKS=1 run 0 run '{rank}'
RANK=7 WORLD_SIZE=nonsense run 0 run '{rank}'
files_are files.rank{1,2,3,4,5,6}.0.pftrace 0 0/files.0.pftrace 7 7/files.rank7.0.pftrace
for rank in 1 2 3 4 5; do
    is_trace files.rank$rank.0.pftrace ", rank $rank of $((rank + 1))$"
done
is_trace files.rank6.0.pftrace ', rank 6$'
"$takt" export --chrome -o x.json files.rank2.0.pftrace >out
python3 -c 'import json; print(json.load(open("x.json"))["distributedInfo"])' >facts
holds facts "{'backend': 'none', 'rank': 2, 'world_size': 3}"
[ "$("$takt" info --json files.rank6.0.pftrace | python3 -c 'import json, sys
facts = json.load(sys.stdin)
print(facts["rank"], facts["world_size"])')" = "6 0" ] || fail "ranks: takt info --json"

# The ranks of a job share the folder of their launcher's time, though they begin in other seconds; the
# next job has its own.
enter shared
# A job without ancestors: one that turns a minute old between two ranks would divide them.
job() {
    rm -f "$scratch/done"
    (launcher=$BASHPID
     (while kill -0 "$launcher" 2>/dev/null; do sleep 0.05; done
      for rank in 0 1; do RANK=$rank WORLD_SIZE=2 run 0 run 'job-{time}' && sleep 1.1; done
      : >"$scratch/done") &)
    until [ -e "$scratch/done" ]; do sleep 0.1; done
}
job && job
[ "$(find . -name 'job-*' | wc -l)" = 2 ] || fail "ranks: $(find . -name '*.pftrace')"
for folder in job-*; do
    [ "$(ls "$folder" | tr '\n' ' ')" = "files.rank0.0.pftrace files.rank1.0.pftrace " ] ||
        fail "ranks: $(find . -name '*.pftrace')"
done

# Launchers of two nodes begin in different seconds: the job's id brings their ranks together. Jobs of
# one second stay apart, even while none has a file yet. Where something tells ranks apart, it does.
enter met
rank() { # RANK DIRECTORY
    RANK=$1 WORLD_SIZE=2 run 0 run "$2"
}
for job in 1 2; do
    PMIX_NAMESPACE=$job/x rank 0 'first-{time}'
    PMIX_NAMESPACE=$job/x rank 1 'second-{time}'
done
[ "$(find . -name '*.pftrace' | wc -l)$(find . -name 'first-*' | wc -l)" = 42 ] ||
    fail "met: $(find . -name '*.pftrace')"
for folder in first-*; do
    [ "$(ls "$folder" | tr '\n' ' ')" = "files.rank0.0.pftrace files.rank1.0.pftrace " ] ||
        fail "met: $(find . -name '*.pftrace')"
done
for rank in 0 1; do
    SLURM_JOB_ID=7 SLURM_STEP_ID=0 RANK=$rank WORLD_SIZE=2 run 0 run '{time}.{rank}'
done
[ "$(find . -name '20*' | wc -l)" = 2 ] || fail "met: $(find . -name '*.pftrace')"
touch -h -d '1 hour ago' .takt-1_x
PMIX_NAMESPACE=1/x rank 0 'third-{time}'
[ "$(find . -name 'third-*' | wc -l)" = 1 ] || fail "met: a link of an earlier job counts"

# What the configuration says counts.
enter configured
RANK=1 WORLD_SIZE=2 TAKT_OPTIONS="profiling.active=0 profiling.rank=5 profiling.world_size=9
    output.directory=. output.traces=perfetto profiling.name=x reports=" run 0 environment
is_trace x.rank5.0.pftrace ', rank 5 of 9$'
says '^stop: ok$'

# ---- What the program does with its descriptors and its place ----

enter close
run 0 close-all
holds mine mine
says '^told 1$'
says '^takt: cycle 0: streaming has stopped: cannot write .*partial.*: the program has closed its file'
says '^stop: reading or writing failed$'
is_trace files.0.pftrace

enter chdir
run 0 chdir runs/x
files_are elsewhere runs runs/x runs/x/files.0.pftrace

enter streams
"$prog" print-nowhere <&- >&- 2>&-
files_are files.0.partial.pftrace
! grep -q 0000000000 files.0.partial.pftrace || fail "streams: what the program prints is in its trace"

# ---- What cannot be written ----

enter reader
run 0 closed-pipe
says '^stop: reading or writing failed$'
is_trace files.0.pftrace

enter limit
run 0 limit
says '^told 1$'
says '^takt: cycle 0: streaming has stopped: cannot write .*: File too large$'
says '^takt: cycle 0: no perfetto trace: cannot write .*: File too large$'
says '^stop: reading or writing failed$'
files_are files.0.partial.pftrace

enter missing
TAKT_CONFIG=nowhere.yaml run 0 environment
says '^takt: .*nowhere.yaml.*; nothing is profiled$'
says '^start: reading or writing failed$'
TAKT_OPTIONS='profiling.wiat=3' run 0 environment
says '^start: the configuration is not valid$'
says '^stop: the configuration is not valid$'
[ "$(grep -c '^takt: ' err)" = 1 ] || fail "missing: more than one line: $(cat err)"

# ---- The program's end ----

enter daemon
"$prog" daemon 2>&1 | cat >err
says '^stop: the call does not fit'
says '^takt: this process was forked while Takt recorded: its events are not saved$'
"$prog" daemon-exit 2>&1 | cat >err
says '^takt: this process was forked'
run 0 child
says_not 'forked'

enter exit
run 3 exit
is_trace files.0.pftrace '^  steps .*2: steps 0 to 1, cycle 0$'
says_not on_trace
grep -q '^ *work ' out || fail "exit: no report: $(cat out)"

enter destructor
run 3 destructor
is_trace files.0.pftrace
says '^on_trace: cycle 0$'
says '^stop: ok$'
[ "$(grep -c '^ *work ' out)" = 1 ] || fail "destructor: not one report: $(cat out)"

enter beside
run 3 exit-beside
is_trace files.0.pftrace

cd /
finish "files, streams and signals are the program's"
