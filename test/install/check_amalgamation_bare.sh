#!/bin/bash
# Takt in one file without libyaml and zlib: it compiles without a warning, needs nothing but the C
# library, and samples work with it.
. "${0%/*}/lib_amalgamation.sh"

# By CMake where there is one.
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

    # As a shared library, which a program and its plugin have in common. Takt is not compiled again.
    cat >>"$scratch/CMakeLists.txt" <<'END'
add_executable(host host.c)
add_library(plugin MODULE plugin.c)
target_link_libraries(host takt::takt ${CMAKE_DL_LIBS})
target_link_libraries(plugin takt::takt)
END
    printf '%s\n' '#include <takt.h>' 'void work(void);' 'void work(void) { TAKT_SCOPE("plugged"); }' \
        >"$scratch/plugin.c"
    printf '%s\n' '#include <takt.h>' '#include <dlfcn.h>' \
        'int main(int argc, char **argv) { takt_profiler_start(NULL);' \
        'void *plugin = dlopen(argv[argc - 1], RTLD_NOW);' \
        'void (*work)(void) = (void (*)(void))dlsym(plugin, "work"); work(); dlclose(plugin);' \
        'return takt_profiler_stop(NULL); }' >"$scratch/host.c"
    { cmake -S "$scratch" -B "$scratch/cmake" -DBUILD_SHARED_LIBS=ON && cmake --build "$scratch/cmake" &&
        TAKT_OPTIONS="profiling.active=0 reports=scopes output.traces=" "$scratch/cmake/host" \
            "$scratch/cmake/libplugin.so"; } >"$scratch/said" 2>&1 ||
        fail "CMake with BUILD_SHARED_LIBS: $(tail -n 5 "$scratch/said")"
    ! grep 'takt\.c\.o' "$scratch/said" || fail "Takt is compiled again for a shared library"
    grep -q '^plugged ' "$scratch/said" || fail "no scope of the plugin: $(tail -n 20 "$scratch/said")"
else
    ${CC:-cc} "${warnings[@]}" "${without[@]}" -c "$into/takt.c" -o "$scratch/bare.o" ||
        fail "warnings without libyaml and zlib"
    bare=$scratch/bare.o
fi

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

finish "one file does without libraries"
