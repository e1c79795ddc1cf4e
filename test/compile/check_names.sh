#!/bin/bash
# A macro keeps its name in static data. C++ would let a name of run time into it and keep the first
# one for ever: none of the lines of bad_names.cpp may compile, and for each the compiler must say
# what to use instead. None of bad_lifetimes.cpp may compile either, where the name is known and its
# memory does not stay. What must compile is use_names.cpp, in check_headers.sh.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
. test/compile/lib_compilers.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=test/compile/bad_names.cpp
lifetimes=test/compile/bad_lifetimes.cpp

# messages COMPILER ARGUMENTS: what it says about a file that must not compile.
messages() {
    ! LC_ALL=C "$@" -Iinclude -fsyntax-only >"$scratch/said" 2>&1 ||
        { echo "compiled, and must not: $*" && exit 1; }
}

sed -n 's|.* // ||p' "$bad" | sort | uniq -c >"$scratch/texts"
sed 's/^ *[0-9]* //' "$scratch/texts" >"$scratch/patterns"

# each_line FILE COMPILER ARGUMENTS: each line of FILE with a comment is named.
each_line() {
    local file=$1
    shift
    messages "$@" "$file"
    grep -n ' // ' "$file" | sed 's|:.*||' | sort >"$scratch/lines"
    grep -o "${file##*/}:[0-9]*" "$scratch/said" | sed 's/.*://' | sort -u |
        comm -23 "$scratch/lines" - >"$scratch/compiled"
    [ ! -s "$scratch/compiled" ] ||
        { echo "$*: line $(head -1 "$scratch/compiled") of $file compiled" && exit 1; }
}

# Each message comes as often as there are lines that ask for it.
check_bad() {
    each_line "$bad" "$@"
    grep 'error: .*Takt: ' "$scratch/said" | grep -oFf "$scratch/patterns" | sort | uniq -c |
        diff "$scratch/texts" - || { echo "$*: the wrong messages, see above" && exit 1; }
}

# In C it is no initializer, and the line of the macro that the compiler shows says what is; clang shows
# none from version 22 on. A value that cannot be recorded is refused by a parameter whose type says what
# can be.
check_c() {
    local hint="for names made at run time use takt_begin()"
    [[ $1 == gcc* || $("$1" -dumpversion) < 22 ]] || hint=
    cat >"$scratch/c.c" <<'END'
#include <takt/takt.h>
void f(const char *name, int *number)
{
    TAKT_SCOPE(name);
    TAKT_ARG("number", number);
    TAKT_ARG("wide", (__int128)*number);
}
END
    messages "$@" "$scratch/c.c"
    grep -q 'initializer element is not' "$scratch/said" &&
        grep -q "$hint" "$scratch/said" &&
        grep -q "number_bool_or_string.*'int \*'\|'int \*'.*number_bool_or_string" "$scratch/said" &&
        grep -q "number_bool_or_string.*'__int128'\|'__int128'.*number_bool_or_string" "$scratch/said" ||
        { cat "$scratch/said" && exit 1; }
}

# Declaring macros are not the statement of an `if` or of a label: their scope would never end. clang 18
# takes each declaration for one, which ends with the `if`.
check_statements() {
    local macro
    ! echo 'void f(int x) { if (x) int y; }' | "$1" -x c -fsyntax-only - 2>/dev/null ||
        { echo "case left out: if without braces: $1 takes any declaration there" && return; }
    for macro in 'TAKT_SCOPE("y")' 'TAKT_FUNCTION()' 'TAKT_SCOPE_IN("io", 2, "y")' 'TAKT_STREAM_SCOPE(0, "y")' \
        'TAKT_TIMER("y")' 'TAKT_OPEN(open, "y")'; do
        printf '#include <takt/takt.h>\nvoid f(int x);\nvoid f(int x) { if (x) %s; }\n' "$macro" >"$scratch/c.c"
        messages "$@" "$scratch/c.c"
    done
}

count=0
for c in $(compilers); do
    unlimited=$([[ $c == gcc* ]] || echo -ferror-limit=0)
    for flags in -std=c++11 -std=c++14 -std=c++17 -std=c++2a; do
        check_bad "$(cxx_of "$c")" $flags ${unlimited:+"$unlimited"}
        count=$((count + 1))
    done
    for flags in -std=c++11 -std=c++2a; do
        each_line "$lifetimes" "$(cxx_of "$c")" $flags ${unlimited:+"$unlimited"}
    done
    check_c "$c"
    check_statements "$c"
    check_statements "$c" -DTAKT_DISABLE
done
[ "$count" -gt 0 ] || { echo "needs a C++ compiler" && exit 77; }
echo "$(cat "$bad" "$lifetimes" | grep -c ' // ') lines refused, as $count kinds of C++"
