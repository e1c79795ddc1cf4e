# Sourced by tests that compile with every compiler of this machine.
# shellcheck shell=bash

# The C++ compiler beside gcc, clang-16 and their like.
cxx_of() { sed 's/^gcc/g++/; s/^clang/clang++/' <<<"$1"; }

# Prints the C compilers that have a C++ compiler beside them, each program once. COMPILERS="gcc-11
# clang-16" chooses some.
compilers() {
    local compiler path seen=" " all
    all=$(echo gcc-{9..16} clang-{10..24} gcc clang)
    for compiler in ${COMPILERS-$all}; do
        command -v "$(cxx_of "$compiler")" >/dev/null || continue
        path=$(command -v "$compiler") || continue
        path=$(realpath "$path")
        [[ $seen != *" $path "* ]] || continue
        seen+="$path "
        echo "$compiler"
    done
}
