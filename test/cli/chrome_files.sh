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
finish "${#parts[@]} parts of a divided file; every rule holds"
