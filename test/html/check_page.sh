#!/bin/bash
# takt report --html: where pages go, what is refused, and what they are made of: one file that asks
# for nothing, whose scripts and styles are those that its policy names, and no others.
. "${0%/*}/../cli/lib_cli.sh"
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
    exit $failures
) || fail "a page that is too large"
[ "$(cd "$scratch" && echo large*)" = 'large*' ] || fail "leaves half a page" "$(ls "$scratch")"

ran="(policy.py)"
python3 "$here/policy.py" "$scratch/run.html" >"$scratch/out" 2>&1 ||
    fail "the page is not as it should be" "$(cat "$scratch/out")"
finish
