#!/bin/bash
# takt report --html and takt diff --html: where pages go, what is refused, and what they are made
# of: one file that asks for nothing, whose scripts and styles are those that its policy names, and no
# others.
. "${0%/*}/../cli/lib_cli.sh"
. "${0%/*}/../cli/lib_compare.sh"
command -v python3 >/dev/null || { echo "needs python3" && exit 77; }
here=$(cd "${0%/*}" && pwd) || exit 1
make_traces
cp "$trace" "$scratch/run.pftrace"
gzip -c "$trace" >"$scratch/packed.pftrace.gz"

# Beside the file, under its name; where -o says; into a folder; several at once.
run report --html "$scratch/run.pftrace"
status_is 0
out_has "^wrote $scratch/run\.html \([0-9.]+ KiB\)$"
silent
run report --html "$scratch/packed.pftrace.gz" -o "$scratch/other.html"
status_is 0
mkdir "$scratch/folder"
run report --html --output "$scratch/folder" "$scratch/run.pftrace" "$scratch/packed.pftrace.gz"
status_is 0
[ "$(cd "$scratch/folder" && echo ./*)" = "./packed.html ./run.html" ] ||
    fail "writes into a folder" "$(ls -a "$scratch/folder")"
cmp -s "$scratch/run.html" "$scratch/folder/run.html" || fail "the same trace gives two pages"

# Of two runs: beside B, where -o says, into a folder; of folders in B.
cp "$scratch/run.pftrace" "$scratch/b.pftrace"
run diff --html "$scratch/run.pftrace" "$scratch/b.pftrace"
status_is 0
out_has "^wrote $scratch/b\.diff\.html \([0-9.]+ KiB\)$"
silent
mkdir "$scratch/pages" "$scratch/base" "$scratch/new"
run diff --html -o "$scratch/pages/two.html" "$scratch/run.pftrace" "$scratch/b.pftrace"
run diff --html --output "$scratch/pages" "$scratch/run.pftrace" "$scratch/packed.pftrace.gz"
longer=04123 # by length of its steps, the fourth run is in the middle of B, and the third of A
for i in 1 2 3 4 5; do
    run_of "$scratch/base/$i.pftrace" 60000 30000 '' $((800000 + i * 1000))
    run_of "$scratch/new/$i.pftrace" 60000 30000 '' $((900000 + ${longer:i-1:1} * 1000))
done
run diff --html "$scratch/base" "$scratch/new/"
status_is 0
run diff --html -o "$scratch/pages" "$scratch/base" --to "$scratch"/new/*.pftrace
status_is 0
[ "$(cd "$scratch" && echo pages/* new/*.html)" = \
    "pages/1.diff.html pages/packed.diff.html pages/two.html new/diff.html" ] ||
    fail "writes pages of two runs" "$(ls "$scratch/pages" "$scratch/new")"

# Its data are those of both pages, and what takt diff says.
run report --html -o "$scratch/a.html" "$scratch/base/3.pftrace"
run report --html -o "$scratch/b.html" "$scratch/new/4.pftrace"
run diff --json --rows 1000 "$scratch/base" "$scratch/new/"
python3 - "$here" "$scratch" >"$scratch/wrong" 2>&1 <<'EOF' || fail "another page of two runs" "$(cat "$scratch/wrong")"
import json, sys
sys.path.insert(0, sys.argv[1])
import page_data
two, a, b = (page_data.Page(f"{sys.argv[2]}/{name}.html") for name in ("new/diff", "a", "b"))
for name in ("facts", "lists", "data"):
    assert two.blocks.scripts[name] == a.blocks.scripts[name], f"{name} of A"
    assert two.blocks.scripts[name + "-b"] == b.blocks.scripts[name], f"{name} of B"
assert json.loads(two.unpacked("comparison")) == json.load(open(f"{sys.argv[2]}/out"))
EOF

# A question that makes no sense writes nothing.
before=$(cd "$scratch" && find . -type f ! -name out ! -name err | sort | xargs sha256sum)
refused 'leave out --scopes' report --html --scopes "$scratch/run.pftrace"
refused 'leave out the other one' report --html --json "$scratch/run.pftrace"
refused '^takt report: -o needs --html' report -o "$scratch/x.html" "$scratch/run.pftrace"
refused 'is not a folder, but there are several files' \
    report --html -o "$scratch/x.html" "$scratch/run.pftrace" "$scratch/packed.pftrace.gz"
refused 'would overwrite .* itself' \
    report --html -o "$scratch/run.pftrace" "$scratch/run.pftrace"
refused 'is not a regular file: name another file' report --html -o /dev/null "$scratch/run.pftrace"
refused 'leave out the other one' diff --html --csv "$scratch/run.pftrace" "$scratch/b.pftrace"
refused '^takt diff: -o needs --html' diff -o "$scratch/x.html" "$scratch/run.pftrace" "$scratch/b.pftrace"
refused 'is not a regular file: name another file' \
    diff --html -o /dev/null "$scratch/run.pftrace" "$scratch/b.pftrace"
for trace in run b base/2 new/5; do
    refused "would overwrite $scratch/$trace.pftrace itself" diff --html \
        -o "$scratch/$trace.pftrace" "$scratch/run.pftrace" "$scratch/base" --to "$scratch/b.pftrace" "$scratch/new"
done
run diff --html "$scratch/run.pftrace" "$scratch/none.pftrace"
status_is 1
ln "$scratch/run.pftrace" "$scratch/link.html"
refused 'would overwrite .* itself' report --html -o "$scratch/link.html" "$scratch/run.pftrace"
rm "$scratch/link.html"
run report --html -o "$scratch/none/x.html" "$scratch/run.pftrace"
status_is 1
err_has "^takt: cannot write $scratch/none/x.html: No such file or directory$"
run report --html "$scratch/run.html"
status_is 1
err_has 'not a trace that Takt wrote$'
after=$(cd "$scratch" && find . -type f ! -name out ! -name err | sort | xargs sha256sum)
[ "$before" = "$after" ] || fail "files were changed" "$(diff <(echo "$before") <(echo "$after"))"

# Where it cannot be written to its end, nothing half stays.
(
    trap '' XFSZ
    ulimit -f 16
    run report --html -o "$scratch/large.html" "$scratch/run.pftrace"
    status_is 1
    err_has "^takt: cannot write $scratch/large.html: File too large$"
    run diff --html -o "$scratch/large.html" "$scratch/run.pftrace" "$scratch/b.pftrace"
    status_is 1
    err_has "^takt: cannot write $scratch/large.html: File too large$"
    exit $failures
) || fail "a page that is too large"
[ "$(cd "$scratch" && echo large*)" = 'large*' ] || fail "leaves half a page" "$(ls "$scratch")"

ran="(policy.py)"
for page in run b.diff; do
    python3 "$here/policy.py" "$scratch/$page.html" >"$scratch/out" 2>&1 ||
        fail "$page.html is not as it should be" "$(cat "$scratch/out")"
done
finish
