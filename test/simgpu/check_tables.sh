#!/bin/bash
# What devices did, as tables: each view of an exported database is the report of its name, the same
# is in the files of CSV, and speedscope's frames add up to the report of activities. Waits, flows and
# XSpace are what the program's own books say.
. "${0%/*}/../support/lib_script.sh"
need python3
python3 -c 'import sqlite3; assert sqlite3.sqlite_version_info >= (3, 28)' 2>/dev/null ||
    { echo "needs python3 with SQLite 3.28" && exit 77; }
root=$(cd "${0%/*}/../.." && pwd) || exit 1
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
support=$root/test/support
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
cd "$scratch" || exit 1

echo "profiling: {name: truth, wait: 1, warmup: 1, active: 2, repeat: 1}
reports: []
output: {directory: $scratch, traces: [perfetto]}" >profile.yaml
mkdir books
trace=truth.0.pftrace
# Exit status 3 says that the machine was too slow for the gate.
for gate in 30 120 480 1500; do
    rm -f $trace
    LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13 \
        timeout 600 "$build/test/simgpu/prog_truth" books profile.yaml $gate "" >printed 2>&1
    [ $? = 3 ] || break
done
[ -s $trace ] || { echo "prog_truth wrote no trace" && tail -n 5 printed && exit 1; }

"$takt" export --sqlite --csv --speedscope --xplane $trace >printed 2>errors || {
    grep -q 'built without SQLite' errors && echo "takt was built without SQLite" && exit 77
    fail "takt export fails: $(cat errors)"
}
python3 "$support/compare_tables.py" "$takt" $trace truth.0.db truth.0-csv >compared 2>&1 ||
    fail "$(cat compared)"
python3 "$root/test/simgpu/truth_tables.py" books truth.0.db truth.0.xplane.pb >true 2>&1 ||
    fail "$(cat true)"
"$takt" report --gaps --json $trace >gaps.json
python3 "$support/table_questions.py" gaps truth.0.db "$root/docs/exports.md" gaps.json ||
    fail "the page's longest gaps are not the report's"

python3 "$support/speedscope_totals.py" --devices truth.0.speedscope.json >speedscope
"$takt" report --activities --json --rows all $trace | python3 -c '
import json, sys
for row in sorted(json.load(sys.stdin)["rows"], key=lambda row: row["activity"]):
    print(row["activity"], row["count"], row["total_time_ns"], sep="\t")' >activities
same "speedscope against the table of activities" activities speedscope
[ "$(wc -l <speedscope)" -gt 5 ] || fail "there are only $(wc -l <speedscope) kinds of activities"

finish "$(cat compared); $(cat true)"
