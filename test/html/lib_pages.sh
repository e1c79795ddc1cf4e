# Sourced by scripts that open pages in Chromium, after lib_script.sh and lib_npm.sh.
#
#     page NAME TRACE         writes $scratch/NAME.html
#     simulate NAME MODE      runs a simulation on the stand-ins, and writes its page
#     fluid_page              the same of the fluid on the processor
#     torch_run SEED          writes $scratch/torchSEED.json, as torch.profiler does
#     large_page              $large/large.html: a million spans, and as many activities
#
# With SCREENSHOTS=1, pictures of pages are left in $TAKT_BUILD/test/screenshots, to be looked at. Skips
# the test if there is no browser.
# shellcheck shell=bash
need node npm python3
need_browser
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
npm_package playwright-core 1.49.1 # what steers the browser, without one of its own
pictures=
[ -z "${SCREENSHOTS-}" ] || { mkdir -p "$build/test/screenshots" && pictures="; pictures in $build/test/screenshots"; }
large=$build/test/large

page() { # NAME TRACE
    "$takt" report --html -o "$scratch/$1.html" "$2" >"$scratch/out" 2>&1 ||
        { echo "no page of $1: $(cat "$scratch/out")" && exit 1; }
}

# Runs a program on the stand-ins of CUDA 13.
on_stand_ins() { # COMMAND...
    LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13 \
        timeout 600 "$@" >"$scratch/out" 2>&1 || { echo "$* fails: $(cat "$scratch/out")" && exit 1; }
}

simulate() { # NAME MODE
    echo "profiling: {name: sim, active: 0, mode: $2}
output: {directory: $scratch/$1, traces: [perfetto]}" >"$scratch/$1.yaml"
    TAKT_SIM='kernel.advance=30us; memcpy.DtoH=7us' TAKT_CONFIG=$scratch/$1.yaml \
        on_stand_ins "$build/test/simgpu/prog_simulation" return
    page "$1" "$scratch/$1/sim.0.pftrace"
}

fluid_page() {
    "$TAKT_BIN/samples/sph" --steps 60 --particles 1000 --profile samples/sph/profile.yaml \
        --output.directory "$scratch/fluid" >"$scratch/out" 2>&1 ||
        { echo "sph fails: $(cat "$scratch/out")" && exit 1; }
    page fluid "$scratch/fluid/sph.0.pftrace"
}

torch_run() { # SEED
    python3 - "${0%/*}/../import" "$1" "$scratch/torch$1.json" <<'EOF' || exit 1
import sys
sys.path.insert(0, sys.argv[1])
import run_model, torch_file
torch_file.Writer(run_model.Run(int(sys.argv[2])), "2025").write(sys.argv[3])
EOF
}

# $1/large.0.pftrace, with about a thousand spans and activities a step
run_large() { # FOLDER STEPS
    echo "profiling: {name: large, active: 0, max_memory: 1GiB}
output: {directory: $1, traces: [perfetto]}
reports: []" >"$scratch/large.yaml"
    TAKT_SIM='kernel=2us,3us,2500ns,1us,4us,1500ns' TAKT_CONFIG=$scratch/large.yaml \
        on_stand_ins "$build/test/simgpu/prog_large" "$2"
}

large_page() {
    if [ ! "$large/large.0.pftrace" -nt "$build/test/simgpu/prog_large" ]; then
        rm -rf "$large"
        run_large "$large" 1015
    fi
    "$takt" report --html -o "$large/large.html" "$large/large.0.pftrace" || exit 1
}
