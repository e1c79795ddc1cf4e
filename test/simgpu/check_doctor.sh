#!/bin/bash
# takt doctor, where everything is as it should be and where it is not: what it finds, whether that
# is a problem, and that it says what to do. The driver and CUPTI are stand-ins.
cd "${TAKT_ROOT:-$(dirname "$0")/../..}" || exit 1
. test/support/lib_script.sh || exit 1
sim=$TAKT_BUILD/simgpu
unset "${!TAKT_SIM@}" TAKT_LOG TAKT_CLOCK TAKT_CUPTI_LIBRARY "${!CUDA_@}" NVTX_INJECTION64_PATH
unset NO_COLOR

# doctor WHAT STATUS [VARIABLE=VALUE...]: its findings, a line each, go to $scratch/found.
doctor() {
    what=$1
    local expected=$2 status
    shift 2
    env "$@" "$takt" doctor --json >"$scratch/json" 2>"$scratch/errors"
    status=$?
    [ "$status" = "$expected" ] || fail "$what: ended with $status, not $expected"
    [ ! -s "$scratch/errors" ] || fail "$what: $(head -n 3 "$scratch/errors")"
    python3 -c 'if 1:
        import json, sys
        found = json.load(sys.stdin)
        marks = [finding["mark"] for finding in found["findings"]]
        assert found["problems"] == marks.count("problem")
        for finding in found["findings"]:
            print(*(finding[key] for key in ("mark", "topic", "text", "advice")), sep=": ")
    ' <"$scratch/json" >"$scratch/found" || fail "$what: no JSON"
}

finds() { # PATTERN
    grep -qE -- "^$1" "$scratch/found" || { fail "$what: does not find: $1" && cat "$scratch/found"; }
}

lacks() { # PATTERN
    ! grep -qE -- "^$1" "$scratch/found" || { fail "$what: finds: $1" && cat "$scratch/found"; }
}

need python3
none=$sim/none # a folder without libraries

doctor "the machine" 0 "TAKT_CUPTI_LIBRARY=$sim/13/libcupti.so.13" "LD_LIBRARY_PATH=$sim/13"
finds "ok: takt: version $("$takt" --version | cut -d' ' -f2): "
finds '(ok|note): clock: (tsc|cntvct|monotonic), resolution [0-9.]+ ns; a recorded scope costs [0-9]+ ns'
finds 'ok: processor: .* processors, [1-9][0-9]* for this process'
finds "ok: system: Linux $(uname -r), $(uname -m)"
finds "ok: folder: $PWD is writable, "
finds 'ok: variable: TAKT_CUPTI_LIBRARY='
finds "ok: driver: $sim/13/libcuda.so.1, for CUDA up to 13.0: "
finds 'ok: devices: cuda:0 Takt simulated GPU 0, compute capability 8.9, 128 multiprocessors, 24.00 GiB'
finds "ok: cupti: CUPTI 13.0 \\(130001\\), $sim/13/libcupti.so.13: "
lacks problem

finds "ok: searched: $sim/13/libcupti.so.13: taken"

doctor "CUPTI of CUDA 12" 0 "TAKT_CUPTI_LIBRARY=$sim/12/libcupti.so.12" "LD_LIBRARY_PATH=$sim/12"
finds "ok: cupti: CUPTI 12.8 \\(26\\), $sim/12/libcupti.so.12: "
doctor "CUPTI for several" 0 "TAKT_CUPTI_LIBRARY=$sim/multi/libcupti.so.13" \
    "LD_LIBRARY_PATH=$sim/multi" "TAKT_SIM=devices=2;device.capability@1=90"
finds 'ok: cupti: CUPTI 13.3 \(130300\)'
finds 'ok: devices: cuda:1 Takt simulated GPU 1, compute capability 9.0, '

on_sim=("LD_LIBRARY_PATH=$sim/13" "TAKT_CUPTI_LIBRARY=$sim/13/libcupti.so.13")
doctor "variables that say nothing" 0 TAKT_CUPTI_LIBRARY= TAKT_CLOCK= TAKT_CONFIG= \
    "LD_LIBRARY_PATH=$sim/13"
finds 'note: variable: TAKT_CUPTI_LIBRARY=: an empty variable counts as unset'
finds "ok: cupti: CUPTI 13.0 \\(130001\\), .*libcupti.so.13: "
lacks '.*lacks functions'
lacks '.*as TAKT_CLOCK asks'

doctor "another profiler" 1 "${on_sim[@]}" 'TAKT_SIM=cupti.owner=Nsight Systems'
finds 'problem: cupti: .*another profiler \(Nsight Systems\) uses CUPTI already.*: run without it'
doctor "an old CUPTI" 1 "${on_sim[@]}" 'TAKT_SIM=cupti.version=17'
finds 'problem: cupti: .*is older than 11.8: install a newer one'
doctor "no permission" 1 "${on_sim[@]}" 'TAKT_SIM=fault=cuptiSubscribe_v2=35'
finds 'problem: cupti: .*ERR_NVGPUCTRPERM'
doctor "no such CUPTI" 1 "LD_LIBRARY_PATH=$sim/13" "TAKT_CUPTI_LIBRARY=$none/libcupti.so"
finds 'problem: cupti: TAKT_CUPTI_LIBRARY=.* cannot be loaded: .*TAKT_LAUNCH'
finds "ok: searched: $none/libcupti.so: not there"
doctor "no CUPTI wanted" 1 "LD_LIBRARY_PATH=$sim/13" TAKT_CUPTI_LIBRARY=none
finds 'problem: cupti: TAKT_CUPTI_LIBRARY is none: .*TAKT_LAUNCH'
doctor "a driver without a device" 1 "${on_sim[@]}" 'TAKT_SIM=fault=cuInit=100'
finds 'problem: devices: the driver cannot be initialised \(CUDA error 100\): .*nvidia-smi'
lacks '[a-z]+: cupti'
if ! ldconfig -p 2>/dev/null | grep -q libcuda.so.1; then
    doctor "no driver" 0 "LD_LIBRARY_PATH=$none"
    finds 'note: driver: no NVIDIA driver'
    lacks '[a-z]+: (devices|cupti)'
fi

doctor "variables" 0 "${on_sim[@]}" TAKT_CLOK=tsc TAKT_LOG=info TAKT_CLOCK=monotonic \
    CUDA_INJECTION64_PATH=/opt/tool.so 'TAKT_OPTIONS=profiling.wait=1'
finds 'note: variable: TAKT_CLOK=tsc: .*did you mean TAKT_CLOCK\?'
finds 'ok: variable: TAKT_LOG=info'
finds 'note: variable: CUDA_INJECTION64_PATH=/opt/tool.so: .*unset it'
finds 'note: clock: monotonic, resolution 1 ns.*, as TAKT_CLOCK asks: unset TAKT_CLOCK'
doctor "a wrong configuration" 1 'TAKT_OPTIONS=profiling.wait=soon' "${on_sim[@]}"
finds "problem: variable: TAKT_OPTIONS: profiling.wait: expected a whole number"
doctor "a configuration that is not there" 1 TAKT_CONFIG=/none/profile.yaml "${on_sim[@]}"
finds 'problem: variable: .*/none/profile.yaml: No such file'

# Text has the same findings in the same order, at most 80 columns wide, and colour when asked for.
env "${on_sim[@]}" "$takt" doctor >"$scratch/text" || fail "text: not 0"
! grep -q $'\033' "$scratch/text" || fail "colour in a file"
[ "$(awk 'length > 80' "$scratch/text" | grep -v "$TAKT_ROOT")" = "" ] || fail "text is wider than 80 columns"
grep -q '^ok  *takt  *version' "$scratch/text" || fail "text: $(head -n 3 "$scratch/text")"
env "${on_sim[@]}" "$takt" doctor --color always | grep -q $'^\033\\[32mok' || fail "no colour"

finish "what is found is told, with what to do"
