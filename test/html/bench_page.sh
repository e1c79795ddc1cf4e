#!/bin/bash
# A page with a million spans and about as many activities, of a stand-in GPU: its size, how soon
# it is ready in Chromium, and the frames while panning. Not a test: it prints what it measures.
. "${0%/*}/../support/lib_script.sh"
. "${0%/*}/../support/lib_npm.sh"
need node npm
here=$(cd "${0%/*}" && pwd) || exit 1
CHROMIUM=$(command -v chromium || command -v chromium-browser) ||
    { echo "needs chromium" && exit 77; }
export CHROMIUM TAKT_BUILD=$build
unset TAKT_SIM_SCRIPT TAKT_LOG
npm_package playwright-core 1.49.1

large=$build/html/large
if [ ! -f "$large/large.0.pftrace" ]; then
    echo "profiling: {name: large, active: 0, max_memory: 1GiB}
output: {directory: $large, traces: [perfetto]}
reports: []" >"$scratch/large.yaml"
    LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13 \
        TAKT_SIM='kernel=2us,3us,2500ns,1us,4us,1500ns' TAKT_CONFIG=$scratch/large.yaml \
        "$build/test/simgpu/prog_large" 1015 || { echo "prog_large fails" && exit 1; }
fi
"$takt" info "$large/large.0.pftrace" | grep -E 'contents|losses'
"$takt" report --html -o "$large/large.html" "$large/large.0.pftrace" || exit 1
node "$here/bench_page.js" "$large/large.html" "$@"
