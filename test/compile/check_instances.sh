#!/bin/bash
# A program and a plugin that are each linked with libtakt.a record past each other: Takt says so,
# once, and names both files. With libtakt.so, or without the plugin, it says nothing.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
lib=${TAKT_LIB:-$PWD/lib}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/plugin.c" <<'EOF'
#include <takt/takt.h>
void work(void);
void work(void)
{
    TAKT_SCOPE("in the plugin");
}
EOF
cat >"$scratch/program.c" <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <takt/takt.h>
int main(int argc, char **argv)
{
    for (int cycle = 0; cycle < 2; cycle++) {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        takt_profiler *profiler = NULL;
        takt_profiler_create(&options, &profiler);
        takt_profiler_start(profiler);
        void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
        void (*work)(void) = plugin ? (void (*)(void))dlsym(plugin, "work") : NULL;
        if (work)
            work();
        { TAKT_SCOPE("in the program"); }
        takt_profiler_stop(profiler);
        printf("%u spans\n", (unsigned)takt_trace_facts(takt_profiler_trace(profiler))->span_count);
        takt_profiler_destroy(profiler);
    }
    return argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
}
EOF

# build KIND LIBRARY...
build() {
    local kind=$1
    shift
    # shellcheck disable=SC2086 # CC may be several words
    ${CC:-cc} -Iinclude -fPIC -shared -o "$scratch/$kind.so" "$scratch/plugin.c" "$@" -pthread -lm -ldl
    # shellcheck disable=SC2086
    ${CC:-cc} -Iinclude -o "$scratch/$kind" "$scratch/program.c" "$@" -pthread -lm -ldl
}

expect() { # SPANS WARNINGS PROGRAM [PLUGIN]
    local spans=$1 warnings=$2
    shift 2
    LD_LIBRARY_PATH=$lib "$@" >"$scratch/out" 2>"$scratch/err"
    [ "$(grep -c "^$spans spans$" "$scratch/out")" = 2 ] &&
        [ "$(grep -c 'copies of Takt' "$scratch/err")" = "$warnings" ] ||
        { echo "$*: expected $spans spans and $warnings warnings" && cat "$scratch"/{out,err} && exit 1; }
}

build static "$lib/libtakt.a" -lyaml -lz
build shared -L"$lib" -ltakt
expect 1 0 "$scratch/static"
expect 1 1 "$scratch/static" "$scratch/static.so"
grep -q "2 copies of Takt, in static and $scratch/static.so," "$scratch/err" ||
    { echo "the files are not named:" && cat "$scratch/err" && exit 1; }
expect 2 0 "$scratch/shared" "$scratch/shared.so"
expect 2 0 "$scratch/shared" "$scratch/static.so" # uses what libtakt.so exports
# A program that exports the parts of libtakt.a that it uses: the plugin uses these, and libtakt.so for
# the rest, whose profilers would not know what was recorded.
build exporting "$lib/libtakt.a" -lyaml -lz -rdynamic
expect 2 1 "$scratch/exporting" "$scratch/shared.so"
