#!/bin/bash
# Macros in a function for host and device: in a kernel they do nothing, without a warning, and the
# kernel keeps its code; on the host they record. A function that cannot work in a kernel is an error
# there, which names it.
. "${0%/*}/../support/lib_script.sh"
nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
[ -x "$nvcc" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }
compile() { # CASE FLAGS...
    "$nvcc" -std=c++17 -Iinclude -DCASE="$1" "${@:2}" test/compile/host_device.cu </dev/null >"$scratch/said" 2>&1
}

for case in 0 1; do
    for off in "" -DTAKT_DISABLE; do
        # shellcheck disable=SC2086
        compile $case $off -Werror all-warnings -ptx -o "$scratch/$case.ptx" ||
            fail "case $case $off: $(head -n 5 "$scratch/said")"
        sed -n '/\.entry/,/^}/p' "$scratch/$case.ptx" >"$scratch/kernel.$case$off"
        [ "$(grep -c 'st\.global' "$scratch/kernel.$case$off")" = 1 ] || fail "case $case $off: the kernel's store is gone"
    done
done
[ "$(grep -cE 'call|ld\.global' "$scratch/kernel.0")" = "$(grep -cE 'call|ld\.global' "$scratch/kernel.1")" ] ||
    fail "macros leave something in a kernel"
compile 1 -G -c -o "$scratch/debug.o" || fail "with -G: $(tail -n 2 "$scratch/said")"
compile 1 -c -o "$scratch/host.o" || fail "$(head -n 5 "$scratch/said")"
nm -u "$scratch/host.o" | grep -q takt_scope_begin_v1 || fail "nothing is recorded on the host"

case=2
for name in takt_begin takt_scope_named_v1 takt_event_create takt_timer_begin takt_memory_allocated_v1; do
    ! compile $case -c -o "$scratch/$case.o" || fail "a kernel may call $name"
    grep -q "Unresolved extern function '$name'" "$scratch/said" || fail "$name: $(tail -n 2 "$scratch/said")"
    case=$((case + 1))
done
finish "macros are nothing in kernels, and functions are errors"
