#!/bin/bash
# Programs on the stand-ins under the environment's profiler: what is saved however they end, and
# that they end.
. "${0%/*}/../support/lib_script.sh"
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
program=$build/test/simgpu/prog_simulation
unset TAKT_SIM_SCRIPT
export LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13
export TAKT_SIM='kernel.advance=30us; memcpy.DtoH=7us'

# run NAME PROFILE [ARGUMENT]: leaves output in $scratch/NAME.out, files in $scratch/NAME.
run() {
    mkdir -p "$scratch/$1"
    echo "profiling: {name: sim, $2}
reports: [${reports-}]
output: {directory: $scratch/$1, traces: [perfetto]${stream+, stream: true}}" >"$scratch/$1.yaml"
    { # the shell tells of killed programs
        TAKT_CONFIG=$scratch/$1.yaml timeout 600 "$program" "${3-return}" >"$scratch/$1.out" 2>&1
    } 2>/dev/null
    local status=$?
    [ $status = "${expected_status-0}" ] || fail "$1: ends with $status" "$(cat "$scratch/$1.out")"
    grep -qx '12 steps' "$scratch/$1.out" || fail "$1: the program says something else"
    ! grep -q 'fails' "$scratch/$1.out" || fail "$1: $(cat "$scratch/$1.out")"
}

# activities FILE KERNELS COPIES: exactly these, with the durations of the script.
activities() {
    local kernel copy
    printf -v kernel '%2d.%03d000 ms | %7d | kernel advance' $(($2 * 30 / 1000)) $(($2 * 30 % 1000)) "$2"
    printf -v copy '%2d.%03d000 ms | %7d | memcpy DtoH' $(($3 * 7 / 1000)) $(($3 * 7 % 1000)) "$3"
    "$takt" report --activities "$1" >"$scratch/report" 2>&1 || fail "$1: $(cat "$scratch/report")"
    grep -qF "$kernel" "$scratch/report" || fail "$1: not '$kernel':" "$(cat "$scratch/report")"
    grep -qF "$copy" "$scratch/report" || fail "$1: not '$copy':" "$(cat "$scratch/report")"
}

# From start to the end of the program, whoever stops it.
for end in return stop; do
    run $end 'active: 0' $end
    activities "$scratch/$end/sim.0.pftrace" 24 12
done

# Cycles of a schedule: 1 wait, 1 warmup, 3 active, twice.
reports=scopes run cycles 'wait: 1, warmup: 1, active: 3, repeat: 2'
activities "$scratch/cycles/sim.0.pftrace" 6 3
activities "$scratch/cycles/sim.1.pftrace" 6 3
[ "$(grep -c '^forces .* 180.000us ' "$scratch/cycles.out")" = 2 ] ||
    fail "scopes lack CUDA times:" "$(cat "$scratch/cycles.out")"

# Without CUDA nothing of it is there; with it alone no scopes.
run cpu 'active: 0, activities: [cpu]'
"$takt" report --activities "$scratch/cpu/sim.0.pftrace" | grep -q 'No activity' ||
    fail "activities: [cpu] has devices"
run cuda 'active: 0, activities: [cuda]'
activities "$scratch/cuda/sim.0.pftrace" 24 12
! "$takt" report --scopes "$scratch/cuda/sim.0.pftrace" | grep -q 'forces' ||
    fail "activities: [cuda] has scopes"

# In bounded memory.
run summary 'active: 0, mode: summary'
activities "$scratch/summary/sim.0.pftrace" 24 12
run flight 'active: 0, mode: flight'
activities "$scratch/flight/sim.0.pftrace" 24 12

# A forked child does nothing, and the parent goes on. AddressSanitizer's own allocator may be locked
# in the child.
if [[ ${SAN-} != *address* ]]; then
    run fork 'active: 0' fork
    activities "$scratch/fork/sim.0.pftrace" 24 12
    [ "$(find "$scratch/fork" -type f | wc -l)" = 1 ] || fail "the child has written, too"
fi

# A thread that launches while the program exits; an exit that skips all that comes at exit.
run launching 'active: 0' launching
"$takt" report --activities "$scratch/launching/sim.0.pftrace" | grep -q 'kernel advance' ||
    fail "launching: nothing was saved"
run _exit 'active: 0' _exit

# While recording a partial file is written: of the host alone, see docs/cuda.md.
stream=1 run streamed 'active: 0'
activities "$scratch/streamed/sim.0.pftrace" 24 12
[ ! -e "$scratch/streamed/sim.0.partial.pftrace" ] || fail "the partial file stays"
TEST_AWAIT="'$takt' report --tree '$scratch/killed/sim.0.partial.pftrace' | grep -q forces" \
    stream=1 expected_status=137 run killed 'active: 0' kill
"$takt" report --tree "$scratch/killed/sim.0.partial.pftrace" | grep -q forces ||
    fail "nothing is left of a program that was killed"

finish "12 steps are 24 kernels and 12 copies, however they end"
