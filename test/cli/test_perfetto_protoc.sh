#!/bin/bash
# protoc, which knows nothing of Takt but test/support/perfetto.proto, decodes a file of Takt's in
# full, the scopes that an independent script adds up from it are those that were written, and another
# one finds what Perfetto relies on.
set -eu

command -v protoc >/dev/null || { echo "needs protoc" && exit 77; }
command -v python3 >/dev/null || { echo "needs python3" && exit 77; }
cd "${TAKT_ROOT:-.}"
writer=${TAKT_BUILD:-build}/test/unit/prog_perfetto
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
file=$scratch/trace.pftrace

"$writer" "$file" >"$scratch/written"
test/support/perfetto_totals.py "$file" >"$scratch/added"
diff -u "$scratch/written" "$scratch/added" || { echo "totals differ" && exit 1; }
[ "$(wc -l <"$scratch/written")" -gt 100 ] || { echo "the file has too few scopes" && exit 1; }

test/support/perfetto_rules.py "$file"

# What Takt writes by default has the same packets, compressed.
"${TAKT_BIN:-bin}/takt" export --perfetto -o "$scratch/packed.pftrace" "$file" >/dev/null
[ $(($(stat -c %s "$scratch/packed.pftrace") * 3)) -lt "$(stat -c %s "$file")" ] || {
    echo "the default is hardly smaller" && exit 1
}
test/support/perfetto_totals.py "$scratch/packed.pftrace" | cmp - "$scratch/added"
test/support/perfetto_rules.py "$scratch/packed.pftrace"

gzip -c "$file" >"$file.gz"
test/support/perfetto_totals.py "$file.gz" | cmp - "$scratch/added"

protoc --decode=Trace -I test/support perfetto.proto <"$file" >"$scratch/text" 2>"$scratch/errors"
[ ! -s "$scratch/errors" ] || { cat "$scratch/errors" && exit 1; }
# Fields that the description does not know are printed by number.
if grep -nE '^ *[0-9]+(:| \{)' "$scratch/text" | head -n 3 | grep .; then
    echo "fields that are not in perfetto.proto"
    exit 1
fi
# Every kind of thing is there.
for word in TYPE_INSTANT 'flow_ids' 'terminating_flow_ids' 'double_counter_value' 'counter_value' \
    'pointer_value' 'int_value' 'uint_value' 'double_value' 'bool_value' 'string_value' \
    'category_iids' 'source_location_iid' 'kind: STEPS' 'kind: ASYNC' 'lane: 1' 'losses' 'end: true' \
    'kind: CALL' 'kind: STREAM' 'kind: WAITS' 'kind: OVERHEADS' 'kind: DEVICE_MEMORY' \
    'kind: EVENTS' 'string_value_iid' 'array_values' 'devices' 'shapes' 'device_memory' \
    'kind: SM' 'segments' 'records' 'phase_names'; do
    grep -qE -- "(^| )$word" "$scratch/text" || { echo "no $word in the file" && exit 1; }
done
