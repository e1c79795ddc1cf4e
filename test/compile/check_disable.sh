#!/bin/bash
# What compiles without TAKT_DISABLE compiles with it, and what does not, does not. With it, a file
# needs no symbol of Takt's, even without an optimiser. And a library of the program's shows nothing
# of the headers' inline functions.
. "${0%/*}/../support/lib_script.sh"
cd "$TAKT_ROOT" || exit 1
. test/compile/lib_compilers.sh
warn="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude"

# One function a line, after "yes" or "no": does it compile? For C and C++ ("both"), or for one.
cases() {
    cat <<'END'
yes both TAKT_ARG("flags", c->flags); TAKT_COUNTER("layer", c->layer);
yes both TAKT_SCOPE("a"); TAKT_SCOPE("b"); TAKT_SCOPE_IN("io", 255, "c");
yes both TAKT_OPEN(scope, "a"); takt_open kept = scope; TAKT_CLOSE(kept);
yes both if (c) { TAKT_SCOPE("a"); TAKT_PHASE("b"); } else TAKT_MARK("c");
yes both switch (c->flags) { case 1: TAKT_MARK("one"); break; default: TAKT_COUNTER("n", 1); }
yes both TAKT_LAUNCH(NULL, TAKT_TIMING_KERNEL, "k") { break; }
no both TAKT_ARG("v", *v);
no both TAKT_SCOPE(name);
no both TAKT_MARK(name);
no both TAKT_SCOPE_IN("io", 256, "a");
no both TAKT_SCOPE_IN("io", 0, "a");
no both TAKT_SCOPE_IN(name, 2, "a");
no both TAKT_CLOSE(c);
no both TAKT_WORK(*v, 1);
yes c++ if (c) TAKT_SCOPE("a");
yes c++ TAKT_COUNTER("n", count<1, 2>()); TAKT_ARG("n", count<1, 2>());
yes c++ TAKT_COUNTER("n", [](int x) { return x; }(1)); TAKT_ARG("n", [] { return 1; }()); TAKT_WORK([] { return 1.0; }(), 0);
yes c++ TAKT_TIMER("t"); TAKT_TIMER_BEGIN(timer, "u"); if (timer) TAKT_TIMER_END(timer);
yes c++ ZoneScoped; ZoneValue(c->flags); ZoneNamedN(zone, "z", c != nullptr); ZoneTextV(zone, "t", 1);
yes c++ TracyLockable(mutex, lock); lock.lock(); lock.unlock(); LockableName(lock, "l", 1); LockMark(lock);
no c++ ZoneScopedN(name);
no c++ goto end; { } TAKT_SCOPE("a"); end: ;
no c++ TAKT_ARG("v", v->x.y);
END
}

# A file in the language with a function for each line of the input.
write() { # LANGUAGE
    local statements number=0
    echo '#include <takt/takt.h>'
    [ "$1" = c ] || printf '#include <takt/takt.hpp>\n#include <takt/compat/tracy.h>\n%s\n' \
        'template <int a, int b> int count() { return a + b; }
         struct mutex { void lock() {} void unlock() {} bool try_lock() { return true; } };'
    echo 'struct contact { unsigned flags : 5; unsigned layer : 3; };'
    echo 'struct vec { float x, y; };'
    while read -r statements; do
        number=$((number + 1))
        echo "void work$number(struct contact *c, struct vec *v, const char *name);"
        echo "void work$number(struct contact *c, struct vec *v, const char *name)"
        echo "{ (void)c; (void)v; (void)name; $statements }"
    done
}

try() { # EXPECTED COMPILER LANGUAGE STATEMENTS
    local off shown
    write "$3" <<<"$4" >"$scratch/case.$3"
    for off in "" -DTAKT_DISABLE; do
        # shellcheck disable=SC2086
        if $2 $warn $off -O0 -fPIC -c "$scratch/case.$3" -o "$scratch/case.o" >"$scratch/said" 2>&1; then
            [ "$1" = yes ] || fail "$2 $off compiles, and must not: $4"
        else
            [ "$1" = no ] || fail "$2 $off does not compile: $4: $(grep -m 1 error "$scratch/said")"
            continue
        fi
        shown=$(readelf -sW "$scratch/case.o" | awk '$5 != "LOCAL" && $6 == "DEFAULT" && $7 != "UND"' |
            grep -E 'takt|tracy')
        [ -z "$shown" ] || fail "$2 $off shows $shown: $4"
        [ -z "$off" ] || ! nm -u "$scratch/case.o" | grep -q takt_ ||
            fail "$2 $off needs $(nm -u "$scratch/case.o" | grep takt_ | tr -s ' \n' ' '): $4"
    done
}

# What compiles is one file; what does not is one each.
try_all() { # COMPILER LANGUAGE
    local statements
    try yes "$1" "$2" "$(cases | sed -nE "s/^yes (both|${2/pp/[+][+]}) //p")"
    while read -r statements; do
        try no "$1" "$2" "$statements"
    done < <(cases | sed -nE "s/^no (both|${2/pp/[+][+]}) //p")
}

[ -n "${PLACES-}" ] || COMPILERS=${COMPILERS-gcc clang} # check-compilers has the time for all
for c in $(compilers); do
    try_all "$c -std=c11" c
    try_all "$(cxx_of "$c") -std=c++14" cpp
done
finish "$(cases | wc -l) cases are the same with and without TAKT_DISABLE"
