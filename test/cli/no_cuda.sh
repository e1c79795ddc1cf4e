#!/bin/bash
# On a machine without a GPU nobody hears of CUDA: no word in any output, no library looked for.
. "${0%/*}/../support/lib_script.sh"

TAKT_LOG=info "$TAKT_BUILD/test/cli/prog_quiet" >"$scratch/output" 2>"$scratch/maps" ||
    fail "prog_quiet fails"
grep -q 'kernel work' "$scratch/output" || fail "prints no tables"
grep '^[0-9a-f]*-[0-9a-f]* ' "$scratch/maps" >"$scratch/mapped"
[ -s "$scratch/mapped" ] || fail "prints no maps"
grep -v '^[0-9a-f]*-[0-9a-f]* ' "$scratch/maps" >>"$scratch/output" # lines of the log
! grep -i 'cuda\|cupti\|nvidia\|gpu' "$scratch/output" || fail "speaks of CUDA"
! grep -i 'libcuda\|libcupti\|libcudart' "$scratch/mapped" || fail "has a library of CUDA's"

# Nor does a library of the toolkit stand among those that the program or Takt need.
if command -v readelf >/dev/null; then
    for file in "$TAKT_BUILD/test/cli/prog_quiet" "$TAKT_LIB/libtakt.so"; do
        ! readelf -d "$file" | grep -i 'NEEDED.*\(cuda\|cupti\|nv\)' || fail "$file needs CUDA"
    done
fi

# Nor are they looked for, successfully or not, nor does a thread wait for them.
if [ -z "${SAN-}" ] && command -v strace >/dev/null &&
    strace -o "$scratch/calls" true 2>/dev/null; then
    strace -f -o "$scratch/calls" -e trace=file,write,prctl "$TAKT_BUILD/test/cli/prog_quiet" \
        >/dev/null 2>&1
    ! grep -i 'libcuda\|libcupti' "$scratch/calls" || fail "looks for a library of CUDA's"
    grep -q '"takt"' "$scratch/calls" || fail "the profiler's own thread is not seen"
    ! grep 'takt-cuda\|takt-fold' "$scratch/calls" || fail "starts a thread for CUDA"
fi
finish "no word of CUDA"
