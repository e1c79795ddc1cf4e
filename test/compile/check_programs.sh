#!/bin/bash
# Programs that use the macros and the C++ header are built with every compiler of this machine, and
# compute and record what they should: README's example apart, those of this folder.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
. test/compile/lib_compilers.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run() { # WHAT COMMAND...
    "${@:2}" >"$scratch/out" 2>&1 || { echo "$1 fails:" && cat "$scratch/out" && exit 1; }
}

flags="-O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -Isrc -Itest"
libraries="$TAKT_LIB/libtakt.a -lcmocka -ljansson -lyaml -lz -lm -ldl -pthread"
count=0
for c in $(compilers); do
    # shellcheck disable=SC2086 # several words
    run "$c" "$c" -std=c11 $flags -o "$scratch/values" test/compile/test_values.c $libraries
    run "test_values by $c" "$scratch/values"
    for standard in c++11 c++17 c++2a; do
        # shellcheck disable=SC2086
        run "$(cxx_of "$c")" "$(cxx_of "$c")" -std=$standard $flags -o "$scratch/hpp" \
            test/compile/test_hpp.cpp $libraries
        run "test_hpp by $(cxx_of "$c") as $standard" "$scratch/hpp"
    done
    said=$(printf '%s\n' '#include <takt/takt.h>' 'int main() { TAKT_TIMED(nullptr) {} }' |
        "$(cxx_of "$c")" -std=c++11 -Iinclude -x c++ -fsyntax-only - 2>&1) || true
    [[ $said == *'TAKT_TIMED is for C'* ]] || { echo "TAKT_TIMED in C++: $said" && exit 1; }
    count=$((count + 4))
done
[ "$count" -gt 0 ] || { echo "needs a C++ compiler" && exit 77; }
echo "$count programs by $(compilers | tr '\n' ' ')"
