#!/bin/bash
# takt export: formats, names of files, and what must not be overwritten.
. "${0%/*}/lib_cli.sh"
need python3
make_traces
cd "$scratch" || exit 1
cp "$trace" run.pftrace

exists() { [ -s "$1" ] || fail "did not write $1" "$(ls)"; }
is_gzip() { [ "$(head -c 2 "$1" | od -An -tx1 | tr -d ' ')" = 1f8b ] || fail "$1 is not gzip"; }
no_rest() { [ -z "$(find . -name '*.tmp*' -o -name '.*.??????')" ] || fail "left files behind" "$(ls -a)"; }

# Without -o: beside the file, under its name.
run export --chrome run.pftrace
status_is 0
silent
out_has '^wrote run\.json \([0-9.]+ (bytes|KiB|MiB)\)$'
exists run.json
# For scripts: the files as JSON, with their sizes; a folder has none.
run export --json --chrome --folded --csv run.pftrace
status_is 0
silent
listed=$(python3 -c 'import json, sys; print(*((f["file"], f["bytes"]) for f in json.load(open(sys.argv[1]))))' out)
[ "$listed" = "('run.json', $(stat -c %s run.json)) ('run.folded', $(stat -c %s run.folded)) ('run-csv', None)" ] ||
    fail "the files are not listed" "$out"
run export --json --chrome none.pftrace
status_is 1
out_is "[]"
rm -r run-csv run.folded
run export --folded --chrome --gzip run.pftrace
status_is 0
exists run.folded.gz
is_gzip run.folded.gz
is_gzip run.json.gz
no_rest

# A value may follow its letter at once, and letters may share a dash.
run export --chrome -oat-once.json run.pftrace
status_is 0
exists at-once.json
run export --chrome -zo shared run.pftrace
status_is 0
is_gzip shared

# .gz by name; and the format by name.
run export --chrome -o a.json.gz run.pftrace
status_is 0
is_gzip a.json.gz
for name in b.json b.folded b.pftrace b.pftrace.gz b.json.gz; do
    run export -o $name run.pftrace
    status_is 0
    exists $name
done
cmp -s <(gzip -dc b.json.gz) b.json || fail "b.json.gz is not b.json"

# The native format keeps everything: what is exported reads back to the same tables.
for file in b.pftrace b.pftrace.gz; do
    for report in summary scopes tree steps timeline; do
        run report --$report --rows all --json run.pftrace
        expected=$out
        run report --$report --rows all --json $file
        out_is "$expected"
    done
done
cp b.pftrace.gz c.pftrace.gz
run export --chrome c.pftrace.gz
out_has '^wrote c\.json '

# A folder with one trace is that trace; of several one must be named.
mkdir alone
cp run.pftrace alone/sph.0.pftrace
run export --chrome alone
status_is 0
out_has '^wrote alone/sph\.0\.json '
run view --html alone
status_is 0
exists alone/sph.0.html
cp run.pftrace alone/sph.1.pftrace
for verb in "export --chrome" view "view --html"; do
    # shellcheck disable=SC2086 # words
    run $verb alone
    status_is 1
    err_is 'takt: alone: this folder has 2 traces: name one of them, such as alone/sph.0.pftrace'
done
rm -r alone

# A folder as output; several files and formats.
mkdir folder one two
cp run.pftrace one/x.pftrace && cp run.pftrace two/x.pftrace && cp run.pftrace two/y.pftrace
run export --chrome --folded -o folder one/x.pftrace two/y.pftrace
status_is 0
for name in x.json x.folded y.json y.folded; do
    exists folder/$name
done
rm folder/*
refused 'one/x.pftrace and two/x.pftrace would both be written to folder/x.json$' \
    export --chrome -o folder one/x.pftrace two/x.pftrace
[ -z "$(ls folder)" ] || fail "wrote something although it was refused" "$(ls folder)"
refused '^takt export: -o all.json is not a folder, but there are several files to write: create the folder first$' \
    export --chrome -o all.json one/x.pftrace two/y.pftrace

# The trace itself is never overwritten, by whatever name.
ln -s run.pftrace link.pftrace
before=$(cksum run.pftrace)
for words in "--perfetto run.pftrace" "--perfetto link.pftrace" "--chrome -o run.pftrace run.pftrace" \
    "--perfetto -o . one/../run.pftrace" "--perfetto -o ./link.pftrace run.pftrace"; do
    # shellcheck disable=SC2086 # words
    refused 'would overwrite .* itself: name another file with -o$' export $words
done
[ "$(cksum run.pftrace)" = "$before" ] || fail "the trace has changed"

# A next file where one is full; it is said, and each of them is whole.
"$samples/sph" --steps 120 --particles 300 --quiet --profiling.wait 1 --profiling.active 115 \
    --output.traces perfetto --output.directory fluid >printed 2>&1 || fail "sph fails" "$(cat printed)"
fluid=$(find fluid -name '*.pftrace')
run export --chrome --max-size 16KiB -o part.json "$fluid"
status_is 0
silent
out_has '^part.json has reached its limit of .* bytes, the trace continues in part.2.json to part.[0-9]*.json$'
[ "$(grep -c limit <<<"$out")" -eq 1 ] || fail "a line for each part" "$out"
out_has '^wrote part.json '
exists part.2.json
for name in run.json part.json part.2.json; do
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' $name || fail "$name is no JSON"
done
[ "$(stat -c %s part.json)" -le 16384 ] || fail "part.json is larger than 16 KiB"
for size in 40k 0.04m 40KiB 40kB 40960; do
    run export --chrome --max-size $size -o part.json "$fluid"
    status_is 0
    size=$(stat -c %s part.json)
    [ "$size" -gt 20480 ] && [ "$size" -le 41944 ] || fail "part.json has $size bytes"
done

# Options that no wanted format knows.
refused 'no-waits has no effect without --chrome$' export --perfetto --no-waits -o other.pftrace run.pftrace
refused 'plain has no effect without --perfetto$' export --chrome --plain run.pftrace
refused 'per-device has no effect without --chrome$' export --per-device -o x.folded run.pftrace
refused 'max-size has no effect without --chrome$' export --xplane --max-size 1m run.pftrace
run export --chrome --perfetto --plain --no-waits -o folder run.pftrace
status_is 0
refused 'xplane cannot be compressed with gzip$' export --xplane -z run.pftrace

# Failures leave nothing behind.
run export --chrome -o none/x.json run.pftrace
status_is 1
out_is ""
err_has 'none/x.json'
run export --chrome none.pftrace
status_is 1
err_has 'none.pftrace'
[ ! -e none.json ] || fail "wrote a file for a trace that is not there"
run export --chrome none.pftrace run.pftrace
status_is 1
out_has '^wrote run.json '
no_rest

finish
