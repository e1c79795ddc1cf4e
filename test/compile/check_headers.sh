#!/bin/bash
# Compiles every public header alone, as C and as C++, with gcc and clang; and all of them in one file
# as each standard that Takt promises, with every compiler of this machine, with and without
# TAKT_DISABLE, and with nvcc where there is one. Beside the headers it compiles the programs in this folder that use their macros: use_*.c as
# C and as C++, use_*.cpp as C++.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
. test/compile/lib_compilers.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A file for each header, so that no compiler takes it for a main file; ISO C wants a declaration.
for header in include/takt/{,compat/}*.{h,hpp}; do
    [ -f "$header" ] || continue
    suffix=${header##*.}
    name=$(basename "$header" ".$suffix")
    printf '#include <%s>\nextern int not_empty_%s;\n' "${header#include/}" "$name" \
        >"$scratch/$name.${suffix/h/c}"
done
cp test/compile/use_*.c* "$scratch" 2>/dev/null || true

mkdir "$scratch/all"
for file in "$scratch"/*.c*; do
    [[ $file == *.cpp ]] || echo "#include \"$file\"" >>"$scratch/all/c.c"
    echo "#include \"$file\"" >>"$scratch/all/cxx.cpp"
done

strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -fsyntax-only"
# Of a strict program, whose own code the macros are.
stricter="-Wcast-align -Wcast-qual -Wdouble-promotion -Wfloat-equal -Wformat=2 -Wredundant-decls
    -Wsign-conversion -Wswitch-enum -Wundef"
in_cxx="-Wold-style-cast -Wextra-semi -Wnon-virtual-dtor -Wzero-as-null-pointer-constant"
by_clang="-Wc++20-compat -Wcomma -Wconditional-uninitialized -Wextra-semi-stmt -Wshadow-all"

# Prints one command a line.
# shellcheck disable=SC2086 # several words
commands() {
    local c cxx warn disable standard
    for c in $(COMPILERS="gcc clang" compilers); do
        printf "$c -std=c11 $strict %s\n" "$scratch"/*.c
        printf "$(cxx_of "$c") -std=c++17 $strict -Wold-style-cast -x c++ %s\n" "$scratch"/*.c*
    done
    for c in $(compilers); do
        cxx=$(cxx_of "$c")
        for disable in "" -DTAKT_DISABLE; do
            warn="$strict $stricter $([[ $c == gcc* ]] || echo $by_clang)"
            for standard in c99 c11 c17 c2x; do
                echo $c -std=$standard $disable $warn "$scratch/all/c.c"
            done
            warn="$warn $in_cxx $([[ $c != gcc* ]] || echo -Wuseless-cast)"
            for standard in c++11 c++14 c++17 c++2a c++2b; do
                echo $cxx -std=$standard $disable $warn "$scratch/all/cxx.cpp"
            done
        done
    done
    # Not pedantic, since nvcc's own output is not.
    ! command -v nvcc >/dev/null ||
        printf "nvcc -x cu %s -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -Iinclude \
-c -o /dev/null $scratch/all/cxx.cpp\n" "" -DTAKT_DISABLE
}

commands >"$scratch/commands"
[ -s "$scratch/commands" ] || { echo "needs a C++ compiler" && exit 77; }
xargs -d '\n' -P 2 -I{} sh -c '{} || { echo "failed: {}"; exit 1; }' <"$scratch/commands"
echo "$(wc -l <"$scratch/commands") compilations with $(compilers | tr '\n' ' ')"
