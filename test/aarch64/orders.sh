#!/bin/bash
# What the inline fast paths publish for the thread that seals, they publish with store-release
# instructions. An emulator on x86-64 could not tell: that machine's stores stay in order anyway.
. "${0%/*}/../support/lib_script.sh"
objdump=aarch64-linux-gnu-objdump
need $objdump
[ -n "${TEST_RUNNER-}" ] || { echo "runs in make check-aarch64" && exit 77; }

cat >"$scratch/paths.c" <<'END'
#include <takt/takt.h>
takt_open open_scope(takt_site *site) { return takt_scope_open(site, TAKT_NORMAL_BIT); }
void close_scope(takt_open open) { takt_scope_close(open); }
void next_phase(takt_site *site) { takt_phase_next(site, TAKT_NORMAL_BIT); }
END

# At least so many release stores, and one reading of the generic timer.
has() { # FUNCTION COUNT
    local stores readings
    $objdump -d --no-show-raw-insn --disassemble="$1" "$scratch/paths.o" >"$scratch/code"
    stores=$(grep -cw stlr "$scratch/code")
    readings=$(grep -c cntvct_el0 "$scratch/code")
    [ "$stores" -ge "$2" ] || fail "$compiler: $1 has $stores release stores, not $2"
    [ "$readings" = 1 ] || fail "$compiler: $1 reads the counter $readings times"
}

# A record's tag is its last word that is stored, not one with the ticks before it: a killed program's
# recording has whole records.
has_tag_last() { # FUNCTION LEVEL
    ! $objdump -d --no-show-raw-insn --disassemble="$1" "$scratch/paths.o" |
        grep -qE 'stp[[:space:]]+w[0-9]+, w[0-9]+, \[x[0-9]+, #8\]' ||
        fail "$compiler $2: $1 stores the tag with the ticks"
}

compilers=("$CC")
! command -v clang >/dev/null || compilers+=("clang --target=aarch64-linux-gnu --sysroot=$QEMU_LD_PREFIX")
for compiler in "${compilers[@]}"; do
    $compiler -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -Iinclude -c -o "$scratch/paths.o" \
        "$scratch/paths.c" || { fail "$compiler does not compile it" && continue; }
    has open_scope 3  # both words of the frame, then the top of the stack
    has close_scope 3 # the cursor, the top, then that the thread has left
    has next_phase 4  # the cursor, both words of the frame, the same
    for level in -O1 -O2 -O3 -Os; do
        $compiler -std=c11 $level -Iinclude -c -o "$scratch/paths.o" "$scratch/paths.c" ||
            fail "$compiler $level does not compile it"
        has_tag_last close_scope $level
        has_tag_last next_phase $level
    done
done
finish "scopes and phases publish with release stores: by ${#compilers[@]} compilers"
