#!/bin/bash
# Functions, files and lines of call stacks: of programs with and without frame pointers, inlined
# functions, static ones without debugging information, and a plugin that is closed before the trace
# is made. Lines are those of the sources below, and what addr2line says.
. "${0%/*}/../support/lib_script.sh"
need addr2line
export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 # of a plugin that is gone

cat >"$scratch/chain.c" <<'SOURCE'
#include <takt/takt.h>
#include <dlfcn.h>
#include <stddef.h>
static inline __attribute__((always_inline)) void pair(void)
{
    TAKT_SCOPE("pair"); /* line 6 */
}
static __attribute__((noinline)) void forces(void)
{
    pair(); /* line 10 */
    __asm__ volatile("");
}
static __attribute__((noinline)) void step(void)
{
    TAKT_BEGIN("step"); /* line 15 */
    forces(); /* line 16 */
    TAKT_END("step");
}
int main(int argc, char **argv)
{
    void (*work)(void) = NULL;
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    takt_profiler_start(NULL);
    step(); /* line 24 */
    if (plugin)
        *(void **)&work = dlsym(plugin, "plugin_work");
    if (work)
        work();
    if (plugin)
        dlclose(plugin);
    takt_profiler_stop(NULL);
    return argc > 1 && !work;
}
SOURCE
cat >"$scratch/plugin.c" <<'SOURCE'
#include <takt/takt.h>
static __attribute__((noinline)) void hidden(void)
{
    TAKT_SCOPE("in the plugin"); /* line 4 */
}
void plugin_work(void)
{
    hidden(); /* line 8 */
    __asm__ volatile("");
}
SOURCE

# compile OUTPUT SOURCE FLAGS...
compile() {
    local flags=(-std=gnu11 -Iinclude -L"$TAKT_LIB" -Wl,-rpath,"$TAKT_LIB")
    [ -z "${SAN-}" ] || flags+=("-fsanitize=$SAN")
    "$CC" "${@:3}" "$scratch/$2" -o "$scratch/$1" "${flags[@]}" -ltakt -ldl -pthread ||
        fail "cannot compile $1"
}

# record PROGRAM [ARGUMENTS]: writes $scratch/PROGRAM.0.pftrace
record() {
    echo "profiling: {name: $1, active: 0, with_stack: true}
reports: []
output: {directory: $scratch, traces: [perfetto]}" >"$scratch/profile.yaml"
    TAKT_CONFIG=$scratch/profile.yaml "$scratch/$1" "${@:2}" >"$scratch/output" 2>&1 ||
        fail "$1 fails: $(cat "$scratch/output")"
}

# expect TRACE FRAMES TEXT...: a row of the table ends with each text.
expect() {
    "$takt" report --scopes --by-stack "$2" --csv "$1" >"$scratch/table" 2>"$scratch/errors" ||
        fail "no table: $(cat "$scratch/errors")"
    for text in "${@:3}"; do
        tr -d '\r' <"$scratch/table" | grep -q -- ",$text\$" ||
            fail "$1: no '$text': $(cat "$scratch/table" "$scratch/errors")"
    done
}

lines=('chain.c(6): pair <- chain.c(10): forces <- chain.c(16): step <- chain.c(24): main'
    'chain.c(15): step <- chain.c(24): main.*')
compile frames chain.c -g -O2 -fno-omit-frame-pointer
compile bare chain.c -g -O2 -fomit-frame-pointer
compile slow chain.c -g -O0
compile stripped chain.c -O2 -fomit-frame-pointer
compile plugin.so plugin.c -g -O2 -fPIC -shared
for program in frames bare slow; do record "$program"; done
record stripped "$scratch/plugin.so"

# Without libdw, and without debugging information, there are places, which addr2line knows.
"$takt" export --stacks -o "$scratch/stacks" "$scratch/bare.0.pftrace" >"$scratch/output" 2>&1
if grep -q 'without libdw' "$scratch/output"; then
    # The deepest stack is that of pair; its last place is the innermost.
    place=$(awk -F ';' 'NF > most { most = NF; deepest = $NF } END { print deepest }' "$scratch/stacks")
    place=${place%% *}
    addr2line -f -i -e "$scratch/bare" "${place#*+}" | grep -q 'chain.c:6' ||
        fail "$place is not in pair: $(cat "$scratch/stacks")"
    finish "places are right; names need libdw"
    exit
fi
for program in frames bare slow; do
    expect "$scratch/$program.0.pftrace" 4 "${lines[@]}"
done
expect "$scratch/stripped.0.pftrace" 2 'forces <- step' 'step <- main' \
    'plugin.c(4): hidden <- plugin.c(8): plugin_work'

# What is written with names is read with them, and not asked about again.
"$takt" export --perfetto -o "$scratch/again.pftrace" "$scratch/bare.0.pftrace" >"$scratch/output"
expect "$scratch/again.pftrace" 4 "${lines[@]}"

# Another program by now, or none at all.
touch -d '+1 hour' "$scratch/bare"
rm "$scratch/slow"
expect "$scratch/bare.0.pftrace" 1 'bare+0x[0-9a-f]*'
grep -q 'newer than the recording' "$scratch/errors" || fail "says nothing of a newer program"
expect "$scratch/slow.0.pftrace" 1 'slow+0x[0-9a-f]*'
grep -q 'file not found' "$scratch/errors" || fail "says nothing of a program that is gone"
expect "$scratch/again.pftrace" 4 "${lines[@]}"
finish "functions and lines are right"
