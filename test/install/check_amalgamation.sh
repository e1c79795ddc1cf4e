#!/bin/bash
# Takt in one file: it compiles without a warning, and tests that use the public interface alone
# work with it.
. "${0%/*}/lib_amalgamation.sh"

# Some warnings need an optimiser.
${CC:-cc} "${warnings[@]}" -O2 -c "$into/takt.c" -o "$scratch/takt.o" || fail "warnings"
if command -v clang >/dev/null; then
    for without in '' '-DTAKT_NO_YAML -DTAKT_NO_ZLIB'; do
        clang "${warnings[@]}" $without -fsyntax-only "$into/takt.c" || fail "clang $without: warnings"
    done
fi
for test in flight names pairs schedule; do
    build "$scratch/test_$test" test/unit/test_$test.c "$scratch/takt.o" -lyaml -lz -lcmocka
    "$scratch/test_$test" >"$scratch/said" 2>&1 || fail "test_$test: $(tail -n 5 "$scratch/said")"
done

finish "one file does"
