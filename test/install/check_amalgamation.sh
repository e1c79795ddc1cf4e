#!/bin/bash
# Takt in one file: it compiles without a warning, with and without the libraries that it may do
# without; and programs that use the public interface alone, samples and tests, work with it.
. "${0%/*}/../support/lib_script.sh"
need python3
cd "$TAKT_ROOT" || exit 1
# Variables given to the outer make reach the inner one; its job server does not.
MAKEFLAGS=$(sed -E 's/(^| )(-j[0-9]*|--jobserver[^ ]*)//g' <<<"${MAKEFLAGS-}")
export MAKEFLAGS
into=$scratch/takt
make --silent amalgamation INTO="$into" >/dev/null || fail "make amalgamation fails"
warnings=(-Wall -Wextra -Werror)

${CC:-cc} "${warnings[@]}" -c "$into/takt.c" -o "$scratch/takt.o" || fail "warnings"
if command -v clang >/dev/null; then
    clang "${warnings[@]}" -fsyntax-only "$into/takt.c" || fail "clang: warnings"
fi

# Without libyaml and zlib, by CMake where there is one.
without=(-DTAKT_NO_YAML -DTAKT_NO_ZLIB)
if command -v cmake >/dev/null; then
    cat >"$scratch/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(engine C CXX)
add_subdirectory(takt)
add_executable(engine engine.cpp)
target_link_libraries(engine takt::takt)
END
    printf '%s\n' '#include <takt.hpp>' '#include <cstdio>' \
        'int main() { takt::Scope scope("all"); std::puts(takt_version()); }' >"$scratch/engine.cpp"
    { cmake -S "$scratch" -B "$scratch/cmake" -DCMAKE_C_COMPILER="${CC:-cc}" \
        -DCMAKE_C_FLAGS="${warnings[*]}" "${without[@]/%/=ON}" &&
        cmake --build "$scratch/cmake" && "$scratch/cmake/engine"; } >"$scratch/said" 2>&1 ||
        fail "CMake: $(tail -n 5 "$scratch/said")"
    bare=$scratch/cmake/takt/libtakt.a
else
    ${CC:-cc} "${warnings[@]}" "${without[@]}" -c "$into/takt.c" -o "$scratch/bare.o" ||
        fail "warnings without libyaml and zlib"
    bare=$scratch/bare.o
fi

# What includes <takt/scope.h> finds the one header there, too.
mkdir "$scratch/takt-headers" "$scratch/takt-headers/takt"
for header in include/takt/*.h; do
    echo '#include "../../takt/takt.h"' >"$scratch/takt-headers/takt/${header##*/}"
done
build() { # OUT SOURCE LIBRARY...
    ${CC:-cc} -D_GNU_SOURCE -I"$scratch/takt-headers" -Itest -o "$1" "$2" "${@:3}" -pthread -lm -ldl ||
        fail "$2 does not build"
}

# Needs nothing but the C library, and records.
build "$scratch/hello" samples/hello.c "$bare"
refused=$(readelf -d "$scratch/hello" | grep NEEDED | grep -vE 'lib(c|m|dl|pthread)\.so|ld-linux' || true)
[ -z "$refused" ] || fail "hello needs $refused"
"$scratch/hello" >"$scratch/said" 2>&1 || fail "hello fails: $(cat "$scratch/said")"
grep -q 'Self CPU' "$scratch/said" || fail "hello prints no table: $(cat "$scratch/said")"
echo 'profiling: {active: 1}' >"$scratch/profile.yaml"
printf '%s\n' '#include <takt/takt.h>' \
    'int main(void) { return takt_profiler_start(NULL) == TAKT_UNSUPPORTED ? 0 : 1; }' >"$scratch/asks.c"
build "$scratch/asks" "$scratch/asks.c" "$bare"
TAKT_CONFIG=$scratch/profile.yaml "$scratch/asks" >"$scratch/said" 2>&1 ||
    fail "without libyaml: not TAKT_UNSUPPORTED"
grep -q 'profile.yaml.*no libyaml' "$scratch/said" || fail "without libyaml: $(cat "$scratch/said")"
for sample in steps callback; do
    build "$scratch/$sample" samples/$sample.c "$bare"
done
(cd "$scratch" && ./callback >said 2>&1) || fail "callback fails: $(cat "$scratch/said")"

# Tests that need no inside, with everything in it.
for test in cost flight names pairs schedule; do
    build "$scratch/test_$test" test/unit/test_$test.c "$scratch/takt.o" -lyaml -lz -lcmocka
    "$scratch/test_$test" >"$scratch/said" 2>&1 || fail "test_$test: $(tail -n 5 "$scratch/said")"
done

finish "one file does"
