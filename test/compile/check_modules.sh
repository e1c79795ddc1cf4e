#!/bin/bash
# Scopes in functions and templates of two C++20 modules, whose global fragments share a header, and
# which two files import: no warning, and each scope is recorded under its own name, as often as it ran.
. "${0%/*}/../support/lib_script.sh"
need python3
cd "$TAKT_ROOT" || exit 1
. test/compile/lib_compilers.sh
root=$PWD

# g++ 12 links no static of an exported inline function. clang 17 takes inline functions of a header in
# two modules for different ones, since __COUNTER__ differs.
needs() { # COMPILER: the oldest version
    [[ $1 == g++* ]] && echo 13 || echo 18
}

cd "$scratch" || exit 1
cat >shared.h <<'END'
#include <takt/takt.hpp>
inline int shared(int n)
{
    TAKT_SCOPE("shared");
    { TAKT_SCOPE("shared one"); n++; } { TAKT_SCOPE_IN("io", TAKT_LEVEL_NORMAL, "shared two"); n++; }
    TAKT_FRAME("frame");
    return n;
}
template <typename T> T shared_of(T n)
{
    TAKT_SCOPE("shared instance");
    TAKT_ARG("n", n);
    return n;
}
END
for name in a b; do
    cat >$name.cppm <<END
module;
#include "shared.h"
export module $name;
export inline int ${name}_exported(int n)
{
    TAKT_SCOPE("$name exported");
    TAKT_STREAM_SCOPE(nullptr, "$name stream");
    TAKT_OPEN(open, "$name open");
    TAKT_CLOSE(open);
    TAKT_BEGIN("$name pair");
    TAKT_PHASE("$name phase");
    TAKT_COUNTER("$name counter", n);
    TAKT_END("$name pair");
#ifdef INSTANCES
    n = shared_of(n);
#endif
    return shared(n);
}
export template <typename T> T ${name}_of(T n)
{
    TAKT_SCOPE("$name template");
    return [](T m) { TAKT_SCOPE("$name lambda"); return m; }(n);
}
export int ${name}_plain(int n);
int ${name}_plain(int n) { TAKT_SCOPE("$name plain"); return shared(n); }
export struct ${name}_class {
    int run(int n) { TAKT_SCOPE("$name member"); return n; }
};
END
done
for name in main other; do
    cat >$name.cpp <<END
#include <takt/takt.hpp>
$([ $name = main ] || echo '#include "shared.h"')
import a;
import b;
int ${name}_all(int n);
int ${name}_all(int n)
{
    TAKT_SCOPE("$name all");
    { TAKT_SCOPE("$name block"); n++; }
    n += a_exported(n) + a_of(1) + a_of(1.0f) + a_plain(n) + a_class().run(n);
    n += b_exported(n) + b_of(1) + b_of(1.0f) + b_plain(n) + b_class().run(n);
    return n;
}
END
done
cat >>main.cpp <<'END'
int other_all(int n);
int main()
{
    takt_profiler_start(nullptr);
    int n = other_all(main_all(1));
    return takt_profiler_stop(nullptr) + (n < 0);
}
END
for name in a b; do
    printf '%s\t2\n' "$name "{exported,stream,open,pair,phase,plain,member}
    printf '%s\t4\n' "$name "{template,lambda}
done >expected
printf '%s\t1\n' {main,other}\ {all,block} >>expected
printf '%s\t8\n' shared{,\ one,\ two} >>expected
{ cat expected && printf 'shared instance\t4\n'; } >expected_instances

units() { # COMPILER FLAGS...: object files of all
    local name
    for name in a b; do
        if [[ $1 == g++* ]]; then
            "$@" -fmodules-ts -x c++ -c $name.cppm -o $name.o || return
        else
            "$@" --precompile $name.cppm -o $name.pcm &&
                "$@" -Wno-unused-command-line-argument -c $name.pcm -o $name.o || return
        fi
    done
    for name in main other; do
        "$@" "$([[ $1 == g++* ]] && echo -fmodules-ts || echo -fprebuilt-module-path=.)" -c $name.cpp || return
    done
}

count=0
for cxx in $(for c in $(compilers); do cxx_of "$c"; done); do
    version=$(printf '#ifdef __clang__\n__clang_major__\n#else\n__GNUC__\n#endif\n' | "$cxx" -E -P -x c++ - | tail -n 1)
    [ "$version" -ge "$(needs "$cxx")" ] ||
        { leave_out "$cxx" "needs version $(needs "$cxx") for modules" && continue; }
    # g++ 14 links no static, of anyone, in an instance that an exported inline function makes.
    instances=-DINSTANCES expected=expected_instances
    [ "$version" -ge 15 ] || instances='' expected=expected
    for level in -O0 -O2; do
        rm -rf ./*.o ./*.pcm gcm.cache out
        # shellcheck disable=SC2086
        units "$cxx" -std=c++20 $level $instances -Wall -Wextra -Werror -pthread -I"$root/include" >said 2>&1 ||
            { fail "$cxx $level: $(grep -m 3 -E 'error|warning' said)" && continue; }
        "$cxx" ./*.o -o program "$TAKT_LIB/libtakt.a" -lyaml -lz -lm -ldl -pthread >said 2>&1 ||
            { fail "$cxx $level: $(head -n 3 said)" && continue; }
        TAKT_OPTIONS="profiling.active=0 reports= output.directory=out output.traces=perfetto \
            output.announce=false" ./program >said 2>&1 || fail "$cxx $level: $(cat said)"
        "$takt" report --scopes --json --rows all out/*.pftrace >scopes.json
        python3 "$root/test/compile/compare_places.py" scopes.json $expected || fail "$cxx $level: see above"
        count=$((count + 1))
    done
done
[ "$count$failures" != 00 ] || { echo "needs g++ 13 or clang++ 18" && exit 77; }
finish "$count programs with modules"
