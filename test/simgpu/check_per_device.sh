#!/bin/bash
# takt export --per-device writes each device's work into a file of its own, and --no-waits leaves
# the slices cuda_sync out.
. "${0%/*}/lib_truth.sh"

folder=$scratch/run
mkdir "$folder"
echo "profiling: {name: two, wait: 1, warmup: 1, active: 2, repeat: 1, device_wait_ms: 600000}
reports: []
output: {directory: $folder/out, traces: [perfetto]}" >"$folder/profile.yaml"
simulate "$program" 13 libcupti.so.13 ''
trace=$folder/out/two.0.pftrace

"$takt" export --chrome -o "$scratch/whole.json" "$trace" >/dev/null || fail "takt export"
"$takt" export --chrome --per-device --no-waits -o "$scratch/part.json" "$trace" >"$scratch/said" ||
    fail "takt export --per-device"
for device in 0 1; do
    grep -q "^wrote $scratch/part.cuda$device.json (" "$scratch/said" ||
        fail "no word of cuda:$device: $(cat "$scratch/said")"
    python3 "$root/test/support/check_chrome.py" "$scratch/part.cuda$device.json" >"$scratch/wrong" ||
        fail "$(head -n 20 "$scratch/wrong")"
done
[ ! -e "$scratch/part.json" ] || fail "there is a file of all devices"

# Work by device and stream: each file has exactly its device's.
python3 - "$scratch" <<'E2' || fail "the files have other work than the trace"
import collections, json, sys

def read(name):
    with open(f"{sys.argv[1]}/{name}.json") as file:
        return json.load(file)["traceEvents"]

def work(events):
    return collections.Counter(
        (e["args"]["device"], e["args"]["stream"], e["name"], e["args"]["correlation"])
        for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))

def waits(events):
    return sum(e.get("cat") == "cuda_sync" for e in events)

whole = read("whole")
parts = [read(f"part.cuda{i}") for i in (0, 1)]
assert waits(whole) > 0 and not any(map(waits, parts))
for i, part in enumerate(parts):
    own = collections.Counter({k: n for k, n in work(whole).items() if k[0] == i})
    assert own and work(part) == own, (i, len(own), len(work(part)))
E2
finish "the files of two devices have their work, and no waits"
