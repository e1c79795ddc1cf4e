#!/bin/bash
# Each view of a page, of the fluid, of a simulation on the stand-ins, and of a run with a million
# spans, light, dark and on a telephone: nothing is wider than the screen, and each number is that of
# `takt report`.
. "${0%/*}/../support/lib_script.sh"
. "${0%/*}/../support/lib_npm.sh"
. "${0%/*}/lib_pages.sh"
here=$(cd "${0%/*}" && pwd) || exit 1

# Writes reports, all unless some are named, that the trace has.
reports() { # NAME TRACE [REPORT...]
    local report all=(scopes tree kernels ops activities launches gaps devices memory steps api threads
        tasks counters phases timeline compile summary)
    [ $# = 2 ] || all=("${@:3}")
    mkdir "$scratch/$1-reports"
    for report in "${all[@]}"; do
        "$takt" report "--$report" --json --rows 1000 "$2" >"$scratch/$1-reports/$report.json" \
            2>/dev/null || [ $? = 4 ] || rm "$scratch/$1-reports/$report.json"
    done
}
simulate sim trace
reports sim "$scratch/sim/sim.0.pftrace"
fluid_page
reports fluid "$scratch/fluid/sph.0.pftrace"
large_page
cp "$large/large.html" "$scratch/large.html"
reports large "$large/large.0.pftrace" gaps memory summary

# A trace with everything, with losses, and one whose end is missing.
"$build/test/unit/prog_perfetto" "$scratch/random.pftrace" >/dev/null || exit 1
page random "$scratch/random.pftrace"
reports random "$scratch/random.pftrace"
run_large "$scratch/short" 20
head -c $(($(stat -c %s "$scratch/short/large.0.pftrace") * 7 / 10)) "$scratch/short/large.0.pftrace" \
    >"$scratch/cut.pftrace"
"$takt" report --html -o "$scratch/cut.html" "$scratch/cut.pftrace" >"$scratch/out" 2>&1
[ $? = 4 ] || { echo "no page of cut: $(cat "$scratch/out")" && exit 1; }
reports cut "$scratch/cut.pftrace"

node "$here/numbers_test.js" "$scratch" && node "$here/looks_test.js" "$scratch"
status=$?
[ $status = 0 ] && finish "views fit, and their numbers are the report's$pictures"
exit $status
