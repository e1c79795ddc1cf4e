#!/bin/bash
# Compares the binary interface of libtakt.so - its functions, their parameters, structs and enums -
# with the recorded one, test/abi/libtakt.abi, so that none of it changes by accident.
#
#     check_abi.sh            fails where they differ
#     check_abi.sh record     records what there is: `make abi-record`
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
library=${TAKT_LIB:-lib}/libtakt.so
record=test/abi/libtakt.abi

skip() {
    echo "$1"
    [ -z "${CI-}" ] && [ "${action-}" != record ] || exit 1
    exit 77
}

action=${1-}
[ "$(uname -m)" = x86_64 ] || skip "the record is of x86-64"
command -v abidiff >/dev/null || skip "needs abidiff (abigail-tools)"
# Not by a pipe: grep -q leaves at the first match, and readelf would fail at writing the rest.
sections=$(readelf -SW "$library")
[[ $sections == *debug_info* ]] || skip "libtakt.so was built without -g"

# What the public headers declare and nothing else; no paths, no line numbers.
describe() {
    abidw --headers-dir include/takt --drop-private-types --exported-interfaces-only --no-corpus-path \
        --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names \
        --no-write-default-sizes --type-id-style hash "$library"
}

if [ "$action" = record ]; then
    describe >"$record"
    echo "$record: $(grep -c '<elf-symbol ' "$record") symbols"
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
describe >"$scratch/now.abi"
# Of a record that it cannot read, abidiff says so and succeeds.
differs() {
    ! abidiff "$1" "$scratch/now.abi" >"$scratch/report" 2>&1 || [ -s "$scratch/report" ]
}

if differs "$record"; then
    head -n 100 "$scratch/report"
    cat <<'END'
The binary interface is not the recorded one. Functions, enumerators and fields that were added at an
end are fine: record them with `make abi-record`. All else breaks programs that were compiled before, a
field in what was padding too (inserted, and the size has not changed): undo it, or raise TAKT_ABI in
include/takt/base.h. docs/architecture.md has the rules.
END
    exit 1
fi

# A difference must be seen: a function that goes, a struct that grows, a field that moves.
for change in s/takt_trace_loss/takt_trace_lost/ "s/\(takt_facts' size-in-bits=\)'[0-9]*/\1'64/" \
    "s/layout-offset-in-bits='128'/layout-offset-in-bits='136'/"; do
    sed "$change" "$record" >"$scratch/other.abi"
    { differs "$scratch/other.abi" && ! grep -q 'parser error' "$scratch/report"; } ||
        { echo "$change was not seen" && exit 1; }
done
echo "$(grep -c '<elf-symbol ' "$record") symbols are as recorded"
