#!/bin/bash
# Chrome files of real runs keep every rule of their readers, also when they are divided by size,
# and lie where TensorBoard looks for them.
. "${0%/*}/../support/lib_script.sh"
need python3

check() { # FILE...
    python3 test/support/check_chrome.py "$@" >"$scratch/rules" || {
        fail "rules are broken:"
        head -n 20 "$scratch/rules"
    }
}
totals() { python3 test/support/chrome_totals.py "$@"; }

# The fluid, into every kind of file.
"$TAKT_BIN/samples/sph" --profile samples/sph/profile.yaml --steps 60 --particles 1000 --quiet \
    --profiling.active 40 --output.directory "$scratch/sph" \
    --output.traces 'perfetto,chrome,chrome.gz,tensorboard' >"$scratch/output" || fail "sph fails"
mapfile -t files < <(find "$scratch/sph" -name '*.json*' | sort)
[ "${#files[@]}" = 3 ] || fail "${#files[@]} Chrome files, not 3: ${files[*]}"
check "${files[@]}"
totals "$scratch/sph/sph.0.trace.json" >"$scratch/whole"
for file in "${files[@]}"; do
    totals "$file" >"$scratch/totals"
    same "${file##*/}: other totals" "$scratch/whole" "$scratch/totals"
done

# torch's plugin looks for HOST_PID.TIME.pt.trace.json.gz.
find "$scratch/sph" -type f -name '*.json*' -printf '%P\n' >"$scratch/names"
grep -qE '^[^/]+_[0-9]+\.[0-9]+\.pt\.trace\.json\.gz$' "$scratch/names" ||
    fail "no file for torch's plugin: $(cat "$scratch/names")"

# Divided: each part is a file of its own, none is above the limit, and together they are whole.
"$TAKT_BIN/samples/sph" --profile samples/sph/profile.yaml --steps 60 --particles 1000 --quiet \
    --profiling.active 40 --output.directory "$scratch/parts" --output.traces 'perfetto,chrome' \
    --output.max-trace-size '64 KiB' >"$scratch/output" 2>"$scratch/errors" || fail "sph fails"
mapfile -t parts < <(find "$scratch/parts" -name '*.json' | sort)
[ "${#parts[@]}" -gt 1 ] || fail "is not divided"
check "${parts[@]}"
for part in "${parts[@]}"; do
    size=$(stat -c %s "$part")
    [ "$size" -le 65536 ] || fail "${part##*/} has $size bytes"
done
# A part is not taken for the whole recording.
for part in "${parts[0]}" "${parts[1]}" "${parts[-1]}"; do
    "$takt" report "$part" >"$scratch/report" 2>"$scratch/errors"
    [ $? = 4 ] && grep -q '^INCOMPLETE' "$scratch/report" || fail "$part reads as a whole recording"
    grep -q "is one of several files with parts of a recording" "$scratch/errors" ||
        fail "$part: $(cat "$scratch/errors")"
done
totals "${parts[@]}" >"$scratch/totals"
"$takt" export --chrome -o "$scratch/whole.json" "$scratch/parts/sph.0.pftrace" >"$scratch/output"
totals "$scratch/whole.json" >"$scratch/whole"
same "parts against the whole" "$scratch/whole" "$scratch/totals"

# A program with two threads, phases, recursion and two devices; one with everything odd.
"$TAKT_BUILD/test/cli/prog_truth" "$scratch/truth" >"$scratch/output" || fail "prog_truth fails"
mapfile -t files < <(find "$scratch/truth" -name '*.json*' | sort)
check "${files[@]}"
for mode in trace both flight; do
    mkdir "$scratch/$mode"
    "$TAKT_BUILD/test/cli/prog_same" "$scratch/$mode" $mode 2>"$scratch/errors"
    "$takt" export --chrome -o "$scratch/$mode.json" "$scratch/$mode"/*.pftrace >"$scratch/output"
    check "$scratch/$mode.json"
done
# Timers inside kernels: two blocks that ran at the same time on an SM have a row each.
"$TAKT_BUILD/test/cli/prog_trace" "$scratch/phases.pftrace" <<'EOF' || fail "prog_trace fails"
thread main
launch -1 1000 9000 kernel solve
block 1 0 3 2000 solver
phase 2000 1000 0 gradient
phase 0 6000 0 search
block 1 1 3 2500 solver
phase 0 4001 1 search
EOF
"$takt" export --chrome -o "$scratch/phases.json" "$scratch/phases.pftrace" >"$scratch/output"
for seed in 1 2 3; do
    echo "phases $seed" | "$TAKT_BUILD/test/cli/prog_trace" "$scratch/random.pftrace"
    "$takt" export --chrome -o "$scratch/random$seed.json" "$scratch/random.pftrace" >"$scratch/output"
done
mkdir "$scratch/blocks"
"$takt" export --chrome --max-size 64KiB -o "$scratch/blocks/p.json" "$scratch/random.pftrace" >"$scratch/output"
check "$scratch/phases.json" "$scratch"/random?.json "$scratch"/blocks/*.json
[ "$(cat "$scratch"/blocks/*.json | grep -c '"lane"')" = "$(grep -c '"lane"' "$scratch/random3.json")" ] ||
    fail "parts have other phases than the whole"
python3 - "$scratch/phases.json" >"$scratch/slices" <<'EOF'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
slices = [e for e in events if e.get("cat") == "gpu_user_annotation"]
for e in slices:
    print(rows[e["pid"], e["tid"]], e["name"], f'{e["ts"] - slices[0]["ts"]:.3f}', e["dur"],
          *e["args"].values())
EOF
cat >"$scratch/expected" <<'EOF'
SM 3 kernel solve 0.000 3.0 0 0 0
SM 3 search 0.000 3.0 0 0 0 6000
SM 3 gradient 1.000 0.5 0 0 0 1000
SM 3 (2) kernel solve 0.500 2.0 1 0 0
SM 3 (2) search 0.500 2.0 1 0 1 4001
EOF
same "slices of phases" "$scratch/expected" "$scratch/slices"
finish "${#parts[@]} parts of a divided file; every rule holds"
