#!/bin/bash
# What devices did is streamed, too. A program that is killed leaves a file that has the steps,
# launches and activities up to a moment before, and says that it lacks the rest; as a summary as
# well. One that goes on with little memory loses nothing: what is written is freed.
. "${0%/*}/../support/lib_script.sh"
need python3
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
export LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13
prog=$build/test/simgpu/prog_streamed

has_steps() { # LEAST: true if $scratch/info tells of so many
    python3 -c 'import json, sys
sys.exit(json.load(sys.stdin)["steps"] < int(sys.argv[1]))' "$1" <"$scratch/info" 2>/dev/null
}

# killed MODE: kills it after some steps; $said is how many it has told, $file what it left
killed() {
    rm -rf "$scratch/traces"
    : >"$scratch/steps" # is there before the program begins
    "$prog" "$scratch/traces" "$1" >"$scratch/steps" 2>"$scratch/errors" &
    local pid=$!
    # Until the file has a hundred steps, and so what belongs to them.
    while kill -0 $pid 2>/dev/null; do
        sleep 0.05
        file=$(find "$scratch/traces" -name '*.partial.pftrace' 2>/dev/null)
        "$takt" info --json "${file:-/nonexistent}" >"$scratch/info" 2>/dev/null
        has_steps 100 && break
    done
    kill -KILL $pid
    wait $pid 2>/dev/null
    said=$(tail -n 1 "$scratch/steps")
    file=$(find "$scratch/traces" -name '*.partial.pftrace')
    "$takt" info --json "$file" >"$scratch/info" 2>"$scratch/errors"
    [ $? = 4 ] || fail "$1: takt info ends with another status than 4: $(cat "$scratch/errors")"
    "$takt" report "$file" >"$scratch/report" 2>/dev/null
    [ $? = 4 ] || fail "$1: takt report ends with another status than 4"
    head -n 1 "$scratch/report" | grep -q '^INCOMPLETE: the program was killed' ||
        fail "$1: no banner: $(head -n 2 "$scratch/report")"
    grep -q "cost unknown" "$scratch/report" || fail "$1: the cost is told as if it were known"
}

killed trace
"$takt" report --api --json "$file" >"$scratch/api" 2>/dev/null
"$takt" export --csv -o "$scratch/tables" "$file" >/dev/null 2>&1
# A step launches ten kernels and the two copies of a read of timers, which is left out while two reads
# are under way, as on a busy machine.
python3 - "$scratch" "$said" <<'EOF' || failures=$((failures + 1))
import json, sys
load = lambda name: json.load(open(f"{sys.argv[1]}/{name}"))
info, said = load("info"), int(sys.argv[2])
calls = {row["name"]: row["count"] for row in load("api")["rows"]}
steps = info["steps"]
assert info["ending"] == "killed", info["ending"]
assert 0 < steps <= said + 1, (steps, said)
kernels, reads = calls["cuLaunchKernel"], calls["cuMemcpyDtoHAsync"]
launches = info["activities"] + info["losses"]["incomplete"]
assert 10 * steps <= kernels <= 10 * (said + 1), (kernels, steps, said)
assert 0 < reads <= said + 1, (reads, said)
emptied = calls["cuMemcpyDtoDAsync"] + calls["cuMemsetD8Async"]
assert launches == kernels + reads + emptied, (launches, calls)
assert info["activities"] > 0, info["activities"]
assert info["losses"]["no activity"] == 0 and info["losses"]["unattributed"] == 0, info["losses"]
assert 0 < info["memory_events"] <= 2 * (said + 1), info["memory_events"]
assert info["cost_ns"] is None and info["cost_most_ns"] is None
assert info["device_uncertainty_ns"] > 0
assert info["begin_ns"] < info["known_until_ns"] <= info["begin_ns"] + info["wall_ns"]
EOF

# Blocks of timers inside kernels: prog_streamed numbers them like steps, and their phase takes as many
# cycles. They may be ahead of the steps, and the kernels of the last ones missing.
python3 - "$scratch/tables" "$scratch/info" "$said" "$scratch/api" <<'EOF' || failures=$((failures + 1))
import csv, json, sys
def rows(name):
    with open(f"{sys.argv[1]}/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))
info, said = json.load(open(sys.argv[2])), int(sys.argv[3])
steps = info["steps"]
calls = {row["name"]: row["count"] for row in json.load(open(sys.argv[4]))["rows"]}
unread = max(0, calls["cuLaunchKernel"] // 10 - calls["cuMemcpyDtoHAsync"])
blocks, kernels = rows("blocks"), {row["id"]: row for row in rows("activities")}
numbers = sorted(int(row["block"]) for row in blocks)
assert numbers == list(range(len(blocks))), numbers
assert steps - 1 - unread <= len(blocks) <= said + 1, (len(blocks), steps, said, unread)
phases = {row["block"]: (row["name"], int(row["cycles"])) for row in rows("phases")}
for row in blocks:
    number = int(row["block"])
    assert phases[row["id"]] == (("even", "odd")[number % 2], number), (row, phases[row["id"]])
    assert row["launch"] == "known", row
placed = [(row, kernels[row["activity"]]) for row in blocks if row["activity"]]
missing = info["losses"]["incomplete"]
assert len(placed) >= steps - 1 - missing - unread, (len(placed), steps, missing)
for row, kernel in placed:
    assert row["kernel"] == kernel["name"] and row["correlation"] == kernel["correlation"], row
    assert int(kernel["begin_ns"]) <= int(row["begin_ns"]) <= int(kernel["end_ns"]), (row, kernel)
EOF

killed summary
"$takt" report --scopes --json --rows all "$file" >"$scratch/scopes" 2>/dev/null
"$takt" report --kernels --json --rows all "$file" >"$scratch/kernels" 2>/dev/null
python3 - "$scratch" "$said" <<'EOF' || failures=$((failures + 1))
import json, sys
load = lambda name: json.load(open(f"{sys.argv[1]}/{name}"))
said = int(sys.argv[2])
info, scopes, kernels = load("info"), load("scopes"), load("kernels")
calls = {row["name"]: row["calls"] for row in scopes["rows"]}
assert info["ending"] == "killed" and not info["has_spans"]
steps = info["steps"]
assert 0 < steps <= said + 1, (steps, said)
# A snapshot has the steps up to a moment, and counts the calls later: some more may have ended by
# then, on a busy machine those of 5 steps.
assert 400 * steps <= calls["work"] <= 400 * (said + 1), (calls, steps)
assert calls["lasting"] == 1, calls   # it was open
count = sum(row["count"] for row in kernels["rows"])
assert 0 < count <= 10 * (said + 1), (count, steps, said)
assert info["cost_ns"] is None and info["cost_most_ns"] is None
EOF

for mode in trace both; do
    rm -rf "$scratch/traces"
    "$prog" "$scratch/traces" $mode 800 1024 >"$scratch/out" 2>&1 ||
        fail "$mode in 1 MiB: $(cat "$scratch/out")"
    [ -z "$(find "$scratch/traces" -name '*.partial*')" ] || fail "$mode: the partial file stays"
    "$takt" info "$scratch/traces/streamed.0.pftrace" >"$scratch/info" ||
        fail "$mode: the file that is read back ends with $?"
done
finish "killed after $said steps; 800 steps in 1 MiB are all there"
