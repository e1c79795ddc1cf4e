#!/bin/bash
# takt info, and what the command says about files that are cut, empty, or somebody else's.
. "${0%/*}/lib_cli.sh"
need python3
make_traces
cp "$trace" "$scratch/run.pftrace"

# The schedule of the sample: wait 8, warmup 1, active 3, twice; each recorded step has a diffuse
# with two phases and a total_heat, and one sample of a counter.
run info "$scratch/run.pftrace"
status_is 0
silent
out_has "^$scratch/run.pftrace\$"
out_has '^  run +steps, process [0-9]+$'
out_has "^  recorded +$(date -u +%Y)-[0-9]{2}-[0-9]{2} [0-9:]{8} UTC, for [0-9.]+ [mu]s\$"
out_has '^  steps +3: steps 21 to 23, cycle 1$'
out_has '^  run so far +24 steps, [0-9.]+[mu]?s, median [0-9.]+[mu]s, slowest [0-9]+ \([0-9.]+[mu]s(, not recorded)?\)$'
out_has '^  contents +[0-9]+ spans, 0 activities, 3 counter samples$'
out_has '^  tracks +.*thread [0-9]+: [0-9]+ spans$'
out_has '^  clock +resolution [0-9.]+ ns, uncertainty '
out_has '^  cost +up to [0-9.]+[um]s \([0-9.]+% of wall time\)$'
out_has '^  losses +none$'
out_lacks '^  cut '

run info "${traces[@]}"
status_is 0
out_has '^  steps +3: steps 9 to 11, cycle 0$'
out_has '^  steps +3: steps 21 to 23, cycle 1$'

# Large numbers have commas; the spans of all tracks are those of the trace.
"$samples/sph" --steps 120 --particles 300 --quiet --profiling.wait 1 --profiling.active 115 \
    --output.traces perfetto --output.directory "$scratch/fluid" >"$scratch/printed" 2>&1 ||
    fail "sph fails" "$(cat "$scratch/printed")"
run info "$scratch"/fluid/*.pftrace
status_is 0
contents=$(sed -nE 's/^  contents +([0-9]{1,3},[0-9]{3}|[0-9]{1,3}) spans, .*/\1/p' <<<"$out" | tr -d ,)
tracks=$(sed -nE 's/^ .*: ([0-9,]+) spans?$/\1/p' <<<"$out" | tr -d , | paste -sd+)
[ "${contents:-0}" -gt 999 ] || fail "should have more than 999 spans" "$out"
[ "${contents:-0}" = $((${tracks:-0})) ] || fail "the tracks have other spans than the trace" "$out"

# The cost of several threads is told as theirs.
"$samples/jobs" "$scratch/jobs" >"$scratch/printed" 2>&1 || fail "jobs fails" "$(cat "$scratch/printed")"
run info "$scratch"/jobs/*.pftrace
status_is 0
out_has '^  cost +up to [0-9.]+[um]?s \([0-9.]+% of wall time\), summed over threads; longest moment [0-9.]+[um]?s$'

# What is known of devices.
"$TAKT_BUILD/test/unit/prog_perfetto" "$scratch/devices.pftrace" >"$scratch/printed" 2>&1 ||
    fail "prog_perfetto fails" "$(cat "$scratch/printed")"
run info "$scratch/devices.pftrace"
status_is 0
out_has '^  devices +measured by: none$'
out_has '^ +cuda:0 Imaginary 9000, compute capability 9.0, 132 multiprocessors, 85.0 GiB$'

# As JSON the same facts; several files are one array, and one that fails leaves it whole.
run info --json "$scratch/devices.pftrace"
status_is 0
silent
one=$out
run info "$scratch/devices.pftrace"
text=$out
out=$(python3 -c 'if 1:
    import json, sys
    facts = json.loads(sys.argv[1])
    print("{spans:,} spans, {activities:,} activities".format(**facts))
    print(*("{device} {name}".format(**device) for device in facts["devices"]))
    print("tracks", sum(track["spans"] for track in facts["tracks"]) == facts["spans"])
    losses = {name: count for name, count in facts["losses"].items() if count}
    print("losses", *(f"{count:,} {name}" for name, count in losses.items()))
' "$one" 2>&1)
out_has "^$(sed -nE 's/^  contents +([0-9,]+ spans, [0-9,]+ activities), .*/\1/p' <<<"$text")\$"
out_has '^cuda:0 Imaginary 9000'
out_has '^tracks True$'
losses=$(sed -nE 's/^  (losses  )? +([0-9,]+ [a-z ]+): .*/\2/p' <<<"$text" | xargs)
grep '^losses' <<<"$out" | sed -E 's/ [0-9,]+ cut//' | grep -qxF "losses $losses" ||
    fail "other losses than: $losses" "$out"
run info --json "$scratch/devices.pftrace" "$scratch/none.pftrace" "$scratch/run.pftrace"
status_is 1
out=$(python3 -c 'if 1:
    import json, sys
    print(*(facts["file"] for facts in json.loads(sys.argv[1])))
' "$out" 2>&1)
out_is "$scratch/devices.pftrace $scratch/run.pftrace"

# Progress: on a terminal, when it has taken a second; here, because a pipe has no reader yet.
mkfifo "$scratch/slow"
if ! has_terminal; then
    leave_out progress "$no_terminal"
else
    ran='export -o slow in a terminal'
    out=$(python3 - "$takt" "$scratch/run.pftrace" "$scratch/slow" <<'PYTHON'
import os, pty, sys

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "export", "--folded", "-o", sys.argv[3], sys.argv[2]])
said = b""
while b", 1 s" not in said:
    said += os.read(terminal, 1024)
open(sys.argv[3]).read()
try:
    while more := os.read(terminal, 1024):
        said += more
except OSError:
    pass  # the program has ended
print(said.decode())
print("erased" if said.rpartition(b" s")[2].startswith(b"\r\x1b[K") else "still there")
PYTHON
    )
    out_has 'takt: writing .*slow, 1 s'
    out_has '^erased'
    (sleep 1.4 && : <"$scratch/slow") &
    run export --folded -o "$scratch/slow" "$scratch/run.pftrace"
    [[ $err != *$'\r'* ]] || fail "shows progress without a terminal" "$err"
fi

# Cut at any byte: told by info, or refused if not even the head is left; never a crash.
# Small compressed files have all in one packet.
"$samples/sph" --steps 20 --particles 300 --quiet --profiling.wait 1 --output.traces perfetto \
    --output.no-compress --output.directory "$scratch/plain" >"$scratch/printed" 2>&1 ||
    fail "sph fails" "$(cat "$scratch/printed")"
whole=("$scratch"/plain/*.pftrace)
size=$(stat -c %s "${whole[0]}")
step=$((size / 23 + 1))
told=0
for ((length = 0; length < size; length += step)); do
    head -c "$length" "${whole[0]}" >"$scratch/cut.pftrace"
    run info "$scratch/cut.pftrace"
    case $status in
    4)
        err_has 'cut\.pftrace is incomplete: the file is cut$'
        grep -q '^  incomplete  *the file is cut$' <<<"$out" || fail "no cut is told at $length" "$out"
        told=$((told + 1))
        ;;
    1) err_has 'cut\.pftrace: (the file is empty|the file is cut before the end of its head: nothing in it can be read)$' ;;
    *) fail "ended with $status at $length of $size bytes" "$err" ;;
    esac
    run report --scopes "$scratch/cut.pftrace"
    [ "$status" = 1 ] || [ "$status" = 4 ] || fail "ended with $status at $length of $size bytes" "$err"
    [ "$status" = 1 ] || [[ $out == 'INCOMPLETE: the file is cut'* ]] || fail "no banner at $length" "$out"
done
[ "$told" -gt 0 ] || fail "no cut was told"
# What a cut file lacks is what the whole one has more: of spans, and of activities.
head -c $((size / 2)) "${whole[0]}" >"$scratch/cut.pftrace"
run info --json "${whole[0]}" "$scratch/cut.pftrace"
python3 -c 'if 1:
    import json, sys
    whole, cut = json.load(open(sys.argv[1]))
    missing = [whole[key] - cut[key] for key in ("spans", "activities")]
    assert missing == [cut["missing_spans"], cut["missing_activities"]], cut
    assert 0 < missing[1] < missing[0], missing' "$scratch/out" || fail "other events are missing" "$out"

# Packed data that are damaged are told from those that end too early.
gzip -c "$scratch/run.pftrace" >"$scratch/damaged.pftrace.gz"
head -c 600 "$scratch/damaged.pftrace.gz" >"$scratch/short.pftrace.gz"
printf '\377\377\377\377\377\377\377\377' |
    dd of="$scratch/damaged.pftrace.gz" bs=1 seek=600 conv=notrunc status=none
run info "$scratch/damaged.pftrace.gz"
err_has 'damaged\.pftrace\.gz: damaged at byte [0-9]+; the rest is not read$'
run info "$scratch/short.pftrace.gz"
err_has 'short\.pftrace\.gz'
[[ $err != *damaged* ]] || fail "calls a cut file damaged" "$err"

# What another profiler's recording lost is unknown, wherever losses are told; a table without the rows
# of "since start" has all its rows.
torch=$TAKT_ROOT/test/data/torch/h200.pt.trace.json.gz
run info "$torch"
out_has '^  losses +unknown$'
run info --json "$torch"
out_has '"losses": \{"dropped": null, '
mkdir "$scratch/foreign"
cp "$torch" "$scratch/foreign"
run info "$scratch/foreign"
out_has ' 4941 +548 +whole$'
run diff "$torch" "$torch"
out_has '^losses +unknown +unknown$'
run diff --json "$torch" "$torch"
out_has '\{"name": "losses", "a": null, "b": null, '
run report --memory --rows all "$torch"
out_has '^cuda:0 +recording '
out_lacks 'rows shown'

# Files of others.
printf 'hello\n' >"$scratch/text.pftrace"
: >"$scratch/empty.pftrace"
head -c 5000 /dev/urandom >"$scratch/random.pftrace"
printf '{"samples": []}\n' >"$scratch/chrome.json"
gzip -c "$scratch/text.pftrace" >"$scratch/text.pftrace.gz"
for name in text.pftrace empty.pftrace random.pftrace chrome.json text.pftrace.gz; do
    for verb in info report "export --folded"; do
        # shellcheck disable=SC2086 # words
        run $verb "$scratch/$name"
        status_is 1
        out_is ""
        err_has "^takt: .*$name"
        [ "$(wc -l <<<"$err")" = 1 ] || fail "says more than one line" "$err"
    done
done
run info "$scratch/none.pftrace"
status_is 1
err_has '^takt: .*none\.pftrace.*No such file or directory'
run info /dev/null
status_is 1
err_has '^takt: cannot read .*: it is not a regular file$'
if [ "$(id -u)" != 0 ]; then
    chmod 0 "$scratch/text.pftrace"
    run info "$scratch/text.pftrace"
    status_is 1
    err_has 'Permission denied'
fi

# A good file beside bad ones is still told.
run info "$scratch/none.pftrace" "$scratch/run.pftrace"
status_is 1
out_has '^  run +steps'

finish
