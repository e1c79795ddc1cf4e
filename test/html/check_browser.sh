#!/bin/bash
# Pages of `takt report --html` in Chromium: they open from a file, ask nothing of the network, and
# do what people want of them. Pictures of them are left in $TAKT_BUILD/html/pictures, to be looked at.
. "${0%/*}/../support/lib_script.sh"
. "${0%/*}/../support/lib_npm.sh"
need node npm
here=$(cd "${0%/*}" && pwd) || exit 1
CHROMIUM=$(command -v chromium || command -v chromium-browser) || { echo "needs chromium" && exit 77; }
export CHROMIUM TAKT_BUILD=$build
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG

npm_package playwright-core 1.49.1 # what steers the browser, without one of its own
mkdir -p "$build/html/pictures"

page() { # NAME FILE
    "$takt" report --html -o "$scratch/$1.html" "$2" >"$scratch/out" 2>&1 ||
        { echo "no page of $1: $(cat "$scratch/out")" && exit 1; }
}

# A simulation on the stand-ins, with a full trace and in summary mode.
simulate() { # NAME MODE
    echo "profiling: {name: sim, active: 0, mode: $2}
output: {directory: $scratch/$1, traces: [perfetto]}" >"$scratch/$1.yaml"
    LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13 \
        TAKT_SIM='kernel.advance=30us; memcpy.DtoH=7us' TAKT_CONFIG=$scratch/$1.yaml \
        timeout 600 "$build/test/simgpu/prog_simulation" return >"$scratch/out" 2>&1 ||
        { echo "prog_simulation fails: $(cat "$scratch/out")" && exit 1; }
    page "$1" "$scratch/$1/sim.0.pftrace"
}
simulate sim trace
simulate summary summary
for report in summary timeline activities scopes kernels tree; do
    "$takt" report --$report --json --rows all "$scratch/sim/sim.0.pftrace" >"$scratch/$report.json"
done

"$TAKT_BIN/samples/sph" --steps 60 --particles 1000 --profile samples/sph/profile.yaml \
    --output.directory "$scratch/fluid" >"$scratch/out" 2>&1 ||
    { echo "sph fails: $(cat "$scratch/out")" && exit 1; }
page fluid "$scratch/fluid/sph.0.pftrace"
"$takt" report --tree --json --rows all "$scratch/fluid/sph.0.pftrace" >"$scratch/fluid-tree.json"
"$build/test/html/prog_hostile" "$scratch/hostile.pftrace" && page hostile "$scratch/hostile.pftrace"
"$build/test/html/prog_hostile" "$scratch/empty.pftrace" nothing && page empty "$scratch/empty.pftrace"

node "$here/page_test.js" "$scratch" && node "$here/ways_test.js" "$scratch" &&
    node "$here/views_test.js" "$scratch"
status=$?
[ $status = 0 ] && finish "pages open, and do what they are asked to; pictures in $build/html/pictures"
exit $status
