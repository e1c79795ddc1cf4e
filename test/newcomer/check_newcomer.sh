#!/bin/bash
# What docs/architecture.md says of changes is true: in a copy of the sources, a new report is one
# file and one line and a new key one row. All that shows them follows, and the tests say which of
# the documents and golden files are missing.
# shellcheck disable=SC2034,SC2154 # lib_cli.sh uses and sets these
. "${0%/*}/../cli/lib_cli.sh"
need python3
root=$(cd "${TAKT_ROOT:-.}" && pwd)
build=$(cd "${TAKT_BUILD:-build}" && pwd)
copy=$scratch/takt

# With the objects of this build, of which most stay as they are.
mkdir -p "$copy/build/obj/test" "$copy/lib"
cd "$root" || exit 1
cp -a Makefile include src test docs samples "$copy" || exit 1
cp -a "$build/flags.stamp" "$build/html" "$copy/build" &&
    cp -a "$build/obj/src" "$copy/build/obj" &&
    cp -a "$build/obj/test/unit" "$build/obj/test/support" "$copy/build/obj/test" || exit 1
cd "$copy" || exit 1

# ---- A report: a file, and a line ----
cat >src/report/show_tracks.c <<'EOF'
/* The report tracks: how many spans each track has. */
#include "report/show.h"

#include "trace/model.h"

static const tkt_column columns[] = {
    {"Track", "track", TKT_CELL_TEXT, 0, true, 1},
    {"Spans", "spans", TKT_CELL_COUNT, 1, false, 1},
};

takt_status tkt_show_tracks(tkt_document *document, const takt_report_options *options)
{
    (void)options;
    const takt_trace *trace = document->trace;
    size_t count = trace->tracks.count;
    tkt_table *table = tkt_document_add_table(document, "tracks", columns, 2, count);
    for (size_t i = 0; table && i < count; i++) {
        tkt_cell *row = tkt_table_add_row(table);
        row[0].text = tkt_trace_text(trace, trace->tracks.items[i].name);
        row[1].u = trace->tracks.items[i].spans.count;
    }
    return document->status;
}
EOF
sed -i 's/^    REPORT(gaps, /    REPORT(tracks, ALWAYS, "how many spans each track has") \\\n&/' src/report/reports.h

# ---- A key: a row ----
sed -i 's/^    KEY(LEVEL, /    KEY(PATIENCE, "profiling.patience_ms", COUNT("20", 1, 500), CODE, \\\n        "How long the newcomer waits.") \\\n&/' \
    src/config/keys.h

tests="build/test/unit/test_report_text build/test/unit/test_config_document"
# shellcheck disable=SC2086 # words
make -j2 CC="${CC:-cc}" CXX="${CXX:-c++}" bin/takt $tests >log 2>&1 ||
    { echo 'the copy does not build:' && tail -20 log && exit 1; }
takt=$copy/bin/takt

# The command knows both.
"$build/test/cli/prog_trace" run.pftrace <<'EOF'
run newcomer
thread main
span -1 0 1000 2000 forces
span -1 0 3000 4000 forces
EOF
run report --tracks run.pftrace
status_is 0
out_has '^main +2$'
run report --tracks --json run.pftrace
out_has '"rows": \[$'
out_has '\{"track": "main", "spans": 2\}'
run report --tracks --csv run.pftrace
out_has '^main,2'
run report --tracks --markdown run.pftrace
out_has '^\| main \| 2 \|$'
run report --html -o page.html run.pftrace
grep -q '"tracks"' page.html || fail 'is not on the page'
run report --help
out_has '^ +--tracks +how many spans each track has$'
run help --man
out_has 'how many spans each track has'
run completion bash
out_has 'tracks'
run config explain
out_has 'patience_ms: 20'
run config explain --json
out_has 'How long the newcomer waits'
run config options
out_has 'profiling.patience'
cat >profile.yaml <<'EOF'
profiling: {patience_ms: 1000}
reports: [tracks]
EOF
run config check profile.yaml
status_is 1
err_has 'patience_ms: expected a whole number from 1 to 500'
sed -i 's/1000/100/' profile.yaml
run config check profile.yaml
status_is 0

# The tests say what is missing.
missing() { # WHAT COMMAND...
    local what=$1
    shift
    out=$(TAKT_ROOT=$copy "$@" 2>&1) && fail "passes, though $what is missing"
    out_has "$what"
}
missing 'golden/report_tracks_80.txt is missing: UPDATE_GOLDEN=1 makes it' build/test/unit/test_report_text
missing 'docs/config.md is out of date' build/test/unit/test_config_document
TAKT_ROOT=$copy UPDATE_GOLDEN=1 build/test/unit/test_report_text >log 2>&1 || fail 'no golden files' "$(cat log)"
missing 'there is no section for tracks' python3 test/cli/check_reports_page.py
finish
