#!/bin/bash
# The kit for a machine with a GPU runs on the stand-ins, from another folder and with few tools: every
# program ends and prints what it is there for; a crash and a hang are told of; the results obey their
# limits. Nothing that is measured here says anything of a GPU.
. "${0%/*}/../support/lib_script.sh"
[ -e "$TAKT_BUILD/gpu-kit.tar.gz" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }
root=$PWD kit=$scratch/kit results=$scratch/results
cp -r "$TAKT_BUILD/gpu-kit" "$kit"

bytes=$(du -sb "$kit" | cut -f 1)
[ "$bytes" -le $((50 * 1024 * 1024)) ] || fail "the kit has $bytes bytes"
[ -z "$(find "$kit" -type l)" ] || fail "the kit has links"
for name in libc.so.6 libcuda.so.1 ld-linux-x86-64.so.2; do
    [ ! -e "$kit/lib/$name" ] || fail "the kit has $name"
done

# What is loaded there finds all libraries in the kit, but for the C library's and the driver's.
for file in "$kit"/bin/* "$kit"/lib/libpython_takt.so; do
    strange=$(env -i PATH="$PATH" ldd "$file" | grep -vE "=> $kit/|linux-vdso|/ld-linux|\
^[[:space:]]*(libc|libm|libdl|libpthread|librt|libresolv|libcuda|libcublas|libcublasLt)\.so") || true
    [ -z "$strange" ] || fail "${file##*/} needs what the kit does not have: $strange"
done

# Entries of the fat binaries: machine code is kind 2, PTX kind 1.
need python3
python3 - "$kit"/bin/gpu_* <<'PYTHON' || fail "device code is missing"
import struct, sys
for path in sys.argv[1:]:
    data, found, at = open(path, "rb").read(), set(), 0
    while (at := data.find(b"\x50\xed\x55\xba\x01\x00\x10\x00", at)) >= 0:
        size, entry = struct.unpack_from("<Q", data, at + 8)[0], at + 16
        while entry < at + 16 + size:
            kind, _, head, body = struct.unpack_from("<HHIQ", data, entry)
            found.add((kind, struct.unpack_from("<I", data, entry + 28)[0]))
            entry += head + body
        at += 16
    if not {(2, 80), (2, 90)} <= found or not any(kind == 1 for kind, _ in found):
        sys.exit(f"{path}: {sorted(found)}")
PYTHON

# What is there of tools: no compiler, no make, no python.
mkdir "$scratch/tools"
for tool in sh awk basename cat cp cut date dirname env grep gzip head ls mkdir mktemp readlink rm \
    sed sleep sort tail tar tee timeout tr uname wc; do
    ln -s "$(command -v "$tool")" "$scratch/tools/$tool"
done
# The script of test/gpu, but long kernels are short.
sed 's/=20ms/=1ms/' test/gpu/standins.txt >"$scratch/script"
run_kit() { # ARGUMENTS...: leaves `status`, and output in $scratch/output
    (cd / && env -i PATH="$scratch/tools" TMPDIR="$scratch" TAKT_SIM_SCRIPT="$scratch/script" \
        LD_LIBRARY_PATH="$TAKT_BUILD/simgpu/13" GPU_CLOCK_SECONDS=0.5 GPU_BENCH_LAUNCHES=200 GPU_BENCH_ROUNDS=1 \
        GPU_MODE_SECONDS=600 KIT_SECONDS=6000 KIT_LIMIT="600 ${limit-}" \
        KIT_ONLY="${only-}" ${more_env-} "$kit/run.sh" "$@") >"$scratch/output" 2>&1
    status=$?
}
has() { # PATTERN FILE
    grep -qE "$1" "$2" || fail "no '$1' in $2: $(head -c 4000 "$2")"
}
obeys_limits() {
    local file count=0 sum=0 size
    for file in "$results"/*; do
        size=$(stat -c %s "$file")
        [ "$size" -le 16777216 ] || fail "$file has $size bytes"
        count=$((count + 1)) sum=$((sum + size))
    done
    [ "$count" -le 8 ] || fail "$count files of results"
    [ "$sum" -le 67108864 ] || fail "$sum bytes of results"
}

run_kit quick "$results"
[ $status = 0 ] || fail "run.sh quick ends with $status: $(cat "$scratch/output")"
has '^libcupti used: .*/simgpu/13/libcupti.so.13$' "$results/report.txt"
rm "$kit/bin/gpu_bench" # for by hand: check_simulated.sh
for program in "$kit"/bin/gpu_* "$kit"/bin/{graph,inc_loop,report_callback,stream_overlap,sph}; do
    has "^${program##*/} +ok +[0-9]+ s\$" "$results/summary.txt"
done
has '^python_torch +skipped' "$results/summary.txt"
has '^    no python3 here' "$results/summary.txt"
missed=$(grep -c 'BUDGET MISSED: [15]' "$results/summary.txt") || true # what the host is busy with decides
others=$(grep -c '^cupti_[0-9]* *skipped' "$results/summary.txt") || true # not for these drivers
has " 0 wrong, $((6 + others)) skipped, $missed budgets missed, " "$results/summary.txt"
while read -r figure; do # as regular expressions; numbers that the stand-ins fix are fixed
    has "^(\* )?$figure" "$results/report.txt"
done <<'END'
flush\.plain\.asked_for_of_6_flushes +6 buffers
flush\.plain\.in_the_end +60 kernels
flush\.forced\.given_up +[0-9]+ records
flush\.records-1\.fullest +1 records
flush\.bytes-16\.fullest +16 records
calls\.both\.chevrons: runtime cudaLaunchKernel_v7000\(211\) #[0-9]+ \{ driver cuLaunchKernel
calls\.both\.inner_ids_of_their_own +[0-9]+ calls
calls\.both\.cuLaunchKernelEx\.driver +1 calls
calls\.runtime\.cudaGraphLaunch\.records +2 records
graph_ids\.nodes-off\.3\.graph +40 records
graph_ids\.whole-on\.3\.graph +20 records
graph_ids\.whole-off\.3\.graph +20 records
clocks\.callback\.on_registered_clock +300 records
windows\.endless\.query\.busy +0 other_answers
windows\.endless\.graph\.got +100 %
windows\.endless\.pool\.losses +0 losses
windows\.endless\.timer\.slowest_end +[0-9.]+ ms, (budget|BUDGET MISSED:) 50
decides: ends beside a kernel that never ends
finalize\.all +[1-9][0-9]* windows
finalize\.crashed +0 of_4_children
finalize\.hung +0 of_4_children
graphs\.one_each +0 windows_of_10_are_wrong
graphs\.large\.got +100 %
empty\.raw\.graph_of_a_host_function +0 records_of_10
empty\.raw\.copy_up_of_height_0 +0 records_of_10
empty\.whole\.copy_up_of_4_rows +10 records_of_10
empty\.takt\.copy_up_of_width_0 +0 activities_of_10
counters\.(gpm\.libnvidia-ml|range\.cuptiProfilerInitialize) absent
counters\.hardware-early\.cuptiActivityEnableHWTrace +27 status CUPTI_ERROR_NOT_SUPPORTED
counters\.traced\.records +100 of_100_kernels_with_times
processes\.four\.got +100 %
processes\.mps absent
windows\.background\.got +[0-9.]+ %
windows\.deep\.launched +120 kernels
threads\.cupti\.32\.asked_for +[0-9]+ buffers
threads\.refuse\.refused +[1-9][0-9]* requests
threads\.takt\.new_ones\.got +[0-9.]+ %
switch\.takt\.first_start +[0-9.]+ ms
switch\.cupti\.enable +[0-9.]+ ms
gaps\.takt\.graph\.row_of_400 +[0-9.]+ us
endings\.reset\.got +20 of_20
endings\.illegal_address\.got +20 of_20
errors\.driver\.cuEventCreate +700 status
errors\.flushed\.after_forced +20 of_20
endings\.exit_busy\.got +20 of_20
endings\.fork_after\.child\.ends_with +0 status
clocks\.own\.drift_of_begins +-?[0-9.]+ ns_a_second
clocks\.own\.begins_before_launch +0 launches
cost\.1\.untouched +[0-9.]+ ns_a_launch, quartiles [0-9.e+]+ to [0-9.e+]+
cost\.8\.driver +[0-9.]+ ns_a_launch, quartiles
cost\.32\.takt\.host +[0-9.]+ times_both, (budget|BUDGET MISSED:) 1\.05
cost\.busy\.takt\.whole +[0-9.]+ times_untouched, (budget|BUDGET MISSED:) 1\.03
END
tar -tzf "$results/recordings.tar.gz" | grep -q 'recordings/everything.recording$' ||
    fail "CUPTI's buffers are not in the results"
tar -tzf "$results/traces.tar.gz" | grep -q '\.pftrace$' || fail "no trace in the results"
obeys_limits
[ -z "$(find "$scratch" -maxdepth 1 -name 'takt-kit.*')" ] || fail "run.sh leaves its folder"

# PyTorch's loop, with a PyTorch that launches two kernels a step and times neither.
mkdir -p "$scratch/torch/torch"
cat >"$scratch/torch/torch/__init__.py" <<'PYTHON'
import ctypes
from unittest.mock import MagicMock
cuda, driver = MagicMock(), ctypes.CDLL("libcuda.so.1")
cuda.is_available = lambda: True
cuda.synchronize = lambda: driver.cuCtxSynchronize()
__version__, version = "1", MagicMock(cuda="13")
manual_seed, randn, nn, optim = (MagicMock() for _ in range(4))
context, module, function = (ctypes.c_void_p() for _ in range(3))
launched = []
assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
assert driver.cuModuleLoadData(ctypes.byref(module), b"none") == 0
def launch():
    for name in b"_Z5firstIiEvT_S0_", b"second":
        assert driver.cuModuleGetFunction(ctypes.byref(function), module, name) == 0
        assert driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0
        launched.append("void first<int>(int,int)" if name[0] == 95 else "second")
optim.SGD.return_value.step = launch
PYTHON
cat >"$scratch/torch/torch/profiler.py" <<'PYTHON'
import json, os, torch
class ProfilerActivity:
    CUDA = 1
class profile:
    def __init__(self, activities):
        torch.launched.clear()
    def __enter__(self):
        return self
    def __exit__(self, *_):
        self.seen = [{"cat": "kernel", "name": name, "dur": 10.0} for name in torch.launched]
    def export_chrome_trace(self, path):
        json.dump({"traceEvents": self.seen[os.environ.get("LACKS") == "1":]}, open(path, "w"))
PYTHON
run_loop() { # VARIABLE=VALUE...
    env -i PATH="$PATH" LD_LIBRARY_PATH="$TAKT_BUILD/simgpu/13" PYTHONPATH="$scratch/torch" \
        TAKT_CUPTI_LIBRARY="$TAKT_BUILD/simgpu/13/libcupti.so.13" GPU_QUICK=1 \
        PYTHONDONTWRITEBYTECODE=1 "$@" python3 "$kit/python_loop.py" >"$scratch/output" 2>&1
    status=$?
}
run_loop
[ $status = 0 ] || fail "python_loop.py ends with $status: $(cat "$scratch/output")"
has '^torch.takt.0: CUPTI .*, losses \{\}' "$scratch/output"
has '^\* torch.takt.0.kernels 1000 kernels' "$scratch/output"
has '^torch.names 2 kernels' "$scratch/output"
has '^\* torch.own.whole [0-9.]+ times_bare, 500 steps' "$scratch/output"
run_loop LACKS=1
[ $status = 1 ] || fail "python_loop.py ends with $status though a kernel is missing"
has 'count differs: voidfirst<int>\(int,int\): takt \[500\], its own \[499\]' "$scratch/output"
run_loop PYTHON_TAKT=none.so
[ $status = 1 ] || fail "python_loop.py ends with $status though Takt is missing"
has '^torch.takt.0: ends with 1' "$scratch/output"
has '^\* torch.bare.0.seconds ' "$scratch/output"

# A crash, a hang, too much to carry and too much to print; with the shell's own time limit.
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$kit/bin/$1" && chmod +x "$kit/bin/$1"; }
rm "$kit"/bin/gpu_{events,graphs} "$kit"/bin/{sph,graph}
fake gpu_events "kill -SEGV \$\$"
fake gpu_graphs 'exec sleep 100'
fake graph 'yes | head -c 1000000; exit 3'
fake sph "for last; do :; done; head -c 17000000 /dev/urandom >\$last/large; echo >\$last/small"
ln -s "$(command -v yes)" "$(command -v bash)" "$(command -v python3)" "$scratch/tools/"
mkdir -p "$scratch/site/nvidia/cu13/lib" # as pip lays out CUDA's libraries
: >"$scratch/site/nvidia/cu13/lib/libcupti.so.13"
only="graph sph gpu_events gpu_graphs gpu_marks"
limit="gpu_graphs=2"
more_env="KIT_NO_TIMEOUT=1 PYTHONPATH=$scratch/site"
run_kit quick "$results"
[ $status = 1 ] || fail "run.sh ends with $status though programs failed"
has '^2/5 graph ... ' "$scratch/output"
has '^libcupti found: .*/site/nvidia/cu13/lib/libcupti.so.13' "$results/report.txt"
has '^graph +FAILED, status 3' "$results/summary.txt"
has '^sph +ok' "$results/summary.txt"
has '^gpu_events +CRASHED, signal 11' "$results/summary.txt"
has '^gpu_graphs +DID NOT END in 2 s' "$results/summary.txt"
has '^gpu_marks +ok' "$results/summary.txt"
has '^left out: traces/large has 17000000 bytes' "$results/summary.txt"
has '^\(cut here\)' "$results/report.txt"
tar -tzf "$results/traces.tar.gz" | grep -q traces/small || fail "the small file is left out, too"
[ ! -e "$results/recordings.tar.gz" ] || fail "results of an earlier run stay"
obeys_limits

# Without a device there is nothing to run, which is no success.
only="graph gpu_calls gpu_cost" more_env="TAKT_SIM=devices=0"
run_kit quick "$results"
[ $status = 1 ] || fail "without a device run.sh ends with $status"
has '^gpu_cost +NO DEVICE' "$results/summary.txt"
more_env='' only=''

run_kit --help
[ $status = 0 ] || fail "--help ends with $status"
has 'run.sh \[quick\] \[FOLDER\]' "$scratch/output"
run_kit --fast
[ $status = 2 ] || fail "an unknown option ends with $status"
cd "$root" && finish "a kit of $((bytes / 1024)) KiB runs"
