#!/bin/bash
# The fluid: profiling changes nothing of its physics, flags do what the file does, and what it
# prints and writes is there.
. "${0%/*}/../support/lib_script.sh"
sph=$TAKT_BIN/samples/sph
yaml=samples/sph/profile.yaml
size=(--steps 60 --particles 1000)

# Each way of profiling, or of not profiling, ends in the same state, to the last bit.
state_of() { # NAME ARGUMENTS...
    local name=$1
    shift
    "$sph" "${size[@]}" "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" ||
        fail "sph $* fails: $(cat "$scratch/$name.err")"
    ! grep -qv '^takt: wrote ' "$scratch/$name.err" || fail "sph $* complains: $(cat "$scratch/$name.err")"
    grep -E '^state [0-9a-f]{16}$' "$scratch/$name.out"
}
files_of() { find "$scratch/$1" -type f -printf '%f\n' 2>/dev/null | sort | tr '\n' ' '; }

plain=$(state_of plain)
[ -n "$plain" ] || fail "prints no state"
is_same() { [ "$2" = "$plain" ] || fail "$1 gives '$2', without a profile '$plain'"; }
is_same "a profile" "$(state_of profile --profile $yaml --output.directory "$scratch/profile")"
is_same "one thread" "$(OMP_NUM_THREADS=1 state_of one --profile $yaml --no-profiling)"
is_same "a summary" "$(state_of summary --profile $yaml --profiling.mode summary \
    --output.traces perfetto --output.directory "$scratch/summary")"
is_same "a flight recorder" "$(state_of flight --profile $yaml --profiling.mode flight \
    --profiling.max-memory '64 KiB' --output.directory "$scratch/flight")"
is_same "everything" "$(state_of all --profiling.active 60 --profiling.wait 0 --profiling.warmup 0 \
    --output.directory "$scratch/all" --output.traces perfetto)"
is_same "the environment" "$(TAKT_CONFIG=$yaml \
    TAKT_OPTIONS="output.directory=$scratch/environment" state_of environment)"
is_same "no profile, asked for" \
    "$(state_of off --profile $yaml --no-profiling --output.directory "$scratch/off")"

# Files are where they should be and nowhere else.
is() { [ "$2" = "$3" ] || fail "$1: '$2' and not '$3'"; }
is "files of a profile" "$(files_of profile)" "sph.0.pftrace sph.0.trace.json "
is "files of everything" "$(files_of all)" "sph.0.pftrace "
is "files of the environment" "$(files_of environment)" "sph.0.pftrace sph.0.trace.json "
is "files without profiling" "$(files_of off)" ""

# The tables that the file asks for are printed, and none without it.
for heading in '^Cycle: ' 'Total MFLOPs' '^Activity summary:' '^Device summary:' \
    'neighbour lists'; do
    grep -q "$heading" "$scratch/profile.out" || fail "a profile prints no '$heading'"
    ! grep -q "$heading" "$scratch/off.out" || fail "without a profile it prints '$heading'"
done
grep -q '^off balance by: energy .* momentum' "$scratch/profile.out" || fail "prints no balance"

# The printed tables are those of its own file, and the steps are those of the schedule.
"$takt" report --scopes --flops "$scratch/profile/sph.0.pftrace" >"$scratch/scopes"
grep -qF "$(grep 'pair forces' "$scratch/scopes")" "$scratch/profile.out" ||
    fail "another row of pair forces in the file"
"$takt" info "$scratch/profile/sph.0.pftrace" >"$scratch/info"
steps_of() { "$takt" report --steps --csv "$scratch/$1/sph.0.pftrace" | sed -n 's/^recorded,//p'; }
is "recorded steps" "$(steps_of profile | cut -d, -f1)" 5
is "recorded steps of everything" "$(steps_of all | cut -d, -f1)" 60

# A run that is too short is told so, and saves what there is.
"$sph" --steps 14 --particles 1000 --profile $yaml --output.directory "$scratch/short" \
    >"$scratch/short.out" 2>"$scratch/short.err" || fail "a short run fails"
grep -q '^takt: 0 of 1 cycle recorded; 3 more steps needed' "$scratch/short.err" ||
    fail "a short run says: $(cat "$scratch/short.err")"
is "files of a short run" "$(files_of short)" "sph.0.pftrace sph.0.trace.json "

# A folder that cannot be written costs one line, not the run.
: >"$scratch/file"
"$sph" "${size[@]}" --profile $yaml --output.directory "$scratch/file/below" \
    >"$scratch/unwritable.out" 2>"$scratch/unwritable.err" ||
    fail "an unwritable folder ends the run"
is_same "an unwritable folder" "$(grep '^state' "$scratch/unwritable.out")"
is "lines about an unwritable folder" "$(grep -c '^takt: ' "$scratch/unwritable.err")" 2 # two files

# Wrong options are refused before anything runs.
"$sph" --profiling.wiat 3 >"$scratch/wrong.out" 2>"$scratch/wrong.err"
is "status of a wrong option" $? 2
grep -q 'wiat.*wait' "$scratch/wrong.err" || fail "a wrong option: $(cat "$scratch/wrong.err")"
[ ! -s "$scratch/wrong.out" ] || fail "a wrong option prints something"

finish "$plain, profiled or not"
