#!/bin/bash
# Scopes of inline functions and templates that many files share: each is recorded under its own name,
# as often as it ran, whatever else the files have, and whichever compilers, standards, levels of
# optimisation and NDEBUG they are compiled with. By default few files, and one compiler beside the mix of
# all; PLACES="FILES FUNCTIONS" is for more of them, and for each compiler at four levels.
. "${0%/*}/../support/lib_script.sh"
need python3
cd "$TAKT_ROOT" || exit 1
. test/compile/lib_compilers.sh
read -r files functions <<<"${PLACES:-4 12}"
seed=${PLACES_SEED:-1}
flags="-w -pthread -fPIE -Iinclude" # not the default of each compiler
mapfile -t found < <(for c in $(compilers); do cxx_of "$c"; done)
[ ${#found[@]} -gt 0 ] || { echo "needs a C++ compiler" && exit 77; }

# Compiles by the commands of the file $2, links with what follows, runs, and compares.
try() { # WHAT COMMANDS LINK...
    local what=$1 folder=$scratch/places
    xargs -d '\n' -P 2 -I{} sh -c "{} $flags" <"$2" >"$scratch/said" 2>&1 ||
        { fail "$what does not compile: $(head -n 5 "$scratch/said")" && return; }
    "${@:3}" "$folder"/*.o -o "$folder/program" "$TAKT_LIB/libtakt.a" -lyaml -lz -lm -ldl -pthread \
        >"$scratch/said" 2>&1 || { fail "$what does not link: $(head -n 5 "$scratch/said")" && return; }
    TAKT_OPTIONS="profiling.active=0 profiling.level=4 reports= output.directory=$folder/out \
        output.traces=perfetto output.announce=false" "$folder/program" >"$scratch/said" 2>&1 ||
        { fail "$what fails: $(cat "$scratch/said")" && return; }
    "$takt" report --scopes --json --rows 100000 "$folder"/out/*.pftrace >"$scratch/scopes.json"
    python3 test/compile/compare_places.py "$scratch/scopes.json" "$folder/expected.txt" || fail "$what: see above"
    rm -rf "$folder"/*.o "$folder/out"
}

generate() { # FILES FUNCTIONS
    rm -rf "$scratch/places"
    mkdir "$scratch/places"
    python3 test/compile/make_places.py "$scratch/places" "$seed" "$1" "$2" "${found[@]}" \
        >"$scratch/mixed" || exit 1
}

generate "$files" "$functions"
count="$(wc -l <"$scratch/places/expected.txt") places in $functions functions, shared by $files files"
# The newest g++ links: an older one's runtime library lacks what the newer ones call.
linker=$(printf '%s\n' "${found[@]}" | grep '^g++' | tail -n 1)
try "a mix of ${found[*]} (seed $seed)" "$scratch/mixed" "${linker:-${found[0]}}"
generate 4 12
levels=("-O2 -flto") alone=("${found[0]}")
[ -z "${PLACES-}" ] || { levels=(-O0 -O3 -Os "-O2 -flto") && alone=("${found[@]}"); }
for cxx in "${alone[@]}"; do
    for level in "${levels[@]}"; do
        sed -E "s/^[^ ]*/$cxx/; s/ -O[^ ]* / $level /" "$scratch/mixed" >"$scratch/commands"
        # shellcheck disable=SC2086
        [[ $level != *lto* ]] || echo 'int main() {}' | $cxx $level -x c++ - -o "$scratch/lto" 2>/dev/null ||
            { leave_out "$cxx $level" "does not link here" && continue; }
        # shellcheck disable=SC2086
        try "$cxx $level (seed $seed)" "$scratch/commands" "$cxx" $level
    done
done
# What g++ and clang++ see in different ways: the line of a call over several lines, which of several
# on one line are there, and the static of each instance of a template.
cat >"$scratch/odd.h" <<'END'
#include <takt/takt.h>
#define ALWAYS __attribute__((always_inline)) inline
ALWAYS void lines() {
    TAKT_SCOPE(
        "alpha"
    ); { TAKT_SCOPE("beta"); }
}
#define BODY(x) if constexpr (x) { TAKT_SCOPE("gamma"); } { TAKT_SCOPE("delta"); } { TAKT_SCOPE("epsilon"); }
template <bool X> ALWAYS void parts() { BODY(X) }
struct zeta { static constexpr const char *name() { return "zeta"; } };
struct eta { static constexpr const char *name() { return "eta"; } };
template <typename Kind> void named() { TAKT_SCOPE(Kind::name()); }
inline void all() { lines(); parts<false>(); parts<true>(); named<zeta>(); named<eta>(); }
END
printf '%s\n' '#include "odd.h"' 'void other() { all(); }' >"$scratch/other.cpp"
printf '%s\n' '#include "odd.h"' 'void other();' 'int main() { takt_profiler_start(nullptr); other(); all();' \
    'return takt_profiler_stop(nullptr); }' >"$scratch/main.cpp"
printf '%s\n' alpha:2 beta:2 delta:4 epsilon:4 eta:2 gamma:2 zeta:2 >"$scratch/right"
for one in "${found[@]}"; do
    for file in other main; do
        # shellcheck disable=SC2086
        $one -std=c++17 -O2 $flags -c "$scratch/$file.cpp" -o "$scratch/$file.$one.o" >"$scratch/said" 2>&1 ||
            fail "$one: $(head -n 3 "$scratch/said")"
    done
done
for one in "${found[@]}"; do
    for two in "${found[@]}"; do
        "${linker:-${found[0]}}" "$scratch/other.$one.o" "$scratch/main.$two.o" -o "$scratch/odd" \
            "$TAKT_LIB/libtakt.a" -lyaml -lz -lm -ldl -pthread >"$scratch/said" 2>&1 ||
            fail "$one and $two: $(head -n 3 "$scratch/said")"
        TAKT_OPTIONS="profiling.active=0 reports=scopes output.traces= output.announce=false" "$scratch/odd" |
            awk '$NF ~ /^[0-9]+$/ && $1 ~ /^[a-z]+$/ { print $1 ":" $NF }' | sort | diff "$scratch/right" - ||
            fail "$one and $two: see above"
    done
done

# A library of the program's shows nothing of the headers, except for frames of clang++, which are one
# in the whole program.
for one in "${found[@]}"; do
    $one -std=c++17 -O0 $flags -fPIC -shared "$scratch/other.cpp" -include takt/takt.hpp -o "$scratch/odd.so" >/dev/null 2>&1 ||
        fail "$one makes no library"
    ! nm -D --defined-only "$scratch/odd.so" | grep takt_ || fail "$one exports these"
done
finish "$count"
