#!/bin/bash
# Takt in one file: it compiles without a warning, and tests that use the public interface alone
# work with it. LEVEL is the optimiser's (-O1, which has most of the warnings that need one).
. "${0%/*}/lib_amalgamation.sh"

# An engine's flags for its own numbers are not for Takt's.
engine=("${LEVEL:--O1}" -ffast-math -fsingle-precision-constant -funsigned-char -fwrapv)
${CC:-cc} "${warnings[@]}" "${engine[@]}" -c "$into/takt.c" -o "$scratch/takt.o" || fail "warnings"
if command -v clang >/dev/null; then
    for without in '' '-DTAKT_NO_YAML -DTAKT_NO_ZLIB'; do
        clang "${warnings[@]}" $without -fsyntax-only "$into/takt.c" || fail "clang $without: warnings"
    done
fi
for test in flight names pairs schedule; do
    build "$scratch/test_$test" test/unit/test_$test.c "$scratch/takt.o" -lyaml -lz -lcmocka
    "$scratch/test_$test" >"$scratch/said" 2>&1 || fail "test_$test: $(tail -n 5 "$scratch/said")"
done

cat >"$scratch/numbers.c" <<'END'
#include <takt/takt.h>
#include <stdint.h>
#include <string.h>
static double of_bits(uint64_t bits) { double value; memcpy(&value, &bits, 8); return value; }
int main(void)
{
    takt_profiler_start(NULL);
    for (int i = 0; i < 10; i++) {
        TAKT_COUNTER("contacts", 100 + 2 * i);
        TAKT_COUNTER("residual", i == 4 ? of_bits(0x7FF8000000000000) : i == 5 ? of_bits(0x7FF0000000000000) : 0.1);
        takt_profiler_step(NULL);
    }
    return takt_profiler_stop(NULL);
}
END
build "$scratch/numbers" "$scratch/numbers.c" "$scratch/takt.o" -lyaml -lz
for active in 0 3; do
    TAKT_OPTIONS="profiling.active=$active reports=counters,scopes,ops output.directory=$scratch/numbers.$active
        output.traces=chrome output.announce=false" "$scratch/numbers" >"$scratch/said" 2>&1 ||
        fail "numbers ends with $?: $(cat "$scratch/said")"
    ! grep -E '92233720368547|inf' "$scratch/said" || fail "fast mathematics has changed these numbers"
    grep -q '^contacts .* 2\.000$' "$scratch/said" || fail "the change per step: $(grep contacts "$scratch/said")"
    [ $active = 3 ] || grep -q '^residual .* 0\.100 .*0\.100' "$scratch/said" || fail "$(grep residual "$scratch/said")"
    ! command -v python3 >/dev/null ||
        python3 -m json.tool "$(ls "$scratch/numbers.$active"/*.json)" >/dev/null || fail "the trace is no JSON"
done
for flag in -fpack-struct -fshort-enums -m32; do
    ! ${CC:-cc} $flag -fsyntax-only "$into/takt.c" 2>"$scratch/said" || fail "$flag is not refused"
    grep -q "error.*Takt" "$scratch/said" || fail "$flag: $(head -n 3 "$scratch/said")"
done

finish "one file does, whatever the engine's flags are"
