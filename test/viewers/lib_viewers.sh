# Sourced by the tests of this folder: traces to open in viewers, and what Takt itself says of them.
#
#     make_views FORMAT ENDING     writes $scratch/NAME.ENDING by `takt export --FORMAT` for each of
#                                  $names, and the folder $scratch/NAME with the same as CSV tables
# shellcheck shell=bash
. "${0%/*}/../support/lib_script.sh"
. "${0%/*}/../support/lib_npm.sh"
# shellcheck disable=SC2034 # whoever sources this uses it
here=$(cd "${0%/*}" && pwd) || exit 1
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
names="fluid devices pipeline hostile"

run_or_end() {
    "$@" >"$scratch/out" 2>&1 || { echo "$1 fails: $(tail -n 5 "$scratch/out")" && exit 1; }
}

# Four threads with two devices of three streams each, graphs and copies. The program waits for its
# gate, a kernel of so many milliseconds, to be long enough for this machine; else it ends with 3.
# Kernels begin behind their calls and take a microsecond and more, by which chrome://tracing nests.
simulate_devices() {
    local gate
    echo "profiling: {name: devices, wait: 1, warmup: 1, active: 2, repeat: 1, graph: node,
  device_wait_ms: 600000}
reports: []
output: {directory: $scratch/devices.out, traces: [perfetto]}" >"$scratch/devices.yaml"
    mkdir "$scratch/books"
    for gate in 30 120 480 1500 6000 30000; do
        LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13 \
            timeout 600 "$build/test/simgpu/prog_truth" "$scratch/books" "$scratch/devices.yaml" \
            $gate 'latency=5000;kernel.residual=2999' >"$scratch/out" 2>&1
        [ $? = 3 ] || break
    done
    mv "$scratch/devices.out/devices.0.pftrace" "$scratch/devices.pftrace" ||
        { echo "prog_truth fails: $(tail -n 5 "$scratch/out")" && exit 1; }
}

make_traces() {
    run_or_end "$TAKT_BIN/samples/sph" --steps 60 --particles 1000 \
        --profile samples/sph/profile.yaml --output.directory "$scratch/fluid.out"
    mv "$scratch/fluid.out/sph.0.pftrace" "$scratch/fluid.pftrace"
    simulate_devices
    run_or_end "$build/test/viewers/prog_pipeline" "$scratch/pipeline.pftrace"
    run_or_end "$build/test/html/prog_hostile" "$scratch/hostile.pftrace"
}

make_views() { # FORMAT ENDING
    local name
    make_traces
    for name in $names; do
        mkdir "$scratch/$name"
        run_or_end "$takt" export "--$1" -o "$scratch/$name.$2" "$scratch/$name.pftrace"
        run_or_end "$takt" export --csv -o "$scratch/$name" "$scratch/$name.pftrace"
    done
}
