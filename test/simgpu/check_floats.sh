#!/bin/bash
# Programs of a host that traps floating-point exceptions, as simulators' debug builds do, on the
# stand-ins: no report, file, mode or timer raises one, and the host's flags are as it left them.
. "${0%/*}/../support/lib_script.sh"
need "${CC:-cc}"
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
bin=$(cd "$TAKT_BIN" && pwd) || exit 1
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
cd "$scratch" || exit 1

cat >floats.c <<'END'
#define _GNU_SOURCE
#include <fenv.h>
#include <stdlib.h>
#include <unistd.h>
#define BAD (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW)
__attribute__((constructor)) static void begin(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    if (*getenv("TRAPS"))
        feenableexcept(BAD);
}
__attribute__((destructor)) static void end(void)
{
    if (fetestexcept(BAD)) {
        write(2, "flags were raised\n", 18);
        _exit(3);
    }
}
END
"${CC:-cc}" -shared -fPIC -O1 -o floats.so floats.c -lm || exit 1
reports=summary,scopes,tree,kernels,ops,activities,launches,gaps,devices,memory,steps,api,threads,tasks,counters,phases,timeline,compile

count=0
run() { # TRAPS MODE PROGRAM [ARGUMENT...]
    rm -rf files
    TRAPS=$1 TAKT_OPTIONS="profiling.mode=$2 profiling.active=4 profiling.with_flops=true reports=$reports
        output.directory=files output.traces=perfetto,chrome,folded,speedscope,tensorboard output.announce=false" \
        LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13 \
        LD_PRELOAD=$scratch/floats.so timeout 600 "${@:3}" >out 2>&1 ||
        fail "traps '$1', mode $2, ${*:3}: ends with $?: $(tail -n 3 out)"
    count=$((count + 1))
}
for traps in "" 1; do
    for mode in trace summary both flight; do
        run "$traps" $mode "$build/test/simgpu/prog_simulation"
        grep -q "Takt's cost" out && [ -n "$(ls files)" ] || fail "mode $mode: no tables, or no files: $(tail -n 3 out)"
        run "$traps" $mode "$bin/samples/steps"
    done
    for sample in inc_loop stream_overlap graph phases timed report_callback; do
        [ ! -x "$bin/samples/$sample" ] || run "$traps" trace "$bin/samples/$sample"
    done
done
finish "nothing is raised in $count runs"
