#!/bin/sh
# The example in README.md compiles as it stands there, runs, and is profiled by TAKT_OPTIONS.
set -eu

sed -n '/^```c$/,/^```$/p' "$TAKT_ROOT/README.md" | sed '1d;$d' >"$TMPDIR/example.c"
lines=$(grep -c . "$TMPDIR/example.c")
[ "$lines" -le 13 ] || { echo "README's example has $lines lines; ten or so were promised"; exit 1; }

sanitize=${SAN:+-fsanitize=$SAN}
# shellcheck disable=SC2086
$CC -std=c11 -Wall -Wextra -Wpedantic -Werror $sanitize -I"$TAKT_ROOT/include" "$TMPDIR/example.c" \
    "$TAKT_LIB/libtakt.a" -lyaml -lz -lm -lpthread -o "$TMPDIR/example"

[ -z "$("$TMPDIR/example")" ] || { echo "it prints without being asked"; exit 1; }
options=$(sed -n 's/^ *\$ TAKT_OPTIONS="\(.*\)" .*/\1/p' "$TAKT_ROOT/README.md")
TAKT_OPTIONS=$options "$TMPDIR/example" >"$TMPDIR/table"
cat "$TMPDIR/table"
grep -q 'forces' "$TMPDIR/table"
grep -q 'Self CPU time total' "$TMPDIR/table"
awk '$1 == "work" && $NF == 10 { found = 1 } END { exit !found }' "$TMPDIR/table"
