#!/bin/bash
# A plugin is opened and closed while its scopes are recorded: its names outlive it. A plugin may
# also bring Takt into a host that does not know it.
. "${0%/*}/../support/lib_script.sh"
export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 # of plugins that are gone

flags=(-std=gnu11 -O1 -g -Wall -Wextra -Werror -Iinclude)
[ -z "${SAN-}" ] || flags+=("-fsanitize=$SAN" -fno-sanitize-recover=all)
read -ra link_flags <<<"${LDFLAGS-}" # as the library was made: those of `make coverage`
flags+=("${link_flags[@]}")
with_takt=(-L"$TAKT_LIB" -Wl,-rpath,"$TAKT_LIB" -ltakt)

"$CC" "${flags[@]}" -fPIC -shared test/stress/plugin.c -o "$scratch/plugin.so" "${with_takt[@]}" &&
    "$CC" "${flags[@]}" -DWITH_TAKT test/stress/plugin_host.c -o "$scratch/host" -pthread -ldl \
        "${with_takt[@]}" &&
    "$CC" "${flags[@]}" test/stress/plugin_host.c -o "$scratch/stranger" -pthread -ldl ||
    fail "cannot be built"

# The host has Takt as a shared library.
"$scratch/host" "$scratch/plugin.so" "$scratch/traces" >"$scratch/output" 2>"$scratch/errors" ||
    fail "the host fails: $(cat "$scratch/errors")"
for name in 'scope of the plugin' 'phase of the plugin' 'activity of the plugin' \
    "a name on the plugin's stack"; do
    # Two threads, 50 rounds, two calls.
    grep -qE "$name .* 200( |\$)" "$scratch/output" ||
        fail "not 200 times '$name': $(cat "$scratch/output")"
done
for text in 'key of the plugin' 'value of the plugin' 'counter of the plugin' 'mark of the plugin' \
    'device of the plugin'; do
    grep -q "$text" "$scratch/traces/host.0.trace.json" || fail "no '$text' in the trace"
done
grep -q 'unmatched in the plugin' "$scratch/errors" || fail "does not say what is unmatched"

# The host has Takt within itself, and shows it to plugins.
"$CC" "${flags[@]}" -fPIC -shared test/stress/plugin.c -o "$scratch/bare.so" &&
    "$CC" "${flags[@]}" -DWITH_TAKT -rdynamic test/stress/plugin_host.c -o "$scratch/static" \
        "-Wl,--whole-archive" "$TAKT_LIB/libtakt.a" "-Wl,--no-whole-archive" -pthread \
        -ldl -lyaml -lz -lm || fail "cannot be built with the archive"
"$scratch/static" "$scratch/bare.so" "$scratch/static-traces" \
    >"$scratch/output" 2>"$scratch/errors" ||
    fail "the host with the archive fails: $(cat "$scratch/errors")"
grep -qE "scope of the plugin .* 200( |\$)" "$scratch/output" ||
    fail "not 200: $(cat "$scratch/output")"

# The host has no Takt; the environment may ask, but nobody steps.
"$scratch/stranger" "$scratch/plugin.so" "$scratch" >"$scratch/output" 2>"$scratch/errors" ||
    fail "a host without Takt fails: $(cat "$scratch/errors")"
[ ! -s "$scratch/output$scratch/errors" ] || fail "Takt speaks without being asked"
# The plugin has Takt within itself, which records. A thread outlives it; nothing is left behind.
loads=${LOADS:-20}
"$CC" "${flags[@]}" -fPIC -shared test/stress/plugin.c -o "$scratch/whole.so" \
    "$TAKT_LIB/libtakt.a" -pthread -ldl -lyaml -lz -lm || fail "cannot be built with the archive"
# Closed while it records, it saves that, and leaves no thread behind, whose code would be gone.
"$CC" "${flags[@]}" test/stress/unloading_host.c -o "$scratch/unloading" -ldl || fail "cannot be built"
if [ -z "${SAN-}" ]; then
    "$scratch/unloading" "$scratch/whole.so" "$scratch/left" >"$scratch/output" 2>&1 ||
        fail "closing a plugin that records: status $?: $(cat "$scratch/output")"
    grep -qx 'loaded 0' "$scratch/output" || fail "after closing: $(cat "$scratch/output")"
    [ -s "$scratch/left/left.0.pftrace" ] || fail "the recording of the closed plugin is not saved"
    "$scratch/stranger" "$scratch/whole.so" "$scratch" "$loads" \
        >"$scratch/output" 2>"$scratch/errors" ||
        fail "closing a plugin with Takt in it: status $?: $(tail -5 "$scratch/errors")"
    grep -qx 'keys 0' "$scratch/output" || fail "thread keys are left: $(cat "$scratch/output")"
    left=$(sed -n 's/^kB //p' "$scratch/output")
    [ "$left" -lt $((100 * loads)) ] || fail "$loads loads leave $left kB behind"
fi

# dlclose() unloads no library with unique symbols.
if ! command -v ${CXX:-c++} >/dev/null; then
    leave_out "a plugin in C++" "needs a C++ compiler"
    finish "names outlive their plugin"
    exit
fi
${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -Iinclude -fPIC -shared test/stress/plugin_inline.cpp \
    -o "$scratch/inline.so" || fail "the plugin in C++ cannot be built"
! readelf -sW "$scratch/inline.so" | grep UNIQUE || fail "the plugin in C++ cannot be unloaded"
finish "names outlive their plugin"
