# Sourced by tests that run prog_truth, which counts its own work. truth() compares every report and
# file of Takt with these counts (compare_truth.py).
# shellcheck shell=bash
. "${0%/*}/../support/lib_script.sh"
need python3 protoc
root=$(cd "${0%/*}/../.." && pwd) || exit 1
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
runs=0

# simulate PROGRAM FLAVOUR LIBRARY OPTIONS: with a longer gate where the machine was too slow.
simulate() {
    local gate status
    for gate in 30 120 480 1500 6000 30000; do
        rm -rf "$folder/out"
        LD_LIBRARY_PATH=$build/simgpu/$2 TAKT_CUPTI_LIBRARY=$build/simgpu/$2/$3 \
            timeout 600 "$1" "$folder" "$folder/profile.yaml" $gate "$4" >"$folder/stdout" 2>&1
        status=$?
        [ $status = 3 ] || break
    done
    [ $status = 0 ] || fail "$folder: ends with $status:" "$(tail -n 5 "$folder/stdout")"
}

# truth FLAVOUR MODE GRAPH [OPTIONS DRIFT DRIFT], of $program
truth() {
    local library=libcupti.so.13 version=13.0 traces=perfetto
    [ "$1" != 12 ] || { library=libcupti.so.12 version=12.8; }
    [ "$1" != multi ] || version=13.3
    [ "$2" = summary ] || traces='perfetto, chrome'
    folder=$scratch/$((runs += 1))
    mkdir "$folder"
    echo "profiling: {name: truth, wait: 1, warmup: 1, active: 2, repeat: 2, mode: $2, graph: $3,
  device_wait_ms: 600000}
reports: []
output: {directory: $folder/out, traces: [$traces]}" >"$folder/profile.yaml"
    simulate "$program" "$1" "$library" "${4-}"
    unset TEST_STRICT # with one release it is tried whether the comparison is strict
    [ "$1" != 13 ] || export TEST_STRICT=1
    unset TEST_GRAPHS # this release is not switched back to whole launches, see docs/cuda.md
    [ "$1" != 13 ] || export TEST_GRAPHS=' from nodes'
    TEST_CUPTI_VERSION=$version python3 "$root/test/simgpu/compare_truth.py" "$takt" "$folder" \
        "$2" "$3" "${@:5}" >"$folder/wrong" 2>&1 && rm -rf "$folder" && return
    fail "$program with CUPTI $version, $*:" "$(head -n 25 "$folder/wrong")"
}

program=$build/test/simgpu/prog_truth
