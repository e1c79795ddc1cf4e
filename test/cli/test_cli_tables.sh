#!/bin/bash
# takt export --sqlite and --csv: tables and views agree with the reports and with each other, with
# odd names, without spans, and with what is left of a cut file.
. "${0%/*}/lib_cli.sh"
support=$(cd "${0%/*}/../support" && pwd)
page=$(cd "${TAKT_ROOT:-.}" && pwd)/docs/exports.md
odd=$(cd "$TAKT_BUILD" && pwd)/test/cli/prog_same
make=$(cd "$TAKT_BUILD" && pwd)/test/cli/prog_trace
cd "$scratch" || exit 1
python3 -c 'import sqlite3; assert sqlite3.sqlite_version_info >= (3, 28)' 2>/dev/null ||
    { echo "needs python3 with SQLite 3.28" && exit 77; }

mkdir trace summary
"$odd" trace trace 2>errors || fail "prog_same fails" "$(cat errors)"
"$odd" summary summary 2>errors || fail "prog_same fails" "$(cat errors)"
mv trace/*.pftrace odd.pftrace
mv summary/*.pftrace summary.pftrace
"$samples/sph" --steps 30 --particles 500 --quiet --profiling.wait 1 --profiling.active 25 \
    --profiling.name '=1+1,"x"' --output.traces perfetto --output.directory fluid >printed 2>&1 || fail "sph fails" "$(cat printed)"
mv fluid/*.pftrace fluid.pftrace

# Without -o beside the file; .db tells the format, .gz is none.
run export --csv fluid.pftrace
status_is 0
silent
out_is 'wrote fluid-csv'
grep -qx $'name,"\'=1+1,""x"""\r' fluid-csv/facts.csv || fail "a formula is one" "$(cat fluid-csv/facts.csv)"
refused '^takt export: --csv cannot be compressed with gzip$' export --csv --gzip fluid.pftrace
refused '^takt export: --sqlite cannot be compressed with gzip$' export --sqlite -o x.db.gz fluid.pftrace
run export --sqlite fluid.pftrace
if grep -q 'built without SQLite' <<<"$err"; then
    status_is 1
    [ "$failures" = 0 ] || exit 1
    echo "takt was built without SQLite" && exit 77
fi
status_is 0
silent
out_has '^wrote fluid\.db \([0-9.]+ (KiB|MiB)\)$'
run export -o other.db fluid.pftrace
status_is 0
cmp -s fluid.db other.db || fail "two exports differ"

compare() { # TRACE DATABASE FOLDER
    python3 "$support/compare_tables.py" "$takt" "$@" >compared 2>&1 ||
        fail "$1 is not what reports say" "$(cat compared)"
}
compare fluid.pftrace fluid.db fluid-csv
# Behind the first spans, and not where a packet ends: there no byte is left over. The file is packed,
# so that the next byte need not add anything.
most=$(($(stat -c %s odd.pftrace) * 3 / 4))
for size in $(seq $most $((most + 100))); do
    head -c "$size" odd.pftrace >cut.pftrace
    run info cut.pftrace
    [[ $out$err != *'could not be read'* ]] || break
done
for name in odd cut; do
    run export --sqlite --csv $name.pftrace
    status_is $([ $name = odd ] && echo 0 || echo 4)
    compare $name.pftrace $name.db $name-csv
done
# A scope in a callback: inside of a call that is no row, and no part of the scope around that.
printf '%s\n' 'run callback' 'thread main' 'span -1 0 0 1000 outer' 'call 0 100 600 launch' \
    'span 1 0 200 450 inside' 'call 2 250 300 query' 'span 0 0 700 800 later' |
    "$make" callback.pftrace
run export --sqlite --csv callback.pftrace
status_is 0
compare callback.pftrace callback.db callback-csv
# Where spans were lost, reports leave out what is not known, and take sums from a summary.
for summary in '' summary; do
    printf '%s\n' 'run lossy' $summary 'loss 1 7' 'thread main' 'span -1 0 0 1000 wait' \
        'span -1 0 1000 2000 step' 'span 1 0 1200 1500 inside' 'step 0 2000' | "$make" lossy.pftrace
    run export --sqlite --csv lossy.pftrace
    status_is 0
    compare lossy.pftrace lossy.db lossy-csv
done
[ "$(python3 -c 'import sqlite3
print(sqlite3.connect("lossy.db").execute("SELECT calls, cpu_memory_bytes FROM report_scopes").fetchall())')" = \
    '[(1, None), (1, None), (1, None)]' ] || fail "not the columns of the view"
# The same of activities alone: number 10 is of those for which there was no room.
printf '%s\n' 'run lossy' 'loss 10 7' 'device Imaginary 9000' 'thread main' 'span -1 0 0 9000 step' \
    'launch 0 1000 2000 kernel k' 'launch 0 5000 7000 kernel k' 'step 0 9000' | "$make" work.pftrace
run export --sqlite --csv work.pftrace
compare work.pftrace work.db work-csv
# Lines of CSV end in CR LF, so what has either one is in quotes.
printf '%s\n' 'thread main' $'span -1 0 0 10 a\rb' $'span -1 0 20 30 c' | "$make" lines.pftrace
run export --csv lines.pftrace
grep -q $',"a\rb",' lines-csv/spans.csv || fail "a CR without quotes" "$(cat lines-csv/spans.csv)"
grep -q ',c,' lines-csv/spans.csv || fail "quotes for nothing" "$(cat lines-csv/spans.csv)"
# Whatever overlaps, waits and fails. Left out are reports that tell launches apart which no device
# could make, and sites that no compiler could.
for seed in 1 2 4; do
    echo "random $seed" | "$make" random.pftrace
    run export --sqlite --csv random.pftrace
    status_is 0
    compare random.pftrace random.db random-csv scopes threads tasks counters steps api timeline \
        devices memory gaps launches phases
done
{ echo 'thread main' && echo 'phases 5'; } | "$make" phases.pftrace
run export --sqlite --csv phases.pftrace
status_is 0
compare phases.pftrace phases.db phases-csv phases
# The p99 of 1 to 101 us is the 100th: 99 % of 101 are 99.99. Of 99 calls nobody knows one.
for i in $(seq 101); do
    echo "activity $((i * 1000000)) $((i * 1001000)) many"
    [ "$i" -gt 99 ] || echo "activity $((i * 1000000)) $((i * 1001000)) few"
done | "$make" kernels.pftrace
run export --sqlite kernels.pftrace
[ "$(python3 -c 'import sqlite3
print(sqlite3.connect("kernels.db").execute("SELECT name, count, p99_ns FROM report_kernels").fetchall())')" = \
    "[('many', 101, 100000), ('few', 99, None)]" ] || fail "the view has another p99"
# Compilations, one with two architectures at once, and the loading of what they made.
printf '%s\n' 'run nvrtc' 'thread main' 'call -1 0 9 cuModuleLoadData' 'call -1 10 30 cuModuleLoadData' \
    'async compile: a.cu' 'span -1 0 100 1100 compilation' 'span -1 0 100 300 front end' \
    'span -1 0 150 250 parse: b.h' 'span -1 0 200 220 parse: c.h' 'span -1 0 400 500 front end' \
    'async compile: a.cu [90]' 'span -1 0 600 900 optimize' 'async compile: e.cu' \
    'span -1 0 2000 2100 compilation' | "$make" compile.pftrace
run export --sqlite --csv compile.pftrace
status_is 0
compare compile.pftrace compile.db compile-csv compile
grep -q $'^a.cu,parse,100,100,2,100\r$' compile-csv/compile.csv || fail "$(cat compile-csv/compile.csv)"
grep -q $'^cuModuleLoadData,call,29,2,20\r$' compile-csv/compile_loading.csv ||
    fail "$(cat compile-csv/compile_loading.csv)"
python3 "$support/table_questions.py" hostile odd.db odd-csv || fail "odd names are not whole"
python3 "$support/table_questions.py" cut cut.db || fail "the cut is not told"
python3 "$support/table_questions.py" run fluid.db || fail "the run has other steps"

# What viewers draw: arrows, counters, CUPTI's overheads; and the step of each row.
echo whole | "$make" whole.pftrace
run export --sqlite --csv whole.pftrace
status_is 0
if command -v protoc >/dev/null; then
    for name in whole random; do
        python3 "$support/table_questions.py" events $name.db $name.pftrace || fail "$name: other events"
    done
fi

# A folder that exists is the folder, also for a second time; a file is none.
run export --csv -o odd-csv fluid.pftrace
status_is 0
cmp -s odd-csv/spans.csv fluid-csv/spans.csv || fail "the tables of before are still there"
[ -z "$(find . -name '*.tmp*')" ] || fail "left files behind" "$(ls -a)"
refused 'fluid.pftrace and odd.pftrace would both be written to odd-csv$' \
    export --csv -o odd-csv fluid.pftrace odd.pftrace
run export --csv -o fluid.db fluid.pftrace
status_is 1
err_has '^takt: cannot write fluid\.db: Not a directory$'
for format in sqlite csv; do
    run export --$format -o none/x.db fluid.pftrace
    status_is 1
    out_is ""
    err_has '^takt: cannot write none/x\.db: '
done

# A summary has no events; the rest is there, also its reports.
run export --sqlite --csv summary.pftrace
status_is 0
err_has '^takt: summary\.pftrace: holds only a summary .* are empty$'
"$takt" report --scopes --json --rows all summary.pftrace >summary.json
python3 "$support/table_questions.py" summary summary.db summary-csv summary.json ||
    fail "a summary has events, or not its reports"

# What the page asks is answered.
python3 "$support/table_questions.py" page fluid.db "$page" || fail "a query of the page fails"

finish
