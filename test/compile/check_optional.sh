#!/bin/bash
# Each combination of the optional libraries compiles without a warning: sources that use one are
# compiled with and without each library that they ask for. By gcc, and by clang from 16 on, which
# refuses functions without a declaration: what one library's header brings along, another must not
# rely on.
. "${0%/*}/../support/lib_script.sh"
cd "$TAKT_ROOT" || exit 1

flags=(-std=c11 -D_GNU_SOURCE -Iinclude -Isrc -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow
    -Wstrict-prototypes -Wmissing-prototypes -Werror -Werror=implicit-function-declaration)
toolkit=${CUDA_HOME:-/usr/local/cuda}/include
[ ! -d "$toolkit" ] || flags+=(-isystem "$toolkit")

declare -A headers=([SQLITE]=sqlite3.h [MICROHTTPD]=microhttpd.h [DW]=elfutils/libdwfl.h
    [NVTX]=nvtx3/nvToolsExt.h)
for library in "${!headers[@]}"; do
    echo "#include <${headers[$library]}>" | ${CC:-cc} -isystem "$toolkit" -fsyntax-only -x c - 2>"$scratch/said" ||
        { leave_out "with $library" "no <${headers[$library]}>" && unset "headers[$library]"; }
done

compilers=("${CC:-cc}")
for clang in clang clang-{16..30}; do
    command -v "$clang" >/dev/null || continue
    [ "$(echo __clang_major__ | "$clang" -E -P -)" -lt 16 ] || { compilers+=("$clang") && break; }
done
[ "${#compilers[@]}" = 2 ] || leave_out "by clang" "no clang of version 16 or later"

libraries_of() { # SOURCE: those that it asks for, and that are here
    local library
    for library in $(cat "$1" $(sed -n 's/^#include "\(import\/.*\)"$/src\/\1/p' "$1") |
        grep -oE 'TKT_HAVE_[A-Z]+' | sort -u); do
        [ -z "${headers[${library#TKT_HAVE_}]-}" ] || echo "$library"
    done
}

subsets() { # WORD...: all subsets, one a line
    [ $# -gt 0 ] || { echo && return; }
    subsets "${@:2}" | sed "p; s/^/-D$1 /"
}

compiled=0
for source in $(grep -lE 'TKT_HAVE_|"import/nsys\.h"' src/*/*.c src/*/*/*.c); do
    while read -ra defined; do
        for compiler in "${compilers[@]}"; do
            $compiler "${flags[@]}" "${defined[@]}" "$source" 2>"$scratch/said" ||
                fail "$source with '${defined[*]}' by $compiler: $(head -n 5 "$scratch/said")"
            compiled=$((compiled + 1))
        done
    done < <(subsets $(libraries_of "$source"))
done
[ "$compiled" -ge 10 ] || fail "found $compiled combinations only"
finish "$compiled combinations compile"
