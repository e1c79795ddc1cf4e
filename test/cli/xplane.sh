#!/bin/bash
# XSpace files of real runs keep the rules of XProf's converters, protoc decodes them in full, their
# operations are those of the Chrome file, and each cycle has a folder of its own.
. "${0%/*}/../support/lib_script.sh"
need python3 protoc

run() { # FOLDER OPTION...
    local folder=$1
    shift
    "$TAKT_BIN/samples/sph" --profile samples/sph/profile.yaml --particles 300 --quiet \
        --output.directory "$scratch/$folder" "$@" >"$scratch/output" || fail "sph fails"
}
rules() { # FILE...
    python3 test/support/check_xplane.py "$@" >"$scratch/rules" || {
        fail "rules are broken:"
        head -n 20 "$scratch/rules"
    }
}

# 20 cycles of one step, many in a millisecond: each has a folder, and one file in it although two
# outputs ask for it.
run cycles --steps 30 --profiling.wait 0 --profiling.warmup 0 \
    --profiling.active 1 --profiling.repeat 20 --output.traces tensorboard,xplane
for kind in sph.0 sph.19; do
    [ -d "$scratch/cycles/plugins/profile/$kind" ] || fail "no folder $kind"
done
mapfile -t files < <(find "$scratch/cycles" -name '*.xplane.pb')
[ "${#files[@]}" = 20 ] || fail "${#files[@]} files, not 20"
rules "${files[@]}"

# Two processes of one job on this host, and again: two runs of two files.
for rank in 0 1 1 0; do
    RANK=$rank WORLD_SIZE=2 run job --steps 6 --profiling.wait 0 --profiling.active 2 --profiling.repeat 1 \
        --output.traces xplane
done
(cd "$scratch/job/plugins/profile" && echo ./*/*) |
    sed -E 's#/[^/ ]+(\.rank[01])#/HOST\1#g' >"$scratch/names"
echo ./sph.0-2/HOST.rank{0,1}.xplane.pb ./sph.0/HOST.rank{0,1}.xplane.pb >"$scratch/expected"
same "a job's files" "$scratch/expected" "$scratch/names"

# The command's file has what Chrome's has: calls of scopes by name, and the time of those that are
# not inside one of their name.
run whole --steps 50 --profiling.active 30 --output.traces perfetto,chrome
file=$scratch/whole/sph.0.xplane.pb
"$takt" export --xplane -o "$file" "$scratch/whole/sph.0.pftrace" >/dev/null || fail "no export"
rules "$file"
python3 test/support/chrome_totals.py "$scratch/whole/sph.0.trace.json" | cut -f 1,3 >"$scratch/chrome"
python3 test/support/check_xplane.py --ops "$file" | awk -F '\t' '
    { parts = split($1, part, "/"); name = part[parts]
      for (i = 1; i < parts; i++) if (part[i] == name) next
      total[name] += $3 }
    END { for (name in total) print name "\t" total[name] }' | LC_ALL=C sort >"$scratch/ops"
[ "$(wc -l <"$scratch/ops")" -gt 5 ] || fail "too few operations"
same "other totals than Chrome's" "$scratch/chrome" "$scratch/ops"

protoc --decode=Space -I test/support xplane.proto <"$file" >"$scratch/text" || fail "protoc fails"
if grep -nE '^ *[0-9]+(:| \{)' "$scratch/text" | head -n 3 | grep .; then
    fail "fields that are not in xplane.proto"
fi

# A full disk leaves nothing behind.
if [ -c /dev/full ]; then
    "$takt" export --xplane -o /dev/full "$scratch/whole/sph.0.pftrace" >/dev/null 2>&1 &&
        fail "a full disk is not noticed"
fi
finish "XProf's rules are kept, and operations add up to Chrome's"
